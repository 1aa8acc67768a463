/* Handles of schedules: an index into a table of slots and the slot's generation, which changes
 * when the slot is given back, so that a stale handle is recognised. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/internal.h"

/* The slot of a handle; the lock is held. Handles count slots from 1, so that 0 is no handle. */
static struct qd_slot* slot_of(quadrille_schedule schedule) {
  const uint32_t index = (uint32_t)schedule - 1, generation = (uint32_t)(schedule >> 32);
  if ((uint32_t)schedule == 0 || index >= qd_global.slot_count) return NULL;
  struct qd_slot* slot = &qd_global.slots[index];
  return slot->loaded && slot->generation == generation ? slot : NULL;
}

static int grow_slots(void) {
  struct qd_global* g = &qd_global;
  const uint32_t count = g->slot_count ? 2 * g->slot_count : 8;
  struct qd_slot* grown = realloc(g->slots, count * sizeof *grown);
  if (!grown) return 0;
  memset(grown + g->slot_count, 0, (count - g->slot_count) * sizeof *grown);
  g->slots = grown;
  g->slot_count = count;
  return 1;
}

static quadrille_schedule new_handle(struct qd_loaded* loaded) {
  struct qd_global* g = &qd_global;
  quadrille_schedule handle = QUADRILLE_SCHEDULE_NULL;
  pthread_mutex_lock(&g->lock);
  uint32_t index = 0;
  while (index < g->slot_count && g->slots[index].loaded) index++;
  if (index < g->slot_count || grow_slots()) {
    g->slots[index].loaded = loaded;
    handle = (quadrille_schedule)g->slots[index].generation << 32 | (index + 1);
  }
  pthread_mutex_unlock(&g->lock);
  return handle;
}

/* Makes the handle of a program or of the failure to load one; returns the failure. */
static int finish_load(struct qd_loaded* loaded, quadrille_schedule* schedule) {
  loaded->references = 1;
  *schedule = new_handle(loaded);
  if (*schedule == QUADRILLE_SCHEDULE_NULL) {
    if (loaded->failure_class == MPI_SUCCESS) qd_program_destroy(&loaded->program);
    free(loaded);
    return qd_error(MPI_COMM_NULL, MPI_ERR_NO_MEM, "out of memory while loading a schedule");
  }
  if (loaded->failure_class != MPI_SUCCESS)
    return qd_error(MPI_COMM_NULL, loaded->failure_class, "%s", loaded->failure);
  if (loaded->program.serves_any_nodes)
    qd_log("loaded %s for any nodes", loaded->program.algorithm);
  else
    qd_log("loaded %s for %lld ranks", loaded->program.algorithm,
           (long long)loaded->program.topologies[0].ranks);
  return MPI_SUCCESS;
}

static void fail(struct qd_loaded* loaded, int error_class, const char* what, const char* why) {
  enum { MOST = 128 }; /* of a path: its end, so that the reason fits as well */
  const size_t length = strlen(what);
  loaded->failure_class = error_class;
  snprintf(loaded->failure, sizeof loaded->failure, "%s%s: %s", length > MOST ? "..." : "",
           length > MOST ? what + length - MOST : what, why);
}

static void load_bytes(struct qd_loaded* loaded, const char* what, const unsigned char* bytes,
                       uint64_t length) {
  const char* error = qd_program_load(&loaded->program, bytes, length);
  if (error) fail(loaded, error == qd_no_memory ? MPI_ERR_NO_MEM : MPI_ERR_FILE, what, error);
}

/* Reads a whole file; what is longer than any schedule is read no further than that. */
static unsigned char* read_whole(FILE* file, uint64_t* length) {
  uint64_t room = 4096;
  unsigned char* bytes = malloc(room);
  *length = 0;
  while (bytes && *length <= QD_MAX_FILE_LENGTH) {
    const size_t got = fread(bytes + *length, 1, room - *length, file);
    if (got == 0) return bytes;
    *length += got;
    if (*length < room) continue;
    room *= 2;
    unsigned char* grown = realloc(bytes, room);
    if (!grown) free(bytes);
    bytes = grown;
  }
  return bytes;
}

int quadrille_load_file(const char* path, quadrille_schedule* schedule) {
  if (!schedule) return qd_error(MPI_COMM_NULL, MPI_ERR_ARG, "the place for the schedule is NULL");
  *schedule = QUADRILLE_SCHEDULE_NULL;
  struct qd_loaded* loaded = calloc(1, sizeof *loaded);
  if (!loaded)
    return qd_error(MPI_COMM_NULL, MPI_ERR_NO_MEM, "out of memory while loading a schedule");
  FILE* file = path ? fopen(path, "rb") : NULL;
  if (!path) {
    fail(loaded, MPI_ERR_ARG, "schedule", "the path is NULL");
  } else if (!file) {
    fail(loaded, errno == ENOENT ? MPI_ERR_NO_SUCH_FILE : MPI_ERR_FILE, path, strerror(errno));
  } else {
    uint64_t length = 0;
    unsigned char* bytes = read_whole(file, &length);
    if (!bytes)
      fail(loaded, MPI_ERR_NO_MEM, path, qd_no_memory);
    else if (ferror(file))
      fail(loaded, MPI_ERR_FILE, path, "cannot be read; is it a file?");
    else
      load_bytes(loaded, path, bytes, length);
    free(bytes);
    fclose(file);
  }
  return finish_load(loaded, schedule);
}

int quadrille_load_memory(const void* bytes, uint64_t length, quadrille_schedule* schedule) {
  if (!schedule) return qd_error(MPI_COMM_NULL, MPI_ERR_ARG, "the place for the schedule is NULL");
  *schedule = QUADRILLE_SCHEDULE_NULL;
  struct qd_loaded* loaded = calloc(1, sizeof *loaded);
  if (!loaded)
    return qd_error(MPI_COMM_NULL, MPI_ERR_NO_MEM, "out of memory while loading a schedule");
  if (bytes)
    load_bytes(loaded, "schedule in memory", bytes, length);
  else
    fail(loaded, MPI_ERR_ARG, "schedule in memory", "the bytes are NULL");
  return finish_load(loaded, schedule);
}

struct qd_loaded* qd_acquire(quadrille_schedule schedule) {
  pthread_mutex_lock(&qd_global.lock);
  struct qd_slot* slot = slot_of(schedule);
  struct qd_loaded* loaded = slot ? slot->loaded : NULL;
  if (loaded) loaded->references++;
  pthread_mutex_unlock(&qd_global.lock);
  return loaded;
}

int qd_hash_of(quadrille_schedule schedule, unsigned char hash[QD_HASH_LENGTH]) {
  pthread_mutex_lock(&qd_global.lock);
  const struct qd_slot* slot = slot_of(schedule);
  const struct qd_loaded* loaded = slot ? slot->loaded : NULL;
  const int found = !loaded ? -1 : loaded->failure_class == MPI_SUCCESS;
  if (found == 1) memcpy(hash, loaded->program.hash, QD_HASH_LENGTH);
  pthread_mutex_unlock(&qd_global.lock);
  return found;
}

struct qd_binding* qd_recent(quadrille_schedule schedule, MPI_Comm comm) {
  pthread_mutex_lock(&qd_global.lock);
  const struct qd_slot* slot = slot_of(schedule);
  struct qd_binding* binding = slot && slot->recent_comm == comm ? slot->recent : NULL;
  pthread_mutex_unlock(&qd_global.lock);
  return binding;
}

void qd_remember(quadrille_schedule schedule, MPI_Comm comm, struct qd_binding* binding) {
  pthread_mutex_lock(&qd_global.lock);
  struct qd_slot* slot = slot_of(schedule);
  if (slot) {
    slot->recent = binding;
    slot->recent_comm = comm;
  }
  pthread_mutex_unlock(&qd_global.lock);
}

void qd_forget(const struct qd_binding* binding) {
  pthread_mutex_lock(&qd_global.lock);
  for (uint32_t i = 0; i < qd_global.slot_count; i++) {
    struct qd_slot* slot = &qd_global.slots[i];
    if (!binding || slot->recent == binding) slot->recent = NULL;
  }
  pthread_mutex_unlock(&qd_global.lock);
}

void qd_release(struct qd_loaded* loaded) {
  if (!loaded) return;
  pthread_mutex_lock(&qd_global.lock);
  const int left = --loaded->references;
  pthread_mutex_unlock(&qd_global.lock);
  if (left > 0) return;
  if (loaded->failure_class == MPI_SUCCESS) qd_program_destroy(&loaded->program);
  free(loaded);
}

int quadrille_free(quadrille_schedule* schedule) {
  if (!schedule) return qd_error(MPI_COMM_NULL, MPI_ERR_ARG, "the schedule to free is NULL");
  pthread_mutex_lock(&qd_global.lock);
  struct qd_slot* slot = slot_of(*schedule);
  struct qd_loaded* loaded = slot ? slot->loaded : NULL;
  if (slot) {
    slot->loaded = NULL;
    slot->recent = NULL;
    slot->generation++;
  }
  pthread_mutex_unlock(&qd_global.lock);
  if (!loaded)
    return qd_error(MPI_COMM_NULL, MPI_ERR_ARG, "the schedule is null or was freed before");
  qd_release(loaded);
  *schedule = QUADRILLE_SCHEDULE_NULL;
  return MPI_SUCCESS;
}

int quadrille_info(quadrille_schedule schedule, quadrille_schedule_info* info) {
  enum { FIRST_SIZE = offsetof(quadrille_schedule_info, groups) }; /* of the first version */
  if (!info || info->size < FIRST_SIZE)
    return qd_error(MPI_COMM_NULL, MPI_ERR_ARG, "info is NULL, or its size field is not set");
  struct qd_loaded* loaded = qd_acquire(schedule);
  if (!loaded) return qd_error(MPI_COMM_NULL, MPI_ERR_ARG, "the schedule is null or was freed");
  int result = MPI_SUCCESS;
  if (loaded->failure_class != MPI_SUCCESS) {
    result = qd_error(MPI_COMM_NULL, loaded->failure_class, "%s", loaded->failure);
  } else {
    const struct qd_program* program = &loaded->program;
    quadrille_schedule_info known = {.size = info->size};
    known.ranks = program->topologies[0].ranks;
    known.nodes = program->uses_nodes ? program->topologies[0].nodes : 0;
    known.groups = program->groups;
    known.commutative = program->commutative;
    known.remote_ranks = program->topologies[1].ranks;
    known.remote_nodes = program->uses_nodes ? program->topologies[1].nodes : 0;
    snprintf(known.algorithm, sizeof known.algorithm, "%s", program->algorithm);
    snprintf(known.collective, sizeof known.collective, "%s",
             qd_collective_name(program->collective));
    for (int i = 0; i < QD_HASH_LENGTH; i++)
      snprintf(known.hash + 2 * i, 3, "%02x", program->hash[i]);
    memcpy(info, &known, info->size < sizeof known ? info->size : sizeof known);
  }
  qd_release(loaded);
  return result;
}
