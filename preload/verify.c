/* QUADRILLE=verify: MPI's own collective runs first. Its result is packed and kept, and the buffer is restored. Then the
 * schedule runs, and both results are compared. Bytes between the blocks' elements are never read, since they may not be
 * readable memory.
 *
 * MPI leaves the order of operands open. It may change a sum or product of floating-point numbers. So another
 * reduction computes a scale for each element, from which numbers.c bounds how far two results may differ. No such
 * bound is known for the program's own operators on floating-point numbers, so these calls are not compared. Zeros of
 * both signs are equal. Tested by tests/preload/choice_test.sh and corners_test.sh. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "preload/preload.h"
#include "runtime/execute/datatypes.h"

struct preload_results {
  int64_t size;     /* bytes of each of the three packed buffers at `before`: */
  char* before;     /* the contents before the call, MPI's own result, and the schedule's */
  int64_t received; /* bytes of a result, at most `size` */
  struct preload_numbers numbers;
  int64_t elements;    /* of this rank's vector, in a reduction with a scale; else 0 */
  char* operands;      /* this rank's vector, packed */
  long double* scales; /* of each element that this rank receives; NULL: compare bytes */
  long double memory[];
};

/* ---- Calls that cannot be compared */

/* Returns whether the datatype may contain floating-point numbers, as MPI_BYTE and types without description may. */
static int has_floats(MPI_Datatype type) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  struct qd_envelope making;
  int length = 0, found = 0;
  if (qd_read_envelope(type, &making) != MPI_SUCCESS) return 1;
  if (making.combiner == MPI_COMBINER_NAMED) {
    PMPI_Type_get_name(type, name, &length);
    return strstr(name, "FLOAT") || strstr(name, "DOUBLE") || strstr(name, "REAL") ||
           strstr(name, "COMPLEX") || type == MPI_BYTE || type == MPI_PACKED;
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

/* Returns whether the order of operands may change the results of the call by an unknown amount. */
static int depends_on_order(const struct preload_call* call,
                            const struct preload_numbers* numbers) {
  const int is_integer = numbers->kind == PRELOAD_SIGNED || numbers->kind == PRELOAD_UNSIGNED;
  if (!(call->significant & QD_OPERATOR) || preload_has_scale(numbers, call->given.operation))
    return 0;
  if (is_integer && qd_is_predefined_operator(call->given.operation)) return 0;
  return has_floats(preload_operands(call).type);
}

/* ---- The blocks of a call */

typedef int conversion(const struct qd_side*, struct qd_block, char*, MPI_Comm);

/* Packs all blocks of a side one after another, or unpacks them. `way`: qd_pack or qd_unpack. */
static void convert(const struct qd_side* side, int blocks, char* packed, conversion* way,
                    MPI_Comm comm) {
  for (int i = 0; i < blocks; i++) {
    struct qd_side typed = {.type = preload_type(side, i), .uniform = 1, .count = 1};
    const int64_t count = (int64_t)qd_count_of(side, i);
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

/* Returns the number of blocks that the call may overwrite: received ones, and operands of a reduction in place. */
static int overwritten(const struct preload_call* call, struct qd_side* side) {
  const int blocks = preload_received(call, side);
  if (call->given.role != QD_ROLE_IN_PLACE || !preload_reduces(call->collective)) return blocks;
  *side = preload_operands(call);
  return call->collective == PRELOAD_Reduce ? blocks : 1;
}

/* ---- Scales */

/* Adds up the scales of the operands of each element that this rank receives, with the collective of the call. */
static void add_scales(const struct preload_call* call, struct preload_results* results) {
  long double* const mine = results->memory;
  long double* const all = mine + results->elements;
  const int count = (int)results->elements;
  MPI_Count size = 1;
  if (count > 0 && call->given.root != MPI_ROOT) {
    const struct qd_side side = preload_operands(call);
    convert(&side, 1, results->operands, qd_pack, call->of->comm);
    PMPI_Type_size_x(side.type, &size);
  }
  for (int i = 0; i < count && call->given.root != MPI_ROOT; i++)
    mine[i] = preload_scale(&results->numbers, call->given.operation, results->operands + i * size);
  const MPI_Comm comm = call->of->comm;
  switch (call->collective) {
    case PRELOAD_Reduce:
      PMPI_Reduce(mine, all, count, MPI_LONG_DOUBLE, MPI_SUM, call->given.root, comm);
      break;
    case PRELOAD_Scan: PMPI_Scan(mine, all, count, MPI_LONG_DOUBLE, MPI_SUM, comm); break;
    case PRELOAD_Exscan: PMPI_Exscan(mine, all, count, MPI_LONG_DOUBLE, MPI_SUM, comm); break;
    default: PMPI_Allreduce(mine, all, count, MPI_LONG_DOUBLE, MPI_SUM, comm);
  }
  results->scales = all;
  const int is_scattered = call->collective == PRELOAD_Reduce_scatter ||
                           call->collective == PRELOAD_Reduce_scatter_block;
  for (int i = 0; is_scattered && i < call->of->rank; i++)
    results->scales += qd_count_of(&call->given.receive, i);
}

/* Returns whether any rank receives an element that may have any value. Collective. */
static int has_open_elements(const struct preload_call* call,
                             const struct preload_results* results) {
  struct qd_side side;
  const int blocks = preload_received(call, &side);
  int mine = 0, any = 0;
  for (MPI_Count i = 0; results->elements > 0 && blocks > 0 && i < side.count; i++)
    mine |= preload_is_open(&results->numbers, call->given.operation, results->scales[i]);
  qd_allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, call->of->comm);
  return any;
}

/* ---- A call begins */

/* Allocates the results of the call. Returns NULL if memory runs out. */
static struct preload_results* make(const struct preload_call* call,
                                    const struct preload_numbers* numbers) {
  struct qd_side side, received;
  const int64_t size = preload_side_bytes(&side, overwritten(call, &side));
  const int is_scaled =
      call->significant & QD_OPERATOR && preload_has_scale(numbers, call->given.operation);
  const struct qd_side operands = is_scaled ? preload_operands(call) : (struct qd_side){0};
  const int64_t elements = (int64_t)operands.count;
  const int64_t bytes = is_scaled ? preload_side_bytes(&operands, 1) : 0;
  struct preload_results* results =
      malloc(sizeof *results + 2 * (size_t)elements * sizeof *results->memory + (size_t)bytes +
             3 * (size_t)size);
  if (!results) return NULL;
  results->size = size;
  results->received = preload_side_bytes(&received, preload_received(call, &received));
  results->numbers = *numbers;
  results->elements = elements;
  results->operands = (char*)(results->memory + 2 * elements);
  results->before = results->operands + bytes;
  results->scales = NULL;
  return results;
}

static int64_t calls, compared; /* so far in this process */

void preload_verify_tell(void) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && preload_settings()->mode == PRELOAD_VERIFY)
    fprintf(stderr, "quadrille: %lld calls of %lld compared with MPI's own: all equal\n",
            (long long)compared, (long long)calls);
}

void preload_verify_begin(struct preload_call* call) {
  enum { NOTHING, ORDER, MANY, MEMORY };
  static const char* const reasons[] = {
      [ORDER] = "not compared: the order of operands may matter",
      [MANY] = "not compared: it has more elements than an int counts",
      [MEMORY] = "not compared: memory ran out"};
  call->of->calls[call->collective]++;
  __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
  if (call->schedule == QUADRILLE_SCHEDULE_NULL) return;
  const struct preload_numbers numbers = call->significant & QD_OPERATOR
                                             ? preload_numbers_of(preload_operands(call).type)
                                             : (struct preload_numbers){0};
  struct preload_results* results = make(call, &numbers);
  const int is_scaled = results && results->elements > 0;
  const int mine[2] = {!results                           ? MEMORY
                       : results->elements > INT_MAX      ? MANY
                       : depends_on_order(call, &numbers) ? ORDER
                                                          : NOTHING,
                       is_scaled};
  int all[2];
  qd_allreduce(mine, all, 2, MPI_INT, MPI_MAX, call->of->comm);
  if (all[0] != NOTHING || !results) {
    call->reason = reasons[all[0]];
    free(results);
    return;
  }
  struct qd_side side;
  call->is_verified = 1;
  call->results = results;
  if (all[1]) add_scales(call, results);
  if (all[1] && has_open_elements(call, results))
    call->reason = "compared, except elements with NaN or overflow";
  const int blocks = overwritten(call, &side);
  convert(&side, blocks, results->before, qd_pack, call->of->comm);
}

void preload_verify_native(const struct preload_call* call) {
  struct preload_results* results = call->results;
  struct qd_side side;
  int blocks = preload_received(call, &side);
  convert(&side, blocks, results->before + results->size, qd_pack, call->of->comm);
  blocks = overwritten(call, &side);
  convert(&side, blocks, results->before, qd_unpack, call->of->comm);
}

/* ---- Comparison of results */

/* Returns the greatest number of operands that an element may have. */
static int operands(const struct preload_call* call) {
  const struct preload_shape* shape = &call->of->shape;
  return shape->ranks > shape->remote_ranks ? shape->ranks : shape->remote_ranks;
}

/* Returns how far this element may be from MPI's own. */
static long double tolerance(const struct preload_call* call, const char* native, int64_t element) {
  const struct preload_results* results = call->results;
  return preload_tolerance(&results->numbers, call->given.operation, operands(call),
                           results->scales[element], native);
}

/* Returns the offset of the first packed byte that differs, or the number of bytes if none does. In a reduction with
 * a scale, returns the offset of the element that differs. */
static int64_t first_difference(const struct preload_call* call, const char* native,
                                const char* ours, int64_t size) {
  const struct preload_results* results = call->results;
  const struct preload_numbers* numbers = &results->numbers;
  int64_t i = 0;
  if (!results->scales) {
    while (i < results->received && native[i] == ours[i]) i++;
    return i;
  }
  /* In a pair, the index follows the number. */
  const int64_t index = numbers->kind == PRELOAD_COMPLEX ? size : (int64_t)numbers->size;
  for (int64_t element = 0; i < results->received; element++, i += size) {
    if (preload_is_open(numbers, call->given.operation, results->scales[element])) continue;
    if (!preload_is_near(numbers, native + i, ours + i, tolerance(call, native + i, element)) ||
        (index < size && memcmp(native + i + index, ours + i + index, (size_t)(size - index)) != 0))
      break;
  }
  return i;
}

/* Prints that the results differ at this element. `byte`: the first byte of the element that differs. */
static void tell(const struct preload_call* call, int block, int64_t element, int64_t byte,
                 MPI_Datatype type, const char* native, const char* ours) {
  const struct preload_numbers numbers = preload_numbers_of(type);
  char name[MPI_MAX_OBJECT_NAME] = "", values[2][PRELOAD_NUMBER], part[64] = "", rest[64] = "";
  int length = 0;
  PMPI_Comm_get_name(call->of->comm, name, &length);
  if (length == 0) snprintf(name, sizeof name, "a communicator of %d ranks", call->of->shape.ranks);
  if (numbers.kind == PRELOAD_OPAQUE) {
    snprintf(part, sizeof part, "byte %lld of ", (long long)byte);
    snprintf(values[0], PRELOAD_NUMBER, "%d", (unsigned char)native[byte]);
    snprintf(values[1], PRELOAD_NUMBER, "%d", (unsigned char)ours[byte]);
  } else {
    preload_print_number(&numbers, native, values[0]);
    preload_print_number(&numbers, ours, values[1]);
  }
  if (call->results->scales)
    snprintf(rest, sizeof rest, "; the order of operands explains %.3Lg",
             tolerance(call, native, element));
  fprintf(
      stderr,
      "quadrille: verify: %s by %s differs from MPI's own at rank %d, in call %lld of it on %s: "
      "%selement %lld of block %d is %s instead of %s%s\n",
      preload_collectives[call->collective].name, preload_schedule_name(call->universal),
      call->of->rank, (long long)call->of->calls[call->collective], name, part, (long long)element,
      block, values[1], values[0], rest);
}

void preload_verify_end(const struct preload_call* call) {
  const struct preload_results* results = call->results;
  const char* native = results->before + results->size;
  char* const result = results->before + 2 * results->size;
  const char* ours = result;
  struct qd_side side;
  MPI_Count size = 1;
  const int blocks = preload_received(call, &side);
  convert(&side, blocks, result, qd_pack, call->of->comm);
  if (results->scales && blocks > 0) PMPI_Type_size_x(side.type, &size);
  const int64_t i = first_difference(call, native, ours, (int64_t)size);
  __atomic_add_fetch(&compared, i == results->received, __ATOMIC_RELAXED);
  if (i == results->received) return;
  int block = 0;
  while (preload_side_bytes(&side, block + 1) <= i) block++;
  const int64_t before = preload_side_bytes(&side, block);
  const MPI_Datatype type = preload_type(&side, block);
  PMPI_Type_size_x(type, &size);
  const int64_t element = (i - before) / size, at = before + element * size;
  tell(call, block, element, i - at, type, native + at, ours + at);
  /* Gives the launcher time to pass the message on before it ends the job. */
  nanosleep(&(struct timespec){0, 200000000}, NULL);
  PMPI_Abort(call->of->comm, 1);
}
