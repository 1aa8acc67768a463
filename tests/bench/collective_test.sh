#!/usr/bin/env bash
# collective_test.sh COLLECTIVE GENERATOR: the program behind the times, right and wrong, on three ranks.
set -u
. tests/mpi/mpirun.sh
collective=$1 generator=$2
failed=0
work=$TEST_TMPDIR
"$generator" generate alltoall --algorithm factor --nodes 3 --out "$work/factor.qs" >/dev/null
"$generator" generate allgather --algorithm blocked-ring --nodes 3 --out "$work/ring.qs" >/dev/null

"$generator" generate alltoall --algorithm tuna --nodes 3 --out "$work/tuna.qs" >/dev/null
for combining in allreduce reduce-scatter; do
  "$generator" generate $combining --algorithm ring --nodes any --out "$work/$combining.qs" >/dev/null
done
for between in allgather/segment-map-v broadcast/leader alltoall/direct; do
  "$generator" generate ${between%/*} --algorithm ${between#*/} --nodes any --remote-nodes any \
    --out "$work/between_${between%/*}.qs" >/dev/null
done

start() {
  start_ranks openmpi 3 60 "$collective" "$@" >"$work/out" 2>"$work/err" </dev/null
  code=$?
}

problem() {
  echo "FAILED: collective $*: exit code $code"
  cat "$work/out" "$work/err"
  failed=1
}

# right SAMPLES ARGUMENTS...: expects exit code 0, SAMPLES lines with two times each, and `end` as the last line.
right() {
  local samples=$1
  shift
  start "$@"
  [ $code -eq 0 ] && [ "$(tail -n 1 "$work/out")" = end ] &&
    [ "$(grep -cE '^sample [0-9]+ [0-9.e+-]+ [0-9.e+-]+$' "$work/out")" -eq "$samples" ] || problem "$@"
}

# refused SENTENCE ARGUMENTS...: expects an error that contains SENTENCE, and no line `end`.
refused() {
  local sentence=$1
  shift
  start "$@"
  [ $code -ne 0 ] && [ $code -ne 124 ] && grep -qF "collective: $sentence" "$work/err" &&
    ! grep -q '^end' "$work/out" || problem "$@"
}

right 4 alltoall 100 2 "$work/factor.qs:4" "$work/factor.qs:1"
right 4 alltoallv uniform:100 2 "$work/tuna.qs:16" "$work/factor.qs:16"
right 4 persistent normal:1000:240 2 "$work/tuna.qs:16" "$work/factor.qs:16"
right 1 alltoallv power:0.95:1024 1 "$work/tuna.qs:16"
right 3 allgather 100 3 "$work/ring.qs:16"
right 2 allgather 100 1 "$work/ring.qs:16:7" "$work/ring.qs:2:64"
right 2 allgatherv 1x1000,2x0 2 "$work/ring.qs:16"
right 1 allgatherv 7,0,9 1 --without-native "$work/ring.qs:16"
grep -q '^sample 0 0\.0*e+00 [1-9]' "$work/out" || problem "without the native collective"
grep -qE '^schedule 0 blocked-ring [0-9a-f]{32} 16$' "$work/out" || problem "its description"

right 2 allreduce 100 2 "$work/allreduce.qs:16"
right 2 reduce-scatter 100 2 "$work/reduce-scatter.qs:16"
right 2 reduce-scatterv 1000,0,96 2 "$work/reduce-scatter.qs:16"
right 2 allgatherv 10,0,30 2 --first-group 1 "$work/between_allgather.qs:16"
right 2 allgather 2x10,30 2 --first-group 2 "$work/between_allgather.qs:16"
right 2 broadcast 100 2 --first-group 2 "$work/between_broadcast.qs:16"
right 2 alltoall 100 2 --first-group 1 "$work/between_alltoall.qs:16"

refused "usage" allreduction 100 2 "$work/ring.qs:16"
refused "--first-group leaves no ranks" broadcast 100 1 --first-group 3 "$work/between_broadcast.qs:16"
refused "alltoallv and reduce-scatterv between groups" alltoallv uniform:9 1 --first-group 1 "$work/factor.qs:16"
refused "counts that differ are for" allgather 10,20,30 1 --first-group 1 "$work/between_allgather.qs:16"
refused "quadrille: the communicator is an intercommunicator" allgather 10 1 --first-group 1 "$work/ring.qs:16"
refused "quadrille: the schedule is for allgather" allreduce 16 1 "$work/ring.qs:16"
refused "a schedule is given as FILE.qs:WINDOW[:BLOCK_SIZE]" allgather 100 2 "$work/ring.qs"
refused "there are fewer counts than ranks" allgatherv 7,0 1 "$work/ring.qs:16"
refused "there are more counts than ranks" allgatherv 4x7 1 "$work/ring.qs:16"
refused "counts that differ are for allgatherv and reduce-scatterv alone" allgather 7,0,9 1 "$work/ring.qs:16"
for sizes in 100 uniform:x uniform:-1 normal:7 power:1:100; do
  refused "sizes are given as uniform:MOST" alltoallv $sizes 1 "$work/tuna.qs:16"
done
refused "a count is no number of bytes" allgatherv 3x 1 "$work/ring.qs:16"
refused "a count is no number of bytes" allgather -1 1 "$work/ring.qs:16"
exit $failed
