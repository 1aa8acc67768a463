# The parts that the command tests share. Sourced with the tests' arguments: generator, verifier, write_schedule. Puts
# the test into a fresh folder; $root is the folder of the runfiles.
set -euo pipefail
root=$PWD
generator=$root/$1 verifier=$root/$2 write_schedule=$root/$3
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
unset BUILD_WORKING_DIRECTORY
failures=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

finish() {
  [ "$failures" -eq 0 ] || exit 1
}

# expect CODE COMMAND...: runs it, with its output in $folder/.out and .err.
expect() {
  local wanted=$1 code=0
  shift
  "$@" >.out 2>.err || code=$?
  [ "$code" -eq "$wanted" ] || fail "exit code $code instead of $wanted: $* ($(cat .err))"
}

# says TEXT...: the last output contains each.
says() {
  local text
  for text in "$@"; do grep -qF -- "$text" .out || fail "does not say '$text': $(cat .out)"; done
}

# prints TEXT COMMAND...: exit code 0, and the output contains TEXT.
prints() { expect 0 "${@:2}" && says "$1"; }

# refutes TEXT COMMAND...: exit code 1, and the output contains TEXT.
refutes() { expect 1 "${@:2}" && says "$1"; }

# unmade TEXT COMMAND...: the command makes no x.qs, as `refuses` says.
unmade() { refuses "$1" "${@:2}" --out x.qs; }

# refuses TEXT COMMAND...: exit code 2, nothing on stdout, one line on stderr that contains TEXT, and no file made,
# changed or half-written.
refuses() {
  local text=$1 before
  shift
  before=$(files)
  expect 2 "$@"
  [ ! -s .out ] || fail "prints to stdout: $*"
  [ "$(wc -l <.err)" -eq 1 ] || fail "not one line: $* ($(cat .err))"
  grep -qF -- "$text" .err || fail "does not say '$text': $* ($(cat .err))"
  [ "$(files)" = "$before" ] || fail "files differ after: $*"
}

files() {
  find . -type f ! -name .out ! -name .err -exec cksum {} + | sort
}

# ---- The commands that most tests call

generate() { "$generator" generate "$@"; }
alltoall() { generate alltoall --algorithm "$@"; }
allgather() { generate allgather --algorithm "$@"; }
show() { "$generator" show "$@"; }
emit() { "$generator" emit "$@"; }
check() { "$verifier" check "$@"; }

# verifies FILE ARGUMENTS...: `check` finds it right.
verifies() { prints "$1: verified" check "$@"; }

# remakes COMMAND FILE: the emitted files name this command, which makes the same file again.
remakes() {
  local command="generate $1 --out $2" name
  name=made/$(basename "$2" .qs)
  expect 0 emit "$2" --out made
  [ "$(sed -n 's/.*bazel run \/\/generator -- \(generate.*\)/\1/p' "$name.c" "$name.h" | uniq)" = "$command" ] ||
    fail "another command than $command: $(head -5 "$name.c")"
  cp "$2" before.qs
  eval "expect 0 \"\$generator\" $command"
  cmp "$2" before.qs || fail "made again, it differs: $command"
}

# replays TEXT [END]: the command for a replay that the last output names works as printed, and prints TEXT. It ends so.
replays() {
  local command
  command=$(sed -n 's/.*to see it: bazel run \/\/verifier -- //p' .out)
  [ -n "$command" ] && [ "${command%"${2:-}"}${2:-}" = "$command" ] || fail "no such replay command: $(cat .out)"
  eval "expect 0 \"\$verifier\" $command"
  says "$1"
}

# Copies an all-to-all and its proof to here.
copy_shift() { cp "$root"/tests/cli/shift.{txt,proof} . && chmod u+w shift.*; }
