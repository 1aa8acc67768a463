#!/usr/bin/env bash
# The command `report` shows and adds up reports of the preload library. preload_test.sh tests real reports.
report=$PWD/$4
source "$(dirname "$0")/common.sh"

report() { "$report" report "$@"; }

# line COLLECTIVE SCHEDULE REASON CALLS SECONDS TIMED NATIVE TAKEN COMPARING
line() {
  printf '{"collective": "%s", "groups": 1, "ranks": 16, "remote_ranks": 0, "nodes": 4, "ranks_a_node": [4, 4], "bytes": [4, 15],
    "schedule": "%s", "reason": "%s", "calls": %s, "all_bytes": 800, "seconds": %s, "timed_calls": %s, "native_seconds": %s,
    "taken_seconds": %s, "comparing_seconds": %s}' "$@"
}
document() { printf '{"schema": 3, "ranks": %s, "seconds": %s, "collective_seconds": 0, "saved_seconds": null, "calls": [%s]}' "${2:-16}" "${3:-10}" "$1"; }

document "$(line bcast native 'not yet compared' 10 0.25 0 0 0 0), $(line bcast binomial chosen 100 2 100 3 2 0.5)" >one.json
document "$(line bcast binomial chosen 300 6 100 5 3 0.25)" >two.json

# The report has a headline, and a line for each collective.
expect 0 report one.json
[ "$(head -1 .out)" = 'quadrille: blocking collectives took 22 % of 10.0 s; Quadrille saved 0.500 s, 5.0 %, measured in this run' ] || fail "the headline: $(cat .out)"
grep -qE '^mean of 16 ranks +with waiting  --- without waiting --$' .out && grep -qE '^collective +calls +seconds +native/us +taken/us +saved/s  schedule +reason$' .out ||
  fail "the columns: $(cat .out)"
grep -qE '^bcast +110 +2\.250000 +30000\.0 +20000\.0 +0\.500000  binomial +chosen; and 1 more$' .out || fail "the line of a collective: $(cat .out)"
[ "$(wc -l <.out)" -eq 4 ] || fail "more than a line for a collective: $(cat .out)"
expect 0 report two.json one.json
grep -q '^quadrille: blocking collectives took 41 % of 20.0 s; Quadrille saved 2.2 s, 11 %, measured in this run$' .out || fail "two runs: $(cat .out)"
# Calls on part of the ranks count by their share of all ranks. Between groups, rank 0 reports for its group.
document "$(line scan chain chosen 2 8 2 9 1 0), $(line bcast chain chosen 2 8 0 0 0 0)" 32 100 >part.json
expect 0 report part.json
grep -q '^quadrille: blocking collectives took 8 % of 100.0 s; Quadrille saved 4.0 s, 4.0 %,' .out && grep -qE '^scan +1 +4\.000000 +4500000\.0 +500000\.0 +4\.000000  ' .out || fail "parts: $(cat .out)"
# A killed job leaves a report with the calls of its rank 0 alone.
document "$(line scan chain chosen 2 1 2 0.25 0.5 0)" 1 >slow.json
expect 0 report slow.json
grep -qE '^rank 0 +with waiting' .out && grep -q 'took 10 % of 10.0 s; Quadrille cost 0.250 s, 2.5 %, measured in this run$' .out || fail "a loss: $(cat .out)"
# The headline counts only what this run measured.
document "$(line scan chain 'by rule' 2 1 0 0 0 0)" >ruled.json
prints 'nothing that Quadrille saved or cost was measured in this run' report ruled.json
grep -qE '^scan +2 +1\.000000 +- +- +-  chain +by rule, not measured in this run$' .out || fail "a rule: $(cat .out)"
document "$(line scan chain 'by rule' 2 1 2 4 2 0)" >raced.json
expect 0 report raced.json
grep -qE '2\.000000  chain +by rule$' .out || fail "a rule that was compared: $(cat .out)"
# The summary shows the longest measured line of a collective. Threads together may take more than the whole time.
document "$(line scan native 'not yet compared' 10 9 0 0 0 0), $(line scan chain chosen 2 3 2 4 2 0)" >threads.json
expect 0 report threads.json
says 'collectives took 120 % of 10.0 s in several threads; Quadrille saved 2.0 s, 20 %, measured in this run'
grep -qE '^scan +12 +12\.000000 .* chain +chosen; and 1 more$' .out || fail "the longest line: $(cat .out)"

# --details has a line for each communicator, size and schedule.
expect 0 report one.json --details
grep -qE '^collective +communicator +bytes  schedule' .out && grep -qE '^ +with waiting  --- without waiting --$' .out || fail "the columns of details: $(cat .out)"
grep -qE '^bcast +4 x 4 ranks +4\.\.15  binomial +100 +800 +2\.000000 +30000\.0 +20000\.0 +0\.500000  chosen$' .out || fail "a line with times: $(cat .out)"
grep -qE '^bcast +4 x 4 ranks +4\.\.15  native +10 +800 +0\.250000 +- +- +-  not yet compared$' .out || fail "a line without times: $(cat .out)"
[ "$(grep -n binomial .out | tail -1 | cut -d: -f1)" -lt "$(grep -n ' native ' .out | tail -1 | cut -d: -f1)" ] || fail "the longest line is not the first: $(cat .out)"
expect 0 report one.json two.json --details
grep -qE '^bcast +4 x 4 ranks +4\.\.15  binomial +400 +1600 +8\.000000 +40000\.0 +25000\.0 +2\.250000  chosen$' .out || fail "equal lines are not added up: $(cat .out)"

# JSON has the same sums.
expect 0 report one.json two.json --format json --out sum.json
grep -q '"seconds": 20.000000, "collective_seconds": 8.250000, "saved_seconds": 2.250000' sum.json || fail "the sums in JSON: $(cat sum.json)"
prints '"saved_seconds": null' report ruled.json --format json
expect 0 report one.json two.json --details
cp .out text
expect 0 report sum.json --details
cmp -s .out text || fail "JSON changes the report: $(diff .out text)"

expect 0 report one.json --format html --out page.html
grep -q '^<!DOCTYPE html>' page.html && grep -q '<p>quadrille: blocking collectives took 22 % of 10.0 s' page.html && grep -q 'class="bar native" style="width: 100.0%"' page.html &&
  grep -q 'class="bar taken" style="width: 66.7%"' page.html || fail "the page: $(cat page.html)"
! grep -qE 'https?://|<script|@import|src=' page.html || fail 'the page needs other files'
document "$(line bcast '<b>' chosen 1 1 0 0 0 0)" >marked.json
prints '&lt;b&gt;' report marked.json --format html

printf '{"schema": 3,\n "calls": [}' >half.json
refuses 'report: half.json:2: this is no JSON' report half.json
printf 'quadrille: the calls' >text.txt
refuses 'report: text.txt:1: this is no JSON; let QUADRILLE_REPORT name a file that ends in .json' report text.txt
printf '{"schema": 2, "calls": []}' >old.json
refuses 'report: old.json: "schema" is not 3' report old.json
# no_report REPORT TEXT: expects a refusal that says TEXT.
no_report() {
  echo "$1" >wrong.json
  refuses "wrong.json: this is no report of the preload library: $2" report wrong.json
}
no_report "$(document "$(line bcst native 'no rule' 1 1 0 0 0 0)")" "\"collective\" is 'bcst'"
no_report "$(document "$(line bcast native 'no rule' 1.5 1 0 0 0 0)")" '"calls" is no whole number'
no_report "$(document "$(line bcast native 'no rule' -1 1 0 0 0 0)")" '"calls" is negative'
no_report '[]' 'it is no JSON object'
no_report "$(document '{"collective": "bcast"}')" '"bytes" is missing'
no_report '{"schema": 3, "ranks": 1, "seconds": 1, "calls": null}' '"calls" is no array'
no_report "$(document 1)" 'a call is no object: {...}'
# changed OLD NEW TEXT: replaces OLD by NEW in the report, and expects a refusal that says TEXT.
changed() { no_report "$(sed "s/$1/$2/" one.json)" "$3"; }
changed '"seconds": 2,' '"seconds": -1,' '"seconds" is negative'
changed '"seconds": 2,' '"seconds": 1e999,' 'a number in it is too great'
changed '"seconds": 2,' '"seconds": 1e308,' '"seconds" is too great'
changed '"calls": 100' '"calls": 9223372036854775807' '"calls" is too great'
changed '"calls": 100' '"calls": 18446744073709551615' '"calls" is too great'
changed '"ranks": 16, "seconds"' '"ranks": 0, "seconds"' '"ranks" is 0'
changed '"ranks": 16' '"ranks": 4294967301' '"ranks" is too great'
changed '\[4, 15\]' '[2.7, 9]' '"bytes" is no whole number'
changed '\[4, 15\]' '[]' '"bytes" is no array of two numbers'
changed '\[4, 15\]' '5' '"bytes" is no array of two numbers'
changed '\[4, 4\]' '[-7, 1]' '"ranks_a_node" is negative'
changed '"schedule": "native"' '"schedule": 1' '"schedule" is no text'
changed 'binomial' 'a\\tb' '"schedule" has a quote, a backslash or a control character'
refuses 'slow.json: it is of 1 rank, unlike the reports before it; add up reports of equal jobs' report one.json slow.json
refuses 'missing.json: No such file' report missing.json
refuses '--out' report one.json --out one.json
finish
