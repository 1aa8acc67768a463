#!/usr/bin/env bash
# Tests the verifier's commands: verdicts and their exit codes, refutations that can be replayed, and every refusal
# of a file or a flag.
source "$(dirname "$0")/common.sh"

expect 0 alltoall hierarchical-factor --nodes 1,2,3 --out a.qs
expect 0 alltoall factor --nodes 6 --out flat.qs

# ---- Verified

verifies a.qs flat.qs
says 'flat.qs: verified' '  blocks    each arrives once' '  progress  ' '  port      one exchange at a time per node' \
  '  steps     16 (and 2 with copies only), 30 messages, depth 1' '  time      ' '  window    any number' '  in place  ' \
  'alltoall.hierarchical-factor, proven for all sizes' '  checked   in '
expect 0 check a.qs --ports 1
expect 0 check a.qs --ports 2000000000
for ports in 99999999999999999999 two 1.5; do
  refuses "check: --ports: '$ports' is not a whole number, or is too large" check a.qs --ports $ports
done
expect 0 env -C / BUILD_WORKING_DIRECTORY="$folder" "$verifier" check a.qs

# Claims that depend on the counts are checked for given counts.
expect 0 allgather blocked-ring --nodes 4 --out ring.qs
verifies ring.qs --counts 400,0,250,1 --parameter B=100
says '  call      counts 400,0,250,1, B = 100'
says '  blocks    every byte arrives once where it belongs, and no empty block travels'
says '  steps     8, 24 messages, depth 8'
says '  window    at most 1 step in flight'
prints '  call      counts 400,300,2x250, B = 100' check ring.qs --counts 400,300,2x250 --parameter B=100
says '  window    at most 3 steps in flight'
expect 0 check ring.qs --counts 2x500,0,500 # auto takes each contribution whole
says 'B is chosen at the call: auto, alpha 2000 ns, beta 100 ps'
says ', B = 500'
expect 0 allgather blocked-ring --nodes 4 --block-size 1 --out bytes.qs
prints '  call      counts 2x0,4096,0, B = 1: ' check bytes.qs # not a million blocks
# The model counts the ranks that a broadcast's block passes. In a pipeline these are all ranks; over trees, one more
# than the rounds of doubling.
for algorithm in 'pipeline 24655' 'hypercube 61749'; do
  expect 0 generate broadcast --algorithm ${algorithm% *} --nodes 36 --block-size model --alpha 2us --beta 100ps --out tree.qs
  prints "counts 36x1048576, B = ${algorithm#* }" check tree.qs --counts 36x1048576
done
# Over trees, the model treats an allgather as one contribution as long as the sum of the counts.
expect 0 allgather hypercube --nodes 36 --block-size model --alpha 2us --beta 100ps --out tree.qs
for counts in 1048576,35x0 35x0,1048576 16x65536,20x0; do
  prints "counts $counts, B = 61749" check tree.qs --counts $counts
done
show ring.qs | sed 's/parameter B at call/parameter size at call/; s/\<B\>/size/g; s/1 < ranks/2 <= ranks/; s/^in_place$/&\nwindow 5/' >other.txt
"$write_schedule" other.txt 4 other.qs
prints 'other.qs: verified for these counts' check other.qs --counts 400,0,250,1 --parameter size=100
says 'verified for this topology and this call alone: no proof of this code is known'
says '  plans     lawful at every rank, windows 1, 2, 16 and 5'
for size in 0 -1 2147483648; do
  refuses "blocked-ring requires 1 <= B and B <= 2147483647, which does not hold for 4 ranks and B = $size" \
    check ring.qs --counts 4x4 --parameter B=$size
done
# Without --counts, `check` tries four lists of counts.
verifies ring.qs
says '  call      counts 4x1, B = 1: steps 3, 12 messages, depth 3' '  call      counts 4x0, B = 1: steps 0, 0 messages, depth 0' \
  '  call      counts 2x0,1048576,0, B = ' '  call      counts 3000,0,5000,2000, B = ' \
  '  window    at most 1 step in flight' '  scope     this code is allgather.blocked-ring, proven for all sizes'
prints '  call      counts 3000,0,5000,2000, B = 1000: steps 10, 30 messages, depth 10' check ring.qs --parameter B=1000
prints 'other.qs: verified for these counts' check other.qs --parameter size=100
says 'verified for this topology and these calls alone: no proof of this code is known'
expect 3 check other.qs --parameter size=100 --all-calls
expect 0 check ring.qs --all-calls
# This ring forgets the last block of each contribution. It is right as long as a contribution has one block.
sed 's/0 \.\. total - 1$/0 .. total - 1 - (total mod ranks)/' other.txt >forgetful.txt
"$write_schedule" forgetful.txt 4 forgetful.qs
expect 0 check forgetful.qs --counts 4x1 --parameter size=1000
refutes 'forgetful.qs: REFUTED' check forgetful.qs --parameter size=1000
says ' --counts 3000,0,5000,2000 --parameter size=1000'
refuses '3 counts are given for group 0, whose ranks are 4; give one a rank with --counts, as in 4x1024' check ring.qs --counts 1,2,3
refuses '5 counts are given for group 0, whose ranks are 4' check ring.qs --counts 5x1
refuses '1 count is given for group 0, whose ranks are 4' check ring.qs --counts 7
refuses 'a count of -7; counts are 0 or more' check ring.qs --counts 3x1,-7
for counts in 1,,2,3 4x, x4 1x1x4 0x4 -4x1 99999999x1 99999999999999999999,1,1,1 1.5,1,1,1; do
  refuses "--counts: '$counts' is not a list of numbers like 3,0,5 or 4x7, four times 7" check ring.qs --counts "$counts"
done

# Files whose parameters break a requirement of the program.
numbered() { # ALGORITHM NAME VALUE REQUIREMENT
  expect 0 alltoall "$1" --nodes 6 --out numbered.qs
  show numbered.qs >numbered.txt
  "$write_schedule" numbered.txt 6 numbered.qs "$3"
  refuses "$1 requires $4, which does not hold for 6 ranks and $2 = $3" check numbered.qs
}
for radix in 1 0 -3 7; do
  numbered tuna radix $radix '2 <= radix and radix <= max(2, ranks)'
done
for count in 0 -1; do
  numbered scattered block_count $count '1 <= block_count'
done

# A program that has no proof.
show a.qs | sed 's/for phase in 0 \.\. /for phase in 0 .. 0 + /' >other.txt
"$write_schedule" other.txt 1,2,3 other.qs
prints 'verified for this topology alone: no proof of this code is known' check other.qs

# ---- Refuted, with a replay command that works as printed

refuted() { # PROGRAM NODES WHAT REPLAYED [ARGUMENTS]
  printf '%s\n' "$1" >wrong.txt
  # shellcheck disable=SC2086 # the nodes of two groups are several words
  "$write_schedule" wrong.txt $2 "wrong one's.qs"
  refutes "wrong one's.qs: REFUTED" check "wrong one's.qs" "${@:5}"
  says "$3"
  replays "$4"
  [ $# -gt 4 ] || refuses_to_emit "wrong one's.qs"
}
refuses_to_emit() { # FILE: emit writes a refuted schedule only with --force
  expect 1 emit "$1" --out emitted
  { [ "$(wc -l <.err)" -eq 1 ] && grep -qF "emit: $1: the schedule is refuted, since " .err && [ ! -e emitted ]; } || fail "emit: $(cat .err)"
  expect 0 emit "$1" --out emitted --force
  rm -r emitted
}
refuted 'algorithm a for alltoall
copy send[rank] to recv[rank]
step 4
  send send[1 - rank] to 1 - rank' 2 'but in step 4, rank 0 waits to send to rank 1' 'step 4: send 1 send[1]'
refuted 'algorithm a for alltoall
copy send[rank] to recv[rank]' 2 'never arrives' 'copy outside send[0] recv[0]'
refuted 'algorithm a for alltoall
step 9223372036854775807
  if rank = 0
    send send[1] to 1' 2 'in step 9223372036854775807' 'step 9223372036854775807: send 1'
refuted 'algorithm a for allgather
parameter r at call
table m = counts
copy send[0] to recv[rank]
step 0
  if m[rank] = r
    send send[0] to 1' 2 'but in step 0' 'step 0: send 1' --counts 7,3 --parameter r=7
refuted 'algorithm a for broadcast
step 0
  if rank = root
    send send[0] to 0' 2 'but in step 0' 'step 0: send 0' --root 1
# Programs that are right only for blocks of one byte.
one_byte() { # PIECES_FROM
  refuted "algorithm a for allgather
copy send[0] to recv[rank]
for k in 0 .. ranks - 1
  step k
    receive recv[wrap(rank - 1 - k, ranks)]@$1 from wrap(rank - 1, ranks)
    send recv[wrap(rank - k, ranks)]@$1 to wrap(rank + 1, ranks)" 4 "$2" 'step 0: receive'
}
one_byte 0..1 'which is 0 long'
one_byte 0..min\(1,ranks\) 'which is 0 long'
refuted 'algorithm a for allgather
copy send[0]@0..1 to recv[rank]@0..1
for k in 0 .. ranks - 1
  step k
    receive recv[wrap(rank - 1 - k, ranks)] from wrap(rank - 1, ranks)
    send recv[wrap(rank - k, ranks)] to wrap(rank + 1, ranks)' 4 'which is 0 long' 'copy'
# Without --root, `check` tries several roots.
printf '%s\n' 'algorithm a for broadcast
if rank = 0
  copy send[0] to recv[0]
for r in 1 .. ranks
  step r
    if rank = 0
      send recv[0] to r
    if rank = r
      receive recv[0] from 0' >zero.txt
"$write_schedule" zero.txt 3 zero.qs
refutes ' --root 1' check zero.qs
prints '  call      root 0' check zero.qs --root 0
says 'verified for this topology and this call alone'
refuted 'algorithm a for allgather between groups
step 0
  if group = 1
    send send[0] to remote 0' '1 --remote-nodes 1' 'but in step 0' 'step 0: send remote 0'

# The rule also chooses by the counts of the second group, as in the runtime.
printf '%s\n' 'algorithm a for allgather between groups
parameter B at call
step 0
  for k in 0 .. remote_ranks
    receive recv[k] from remote k
    send send[0] to remote k' >ruled.txt
expect 0 generate allgather --program ruled.txt --nodes 2 --remote-nodes 2 --block-size min --out ruled.qs
prints '  call      counts 3,5/7,9, B = 7' check ruled.qs --counts 3,5/7,9

# With --ports, `check` refutes steps that use a port twice at a time.
expect 0 check flat.qs
expect 0 alltoall factor --nodes 2,2,2 --out nodes.qs
refutes 'for the port of node' check nodes.qs --ports 1
refutes 'a.qs: verified' check a.qs nodes.qs --ports 1

# ---- Proven, refuted, unknown

prints 'alltoall.factor: proven for all sizes' "$verifier" prove factor xor+drop
says 'alltoall.xor+drop: proven for all sizes'
proof=$root/emitted/proofs/alltoall.factor.proof
prints 'final' "$verifier" prove --proof "$proof" --verbose
sed '/^cover/,/^once/{/use/d}' "$root/emitted/proofs/alltoall.xor.proof" >weak.proof
expect 3 "$verifier" prove --proof weak.proof
says 'UNKNOWN: not proven'
sed '/^code/s/18 81 20 81 00 00$/18 81 20 42 00 00/' "$proof" >wrong.proof # sends send[rank]
! cmp -s "$proof" wrong.proof || fail 'the proof is for other code by now'
expect 1 "$verifier" prove --proof wrong.proof
# The exit code of a refutation takes precedence over that of an unknown verdict.
refutes 'wrong.proof: REFUTED on nodes ' "$verifier" prove --proof wrong.proof --proof weak.proof
expect 0 "$verifier" prove factor --export questions
[ -s questions/alltoall.factor.smt2 ] || fail 'nothing exported'

# ---- Refused files

for command in check 'replay --ranks 0'; do
  run() { "$verifier" $command "$@"; }
  refuses 'nothing.qs: No such file or directory' run nothing.qs
  refuses 'is a folder; name a file' run questions
  refuses 'wrong.txt: not a schedule file' run wrong.txt
  : >empty.qs
  refuses 'empty.qs: not a schedule file' run empty.qs
  for length in 1 8 20 100 $(($(wc -c <a.qs) - 1)); do
    head -c "$length" a.qs >short.qs
    refuses 'short.qs: ' run short.qs
  done
  (cat a.qs && printf x) >long.qs
  refuses 'long.qs: damaged: the checksum does not fit; make it again' run long.qs
  cp a.qs flipped.qs
  printf '\377' | dd of=flipped.qs bs=1 seek=200 conv=notrunc status=none
  refuses 'flipped.qs: damaged: the checksum does not fit; make it again' run flipped.qs
  cp a.qs future.qs # writes the version's two numbers, then the oldest reader's
  printf '\011\000\000\000\011\000' | dd of=future.qs bs=1 seek=8 conv=notrunc status=none
  refuses 'future.qs: format 9.0 needs a reader of format 9 and this one reads 2; use a newer one' run future.qs
done

# ---- Refused flags

refuses '--ports: a node has at least 1 port' check a.qs --ports 0
refuses '--ports: a node has at least 1 port' check a.qs --ports -3
refuses '--ports' check a.qs --ports many
refuses "--parameter: 'r=3' is not NAME=VALUE" check a.qs --parameter r=3
refuses "--counts: '1,x' is not a list of numbers like 3,0,5" check a.qs --counts 1,x
refuses '2 counts are given for group 0, whose ranks are 6' check a.qs --counts 1,2
refuses 'a count of -1; counts are 0 or more' check a.qs --counts 1,2,3,4,5,-1
printf 'algorithm a for broadcast\nparameter r at call\n' >call.txt
"$write_schedule" call.txt 3 call.qs
refuses '--parameter r=N is needed' check call.qs
refuses "--parameter: 'r=x' is not one number" check call.qs --parameter r=x
refuses "--parameter: 'r=1,2' is not one number" check call.qs --parameter r=1,2
refuses 'there is no rank 3 to be the root; give one of 0 to 2 with --root' check call.qs --parameter r=1 --root 3
refuses "--parameter: 'r' is given twice" check call.qs --parameter r=1 --parameter r=2
refuses "--counts: '3x1/3x1' is for 2 groups, and the schedule for 1; give one list a group" \
  check call.qs --parameter r=1 --counts 3x1/3x1
printf 'algorithm a for barrier\n' >barrier.txt
"$write_schedule" barrier.txt 3 barrier.qs
refuses '--root: a barrier has no root; leave it out' check barrier.qs --root 0
refuses '--root: an all-to-all has no root; leave it out' check a.qs --root 1
refuses '--counts: a barrier moves nothing; leave them out' check barrier.qs --counts 3x1
# A program that moves bytes is not checked by empty calls alone.
printf 'algorithm seven for broadcast\ntable m = counts\nrequire m[0] mod 7 = 0\n' >seven.txt
"$write_schedule" seven.txt 3 seven.qs
refuses 'seven takes none of the calls that check tries but empty ones; give one with --counts' check seven.qs
expect 1 check seven.qs --counts 7
expect 0 check seven.qs --counts 0
# A program may require some roots. Then neither the generator nor `check` tries the others.
{
  printf 'algorithm last for broadcast\nrequire root = ranks - 1\n'
  printf 'if rank = root\n  copy send[0] to recv[0]\nfor k in 0 .. ranks - 1\n  step k\n'
  printf '    if rank = root\n      send send[0] to k\n    if rank = k\n      receive recv[0] from root\n'
} >last.txt
expect 0 generate broadcast --program last.txt --nodes 3 --out last.qs
prints '  call      root 2' check last.qs
# For a collective with one count for all ranks, --counts takes one count.
expect 0 generate allreduce --algorithm ring --nodes 3 --out sum.qs
prints '  call      counts 3x1000' check sum.qs --counts 1000
refuses '2 counts are given for group 0, whose ranks are 3' check sum.qs --counts 1000,1000
# Plans are checked for up to 64 ranks.
expect 0 generate broadcast --algorithm binomial --nodes 65 --out many.qs
prints '  plans     not checked: more than 64 ranks' check many.qs
# A program that is right only if all blocks have one size.
"$write_schedule" "$root/tests/net/programs/onward.txt" 3 onward.qs
refutes 'rank 1 keeps a block in block 2 of its receive buffer that has another length if block sizes differ' check onward.qs
refuses '--remote-nodes: a.qs is for nodes 1,2,3' check a.qs --remote-nodes 3
refuses 'verifier: name a command: check, prove, replay' "$verifier"
refuses "verifier: 'dance' is no command; there are check, prove, replay" "$verifier" dance

replay() { "$verifier" replay a.qs "$@"; }
refuses '--ranks is required' replay
refuses '--ranks: there is no rank 6 of 6' replay --ranks 0,6
[ ! -s .out ] || fail 'the steps of one rank and a refusal'
refuses "--ranks: 'first' is not a list of numbers" replay --ranks first
refuses '--group: the schedule has no group 1' replay --ranks 0 --group 1
refuses "--steps: '4' is not LOW..HIGH" replay --ranks 0 --steps 4
refuses "--steps: '4..2' has no steps; give a LOW below HIGH" replay --ranks 0 --steps 4..2
refuses "--steps: '4..x' is not LOW..HIGH" replay --ranks 0 --steps 4..x
expect 0 replay --ranks 0,5 --steps 3..4
[ "$(grep -c '^  step' .out)" -le 2 ] || fail 'more than the steps that were asked for'

prove() { "$verifier" prove "$@"; }
refuses "'fastest' has no proof" prove fastest
refuses 'nothing.proof: No such file' prove --proof nothing.proof
refuses 'wrong.txt' prove --proof wrong.txt

finish
