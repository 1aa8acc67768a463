#!/usr/bin/env bash
# Checks that a schedule that fails its check is not emitted. The flat factor algorithm uses more than one port of a
# node, which the check with --ports refutes.
set -euo pipefail
make=$1 generator=$2 verifier=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

if "$make" "$generator" "$verifier" flat "$folder" "--ports 1" "" "" \
  alltoall --algorithm factor --nodes 2,2 2>"$folder/said"; then
  echo "a schedule that breaks the port was emitted" >&2
  exit 1
fi
grep -q REFUTED "$folder/said"
grep -q port "$folder/said"
rm "$folder/said"
[ -z "$(ls -A "$folder")" ]

"$make" "$generator" "$verifier" flat "$folder" "--ports 2" "" "" alltoall --algorithm factor --nodes 2,2
[ "$(ls "$folder" | tr '\n' ' ')" = "flat.c flat.check.txt flat.h flat.qs " ]

# A schedule for any nodes must be proven, and must also pass its check on given nodes.
rm "$folder"/flat.*
"$make" "$generator" "$verifier" flat "$folder" "--nodes 2,2 --ports 2" "" "" alltoall --algorithm factor --nodes any
grep -q 'flat.qs: proven' "$folder/flat.check.txt"
grep -q 'flat.qs: verified' "$folder/flat.check.txt"
rm "$folder"/flat.*
if "$make" "$generator" "$verifier" flat "$folder" "--nodes 2,2 --ports 1" "" "" \
  alltoall --algorithm factor --nodes any 2>"$folder/said"; then
  echo "a schedule for any nodes that breaks the port was emitted" >&2
  exit 1
fi
grep -q REFUTED "$folder/said"
rm "$folder/said"

# A program of the user's own needs a proof that holds to serve any nodes.
printf 'algorithm own for barrier\n' >"$folder/own.txt"
for proof in "" "$folder/own.txt"; do
  if "$make" "$generator" "$verifier" flat "$folder" "" "$folder/own.txt" "$proof" barrier --nodes any 2>"$folder/said"; then
    echo "a schedule for any nodes that is not proven was emitted" >&2
    exit 1
  fi
  grep -qE 'may not be right for all sizes|own.txt:1: ' "$folder/said"
done
printf '%s\n' 'algorithm chain for broadcast' 'if rank = root' '  copy send[0] to recv[0]' 'if 0 < wrap(rank - root, ranks)' '  step wrap(rank - root, ranks)' \
  '    receive recv[0] from wrap(rank - 1, ranks)' 'if wrap(rank - root, ranks) + 1 < ranks' '  step wrap(rank - root, ranks) + 1' \
  '    send recv[0] to wrap(rank + 1, ranks)' >"$folder/own.txt"
printf '%s\n' 'match send 1' '  with receive 1' 'match receive 1' '  with send 1' 'held send 1' '  with copy 1 if rank = root' '  with receive 1' \
  cover '  with receive 1' >"$folder/own.proof"
"$make" "$generator" "$verifier" flat "$folder" "--nodes 1,2" "$folder/own.txt" "$folder/own.proof" broadcast --nodes any 2>"$folder/said"
grep -q 'flat.qs: proven' "$folder/flat.check.txt"
[ "$(ls "$folder" | tr '\n' ' ')" = "flat.c flat.check.txt flat.h flat.qs own.proof own.txt said " ]
rm "$folder"/*
