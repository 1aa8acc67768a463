/* Rules as a file has them. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "preload/rules.h"

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
  char algorithm[128];
  preload_print_algorithm(rule, algorithm, sizeof algorithm);
  fprintf(file, "  {\"collective\": \"%s\"", preload_collective_names[rule->collective]);
  if (rule->groups == 2) fprintf(file, ", \"groups\": 2");
  print_range(file, "nodes", rule->nodes);
  print_range(file, "ranks_a_node", rule->ranks_a_node);
  print_range(file, "ranks", rule->ranks);
  if (rule->even >= 0) fprintf(file, ", \"even\": %s", rule->even ? "true" : "false");
  print_range(file, "bytes", rule->bytes);
  fprintf(file, ", \"algorithm\": \"%s\"", algorithm);
  if (rule->time > 0) fprintf(file, ", \"time\": %.3g", rule->time);
  if (rule->native_time > 0) fprintf(file, ", \"native_time\": %.3g", rule->native_time);
  fprintf(file, "}");
}

void preload_print_rules(FILE* file, const struct preload_settings* settings) {
  fprintf(file, "{\"schema\": 1, \"rules\": [");
  for (int i = 0; i < settings->rule_count; i++) {
    fprintf(file, i ? ",\n" : "\n");
    print_rule(file, &settings->rules[i]);
  }
  fprintf(file, "\n]}\n");
}

/* The file under which `path` is written until it is whole; itself where it is a device or a pipe. */
static void partial_name(const char* path, char name[PATH_MAX]) {
  struct stat there;
  const int is_special = stat(path, &there) == 0 && !S_ISREG(there.st_mode);
  snprintf(name, PATH_MAX, is_special ? "%s" : "%s.partial", path);
}

FILE* preload_open(const char* path) {
  char name[PATH_MAX];
  partial_name(path, name);
  return fopen(name, "w");
}

int preload_close(FILE* file, const char* path) {
  char name[PATH_MAX];
  if (!file) return 0;
  partial_name(path, name);
  const int failed = ferror(file), is_closed = fclose(file) == 0;
  if (strcmp(name, path) == 0) return is_closed && !failed;
  if (is_closed && !failed && rename(name, path) == 0) return 1;
  remove(name);
  return 0;
}
