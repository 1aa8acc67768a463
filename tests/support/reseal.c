/* Follows the layout in runtime/program/table_format.h as far as the bytes allow. tests/mutation tests that both
 * readers accept the result if no byte was changed. */
#include "tests/support/reseal.h"

#include <string.h>

#include "runtime/program/digest.h"
#include "runtime/program/table_format.h"

/* Returns the end of the section that starts at `start`, or 0 if it does not end within the file. */
static size_t section_end(const unsigned char* file, size_t start, size_t limit) {
  size_t at = start + QD_SECTION_TAG_LENGTH;
  size_t payload = 0;
  for (int shift = 0;; shift += 7) {
    if (at >= limit || shift > 56) return 0;
    payload |= (size_t)(file[at] & 0x7f) << shift;
    if (!(file[at++] & 0x80)) break;
  }
  return payload <= limit - at ? at + payload : 0;
}

static int hash_sections(const unsigned char* file, size_t limit, unsigned char digest[32]) {
  qd_sha256 hash;
  qd_sha256_start(&hash);
  for (size_t start = QD_SECTIONS_OFFSET; start < limit;) {
    const size_t end = section_end(file, start, limit);
    if (end == 0) return 0;
    if (file[start + 3] & QD_SECTION_CRITICAL) qd_sha256_add(&hash, file + start, end - start);
    start = end;
  }
  qd_sha256_end(&hash, digest);
  return 1;
}

void quadrille_reseal(unsigned char* file, size_t length) {
  if (length < QD_SECTIONS_OFFSET + QD_CHECKSUM_LENGTH) return;
  const size_t covered = length - QD_CHECKSUM_LENGTH;
  unsigned char digest[32];
  if (hash_sections(file, covered, digest)) memcpy(file + QD_HASH_OFFSET, digest, QD_HASH_LENGTH);
  quadrille_fix_checksum(file, length);
}

void quadrille_fix_checksum(unsigned char* file, size_t length) {
  const size_t covered = length - QD_CHECKSUM_LENGTH;
  const uint32_t checksum = qd_crc32c(file, covered);
  for (int i = 0; i < QD_CHECKSUM_LENGTH; i++)
    file[covered + (size_t)i] = (unsigned char)(checksum >> 8 * i);
}
