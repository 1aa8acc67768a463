#!/usr/bin/env bash
# instructions_test.sh INSTRUCTIONS GENERATOR: the program for counting, over an MPI that does nothing, completes each
# kind of call, and counts messages or pieces.
set -u
instructions=$1 generator=$2
failed=0

# counts NUMBER COLLECTIVE ALGORITHM NODES RANK: expects that one call has NUMBER messages, or NUMBER pieces.
counts() {
  local file=$TEST_TMPDIR/$3.qs printed
  "$generator" generate "$2" --algorithm "$3" --nodes "$4" --out "$file" >/dev/null || failed=1
  printed=$("$instructions" "$file" "$4" "$5" 1 16) && [ "${printed%% *}" = "$1" ] && return
  echo "FAILED: instructions for $2 $3 on nodes $4, rank $5: '$printed', not $1"
  failed=1
}

counts 14 alltoall factor 8 3
counts 14 alltoall hierarchical-factor 4,2,2 3
counts 24 alltoall tuna 8 3
counts 14 allgather linear-ring 8 3
counts 6 allgather recursive-doubling 8 3
counts 8 allgather neighbor-exchange 8 3
"$instructions" "$TEST_TMPDIR/factor.qs" 8 8 1 16 2>/dev/null && echo "FAILED: a rank that is not there" && failed=1
exit $failed
