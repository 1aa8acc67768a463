/* Makes a changed schedule file look intact, so that readers see the change and not a broken checksum. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Recomputes the hash of the critical sections and the checksum in a file of `length` bytes. The hash stays if the
 * sections can no longer be told apart. */
void quadrille_reseal(unsigned char* file, size_t length);
/* Recomputes the checksum alone. */
void quadrille_fix_checksum(unsigned char* file, size_t length);

#ifdef __cplusplus
}
#endif
