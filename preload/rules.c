/* Reads and prints what rules say, and finds the calls that they fit. A rule depends only on facts that all ranks
 * know, so all ranks choose alike. Tested by tests/preload/choice_test.sh. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "emitted/universal.h"
#include "preload/rules.h"
#include "runtime/program/program.h"

static const struct preload_range any = {0, INT64_MAX};

const struct preload_facts preload_collectives[] = {
#define FACTS(Name, name, scheduled, family, direction, size) \
  {#name, scheduled, PRELOAD_##direction, PRELOAD_##size},
    PRELOAD_COLLECTIVES(FACTS)};

int preload_collective_of(const char* name) {
  for (int i = 0; i < PRELOAD_COLLECTIVE_COUNT; i++)
    if (strcasecmp(name, preload_collectives[i].name) == 0) return i;
  return -1;
}

int preload_reduces(int collective) {
  return preload_collectives[collective].size == PRELOAD_VECTOR;
}

/* ---- Schedules by name */

/* Returns the schedule of that name. A name without options means the algorithm's first schedule. */
static int find(const char* name, const struct preload_rule* rule) {
  const size_t length = strlen(name);
  for (int i = 0; i < quadrille_universal_count; i++) {
    const char* one = quadrille_universal[i].name;
    if (preload_is_scheduled(i, rule->collective, rule->groups) &&
        strncmp(one, name, length) == 0 && (one[length] == '\0' || one[length] == ':'))
      return i;
  }
  return PRELOAD_NATIVE;
}

/* Lists the names as "factor, tuna:radix=2|4|8, ", with the values of an option behind one name. */
static void list_choices(const struct preload_rule* rule, char* text, size_t size) {
  size_t length = 0;
  const char* last = "";
  text[0] = '\0';
  for (int i = 0; i < quadrille_universal_count && length < size; i++) {
    if (!preload_is_scheduled(i, rule->collective, rule->groups)) continue;
    const char* name = preload_schedule_name(i);
    const char* value = strrchr(name, '=');
    const int is_alike = value && strncmp(name, last, (size_t)(value + 1 - name)) == 0;
    if (is_alike) length -= 2; /* overwrites ", " */
    length += (size_t)snprintf(text + length, size - length, "%s%s, ", is_alike ? "|" : "",
                               is_alike ? value + 1 : name);
    last = name;
  }
}

/* Reads `name`=N into *number, where N is from 1 to `most`. Sets -1 for another value. Returns 0 for another name. */
static int read_option(const char* word, const char* name, int most, int* number) {
  const size_t length = strlen(name);
  char* end = NULL;
  if (strncmp(word, name, length) != 0 || word[length] != '=') return 0;
  const char* const digits = word + length + 1;
  const long value = strtol(digits, &end, 10);
  const int is_right =
      *digits >= '0' && *digits <= '9' && *end == '\0' && value >= 1 && value <= most;
  *number = is_right ? (int)value : -1;
  return 1;
}

/* Sets the rule's schedule to that of a file. */
static int take_file(const char* name, struct preload_rule* rule, char error[PRELOAD_TEXT]) {
  if (!name[strlen(PRELOAD_FILE)]) {
    snprintf(error, PRELOAD_TEXT, "'%s' lacks the path of a schedule file behind it", name);
    return 0;
  }
  for (const char* at = name; *at; at++)
    if (*at < ' ' || *at > '~' || *at == '"' || *at == '\\') {
      snprintf(error, PRELOAD_TEXT,
               "'%.255s': a path here has printable ASCII characters, and no quote or backslash",
               name);
      return 0;
    }
  rule->universal = preload_read_schedule(name, error);
  if (rule->universal == PRELOAD_NATIVE) return 0;
  if (preload_is_scheduled(rule->universal, rule->collective, rule->groups)) return 1;
  const struct quadrille_universal* schedule = preload_schedule(rule->universal);
  snprintf(error, PRELOAD_TEXT, "%.255s is a schedule of %s on %d group%s", name,
           schedule->collective, schedule->groups, schedule->groups == 1 ? "" : "s");
  return 0;
}

static int take_option(const char* word, struct preload_rule* rule) {
  return read_option(word, "window", QD_MAX_WINDOW, &rule->window) ||
         read_option(word, "block-size", INT_MAX, &rule->block_size);
}

/* Moves the options from the text to the rule. A path may have colons, so only options at its end count. */
static void take_options(char* text, struct preload_rule* rule) {
  char words[PRELOAD_NAME], *rest = NULL;
  for (char* colon; (colon = strrchr(text, ':')) && take_option(colon + 1, rule);) *colon = '\0';
  if (strncmp(text, PRELOAD_FILE, strlen(PRELOAD_FILE)) == 0) return;
  snprintf(words, sizeof words, "%s", text);
  *text = '\0';
  for (char* word = strtok_r(words, ":", &rest); word; word = strtok_r(NULL, ":", &rest)) {
    const size_t length = strlen(text);
    if (!take_option(word, rule))
      snprintf(text + length, PRELOAD_NAME - length, "%s%s", length ? ":" : "", word);
  }
}

/* Returns whether the schedule of the rule takes the options of the rule. */
static int check_options(const char* text, const struct preload_rule* rule,
                         char error[PRELOAD_TEXT]) {
  const char* wrong = NULL;
  if (rule->universal == PRELOAD_NATIVE && (rule->window || rule->block_size))
    wrong = "native takes no options";
  else if (rule->block_size && !preload_takes_block_size(rule->universal))
    wrong = "the schedule takes no block size, since it has no blocks of one size";
  if (wrong) snprintf(error, PRELOAD_TEXT, "'%.255s': %s", text, wrong);
  return !wrong;
}

/* Sets the rule's schedule to the one of that name. The name has no options; `text`, for errors, has them. */
static int take_schedule(const char* name, const char* text, struct preload_rule* rule,
                         char error[PRELOAD_TEXT]) {
  char choices[300];
  if (strncmp(name, PRELOAD_FILE, strlen(PRELOAD_FILE)) == 0) return take_file(name, rule, error);
  rule->universal = find(name, rule);
  if (name[0] && (strcmp(name, "native") == 0 || rule->universal != PRELOAD_NATIVE)) return 1;
  list_choices(rule, choices, sizeof choices);
  snprintf(
      error, PRELOAD_TEXT,
      "'%.40s' is none of %snative; :window=N and :block-size=N may follow; or write file:PATH",
      text, choices);
  return 0;
}

int preload_parse_algorithm(const char* text, struct preload_rule* rule, char error[PRELOAD_TEXT]) {
  char name[PRELOAD_NAME];
  if (strlen(text) >= sizeof name) {
    snprintf(error, PRELOAD_TEXT, "'%.40s...' is longer than %d bytes", text, PRELOAD_NAME - 1);
    return 0;
  }
  snprintf(name, sizeof name, "%s", text);
  take_options(name, rule);
  if (rule->window < 0 || rule->block_size < 0) {
    const int is_window = rule->window < 0;
    snprintf(error, PRELOAD_TEXT, "'%.40s': %s is a whole number from 1 to %d", text,
             is_window ? "window" : "block-size", is_window ? QD_MAX_WINDOW : INT_MAX);
    return 0;
  }
  return take_schedule(name, text, rule, error) && check_options(text, rule, error);
}

void preload_print_algorithm(const struct preload_rule* rule, char* text, size_t size) {
  char window[32] = "", block_size[32] = "";
  if (rule->window) snprintf(window, sizeof window, ":window=%d", rule->window);
  if (rule->block_size) snprintf(block_size, sizeof block_size, ":block-size=%d", rule->block_size);
  snprintf(text, size, "%s%s%s", preload_schedule_name(rule->universal), window, block_size);
}

/* ---- Making rules */

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
  if ((to->rule_count & (to->rule_count - 1)) == 0) { /* full at 0, 1, 2, 4, .. rules */
    const size_t capacity = to->rule_count ? 2 * (size_t)to->rule_count : 1;
    struct preload_rule* grown = realloc(to->rules, capacity * sizeof *grown);
    if (!grown) return 0;
    to->rules = grown;
  }
  to->rules[to->rule_count++] = *rule;
  return 1;
}

/* ---- Merging rules */

static int is_same_range(struct preload_range a, struct preload_range b) {
  return a.least == b.least && a.most == b.most;
}

static int is_for_same_calls(const struct preload_rule* a, const struct preload_rule* b) {
  return a->collective == b->collective && a->groups == b->groups && a->even == b->even &&
         is_same_range(a->nodes, b->nodes) && is_same_range(a->ranks_a_node, b->ranks_a_node) &&
         is_same_range(a->ranks, b->ranks) && is_same_range(a->bytes, b->bytes);
}

static double saved(const struct preload_rule* rule) {
  return (double)rule->calls * (rule->native_time - rule->time);
}

struct preload_rule* preload_rule_for_same(const struct preload_settings* of,
                                           const struct preload_rule* rule) {
  for (int i = 0; i < of->rule_count; i++)
    if (is_for_same_calls(&of->rules[i], rule)) return &of->rules[i];
  return NULL;
}

int preload_merge_rule(struct preload_settings* to, const struct preload_rule* rule) {
  struct preload_rule* into = preload_rule_for_same(to, rule);
  if (into && saved(rule) > saved(into)) *into = *rule;
  return into || preload_add_rule(to, rule);
}

/* ---- Calls that a rule fits */

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
  return bytes < 0 ? !preload_asks_for_bytes(rule) : is_in(bytes, rule->bytes);
}

int preload_size_class(int64_t bytes) {
  int size_class = bytes < 0 ? -1 : 0;
  for (; bytes > 0; bytes /= 4) size_class++;
  return size_class;
}

struct preload_range preload_class_range(int size_class) {
  if (size_class < 0) return any;
  if (size_class == 0) return (struct preload_range){0, 0};
  const int64_t least = (int64_t)1 << (2 * (size_class - 1));
  return (struct preload_range){least, 4 * least - 1};
}
