#!/usr/bin/env bash
# soak_test.sh MPI LIBRARY TOOL PROGRAM: random calls on communicators that come and go. The program checks every byte;
# QUADRILLE=verify compares with MPI's own results as well.
set -u
. "$(dirname "$0")/runs.sh"
served=(allgather=bruck allgatherv=segment-map-v allreduce=doubling alltoall=tuna:radix=4 alltoallv=factor
  alltoallw=hierarchical-factor barrier=dissemination bcast=binomial exscan=one-two-three gather=binomial gatherv=linear
  reduce=binomial reduce_scatter=blocked-ring-nodes:block-size=3 reduce_scatter_block=spread-out scan=doubling scatter=binomial
  scatterv=linear)
variables served
right 3 QUADRILLE=verify "${chosen[@]}" CALLS=1000 SEED=7
for collective in allgather alltoall alltoallv alltoallw reduce_scatter bcast; do
  reported "$collective" '1 x 3 ranks' 'by rule$'
done
reported allgatherv '\+ [0-9] ranks' segment-map-v 'by rule$'

# All schedules serve calls in turn.
right 3 QUADRILLE=verify CALLS=4000 SEED=8 LONGEST=100
for schedule in bruck hypercube linear-ring; do reported allgather '1 x 3 ranks' "$schedule" 'in turn$'; done
reported alltoallv tuna:radix=4 'in turn$'
reported allgather '\+ [0-9] ranks' segment-map-v 'in turn$'
# Nodes of several ranks have schedules that need operators to commute. Beside the root of a reduction between groups no
# rank knows the operator.
right 6 QUADRILLE=verify QUADRILLE_SUMS=any RANKS_A_NODE=2 CALLS=600 SEED=5

# Schedules are compared by time and chosen, also for derived types, parts of the ranks, and two groups.
right 4 QUADRILLE=learn CALLS=10000 SEED=1 LONGEST=2000
for collective in allgather allreduce alltoall alltoallv barrier bcast reduce reduce_scatter_block; do
  reported "$collective" '1 x 4 ranks' '(compared|chosen)$'
  reported "$collective" '1 x [23] ranks' '(compared|chosen)$'
done
for collective in allgather allreduce alltoall; do reported "$collective" '\+ [0-9] ranks' '(compared|chosen)$'; done
right 4 QUADRILLE=adapt CALLS=10000 SEED=2 LONGEST=2000
reported '[a-z]+' '(compared|chosen)$'

# Without a report, the library keeps calls.
right 3 QUADRILLE=on QUADRILLE_SUMS=any QUADRILLE_REPORT= "${chosen[@]}" CALLS=4000 SEED=9 LONGEST=100
right 4 QUADRILLE=adapt QUADRILLE_REPORT= CALLS=10000 SEED=3 LONGEST=2000

# The program notices a wrong byte.
preload="$library $tool"
start 3 QUADRILLE=off TOOL_CORRUPTS=1 CALLS=1000 SEED=7
[ $code -ne 0 ] && [ $code -ne 124 ] && grep -q 'call [0-9]*: allreduce, ' "$out" ||
  problem 'a wrong byte is not found'
exit $failed
