#!/usr/bin/env bash
# Behavior that both commands share: they write a file whole or not at all, report output that fails, and explain
# themselves.
source "$(dirname "$0")/common.sh"

factor_on() { alltoall factor --nodes "$@"; }

# The commands replace a target as a whole, and leave no other file.
expect 0 factor_on 4 --out a.qs
cp a.qs before.qs
expect 0 factor_on 5 --out a.qs
! cmp -s a.qs before.qs || fail 'the file is still the old one'
[ "$(ls)" = $'a.qs\nbefore.qs' ] || fail "something is left behind: $(ls)"

# On a full disk the old file stays, and no temporary file remains.
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

# A replaced file keeps its mode. A new file has the mode that the umask allows.
expect 0 factor_on 4 --out mode.qs
[ "$(stat -c %a mode.qs)" = "$(printf %o $((0666 & ~$(umask))))" ] || fail "mode $(stat -c %a mode.qs)"
for mode in 400 640 777; do
  chmod $mode mode.qs
  expect 0 factor_on 5 --out mode.qs
  [ "$(stat -c %a mode.qs)" = $mode ] || fail "mode $mode has become $(stat -c %a mode.qs)"
done
rm mode.qs

# A symbolic link stays: its target is replaced or made. A cycle of links is refused.
mkdir links links/below
cp before.qs links/below/old.qs
ln -s below/old.qs links/old
ln -s ../links/old links/again
ln -s "$folder/links/below/new.qs" links/new
ln -s circle links/circle
for link in old again new; do
  expect 0 factor_on 5 --out links/$link
  [ -L links/$link ] || fail "the link '$link' is replaced"
done
cmp a.qs links/below/old.qs && cmp a.qs links/below/new.qs || fail 'what links point to is not written'
refuses 'links/circle: Too many levels of symbolic links' factor_on 5 --out links/circle
[ "$(find links | sort | tr '\n' ' ')" = \
  'links links/again links/below links/below/new.qs links/below/old.qs links/circle links/new links/old ' ] ||
  fail "something else is there: $(find links)"

# The commands write into devices and pipes.
mkfifo pipe
cat pipe >piped.qs &
reader=$!
expect 0 factor_on 5 --out pipe
wait "$reader"
[ -p pipe ] || fail 'a pipe is replaced'
cmp a.qs piped.qs || fail 'the pipe gives other bytes'
ln -s /dev/null nothing
expect 0 factor_on 5 --out nothing
[ -c /dev/null ] && [ -L nothing ] || fail 'a device is replaced'
ln -s /dev/full full
refuses 'full: No space left on device' factor_on 5 --out full
[ -c /dev/full ] || fail 'a device is replaced'
prints 'algorithm factor for alltoall' show a.qs --out /dev/stdout

# A command never overwrites the file that it reads, whichever name leads to it.
ln a.qs same.qs
ln -s a.qs linked.qs
for name in a.qs ./a.qs same.qs linked.qs; do
  refuses "--out: $name: is the file that is read, and would be replaced; name another" show a.qs --out $name
done
echo 'node1:4' >hosts
refuses '--out: hosts: is the file that is read' alltoall factor --hostfile hosts --out hosts

# emit overwrites an emitted file, but not a hand-written one.
mkdir src
echo 'int main(void) { return 0; }' >src/app.c
cp a.qs app.qs
refuses "--out: src/app.c: is no emitted file, as it does not begin with '/* DO NOT EDIT. Made by:'" emit app.qs --out src
mv src/app.c src/app.h
refuses '--out: src/app.h: is no emitted file' emit app.qs --out src
: >src/app.h
expect 0 emit app.qs --out src
cp src/app.c first.c
cp before.qs app.qs
expect 0 emit app.qs --out src
! cmp -s first.c src/app.c || fail 'what was emitted before is not replaced'

for name in alltoall reduce_scatter_init_c schedule; do
  cp a.qs $name.qs
  refuses "$name.qs: its array would be quadrille_$name, which quadrille.h declares; give the file another name" emit $name.qs --out src
done

explains() { # PROGRAM COMMAND WORDS...
  local program=$1 command=$2
  shift 2
  expect 0 "$program" $command --help
  [ ! -s .err ] || fail "help on stderr: $command"
  says "$@"
  ! grep -qE 'TEXT|INT' .out || fail "a bare type in the help of '$command'"
  # Every option and positional has a description.
  ! awk '/^  [^ ]/ && NF < 2' .out | grep -q -- -- || fail "an option without a word in '$command'"
}
explains "$generator" '' generate list show emit proofs 'Exit codes: 0 done, 1 refuted, 2 bad input'
explains "$generator" generate COLLECTIVE --algorithm hierarchical-circle --nodes --slurm --hostfile \
  --out --self-loops --intra --pacing 'default free' --bytes --counts --ordered 'Example: '
explains "$generator" show --format --steps --out 'text|steps|svg' 'Example: '
explains "$generator" emit --out 'Example: '
explains "$generator" proofs --out
explains "$verifier" '' check prove replay 'Exit codes: 0 verified or proven, 1 refuted, 2 bad input'
explains "$verifier" check --program --up-to --ports --counts --parameter NAME=VALUE --root --format 'Exit codes'
explains "$verifier" prove --proof --skeleton --export --second-solver --verbose --format 'Exit codes'
explains "$verifier" replay --ranks --group --steps 'Example: '

# The examples in the help work.
examples() { "$@" --help | sed -n 's/^Example: [a-z]* //p'; }
"$generator" $(examples "$generator" generate) >/dev/null || fail 'the example of generate'
"$generator" $(examples "$generator" show) >/dev/null || fail 'the example of show'
"$generator" $(examples "$generator" emit) >/dev/null || fail 'the example of emit'
show small.qs --out mine.txt
while read -r words; do "$verifier" $words >/dev/null || fail "the example '$words'"; done < <(examples "$verifier" check)
"$verifier" $(examples "$verifier" replay) >/dev/null || fail 'the example of replay'
[ -s src/small.c ] && [ -s small.html ] || fail 'the examples do not make what they say'

finish
