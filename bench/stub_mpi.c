/* The functions of MPI that an all-to-all or an allgather calls, with MPICH's interface. The program defines them itself,
 * so they come before the library's. The program may call nothing else of MPI.
 *
 * Every function is named PMPI_..., so that a profile can tell MPI's instructions from others. */
#include "bench/stub_mpi.h"

#include <mpi.h>
#include <string.h>

static int own_rank, rank_count, recording;
static struct stub_record record;
static uint64_t digests[2]; /* of sends, of receives */
static void* attributes[16];
static int keyvals;

/* The posted receives of messages with lengths, in order, until a send completes them. */
enum { LENGTH_TAG = 2, MOST_AWAITED = 1 << 16 };
static void* awaited[MOST_AWAITED];
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

int PMPI_Irecv(void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
               MPI_Request* request) {
  (void)type, (void)comm;
  if (recording) note_message(1, buffer, count, peer);
  if (tag == LENGTH_TAG) awaited[posted++ % MOST_AWAITED] = buffer;
  *request = 1;
  return MPI_SUCCESS;
}

int PMPI_Isend(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
               MPI_Request* request) {
  (void)type, (void)comm;
  if (recording) note_message(0, buffer, count, peer);
  if (tag == LENGTH_TAG) memcpy(awaited[arrived++ % MOST_AWAITED], buffer, (size_t)count);
  *request = 1;
  return MPI_SUCCESS;
}

int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
  (void)status;
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

/* A test finds nothing: the message that comes back may not have been sent yet. */
int PMPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  (void)request, (void)status;
  *flag = 0;
  return MPI_SUCCESS;
}

int PMPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  (void)status;
  *index = 0;
  while (*index < count - 1 && requests[*index] == MPI_REQUEST_NULL) ++*index;
  requests[*index] = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

int PMPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  (void)statuses;
  for (int i = 0; i < count; i++) requests[i] = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

int PMPI_Initialized(int* flag) {
  *flag = 1;
  return MPI_SUCCESS;
}

int PMPI_Finalized(int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

int PMPI_Comm_rank(MPI_Comm comm, int* rank) {
  *rank = comm == MPI_COMM_SELF ? 0 : own_rank;
  return MPI_SUCCESS;
}

int PMPI_Comm_size(MPI_Comm comm, int* size) {
  *size = comm == MPI_COMM_SELF ? 1 : rank_count;
  return MPI_SUCCESS;
}

int PMPI_Comm_test_inter(MPI_Comm comm, int* flag) {
  (void)comm;
  *flag = 0;
  return MPI_SUCCESS;
}

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* gone,
                            int* keyval, void* extra) {
  (void)copy, (void)gone, (void)extra;
  *keyval = keyvals++;
  return MPI_SUCCESS;
}

int PMPI_Comm_set_attr(MPI_Comm comm, int keyval, void* value) {
  (void)comm;
  attributes[keyval] = value;
  return MPI_SUCCESS;
}

int PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* flag) {
  (void)comm;
  *flag = keyval >= 0 && keyval < keyvals && attributes[keyval] != NULL;
  if (*flag) *(void**)value = attributes[keyval];
  return MPI_SUCCESS;
}

/* All ranks are alike, so this rank agrees with itself. */
int PMPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm) {
  int size = 0;
  (void)op, (void)comm;
  PMPI_Type_size(type, &size);
  memcpy(receive, send, (size_t)count * (size_t)size);
  return MPI_SUCCESS;
}

/* The same for data that all ranks send to each other. */
int PMPI_Alltoall(const void* send, int send_count, MPI_Datatype send_type, void* receive,
                  int receive_count, MPI_Datatype receive_type, MPI_Comm comm) {
  int size = 0;
  (void)receive_count, (void)receive_type, (void)comm;
  PMPI_Type_size(send_type, &size);
  memcpy(receive, send, (size_t)rank_count * (size_t)send_count * (size_t)size);
  return MPI_SUCCESS;
}

/* No message is empty. */
int PMPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count) {
  (void)status, (void)type;
  *count = 1;
  return MPI_SUCCESS;
}

int PMPI_Comm_group(MPI_Comm comm, MPI_Group* group) {
  (void)comm;
  *group = 1;
  return MPI_SUCCESS;
}

int PMPI_Group_free(MPI_Group* group) {
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* result) {
  (void)group;
  *result = comm;
  return MPI_SUCCESS;
}

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
  (void)comm, (void)handler;
  return MPI_SUCCESS;
}

int PMPI_Type_dup(MPI_Datatype type, MPI_Datatype* same) {
  *same = type;
  return MPI_SUCCESS;
}

int PMPI_Type_free(MPI_Datatype* type) {
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

/* MPICH keeps the size of a basic type in its handle. */
static int size_of(MPI_Datatype type) { return (int)((intptr_t)type >> 8 & 0xff); }

int PMPI_Type_size(MPI_Datatype type, int* size) {
  *size = size_of(type);
  return MPI_SUCCESS;
}

int PMPI_Type_size_x(MPI_Datatype type, MPI_Count* size) {
  *size = size_of(type);
  return MPI_SUCCESS;
}

int PMPI_Type_get_extent(MPI_Datatype type, MPI_Aint* lower, MPI_Aint* extent) {
  *lower = 0;
  *extent = size_of(type);
  return MPI_SUCCESS;
}

int PMPI_Type_get_true_extent(MPI_Datatype type, MPI_Aint* lower, MPI_Aint* extent) {
  return PMPI_Type_get_extent(type, lower, extent);
}

int PMPI_Type_get_envelope_c(MPI_Datatype type, MPI_Count* integers, MPI_Count* addresses,
                             MPI_Count* counts, MPI_Count* types, int* combiner) {
  (void)type;
  *integers = *addresses = *counts = *types = 0;
  *combiner = MPI_COMBINER_NAMED;
  return MPI_SUCCESS;
}
