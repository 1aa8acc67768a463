/* Lengths of blocks that are drawn at random. Simulations and bench/collective.c draw the same. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct distribution {
  char kind; /* the first letter of its text; 0: there is none */
  double first, second;
};

/* Reads "uniform:MOST", "normal:MEAN:DEVIATION", or "power:EXPONENT:MOST". In the last, the probability of x bytes is
 * proportional to x^-EXPONENT. Numbers are from 0 to 2^30, an exponent is not 1, and the MOST of a power law is 1 or
 * more. Returns false for any other text. */
bool distribution_read(const char* text, struct distribution* distribution);
/* Returns the bytes of the block from one rank to another. They depend only on these and on the seed. */
int64_t distribution_length(const struct distribution* distribution, int64_t from, int64_t to,
                            uint64_t seed);

#ifdef __cplusplus
}
#endif
