/* Chooses the block size of a pipeline from the counts that all ranks know.
 *
 * The arithmetic uses integers, so all ranks get the same result. Tools that predict a call use this file too. */
#pragma once

#include <stdint.h>

#include "runtime/program/table_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the block size in bytes, 1 to INT_MAX, or 0 for QD_CHOOSE_NONE.
 *
 * `rule` is the rule of the parameter in the file: a fixed size, or one of table_format.h. alpha (ns a message) and
 * beta (ps a byte) are in 0 .. QD_MAX_COST. Only MODEL and AUTO read them.
 *
 * `bytes` holds the lengths of `contributions` contributions: one for each of `ranks` ranks, or a single one in a
 * broadcast, a reduce or a scan. None is negative, and their sum is at most INT64_MAX. The model is a ring of all ranks.
 * Ranks without an entry contribute nothing. A chain takes as long as the ring. If `over_trees`, blocks travel over
 * trees. This takes as long as a ring of ceil(log2 ranks) + 1 ranks in which one rank contributes the sum.
 *
 * The function makes one pass over `bytes`. AUTO makes up to 40. */
int64_t qd_block_size(int64_t rule, int64_t alpha_ns, int64_t beta_ps, const int64_t* bytes,
                      int64_t contributions, int64_t ranks, int over_trees);

#ifdef __cplusplus
}
#endif
