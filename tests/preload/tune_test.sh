#!/usr/bin/env bash
# tune_test.sh MPI TUNE: learns rules without an application.
set -u
. "$(dirname "$0")/../mpi/mpirun.sh"
mpi=$1 tune=$(readlink -f "$2")
cd "$TEST_TMPDIR" || exit 2
start_ranks "$mpi" 2 60 "$tune" rules.json 16 2KiB >out 2>&1 </dev/null || { cat out; exit 1; }
python3 -c "
import json
rules = json.load(open('rules.json'))['rules']
cells = {(r['collective'], r['bytes'][0]) for r in rules if r['ranks'] == 2 and r['time'] <= r['native_time']}
wanted = {(c, b) for c in ['alltoall', 'allgather', 'allgatherv', 'allreduce', 'bcast', 'gather', 'scatter', 'reduce']
          for b in [16, 1024]}
assert wanted <= cells, wanted - cells
" || exit 1
start_ranks "$mpi" 2 60 "$tune" none.json 0x10 >out 2>&1 </dev/null
code=$?
[ $code -eq 2 ] && [ "$(grep -c "^tune: '0x10' is no number of bytes" out)" -eq 1 ] && [ ! -e none.json ] || {
  echo "FAILED: 0x10 ends with $code"
  cat out
  exit 1
}
"$tune" 2>&1 | grep -q '^usage: ' || { echo 'FAILED: no usage'; exit 1; }
