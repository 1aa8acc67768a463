/* The steps of a call, kept for the next one like it. */
#ifndef QUADRILLE_RUNTIME_RECORD_H_
#define QUADRILLE_RUNTIME_RECORD_H_

#include "runtime/pipeline.h"

struct quadrille_recorded_step {
  int64_t key, after, sent_bytes;
  int receives, sends; /* how many of `all` are its own: those that follow the ones before */
  int needed;          /* so many receives of `all` are over before its sends may go */
};

struct quadrille_record {
  struct quadrille_recorded_step* steps;
  int step_count, room;
  struct quadrille_step all; /* the messages of all steps, one after the other */
  uintptr_t base;            /* of the blocks, for the addresses in `all` */
  int first_missing, needed; /* while it is open: the step that sends may still wait for, and so
                                many receives come before it */
  int is_open;               /* steps are taken down */
  int is_complete;           /* of a whole call */
  int is_whole;              /* then: all of it may be under way at once */
  int is_refused;            /* a call like this cannot be kept */
};

/* The next call may be another one. */
static inline void quadrille_record_forget(struct quadrille_record* record) {
  record->is_complete = record->is_refused = 0;
}
/* record.c */
void quadrille_record_begin(struct quadrille_record* record, uintptr_t base);
/* While it is open: a step that has been gathered. Closes it where the step cannot be kept. */
void quadrille_record_step(struct quadrille_record* record, const struct quadrille_step* step);
/* `window`: steps in flight, of the calls that repeat it. */
void quadrille_record_end(struct quadrille_record* record, uint64_t window);
void quadrille_record_close(struct quadrille_record* record);

/* repeat.c: the whole call again. Returns NULL, or what is wrong: memory ran out. */
const char* quadrille_record_repeat(struct quadrille_record* record,
                                    struct quadrille_pipeline* pipeline, uintptr_t base);

#endif /* QUADRILLE_RUNTIME_RECORD_H_ */
