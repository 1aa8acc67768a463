#!/usr/bin/env bash
# make_test.sh MAKEFILE LIBRARIES.sources COMMANDS.sources TREE.tar: builds everything in C by make, with each MPI library and
# another compiler for each, runs it, and uses what it installs. Compares sources and installed files with those of Bazel.
set -u
. tests/mpi/mpirun.sh
tree=$(dirname "$(readlink -f "$1")") launcher=$(readlink -f tests/mpi/mpirun.sh)
lists=("$(readlink -f "$2")" "$(readlink -f "$3")") bazel=$(readlink -f "$4")
cd "$TEST_TMPDIR" || exit 2
failed=0

problem() {
  echo "FAILED: $*"
  cat said 2>/dev/null
  failed=1
}
said() { grep -qF -- "$1" said || problem "no '$1'"; }
in_tree() { make -C "$tree" -s BUILD="$TEST_TMPDIR/built" "$@"; }

# ---- The lists of sources
for goal in libraries commands; do
  [ $goal = libraries ] && list=${lists[0]} rooms='^(preload|runtime|tools)/' || list=${lists[1]} rooms=.
  in_tree MPICC=mpicc.openmpi -nB $goal | grep -E ' -c |^printf ' | tr ' ' '\n' | grep -E '[.]cc?$' | grep -vF "$TEST_TMPDIR" | grep -E "$rooms" | sort -u >compiled
  sed 's|^//||; s|:|/|' "$list" | sort | diff - compiled >said || problem "the Makefile and Bazel make the $goal from other sources"
  [ -s compiled ] || problem "make compiles nothing for the $goal"
done

# Those that use most of Z3, where Z3 is missing.
printf '#include "verifier/prove/%s.cc"\n' axioms bits coloring smtlib |
  g++ -std=c++20 -I"$tree" -I"$tree/verifier/prove/without_z3" -Wall -Wextra -Werror -fsyntax-only -xc++ - >said 2>&1 || problem "the prover without Z3"

# ---- Build, check, install and use
start() { printf '#!/usr/bin/env bash\n. %s\nranks=$2\nshift 2\nstart_ranks %s "$ranks" 60 "$@"\n' "$launcher" "$1"; }
for mpi in openmpi mpich; do
  [ $mpi = openmpi ] && compiler=gcc optimize=-O1 other=mpich || compiler=clang-14 optimize=-O0 other=openmpi
  export OMPI_CC=$compiler MPICH_CC=$compiler prefix=$TEST_TMPDIR/$mpi
  start $mpi >start && chmod 755 start
  in_tree -j2 MPICC=mpicc.$mpi CC=$compiler CFLAGS="$optimize -Werror" MPIRUN="$PWD/start" PREFIX="$prefix" check install >said 2>&1 ||
    problem "make check install with $compiler over $mpi"
  in_tree -n MPICC=mpicc.$mpi CC=$compiler CFLAGS="$optimize -Werror" libraries | grep ' -c ' && problem "make compiles what is compiled"
  in_tree -n MPICC="mpicc.$mpi -DOTHER" libraries | grep -q ' -c ' || problem "make keeps what another compiler has made"
  said 'every byte is right'
  said ', 0 wrong'
  said "installed in $prefix"
  # All but the commands in C++, with their pages and proofs, and what is for another MPI library.
  tar -tf "$bazel" | grep -vE "/\$|$other|_abi|/lib/quadrille/[a-z]*\$|/proofs/|/man1/" | sort >wanted
  (cd "$prefix" && find . ! -type d | grep -v /man1/ | sort) | diff wanted - >said && [ -s wanted ] || problem "make and Bazel install other files"
  tools=$prefix/lib/quadrille
  ! readelf -d "$prefix/lib/libquadrille_preload_$mpi.so" "$tools/libquadrille_preload_${mpi}_core.so" | grep 'NEEDED.*mpi' || problem "the preload library needs MPI"
  for library in libquadrille libquadrille_preload; do
    readelf -d "$prefix/lib/${library}_$mpi.so" | grep -qF "soname: [${library}_$mpi.so.0]" || problem "the soname of ${library}_$mpi"
  done
  # shellcheck disable=SC2046 # pkg-config prints several words
  mpicc.$mpi "$tree/install/test/app.c" -o app $(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs quadrille-$mpi) -Wl,-rpath,"$prefix/lib" >said 2>&1 ||
    problem "a program over $mpi"
  start_ranks $mpi 3 30 ./app "$prefix/share/quadrille/alltoall.tuna.qs" >said 2>&1
  grep -qx right said || problem "a linked program over $mpi"
  QUADRILLE_MPI=$mpi LD_PRELOAD=$("$prefix/bin/quadrille" preload $mpi) start_ranks $mpi 2 30 "$prefix/bin/quadrille" doctor >said 2>&1
  said 'all is well'
  "$prefix/bin/quadrille" generate >said 2>&1
  [ $? -eq 2 ] && said "this installation has no generator; in the sources, write: make MPICC=mpicc libraries commands && make"
done
abi=(MPICC='gcc -Iruntime/abi' CFLAGS='-O0 -Werror')
in_tree -j2 "${abi[@]}" PREFIX="$TEST_TMPDIR/abi" install >said 2>&1 || problem "make install for MPI's ABI"
[ -f abi/lib/libquadrille_preload_abi.so ] && [ -f abi/lib/quadrille/libquadrille_preload_abi_core.so ] || problem "the libraries for MPI's ABI"
refused() { # SENTENCE ARGUMENT...
  in_tree "${@:2}" >said 2>&1
  [ $? -eq 2 ] && grep -qF -- "$1" said || problem "make ${*:2}"
}
refused "MPICC: 'gcc' compiles for no Open MPI, MPICH or MPI's ABI" MPICC=gcc
refused "'relative' is no absolute path" "${abi[@]}" PREFIX=relative install
exit $failed
