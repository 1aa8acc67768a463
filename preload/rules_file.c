/* Rules files, read and written. A file is one JSON document:
 *
 *   {"schema": 1, "rules": [
 *     {"collective": "alltoallv", "nodes": [2, null], "ranks_a_node": 8, "even": true, "algorithm": "tuna:radix=8"},
 *     {"collective": "allgather", "bytes": [65536, null], "algorithm": "blocked-ring:block-size=16384",
 *      "time": 0.0012, "native_time": 0.0023}]}
 *
 * docs/choosing.md explains the fields. An error names the file and the line. Tested by tests/preload/choice_test.sh. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define JSMN_STATIC
#define JSMN_STRICT
#define JSMN_PARENT_LINKS /* an array of many rules takes linear time */
#include <jsmn.h>

#include "preload/rules.h"
#include "runtime/program/program.h"

/* ---- Numbers */

static locale_t plain;

static void make_plain(void) { plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0); }

locale_t preload_plain_numbers(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_plain);
  return uselocale(plain);
}

/* ---- Reading */

struct reader {
  const char *path, *text;
  const jsmntok_t* tokens;
  struct preload_settings* settings;
};

/* Reports the error at an offset of the text. */
static int fail(const struct reader* reader, int at, const char* what) {
  int line = 1;
  for (int i = 0; i < at; i++) line += reader->text[i] == '\n';
  snprintf(reader->settings->error, PRELOAD_TEXT, "%.500s:%d: %.480s", reader->path, line, what);
  return 0;
}

static int is_text(const struct reader* reader, const jsmntok_t* token, const char* text) {
  const size_t length = (size_t)(token->end - token->start);
  return strlen(text) == length && strncmp(reader->text + token->start, text, length) == 0;
}

static int is_word(const struct reader* reader, const jsmntok_t* token, const char* word) {
  return token->type == JSMN_PRIMITIVE && is_text(reader, token, word);
}

static void copy_text(const struct reader* reader, const jsmntok_t* token, char* text,
                      size_t size) {
  snprintf(text, size, "%.*s", token->end - token->start, reader->text + token->start);
}

/* The token after this one and everything in it. */
static const jsmntok_t* skip(const jsmntok_t* token) {
  int left = 1;
  for (; left > 0; token++) left += token->size - 1;
  return token;
}

static const jsmntok_t* value_of(const struct reader* reader, const jsmntok_t* object,
                                 const char* name) {
  const jsmntok_t* key = object + 1;
  for (int i = 0; i < object->size; i++, key = skip(key))
    if (is_text(reader, key, name)) return key + 1;
  return NULL;
}

/* Whether no earlier key of the object has the name of this one. */
static int is_first(const struct reader* reader, const jsmntok_t* object, const jsmntok_t* key) {
  const int length = key->end - key->start;
  const jsmntok_t* one = object + 1;
  while (one < key &&
         (one->end - one->start != length ||
          memcmp(reader->text + one->start, reader->text + key->start, (size_t)length) != 0))
    one = skip(one);
  return one == key;
}

/* Moves over digits. Returns whether there were any. */
static int pass_digits(const char** at) {
  const size_t count = strspn(*at, "0123456789");
  *at += count;
  return count > 0;
}

/* Whether JSON knows the number: "0.5" and "1e3", but neither "007" nor "1.". */
static int is_number(const char* text) {
  const char* at = text;
  if (!pass_digits(&at) || (*text == '0' && at > text + 1)) return 0;
  if (*at == '.' && (at++, !pass_digits(&at))) return 0;
  if (*at == 'e' || *at == 'E') {
    at++;
    if (*at == '+' || *at == '-') at++;
    if (!pass_digits(&at)) return 0;
  }
  return *at == '\0';
}

static int read_number(const struct reader* reader, const jsmntok_t* token, double* number) {
  char text[64];
  const int fits = token->end - token->start < (int)sizeof text;
  copy_text(reader, token, text, sizeof text);
  *number = strtod(text, NULL);
  return (token->type == JSMN_PRIMITIVE && fits && is_number(text) && isfinite(*number)) ||
         fail(reader, token->start,
              "write a number that is 0 or more here, with at most 63 characters");
}

static int read_integer(const struct reader* reader, const jsmntok_t* token, int64_t* integer) {
  double number = 0;
  if (!read_number(reader, token, &number)) return 0;
  *integer = (int64_t)fmin(number, PRELOAD_MOST_NUMBER);
  return (double)*integer == number ||
         fail(reader, token->start, "write a whole number of at most 9e15 here");
}

/* Reads N, or [LEAST, MOST]. A null as MOST means no limit. */
static int read_range(const struct reader* reader, const jsmntok_t* token,
                      struct preload_range* range) {
  if (token->type != JSMN_ARRAY) {
    if (!read_integer(reader, token, &range->least)) return 0;
    range->most = range->least;
    return 1;
  }
  if (token->size != 2)
    return fail(reader, token->start, "a range has two numbers, the least and the most or null");
  if (!read_integer(reader, token + 1, &range->least)) return 0;
  range->most = INT64_MAX;
  if (!is_word(reader, token + 2, "null") && !read_integer(reader, token + 2, &range->most))
    return 0;
  return range->least <= range->most || fail(reader, token->start, "the range is empty");
}

static int read_even(const struct reader* reader, const jsmntok_t* token, int* even) {
  *even = is_word(reader, token, "true");
  if (*even || is_word(reader, token, "false")) return 1;
  return fail(reader, token->start, "\"even\" is true or false");
}

static int read_algorithm(const struct reader* reader, const jsmntok_t* token,
                          struct preload_rule* rule) {
  char text[PRELOAD_NAME], error[PRELOAD_TEXT];
  if (token->type != JSMN_STRING)
    return fail(reader, token->start, "\"algorithm\" is a schedule's name, or \"native\"");
  if ((size_t)(token->end - token->start) >= sizeof text)
    return fail(reader, token->start, "\"algorithm\" is too long");
  copy_text(reader, token, text, sizeof text);
  return preload_parse_algorithm(text, rule, error) || fail(reader, token->start, error);
}

static int read_field(const struct reader* reader, const jsmntok_t* key,
                      struct preload_rule* rule) {
  const jsmntok_t* value = key + 1;
  char text[PRELOAD_TEXT], name[64];
  if (is_text(reader, key, "collective") || is_text(reader, key, "groups"))
    return 1; /* read before */
  if (is_text(reader, key, "nodes")) return read_range(reader, value, &rule->nodes);
  if (is_text(reader, key, "ranks_a_node")) return read_range(reader, value, &rule->ranks_a_node);
  if (is_text(reader, key, "ranks")) return read_range(reader, value, &rule->ranks);
  if (is_text(reader, key, "bytes")) return read_range(reader, value, &rule->bytes);
  if (is_text(reader, key, "even")) return read_even(reader, value, &rule->even);
  if (is_text(reader, key, "algorithm")) return read_algorithm(reader, value, rule);
  if (is_text(reader, key, "time")) return read_number(reader, value, &rule->time);
  if (is_text(reader, key, "native_time")) return read_number(reader, value, &rule->native_time);
  if (is_text(reader, key, "calls")) return read_integer(reader, value, &rule->calls);
  copy_text(reader, key, name, sizeof name);
  snprintf(text, sizeof text,
           "\"%s\" is not known; a rule has collective, groups, nodes, ranks_a_node, ranks, even, "
           "bytes, algorithm, time, native_time and calls",
           name);
  return fail(reader, key->start, text);
}

static int read_rule(const struct reader* reader, const jsmntok_t* object) {
  char name[64] = "";
  int64_t groups = 1;
  if (object->type != JSMN_OBJECT) return fail(reader, object->start, "a rule is an object: {...}");
  const jsmntok_t *collective = value_of(reader, object, "collective"),
                  *group_count = value_of(reader, object, "groups");
  if (collective) copy_text(reader, collective, name, sizeof name);
  if (preload_collective_of(name) < 0)
    return fail(reader, (collective ? collective : object)->start,
                "a rule needs \"collective\": one that is served, such as \"alltoallv\"");
  if (group_count && (!read_integer(reader, group_count, &groups) || groups < 1 || groups > 2))
    return fail(reader, group_count->start, "\"groups\" is 1, or 2 for intercommunicators");
  if (!value_of(reader, object, "algorithm"))
    return fail(reader, object->start,
                "a rule needs \"algorithm\": a schedule's name, or \"native\"");
  struct preload_rule rule = preload_any_rule(preload_collective_of(name), (int)groups);
  const jsmntok_t* key = object + 1;
  for (int i = 0; i < object->size; i++, key = skip(key)) {
    if (!is_first(reader, object, key))
      return fail(reader, key->start, "the rule has this name twice; leave one of them out");
    if (!read_field(reader, key, &rule)) return 0;
  }
  if (groups == 2 && preload_asks_for_nodes(&rule))
    return fail(
        reader, object->start,
        "nodes, ranks_a_node and even are for one group; leave them out beside \"groups\": 2");
  return preload_add_rule(reader->settings, &rule) ||
         fail(reader, object->start, "memory ran out while rules were read");
}

static int is_control(char c) { return (unsigned char)c < ' '; }

/* Finds the first place where a comma or colon lacks a value on one side, or two values lack a comma, or where a text has a control
 * character. jsmn accepts all that. Values that are nested too deep do not belong either, since jsmn is slow there. Returns -1 if
 * there is none. */
static int misplaced(const char* text, int length) {
  enum { VALUE = 'v', DEEPEST = 100 }; /* VALUE: the end of one; other marks are one of [{}],: */
  int depth = 0;
  char last = '[';
  for (int i = 0; i < length; i++) {
    const char c = text[i];
    if (strchr(" \t\r\n", c)) continue;
    if (c == ',' || c == ':') {
      if (last != VALUE) return i;
      last = c;
    } else if (c == ']' || c == '}') {
      if (last == ',' || last == ':') return i;
      last = VALUE;
      depth--;
    } else {
      if ((last == VALUE && depth > 0) || depth > DEEPEST) return i;
      last = c == '[' || c == '{' ? c : VALUE;
      depth += last == c;
      if (c == '"')
        for (i++; i < length && text[i] != '"'; i++) {
          if (is_control(text[i])) return i;
          i += text[i] == '\\';
        }
      else if (last == VALUE)
        while (i + 1 < length && !strchr(" \t\r\n\"[]{},:", text[i + 1])) i++;
    }
  }
  return -1;
}

/* Each name in an object needs a value, and the text must be one document. */
static int check(const struct reader* reader, int count) {
  const jsmntok_t *first = reader->tokens, *end = first + count;
  for (const jsmntok_t* token = first; token < end; token++) {
    const jsmntok_t* key = token + 1;
    for (int i = 0; token->type == JSMN_OBJECT && i < token->size; i++, key = skip(key))
      if (key->type != JSMN_STRING || key->size != 1)
        return fail(reader, key->start, "write a name and its value here");
  }
  return skip(first) == end ||
         fail(reader, skip(first)->start, "this follows the end of the rules");
}

static int read_document(const struct reader* reader) {
  const jsmntok_t* document = reader->tokens;
  if (document->type != JSMN_OBJECT)
    return fail(reader, document->start, "rules are an object: {\"schema\": 1, \"rules\": [...]}");
  const jsmntok_t *schema = value_of(reader, document, "schema"),
                  *rules = value_of(reader, document, "rules"), *key = document + 1;
  for (int i = 0; i < document->size; i++, key = skip(key))
    if (key + 1 != schema && key + 1 != rules)
      return fail(reader, key->start,
                  "rules have one \"schema\" and one \"rules\"; leave this out");
  if (!schema || !is_word(reader, schema, "1"))
    return fail(reader, (schema ? schema : document)->start, "\"schema\" is 1 in these rules");
  if (!rules || rules->type != JSMN_ARRAY)
    return fail(reader, (rules ? rules : document)->start, "\"rules\" is an array of rules");
  if (rules->size == 0 && !preload_finds_rules(reader->settings->mode))
    return fail(reader, rules->start, "there is no rule here; leave QUADRILLE_RULES out");
  const jsmntok_t* rule = rules + 1;
  for (int i = 0; i < rules->size; i++, rule = skip(rule))
    if (!read_rule(reader, rule)) return 0;
  return 1;
}

int preload_read_rules(const char* path, const char* text, size_t length,
                       struct preload_settings* settings) {
  struct reader reader = {.path = path, .text = text, .settings = settings};
  jsmn_parser parser;
  const char* end = memchr(text, '\0', length);
  if (end) return fail(&reader, (int)(end - text), "a text has no byte with the value 0");
  jsmn_init(&parser);
  const int count = jsmn_parse(&parser, text, length, NULL, 0);
  if (count == 0)
    return fail(&reader, 0, "there are no rules here; write {\"schema\": 1, \"rules\": [...]}");
  const int wrong = count > 0 ? misplaced(text, (int)length) : -1;
  if (wrong >= 0)
    return fail(&reader, wrong,
                is_control(text[wrong])
                    ? "a text in quotes has no line break and no other control character"
                    : "a comma or a value is missing before this, or is too many");
  jsmntok_t* tokens = count > 0 ? calloc((size_t)count, sizeof *tokens) : NULL;
  if (count > 0 && !tokens) return fail(&reader, 0, "memory ran out while rules were read");
  jsmn_init(&parser);
  if (count < 0 || jsmn_parse(&parser, text, length, tokens, (unsigned)count) != count) {
    free(tokens);
    return fail(&reader, (int)parser.pos, "this is no JSON");
  }
  reader.tokens = tokens;
  const locale_t former = preload_plain_numbers();
  const int is_read = check(&reader, count) && read_document(&reader);
  uselocale(former);
  free(tokens);
  return is_read;
}

/* ---- Writing */

static void print_range(FILE* file, const char* name, struct preload_range range) {
  if (range.least == 0 && range.most == INT64_MAX) return;
  if (range.least == range.most)
    fprintf(file, ", \"%s\": %lld", name, (long long)range.least);
  else if (range.most == INT64_MAX)
    fprintf(file, ", \"%s\": [%lld, null]", name, (long long)range.least);
  else
    fprintf(file, ", \"%s\": [%lld, %lld]", name, (long long)range.least, (long long)range.most);
}

static void print_rule(FILE* file, const struct preload_rule* rule) {
  char algorithm[PRELOAD_NAME];
  preload_print_algorithm(rule, algorithm, sizeof algorithm);
  fprintf(file, "  {\"collective\": \"%s\"", preload_collectives[rule->collective].name);
  if (rule->groups == 2) fprintf(file, ", \"groups\": 2");
  print_range(file, "nodes", rule->nodes);
  print_range(file, "ranks_a_node", rule->ranks_a_node);
  print_range(file, "ranks", rule->ranks);
  if (rule->even >= 0) fprintf(file, ", \"even\": %s", rule->even ? "true" : "false");
  print_range(file, "bytes", rule->bytes);
  fprintf(file, ", \"algorithm\": \"%s\"", algorithm);
  if (rule->time > 0) fprintf(file, ", \"time\": %.3g", rule->time);
  if (rule->native_time > 0) fprintf(file, ", \"native_time\": %.3g", rule->native_time);
  if (rule->calls > 0) fprintf(file, ", \"calls\": %lld", (long long)rule->calls);
  fprintf(file, "}");
}

static int printed_rules, written_rules;

int preload_written_rules(void) { return written_rules; }

void preload_print_rules(FILE* file, const struct preload_settings* settings) {
  const locale_t former = preload_plain_numbers();
  printed_rules = settings->rule_count;
  fprintf(file, "{\"schema\": 1, \"rules\": [");
  for (int i = 0; i < settings->rule_count; i++) {
    fprintf(file, i ? ",\n" : "\n");
    print_rule(file, &settings->rules[i]);
  }
  fprintf(file, "\n]}\n");
  uselocale(former);
}

/* The full name of the file, behind symbolic links, and its name while it is written. A device or a pipe keeps its name; then the
 * result is 1. */
static int find_names(const char* given, char name[PATH_MAX], char partial[PATH_MAX]) {
  struct stat status;
  char full[QD_MAX_PATH];
  const char* const path = preload_full_name(given, full);
  const int is_special = stat(path, &status) == 0 && !S_ISREG(status.st_mode);
  if (!realpath(path, name)) snprintf(name, PATH_MAX, "%s", path);
  const int length = snprintf(partial, PATH_MAX, is_special ? "%s" : "%s.partial", name);
  if (length >= PATH_MAX) partial[0] = '\0'; /* which cannot be opened */
  return is_special;
}

int preload_may_write(const char* path) {
  char name[PATH_MAX], partial[PATH_MAX];
  struct stat status;
  const int is_special = find_names(path, name, partial);
  errno = EISDIR;
  if (stat(name, &status) == 0 && S_ISDIR(status.st_mode)) return 0;
  if (is_special) return access(name, W_OK) == 0;
  char* const slash = strrchr(name, '/');
  if (!slash) return access(".", W_OK | X_OK) == 0;
  slash[slash == name] = '\0'; /* the slash of "/file" stays */
  return access(name, W_OK | X_OK) == 0;
}

/* Opens the empty partial file for this process alone: another job may write the same file. A job that ends renames the partial file, and
 * the next one makes its own. Returns -1 if so many tries fail. */
static int open_alone(const char* name, int tries) {
  enum { PAUSE = 10000 }; /* microseconds */
  for (int i = 0; i < tries; i++) {
    if (i > 0) usleep(PAUSE);
    struct stat opened, named;
    const int file = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
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

/* Opens a pipe or a device, unless no process reads from the pipe. Then writing may wait. */
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
  const int file =
      is_special ? open_special(name, job_ends) : open_alone(partial, job_ends ? 200 : 1);
  if (file < 0) return NULL;
  if (!is_special && stat(name, &status) == 0) fchmod(file, status.st_mode & 07777);
  return fdopen(file, "w");
}

void preload_close(FILE* file, const char* path, const char* what, int is_complete) {
  char name[PATH_MAX], partial[PATH_MAX];
  const int is_special = find_names(path, name, partial),
            is_whole = is_complete && file && fflush(file) == 0 && !ferror(file);
  const int is_written = is_whole && (is_special || rename(partial, name) == 0);
  if (strcmp(what, "rules") == 0) written_rules = is_written ? printed_rules : -1;
  if (file && !is_written && !is_special) remove(partial);
  if (file) fclose(file); /* last, since it lets another job write */
  if (is_written) return;
  fprintf(stderr, "quadrille: the %s could not be written to %s\n", what, path);
}
