/* Tested by tests/simulate/lengths_test.cc and tests/bench/collective_test.sh. */
#include "cli/distribution.h"

#include <math.h>
#include <stdio.h>

bool distribution_read(const char* text, struct distribution* d) {
  const double most = 1 << 30;
  char end;
  *d = (struct distribution){text[0], 0, 0};
  const bool is_one = sscanf(text, "uniform:%lf%c", &d->first, &end) == 1 ||
                      sscanf(text, "normal:%lf:%lf%c", &d->first, &d->second, &end) == 2 ||
                      sscanf(text, "power:%lf:%lf%c", &d->first, &d->second, &end) == 2;
  return is_one && d->first >= 0 && d->first <= most && d->second >= 0 && d->second <= most &&
         (d->kind != 'p' || (d->first != 1 && d->second >= 1));
}

/* Returns a number from 0 to below 1 that depends only on the arguments. */
static double random_of(int64_t from, int64_t to, uint64_t salt) {
  uint64_t x = (uint64_t)from << 40 ^ (uint64_t)to << 16 ^ salt;
  for (int i = 0; i < 3; i++) x = (x ^ x >> 31) * 0x7fb5d329728ea185u + 0x9e3779b97f4a7c15u;
  return (double)(x >> 11) / 9007199254740992.0;
}

int64_t distribution_length(const struct distribution* d, int64_t from, int64_t to, uint64_t seed) {
  const uint64_t salt = (seed - 1) << 2;
  const double u = random_of(from, to, salt ^ 1), v = random_of(from, to, salt ^ 2);
  if (d->kind == 'u') return (int64_t)(u * (d->first + 1));
  if (d->kind == 'p') {
    const double rest = 1 - d->first; /* the exponent of the integral */
    return (int64_t)pow(1 + u * (pow(d->second, rest) - 1), 1 / rest);
  }
  const double x = d->first + d->second * sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * v);
  return x < 0 ? 0 : (int64_t)x;
}
