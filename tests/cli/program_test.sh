#!/usr/bin/env bash
# Users' programs as text become schedules, verdicts and proofs. Every refusal names the line and the column.
source "$(dirname "$0")/common.sh"

copy_shift

of_text() { generate alltoall --program "$@"; }
prove() { "$verifier" prove --program "$@"; }

# ---- From a text to a schedule

prints 'shift.qs: shift for alltoall on nodes 1,2,3 (6 ranks), ' of_text shift.txt --nodes 1,2,3 --out shift.qs
verifies shift.qs
says '  blocks    each arrives once where it belongs, whatever its size (alltoall, alltoallv)'
says 'verified for this topology alone: no proof of this code is known'
prints 'shift on nodes 1,2,3' show shift.qs --format steps
expect 0 generate alltoallv --program shift.txt --slurm '1,2,3' --out again.qs
cmp shift.qs again.qs || fail 'the same program makes another file'

# `show` prints a text that makes the same file again. So does the command in the emitted files.
again() { # GENERATE ARGUMENTS...
  expect 0 "$generator" "$@" --out first.qs
  expect 0 show first.qs --out first.txt
  expect 0 generate "$2" --program first.txt --nodes "${nodes:-1,2,3}" "${flags[@]}" --out second.qs
  cmp first.qs second.qs || fail "made from its text, it is another file: $*"
}
flags=()
again generate alltoall --program shift.txt --nodes 1,2,3
again generate alltoall --algorithm hierarchical-factor --nodes 1,2,3
again generate allgather --algorithm linear-ring --nodes 1,2,3
again generate allgather --algorithm blocked-ring --nodes 1,2,3
flags=(--parameter radix=3)
again generate alltoall --algorithm tuna --nodes 1,2,3 --radix 3
flags=(--parameter B=4096)
again generate allgather --algorithm blocked-ring --nodes 1,2,3 --block-size 4096
flags=(--block-size model --alpha 2us --beta 100ps)
again generate allgather --algorithm blocked-ring-nodes --nodes 1,2,3 "${flags[@]}"

expect 0 of_text shift.txt --nodes 4x2 --out own.qs
remakes 'alltoall --program shift.txt --nodes 4x2' own.qs
show first.qs --out blocked-ring-nodes.txt
sed -i 's/1 < ranks/2 <= ranks/' blocked-ring-nodes.txt
expect 0 generate allgather --program blocked-ring-nodes.txt --nodes 3 --parameter B=7 --out own.qs
remakes 'allgather --program blocked-ring-nodes.txt --parameter B=7 --nodes 3' own.qs
expect 0 generate allgather --program blocked-ring-nodes.txt --nodes 3 --block-size min --out own.qs
remakes 'allgather --program blocked-ring-nodes.txt --block-size min --nodes 3' own.qs
# A program that has the name of a registered one is still shown as its own text.
sed 's/algorithm shift/algorithm factor/' shift.txt >factor.txt
expect 0 of_text factor.txt --nodes 3 --out own.qs
remakes 'alltoall --program factor.txt --nodes 3' own.qs

# A program between two groups.
cat >exchange.txt <<'END'
algorithm exchange for allgather between groups
let others = group = 0 ? ranks : remote_ranks
step 0
  for k in 0 .. remote_ranks
    send send[0] to remote k
    receive recv[k] from remote k
END
expect 0 generate allgather --program exchange.txt --nodes 1,2 --remote-nodes 2 --out groups.qs
says 'groups.qs: exchange for allgather between groups on nodes 1,2 (3 ranks) and nodes 2 (2 ranks)'
verifies groups.qs
says '  exchange for allgather between groups on nodes 1,2 (3 ranks) and nodes 2 (2 ranks), '
remakes 'allgather --program exchange.txt --nodes 1,2 --remote-nodes 2' groups.qs

# Programs for barriers and scans.
cat >barrier.txt <<'END'
algorithm dissemination for barrier
table pow = powers(2, ranks)
for x in 0 .. length(pow) - 1
  step x
    receive nothing from wrap(rank - pow[x], ranks)
    send nothing to wrap(rank + pow[x], ranks)
END
expect 0 generate barrier --program barrier.txt --nodes 5 --out barrier.qs
prints '  barrier   no rank leaves before every rank has come' check barrier.qs
says '  steps     3, 15 messages'
sed 's/length(pow) - 1/length(pow) - 2/' barrier.txt >short.txt
expect 0 generate barrier --program short.txt --nodes 5 --out short.qs
refutes 'but rank 0 leaves without having heard of rank 1' check short.qs
cat >scan.txt <<'END'
algorithm chain for scan
table m = counts
if 0 < m[0]
  if rank = 0
    copy send[0] to recv[0]
  else
    step rank
      receive recv[0] from rank - 1
    reduce right send[0] into recv[0]
  if rank + 1 < ranks
    step rank + 1
      send recv[0] to rank + 1
END
expect 0 generate scan --program scan.txt --nodes 4 --out scan.qs
prints '  call      counts 4x1048576: ' check scan.qs
says '  call      counts 4x0: '
sed 's/for scan/for scan between groups/' scan.txt >wrong.txt
unmade 'wrong.txt:1:1: a scan between groups, which MPI does not have' generate scan --program wrong.txt --nodes 4 --remote-nodes 4
expect 0 check scan.qs --counts 4x7
for change in 's/receive recv/receive sized recv/' 's/receive recv\[0\]/receive temp[0]/'; do
  sed "$change" scan.txt >wrong.txt
  unmade 'wrong.txt:' generate scan --program wrong.txt --nodes 4
done
unmade '; name a range, temp[i]@0..n, or combine' generate scan --program wrong.txt --nodes 4

# A broadcast reversed is a reduce, whose text makes the same file.
cat >star.txt <<'END'
algorithm star for broadcast
if rank = root
  copy send[0] to recv[0]
step 0
  for r in 0 .. ranks
    if rank = root and r != root
      send send[0] to r
    if rank != root and r = root
      receive recv[0] from root
END
expect 0 generate reduce --program star.txt --reverse --nodes 1,2,3 --out sum.qs
says 'sum.qs: star for reduce on nodes 1,2,3 (6 ranks), '
verifies sum.qs
expect 0 show sum.qs --out sum.txt
expect 0 generate reduce --program sum.txt --nodes 1,2,3 --out again.qs
cmp sum.qs again.qs || fail 'the text of a reversal makes another file'
unmade 'star.txt: its reversal is for reduce; `generate reduce` takes it' generate broadcast --program star.txt --reverse --nodes 3
unmade '--reverse: shift.txt: only a broadcast or an allgather on one group can be reversed, not an all-to-all' \
  of_text shift.txt --reverse --nodes 3
unmade '--reverse: it is for --program alone' generate reduce --algorithm hypercube --reverse --nodes 3
expect 0 generate allreduce --program star.txt --reverse --then star.txt --nodes 1,2,3 --out both.qs
says 'both.qs: star-then-star for allreduce on nodes 1,2,3 (6 ranks), '
verifies both.qs
unmade 'star.txt: its sequence is for allreduce; `generate allreduce` takes it' generate reduce --program star.txt --reverse --then star.txt --nodes 3
unmade '--then: star.txt: only a reduce-scatter then an allgather, or a reduce then a broadcast' \
  generate allreduce --program star.txt --then star.txt --nodes 3
unmade '--then: it is for --program alone' generate allreduce --algorithm ring --then star.txt --nodes 3

# A certificate lets a program serve any nodes. A copy stands beside the schedule, where `check` finds it.
printf '%s\n' 'algorithm chain for broadcast' 'parameter k' 'let v = wrap(rank - root, ranks)' 'if rank = root' '  copy send[0] to recv[0]' 'if 0 < v' \
  '  step v' '    receive recv[0] from wrap(rank - 1, ranks)' 'if v + 1 < ranks' '  step v + 1' '    send recv[0] to wrap(rank + 1, ranks)' >chain.txt
printf '%s\n' 'match send 1' '  with receive 1' 'match receive 1' '  with send 1' 'held send 1' '  with copy 1 if rank = root' '  with receive 1' \
  cover '  with receive 1' >chain.proof
any() { generate broadcast --program "${program:-chain.txt}" --nodes any --parameter k=3 --out any.qs "$@"; }
refuses '--nodes any: a program of yours may not be right for all sizes; give its certificate with --proof, or the nodes that it is for' any
expect 0 "$verifier" prove --program chain.txt --proof chain.proof --certificate chain.certificate
expect 0 any --proof chain.certificate
cmp chain.certificate any.qs.certificate || fail 'another certificate stands beside the schedule'
mkdir folder.qs
refuses '--out: folder.qs: Is a directory' "$generator" generate broadcast --program chain.txt --proof chain.certificate --nodes any --parameter k=3 --out folder.qs
[ ! -e folder.qs.certificate ] || fail 'a certificate without its schedule'
expect 0 check any.qs
says 'any.qs: proven'
says 'scope     this program is proven for all sizes and values of k (17 obligations by z3 '
says '), as any.qs.certificate says'
prints '), as any.qs.certificate says' "$generator" show any.qs
prints 'This program is proven for all sizes' "$generator" show any.qs --nodes 3 --format html
expect 0 check any.qs --nodes 1,2,3
says 'any.qs: verified'
mv any.qs.certificate away
expect 3 check any.qs
expect 0 check any.qs --certificate away
sed 's/^program 0*/program f/' away >any.qs.certificate
refuses 'any.qs.certificate: the certificate of another program; prove this one' check any.qs
rm any.qs any.qs.certificate
sed 's/recv\[0\] to/send[0] to/' chain.txt >other.txt
program=other.txt refuses '--proof: chain.certificate: the certificate of another program; prove this one' any --proof chain.certificate
refuses '--proof: chain.proof: no certificate; `prove --certificate` writes one' any --proof chain.proof
refuses '--proof: it is for --program; `check` knows the proofs of algorithms' generate broadcast --algorithm binomial --nodes 3 --proof chain.certificate --out any.qs
[ ! -e any.qs ] && [ ! -e any.qs.certificate ] || fail 'a file is left'

# Requirements on the call are checked at the call.
cat >large.txt <<'END'
algorithm large for allgather
parameter B at call
require 4 <= B and B <= 8
require ranks mod 2 = 0
END
expect 0 generate allgather --program large.txt --nodes 4 --block-size min --out large.qs
unmade 'large.txt: large requires ranks mod 2 = 0, which does not hold for 3 ranks' generate allgather --program large.txt --nodes 3

# Tables and temporary blocks that depend on the root are also checked at the call. They may be undefined for a root
# that the program refuses.
for declaration in 'table t[i in 0 .. 2] = 100 div root' 'temporary 100 div root blocks' 'temporary 2 - 1 div root blocks' \
  $'table t[i in 0 .. 2] = 4 div root\ntable s = prefix(t)\ntemporary 8 div s[2] blocks\nrequire 4 div s[1] < 3'; do
  printf '%s\n' 'algorithm later for broadcast' 'require 1 <= root' "$declaration" 'if rank = root' '  copy send[0] to recv[0]' 'for k in 0 .. ranks' \
    '  step k' '    if rank = root and k != rank' '      send send[0] to k' '    if rank != root and rank = k' '      receive recv[0] from root' >later.txt
  expect 0 generate broadcast --program later.txt --nodes 3 --out later.qs
  expect 0 check later.qs
done
# A table that does not depend on the call is refused at once, even beside tables that do.
printf '%s\n' 'algorithm never for broadcast' 'table m = counts' 'table u[i in 0 .. 1] = 1 div (ranks - 3)' >never.txt
unmade 'never.txt: u[0] is undefined' generate broadcast --program never.txt --nodes 3

# The user gives emit no call, so emit tries calls of its own.
printf '%s\n' 'algorithm only for broadcast' 'table m = counts' 'require m[0] = 1000' >only.txt
prints 'on nodes 1 (1 rank), ' generate broadcast --program only.txt --nodes 1 --out only.qs
refuses 'only.qs: it is not checked, since it takes none of the calls that emit tries; check a call with bazel run //verifier -- check only.qs --counts LIST, then write it with --force' \
  emit only.qs --out made
expect 0 emit only.qs --out made --force

# ---- Wrong syntax, wrong meaning

wrong() { # LINE TEXT MESSAGE: TEXT replaces that line of shift.txt
  sed "$1s/.*/$2/" shift.txt >wrong.txt
  unmade "generate: wrong.txt:$1:$3" of_text wrong.txt --nodes 3
  refuses "prove: wrong.txt:$1:$3" prove wrong.txt --proof shift.proof
}
wrong 1 'algorithm shift' "16: expected 'for' before the end of the line"
wrong 1 'algorithm shift for all' "21: 'all' is not a collective; choose one of alltoall"
wrong 4 'for round in 1 to ranks' "16: expected '..' before 'to'"
wrong 5 '  let right = wrap(rank + round, rankz)' "34: 'rankz' is not defined here; name a variable in scope or a parameter"
wrong 8 '    send send[right] right' "22: expected 'to' before 'right'"
wrong 9 '   receive recv[left] from left' "4: indented unlike the statements before it"
wrong 9 '    receive recv[left] from left < 3' '5: a condition stands where a number is wanted'
sed 's/step round/if round < 9/' shift.txt >wrong.txt
unmade 'wrong.txt:8:5: a message outside a step' of_text wrong.txt --nodes 3

unmade 'nothing.txt: No such file' of_text nothing.txt --nodes 3
unmade 'shift.qs: a schedule file and no text; write its program down with `show shift.qs --out FILE`' of_text shift.qs --nodes 3
unmade '/dev/null: no program in it' of_text /dev/null --nodes 3
unmade 'shift.txt: its program is for alltoall; `generate alltoall` takes it' generate allgather --program shift.txt --nodes 3
refuses '--out: shift.txt: is the file that is read' of_text shift.txt --nodes 3 --out shift.txt
unmade 'give the nodes once' of_text shift.txt
unmade '--program: give it without --algorithm' of_text shift.txt --algorithm factor --nodes 3
unmade '--program: give it without --algorithm' of_text shift.txt --algorithm auto --bytes 8 --nodes 3
unmade 'give an algorithm with --algorithm, or a program of yours with --program' generate alltoall --nodes 3
for flag in '--radix 2' '--radix auto' '--self-loops drop'; do
  unmade "${flag% *}: it is for --algorithm; --program takes --parameter NAME=VALUE" of_text shift.txt --nodes 3 $flag
done
for flag in '--block-size min' '--alpha 1us' '--beta 1ns'; do
  unmade "${flag% *}: shift.txt has no parameter that is chosen at the call" of_text shift.txt --nodes 3 $flag
done
unmade '--gap: nothing is chosen by it' of_text shift.txt --nodes 3 --gap 1us
unmade '--parameter: it is for --program' alltoall tuna --nodes 4 --parameter radix=2
unmade '--remote-nodes: shift.txt is for one group; leave it out' of_text shift.txt --nodes 3 --remote-nodes 4
unmade '--nodes: exchange.txt is for two groups; give the nodes of the other with --remote-nodes' \
  generate allgather --program exchange.txt --nodes 3
unmade "--remote-nodes: '2,' is not a node list" generate allgather --program exchange.txt --nodes 3 --remote-nodes 2,
unmade "--nodes: '3/4' is not a node list" generate allgather --program exchange.txt --nodes 3/4
for nodes in '--nodes any --remote-nodes 2' '--nodes 2 --remote-nodes any'; do
  unmade '--remote-nodes: give the nodes of both groups, or any for both' generate allgather --program exchange.txt $nodes
done
unmade '--nodes any: a program of yours may not be right for all sizes' \
  generate allgather --program exchange.txt --nodes any --remote-nodes any

expect 0 alltoall tuna --nodes 6 --out tuna.qs
show tuna.qs --out tuna.txt
unmade '--parameter radix=N is needed: tuna.txt has that parameter' of_text tuna.txt --nodes 6
for text in radix r=2 =2 'radix =2'; do
  unmade "--parameter: '$text' is not NAME=VALUE of a parameter of tuna.txt" of_text tuna.txt --nodes 6 --parameter "$text"
done
for text in radix= radix=x radix=2.5 radix=2,3 radix=99999999999999999999; do
  unmade "--parameter: '$text' does not give one number" of_text tuna.txt --nodes 6 --parameter $text
done
unmade "--parameter: 'radix' is given twice" of_text tuna.txt --nodes 6 --parameter radix=2 --parameter radix=3
unmade 'tuna.txt: tuna requires 2 <= radix and radix <= max(2, ranks), which does not hold for 6 ranks and radix = 7' \
  of_text tuna.txt --nodes 6 --parameter radix=7
for size in 0 -1 2147483648; do
  unmade "--parameter: 'B=$size': what a file gives for all its calls is from 1 to 2147483647" \
    generate allgather --program large.txt --nodes 4 --parameter B=$size
done

# ---- Wrong schedules

refuted() { # SED WHAT: the changed program is refuted on some nodes, and the message says WHAT
  sed "$1" shift.txt >wrong.txt
  ! cmp -s shift.txt wrong.txt || fail "nothing is changed: $1"
  expect 0 of_text wrong.txt --nodes 5 --out wrong.qs
  refutes 'wrong.qs: REFUTED' check wrong.qs
  says "$2"
  says '  to see it: bazel run //verifier -- replay wrong.qs --ranks '
  grep -q '^copy' wrong.txt || return 0 # the proof speaks of the copy
  refutes 'wrong.txt: REFUTED on nodes ' prove wrong.txt --proof shift.proof
}
refuted '/^ *receive/s/left/right/g' 'but in step 1, '
refuted '/^for/s/1/2/' 'never arrives'
refuted '/^copy/d' 'never arrives'
refuses 'shift.proof: no copy of the program brings a rank its own block' prove wrong.txt --proof shift.proof
refuted 's/step round/step 1/' 'keys'

# ---- Proofs

prints 'shift.txt: proven for all sizes (' prove shift.txt --proof shift.proof
says ': everything proven'
prints 'shift.qs: proven for all sizes (' prove shift.qs --proof shift.proof
prints '  match send 1' prove shift.txt --proof shift.proof --verbose
expect 0 prove shift.txt --proof shift.proof --export questions
[ -s questions/shift.txt.smt2 ] || fail 'nothing is exported'

unproven() { # SED OBLIGATION: the changed proof proves nothing, but the program is still right
  sed "$1" shift.proof >weak.proof
  ! cmp -s shift.proof weak.proof || fail "nothing is changed: $1"
  expect 3 prove shift.txt --proof weak.proof
  says 'shift.txt: UNKNOWN: not proven, and no counterexample found on small nodes'
  says "  $2"
}
unproven 's/target - source/source - target/' 'final'
unproven 's/  to round + 1/  to round/' 'keys round'
unproven '2s/round$/round + 1/' 'match send 1'

# The prover names missing statements one by one. Without any proof, its message says where to start.
refuses "prove: shift.txt: the proof has no 'keys round'" prove shift.txt
sed '/^cover/,+1d' shift.proof >short.proof
refuses "prove: short.proof: the proof has no 'cover'" prove shift.txt --proof short.proof

sed 's/cover/clover/' shift.proof >slip.proof
refuses "prove: slip.proof:5: 'clover' is not a statement" prove shift.txt --proof slip.proof
sed 's/target - source/target - sauce/' shift.proof >slip.proof
refuses "prove: slip.proof:6:46: 'sauce' is not defined here" prove shift.txt --proof slip.proof
refuses 'nothing.proof: No such file' prove shift.txt --proof nothing.proof
refuses 'nothing.txt: No such file' prove nothing.txt --proof shift.proof
refuses '--program: give one --proof of each program, and no names' prove shift.txt --proof shift.proof --proof shift.proof
refuses '--program: give one --proof of each program, and no names' prove shift.txt --proof shift.proof factor
refuses 'shift.proof:1: not a proof' "$verifier" prove --proof shift.proof
head -c 100 shift.qs >short.qs
refuses 'short.qs: ' prove short.qs --proof shift.proof

# A proof that contains code holds for that program only.
cp "$root/emitted/proofs/alltoall.factor.proof" factor.proof
expect 0 alltoall factor --nodes 6 --out factor.qs
show factor.qs --out factor.txt
prints 'factor.txt: proven for all sizes (' prove factor.txt --proof factor.proof
refuses "factor.proof:6: the code above is another program's; leave the heading out" prove shift.txt --proof factor.proof

finish
