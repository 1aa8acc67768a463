#!/usr/bin/env bash
# The choices of auto for each collective, its explanations, and the lower bounds.
source "$(dirname "$0")/common.sh"

auto() { generate "$1" --algorithm auto "${@:2}"; }

# ---- auto chooses for every collective, in one group and between two

for collective in alltoall allgather allgatherv broadcast gather gatherv scatter reduce allreduce reduce-scatter scan exscan; do
  prints '; by the model a call with blocks of 1000 bytes takes ' auto $collective --nodes 4x2 --bytes 1000 --out chosen.qs
  verifies chosen.qs
  prints ' (this file)' show chosen.qs --explain --bytes 1000
  says '  no schedule takes less'
done
for collective in alltoall allgather broadcast gather scatter reduce allreduce reduce-scatter; do
  expect 0 auto $collective --nodes 3,1 --remote-nodes 2,2,2 --bytes 1000 --out chosen.qs
  says ' between groups on nodes 1,3 (4 ranks) and nodes 3x2 (6 ranks), '
  verifies chosen.qs
  prints '  no schedule takes less' show chosen.qs --explain --bytes 1000
done
prints '          us   between ' show chosen.qs --explain --bytes 1000
prints '          ms   between ' show chosen.qs --explain --bytes 1GiB --beta 1ns
for wanted in tree-nodes 'linear-nodes --remote-nodes 2'; do
  read -r algorithm remote <<<"$wanted"
  prints "chosen: $algorithm; by the model a call without blocks takes " auto barrier --nodes 4 $remote --out chosen.qs
  prints 'without blocks; a message takes ' show chosen.qs --explain --bytes 8
done

# Short messages get few messages, long ones few bytes. The table shows the time of each algorithm, the fastest first.
prints 'chosen: recursive-multiplying, radix = 16; ' auto allreduce --nodes 16x1 --bytes 8 --out chosen.qs
expect 0 generate allreduce --algorithm doubling --nodes 16x1 --out chosen.qs
expect 0 show chosen.qs --explain --bytes 8 --alpha 1us --beta 1ns --gap 0 --copy 40ns --beta-copy 0
# 4 rounds take 1 us each, and 8 ns for the bytes and 40 ns to combine them. The first copy adds 40 ns.
says '         4.2         4        0           32           0           40  doubling (this file)'
expect 0 auto allreduce --nodes 16x1 --bytes 10000000 --out sum.qs
! grep -qE 'doubling|multiplying' .out || fail 'long messages as short ones'

# The call chooses the block size of a pipeline, by the model that chose the pipeline.
prints 'chosen: hypercube, blocks of ' auto broadcast --nodes 8x1 --bytes 10000000 --alpha 30us --beta 400ps --out chosen.qs
prints 'B is chosen at the call: auto, alpha 30000 ns, beta 400 ps' check chosen.qs --counts 8x10000000
remakes 'broadcast --algorithm hypercube --alpha 30000ns --beta 400ps --nodes 8x1' chosen.qs
expect 0 auto broadcast --nodes 8 --bytes 10000000 --alpha-inside 3us --beta-inside 70ps --port rank --out chosen.qs
expect 0 show chosen.qs
says 'alpha 3000 ns, beta 70 ps' # on one node nothing goes between nodes

# Times of a call whose parameters differ from the choice of the file's rule, and of one with another root.
expect 0 generate broadcast --algorithm pipeline --nodes 1,3 --out pipeline.qs
expect 0 show pipeline.qs --explain --bytes 1000000 --parameter B=1000
says '1000     1000      1000000     1000000            0  pipeline, B=1000 (this file)'
expect 0 generate broadcast --algorithm binomial --nodes 1,3 --out tree.qs
prints '  2        1         2000        1000            0  binomial (this file)' show tree.qs --explain --bytes 1000
prints '  1        1         1000        1000            0  binomial (this file)' show tree.qs --explain --bytes 1000 --root 2
refuses "'C=1' is not NAME=VALUE" show pipeline.qs --explain --bytes 4 --parameter C=1
refuses 'there is no rank 4 to be the root' show tree.qs --explain --bytes 4 --root 4
refuses '--root: an allreduce has no root' show sum.qs --explain --bytes 4 --root 0

# Blocks of different lengths, and operators that do not commute.
prints ' bytes; by the model a call with these counts takes ' auto allgather --nodes 36x1 --counts 16777216,35x0 --out chosen.qs
says 'chosen: blocked-ring, blocks of '
expect 0 auto reduce-scatter --nodes 4x1 --counts 10000000,3x0 --out chosen.qs
says ' bytes (for operators that commute); by the model a call with these counts takes '
prints 'with these counts; a message takes ' show chosen.qs --explain --counts 10000000,3x0
expect 0 auto reduce-scatter --nodes 4x1 --counts 10000000,3x0 --ordered --out chosen.qs
! grep -q commute .out || fail 'one that wants operators to commute'
prints 'with these counts' auto allgather --nodes 2 --remote-nodes 3 --bytes 9 --counts 0,70/3x10 --out chosen.qs
prints 'chosen: bruck, radix = ' allgather bruck --radix auto --nodes 16 --bytes 10 --out chosen.qs

# ---- Lower bounds

expect 0 generate allreduce --algorithm ring --nodes 4x1 --out ring.qs
expect 0 check ring.qs --counts 4x1000
says '  volume    at most 1500 elements enter a rank and 1500 leave one, with no schedule less than 1500 and 1500; 1500 and 1500 a node, with none less than 1500 and 1500'
expect 0 generate gather --algorithm binomial --nodes 3,5 --out tree.qs
expect 0 check tree.qs --root 0
says '  volume    at most 7 blocks enter a rank and 4 leave one, with no schedule less than 7 and 1; 5 and 5 a node, with none less than 5 and 5'
expect 0 check ring.qs # `check` reports the largest of four calls
says '  volume    of counts 4x1048576'

# ---- Pictures of two groups

expect 0 generate reduce --algorithm leader --nodes 2 --remote-nodes 1,2 --out sum.qs
prints "leader on nodes 2 and 1,2, primed, root 0" show sum.qs --format steps
says "     1 |             || 2'=>0'      | 2'=>0'"
expect 0 show sum.qs --format svg --out sum.svg
grep -q 'marker-end="url(#sum)"/>' sum.svg || fail 'nothing is combined'

# ---- Refusals

unmade 'give the bytes of a block, on the average, with --bytes, or of all with --counts' auto allgather --nodes 4
unmade "--bytes: '0' is not a number of bytes from 1 to 2147483647" auto scan --nodes 4 --bytes 0
unmade '--counts: a barrier moves nothing; leave them out' auto barrier --nodes 4 --counts 4x1
unmade '--counts: all blocks of an all-to-all have one length in the model; give --bytes, their average' \
  auto alltoall --nodes 4 --counts 4x1
unmade '--counts: all blocks of a gather have one length in the model' auto gather --nodes 4 --counts 4x1
unmade "--counts: '3x1' has 3 counts for 4 ranks; give each one" auto allgather --nodes 4 --counts 3x1
unmade "--counts: '4x1' is for 1 group, and there are 2; give one list a group" auto allgather --nodes 4 --remote-nodes 4 --counts 4x1
unmade "--counts: '4x1/3x1' has 3 counts for 4 ranks" auto allgather --nodes 4 --remote-nodes 4 --counts 4x1/3x1
unmade "--counts: '3x1,-7' has -7; counts are bytes from 0 to 2147483647" auto allgather --nodes 4 --counts 3x1,-7
unmade "--counts: '1,2' has 1 and 2; all ranks of a broadcast have one count" auto broadcast --nodes 2 --counts 1,2
unmade "--counts: '1,,2' is not a list of numbers like 3,0,5" auto allgather --nodes 4 --counts 1,,2
unmade '--counts: nothing is chosen by it; give --algorithm auto, --radix auto or --block-size auto' \
  generate gather --algorithm linear --nodes 4 --counts 4x1
unmade '--ordered: nothing is chosen by it; give --algorithm auto, --radix auto or --block-size auto' \
  generate scan --algorithm doubling --nodes 4 --ordered
unmade '--ordered: a gather combines nothing; leave it out' auto gather --nodes 4 --bytes 4 --ordered
unmade "--block-size: give it with an algorithm's name; auto leaves options as they are" \
  auto broadcast --nodes 4 --bytes 4 --block-size 10
unmade 'none is known for scan between groups' auto scan --nodes 4 --remote-nodes 3 --bytes 4
unmade "'gossip' is no collective that schedules are generated for" auto gossip --nodes 4 --bytes 4
unmade '--nodes any: auto chooses for given nodes' auto scan --nodes any --bytes 4
expect 0 allgather segment-map --nodes 2 --remote-nodes 2 --out equal.qs
refuses 'segment-map requires ' show equal.qs --explain --counts 1,2/3,4
refuses 'give the bytes of a block' show equal.qs --explain

# ---- Progress, only on a terminal

script -qec "$generator generate allgather --algorithm auto --nodes 4 --bytes 9 --out seen.qs" seen.txt \
  >/dev/null </dev/null
grep -q 'trying bruck' seen.txt || fail 'a terminal does not show what is tried'
expect 0 auto allgather --nodes 4 --bytes 9 --out seen.qs
[ ! -s .err ] || fail "tells what is tried where there is no terminal: $(cat .err)"

finish
