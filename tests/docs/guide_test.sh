#!/usr/bin/env bash
# guide_test.sh GUIDE TREE.tar OPENMPI_PROGRAM MPICH_PROGRAM: the commands of the guide do what it says, where Quadrille
# is installed, and so does its rules file.
set -u
. "$(dirname "$0")/../mpi/mpirun.sh"
guide=$(readlink -f "$1")
openmpi=$(readlink -f "$3") mpich=$(readlink -f "$4") failed=0
mkdir "$TEST_TMPDIR/prefix" && tar -C "$TEST_TMPDIR/prefix" -xf "$2" || exit 2
LIBRARIES=$TEST_TMPDIR/prefix/lib
PATH=$TEST_TMPDIR/prefix/bin:$PATH
cd "$TEST_TMPDIR" || exit 2

# As on a machine with enough cores, and with each launcher's own program.
mkdir -p openmpi mpich && ln -sf "$openmpi" openmpi/app && ln -sf "$mpich" mpich/app
mpirun() (
  cd openmpi && export OMPI_MCA_rmaps_base_oversubscribe=1 && ranks=$2 && shift 2
  start_ranks openmpi "$ranks" 60 "$@"
)
mpiexec() (cd mpich && start_ranks mpich "$2" 60 "${@:3}")
grep() { (cd openmpi && command grep "$@"); }

# The blocks of one kind, one after another, in block-1 and so on.
blocks() {
  rm -f block-*
  awk -v kind="$1" '/^```/ { inside = $0 == "```" kind; number += inside; next } inside { print >"block-" number }' "$guide"
}

blocks sh
[ "$(ls block-* | wc -l)" -ge 6 ] || { echo 'the guide has lost its commands'; exit 1; }
for block in $(ls block-* | sort -t- -k2n); do
  if ! (set -e; . "./$block") >said 2>&1; then
    echo "FAILED: $(cat "$block")"
    cat said
    failed=1
  fi
  command grep -q '^FAILED' said && failed=1
done
[ -s openmpi/rules.json ] && [ -s openmpi/report.txt ] || { echo 'FAILED: no rules, or no report'; failed=1; }

# Its rules are read.
blocks json
cp block-1 openmpi/example.json
mpirun -n 2 -x LD_PRELOAD="$LIBRARIES/libquadrille_preload_openmpi.so" -x QUADRILLE_RULES=example.json \
  -x QUADRILLE_REPORT=1 ./app >said 2>&1
command grep -qE '^bcast .* native .* by rule' said || { cat said; failed=1; }

exit $failed
