#!/usr/bin/env bash
# corners_test.sh MPI LIBRARY TOOL PROGRAM REVOKING: rare but allowed uses of MPI work as without the
# library, and by schedules if possible.
set -u
. "$(dirname "$0")/runs.sh"
revoking=$(cd "$OLDPWD" && readlink -f "$5")
served=(QUADRILLE_SUMS=any QUADRILLE_ALLTOALL=factor QUADRILLE_ALLTOALLV=factor QUADRILLE_ALLREDUCE=doubling QUADRILLE_ALLGATHER=bruck QUADRILLE_EXSCAN=binomial
  QUADRILLE_ALLGATHERV=linear-ring QUADRILLE_REDUCE_SCATTER_BLOCK=pairwise QUADRILLE_SCATTERV=binomial
  QUADRILLE_GATHERV=binomial QUADRILLE_BCAST=binomial)
preload="$tool $library"

# Open MPI 4 itself uses a communicator that was freed before its last operation ended.
late=()
[ "$mpi" != mpich ] || late=(lingering)
# After a broadcast that is too long at one rank, Open MPI itself hangs.
[ "$mpi" != mpich ] || right 3 QUADRILLE=verify -- truncated
right 3 "${served[@]}" -- handler handlers attributes nested dying "${late[@]}" large nulls empty wrong
right 3 QUADRILLE=adapt QUADRILLE_REPORT= -- refused
right 3 QUADRILLE=on QUADRILLE_ALLREDUCE=doubling -- refused
right 3 QUADRILLE=verify -- wrong
right 3 QUADRILLE=learn QUADRILLE_RULES=learned.txt -- handler handlers attributes nested dying "${late[@]}" wrong
rm -f learned.txt
# Without a report, the library keeps calls.
right 3 "${served[@]}" QUADRILLE_REPORT= -- handler handlers attributes nested dying wrong
right 3 "${served[@]}" QUADRILLE_ALLTOALL=tuna QUADRILLE_ALLTOALLV=tuna -- empty
for alltoall in factor tuna; do right 3 QUADRILLE_ALLTOALL=$alltoall -- recycled; done
right 2 QUADRILLE_ALLTOALL=factor -- many
reported alltoall factor 7600 'by rule'
not_reported ' native '
right 2 QUADRILLE_ALLTOALL=factor QUADRILLE_BCAST=binomial -- firsts
for gather in linear binomial; do
  right 5 QUADRILLE_GATHER=$gather QUADRILLE_BCAST=binomial QUADRILLE_ALLGATHER=bruck -- overlaps
  reported gather "$gather" 'by rule'
done
# There are tags for only as many communicators as ranks.
right 5 TOOL_TAG_UB=14 QUADRILLE_GATHER=linear QUADRILLE_ALLGATHER=leader -- overlaps
reported gather linear 'by rule'
not_reported '^gather .*tags'
reported allgather native 'all tags of MPI are in use'
right 4 QUADRILLE_ALLGATHER=subgroup-bruck QUADRILLE_DEBUG=1 -- overlaps
reported allgather '2 \+ 2 ranks' subgroup-bruck 'by rule'
right 3 QUADRILLE_REDUCE=binomial -- unused
reported reduce binomial 'by rule'
right 3 "${served[@]}" QUADRILLE_GATHER=binomial QUADRILLE_SCATTER=binomial QUADRILLE_REDUCE=binomial -- misplaced
misplaced=(allgather)
[ "$mpi" = mpich ] || misplaced+=(bcast gather scatter reduce)
for collective in "${misplaced[@]}"; do reported "$collective" native 'MPI refuses the call'; done
right 2 "${served[@]}" -- handler_frees
if [ "$mpi" = mpich ]; then
  right 2 "${served[@]}" WRAPPER='valgrind -q --undef-value-errors=no' -- handler_frees
  ! grep -q 'Invalid' "$out" || problem 'memory is used that was freed'
  for mode in on verify; do right 2 "${served[@]}" QUADRILLE=$mode -- no_buffer; done
fi
for allreduce in doubling ring rabenseifner; do
  right 4 "${served[@]}" QUADRILLE_ALLREDUCE=$allreduce -- types
  reported allreduce "$allreduce" 'by rule'
done
# same_bits ALLREDUCE RANKS_A_NODE: expects the same bits on all ranks.
same_bits() {
  right 5 QUADRILLE_SUMS=any RANKS_A_NODE="$2" QUADRILLE_ALLREDUCE="$1" -- same_bits
  reported allreduce "$1" 'by rule'
}
for allreduce in doubling recursive-multiplying:radix=4 ring rabenseifner hierarchical ring-nodes; do same_bits $allreduce 2; done
# Only these schedules depend on nodes.
for allreduce in hierarchical ring-nodes; do
  if [ "$mpi" = mpich ]; then for nodes in 1 4; do same_bits $allreduce $nodes; done; fi
done

preload="$library $tool"
right 3 QUADRILLE_ALLREDUCE=doubling -- large_call
reported allreduce doubling 'by rule'
right 4 QUADRILLE_REDUCE_SCATTER=direct -- counts_of_groups
reported reduce_scatter '1 \+ 3 ranks' direct 'by rule'

# MPI makes persistent collectives. Of a session's communicators, schedules serve those of a program that calls MPI_Init.
right 3 QUADRILLE_ALLTOALL=factor -- persistent
reported alltoall factor ' 20 ' 'by rule'
not_reported ' native '
if [ "$mpi" = mpich ]; then
  right 3 QUADRILLE_ALLTOALL=factor -- session
  reported alltoall factor ' 4 ' 'by rule'
  right 3 QUADRILLE_ALLTOALL=factor -- alone
  [ ! -f "$report" ] || problem 'there is a report without MPI_Init'
fi

# If a communicator is revoked, all ranks that wait on it must wake up. So no schedule serves it.
preload="$library $revoking" right 3 QUADRILLE_ALLTOALL=factor -- handler
reported alltoall native 'the program can revoke communicators'

# These rules differ only in their options, so the ranks need not agree again.
printf '%s\n' 'allgather bytes=0..1000 use=blocked-ring:block-size=64:window=2' \
  'allgather bytes=1001.. use=blocked-ring:block-size=1024:window=64' >turns.txt
right 3 QUADRILLE_RULES=turns.txt -- turns
for i in 0 1 2 3 4; do echo "allgather bytes=$((16 << i))..$(((32 << i) - 1)) use=blocked-ring:block-size=$((8 + i))"; done >options.txt
right 3 QUADRILLE_RULES=options.txt QUADRILLE_REPORT= -- options

# The mean block of all calls decides, however short and long blocks alternate. It is long after 64 calls.
printf '%s\n' 'alltoallv bytes=0..400 use=linear' 'alltoallv use=native' >rhythms.txt
right 3 QUADRILLE_RULES=rhythms.txt QUADRILLE=on -- rhythms
python3 -c "
import json
calls = {'linear': 0, 'native': 0}
for line in json.load(open('report.json'))['calls']: calls[line['schedule']] += line['calls']
assert sum(calls.values()) == 3200 and 128 <= calls['linear'] < 160, calls" || problem 'the mean block is not that of all calls'

# The results are compared with MPI's own.
right 3 QUADRILLE=verify QUADRILLE_GATHERV=linear QUADRILLE_ALLGATHERV=linear-ring -- gaps
right 4 QUADRILLE=verify QUADRILLE_SUMS=any QUADRILLE_ALLREDUCE=doubling -- extremes
not_reported 'not compared'
start 4 QUADRILLE=verify QUADRILLE_SUMS=any QUADRILLE_ALLREDUCE=doubling TOOL_CORRUPTS=1 -- extremes
[ $code -ne 0 ] || problem 'a wrong maximum is not found'
grep -q 'verify: allreduce by doubling differs' "$out" || problem 'a wrong maximum is not told'
right 4 QUADRILLE=verify QUADRILLE_SUMS=any QUADRILLE_ALLREDUCE=ring -- types
not_reported 'not compared'

# Ranks have their settings in different orders, and only some ranks ask for a report.
preload=$library
right 3 QUADRILLE_ALLTOALL=factor QUADRILLE_BCAST=binomial ONE:REORDER=1 -- handler
reported alltoall factor 'by rule'
right 3 "${served[@]}" -- title
reported alltoall factor 'by rule'
wanted=$report report=
right 3 ONE:QUADRILLE_REPORT=other QUADRILLE_ALLTOALL=factor -- handler
report=$wanted

# If a program changes its folder, its files are still written where it began.
mkdir moved
for case in moves moves_early; do
  rm -rf learned.txt traces
  right 3 QUADRILLE=learn QUADRILLE_RULES=learned.txt QUADRILLE_TRACE=traces -- $case
  [ -z "$(ls moved)" ] || problem "files are in the program's folder: $(ls moved)"
  { [ -f learned.txt ] && [ -f "$report" ] && [ -n "$(ls traces)" ]; } || problem "no file is where it began: $(ls . traces)"
done

# A folder for traces that no rank can write to is reported once, whether or not a schedule is bound.
>a_file
for variables in QUADRILLE=on "${served[*]}"; do
  # shellcheck disable=SC2086 # several variables
  right 3 QUADRILLE_TRACE=a_file $variables -- types
  said 1 "a_file: Not a directory; name a folder that every process can write to; nothing is traced"
done

# A killed job still has its rules and its report. The load of the machine decides when adapt finds a rule.
rules_are_kept() { grep -q ' use=' learned.txt || problem 'the rules that were found'; }
rm -f learned.txt
preload="$library $tool"
start 3 QUADRILLE=learn QUADRILLE_RULES=learned.txt TOOL_WATCHES_FILES=1 -- ended learned.txt
rules_are_kept
reported alltoall compared
said 0 "the program's own thread writes" # no call waits for a file
right 3 TOOL_WATCHES_FILES=1 -- title
said 1 "the program's own thread writes" # when MPI ends
preload=$library
rm -f learned.txt
start 3 QUADRILLE=adapt QUADRILLE_RULES=learned.txt -- ended report.json
[ ! -e learned.txt ] || rules_are_kept
reported alltoall '(not yet compared|compared|chosen)'

# A rank communicates in MPI_Finalize.
right 3 -- late_calls
right 3 QUADRILLE_BARRIER=dissemination QUADRILLE_RULES=learned.txt -- late_calls
reported barrier dissemination 'by rule'

# Ranks that wait for a rank without the library say so.
rm -f over
: >"$out"
(
  until [ "$(grep -c 'rank [02] has waited .* LD_PRELOAD must reach all ranks' "$out")" -eq 2 ]; do sleep 0.1; done
  touch over
) &
start 3 QUADRILLE_STALL=1 ONE:WITHOUT_LIBRARY=1 -- stuck over
[ -e over ] || problem 'ranks wait in silence'
kill $! 2>/dev/null

# Another job locks the rules, and nobody reads the report's pipe. No call waits. Both are written at the job's end.
mkfifo pipe
rm -f over learned.txt
exec 9>learned.txt.partial
flock 9
(
  sleep 4
  flock -u 9
  touch over
) &
right 4 QUADRILLE=learn QUADRILLE_RULES=learned.txt QUADRILLE_REPORT=pipe -- late over
wait $!
exec 9>&-
said 0 'the rules could not be written'
said 1 'the report could not be written to pipe'
grep -q alltoall learned.txt || problem 'the rules were not written in the end'

# The file changes while the job runs: the job writes it, then a user does, before the first call of ranks 2 and 3.
# changed COMMAND: runs COMMAND once the job has written its rules. Then the job ends.
changed() {
  rm -f over
  (
    until grep -q alltoall learned.txt; do sleep 0.1; done 2>/dev/null
    eval "$1"
    touch over
  ) &
  right 4 QUADRILLE=learn QUADRILLE_RULES=learned.txt -- late over
  wait $!
  said 0 'ranks have different'
}
rm -f learned.txt
printf '%s\n' '# my own' 'scan ranks=77 use=native # why not' 'scan ranks=78 use=native' >learned.txt
chmod 600 learned.txt
changed "sed -i '/ranks=78/d; s/native # why/doubling # why/' learned.txt"
[ "$(stat -c %a learned.txt)" = 600 ] || problem "the file has other rights: $(ls -l .)"
printf '%s\n' '# my own' 'scan ranks=77 use=doubling # why not' >mine
grep -E '^(#|scan )' learned.txt | cmp - mine && grep -q '^alltoall ' learned.txt || problem "what a user changed is undone: $(cat learned.txt)"
rm -f learned.txt
changed "echo 'scan ranks=, use=native' >wrong.txt; cp wrong.txt learned.txt"
cmp wrong.txt learned.txt || problem 'a file that is wrong is replaced'
grep -q "learned.txt:1: 'ranks=,': write a whole number" "$out" && grep -q 'the rules could not be written to learned.txt' "$out" ||
  problem 'nothing is said of a file that is wrong'
rm -f learned.txt
changed "sed -i 's/^library=[^ ]*/library=Another/' learned.txt; cp learned.txt before"
cmp learned.txt before && grep -q 'learned.txt: a job of Another has written it' "$out" || problem "a file of another MPI library is changed: $(cat learned.txt)"
[ ! -e learned.txt.partial ] || problem 'a partial file is left'
rm -f learned.txt

# Processes are started separately. First the test tries it without the library.
preload= start 2 -- spawn
if [ $code -eq 0 ]; then
  right 2 QUADRILLE_ALLGATHER=leader QUADRILLE_ALLREDUCE=doubling QUADRILLE_ALLTOALL=factor -- spawn
  reported allreduce native 'outside MPI_COMM_WORLD'
  right 2 QUADRILLE_ALLREDUCE=doubling -- spawn_alone
else
  echo "SKIPPED: this launcher of $mpi starts no processes for MPI_Comm_spawn"
fi

# The library does nothing with another MPI library (abi_test.sh has one more), without its core, or without MPI.
preload=$other unserved 3 "$not_ours" QUADRILLE=on "${served[@]}" -- types
preload=$other right 3 QUADRILLE=off "${served[@]}" -- types
said 0 quadrille
# MPICH's own interface, beside the standard one
echo 'int MPI_Abi_get_version(int* major, int* minor) { *major = *minor = -1; return 0; }' | gcc -x c - -shared -fPIC -o abi.so || exit 2
preload="$library $PWD/abi.so" right 3 "${served[@]}" -- types
reported allreduce doubling 'by rule'
cp "$library" alone.so
preload=$PWD/alone.so unserved 3 'the rest of the preload library cannot be loaded, so it does nothing: ' "${served[@]}" -- types
for one in "$library" "$other"; do
  LD_PRELOAD=$one LD_BIND_NOW=1 ls / >"$out" 2>&1
  ls / | diff - "$out" || problem "ls under $one"
done

exit $failed
