#!/usr/bin/env bash
# symbols_test.sh MPI LIBRARY: a preload library exports exactly the MPI functions that it intercepts.
set -u
mpi=$1 library=$2 failed=0
problem() {
  echo "FAILED: $library: $*"
  failed=1
}

shown=$(nm -D --defined-only "$library" | awk '$2 ~ /[A-Z]/ {print $3}' | grep -vE '^(__bss_start|_edata|_end)$' | sort)
rows=$(sed -nE 's/^  ROW\(([A-Za-z_]+),.*/\1/p' preload/rules.h | grep -vx Barrier)
[ "$(wc -l <<<"$rows")" -eq 16 ] || problem "preload/rules.h was not understood"
[ "$mpi" = openmpi ] || rows+=$'\n'$(sed 's/$/_c/' <<<"$rows") # MPI 4
others='Barrier Comm_accept Comm_connect Comm_create_errhandler Comm_disconnect Comm_free Comm_join Comm_spawn Comm_spawn_multiple
  Errhandler_create Finalize Init Init_thread Intercomm_create'
wanted=$(for name in $rows $others; do printf 'MPI_%s\nPMPI_%s\n' "$name" "$name"; done | sort)
[ "$shown" = "$wanted" ] || problem "it shows others: $(diff <(echo "$shown") <(echo "$wanted"))"

needed=$(readelf -d "$library" | sed -nE 's/.*\(NEEDED\).*\[([a-z_]+).*/\1/p' | sort | tr '\n' ' ')
case $needed in
  'libc libm libmpi ' | 'libc libmpi ' | 'libc libm libmpich ' | 'libc libmpich ') ;;
  *) problem "it needs $needed" ;;
esac
exit $failed
