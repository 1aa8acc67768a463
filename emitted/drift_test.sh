#!/usr/bin/env bash
# drift_test.sh UPDATE KEPT=MADE...: checks that generated files in the tree equal the build's outputs, and that
# update.sh refuses files that differ.
set -euo pipefail
update=$1
shift
"$update" compare . "$@"

tree=$TEST_TMPDIR/tree
for pair in "$@"; do
  mkdir -p "$tree/$(dirname "${pair%%=*}")"
  cp -L "${pair%%=*}" "$tree/${pair%%=*}"
done
chmod -R u+w "$tree"
list=$tree/emitted/proofs.txt
failed=0

problem() {
  echo "FAILED: $*"
  failed=1
}
# refuses FILE SED: checks that the comparison refuses the file after that change.
refuses() {
  sed -i.before "$2" "$tree/$1"
  ! cmp -s "$tree/$1" "$tree/$1.before" || problem "$2 changes nothing in $1"
  ! "$update" compare "$tree" "${pairs[@]}" >said 2>&1 || problem "$1 after $2"
  grep -qF "$1 is not what the build makes" said || problem "the sentence about $1"
  mv "$tree/$1.before" "$tree/$1"
}
pairs=("$@")
cd "$TEST_TMPDIR"
pairs=("${pairs[@]/=/=$OLDPWD/}")
update=$OLDPWD/$update
for pair in "${pairs[@]}"; do refuses "${pair%%=*}" '$d'; done
refuses emitted/proofs.txt 's/^\(alltoall.factor [0-9a-f]*\)[0-9a-f]/\1g/'      # another program
refuses emitted/proofs.txt 's/^\(alltoall.factor .*\)[0-9a-f] \([0-9]\)/\1g \2/' # another proof
refuses emitted/proofs.txt '/^alltoall.factor /s/ \([0-9]*\) z3/ 1\1 z3/'       # more obligations
refuses emitted/proofs.txt '/^alltoall.factor /s/z3.*/yices/'                   # another solver

# A line may name the second solver or not. An update keeps the name only in lines that are otherwise unchanged.
sed -i 's/ cvc5\(:open\)\?$//' "$list"
"$update" compare "$tree" "${pairs[@]}" || problem 'the first solver alone'
sed -i 's/ z3$/ z3 cvc5/; /^alltoall.tuna /s/cvc5/&:open/; s/^\(alltoall.factor [0-9a-f]*\)[0-9a-f]/\1g/' "$list"
rm "$tree/emitted/schedules/alltoall_1_2_3.c"
"$update" take "$tree" "${pairs[@]}"
"$update" compare "$tree" "${pairs[@]}" || problem 'what was taken differs'
[ "$(grep ' z3$' "$list" | cut -d' ' -f1)" = alltoall.factor ] || problem 'the second solver after an update'
grep -q '^alltoall.xor .* z3 cvc5$' "$list" || problem 'the second solver is lost'
grep -q '^alltoall.tuna .* z3 cvc5:open$' "$list" || problem 'the open questions are lost'
exit $failed
