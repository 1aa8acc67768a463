#include <stdlib.h>
#include <string.h>

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
