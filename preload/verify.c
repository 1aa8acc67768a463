/* QUADRILLE=verify: MPI's own collective runs first. Its result is packed and kept, and the buffer is restored. Then the
 * schedule runs, and both results are compared. Bytes between the blocks' elements are never read, since they may not be
 * readable memory.
 *
 * MPI leaves the order of operands open. It may change a sum or product of floating-point numbers, the result of a program's
 * own operator on them, and a maximum or minimum with a NaN among the operands. Such calls are not compared. Zeros of both
 * signs are equal. Tested by tests/preload/choice_test.sh and corners_test.sh. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "preload/preload.h"
#include "runtime/execute/datatypes.h"

/* Three packed parts: the receive buffer before the call, MPI's own result, and the schedule's result. */
struct preload_results {
  int64_t size;     /* bytes of each part */
  int64_t received; /* bytes of a result, at most `size` */
  char bytes[];
};

/* ---- Comparison of results */

/* Whether the datatype contains floating-point numbers; 1 if MPI does not say. */
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

/* The size of the floating-point number at the start of each element of one of MPI's own types, or 0. */
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

/* The first packed byte that differs, or `count`. Each element begins with a number of that size, if it is not 0. */
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

/* ---- The blocks of a call */

typedef int conversion(const struct qd_side*, struct qd_block, char*, MPI_Comm);

/* Converts all blocks of a side to or from their packed form, one after another. */
static void convert(const struct preload_side* side, int blocks, char* packed, conversion* way,
                    MPI_Comm comm) {
  for (int i = 0; i < blocks; i++) {
    struct qd_side typed = {.type = preload_type(side, i), .uniform = 1, .count = 1};
    const int64_t count = (int64_t)preload_count(side, i);
    if (count == 0) continue; /* an empty block may have any type and address */
    qd_side_describe(&typed, 1);
    const MPI_Aint offset = side->displacements         ? side->displacements[i]
                            : side->large_displacements ? side->large_displacements[i]
                                                        : i * (MPI_Aint)side->count;
    const MPI_Aint unit = side->types ? 1 : (MPI_Aint)typed.extent;
    char* address = (char*)((uintptr_t)side->base + (uintptr_t)(offset * unit));
    way(&typed, (struct qd_block){address, count}, packed, comm);
    packed += count * typed.type_size;
  }
}

/* Whether this rank contributes a NaN; 1 if memory runs out. */
static int contributes_nan(const struct preload_call* call) {
  const struct preload_side side = preload_operands(call);
  const size_t number = number_size(side.type);
  const int64_t bytes =
      call->root == MPI_ROOT || call->root == MPI_PROC_NULL ? 0 : preload_side_bytes(&side, 1);
  MPI_Count element = 1;
  char* packed = malloc((size_t)bytes + 1);
  int found = !packed;
  if (packed && bytes > 0) convert(&side, 1, packed, qd_pack, call->of->comm);
  MPI_Type_size_x(side.type, &element);
  for (int64_t i = 0; packed && i < bytes; i += (int64_t)element)
    found |= isnan(number_at(packed + i, number));
  free(packed);
  return found;
}

/* Whether the order of operands may change the results of the call. */
static int depends_on_order(const struct preload_call* call) {
  const MPI_Datatype type = call->receive.type;
  if (!preload_reduces(call->collective) || type == MPI_DATATYPE_NULL || !has_floats(type))
    return 0;
  return !takes_extremes(call->operation) || number_size(type) == 0 || contributes_nan(call);
}

/* The blocks that the call may overwrite: the receive blocks, and the operands of a reduction in place. */
static int overwritten(const struct preload_call* call, struct preload_side* side) {
  const int blocks = preload_received(call, side);
  if (call->send.base != MPI_IN_PLACE || !preload_reduces(call->collective)) return blocks;
  *side = preload_operands(call);
  return call->collective == PRELOAD_Reduce ? blocks : 1;
}

void preload_verify_begin(struct preload_call* call) {
  struct preload_side side, received;
  const int blocks = overwritten(call, &side);
  const int64_t size = preload_side_bytes(&side, blocks);
  struct preload_results* results = malloc(sizeof *results + 3 * (size_t)size);
  enum { LACKS, DEPENDS, WORDS };
  const int mine[WORDS] = {[LACKS] = !results, [DEPENDS] = depends_on_order(call)};
  int all[WORDS];
  preload_most(call->of, mine, all, WORDS, MPI_INT);
  if (all[LACKS] || all[DEPENDS] || !results) {
    call->reason = all[LACKS] ? "by rule; not compared: memory ran out"
                              : "by rule; not compared: the order of operands may matter";
    free(results);
    return;
  }
  call->is_verified = 1;
  call->results = results;
  results->size = size;
  results->received = preload_side_bytes(&received, preload_received(call, &received));
  convert(&side, blocks, results->bytes, qd_pack, call->of->comm);
}

void preload_verify_native(const struct preload_call* call) {
  char* before = call->results->bytes;
  struct preload_side side;
  int blocks = preload_received(call, &side);
  convert(&side, blocks, before + call->results->size, qd_pack, call->of->comm);
  blocks = overwritten(call, &side);
  convert(&side, blocks, before, qd_unpack, call->of->comm);
}

void preload_verify_end(const struct preload_call* call) {
  const struct preload_results* results = call->results;
  char *const native = call->results->bytes + results->size, *const ours = native + results->size;
  struct preload_side side;
  MPI_Count element = 1;
  convert(&side, preload_received(call, &side), ours, qd_pack, call->of->comm);
  const size_t number = preload_reduces(call->collective) ? number_size(side.type) : 0;
  if (number > 0) MPI_Type_size_x(side.type, &element);
  const int64_t i = first_difference(native, ours, results->received, number, (int64_t)element);
  if (i == results->received) return;
  int block = 0;
  while (preload_side_bytes(&side, block + 1) <= i) block++;
  fprintf(stderr,
          "quadrille: verify: %s by %s differs from MPI's own at rank %d: byte %lld of block %d is "
          "%d instead of %d\n",
          preload_collectives[call->collective].name, preload_schedule_name(call->universal),
          call->of->rank, (long long)(i - preload_side_bytes(&side, block)), block,
          (unsigned char)ours[i], (unsigned char)native[i]);
  /* Gives the launcher time to pass the message on before it ends the job. */
  nanosleep(&(struct timespec){0, 200000000}, NULL);
  MPI_Abort(call->of->comm, 1);
}
