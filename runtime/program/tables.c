/* Fills the tables of a program from the topology and the call, in the order of their definition. Checks a
 * requirement as soon as the tables that it names are filled, so that later tables may rely on it.
 * tests/runtime/walk_test.cc compares the resulting events with those of schedule/binding.cc. */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/program/program.h"

/* Evaluates an expression outside the body. Returns NULL, or an error text. */
static const char* evaluate(struct qd_walker* walker, struct qd_fragment fragment, int64_t* value) {
  struct qd_event event;
  walker->next = walker->program->code.instructions + fragment.start;
  qd_walk_next(walker, &event);
  if (event.kind != QD_EVENT_END) return event.why;
  *value = walker->registers[fragment.result];
  return NULL;
}

/* Refuses more table entries or temporary blocks than a job of this size may have: they take memory at every rank. */
static const char* refuse_many(struct qd_tables* tables, const struct qd_context* context,
                               int64_t declared, const char* what) {
  const int64_t ranks = context->ranks + context->remote_ranks;
  const int64_t many = QD_MAX_ENTRIES + QD_MAX_ENTRIES_A_PAIR * ranks * ranks;
  const int64_t most = many < QD_MAX_TABLE_LENGTH ? many : QD_MAX_TABLE_LENGTH;
  if (declared >= 0 && declared <= most) return NULL;
  snprintf(tables->refusal, sizeof tables->refusal,
           "it declares %lld %s; between 0 and %lld are allowed on %lld rank%s",
           (long long)declared, what, (long long)most, (long long)ranks, ranks == 1 ? "" : "s");
  return tables->refusal;
}

static const char* allocate(struct qd_tables* tables, int index, int64_t length) {
  tables->lengths[index] = length;
  if (tables->capacities[index] > length) return NULL;
  free(tables->entries[index]);
  /* One entry more, so that the address of an empty table is not NULL. */
  tables->entries[index] = malloc((size_t)(length + 1) * sizeof(int64_t));
  tables->capacities[index] = tables->entries[index] ? length + 1 : 0;
  return tables->entries[index] ? NULL : qd_no_memory;
}

static const char* fill_nodes(struct qd_tables* tables, int index,
                              const struct qd_topology* topology) {
  const char* error = allocate(tables, index, topology->nodes);
  int64_t next = 0;
  for (int64_t run = 0; run < topology->run_count && !error; run++)
    for (int64_t node = 0; node < topology->runs[run].nodes; node++)
      tables->entries[index][next++] = topology->runs[run].size;
  return error;
}

static const char* fill_counts(struct qd_tables* tables, int index, const int64_t* counts,
                               int64_t ranks) {
  if (!counts) return "the program needs counts that this collective does not have";
  const char* error = allocate(tables, index, ranks);
  for (int64_t rank = 0; rank < ranks && !error; rank++) {
    if (counts[rank] < 0) return "a count is negative";
    if (counts[rank] > QD_MAX_COUNT) return "a count is above " QD_DIGITS(QD_MAX_COUNT);
    tables->entries[index][rank] = counts[rank];
  }
  return error;
}

/* Fills a table of prefix sums, distinct entries or running maxima of another table. */
static const char* fill_from(struct qd_tables* tables, int index, int kind, int source) {
  const int64_t length = tables->lengths[source];
  const char* error = allocate(tables, index, length + 1);
  if (error) return error;
  const int64_t* entries = tables->entries[source];
  int64_t* filled = tables->entries[index];
  int64_t count = 1;
  filled[0] = 0;
  if (kind == QD_TABLE_DISTINCT && length > 0 && entries[0] < 1)
    return "distinct() wants entries of at least 1";
  for (int64_t i = 0; i < length; i++) {
    const int64_t last = filled[count - 1];
    if (kind == QD_TABLE_PREFIX && __builtin_add_overflow(last, entries[i], &filled[count]))
      return "it overflows";
    if (kind == QD_TABLE_GREATEST) filled[count] = last < entries[i] ? entries[i] : last;
    if (kind == QD_TABLE_DISTINCT) filled[count] = entries[i];
    count += kind != QD_TABLE_DISTINCT || entries[i] != last;
  }
  tables->lengths[index] = count;
  return NULL;
}

static const char* fill_literals(const struct qd_program* program, struct qd_tables* tables,
                                 int index) {
  const struct qd_table_definition* definition = &program->tables[index];
  const char* error = allocate(tables, index, definition->literal_count);
  for (int32_t i = 0; i < definition->literal_count && !error; i++)
    tables->entries[index][i] = program->literals[definition->literal + i];
  return error;
}

static const char* fill_powers(struct qd_walker* walker, struct qd_tables* tables, int index) {
  const struct qd_table_definition* definition = &walker->program->tables[index];
  int64_t radix = 0, limit = 0;
  const char* error = evaluate(walker, definition->first, &radix);
  if (!error) error = evaluate(walker, definition->second, &limit);
  if (!error && radix < 2) error = "its radix is less than 2";
  if (!error) error = allocate(tables, index, 64);
  if (error) return error;
  int64_t* entries = tables->entries[index];
  int64_t count = 1;
  for (entries[0] = 1; entries[count - 1] < limit; count++)
    if (__builtin_mul_overflow(entries[count - 1], radix, &entries[count])) return "it overflows";
  tables->lengths[index] = count;
  return NULL;
}

static const char* fill_map(struct qd_walker* walker, struct qd_tables* tables, int index,
                            const struct qd_context* context) {
  const struct qd_table_definition* definition = &walker->program->tables[index];
  int64_t length = 0;
  const char* error = evaluate(walker, definition->first, &length);
  if (!error) error = refuse_many(tables, context, length, "entries");
  if (!error) error = allocate(tables, index, length);
  for (int64_t i = 0; i < length && !error; i++) {
    walker->registers[0] = i; /* the index is variable 0 */
    error = evaluate(walker, definition->second, &tables->entries[index][i]);
  }
  return error;
}

static const char* fill_table(struct qd_walker* walker, struct qd_tables* tables, int index,
                              const struct qd_context* context) {
  const struct qd_program* program = walker->program;
  const int source = program->tables[index].source, kind = program->tables[index].kind;
  const int has_source =
      kind == QD_TABLE_PREFIX || kind == QD_TABLE_DISTINCT || kind == QD_TABLE_GREATEST;
  const char* error =
      has_source ? refuse_many(tables, context, tables->lengths[source] + 1, "entries") : NULL;
  if (error) return error;
  switch (kind) {
    case QD_TABLE_NODES:
      return fill_nodes(tables, index, &qd_topologies_of(program, context)[context->group]);
    case QD_TABLE_REMOTE_NODES:
      return fill_nodes(tables, index, &qd_topologies_of(program, context)[1 - context->group]);
    case QD_TABLE_COUNTS: return fill_counts(tables, index, context->counts, context->ranks);
    case QD_TABLE_REMOTE_COUNTS:
      return fill_counts(tables, index, context->remote_counts, context->remote_ranks);
    case QD_TABLE_PREFIX:
    case QD_TABLE_DISTINCT:
    case QD_TABLE_GREATEST: return fill_from(tables, index, kind, source);
    case QD_TABLE_LITERAL: return fill_literals(program, tables, index);
    case QD_TABLE_POWERS: return fill_powers(walker, tables, index);
    default: return fill_map(walker, tables, index, context);
  }
}

const char* qd_formulas_evaluate(const struct qd_program* program, const struct qd_context* context,
                                 int64_t values[QD_MAX_PARAMETERS]) {
  struct qd_tables tables = {0};
  struct qd_walker walker;
  const char* error = NULL;
  /* A formula may use only tables of nodes. */
  for (int i = 0; i < program->table_count && !error; i++)
    if (program->tables[i].kind == QD_TABLE_NODES)
      error = fill_nodes(&tables, i, &qd_topologies_of(program, context)[context->group]);
  qd_walk_start(&walker, program, &tables, context);
  for (int i = 0; i < program->parameter_count && !error; i++)
    if (!program->rules[i].at_call) error = evaluate(&walker, program->formulas[i], &values[i]);
  qd_tables_destroy(&tables);
  return error;
}

/* Writes the error text of a requirement that does not hold: in the words of the file, or with its number. */
static const char* name_requirement(struct qd_tables* tables, const struct qd_program* program,
                                    int index, const struct qd_context* context) {
  const long long ranks = (long long)context->ranks;
  if (program->needs[0])
    snprintf(tables->refusal, sizeof tables->refusal, "%s needs %s; the communicator has %lld",
             program->algorithm, program->needs, ranks);
  else
    snprintf(tables->refusal, sizeof tables->refusal,
             "%s does not serve %lld rank%s with its parameters%s: its condition %d does not hold; "
             "`quadrille show` prints the conditions, one behind each 'require'",
             program->algorithm, ranks, ranks == 1 ? "" : "s",
             program->uses.call                     ? " and these counts"
             : program->requirements[index].of_call ? " and this root"
                                                    : "",
             index + 1);
  return tables->refusal;
}

/* Adds to an error text the names of the algorithm and of the kind of declaration. `number` counts declarations of
 * the kind from 1; it is 0 if there is only one. */
static const char* name_error(struct qd_tables* tables, const struct qd_program* program,
                              const char* kind, int number, const char* error) {
  char text[128], digits[16] = "";
  if (!error || error == qd_no_memory) return error;
  /* `error` may be in `refusal`, which changes. */
  snprintf(text, sizeof text, "%.*s", (int)sizeof text - 1, error);
  if (number > 0) snprintf(digits, sizeof digits, " %d", number);
  snprintf(tables->refusal, sizeof tables->refusal, "%s: its %s%s: %s; `quadrille show` prints it",
           program->algorithm, kind, digits, text);
  return tables->refusal;
}

static int ascends(const int64_t* entries, int64_t length) {
  for (int64_t i = 1; i < length; i++)
    if (entries[i] < entries[i - 1]) return 0;
  return 1;
}

const char* qd_tables_fill(struct qd_tables* tables, const struct qd_program* program,
                           const struct qd_context* context) {
  *tables = (struct qd_tables){0};
  return qd_tables_refill(tables, program, context);
}

/* Checks the requirements that can be checked once `filled` tables are filled, and not before. */
static const char* check_requirements(struct qd_tables* tables, const struct qd_program* program,
                                      const struct qd_context* context, int filled) {
  struct qd_walker walker;
  /* The start copies the lengths of the tables into registers, so it must follow their filling. */
  qd_walk_start(&walker, program, tables, context);
  for (int i = 0; i < program->requirement_count; i++) {
    const struct qd_requirement* requirement = &program->requirements[i];
    int64_t holds = 0;
    if (requirement->tables != filled) continue;
    tables->is_of_call = requirement->of_call;
    const char* error = evaluate(&walker, requirement->condition, &holds);
    if (error) return name_error(tables, program, "condition", i + 1, error);
    if (!holds) return name_requirement(tables, program, i, context);
  }
  return NULL;
}

const char* qd_tables_refill(struct qd_tables* tables, const struct qd_program* program,
                             const struct qd_context* context) {
  struct qd_walker walker;
  tables->is_of_call = 0;
  const int64_t* parameters = context->parameters ? context->parameters : program->parameters;
  for (int i = 0; i < program->parameter_count; i++)
    if (parameters[i] < -QD_MAX_PARAMETER || parameters[i] > QD_MAX_PARAMETER)
      return "a parameter of the schedule is further from 0 than 2^40";
  const char* error = check_requirements(tables, program, context, 0);
  for (int i = 0; i < program->table_count && !error; i++) {
    qd_walk_start(&walker, program, tables, context);
    tables->is_of_call = program->tables[i].of_call;
    error = fill_table(&walker, tables, i, context);
    if (!error && program->tables[i].located && !ascends(tables->entries[i], tables->lengths[i]))
      error = "it is searched and does not ascend";
    error = name_error(tables, program, "table", i + 1, error);
    if (!error) error = check_requirements(tables, program, context, i + 1);
  }
  if (error) return error;
  tables->is_of_call = program->temporary_of_call;
  qd_walk_start(&walker, program, tables, context);
  error = evaluate(&walker, program->temporary_blocks, &tables->temporary_blocks);
  if (!error) error = refuse_many(tables, context, tables->temporary_blocks, "blocks");
  return name_error(tables, program, "temporary buffer", 0, error);
}

void qd_tables_destroy(struct qd_tables* tables) {
  for (int i = 0; i < QD_MAX_TABLES; i++) free(tables->entries[i]);
  *tables = (struct qd_tables){0};
}
