#!/bin/bash
# bench/check.sh: sizes of schedule files, and times of generator and verifier, as seconds of one core (user and
# system time, with child processes). A time is the best of some runs: what else the machine does can only add to it.
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

# seconds TIMES COMMAND...: of the fastest run, whose output is in $work/log.
seconds() {
  local times=$1 run TIMEFORMAT='%U %S'
  shift
  for ((run = 0; run < times; run++)); do
    { time "$@" >"$work/log" 2>"$work/errors"; } 2>&1 || cat "$work/errors" >&2
  done | awk '{s = $1 + $2} NR == 1 || s < best {best = s} END {printf "%.3f\n", best}'
}

figure_of_check() { # WHAT TIMES NODES LIMIT MEMORY_LIMIT
  generate x.qs "$3"
  figure "check $1" "$(seconds "$2" bazel-bin/verifier/verifier check "$work/x.qs")" "$4" s
  figure "check $1: memory" "$(sed -n 's/.*, at most \([0-9]*\) MB.*/\1/p' "$work/log")" "$5" MB
}

figure_of_size() { # WHAT NODES LIMIT
  generate x.qs "$2"
  figure "file, $1" "$(stat -c %s "$work/x.qs")" "$3" bytes
}

heading "Files, generator, verifier"
figure_of_size "nodes 1,2,3" 1,2,3 409.6
figure_of_size "512 nodes x 32" 512x32 409.6
figure_of_size "512 nodes of random sizes 1 to 64" "$(random_nodes)" 716.8
figure "generate for 16,384 ranks, whole process" \
  "$(seconds 5 bazel-bin/generator/generator generate alltoall --algorithm hierarchical-factor --nodes 512x32 --out "$work/x.qs")" 0.050 s
figure_of_check "P = 1024 (32x32)" 5 32x32 0.06 -
figure_of_check "P = 4096 (128x32)" 3 128x32 0.8 -
figure_of_check "P = 16384 (512x32)" 2 512x32 12 64
figure "prove everything, z3" "$(seconds 2 bazel-bin/verifier/verifier prove)" 5 s
bazel-bin/verifier/verifier prove --second-solver cvc5 >"$work/log"
figure "prove everything, all questions again with cvc5, two files at a time" \
  "$(sed -n 's/.* questions in \([0-9.]*\) s: the same answers/\1/p' "$work/log")" 15 s
exit $missed
