/* Reads and prints rules, finds the calls that they fit, and reads and writes rules files. A rule depends only on
 * facts that all ranks know, so all ranks choose alike. A line of a file has one rule, or the origin of all rules. A
 * comment begins with #:
 *
 *   library=Open-MPI version=4.1.4 machine=cluster nodes=4
 *   alltoallv nodes=2.. ranks-a-node=8 use=tuna:radix=8
 *   allgather bytes=65536..262143 use=blocked-ring:block-size=16384  # 0.52 of native, 1200 calls
 *
 * docs/choosing.md explains the words. An error names the file and the line. Tested by tests/cli/rules_test.sh and
 * tests/preload/choice_test.sh. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Writes a reason. Returns 0. */
__attribute__((format(printf, 2, 3))) static int refuse(char error[PRELOAD_TEXT],
                                                        const char* format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(error, PRELOAD_TEXT, format, values);
  va_end(values);
  return 0;
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
  if (!name[strlen(PRELOAD_FILE)])
    return refuse(error, "'%s' lacks the path of a schedule file behind it", name);
  for (const char* at = name; *at; at++)
    if (*at < ' ' || *at > '~' || *at == '"' || *at == '\\')
      return refuse(
          error, "'%.255s': a path here has printable ASCII characters, and no quote or backslash",
          name);
  rule->universal = preload_read_schedule(name, error);
  if (rule->universal == PRELOAD_NATIVE) return 0;
  if (preload_is_scheduled(rule->universal, rule->collective, rule->groups)) return 1;
  const struct quadrille_universal* schedule = preload_schedule(rule->universal);
  return refuse(error, "%.255s is a schedule of %s on %d group%s", name, schedule->collective,
                schedule->groups, schedule->groups == 1 ? "" : "s");
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
  if (rule->universal == PRELOAD_NATIVE && (rule->window || rule->block_size))
    return refuse(error, "'%.255s': native takes no options", text);
  if (rule->block_size && !preload_takes_block_size(rule->universal))
    return refuse(error,
                  "'%.255s': the schedule takes no block size, since it has no blocks of one size",
                  text);
  return 1;
}

/* Sets the rule's schedule to the one of that name. The name has no options; `text`, for errors, has them. */
static int take_schedule(const char* name, const char* text, struct preload_rule* rule,
                         char error[PRELOAD_TEXT]) {
  char choices[300];
  if (strncmp(name, PRELOAD_FILE, strlen(PRELOAD_FILE)) == 0) return take_file(name, rule, error);
  rule->universal = find(name, rule);
  if (name[0] && (strcmp(name, "native") == 0 || rule->universal != PRELOAD_NATIVE)) return 1;
  list_choices(rule, choices, sizeof choices);
  return refuse(
      error,
      "'%.40s' is none of %snative; :window=N and :block-size=N may follow; or write file:PATH",
      text, choices);
}

int preload_parse_algorithm(const char* text, struct preload_rule* rule, char error[PRELOAD_TEXT]) {
  char name[PRELOAD_NAME];
  if (strlen(text) >= sizeof name)
    return refuse(error, "'%.40s...' is longer than %d bytes", text, PRELOAD_NAME - 1);
  snprintf(name, sizeof name, "%s", text);
  take_options(name, rule);
  if (rule->window < 0 || rule->block_size < 0)
    return refuse(error, "'%.40s': %s is a whole number from 1 to %d", text,
                  rule->window < 0 ? "window" : "block-size",
                  rule->window < 0 ? QD_MAX_WINDOW : INT_MAX);
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

int preload_are_for_same_calls(const struct preload_rule* a, const struct preload_rule* b) {
  return a->collective == b->collective && a->groups == b->groups && a->even == b->even &&
         is_same_range(a->nodes, b->nodes) && is_same_range(a->ranks_a_node, b->ranks_a_node) &&
         is_same_range(a->ranks, b->ranks) && is_same_range(a->bytes, b->bytes);
}

static double saved(const struct preload_rule* rule) {
  return (double)rule->calls * (rule->native_time - rule->time);
}

/* Returns the rule of the settings for the same calls as `rule`, or NULL. */
static struct preload_rule* rule_for_same(const struct preload_settings* of,
                                          const struct preload_rule* rule) {
  for (int i = 0; i < of->rule_count; i++)
    if (preload_are_for_same_calls(&of->rules[i], rule)) return &of->rules[i];
  return NULL;
}

/* Adds a rule. Of two for the same calls, keeps the one that saved more time. Returns 0 if memory ran out. */
static int merge_rule(struct preload_settings* to, const struct preload_rule* rule) {
  struct preload_rule* into = rule_for_same(to, rule);
  if (into && saved(rule) > saved(into)) *into = *rule;
  return into || preload_add_rule(to, rule);
}

/* ---- Calls that a rule fits */

static int is_in(int64_t value, struct preload_range range) {
  return range.least <= value && value <= range.most;
}

static int is_any(struct preload_range range) { return is_same_range(range, any); }

static int asks_for_nodes(const struct preload_rule* rule) {
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

/* ---- Reading rules files */

static const char blanks[] = " \t\r\n";

static int read_number(const char** at, int64_t* number) {
  char* end = NULL;
  if (!isdigit((unsigned char)**at)) return 0;
  errno = 0;
  *number = strtoll(*at, &end, 10);
  *at = end;
  return errno == 0;
}

/* Reads N, LEAST..MOST or LEAST.., and returns 0 for anything else. */
static int read_range(const char* value, struct preload_range* range) {
  if (!read_number(&value, &range->least)) return 0;
  range->most = range->least;
  if (strncmp(value, "..", 2) == 0) {
    value += 2;
    range->most = INT64_MAX;
    if (*value && !read_number(&value, &range->most)) return 0;
  }
  return *value == '\0' && range->least <= range->most;
}

enum field { RANKS, NODES, RANKS_A_NODE, BYTES, EVEN, GROUPS, USE, FIELDS };

/* Returns the field whose name the word begins with, or FIELDS. Sets *value to the text behind the name. */
static enum field field_of(const char* word, const char** value) {
  static const char* const names[] = {
      "ranks=", "nodes=", "ranks-a-node=", "bytes=", "even=", "groups=", "use="};
  int field = 0;
  while (field < FIELDS && strncmp(word, names[field], strlen(names[field])) != 0) field++;
  if (field < FIELDS) *value = word + strlen(names[field]);
  return (enum field)field;
}

/* Reads NAME=VALUE into the rule. `seen`: fields so far. Only keeps the value of use= in *use: groups= may follow. */
static int read_field(const char* word, struct preload_rule* rule, unsigned* seen, const char** use,
                      char error[PRELOAD_TEXT]) {
  struct preload_range* const ranges[] = {&rule->ranks, &rule->nodes, &rule->ranks_a_node,
                                          &rule->bytes};
  const char* value = NULL;
  const enum field field = field_of(word, &value);
  if (field == FIELDS)
    return refuse(error,
                  "'%.64s' is not known; behind a collective write use=SCHEDULE and, as needed, "
                  "ranks=, nodes=, ranks-a-node=, even=, bytes= and groups=",
                  word);
  if (*seen & 1U << field)
    return refuse(error, "'%.64s': this name is there twice; leave one out", word);
  *seen |= 1U << field;
  if (field == USE) {
    *use = value;
  } else if (field == EVEN) {
    rule->even = strcmp(value, "yes") == 0;
    if (!rule->even && strcmp(value, "no") != 0)
      return refuse(error, "'%.64s': write even=yes or even=no", word);
  } else if (field == GROUPS) {
    rule->groups = strcmp(value, "2") == 0 ? 2 : 1;
    if (rule->groups == 1 && strcmp(value, "1") != 0)
      return refuse(error, "'%.64s': write groups=1, or groups=2 for intercommunicators", word);
  } else if (!read_range(value, ranges[field])) {
    return refuse(error, "'%.64s': write a whole number, LEAST..MOST, or LEAST.. for no limit",
                  word);
  }
  return 1;
}

/* Copies the line without its comment. */
static int copy_line(const char* line, size_t length, char text[PRELOAD_TEXT],
                     char error[PRELOAD_TEXT]) {
  size_t end = 0;
  while (end < length && !(line[end] == '#' && (end == 0 || strchr(blanks, line[end - 1])))) end++;
  if (end >= PRELOAD_TEXT)
    return refuse(error, "a rule has at most %d characters", PRELOAD_TEXT - 1);
  if (memchr(line, '\0', end)) return refuse(error, "a text has no byte with the value 0");
  memcpy(text, line, end);
  text[end] = '\0';
  return 1;
}

/* Reads the words of the line with the origin of all rules. */
static int read_origin(const char* word, char** rest, struct preload_origin* origin,
                       char error[PRELOAD_TEXT]) {
  *origin = (struct preload_origin){.nodes = 0};
  for (; word; word = strtok_r(NULL, blanks, rest)) {
    char end = 0;
    if (sscanf(word, "library=%63s", origin->library) != 1 &&
        sscanf(word, "version=%31s", origin->version) != 1 &&
        sscanf(word, "machine=%63s", origin->machine) != 1 &&
        sscanf(word, "nodes=%d%c", &origin->nodes, &end) != 1)
      return refuse(error,
                    "'%.64s' is not known; behind library=NAME write version=, machine= or nodes=N",
                    word);
  }
  return -1;
}

int preload_read_rule(const char* line, size_t length, struct preload_rule* rule,
                      struct preload_origin* origin, char error[PRELOAD_TEXT]) {
  char text[PRELOAD_TEXT], *rest = NULL;
  const char* use = NULL;
  unsigned seen = 0;
  if (!copy_line(line, length, text, error)) return 0;
  const char* word = strtok_r(text, blanks, &rest);
  if (!word) return -1;
  if (strncmp(word, "\xef\xbb\xbf", 3) == 0)
    return refuse(error, "the line begins with a byte order mark; save the file without it");
  if (strncmp(word, "library=", 8) == 0) return read_origin(word, &rest, origin, error);
  if (preload_collective_of(word) < 0)
    return refuse(
        error, "'%.64s' is no collective that is served: a rule begins with one, such as alltoallv",
        word);
  *rule = preload_any_rule(preload_collective_of(word), 1);
  while ((word = strtok_r(NULL, blanks, &rest)))
    if (!read_field(word, rule, &seen, &use, error)) return 0;
  if (!use) return refuse(error, "a rule needs use=SCHEDULE, or use=native");
  if (rule->groups == 2 && asks_for_nodes(rule))
    return refuse(error, "nodes=, ranks-a-node= and even= are for one group; leave them out");
  return preload_parse_algorithm(use, rule, error);
}

/* Returns the length of the first line, with its newline. */
static size_t line_length(const char* text, size_t length) {
  const char* const end = memchr(text, '\n', length);
  return end ? (size_t)(end + 1 - text) : length;
}

int preload_read_rules(const char* path, const char* text, size_t length,
                       struct preload_settings* settings, char wrong[PRELOAD_TEXT]) {
  const int count = settings->rule_count;
  struct preload_origin* const of = &settings->of_file;
  int number = 1, found = -1;
  char error[PRELOAD_TEXT];
  size_t start = 0;
  *of = (struct preload_origin){.nodes = 0};
  while (start < length && strchr(blanks, text[start])) start++;
  if (start < length && text[start] == '{')
    found = refuse(error,
                   "these rules are of the old form: `quadrille rules FILE --out NEW` "
                   "writes them as they are read now");
  for (size_t at = 0, next; at < length && found; at += next, number += found != 0) {
    struct preload_rule rule;
    struct preload_origin origin = {.nodes = 0};
    next = line_length(text + at, length - at);
    found = preload_read_rule(text + at, next, &rule, &origin, error);
    if (found && *of->library && *origin.library && strcmp(of->library, origin.library) != 0)
      found = refuse(error, "these rules are of %s, and those before of %s; keep them in two files",
                     origin.library, of->library);
    if (!*of->library) *of = origin;
    if (found > 0 && !preload_add_rule(settings, &rule))
      found = refuse(error, "memory ran out while rules were read");
  }
  if (found && settings->rule_count == count && !preload_finds_rules(settings->mode))
    number = 1, found = refuse(error, "there is no rule here; leave the file out");
  if (!found) snprintf(wrong, PRELOAD_TEXT, "%.500s:%d: %.480s", path, number, error);
  return found != 0;
}

/* ---- Writing rules files */

static void print_range(FILE* file, const char* name, struct preload_range range) {
  if (is_any(range)) return;
  fprintf(file, " %s=%lld", name, (long long)range.least);
  if (range.most == INT64_MAX)
    fprintf(file, "..");
  else if (range.most > range.least)
    fprintf(file, "..%lld", (long long)range.most);
}

/* Writes a rule as a line that preload_read_rule reads. */
static void print_rule(FILE* file, const struct preload_rule* rule) {
  char algorithm[PRELOAD_NAME];
  preload_print_algorithm(rule, algorithm, sizeof algorithm);
  fprintf(file, "%s", preload_collectives[rule->collective].name);
  if (rule->groups == 2) fprintf(file, " groups=2");
  print_range(file, "ranks", rule->ranks);
  print_range(file, "nodes", rule->nodes);
  print_range(file, "ranks-a-node", rule->ranks_a_node);
  if (rule->even >= 0) fprintf(file, " even=%s", rule->even ? "yes" : "no");
  print_range(file, "bytes", rule->bytes);
  fprintf(file, " use=%s", algorithm);
  if (rule->time > 0 && rule->native_time > 0) { /* integers: a locale could change the point */
    const long long share = (long long)(100 * rule->time / rule->native_time + 0.5);
    fprintf(file, "  # %lld.%02lld of native, %lld calls", share / 100, share % 100,
            (long long)rule->calls);
  }
  fprintf(file, "\n");
}

static void print_origin(FILE* file, const struct preload_origin* of) {
  if (*of->library)
    fprintf(file, "library=%s%s%s%s%s nodes=%d\n", of->library, *of->version ? " version=" : "",
            of->version, *of->machine ? " machine=" : "", of->machine, of->nodes);
}

static int written_rules;

int preload_written_rules(void) { return written_rules; }

/* Copies the lines of the file, except the origin and rules for the same calls as rules of this job, from now or the
 * last time. */
static void print_others(FILE* file, const char* text, size_t length,
                         const struct preload_settings own[2]) {
  struct preload_rule rule = {.collective = 0};
  char error[PRELOAD_TEXT];
  for (size_t at = 0, next; at < length; at += next) {
    struct preload_origin origin = {.nodes = 0};
    next = line_length(text + at, length - at);
    const int is_rule = preload_read_rule(text + at, next, &rule, &origin, error) > 0;
    if (origin.library[0]) continue;
    if (is_rule && (rule_for_same(&own[0], &rule) || rule_for_same(&own[1], &rule))) continue;
    fwrite(text + at, 1, next, file);
    if (text[at + next - 1] != '\n') fprintf(file, "\n");
  }
}

void preload_write_rules(const struct preload_rule* found, int count, int job_ends) {
  static struct preload_settings own[2]; /* rules that the job writes now, and wrote last time */
  const char* const path = preload_settings()->rules_file;
  struct preload_settings present = {.mode = PRELOAD_LEARN};
  size_t length = 0;
  char wrong[PRELOAD_TEXT];
  FILE* const file = preload_open(path, job_ends);
  if (!file && errno == EAGAIN && !job_ends) return; /* they are written later */
  char* const text = file ? (char*)preload_read_own(path, PRELOAD_MOST_RULES, &length) : NULL;
  int is_good = file && (text || errno == ENOENT);
  if (file && !is_good) fprintf(stderr, "quadrille: %s: %s\n", path, preload_file_reason());
  int is_right = !text || preload_read_rules(path, text, length, &present, wrong);
  const char *const here = preload_settings()->here.library, *const there = present.of_file.library;
  if (is_right && *here && *there && strcmp(here, there) != 0) {
    snprintf(wrong, sizeof wrong, "%.500s: a job of %s has written it", path, there);
    is_right = 0;
  }
  if (!is_right) fprintf(stderr, "quadrille: %s\n", wrong);
  is_good &= is_right;
  own[0] = (struct preload_settings){.rule_count = 0};
  for (int i = 0; is_good && i < count; i++) is_good = merge_rule(&own[0], &found[i]);
  if (is_good) print_origin(file, &preload_settings()->here);
  if (is_good) print_others(file, text, length, own);
  for (int i = 0; is_good && i < own[0].rule_count; i++) print_rule(file, &own[0].rules[i]);
  is_good = preload_close(file, path, "rules", is_good);
  written_rules = is_good ? own[0].rule_count : -1;
  free(present.rules);
  free(text);
  free(is_good ? own[1].rules : own[0].rules);
  if (is_good) own[1] = own[0];
}

/* ---- Files */

/* Finds the file's full name, and its partial name, used while it is written. Returns 1 for a device or a pipe, for which
 * both names are the same. A symbolic link to a plain file, which somebody else may have made, has no partial name. */
static int find_names(const char* given, char name[PATH_MAX], char partial[PATH_MAX]) {
  struct stat status;
  char full[QD_MAX_PATH];
  const char* const path = preload_full_name(given, full);
  const int is_special = stat(path, &status) == 0 && !S_ISREG(status.st_mode);
  const int is_link = !is_special && lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
  if (!realpath(path, name)) snprintf(name, PATH_MAX, "%s", path);
  const int length = snprintf(partial, PATH_MAX, is_special ? "%s" : "%s.partial", name);
  errno = is_link ? ELOOP : ENAMETOOLONG;
  if (length >= PATH_MAX || is_link) partial[0] = '\0';
  return is_special;
}

int preload_may_write(const char* path) {
  char name[PATH_MAX], partial[PATH_MAX];
  struct stat status;
  const int is_special = find_names(path, name, partial);
  if (!partial[0]) return 0;
  errno = EISDIR;
  if (stat(name, &status) == 0 && S_ISDIR(status.st_mode)) return 0;
  if (is_special) return access(name, W_OK) == 0;
  char* const slash = strrchr(name, '/');
  if (!slash) return access(".", W_OK | X_OK) == 0;
  slash[slash == name] = '\0'; /* the slash of "/file" stays */
  return access(name, W_OK | X_OK) == 0;
}

/* Opens and empties the partial file, locked against other jobs that write the same file. When a job has renamed the
 * partial file, the next job makes a new one. Returns -1 if all tries fail. */
static int open_alone(const char* name, int tries) {
  enum { PAUSE = 10000 }; /* microseconds */
  for (int i = 0; i < tries; i++) {
    if (i > 0) usleep(PAUSE);
    struct stat opened, named;
    const int file = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0664);
    if (file < 0) return -1;
    const int is_alone = flock(file, LOCK_EX | LOCK_NB) == 0 || errno == ENOLCK || errno == ENOSYS;
    if (is_alone && fstat(file, &opened) == 0 && stat(name, &named) == 0 &&
        opened.st_ino == named.st_ino && opened.st_dev == named.st_dev && ftruncate(file, 0) == 0)
      return file;
    close(file);
  }
  errno = EAGAIN;
  return -1;
}

/* Opens a pipe or a device when the job ends. Fails if no process reads from the pipe. Later writes may block. */
static int open_special(const char* name, int job_ends) {
  errno = EAGAIN;
  const int file = job_ends ? open(name, O_WRONLY | O_CLOEXEC | O_NONBLOCK) : -1;
  if (file >= 0) fcntl(file, F_SETFL, O_WRONLY);
  return file;
}

FILE* preload_open(const char* path, int job_ends) {
  char name[PATH_MAX], partial[PATH_MAX];
  struct stat status;
  const int is_special = find_names(path, name, partial);
  if (!partial[0]) return NULL;
  const int file =
      is_special ? open_special(name, job_ends) : open_alone(partial, job_ends ? 200 : 1);
  if (file < 0) return NULL;
  if (!is_special && stat(name, &status) == 0) fchmod(file, status.st_mode & 07777);
  return fdopen(file, "w");
}

int preload_close(FILE* file, const char* path, const char* what, int is_complete) {
  static int failures; /* so far; only two are printed, since files are written repeatedly */
  char name[PATH_MAX], partial[PATH_MAX];
  const int is_special = find_names(path, name, partial),
            is_whole = is_complete && file && fflush(file) == 0 && !ferror(file);
  const int is_written = is_whole && (is_special || rename(partial, name) == 0);
  if (file && !is_written && !is_special) remove(partial);
  if (file) fclose(file); /* last, since this unlocks it for other jobs */
  if (!is_written && failures++ < 2)
    fprintf(stderr, "quadrille: the %s could not be written to %s\n", what, path);
  return is_written;
}
