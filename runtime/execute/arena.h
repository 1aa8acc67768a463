/* Memory for long blocks. A call takes it and gives it back at its end. Then the next call can use it. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_ARENA_H_
#define QUADRILLE_RUNTIME_EXECUTE_ARENA_H_

#include <stdint.h>

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
/* Frees all memory that no call uses. */
void qd_trim_arena(void);

#endif /* QUADRILLE_RUNTIME_EXECUTE_ARENA_H_ */
