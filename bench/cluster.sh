#!/bin/bash
# bench/cluster.sh [REPETITIONS]: MPI_Alltoall and quadrille_alltoall on an emulated cluster (bench/cluster), side by side:
# nodes of 8, 4, 2 and 2 ranks with 200 Mbit/s each. Needs root for network namespaces.
#
# The figure is the median of native / ours, pair by pair, of hierarchical-factor with the window that suits it best; the
# other lines are for information.
set -euo pipefail
cd "$(dirname "$0")/.."
source bench/figures.sh
repetitions=${1:-25}
if [ "$(id -u)" -ne 0 ]; then
  echo "cluster.sh: the emulated cluster needs root; not measured"
  exit 0
fi
bazel build --noshow_progress --ui_event_filters=-info //bench:cluster_alltoall //bench:cluster_alltoall_mpich //generator
work=$(mktemp -d)
trap 'bench/cluster/down.sh; rm -rf "$work"' EXIT
bench/cluster/down.sh
if ! bench/cluster/up.sh 4 200 >"$work/log" 2>&1; then
  echo "cluster.sh: no emulated cluster on this machine, so nothing is measured: $(tail -n 1 "$work/log")"
  exit 0
fi
read -r load _ </proc/loadavg
note_load

schedule() { # NAME OPTIONS...
  bazel-bin/generator/generator generate alltoall --nodes 8,4,2,2 --out "$work/$1.qs" --algorithm "${@:2}" >"$work/log"
}
schedule factor hierarchical-factor
schedule exchange hierarchical-factor --intra exchange
schedule circle hierarchical-circle
schedule circle-exchange hierarchical-circle --intra exchange
schedule token hierarchical-factor --pacing token

measure() { # LIBRARY PROGRAM BYTES REPETITIONS FILE:WINDOW...: the lines of the table, also in $work/table
  timeout "${limit:-600}" bench/cluster/mpirun.sh "$1" n0:8,n1:4,n2:2,n3:2 "bazel-bin/bench/$2" "${@:3}" 2>"$work/errors" |
    grep -E ' to [0-9.]+$' | tee "$work/table" || [ -s "$work/table" ] || cat "$work/errors"
}

title() { # LIBRARY REPETITIONS
  printf '\n%s, %d repetitions, load %s at the start, %s now\n%-36s %6s %8s %10s %10s %8s   %s\n' "$1" "$2" "$load" \
    "$(cut -d' ' -f1 /proc/loadavg)" algorithm window bytes "native ms" "ours ms" ratio "95 %"
}

configurations=()
for window in 1 2 4 8 16 32 64; do configurations+=("$work/factor.qs:$window"); done
for name in exchange circle circle-exchange token; do configurations+=("$work/$name.qs:16" "$work/$name.qs:64"); done
title "Open MPI" "$repetitions"
for bytes in 4096 32768; do
  measure openmpi cluster_alltoall $bytes "$repetitions" "${configurations[@]}"
  best=$(awk '$1 == "hierarchical-factor" && $6 > best {best = $6} END {print 0 + best}' "$work/table")
  at_least "Open MPI / ours, blocks of $bytes bytes, best window" "$best" 0.97
done

limit=60 # its launcher may not come back after everything was printed
title "MPICH, for information" 7
for bytes in 4096 32768; do
  measure mpich cluster_alltoall_mpich $bytes 7 "$work/factor.qs:4" "$work/factor.qs:16" "$work/factor.qs:64"
done
exit $missed
