/* Reads whole numbers, sizes, times and rates for every command.
 *
 * Each function reads all `length` characters of the text. It returns false, and leaves the value alone, if the text
 * is something else or the value is out of bounds. Sizes, times and rates have no signs; numbers have no exponents,
 * and only base 10. One blank may stand before a unit. Tested by tests/cli/quantity_test.cc. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads "-3". */
bool quantity_whole(const char* text, size_t length, int64_t least, int64_t most, int64_t* value);
/* Reads "4096", "4096B", "4KiB", "1 MiB", "1GiB", in bytes. It refuses KB, which may mean 1000 or 1024 bytes. */
bool quantity_bytes(const char* text, size_t length, int64_t least, int64_t most, int64_t* bytes);
/* Reads "1.5", without a unit. */
bool quantity_decimal(const char* text, size_t length, double most, double* value);
/* Reads "30us", "0.5ms", "125ps", rounded to whole units of `unit_ps` picoseconds. A number without a unit
 * counts these units. */
bool quantity_time(const char* text, size_t length, int64_t unit_ps, int64_t most, int64_t* units);
/* Reads the time of a byte, in picoseconds: a time, or a rate such as "100Gbit/s", "12.5GB/s" or "11GiB/s".
 * A number without a unit counts picoseconds. */
bool quantity_time_of_a_byte(const char* text, size_t length, int64_t most, int64_t* ps);

#ifdef __cplusplus
}
#endif
