/* Names of collectives, and of the schedules that serve them. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "emitted/universal.h"
#include "preload/rules.h"

const char* const preload_collective_names[] = {
#define NAME(Name, name, scheduled, family) #name,
    PRELOAD_COLLECTIVES(NAME)
#undef NAME
};

int preload_collective_of(const char* name) {
  for (int i = 0; i < PRELOAD_COLLECTIVE_COUNT; i++)
    if (strcasecmp(name, preload_collective_names[i]) == 0) return i;
  return -1;
}

const char* preload_scheduled(int collective) {
  static const char* const scheduled[] = {
#define SCHEDULED(Name, name, scheduled, family) scheduled,
      PRELOAD_COLLECTIVES(SCHEDULED)
#undef SCHEDULED
  };
  return scheduled[collective];
}

int preload_reduces(int collective) {
  switch (collective) {
    case PRELOAD_Allreduce:
    case PRELOAD_Exscan:
    case PRELOAD_Reduce:
    case PRELOAD_Reduce_scatter:
    case PRELOAD_Reduce_scatter_block:
    case PRELOAD_Scan: return 1;
    default: return 0;
  }
}

static int serves(const struct quadrille_universal* one, const struct preload_rule* rule) {
  return one->groups == rule->groups &&
         strcmp(one->collective, preload_scheduled(rule->collective)) == 0;
}

/* The schedule of that name; without its options, the first one of the algorithm. */
static int find(const char* name, const struct preload_rule* rule) {
  const size_t length = strlen(name);
  for (int i = 0; i < quadrille_universal_count; i++) {
    const struct quadrille_universal* one = &quadrille_universal[i];
    if (serves(one, rule) && strncmp(one->name, name, length) == 0 &&
        (one->name[length] == '\0' || one->name[length] == ':'))
      return i;
  }
  return PRELOAD_NATIVE;
}

static void list_choices(const struct preload_rule* rule, char* text, size_t size) {
  size_t length = 0;
  text[0] = '\0';
  for (int i = 0; i < quadrille_universal_count; i++) {
    if (!serves(&quadrille_universal[i], rule) || length >= size) continue;
    length += (size_t)snprintf(text + length, size - length, "%s, ", quadrille_universal[i].name);
  }
}

/* What follows `name` in "window=4"; 0 where it is no number of 1 or more. */
static int number_after(const char* word, const char* name, int* number) {
  const size_t length = strlen(name);
  char* end = NULL;
  if (strncmp(word, name, length) != 0 || word[length] != '=') return 0;
  const long value = strtol(word + length + 1, &end, 10);
  if (end == word + length + 1 || *end != '\0' || value < 1 || value > INT_MAX) return 0;
  *number = (int)value;
  return 1;
}

int preload_parse_algorithm(const char* text, struct preload_rule* rule, char error[PRELOAD_TEXT]) {
  char words[128], name[128] = "", choices[300], *rest = NULL;
  snprintf(words, sizeof words, "%s", text);
  for (char* word = strtok_r(words, ":", &rest); word; word = strtok_r(NULL, ":", &rest)) {
    if (number_after(word, "window", &rule->window) ||
        number_after(word, "block-size", &rule->block_size))
      continue;
    const size_t length = strlen(name);
    snprintf(name + length, sizeof name - length, "%s%s", length ? ":" : "", word);
  }
  rule->universal = find(name, rule);
  if (strlen(text) < sizeof words && name[0] &&
      (strcmp(name, "native") == 0 || rule->universal != PRELOAD_NATIVE))
    return 1;
  list_choices(rule, choices, sizeof choices);
  snprintf(error, PRELOAD_TEXT,
           "'%.60s' is none of %snative; :window=N and :block-size=N may follow", text, choices);
  return 0;
}

void preload_print_algorithm(const struct preload_rule* rule, char* text, size_t size) {
  char window[32] = "", block_size[32] = "";
  if (rule->window) snprintf(window, sizeof window, ":window=%d", rule->window);
  if (rule->block_size) snprintf(block_size, sizeof block_size, ":block-size=%d", rule->block_size);
  snprintf(text, size, "%s%s%s",
           rule->universal == PRELOAD_NATIVE ? "native" : quadrille_universal[rule->universal].name,
           window, block_size);
}
