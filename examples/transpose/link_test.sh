#!/usr/bin/env bash
# Builds the example without Bazel, by an MPI compiler: from the emitted source and the installed library, and from a source
# that has the runtime, too.
set -euo pipefail
. tests/mpi/mpirun.sh
mpi=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tar -C "$folder" -xf "$2"
library=$folder/lib/libquadrille_$mpi.so

"mpicc.$mpi" -I. examples/transpose/transpose.c emitted/alltoall_1_2_3.c -L"$folder/lib" \
  "-lquadrille_$mpi" -Wl,-rpath,"$folder/lib" -o "$folder/transpose"
right() {
  start_ranks "$mpi" 6 30 "$1" | grep -qx "24 x 24 matrix transposed on 6 ranks, 0 wrong entries"
}
right "$folder/transpose"
# The program needs MPI and libc only, and no library of the verifier or generator.
needed=$(readelf -d "$library" | sed -n 's/.*NEEDED.*\[\(lib[a-z]*\)[-.].*/\1/p' | sort | tr '\n' ' ')
[ "$needed" = "libc libmpi " ] || [ "$needed" = "libc libmpich " ] || {
  echo "$library needs $needed" >&2
  exit 1
}

# One source and one header suffice. Each MPI library is tried with another compiler.
alone=$folder/alone schedule=$PWD/emitted/alltoall_1_2_3.qs
mkdir -p "$alone"
"$folder/bin/quadrille" emit "$schedule" --runtime "$alone/emitted" >/dev/null
sed '/runtime.quadrille.h/d' examples/transpose/transpose.c >"$alone/transpose.c"
cd "$alone"
case $mpi in
  openmpi) compile=(env OMPI_CC=gcc mpicc.openmpi -O2 -ffunction-sections -Wl,--gc-sections) ;;
  mpich) compile=(env MPICH_CC=clang-14 mpicc.mpich -std=c11 -O0) ;;
esac
"${compile[@]}" -Wall -Wextra -Werror -I. transpose.c emitted/alltoall_1_2_3.c -o transpose
right ./transpose
for file in emitted/*; do
  grep -qF 'SPDX-License-Identifier: BSD-3-Clause' "$file" || { echo "$file has no licence" >&2; exit 1; }
done
lines=$(cat emitted/* | wc -l)
[ "$lines" -le 9500 ] || { echo "the runtime and a schedule have $lines lines, more than 9500" >&2; exit 1; }
text=$((0x$(objdump -h transpose | awk '$2 == ".text" { print $3 }')))
[ "$mpi" != openmpi ] || [ "$text" -le 120000 ] || { echo "the program has $text bytes of code, more than 120000" >&2; exit 1; }
# Without the flag, the source has only the schedule.
"$folder/bin/quadrille" emit "$schedule" --out . >/dev/null 2>&1 || exit 1
! "${compile[@]}" -I. transpose.c alltoall_1_2_3.c -o plain 2>/dev/null || { echo 'no runtime is needed' >&2; exit 1; }
