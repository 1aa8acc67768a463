#!/usr/bin/env bash
# Schedules for any nodes: both commands make, show, emit, check and replay them.
source "$(dirname "$0")/common.sh"

# ---- Schedules are made, and proven without nodes

for algorithm in factor factor-even xor linear spread-out scattered pairwise tuna hierarchical-factor \
  hierarchical-circle tuna-coalesced tuna-staggered tuna-bundled hierarchical-overlapped; do
  expect 0 alltoall $algorithm --nodes any --out any.qs
  says "any.qs: $algorithm for alltoall on any nodes, $(wc -c <any.qs) bytes"
  prints 'any.qs: proven' check any.qs
  says "  scope     this code is alltoall.$algorithm, proven for "
  says '  checked   on no nodes; --nodes 1,2,3 walks every rank of those'
  for nodes in 3,1,2,2 4x2 8; do
    verifies any.qs --nodes $nodes
    says "proven for "
  done
done
for algorithm in linear-ring blocked-ring blocked-ring-nodes blocked-ring-blocking bruck hypercube \
  recursive-doubling neighbor-exchange; do
  expect 0 allgather $algorithm --nodes any --out any.qs
  prints "  scope     this code is allgather.$algorithm, proven for " check any.qs
  verifies any.qs --nodes 2,1,1 --counts 3,0,4,1
done
expect 0 alltoall hierarchical-factor --nodes any --self-loops drop --intra exchange --pacing token --out any.qs
prints 'alltoall.hierarchical-factor+drop+exchange+token, proven for all sizes' check any.qs

# Given nodes, `check` prints the report of a schedule for these nodes. Only the lines about the file differ.
expect 0 alltoall hierarchical-factor --nodes any --out any.qs
cp any.qs kept.qs
expect 0 alltoall hierarchical-factor --nodes 1,2,3 --out given.qs
expect 0 check given.qs
grep -vE 'given.qs|hash|checked' .out >given.txt
prints '  hierarchical-factor for alltoall on any nodes, here 1,2,3 (6 ranks), ' check any.qs --nodes 3,1,2
grep -vE 'any.qs|hash|checked' .out | cmp given.txt || fail 'the verdicts differ'
prints '  serves    any number of ranks, on nodes of any sizes' check any.qs
expect 0 alltoall factor --nodes any --out flat.qs
refutes 'flat.qs: REFUTED' check flat.qs --nodes 2,2,2 --ports 1
replays 'rank ' ' --nodes 3x2'
cmp any.qs kept.qs || fail 'a check changes the file'

# On some nodes a formula has no value.
expect 0 alltoall tuna --nodes any --radix 'ranks div (ranks - 1)' --out formula.qs
prints '  requires  a value of radix = max(2, min(ranks div (ranks - 1), ranks))' check formula.qs
refuses 'radix = max(2, min(ranks div (ranks - 1), ranks)) has no value on nodes 1: a divisor' check formula.qs --nodes 1

# Schedules between groups.
between() { alltoall direct "$@"; }
expect 0 between --nodes any --remote-nodes any --out groups.qs
says "groups.qs: direct for alltoall between groups on any nodes, $(wc -c <groups.qs) bytes"
prints 'groups.qs: proven' check groups.qs
says '  serves    any number of ranks in each group'
says '  scope     this code is alltoall-between-groups.direct, proven for all sizes'
says '; --nodes 1,2,3 --remote-nodes 2,2 walks every rank of those'
verifies groups.qs --nodes 3,1 --remote-nodes 2,2
says '  direct for alltoall between groups on any nodes, here 1,3 (4 ranks) and nodes 2x2 (4 ranks), '
expect 1 check groups.qs --nodes 2,2 --remote-nodes 3 --ports 1
replays 'rank ' ' --nodes 2x2 --remote-nodes 3'
prints 'rank 2' "$verifier" replay groups.qs --nodes 2 --remote-nodes 1,1,1 --ranks 2 --group 1
prints 'algorithm direct for alltoall between groups' show groups.qs
prints '-- here nodes 1,2 (3 ranks)' show groups.qs --nodes 1,2 --remote-nodes 4
says '-- here nodes 4 (4 ranks)'
remakes 'alltoall --algorithm direct --nodes any --remote-nodes any' groups.qs

refuses 'groups.qs serves any nodes; say on which with --nodes 1,2,3 --remote-nodes 2,2' check groups.qs --nodes 3
refuses 'groups.qs serves any nodes; say on which with --nodes 1,2,3 --remote-nodes 2,2' check groups.qs --remote-nodes 3
refuses "--remote-nodes: 'x' is not a node list" check groups.qs --nodes 3 --remote-nodes x
refuses '--remote-nodes: any.qs is for one group; leave it out' check any.qs --nodes 3 --remote-nodes 2
unmade '--remote-nodes: give the nodes of both groups, or any for both' between --nodes any --remote-nodes 2
unmade '--algorithm: direct for alltoall is for two groups; give the nodes of the other with --remote-nodes' between --nodes 3
unmade '--algorithm: xor for alltoall is for one group; leave out --remote-nodes' alltoall xor --nodes 3 --remote-nodes 2
unmade "--algorithm: 'factory' is not known for alltoall between groups; choose one of direct, factor" \
  alltoall factory --nodes 3 --remote-nodes 2

# Requirements on the number of ranks.
expect 0 alltoall xor --nodes any --out xor.qs
prints '  serves    any number of ranks' check xor.qs
says '  requires  ranks xor (ranks - 1) = 2*ranks - 1'
says 'proven for all sizes'
refuses 'xor requires ranks xor (ranks - 1) = 2*ranks - 1, which does not hold for 6 ranks' check xor.qs --nodes 6
refuses '--nodes: more than 1048576 ranks' check xor.qs --nodes 2097152

# ---- Schedules are shown and emitted

prints '-- any nodes' show any.qs
says 'algorithm hierarchical-factor for alltoall'
says '-- format 2.0, hash '
prints '-- here nodes 1,2 (3 ranks)' show any.qs --nodes 1,2
prints 'hierarchical-factor on nodes 1,2,3' show any.qs --format steps --nodes 1,2,3
expect 0 show any.qs --format svg --nodes 1,2,3 --out any.svg
grep -q '</svg>' any.svg || fail 'no picture'
prints 'hierarchical-factor (this file)' show any.qs --explain --bytes 100 --nodes 1,2,3
prints '  --nodes any: yes' "$generator" list

# A parameter's number or formula is printed as it stands in the file. The printed command makes the same file again.
formula() { # TOLD COMMAND VALUE-ON-4x3 ARGUMENTS...
  local told=$1 command=$2 value=$3
  shift 3
  expect 0 alltoall "$@" --nodes any --out number.qs
  prints "-- $told" show number.qs
  prints "-- $value" show number.qs --nodes 4x3
  prints "any nodes, $told" check number.qs
  verifies number.qs --nodes 4x3
  remakes "alltoall --algorithm $command --nodes any" number.qs
}
formula 'radix = 2' 'tuna' 'radix = 2' tuna
formula 'radix = 2' 'bruck' 'radix = 2' bruck
formula 'radix = max(2, min(8, ranks))' 'tuna --radix 8' 'radix = 8' tuna --radix 8
formula 'radix = max(2, min(100, ranks))' 'tuna --radix 100' 'radix = 12' tuna --radix 100
formula 'radix = max(2, min(ranks div 3, ranks))' "tuna --radix 'ranks div 3'" 'radix = 4' tuna --radix 'ranks div 3'
formula 'radix = max(2, min(ranks <= 4 ? 2 : ' 'tuna --radix sqrt' 'radix = 4' tuna --radix sqrt
formula 'radix = max(2, min(size[length(size) - 1], ranks))' "tuna-coalesced --radix 'size[length(size) - 1]'" \
  'radix = 3' tuna-coalesced --radix 'size[length(size) - 1]'
formula 'block_count = max(1, ranks div 50)' "scattered --block-count 'ranks div 50'" 'block_count = 1' \
  scattered --block-count 'ranks div 50'
formula 'early = max(0, length(size) - 2)' "hierarchical-overlapped --early 'length(size) - 2'" 'early = 2' \
  hierarchical-overlapped --early 'length(size) - 2'
formula 'early = 3' 'hierarchical-overlapped --early 3' 'early = 3' hierarchical-overlapped --early 3
expect 0 allgather blocked-ring --nodes any --block-size 100 --out ring.qs
prints 'B is chosen at the call: 100' check ring.qs
prints ', B = 100' check ring.qs --nodes 3 --counts 300,0,50

# ---- Refused

unmade '--nodes any: auto chooses for given nodes; name an algorithm and its numbers' alltoall auto --nodes any --bytes 4
unmade '--nodes any: auto chooses for given nodes' alltoall tuna --nodes any --radix auto --bytes 4
unmade 'give the nodes once' alltoall tuna --nodes any --slurm 4
unmade '--radix: 1 is less than 2, the least that there is' alltoall tuna --nodes any --radix 1
unmade '--radix:1:3: ' alltoall tuna --nodes any --radix '3 x'
unmade "--radix: 'rank' in a declaration, which means the same at all ranks" alltoall tuna --nodes any --radix rank
unmade "--radix: a parameter depends on numbers, 'ranks' and node sizes alone" alltoall tuna --nodes any --radix 'pow[1]'
unmade '--early: factor has no such option' alltoall factor --nodes any --early 1

refuses 'any.qs serves any nodes; say on which with --nodes 1,2,3' check any.qs --ports 1
refuses 'ring.qs serves any nodes; say on which with --nodes 1,2,3' check ring.qs --counts 1,2
refuses 'any.qs serves any nodes; say on which' "$verifier" replay any.qs --ranks 0
refuses 'any.qs serves any nodes; say on which' show any.qs --format steps
refuses 'any.qs serves any nodes; say on which' show any.qs --format svg
refuses 'any.qs serves any nodes; say on which' show any.qs --explain --bytes 4
refuses "--nodes: 'any' is not a node list" check any.qs --nodes any
refuses '--nodes: given.qs is for nodes 1,2,3; only a schedule that was made with --nodes any is put on others' \
  check given.qs --nodes 1,2,3
refuses '--nodes: given.qs is for nodes 1,2,3' show given.qs --nodes 4

finish
