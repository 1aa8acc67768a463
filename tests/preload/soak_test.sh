#!/usr/bin/env bash
# soak_test.sh MPI LIBRARY TOOL PROGRAM: random calls, each compared with MPI's own.
set -u
. "$(dirname "$0")/runs.sh"
served=(allgather=bruck allgatherv=segment-map-v allreduce=doubling alltoall=tuna:radix=4 alltoallv=factor
  alltoallw=hierarchical-factor bcast=binomial gather=binomial reduce_scatter=blocked-ring:block-size=3
  reduce_scatter_block=spread-out scan=doubling scatter=binomial)
variables served
right 3 QUADRILLE=verify "${chosen[@]}" -- 400 7
for collective in allgather alltoall alltoallv alltoallw reduce_scatter bcast; do
  reported "$collective" '1 x 3 ranks' 'by rule$'
done
reported allgatherv '\+ [0-9] ranks' segment-map-v 'by rule$'

# All schedules in turn.
right 3 QUADRILLE=verify -- 2000 8
for schedule in bruck hypercube linear-ring; do reported allgather '1 x 3 ranks' "$schedule" 'in turn$'; done
reported alltoallv tuna:radix=4 'in turn$'
reported allgather '\+ [0-9] ranks' segment-map-v 'in turn$'
exit $failed
