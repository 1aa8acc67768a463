#!/usr/bin/env bash
# coupling_test.sh MPI OCEAN ATMOSPHERE SPOILED: checks that both programs find all values right, on several numbers
# of ranks, as one job and if the ocean starts the atmosphere. They must notice a byte that the spoiled ocean changes.
set -uo pipefail
. tests/mpi/mpirun.sh
mpi=$1 ocean=$2 atmosphere=$3 spoiled=$4

fail() {
  echo "$*" >&2
  exit 1
}

# expect OCEANS ATMOSPHERES COMMAND...: checks that in each of ten steps, a rank receives its cells and all means.
expect() {
  local oceans=$1 atmospheres=$2 said wanted
  shift 2
  wanted=$(
    echo "atmosphere: $atmospheres ranks received $((10 * (23 * 37 + 23 * atmospheres))) values from $oceans, 0 wrong"
    echo "ocean: $oceans ranks received $((10 * (23 * 37 + 37 * oceans))) values from $atmospheres, 0 wrong"
  )
  said=$(start_ranks "$mpi" "$oceans" 60 "$@" | sort) && [ "$said" = "$wanted" ] || fail "$*: it said: $said"
}

for ranks in "3 4" "1 5" "4 1" "2 2"; do
  read -r oceans atmospheres <<<"$ranks"
  expect "$oceans" "$atmospheres" "$ocean" : -n "$atmospheres" "$atmosphere"
done
said=$(start_ranks "$mpi" 3 60 "$spoiled" : -n 2 "$atmosphere" 2>&1) && fail "nobody noticed a wrong byte: $said"
grep -qE '^ocean: 3 ranks .* [1-9][0-9]* wrong' <<<"$said" || fail "the wrong byte was not counted: $said"
said=$(start_ranks "$mpi" 2 60 "$ocean" 2>&1) && fail "an ocean ran alone: $said"
grep -q "or both programs in one job" <<<"$said" || fail "nothing was said of the second program: $said"

# Debian's MPICH starts no processes, since it was built for a launcher that cannot.
if said=$(start_ranks "$mpi" 1 60 "$ocean" "$atmosphere" 1 2>&1); then
  expect 3 4 "$ocean" "$atmosphere" 4
  expect 4 2 "$ocean" "$atmosphere" 2
elif [ "$mpi" = mpich ] && grep -q 'Error in spawn call' <<<"$said"; then
  echo "SKIPPED: this launcher of $mpi starts no processes for MPI_Comm_spawn"
else
  fail "the ocean did not start the atmosphere: $said"
fi
