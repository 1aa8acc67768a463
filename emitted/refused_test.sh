#!/usr/bin/env bash
# Checks that a schedule that fails its check is not emitted. The flat factor algorithm uses more than one port of a
# node, which the check with --ports refutes.
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

# A schedule for any nodes must be proven, and must also pass its check on given nodes.
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
printf 'algorithm own for alltoall\ncopy send[rank] to recv[rank]\n' >"$folder/own.txt"
if "$make" "$generator" "$verifier" flat "$folder" "" alltoall --program "$folder/own.txt" --nodes any 2>"$folder/said"; then
  echo "a schedule for any nodes that is not proven was emitted" >&2
  exit 1
fi
grep -q 'not proven for all sizes' "$folder/said"
rm "$folder/said" "$folder/own.txt"
[ -z "$(ls -A "$folder")" ]
