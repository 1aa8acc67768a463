/* libmpi_abi.so.1 for tests: MPI's own application binary interface over MPICH, with the functions that abi.c and
 * Quadrille call. All its numbers stand here as MPI-5.0 has them, so that a wrong one in runtime/abi/mpi.h is found.
 * Handles of MPICH are ints above those of the interface's predefined objects, so only the latter need a table. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

typedef intptr_t H; /* a handle */
typedef struct {
  int source, tag, error, internal[5];
} Status;

/* ---- Numbers: of the interface, of MPICH */

static const int handles[][2] = {{0x100, MPI_COMM_NULL},
                                 {0x101, MPI_COMM_WORLD},
                                 {0x102, MPI_COMM_SELF},
                                 {0x108, MPI_GROUP_NULL},
                                 {0x130, MPI_INFO_NULL},
                                 {0x140, MPI_ERRHANDLER_NULL},
                                 {0x141, MPI_ERRORS_ARE_FATAL},
                                 {0x143, MPI_ERRORS_RETURN},
                                 {0x180, MPI_REQUEST_NULL},
                                 {0x20, MPI_OP_NULL},
                                 {0x21, MPI_SUM},
                                 {0x22, MPI_MIN},
                                 {0x23, MPI_MAX},
                                 {0x29, MPI_BOR},
                                 {0x200, MPI_DATATYPE_NULL},
                                 {0x207, MPI_PACKED},
                                 {0x209, MPI_INT},
                                 {0x214, MPI_DOUBLE},
                                 {0x247, MPI_BYTE},
                                 {0x258, MPI_INT64_T},
                                 {0x259, MPI_UINT64_T}};
static const int ranks[][2] = {{-1, MPI_ANY_SOURCE}, {-3, MPI_PROC_NULL}, {-4, MPI_ROOT}};
static const int keyvals[][2] = {{0, MPI_KEYVAL_INVALID}, {501, MPI_TAG_UB}};
static const int combiners[][2] = {
    {101, MPI_COMBINER_NAMED}, {102, MPI_COMBINER_DUP}, {103, MPI_COMBINER_CONTIGUOUS}};
static const int classes[][2] = {{3, MPI_ERR_TYPE},   {5, MPI_ERR_COMM},      {8, MPI_ERR_ROOT},
                                 {13, MPI_ERR_ARG},   {15, MPI_ERR_TRUNCATE}, {16, MPI_ERR_OTHER},
                                 {39, MPI_ERR_NO_MEM}};

/* Looks a number up in column `from` of a table. Other numbers are the same in both columns. */
static int look_up(const int (*table)[2], size_t bytes, int from, int number) {
  for (size_t i = 0; i < bytes / sizeof *table; i++)
    if (table[i][from] == number) return table[i][!from];
  return number;
}
#define TO_NATIVE(table, number) look_up(table, sizeof(table), 0, (int)(number))
#define TO_ABI(table, number) look_up(table, sizeof(table), 1, number)
#define h(handle) TO_NATIVE(handles, handle)
#define r(rank) TO_NATIVE(ranks, rank)
#define b(buffer) ((uintptr_t)(buffer) == 1 ? MPI_IN_PLACE : (void*)(buffer))

static void put(H* handle, int native) { *handle = (uint32_t)TO_ABI(handles, native); }

static void put_status(Status* status, const MPI_Status* native) {
  if (!status) return;
  *status = (Status){.source = TO_ABI(ranks, native->MPI_SOURCE), .tag = native->MPI_TAG};
  status->internal[0] = native->count_lo;
  status->internal[1] = native->count_hi_and_cancelled;
}

/* ---- MPICH's functions. Programs find those of this library first. */

static void* native(const char* name) {
  static void* library;
  if (!library) library = dlopen("libmpich.so.12", RTLD_NOW | RTLD_GLOBAL);
  void* const found = library ? dlsym(library, name) : NULL;
  if (!found) abort();
  return found;
}
#define CALL(Name, ...) \
  TO_ABI(classes, ((__typeof__(PMPI_##Name)*)native("PMPI_" #Name))(__VA_ARGS__))

/* Defines a function under both of MPI's names. */
#define ENTRY(Name, types)                                         \
  int abi_##Name types __asm__("PMPI_" #Name);                     \
  __asm__(".weak MPI_" #Name "\n.set MPI_" #Name ", PMPI_" #Name); \
  int abi_##Name types
/* Passes a call on. The last argument of GIVES is a handle that MPICH makes; that of CHANGES is the only one. */
#define PASS(Name, types, ...) \
  ENTRY(Name, types) { return CALL(Name, __VA_ARGS__); }
#define GIVES(Name, types, ...)                          \
  ENTRY(Name, types) {                                   \
    int made = 0, code = CALL(Name, __VA_ARGS__, &made); \
    if (code == MPI_SUCCESS) put(out, made);             \
    return code;                                         \
  }
#define CHANGES(Name)                              \
  ENTRY(Name, (H * handle)) {                      \
    int one = h(*handle), code = CALL(Name, &one); \
    put(handle, one);                              \
    return code;                                   \
  }
#define SENT const void *sent, int n, H type
#define SENT_ b(sent), n, h(type)
#define BOTH SENT, void *got, int m, H got_type
#define BOTH_ SENT_, b(got), m, h(got_type)
#define REDUCED const void *sent, void *got, int n, H type, H op
#define REDUCED_ b(sent), b(got), n, h(type), h(op)

ENTRY(Abi_get_version, (int* major, int* minor)) { return *major = 1, *minor = 0; }
ENTRY(Get_version, (int* major, int* minor)) {
  return *major = getenv("ABI_IS_DRAFT") ? 4 : 5, *minor = 0;
}
PASS(Get_library_version, (char* text, int* length), text, length)
PASS(Init, (int* count, char*** words), count, words)
PASS(Initialized, (int* flag), flag)
PASS(Finalized, (int* flag), flag)
ENTRY(Finalize, (void)) { return CALL(Finalize); }
double abi_Wtime(void) __asm__("PMPI_Wtime");
double abi_Wtime(void) { return ((double (*)(void))native("PMPI_Wtime"))(); }

PASS(Comm_rank, (H comm, int* rank), h(comm), rank)
PASS(Comm_size, (H comm, int* size), h(comm), size)
PASS(Comm_remote_size, (H comm, int* size), h(comm), size)
PASS(Comm_test_inter, (H comm, int* flag), h(comm), flag)
GIVES(Comm_dup, (H comm, H* out), h(comm))
GIVES(Comm_create, (H comm, H group, H* out), h(comm), h(group))
GIVES(Comm_split, (H comm, int color, int key, H* out), h(comm), color, key)
GIVES(Comm_split_type, (H comm, int type, int key, H info, H* out), h(comm),
      type == 221 ? MPI_COMM_TYPE_SHARED : type, key, h(info))
GIVES(Intercomm_create, (H comm, int leader, H peer, int remote, int tag, H* out), h(comm), leader,
      h(peer), remote, tag)
CHANGES(Comm_free)
GIVES(Comm_group, (H comm, H* out), h(comm))
GIVES(Comm_remote_group, (H comm, H* out), h(comm))
CHANGES(Group_free)
ENTRY(Group_translate_ranks, (H group, int n, const int* from, H other, int* to)) {
  return CALL(Group_translate_ranks, h(group), n, from, h(other), to);
}

/* ---- Attributes, error handlers and operators call functions of the program. */

struct attribute {
  int (*remove)(H, int, void*, void*);
  void* extra;
};
static int remove_attribute(MPI_Comm comm, int keyval, void* value, void* extra) {
  const struct attribute* const one = extra;
  H handle;
  put(&handle, comm);
  return one->remove(handle, keyval, value, one->extra);
}
ENTRY(Comm_create_keyval,
      (void* copy, int (*remove)(H, int, void*, void*), int* keyval, void* extra)) {
  struct attribute* const one = malloc(sizeof *one);
  *one = (struct attribute){remove, extra};
  if (copy) abort();
  return CALL(Comm_create_keyval, MPI_COMM_NULL_COPY_FN,
              remove ? remove_attribute : MPI_COMM_NULL_DELETE_FN, keyval, one);
}
PASS(Comm_set_attr, (H comm, int keyval, void* value), h(comm), keyval, value)
PASS(Comm_get_attr, (H comm, int keyval, void* value, int* flag), h(comm),
     TO_NATIVE(keyvals, keyval), value, flag)

static void (*handler)(H*, int*, ...);
static void handle(MPI_Comm* comm, int* code, ...) {
  H handle;
  put(&handle, *comm);
  handler(&handle, code);
}
ENTRY(Comm_create_errhandler, (void (*function)(H*, int*, ...), H* out)) {
  int made, code = CALL(Comm_create_errhandler, handle, &made);
  handler = function;
  put(out, made);
  return code;
}
PASS(Comm_set_errhandler, (H comm, H one), h(comm), h(one))
CHANGES(Errhandler_free)
ENTRY(Error_class, (int code, int* error_class)) {
  CALL(Error_class, TO_NATIVE(classes, code), error_class);
  *error_class = TO_ABI(classes, *error_class);
  return MPI_SUCCESS;
}

static void (*operate)(void*, void*, int*, H*);
static void apply(void* in, void* inout, int* n, MPI_Datatype* type) {
  H handle;
  put(&handle, *type);
  operate(in, inout, n, &handle);
}
ENTRY(Op_create, (void (*function)(void*, void*, int*, H*), int commutes, H* out)) {
  int made, code = CALL(Op_create, apply, commutes, &made);
  operate = function;
  put(out, made);
  return code;
}
CHANGES(Op_free)
PASS(Op_commutative, (H op, int* flag), h(op), flag)
PASS(Reduce_local, (REDUCED), REDUCED_)

/* ---- Datatypes */

PASS(Type_size_x, (H type, MPI_Count* size), h(type), size)
PASS(Type_get_extent, (H type, MPI_Aint* low, MPI_Aint* extent), h(type), low, extent)
PASS(Type_get_true_extent, (H type, MPI_Aint* low, MPI_Aint* extent), h(type), low, extent)
PASS(Type_get_name, (H type, char* name, int* length), h(type), name, length)
GIVES(Type_contiguous, (int n, H type, H* out), n, h(type))
CHANGES(Type_commit)
CHANGES(Type_free)
ENTRY(Type_get_envelope_c, (H type, MPI_Count* integers, MPI_Count* addresses, MPI_Count* counts,
                            MPI_Count* types, int* combiner)) {
  const int code = CALL(Type_get_envelope_c, h(type), integers, addresses, counts, types, combiner);
  *combiner = TO_ABI(combiners, *combiner);
  return code;
}
ENTRY(Type_get_contents_c, (H type, MPI_Count i, MPI_Count a, MPI_Count c, MPI_Count n,
                            int* integers, MPI_Aint* addresses, MPI_Count* counts, H* types)) {
  int found[16];
  if (n > 16) abort();
  const int code =
      CALL(Type_get_contents_c, h(type), i, a, c, n, integers, addresses, counts, found);
  while (n-- > 0) put(&types[n], found[n]);
  return code;
}
PASS(Pack, (SENT, void* packed, int size, int* at, H comm), SENT_, packed, size, at, h(comm))
PASS(Unpack, (const void* packed, int size, int* at, SENT, H comm), packed, size, at, SENT_,
     h(comm))

/* ---- Messages */

GIVES(Isend, (SENT, int rank, int tag, H comm, H* out), SENT_, r(rank), tag, h(comm))
GIVES(Irecv, (SENT, int rank, int tag, H comm, H* out), SENT_, r(rank), tag, h(comm))
GIVES(Iallgather, (BOTH, H comm, H* out), BOTH_, h(comm))
ENTRY(Waitany, (int n, H* requests, int* index, Status* status)) {
  int* const all = malloc(sizeof *all * (size_t)(n + 1));
  MPI_Status one;
  for (int i = 0; i < n; i++) all[i] = h(requests[i]);
  const int code = CALL(Waitany, n, all, index, &one);
  for (int i = 0; i < n; i++) put(&requests[i], all[i]);
  put_status(status, &one);
  free(all);
  return code;
}
ENTRY(Wait, (H * request, Status* status)) {
  int index;
  return abi_Waitany(1, request, &index, status);
}
ENTRY(Request_get_status, (H request, int* flag, Status* status)) {
  MPI_Status one;
  const int code = CALL(Request_get_status, h(request), flag, &one);
  if (*flag) put_status(status, &one);
  return code;
}
ENTRY(Get_count, (const Status* status, H type, int* count)) {
  const MPI_Status one = {status->internal[0], status->internal[1], status->source, status->tag, 0};
  return CALL(Get_count, &one, h(type), count);
}

/* ---- Collectives */

PASS(Barrier, (H comm), h(comm))
PASS(Bcast, (SENT, int root, H comm), SENT_, r(root), h(comm))
PASS(Allgather, (BOTH, H comm), BOTH_, h(comm))
PASS(Allgather_c,
     (const void* sent, MPI_Count n, H type, void* got, MPI_Count m, H got_type, H comm), BOTH_,
     h(comm))
PASS(Alltoall, (BOTH, H comm), BOTH_, h(comm))
PASS(Gather, (BOTH, int root, H comm), BOTH_, r(root), h(comm))
PASS(Gatherv, (SENT, void* got, const int* counts, const int* at, H got_type, int root, H comm),
     SENT_, b(got), counts, at, h(got_type), r(root), h(comm))
PASS(Allreduce, (REDUCED, H comm), REDUCED_, h(comm))
PASS(Reduce, (REDUCED, int root, H comm), REDUCED_, r(root), h(comm))
PASS(Scan, (REDUCED, H comm), REDUCED_, h(comm))

/* ---- Functions that no call here needs: for errors, copies, datatypes with gaps and large ones */

void absent(void) { abort(); }
__asm__(
    ".irp name, Abort, Add_error_code, Add_error_string, Comm_call_errhandler, Comm_delete_attr, "
    "Comm_get_errhandler, Comm_get_name, Error_string, Exscan, Get_address, Intercomm_merge, "
    "Issend, Recv, Reduce_scatter_block, Sendrecv, Type_create_hindexed, Type_create_resized, "
    "Type_create_struct, Type_dup, Type_get_contents, Type_get_envelope\n"
    ".globl PMPI_\\name\n.set PMPI_\\name, absent\n.endr");
