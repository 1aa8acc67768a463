#!/usr/bin/env bash
# What both commands share: files appear whole or not at all, output that cannot be printed is an
# error, and every command explains itself.
source "$(dirname "$0")/common.sh"

generate() { "$generator" generate alltoall --algorithm factor --nodes "$@"; }

# A target is replaced as a whole, and nothing else is left beside it.
expect 0 generate 4 --out a.qs
cp a.qs before.qs
expect 0 generate 5 --out a.qs
! cmp -s a.qs before.qs || fail 'the file is still the old one'
[ "$(ls)" = $'a.qs\nbefore.qs' ] || fail "something is left behind: $(ls)"

# A full disk: the old file stays, and no draft.
limited() { (
  ulimit -f 0
  trap '' XFSZ
  "$@"
); }
cp a.qs kept.qs
code=0
limited "$generator" generate alltoall --algorithm factor --nodes 6 --out kept.qs 2>/dev/null | cat >/dev/null || code=$?
[ "$code" -eq 2 ] || fail "exit code $code instead of 2 where nothing can be written"
cmp a.qs kept.qs || fail 'a failed command has changed the file'
[ -z "$(find . -name '*.draft')" ] || fail 'a draft is left behind'

for command in "$generator list" "$generator show a.qs" "$verifier check a.qs"; do
  code=0
  $command >/dev/full 2>.err || code=$?
  [ "$code" -eq 2 ] || fail "exit code $code instead of 2 with a full output: $command"
  [ "$(wc -l <.err)" -eq 1 ] && grep -qF 'standard output: No space left on device' .err ||
    fail "does not say why: $command ($(cat .err))"
done

explains() { # PROGRAM COMMAND WORDS...
  local program=$1 command=$2 word
  shift 2
  expect 0 "$program" $command --help
  [ ! -s .err ] || fail "help on stderr: $command"
  for word in "$@"; do says "$word"; done
  ! grep -qE 'TEXT|INT' .out || fail "a bare type in the help of '$command'"
  # Every option and positional says something of itself.
  ! awk '/^  [^ ]/ && NF < 2' .out | grep -q -- -- || fail "an option without a word in '$command'"
}
explains "$generator" '' generate list show emit proofs 'Exit codes: 0 done, 2 bad input'
explains "$generator" generate COLLECTIVE --algorithm hierarchical-circle --nodes --slurm --hostfile \
  --out --self-loops --intra --pacing 'default free' 'Example: '
explains "$generator" show --format --steps --out 'text,steps,svg' 'Example: '
explains "$generator" emit --out 'Example: '
explains "$generator" proofs --out
explains "$verifier" '' check prove replay 'Exit codes: 0 verified, 1 refuted, 2 bad input'
explains "$verifier" check --ports --counts --parameter NAME=VALUE --root 'Exit codes'
explains "$verifier" prove --proof --export --second-solver --verbose 'Exit codes'
explains "$verifier" replay --ranks --group --steps 'Example: '

# The examples of the help are commands that work.
examples() { "$@" --help | sed -n 's/^Example: [a-z]* //p'; }
"$generator" $(examples "$generator" generate) >/dev/null || fail 'the example of generate'
"$generator" $(examples "$generator" show) >/dev/null || fail 'the example of show'
"$generator" $(examples "$generator" emit) >/dev/null || fail 'the example of emit'
"$verifier" $(examples "$verifier" check) >/dev/null || fail 'the example of check'
"$verifier" $(examples "$verifier" replay) >/dev/null || fail 'the example of replay'
[ -s src/small.c ] && [ -s small.svg ] || fail 'the examples do not make what they say'

finish
