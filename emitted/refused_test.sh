#!/usr/bin/env bash
# A schedule that fails its check is not emitted: the flat factor algorithm does not keep to one
# port a node, and says so when it is asked.
set -euo pipefail
make=$1 generator=$2 verifier=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

if "$make" "$generator" "$verifier" flat "$folder" "--ports 1" \
  alltoall --algorithm factor --nodes 2,2 2>"$folder/said"; then
  echo "a schedule that breaks the port was emitted" >&2
  exit 1
fi
grep -q REFUTED "$folder/said"
grep -q port "$folder/said"
rm "$folder/said"
[ -z "$(ls -A "$folder")" ]

"$make" "$generator" "$verifier" flat "$folder" "--ports 2" alltoall --algorithm factor --nodes 2,2
[ "$(ls "$folder" | tr '\n' ' ')" = "flat.c flat.check.txt flat.h flat.qs " ]
