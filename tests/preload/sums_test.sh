#!/usr/bin/env bash
# sums_test.sh MPI LIBRARY TOOL PROGRAM CANONICAL SUM VERIFIER: reductions of floating-point numbers, and by the program's own operators, have
# the bits that MPI gives them, however the library decides. With QUADRILLE_SUMS=canonical they have the bits of one tree, on all nodes and by all
# schedules. CANONICAL evaluates that tree itself, so both MPI libraries have the same bits.
set -u
canonical=$(readlink -f "$5") sum=$(readlink -f "$6") verifier=$(readlink -f "$7")
. "$(dirname "$0")/runs.sh"
forced=(QUADRILLE_ALLREDUCE=ring QUADRILLE_REDUCE=rabenseifner QUADRILLE_SCAN=doubling QUADRILLE_EXSCAN=one-two-three
  QUADRILLE_REDUCE_SCATTER_BLOCK=pairwise)
bits() { grep -o 'rank [0-9] has the bits .*' "$out" | sort; }

# native CALLS: runs PROGRAM without the library, and keeps its bits.
native() {
  preload= right 4 QUADRILLE_DEBUG= -- "$1"
  native=$(bits)
}
# native_bits RANKS VARIABLE=VALUE... [-- ARGUMENT...]: expects the bits that `native` keeps.
native_bits() {
  right "$@"
  [ "$(bits)" = "$native" ] || problem "other bits than MPI's: $*"
}
native 4000
for _ in 1 2; do
  native_bits 4 QUADRILLE=adapt -- 4000
  reported allreduce 4.. '(compared|chosen)'
done
native 1000
for mode in off learn verify; do native_bits 4 QUADRILLE=$mode QUADRILLE_RULES=rules.txt -- 1000; done
native_bits 4 "${forced[@]}" QUADRILLE_SUMS=native -- 1000
reported allreduce ring 'by rule'
for collective in allreduce reduce scan exscan reduce_scatter_block; do
  reported $collective native 'its bits could change: QUADRILLE_SUMS=native$'
done
# The test notices other bits.
right 4 "${forced[@]}" QUADRILLE_SUMS=any -- 1000
[ "$(bits)" != "$native" ] || problem "the bits do not depend on the order of operands"
start 2 QUADRILLE_SUMS=never -- 10
said 1 'QUADRILLE_SUMS=never is not known: write native, any or canonical'

# CANONICAL finds the tree's bits on all communicators of jobs of 17 or 11 and 9 ranks, with any nodes, rules and modes.
program=$canonical preload="$library $tool"
# canonical RANKS RANKS_A_NODE VARIABLE=VALUE...: expects that CANONICAL finds the tree's bits.
canonical() { right "$1" QUADRILLE_SUMS=canonical RANKS_A_NODE="$2" "${@:3}"; }
case $mpi in mpich) canonical 17 17 ;; *) canonical 11 11 ;; esac # many ranks share few cores
not_reported ' native '
for schedule in 'allreduce .* binomial' 'allreduce .* halving' 'allreduce .* segments' 'allreduce .* leader' 'reduce .* binomial' \
  'reduce_scatter .* spread-out' 'reduce_scatter_block .* spread-out' 'reduce_scatter_block .* leader' 'scan .* binomial' \
  'exscan .* binomial'; do
  grep -qE "^$schedule .* canonical sums" "$report" || problem "no canonical sums by: $schedule"
done
canonical 9 2 "${forced[@]}" QUADRILLE_REDUCE_SCATTER=native QUADRILLE=on
not_reported ' native |by rule'
canonical 9 2 QUADRILLE=on QUADRILLE_REPORT= # without rules
canonical 9 5 QUADRILLE_ALLREDUCE=segments QUADRILLE=learn QUADRILLE_RULES=learned.json
reported allreduce segments 'by rule'
not_reported ' native '
canonical 9 4 QUADRILLE_ALLREDUCE=halving QUADRILLE=verify
reported allreduce binomial 'canonical sums'
# SUM is for nodes of 2 and 3 ranks. This job has nodes of 3 and 2, so SUM's ranks are not in the communicator's
# order.
right 5 QUADRILLE_SUMS=canonical RANKS_A_NODE=3 QUADRILLE_ALLREDUCE="file:$sum" QUADRILLE_VERIFIER="$verifier"
reported allreduce '2 x 2 to 3 ranks' binomial 'canonical sums'
not_reported ' native '
# The program notices other bits.
start 5 QUADRILLE_SUMS=any "${forced[@]}"
grep -q 'has other bits' "$out" || problem "sums of a ring have the bits of the tree"
exit $failed
