#!/bin/bash
# bench/check.sh: sizes of schedule files, and times of generator and verifier. A time is the best of some runs: what else
# the machine does can only add to it.
set -euo pipefail
cd "$(dirname "$0")/.."
source bench/figures.sh
bazel build --noshow_progress --ui_event_filters=-info //generator //verifier
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
note_load

generate() { # FILE NODES
  bazel-bin/generator/generator generate alltoall --algorithm hierarchical-factor --nodes "$2" --out "$work/$1" >"$work/log"
}

# seconds TIMES COMMAND...: of the fastest run.
seconds() {
  local times=$1 best=999999 start run
  shift
  for ((run = 0; run < times; run++)); do
    start=$(date +%s%N)
    "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; return 1; }
    best=$(awk -v a="$start" -v b="$(date +%s%N)" -v best="$best" 'BEGIN {s = (b - a)/1e9; printf "%.3f", (s < best ? s : best)}')
  done
  echo "$best"
}

# The verifier's own clock and memory, of the fastest run.
check() { # TIMES FILE: prints seconds and MB
  local run
  for ((run = 0; run < $1; run++)); do bazel-bin/verifier/verifier check "$work/$2"; done |
    sed -n 's/^ *checked in *\([0-9.]*\) s, at most \([0-9]*\) MB.*/\1 \2/p' | sort -n | head -n 1
}

figure_of_check() { # WHAT TIMES NODES LIMIT MEMORY_LIMIT
  local time memory
  generate x.qs "$3"
  read -r time memory < <(check "$2" x.qs)
  figure "check $1" "$time" "$4" s
  figure "check $1: memory" "$memory" "$5" MB
}

figure_of_size() { # WHAT NODES LIMIT
  generate x.qs "$2"
  figure "file, $1" "$(stat -c %s "$work/x.qs")" "$3" bytes
}

heading "Files, generator, verifier"
figure_of_size "nodes 1,2,3" 1,2,3 409.6
figure_of_size "512 nodes x 32" 512x32 409.6
figure_of_size "512 nodes of random sizes 1 to 64" "$(random_nodes)" 716.8
figure "generate for 16,384 ranks, whole process" "$(seconds 5 generate x.qs 512x32)" 0.050 s
figure_of_check "P = 1024 (32x32)" 5 32x32 0.06 -
figure_of_check "P = 4096 (128x32)" 3 128x32 0.8 -
figure_of_check "P = 16384 (512x32)" 2 512x32 12 64
figure "prove everything, z3" "$(seconds 2 bazel-bin/verifier/verifier prove)" 5 s
figure "prove everything, z3 and then cvc5" "$(seconds 1 bazel-bin/verifier/verifier prove --second-solver cvc5)" 20 s
exit $missed
