#!/usr/bin/env bash
# The command `rules`: it takes what the preload library takes, shows it, and merges it.
rules=$PWD/$4
source "$(dirname "$0")/common.sh"

rules() { "$rules" "$@"; }

cat >one.json <<'EOT'
{"schema": 1, "rules": [
  {"collective": "alltoallv", "nodes": [2, null], "ranks_a_node": 8, "even": true, "algorithm": "tuna:radix=8"},
  {"collective": "allgather", "ranks": 16, "bytes": [64, 255], "algorithm": "bruck", "time": 1e-3, "native_time": 2e-3, "calls": 100},
  {"collective": "bcast", "bytes": [16, 63], "algorithm": "binomial", "time": 1e-4, "native_time": 2e-4, "calls": 1000}
]}
EOT
cat >two.json <<'EOT'
{"schema": 1, "rules": [
  {"collective": "alltoallv", "nodes": [2, null], "ranks_a_node": 8, "even": true, "algorithm": "linear"},
  {"collective": "allgather", "ranks": 16, "bytes": [64, 255], "algorithm": "bruck", "time": 3e-3, "native_time": 4e-3, "calls": 300},
  {"collective": "bcast", "bytes": [16, 63], "algorithm": "hypercube", "time": 1e-5, "native_time": 2e-4, "calls": 10},
  {"collective": "bcast", "groups": 2, "algorithm": "leader:window=4"}
]}
EOT
echo '{"schema": 1, "rules": []}' >none.json

expect 0 rules check one.json two.json none.json
says 'one.json: 3 rules'
says 'two.json: 4 rules'
says 'none.json: 0 rules'
printf '{"schema": 1, "rules": [\n{"collective": "bcast", "algorithm": "bruk"}]}' >wrong.json
refuses "rules check: wrong.json:2: 'bruk' is none of binomial, hypercube," rules check wrong.json
refuses 'rules show: missing.json: No such file' rules show missing.json
printf '{"schema": 1, "rules": [{"collective": "bcast", "algorithm": "native", "calls": 1.5}]}' >half.json
refuses 'half.json:1: write a whole number of at most 9e15 here' rules show half.json
# What a lax reader would take.
refuses_rule() { # SENTENCE FIELDS
  printf '{"schema": 1, "rules": [{"collective": "bcast", %s}]}' "$2" >lax.json
  refuses "lax.json:1: $1" rules check lax.json
}
refuses_rule 'write a number that is 0 or more here' '"algorithm": "native", "ranks": 0x2'
refuses_rule 'write a number that is 0 or more here' '"algorithm": "native", "ranks": [2, "null"]'
for number in 007 1. 1e 1e+ -1 "1$(printf %063d 0)"; do
  refuses_rule 'write a number that is 0 or more here, with at most 63 characters' "\"algorithm\": \"native\", \"time\": $number"
done
refuses_rule 'write a whole number of at most 9e15 here' '"algorithm": "native", "ranks": 1e16'
refuses_rule 'nodes, ranks_a_node and even are for one group' '"algorithm": "native", "groups": 2, "nodes": 3'
refuses_rule 'nodes, ranks_a_node and even are for one group' '"algorithm": "native", "even": true, "groups": 2'
refuses_rule "'native:window=3': native takes no options" '"algorithm": "native:window=3"'
refuses_rule "'binomial:block-size=7': the schedule takes no block size" '"algorithm": "binomial:block-size=7"'
refuses_rule "'binomial:window=65537': window is a whole number from 1 to 65536" '"algorithm": "binomial:window=65537"'
refuses_rule '"even" is true or false' '"algorithm": "native", "even": "true"'
refuses_rule 'the rule has this name twice; leave one of them out' '"algorithm": "native", "algorithm": "binomial"'
refuses_rule 'the rule has this name twice; leave one of them out' '"algorithm": "native", "collective": "bcast"'
printf '{"schema": "1", "rules": []}' >lax.json
refuses 'lax.json:1: "schema" is 1 in these rules' rules check lax.json
printf '\0\1' >lax.json
refuses 'lax.json:1: a text has no byte with the value 0' rules check lax.json
printf '{"schema": 1, "rules": []}\0and more' >lax.json
refuses 'lax.json:1: a text has no byte with the value 0' rules check lax.json
: >lax.json
refuses 'lax.json:1: there are no rules here; write {"schema": 1, "rules": [...]}' rules check lax.json
printf '{"schema": 1,\n "rules": [],\n "rulse": []}' >lax.json
refuses 'lax.json:3: rules have one "schema" and one "rules"; leave this out' rules check lax.json
printf '{"schema": 1, "rules": [],\n "schema": 1}' >lax.json
refuses 'lax.json:2: rules have one "schema" and one "rules"; leave this out' rules check lax.json
printf '%300000s' '' | tr ' ' '[' >lax.json
refuses 'lax.json:1: a comma or a value is missing' rules check lax.json

# A schedule of a file: its hash is told, and how to check it.
"$generator" generate alltoall --algorithm spread-out --nodes any --out own.qs
echo '{"schema": 1, "rules": [{"collective": "alltoall", "algorithm": "file:own.qs:window=4"}]}' >files.json
expect 0 rules check files.json
says 'files.json: 1 rule'
grep -qE '^file:own.qs: hash [0-9a-f]{32}; `.* check own.qs` says whether it is right$' .out || fail "the hash: $(cat .out)"
expect 0 rules show files.json
says 'file:own.qs:window=4'
expect 0 rules merge files.json one.json --out both.json
expect 0 rules check both.json
says 'both.json: 4 rules'
sed s/alltoall/bcast/ files.json >bad.json
refuses 'bad.json:1: file:own.qs is a schedule of alltoall on 1 group' rules check bad.json
sed s/own.qs/none.qs/ files.json >bad.json
refuses 'bad.json:1: none.qs: No such file' rules check bad.json
head -c 40 own.qs >cut.qs
sed s/own.qs/cut.qs/ files.json >bad.json
refuses 'bad.json:1: cut.qs: ' rules check bad.json

# Each file may name 64 of them.
for file in a b; do
  for ((i = 0; i < 40; i++)); do cp own.qs $file$i.qs; done
  rows=$(for ((i = 0; i < 40; i++)); do echo ",{\"collective\": \"alltoall\", \"ranks\": $i, \"algorithm\": \"file:$file$i.qs\"}"; done)
  echo "{\"schema\": 1, \"rules\": [${rows:1}]}" >$file.json
done
expect 0 rules check a.json b.json
refuses 'b.json:25: b24.qs: it is one too many: rules may name at most 64 schedule files' rules merge a.json b.json --out both.json

expect 0 rules show one.json
says 'collective           groups     nodes  ranks a node     ranks                 bytes  algorithm'
grep -qE '^alltoallv +1 +2\.\. +8, even +any +any  tuna:radix=8$' .out || fail "a rule without times: $(cat .out)"
grep -qE '^allgather +1 +any +any +16 +64\.\.255  bruck +1000\.0 +2000\.0 +2\.00 +100$' .out || fail "a rule with times: $(cat .out)"

# The mean is weighted by calls; the algorithm that has saved more stays; a rule without times stays.
expect 0 rules merge one.json two.json --out merged.json
says 'merged.json: 4 rules of 2 files'
python3 - <<'EOT' || fail "the merged rules: $(cat merged.json)"
import json
spread, bruck, tree, leader = json.load(open("merged.json"))["rules"]
assert spread["algorithm"] == "tuna:radix=8" and "time" not in spread, spread
assert bruck["calls"] == 400 and abs(bruck["time"] - 2.5e-3) < 1e-5 and abs(bruck["native_time"] - 3.5e-3) < 1e-5, bruck
assert tree["algorithm"] == "binomial" and tree["calls"] == 1000, tree
assert leader == {"collective": "bcast", "groups": 2, "algorithm": "leader:window=4"}, leader
EOT
expect 0 rules merge two.json one.json --out turned.json
grep -q '"algorithm": "linear"' turned.json || fail 'the first of two rules without times does not stay'
grep -q '"algorithm": "binomial"' turned.json || fail 'the order decides which algorithm has saved more'
# Nobody has measured a time that is left out. Calls stay numbers that can be read.
sed 's/"time": 1e-5, //' two.json >untimed.json
expect 0 rules merge one.json untimed.json --out timed.json
grep -q '"algorithm": "binomial"' timed.json || fail "a rule without a time wins: $(cat timed.json)"
sed 's/"calls": 100}/"calls": 9e15}/' one.json >many.json
expect 0 rules merge many.json many.json --out many.json
expect 0 rules check many.json
expect 0 rules merge none.json files.json --out single.json
says 'single.json: 1 rule of 2 files'
expect 0 rules merge merged.json none.json --out merged.json
says 'merged.json: 4 rules of 2 files'
refuses 'rules merge: wrong.json:2: ' rules merge one.json wrong.json --out other.json
refuses '--out: ' rules merge one.json --out missing/other.json
refuses '--out' rules merge one.json
finish
