#!/usr/bin/env bash
# verify_test.sh MPI LIBRARY TOOL PROGRAM: QUADRILLE=verify finds each wrong result, and no right one, whatever the order of
# operands. The tool behind the library makes MPI's own result wrong.
set -u
. "$(dirname "$0")/runs.sh"
preload="$library $tool"
export QUADRILLE_SUMS=any

# Sums and products of floating-point numbers, by all schedules in turn, and by rings, whose order is not MPI's.
right 5 QUADRILLE=verify -- rounded
grep -qE "^quadrille: [1-9][0-9]* calls of [1-9][0-9]* compared with MPI's own: all equal$" "$out" ||
  problem 'no word of how many calls were compared'
reported allreduce '1 x 5 ranks' 'in turn$'
reported scan '1 x 5 ranks' 'in turn$'
reported allreduce '\+ [0-9] ranks' 'in turn$'
reported reduce '\+ [0-9] ranks' 'in turn$'
not_reported 'not compared'
right 4 QUADRILLE=verify QUADRILLE_BCAST=nosuch -- tenths
grep -qE "^quadrille: no call of [1-9][0-9]* compared with MPI's own: QUADRILLE_BCAST: 'nosuch' is none of " "$out" || problem 'wrong settings are not told'
said 0 'all equal'
for allreduce in ring rabenseifner recursive-multiplying:radix=4; do
  right 4 QUADRILLE=verify QUADRILLE_ALLREDUCE=$allreduce QUADRILLE_REDUCE_SCATTER=pairwise -- rounded
  not_reported 'not compared'
done
right 4 QUADRILLE=verify QUADRILLE_ALLREDUCE=ring -- overflows
reported allreduce ring 'compared, except elements with NaN or overflow$'
right 4 QUADRILLE=verify QUADRILLE_ALLREDUCE=doubling -- own_operator
reported allreduce doubling 'not compared: the order of operands may matter$'

# wrong CASE TEXT VARIABLE=VALUE: expects that verify reports TEXT and ends the job.
wrong() {
  start 4 QUADRILLE=verify QUADRILLE_ALLREDUCE=doubling "$3" -- "$1"
  [ $code -ne 0 ] && [ $code -ne 124 ] || problem "a wrong result is not found: $*"
  grep -qE "verify: allreduce by doubling differs from MPI.s own at rank [0-3], in call 1 of it on MPI_COMM_WORLD: $2" "$out" ||
    problem "a wrong result is not told: $*"
}
# The last sum is 4 and has 4 operands. So their order explains a difference of about 4 x 4 epsilons, or 3.6e-15.
right 4 QUADRILLE=verify QUADRILLE_ALLREDUCE=doubling TOOL_ADDS=2.5e-15 -- tenths
wrong tenths 'element 9 of block 0 is 4 instead of 4.00000000000000[0-9]+; the order of operands explains 3.55e-15' TOOL_ADDS=6e-15
wrong tenths 'element 9 of block 0 is 4 instead of -?nan; the order' TOOL_ADDS=nan
wrong pairs 'byte 0 of element 0 of block 0 is [0-9]+ instead of [0-9]+$' TOOL_CORRUPTS=1
exit $failed
