#!/usr/bin/env bash
# tools_test.sh MPI LIBRARY TOOL PROGRAM COUNTED COUNTS: a tool counts the calls of the program and no others, in each mode: preloaded
# before the library, behind it, and linked into the program. No call comes after MPI_Finalize began. With QUADRILLE=off the library calls
# nothing of MPI, by no name.
set -u
. "$(dirname "$0")/runs.sh"
counted=$(cd "$OLDPWD" && readlink -f "$5") counts=$(cd "$OLDPWD" && readlink -f "$6")

# counted PLACE MODE: runs the program with the tool at that place. Writes the sums over ranks to PLACE.MODE.
counted() {
  right 2 QUADRILLE="${2%native}" QUADRILLE_RULES=rules.txt COUNTS=counts FILE=file
  awk '{ calls[$1] += $2 } END { for (name in calls) print name, calls[name] }' counts.? | sort >"$1.$2"
  rm -f counts.? rules.txt
}
same() {
  local only=^MPI_
  counted "$1" "$2"
  [ "$2" != off ] || only=
  diff <(grep "$only" native) <(grep "$only" "$1.$2") || problem "other calls: $1, $2"
}
preload=$counts counted before native
cp before.native native
for name in Init_thread Alltoall Alltoallw Allreduce Barrier Comm_dup Comm_rank File_open; do
  grep -q "^MPI_$name [1-9]" native || problem "MPI_$name is not counted"
done
for mode in off adapt learn verify; do
  preload="$counts $library" same before $mode
  program=$counted preload=$library same linked $mode
done
for mode in off verify; do preload="$library $counts" same behind $mode; done
# If a schedule serves a call, the call does not reach a tool behind the library.
for mode in adapt learn; do
  preload="$library $counts" counted behind $mode
  more=$(join -a 2 -e 0 -o 0,1.2,2.2 <(grep ^MPI_ native) <(grep ^MPI_ behind.$mode) | awk '$3 > $2')
  [ -z "$more" ] || problem "more calls: behind, $mode: $more"
done
[ "$(sed -n 's/^MPI_Alltoall //p' behind.learn)" -lt "$(sed -n 's/^MPI_Alltoall //p' native)" ] || problem 'no call is served'
[ "$(grep -c ^PMPI_ before.learn)" -gt "$(grep -c ^PMPI_ native)" ] || problem 'calls by PMPI_ names are not counted'
exit $failed
