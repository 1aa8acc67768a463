/* The checksum and the hash of a schedule file. Both are standard functions, written here because the runtime depends
 * on MPI and libc alone. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the CRC-32C (Castagnoli, RFC 3720 appendix B.4) of `length` bytes. */
uint32_t qd_crc32c(const void* bytes, size_t length);

/* The state of SHA-256 (FIPS 180-4). The bytes are added in any number of calls. */
typedef struct {
  uint32_t state[8];
  uint64_t length; /* bytes so far */
  unsigned char block[64];
} qd_sha256;

void qd_sha256_start(qd_sha256* hash);
void qd_sha256_add(qd_sha256* hash, const void* bytes, size_t length);
void qd_sha256_end(qd_sha256* hash, unsigned char digest[32]);

#ifdef __cplusplus
}
#endif
