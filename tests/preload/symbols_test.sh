#!/usr/bin/env bash
# symbols_test.sh LIBRARY CORE RUNTIME: a preload library and its core define exactly the MPI functions that they intercept,
# and need no MPI library themselves. No tool sees the calls of the core and of the runtime library: they have PMPI_ names.
set -u
library=$1 core=$2 runtime=$3 failed=0
problem() {
  echo "FAILED: $*"
  failed=1
}

rows=$(sed -nE 's/^  ROW\(([A-Za-z_]+),.*/\1/p' preload/rules.h | grep -vx Barrier)
[ "$(wc -l <<<"$rows")" -eq 16 ] || problem "preload/rules.h was not understood"
rows+=$'\n'$(sed 's/$/_c/' <<<"$rows")
others='Barrier Cart_create Cart_sub Comm_create Comm_create_from_group Comm_create_group Comm_dup Comm_dup_with_info Comm_idup Comm_idup_with_info Comm_split Comm_split_type
  Dist_graph_create Dist_graph_create_adjacent Graph_create Intercomm_merge Comm_accept Comm_connect Comm_create_errhandler Comm_disconnect Comm_free Comm_join Comm_spawn Comm_spawn_multiple
  Errhandler_create Init Init_thread Intercomm_create Intercomm_create_from_groups'
wanted=$(for name in $rows $others; do printf 'MPI_%s\nPMPI_%s\n' "$name" "$name"; done)
nm -D --undefined-only "$core" | grep -q ' ompi_' && wanted+=$'\n'$(printf '%s\n' mpi_comm_create_errhandler_ ompi_comm_create_errhandler_f pmpi_comm_create_errhandler_)
for file in "$library" "$core"; do
  shown=$(nm -D --defined-only "$file" | awk '$2 ~ /[A-Z]/ {print $3}' | grep -vE '^(__bss_start|_edata|_end|preload_begin_in|preload_next_of)$' | sort)
  [ "$shown" = "$(sort <<<"$wanted")" ] || problem "$file shows others: $(diff <(echo "$shown") <(echo "$wanted"))"
done

needed() { readelf -d "$1" | sed -nE 's/.*\(NEEDED\).*\[([a-z_+]+).*/\1/p' | sort | tr '\n' ' '; }
[ "$(needed "$library")" = 'libc ' ] || problem "$library needs $(needed "$library")"
[ "$(needed "$core")" = 'libc libm ' ] || problem "$core needs $(needed "$core")"

# Prints the undefined symbols of MPI in a file that are neither PMPI_ functions nor constants.
own_calls() { nm -D --undefined-only "$1" | awk '$2 ~ /mpi_|MPI_|MPIR_/ && $2 !~ /^(PMPI_|ompi_(mpi|request)_|OMPI_C_)/ {print $2}'; }
for file in "$library" "$core" "$runtime"; do
  [ -z "$(own_calls "$file")" ] || problem "$file calls $(own_calls "$file")"
done
for file in "$core" "$runtime"; do
  nm -D --undefined-only "$file" | grep -q ' PMPI_Isend$' || problem "the calls of $file are not seen"
done
# The check notices a call by an MPI_ name.
echo 'int MPI_Pcontrol(int); int main(void) { return MPI_Pcontrol(1); }' | gcc -x c - -shared -fPIC -o "$TEST_TMPDIR/calls" || exit 1
[ "$(own_calls "$TEST_TMPDIR/calls")" = MPI_Pcontrol ] || problem 'it does not see MPI_Pcontrol'
exit $failed
