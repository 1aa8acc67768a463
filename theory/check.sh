#!/bin/sh
# Checks all proofs with coqc, in a temporary directory. Prints the number of theorems and lines, and the time. Fails
# if something is not proven or rests on an axiom.
set -eu
cd "$(dirname "$0")"
files="Model Spans Obligations Progress Values Order Travel Runtime Theorem Reverse Sequence Chain Decide Counterexamples Plan"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ "$(echo *.v | wc -w)" = "$(echo "$files" | wc -w)" ] || { echo "check.sh: it does not name every file" >&2; exit 1; }
cp ./*.v "$work"
lines=$(cat ./*.v | wc -l)
cd "$work"
if grep -nwE 'Admitted|admit|give_up|Axiom|Axioms|Parameter|Parameters|Conjecture|Unset Guard Checking|bypass_check' ./*.v; then
  echo "check.sh: something is not proven" >&2
  exit 1
fi
start=$(date +%s)
for file in $files; do
  coqc -q -R . Quadrille "$file.v" >"$file.out" || { cat "$file.out"; exit 1; }
done
seconds=$(($(date +%s) - start))
cat ./*.out
{
  echo 'Require Import Quadrille.Theorem.'
  echo 'From Quadrille Require Import Reverse Sequence Chain Counterexamples Plan.'
  sed -nE "s/^Theorem ([A-Za-z_']+).*/Print Assumptions \1./p" Reverse.v Sequence.v Chain.v Counterexamples.v Plan.v
} >Assumptions.v
coqc -q -R . Quadrille Assumptions.v >Assumptions.out
asked=$(cat Theorem.v Assumptions.v | grep -c '^Print Assumptions')
closed=$(cat ./*.out | grep -c '^Closed under the global context$' || true)
[ "$(cat ./*.out | wc -l)" = "$asked" ] && [ "$closed" = "$asked" ] && [ "$asked" -gt 2 ] || {
  cat Assumptions.out
  echo "check.sh: a theorem rests on an axiom" >&2
  exit 1
}
echo "$asked theorems rest on nothing; $lines lines, $seconds s"
