/* Makes a changed schedule file look untouched: readers see the change, not a broken seal. */
#ifndef QUADRILLE_TESTS_SUPPORT_RESEAL_H_
#define QUADRILLE_TESTS_SUPPORT_RESEAL_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes the hash of the critical sections and the checksum of `length` bytes of a file again, in
 * place. Where the sections cannot be told apart any more, the hash stays as it is. */
void quadrille_reseal(unsigned char* file, size_t length);

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_TESTS_SUPPORT_RESEAL_H_ */
