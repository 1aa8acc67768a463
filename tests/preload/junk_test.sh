#!/usr/bin/env bash
# junk_test.sh MPI LIBRARY TOOL PROGRAM: an mpi4py program, which leaves out what means nothing at a rank, gets the right results in every mode.
set -u
. "$(dirname "$0")/runs.sh"
for mode in off adapt learn verify; do right 4 QUADRILLE=$mode QUADRILLE_RULES=rules.txt; done
served=(allgather=bruck bcast=binomial exscan=one-two-three gather=binomial gatherv=linear reduce=binomial scatter=binomial)
variables served
right 4 QUADRILLE=verify "${chosen[@]}"
all_served served '1 x 4 ranks'
preload=$other unserved 4 "$not_ours" "${chosen[@]}"
exit $failed
