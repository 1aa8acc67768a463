#!/usr/bin/env bash
# abi_test.sh MPI LIBRARY PLAIN PROGRAM OTHER_PLAIN: the preload library for MPI's own application binary interface
# serves a program of that interface, here over MPICH, and no other program. No other preload library serves it.
set -u
plains=("$(readlink -f "$3")" "$(readlink -f "$5")")
. "$(dirname "$0")/runs.sh"
rules=(QUADRILLE_ALLTOALL=factor QUADRILLE_ALLGATHER=bruck QUADRILLE_BCAST=binomial QUADRILLE_ALLREDUCE=doubling
  QUADRILLE_REDUCE=binomial QUADRILLE_SCAN=doubling QUADRILLE_BARRIER=dissemination)

preload= right 4
for mode in on verify; do
  right 4 QUADRILLE=$mode QUADRILLE_SUMS=any QUADRILLE_DEBUG=1 "${rules[@]}"
  for collective in alltoall=factor allgather=bruck bcast=binomial allreduce=doubling reduce=binomial scan=doubling barrier=dissemination; do
    reported "${collective%=*}" '1 x 4 ranks' "${collective#*=}" 20 'by rule'
  done
done
right 4 QUADRILLE_ALLGATHER=two-stage QUADRILLE_BCAST=binomial
reported allgather '2 \+ 2 ranks' two-stage 1 'by rule'
reported scan '1 x 4 ranks' native 'its bits could change'
reported bcast '1 x 4 ranks' native 'MPI refuses the call'
right 4 CALLS=400
reported alltoall '1 x 4 ranks' '(compared|chosen)'
for other in abi openmpi mpich; do
  preload=${library%_*}_$other.so
  right 4 QUADRILLE=off "${rules[@]}"
  said 0 quadrille
  [ $other = abi ] || unserved 4 "the program's MPI library has the standard ABI of MPI" "${rules[@]}"
done
preload=$library
# The drafts of MPICH 4.3 have other numbers.
unserved 4 "$not_ours" ABI_IS_DRAFT=1 "${rules[@]}"
program=${plains[0]} unserved 2 "$not_ours" "${rules[@]}" -- 10
mpi=openmpi program=${plains[1]} unserved 2 "$not_ours" "${rules[@]}" -- 10

exit $failed
