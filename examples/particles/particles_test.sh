#!/usr/bin/env bash
# The example does what it says, and on another number of ranks ends with a sentence.
set -uo pipefail
. tests/mpi/mpirun.sh
mpi=$1 program=$2

said=$(start_ranks "$mpi" 6 30 "$program") || exit 1
[ "$said" = "133299 particles on each of 6 ranks, 0 wrong" ] || {
  echo "it said: $said" >&2
  exit 1
}
if said=$(start_ranks "$mpi" 5 30 "$program" 2>&1); then
  echo "a schedule for 6 ranks ran on 5: $said" >&2
  exit 1
fi
grep -q "6 ranks" <<<"$said" || {
  echo "nothing was said of 6 ranks: $said" >&2
  exit 1
}
