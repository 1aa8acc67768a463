/* What the two files of the interpreter share. */
#ifndef QUADRILLE_RUNTIME_WALK_H_
#define QUADRILLE_RUNTIME_WALK_H_

#include "runtime/program.h"

/* Entries <= x, minus one, of an ascending table; `near` is where to look first. */
int64_t quadrille_locate_near(const int64_t* entries, int64_t length, int64_t x, int64_t near);

/* walk_run.c: tries the iteration of the loop at whose start `run` stands. Returns for how many
 * iterations event->run holds, its kind being QUADRILLE_EVENT_END where they do nothing; 0 where the
 * iteration is not like the next. Changes nothing else but what the iteration itself sets first. */
int64_t quadrille_walk_run(struct quadrille_walker* walker, const struct quadrille_instruction* run,
                           struct quadrille_event* event);

#endif /* QUADRILLE_RUNTIME_WALK_H_ */
