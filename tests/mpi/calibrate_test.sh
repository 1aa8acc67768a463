#!/usr/bin/env bash
# calibrate_test.sh MPI CALIBRATE GENERATOR: //tools:calibrate under mpirun. The generator accepts its output unchanged.
# tests/simulation/calibrate_test.py tests the values, since there the right ones are known.
set -u
. "$(dirname "$0")/mpirun.sh"
mpi=$1 calibrate=$2 generator=$3
failed=0
out=$TEST_TMPDIR/out err=$TEST_TMPDIR/err said=$TEST_TMPDIR/said file=$TEST_TMPDIR/auto.qs

problem() {
  echo "FAILED: $*: exit code $code"
  cat "$out" "$err" "$said"
  failed=1
}

# start RANKS RANKS_A_NODE ARGUMENTS...: runs calibrate. Sets $code, and writes its output to the files $out and $err.
start() {
  local ranks=$1
  export RANKS_A_NODE=$2
  shift 2
  : >"$said"
  start_ranks "$mpi" "$ranks" 60 "$calibrate" "$@" >"$out" 2>"$err" </dev/null
  code=$?
}

unsteady='times were too unsteady: long messages took no longer than short ones; measure while'
# measures NAMES SENTENCE RANKS RANKS_A_NODE: expects one line with the flags NAMES, and no message but SENTENCE.
measures() {
  local names=$1 sentence=$2 pattern='--bytes 64 '
  shift 2
  # Other tests may occupy the cores for a while. Then calibrate reports unsteady times, and the test tries again.
  for try in 1 2 3 4 5; do
    start "$@" --bytes 64 --seconds 0.2
    [ $code -eq 2 ] && grep -qF "calibrate: $unsteady" "$err" && [ ! -s "$out" ] || break
  done
  for name in $names; do pattern+="--$name [0-9]+[np]s "; done
  pattern+='--eager [0-9]+ '
  [ $code -eq 0 ] && [ "$(wc -l <"$out")" -eq 1 ] && grep -qxE -- "$pattern--port (node|rank)" "$out" &&
    [ "$(grep '^calibrate: ' "$err")" = "$sentence" ] || problem "calibrate on $*"
}

value() { sed -nE "s/.*--$1 ([0-9]+).*/\1/p" "$out"; }

# accepted NODES: expects that the generator chooses by the printed flags, and that --explain accepts them.
accepted() {
  "$generator" generate alltoall --algorithm auto --nodes "$1" $(cat "$out") --out "$file" \
    >"$said" 2>&1 && grep -q '^chosen: ' "$said" &&
    "$generator" show "$file" --explain $(cat "$out") >"$said" 2>&1 || problem 'the generator'
}
explains() { grep -qF "$1" "$said" || problem "--explain does not say: $1"; }

# Expects that bytes take time, and that a message takes longer than one byte.
dearer() {
  [ "$(value "beta$1")" -gt 0 ] &&
    [ $((1000 * ($(value "alpha$1") + $(value "gap$1")))) -gt "$(value "beta$1")" ] ||
    problem "alpha$1 and beta$1 out of order"
}

outer='alpha beta gap' inner='alpha-inside beta-inside gap-inside beta-alone' copies='copy beta-copy'
measures "$outer $inner $copies" '' 4 2
dearer ''
dearer -inside
accepted 2,2
explains "a message takes $(value alpha) ns and a byte $(value beta) ps between nodes, the next one $(value gap) ns; inside $(value alpha-inside) ns and $(value beta-inside) ps, the next one $(value gap-inside) ns; a block that is copied $(value copy) ns and $(value beta-copy) ps; "
case $(cat "$out") in
  *node) explains 'the ranks of a node share its port and its memory' ;;
  *rank) explains 'each rank has a port of its own' ;;
esac
measures "$inner $copies" 'calibrate: all ranks are on one node, so what messages take between nodes could not be measured: no --alpha, no --beta, no --gap' 3 3
dearer -inside
accepted 4
explains "; inside $(value alpha-inside) ns and $(value beta-inside) ps, the next one $(value gap-inside) ns;"
"$generator" generate alltoall --algorithm auto --nodes 2,2 $(cat "$out") --out "$file" >"$said" 2>&1 &&
  problem 'what was measured on one node was taken for two'
grep -qF -- '--alpha and --beta are missing, for messages between the nodes' "$said" ||
  problem 'not said: what is missing for two nodes'
measures "$outer $copies" 'calibrate: no node has two ranks, so what messages take inside could not be measured: no --alpha-inside, no --beta-inside, no --gap-inside, no --beta-alone' 2 1
dearer ''
accepted 2,2
explains "a message takes $(value alpha) ns and a byte $(value beta) ps between nodes"

# --messages measures single messages, here an empty one and a long one.
start 3 1 --messages 0,1MiB --seconds 0
[ $code -eq 0 ] && awk '$1 != "message" || $2 != (NR == 1 ? 0 : 1048576) || !($3 > 0 && $3 > last) {exit 1}
  {last = $3} END {exit NR != 2}' "$out" || problem 'calibrate --messages'

STEADY_CLOCK=1 start 2 2 --bytes 64 --seconds 0
[ $code -eq 2 ] && [ ! -s "$out" ] && [ "$(grep -cF "calibrate: $unsteady" "$err")" -eq 1 ] ||
  problem 'calibrate by a clock that tells nothing'

start 1 1 --bytes 64
[ $code -eq 2 ] && [ ! -s "$out" ] && [ "$(grep '^calibrate: ' "$err")" = \
  'calibrate: one rank has none to send to; start two or more with mpirun, best on two nodes or more' ] ||
  problem 'calibrate on one rank'

# calibrate reports errors that one process can find before it starts MPI.
refused() {
  local sentence=$1
  shift
  "$calibrate" "$@" >"$out" 2>"$err"
  code=$?
  [ $code -eq 2 ] && grep -qxF "$sentence" "$err" && [ ! -s "$out" ] || problem "calibrate $*"
}
for seconds in '' x -1 3601 1s nan; do
  refused 'calibrate: --seconds wants a number from 0 to 3600' --seconds "$seconds"
done
refused 'calibrate: --seconds wants a number from 0 to 3600' --seconds
for bytes in '' 0 -4 4k 4,5 9999999999; do
  refused 'calibrate: --bytes wants a number of bytes from 1 to 1073741824, such as 4096 or 4KiB' --bytes "$bytes"
done
refused 'calibrate: give the bytes of a block, on the average, with --bytes' --seconds 1
for messages in '' -4 4,,5 4, ,4 4k 99999999999; do
  refused 'calibrate: --messages wants numbers of bytes from 0 to 1073741824, as in 0,4KiB' --messages "$messages"
done
refused "calibrate: '--second' is not known" --second 1
"$calibrate" --help | grep -q '^usage: ' || problem 'calibrate --help'
exit $failed
