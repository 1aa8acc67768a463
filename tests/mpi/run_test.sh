#!/usr/bin/env bash
# run_test.sh MPI RUN: //tools:run under mpirun, right and wrong.
set -u
. "$(dirname "$0")/mpirun.sh"
mpi=$1 run=$2
good=tests/mpi/schedules/hierarchical-factor_1-2-3.qs
one_node=tests/mpi/schedules/hierarchical-factor_8.qs
failed=0
out=$TEST_TMPDIR/out err=$TEST_TMPDIR/err

# start RANKS ARGUMENTS...: runs the program. Sets $code, and writes its output to the files $out and $err.
start() {
  local ranks=$1
  shift
  start_ranks "$mpi" "$ranks" 30 "$run" "$@" >"$out" 2>"$err" </dev/null
  code=$?
}

problem() {
  echo "FAILED: $*: exit code $code"
  cat "$out" "$err"
  failed=1
}

# right WORDS RANKS ARGUMENTS...: expects exit code 0, and WORDS in the output.
right() {
  local words=$1
  shift
  start "$@"
  [ $code -eq 0 ] && grep -qF "$words" "$out" && grep -q 'every byte is right' "$out" &&
    grep -q 'MPI_\(Alltoall / quadrille_alltoall\|Allgather / quadrille_allgather\), pair by pair: [0-9]' "$out" ||
    problem "run $*"
}

# refused SENTENCE RANKS ARGUMENTS...: expects a nonzero exit code, and SENTENCE exactly once as the only error.
refused() {
  local sentence=$1
  shift
  start "$@"
  [ $code -ne 0 ] && [ $code -ne 124 ] && [ "$(grep -cF "$sentence" "$err")" -eq 1 ] &&
    [ "$(grep -c '^run: ' "$err")" -eq 1 ] && ! grep -q 'right' "$out" || problem "run $*"
}

quick="--repetitions 2"
right 'alltoall hierarchical-factor, 6 ranks, blocks of 1024 bytes: every' 6 $good --layout trusted $quick
right ', 6 ranks, blocks of 100 bytes, synchronous sends, in place: every' 6 $good --layout trusted $quick \
  --bytes 100 --synchronous --in-place --window 2
right ', 6 ranks, blocks of 0 bytes: every' 6 $good --layout trusted $quick --bytes 0
[ "$mpi" = mpich ] || right ', 8 ranks, blocks of 70000 bytes: every' 8 $one_node $quick --bytes 70000 --window 1

ring=tests/mpi/gather/blocked-ring_5.qs
right 'allgather blocked-ring, 5 ranks, contributions of 1024 bytes: every' 5 $ring $quick
right ', 5 ranks, contributions of 100 bytes, synchronous sends, in place: every' 5 $ring $quick --bytes 100 \
  --synchronous --in-place --window 2 --block-size 7
right ', 5 ranks, contributions of 4096 bytes: every' 5 $ring $quick --bytes 4KiB --block-size 1KiB

# One file serves every number of ranks.
for ranks in 2 5; do
  right "alltoall hierarchical-factor, $ranks ranks, blocks of 1024 bytes: every" $ranks \
    tests/mpi/collectives/alltoall/hierarchical-factor_any.qs $quick
  right "allgather blocked-ring-nodes, $ranks ranks, contributions of 1024 bytes, in place: every" $ranks \
    tests/mpi/collectives/allgather/blocked-ring-nodes_any.qs $quick --in-place
done
right 'alltoall tuna, 3 ranks, blocks of 1024 bytes: every' 3 tests/mpi/collectives/alltoall/tuna_any.qs $quick --layout trusted
refused 'xor needs a power of two of ranks; the communicator has 6' 6 tests/mpi/collectives/alltoall/xor_any.qs
refused 'factor-even needs an even number of ranks; the communicator has 3' 3 tests/mpi/collectives/alltoall/factor-even_any.qs
refused 'a schedule for any nodes does not say how many ranks a node has' 2 \
  tests/mpi/collectives/alltoall/hierarchical-factor_any.qs --layout trusted
refused 'the first group has 3 of 2 ranks; start more, or give --first-group' 2 \
  tests/mpi/collectives_between/alltoall/factor_any_remote-nodes-any.qs --first-group 3
refused 'run: --root: the ranks are 0 to 2' 3 tests/mpi/collectives/gather/binomial_any.qs --root 3
refused 'run: --root means nothing to alltoall; leave it out' 6 $good --layout trusted --root 0
refused 'run: --first-group means nothing to alltoall; leave it out' 6 $good --layout trusted --first-group 2
refused 'the schedule takes no block size' 6 $good --layout trusted --block-size 8
refused 'the schedule is for 6 ranks, the communicator has 2; generate one for 2 or for any nodes' 2 $good
refused 'the schedule is for nodes 1,2,3, the communicator has 6; generate one for these' 6 $good
refused 'no/such.qs: No such file or directory' 2 no/such.qs
refused 'BUILD: not a schedule file' 2 tests/mpi/BUILD

# run reports errors that one process can find before it starts MPI.
flag() {
  local sentence=$1
  shift
  "$run" "$@" >"$out" 2>"$err"
  code=$?
  [ $code -eq 2 ] && grep -qF "$sentence" "$err" && [ ! -s "$out" ] || problem "run $*"
}
flag 'run: --window wants a number from 1 to 65536' $good --window 0
flag 'run: --window wants a number from 1 to 65536' $good --window 3x
flag 'run: --window wants a number from 1 to 65536' $good --window
flag 'run: --bytes wants a number of bytes from 0 to 1073741824, such as 4096 or 4KiB' $good --bytes -4
flag 'run: --bytes wants a number of bytes from 0 to 1073741824, such as 4096 or 4KiB' $good --bytes 4KB
flag 'run: --block-size wants a number of bytes from 1 to 2147483647' $ring --block-size 0
flag 'run: --block-size wants a number of bytes from 1 to 2147483647' $ring --block-size 2147483648
flag 'run: --repetitions wants a number from 1 to 1000000' $good --repetitions 99999999999999999999
flag "run: --layout knows 'trusted' only" $good --layout spread
flag "run: '--wndow' is not known" $good --wndow 3
flag "run: 'b.qs' is not known" $good b.qs
flag 'usage: mpirun -n RANKS quadrille run FILE.qs'
"$run" --help | grep -q '^usage: ' || problem "run --help"

# The launcher of the other MPI library starts each rank alone.
[ "$mpi" = mpich ] && other=openmpi || other=mpich
start_ranks $other 3 30 "$run" $good >"$out" 2>"$err" </dev/null
code=$?
[ $code -eq 2 ] && [ "$(grep -c 'launcher started it, and each of its 3 ranks is alone; start it with' "$err")" -eq 1 ] ||
  problem "$other's launcher"

# The library reports its actions with QUADRILLE_DEBUG=1, and not without it.
QUADRILLE_DEBUG=1 start_ranks "$mpi" 6 30 "$run" $good --layout trusted $quick --in-place \
  >"$out" 2>"$err" </dev/null
code=$?
[ "$(grep -c '^\[quadrille, rank [0-5]\] loaded hierarchical-factor for 6 ranks' "$err")" -eq 6 ] ||
  problem "QUADRILLE_DEBUG=1"
start 6 $good --layout trusted $quick
grep -q 'quadrille,' "$err" && problem "without QUADRILLE_DEBUG"
exit $failed
