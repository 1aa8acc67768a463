/* Whole numbers, sizes, times and rates: every command reads them here.
 *
 * Each function reads all `length` characters of the text. It returns false, and leaves the value alone, if they are
 * something else or the value is out of bounds. There are no signs before sizes, times and rates, no exponents, and no
 * bases but 10. One blank may stand before a unit. Tested by tests/cli/quantity_test.cc. */
#ifndef QUADRILLE_CLI_QUANTITY_H_
#define QUADRILLE_CLI_QUANTITY_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "-3". */
bool quantity_whole(const char* text, size_t length, int64_t least, int64_t most, int64_t* value);
/* "4096", "4096B", "4KiB", "1 MiB", "1GiB", in bytes. KB is not read: some mean 1000 bytes by it, others 1024. */
bool quantity_bytes(const char* text, size_t length, int64_t least, int64_t most, int64_t* bytes);
/* "1.5", no unit. */
bool quantity_decimal(const char* text, size_t length, double most, double* value);
/* "30us", "0.5ms", "125ps", rounded to whole units of `unit_ps` picoseconds; without a unit of its own the number counts
 * these. */
bool quantity_time(const char* text, size_t length, int64_t unit_ps, int64_t most, int64_t* units);
/* What a byte takes, in picoseconds: a time, or the rate at which bytes arrive: "100Gbit/s", "12.5GB/s", "11GiB/s". A
 * number without a unit counts picoseconds. */
bool quantity_time_of_a_byte(const char* text, size_t length, int64_t most, int64_t* ps);

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_CLI_QUANTITY_H_ */
