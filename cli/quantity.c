#include "cli/quantity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct unit {
  const char* name;
  double size;
};

static const struct unit sizes[] = {{"", 1},         {"B", 1},        {"KiB", 0x1p10},
                                    {"MiB", 0x1p20}, {"GiB", 0x1p30}, {NULL, 0}};

/* In picoseconds. A microsecond is written with a u, the micro sign or the Greek letter. */
static const struct unit times[] = {{"ps", 1},        {"ns", 1e3}, {"us", 1e6}, {"\u00b5s", 1e6},
                                    {"\u03bcs", 1e6}, {"ms", 1e9}, {"s", 1e12}, {NULL, 0}};

/* In bytes per second. */
static const struct unit rates[] = {{"bit/s", 0.125},    {"kbit/s", 0.125e3},  {"Mbit/s", 0.125e6},
                                    {"Gbit/s", 0.125e9}, {"Tbit/s", 0.125e12}, {"B/s", 1},
                                    {"kB/s", 1e3},       {"MB/s", 1e6},        {"GB/s", 1e9},
                                    {"TB/s", 1e12},      {"KiB/s", 0x1p10},    {"MiB/s", 0x1p20},
                                    {"GiB/s", 0x1p30},   {"TiB/s", 0x1p40},    {NULL, 0}};

static size_t digits(const char* text, size_t length) {
  size_t count = 0;
  while (count < length && text[count] >= '0' && text[count] <= '9') count++;
  return count;
}

/* Reads the number of "12.5GB/s". Returns how many characters it has, or 0 if there is none. */
static size_t leading_decimal(const char* text, size_t length, double* value) {
  char copy[64];
  size_t end = digits(text, length);
  if (end == 0) return 0;
  if (end < length && text[end] == '.') {
    const size_t behind = digits(text + end + 1, length - end - 1);
    if (behind == 0) return 0;
    end += 1 + behind;
  }
  if (end >= sizeof copy) return 0;
  memcpy(copy, text, end);
  copy[end] = '\0';
  *value = strtod(copy, NULL);
  return end;
}

/* Returns the size of the unit in text[at ..], or 0 if it is no unit. */
static double unit_at(const char* text, size_t length, size_t at, const struct unit* units) {
  if (at < length && text[at] == ' ') at++;
  for (; units->name; units++)
    if (strlen(units->name) == length - at && memcmp(units->name, text + at, length - at) == 0)
      return units->size;
  return 0;
}

bool quantity_whole(const char* text, size_t length, int64_t least, int64_t most, int64_t* value) {
  const bool is_negative = length > 0 && text[0] == '-';
  int64_t number = 0;
  if (length == (size_t)is_negative ||
      digits(text + is_negative, length - is_negative) != length - is_negative)
    return false;
  for (size_t i = is_negative; i < length; i++) {
    const int digit = text[i] - '0';
    if (__builtin_mul_overflow(number, 10, &number) ||
        __builtin_add_overflow(number, is_negative ? -digit : digit, &number))
      return false;
  }
  if (number < least || number > most) return false;
  *value = number;
  return true;
}

bool quantity_bytes(const char* text, size_t length, int64_t least, int64_t most, int64_t* bytes) {
  const size_t end = digits(text, length);
  const int64_t unit = (int64_t)unit_at(text, length, end, sizes);
  int64_t number = 0;
  if (unit == 0 || !quantity_whole(text, end, 0, most / unit, &number) || number * unit < least)
    return false;
  *bytes = number * unit;
  return true;
}

bool quantity_decimal(const char* text, size_t length, double most, double* value) {
  double number = 0;
  if (leading_decimal(text, length, &number) != length || length == 0 || number > most)
    return false;
  *value = number;
  return true;
}

bool quantity_time(const char* text, size_t length, int64_t unit_ps, int64_t most, int64_t* units) {
  double number = 0;
  const size_t end = leading_decimal(text, length, &number);
  const double unit = end == length ? (double)unit_ps : unit_at(text, length, end, times);
  const double count = number * unit / (double)unit_ps;
  if (end == 0 || unit == 0 || count > (double)most) return false;
  *units = llround(count);
  return true;
}

bool quantity_time_of_a_byte(const char* text, size_t length, int64_t most, int64_t* ps) {
  double number = 0;
  const size_t end = leading_decimal(text, length, &number);
  const double rate = end == 0 ? 0 : number * unit_at(text, length, end, rates);
  if (rate == 0) return quantity_time(text, length, 1, most, ps);
  const double time = 1e12 / rate;
  if (time > (double)most || time < 0.5) return false; /* a byte must take some time */
  *ps = llround(time);
  return true;
}
