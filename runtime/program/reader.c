/* The numbers of a schedule file, one after another. The first mistake ends the reading: from then on all are 0. */
#include "runtime/program/program.h"

const char qd_no_memory[] = "out of memory";

unsigned qd_read_byte(struct qd_reader* reader) {
  if (reader->error) return 0;
  if (reader->next == reader->length) {
    reader->error = "the schedule is malformed; make it again";
    return 0;
  }
  return reader->bytes[reader->next++];
}

void qd_read_fail(struct qd_reader* reader, const char* error) {
  if (!reader->error) reader->error = error;
}

uint64_t qd_read_varint(struct qd_reader* reader) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const unsigned next = qd_read_byte(reader);
    /* The tenth byte holds one bit; a last byte of zero would be a longer form of a number. */
    if ((shift == 63 && next > 1) || (shift > 0 && next == 0))
      qd_read_fail(reader, "the schedule is malformed; make it again");
    if (reader->error) return 0;
    value |= (uint64_t)(next & 0x7f) << shift;
    if (next < 0x80) return value;
  }
}

int64_t qd_read_signed_varint(struct qd_reader* reader) {
  const uint64_t value = qd_read_varint(reader);
  return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}
