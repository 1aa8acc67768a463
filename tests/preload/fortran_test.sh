#!/usr/bin/env bash
# fortran_test.sh MPI LIBRARY TOOL PROGRAM...: Fortran programs, one for each interface of MPI, are served like those in
# C, and the library for the other MPI does nothing.
set -u
programs=()
for made in "${@:4}"; do programs+=("$(readlink -f "$made")"); done
. "$(dirname "$0")/runs.sh"
served=(alltoall=linear alltoallv=tuna:radix=2 alltoallw=pairwise allgather=bruck allreduce=doubling bcast=binomial gather=binomial
  scatter=binomial reduce=binomial)
variables served
for program in "${programs[@]}"; do
  for mode in off learn verify; do right 3 QUADRILLE=$mode QUADRILLE_RULES=rules.txt; done
  right 3 "${chosen[@]}"
  all_served served '1 x 3 ranks'
  preload=$other unserved 3 "$not_ours" "${chosen[@]}"
done
[ ${#programs[@]} -eq 3 ] || problem 'mpif.h, mpi and mpi_f08'
exit $failed
