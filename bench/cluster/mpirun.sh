#!/bin/bash
# mpirun.sh openmpi|mpich n0:8,n1:4 PROGRAM ARGUMENTS...: starts a program on the emulated cluster.
# MPICH's launcher may complain about a bad termination after everything was printed. So callers judge by the output.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source "$here/names.sh"
library=$1 hosts=$2
shift 2
case $library in
  openmpi)
    exec "$here/on_node.sh" n0 env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
      mpirun.openmpi --host "$hosts" --bind-to none --oversubscribe \
      --mca plm rsh --mca plm_rsh_agent "$here/launch.sh" --mca oob_tcp_if_include e0 \
      --mca pml ob1 --mca btl tcp,self,vader --mca btl_tcp_if_include e0 \
      --mca mpi_yield_when_idle 1 --mca opal_event_include epoll -x LD_PRELOAD="$state/idle.so" "$@"
    ;;
  mpich)
    exec "$here/on_node.sh" n0 env UCX_TLS=tcp,self,sm,cma UCX_NET_DEVICES=e0 HYDRA_LAUNCHER_EXEC="$here/launch.sh" \
      mpirun.mpich -launcher rsh -launcher-exec "$here/launch.sh" -iface e0 -genv LD_PRELOAD "$state/idle.so" \
      -hosts "$hosts" "$@"
    ;;
  *)
    echo "mpirun.sh: '$library' is neither openmpi nor mpich" >&2
    exit 2
    ;;
esac
