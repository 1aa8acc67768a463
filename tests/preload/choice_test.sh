#!/usr/bin/env bash
# choice_test.sh MPI LIBRARY TOOL PROGRAM PRELOADED SCHEDULE WRONG VERIFIER: rules and variables choose the same on all ranks. Otherwise they
# are refused in one sentence, and the program runs as without them.
set -u
preloaded=$(readlink -f "$5") own=$(readlink -f "$6") wrong=$(readlink -f "$7") verifier=$(readlink -f "$8")
. "$(dirname "$0")/runs.sh"

# refused TEXT VARIABLE=VALUE...: expects TEXT once, and that no schedule is used.
refused() {
  right 2 "${@:2}"
  said 1 "quadrille: $1"
  reported alltoall native "${reason:-settings are wrong}"
  not_reported 'by rule'
}

# The doctor says the same of many wrong settings and rules (doctor_test.sh).
refused 'QUADRILLE=maybe is no mode: write off, on, adapt, verify or learn' QUADRILLE=maybe
refused 'QUADRILLE_ALTOALL is not known: did you mean QUADRILLE_ALLTOALL?' QUADRILLE_ALTOALL=linear ONE:QUADRILLE_ALLTOALL=linear
printf 'bcast use=native\n\0' >wrong.txt
refused 'QUADRILLE_RULES: wrong.txt: a text has no byte with the value 0' QUADRILLE_RULES=wrong.txt
for mode in on adapt; do
  refused 'QUADRILLE_RULES: /dev/null: a pipe or a device cannot hold this; name a plain file' QUADRILLE=$mode QUADRILLE_RULES=/dev/null
done
mkfifo pipe
refused 'QUADRILLE_RULES: pipe: a pipe or a device cannot hold this' QUADRILLE_RULES=pipe
reason='ranks have different settings' refused 'ranks have different QUADRILLE variables or rules' \
  QUADRILLE_ALLTOALL=linear ONE:QUADRILLE_ALLTOALL=pairwise

# If a file cannot be written at the end, the library says so at the beginning, and the program continues.
told_first() { # TEXT VARIABLE=VALUE...
  start 2 "${@:2}"
  [ $code -eq 0 ] && [ "$passed" -eq 2 ] || problem "${@:2}"
  said 1 "quadrille: $1"
  [ "$(grep -nF -- "$1" "$out" | cut -d: -f1)" -lt "$(grep -n 'all passed' "$out" | head -1 | cut -d: -f1)" ] ||
    problem "told too late: $1"
}
told_first 'QUADRILLE_RULES: nowhere/rules.txt cannot be written: No such file or directory; what is learned will be lost' \
  QUADRILLE=learn QUADRILLE_RULES=nowhere/rules.txt
told_first 'QUADRILLE_REPORT: nowhere/report cannot be written: No such file or directory' QUADRILLE_REPORT=nowhere/report
told_first 'QUADRILLE_REPORT: .. cannot be written: Is a directory' QUADRILLE_REPORT=..

touch plain && ln -s plain link
told_first 'QUADRILLE_REPORT: link cannot be written: it is a symbolic link; name the file itself' QUADRILLE_REPORT=link
told_first 'QUADRILLE_RULES: link cannot be written: it is a symbolic link; name the file itself; what is learned will be lost' \
  QUADRILLE=learn QUADRILLE_RULES=link
ln -s plain new.partial
right 2 QUADRILLE_REPORT=new
said 1 'quadrille: the report could not be written to new'
[ ! -s plain ] || problem 'a file is written through a symbolic link'

# Variables of other software have no effect, even if they differ between ranks.
right 3 QUADRILLE_ALLTOALL=linear QUADRILLE_HOME=/opt QUADRILLE_STATE=1 ONE:QUADRILLE_HOME=/tmp
said 1 'is no setting of Quadrille, and is ignored'
reported alltoall linear 'by rule'

# In a rules file, the first rule that fits counts. Variables take precedence over rules.
cat >rules.txt <<'RULES'
alltoall nodes=2 bytes=1..16 use=tuna-coalesced:radix=4
alltoall nodes=2.. even=yes use=linear:window=4
alltoall ranks-a-node=1..2 even=no use=pairwise  # uneven nodes
alltoallv ranks=4 bytes=0..16 use=linear
alltoallv ranks=4 bytes=100..200 use=pairwise

allgather bytes=0.. use=bruck
allgather groups=2 use=leader
bcast use=native
RULES
preload="$library $tool"
right 4 RANKS_A_NODE=2 QUADRILLE_RULES=rules.txt QUADRILLE_ALLGATHERV=native FILE=file
reported alltoall '2 x 2 ranks' ' 4..15' tuna-coalesced:radix=4 'by rule'
reported alltoall '2 x 2 ranks' ' 16..63' linear 'by rule'
reported alltoallv '2 x 2 ranks' ' 4..15' linear 'by rule'
reported alltoallv '2 x 2 ranks' ' 64..255' pairwise ' 17 ' 'by rule' # sixteen calls after the blocks grew
reported gatherv '2 x 2 ranks' native 'not yet compared'
reported allgather '2 x 2 ranks' bruck 'by rule'
reported allgather '2 \+ 2 ranks' leader 'by rule'
reported bcast '2 x 2 ranks' native 'by rule'
reported allgatherv '2 x 2 ranks' native 'by rule'
right 3 RANKS_A_NODE=2 QUADRILLE_RULES=rules.txt
reported alltoall '2 x 1 to 2 ranks' pairwise 'by rule'
preload=$library
reason='ranks have different settings' refused 'ranks have different QUADRILLE variables or rules' \
  ONE:QUADRILLE_RULES=rules.txt
# Rank 0 reads the rules for all ranks.
: >empty.txt
right 3 QUADRILLE_RULES=empty.txt QUADRILLE_ALLGATHER=bruck
reported allgather '3 ranks' bruck 'by rule'
echo 'bcast use=nosuch' >wrong.txt
for other in none.txt wrong.txt; do
  right 3 QUADRILLE_RULES=rules.txt ONE:QUADRILLE_RULES=$other
  reported allgather '3 ranks' bruck 'by rule'
done
# A site's rules stand behind the user's own, and are only read.
echo 'alltoall use=native' >own.txt
printf '%s\n' 'alltoall use=linear' 'allgather use=bruck' >site.txt
right 3 QUADRILLE_RULES=own.txt QUADRILLE_SITE_RULES=site.txt
reported alltoall '3 ranks' native 'by rule'
reported allgather '3 ranks' bruck 'by rule'
right 3 QUADRILLE=on QUADRILLE_SITE_RULES=site.txt ONE:QUADRILLE_SITE_RULES=none.txt
reported alltoall '3 ranks' linear 'by rule'
refused 'QUADRILLE_SITE_RULES: none.txt: No such file or directory' QUADRILLE_SITE_RULES=none.txt
echo 'allgather use=nosuch' >wrong.txt
refused "wrong.txt:1: 'nosuch' is none of" QUADRILLE_RULES=own.txt QUADRILLE_SITE_RULES=wrong.txt
printf '%s\n' 'library=Another version=1' 'allgather use=nosuch' >>site.txt
case $mpi in openmpi) name=Open-MPI other_name=MPICH ;; *) name=MPICH other_name=Open-MPI ;; esac
echo "library=$name version=0.9" >>own.txt
right 3 QUADRILLE_RULES=own.txt QUADRILLE_SITE_RULES=site.txt
said 1 "own.txt: its rules are of $name 0.9, and this is "
said 1 'site.txt: its rules are of Another 1, and this is '
reported alltoall '3 ranks' native 'by rule'
not_reported 'bruck.* by rule'
mask=$(umask) && umask 0
right 3 QUADRILLE=learn QUADRILLE_RULES=new.txt QUADRILLE_SITE_RULES=rules.txt
umask "$mask"
[ "$(stat -c %a new.txt)" = 664 ] || problem "the library would refuse its own file: $(ls -l new.txt)"
grep -q '^barrier ' new.txt || problem "what is learned beside the rules of a site is lost: $(cat new.txt)"

# Files of other users, or that all users may write, are not followed. Names may have the job's number and the host.
theirs='it belongs to another user, or all users may write it; copy it, or take that right away with chmod o-w'
cp own.txt open.txt && chmod o+w open.txt
refused "QUADRILLE_RULES: open.txt: $theirs" QUADRILLE_RULES=open.txt
cp "$own" open.qs && chmod o+w open.qs
refused "QUADRILLE_ALLTOALL: open.qs: $theirs" QUADRILLE_ALLTOALL=file:open.qs
chmod o-w open.txt
if chown 12345 open.txt 2>/dev/null; then
  refused "QUADRILLE_RULES: open.txt: $theirs" QUADRILLE_RULES=open.txt
else
  echo 'skipped: a file of another user, as only root can make one here'
fi
right 2 SLURM_JOB_ID=77 QUADRILLE_REPORT=report-%j-%h-50%% QUADRILLE_ALLTOALL=linear
[ -s "report-77-$(hostname)-50%" ] || problem "the report has another name: $(ls)"

refused "wrong.txt:1: 'nosuch' is none of" QUADRILLE_RULES=wrong.txt ONE:QUADRILLE_RULES=rules.txt QUADRILLE_SUMS=canonical
said 1 "quadrille: so sums are MPI's own, and not canonical"

# Verification notices a tool behind the library that makes MPI's own result wrong.
preload="$library $tool"
right 3 QUADRILLE=verify QUADRILLE_ALLTOALL=linear QUADRILLE_ALLREDUCE=doubling FILE=file
reported allreduce doubling 'by rule$'
start 3 QUADRILLE=verify QUADRILLE_ALLTOALL=linear TOOL_CORRUPTS=1
[ $code -ne 0 ] && [ $code -ne 124 ] || problem 'a wrong byte is not found'
grep -qE 'verify: alltoall by linear differs from MPI.s own at rank [0-2], in call [34] of it on MPI_COMM_WORLD: element 1 of block 2 is [0-9]+ instead of [0-9-]+$' \
  "$out" || problem 'a wrong byte is not told'
# Without a report, the library finds nodes only if a rule needs them.
start 4 QUADRILLE_REPORT= RANKS_A_NODE=2 QUADRILLE_RULES=rules.txt QUADRILLE=verify TOOL_CORRUPTS=1
grep -qF 'verify: alltoall by tuna-coalesced:radix=4 differs' "$out" || problem 'nodes are not found when they are asked for'
start 3 QUADRILLE_ALLTOALL=linear TOOL_CORRUPTS=1
[ "$passed" -eq 3 ] || problem 'what is served does not come to the tool'
preload=$library

# Rules name schedule files, whose bytes all ranks must share. The verifier beside the library checks the files.
mkdir -p lib/quadrille
cp "$library" lib/
cp "${library%/*}"/quadrille/*"$mpi"*.so lib/quadrille/
ln -s "$verifier" lib/quadrille/verifier
preload=$PWD/lib/${library##*/}
cp "$own" own.qs
cp "$wrong" wrong.qs
refused 'wrong.qs is refuted, and is not followed: `quadrille check wrong.qs` says why' QUADRILLE_ALLTOALL=file:wrong.qs
refused "own.qs cannot be checked and is not followed: set QUADRILLE_VERIFIER to the file lib/quadrille/verifier of an installation, \
since $PWD/none cannot be run" QUADRILLE_ALLTOALL=file:own.qs QUADRILLE_VERIFIER=none
right 3 QUADRILLE_ALLTOALL=file:own.qs:window=2
reported alltoall '1 x 3 ranks' 'file:own.qs:window=2' 'by rule'
right 4 QUADRILLE=verify QUADRILLE_ALLTOALLV=file:own.qs FILE=file
reported alltoallv '1 x 4 ranks' 'file:own.qs' 'by rule'
echo 'alltoall use=file:own.qs' >files.txt
right 3 QUADRILLE_RULES=files.txt
reported alltoall '1 x 3 ranks' 'file:own.qs' 'by rule'
for owner in "$name" "$other_name"; do printf '%s\n' "library=$owner" 'alltoall use=file:wrong.qs' >"$owner.txt"; done
refused 'wrong.qs is refuted, and is not followed: ' QUADRILLE_RULES="$name.txt"
right 3 QUADRILLE_RULES="$other_name.txt" QUADRILLE_ALLGATHER=bruck # a file that is left alone
said 0 'is refuted'
reported allgather '1 x 3 ranks' bruck 'by rule'
refused 'QUADRILLE_BCAST: file:own.qs is a schedule of alltoall on 1 group' QUADRILLE_BCAST=file:own.qs
refused 'QUADRILLE_ALLTOALL: none.qs: No such file or directory' QUADRILLE_ALLTOALL=file:none.qs
head -c 40 own.qs >cut.qs
refused 'QUADRILLE_ALLTOALL: cut.qs: ' QUADRILLE_ALLTOALL=file:cut.qs

# Learned rules are chosen. The report of a later run does not count what an earlier run measured.
rm -f learned.txt
program=$preloaded start 2 QUADRILLE=learn QUADRILLE_RULES=learned.txt -- 0 500 alltoall=8
reported alltoall '1 x 2 ranks' compared
grep -qE '^alltoall ranks=2 nodes=1 ranks-a-node=2 bytes=4\.\.15 use=[^ ]+  # [0-9]+\.[0-9]{2} of native, [0-9]+ calls$' learned.txt ||
  problem "the rules that were learned: $(cat learned.txt)"
cp learned.txt before.txt
right 2 QUADRILLE=learn QUADRILLE_RULES=learned.txt
reported alltoall '1 x 2 ranks' '4..15' 'by rule'
[ -z "$(grep -vxFf learned.txt before.txt)" ] || problem 'rules that there are stay as they are'
program=$preloaded start 2 QUADRILLE=on QUADRILLE_RULES=learned.txt -- 0 500 alltoall=8
"$report_command" report report.json | grep -qE '^alltoall +500 +[0-9.]+ +- +- +- .* by rule, not measured in this run$' ||
  problem 'a gain of an earlier run is reported'

# The file names what it was learned with. Rules of another MPI library are neither followed nor changed.
machine=$(hostname | tr -d 0-9)
grep -qE "^library=$name version=[0-9.]+ machine=$machine nodes=1$" learned.txt || problem "the origin of the rules: $(cat learned.txt)"
said 0 'its rules are of'
# origin TEXT SED VARIABLE=VALUE...: changes the origin by SED, and expects TEXT once, on rank 0.
origin() {
  sed "$2" learned.txt >origin.txt
  cp origin.txt before.txt
  right 2 QUADRILLE_RULES=origin.txt "${@:3}"
  said 1 "quadrille: origin.txt: its rules are of $1"
}
for mode in on adapt learn; do
  origin "$other_name 4.9 on machine $machine, 1 node, and this is $name " "s/^library.* machine/library=$other_name version=4.9 machine/" QUADRILLE=$mode
  said 1 '; the file is left alone'
  cmp origin.txt before.txt || problem 'rules of another library are changed'
  not_reported 'by rule'
done
origin "$name 0.9 on machine elsewhere, 3 nodes, and this is $name " "s/^library.*/library=$name version=0.9 machine=elsewhere nodes=3/; /^barrier/d" QUADRILLE=learn
reported alltoall '1 x 2 ranks' '4..15' 'by rule'
grep -q "^library=$name version=.* machine=$machine nodes=1$" origin.txt && [ "$(grep -c ^library origin.txt)" -eq 1 ] || problem "the file's origin: $(cat origin.txt)"

# One rank is late in each call. The time that others wait for it does not count.
if [ "$mpi" = openmpi ]; then
  preload="$tool $library" program=$preloaded
  rm -f learned.txt
  start 2 QUADRILLE=learn QUADRILLE_RULES=learned.txt TOOL_DELAYS=1 -- 0 150 allgather=64
  [ $code -eq 0 ] && [ "$(grep -c ^allgather learned.txt)" -eq 1 ] && python3 -c "
import json
times = [c['native_seconds'] / c['timed_calls'] for c in json.load(open('report.json'))['calls'] if c['timed_calls']]
assert times and max(times) < 1.5e-2, times
" || problem "late ranks count"
else
  echo 'SKIPPED: MPICH waits busily; where ranks share cores, its times do not show that late ranks do not count'
fi

exit $failed
