#!/bin/bash
# bench/instructions.sh: counts instructions with callgrind, the same on every run.
#
# A transfer is one message of this rank: a send or a receive; an exchange is two. Counted is a call of quadrille_alltoall,
# from entering to leaving it, over an MPI that does nothing (bench/stub_mpi.c): what it costs besides MPI. Beside it, the
# same messages in the same order from a loop written by hand for the one algorithm. Binding, once a communicator, walks
# the schedule and is shown apart. Last, the same calls under the real Open MPI, 16 ranks on this machine.
set -euo pipefail
cd "$(dirname "$0")/.."
source bench/figures.sh
bazel build --noshow_progress --ui_event_filters=-info //bench:instructions //generator //runtime:run
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

profile() { # FUNCTION COMMAND...: runs it; its instructions inside the function are in $work/profile
  local function=$1
  shift
  rm -f "$work"/profile*
  valgrind -q --tool=callgrind --callgrind-out-file="$work/profile" --collect-atstart=no --toggle-collect="$function" "$@"
}

counts() { awk -v program="$1" -f bench/own_instructions.awk "$2"; }

# measure WHAT ALGORITHM NODES LIMIT RATIO_LIMIT RANK...: LIMIT instructions a transfer.
measure() {
  local what=$1 algorithm=$2 nodes=$3 limit=$4 ratio_limit=$5 rank messages all own by_hand binding
  shift 5
  bazel-bin/generator/generator generate alltoall --algorithm "$algorithm" --nodes "$nodes" --out "$work/x.qs" >"$work/log"
  for rank; do
    messages=$(profile counted_by_hand bazel-bin/bench/instructions "$work/x.qs" "$nodes" "$rank" 1 "$window")
    read -r by_hand _ < <(counts instructions "$work/profile")
    profile quadrille_plan_make bazel-bin/bench/instructions "$work/x.qs" "$nodes" "$rank" 1 "$window" >"$work/log"
    read -r binding _ < <(counts instructions "$work/profile")
    profile counted_runtime bazel-bin/bench/instructions "$work/x.qs" "$nodes" "$rank" 1 "$window" >"$work/log"
    read -r all own _ < <(counts instructions "$work/profile")
    figure "$what, rank $rank: a transfer" "$(quotient "$own" "$messages" 1)" "$limit" instructions
    figure "$what, rank $rank: whole call / loop by hand" "$(quotient "$all" "$by_hand" 2)" "$ratio_limit" ""
    figure "$what, rank $rank: binding, a transfer, once" "$(quotient "$binding" "$messages" 1)" - instructions
  done
}

quotient() { awk -v a="$1" -v b="$2" -v digits="$3" 'BEGIN {printf "%.*f", digits, a/b}'; }

# share BYTES LIMIT: of 16 ranks on nodes 8,4,2,2 over Open MPI's shared memory; the largest share of all ranks.
share() {
  bazel-bin/generator/generator generate alltoall --algorithm hierarchical-factor --nodes 8,4,2,2 --out "$work/x.qs" >"$work/log"
  rm -f "$work"/real.*
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun.openmpi --oversubscribe -n 16 \
    --mca btl self,vader --mca mpi_yield_when_idle 1 \
    valgrind -q --tool=callgrind --callgrind-out-file="$work/real.%p" --collect-atstart=no \
    --toggle-collect=quadrille_alltoall bazel-bin/runtime/run "$work/x.qs" --layout trusted --repetitions 10 --bytes "$1" \
    >"$work/log" 2>&1
  local profile worst=0 own mpi
  for profile in "$work"/real.*; do
    read -r _ own mpi < <(counts run "$profile")
    worst=$(awk -v worst="$worst" -v own="$own" -v mpi="$mpi" 'BEGIN {s = 100*own/mpi; printf "%.1f", (s > worst ? s : worst)}')
  done
  figure "ours / Open MPI's own, 16 ranks, blocks of $1 bytes, the worst rank" "$worst" "$2" %
}

window=16
heading "Instructions (callgrind), window $window"
measure "hierarchical-factor 32x32" hierarchical-factor 32x32 80 1.5 0 517 1023
measure "hierarchical-factor 512x32" hierarchical-factor 512x32 80 1.5 0 8000 16383
measure "hierarchical-factor 512 random nodes" hierarchical-factor "$(random_nodes)" 150 1.5 0 8000 16018
measure "factor 1024" factor 1024 80 1.5 0 700
measure "hierarchical-factor 8,4,2,2" hierarchical-factor 8,4,2,2 - - 0 15
share 64 -
share 4096 3
exit $missed
