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

# says TEXT: the last output contains it.
says() { grep -qF -- "$1" .out || fail "does not say '$1': $(cat .out)"; }

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
