#!/usr/bin/env bash
# The generator's commands: each notation of a topology, each form of output, and each refusal.
source "$(dirname "$0")/common.sh"


# ---- Accepted

prints 'a.qs: hierarchical-factor for alltoall on nodes 1,2,3 (6 ranks)' alltoall hierarchical-factor --nodes 1,2,3 --out a.qs
says "$(wc -c <a.qs) bytes"
expect 0 alltoall hierarchical-factor --nodes 3,2,1 --out b.qs
cmp a.qs b.qs || fail 'the order of nodes changes the file'
expect 0 alltoall hierarchical-factor --nodes 512x16,5 --out b.qs
expect 0 alltoall hierarchical-factor --slurm '16(x512),5' --out c.qs
cmp b.qs c.qs || fail 'two notations give two files'
printf '# hosts\na slots=2\nb:1\nc:3\n' >hosts
expect 0 alltoall hierarchical-factor --hostfile hosts --out c.qs
cmp a.qs c.qs || fail 'a host file gives another file'
printf 'node[01-03]:5\nrack[1-2]n[7,09] slots=2\n' >bracketed
prints 'on nodes 4x2,3x5 (23 ranks)' alltoall hierarchical-factor --hostfile bracketed --out c.qs
expect 0 alltoall hierarchical-factor --nodes 4x8 --self-loops drop --intra exchange --pacing token --out c.qs
says 'hierarchical-factor+drop+exchange+token for alltoall on nodes 4x8 (32 ranks)'
for algorithm in factor factor-even xor linear spread-out scattered pairwise bruck tuna hierarchical-factor hierarchical-circle; do
  expect 0 alltoall $algorithm --nodes 4x4 --out c.qs
  expect 0 check c.qs
done

for algorithm in linear-ring blocked-ring blocked-ring-nodes blocked-ring-blocking bruck hypercube \
  recursive-doubling neighbor-exchange; do
  prints "c.qs: $algorithm for allgather on nodes 1,2,3 (6 ranks)" allgather $algorithm --nodes 1,2,3 --out c.qs
  verifies c.qs --counts 4,0,1,3,0,2
  for format in text steps svg; do
    call=$([ $format = text ] || echo '--counts 4,0,1,3,0,2')
    # shellcheck disable=SC2086
    prints "$algorithm" show c.qs --format $format $call
  done
done
prints 'linear-ring for allgather on nodes 4' generate allgatherv --algorithm linear-ring --nodes 4 --out c.qs

# The rule of the block size is printed as it stands in the file. The printed command makes the same file again.
ruled() { # RULE TOLD COMMAND FLAGS...
  expect 0 allgather blocked-ring --nodes 4 --out ring.qs "${@:3}"
  prints "-- B is chosen at the call: $1" show ring.qs
  remakes "allgather --algorithm blocked-ring$2 --nodes 4" ring.qs
}
ruled 'auto, alpha 2000 ns, beta 100 ps' ''
ruled 'auto, alpha 2000 ns, beta 100 ps' '' --block-size auto
ruled 'auto, alpha 30000 ns, beta 100 ps' ' --alpha 30000ns --beta 100ps' --alpha 30us
ruled 'model, alpha 2000 ns, beta 100 ps' ' --block-size model --alpha 2000ns --beta 100ps' \
  --block-size model --alpha 2us --beta 100
ruled 'model, alpha 1500 ns, beta 40000 ps' ' --block-size model --alpha 1500ns --beta 40000ps' \
  --block-size model --alpha 0.0015ms --beta 40ns
ruled min ' --block-size min' --block-size min
ruled min:4096 ' --block-size min:4096' --block-size min:4KiB
ruled 1 ' --block-size 1' --block-size 1
ruled 2147483647 ' --block-size 2147483647' --block-size 2147483647
expect 0 allgather bruck --nodes 9 --radix 9 --out ring.qs
prints '-- radix = 9' show ring.qs
remakes 'allgather --algorithm bruck --radix 9 --nodes 9' ring.qs

expect 0 alltoall scattered --nodes 9 --block-count 3 --out scattered.qs
verifies scattered.qs
remakes 'alltoall --algorithm scattered --block-count 3 --nodes 9' scattered.qs
expect 0 alltoall tuna --nodes 512x32 --radix 8 --out tuna.qs
[ "$(wc -c <tuna.qs)" -le 307 ] || fail "tuna on 16,384 ranks: $(wc -c <tuna.qs) bytes"
expect 0 alltoall tuna --nodes 9 --radix 3 --out tuna.qs
verifies tuna.qs
says '  blocks    each arrives once where it belongs, whatever its size (alltoall, alltoallv)'
says '  steps     4, 36 messages'
says '  temporary at most 4 blocks a rank: none is overwritten before it was used, or used before it was written'
prints '-- radix = 3' show tuna.qs
expect 0 show tuna.qs --format steps
[ "$(grep -cE '^ +[1236] \|' .out)" -eq 4 ] || fail 'not steps 1, 2, 3 and 6'
remakes 'alltoall --algorithm tuna --radix 3 --nodes 9' tuna.qs

# Nodes of any sizes: every form of `show` works, and the commands in the emitted files make the same schedules again.
for algorithm in tuna-coalesced tuna-staggered; do
  for nodes in 1 7 1,1,1,1 4x8 1,2,3 8,8,4,12; do
    expect 0 alltoall $algorithm --nodes $nodes --radix 2 --block-count 3 --out tuna.qs
    verifies tuna.qs
    says '  blocks    each arrives once where it belongs, whatever its size (alltoall, alltoallv)'
  done
  prints "tuna.qs: $algorithm for alltoall on nodes 4,2x8,12 (32 ranks)" alltoall $algorithm --nodes 8,8,4,12 --radix 4 --out tuna.qs
  for format in text steps svg; do
    prints "$algorithm" show tuna.qs --format $format
  done
  prints '-- radix = 4' show tuna.qs
  says '-- block_count = 32'
  remakes "alltoall --algorithm $algorithm --radix 4 --nodes 4,2x8,12" tuna.qs
  expect 0 alltoall $algorithm --nodes 8,8,4,12 --block-count 5 --out tuna.qs
  remakes "alltoall --algorithm $algorithm --block-count 5 --nodes 4,2x8,12" tuna.qs
done
expect 0 alltoall tuna-coalesced --nodes 512x32 --radix 8 --out tuna.qs
[ "$(wc -c <tuna.qs)" -le 512 ] || fail "coalesced on 512x32: $(wc -c <tuna.qs) bytes"

expect 0 alltoall hierarchical-overlapped --nodes 8,8,4,12 --early 2 --out tuna.qs
says 'tuna.qs: hierarchical-overlapped for alltoall on nodes 4,2x8,12 (32 ranks)'
verifies tuna.qs
says '  blocks    each arrives once where it belongs, whatever its size (alltoall, alltoallv)'
says '  scope     this code is alltoall.hierarchical-overlapped, proven for all sizes and values of early'
remakes 'alltoall --algorithm hierarchical-overlapped --early 2 --nodes 4,2x8,12' tuna.qs
expect 0 alltoall hierarchical-overlapped --nodes 4x8 --early auto --bytes 1000 --out tuna.qs
says 'chosen: hierarchical-overlapped, early = 1;'
expect 0 alltoall hierarchical-overlapped --nodes 512x32 --out tuna.qs
[ "$(wc -c <tuna.qs)" -le 768 ] || fail "overlapped on 512x32: $(wc -c <tuna.qs) bytes"

# The command in the emitted file repeats the choice of auto.
prints 'auto.qs: tuna for alltoall on nodes 4,2x8,12 (32 ranks)' alltoall auto --nodes 8,8,4,12 --bytes 16 --out auto.qs
says 'chosen: tuna, radix = '
says 'a call with blocks of 16 bytes takes'
verifies auto.qs
remakes 'alltoall --algorithm tuna --radix 8 --nodes 4,2x8,12' auto.qs
prints 'auto.qs: spread-out for alltoall' alltoall auto --nodes 8,8,4,12 --bytes 1000000 --out auto.qs
prints ', radix = 4, block_count = ' alltoall auto --nodes 8,8,4,12 --bytes 1000000 --radix 4 --out auto.qs
expect 0 alltoall tuna --nodes 4x8 --bytes 1000000 --radix auto --out auto.qs
says 'chosen: tuna, radix = 32; by the model a call with blocks of 1000000 bytes takes'
# If messages cost almost nothing, no block is forwarded.
prints 'auto.qs: xor for alltoall' alltoall auto --nodes 4x8 --bytes 16 --alpha 1ns --alpha-inside 1ns --gap 0 --out auto.qs

# Relative paths start at the user's folder, whatever folder the program runs in.
mkdir -p user/below elsewhere
cp hosts user/
away() { env -C elsewhere BUILD_WORKING_DIRECTORY="$folder/user" "$generator" "$@"; }
expect 0 away generate alltoall --algorithm factor --hostfile hosts --out below/d.qs
[ -s user/below/d.qs ] || fail 'not written to the folder of the user'
expect 0 away show below/d.qs
expect 0 away emit below/d.qs --out below
[ -s user/below/d.c ] || fail 'not emitted to the folder of the user'
expect 0 away show "$folder/a.qs"
[ -z "$(ls -A elsewhere)" ] || fail 'something is written where the program runs'

expect 0 "$generator" list
says 'allgather blocked-ring-nodes' 'alltoall direct between groups' '--radix NUMBER' 'source: ' 'needs: a power of two' \
  '--block-size min|min:SIZE|SIZE|model|auto: min' 'alltoall hierarchical-factor' '--pacing free|token'

expect 0 emit a.qs --out made/here
[ "$(head -1 made/here/a.c)" = '/* DO NOT EDIT. Made by:' ] || fail 'no warning'
remakes 'alltoall --algorithm hierarchical-factor --nodes 1,2,3' a.qs
! grep -qE "$folder|20[0-9]{2}|:[0-9]{2}" made/here/a.h made/here/a.c || fail 'a path or a date'
"${CC:-gcc}" -std=c11 -Wall -Wextra -Werror -c made/here/a.c -o a.o || fail 'does not compile'
cp made/here/a.c first.c
expect 0 emit a.qs --out made/here
cmp first.c made/here/a.c || fail 'emitted again, it differs'

# Schedules between groups.
expect 0 alltoall direct --nodes 3,1 --remote-nodes 2,2 --out groups.qs
says 'groups.qs: direct for alltoall between groups on nodes 1,3 (4 ranks) and nodes 2x2 (4 ranks), '
prints 'this code is alltoall-between-groups.direct, proven for all sizes' check groups.qs
# check tries only the calls that the program accepts.
expect 0 allgather segment-map --nodes 3 --remote-nodes 2 --out equal.qs
prints 'call      counts 3x1/2x1: ' check equal.qs
refuses 'which does not hold for 3 ranks and these counts' check equal.qs --counts 3,1,1/2,2
remakes 'alltoall --algorithm direct --nodes 1,3 --remote-nodes 2x2' groups.qs
prints '--remote-nodes' generate alltoall --help
says 'for alltoall between groups: direct'

# ---- Refused

# tests/schedule/topology_test.cc has more lists that are refused, and tests/cli/quantity_test.cc more numbers.
unmade "--nodes: '1,,2' is not a node list; write sizes like 1,2,3 or 4x8 or 512x16,5" alltoall factor --nodes 1,,2
unmade "--slurm: '4x8' is not a node list" alltoall factor --slurm 4x8
unmade 'nowhere: No such file' alltoall factor --hostfile nowhere
printf 'a slots=2\nb slots=many\n' >bad
unmade "bad:2: 'b slots=many' is not a host line" alltoall factor --hostfile bad
unmade 'is a folder; name a file' alltoall factor --hostfile made
unmade 'give the nodes once' alltoall factor
unmade 'give the nodes once' alltoall factor --nodes 4 --slurm 4
unmade '--nodes: its value is empty' alltoall factor --nodes ''

unmade "--algorithm: 'fastest' is not known for alltoall; choose one of factor, factor-even, xor" alltoall fastest --nodes 4
unmade "'alltoal' is no collective that schedules are generated for; choose one of alltoall, " \
  generate alltoal --algorithm factor --nodes 4
unmade "'scattering' is no collective that schedules are generated for; choose one of alltoall, allgather, broadcast, gather, scatter, reduce, allreduce, reduce-scatter, scan, exscan, barrier" \
  generate scattering --algorithm factor --nodes 4
unmade "--algorithm: 'factor' is not known for allgather; choose one of linear-ring, blocked-ring" allgather factor --nodes 4
unmade '--pacing: factor has no such option' alltoall factor --nodes 4 --pacing token
unmade "--pacing: 'slow' is none of free, token" alltoall hierarchical-factor --nodes 4 --pacing slow
unmade 'xor requires' alltoall xor --nodes 6
unmade 'which does not hold for 6 ranks' alltoall xor --nodes 1,2,3
unmade 'factor-even requires ranks mod 2 = 0, which does not hold for 5 ranks' alltoall factor-even --nodes 5
refuses '--quick' alltoall factor --nodes 4 --out x.qs --quick
refuses '--out is required' alltoall factor --nodes 4
refuses 'collective is required' "$generator" generate
refuses 'generator: name a command: generate, choose, compare, simulate, list, show, emit, proofs' "$generator"
refuses "generator: 'dance' is no command; there are generate, choose, compare, simulate, list, show, emit, proofs" "$generator" dance
refuses "list: '--all' is not known; generator list --help names what is" "$generator" list --all
unmade "generate: '--block_count' is written --block-count" alltoall scattered --nodes 9 --block_count 3
unmade 'generate: --bytes is given 2 times; give it once' alltoall auto --nodes 4 --bytes 3 --bytes 4
unmade 'generate: --radix: its value is empty; give one' alltoall tuna --nodes 9 --radix ''
unmade "generate: --bytes: '4KB' is not a number of bytes from 1 to 2147483647, such as 4096 or 4KiB" \
  alltoall auto --nodes 4 --bytes 4KB
prints 'with blocks of 4096 bytes' alltoall auto --nodes 4 --bytes 4KiB --alpha '5 µs' --alpha-inside '1μs' --out x.qs
expect 0 allgather blocked-ring --nodes 4 --beta '12.5 GB/s' --alpha 2us --block-size model --out rate.qs
prints 'model, alpha 2000 ns, beta 80 ps' show rate.qs

for size in 0 -1 2147483648 99999999999999999999 1.5 4k most min: min:0 min:4k; do
  unmade "--block-size: '$size' is not min, min:SIZE, model, auto or a SIZE in bytes from 1 to 2147483647" \
    allgather blocked-ring --nodes 4 --block-size "$size"
done
for given in '' '--alpha 30us' '--beta 40ns'; do
  unmade '--block-size model: give what a message and a byte take where it will run, with --alpha and --beta' \
    allgather blocked-ring --nodes 4 --block-size model $given
done
for time in 30 30ns; do
  unmade '--alpha: --block-size min does not use it; leave it out' allgather blocked-ring --nodes 4 --block-size min --alpha $time
done
unmade "--alpha: '2s' is not a time like 30us, 40ns or 125ps, at most 1s" allgather blocked-ring --nodes 4 --alpha 2s
unmade "--beta: '2ms' is neither what a byte takes, like 40ns or 125ps, nor a rate like 100Gbit/s or 12GB/s; a byte takes 1ms at most" \
  allgather blocked-ring --nodes 4 --beta 2ms
for flag in '--block-size min' '--alpha 1us' '--beta 1ns' '--radix 2'; do
  unmade "${flag% *}: linear-ring has no such option" allgather linear-ring --nodes 4 $flag
done
for radix in 1 0 -2 10 x 2.5; do
  unmade "--radix: '$radix' is not a number from 2 to 9, for 9 ranks" allgather bruck --nodes 9 --radix $radix
  for algorithm in bruck tuna; do
    unmade "--radix: '$radix' is not a number from 2 to 9, for 9 ranks" alltoall $algorithm --nodes 9 --radix $radix
  done
  unmade "--radix: '$radix' is not a number from 2 to 9, for 9 ranks" alltoall tuna-coalesced --nodes 2,3,4 --radix $radix
done
for count in 0 -1 x 1.5 99999999999999999999; do
  for algorithm in scattered tuna-coalesced tuna-staggered; do
    unmade "--block-count: '$count' is not a number of at least 1" alltoall $algorithm --nodes 2,3,4 --block-count "$count"
  done
done
for early in -1 x 1.5 99999999999999999999; do
  unmade "--early: '$early' is not a number of at least 0" alltoall hierarchical-overlapped --nodes 2,3,4 --early "$early"
done
unmade '--alpha and --beta are missing, for messages between the nodes; calibrate on two nodes or more' \
  alltoall auto --nodes 2x4 --bytes 4 --alpha-inside 2us
unmade "--alpha-inside: '2s' is not a time like 30us, 40ns or 125ps, at most 1s" alltoall auto --nodes 4 --bytes 4 --alpha-inside 2s
unmade "--port: 'switch' is none of node, rank" alltoall auto --nodes 4 --bytes 4 --port switch
unmade '--bytes: nothing is chosen by it; give --algorithm auto, --radix auto or --block-size auto' alltoall tuna --nodes 4 --bytes 4
unmade "--pacing: give it with an algorithm's name" alltoall auto --nodes 4 --bytes 4 --pacing token
unmade '--radix: factor has no such option' alltoall factor --nodes 4 --bytes 4 --radix auto
unmade "--radix: '5' is not a number from 2 to 4, for 4 ranks" alltoall auto --nodes 4 --bytes 4 --radix 5
unmade 'none serves these nodes with the numbers given' alltoall xor --nodes 3 --bytes 4 --block-count auto
unmade '--block-count: tuna has no such option' alltoall tuna --nodes 9 --block-count 2
unmade "--radix: '3' is not a number from 2 to 2, for 1 rank" alltoall tuna --nodes 1 --radix 3
unmade 'neighbor-exchange requires ranks mod 2 = 0, which does not hold for 5 ranks; neighbor-exchange needs an even number of ranks' \
  allgather neighbor-exchange --nodes 5

for collective in scan reduce-scatter barrier broadcast; do # MPI has no v form of these
  unmade "'${collective}v' is no collective that schedules are generated for" generate ${collective}v --algorithm ring --nodes 4
done

# optimal's time is the least, and equals the lower bound that check computes.
for known in '1,2,3 27' '1,2,3,4 64' '1,1,4,4 64' '2,2,2,2 28' '1,2,3,4,5,6,7,8 512' '7 49' '3,4 40' '1 1' '5,1,1 45' '8x3 135'; do
  read -r nodes time <<<"$known"
  expect 0 alltoall optimal --nodes "$nodes" --out best.qs
  prints "  time      $time, no schedule takes less than $time" check best.qs
  says '  port      one exchange at a time per node'
done
prints '  proven: no program for all sizes; check tests each schedule, and that its time is the least' "$generator" list
says '  --nodes any: no, it is made for given nodes'
expect 0 alltoall optimal --nodes 1,2,3 --out best.qs
remakes 'alltoall --algorithm optimal --nodes 1,2,3' best.qs
unmade '--nodes: a schedule of the least time is known for up to 8 nodes; these are 9' alltoall optimal --nodes 9x2
unmade '--nodes any: optimal is made for given nodes; give the nodes that it is for' alltoall optimal --nodes any
unmade '--radix: optimal has no such option' alltoall optimal --nodes 1,2,3 --radix auto
unmade '--pacing: optimal has no such option' alltoall optimal --nodes 1,2,3 --pacing free
unmade '--block-size: optimal has no such option' alltoall optimal --nodes 1,2,3 --block-size 5
unmade "--algorithm: 'optimal' is not known for alltoall between groups" alltoall optimal --nodes 2 --remote-nodes 2

cp a.qs kept.qs
refuses 'is not known' alltoall fastest --nodes 4 --out kept.qs
refuses 'No such file or directory' alltoall factor --nodes 4 --out nowhere/x.qs
refuses 'Is a directory' alltoall factor --nodes 4 --out made
refuses 'Not a directory' alltoall factor --nodes 4 --out a.qs/x.qs
refuses 'Not a directory' emit a.qs --out a.qs/src
mkdir -p taken/a.c
refuses 'taken/a.c: is a folder' emit a.qs --out taken
refuses 'No such file or directory' "$generator" proofs --out nowhere
if [ "$(id -u)" -ne 0 ]; then # root may write anywhere
  mkdir locked && cp a.qs locked/a.qs && chmod a-w locked
  refuses 'Permission denied' alltoall factor --nodes 4 --out locked/a.qs
fi

for command in show emit; do
  arguments=()
  [ $command = show ] || arguments=(--out made)
  refuses 'nothing.qs: No such file or directory' "$generator" $command nothing.qs "${arguments[@]}"
  refuses 'hosts: not a schedule file' "$generator" $command hosts "${arguments[@]}"
done

finish
