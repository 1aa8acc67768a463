/* A tool that intercepts MPI calls, too. RANKS_A_NODE: each node has that many ranks. TOOL_CORRUPTS makes three
 * results wrong: the last byte of an all-to-all of ints and, in an allreduce, the last maximum of doubles and the
 * first byte of derived types. TOOL_SLEEPS: rank 1 is a second late for its third all-to-all, and for its first one
 * with blocks of different lengths. TOOL_DELAYS: rank 1 is 30 ms late for each allgather. TOOL_SLOW: each allgather
 * takes 5 ms longer. TOOL_SLOW_SENDS: each send of a schedule takes 20 ms longer. TOOL_ADDS: this number is added to
 * the last sum of doubles of an allreduce. TOOL_WATCHES_FILES: the tool says which files the program's own thread
 * writes. TOOL_TAG_UB: the value of MPI_TAG_UB. */
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

SHOWN int PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* node) {
  const char* size = getenv("RANKS_A_NODE");
  int rank = 0;
  if (!size) return MPI_Comm_split_type(comm, type, key, info, node);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return PMPI_Comm_split(comm, rank / atoi(size), key, node);
}

/* Intercepts dlopen, as tools that watch memory do. */
SHOWN void* dlopen(const char* file, int flags) {
  return ((void* (*)(const char*, int))dlsym(RTLD_NEXT, "dlopen"))(file, flags);
}

/* ---- Device memory (driver.c), which only MPI reads and writes */

static char* device;
static size_t device_size;

SHOWN void tool_has_device(char* memory, size_t size) {
  device = memory;
  device_size = size;
}

static int allowed(int code) {
  if (device) mprotect(device, device_size, PROT_NONE);
  return code;
}
static void allow(void) {
  if (device) mprotect(device, device_size, PROT_READ | PROT_WRITE);
}

/* ---- The tool refuses requests of the library for memory, and for attributes of communicators */

static long requests[2], refused[2];
enum { MEMORY, ATTRIBUTES };

/* Refuses the n-th request of that kind from now on, or none if n is 0. Returns how many came since the last time. */
SHOWN long tool_refuse(const char* kind, long n) {
  const int which = strcmp(kind, "memory") ? ATTRIBUTES : MEMORY;
  const long before = requests[which];
  requests[which] = 0;
  refused[which] = n;
  return before;
}

static int refuses(int which, const void* caller) {
  Dl_info library;
  if (refused[which] == 0) return 0;
  if (!dladdr(caller, &library) || !strstr(library.dli_fname, "/libquadrille_preload_")) return 0;
  if (++requests[which] != refused[which]) return 0;
  dprintf(STDERR_FILENO, "request %ld is refused\n", requests[which]);
  return 1;
}

/* NOLINTBEGIN(bugprone-reserved-identifier): glibc's names */
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
/* NOLINTEND(bugprone-reserved-identifier) */
#define CALLER __builtin_return_address(0)

SHOWN void* malloc(size_t size) { return refuses(MEMORY, CALLER) ? NULL : __libc_malloc(size); }
SHOWN void* calloc(size_t count, size_t size) {
  return refuses(MEMORY, CALLER) ? NULL : __libc_calloc(count, size);
}
SHOWN void* realloc(void* old, size_t size) {
  return refuses(MEMORY, CALLER) ? NULL : __libc_realloc(old, size);
}

SHOWN int PMPI_Comm_get_attr(MPI_Comm comm, int key, void* value, int* found) {
  static int greatest;
  const char* const given = key == MPI_TAG_UB ? getenv("TOOL_TAG_UB") : NULL;
  const int code = MPI_Comm_get_attr(comm, key, value, found);
  if (!given) return code;
  greatest = atoi(given);
  *(int**)value = &greatest;
  return code;
}

SHOWN int PMPI_Comm_set_attr(MPI_Comm comm, int key, void* value) {
  return refuses(ATTRIBUTES, CALLER) ? MPI_ERR_OTHER : MPI_Comm_set_attr(comm, key, value);
}

/* ---- Files, which get their names when they are complete */

SHOWN int rename(const char* from, const char* to) {
  if (getenv("TOOL_WATCHES_FILES") && gettid() == getpid())
    dprintf(STDERR_FILENO, "the program's own thread writes %s\n", to);
  return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

/* ---- Collectives */

static void sleep_at(int* calls, int which) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (getenv("TOOL_SLEEPS") && ++*calls == which && rank == 1) sleep(1);
}

SHOWN int MPI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                        MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                        const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  static int calls;
  sleep_at(&calls, 1);
  return PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                        recvtype, comm);
}

SHOWN int MPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                       int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  static int calls;
  int ranks = 0;
  sleep_at(&calls, 3);
  const int code = PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  MPI_Comm_size(comm, &ranks);
  if (getenv("TOOL_CORRUPTS") && recvtype == MPI_INT && recvcount > 0)
    ((char*)recvbuf)[(size_t)ranks * (size_t)recvcount * sizeof(int) - 1] ^= 1;
  return code;
}

SHOWN int MPI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                        int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (getenv("TOOL_DELAYS") && rank == 1) nanosleep(&(struct timespec){0, 30000000}, NULL);
  if (getenv("TOOL_SLOW")) nanosleep(&(struct timespec){0, 5000000}, NULL);
  allow();
  return allowed(PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}

/* ---- MPI calls of the library itself */

static int agreements;

/* Returns how often ranks have agreed so far: the number of calls of the functions below. */
SHOWN int tool_agreements(void) { return agreements; }

#define COUNTED(name, types, arguments)                     \
  SHOWN int name types {                                    \
    __typeof__(name)* const next = dlsym(RTLD_NEXT, #name); \
    agreements++;                                           \
    return next arguments;                                  \
  }
COUNTED(PMPI_Allreduce,
        (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
         MPI_Comm comm),
        (sendbuf, recvbuf, count, datatype, op, comm))
COUNTED(PMPI_Barrier, (MPI_Comm comm), (comm))
COUNTED(PMPI_Comm_create, (MPI_Comm old, MPI_Group group, MPI_Comm* comm), (old, group, comm))
COUNTED(PMPI_Intercomm_merge, (MPI_Comm old, int high, MPI_Comm* comm), (old, high, comm))

static int is_derived(MPI_Datatype type) {
  int integers, addresses, types, combiner;
  MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  return combiner != MPI_COMBINER_NAMED;
}

SHOWN int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                        MPI_Op op, MPI_Comm comm) {
  const int code = PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
  if (getenv("TOOL_CORRUPTS") && op == MPI_MAX && datatype == MPI_DOUBLE && count > 0)
    ((double*)recvbuf)[count - 1] += 1;
  if (getenv("TOOL_CORRUPTS") && count > 0 && is_derived(datatype)) *(char*)recvbuf ^= 1;
  const char* const added = getenv("TOOL_ADDS");
  if (added && op == MPI_SUM && datatype == MPI_DOUBLE && count > 0)
    ((double*)recvbuf)[count - 1] += atof(added);
  return code;
}

#if MPI_VERSION < 4
/* A function that only later MPI libraries have. */
SHOWN int MPI_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return MPI_Allreduce(sendbuf, recvbuf, (int)count, datatype, op, comm);
}
#endif

/* ---- Messages */

SHOWN int PMPI_Isend(const void* buffer, int count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request* request) {
  if (getenv("TOOL_SLOW_SENDS")) nanosleep(&(struct timespec){0, 20000000}, NULL);
  allow();
  return allowed(MPI_Isend(buffer, count, datatype, dest, tag, comm, request));
}

SHOWN int PMPI_Irecv(void* buffer, int count, MPI_Datatype datatype, int source, int tag,
                     MPI_Comm comm, MPI_Request* request) {
  allow();
  return allowed(MPI_Irecv(buffer, count, datatype, source, tag, comm, request));
}

SHOWN int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
  allow();
  return allowed(MPI_Wait(request, status));
}

SHOWN int PMPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  allow();
  return allowed(MPI_Waitany(count, requests, index, status));
}

SHOWN int PMPI_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest,
                        int sendtag, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                        int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  allow();
  return allowed(MPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                              recvtype, source, recvtag, comm, status));
}

SHOWN int PMPI_Pack(const void* inbuf, int incount, MPI_Datatype datatype, void* outbuf,
                    int outsize, int* position, MPI_Comm comm) {
  allow();
  return allowed(MPI_Pack(inbuf, incount, datatype, outbuf, outsize, position, comm));
}

SHOWN int PMPI_Unpack(const void* inbuf, int insize, int* position, void* outbuf, int outcount,
                      MPI_Datatype datatype, MPI_Comm comm) {
  allow();
  return allowed(MPI_Unpack(inbuf, insize, position, outbuf, outcount, datatype, comm));
}
