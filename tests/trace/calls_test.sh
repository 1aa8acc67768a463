#!/usr/bin/env bash
# calls_test.sh MPI GENERATOR TRACE LIBRARY PRELOADED [COLLECTIVES]: calls of every collective follow their plans:
# with and without counts, in place, persistent, between groups, with lengths that travel, linked and preloaded.
set -u
. tests/mpi/mpirun.sh
mpi=$1 generator=$2 trace=$3 library=$PWD/$4 preloaded=$5 collectives=${6:-}
folder=$TEST_TMPDIR made=$TEST_TMPDIR/made failed=0
mkdir "$made"

# accepts NAME LEAST RANKS COMMAND...: expects LEAST calls or more in the run's traces. All must follow their plans.
accepts() {
  local name=$1 least=$2 ranks=$3 said=$folder/$1.txt calls
  shift 3
  QUADRILLE_TRACE=$folder/$name start_ranks "$mpi" "$ranks" 60 "$@" >"$said" 2>&1 </dev/null ||
    { echo "FAILED: $name: the run"; cat "$said"; failed=1; return; }
  find -L tests/mpi "$made" -name '*.qs' -print0 | sort -z |
    xargs -0 "$trace" trace "$folder/$name" >"$said" 2>&1
  calls=$(sed -nE "s|^.*: $ranks processes, ([0-9]+) calls; all of them follow their plans\$|\1|p" "$said")
  [ "${calls:-0}" -ge "$least" ] || { echo "FAILED: $name: fewer than $least calls"; awk '/^[a-z].* calls of /{ name = $0 } /^ +[0-9]+ +[0-9.]+  [a-z]/{ print name; print }' "$said" | head -50; failed=1; }
}

# The rules of preload_test.sh. A rule serves both calls within a group and calls between groups.
rules=(allgather=bruck allgatherv=blocked-ring allreduce=doubling alltoall=linear alltoallv=tuna alltoallw=tuna-coalesced
  bcast=binomial exscan=one-two-three gather=binomial gatherv=linear reduce=binomial reduce_scatter=blocked-ring-nodes
  reduce_scatter_block=halving scan=doubling scatter=binomial scatterv=linear)
chosen=()
for rule in "${rules[@]}"; do
  collective=${rule%%=*} algorithm=${rule#*=}
  chosen+=("QUADRILLE_${collective^^}=$algorithm")
  collective=$(sed -E 's/_block$//; s/[vw]$//; s/_/-/; s/bcast/broadcast/' <<<"$collective")
  for between in '' '--remote-nodes any'; do
    # shellcheck disable=SC2086 # two words, or none
    "$generator" generate "$collective" --algorithm "$algorithm" --nodes any $between \
      --out "$made/$collective-$algorithm${between:+-between}.qs" >/dev/null 2>&1
  done
done
[ "$(find "$made" -name '*.qs' | wc -l)" -ge ${#rules[@]} ] || { echo "FAILED: schedules"; failed=1; }

[ -z "$collectives" ] || accepts collectives 1000 3 "$collectives"
accepts preloaded 50 4 env "${chosen[@]}" LD_PRELOAD="$library" "$preloaded"
exit $failed
