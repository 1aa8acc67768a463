#!/usr/bin/env bash
# preload_test.sh MPI LIBRARY TOOL PROGRAM: a plain MPI program with the preload library before MPI: that it gets what it
# should, and that the report says what served it.
set -u
. "$(dirname "$0")/../mpi/mpirun.sh"
mpi=$1 library=$(readlink -f "$2") tool=$(readlink -f "$3") program=$(readlink -f "$4")
cd "$TEST_TMPDIR" || exit 2
out=$TEST_TMPDIR/out report=$TEST_TMPDIR/report preload=$library failed=0

# start RANKS VARIABLE=VALUE... [-- ARGUMENT...]: leaves the exit code in $code, what was said in $out, the report in $report.
start() {
  local ranks=$1 variables=()
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    variables+=("$1")
    shift
  done
  rm -f "$report"
  start_ranks "$mpi" "$ranks" 60 env LD_PRELOAD="$preload" QUADRILLE_REPORT="$report" "${variables[@]}" "$program" \
    "${@:2}" >"$out" 2>&1 </dev/null
  code=$?
  passed=$(grep -Eo 'rank [0-9]+ ran [1-9][0-9]* tests, all passed' "$out" | sort -u | wc -l)
}

problem() {
  echo "FAILED: $*: exit code $code"
  cat "$out"
  [ ! -f "$report" ] || cat "$report"
  failed=1
}

# right RANKS ...: the program gets what it should.
right() {
  start "$@"
  [ $code -eq 0 ] && [ "$passed" -eq "$1" ] || problem "$*"
}

# reported COLLECTIVE WORD...: a line of the report, in that order.
reported() {
  local pattern="^$1 "
  for word in "${@:2}"; do pattern+=".* $word"; done
  grep -qE -- "$pattern" "$report" || problem "the report does not have: $*"
}
not_reported() { ! grep -qE -- "$1" "$report" || problem "the report has: $1"; }
# said N TEXT: so many times.
said() { [ "$(grep -cF -- "$2" "$out")" -eq "$1" ] || problem "not said $1 times: $2"; }

within=(allgather=bruck allgatherv=blocked-ring:block-size=7 allreduce=doubling alltoall=linear alltoallv=tuna:radix=4
  alltoallw=tuna-coalesced bcast=binomial exscan=one-two-three gather=binomial gatherv=linear reduce=binomial
  reduce_scatter=blocked-ring:block-size=3 reduce_scatter_block=halving scan=doubling scatter=binomial scatterv=linear)
between=(allgather=two-stage allgatherv=segment-map-v allreduce=segments alltoall=direct alltoallv=factor alltoallw=direct
  bcast=leader gather=linear gatherv=tree reduce=segments reduce_scatter=direct reduce_scatter_block=spread-out
  scatter=tree scatterv=linear)

# variables LIST: QUADRILLE_ALLGATHER=bruck and so on, in $chosen.
variables() {
  local -n list=$1
  chosen=()
  for pair in "${list[@]}"; do
    local name=${pair%%=*}
    chosen+=("QUADRILLE_${name^^}=${pair#*=}")
  done
}
# all_served LIST RANKS: each of its collectives, on such communicators.
all_served() {
  local -n list=$1
  for pair in "${list[@]}"; do
    local schedule=${pair#*=}
    reported "${pair%%=*}" "$2" "${schedule%%:block-size*}" 'by rule'
  done
}

# Without the library, and with it where it does nothing: one node.
preload= right 3 QUADRILLE_DEBUG= -- file
[ ! -f "$report" ] || problem 'there is a report without the library'
right 3 -- file
reported alltoallv '1 x 3 ranks' native 'no rule'
not_reported 'by rule'
right 1 -- file
right 3 QUADRILLE=off
reported alltoall '3 ranks' native 'QUADRILLE=off'

# Everything served.
variables within
for ranks in 2 5; do
  right $ranks "${chosen[@]}" -- file
  all_served within "1 x $ranks ranks"
done
reported allreduce native 'no rule' # between groups
reported alltoall '1 rank ' native 'one rank'
right 3 QUADRILLE_ALLREDUCE=ring
reported allreduce '1 x 3 ranks' ring 'by rule'
reported allreduce '1 x 3 ranks' native 'the operator does not commute'
variables between
right 5 "${chosen[@]}" -- file
all_served between '3 \+ 2 ranks'
right 2 QUADRILLE_ALLTOALL=factor QUADRILLE_REPORT="$report.json" -- file
python3 -c "
import json
calls = json.load(open('$report.json'))['calls']
assert {c['communicator'] for c in calls if c['schedule'] == 'factor'} == {'1 x 2 ranks', '1 + 1 ranks'}
" || problem 'the report in JSON'

exit $failed
