/* What a rank brings to a binding, and what all ranks make of it. */
#ifndef QUADRILLE_RUNTIME_AGREE_H_
#define QUADRILLE_RUNTIME_AGREE_H_

#include "runtime/internal.h"

/* A class and a text where this rank cannot go on. */
struct quadrille_offer {
  int error_class;
  char text[QUADRILLE_TEXT];
};
void quadrille_refuse(struct quadrille_offer* offer, int error_class, const char* text);
/* The same; of another class where memory ran out. */
void quadrille_refuse_for(struct quadrille_offer* offer, int error_class, const char* text);

/* NULL, or a text about what of the language this library does not run. */
const char* quadrille_unserved(const struct quadrille_program* program);
/* The options that the caller knows of, with defaults for the rest; refuses what makes no sense. */
quadrille_bind_options quadrille_known_options(const quadrille_bind_options* options,
                                               struct quadrille_offer* offer);
/* The same for the program that is to be bound. */
void quadrille_check_block_size(const struct quadrille_program* program, int64_t block_size,
                                struct quadrille_offer* offer);

/* The same at all ranks: the worst class of error, what is one everywhere, and whether
 * QUADRILLE_DEBUG is set everywhere. */
struct quadrille_agreement {
  int error_class;
  int same_schedule, same_layout, same_block_size, all_debug;
};
/* `loaded` and `options` may be NULL. An MPI error code. */
int quadrille_agree(MPI_Comm comm, int error_class, const struct quadrille_loaded* loaded,
                    const quadrille_bind_options* options, struct quadrille_agreement* agreement);
/* Whether all ranks have come this far; where this one has and another has not, that is its error
 * too. */
int quadrille_all_well(MPI_Comm comm, struct quadrille_offer* offer);

#endif /* QUADRILLE_RUNTIME_AGREE_H_ */
