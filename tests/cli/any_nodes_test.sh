#!/usr/bin/env bash
# Schedules for any nodes: both commands make, show, emit, check and replay them.
source "$(dirname "$0")/common.sh"

generate() { "$generator" generate alltoall --algorithm "$@"; }
allgather() { "$generator" generate allgather --algorithm "$@"; }
check() { "$verifier" check "$@"; }

# ---- Made, and proven without nodes

for algorithm in factor factor-even xor linear spread-out scattered pairwise tuna hierarchical-factor \
  hierarchical-circle tuna-coalesced tuna-staggered tuna-bundled hierarchical-overlapped; do
  expect 0 generate $algorithm --nodes any --out any.qs
  says "any.qs: $algorithm for alltoall on any nodes, $(wc -c <any.qs) bytes"
  expect 0 check any.qs
  says 'any.qs: proven'
  says "  scope     this code is alltoall.$algorithm, proven for "
  says '  checked   on no nodes; --nodes 1,2,3 walks every rank of those'
  for nodes in 3,1,2,2 4x2 8; do
    expect 0 check any.qs --nodes $nodes
    says 'any.qs: verified'
    says "proven for "
  done
done
for algorithm in linear-ring blocked-ring blocked-ring-nodes blocked-ring-blocking bruck hypercube \
  recursive-doubling neighbor-exchange; do
  expect 0 allgather $algorithm --nodes any --out any.qs
  expect 0 check any.qs
  says "  scope     this code is allgather.$algorithm, proven for "
  expect 0 check any.qs --nodes 2,1,1 --counts 3,0,4,1
  says 'any.qs: verified'
done
expect 0 generate hierarchical-factor --nodes any --self-loops drop --intra exchange --pacing token --out any.qs
expect 0 check any.qs
says 'alltoall.hierarchical-factor+drop+exchange+token, proven for all sizes'

# A check on nodes gives the report for a schedule for these nodes, except for the lines about the file.
expect 0 generate hierarchical-factor --nodes any --out any.qs
cp any.qs kept.qs
expect 0 generate hierarchical-factor --nodes 1,2,3 --out given.qs
expect 0 check given.qs
grep -vE 'given.qs|hash|checked' .out >given.txt
expect 0 check any.qs --nodes 3,1,2
says '  hierarchical-factor for alltoall on any nodes, here 1,2,3 (6 ranks), '
grep -vE 'any.qs|hash|checked' .out | cmp given.txt || fail 'the verdicts differ'
expect 0 check any.qs
says '  serves    any number of ranks, on nodes of any sizes'
expect 0 generate factor --nodes any --out flat.qs
expect 1 check flat.qs --nodes 2,2,2 --ports 1
says 'flat.qs: REFUTED'
replay=$(sed -n 's/.*to see it: bazel run \/\/verifier -- //p' .out)
grep -q -- '--nodes 3x2' <<<"$replay" || fail "a replay without nodes: $replay"
eval "expect 0 \"\$verifier\" $replay"
says 'rank '
cmp any.qs kept.qs || fail 'a check changes the file'

# A formula without a value on some nodes.
expect 0 generate tuna --nodes any --radix 'ranks div (ranks - 1)' --out formula.qs
expect 0 check formula.qs
says '  requires  a value of radix = max(2, min(ranks div (ranks - 1), ranks))'
refuses 'radix = max(2, min(ranks div (ranks - 1), ranks)) has no value on nodes 1: a divisor' \
  check formula.qs --nodes 1

# Between groups.
between() { "$generator" generate alltoall --algorithm direct "$@"; }
expect 0 between --nodes any --remote-nodes any --out groups.qs
says "groups.qs: direct for alltoall between groups on any nodes, $(wc -c <groups.qs) bytes"
expect 0 check groups.qs
says 'groups.qs: proven'
says '  serves    any number of ranks in each group'
says '  scope     this code is alltoall-between-groups.direct, proven for all sizes'
says '; --nodes 1,2,3 --remote-nodes 2,2 walks every rank of those'
expect 0 check groups.qs --nodes 3,1 --remote-nodes 2,2
says 'groups.qs: verified'
says '  direct for alltoall between groups on any nodes, here 1,3 (4 ranks) and nodes 2x2 (4 ranks), '
expect 1 check groups.qs --nodes 2,2 --remote-nodes 3 --ports 1
replay=$(sed -n 's/.*to see it: bazel run \/\/verifier -- //p' .out)
grep -q -- '--nodes 2x2 --remote-nodes 3$' <<<"$replay" || fail "a replay without nodes: $replay"
eval "expect 0 \"\$verifier\" $replay"
says 'rank '
expect 0 "$verifier" replay groups.qs --nodes 2 --remote-nodes 1,1,1 --ranks 2 --group 1
says 'rank 2'
expect 0 "$generator" show groups.qs
says 'algorithm direct for alltoall between groups'
expect 0 "$generator" show groups.qs --nodes 1,2 --remote-nodes 4
says '-- here nodes 1,2 (3 ranks)'
says '-- here nodes 4 (4 ranks)'
expect 0 "$generator" emit groups.qs --out made
grep -qF 'generate alltoall --algorithm direct --nodes any --remote-nodes any --out groups.qs' made/groups.c ||
  fail 'another command'

refuses 'groups.qs serves any nodes; say on which with --nodes 1,2,3 --remote-nodes 2,2' \
  check groups.qs --nodes 3
refuses 'groups.qs serves any nodes; say on which with --nodes 1,2,3 --remote-nodes 2,2' \
  check groups.qs --remote-nodes 3
refuses "--remote-nodes: 'x' is not a node list" check groups.qs --nodes 3 --remote-nodes x
refuses '--remote-nodes: any.qs is for one group; leave it out' \
  check any.qs --nodes 3 --remote-nodes 2
refuses '--remote-nodes: give the nodes of both groups, or any for both' \
  between --nodes any --remote-nodes 2 --out x.qs
refuses '--algorithm: direct for alltoall is for two groups; give the nodes of the other with --remote-nodes' \
  between --nodes 3 --out x.qs
refuses '--algorithm: xor for alltoall is for one group; leave out --remote-nodes' \
  generate xor --nodes 3 --remote-nodes 2 --out x.qs
refuses "--algorithm: 'factory' is not known for alltoall between groups; choose one of direct, factor" \
  generate factory --nodes 3 --remote-nodes 2 --out x.qs

# Requirements.
expect 0 generate xor --nodes any --out xor.qs
expect 0 check xor.qs
says '  serves    any number of ranks'
says '  requires  ranks xor (ranks - 1) = 2*ranks - 1'
says 'proven for all sizes'
refuses 'xor requires ranks xor (ranks - 1) = 2*ranks - 1, which does not hold for 6 ranks' \
  check xor.qs --nodes 6
refuses '--nodes: more than 1048576 ranks' check xor.qs --nodes 2097152

# ---- Shown and emitted

expect 0 "$generator" show any.qs
says '-- any nodes'
says 'algorithm hierarchical-factor for alltoall'
says '-- format 2.0, hash '
expect 0 "$generator" show any.qs --nodes 1,2
says '-- here nodes 1,2 (3 ranks)'
expect 0 "$generator" show any.qs --format steps --nodes 1,2,3
says 'hierarchical-factor on nodes 1,2,3'
expect 0 "$generator" show any.qs --format svg --nodes 1,2,3 --out any.svg
grep -q '</svg>' any.svg || fail 'no picture'
expect 0 "$generator" show any.qs --explain --bytes 100 --nodes 1,2,3
says 'hierarchical-factor (this file)'
expect 0 "$generator" list
says '  --nodes any: yes'

# Numbers and formulas, as printed from the file and by the command that makes it again.
formula() { # TOLD COMMAND VALUE-ON-4x3 ARGUMENTS...
  local told=$1 command=$2 value=$3
  shift 3
  expect 0 generate "$@" --nodes any --out number.qs
  cp number.qs first.qs
  expect 0 "$generator" show number.qs
  says "-- $told"
  expect 0 "$generator" show number.qs --nodes 4x3
  says "-- $value"
  expect 0 check number.qs
  says "any nodes, $told"
  expect 0 check number.qs --nodes 4x3
  says 'number.qs: verified'
  expect 0 "$generator" emit number.qs --out made
  sed -n 's/.*bazel run \/\/generator -- \(generate.*\)/\1/p' made/number.c >command
  grep -qxF -- "generate alltoall --algorithm $command --nodes any --out number.qs" command ||
    fail "another command: $(cat command)"
  eval "expect 0 \"\$generator\" $(cat command)"
  cmp number.qs first.qs || fail "made again, it differs: $(cat command)"
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
expect 0 check ring.qs
says 'B is chosen at the call: 100'
expect 0 check ring.qs --nodes 3 --counts 300,0,50
says ', B = 100'

# ---- Refused

refuses '--nodes any: auto chooses for given nodes; name an algorithm and its numbers' \
  generate auto --nodes any --bytes 4 --out x.qs
refuses '--nodes any: auto chooses for given nodes' generate tuna --nodes any --radix auto --bytes 4 --out x.qs
refuses 'give the nodes once' generate tuna --nodes any --slurm 4 --out x.qs
refuses '--radix: 1 is less than 2, the least that there is' generate tuna --nodes any --radix 1 --out x.qs
refuses '--radix:1:3: ' generate tuna --nodes any --radix '3 x' --out x.qs
refuses "--radix: 'rank' in a declaration, which means the same at all ranks" \
  generate tuna --nodes any --radix rank --out x.qs
refuses "--radix: a parameter depends on numbers, 'ranks' and node sizes alone" \
  generate tuna --nodes any --radix 'pow[1]' --out x.qs
refuses '--early: factor has no such option' generate factor --nodes any --early 1 --out x.qs

refuses 'any.qs serves any nodes; say on which with --nodes 1,2,3' check any.qs --ports 1
refuses 'ring.qs serves any nodes; say on which with --nodes 1,2,3' check ring.qs --counts 1,2
refuses 'any.qs serves any nodes; say on which' "$verifier" replay any.qs --ranks 0
refuses 'any.qs serves any nodes; say on which' "$generator" show any.qs --format steps
refuses 'any.qs serves any nodes; say on which' "$generator" show any.qs --format svg
refuses 'any.qs serves any nodes; say on which' "$generator" show any.qs --explain --bytes 4
refuses "--nodes: 'any' is not a node list" check any.qs --nodes any
refuses '--nodes: given.qs is for nodes 1,2,3; only a schedule that was made with --nodes any is put on others' \
  check given.qs --nodes 1,2,3
refuses '--nodes: given.qs is for nodes 1,2,3' "$generator" show given.qs --nodes 4

finish
