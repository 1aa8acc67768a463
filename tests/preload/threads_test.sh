#!/usr/bin/env bash
# threads_test.sh MPI LIBRARY TOOL PROGRAM: threads that call at the same time, on short-lived communicators.
set -u
. "$(dirname "$0")/runs.sh"
right 2
right 3 QUADRILLE_ALLTOALL=tuna:radix=2 QUADRILLE_ALLREDUCE=doubling
reported alltoall '1 x 3 ranks' tuna:radix=2 180 'by rule'
reported allreduce '1 x 3 ranks' doubling 60 'by rule'
# Only MPICH is likely to give one thread's handle to another thread at once.
[ "$mpi" != mpich ] || right 2 QUADRILLE_ALLTOALL=tuna:radix=2 QUADRILLE_ALLREDUCE=doubling -- 1000
exit $failed
