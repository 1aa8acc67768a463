# To be sourced. Runs a plain MPI program with the preload library before MPI, and checks the results. The test's
# arguments begin with MPI LIBRARY TOOL PROGRAM. All runs are in the test's own folder.
. "$(dirname "$0")/../mpi/mpirun.sh"
report_command=$PWD/preload/report_command
mpi=$1 library=$(readlink -f "$2") tool=$(readlink -f "$3") program=$(readlink -f "$4")
case $mpi in openmpi) other=${library%_*}_mpich.so ;; *) other=${library%_*}_openmpi.so ;; esac
cd "$TEST_TMPDIR" || exit 2
out=out report=report preload=$library failed=0

# start RANKS VARIABLE=VALUE... [-- ARGUMENT...]: runs the program. Sets $code, and writes its output to $out, the
# report to report.json, and the report's details to $report, unless $report is "". Rank 1 alone has a variable that
# begins with ONE:. With WITHOUT_LIBRARY a rank runs without the library. WRAPPER is a command that runs the program.
start() {
  local ranks=$1 variables=() one=
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    if [ "${1#ONE:}" != "$1" ]; then one=${1#ONE:}; else variables+=("$1"); fi
    shift
  done
  rm -f "$report" report.json
  # shellcheck disable=SC2016 # for the shell of each rank
  start_ranks "$mpi" "$ranks" 60 env QUADRILLE_REPORT="${report:+report.json}" "${variables[@]}" sh -c '
    [ -z "$1" ] || [ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" != 1 ] || export "$1"
    # The environment in another order.
    if [ -n "${REORDER:-}" ]; then value=$QUADRILLE_ALLTOALL; unset QUADRILLE_ALLTOALL; export QUADRILLE_ALLTOALL="$value"; fi
    [ -n "${WITHOUT_LIBRARY:-}" ] || export LD_PRELOAD="$2"
    shift 2
    exec ${WRAPPER:-} "$@"' sh "$one" "$preload" "$program" "${@:2}" >"$out" 2>&1 </dev/null
  code=$?
  [ ! -f report.json ] || "$report_command" report report.json --details | sed '1,/^$/d' >"$report"
  passed=$(grep -Eo 'rank [0-9]+ ran [1-9][0-9]* tests, all passed' "$out" | sort -u | wc -l)
}

problem() {
  echo "FAILED: $*: exit code $code"
  cat "$out"
  [ ! -f "$report" ] || cat "$report"
  failed=1
}

# right RANKS ...: expects that every rank of the program gets the right results.
right() {
  start "$@"
  [ $code -eq 0 ] && [ "$passed" -eq "$1" ] || problem "$*"
}

# unserved RANKS SENTENCE ...: expects SENTENCE once from each rank, and that the library then does nothing.
unserved() {
  right "$1" "${@:3}"
  said "$1" "quadrille: $2"
  said "$1" quadrille
  [ ! -f "$report" ] || problem "there is a report: $*"
}
not_ours='this preload library is for another MPI library than the program'

# reported COLLECTIVE WORD...: expects a line of the report with these words, in this order.
reported() {
  local pattern="^$1 "
  for word in "${@:2}"; do pattern+=".* $word"; done
  grep -qE -- "$pattern" "$report" || problem "the report does not have: $*"
}
not_reported() { ! grep -qE -- "$1" "$report" || problem "the report has: $1"; }
# said N TEXT: expects exactly N lines of output with TEXT.
said() { [ "$(grep -cF -- "$2" "$out")" -eq "$1" ] || problem "not said $1 times: $2"; }

# variables LIST: sets $chosen to QUADRILLE_ALLGATHER=bruck and so on.
variables() {
  local -n list=$1
  chosen=()
  for pair in "${list[@]}"; do
    local name=${pair%%=*}
    chosen+=("QUADRILLE_${name^^}=${pair#*=}")
  done
}
# all_served LIST RANKS: expects that a schedule serves each collective of the list, on communicators of RANKS.
all_served() {
  local -n list=$1
  for pair in "${list[@]}"; do
    local schedule=${pair#*=}
    reported "${pair%%=*}" "$2" "${schedule%%:block-size*}" 'by rule'
  done
}
