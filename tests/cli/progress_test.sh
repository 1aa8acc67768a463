#!/usr/bin/env bash
# Long commands show their progress on a terminal, and clear it at the end. They show nothing on a pipe.
source "$(dirname "$0")/common.sh"

cat >watch.py <<'EOT'
"""watch.py terminal|pipe COMMAND...: its standard error, a terminal or not, in .err, and its output in .out."""
import os, pty, subprocess, sys

reading, writing = pty.openpty() if sys.argv[1] == "terminal" else os.pipe()
with open(".out", "wb") as out:
    child = subprocess.Popen(sys.argv[2:], stdout=out, stderr=writing)
os.close(writing)
with open(".err", "wb") as err:
    try:
        while piece := os.read(reading, 4096):
            err.write(piece)
    except OSError:  # the terminal has closed
        pass
sys.exit(child.wait())
EOT

# moves TEXT COMMAND...: expects several lines of the form TEXT on a terminal, each over the last one, and a cleared
# line at the end. Expects nothing on a pipe.
moves() {
  local text=$1
  shift
  python3 watch.py terminal "$@" || fail "exit code $?: $*"
  local lines
  lines=$(tr '\r' '\n' <.err | sed 's/^\x1b\[K//' | { grep -xE "$text" || true; } | sort -u | wc -l)
  [ "$lines" -ge 2 ] || fail "no line that moves: $* ($(cat -v .err))"
  [ "$(tail -c 4 .err | od -An -c | tr -d ' ')" = '\r033[K' ] || fail "the line stays: $* ($(tail -c 80 .err | cat -v))"
  ! grep -qE "$text" .out || fail "it is in the output, too: $*"
  python3 watch.py pipe "$@" || fail "exit code $?: $*"
  [ ! -s .err ] || fail "something is shown that is no terminal: $* ($(head -c 200 .err))"
}

expect 0 alltoall factor --nodes 256x16 --out straight.qs
expect 0 allgather linear-ring --nodes 64x24 --out gather.qs
expect 0 generate allreduce --algorithm ring --nodes 480 --out sum.qs
moves 'checking: [0-9]+ messages' "$verifier" check straight.qs
moves 'checking call [1-4] of 4: [0-9]+ of 1536 ranks' "$verifier" check gather.qs
moves 'checking( call [1-4] of 4)?: [0-9]+ messages' "$verifier" check sum.qs
expect 0 alltoall tuna --nodes any --out digits.qs
moves '[0-9]+ of 914 topologies: [0-9x,]+' "$verifier" check --program digits.qs --up-to 16
moves '[0-2] of 2 programs' "$verifier" prove alltoall.factor xor+drop
moves 'trying [a-z-]+' "$generator" generate alltoall --algorithm auto --nodes 1,2,3 --bytes 64 --out auto.qs

finish
