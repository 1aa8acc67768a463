/* Tables of handles. The caller holds the lock of qd_global. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_HANDLES_H_
#define QUADRILLE_RUNTIME_EXECUTE_HANDLES_H_

#include <stddef.h>
#include <stdint.h>

struct qd_handle_entry {
  void* object; /* NULL: the entry is free */
  uint32_t generation;
};

/* A handle is an index into a table, plus 1, and the generation of the entry in its upper half. The generation changes
 * when the entry is freed, so a stale handle is recognised. */
struct qd_handles {
  struct qd_handle_entry* entries;
  uint32_t count, hint; /* hint: where a free entry may be */
};

/* Makes a handle for an object. Returns 0 if memory ran out. */
uint64_t qd_handle_make(struct qd_handles* handles, void* object);
/* Frees a handle, which names an object. */
void qd_handle_free(struct qd_handles* handles, uint64_t handle);

/* The object of a handle, or NULL if the handle is null or stale. */
static inline void* qd_object_of(const struct qd_handles* handles, uint64_t handle) {
  const uint32_t index = (uint32_t)handle - 1;
  if (index >= handles->count) return NULL;
  const struct qd_handle_entry* entry = &handles->entries[index];
  return entry->generation == handle >> 32 ? entry->object : NULL;
}

#endif /* QUADRILLE_RUNTIME_EXECUTE_HANDLES_H_ */
