/* Rules, and what one asks of a communicator and of a call. */
#include <stdlib.h>

#include "preload/rules.h"

static const struct preload_range any = {0, INT64_MAX};

struct preload_rule preload_any_rule(int collective, int groups) {
  return (struct preload_rule){.collective = collective,
                               .groups = groups,
                               .nodes = any,
                               .ranks_a_node = any,
                               .ranks = any,
                               .bytes = any,
                               .even = -1,
                               .universal = PRELOAD_NATIVE};
}

int preload_add_rule(struct preload_settings* to, const struct preload_rule* rule) {
  if ((to->rule_count & (to->rule_count - 1)) == 0) {
    const size_t room = to->rule_count ? 2 * (size_t)to->rule_count : 1;
    struct preload_rule* grown = realloc(to->rules, room * sizeof *grown);
    if (!grown) return 0;
    to->rules = grown;
  }
  to->rules[to->rule_count++] = *rule;
  return 1;
}

static int is_in(int64_t value, struct preload_range range) {
  return range.least <= value && value <= range.most;
}

static int is_any(struct preload_range range) {
  return range.least == any.least && range.most == any.most;
}

int preload_asks_for_nodes(const struct preload_rule* rule) {
  return !is_any(rule->nodes) || !is_any(rule->ranks_a_node) || rule->even >= 0;
}

int preload_asks_for_bytes(const struct preload_rule* rule) { return !is_any(rule->bytes); }

int preload_shape_fits(const struct preload_rule* rule, const struct preload_shape* shape) {
  if (rule->groups != shape->groups || !is_in(shape->ranks + shape->remote_ranks, rule->ranks))
    return 0;
  return shape->nodes == 0 ||
         (is_in(shape->nodes, rule->nodes) && is_in(shape->least, rule->ranks_a_node) &&
          is_in(shape->most, rule->ranks_a_node) &&
          (rule->even < 0 || rule->even == (shape->least == shape->most)));
}

int preload_bytes_fit(const struct preload_rule* rule, int64_t bytes) {
  if (bytes < 0) return !preload_asks_for_bytes(rule);
  return is_in(bytes, rule->bytes);
}

int preload_size_class(int64_t bytes) {
  int size_class = 0;
  if (bytes < 0) return -1;
  while (bytes > 0) {
    bytes /= 4;
    size_class++;
  }
  return size_class;
}

struct preload_range preload_class_range(int size_class) {
  if (size_class < 0) return any;
  if (size_class == 0) return (struct preload_range){0, 0};
  const int64_t least = (int64_t)1 << (2 * (size_class - 1));
  return (struct preload_range){least, 4 * least - 1};
}
