#!/usr/bin/env bash
# The command `report`: it shows and adds up reports of the preload library, which tests/preload/preload_test.sh makes.
report=$PWD/$4
source "$(dirname "$0")/common.sh"

report() { "$report" report "$@"; }

# line COLLECTIVE SCHEDULE REASON CALLS SECONDS TIMED NATIVE TAKEN COMPARING
line() {
  printf '{"collective": "%s", "groups": 1, "ranks": 16, "remote_ranks": 0, "nodes": 4, "ranks_a_node": [4, 4], "bytes": [4, 15],
    "schedule": "%s", "reason": "%s", "calls": %s, "all_bytes": 800, "seconds": %s, "timed_calls": %s, "native_seconds": %s,
    "taken_seconds": %s, "comparing_seconds": %s}' "$@"
}
document() { printf '{"schema": 2, "calls": [%s]}' "$1"; }

document "$(line bcast native 'not yet compared' 10 0.25 0 0 0 0), $(line bcast binomial chosen 100 2 100 3 2 0.5)" >one.json
document "$(line bcast binomial chosen 300 6 100 5 3 0.25)" >two.json

expect 0 report one.json
says 'collective            communicator                       bytes  schedule'
grep -qE '^bcast +4 x 4 ranks +4\.\.15  binomial +100 +800 +2\.000000 +30000\.0 +20000\.0 +0\.500000  chosen$' .out || fail "a line with times: $(cat .out)"
grep -qE '^bcast +4 x 4 ranks +4\.\.15  native +10 +800 +0\.250000 +- +- +0\.000000  not yet compared$' .out || fail "a line without times: $(cat .out)"
[ "$(sed -n 3p .out | grep -c binomial)" -eq 1 ] || fail "the longest line is not the first: $(cat .out)"
says '110 calls took 2.250000 s; schedules and comparisons saved about 0.500000 s'
expect 0 report one.json two.json
grep -qE '^bcast +4 x 4 ranks +4\.\.15  binomial +400 +1600 +8\.000000 +40000\.0 +25000\.0 +2\.250000  chosen$' .out || fail "equal lines are not added up: $(cat .out)"
document "$(line scan chain 'by rule' 2 1 2 0.25 0.5 0)" >slow.json
expect 0 report slow.json
says 'schedules and comparisons cost about 0.250000 s'

# JSON says the same again.
expect 0 report one.json two.json --format json --out sum.json
expect 0 report one.json two.json
cp .out text
expect 0 report sum.json
cmp -s .out text || fail "JSON changes the report: $(diff .out text)"

expect 0 report one.json --format html --out page.html
grep -q '^<!DOCTYPE html>' page.html && grep -q '<p>110 calls took 2.250000 s' page.html && grep -q 'class="bar native" style="width: 100.0%"' page.html &&
  grep -q 'class="bar taken" style="width: 66.7%"' page.html || fail "the page: $(cat page.html)"
! grep -qE 'https?://|<script|@import|src=' page.html || fail 'the page needs other files'
document "$(line bcast '<b>' chosen 1 1 0 0 0 0)" >marked.json
expect 0 report marked.json --format html
says '&lt;b&gt;'

printf '{"schema": 2,\n "calls": [}' >half.json
refuses 'report: half.json:2: this is no JSON' report half.json
printf 'quadrille: the calls' >text.txt
refuses 'report: text.txt:1: this is no JSON; let QUADRILLE_REPORT name a file that ends in .json' report text.txt
printf '{"schema": 1, "calls": []}' >old.json
refuses 'report: old.json: "schema" is not 2' report old.json
document "$(line bcst native 'no rule' 1 1 0 0 0 0)" >wrong.json
refuses "wrong.json: this is no report of the preload library: \"collective\" is 'bcst'" report wrong.json
document "$(line bcast native 'no rule' 1.5 1 0 0 0 0)" >wrong.json
refuses '"calls" is no whole number' report wrong.json
document "$(line bcast native 'no rule' -1 1 0 0 0 0)" >wrong.json
refuses '"calls" is negative' report wrong.json
echo '[]' >wrong.json
refuses 'wrong.json: this is no report of the preload library: it is no JSON object' report wrong.json
document '{"collective": "bcast"}' >wrong.json
refuses 'wrong.json: this is no report of the preload library: "bytes" is missing' report wrong.json
# changed OLD NEW TEXT: refuses the report with one part changed.
changed() {
  sed "s/$1/$2/" one.json >wrong.json
  refuses "wrong.json: this is no report of the preload library: $3" report wrong.json
}
changed '"seconds": 2' '"seconds": -1' '"seconds" is negative'
changed '"seconds": 2' '"seconds": 1e999' 'a number in it is too great'
changed '"seconds": 2' '"seconds": 1e308' '"seconds" is too great'
changed '"calls": 100' '"calls": 9223372036854775807' '"calls" is too great'
changed '"calls": 100' '"calls": 18446744073709551615' '"calls" is too great'
changed '"ranks": 16' '"ranks": 4294967301' '"ranks" is too great'
changed '\[4, 15\]' '[2.7, 9]' '"bytes" is no whole number'
changed '\[4, 15\]' '[]' '"bytes" is no array of two numbers'
changed '\[4, 15\]' '5' '"bytes" is no array of two numbers'
changed '\[4, 4\]' '[-7, 1]' '"ranks_a_node" is negative'
changed '"schedule": "native"' '"schedule": 1' '"schedule" is no text'
changed 'binomial' 'a\\tb' '"schedule" has a quote, a backslash or a control character'
echo '{"schema": 2, "calls": null}' >wrong.json
refuses 'wrong.json: this is no report of the preload library: "calls" is no array' report wrong.json
document 1 >wrong.json
refuses 'wrong.json: this is no report of the preload library: a call is no object: {...}' report wrong.json
refuses 'missing.json: No such file' report missing.json
refuses '--out' report one.json --out one.json
finish
