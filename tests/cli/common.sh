# Shared functions of the command tests. Source it with the test's arguments: generator, verifier, write_schedule. It
# changes to a fresh folder; $root is the folder of the runfiles.
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

# expect CODE COMMAND...: expects exit code CODE. Writes COMMAND's output to $folder/.out and $folder/.err.
expect() {
  local wanted=$1 code=0
  shift
  "$@" >.out 2>.err || code=$?
  [ "$code" -eq "$wanted" ] || fail "exit code $code instead of $wanted: $* ($(cat .err))"
}

# says TEXT...: expects each TEXT in the output of the last command.
says() {
  local text
  for text in "$@"; do grep -qF -- "$text" .out || fail "does not say '$text': $(cat .out)"; done
}

# prints TEXT COMMAND...: expects exit code 0, and TEXT in the output.
prints() { expect 0 "${@:2}" && says "$1"; }

# refutes TEXT COMMAND...: expects exit code 1, and TEXT in the output.
refutes() { expect 1 "${@:2}" && says "$1"; }

# unmade TEXT COMMAND...: expects that COMMAND refuses to make x.qs, as `refuses` checks.
unmade() { refuses "$1" "${@:2}" --out x.qs; }

# refuses TEXT COMMAND...: expects exit code 2, nothing on stdout, and one line on stderr that contains TEXT. No file
# may be made, changed or left half-written.
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

# verifies FILE ARGUMENTS...: expects that `check` verifies FILE.
verifies() { prints "$1: verified" check "$@"; }

# remakes COMMAND FILE: expects that the emitted files name COMMAND, and that COMMAND makes FILE again.
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

# replays TEXT [END]: runs the replay command in the last output, which must end with END. Expects TEXT from it.
replays() {
  local command
  command=$(sed -n 's/.*to see it: bazel run \/\/verifier -- //p' .out)
  [ -n "$command" ] && [ "${command%"${2:-}"}${2:-}" = "$command" ] || fail "no such replay command: $(cat .out)"
  eval "expect 0 \"\$verifier\" $command"
  says "$1"
}

# Copies an all-to-all and its proof into the current folder.
copy_shift() { cp "$root"/tests/cli/shift.{txt,proof} . && chmod u+w shift.*; }
