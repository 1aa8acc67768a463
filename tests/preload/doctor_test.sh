#!/usr/bin/env bash
# doctor_test.sh MPI LIBRARY TOOL DOCTOR PROGRAM OTHER_LIBRARY OTHER_PROGRAM SCHEDULE DRIVER WRONG VERIFIER: the doctor names each thing that is
# wrong, and nothing else. The installation is laid out as `./dev install` does it.
set -u
. "$(dirname "$0")/../mpi/mpirun.sh"
mpi=$1 program=$(readlink -f "$5") tool=$(readlink -f "$3") other_program=$(readlink -f "$7") schedule=$(readlink -f "$8") driver=$(readlink -f "$9") wrong=$(readlink -f "${10}") failed=0
mkdir -p "$TEST_TMPDIR/prefix/lib/quadrille"
ln -s "$(readlink -f "${11}")" "$TEST_TMPDIR/prefix/lib/quadrille/verifier"
cp "$4" "$TEST_TMPDIR/prefix/lib/quadrille/doctor-$mpi"
cp "$2" "$6" "$TEST_TMPDIR/prefix/lib"
library=$TEST_TMPDIR/prefix/lib/$(basename "$2") other_library=$TEST_TMPDIR/prefix/lib/$(basename "$6")
doctor=$TEST_TMPDIR/prefix/lib/quadrille/doctor-$mpi
cd "$TEST_TMPDIR" || exit 2
# A doctor that is alone in its job has files of its own, too (see mpirun.sh).
alone=$(mktemp -d) || exit 2
trap 'rm -rf "$alone"' EXIT
own_files "$alone"
case $mpi in
  openmpi) name='Open MPI' other=MPICH launcher=mpirun.openmpi other_launcher=mpiexec.hydra rank=OMPI_COMM_WORLD_RANK ;;
  mpich) name=MPICH other='Open MPI' launcher=mpiexec.hydra other_launcher=mpirun.openmpi rank=PMI_RANK ;;
esac
# Makes two folders for PATH: one has this library's launcher, one that of the other library.
mkdir mine others && ln -s "$(command -v $launcher)" mine/mpirun && ln -s "$(command -v $other_launcher)" others/mpirun
default_path=$PATH

problem() {
  echo "FAILED: $*"
  cat said
  failed=1
}

# on CODE VARIABLE=VALUE... [-- ARGUMENT...]: runs the doctor outside a job, and expects that exit code.
on() {
  local wanted=$1 variables=() code=0
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do variables+=("$1"); shift; done
  env PATH="$PWD/mine:$default_path" "${variables[@]}" "$doctor" "${@:2}" >said 2>&1 </dev/null || code=$?
  [ "$code" -eq "$wanted" ] || problem "exit code $code: ${variables[*]} ${*:2}"
}
# in_job RANKS CODE VARIABLE=VALUE...: runs it in a job. If the first variable begins with ONE:, only rank 1 has it.
in_job() {
  local ranks=$1 wanted=$2 one=${3:-} code=0
  shift 2
  [ "${one#ONE:}" = "$one" ] && one='' || { one=${one#ONE:} && shift; }
  # shellcheck disable=SC2016 # for the shell of each rank
  start_ranks "$mpi" "$ranks" 30 env "$@" sh -c '[ -z "$1" ] || [ "$(printenv "$2")" != 1 ] || export "$1"; exec "$3"' \
    sh "$one" $rank "$doctor" >said 2>&1 </dev/null || code=$?
  [ "$code" -eq "$wanted" ] || problem "exit code $code: $ranks ranks, $one $*"
  # If the code is not 0, the launcher may print lines of its own.
  [ "$wanted" -ne 0 ] || [ "$(wc -l <said)" -le 24 ] || problem "more than a screen: $*"
}
says() { grep -qF -- "$1" said || problem "does not say: $1"; }
# wrong TEXT VARIABLE=VALUE... [-- ARGUMENT...]: expects TEXT as the only finding.
wrong() {
  on 1 "${@:2}"
  says "- $1"
  says '1 to mend:'
}

# ---- All is well
on 0
says 'all is well'
says "mpi       $name "
says "preload   $library; LD_PRELOAD does not have it"
says 'mode      adapt: '
says 'rules     no file; 0 from variables'
says 'mpirun -n RANKS quadrille doctor'
[ "$(wc -l <said)" -le 24 ] && [ "$(wc -L <said)" -le $((100 + ${#library})) ] || problem 'more than a screen'
on 0 LD_PRELOAD="$library"
says "preload   $library, which LD_PRELOAD has"
on 0 -- "$program"
says "program   $program is linked with $name"
on 0 QUADRILLE_MPI=$mpi QUADRILLE_STALL=10 QUADRILLE_DEBUG=0 QUADRILLE_REPORT=1
cat >rules.txt <<'RULES'
bcast bytes=1..100 use=binomial
allgather use=neighbor-exchange
RULES
on 0 QUADRILLE_RULES=rules.txt QUADRILLE_ALLREDUCE=lanes
says 'rules     rules.txt: 2 rules; 1 from variables; hash of all settings '
echo 'scan use=native' >site.txt
on 0 QUADRILLE_RULES=rules.txt QUADRILLE_SITE_RULES=site.txt
says 'rules     rules.txt and site.txt: 3 rules; 0 from variables; '
on 0 QUADRILLE_SITE_RULES=site.txt
says 'rules     site.txt: 1 rule; 0 from variables; '
on 0 SLURM_JOB_NUM_NODES=3 SLURM_NTASKS=24
says 'SLURM gives 3 nodes and 24 tasks'

# The rules of a site may be another account's, if nobody else decides what the name leads to.
if account=$(mktemp -d -p /srv 2>/dev/null) && rules=$account/rules.txt && cp site.txt "$rules" && chown -R 12345:12345 "$account" 2>/dev/null; then
  taken() { chmod 755 "$account" && chmod 644 "$rules" && chown 12345 "$account" && on 0 QUADRILLE_SITE_RULES="$rules" && says ': 1 rule; '; }
  taken
  for change in "chmod g+w $rules" "chmod o+w $rules" "chmod g+w $account" "chmod 1777 $account" "chown 12346 $account"; do
    $change
    on 1 QUADRILLE_SITE_RULES="$rules"
    says "- QUADRILLE_SITE_RULES: $rules: it is another user's, and a third one could replace it; give"
    taken
  done
  ln -s "$account" link
  on 1 QUADRILLE_SITE_RULES=link/rules.txt
  says "- QUADRILLE_SITE_RULES: link/rules.txt: it is another user's"
  on 1 QUADRILLE_RULES="$rules"
  says "- QUADRILLE_RULES: $rules: it belongs to another user"
  cp "$schedule" "$account/own.qs" && echo "alltoall use=file:$account/own.qs" >"$rules" && chown 12345 "$account/own.qs"
  on 1 QUADRILLE_SITE_RULES="$rules"
  says "$account/own.qs: it belongs to another user"
else
  echo 'skipped: rules of another account, as only root can make them, in /srv'
fi
rm -rf "${account:-}"

# ---- One thing is wrong: the doctor names it, its place and its remedy
wrong 'QUADRILLE=maybe is no mode: write off, on, adapt, verify or learn' QUADRILLE=maybe
wrong 'QUADRILLE=off serves no call: unset it, or write QUADRILLE=adapt' QUADRILLE=off
wrong 'QUADRILLE=verify makes each call twice: unset it' QUADRILLE=verify
wrong 'QUADRILLE_ALTOALL is not known: did you mean QUADRILLE_ALLTOALL?' QUADRILLE_ALTOALL=linear
on 0 QUADRILLE_HOME=/opt
wrong "$wrong is refuted, and is not followed: " QUADRILLE_ALLTOALL="file:$wrong"
wrong 'QUADRILLE_RULES: none.txt: No such file or directory' QUADRILLE=on QUADRILLE_RULES=none.txt
says 'rules     none.txt: the file does not exist yet; 0 from variables'
on 1 QUADRILLE_RULES=rules.txt/none.txt
says 'rules     rules.txt/none.txt: Not a directory; 0 from variables'
wrong 'QUADRILLE_RULES: nowhere/rules.txt cannot be written: No such file or directory' QUADRILLE_RULES=nowhere/rules.txt
wrong 'QUADRILLE_REPORT: nowhere/report cannot be written: No such file or directory' QUADRILLE_REPORT=nowhere/report
plain='factor, hierarchical-factor, hierarchical-overlapped, linear, pairwise, scattered, spread-out'
tunas='tuna:radix=2|4|8|16|sqrt, tuna-coalesced:radix=2|4|8|16|sqrt'
wrong "QUADRILLE_ALLTOALL: 'tuna:radix=3' is none of $plain, $tunas, native; :window=N and :block-size=N may follow; or write file:PATH" \
  QUADRILLE_ALLTOALL=tuna:radix=3
wrong "QUADRILLE_BCAST: 'binomal' is none of binary-nodes, binomial, hypercube, pipeline, pipeline-nodes, tree-nodes, native" \
  QUADRILLE_BCAST=binomal
wrong "QUADRILLE_BCAST: 'binomial:window=0': window is a whole number from 1 to 65536" QUADRILLE_BCAST=binomial:window=0
wrong "QUADRILLE_BCAST: 'hypercube:block-size=4KiB': block-size is a whole number from 1 to 2147483647" QUADRILLE_BCAST=hypercube:block-size=4KiB
wrong "QUADRILLE_BCAST: 'file:' lacks the path of a schedule file behind it" QUADRILLE_BCAST=file: QUADRILLE_ALLTOALL=
wrong 'QUADRILLE_REPROT is not known: did you mean QUADRILLE_REPORT?' QUADRILLE_REPROT=1
wrong 'QUADRILLE_REDUCE_SCATER_BLOK is not known: did you mean QUADRILLE_REDUCE_SCATTER_BLOCK?' QUADRILLE_REDUCE_SCATER_BLOK=direct
# of_rules LINE TEXT RULES: expects a finding that names the line of RULES.
of_rules() {
  printf '%s\n' "$3" >wrong.txt
  wrong "wrong.txt:$1: $2" QUADRILLE=on QUADRILLE_RULES=wrong.txt
}
of_rules 1 'there is no rule here; leave the file out' '# none'
of_rules 1 'these rules are of the old form: `quadrille rules FILE --out NEW` writes them as they are read now' '{"schema": 1, "rules": []}'
of_rules 2 "'bruk' is none of blocked-ring, blocked-ring-nodes, bruck," $'bcast use=native\nallgather use=bruk'
of_rules 2 "these rules are of ${other/ /-}, and those before of ${name/ /-}; keep them in two files" "library=${name/ /-}
library=${other/ /-}"
of_rules 1 "'bytes=9..2': write a whole number, LEAST..MOST, or LEAST.. for no limit" 'bcast bytes=9..2 use=native'
for origin in "library=${other/ /-}" "library=${name/ /-} version=0.1"; do
  printf '%s\n' "$origin" 'bcast use=native' >origin.txt
  wrong "origin.txt: its rules are of $(cut -d= -f2 <<<"${origin% *}")" QUADRILLE_RULES=origin.txt
done
printf '%s\n' "library=${name/ /-} machine=elsewhere nodes=2" 'bcast use=native' >origin.txt
on 0 QUADRILLE_RULES=origin.txt # the doctor knows the machine only in a job
wrong 'QUADRILLE_STALL=abc is no number of seconds: write one, such as 10' QUADRILLE_STALL=abc
wrong 'QUADRILLE_STALL=1e400 is no number of seconds: write one, such as 10' QUADRILLE_STALL=1e400
wrong 'QUADRILLE_DEBUG is set, which logs and compares every call: unset it' QUADRILLE_DEBUG=1
wrong 'QUADRILLE_TRACE=nowhere/traces: No such file or directory: name a folder' QUADRILLE_TRACE=nowhere/traces
wrong 'QUADRILLE_TRACE is set, which notes every message: unset it' QUADRILLE_TRACE=nowhere
wrong 'QUADRILLE_TRACE is set, which notes every message: unset it' QUADRILLE_TRACE=.
: >a_file
wrong 'QUADRILLE_TRACE=a_file: Not a directory: name a folder' QUADRILLE_TRACE=a_file
wrong "LD_PRELOAD has $other_library, which is for $other, but the job's MPI library is $name: write $library" LD_PRELOAD="$other_library"
# The program loader prints a warning, too.
wrong "LD_PRELOAD has /gone/libquadrille_preload_$mpi.so, which cannot be read (No such file or directory): write $library" \
  LD_PRELOAD="/gone/libquadrille_preload_$mpi.so"
wrong "LD_PRELOAD has /gone/libquadrille_$mpi.so, which intercepts no call: write $library" LD_PRELOAD="/gone/libquadrille_$mpi.so"
wrong "$other_program is linked with $other, but $name would start it: start it by $other_launcher" -- "$other_program"
wrong "rules.txt is linked statically or is no program" -- rules.txt
printf '#!/bin/sh\n' >script
on 0 -- script
says 'script is a script; name the program that it starts'
on 0 -- "$doctor"
on 0 -- true # found by PATH
says '/true is linked with no MPI library; it may load one when it runs'
# Rights that its user does not have keep LD_PRELOAD from a program.
cp "$(type -P true)" raised && chmod 4755 raised
on 0 -- ./raised
if chown 12345:12345 raised 2>/dev/null; then
  for rights in 4755 2755; do
    chmod $rights raised
    wrong './raised is setuid, setgid or has capabilities, so LD_PRELOAD does not reach it' -- ./raised
  done
  chmod 755 raised
  on 0 -- ./raised
  if setcap cap_net_raw+ep raised 2>/dev/null && setpriv --reuid 12345 --clear-groups test -x "$doctor"; then
    on 0 -- ./raised
    PATH=$PWD/mine:$default_path setpriv --reuid 12345 --clear-groups "$doctor" ./raised >said 2>&1 </dev/null
    says './raised is setuid, setgid or has capabilities'
  fi
else
  echo 'skipped: a program of another user, as only root can make one'
fi
# Libraries are recognized by their symbols. linked NAME SYMBOL: links a program with a library NAME that has SYMBOL.
linked() {
  echo "int $2(void) { return 0; } int PMPI_Init(void) { return 0; }" | gcc -x c - -shared -fPIC -Wl,-soname,"$1" -o "$1" || exit 2
  echo 'int PMPI_Init(void); int main(void) { return PMPI_Init(); }' | gcc -x c - -x none "./$1" -Wl,-rpath,"$PWD" -o program || exit 2
}
linked libmpi.so.0 ompi_mpi_comm_world
[ "$mpi" = openmpi ] && on 0 -- program || wrong 'program is linked with Open MPI, but MPICH would start it' -- program
linked libmpi.so.0 MPIR_Dup_fn
[ "$mpi" = mpich ] && on 0 -- program || wrong 'program is linked with MPICH, but Open MPI would start it' -- program
says 'program is linked with MPICH'
own=$([ "$mpi" = mpich ] && echo MPIR_Dup_fn || echo ompi_mpi_comm_world)
linked libmpi.so.0 "$own"
for init in MPI_Scan_init MPIX_Scan_init; do
  for symbol in $own $init P$init; do echo "int $symbol(void) { return 0; }"; done | gcc -x c - -shared -fPIC -o libpersistent.so &&
    echo "int $own(void), $init(void); int main(void) { return $own() + $init(); }" | gcc -x c - -x none "$PWD/libpersistent.so" -o persistent || exit 2
  on 0 -- ./persistent
  says "persistent is linked with $name; its persistent collectives are MPI's own"
done
on 0 -- program
! grep -q persistent said || problem 'a program without persistent collectives'
mkdir 'a (b)' && mv libmpi.so.0 'a (b)'
on 0 LD_LIBRARY_PATH="$PWD/a (b)" -- program
says "program is linked with $name"
linked libmpi_abi.so.1 "$own"
abi=${library%_*}_abi.so
: >"$abi"
on 0 LD_PRELOAD="$abi" -- program
says 'program is linked with a library with the standard ABI of MPI'
says "preload   $abi, which LD_PRELOAD has"
wrong "LD_PRELOAD has $library, which is for $name, but the job's MPI library is a library with the standard ABI of MPI: write $abi" \
  LD_PRELOAD="$library" -- program
wrong "LD_PRELOAD has $abi, which is for a library with the standard ABI of MPI, but the job's MPI library is $name: write $library" \
  LD_PRELOAD="$abi" -- "$program"
linked libother.so MPI_Abi_get_version
wrong "program is linked with $PWD/libother.so, which is neither" -- program
rm libother.so
wrong 'program needs libother.so, which is not found: add its folder to LD_LIBRARY_PATH' -- program
echo 'int MPIR_Dup_fn, ompi_mpi_comm_world, PMPI_Init; int main(void) { return PMPI_Init; }' >main.c
gcc -static main.c -o static && gcc -static-pie main.c -o static-pie || exit 2
for kind in static static-pie; do wrong "$kind is linked statically or is no program" -- $kind; done
[ "$mpi" = mpich ] && first=theirs || first=ours
echo 'int MPIR_Dup_fn(void) { return 0; }' | gcc -x c - -shared -fPIC -o libtheirs.so && linked libours.so ompi_mpi_comm_world || exit 2
echo 'int PMPI_Init(void), MPIR_Dup_fn(void); int main(void) { return PMPI_Init() + MPIR_Dup_fn(); }' |
  gcc -x c - -x none -L. -Wl,-rpath,"$PWD" -l$first -lours -ltheirs -o program || exit 2
wrong "program is linked with two MPI libraries, by $PWD/lib" -- program
echo 'int main(void) { return 0; }' | gcc -x c - -fsanitize=address -o sanitized
wrong "sanitized has the address sanitizer, whose library comes first" -- sanitized
wrong "QUADRILLE_MPI=$mpi, but $PWD/others/mpirun is of $other: unset QUADRILLE_MPI, or start programs by $launcher" \
  PATH="$PWD/others:$default_path" QUADRILLE_MPI=$mpi
on 0 PATH="$PWD/others:$default_path"
says "preload   $other_library;"
mkdir unknown && printf '#!/bin/sh\necho Intel\n' >unknown/mpirun && chmod 755 unknown/mpirun
wrong "$PWD/unknown/mpirun is of another MPI library than Open MPI and MPICH" PATH="$PWD/unknown:$default_path"
mkdir empty
wrong 'PATH has no mpirun, mpiexec or srun: load the module of your MPI library' PATH="$PWD/empty"
mv "$library" kept
wrong "$library: No such file or directory: install Quadrille again"
mv kept "$library"
# The doctor names all errors, not only the first.
on 1 QUADRILLE=maybe QUADRILLE_BCAST=nosuch QUADRILLE_ALTOALL=linear QUADRILLE_RULES=wrong.txt
says '4 to mend:'

# ---- In a job
in_job 4 0 RANKS_A_NODE=2 LD_PRELOAD="$library $tool"
says 'layout    4 ranks: 2 x 2'
says "preload   $library, which LD_PRELOAD has"
says 'all is well'
grep -qE '^alltoall, -v, -w +tuna-coalesced:r\S*\?\+3 ' said || problem 'no schedules to compare'
in_job 3 0 RANKS_A_NODE=2 LD_PRELOAD="$tool" QUADRILLE=on QUADRILLE_ALLTOALL=linear
says 'layout    3 ranks on 2 nodes, 1 to 2 on each'
grep -qE '^alltoall +linear +linear +linear$' said || problem 'no rule'
grep -qE '^allreduce +native +native +native$' said || problem 'no schedule without a rule'
in_job 4 0 QUADRILLE_ALLTOALL="file:$schedule"
grep -qE "^alltoall +(${schedule##*/} +){2}${schedule##*/}\$" said || problem 'no schedule of a file'
in_job 4 0 QUADRILLE_RULES=rules.txt
grep -qE '^bcast +binomial +binomial\?\+1 +' said || problem 'no rule for some sizes'
echo 'barrier bytes=0 use=native' >barrier.txt
in_job 4 0 QUADRILLE_RULES=barrier.txt
grep -qE '^barrier +native +native +native$' said || problem 'no rule for barriers'
echo 'barrier bytes=64 use=native' >barrier.txt
in_job 4 0 QUADRILLE_RULES=barrier.txt
grep -qE '^barrier +[a-z-]+\?' said || problem 'a rule for no barrier'
in_job 4 0 QUADRILLE=learn
grep -qE '^alltoall, -v, -w +[a-z-]+\?\+1[0-9] ' said || problem 'not all schedules'
in_job 3 1 QUADRILLE_RULES=rules.txt
says "- a rule for allgather names neighbor-exchange, which does not serve this layout, so MPI's own makes these calls"
in_job 2 1 QUADRILLE_RULES=origin.txt
says "- origin.txt: its rules are of ${name/ /-} on machine elsewhere, 2 nodes, and this is ${name/ /-} "
in_job 2 1 QUADRILLE=off
says "calls     MPI's own collectives make all of them; see below why"
in_job 1 1
says '- the job has one rank, which sends nothing: start it with two or more'
in_job 3 1 ONE:QUADRILLE_ALLTOALL=linear
says '- rank 1 has other QUADRILLE variables or rules than rank 0, so nothing would be served'
in_job 3 1 ONE:QUADRILLE_REPORT=nowhere/report
says '- rank 1: QUADRILLE_REPORT: nowhere/report cannot be written'
in_job 3 1 ONE:LD_PRELOAD="$library"
says '- rank 1 and rank 0 do not both have the library in LD_PRELOAD, so the job would hang'
in_job 3 1 LD_PRELOAD="$driver"
says "- CUDA is loaded when MPI starts, so MPI's own collectives make all calls: if no buffer is in device memory"
says "calls     MPI's own collectives make all of them; see below why"
in_job 3 1 ONE:LD_PRELOAD="$driver"
says '- CUDA is loaded when MPI starts'
says '1 to mend:'
case $mpi in openmpi) theirs=mpich ;; mpich) theirs=openmpi ;; esac
start_ranks $theirs 2 60 "$doctor" >said 2>&1 </dev/null && problem 'the launcher of the other library'
says 'another MPI library'
# The launcher of another version of the MPI library has started a job that this version does not see.
on 2 OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=0
says "doctor: it is built for $name, but another MPI library's or version's launcher started it, and each of its 3 ranks is alone; start it"
[ "$(wc -l <said)" -eq 1 ] || problem 'more than one sentence'
on 2 PMI_SIZE=3 PMI_RANK=1
[ ! -s said ] || problem 'more than one rank says it'
on 1 OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0

# ---- Bad usage
on 2 -- gone
says 'doctor: gone: No such file or directory; name a program by its path'
on 2 -- --helm
says 'usage: '
on 2 -- one two
on 0 -- --help
says 'usage: [mpirun -n RANKS] quadrille doctor [PROGRAM]'
exit $failed
