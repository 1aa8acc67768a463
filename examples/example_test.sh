#!/usr/bin/env bash
# example_test.sh MPI PROGRAM SENTENCE: checks that the example prints the sentence on six ranks. On another number of
# ranks it must end with one error message.
set -uo pipefail
. tests/mpi/mpirun.sh
mpi=$1 program=$2 sentence=$3

said=$(start_ranks "$mpi" 6 30 "$program") || exit 1
[ "$said" = "$sentence" ] || {
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
# Open MPI may lose output of several ranks at once, so one rank prints it.
if [ "$mpi" = openmpi ] && ! grep -q "^quadrille: .*6 ranks" <<<"$said"; then
  echo "no rank said it itself: $said" >&2
  exit 1
fi
