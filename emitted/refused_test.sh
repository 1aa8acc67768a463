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

# One for any nodes has to be proven, and keep to what its check asks on the nodes of that.
rm "$folder"/flat.*
"$make" "$generator" "$verifier" flat "$folder" "--nodes 2,2 --ports 2" alltoall --algorithm factor --nodes any
grep -q 'flat.qs: proven' "$folder/flat.check.txt"
grep -q 'flat.qs: verified' "$folder/flat.check.txt"
rm "$folder"/flat.*
if "$make" "$generator" "$verifier" flat "$folder" "--nodes 2,2 --ports 1" \
  alltoall --algorithm factor --nodes any 2>"$folder/said"; then
  echo "a schedule for any nodes that breaks the port was emitted" >&2
  exit 1
fi
grep -q REFUTED "$folder/said"
rm "$folder/said"
if "$make" "$generator" "$verifier" flat "$folder" "" alltoall --algorithm bruck --nodes any 2>"$folder/said"; then
  echo "a schedule for any nodes that is not proven was emitted" >&2
  exit 1
fi
grep -q 'not proven for all sizes' "$folder/said"
rm "$folder/said"
[ -z "$(ls -A "$folder")" ]
