#!/usr/bin/env bash
# plain_test.sh MPI PROGRAM SENTENCE LIBRARY RULE: the example says this on six ranks, by MPI alone and with the preload
# library before it, where RULE names the schedule that serves it.
set -uo pipefail
. tests/mpi/mpirun.sh
mpi=$1 program=$2 sentence=$3 library=$(readlink -f "$4") rule=$5
report=$TEST_TMPDIR/report

# says COMMAND...: under it, the program says the sentence.
says() {
  local said
  said=$(start_ranks "$mpi" 6 30 "$@" "$program") && [ "$said" = "$sentence" ] && return
  echo "it said: $said" >&2
  exit 1
}

says
says env LD_PRELOAD="$library" QUADRILLE_REPORT="$report" "$rule"
schedule=${rule#*=}
grep -qE "^alltoallv .* ${schedule/:/.*} .*by rule" "$report" || {
  echo "the report does not say that $schedule served it:" >&2
  cat "$report" >&2
  exit 1
}
