/* Rules as a file has them. */
#include <stdio.h>

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
