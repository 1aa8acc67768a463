#!/usr/bin/env bash
# transform_test.sh MPI LIBRARY TOOL PROGRAM: transforms of mpi4py-fft, whose MPI_Alltoallw has subarray types. They run
# on all ranks and on rows and columns, and a schedule serves them. Every byte is compared with MPI's.
set -u
. "$(dirname "$0")/runs.sh"

# transforms RANKS RANKS_OF_A_CALL KIND: expects right transforms, and that a schedule serves their calls.
transforms() {
  start "$1" QUADRILLE=verify QUADRILLE_ALLTOALLW=tuna-coalesced:radix=2 -- 12 "$3" 3
  [ $code -eq 0 ] && grep -q '^seconds .* right$' "$out" || problem "$3"
  reported alltoallw "$2 ranks" tuna-coalesced 'by rule'
  not_reported '^alltoallw .* ranks .* native' # MPI serves a communicator of one rank
}
transforms 3 '1 x 3' slab
transforms 4 '1 x 2' pencil

exit $failed
