#!/usr/bin/env bash
# Fuzzes the loader with the given number of inputs. The test fails at a crash, a leak, a hang or undefined behavior,
# and if the fuzzer tried fewer inputs.
set -euo pipefail
fuzzer=$1 seeds=$2 inputs=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/found"
"$seeds" "$folder/seeds"

code=0
"$fuzzer" -runs="$inputs" -timeout=10 -max_len=2048 -print_final_stats=1 -verbosity=1 \
  -artifact_prefix="${TEST_UNDECLARED_OUTPUTS_DIR:-$folder}/" \
  "$folder/found" "$folder/seeds" 2>"$folder/log" || code=$?
tail -n 25 "$folder/log"
[ $code -eq 0 ] || exit $code
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/log")
[ "$runs" -ge "$inputs" ] || {
  echo "only $runs inputs" >&2
  exit 1
}
