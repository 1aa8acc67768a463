#!/usr/bin/env bash
# Kinds of obligations have the names of the theorem's hypotheses. Each kind is a hypothesis, except those ($outside)
# about things that the model leaves out. Each hypothesis has a kind, except $missing, which obligations.h explains.
set -uo pipefail

hypotheses=$(sed -n '/^Theorem collective_is_right/,/->$/p' theory/Theorem.v |
  grep -o '[a-z_]* ->' | sed 's/_\? ->//' | grep -v '^associative$')
missing="posted_early"
outside="defined fits port used"

expected=$(printf '%s\n' $hypotheses $outside | grep -vxF "${missing// /$'\n'}" | sort -u)
reduction=allreduce.circulant
asked=$({ verifier/verifier prove --verbose hierarchical-circle blocked-ring-nodes tuna xor
          verifier/verifier prove --verbose --program generator/programs/$reduction.txt --proof emitted/proofs/$reduction.proof; } |
  grep -v 'is false, as expected' | sed -nE 's/^  (first |second )/  /; s/^  ([a-z_-]*)[ :,].*/\1/p' |
  grep -vx 'lemma\|theorem\|bit-vectors\|walked' | sort -u)

if [ "$expected" != "$asked" ]; then
  echo "FAILED: what stands in the theorem (<) is not what is asked (>):"
  diff <(echo "$expected") <(echo "$asked")
  exit 1
fi
for kind in $missing; do
  grep -qx "$kind" <<<"$hypotheses" || { echo "FAILED: the theorem has no '$kind'"; exit 1; }
  grep -q "\`$kind\`" verifier/prove/obligations.h || { echo "FAILED: obligations.h does not say why '$kind' is missing"; exit 1; }
done
