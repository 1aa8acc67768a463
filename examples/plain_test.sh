#!/usr/bin/env bash
# plain_test.sh MPI PROGRAM SENTENCE LIBRARY RULE IDLE: checks that the example prints the sentence on six ranks, with
# MPI alone and with the preload library, whose schedule RULE names. IDLE lets waiting ranks sleep.
set -uo pipefail
. tests/mpi/mpirun.sh
mpi=$1 program=$2 sentence=$3 library=$(readlink -f "$4") rule=$5 idle=$(readlink -f "$6")
report=$TEST_TMPDIR/report

# says COMMAND...: checks that the program prints the sentence when the command runs it.
says() {
  local said
  said=$(start_ranks "$mpi" 6 30 "$@" "$program") && [ "$said" = "$sentence" ] && return
  echo "it said: $said" >&2
  exit 1
}

says env LD_PRELOAD="$idle"
says env LD_PRELOAD="$library:$idle" QUADRILLE_REPORT="$report" "$rule"
schedule=${rule#*=}
grep -qE "^alltoallv .* ${schedule/:/.*} .*by rule" "$report" || {
  echo "the report does not say that $schedule served it:" >&2
  cat "$report" >&2
  exit 1
}
