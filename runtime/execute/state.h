/* All global state of the runtime. */
#pragma once

#include <mpi.h>
#include <pthread.h>
#include <stdint.h>

#include "runtime/program/program.h"

/* ---- Tables of handles (schedule.c). The caller holds the lock of qd_global. */

struct qd_handle_entry {
  void* object; /* NULL: the entry is free */
  uint32_t generation;
};

/* A handle is an index into a table, plus 1, and the generation of the entry in its upper half. The generation
 * changes when the entry is freed, so a stale handle is recognised. */
struct qd_handles {
  struct qd_handle_entry* entries;
  uint32_t count, hint; /* hint: where a free entry may be */
};

/* Makes a handle for an object. Returns 0 if memory ran out. */
uint64_t qd_handle_make(struct qd_handles* handles, void* object);
/* Frees a handle. It must name an object. */
void qd_handle_free(struct qd_handles* handles, uint64_t handle);

/* Returns the object of a handle, or NULL if the handle is null or stale. */
static inline void* qd_object_of(const struct qd_handles* handles, uint64_t handle) {
  const uint32_t index = (uint32_t)handle - 1;
  if (index >= handles->count) return NULL;
  const struct qd_handle_entry* entry = &handles->entries[index];
  return entry->generation == handle >> 32 ? entry->object : NULL;
}

/* ---- Memory for long blocks (arena.c). A call takes it and gives it back at its end. Then the next call can use it. */

/* A call keeps buffers of at most this many bytes. */
enum { QD_KEPT = 1 << 20 };

struct qd_buffer {
  char* address;
  int64_t size; /* bytes */
};

/* Returns a buffer of at least `size` bytes. Its address is NULL if memory ran out. */
struct qd_buffer qd_take_buffer(int64_t size);
/* Gives memory back, and empties the buffer. */
void qd_give_buffer(struct qd_buffer* buffer);

/* ---- Errors, settings and traces */

#define QD_TEXT 256 /* bytes of an error text: the smallest MPI_MAX_ERROR_STRING of MPI libraries */

/* Limits of the table of error codes: classes, and codes of each class. Each code has a text of its own. */
enum { QD_ERROR_CLASSES = 16, QD_CODES_A_CLASS = 4 };

struct qd_error_codes {
  int error_class, made, codes[QD_CODES_A_CLASS];
  unsigned next;
};

/* The settings of the environment, and its MPI library. */
struct qd_settings {
  int debug;         /* QUADRILLE_DEBUG: calls are logged and compared */
  double stall;      /* QUADRILLE_STALL: seconds after which a wait is reported; 0: never */
  const char* trace; /* QUADRILLE_TRACE: the folder for traces, or NULL */
  int is_open_mpi;   /* the MPI library of this process is Open MPI */
};

/* One moment as two clocks show it: CLOCK_MONOTONIC, and the counter that dates events. */
struct qd_trace_moment {
  int64_t nanoseconds, ticks;
};

/* The trace of this process; see trace.h. */
struct qd_traced_process {
  int is_open, is_written, has_refused;
  int counts_ticks;    /* times are those of the processor's counter */
  const char* failure; /* why it cannot be opened */
  char* memory;        /* the sections of the file; NULL: it is not open */
  uint64_t used, end;  /* used: bytes of all sections; end: of those that fit in the memory */
  struct qd_trace_moment opened;
};

/* An operator, and a predefined datatype to whose elements MPI can apply it. */
enum { QD_KNOWN_FITS = 16 };
struct qd_fit {
  MPI_Op operation;
  MPI_Datatype type;
};

enum { QD_SPARE_BUFFERS = 16, QD_CHANNEL_LISTS = 256 };

struct qd_global {
  pthread_mutex_t lock; /* guards everything below */
  struct qd_handles schedules, persistent_calls;
  struct qd_channel* channels[QD_CHANNEL_LISTS]; /* by handle of the user's communicator */
  int has_keyvals, channel_keyval, alone_keyval, finalizer_keyval;
  struct qd_error_codes codes[QD_ERROR_CLASSES];
  int class_count;
  int lacks_texts;                   /* MPI has no texts for added codes */
  struct qd_fit fits[QD_KNOWN_FITS]; /* the last ones that were found */
  unsigned fit_count;
  struct qd_buffer spare[QD_SPARE_BUFFERS]; /* arena.h: memory that no call uses */
  char last_error[QD_TEXT];
  char folder[QD_MAX_PATH], traces[QD_MAX_PATH]; /* the folder of relative names; that of traces */
  pthread_once_t settings_once;
  struct qd_settings settings;
  int serves_preload; /* see qd_serve_preload */
  struct qd_traced_process trace;
};
extern struct qd_global qd_global;

/* errors.c. Returns the settings, which the first call reads. */
const struct qd_settings* qd_settings(void);
