#!/usr/bin/env bash
# shell_test.sh INSTALL TREE.tar OPENMPI_PROGRAM MPICH_PROGRAM DOCUMENT...: in an installation, the shell commands of
# the documents do what the documents say. So does their rules file.
set -u
. "$(dirname "$0")/../mpi/mpirun.sh"
install=$(readlink -f "$1") tree=$(readlink -f "$2") openmpi=$(readlink -f "$3") mpich=$(readlink -f "$4")
mapfile -t documents < <(readlink -f "${@:5}")
failed=0 commands=0
export HOME=$TEST_TMPDIR
mkdir "$TEST_TMPDIR/prefix" && tar -C "$TEST_TMPDIR/prefix" -xf "$tree" || exit 2
LIBRARIES=$TEST_TMPDIR/prefix/lib
PATH=$TEST_TMPDIR/prefix/bin:$PATH
cd "$TEST_TMPDIR" || exit 2

# Starts each launcher's own program, as on a machine with enough cores. ./dev installs the existing build.
mkdir -p openmpi mpich && ln -sf "$openmpi" openmpi/app && ln -sf "$mpich" mpich/app
printf '#!/bin/sh\nshift\nexec "%s" "%s" "$@"\n' "$install" "$tree" >openmpi/dev && chmod 755 openmpi/dev
mpirun() (
  export OMPI_MCA_rmaps_base_oversubscribe=1 && ranks=$2 && shift 2
  start_ranks openmpi "$ranks" 60 "$@"
)
mpiexec() (cd ../mpich && start_ranks mpich "$2" 60 "${@:3}")

# Writes the blocks of a document that begin with this line to block-1, block-2 and so on.
blocks() { # KIND DOCUMENT
  rm -f block-*
  awk -v kind="$1" '/^```/ { inside = $0 == "```" kind; number += inside; next } inside { print >"block-" number }' "$2"
}

# Runs a block as a script in which no command may fail. Never call it in a condition: `set -e` has no effect there.
run_block() { # FILE
  (set -e; cd openmpi; . "../$1") >said 2>&1
}
printf 'false\ntrue\n' >failing
run_block failing
[ $? -ne 0 ] || { echo 'FAILED: a command that fails is not noticed'; failed=1; }

for document in "${documents[@]}"; do
  for source in $(sed -n 's/^```c \([a-z]*\.c\)$/\1/p' "$document"); do
    blocks "c $source" "$document"
    mv block-1 "openmpi/$source"
  done
  blocks sh "$document"
  for block in $(ls block-* 2>/dev/null | sort -t- -k2n); do
    commands=$((commands + 1))
    run_block "$block"
    result=$?
    cat said >>printed
    if [ $result -ne 0 ]; then
      echo "FAILED: $document: $(cat "$block")"
      cat said
      failed=1
    fi
    grep -q '^FAILED' said && failed=1
  done
  # A document that shows a report prints the columns that the report has.
  sed -n 's/^    \(collective  .*\)/\1/p' "$document" >heading
  [ ! -s heading ] || grep -qxFf heading printed || { echo "FAILED: $document: the report has other columns"; failed=1; }
  # The library accepts the document's rules.
  blocks rules "$document"
  [ -e block-1 ] || continue
  cp block-1 openmpi/example.txt
  (cd openmpi && mpirun -n 2 -x LD_PRELOAD="$LIBRARIES/libquadrille_preload_openmpi.so" -x QUADRILLE_RULES=example.txt \
    -x QUADRILLE_REPORT=1 ./app) >said 2>&1
  grep -qE '^bcast .* native .* by rule' said || { cat said; failed=1; }
  rules_read=1
done
[ "$commands" -ge 10 ] && [ "${rules_read:-0}" = 1 ] || { echo 'FAILED: the documents have lost their commands'; failed=1; }
[ -s openmpi/rules.txt ] && [ -s openmpi/report.txt ] || { echo 'FAILED: no rules, or no report'; failed=1; }
exit $failed
