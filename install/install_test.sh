#!/usr/bin/env bash
# install_test.sh INSTALL DEB TREE.tar CHECK_LINKS: builds and runs users' projects with the installed tree.
set -u
. tests/mpi/mpirun.sh
install=$PWD/$1 deb=$PWD/$2 tree=$PWD/$3 links=$PWD/$4 projects=$PWD/install/test
cd "$TEST_TMPDIR" || exit 2
failed=0

problem() {
  echo "FAILED: $*"
  cat said 2>/dev/null
  failed=1
}

said() { grep -qF -- "$1" said || problem "no '$1'"; }

# ---- Where the tree is installed
DESTDIR=$PWD/root "$install" "$tree" --prefix /usr >said 2>&1 || problem "a staged install"
[ -x root/usr/bin/quadrille ] || problem "DESTDIR"
mkdir prefix && chmod 2750 prefix
"$install" "$tree" --prefix="$PWD/prefix" >said 2>&1 || problem "install"
[ "$(stat -c %a prefix)" = 2750 ] && [ "$(find prefix -maxdepth 1 -name '.*' | wc -l)" = 0 ] || problem "what was there has changed"
refused() { # SENTENCE ARGUMENT...
  "$install" "$tree" "${@:2}" >said 2>&1
  [ $? -eq 2 ] && [ "$(wc -l <said)" -eq 1 ] && grep -qF -- "$1" said || problem "install ${*:2}"
}
refused 'it wants --prefix DIR'
refused 'it wants --prefix DIR' --prefix
refused 'it wants --prefix DIR' --perfix=/usr
refused "'usr' is no absolute path" --prefix usr
refused "which module files cannot name" --prefix "$PWD/a{b"
refused "/dev/null/usr' cannot be written to" --prefix /dev/null/usr
touch file
refused "file' cannot be written to" --prefix "$PWD/file"

# ---- Programs
prefix=$PWD/prefix
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
right() { # MPI PROGRAM
  start_ranks "$1" 3 30 "./$2" "$prefix/share/quadrille/alltoall.factor.qs" >said 2>&1
  grep -qx right said || problem "$2 over $1"
}
for mpi in openmpi mpich; do
  for language in c c++; do
    # shellcheck disable=SC2046
    "$([ $language = c ] && echo gcc || echo g++)" -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -x $language "$projects/app.c" -x none -o app-$language \
      $(pkg-config --cflags --libs quadrille-$mpi) >said 2>&1 || problem "$language over $mpi"
    right $mpi app-$language
  done
  mpicc.$mpi -I"$prefix/include" "$projects/app.c" "$prefix/lib/libquadrille_$mpi.a" -ldl -lpthread -o app-static >said 2>&1 ||
    problem "the static library over $mpi"
  right $mpi app-static
  mpif90.$mpi "$projects/app.f90" -L"$prefix/lib" -Wl,--no-as-needed -lquadrille_preload_$mpi -o app-fortran >said 2>&1 || problem "Fortran over $mpi"
  export QUADRILLE_ALLTOALL=linear QUADRILLE_REPORT=report
  right $mpi app-fortran
  unset QUADRILLE_ALLTOALL QUADRILLE_REPORT
  grep -q '^alltoall .* linear ' report || problem "Fortran over $mpi is not served"
  rm -f report
done
mkdir project && cp "$projects/CMakeLists.txt" "$projects/app.c" project
configure() { # PACKAGE VERSION: looks for the package anew; compilers and MPI stay in the cache
  cmake -S project -B built -U '?uadrille*' -DMPI_C_COMPILER=mpicc.openmpi -DCMAKE_PREFIX_PATH="$prefix" \
    -DPACKAGE="$1" -DVERSION="$2" >said 2>&1
}
version=$(sed -n 's/^Version: //p' "$prefix/lib/pkgconfig/quadrille-mpich.pc") major=${version%%.*} minor=${version#*.}
for request in '' "$major" "$version" "$version;EXACT" "$major.0...$major.99"; do
  for package in quadrille Quadrille; do
    configure $package "$request" || problem "find_package($package $request)"
  done
done
cmake --build built >said 2>&1 || problem "CMake"
right openmpi built/app
for request in "$((major + 1))" "$major.$((minor + 1))" "$((major + 1)).0...$((major + 2))" "$major.0...<$version" "$version.1;EXACT"; do
  ! configure quadrille "$request" && said 'were considered but not accepted' && said ", version: $version" ||
    problem "CMake takes version $version for '$request'"
done

# ---- The one command
export PATH=$prefix/bin:$PATH
quadrille --version >said && said "quadrille $version"
quadrille generate allgather --algorithm blocked-ring --nodes any --out mine.qs >said 2>&1 && said 'mine.qs: blocked-ring'
quadrille check mine.qs >said 2>&1 && said 'mine.qs: proven'
quadrille prove factor >said 2>&1 && said 'everything proven'
# A refutation prints a command that works as printed.
printf 'algorithm mine for allgather\ncopy send[0] to recv[rank]\n' >mine.txt
quadrille generate allgather --program mine.txt --nodes 2 --out wrong.qs >said 2>&1
quadrille check wrong.qs >said 2>&1
[ $? -eq 1 ] && replay=$(sed -n 's/^  to see it: //p' said) && [[ $replay == 'quadrille replay '* ]] || problem "no replay"
eval "$replay" >said 2>&1 && said 'copy outside send[0] recv[0]'
quadrille check --help >said && said 'Example: quadrille check small.qs'
quadrille emit mine.qs --out . >said 2>&1 && grep -q '^   quadrille emit mine.qs --out .' mine.h || problem "the commands in an emitted header"
quadrille check "$prefix"/share/quadrille/*.qs >checked 2>said || problem "a schedule: $(tail -1 said)"
[ "$(grep -c ': proven$' checked)" -eq "$(ls "$prefix"/share/quadrille/*.qs | wc -l)" ] || problem "schedules that are not proven"
quadrille prove --proof "$prefix/share/quadrille/proofs/alltoall.factor.proof" >said 2>&1 && said 'everything proven'
for name in check choose compare list prove report; do
  python3 -m json.tool "$prefix/share/quadrille/schemas/$name.schema.json" >said 2>&1 && said '"$schema": "https://json-schema.org/draft/2020-12/schema"'
done
for mpi in openmpi mpich; do
  start_ranks $mpi 2 30 quadrille run mine.qs --repetitions 2 >said 2>&1 && said '2 ranks, contributions of 1024 bytes: every byte is right'
  LD_PRELOAD=$(quadrille preload $mpi) quadrille --version >said 2>&1 && said 'quadrille '
  LD_PRELOAD=$(quadrille preload $mpi) start_ranks $mpi 2 30 quadrille doctor >said 2>&1 && said 'all is well' && said "/libquadrille_preload_$mpi.so"
done
wrong() { # SENTENCE COMMAND...
  "${@:2}" >said 2>&1
  [ $? -eq 2 ] && grep -qF -- "$1" said || problem "${*:2}"
}
wrong "'chek' is no command; quadrille --help names them" quadrille chek
wrong 'usage: quadrille COMMAND' quadrille
wrong "'lam' is no MPI library that is served" quadrille preload lam
preloads() { # MPI VARIABLE...
  env "${@:2}" quadrille preload >said && said "/libquadrille_preload_$1.so"
}
preloads mpich PMI_SIZE=2
mkdir hydra && ln -s "$(command -v mpiexec.hydra)" hydra/mpirun
preloads mpich PATH="$PWD/hydra:$PATH"
quadrille preload abi >said && said /libquadrille_preload_abi.so
preloads openmpi PMI_RANK=0 # SLURM sets these for programs of all MPI libraries
preloads openmpi PMI_SIZE=2 SLURM_STEP_ID=0
wrong "QUADRILLE_MPI is 'lam'" env QUADRILLE_MPI=lam quadrille run mine.qs
for page in quadrille quadrille-{calibrate,check,choose,compare,doctor,emit,generate,list,prove,replay,report,rules,run,show,simulate,trace,tune}; do
  grep -qi usage "$prefix/share/man/man1/$page.1" || problem "the page of $page"
done
# apropos finds a page by its NAME, one line "name - what it is". lexgrog, if installed, reads it the same way.
named() { # PAGE
  awk '/^\.SH/ { name = $0 == ".SH NAME"; next } name { print }' "$1" >said
  [ "$(wc -l <said)" -eq 1 ] && grep -qE "^$(basename "$1" .1) \\\\- [a-z].+" said &&
    { [ -z "$(command -v lexgrog)" ] || lexgrog "$1" >said 2>&1; }
}
for page in "$prefix"/share/man/man1/*.1; do named "$page" || problem "the NAME of $page"; done
sed '/^\.SH NAME/d' "$prefix/share/man/man1/quadrille.1" >quadrille.1
! named quadrille.1 || problem "a page without NAME is not noticed"
completed() { # WORDS... EXPECTED
  COMP_WORDS=("${@:1:$#-1}") COMP_CWORD=$(($# - 2)) COMPREPLY=()
  _quadrille
  [[ " ${COMPREPLY[*]} " == *" ${!#} "* ]] || problem "completion of ${*:1:$#-1}: ${COMPREPLY[*]}"
}
. "$prefix/share/bash-completion/completions/quadrille"
completed quadrille che check
completed quadrille check --no --nodes
completed quadrille generate allg allgather
completed quadrille generate allgather --algorithm blo blocked-ring

# ---- A module, and a recipe for Spack
modulecmd=$(dpkg -L environment-modules | grep -m 1 '/modulecmd.tcl$')
module_works() { # FOLDER: checks that its module can be loaded, and unloaded without a trace
  (
    export PATH=/usr/bin:/bin MODULEPATH=$1
    unset MANPATH LD_LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH
    eval "$("$modulecmd" bash load "quadrille/$version")" >said 2>&1 || exit 1
    [ "$(command -v quadrille)" = "$prefix/bin/quadrille" ] && pkg-config --exists quadrille-openmpi && [ "$LD_LIBRARY_PATH" = "$prefix/lib" ] || exit 1
    eval "$("$modulecmd" bash unload quadrille)" >said 2>&1
    [ "$PATH" = /usr/bin:/bin ] && [ -z "${LD_LIBRARY_PATH:-}" ]
  ) 2>said
}
module_works "$prefix/share/modulefiles" || problem "the module"
"$modulecmd" bash help "$prefix/share/modulefiles/quadrille/$version" >said 2>&1
said "LD_PRELOAD=$prefix/lib/libquadrille_preload_openmpi.so"
for wrong in s/prepend-path/prepend-pth/ "s|$prefix|/usr|" 's/PATH  *.prefix.bin/PATH/'; do
  mkdir -p wrong/quadrille && sed "$wrong" "$prefix/share/modulefiles/quadrille/$version" >"wrong/quadrille/$version"
  ! cmp -s "wrong/quadrille/$version" "$prefix/share/modulefiles/quadrille/$version" && ! module_works "$PWD/wrong" || problem "a wrong module works: $wrong"
done
spack=$prefix/share/quadrille/spack recipe=$prefix/share/quadrille/spack/spack_repo/quadrille/packages/quadrille/package.py
recipe_works() { python3 "$projects/spack_recipe.py" "$1" "$prefix" mpicc >said 2>&1 && printf '%s\n' 'MPICC=mpicc libraries' "MPICC=mpicc PREFIX=$prefix install" | cmp -s - said; }
recipe_works "$recipe" || problem "the recipe"
for wrong in s/prepend_path/prepend_pth/ s/find_libraries/find_librarys/ s/setup_run/set_up_run/ 's/^    version(.*/    version("9.9")/' 's/:$//' s/PREFIX/PERFIX/ 's/spec."mpi"/spec["mpich"/'; do
  sed "$wrong" "$recipe" >wrong.py
  ! cmp -s wrong.py "$recipe" && ! recipe_works wrong.py || problem "a wrong recipe is taken: $wrong"
done
grep -qxF "      prefix: \"$prefix\"" "$spack/packages.yaml" && grep -qF "\"quadrille@$version\"" "$spack/packages.yaml" || problem "packages.yaml"
grep -qx 'set prefix {/usr}' "root/usr/share/modulefiles/quadrille/$version" || problem "a staged module"

# ---- Documents
documents=$prefix/share/doc/quadrille
"$links" "$documents" >said 2>&1 || problem "links"
for page in README CHANGELOG docs/{algorithms,choosing,guide,language,measurements,proofs,references} theory/README; do
  [ -s "$documents/$page.md" ] || problem "$page.md"
done
grep -q '](../../../../include/quadrille/quadrille.h)' "$documents/docs/guide.md" || problem "the guide has lost the header"
mv "$documents/docs/references.md" kept
! "$links" "$documents" >said 2>&1 && said 'docs/algorithms.md points to references.md, which is not there'
mv kept "$documents/docs/references.md"

# ---- Packages
mkdir packages && "$deb" "$tree" packages >said 2>&1 || problem "packages"
for package in libquadrille-abi libquadrille-dev libquadrille-mpich libquadrille-openmpi quadrille; do
  dpkg-deb --contents packages/${package}_*.deb | grep -v '/$' | awk '{print $6}' || problem "$package"
done | sort >packed
[ "$(wc -l <packed)" -gt 50 ] && diff <(cd root && find . ! -type d | sort) packed >said || problem "what is packed is not what is installed"
dpkg-deb --fsys-tarfile packages/quadrille_*.deb | tar -xO "./usr/share/modulefiles/quadrille/$version" | grep -qx 'set prefix {/usr}' || problem "the packed module"
dpkg-deb -f packages/libquadrille-openmpi_*.deb Depends | grep -q libopenmpi || problem "dependencies"
"$deb" "$tree" nowhere >said 2>&1
[ $? -eq 2 ] && said "'nowhere' is no folder"

exit $failed
