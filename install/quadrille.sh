#!/bin/sh
# quadrille COMMAND ...: runs a command of Quadrille, for the MPI library that QUADRILLE_MPI or the launcher implies.
tools=$(dirname "$(readlink -f "$0")")/../lib/quadrille

usage() {
  cat <<'EOT'
usage: quadrille COMMAND [ARGUMENT...]

Under an unchanged program
  tune RULES.txt [SIZE...]   learn which schedules are faster here (under mpirun)
  choose COLLECTIVE ...      write rules by simulated times, without a job
  rules FILE ...             check rules files, and make one of several
  report FILE.json ...       show what schedules gained under the library
  preload [openmpi|mpich|abi]  print the path of the library to preload
  doctor [PROGRAM]           say what a job would get, and what is wrong with the environment

Schedules
  list                       describe every algorithm: idea, cost, needs, source
  generate COLLECTIVE ...    make a schedule, for any nodes or for given ones
  compare COLLECTIVE ...     show the times of all algorithms over sizes
  show FILE.qs               print or draw a schedule
  emit FILE.qs ...           write a schedule as data in C, for the runtime

Right for every size
  check FILE.qs ...          walk every rank and say whether a schedule is right
  replay FILE.qs --ranks R   print what ranks do, step by step
  prove [NAME...]            prove programs for all sizes

On a machine
  simulate FILE.qs ...       say how long a call takes there, and what it waits for
  trace FOLDER FILE.qs ...   show and check what the ranks of a real run did
  calibrate                  measure the network of a machine (under mpirun)
  run FILE.qs ...            run a schedule beside MPI's own collective (under mpirun)

quadrille COMMAND --help tells more. share/doc/quadrille/README.md leads to all documents.
The MPI library is the one that QUADRILLE_MPI=openmpi or =mpich names. Without it, it is that of the launcher that started
the command, or of mpirun in PATH, or else Open MPI.
EOT
}

mpi() {
  if [ -n "${QUADRILLE_MPI:-}" ]; then
    echo "$QUADRILLE_MPI"
  elif [ -n "${OMPI_COMM_WORLD_SIZE:-}" ]; then
    echo openmpi
  elif [ -n "${PMI_SIZE:-}" ] && [ -z "${SLURM_STEP_ID:-}" ]; then # SLURM sets both for all MPI libraries
    echo mpich
  else
    case $(readlink -f "$(command -v mpirun)") in
      *hydra*) echo mpich ;;
      *) echo openmpi ;;
    esac
  fi
}

wrong() {
  echo "quadrille: $1" >&2
  exit 2
}

# Runs a program of the installation. The Makefile installs what it has built, for one MPI library.
run() {
  [ -x "$tools/$1" ] || wrong "this installation has no $1; in the sources, write: make MPICC=mpicc libraries commands && make MPICC=mpicc install"
  program=$1
  shift
  exec "$tools/$program" "$@"
}

command=${1:-}
[ $# -eq 0 ] || shift
library=$(mpi)
case $library in
  openmpi | mpich) ;;
  *) wrong "QUADRILLE_MPI is '$library'; it is openmpi or mpich" ;;
esac
case $command in
  generate | choose | compare | simulate | list | show | emit) run generator "$command" "$@" ;;
  check | prove | replay) run verifier "$command" "$@" ;;
  report | rules) run "$command" "$command" "$@" ;;
  trace) run trace "$command" "$@" ;;
  run | calibrate | tune | doctor) run "$command-$library" "$@" ;;
  preload)
    library=${1:-$library}
    case $library in
      openmpi | mpich | abi) ;;
      -h | --help)
        echo 'usage: quadrille preload [openmpi|mpich|abi]'
        echo 'Prints the path of the library to preload: LD_PRELOAD=$(quadrille preload)'
        exit
        ;;
      *) wrong "preload: '$library' is no MPI library that is served; openmpi, mpich and abi are" ;;
    esac
    readlink -f "$tools/../libquadrille_preload_$library.so"
    ;;
  --version) echo 'quadrille @VERSION@' ;;
  -h | --help | help) usage ;;
  '')
    usage >&2
    exit 2
    ;;
  *) wrong "'$command' is no command; quadrille --help names them" ;;
esac
