/* QUADRILLE=verify: the library's own collective receives first. What it brought is packed and kept, and what stood there
 * before is put back; then the schedule receives, and both results are compared. Bytes that no datatype covers are not
 * looked at: they may be no memory at all.
 *
 * A sum or product of floating-point numbers depends on the order of the operands, which MPI leaves open. So may what a
 * program's own operator makes of such numbers, and a maximum or minimum where an operand is no number. These are not
 * compared. Zeros of both signs are equal. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emitted/universal.h"
#include "preload/preload.h"
#include "runtime/execute/datatypes.h"

/* In one piece of memory: what the receive buffer held, then what the library's own collective brought, then what the
 * schedule brings; each packed. */
struct preload_results {
  int64_t kept; /* bytes of each */
  int64_t compared;
  char bytes[];
};

/* ---- What results are compared as */

/* Whether the datatype has floating-point numbers in it; 1 where MPI does not say. */
static int has_floats(MPI_Datatype type) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  struct qd_envelope making;
  int length = 0, found = 0;
  if (qd_read_envelope(type, &making) != MPI_SUCCESS) return 1;
  if (making.combiner == MPI_COMBINER_NAMED) {
    MPI_Type_get_name(type, name, &length);
    return strstr(name, "FLOAT") || strstr(name, "DOUBLE") || strstr(name, "REAL") ||
           strstr(name, "COMPLEX");
  }
  if (qd_is_predefined(type)) return making.combiner != MPI_COMBINER_F90_INTEGER;
  MPI_Datatype* inner = malloc((size_t)making.types * sizeof *inner);
  if (!inner || qd_read_inner_types(type, &making, inner) != MPI_SUCCESS) {
    free(inner);
    return 1;
  }
  for (MPI_Count i = 0; i < making.types; i++) found |= has_floats(inner[i]);
  qd_free_inner(inner, making.types);
  free(inner);
  return found;
}

/* The floating-point number with which each element of MPI's own types begins: its size in bytes, or 0. */
static size_t number_size(MPI_Datatype type) {
  const struct {
    MPI_Datatype type;
    size_t size;
  } all[] = {{MPI_FLOAT, sizeof(float)},
             {MPI_DOUBLE, sizeof(double)},
             {MPI_LONG_DOUBLE, sizeof(long double)},
             {MPI_REAL, sizeof(float)},
             {MPI_DOUBLE_PRECISION, sizeof(double)},
             {MPI_REAL4, sizeof(float)},
             {MPI_REAL8, sizeof(double)},
             {MPI_FLOAT_INT, sizeof(float)},
             {MPI_DOUBLE_INT, sizeof(double)},
             {MPI_LONG_DOUBLE_INT, sizeof(long double)},
             {MPI_2REAL, sizeof(float)},
             {MPI_2DOUBLE_PRECISION, sizeof(double)}};
  for (size_t i = 0; type != MPI_DATATYPE_NULL && i < sizeof all / sizeof *all; i++)
    if (all[i].type == type) return all[i].size;
  return 0;
}

static int takes_extremes(MPI_Op operation) {
  return operation == MPI_MAX || operation == MPI_MIN || operation == MPI_MAXLOC ||
         operation == MPI_MINLOC;
}

static long double number_at(const char* bytes, size_t size) {
  float narrow;
  double usual;
  long double wide;
  if (size == sizeof narrow) return memcpy(&narrow, bytes, sizeof narrow), (long double)narrow;
  if (size == sizeof usual) return memcpy(&usual, bytes, sizeof usual), (long double)usual;
  return memcpy(&wide, bytes, sizeof wide), wide;
}

/* Of so many packed bytes, the first that differs; `count` where none does. */
static int64_t first_difference(const char* one, const char* other, int64_t count, size_t number,
                                int64_t element) {
  if (number == 0) {
    int64_t i = 0;
    while (i < count && one[i] == other[i]) i++;
    return i;
  }
  const size_t rest = (size_t)element - number;
  for (int64_t i = 0; i < count; i += element) {
    const long double a = number_at(one + i, number), b = number_at(other + i, number);
    if (a != b || memcmp(one + i + number, other + i + number, rest) != 0) return i;
  }
  return count;
}

/* ---- What is received */

static struct qd_block block_of(const struct preload_side* side, int block, struct qd_side* typed) {
  *typed = (struct qd_side){.type = preload_type(side, block), .uniform = 1, .count = 1};
  const int64_t count = (int64_t)preload_count(side, block);
  if (count == 0 || typed->type == MPI_DATATYPE_NULL) return (struct qd_block){NULL, 0};
  qd_side_describe(typed, 1);
  return (struct qd_block){(char*)((uintptr_t)side->base + (uintptr_t)preload_place(side, block)),
                           count};
}

static int64_t bytes_of(const struct preload_side* side, int blocks) {
  struct qd_side typed;
  int64_t bytes = 0;
  for (int i = 0; i < blocks; i++) bytes += block_of(side, i, &typed).count * typed.type_size;
  return bytes;
}

/* All blocks of a side to their packed form one behind the other, or back. */
static void convert(const struct preload_side* side, int blocks, char* packed, int unpacks,
                    MPI_Comm comm) {
  struct qd_side typed;
  for (int i = 0; i < blocks; i++) {
    const struct qd_block block = block_of(side, i, &typed);
    (unpacks ? qd_unpack : qd_pack)(&typed, block, packed, comm);
    packed += block.count * typed.type_size;
  }
}

/* The elements that a reduction is given at this rank, as one block. */
static struct preload_side operands(const struct preload_turn* turn,
                                    const struct preload_arguments* a) {
  struct preload_side side = a->send.base == MPI_IN_PLACE ? a->receive : a->send;
  side.count = a->receive.count;
  side.counts = NULL;
  side.large_counts = NULL;
  if (turn->collective != PRELOAD_Reduce_scatter &&
      turn->collective != PRELOAD_Reduce_scatter_block)
    return side;
  side.count = 0;
  for (int i = 0; i < turn->of->shape.ranks; i++) side.count += preload_count(&a->receive, i);
  return side;
}

/* Whether this rank gives a reduction something that is no number; 1 where memory runs out. */
static int gives_no_number(const struct preload_turn* turn, const struct preload_arguments* a) {
  const struct preload_side side = operands(turn, a);
  const size_t number = number_size(side.type);
  const int64_t bytes = a->root == MPI_ROOT || a->root == MPI_PROC_NULL ? 0 : bytes_of(&side, 1);
  MPI_Count element = 1;
  char* packed = malloc((size_t)bytes + 1);
  int found = !packed;
  if (packed && bytes > 0) convert(&side, 1, packed, 0, turn->of->comm);
  MPI_Type_size_x(side.type, &element);
  for (int64_t i = 0; packed && i < bytes; i += (int64_t)element)
    found |= isnan(number_at(packed + i, number));
  free(packed);
  return found;
}

/* Whether the order of operands may change the results of the call. */
static int depends_on_order(const struct preload_turn* turn, const struct preload_arguments* a) {
  const MPI_Datatype type = a->receive.type;
  if (!preload_reduces(turn->collective) || type == MPI_DATATYPE_NULL || !has_floats(type))
    return 0;
  return !takes_extremes(a->operation) || number_size(type) == 0 || gives_no_number(turn, a);
}

/* What the call may overwrite: what it receives, and, in place, what a reduction is given. */
static int overwritten(const struct preload_turn* turn, const struct preload_arguments* a,
                       struct preload_side* side) {
  const int blocks = preload_received(turn, a, side);
  if (a->send.base != MPI_IN_PLACE || !preload_reduces(turn->collective)) return blocks;
  *side = operands(turn, a);
  return turn->collective == PRELOAD_Reduce ? blocks : 1;
}

void preload_verify_begin(struct preload_turn* turn, const struct preload_arguments* a) {
  struct preload_side side, received;
  const int blocks = overwritten(turn, a, &side);
  const int64_t kept = bytes_of(&side, blocks);
  const int64_t compared = bytes_of(&received, preload_received(turn, a, &received));
  struct preload_results* results = malloc(sizeof *results + 3 * (size_t)kept);
  enum { LACKS, DEPENDS, WORDS };
  const int mine[WORDS] = {[LACKS] = !results, [DEPENDS] = depends_on_order(turn, a)};
  int all[WORDS];
  preload_most(turn->of, mine, all, WORDS, MPI_INT);
  turn->is_verified = !all[LACKS] && !all[DEPENDS] && results;
  if (!turn->is_verified)
    turn->reason = all[LACKS] ? "by rule; not compared: memory ran out"
                              : "by rule; not compared: the order of operands may matter";
  if (!turn->is_verified || !results) {
    free(results);
    return;
  }
  results->kept = kept;
  results->compared = compared;
  turn->results = results;
  convert(&side, blocks, results->bytes, 0, turn->of->comm);
}

void preload_verify_native(const struct preload_turn* turn, const struct preload_arguments* a) {
  struct preload_results* results = turn->results;
  struct preload_side side, received;
  const int blocks = preload_received(turn, a, &received);
  convert(&received, blocks, results->bytes + results->kept, 0, turn->of->comm);
  convert(&side, overwritten(turn, a, &side), results->bytes, 1, turn->of->comm);
}

/* Which block has that packed byte, and which of its bytes it is. */
static int find_block(const struct preload_side* side, int64_t* byte) {
  struct qd_side typed;
  for (int block = 0;; block++) {
    const int64_t bytes = block_of(side, block, &typed).count * typed.type_size;
    if (*byte < bytes) return block;
    *byte -= bytes;
  }
}

void preload_verify_end(const struct preload_turn* turn, const struct preload_arguments* a) {
  struct preload_results* results = turn->results;
  struct preload_side side;
  const int blocks = preload_received(turn, a, &side);
  char *const native = results->bytes + results->kept, *const ours = native + results->kept;
  MPI_Count element = 1;
  convert(&side, blocks, ours, 0, turn->of->comm);
  const size_t number = preload_reduces(turn->collective) ? number_size(side.type) : 0;
  if (number > 0) MPI_Type_size_x(side.type, &element);
  const int64_t i = first_difference(native, ours, results->compared, number, (int64_t)element);
  if (i == results->compared) return;
  int64_t byte = i;
  const int block = find_block(&side, &byte);
  fprintf(stderr,
          "quadrille: verify: %s by %s differs from MPI's own at rank %d: byte %lld of block %d is "
          "%d instead of %d\n",
          preload_collective_names[turn->collective], quadrille_universal[turn->universal].name,
          turn->of->rank, (long long)byte, block, (unsigned char)ours[i], (unsigned char)native[i]);
  /* So that the launcher passes it on before it ends the job. */
  nanosleep(&(struct timespec){0, 200000000}, NULL);
  MPI_Abort(turn->of->comm, 1);
}
