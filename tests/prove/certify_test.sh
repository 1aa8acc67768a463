#!/usr/bin/env bash
# The contents of a proof file are data: no text of it becomes source of the verifier, whatever it closes or opens.
set -uo pipefail
certify=$PWD/verifier/certify
factor=$PWD/emitted/proofs/alltoall.factor.proof
cd "$TEST_TMPDIR"
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# data NAME COMMENT: writes the proof with the comment to NAME.proof, certifies it, and checks what certify writes.
data() {
  { cat "$factor"; printf -- '-- %s\n' "$2"; } >"$1.proof"
  "$certify" "$1.proof" >proven.txt
  "$certify" --write out.cc list.txt proven.txt "$1.proof" || fail "$1.proof is not certified"
  ! grep -q 'kEvil' out.cc || fail "text of $1.proof stands in the source"
  grep -q 'constexpr char kProof0Bytes' out.cc || fail "$1.proof is missing in the source"
  [[ $(tail -n 1 list.txt) = "$1 "*" $(sha256sum <"$1.proof" | cut -c1-16) "*" z3" ]] || fail "the list does not name $1.proof and its hash"
}

data closes ')proof"; struct Evil { Evil() { __builtin_trap(); } } kEvil; const char* kRest = R"proof('
data quotes '" "\"; int kEvil; //'
data lines $'\r#define kEvil 1\r'
data '"kEvil, {}, {}, 0, "' 'a name'

# Without --write, certify prints the list. If a proof does not hold, it names the obligation, and lists nothing.
"$certify" "$factor" >list.txt || fail 'a proof that holds is refused'
[[ $(cat list.txt) = "alltoall.factor "*" $(sha256sum <"$factor" | cut -c1-16) "*" z3" ]] || fail 'a proof that holds is not listed'
sed 's/^  to .*/  to round/' "$factor" >wrong.proof
! "$certify" wrong.proof >list.txt 2>said.txt && [ ! -s list.txt ] && grep -q '^certify: .*wrong.proof: keys' said.txt ||
  fail 'a proof that does not hold is listed, or not named'
# --write refuses a proof unless the list has a proof with exactly its bytes.
mkdir changed
{ cat "$factor"; echo '-- changed'; } >changed/alltoall.factor.proof
"$certify" "$factor" >proven.txt
! "$certify" --write changed.cc list.txt proven.txt changed/alltoall.factor.proof 2>said.txt &&
  [ ! -e changed.cc ] && grep -q '^certify: changed/alltoall.factor.proof: it is not proven$' said.txt ||
  fail 'a proof that is not among the proven ones is written'

# --known LIST names proofs that the same prover need not prove again. A wrong proof shows which lists it believes.
right="alltoall.factor $(cut -d' ' -f2- proven.txt)"
wrong="wrong $(cut -d' ' -f2 proven.txt) $(sha256sum <wrong.proof | cut -c1-16) $(cut -d' ' -f4- proven.txt)"
# listed LINE PROOF: prints the list that certify writes of the proof, with LINE as the list of proven ones.
listed() {
  echo "$1" >taken.txt
  "$certify" --write out.cc list.txt taken.txt "$2" && cat list.txt
}
listed "$right" "$factor" >other.txt
listed "$wrong" wrong.proof >all.txt
grep -q '^# prover [0-9a-f]\{16\}$' all.txt || fail 'the list does not name its prover'
for end in '' ' cvc5' ' cvc5:open'; do
  sed "s/z3$/&$end/" all.txt >known.txt
  [ "$("$certify" --known known.txt wrong.proof "$factor")" = "$wrong"$'\n'"$right" ] ||
    fail 'a known proof is proven again, or another one is not listed'
done
# refused WHY COMMAND...: checks that certify does not believe the list that the command prints.
refused() {
  "${@:2}" >known.txt
  ! "$certify" --known known.txt wrong.proof >list.txt 2>said.txt && [ ! -s list.txt ] || fail "a proof is known from $1"
}
refused 'another prover' sed '/^# prover/s/.$/g/' all.txt
refused 'no prover' sed '/^# prover/d' all.txt
refused 'the line of another proof' cat other.txt
refused 'the line of another program' sed '/^wrong/s/[0-9a-f] /g /' all.txt
refused 'a line with other obligations' sed 's/ z3$/1&/' all.txt
refused 'a longer line' sed 's/ z3$/& cvc4/' all.txt
refused 'two lists that were merged' cat all.txt <(grep ^alltoall other.txt)
refused 'a list with two provers' cat other.txt all.txt
refused 'a line that was added' cat other.txt <(grep ^wrong all.txt)
"$certify" --known none.txt wrong.proof >list.txt 2>said.txt && fail 'a wrong proof is taken without a list'

"$certify" none.proof 2>said.txt
[ $? -eq 2 ] && grep -q '^certify: .*none.proof: No such file or directory$' said.txt || fail 'a file that is not there is not named'
for arguments in '--write out.cc list.txt proven.txt' '--known list.txt' ''; do
  "$certify" $arguments 2>said.txt && fail "is taken: certify $arguments"
  grep -q '^usage: certify ' said.txt || fail "does not say how to use it: certify $arguments"
done

exit $((failures > 0))
