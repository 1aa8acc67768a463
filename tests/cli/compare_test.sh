#!/usr/bin/env bash
# The commands `compare` and `choose`: times of all algorithms over sizes, and rules made from these times.
source "$(dirname "$0")/common.sh"

compare() { "$generator" compare "$@"; }
choose() { "$generator" choose "$@"; }

# ---- compare

prints 'alltoall on nodes 2x2; microseconds, the least of ours with a star' compare alltoall --nodes 2x2 --bytes 8..1KiB
says '          8 B         32 B        128 B        512 B        1 KiB'
says 'hierarchical-factor '
says 'no schedule takes less'
prints 'allgather between groups on nodes 2x2 and 3; ' compare allgather --nodes 2x2 --remote-nodes 3 --bytes 4KiB
says 'segment-map-v '

# Each time equals that of `simulate`, and none is below the bound.
expect 0 compare broadcast --nodes 4x2 --bytes 64..1KiB --format csv --out times.csv
[ ! -s .out ] || fail 'printed what is in the file'
expect 0 generate broadcast --algorithm binomial --nodes 4x2 --out tree.qs
for bytes in 64 1024; do
  expect 0 "$generator" simulate tree.qs --bytes $bytes --sharing fair --format json
  picoseconds=$(sed 's/.*"time_ps": \([0-9]*\).*/\1/' .out)
  grep -qx "binomial,$bytes,$((picoseconds / 1000))" times.csv || fail "another time of $bytes bytes than simulate's"
done
awk -F, '$1 == "bound" { bound[$2] = $3 } END { for (b in bound) n++; exit n != 3 }' times.csv || fail 'no three bounds'
awk -F, 'NR > 1 && $1 == "bound" { bound[$2] = $3 } NR > 1 { time[$1, $2] = $3 }
         END { for (each in time) { split(each, part, SUBSEP); if (time[each] < bound[part[2]]) exit 1 } }' times.csv ||
  fail 'a time below the bound'
expect 0 compare alltoall --nodes 4 --bytes 8..64 --format svg --out times.svg
grep -q '</svg>' times.svg || fail 'no picture'

expect 0 show tree.qs --format html --bytes 64 --curves times.csv --out page.html
grep -q 'binomial' page.html && grep -q 'no schedule takes less' page.html || fail 'no curves on the page'
echo 'binomial,64' >wrong.csv
refuses "--curves: wrong.csv:1: no line 'algorithm,bytes,nanoseconds'" show tree.qs --format html --bytes 64 --curves wrong.csv
refuses '--curves: it is for --format html' show tree.qs --curves times.csv

# A program of one's own stands below the algorithms.
expect 0 show tree.qs --out mine.txt
sed -i 's/algorithm binomial/algorithm mine/' mine.txt
expect 0 compare broadcast --nodes 4x2 --bytes 64..1KiB --format csv --program mine.txt --out own.csv
[ "$(sed -n 's/^mine,//p' own.csv)" = "$(sed -n 's/^binomial,//p' times.csv)" ] || fail 'other times of the same program'
prints '"algorithm": "binomial-own"' compare broadcast --nodes 4 --bytes 64 --format json --program <(sed 's/mine/binomial/' mine.txt)
expect 0 compare allreduce --nodes 4x2 --bytes 64 --program mine.txt --reverse --then mine.txt --format csv
says 'mine-then-mine,64,'
printf '%s\n' 'algorithm odd for allgather' 'parameter k' 'parameter B at call' 'require ranks mod 2 = 1' 'require 1 <= B' >odd.txt
refuses '--parameter k=N is needed: odd.txt has that parameter' compare allgather --nodes 4 --program odd.txt
refuses '--parameter B: the best value is searched; leave it out' compare allgather --nodes 4 --program odd.txt --parameter k=1 --parameter B=8
refuses '--program: odd.txt serves none of these calls; `generate` or `check --program` says why' compare allgather --nodes 4 --program odd.txt --parameter k=1
refuses 'odd.txt: its program is for allgather' compare alltoall --nodes 4 --program odd.txt
refuses '--reverse: it is for --program alone' compare allgather --nodes 4 --reverse

# With --ordered, algorithms that need a commutative operator are left out.
prints 'ring,8,' compare allreduce --nodes 4 --bytes 8 --format csv
expect 0 compare allreduce --nodes 4 --bytes 8 --format csv --ordered
! grep -q '^ring,' .out || fail 'ring keeps no order'

# A command that prints as `run` does gives the real times. This one runs no MPI program.
cat >run.sh <<'RUN'
#!/bin/sh
[ -s "$1" ] && [ "$2" = --bytes ] || exit 2
echo "  a-schedule   $3.5 us  (1.0 to 9.0)"
echo "  MPI_Alltoall 77.0 us  (70.0 to 90.0)"
RUN
chmod +x run.sh
prints 'factor,8,8500' compare alltoall --nodes 4 --bytes 8..32 --measure ./run.sh --format csv
says 'linear,32,32500'
says 'native,8,77000'
! grep -q '^bound' .out || fail 'a bound of a model among measured times'
refuses "--measure: 'true " compare alltoall --nodes 4 --bytes 8 --measure true
[ ! -s .out ] || fail 'half a table'

# ---- choose

prints 'rules.txt: ' choose all --nodes 4x4 --bytes 8..64KiB --machine ethernet-10g --out rules.txt
for name in alltoall allgather allgatherv bcast reduce allreduce reduce_scatter reduce_scatter_block gather scatter; do
  grep -q "^$name " rules.txt || fail "no rule for $name"
done
python3 - rules.txt <<'CHECK' || fail 'wrong rules'
import re, sys
form = re.compile(r"([a-z_]+) ranks=16 nodes=4 ranks-a-node=4 bytes=([0-9]+)\.\.([0-9]+) use=(\S+)\n")
rules = [form.fullmatch(line).groups() for line in open(sys.argv[1])]
for name in {rule[0] for rule in rules}:
    ranges = [(int(rule[1]), int(rule[2])) for rule in rules if rule[0] == name]
    assert ranges[0][0] == 4 and ranges[-1][1] == 4**9 - 1, (name, ranges)
    assert all(high + 1 == low for (_, high), (low, _) in zip(ranges, ranges[1:])), (name, ranges)
assert any(rule[3] != "native" for rule in rules) and any(rule[3] == "native" for rule in rules)
CHECK
expect 0 choose all --nodes 1,1,2 --bytes 8 --out rules.txt
grep -q ' ranks=4 nodes=3 ranks-a-node=1..2 even=no ' rules.txt || fail 'no rule for uneven nodes'
expect 0 choose allreduce --nodes 3 --remote-nodes 2,2 --bytes 1KiB --out rules.txt
grep -q '^allreduce groups=2 ranks=7 ' rules.txt || fail 'no rule for two groups'
# One rank sends nothing, so no schedule is faster than another, and the rules use MPI's own.
expect 0 choose all --nodes 1 --out rules.txt
[ "$(grep -c ' use=native$' rules.txt)" -eq 10 ] || fail 'a rule for one rank'

# A program of one's own is one of the choices. Rules name its schedule. The library itself has no radix of 3.
expect 0 generate alltoall --algorithm tuna --radix 3 --nodes 27 --out tuna.qs
expect 0 show tuna.qs --out mine.txt
sed -i 's/^algorithm tuna/algorithm mine/' mine.txt
own() { choose alltoall --nodes 27 --bytes 8..4KiB --program mine.txt --parameter radix=3 --out rules.txt "$@"; }
prints "$PWD/rules.txt.qs: mine, which rules name" own
grep -qx "alltoall ranks=27 nodes=1 ranks-a-node=27 bytes=4..255 use=file:$PWD/rules.txt.qs" rules.txt || fail 'no rule names the program'
prints 'nodes 27 (27 ranks)' show rules.txt.qs
prints "\"schedule\": \"$PWD/rules.txt.qs\"" own --format json
rm rules.txt.qs
# Under `bazel run`, paths start at the user's folder.
expect 0 env -C / BUILD_WORKING_DIRECTORY="$PWD" "$generator" choose alltoall --nodes 27 --bytes 8 --program mine.txt --parameter radix=3 --out rules.txt
grep -q "use=file:$PWD/rules.txt.qs" rules.txt && [ -s rules.txt.qs ] || fail 'the schedule is in another folder'
rm rules.txt.qs
prints 'no rule names mine: another schedule is faster, or one that MPI libraries have takes less than 15 % longer' choose alltoall --nodes 3x9 --bytes 4KiB --program mine.txt --parameter radix=3 --out rules.txt
[ ! -e rules.txt.qs ] || fail 'a schedule that no rule names'
# Neither file is written without the other. What was there stays.
mkdir rules.txt.qs
cp rules.txt old.txt
refuses '--out: ' own
cmp rules.txt old.txt || fail 'rules without their schedule'
rmdir rules.txt.qs
refuses '--program: name its collective in place of all' choose all --nodes 4 --program mine.txt --out rules.txt
refuses '--reverse: it is for --program alone' choose allgather --nodes 4 --reverse --out rules.txt
refuses 'odd.txt: its program is for allgather' choose alltoall --nodes 4 --program odd.txt --out rules.txt
refuses 'odd.txt: odd requires ranks mod 2 = 1, which does not hold for 4 ranks' choose allgather --nodes 4 --bytes 8 --program odd.txt --parameter k=1 --out rules.txt
printf '%s\n' 'algorithm nothing for alltoall' 'copy send[rank] to recv[rank]' >nothing.txt
refuses 'nothing.txt: refuted, since ' choose alltoall --nodes 4 --program nothing.txt --out rules.txt
printf '%s\n' 'algorithm counting for broadcast' 'table mine = counts' 'if mine[0] = 1' '  copy send[0] to recv[0]' >counting.txt
refuses 'counting.txt: it uses counts; give its certificate with --proof' choose bcast --nodes 4 --program counting.txt --out rules.txt
touch rules.txt.qs.certificate
refuses 'belongs to another schedule; remove it' own
rm rules.txt.qs.certificate
refuses '--out: /dev/null: is no file' choose alltoall --nodes 4 --program mine.txt --parameter radix=3 --out /dev/null
printf 'h slots=4\n' >hosts
refuses '--out: hosts: is the file that is read' choose alltoall --hostfile hosts --bytes 8 --out hosts
cp mine.txt own.qs.certificate
refuses '--out: own.qs.certificate: is the file that is read' "$generator" generate alltoall --program own.qs.certificate --parameter radix=3 --nodes 4 --out own.qs
mkdir 'a folder'
refuses 'ASCII characters, without blanks, colons, quotes and backslashes' choose alltoall --nodes 4 --program mine.txt --parameter radix=3 --out 'a folder/rules.txt'
refuses '--out: mine.txt: is the file that is read' choose alltoall --nodes 4 --program mine.txt --parameter radix=3 --out mine.txt

# ---- Refused

refuses "--bytes: '64..8' has no sizes; give LOW..HIGH, as in 8..1MiB" compare alltoall --nodes 4 --bytes 64..8
refuses "--bytes: 'x' is not a number of bytes" compare alltoall --nodes 4 --bytes 8..x
refuses '--nodes any: give the nodes to compare on, such as 4x8' compare alltoall --nodes any
refuses "'gossip' is no collective that schedules are generated for" compare gossip --nodes 4
refuses "'gossip' is no collective that rules are written for" choose gossip --nodes 4 --out rules.txt
refuses 'there are no rules for alltoallv; name another collective, or all' choose alltoallv --nodes 4 --out rules.txt
refuses 'there are no rules for scan; name another collective, or all' choose scan --nodes 4 --out rules.txt
refuses 'there are no rules for broadcast between groups' choose broadcast --nodes 4 --remote-nodes 2 --out rules.txt
refuses '--nodes any: give the nodes to choose for, such as 4x8' choose alltoall --nodes any --out rules.txt
refuses '--out: nowhere/rules.txt' choose alltoall --nodes 4 --bytes 8 --out nowhere/rules.txt

finish
