#!/usr/bin/env bash
# tune_test.sh MPI TUNE: learns rules without an application, and refuses what it cannot use before it measures.
set -u
. "$(dirname "$0")/../mpi/mpirun.sh"
mpi=$1 tune=$(readlink -f "$2") failed=0
cd "$TEST_TMPDIR" || exit 2

problem() {
  echo "FAILED: $*"
  cat out
  failed=1
}
# tuned RANKS CODE ARGUMENT...
tuned() {
  local ranks=$1 wanted=$2 code=0
  shift 2
  start_ranks "$mpi" "$ranks" 120 "$tune" "$@" >out 2>&1 </dev/null || code=$?
  [ "$code" -eq "$wanted" ] || problem "$* ends with $code"
}
# learned FILE MISSING: the expression MISSING is empty. It may name rules, those of collectives with data; and cells, the pairs of a
# collective and the least bytes of rules that are no slower than MPI's own.
learned() {
  python3 -c "
import json, sys
rules = [r for r in json.load(open('$1'))['rules'] if r['collective'] != 'barrier']
cells = {(r['collective'], r.get('bytes', [-1])[0]) for r in rules if r['time'] <= r['native_time']}
sized = ['alltoall', 'alltoallv', 'alltoallw', 'allgather', 'allgatherv', 'allreduce', 'bcast', 'exscan', 'gather', 'reduce',
         'reduce_scatter', 'reduce_scatter_block', 'scan', 'scatter']
missing = $2
sys.exit(f'$1: {missing} {rules}' if missing else 0)" || problem "rules of $1"
}

tuned 2 0 rules.json 16 2KiB
grep -q '"collective": "barrier"' rules.json || problem 'there is no rule for barriers'
learned rules.json "({(c, b) for c in sized for b in [16, 1024]} | {('gatherv', -1), ('scatterv', -1)}) - cells"
grep -qF 'rules.json has the rules' out || problem 'no last sentence'
[ "$(grep -c '^tune: world of 2 ranks, ' out)" -eq 2 ] || problem 'no progress'

# The usual sizes leave no gap. Some vectors of a reduction are shorter than a block.
tuned 2 0 usual.json
learned usual.json "{(c, 4 ** k) for c in sized for k in range(1, 9)} - cells"

# Rows and columns are communicators of their own; blocks of alltoallv and alltoallw may be skewed.
# The second row has one rank.
tuned 4 0 parts.json 64 --communicators rows=3,columns=2 --counts=skewed
learned parts.json "{n for n in [2, 3] if not {c for c in sized} <= {r['collective'] for r in rules if r['ranks'] == n}}"
learned parts.json "[r for r in rules if r.get('bytes', [64, 255]) != [64, 255] or r['ranks'] not in [2, 3]]"
grep -qF 'tune: rows of 3 ranks, 64 bytes (1 of 1), skewed counts' out || problem 'no progress on rows'
grep -qF 'tune: columns of 2 ranks' out || problem 'no progress on columns'

# ---- What it refuses, in one sentence, with nothing written
refused() { # RANKS SENTENCE ARGUMENT...
  local before after
  before=$(ls)
  tuned "$1" 2 "${@:3}"
  after=$(ls)
  [ "$(grep -c '^tune: ' out)" -eq 1 ] && [ "$(grep -cF -- "$2" out)" -eq 1 ] && grep -qF -- "tune: $2" out && [ "$before" = "$after" ] || problem "${*:3}: $2"
}
refused 2 "'0x10' is no number of bytes from 1 to 134217728, such as 4096 or 4KiB" none.json 0x10
refused 2 "'--count' is no option; there are --communicators and --counts" none.json --count skewed
refused 2 "--counts: 'normal' is neither uniform nor skewed" none.json --counts normal
refused 2 "--counts: '' is neither uniform nor skewed" none.json --counts
refused 2 "--communicators: 'cells=2' is none of world, rows=N for rows of N ranks each" none.json --communicators world,cells=2
refused 2 "--communicators: 'rows' is none of world," none.json --communicators rows
refused 2 "--communicators: 'rows=3': on 2 ranks, N is a whole number from 2 to 2" none.json --communicators rows=3
refused 2 "--communicators: 'columns=2': on 2 ranks, N is a whole number from 1 to 1" none.json --communicators columns=2
refused 2 'it wants the name of a rules file' --counts skewed
refused 1 'one rank sends nothing; start it with two or more' none.json 16
refused 2 'QUADRILLE_RULES: nowhere/none.json cannot be written: No such file or directory' nowhere/none.json 16
printf '{"schema": 1, "rules": [\n{"collective": "bcast", "algorithm": "bruk"}]}' >wrong.json
refused 2 "wrong.json:2: 'bruk' is none of binomial" wrong.json 16
printf '{"schema": 1, "rules": [\n{"collective": "bcast", "algorithm": "native"},\n]}' >wrong.json
refused 2 'wrong.json:3: a comma or a value is missing before this, or is too many' wrong.json 16
mkdir folder
refused 2 'QUADRILLE_RULES: folder: Is a directory' folder 16
QUADRILLE_ALTOALL=linear refused 2 'QUADRILLE_ALTOALL is not known' none.json 16
"$tune" 2>&1 | grep -q '^usage: ' || problem 'no usage'

# A file that cannot be written at the end.
mkdir late.json.partial
tuned 2 1 late.json 16
grep -qF 'quadrille: the rules could not be written to late.json' out || problem 'rules that were lost'
! grep -qF 'late.json has the rules' out || problem 'a last sentence on rules that were lost'
exit $failed
