/* Bounds how far two results of a floating-point reduction may differ because MPI leaves the order of operands open.
 * Let u be half the epsilon of the type, p the number of operands, and t = p u.
 *
 * - A sum in any order is off by at most t / (1 - t) times the sum of the operands' magnitudes. So two orders differ
 *   by at most twice that (Higham 2002, section 4.2). The scale is the sum of the magnitudes.
 * - A product in any order has at most the relative error t / (1 - t), with 3 u in place of u for complex numbers. No
 *   partial product overflows or loses digits if the absolute logarithms have a small sum. The scale is this sum.
 * - A maximum or minimum without NaN is exact. The scale is the number of NaNs.
 *
 * Every scale is a sum over the operands, so MPI_SUM computes it. t also covers the rounding of the scale: it counts
 * p operations, and a reduction makes p - 1. Tested by tests/preload/choice_test.sh. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "preload/preload.h"
#include "runtime/execute/datatypes.h"

static const struct preload_numbers opaque = {PRELOAD_OPAQUE, 0};

/* Returns whether an element has `size` bytes. Compiler options may make Fortran's types larger. */
static int has_size(const struct preload_numbers* numbers, MPI_Count size) {
  const MPI_Count one = (MPI_Count)numbers->size;
  switch (numbers->kind) {
    case PRELOAD_REAL: return size == one;
    case PRELOAD_PAIR: return size == one + (MPI_Count)sizeof(int);
    default: return size == 2 * one;
  }
}

static struct preload_numbers of_float(MPI_Datatype type, MPI_Count size) {
  const struct {
    MPI_Datatype type;
    struct preload_numbers numbers;
  } all[] = {{MPI_FLOAT, {PRELOAD_REAL, sizeof(float)}},
             {MPI_DOUBLE, {PRELOAD_REAL, sizeof(double)}},
             {MPI_LONG_DOUBLE, {PRELOAD_REAL, sizeof(long double)}},
             {MPI_REAL, {PRELOAD_REAL, sizeof(float)}},
             {MPI_DOUBLE_PRECISION, {PRELOAD_REAL, sizeof(double)}},
             {MPI_REAL4, {PRELOAD_REAL, sizeof(float)}},
             {MPI_REAL8, {PRELOAD_REAL, sizeof(double)}},
             {MPI_C_FLOAT_COMPLEX, {PRELOAD_COMPLEX, sizeof(float)}},
             {MPI_C_DOUBLE_COMPLEX, {PRELOAD_COMPLEX, sizeof(double)}},
             {MPI_C_LONG_DOUBLE_COMPLEX, {PRELOAD_COMPLEX, sizeof(long double)}},
             {MPI_CXX_FLOAT_COMPLEX, {PRELOAD_COMPLEX, sizeof(float)}},
             {MPI_CXX_DOUBLE_COMPLEX, {PRELOAD_COMPLEX, sizeof(double)}},
             {MPI_CXX_LONG_DOUBLE_COMPLEX, {PRELOAD_COMPLEX, sizeof(long double)}},
             {MPI_COMPLEX, {PRELOAD_COMPLEX, sizeof(float)}},
             {MPI_DOUBLE_COMPLEX, {PRELOAD_COMPLEX, sizeof(double)}},
             {MPI_COMPLEX8, {PRELOAD_COMPLEX, sizeof(float)}},
             {MPI_COMPLEX16, {PRELOAD_COMPLEX, sizeof(double)}},
             {MPI_FLOAT_INT, {PRELOAD_PAIR, sizeof(float)}},
             {MPI_DOUBLE_INT, {PRELOAD_PAIR, sizeof(double)}},
             {MPI_LONG_DOUBLE_INT, {PRELOAD_PAIR, sizeof(long double)}},
             {MPI_2REAL, {PRELOAD_REAL_PAIR, sizeof(float)}},
             {MPI_2DOUBLE_PRECISION, {PRELOAD_REAL_PAIR, sizeof(double)}}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].type == type) return has_size(&all[i].numbers, size) ? all[i].numbers : opaque;
  return opaque;
}

static struct preload_numbers of_integer(MPI_Datatype type, MPI_Count size) {
  const MPI_Datatype with_sign[] = {
      MPI_CHAR,     MPI_SIGNED_CHAR, MPI_SHORT,    MPI_INT,     MPI_LONG,    MPI_LONG_LONG,
      MPI_INT8_T,   MPI_INT16_T,     MPI_INT32_T,  MPI_INT64_T, MPI_INTEGER, MPI_INTEGER1,
      MPI_INTEGER2, MPI_INTEGER4,    MPI_INTEGER8, MPI_AINT,    MPI_OFFSET,  MPI_COUNT};
  const MPI_Datatype without[] = {MPI_BYTE,     MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT,
                                  MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG,
                                  MPI_UINT8_T,  MPI_UINT16_T,      MPI_UINT32_T,
                                  MPI_UINT64_T};
  for (size_t i = 0; i < sizeof with_sign / sizeof *with_sign; i++)
    if (with_sign[i] == type) return (struct preload_numbers){PRELOAD_SIGNED, (size_t)size};
  for (size_t i = 0; i < sizeof without / sizeof *without; i++)
    if (without[i] == type) return (struct preload_numbers){PRELOAD_UNSIGNED, (size_t)size};
  return opaque;
}

/* Describes types of MPI_Type_create_f90_real, _complex and _integer. Numbers of 16 bytes may have two formats. */
static struct preload_numbers of_f90(MPI_Datatype type, MPI_Count size) {
  struct qd_envelope making;
  if (qd_read_envelope(type, &making) != MPI_SUCCESS) return opaque;
  const int is_complex = making.combiner == MPI_COMBINER_F90_COMPLEX;
  const size_t each = (size_t)size / (is_complex ? 2 : 1);
  if (making.combiner == MPI_COMBINER_F90_INTEGER)
    return (struct preload_numbers){PRELOAD_SIGNED, each};
  if ((!is_complex && making.combiner != MPI_COMBINER_F90_REAL) ||
      (each != sizeof(float) && each != sizeof(double)))
    return opaque;
  return (struct preload_numbers){is_complex ? PRELOAD_COMPLEX : PRELOAD_REAL, each};
}

struct preload_numbers preload_numbers_of(MPI_Datatype type) {
  MPI_Count size = 0;
  if (type == MPI_DATATYPE_NULL) return opaque;
  PMPI_Type_size_x(type, &size);
  struct preload_numbers found = of_float(type, size);
  if (found.kind == PRELOAD_OPAQUE) found = of_integer(type, size);
  return found.kind == PRELOAD_OPAQUE ? of_f90(type, size) : found;
}

int preload_is_exact(MPI_Datatype type, MPI_Op operation) {
  if (operation == MPI_BAND || operation == MPI_BOR || operation == MPI_BXOR ||
      operation == MPI_LAND || operation == MPI_LOR || operation == MPI_LXOR)
    return 1;
  if (!qd_is_predefined_operator(operation)) return 0;
  const struct preload_numbers numbers = preload_numbers_of(type);
  return numbers.kind == PRELOAD_SIGNED || numbers.kind == PRELOAD_UNSIGNED || type == MPI_2INT ||
         type == MPI_2INTEGER || type == MPI_SHORT_INT || type == MPI_LONG_INT;
}

/* ---- Values */

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

static int has_two_reals(const struct preload_numbers* numbers) {
  return numbers->kind == PRELOAD_COMPLEX || numbers->kind == PRELOAD_REAL_PAIR;
}

static int print_real(const char* bytes, size_t size, char* text, size_t room) {
  const int digits = size == sizeof(float)    ? FLT_DECIMAL_DIG
                     : size == sizeof(double) ? DBL_DECIMAL_DIG
                                              : LDBL_DECIMAL_DIG;
  return snprintf(text, room, "%.*Lg", digits, real_at(bytes, size));
}

void preload_print_number(const struct preload_numbers* numbers, const char* element,
                          char text[PRELOAD_NUMBER]) {
  const size_t size = numbers->size;
  const int is_whole = numbers->kind == PRELOAD_SIGNED || numbers->kind == PRELOAD_UNSIGNED;
  char first[PRELOAD_NUMBER / 2 - 4] = "", second[PRELOAD_NUMBER / 2 - 4] = "";
  int index = 0;
  if (!is_whole) print_real(element, size, first, sizeof first);
  if (has_two_reals(numbers)) print_real(element + size, size, second, sizeof second);
  if (numbers->kind == PRELOAD_PAIR) {
    memcpy(&index, element + size, sizeof index);
    snprintf(second, sizeof second, "%d", index);
  }
  switch (numbers->kind) {
    case PRELOAD_SIGNED: snprintf(text, PRELOAD_NUMBER, "%lld", signed_at(element, size)); break;
    case PRELOAD_UNSIGNED: snprintf(text, PRELOAD_NUMBER, "%llu", bits_at(element, size)); break;
    case PRELOAD_REAL: snprintf(text, PRELOAD_NUMBER, "%s", first); break;
    default: snprintf(text, PRELOAD_NUMBER, "(%s, %s)", first, second);
  }
}

/* ---- Scales and tolerances */

static int takes_extremes(MPI_Op operation) {
  return operation == MPI_MAX || operation == MPI_MIN || operation == MPI_MAXLOC ||
         operation == MPI_MINLOC;
}

int preload_has_scale(const struct preload_numbers* numbers, MPI_Op operation) {
  if (takes_extremes(operation))
    return numbers->kind == PRELOAD_REAL || numbers->kind == PRELOAD_PAIR ||
           numbers->kind == PRELOAD_REAL_PAIR;
  return (operation == MPI_SUM || operation == MPI_PROD) &&
         (numbers->kind == PRELOAD_REAL || numbers->kind == PRELOAD_COMPLEX);
}

long double preload_scale(const struct preload_numbers* numbers, MPI_Op operation,
                          const char* element) {
  const long double real = real_at(element, numbers->size);
  const int is_complex = numbers->kind == PRELOAD_COMPLEX;
  const long double other = is_complex ? real_at(element + numbers->size, numbers->size) : 0;
  if (takes_extremes(operation)) return isnan(real) ? 1 : 0;
  if (operation == MPI_SUM) return fabsl(real) + fabsl(other);
  if (isnan(real) || isnan(other)) return NAN;
  const long double magnitude = hypotl(real, other);
  return magnitude == 0 ? 0 : fabsl(log2l(magnitude)) + is_complex;
}

int preload_is_open(const struct preload_numbers* numbers, MPI_Op operation, long double scale) {
  const int is_float = numbers->size == sizeof(float), is_double = numbers->size == sizeof(double);
  if (takes_extremes(operation)) return scale > 0;
  if (isnan(scale)) return numbers->kind == PRELOAD_COMPLEX; /* a real result is NaN as well */
  if (operation == MPI_SUM) return scale > (is_float ? FLT_MAX : is_double ? DBL_MAX : LDBL_MAX);
  return scale > (is_float    ? FLT_MAX_EXP - FLT_MANT_DIG
                  : is_double ? DBL_MAX_EXP - DBL_MANT_DIG
                              : LDBL_MAX_EXP - LDBL_MANT_DIG);
}

long double preload_tolerance(const struct preload_numbers* numbers, MPI_Op operation, int operands,
                              long double scale, const char* native) {
  const int is_complex = numbers->kind == PRELOAD_COMPLEX;
  const long double other = is_complex ? real_at(native + numbers->size, numbers->size) : 0;
  const long double epsilon = numbers->size == sizeof(float)    ? FLT_EPSILON
                              : numbers->size == sizeof(double) ? DBL_EPSILON
                                                                : LDBL_EPSILON;
  const long double twice = operands * epsilon * (is_complex && operation == MPI_PROD ? 3 : 1);
  if (takes_extremes(operation)) return 0;
  if (twice >= 1) return INFINITY;
  return twice / (1 - twice) *
         (operation == MPI_SUM ? scale : hypotl(real_at(native, numbers->size), other));
}

int preload_is_near(const struct preload_numbers* numbers, const char* native, const char* ours,
                    long double tolerance) {
  const int count = numbers->kind == PRELOAD_COMPLEX ? 2 : 1;
  long double distance = 0;
  for (int i = 0; i < count; i++) {
    const long double a = real_at(native + (size_t)i * numbers->size, numbers->size);
    const long double b = real_at(ours + (size_t)i * numbers->size, numbers->size);
    if (a != b && !(isnan(a) && isnan(b))) distance = hypotl(distance, a - b);
  }
  return distance <= tolerance || distance == 0;
}
