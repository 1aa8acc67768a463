# Sourced: start_ranks MPI RANKS SECONDS PROGRAM [ARGUMENT...] runs a program, and ends it with code
# 124 where it takes longer. Ranks share the machine's cores, however few those are.
start_ranks() {
  local mpi=$1 ranks=$2 seconds=$3
  shift 3
  # Memory that MPI libraries keep to the end is no leak of ours.
  export ASAN_OPTIONS=detect_leaks=0
  case $mpi in
    openmpi)
      timeout -k 5 "$seconds" mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none \
        -n "$ranks" "$@"
      ;;
    mpich)
      timeout -k 5 "$seconds" mpiexec.hydra -n "$ranks" "$@"
      ;;
    *)
      echo "mpirun.sh: the MPI library '$mpi' is not known" >&2
      return 2
      ;;
  esac
}
