/* Defines the functions of MPI that an all-to-all or an allgather calls, with MPICH's interface. They are in the
 * program itself, so they take precedence over the library's. The program may call nothing else of MPI.
 *
 * Every function is named PMPI_..., so that a profile can tell MPI's instructions from others. */
#include "bench/stub_mpi.h"

#include <mpi.h>
#include <string.h>

static int own_rank, rank_count, recording;
static struct stub_record record;
static uint64_t digests[2]; /* of the sends, and of the receives */
static void* attributes[16];
static int keyvals;

/* The posted receives of lengths, in order. A later send completes each. */
enum { LENGTH_TAG = 2, MOST_AWAITED = 1 << 16, ANY = 1, FIRST_AWAITED };
static void* awaited[MOST_AWAITED];
static int bytes[MOST_AWAITED]; /* of the messages that have arrived */
static MPI_Request completed;   /* the request that completed last */
static uint32_t posted, arrived;

void stub_be(int rank, int ranks) {
  own_rank = rank;
  rank_count = ranks;
}

void stub_start_record(void) {
  record = (struct stub_record){0};
  digests[0] = digests[1] = 0xcbf29ce484222325u;
  recording = 1;
}

struct stub_record stub_end_record(void) {
  recording = 0;
  record.digest = digests[0] ^ 3 * digests[1];
  return record;
}

static void note(uint64_t* digest, uint64_t what) { *digest = (*digest ^ what) * 0x100000001b3u; }

static void __attribute__((noinline))
note_message(int receive, const void* buffer, int count, int peer) {
  note(&digests[receive], (uint64_t)(uintptr_t)buffer);
  note(&digests[receive], (uint64_t)count);
  note(&digests[receive], (uint64_t)peer);
  record.messages++;
  record.bytes += count;
}

/* The functions ignore many arguments. NOLINTBEGIN(misc-unused-parameters) */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Defines a function of MPI that evaluates an expression and succeeds. */
#define STUB(name, parameters, ...) \
  int PMPI_##name parameters { return __VA_ARGS__, MPI_SUCCESS; }

int PMPI_Irecv(void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
               MPI_Request* request) {
  if (recording) note_message(1, buffer, count, peer);
  *request = ANY;
  if (tag != LENGTH_TAG) return MPI_SUCCESS;
  *request = FIRST_AWAITED + posted++ % MOST_AWAITED;
  awaited[*request - FIRST_AWAITED] = buffer;
  return MPI_SUCCESS;
}

int PMPI_Isend(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
               MPI_Request* request) {
  if (recording) note_message(0, buffer, count, peer);
  *request = ANY;
  if (tag != LENGTH_TAG) return MPI_SUCCESS;
  memcpy(awaited[arrived % MOST_AWAITED], buffer, (size_t)count);
  bytes[arrived++ % MOST_AWAITED] = count;
  return MPI_SUCCESS;
}

STUB(Wait, (MPI_Request * request, MPI_Status* status),
     (completed = *request, *request = MPI_REQUEST_NULL))

/* A test finds nothing, since the lengths that come back may not have been sent yet. */
STUB(Test, (MPI_Request * request, int* flag, MPI_Status* status), *flag = 0)

int PMPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  *index = 0;
  while (*index < count - 1 && requests[*index] == MPI_REQUEST_NULL) ++*index;
  completed = requests[*index];
  requests[*index] = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

int PMPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  for (int i = 0; i < count; i++) requests[i] = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

STUB(Initialized, (int* flag), *flag = 1)
STUB(Finalized, (int* flag), *flag = 0)
STUB(Comm_rank, (MPI_Comm comm, int* rank), *rank = comm == MPI_COMM_SELF ? 0 : own_rank)
STUB(Comm_size, (MPI_Comm comm, int* size), *size = comm == MPI_COMM_SELF ? 1 : rank_count)
STUB(Comm_test_inter, (MPI_Comm comm, int* flag), *flag = 0)
STUB(Comm_group, (MPI_Comm comm, MPI_Group* group), *group = 1)
STUB(Group_free, (MPI_Group * group), *group = MPI_GROUP_NULL)
STUB(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* result), *result = comm)
STUB(Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler handler), (void)0)

STUB(Comm_create_keyval,
     (MPI_Comm_copy_attr_function * copy, MPI_Comm_delete_attr_function* gone, int* keyval,
      void* extra),
     *keyval = keyvals++)

STUB(Comm_set_attr, (MPI_Comm comm, int keyval, void* value), attributes[keyval] = value)

int PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* flag) {
  *flag = keyval >= 0 && keyval < keyvals && attributes[keyval] != NULL;
  if (*flag) *(void**)value = attributes[keyval];
  return MPI_SUCCESS;
}

/* Returns the size of a basic type, which MPICH keeps in the handle. */
static int size_of(MPI_Datatype type) { return (int)((intptr_t)type >> 8 & 0xff); }

STUB(Type_size, (MPI_Datatype type, int* size), *size = size_of(type))
STUB(Type_size_x, (MPI_Datatype type, MPI_Count* size), *size = size_of(type))
STUB(Type_get_extent, (MPI_Datatype type, MPI_Aint* lower, MPI_Aint* extent), *lower = 0,
     *extent = size_of(type))
STUB(Type_get_true_extent, (MPI_Datatype type, MPI_Aint* lower, MPI_Aint* extent), *lower = 0,
     *extent = size_of(type))
STUB(Type_get_envelope_c,
     (MPI_Datatype type, MPI_Count* integers, MPI_Count* addresses, MPI_Count* counts,
      MPI_Count* types, int* combiner),
     *integers = *addresses = *counts = *types = 0, *combiner = MPI_COMBINER_NAMED)
STUB(Type_dup, (MPI_Datatype type, MPI_Datatype* same), *same = type)
STUB(Type_free, (MPI_Datatype * type), *type = MPI_DATATYPE_NULL)

/* Messages without recorded bytes count 1, since no message is empty. */
STUB(Get_count, (const MPI_Status* status, MPI_Datatype type, int* count),
     *count = completed >= FIRST_AWAITED && completed < FIRST_AWAITED + MOST_AWAITED
                  ? bytes[completed - FIRST_AWAITED]
                  : 1)

/* All ranks are alike, so the result is this rank's own data. */
STUB(Allreduce,
     (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     memcpy(receive, send, (size_t)count*(size_t)size_of(type)))

/* All ranks are alike, so each would send this rank the data that it sends. */
STUB(Alltoall,
     (const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
      MPI_Datatype receive_type, MPI_Comm comm),
     memcpy(receive, send, (size_t)rank_count*(size_t)send_count*(size_t)size_of(send_type)))
/* NOLINTEND(misc-unused-parameters) */
