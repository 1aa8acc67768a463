#!/usr/bin/env bash
# The prove command: its verdicts and exit codes, bad input in one sentence, exports, and second solvers that agree,
# lie, give up, hang or do not exist.
source "$(dirname "$0")/../cli/common.sh"
factor=$root/emitted/proofs/alltoall.factor.proof

# proves CODE PATTERN ARGUMENT...: checks prove's exit code, and that a line of its output or error matches.
proves() {
  expect "$1" "$verifier" prove "${@:3}"
  matches "$2"
  [ "$1" -ne 2 ] || [ "$(wc -l <.err)" -eq 1 ] || fail "not one sentence: prove ${*:3}: $(cat .err)"
}

# matches PATTERN: checks that a line of the last output or error matches.
matches() { grep -qE -- "$1" .out .err || fail "no '$1' in: $(cat .out .err)"; }

# ---- Verdicts
proves 0 '^1 program, [0-9]+ obligations, .*: everything proven$' xor
proves 0 '^2 programs, [0-9]+ obligations, .*: everything proven$' factor
proves 0 'proven for all sizes' --proof "$factor"
proves 0 'proven for all sizes' xor
expect 0 env -C / BUILD_WORKING_DIRECTORY="$PWD" "$verifier" prove xor # as `bazel run` does it
proves 0 'printed_invariant is false, as expected: nodes 1,2: phase = 1, u = 1, v = 2' hierarchical-factor
matches 'fifteen_steps_with_self_copies is false, as expected: nodes 1,2,3'

# The checker also walks a proven program. One that requires more ranks is walked on the fewest that it admits.
copy_shift
says_walked() { # RANKS PATTERN
  sed "s/^copy/require $1 <= ranks\n&/" shift.txt >requires.txt
  proves 0 "$2" --program requires.txt --proof shift.proof
}
says_walked 1 'walked on all nodes of up to 6 ranks that it serves'
says_walked 8 'walked on all nodes of 8 ranks, the fewest that it serves'
says_walked 13 'walked on no nodes: the program serves none of those that are tried'

# No count that is tried meets the requirement, on any number of ranks. So the checker walks nothing.
printf '%s\n' 'algorithm never for broadcast' 'table m = counts' 'require 2000000000000 < m[0]' 'if rank = root' '  copy send[0] to recv[0]' \
  'for k in 0 .. ranks' '  step k' '    if rank = root and k != rank' '      send send[0] to k' '    if rank != root and rank = k' \
  '      receive recv[0] from root' >never.txt
printf '%s\n' 'keys k' '  from k' '  to k + 1' 'match send 1' '  with receive 1 where k = k' 'match receive 1' '  with send 1 where k = k' 'cover' \
  '  with receive 1 where k = target' >never.proof
proves 0 'never.txt: proven for all sizes and counts that meet its requirements; no call that is tried does \(' --program never.txt --proof never.proof
matches 'walked on no nodes: no call that is tried meets what the program requires'

# A wrong interval of keys: the program is correct, but this proof is not.
sed 's/  to round + 1/  to round/' "$factor" >weak.proof
proves 3 'weak.proof: UNKNOWN: not proven, and no counterexample' --proof weak.proof
matches 'keys round, statement 1: the goal does not follow'
# A ring in which every rank sends before it receives.
cat >late.txt <<'END'
algorithm late for allgather
table m = counts
copy send[0] to recv[rank]
step 0
  send recv[rank] to wrap(rank + 1, ranks)
step 1
  receive recv[wrap(rank - 1, ranks)] from wrap(rank - 1, ranks)
END
printf 'deadlock\n  given 2 <= ranks\n  given 0 < m[rank]\n  with send 1\n' >late.proof
proves 0 'late.txt: proven to deadlock, where what is given holds, for all sizes and counts' \
  --program late.txt --proof late.proof
# A certificate says that a program is right.
proves 2 '^prove: --certificate: the proof shows that the program deadlocks;' --program late.txt --proof late.proof --certificate late.certificate
[ ! -e late.certificate ] || fail 'there is a certificate of a deadlock'
# `given` can hold at one rank only, so no job meets it at every rank.
printf 'deadlock\n  given ranks = rank + 2\n  given 0 < m[rank]\n  with send 1\n' >alone.proof
proves 3 "late.txt: UNKNOWN: proven, but no nodes of up to 8 ranks deadlock with the 'given' conditions at every rank" \
  --program late.txt --proof alone.proof
# The proof calls a claim false that is true.
printf 'refute truth(x)\n  show x = x\n' | cat "$factor" - >true.proof
proves 3 'truth: no counterexample found' --proof true.proof
# A solver that may do almost no work has no answer, which is no proof.
proves 3 'UNKNOWN' --limit 1 hierarchical-factor
matches 'the solver gave up'
# Puts wrap(round + rank, ranks) in place of wrap(round - rank, ranks).
sed 's/^\(code .*\)51 81 42/\150 81 42/;s/48 80 42/47 80 42/' "$factor" >changed.proof
cmp -s "$factor" changed.proof && fail "nothing was changed"
proves 1 'changed.proof: REFUTED on nodes 1: self-message: rank 0 sends to itself' --proof changed.proof

# ---- Skeletons
rm shift.proof
proves 0 '^shift.proof: 4 statements, 0 places to fill in \(FILL_IN\); then: .* prove --program shift.txt --proof shift.proof$' --program shift.txt --skeleton shift.proof
proves 0 '^shift.txt: proven for all sizes' --program shift.txt --proof shift.proof
proves 2 '^prove: --skeleton: shift.proof is there already; name another file$' --program shift.txt --skeleton shift.proof
# What is said of an open obligation: the place, the goal, what is given, a case, and what is often missing.
sed 's/target - source/source - target/' shift.proof >open.proof
cmp -s shift.proof open.proof && fail 'nothing was changed'
proves 3 '^  final: the goal does not follow$' --program shift.txt --proof open.proof
matches '^    to show: wrap\(target - wrap\(source - target, ranks\), ranks\) = source$'
matches '^    given: 0 <= source and source < ranks; 0 <= target; target < ranks; source != target$'
matches '^    a case that this allows: ranks = [0-9]+, source = [0-9]*, target = [0-9]*$'
matches '^    often missing: another witness in `cover`, or a lemma that nothing is written there later$'
matches '^    shift.txt:[0-9]+: receive recv\[left\] from left$'
# --watch proves again after a change, until it is ended.
cp shift.proof watched.proof
"$verifier" prove --program shift.txt --proof watched.proof --watch >watch.out 2>&1 &
watcher=$!
said() { # TIMES: waits until it has proven so often
  for _ in $(seq 600); do
    [ "$(grep -c '^--watch: waits for a change of watched.proof, shift.txt; Ctrl-C ends it$' watch.out)" -ge "$1" ] && return
    sleep 0.1
  done
  fail "no answer number $1: $(cat watch.out)"
}
said 1
cp open.proof watched.proof
said 2
kill "$watcher"
grep -q '^shift.txt: proven for all sizes' watch.out && grep -q '^shift.txt: UNKNOWN' watch.out || fail "--watch: $(cat watch.out)"
proves 2 '^prove: --watch: give it with --program or --proof$' --watch
proves 2 '^prove: --watch: leave out names, --skeleton, --second-solver and --format$' --program shift.txt --skeleton new.proof --watch
proves 2 '^prove: --watch: leave out names,' --program shift.txt --proof shift.proof --watch factor
# The skeleton of a built-in program has a heading with its code. `prove` names the first place to fill in.
proves 0 '^tuna.proof: [0-9]+ statements, [0-9]+ places to fill in' alltoall.tuna --skeleton tuna.proof
proves 2 "^prove: tuna.proof:[0-9]+: write in place of FILL_IN: the .*, in names of send 2: x, z, q, i, f, h, up, w" --proof tuna.proof
line=$(sed -n 's/^prove: tuna.proof:\([0-9]*\):.*/\1/p' .err)
sed -n "${line}p" tuna.proof | grep -q FILL_IN || fail "no place in line $line"
proves 2 '^prove: --skeleton: give --program FILE or one algorithm, and no --proof$' --skeleton new.proof
# A broadcast's proof proves the reduction that is its reversal; a wrong broadcast is refuted as one.
printf '%s\n' 'algorithm chain for broadcast' 'let v = wrap(rank - root, ranks)' 'if rank = root' '  copy send[0] to recv[0]' 'if 0 < v' \
  '  step v' '    receive recv[0] from wrap(rank - 1, ranks)' 'if v + 1 < ranks' '  step v + 1' '    send recv[0] to wrap(rank + 1, ranks)' >chain.txt
printf '%s\n' 'match send 1' '  with receive 1' 'match receive 1' '  with send 1' 'held send 1' '  with copy 1 if rank = root' '  with receive 1' \
  cover '  with receive 1' >chain.proof
proves 0 '^the reversal of chain.txt: proven for all sizes ' --program chain.txt --proof chain.proof --reverse
proves 0 '"collective": "reduce"' --program chain.txt --proof chain.proof --reverse --format json
sed 's/step v + 1/step v/' chain.txt >late.txt
proves 1 '^the reversal of late.txt: REFUTED on nodes ' --program late.txt --proof chain.proof --reverse
proves 2 '^prove: --reverse: shift.txt: only a broadcast or an allgather on one group can be reversed, not an all-to-all$' \
  --program shift.txt --proof shift.proof --reverse
proves 2 "^prove: --reverse: give it with --program and --proof, which is the proof of the program itself$" --reverse
proves 2 "^prove: --reverse: give it with --program and --proof" --program chain.txt --reverse --skeleton new.proof
# A certificate is written of what is proven alone.
proves 0 '^chain.txt: proven for all sizes ' --program chain.txt --proof chain.proof --certificate chain.certificate
grep -qx 'scope all sizes' chain.certificate && grep -qE '^proven 17 obligations by z3 4[.0-9]*$' chain.certificate || fail "the certificate: $(cat chain.certificate)"
proves 1 '^late.txt: REFUTED on nodes ' --program late.txt --proof chain.proof --certificate late.certificate
[ ! -e late.certificate ] || fail 'a certificate of a refuted program'
proves 2 '^prove: --certificate: nowhere/a: ' --program chain.txt --proof chain.proof --certificate nowhere/a
proves 2 '^prove: --certificate: ./chain.txt: is the file that is read, and would be replaced; name another$' --program chain.txt --proof chain.proof --certificate ./chain.txt
printf '#!/bin/sh\necho unknown\n' >doubter && chmod 755 doubter
proves 3 ' others$' --program chain.txt --proof chain.proof --certificate doubted.certificate --second-solver ./doubter
[ ! -e doubted.certificate ] || fail 'a certificate in spite of the second solver'
proves 2 '^prove: --certificate: give it with --program and --proof$' --certificate chain.certificate
# With the reduction, it is a proven allreduce. Keys of the second program that may be below 0 come too early.
proves 0 '^the reversal of chain.txt, then chain.txt: proven for all sizes ' \
  --program chain.txt --proof chain.proof --reverse --then chain.txt --proof chain.proof
sed 's/step v/step v - 2/' chain.txt >early.txt
for first in 'early.txt 0 proven' 'chain.txt 3 UNKNOWN'; do
  read -r program code verdict <<<"$first"
  other=$([ "$program" = chain.txt ] && echo early.txt || echo chain.txt)
  proves "$code" "^the reversal of $program, then $other: $verdict" \
    --program "$program" --proof chain.proof --reverse --then "$other" --proof chain.proof
done
proves 1 '^the reversal of chain.txt, then late.txt: REFUTED on nodes ' \
  --program chain.txt --proof chain.proof --reverse --then late.txt --proof chain.proof
proves 2 '^prove: --then: chain.txt: only a reduce-scatter then an allgather, or a reduce then a broadcast' \
  --program chain.txt --proof chain.proof --then chain.txt --proof chain.proof
proves 2 '^prove: --program: give one --proof of each program, and no names$' --program chain.txt --proof chain.proof --proof chain.proof
proves 2 "^prove: --then: give it with --program, and a --proof of each of the two programs$" --then chain.txt
proves 2 "^prove: --then: give it with --program" --program chain.txt --then chain.txt --skeleton new.proof
proves 2 '^prove: --skeleton: give --program FILE or one algorithm' alltoall.factor alltoall.xor --skeleton new.proof
proves 2 '^prove: --skeleton: give --program FILE or one algorithm' --program shift.txt --proof shift.proof --skeleton new.proof
proves 2 "^prove: 'nonsense' has no proof; give its text with --program FILE$" nonsense --skeleton new.proof
proves 2 "^prove: --skeleton: 'hypercube' is the name of 4 algorithms; give one of allgather.hypercube, broadcast.hypercube, reduce-scatter.hypercube, reduce.hypercube$" hypercube --skeleton new.proof
proves 2 '^prove: --skeleton: nothing is proven; leave out --format' --program shift.txt --skeleton new.proof --format json
proves 2 '^prove: --skeleton: nowhere/new.proof' --program shift.txt --skeleton nowhere/new.proof
[ ! -e new.proof ] || fail "a refused command writes"

# ---- Bad input
proves 2 "^prove: 'nonsense' has no proof" nonsense
proves 2 '^prove: nowhere.proof: No such file' --proof nowhere.proof
mkdir -p folder
proves 2 'folder: is a folder' --proof folder
echo 'proof 7' >future.proof
proves 2 '^prove: future.proof:1: not a proof that this verifier reads' --proof future.proof
sed 's/cover/clover/' "$factor" >slip.proof
proves 2 "^prove: slip.proof:[0-9]+: 'clover' is not a statement" --proof slip.proof
sed 's/^match send 1/&\n  use monotone(typo, rank, 1)/' "$factor" >typo.proof
proves 2 "^prove: typo.proof:[0-9]+:16: 'typo' is not defined here" --proof typo.proof
{ cat "$factor" && printf 'port\n  inside receive 1\n'; } >unused.proof
proves 2 '^prove: unused.proof:[0-9]+: no obligation asks for this line; remove it' --proof unused.proof
proves 2 'limit: give 1 to 4294967295' --limit 0 factor
proves 2 'limit: give 1 to 4294967295' --limit 4294967296 factor
proves 2 'export' --export /dev/null/nowhere factor

# ---- Exports
proves 0 'everything proven' --export exports factor xor
for file in exports/alltoall.factor.smt2 exports/alltoall.xor.smt2; do
  name=$(basename "$file" .smt2)
  head -n 2 "$file" | tr '\n' ' ' | grep -q "^; Obligations of $name\..*; | algorithm ${name#*.}" ||
    fail "$file does not say whose they are"
  grep -q '^; match send 1: part 1 of the goal, denied: unsat$' "$file" ||
    fail "$file does not say what is asked"
  grep -q '(check-sat)' "$file" || fail "$file asks nothing"
  ! grep -o '(declare-fun [^ ]*' "$file" | grep -v '(declare-fun qd_' || fail "$file declares names that a solver may have itself"
done

# ---- A second solver
proves 0 'answered [1-9][0-9]* questions in .*: the same answers' --second-solver cvc5 factor xor
proves 2 "^prove: --second-solver: 'no-such-solver' cannot be run; is it installed\?" \
  --second-solver no-such-solver factor
grep -q 'proven' .out && fail "proves before it looks for the second solver"
# pretend COMMAND: makes ./solver run COMMAND. Its last argument is the file.
pretend() {
  printf '#!/bin/sh\n%s\n' "$1" >solver
  chmod +x solver
}
honest='cvc5 "$@"'
pretend "$honest"
proves 0 'the same answers' --second-solver ./solver factor
for lie in "$honest | sed s/unsat/sat/" "$honest | sed '1s/unsat/unknown/'" "$honest | sed 1d" \
  "$honest | head -n 3" 'echo timeout' 'exit 1' 'kill -9 $$' "$honest | tac"; do
  pretend "$lie"
  proves 3 'disagrees' --second-solver ./solver factor
done
pretend 'exit 0'
proves 3 'no answer instead of' --second-solver ./solver factor
proves 3 'disagrees' --second-solver 'cvc5 --tlimit=1' hierarchical-factor

finish
