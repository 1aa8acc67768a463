#!/usr/bin/env bash
# tune_test.sh MPI LIBRARY TOOL TUNE DRIVER: learns rules without an application, and refuses what it cannot use before it measures.
set -u
. "$(dirname "$0")/../mpi/mpirun.sh"
mpi=$1 tune=$(readlink -f "$4") driver=$(readlink -f "$5") failed=0
cd "$TEST_TMPDIR" || exit 2

collectives=(allgather allgatherv allreduce alltoall alltoallv alltoallw barrier bcast exscan gather gatherv reduce reduce_scatter
  reduce_scatter_block scan scatter scatterv)

problem() {
  echo "FAILED: $*"
  cat out
  failed=1
}
# tuned RANKS CODE ARGUMENT...: runs tune, and expects that exit code.
tuned() {
  local ranks=$1 wanted=$2 code=0
  shift 2
  start_ranks "$mpi" "$ranks" 60 "$tune" "$@" >out 2>&1 </dev/null || code=$?
  [ "$code" -eq "$wanted" ] || problem "$* ends with $code"
}
# learned FILE MISSING: expects that the Python expression MISSING is empty. It may use `rules`, the rules of FILE for
# collectives with data, and `cells`: (collective, least bytes) of each rule that is no slower than MPI's own.
learned() {
  python3 -c "
import re, sys
rules, cells = [], set()
for line in open('$1'):
    collective, *words = line.partition('#')[0].split()
    share = re.search(r'# ([0-9.]+) of native, [0-9]+ calls$', line)
    rule = dict(word.split('=') for word in words if not word.startswith('use='))
    if collective == 'barrier' or collective.startswith('library='): continue
    rules.append({'collective': collective, 'use': re.search(r' use=(\S+)', line)[1], **rule})
    if share and float(share[1]) <= 1: cells.add((collective, int(rule.get('bytes', '-1').split('..')[0])))
sized = ['alltoall', 'alltoallv', 'alltoallw', 'allgather', 'allgatherv', 'allreduce', 'bcast', 'exscan', 'gather', 'reduce',
         'reduce_scatter', 'reduce_scatter_block', 'scan', 'scatter']
missing = $2
sys.exit(f'$1: {missing} {rules}' if missing else 0)" || problem "rules of $1"
}

echo 'barrier use=native' >site.txt # these calls are measured, too
QUADRILLE_SITE_RULES=site.txt QUADRILLE_REPORT=calls.json tuned 2 0 rules.txt 16 2KiB
grep -q '^barrier ' rules.txt || problem 'there is no rule for barriers'
learned rules.txt "({(c, b) for c in sized for b in [16, 1024]} | {('gatherv', -1), ('scatterv', -1)}) - cells"
grep -qF 'rules.txt has the rules' out || problem 'no last sentence'
[ "$(grep -c '^tune: world of 2 ranks, ' out)" -eq 2 ] || problem 'no progress'
# All calls with the second size are counted for it.
python3 -c "
import json, sys
calls = {'alltoallv': 0, 'alltoallw': 0}
for line in json.load(open('calls.json'))['calls']:
    if line['collective'] in calls and line['bytes'] == [1024, 4095]: calls[line['collective']] += line['calls']
sys.exit(0 if set(calls.values()) == {600} else f'calls of the second size: {calls}')" || problem 'calls of the second size'

# The usual sizes leave no gap. At first the file cannot be written, but at the end it can. The ranks pause for over a
# second, after which the library writes for the first time. Meanwhile another job writes a rule, which must stay.
cat >stopping <<EOT
#!/usr/bin/env bash
"$tune" "\$@" &
until grep -qF '(2 of 8)' out; do sleep 0.05; done
kill -STOP \$!
echo 'alltoall ranks=99 bytes=8 use=factor  # 2.00 of native, 1 calls' >usual.txt
sleep 1.2
kill -CONT \$!
wait \$!
EOT
chmod +x stopping
plain=$tune tune=$PWD/stopping
mkdir usual.txt.partial
(
  until grep -qF 'the rules could not be written to usual.txt' out; do sleep 0.1; done
  rmdir usual.txt.partial
) &
mender=$!
tuned 2 0 usual.txt
tune=$plain
kill $mender 2>/dev/null && problem 'the rules were not written before the end'
learned usual.txt "[] if ['99', 'factor'] in [[r['ranks'], r['use']] for r in rules] else ['the rule of another job']"
learned usual.txt "{(c, 4 ** k) for c in sized for k in range(1, 9)} - cells"

# The vector has fewer elements than there are ranks.
tuned 4 0 short.txt 2
learned short.txt "{('reduce_scatter', 1), ('reduce_scatter_block', 4)} - cells"
learned short.txt "[r for r in rules if r['collective'] == 'reduce_scatter' and r['bytes'] != '1..3']"

# Rows and columns are communicators. The second row has one rank. Blocks of alltoallv and alltoallw may be skewed.
tuned 4 0 parts.txt 64 --communicators rows=3,columns=2 --counts=skewed
learned parts.txt "{n for n in ['2', '3'] if not {c for c in sized} <= {r['collective'] for r in rules if r['ranks'] == n}}"
learned parts.txt "[r for r in rules if r.get('bytes', '64..255') != '64..255' or r['ranks'] not in ['2', '3']]"
grep -qF 'tune: rows of 3 ranks, 64 bytes (1 of 1), skewed counts' out || problem 'no progress on rows'
grep -qF 'tune: columns of 2 ranks' out || problem 'no progress on columns'

# ---- What tune refuses, in one sentence and with no file written
refused() { # RANKS SENTENCE ARGUMENT...
  local before after
  before=$(ls)
  tuned "$1" 2 "${@:3}"
  after=$(ls)
  [ "$(grep -c '^tune: ' out)" -eq 1 ] && [ "$(grep -cF -- "$2" out)" -eq 1 ] && grep -qF -- "tune: $2" out && [ "$before" = "$after" ] || problem "${*:3}: $2"
}
refused 2 "'0x10' is no number of bytes from 1 to 134217728, such as 4096 or 4KiB" none.txt 0x10
refused 2 "'--count' is no option; there are --communicators and --counts" none.txt --count skewed
refused 2 "--counts: 'normal' is neither uniform nor skewed" none.txt --counts normal
refused 2 "--counts: '' is neither uniform nor skewed" none.txt --counts
refused 2 "--communicators: 'cells=2' is none of world, rows=N for rows of N ranks each" none.txt --communicators world,cells=2
refused 2 "--communicators: 'rows' is none of world," none.txt --communicators rows
refused 2 "--communicators: 'rows=3': on 2 ranks, N is a whole number from 2 to 2" none.txt --communicators rows=3
refused 2 "--communicators: 'columns=2': on 2 ranks, N is a whole number from 1 to 1" none.txt --communicators columns=2
refused 2 'it wants the name of a rules file' --counts skewed
refused 1 'one rank sends nothing; start it with two or more' none.txt 16
refused 2 'QUADRILLE_RULES: nowhere/none.txt cannot be written: No such file or directory' nowhere/none.txt 16
printf '\nbcast use=bruk\n' >wrong.txt
refused 2 "wrong.txt:2: 'bruk' is none of binary-nodes, binomial" wrong.txt 16
echo '{"schema": 1, "rules": []}' >wrong.txt
refused 2 'wrong.txt:1: these rules are of the old form: `quadrille rules FILE --out NEW` writes them as they are read now' wrong.txt 16
echo 'library=Another version=1' >wrong.txt
refused 2 'wrong.txt: its rules are of Another 1, and this is ' wrong.txt 16
mkdir folder
refused 2 'QUADRILLE_RULES: folder: Is a directory' folder 16
QUADRILLE_ALTOALL=linear refused 2 'QUADRILLE_ALTOALL is not known' none.txt 16
LD_PRELOAD=$driver refused 2 "CUDA is loaded when MPI starts, so MPI's own collectives make all calls: if no buffer is in device memory" none.txt 16
# One rank sees a different file.
mkdir other && echo 'bcast use=native' >other/none.txt
plain=$tune tune=$PWD/apart
cat >apart <<APART
#!/bin/sh
[ "\$PMI_RANK\$OMPI_COMM_WORLD_RANK" != 1 ] || cd other
exec $plain "\$@"
APART
chmod 755 apart
refused 2 'ranks have different QUADRILLE variables, or none.txt differs between them: give all ranks the same' none.txt 16
tune=$plain
"$tune" 2>&1 | grep -q '^usage: ' || problem 'no usage'

# Rules cover all calls, so tune learns nothing.
printf '%s use=native\n' "${collectives[@]}" >native.txt
cp native.txt before.txt
tuned 2 1 native.txt 16
grep -qF 'tune: no rules were written to native.txt; the report says what served the calls, and why' out || problem 'nothing was learned'
! grep -qF 'native.txt has the rules' out && cmp -s native.txt before.txt || problem 'a file with nothing to add'

# The file cannot be written at the end.
mkdir late.txt.partial
tuned 2 1 late.txt 16
grep -qF 'quadrille: the rules could not be written to late.txt' out || problem 'rules that were lost'
! grep -qF 'late.txt has the rules' out || problem 'a last sentence on rules that were lost'
exit $failed
