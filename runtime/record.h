/* The steps of a call, kept for the next one like it. */
#ifndef QUADRILLE_RUNTIME_RECORD_H_
#define QUADRILLE_RUNTIME_RECORD_H_

#include "runtime/pipeline.h"

struct quadrille_recorded_step {
  int64_t key, after, sent_bytes;
  int receives, sends; /* of the messages that follow */
};

struct quadrille_recorded_message {
  int64_t offset, bytes; /* offset: from the base of all blocks */
  int peer;
};

struct quadrille_record {
  struct quadrille_recorded_step* steps;
  struct quadrille_recorded_message* messages;
  int step_count, message_count, room;
  int is_open;     /* steps are taken down */
  int is_complete; /* of a whole call */
  int is_refused;  /* a call like this cannot be kept */
};

/* The next call may be another one. */
static inline void quadrille_record_forget(struct quadrille_record* record) {
  record->is_complete = record->is_refused = 0;
}
void quadrille_record_begin(struct quadrille_record* record);
/* While it is open: a step that has been gathered. Closes it where the step cannot be kept. */
void quadrille_record_step(struct quadrille_record* record, const struct quadrille_step* step,
                           uintptr_t base);
void quadrille_record_end(struct quadrille_record* record);
/* The whole call again. Returns NULL, or what is wrong: memory ran out. */
const char* quadrille_record_repeat(const struct quadrille_record* record,
                                    struct quadrille_pipeline* pipeline, uintptr_t base);
void quadrille_record_close(struct quadrille_record* record);

#endif /* QUADRILLE_RUNTIME_RECORD_H_ */
