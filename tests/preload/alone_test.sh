#!/usr/bin/env bash
# alone_test.sh MPI LIBRARY TOOL PROGRAM: a rank that alone cannot do what it was to do keeps no other rank waiting.
set -u
. "$(dirname "$0")/runs.sh"
served=(alltoall=factor alltoallv=linear alltoallw=pairwise allgather=bruck allgatherv=blocked-ring allreduce=doubling bcast=binomial
  exscan=one-two-three gather=binomial gatherv=linear reduce=binomial reduce_scatter=ring reduce_scatter_block=pairwise
  scan=doubling scatter=binomial scatterv=linear)
variables served

# Wrong calls have the error classes of MPI.
classes() { grep -o 'rank [0-9] has the classes .*' "$out" | sort; }
wrong=--gtest_filter=*WrongArguments*
preload= right 3 QUADRILLE_DEBUG= -- $wrong
native=$(classes)
[ -n "$native" ] || problem 'no call is refused'
for mode in off adapt learn verify; do
  right 3 QUADRILLE=$mode -- $wrong
  [ "$(classes)" = "$native" ] || problem "other error classes: $mode"
done
right 3 "${chosen[@]}" -- $wrong
[ "$(classes)" = "$native" ] || problem 'other error classes: by rule'
all_served served '1 x 3 ranks'

# without LEAST KIND VARIABLE=VALUE...: refuses the requests of that kind (Memory or Attributes) one after another, and
# expects LEAST or more of them. The job may end with an error message. Then the next job begins $step requests later: the
# tests of the two MPI libraries share the requests for memory.
case $mpi in openmpi) first=1 ;; *) first=2 ;; esac
step=2
without() {
  local from=$first ends=0 requests=0
  while :; do
    start 3 "${@:3}" FROM=$from -- "--gtest_filter=*Without$2*"
    requests=$((requests + $(grep -c '^request' "$out")))
    [ $code -ne 0 ] && grep -q '^quadrille: memory ran out$' "$out" && [ $ends -lt 200 ] || break
    ends=$((ends + 1))
    from=$(($(sed -n 's/^request \([0-9]*\) is refused$/\1/p' "$out" | tail -1) + step))
  done
  [ $code -eq 0 ] && [ "$passed" -eq 3 ] || problem "${*:2}"
  [ $requests -ge "$1" ] || problem "$requests requests: ${*:2}"
}
preload="$library $tool"
first=1 step=1 without 2 Attributes "${chosen[@]}"
first=1 step=1 without 2 Attributes QUADRILLE=learn
without 20 Memory ROUNDS=3 "${chosen[@]}"
without 2 Memory QUADRILLE=learn # first races end
without 20 Memory ROUNDS=3 QUADRILLE=verify

exit $failed
