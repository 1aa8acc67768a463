/* Makes handles. Loads schedules, and keeps them until their handles and bindings are freed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/execute/schedule.h"
#include "runtime/execute/state.h"

/* Doubles the number of entries. Returns 0 if memory ran out. */
static int grow(struct qd_handles* h) {
  const uint32_t count = h->count ? 2 * h->count : 8;
  struct qd_handle_entry* grown = realloc(h->entries, count * sizeof *grown);
  if (!grown) return 0;
  memset(grown + h->count, 0, (count - h->count) * sizeof *grown);
  h->hint = h->count;
  h->entries = grown;
  h->count = count;
  return 1;
}

uint64_t qd_handle_make(struct qd_handles* h, void* object) {
  uint32_t looked = 0;
  for (; looked < h->count && h->entries[h->hint].object; looked++)
    h->hint = (h->hint + 1) % h->count;
  if (looked == h->count && !grow(h)) return 0;
  h->entries[h->hint].object = object;
  return (uint64_t)h->entries[h->hint].generation << 32 | (h->hint + 1);
}

void qd_handle_free(struct qd_handles* h, uint64_t handle) {
  h->hint = (uint32_t)handle - 1;
  h->entries[h->hint].object = NULL;
  h->entries[h->hint].generation++;
}

/* Returns the schedule of a handle, or NULL. The caller holds the lock. */
static struct qd_schedule_data* data_of(quadrille_schedule schedule) {
  return qd_object_of(&qd_global.schedules, schedule);
}

/* Makes a handle of a loaded program or of a failed load. Returns the MPI error code of the load. */
static int finish_load(struct qd_schedule_data* schedule_data, quadrille_schedule* schedule) {
  schedule_data->references = 1;
  pthread_mutex_lock(&qd_global.lock);
  *schedule = qd_handle_make(&qd_global.schedules, schedule_data);
  pthread_mutex_unlock(&qd_global.lock);
  if (*schedule == QUADRILLE_SCHEDULE_NULL) {
    if (schedule_data->failure_class == MPI_SUCCESS) qd_program_destroy(&schedule_data->program);
    free(schedule_data);
    return qd_error(MPI_COMM_NULL, MPI_ERR_NO_MEM, "out of memory while loading a schedule");
  }
  if (schedule_data->failure_class != MPI_SUCCESS)
    return qd_error(MPI_COMM_NULL, schedule_data->failure_class, "%s", schedule_data->failure);
  if (schedule_data->program.serves_any_nodes)
    qd_log("loaded %s for any nodes", schedule_data->program.algorithm);
  else
    qd_log("loaded %s for %lld rank%s", schedule_data->program.algorithm,
           (long long)schedule_data->program.topologies[0].ranks,
           schedule_data->program.topologies[0].ranks == 1 ? "" : "s");
  return MPI_SUCCESS;
}

static void fail_to_load(struct qd_schedule_data* schedule_data, int error_class, const char* what,
                         const char* why) {
  enum { MOST = 128 }; /* bytes of a path: its end is printed, so that the reason fits as well */
  const size_t length = strlen(what);
  schedule_data->failure_class = error_class;
  snprintf(schedule_data->failure, sizeof schedule_data->failure, "%s%s: %s",
           length > MOST ? "..." : "", length > MOST ? what + length - MOST : what, why);
}

static void load_bytes(struct qd_schedule_data* schedule_data, const char* what,
                       const unsigned char* bytes, uint64_t length) {
  const char* error = qd_program_load(&schedule_data->program, bytes, length);
  if (error)
    fail_to_load(schedule_data, error == qd_no_memory ? MPI_ERR_NO_MEM : MPI_ERR_FILE, what, error);
}

/* Reads a file, but stops after the length of the longest schedule. Returns NULL if memory ran out. */
static unsigned char* read_whole(FILE* file, uint64_t* length) {
  unsigned char* const bytes = malloc(QD_MAX_FILE_LENGTH + 1);
  *length = bytes ? fread(bytes, 1, QD_MAX_FILE_LENGTH + 1, file) : 0;
  return bytes;
}

int quadrille_load_file(const char* path, quadrille_schedule* schedule) {
  if (!schedule) return qd_error(MPI_COMM_NULL, MPI_ERR_ARG, "the place for the schedule is NULL");
  *schedule = QUADRILLE_SCHEDULE_NULL;
  struct qd_schedule_data* schedule_data = calloc(1, sizeof *schedule_data);
  if (!schedule_data)
    return qd_error(MPI_COMM_NULL, MPI_ERR_NO_MEM, "out of memory while loading a schedule");
  FILE* file = path ? fopen(path, "rb") : NULL;
  if (!path) {
    fail_to_load(schedule_data, MPI_ERR_ARG, "schedule", "the path is NULL");
  } else if (!file) {
    fail_to_load(schedule_data, errno == ENOENT ? MPI_ERR_NO_SUCH_FILE : MPI_ERR_FILE, path,
                 strerror(errno));
  } else {
    uint64_t length = 0;
    unsigned char* bytes = read_whole(file, &length);
    if (!bytes)
      fail_to_load(schedule_data, MPI_ERR_NO_MEM, path, qd_no_memory);
    else if (ferror(file))
      fail_to_load(schedule_data, MPI_ERR_FILE, path, "cannot be read; is it a file?");
    else
      load_bytes(schedule_data, path, bytes, length);
    free(bytes);
    fclose(file);
  }
  return finish_load(schedule_data, schedule);
}

int quadrille_load_memory(const void* bytes, uint64_t length, quadrille_schedule* schedule) {
  if (!schedule) return qd_error(MPI_COMM_NULL, MPI_ERR_ARG, "the place for the schedule is NULL");
  *schedule = QUADRILLE_SCHEDULE_NULL;
  struct qd_schedule_data* schedule_data = calloc(1, sizeof *schedule_data);
  if (!schedule_data)
    return qd_error(MPI_COMM_NULL, MPI_ERR_NO_MEM, "out of memory while loading a schedule");
  if (bytes)
    load_bytes(schedule_data, "schedule in memory", bytes, length);
  else
    fail_to_load(schedule_data, MPI_ERR_ARG, "schedule in memory", "the bytes are NULL");
  return finish_load(schedule_data, schedule);
}

struct qd_schedule_data* qd_acquire(quadrille_schedule schedule) {
  pthread_mutex_lock(&qd_global.lock);
  struct qd_schedule_data* schedule_data = data_of(schedule);
  if (schedule_data) schedule_data->references++;
  pthread_mutex_unlock(&qd_global.lock);
  return schedule_data;
}

int qd_hash_of(quadrille_schedule schedule, unsigned char hash[QD_HASH_LENGTH]) {
  pthread_mutex_lock(&qd_global.lock);
  const struct qd_schedule_data* schedule_data = data_of(schedule);
  const int found = !schedule_data ? -1 : schedule_data->failure_class == MPI_SUCCESS;
  if (found == 1) memcpy(hash, schedule_data->program.hash, QD_HASH_LENGTH);
  pthread_mutex_unlock(&qd_global.lock);
  return found;
}

struct qd_binding* qd_recent(quadrille_schedule schedule, MPI_Comm comm) {
  pthread_mutex_lock(&qd_global.lock);
  const struct qd_schedule_data* data = data_of(schedule);
  struct qd_binding* binding = data && data->recent_comm == comm ? data->recent : NULL;
  pthread_mutex_unlock(&qd_global.lock);
  return binding;
}

void qd_remember(quadrille_schedule schedule, MPI_Comm comm, struct qd_binding* binding) {
  pthread_mutex_lock(&qd_global.lock);
  struct qd_schedule_data* data = data_of(schedule);
  if (data) {
    data->recent = binding;
    data->recent_comm = comm;
  }
  pthread_mutex_unlock(&qd_global.lock);
}

void qd_forget(const struct qd_binding* binding) {
  pthread_mutex_lock(&qd_global.lock);
  for (uint32_t i = 0; i < qd_global.schedules.count; i++) {
    struct qd_schedule_data* data = qd_global.schedules.entries[i].object;
    if (data && (!binding || data->recent == binding)) data->recent = NULL;
  }
  pthread_mutex_unlock(&qd_global.lock);
}

void qd_release(struct qd_schedule_data* schedule_data) {
  if (!schedule_data) return;
  pthread_mutex_lock(&qd_global.lock);
  const int left = --schedule_data->references;
  pthread_mutex_unlock(&qd_global.lock);
  if (left > 0) return;
  if (schedule_data->failure_class == MPI_SUCCESS) qd_program_destroy(&schedule_data->program);
  free(schedule_data);
}

int quadrille_free(quadrille_schedule* schedule) {
  if (!schedule) return qd_error(MPI_COMM_NULL, MPI_ERR_ARG, "the schedule to free is NULL");
  pthread_mutex_lock(&qd_global.lock);
  struct qd_schedule_data* schedule_data = data_of(*schedule);
  if (schedule_data) qd_handle_free(&qd_global.schedules, *schedule);
  pthread_mutex_unlock(&qd_global.lock);
  if (!schedule_data)
    return qd_error(MPI_COMM_NULL, MPI_ERR_ARG, "the schedule is null or was freed before");
  qd_release(schedule_data);
  *schedule = QUADRILLE_SCHEDULE_NULL;
  return MPI_SUCCESS;
}

int quadrille_info(quadrille_schedule schedule, quadrille_schedule_info* info) {
  enum { FIRST_SIZE = offsetof(quadrille_schedule_info, groups) }; /* in the first version */
  if (!info || info->size < FIRST_SIZE)
    return qd_error(MPI_COMM_NULL, MPI_ERR_ARG, "info is NULL, or its size field is not set");
  struct qd_schedule_data* schedule_data = qd_acquire(schedule);
  if (!schedule_data)
    return qd_error(MPI_COMM_NULL, MPI_ERR_ARG, "the schedule is null or was freed");
  int result = MPI_SUCCESS;
  if (schedule_data->failure_class != MPI_SUCCESS) {
    result = qd_error(MPI_COMM_NULL, schedule_data->failure_class, "%s", schedule_data->failure);
  } else {
    const struct qd_program* program = &schedule_data->program;
    quadrille_schedule_info known = {.size = info->size};
    known.ranks = program->topologies[0].ranks;
    known.nodes = program->uses.nodes ? program->topologies[0].nodes : 0;
    known.groups = program->groups;
    known.commutative = program->commutative;
    known.canonical = program->canonical;
    known.remote_ranks = program->topologies[1].ranks;
    known.remote_nodes = program->uses.nodes ? program->topologies[1].nodes : 0;
    snprintf(known.algorithm, sizeof known.algorithm, "%s", program->algorithm);
    snprintf(known.collective, sizeof known.collective, "%s",
             qd_collective_name(program->collective));
    for (int i = 0; i < QD_HASH_LENGTH; i++)
      snprintf(known.hash + 2 * i, 3, "%02x", program->hash[i]);
    memcpy(info, &known, info->size < sizeof known ? info->size : sizeof known);
  }
  qd_release(schedule_data);
  return result;
}
