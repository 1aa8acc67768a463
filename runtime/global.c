/* Everything global, in one place. */
#include "runtime/internal.h"

struct quadrille_global quadrille_global = {.lock = PTHREAD_MUTEX_INITIALIZER};
