/* Loads a schedule file: envelope, sections, code (compile.c), job. Checks the bounds of every number before it uses
 * the number. Tested by tests/reject, by every single-byte mutant of a file, and by the fuzzer of tests/fuzz. */
#include <stdlib.h>
#include <string.h>

#include "runtime/program/digest.h"
#include "runtime/program/program.h"

const char qd_not_served[] =
    "this library does not serve all-to-alls whose blocks go on from where they were received, or "
    "come to others' places: let temporary blocks carry them";

static const char malformed_job[] = "the job is malformed; make it again";
static const char many_ranks[] = QD_MANY_RANKS "; make it again";

/* ---- Numbers. After the first error all numbers read as 0. */

static uint64_t little_endian(const unsigned char* bytes, int width) {
  uint64_t value = 0;
  for (int i = 0; i < width; i++) value |= (uint64_t)bytes[i] << (8 * i);
  return value;
}

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
    /* The tenth byte holds one bit. A last byte of zero is refused, because a shorter form of the number exists. */
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

/* ---- Envelope and sections */

struct section {
  const unsigned char* payload;
  uint64_t length;
};

/* The sections that this library knows, in the order in which they must stand. */
enum { PROGRAM, JOB, NAMES, REQUIREMENT, SECTIONS };

static const struct {
  const char* tag;
  int flags;
} known_sections[SECTIONS] = {{QD_SECTION_PROGRAM, QD_SECTION_CRITICAL},
                              {QD_SECTION_JOB, QD_SECTION_CRITICAL},
                              {QD_SECTION_NAMES, 0},
                              {QD_SECTION_REQUIREMENT, 0}};

struct sections {
  struct section all[SECTIONS];
  int count;
};

static const char* read_envelope(const unsigned char* file, uint64_t length) {
  if (length > QD_MAX_FILE_LENGTH) return QD_LONG_FILE "; make it again";
  const uint64_t magic = length < QD_MAGIC_LENGTH ? length : QD_MAGIC_LENGTH;
  if (magic == 0 || memcmp(file, QD_MAGIC, magic) != 0)
    return "not a schedule file; make one with the generator";
  if (length < QD_SECTIONS_OFFSET + QD_CHECKSUM_LENGTH) return "truncated; make it again";
  const uint64_t major = little_endian(file + 8, 2), oldest_reader = little_endian(file + 12, 2);
  if (oldest_reader > QD_FORMAT_MAJOR) return "of a later format; use a newer Quadrille library";
  if (major < 1 || oldest_reader < 1 || oldest_reader > major)
    return "impossible version numbers; make it again";
  const uint64_t covered = length - QD_CHECKSUM_LENGTH;
  if (little_endian(file + covered, QD_CHECKSUM_LENGTH) != qd_crc32c(file, covered))
    return "damaged: the checksum does not fit; make it again";
  return NULL;
}

static const char* read_section(struct sections* sections, const unsigned char* head,
                                struct section found) {
  const int flags = head[3];
  if (flags & ~QD_SECTION_CRITICAL) return "a section with unknown flags; make it again";
  for (int i = 0; i < SECTIONS; i++) {
    if (memcmp(head, known_sections[i].tag, 3) != 0) continue;
    if (sections->count != i || flags != known_sections[i].flags)
      return "a section is out of place; make it again";
    sections->all[sections->count++] = found;
    return NULL;
  }
  if (flags & QD_SECTION_CRITICAL)
    return "a section that this library does not know; use a newer one";
  return NULL;
}

static const char* read_sections(struct sections* sections, const unsigned char* file,
                                 uint64_t length, unsigned char digest[32]) {
  const char* const does_not_fill = "sections that do not fill the file; make it again";
  qd_sha256 hash;
  qd_sha256_start(&hash);
  struct qd_reader reader = {file, length - QD_CHECKSUM_LENGTH, QD_SECTIONS_OFFSET, NULL};
  for (uint64_t count = little_endian(file + 14, 2); count > 0; count--) {
    const unsigned char* tag = file + reader.next;
    if (reader.length - reader.next < QD_SECTION_TAG_LENGTH) return does_not_fill;
    reader.next += QD_SECTION_TAG_LENGTH;
    struct section found = {NULL, qd_read_varint(&reader)};
    found.payload = file + reader.next;
    if (reader.error || found.length > reader.length - reader.next) return does_not_fill;
    reader.next += found.length;
    if (tag[3] & QD_SECTION_CRITICAL) qd_sha256_add(&hash, tag, (size_t)(file + reader.next - tag));
    const char* error = read_section(sections, tag, found);
    if (error) return error;
  }
  qd_sha256_end(&hash, digest);
  if (reader.next != reader.length) return does_not_fill;
  if (sections->count < 2) return "a section is missing; make it again";
  if (memcmp(digest, file + QD_HASH_OFFSET, QD_HASH_LENGTH) != 0)
    return "the hash does not fit its contents; make it again";
  return NULL;
}

/* ---- Checks of the code against the rules of its collective */

/* Refuses code that uses lengths in a collective in which no rank knows all lengths. */
static const char* refuse_lengths(const struct qd_program* program) {
  for (int i = 0; i < program->table_count; i++)
    if (program->tables[i].kind == QD_TABLE_COUNTS ||
        program->tables[i].kind == QD_TABLE_REMOTE_COUNTS)
      return "the code asks for counts that no rank has; make it again";
  for (int32_t i = 0; i < program->code.piece_count; i++)
    if (program->code.pieces[i].ranged)
      return "the code names a part of a block whose length no rank knows; make it again";
  return NULL;
}

/* Returns whether a receive that does not combine writes a whole temporary block, whose length is not known. */
static int receives_unknown_length(const struct qd_program* program) {
  unsigned flags = 0;
  for (int32_t i = program->code.body; i < program->code.instruction_count; i++) {
    const struct qd_instruction* each = &program->code.instructions[i];
    const int is_piece = each->operation == QD_DO_PIECE;
    const int is_both = each->operation == QD_DO_PIECE_MESSAGE;
    if (is_both || each->operation == QD_DO_MESSAGE) flags = each->b;
    if (!is_piece && !is_both) continue;
    const struct qd_piece_registers* piece = &program->code.pieces[each->immediate];
    const unsigned combines = QD_MESSAGE_LEFT | QD_MESSAGE_RIGHT;
    if (flags & QD_MESSAGE_RECEIVE && !(flags & combines) && !piece->ranged &&
        piece->buffer == QD_PIECE_TEMPORARY)
      return 1;
  }
  return 0;
}

static const char* refuse_of_collective(const struct qd_program* program) {
  const int scans = program->collective == QD_SCAN || program->collective == QD_EXSCAN;
  if (scans && program->groups == 2)
    return "the code is of a scan between groups, which MPI does not have; make it again";
  if (program->canonical && (program->commutative || !qd_reduces(program)))
    return "the code claims canonical sums, but does not reduce in the order of ranks; make it "
           "again";
  if (!qd_has_global_counts(program)) {
    const char* error = refuse_lengths(program);
    if (error || program->collective != QD_BARRIER) return error;
    if (program->code.piece_count > 0) return "the code moves blocks in a barrier; make it again";
  }
  if (program->uses.sized)
    return "the code sends lengths ahead that every rank knows; make it again";
  if (program->collective == QD_REDUCE_SCATTER && program->in_place)
    return "the code claims that a reduce-scatter is in place; make it again";
  if (receives_unknown_length(program))
    return "the code receives a block of a length that is not known; make it again";
  return NULL;
}

/* ---- Job */

/* Reads `count` runs of nodes. Their sizes must strictly ascend. */
static void read_topology(struct qd_reader* reader, uint64_t count, struct qd_topology* topology) {
  /* Each run takes at least two bytes. So a count above the length is refused before memory is taken. */
  if (count < 1 || count > reader->length) qd_read_fail(reader, malformed_job);
  if (reader->error) return;
  topology->runs = calloc(count, sizeof *topology->runs);
  if (!topology->runs) return qd_read_fail(reader, qd_no_memory);
  int64_t previous = 0;
  for (uint64_t i = 0; i < count && !reader->error; i++) {
    const uint64_t nodes = qd_read_varint(reader), size = qd_read_varint(reader);
    if (nodes > QD_MAX_RANKS || size > QD_MAX_RANKS) return qd_read_fail(reader, many_ranks);
    if (nodes < 1 || (int64_t)size <= previous) return qd_read_fail(reader, malformed_job);
    topology->runs[i] = (struct qd_node_run){(int64_t)nodes, (int64_t)size};
    topology->run_count++;
    topology->nodes += (int64_t)nodes;
    topology->ranks += (int64_t)(nodes * size);
    if (topology->ranks > QD_MAX_RANKS) return qd_read_fail(reader, many_ranks);
    previous = (int64_t)size;
  }
}

/* Checks the rule of a parameter that is set at the call, and reads the costs after it. */
static void read_rule(struct qd_reader* reader, struct qd_program* program, int i) {
  const int64_t rule = program->parameters[i];
  if (rule < QD_CHOOSE_AUTO - (int64_t)QD_MAX_BLOCK_SIZE)
    qd_read_fail(reader, "a rule that this library does not know; use a newer one");
  if (rule > QD_MAX_BLOCK_SIZE) qd_read_fail(reader, QD_GREAT_BLOCK_SIZE "; make it again");
  if (rule != QD_CHOOSE_MODEL && rule != QD_CHOOSE_AUTO) return;
  const uint64_t alpha = qd_read_varint(reader), beta = qd_read_varint(reader);
  if (alpha > QD_MAX_COST || beta > QD_MAX_COST)
    qd_read_fail(reader, QD_GREAT_COST "; make it again");
  program->rules[i].alpha_ns = (int64_t)alpha;
  program->rules[i].beta_ps = (int64_t)beta;
}

/* Reads the nodes. If there are no runs, the schedule is for any nodes. */
static void read_nodes(struct qd_reader* reader, struct qd_program* program) {
  const uint64_t count = qd_read_varint(reader);
  program->serves_any_nodes = !reader->error && count == 0;
  if (program->serves_any_nodes) {
    const uint64_t most = qd_read_varint(reader);
    program->most_ranks = most > 0 ? (int64_t)most : QD_MAX_RANKS;
    if (most > QD_MAX_RANKS) qd_read_fail(reader, many_ranks);
    return;
  }
  read_topology(reader, count, &program->topologies[0]);
  if (program->groups == 2) read_topology(reader, qd_read_varint(reader), &program->topologies[1]);
}

/* Reads a formula, which binding evaluates. Between groups it must be a number, so that both groups get one value. */
static void read_formula(struct qd_reader* reader, struct qd_program* program, int i) {
  const unsigned first = reader->next < reader->length ? reader->bytes[reader->next] : 0;
  const unsigned inlined = QD_INLINE_BIT | QD_INLINE_CONSTANT_BIT;
  if (program->groups == 2 && first != QD_CONSTANT && (first & inlined) != inlined)
    qd_read_fail(reader, "a parameter of a schedule between groups is no number; make it again");
  program->formulas[i] = qd_compile_formula(program, reader);
}

static const char* read_job(struct qd_program* program, struct section section) {
  struct qd_reader reader = {section.payload, section.length, 0, NULL};
  read_nodes(&reader, program);
  for (int i = 0; i < program->parameter_count; i++) {
    if (program->serves_any_nodes && !program->rules[i].at_call) {
      read_formula(&reader, program, i);
      continue;
    }
    program->parameters[i] = qd_read_signed_varint(&reader);
    if (program->rules[i].at_call) read_rule(&reader, program, i);
  }
  if (reader.next != reader.length) qd_read_fail(&reader, malformed_job);
  return reader.error;
}

/* ---- Names and words. They are for people: no call depends on them. */

struct name {
  const char* text; /* not terminated */
  uint64_t length;
};

static int is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Returns whether the name is a word that is not reserved. An algorithm's name may have - and + inside. */
static int is_name(struct name name, int is_algorithm) {
  char spaced[QD_MAX_NAME_LENGTH + 3] = " ";
  for (uint64_t i = 0; i < name.length; i++) {
    const char c = name.text[i];
    const int joins = c == '-' || c == '+' || c == '_', is_end = i == 0 || i == name.length - 1;
    if (is_algorithm && joins ? is_end : !is_letter(c)) return 0;
    spaced[i + 1] = c;
  }
  spaced[name.length + 1] = ' ';
  if (name.length == 0 || (name.text[0] >= '0' && name.text[0] <= '9')) return 0;
  return is_algorithm || !strstr(QD_RESERVED_WORDS, spaced);
}

/* Reads a string whose length was read before, at most QD_MAX_NAME_LENGTH bytes. */
static struct name read_text(struct qd_reader* reader, uint64_t length) {
  if (length > QD_MAX_NAME_LENGTH || length > reader->length - reader->next)
    qd_read_fail(reader, "too long");
  if (reader->error) return (struct name){"", 0};
  const struct name text = {(const char*)reader->bytes + reader->next, length};
  reader->next += length;
  return text;
}

/* Returns whether all parameters and tables have different names. */
static int are_different(const struct qd_program* program, const struct name* names) {
  struct name global[QD_MAX_PARAMETERS + QD_MAX_TABLES];
  const struct name* next = names + 1; /* the first name is that of the algorithm */
  const int count = program->parameter_count + program->table_count;
  for (int i = 0; i < count; i++) {
    global[i] = *next++;
    const int table = i - program->parameter_count;
    if (table >= 0 && program->tables[table].kind == QD_TABLE_MAP) next++; /* skips its index */
    for (int k = 0; k < i; k++)
      if (global[k].length == global[i].length &&
          memcmp(global[k].text, global[i].text, global[i].length) == 0)
        return 0;
  }
  return 1;
}

static const char* read_names(struct qd_program* program, struct section section) {
  const char* const error = "the names do not fit the code; make it again";
  struct qd_reader reader = {section.payload, section.length, 0, NULL};
  const uint64_t count = (uint64_t)program->name_count;
  if (count > section.length) return error; /* each name takes at least one byte */
  struct name* names = malloc((size_t)count * sizeof *names);
  if (!names) return qd_no_memory;
  int fits = 1;
  for (uint64_t i = 0; i < count && fits; i++) {
    const uint64_t length = qd_read_varint(&reader), earlier = length - QD_NAME_AGAIN;
    if (length >= QD_NAME_AGAIN && earlier < i)
      names[i] = names[earlier];
    else
      names[i] = read_text(&reader, length);
    fits = is_name(names[i], i == 0);
  }
  fits = fits && !reader.error && reader.next == reader.length && are_different(program, names);
  if (fits) memcpy(program->algorithm, names[0].text, names[0].length);
  if (fits) program->algorithm[names[0].length] = 0;
  free(names);
  return fits ? NULL : error;
}

/* Reads the requirements in words. */
static const char* read_words(struct qd_program* program, struct section section) {
  struct qd_reader reader = {section.payload, section.length, 0, NULL};
  const struct name text = read_text(&reader, qd_read_varint(&reader));
  int fits = text.length > 0 && reader.next == reader.length;
  for (uint64_t i = 0; i < text.length; i++) fits &= text.text[i] >= ' ' && text.text[i] <= '~';
  if (!fits) return "the words of the requirement are malformed; make it again";
  memcpy(program->needs, text.text, text.length);
  return NULL;
}

const char* qd_program_load(struct qd_program* program, const unsigned char* file,
                            uint64_t length) {
  memset(program, 0, sizeof *program);
  struct sections sections = {0};
  unsigned char digest[32];
  const char* error = read_envelope(file, length);
  if (!error) error = read_sections(&sections, file, length, digest);
  if (!error)
    error = qd_compile(program, sections.all[PROGRAM].payload, sections.all[PROGRAM].length);
  if (!error) error = refuse_of_collective(program);
  if (!error) error = read_job(program, sections.all[JOB]);
  strcpy(program->algorithm, "unnamed");
  if (!error && sections.count > NAMES) error = read_names(program, sections.all[NAMES]);
  if (!error && sections.count > REQUIREMENT)
    error = read_words(program, sections.all[REQUIREMENT]);
  if (error) {
    qd_program_destroy(program);
    return error;
  }
  memcpy(program->hash, digest, QD_HASH_LENGTH);
  return NULL;
}

void qd_program_destroy(struct qd_program* program) {
  free(program->topologies[0].runs);
  free(program->topologies[1].runs);
  free(program->code.instructions);
  free(program->code.pieces);
  free(program->literals);
  memset(program, 0, sizeof *program);
}
