#!/usr/bin/env bash
# preload_test.sh MPI LIBRARY TOOL PROGRAM: a plain MPI program gets the right results, and the report names the
# schedules.
set -u
. "$(dirname "$0")/runs.sh"

within=(allgather=bruck allgatherv=blocked-ring:block-size=7 allreduce=doubling alltoall=linear alltoallv=tuna:radix=4
  alltoallw=tuna-coalesced barrier=dissemination bcast=binomial exscan=one-two-three gather=binomial gatherv=linear reduce=binomial
  reduce_scatter=blocked-ring-nodes:block-size=3 reduce_scatter_block=halving scan=doubling scatter=binomial scatterv=linear)
between=(allgather=two-stage allgatherv=segment-map-v allreduce=segments alltoall=direct alltoallv=factor alltoallw=direct
  barrier=dissemination bcast=leader gather=linear gatherv=tree reduce=segments reduce_scatter=direct reduce_scatter_block=spread-out
  scatter=tree scatterv=linear)

# Without the library, and with it on one node, where MPI serves all calls.
preload= right 3 QUADRILLE_DEBUG= FILE=file
[ ! -f "$report" ] || problem 'there is a report without the library'
right 3 FILE=file
reported alltoallv '1 x 3 ranks' native 'not yet compared'
not_reported 'by rule'
right 1 FILE=file
right 3 QUADRILLE=off
[ ! -f "$report" ] || problem 'there is a report, QUADRILLE=off'

# Schedules serve every collective.
variables within
right 5 "${chosen[@]}" FILE=file
all_served within '1 x 5 ranks'
reported allreduce native 'not yet compared' # between groups
reported alltoall '1 rank ' native 'one rank'
right 3 QUADRILLE_SUMS=any QUADRILLE_ALLREDUCE=ring
reported allreduce '1 x 3 ranks' ring 'by rule'
reported allreduce '1 x 3 ranks' native 'the operator does not commute'
right 3 QUADRILLE_ALLREDUCE=ring
reported allreduce '1 x 3 ranks' ring 'by rule'
reported allreduce '1 x 3 ranks' native 'its bits could change: QUADRILLE_SUMS=native'
variables between
right 5 "${chosen[@]}" FILE=file
reported reduce '3 \+ 2 ranks' native 'its bits could change: QUADRILLE_SUMS=native'
right 5 QUADRILLE_SUMS=any "${chosen[@]}" FILE=file
all_served between '3 \+ 2 ranks'
right 5 QUADRILLE_SUMS=any QUADRILLE_DEBUG=1 "${chosen[@]}" FILE=file
all_served between '3 \+ 2 ranks'
right 2 QUADRILLE_ALLTOALL=factor QUADRILLE_REPORT=report.json FILE=file
python3 -c "
import json
report = json.load(open('report.json'))
assert report['ranks'] == 2 and 0 < report['collective_seconds'] < report['seconds'] < 60, report
calls = report['calls']
assert {(c['groups'], c['ranks'], c['remote_ranks']) for c in calls if c['schedule'] == 'factor'} == {(1, 2, 0), (2, 1, 1)}
" || problem 'the report in JSON'

# Ranks that wait for a late rank report it, also if it sends lengths before blocks.
preload="$tool $library"
# waits COLLECTIVE WHAT: expects that ranks 0 and 2 report at least twice that they wait to receive WHAT.
waits() {
  local rank
  for rank in 0 2; do
    [ "$(grep -cE "^quadrille: rank $rank has waited [0-9.]+ s for rank 1, to receive $2; $1" "$out")" -ge 2 ] ||
      problem "rank $rank does not say that it waits for rank 1: $2"
  done
}
right 3 QUADRILLE_STALL=0.2 TOOL_SLEEPS=1 QUADRILLE_ALLTOALL=factor QUADRILLE_ALLTOALLV=factor
waits 'alltoall by factor' '(8|56) bytes in step [0-2]'
right 3 QUADRILLE_STALL=0.2 TOOL_SLEEPS=1 QUADRILLE_ALLTOALL=tuna:radix=2 QUADRILLE_ALLTOALLV=tuna:radix=2
waits 'alltoall by tuna' '(8|16|56|112) bytes in step [0-9]+'
waits 'alltoall by tuna' 'a message in step [0-9]+'
right 3 QUADRILLE_STALL=never QUADRILLE_ALLTOALL=factor
said 3 'QUADRILLE_STALL=never is no number of seconds'
said 0 'has waited'

exit $failed
