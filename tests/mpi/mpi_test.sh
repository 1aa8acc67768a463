#!/usr/bin/env bash
# mpi_test.sh MPI RANKS,RANKS,... SECONDS PROGRAM: runs a test program at each number of ranks. RANKS in the environment
# sets other numbers, for longer runs by hand:
#   bazel test --test_env=EVERY_CASE=1 --test_env=RANKS=2,7,12 //tests/mpi:collectives_test_mpich
#
# A run has passed if it ended in time with code 0 and every rank printed how many tests it ran: the same number on all
# ranks, and at least one.
set -u
. "$(dirname "$0")/mpirun.sh"
mpi=$1 counts=${RANKS:-$2} seconds=$3 program=$4
[ -n "${RANKS:-}" ] && seconds=$((seconds * 100))
failed=0
for ranks in ${counts//,/ }; do
  echo "== $mpi, $ranks ranks"
  log=$TEST_TMPDIR/log
  start_ranks "$mpi" "$ranks" "$seconds" "$program" >"$log" 2>&1 </dev/null
  code=$?
  said=$(grep -Eo 'rank [0-9]+ ran [1-9][0-9]* tests, all passed' "$log" | sort -u | wc -l)
  kinds=$(grep -Eo ' ran [1-9][0-9]* tests, all passed' "$log" | sort -u | wc -l)
  if [ $code -eq 0 ] && [ "$said" -eq "$ranks" ] && [ "$kinds" -eq 1 ]; then
    grep -Eom1 'rank 0 ran .* passed' "$log"
    continue
  fi
  failed=1
  cat "$log"
  [ $code -eq 124 ] && echo "FAILED: still running after $((seconds * 10)) seconds"
  echo "FAILED at $ranks ranks with $mpi: exit code $code, $said ranks passed"
done
exit $failed
