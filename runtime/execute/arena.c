/* Long buffers are mapped pages, since malloc may keep memory after it is freed. Tested by tests/net/memory_test.cc
 * and tests/preload/adapt_test.sh. */
#include <stdlib.h>
#include <sys/mman.h>

#include "runtime/execute/api.h"
#include "runtime/execute/state.h"

/* Returns the smallest spare buffer that is large enough but not twice as large. The caller holds the lock. */
static struct qd_buffer* find_free(int64_t size) {
  struct qd_buffer* best = NULL;
  for (int i = 0; i < QD_SPARE_BUFFERS; i++) {
    struct qd_buffer* const one = &qd_global.spare[i];
    if (one->size >= size && one->size / 2 <= size && (!best || one->size < best->size)) best = one;
  }
  return best;
}

static struct qd_buffer allocate_buffer(int64_t size) {
  char* address = NULL;
  if (size <= QD_KEPT) {
    address = malloc((size_t)size);
  } else {
    void* const pages =
        mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages != MAP_FAILED) address = pages;
  }
  return (struct qd_buffer){address, address ? size : 0};
}

static void release_buffer(struct qd_buffer buffer) {
  if (buffer.size <= QD_KEPT)
    free(buffer.address);
  else
    munmap(buffer.address, (size_t)buffer.size);
}

struct qd_buffer qd_take_buffer(int64_t size) {
  struct qd_buffer taken = {NULL, 0};
  if (size > QD_KEPT) {
    pthread_mutex_lock(&qd_global.lock);
    struct qd_buffer* const found = find_free(size);
    if (found) {
      taken = *found;
      *found = (struct qd_buffer){NULL, 0};
    }
    pthread_mutex_unlock(&qd_global.lock);
  }
  return taken.address ? taken : allocate_buffer(size);
}

void qd_give_buffer(struct qd_buffer* buffer) {
  struct qd_buffer freed = *buffer;
  *buffer = (struct qd_buffer){NULL, 0};
  if (freed.size > QD_KEPT) {
    pthread_mutex_lock(&qd_global.lock);
    struct qd_buffer* least = qd_global.spare;
    for (int i = 1; i < QD_SPARE_BUFFERS; i++)
      if (qd_global.spare[i].size < least->size) least = &qd_global.spare[i];
    const struct qd_buffer replaced = *least;
    *least = freed;
    freed = replaced;
    pthread_mutex_unlock(&qd_global.lock);
  }
  release_buffer(freed);
}

void qd_trim_arena(void) {
  for (int i = 0; i < QD_SPARE_BUFFERS; i++) {
    pthread_mutex_lock(&qd_global.lock);
    const struct qd_buffer spare = qd_global.spare[i];
    qd_global.spare[i] = (struct qd_buffer){NULL, 0};
    pthread_mutex_unlock(&qd_global.lock);
    release_buffer(spare);
  }
}
