#!/usr/bin/env bash
# Builds the example without Bazel, as the README says, from an MPI compiler, the emitted source and the installed library.
set -euo pipefail
. tests/mpi/mpirun.sh
mpi=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tar -C "$folder" -xf "$2"
library=$folder/lib/libquadrille_$mpi.so

"mpicc.$mpi" -I. examples/transpose/transpose.c emitted/alltoall_1_2_3.c -L"$folder/lib" \
  "-lquadrille_$mpi" -Wl,-rpath,"$folder/lib" -o "$folder/transpose"
start_ranks "$mpi" 6 30 "$folder/transpose" |
  grep -qx "24 x 24 matrix transposed on 6 ranks, 0 wrong entries"
# The program needs MPI and libc only, and no library of the verifier or generator.
needed=$(readelf -d "$library" | sed -n 's/.*NEEDED.*\[\(lib[a-z]*\)[-.].*/\1/p' | sort | tr '\n' ' ')
[ "$needed" = "libc libmpi " ] || [ "$needed" = "libc libmpich " ] || {
  echo "$library needs $needed" >&2
  exit 1
}
