#!/usr/bin/env bash
# The command `simulate` as a user sees it: times, exports, JSON, and bad input.
source "$(dirname "$0")/common.sh"

simulate() { "$generator" simulate "$@"; }
expect 0 alltoall factor --nodes 1,1 --out two.qs
expect 0 alltoall hierarchical-factor --nodes any --out any.qs
expect 0 allgather linear-ring --nodes 3x1 --out ring.qs
expect 0 generate allreduce --algorithm ring --nodes 2,2 --out sum.qs
expect 0 generate barrier --algorithm dissemination --nodes 4x1 --out barrier.qs
expect 0 alltoall direct --nodes 2 --remote-nodes 1,1 --out groups.qs

# ---- Times that follow from the flags: a message takes 2 us and 1 ns a byte, and the gap is 0

plain=(--alpha 2us --beta 1ns --gap 0 --copy 0 --beta-copy 0)
prints 'time            3 us' simulate two.qs --bytes 1000 "${plain[@]}"
says 'bound           3 us: no schedule takes less; this one takes 1.000 times as long'
says 'messages        2, 2000 bytes'
says 'busiest port    of node 0, when it sends: 33.3 % of the time'
says 'over time       100 100 100 33 0 0 0 0 0 0 % in tenths of the time; all ports on average'
says 'critical path   1 message one after another for 3 us, and 0 ns between them'
expect 0 simulate two.qs --bytes 1000 "${plain[@]}" --format json
python3 - <<'EOT' || fail "not the JSON: $(cat .out)"
import json
said = json.load(open(".out"))
assert said["schema"] == 1 and said["time_ps"] == said["bound_ps"] == 3_000_000, said
assert said["messages"] == 2 and said["bytes"] == 2000, said
port = said["busiest_port"]
assert port["of"] == "node" and port["number"] == 0 and port["busy_ps"] == 1_000_000, said
assert [round(use) for use in port["use"]] == [1, 1, 1, 0, 0, 0, 0, 0, 0, 0], said
assert len(said["mean_use"]) == 10 and 3.2 < sum(said["mean_use"]) < 3.4, said
EOT
prints 'messages        56, ' simulate any.qs --nodes 4x2 --bytes 4KiB --sharing fair
prints 'messages        4, 8000 bytes' simulate ring.qs --counts 1000,0,3000 "${plain[@]}"
expect 0 simulate sum.qs --bytes 8
prints 'messages        24, 9600 bytes' simulate sum.qs --bytes 1600 "${plain[@]}" --element 8
says 'bound           3.6 us'
prints 'messages        24, 9600 bytes' simulate sum.qs --counts 200 "${plain[@]}" --element 8
prints 'bound           2.15 us' simulate barrier.qs # three messages of a node, or a tree
prints 'messages        8, 64 bytes' simulate groups.qs --bytes 8

# ---- Statements of Kang et al. 2019 that do not hold. A byte takes 1 ns, and a message nothing else

bytes=(--alpha 0 --beta 1ns --gap 0 --copy 0 --beta-copy 0 --window 1)
# Theorem 1 says at most p k_A + k_B = 31 bytes. That needs a q that divides p.
expect 0 generate allgather --algorithm segment-map-paper --nodes 3x1 --remote-nodes 2x1 --out paper.qs
prints 'time            40 ns' simulate paper.qs --counts 3x10/2x1 "${bytes[@]}"
# The proof of Theorem 3 says that a segment is at most as long as the longest contribution. That needs p <= q.
expect 0 generate allgather --algorithm segment-map-v --nodes 2x1 --remote-nodes 1 --out segments.qs
prints 'time            20 ns' simulate segments.qs --counts 2x10/0 "${bytes[@]}"
# Fewer than p + q + p/q = 11 links are said to be enough for Fig. 1. It has 13.
expect 0 generate allgather --algorithm segment-map-paper --nodes 6x1 --remote-nodes 2x1 --out figure.qs
expect 0 simulate figure.qs --bytes 6 "${bytes[@]}" --trace links.csv
links=$(awk -F, 'NR > 1 { print ($1 < $2 ? $1 "-" $2 : $2 "-" $1) }' links.csv | sort -u | wc -l)
[ "$links" = 13 ] || fail "$links links"

# ---- A program in place of a file

cat >odd.txt <<'EOT'
algorithm odd for allgather
parameter k
require ranks mod 2 = 1
copy send[0] to recv[rank]
for d in 1 .. ranks
  step d
    send send[0] to wrap(rank + k*d, ranks)
    receive recv[wrap(rank - k*d, ranks)] from wrap(rank - k*d, ranks)
EOT
prints 'messages        6, 600 bytes' simulate --program odd.txt --nodes 3x1 --bytes 100 --parameter k=1 "${plain[@]}"
expect 0 "$generator" show ring.qs --out ring.txt
expect 0 simulate ring.qs --counts 1000,0,3000 --format json
sed 's/"seconds.*//' .out >by_file.json
expect 0 simulate --program ring.txt --nodes 3x1 --counts 1000,0,3000 --format json
sed 's/"seconds.*//' .out | cmp - by_file.json || fail 'a program has other times than its schedule file'
prints 'messages        6, ' simulate --program ring.txt --reverse --nodes 3x1 --bytes 100
prints 'messages        12, ' simulate --program ring.txt --reverse --then ring.txt --nodes 3x1 --bytes 90
refuses '--parameter k=N is needed: odd.txt has that parameter' simulate --program odd.txt --nodes 3x1 --bytes 8
refuses 'odd.txt: odd requires ranks mod 2 = 1' simulate --program odd.txt --nodes 4x1 --bytes 8 --parameter k=1
refuses '--nodes: give the nodes to simulate, such as 4x8' simulate --program ring.txt --bytes 8
refuses '--nodes: give the nodes to simulate, such as 4x8' simulate --program ring.txt --nodes any --bytes 8
refuses '--program: give a schedule file or a program, not both' simulate ring.qs --program ring.txt --nodes 3x1 --bytes 8
refuses '--reverse: it is for --program alone' simulate ring.qs --reverse --bytes 8
refuses 'give a schedule file, or a program with --program' simulate --bytes 8
refuses '--goal: ring.txt: is the file that is read' simulate --program ring.txt --nodes 3x1 --bytes 8 --goal ring.txt

# ---- Only the sender and the receiver of a message know its length

cat >pieces.txt <<'EOT'
algorithm pieces for alltoall
temporary ranks blocks
copy send[rank] to recv[rank]
step 0
  send to wrap(rank + 1, ranks)
    for i in 0 .. ranks
      send[i]
  receive temp[0] from wrap(rank - 1, ranks)
EOT
printf '0 5\n5 5\n' >sizes.txt
refuses 'pieces.txt: process 0 sends 12000 bytes to process 1, which receives 6000' simulate --program pieces.txt --nodes 2 --bytes 6000
refuses 'pieces.txt: process 0 sends 2 blocks to process 1, which receives 1' simulate --program pieces.txt --nodes 2 --sizes sizes.txt
refuses '--root: an all-to-all has no root; leave it out' simulate --program pieces.txt --nodes 2 --bytes 8 --root 0

expect 0 alltoall tuna --radix 2 --nodes 4x1 --out tuna.qs
prints 'messages        8, 16000 bytes' simulate tuna.qs --bytes 1000
expect 0 simulate tuna.qs --bytes 1000 --sizes equal # 2 bytes a block, after 2 bytes of lengths
says 'messages        8, 16048 bytes'
expect 0 simulate tuna.qs --bytes 10000 --sizes equal # 8 bytes a block, and 8 in messages of their own
says 'messages        16, 160192 bytes'
prints 'messages        8, 160000 bytes' simulate tuna.qs --bytes 10000 --sizes equal --persistent
expect 0 simulate two.qs --bytes 10000 --sizes equal # each message is a whole block, so its receiver knows its length
says 'messages        2, 20000 bytes'
printf '%s\n' '0 5' '7, 0' >sizes.txt
prints 'messages        2, 12 bytes' simulate two.qs --sizes sizes.txt "${plain[@]}"
says 'bound           2.007 us'
printf '61440 61440 61440 61440\n%.0s' 1 2 3 4 >equal.txt # memory of 900 ps a byte
for size in '--bytes 60KiB' '--sizes equal.txt'; do
  prints 'bound           33.68 us' simulate any.qs --nodes 2x2 $size --memory 900ps
done
expect 0 simulate tuna.qs --sizes uniform:1000 --format json && cp .out one.json
expect 0 simulate tuna.qs --sizes uniform:1000 --seed 2 --format json
! cmp -s .out one.json || fail 'the lengths do not depend on the seed'

# Every flag that describes the machine changes the time.
slow() { expect 0 simulate any.qs --nodes 4,4,4,4 --bytes 4KiB --format json "$@" && cat .out; }
usual=$(slow | sed 's/"seconds.*//')
for flags in '--alpha 3us' '--beta 300ps' '--alpha-inside 90us' '--beta-inside 9ns' '--gap 5us' '--gap-inside 90us' \
  '--overhead 1us' '--beta-overhead 1ns' '--ports 2' '--exclusive' '--sharing fair' '--port rank' '--memory 99ns' \
  '--switch-nodes 2' '--noise 10us' '--window 1' '--eager 0' '--beta-alone 99ns' '--beta-congestion 99ns'; do
  # shellcheck disable=SC2086
  [ "$(slow $flags | sed 's/"seconds.*//')" != "$usual" ] || fail "the time is the same with $flags"
done

# ---- Exports

expect 0 simulate two.qs --bytes 1000 "${plain[@]}" --trace out.csv --goal out.goal
printf '%s\n' from,to,bytes,send_posted_us,receive_posted_us,arrived_us \
  0,1,1000,0.000000,0.000000,3.000000 1,0,1000,0.000000,0.000000,3.000000 | cmp - out.csv || fail 'the table'
grep -qx 's0: send 1000b to 1' out.goal || fail 'GOAL'
expect 0 simulate two.qs --bytes 1000 --trace out.json
python3 - <<'EOT' || fail 'the trace is no JSON'
import json
events = json.load(open("out.json"))["traceEvents"]
assert {event["ph"] for event in events} == {"M", "X", "s", "f"}, events
assert sum(event["ph"] == "s" for event in events) == sum(event["ph"] == "f" for event in events) == 2
EOT

# ---- Bad input

refuses "missing.qs" simulate missing.qs --bytes 8
refuses 'any.qs serves any nodes; say on which with --nodes 1,2,3' simulate any.qs --bytes 8
refuses 'give the bytes of each block with --bytes, or those of each rank with --counts' simulate two.qs
refuses 'give the bytes of each block with --bytes' simulate ring.qs --bytes 8 --counts 1,2,3
expect 0 generate gather --algorithm binomial --nodes 3 --out gather.qs
refuses '--counts: of a gather only the two ends of a message know its length; give --bytes' simulate gather.qs --counts 1,2,3
refuses "--bytes: 'much'" simulate two.qs --bytes much
refuses '--window: 0 is not a number of steps from 1 to 65536' simulate two.qs --bytes 8 --window 0
refuses "--ports: '0' is not a number from 1 to 1024" simulate two.qs --bytes 8 --ports 0
refuses "--switch-nodes: '-1' is not a number" simulate two.qs --bytes 8 --switch-nodes -1
refuses_costs() { # SENTENCE JSON
  echo "$2" >bad.json
  refuses "--machine: bad.json: $1" simulate two.qs --bytes 8 --machine bad.json
}
refuses_costs "'betta' is no cost of a machine; each has the name of a flag" '{"alpha": "30us", "betta": "200Mbit/s"}'
refuses_costs "--alpha: 'soon' is not a time" '{"alpha": "soon"}'
for bad in '["1us"]' '' '""'; do
  refuses_costs 'alpha: its value is neither a text nor a number' "{\"alpha\"${bad:+: $bad}}"
done
for bad in '[1, 2]' '{alpha: 9us}' '{"alpha": "9us"} x' '{"alpha"'; do
  refuses_costs 'it is no JSON object' "$bad"
done
refuses_costs 'alpha: it is there twice' '{"alpha": "9us", "alpha": "8us"}'
refuses '; name one of ethernet-10g, ' simulate two.qs --bytes 8 --machine nowhere
# A machine file uses the names of the flags. A flag on the command line replaces the file's value.
echo '{"alpha": "30us", "beta": "200Mbit/s", "ports": 2, "exclusive": true, "source": "of a test"}' >costs.json
expect 0 simulate two.qs --bytes 4096 --alpha 30us --alpha-inside 500ns --gap 50ns --gap-inside 50ns --beta 200Mbit/s --ports 2 --exclusive --format json
sed 's/"seconds.*//' .out >by_flags.json
expect 0 simulate two.qs --bytes 4096 --machine costs.json --format json
sed 's/"seconds.*//' .out | cmp - by_flags.json || fail 'a machine of a file is not that of its flags'
expect 0 simulate two.qs --bytes 4096 --machine costs.json --alpha 1s --format json
sed 's/"seconds.*//' .out | cmp -s - by_flags.json && fail 'a flag does not replace what the file has'
refuses '--switch-ports: say with --switch-nodes' simulate two.qs --bytes 8 --switch-ports 2
refuses '--element: only a reduction has elements' simulate two.qs --bytes 8 --element 8
refuses '--bytes: 12 bytes are not whole elements of 8' simulate sum.qs --bytes 12 --element 8
refuses "--alpha: 'fast' is not a time" simulate two.qs --bytes 8 --alpha fast
refuses "--memory: 'wide' is neither" simulate two.qs --bytes 8 --memory wide
refuses "--noise: 'loud' is not a time" simulate two.qs --bytes 8 --noise loud
refuses '--sharing' simulate two.qs --bytes 8 --sharing never
refuses '--persistent: all ranks know the lengths of this call' simulate two.qs --bytes 8 --persistent
refuses '--sizes: all ranks know the lengths of allgather' simulate ring.qs --bytes 8 --sizes equal
refuses '--bytes: --sizes gives all lengths; leave it out' simulate two.qs --bytes 8 --sizes uniform:9
refuses "--sizes: 'odd:9' is none of uniform:MOST" simulate two.qs --sizes odd:9
refuses '--sizes: missing.txt' simulate two.qs --sizes missing.txt
refuses '--sizes: sizes.txt: line 1: it has 2 numbers; the call has 4 ranks' simulate tuna.qs --sizes sizes.txt
refuses '--trace: missing/out.json: ' simulate two.qs --bytes 8 --trace missing/out.json
refuses '--goal: missing/out.goal: ' simulate two.qs --bytes 8 --goal missing/out.goal
refuses '--goal: missing/out.goal: ' simulate two.qs --bytes 8 --trace new.csv --goal missing/out.goal
[ ! -e new.csv ] || fail 'a trace without its GOAL'
refuses '--trace: two.qs: is the file that is read' simulate two.qs --bytes 8 --trace two.qs
refuses '--goal: ./fresh.json: is the file of --trace, too' simulate two.qs --bytes 8 --trace fresh.json --goal ./fresh.json
refuses 'take longer than 26 days' simulate two.qs --bytes 2000000000 --beta 1ms --alpha 1s
cp any.qs torn.qs && truncate -s 40 torn.qs
refuses 'torn.qs' simulate torn.qs --nodes 2,2 --bytes 8

finish
