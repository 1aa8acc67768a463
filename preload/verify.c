/* QUADRILLE=verify: MPI's own collective runs first. Its result is packed and kept, and the buffer is restored. Then
 * the schedule runs, and both results are compared. Bytes between the blocks' elements are never read, since they may
 * not be readable memory.
 *
 * MPI leaves the order of operands open. It may change a sum or product of floating-point numbers. So another
 * reduction computes a scale for each element, which bounds how far two results may differ. Let u be half the epsilon
 * of the type, p the number of operands, and t = p u.
 *
 * - A sum in any order is off by at most t / (1 - t) times the sum of the operands' magnitudes. So two orders differ
 *   by at most twice that (Higham 2002, section 4.2). The scale is the sum of the magnitudes.
 * - A product in any order has at most the relative error t / (1 - t), with 3 u in place of u for complex numbers. No
 *   partial product overflows or loses digits if the absolute logarithms have a small sum. The scale is this sum.
 * - A maximum or minimum without NaN is exact. The scale is the number of NaNs.
 *
 * Every scale is a sum over the operands, so MPI_SUM computes it. t also covers the rounding of the scale: it counts
 * p operations, and a reduction makes p - 1.
 *
 * No such bound is known for the program's own operators on floating-point numbers, so these calls are not compared.
 * Zeros of both signs are equal. Tested by tests/preload/choice_test.sh and corners_test.sh. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "preload/preload.h"
#include "runtime/execute/datatypes.h"

/* ---- The numbers of datatypes */

enum { NUMBER = 128 }; /* the length of a printed number, at most */

/* How the elements of a datatype are numbers. A pair is a real number and its index. */
struct numbers {
  enum {
    OPAQUE, /* anything else */
    SIGNED,
    UNSIGNED,
    REAL,
    COMPLEX,
    PAIR,
    REAL_PAIR /* the index is a real number, too */
  } kind;
  size_t size; /* bytes of a number */
};

static const struct numbers opaque = {OPAQUE, 0};

/* Returns whether an element has `size` bytes. Compiler options may make Fortran's types larger. */
static int has_size(const struct numbers* numbers, MPI_Count size) {
  const MPI_Count one = (MPI_Count)numbers->size;
  switch (numbers->kind) {
    case REAL: return size == one;
    case PAIR: return size == one + (MPI_Count)sizeof(int);
    default: return size == 2 * one;
  }
}

static struct numbers of_float(MPI_Datatype type, MPI_Count size) {
  const struct {
    MPI_Datatype type;
    struct numbers numbers;
  } all[] = {{MPI_FLOAT, {REAL, sizeof(float)}},
             {MPI_DOUBLE, {REAL, sizeof(double)}},
             {MPI_LONG_DOUBLE, {REAL, sizeof(long double)}},
             {MPI_REAL, {REAL, sizeof(float)}},
             {MPI_DOUBLE_PRECISION, {REAL, sizeof(double)}},
             {MPI_REAL4, {REAL, sizeof(float)}},
             {MPI_REAL8, {REAL, sizeof(double)}},
             {MPI_C_FLOAT_COMPLEX, {COMPLEX, sizeof(float)}},
             {MPI_C_DOUBLE_COMPLEX, {COMPLEX, sizeof(double)}},
             {MPI_C_LONG_DOUBLE_COMPLEX, {COMPLEX, sizeof(long double)}},
             {MPI_CXX_FLOAT_COMPLEX, {COMPLEX, sizeof(float)}},
             {MPI_CXX_DOUBLE_COMPLEX, {COMPLEX, sizeof(double)}},
             {MPI_CXX_LONG_DOUBLE_COMPLEX, {COMPLEX, sizeof(long double)}},
             {MPI_COMPLEX, {COMPLEX, sizeof(float)}},
             {MPI_DOUBLE_COMPLEX, {COMPLEX, sizeof(double)}},
             {MPI_COMPLEX8, {COMPLEX, sizeof(float)}},
             {MPI_COMPLEX16, {COMPLEX, sizeof(double)}},
             {MPI_FLOAT_INT, {PAIR, sizeof(float)}},
             {MPI_DOUBLE_INT, {PAIR, sizeof(double)}},
             {MPI_LONG_DOUBLE_INT, {PAIR, sizeof(long double)}},
             {MPI_2REAL, {REAL_PAIR, sizeof(float)}},
             {MPI_2DOUBLE_PRECISION, {REAL_PAIR, sizeof(double)}}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].type == type) return has_size(&all[i].numbers, size) ? all[i].numbers : opaque;
  return opaque;
}

static struct numbers of_integer(MPI_Datatype type, MPI_Count size) {
  const MPI_Datatype with_sign[] = {
      MPI_CHAR,     MPI_SIGNED_CHAR, MPI_SHORT,    MPI_INT,     MPI_LONG,    MPI_LONG_LONG,
      MPI_INT8_T,   MPI_INT16_T,     MPI_INT32_T,  MPI_INT64_T, MPI_INTEGER, MPI_INTEGER1,
      MPI_INTEGER2, MPI_INTEGER4,    MPI_INTEGER8, MPI_AINT,    MPI_OFFSET,  MPI_COUNT};
  const MPI_Datatype without[] = {MPI_BYTE,     MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT,
                                  MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG,
                                  MPI_UINT8_T,  MPI_UINT16_T,      MPI_UINT32_T,
                                  MPI_UINT64_T};
  for (size_t i = 0; i < sizeof with_sign / sizeof *with_sign; i++)
    if (with_sign[i] == type) return (struct numbers){SIGNED, (size_t)size};
  for (size_t i = 0; i < sizeof without / sizeof *without; i++)
    if (without[i] == type) return (struct numbers){UNSIGNED, (size_t)size};
  return opaque;
}

/* Describes types of MPI_Type_create_f90_real, _complex and _integer. Numbers of 16 bytes may have two formats. */
static struct numbers of_f90(MPI_Datatype type, MPI_Count size) {
  struct qd_envelope making;
  if (qd_read_envelope(type, &making) != MPI_SUCCESS) return opaque;
  const int is_complex = making.combiner == MPI_COMBINER_F90_COMPLEX;
  const size_t each = (size_t)size / (is_complex ? 2 : 1);
  if (making.combiner == MPI_COMBINER_F90_INTEGER) return (struct numbers){SIGNED, each};
  if ((!is_complex && making.combiner != MPI_COMBINER_F90_REAL) ||
      (each != sizeof(float) && each != sizeof(double)))
    return opaque;
  return (struct numbers){is_complex ? COMPLEX : REAL, each};
}

static struct numbers numbers_of(MPI_Datatype type) {
  MPI_Count size = 0;
  if (type == MPI_DATATYPE_NULL) return opaque;
  PMPI_Type_size_x(type, &size);
  struct numbers found = of_float(type, size);
  if (found.kind == OPAQUE) found = of_integer(type, size);
  return found.kind == OPAQUE ? of_f90(type, size) : found;
}

static int is_integer(const struct numbers* numbers) {
  return numbers->kind == SIGNED || numbers->kind == UNSIGNED;
}

/* Returns whether the operator gives the same integers in any order. Open MPI's sums of 8 and 16 bits stop at the
 * greatest number in one part of a vector, and go on from the least in the other. */
static int is_exact_of_integers(const struct numbers* numbers, MPI_Op operation) {
  return is_integer(numbers) && qd_is_predefined_operator(operation) &&
         (operation != MPI_SUM || numbers->size >= 4);
}

int preload_is_exact(MPI_Datatype type, MPI_Op operation) {
  if (operation == MPI_BAND || operation == MPI_BOR || operation == MPI_BXOR ||
      operation == MPI_LAND || operation == MPI_LOR || operation == MPI_LXOR)
    return 1;
  if (!qd_is_predefined_operator(operation)) return 0;
  const struct numbers numbers = numbers_of(type);
  return is_exact_of_integers(&numbers, operation) || type == MPI_2INT || type == MPI_2INTEGER ||
         type == MPI_SHORT_INT || type == MPI_LONG_INT;
}

/* ---- Values */

/* The formats of real numbers. */
static const struct format {
  size_t size;
  int digits,
      most_logarithm; /* digits: of a printed number; most_logarithm: of a product that keeps its digits */
  long double most, epsilon;
} formats[] = {
    {sizeof(float), FLT_DECIMAL_DIG, FLT_MAX_EXP - FLT_MANT_DIG, FLT_MAX, FLT_EPSILON},
    {sizeof(double), DBL_DECIMAL_DIG, DBL_MAX_EXP - DBL_MANT_DIG, DBL_MAX, DBL_EPSILON},
    {sizeof(long double), LDBL_DECIMAL_DIG, LDBL_MAX_EXP - LDBL_MANT_DIG, LDBL_MAX, LDBL_EPSILON}};

static const struct format* format_of(size_t size) {
  return &formats[size == sizeof(float) ? 0 : size == sizeof(double) ? 1 : 2];
}

static long double real_at(const char* bytes, size_t size) {
  float narrow;
  double usual;
  long double wide;
  if (size == sizeof narrow) return memcpy(&narrow, bytes, sizeof narrow), (long double)narrow;
  if (size == sizeof usual) return memcpy(&usual, bytes, sizeof usual), (long double)usual;
  return memcpy(&wide, bytes, sizeof wide), wide;
}

static unsigned long long bits_at(const char* bytes, size_t size) {
  uint16_t two;
  uint32_t four;
  uint64_t eight;
  switch (size) {
    case 1: return (unsigned char)*bytes;
    case 2: return memcpy(&two, bytes, sizeof two), two;
    case 4: return memcpy(&four, bytes, sizeof four), four;
    default: return memcpy(&eight, bytes, sizeof eight), eight;
  }
}

static long long signed_at(const char* bytes, size_t size) {
  const int shift = 64 - 8 * (int)size;
  return (long long)(bits_at(bytes, size) << shift) >> shift;
}

/* Prints an element into `text`. Its kind is not OPAQUE. */
static void print_number(const struct numbers* numbers, const char* element, char text[NUMBER]) {
  const size_t size = numbers->size;
  const int digits = format_of(size)->digits;
  int index = 0;
  switch (numbers->kind) {
    case SIGNED: snprintf(text, NUMBER, "%lld", signed_at(element, size)); break;
    case UNSIGNED: snprintf(text, NUMBER, "%llu", bits_at(element, size)); break;
    case REAL: snprintf(text, NUMBER, "%.*Lg", digits, real_at(element, size)); break;
    case PAIR:
      memcpy(&index, element + size, sizeof index);
      snprintf(text, NUMBER, "(%.*Lg, %d)", digits, real_at(element, size), index);
      break;
    default:
      snprintf(text, NUMBER, "(%.*Lg, %.*Lg)", digits, real_at(element, size), digits,
               real_at(element + size, size));
  }
}

/* ---- Scales and tolerances */

static int takes_extremes(MPI_Op operation) {
  return operation == MPI_MAX || operation == MPI_MIN || operation == MPI_MAXLOC ||
         operation == MPI_MINLOC;
}

/* Returns whether operands have a scale. The sum of their scales bounds how far two results differ. */
static int has_scale(const struct numbers* numbers, MPI_Op operation) {
  if (takes_extremes(operation))
    return numbers->kind == REAL || numbers->kind == PAIR || numbers->kind == REAL_PAIR;
  return (operation == MPI_SUM || operation == MPI_PROD) &&
         (numbers->kind == REAL || numbers->kind == COMPLEX);
}

static long double scale_of(const struct numbers* numbers, MPI_Op operation, const char* element) {
  const long double real = real_at(element, numbers->size);
  const int is_complex = numbers->kind == COMPLEX;
  const long double other = is_complex ? real_at(element + numbers->size, numbers->size) : 0;
  if (takes_extremes(operation)) return isnan(real) ? 1 : 0;
  if (operation == MPI_SUM) return fabsl(real) + fabsl(other);
  if (isnan(real) || isnan(other)) return NAN;
  const long double magnitude = hypotl(real, other);
  return magnitude == 0 ? 0 : fabsl(log2l(magnitude)) + is_complex;
}

/* Returns whether operands whose scales add up to `scale` allow any result. */
static int is_open(const struct numbers* numbers, MPI_Op operation, long double scale) {
  const struct format* const format = format_of(numbers->size);
  if (takes_extremes(operation)) return scale > 0;
  if (isnan(scale)) return numbers->kind == COMPLEX; /* a real result is NaN as well */
  return scale > (operation == MPI_SUM ? format->most : format->most_logarithm);
}

/* Returns whether the real or complex numbers at the start of two elements differ by at most the tolerance. */
static int is_near(const struct numbers* numbers, const char* native, const char* ours,
                   long double tolerance) {
  const int count = numbers->kind == COMPLEX ? 2 : 1;
  long double distance = 0;
  for (int i = 0; i < count; i++) {
    const long double a = real_at(native + (size_t)i * numbers->size, numbers->size);
    const long double b = real_at(ours + (size_t)i * numbers->size, numbers->size);
    if (a != b && !(isnan(a) && isnan(b))) distance = hypotl(distance, a - b);
  }
  return distance <= tolerance || distance == 0;
}

/* ---- The results of a call */

struct preload_results {
  int64_t size;     /* bytes of each of the three packed buffers at `before`: */
  char* before;     /* the contents before the call, MPI's own result, and the schedule's */
  int64_t received; /* bytes of a result, at most `size` */
  struct numbers numbers;
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
static int depends_on_order(const struct preload_call* call, const struct numbers* numbers) {
  if (!(call->significant & QD_OPERATOR) || has_scale(numbers, call->given.operation)) return 0;
  if (is_integer(numbers) && qd_is_predefined_operator(call->given.operation))
    return !is_exact_of_integers(numbers, call->given.operation);
  return has_floats(preload_operands(call).type);
}

/* ---- The blocks of a call */

typedef int conversion(const struct qd_side*, struct qd_block, char*, MPI_Comm);

/* Packs all blocks of a side one after another, or unpacks them. `way`: qd_pack or qd_unpack. */
static void convert(const struct qd_side* side, int blocks, char* packed, conversion* way,
                    MPI_Comm comm) {
  for (int i = 0; i < blocks; i++) {
    struct qd_side typed = *side;
    if (qd_count_of(side, i) == 0) continue; /* an empty block may have any type and address */
    typed.types = NULL;
    typed.type = preload_type(side, i);
    qd_side_describe(&typed, 1);
    if (side->types) typed.unit = 1; /* displacements are in bytes */
    const struct qd_block block = qd_block_of(&typed, i);
    way(&typed, block, packed, comm);
    packed += block.count * typed.type_size;
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
    mine[i] = scale_of(&results->numbers, call->given.operation, results->operands + i * size);
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
    mine |= is_open(&results->numbers, call->given.operation, results->scales[i]);
  qd_allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, call->of->comm);
  return any;
}

/* ---- A call begins */

/* Allocates the results of the call. Returns NULL if memory runs out. */
static struct preload_results* make(const struct preload_call* call,
                                    const struct numbers* numbers) {
  struct qd_side side, received;
  const int64_t size = preload_side_bytes(&side, overwritten(call, &side));
  const int is_scaled =
      call->significant & QD_OPERATOR && has_scale(numbers, call->given.operation);
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
static const char* uncompared;  /* why the last call that was not compared was not */

void preload_verify_tell(void) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0 || preload_settings()->mode != PRELOAD_VERIFY) return;
  const char* error = preload_settings()->error;
  if (!error[0]) error = preload_unfollowed_file();
  if (!error[0]) error = uncompared ? uncompared : "there was none";
  if (compared == 0)
    fprintf(stderr, "quadrille: no call of %lld compared with MPI's own: %s\n", (long long)calls,
            error);
  else
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
  /* Ranks beside the root do not know the operator, so they do not know that the others refuse it. */
  const int is_refused =
      call->is_refused && call->collective == PRELOAD_Reduce && call->of->shape.groups == 2;
  if (call->schedule == QUADRILLE_SCHEDULE_NULL) {
    __atomic_store_n(&uncompared, call->reason, __ATOMIC_RELAXED);
    if (!is_refused) return;
  }
  const struct numbers numbers = call->significant & QD_OPERATOR
                                     ? numbers_of(preload_operands(call).type)
                                     : (struct numbers){0};
  struct preload_results* results = is_refused ? NULL : make(call, &numbers);
  const int is_scaled = results && results->elements > 0;
  const int mine[2] = {is_refused                         ? ORDER
                       : !results                         ? MEMORY
                       : results->elements > INT_MAX      ? MANY
                       : depends_on_order(call, &numbers) ? ORDER
                                                          : NOTHING,
                       is_scaled};
  int all[2];
  qd_allreduce(mine, all, 2, MPI_INT, MPI_MAX, call->of->comm);
  if (is_refused) return;
  if (all[0] != NOTHING || !results) {
    call->reason = reasons[all[0]];
    __atomic_store_n(&uncompared, call->reason + strlen("not compared: "), __ATOMIC_RELAXED);
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

void preload_verify_native(struct preload_call* call, int code) {
  struct preload_results* results = call->results;
  struct qd_side side;
  const int failed = code != MPI_SUCCESS;
  int any = failed;
  if (!failed || call->freed == preload_freed())
    qd_allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, call->of->comm);
  call->is_verified = !any;
  if (any) {
    preload_leave_to_mpi(call, "not compared: MPI's own call failed at a rank");
    __atomic_store_n(&uncompared, call->reason + strlen("not compared: "), __ATOMIC_RELAXED);
    return;
  }
  int blocks = preload_received(call, &side);
  convert(&side, blocks, results->before + results->size, qd_pack, call->of->comm);
  blocks = overwritten(call, &side);
  convert(&side, blocks, results->before, qd_unpack, call->of->comm);
}

/* ---- Comparison of results */

/* Returns how far this element may be from `native`, MPI's own. */
static long double tolerance(const struct preload_call* call, const char* native, int64_t element) {
  const struct preload_results* results = call->results;
  const struct preload_shape* shape = &call->of->shape;
  const MPI_Op operation = call->given.operation;
  const size_t size = results->numbers.size;
  const int is_complex = results->numbers.kind == COMPLEX;
  const int operands = shape->ranks > shape->remote_ranks ? shape->ranks : shape->remote_ranks;
  const long double other = is_complex ? real_at(native + size, size) : 0;
  const long double twice =
      operands * format_of(size)->epsilon * (is_complex && operation == MPI_PROD ? 3 : 1);
  if (takes_extremes(operation)) return 0;
  if (twice >= 1) return INFINITY;
  return twice / (1 - twice) *
         (operation == MPI_SUM ? results->scales[element] : hypotl(real_at(native, size), other));
}

/* Returns the offset of the first packed byte that differs, or the number of bytes if none does. In a reduction with
 * a scale, returns the offset of the element that differs. */
static int64_t first_difference(const struct preload_call* call, const char* native,
                                const char* ours, int64_t size) {
  const struct preload_results* results = call->results;
  const struct numbers* numbers = &results->numbers;
  int64_t i = 0;
  if (!results->scales) {
    while (i < results->received && native[i] == ours[i]) i++;
    return i;
  }
  /* In a pair, the index follows the number. */
  const int64_t index = numbers->kind == COMPLEX ? size : (int64_t)numbers->size;
  for (int64_t element = 0; i < results->received; element++, i += size) {
    if (is_open(numbers, call->given.operation, results->scales[element])) continue;
    if (!is_near(numbers, native + i, ours + i, tolerance(call, native + i, element)) ||
        (index < size && memcmp(native + i + index, ours + i + index, (size_t)(size - index)) != 0))
      break;
  }
  return i;
}

/* Prints that the results differ at this element. `byte`: the first byte of the element that differs. */
static void tell_difference(const struct preload_call* call, int block, int64_t element,
                            int64_t byte, MPI_Datatype type, const char* native, const char* ours) {
  const struct numbers numbers = numbers_of(type);
  char name[MPI_MAX_OBJECT_NAME] = "", values[2][NUMBER], part[64] = "", rest[64] = "";
  int length = 0;
  PMPI_Comm_get_name(call->of->comm, name, &length);
  if (length == 0) snprintf(name, sizeof name, "a communicator of %d ranks", call->of->shape.ranks);
  if (numbers.kind == OPAQUE) {
    snprintf(part, sizeof part, "byte %lld of ", (long long)byte);
    snprintf(values[0], NUMBER, "%d", (unsigned char)native[byte]);
    snprintf(values[1], NUMBER, "%d", (unsigned char)ours[byte]);
  } else {
    print_number(&numbers, native, values[0]);
    print_number(&numbers, ours, values[1]);
  }
  if (call->results->scales)
    snprintf(rest, sizeof rest, "; the order of operands explains %.3Lg",
             tolerance(call, native, element));
  fprintf(stderr,
          "quadrille: verify: %s by %s differs from MPI's own at rank %d, in call %lld of it on "
          "%s: %selement %lld of block %d is %s instead of %s%s\n",
          preload_collectives[call->collective].name, preload_schedule_name(call->universal),
          call->of->rank, (long long)call->of->calls[call->collective], name, part,
          (long long)element, block, values[1], values[0], rest);
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
  tell_difference(call, block, element, i - at, type, native + at, ours + at);
  /* Gives the launcher time to pass the message on before it ends the job. */
  nanosleep(&(struct timespec){0, 200000000}, NULL);
  PMPI_Abort(call->of->comm, 1);
}
