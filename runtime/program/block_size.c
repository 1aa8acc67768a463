/* Chooses the block size of a pipelined ring (Traeff et al. 2008), or of a chain or tree that takes as long.
 *
 * Contributions m_i are cut into blocks of B bytes. There are b = sum of max(1, ceil(m_i/B)) blocks, which take b - 1
 * rounds of alpha + beta*B.
 *
 * LEAST takes the least m_i above 0, but no less than a threshold: many short blocks cost more than they save.
 *
 * MODEL sets b - 1 = m/B + (p + z - 2)/2, where m is the sum of all m_i, p the number of ranks and z the number of
 * empty contributions. It takes the B at which the derivative of the time is 0. The last term assumes that last
 * blocks are half full on average. (The slides print (p - z)/2 for the last term, but their optimum follows only from
 * the term above.)
 *
 * AUTO counts blocks exactly. Two facts make that cheap:
 * - Of all sizes that give equal numbers of blocks, the least is the best: the maximum of ceil(m_i/ceil(m_i/B)).
 * - A size g that is at most r times the best size makes no more blocks, so it costs at most r times as much. So a
 *   geometric descent misses the best cost by at most its ratio.
 * AUTO skips sizes whose lower bound is no better than the best cost. tests/runtime/block_size_test.cc compares it
 * with brute force. */
#include "runtime/program/block_size.h"

#include <limits.h>

typedef unsigned __int128 wide;

/* The most distinct counts that are kept with their multiplicities. If there are more, each pass reads all counts. */
enum { FEW = 64 };

struct counts {
  const int64_t* bytes;
  int64_t listed, ranks; /* entries of `bytes`; ranks without an entry contribute nothing */
  int64_t total, least, most, empty; /* least: of counts that are not 0 */
  int64_t values[FEW], times[FEW];   /* the counts that are not 0, and how often each occurs */
  int distinct;                      /* FEW + 1: more than fit */
};

static void count_value(struct counts* counts, int64_t value) {
  int i = 0;
  while (i < counts->distinct && counts->values[i] != value) i++;
  if (i == counts->distinct) {
    counts->distinct++;
    if (i == FEW) return;
    counts->values[i] = value;
    counts->times[i] = 0;
  }
  counts->times[i]++;
}

static void sum_counts(struct counts* counts, const int64_t* bytes, int64_t listed, int64_t ranks) {
  counts->bytes = bytes;
  counts->listed = listed;
  counts->ranks = ranks;
  counts->total = counts->least = counts->most = 0;
  counts->empty = ranks - listed;
  counts->distinct = 0;
  for (int64_t i = 0; i < listed; i++) {
    const int64_t value = bytes[i];
    counts->empty += value == 0;
    if (value == 0) continue;
    counts->total += value;
    if (counts->least == 0 || value < counts->least) counts->least = value;
    if (value > counts->most) counts->most = value;
    if (counts->distinct <= FEW) count_value(counts, value);
  }
}

static int64_t at_most_int(int64_t size) { return size < 1 ? 1 : size > INT_MAX ? INT_MAX : size; }

/* Returns the square root, rounded down. */
static int64_t root_of(wide square) {
  wide root = 0;
  for (wide bit = (wide)1 << 62; bit > 0; bit >>= 1)
    if ((root | bit) * (root | bit) <= square) root |= bit;
  return (int64_t)root;
}

static int64_t model(const struct counts* counts, int64_t alpha_ps, int64_t beta_ps) {
  const int64_t rounds =
      counts->ranks + counts->empty - 2; /* twice the number of rounds that B does not change */
  if (rounds <= 0 || beta_ps == 0) return at_most_int(counts->most);
  const wide square = 2 * (wide)alpha_ps * (wide)counts->total / ((wide)beta_ps * (wide)rounds);
  const int64_t root = root_of(square);
  return at_most_int(root < counts->most ? root : counts->most);
}

struct search {
  const struct counts* counts;
  wide alpha, beta; /* in picoseconds */
  int64_t best;
  wide best_cost;
};

static void add_blocks(int64_t value, int64_t times, int64_t size, int64_t* blocks,
                       int64_t* tight) {
  const int64_t cut = value / size + (value % size != 0);
  const int64_t enough = value / cut + (value % cut != 0);
  *blocks += times * cut;
  if (enough > *tight) *tight = enough;
}

/* Tries the least size that cuts each contribution into as many blocks as `size` does. Returns that size. */
static int64_t try_size(struct search* search, int64_t size) {
  const struct counts* counts = search->counts;
  int64_t blocks = counts->empty, tight = 1;
  if (counts->distinct <= FEW)
    for (int i = 0; i < counts->distinct; i++)
      add_blocks(counts->values[i], counts->times[i], size, &blocks, &tight);
  else
    for (int64_t i = 0; i < counts->listed; i++)
      if (counts->bytes[i] > 0) add_blocks(counts->bytes[i], 1, size, &blocks, &tight);
  const wide cost = (wide)(blocks - 1) * (search->alpha + search->beta * (wide)tight);
  if (search->best == 0 || cost < search->best_cost) {
    search->best = tight;
    search->best_cost = cost;
  }
  return tight;
}

/* Returns a lower bound of the costs of sizes from `low` to `high`: that of the number of blocks for `high`, but of
 * `low` bytes each. */
static wide least_cost(const struct search* search, int64_t low, int64_t high) {
  const struct counts* counts = search->counts;
  int64_t blocks = counts->empty + counts->total / high;
  if (blocks < counts->ranks) blocks = counts->ranks;
  return (wide)(blocks - 1) * (search->alpha + search->beta * (wide)low);
}

/* Tries sizes from `high` down to `low`. Each step lowers the size by at least 1/part of it, and by at least 1. */
static void descend(struct search* search, int64_t high, int64_t low, int64_t part) {
  for (int64_t size = high; size >= low && size >= 1;) {
    int64_t next = size - size / part - 1; /* skips the sizes between */
    if (least_cost(search, next + 1, size) < search->best_cost) {
      const int64_t tight = try_size(search, size);
      if (tight <= next) next = tight - 1;
    }
    size = next;
  }
}

/* The lower bound is at least half of the cost. So the descent tries only sizes within a factor of 14: about 20 sizes
 * at a ratio of 7/8, or 105 at 39/40. */
static int64_t best_size(const struct counts* counts, int64_t alpha_ps, int64_t beta_ps) {
  struct search search = {counts, (wide)alpha_ps, (wide)beta_ps, 0, 0};
  try_size(&search, at_most_int(counts->most));
  try_size(&search, model(counts, alpha_ps, beta_ps));
  descend(&search, at_most_int(counts->most), 1, counts->distinct <= FEW ? 40 : 8);
  const int64_t around = search.best / 8;
  descend(&search, at_most_int(search.best + around), search.best - around, 64);
  return search.best;
}

static int64_t choose_size(int64_t rule, int64_t alpha_ns, int64_t beta_ps,
                           const struct counts* counts) {
  if (counts->most == 0) return 1;
  if (rule == QD_CHOOSE_LEAST) return at_most_int(counts->least);
  if (rule < QD_CHOOSE_AUTO)
    return at_most_int(counts->least < QD_CHOOSE_AUTO - rule ? QD_CHOOSE_AUTO - rule
                                                             : counts->least);
  const int64_t alpha_ps = 1000 * alpha_ns;
  return rule == QD_CHOOSE_MODEL ? model(counts, alpha_ps, beta_ps)
                                 : best_size(counts, alpha_ps, beta_ps);
}

/* Returns how many ranks a block visits down a tree: the root, and one in each of ceil(log2 ranks) levels. */
static int64_t ranks_on_a_way(int64_t ranks) {
  int64_t on_a_way = 1;
  for (int64_t power = 1; power < ranks; power *= 2) on_a_way++;
  return on_a_way;
}

int64_t qd_block_size(int64_t rule, int64_t alpha_ns, int64_t beta_ps, const int64_t* bytes,
                      int64_t contributions, int64_t ranks, int over_trees) {
  struct counts counts;
  int64_t sum = 0;
  if (rule >= QD_CHOOSE_NONE) return rule == QD_CHOOSE_NONE ? 0 : at_most_int(rule);
  for (int64_t i = 0; i < contributions && over_trees; i++) sum += bytes[i];
  if (over_trees)
    sum_counts(&counts, &sum, 1, ranks_on_a_way(ranks));
  else
    sum_counts(&counts, bytes, contributions, ranks);
  return choose_size(rule, alpha_ns, beta_ps, &counts);
}
