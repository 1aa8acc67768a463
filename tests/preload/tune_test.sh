#!/usr/bin/env bash
# tune_test.sh MPI TUNE DRIVER: learns rules without an application, and refuses what it cannot use before it measures.
set -u
. "$(dirname "$0")/../mpi/mpirun.sh"
mpi=$1 tune=$(readlink -f "$2") driver=$(readlink -f "$3") failed=0
cd "$TEST_TMPDIR" || exit 2

collectives=(allgather allgatherv allreduce alltoall alltoallv alltoallw barrier bcast exscan gather gatherv reduce reduce_scatter
  reduce_scatter_block scan scatter scatterv)

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

QUADRILLE_REPORT=calls.json tuned 2 0 rules.json 16 2KiB
grep -q '"collective": "barrier"' rules.json || problem 'there is no rule for barriers'
learned rules.json "({(c, b) for c in sized for b in [16, 1024]} | {('gatherv', -1), ('scatterv', -1)}) - cells"
grep -qF 'rules.json has the rules' out || problem 'no last sentence'
[ "$(grep -c '^tune: world of 2 ranks, ' out)" -eq 2 ] || problem 'no progress'
# All calls of the second size count for it.
python3 -c "
import json, sys
calls = {'alltoallv': 0, 'alltoallw': 0}
for line in json.load(open('calls.json'))['calls']:
    if line['collective'] in calls and line['bytes'] == [1024, 4095]: calls[line['collective']] += line['calls']
sys.exit(0 if set(calls.values()) == {600} else f'calls of the second size: {calls}')" || problem 'calls of the second size'

# The usual sizes leave no gap. The file cannot be written at first, but in the end. Ranks stop for longer than a second, after which the
# library writes for the first time. Meanwhile another job writes a rule, which stays.
cat >stopping <<EOT
#!/usr/bin/env bash
"$tune" "\$@" &
until grep -qF '(2 of 8)' out; do sleep 0.05; done
kill -STOP \$!
echo '{"schema": 1, "rules": [{"collective": "alltoall", "ranks": 99, "bytes": 8, "algorithm": "factor", "time": 2, "native_time": 1}]}' >usual.json
sleep 1.2
kill -CONT \$!
wait \$!
EOT
chmod +x stopping
plain=$tune tune=$PWD/stopping
mkdir usual.json.partial
(
  until grep -qF 'the rules could not be written to usual.json' out; do sleep 0.1; done
  rmdir usual.json.partial
) &
mender=$!
tuned 2 0 usual.json
tune=$plain
kill $mender 2>/dev/null && problem 'the rules were not written before the end'
learned usual.json "[] if [99, 'factor'] in [[r['ranks'], r['algorithm']] for r in rules] else ['the rule of another job']"
learned usual.json "{(c, 4 ** k) for c in sized for k in range(1, 9)} - cells"

# A vector that is shorter than the ranks are many.
tuned 4 0 short.json 2
learned short.json "{('reduce_scatter', 1), ('reduce_scatter_block', 4)} - cells"
learned short.json "[r for r in rules if r['collective'] == 'reduce_scatter' and r['bytes'] != [1, 3]]"

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
LD_PRELOAD=$driver refused 2 "CUDA is loaded when MPI starts, so MPI's own collectives make all calls: if no buffer is in device memory" none.json 16
# One rank sees another file.
mkdir other && printf '{"schema": 1, "rules": [{"collective": "bcast", "algorithm": "native"}]}' >other/none.json
plain=$tune tune=$PWD/apart
cat >apart <<APART
#!/bin/sh
[ "\$PMI_RANK\$OMPI_COMM_WORLD_RANK" != 1 ] || cd other
exec $plain "\$@"
APART
chmod 755 apart
refused 2 'ranks have different QUADRILLE variables, or none.json differs between them: give all ranks the same' none.json 16
tune=$plain
"$tune" 2>&1 | grep -q '^usage: ' || problem 'no usage'

# All calls have rules, so nothing is learned.
python3 -c "
import json
names = [$(printf "'%s', " "${collectives[@]}")]
print(json.dumps({'schema': 1, 'rules': [{'collective': c, 'algorithm': 'native'} for c in names]}))" >native.json
cp native.json before.json
tuned 2 1 native.json 16
grep -qF 'tune: no rules were written to native.json; the report says what served the calls, and why' out || problem 'nothing was learned'
! grep -qF 'native.json has the rules' out && cmp -s native.json before.json || problem 'a file with nothing to add'

# A file that cannot be written at the end.
mkdir late.json.partial
tuned 2 1 late.json 16
grep -qF 'quadrille: the rules could not be written to late.json' out || problem 'rules that were lost'
! grep -qF 'late.json has the rules' out || problem 'a last sentence on rules that were lost'
exit $failed
