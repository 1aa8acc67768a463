# Sourced. own_files FOLDER: files that ranks share go there. Open MPI names them only by the host and the process number,
# and processes of two sandboxes may have the same number.
own_files() {
  export TMPDIR=$1 OMPI_MCA_orte_tmpdir_base=$1 OMPI_MCA_btl_vader_backing_directory=$1 OMPI_MCA_osc_sm_backing_directory=$1
}
# start_ranks MPI RANKS SECONDS PROGRAM [ARGUMENT...] runs a program with files of its own, and ends it with code 124 if it
# hangs: after ten times the seconds that it may take on an idle machine. Ranks share the machine's cores, however few.
start_ranks() (
  mpi=$1 ranks=$2 limit=$(($3 * 10))
  shift 3
  unset TEST_PREMATURE_EXIT_FILE XML_OUTPUT_FILE  # a test has one such file, and the ranks would overwrite it
  folder=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d) || exit 2
  trap 'rm -rf "$folder"' EXIT
  own_files "$folder"
  # Ranks start faster if MPI's hwloc looks at no devices and no files of the system.
  export HWLOC_PLUGINS_PATH=/nowhere HWLOC_COMPONENTS=no_os,stop
  # MPI libraries keep some memory to the end, which is not a leak of ours.
  export ASAN_OPTIONS=detect_leaks=0
  case $mpi in
    openmpi)
      export OMPI_MCA_mpi_yield_when_idle=1  # Open MPI yields by itself only if this run alone has too few cores
      # It looks for no networks, and ends the ranks of a job that has failed at once.
      export OMPI_MCA_pml=ob1 OMPI_MCA_odls_base_sigkill_timeout=0
      timeout -k 5 "$limit" mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none \
        -n "$ranks" "$@"
      ;;
    mpich)
      timeout -k 5 "$limit" mpiexec.hydra -n "$ranks" "$@"
      ;;
    *)
      echo "mpirun.sh: the MPI library '$mpi' is not known" >&2
      exit 2
      ;;
  esac
)
