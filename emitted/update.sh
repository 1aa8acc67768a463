#!/usr/bin/env bash
# update.sh compare|take TREE KEPT=MADE...: compares generated files in the tree with the build's outputs. `compare`
# exits with 1 if one differs. `take` copies those that differ; `bazel run //emitted:update` runs it.
#
# A line of the list of proofs keeps "cvc5", which tools/second_solver.sh adds, as long as the rest is unchanged. It
# also keeps "cvc5:open", which you write by hand: it says that cvc5 left questions open. `compare` ignores the line
# of the prover. If that line differs, `./dev test` proves everything again. Tested by //emitted:drift_test.
set -euo pipefail
action=$1 tree=$2
shift 2
[ "$tree" = workspace ] && tree=$BUILD_WORKSPACE_DIRECTORY
fresh=$(mktemp)
trap 'rm -f "$fresh"' EXIT
code=0
for pair in "$@"; do
  kept=$tree/${pair%%=*} made=${pair#*=}
  [ -e "$kept" ] || [ "$action" = compare ] || touch "$kept"
  awk 'FILENAME == ARGV[1] { kept[$0]; next }
    ($0 " cvc5") in kept { $0 = $0 " cvc5" }
    ($0 " cvc5:open") in kept { $0 = $0 " cvc5:open" } 1' "$kept" "$made" >"$fresh"
  if [ "$action" = take ]; then
    cat "$fresh" >"$kept"
  elif ! diff -I '^# prover ' "$fresh" "$kept"; then
    echo "${pair%%=*} is not what the build makes; take that with: bazel run //emitted:update" >&2
    code=1
  fi
done
exit $code
