/* Binding a schedule to a communicator: agreement, layout, plan, and the attribute that keeps them.
 *
 * Every rank enters the agreement, even a rank without a schedule. So all ranks return the same error, and no rank
 * waits in vain. All ranks compute the rest from the same data. A further agreement covers what may still differ: a
 * rank may run out of memory or find an error in a broken schedule. Tested by tests/net/refusals_test.cc and
 * memory_test.cc. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/execute/api.h"
#include "runtime/execute/channel.h"
#include "runtime/execute/counts.h"
#include "runtime/execute/nodes.h"

/* ---- Problems of this rank, and the agreement of all ranks */

void qd_refuse(struct qd_problem* problem, int error_class, const char* text) {
  problem->error_class = error_class;
  snprintf(problem->text, sizeof problem->text, "%s", text);
}

/* Sets the problem, with the class MPI_ERR_NO_MEM if the text is qd_no_memory. */
static void refuse_for(struct qd_problem* problem, int error_class, const char* text) {
  qd_refuse(problem, text == qd_no_memory ? MPI_ERR_NO_MEM : error_class, text);
}

void qd_refuse_broken(struct qd_problem* problem, const char* error) {
  char text[QD_TEXT];
  if (error == qd_not_served) return qd_refuse(problem, MPI_ERR_UNSUPPORTED_OPERATION, error);
  snprintf(text, sizeof text, "the schedule is broken: %s; verify it", error);
  refuse_for(problem, MPI_ERR_INTERN, error == qd_no_memory ? error : text);
}

/* Returns the caller's options, with defaults for fields that its header lacks. Refuses invalid values. */
static quadrille_bind_options known_options(const quadrille_bind_options* options,
                                            struct qd_problem* problem) {
  quadrille_bind_options known = {sizeof known, QUADRILLE_LAYOUT_SHARED, 0, 0, 0};
  if (!options) return known;
  if (options->size < sizeof options->size + 3 * sizeof(int)) {
    qd_refuse(problem, MPI_ERR_ARG,
              "the size field of the bind options is not set to sizeof(quadrille_bind_options)");
    return known;
  }
  known.layout = options->layout;
  known.window = options->window;
  known.synchronous = options->synchronous;
  /* Programs that were compiled with the first version of the header lack this field. */
  if (options->size >= sizeof known) known.block_size = options->block_size;
  if (known.layout != QUADRILLE_LAYOUT_SHARED && known.layout != QUADRILLE_LAYOUT_TRUSTED)
    qd_refuse(problem, MPI_ERR_ARG,
              "the layout is neither QUADRILLE_LAYOUT_SHARED nor QUADRILLE_LAYOUT_TRUSTED");
  if (known.window < 0 || known.window > QD_MAX_WINDOW)
    qd_refuse(problem, MPI_ERR_ARG, "the window is negative or more than 65536 steps");
  _Static_assert(QD_MAX_WINDOW == 65536, "as the sentence says");
  if (known.block_size < 0 || known.block_size > INT_MAX)
    qd_refuse(problem, MPI_ERR_ARG,
              "the block size is negative or larger than an int can hold; give 1 or more bytes, or "
              "0 for the schedule's own choice");
  return known;
}

/* Refuses a block size if the program takes none, and the lack of one if the program has no rule to choose it. */
static void check_block_size(const struct qd_program* program, int64_t block_size,
                             struct qd_problem* problem) {
  int without_rule = 0;
  for (int i = 0; i < program->parameter_count; i++)
    without_rule += program->rules[i].at_call && program->parameters[i] == QD_CHOOSE_NONE;
  if (block_size > 0 && !qd_takes_block_size(program))
    qd_refuse(problem, MPI_ERR_ARG,
              "the schedule takes no block size; bind without one, or generate one that pipelines");
  if (block_size == 0 && without_rule > 0)
    qd_refuse(
        problem, MPI_ERR_ARG,
        "the schedule does not say how its block size is chosen; bind with the option block_size");
}

/* Between groups, MPI_Allreduce gives each group the result of the other. A second one gives each its own. */
int qd_allreduce(const void* mine, void* all, int count, MPI_Datatype type, MPI_Op operation,
                 MPI_Comm comm) {
  enum { AT_ONCE = 32 };
  uint64_t own[AT_ONCE];
  MPI_Count size = 0;
  int inter = 0, code = PMPI_Comm_test_inter(comm, &inter);
  if (code != MPI_SUCCESS) return code;
  if (!inter) return PMPI_Allreduce(mine, all, count, type, operation, comm);
  PMPI_Type_size_x(type, &size);
  for (int i = 0; i < count && code == MPI_SUCCESS; i += AT_ONCE) {
    const int some = count - i < AT_ONCE ? count - i : AT_ONCE;
    char* const result = (char*)all + (size_t)i * (size_t)size;
    code = PMPI_Allreduce((const char*)mine + (size_t)i * (size_t)size, result, some, type,
                          operation, comm);
    if (code == MPI_SUCCESS) code = PMPI_Allreduce(result, own, some, type, operation, comm);
    if (code == MPI_SUCCESS) code = PMPI_Reduce_local(own, result, some, type, operation);
  }
  return code;
}

void qd_wish(uint64_t wishes[QD_WISHES]) {
  wishes[QD_NO_DEBUG] = !qd_settings()->debug;
  wishes[QD_NO_TRACE] = qd_trace_ask();
  wishes[QD_TRACE_SPEAKER] = qd_trace_speaker();
}

/* The result of the agreement, equal on all ranks. */
struct agreement {
  int error_class;            /* the greatest of all ranks */
  const char* difference;     /* an error text if ranks bring different arguments, or NULL */
  uint64_t wishes[QD_WISHES]; /* the greatest of all ranks */
};

/* Collective. Compares the schedules, first_ranks, layouts and block sizes of all ranks. `schedule_data` and
 * `options` may be NULL. Returns an MPI error code. */
static int agree(MPI_Comm comm, int error_class, const struct qd_schedule_data* schedule_data,
                 const quadrille_bind_options* options, int first_ranks,
                 struct agreement* agreement) {
  enum { EQUAL = 5, WISHES = 1 + 2 * EQUAL, WORDS = WISHES + QD_WISHES };
  static const char* const differences[EQUAL] = {
      "ranks bring different schedules; load the same file everywhere",
      "ranks bring different schedules; load the same file everywhere",
      "ranks make first groups of different sizes; give the same number everywhere",
      "ranks bind with different layouts; give the same option everywhere",
      "ranks bind with different block sizes; give the same everywhere"};
  /* x is equal at all ranks if and only if the maximum of ~x is the complement of the maximum of x. */
  uint64_t mine[WORDS] = {(uint64_t)error_class}, all[WORDS];
  if (schedule_data) memcpy(&mine[1], schedule_data->program.hash, QD_HASH_LENGTH);
  mine[3] = (uint64_t)first_ranks;
  mine[4] = options ? (uint64_t)options->layout : 0;
  mine[5] = options ? (uint64_t)options->block_size : 0;
  for (int i = 1; i <= EQUAL; i++) mine[EQUAL + i] = ~mine[i];
  qd_wish(&mine[WISHES]);
  const int code = qd_allreduce(mine, all, WORDS, MPI_UINT64_T, MPI_MAX, comm);
  agreement->error_class = (int)all[0];
  agreement->difference = NULL;
  for (int i = EQUAL; i > 0; i--)
    if (all[i] != ~all[EQUAL + i]) agreement->difference = differences[i - 1];
  memcpy(agreement->wishes, &all[WISHES], sizeof agreement->wishes);
  return code;
}

int qd_all_succeeded(MPI_Comm comm, struct qd_problem* problem) {
  struct agreement agreement;
  const int code = agree(comm, problem->error_class, NULL, NULL, 0, &agreement);
  if (code == MPI_SUCCESS && agreement.error_class == MPI_SUCCESS) return 1;
  if (problem->error_class == MPI_SUCCESS)
    qd_refuse(problem, code == MPI_SUCCESS ? agreement.error_class : MPI_ERR_OTHER,
              agreement.error_class == MPI_ERR_NO_MEM
                  ? "another rank is out of memory"
                  : "another rank cannot follow the schedule; its own message, or "
                    "QUADRILLE_DEBUG=1, says why");
  else if (code == MPI_SUCCESS)
    problem->error_class = agreement.error_class;
  return 0;
}

/* ---- Bindings */

/* Finds a binding by the schedule's hash, not by its handle. So a file that was loaded twice is bound once, and all
 * ranks find the same binding. Returns NULL if there is none. */
static struct qd_binding* binding_of(MPI_Comm comm, const unsigned char* hash) {
  const struct qd_channel* channel = qd_channel_of(comm);
  struct qd_binding* binding = channel ? channel->bindings : NULL;
  while (binding && memcmp(binding->schedule_data->program.hash, hash, QD_HASH_LENGTH) != 0)
    binding = binding->next;
  return binding;
}

/* Makes the call that the binding keeps. Returns NULL and sets `problem` if that fails. */
static struct qd_call* make_call(struct qd_binding* binding, int whole,
                                 struct qd_problem* problem) {
  struct qd_call* call = malloc(sizeof *call);
  const char* error = call ? qd_call_open(call, binding, whole) : qd_no_memory;
  if (!error) return call;
  qd_refuse_broken(problem, error);
  qd_call_destroy(call);
  return NULL;
}

/* Makes the plan for an empty call and root 0. If the schedule refuses that call, the first accepted call plans. */
void qd_binding_plan(struct qd_binding* binding, int whole, struct qd_problem* problem) {
  const struct qd_program* program = &binding->schedule_data->program;
  const int has_global_counts = qd_has_global_counts(program);
  const char* error = has_global_counts ? qd_global_counts_open(binding) : qd_fill_tables(binding);
  if (!has_global_counts) binding->are_tables_good = !error;
  if (qd_is_of_call(binding, error))
    binding->tables.temporary_blocks = 0;
  else if (error)
    return refuse_for(problem, MPI_ERR_TOPOLOGY, error);
  binding->call = make_call(binding, whole, problem);
  if (!binding->call) binding->are_tables_good = 0;
}

static void set_options(struct qd_binding* binding, const quadrille_bind_options* options) {
  binding->options.window =
      options->window > 0 ? options->window : qd_default_window(&binding->schedule_data->program);
  binding->options.synchronous = options->synchronous;
  binding->options.block_size = options->block_size;
}

/* Must follow a change of the binding's options. Makes its tables and plans stale. */
static void take_options(struct qd_binding* binding) {
  if (binding->call)
    qd_builder_retune(&binding->call->builder, binding->options.window,
                      binding->options.block_size > 0);
  binding->are_tables_good = binding->last.may_repeat = 0;
}

static void retune(struct qd_binding* binding, const quadrille_bind_options* options) {
  set_options(binding, options);
  take_options(binding);
}

/* Makes a copy of the binding with tables and a call. Returns NULL if that fails. */
static struct qd_binding* make_copy(const struct qd_binding* binding) {
  struct qd_problem problem = {MPI_SUCCESS, ""};
  struct qd_binding* copy = qd_binding_copy(binding);
  if (!copy) return NULL;
  qd_binding_plan(copy, 0, &problem);
  if (copy->call) return copy;
  qd_binding_destroy(copy);
  return NULL;
}

struct qd_binding* qd_spare_binding(struct qd_binding* b) {
  enum { FEW_MESSAGES = 1 << 12 };
  struct qd_binding* found = b;
  if (!b->last.may_repeat || !b->call || b->call->plan.receives.count > FEW_MESSAGES) return b;
  for (int i = 0; i < QD_KEPT_CALLS - 1; i++) {
    struct qd_binding** const other = &b->others[i];
    if (!*other) {
      *other = make_copy(b);
      return *other ? *other : b;
    }
    if ((*other)->last.used < found->last.used) found = *other;
  }
  if (found != b && !qd_are_same_options(&found->options, &b->options)) {
    found->options = b->options;
    take_options(found);
  }
  return found;
}

/* Sets the groups: the communicator's, or its first `first_ranks` ranks and the rest. Returns 0 if memory ran out. */
static int find_groups(struct qd_binding* binding, MPI_Comm comm, int first_ranks) {
  const struct qd_members* members = binding->channel->members;
  int ranks = 0, rank = 0, all = 0;
  PMPI_Comm_size(comm, &ranks);
  PMPI_Comm_rank(comm, &rank);
  if (members) {
    all = members->count;
    binding->layout.own = members->own;
  } else {
    PMPI_Comm_size(binding->comm, &all);
    PMPI_Comm_rank(binding->comm, &binding->layout.own);
  }
  if (first_ranks > 0) {
    const int is_first = rank < first_ranks;
    ranks = is_first ? first_ranks : all - first_ranks;
    rank -= is_first ? 0 : first_ranks;
  }
  binding->layout.first_ranks = first_ranks;
  binding->layout.context.ranks = ranks;
  binding->layout.context.remote_ranks = all - ranks;
  binding->layout.first = binding->layout.own - rank;
  binding->layout.first_remote = binding->layout.first == 0 ? ranks : 0;
  binding->layout.real = malloc(2 * (size_t)all * sizeof *binding->layout.real);
  return binding->layout.real != NULL;
}

/* Sets layout, options, tables and call of a new binding, without communication. */
static void fill(struct qd_binding* binding, MPI_Comm comm, int first_ranks,
                 const quadrille_bind_options* options, struct qd_problem* problem) {
  char failure[QD_TEXT];
  const int is_enough = find_groups(binding, comm, first_ranks);
  set_options(binding, options);
  if (!is_enough) return qd_refuse(problem, MPI_ERR_NO_MEM, qd_no_memory);
  const char* error = qd_lay_out(&binding->layout, &binding->schedule_data->program,
                                 binding->channel->node_of, options->layout, failure);
  if (error) return refuse_for(problem, MPI_ERR_TOPOLOGY, error);
  qd_binding_plan(binding, 0, problem);
}

/* Makes a binding without communication. Returns NULL and sets `problem` if that fails. */
static struct qd_binding* make_alone(struct qd_schedule_data* schedule_data,
                                     struct qd_channel* channel, MPI_Comm comm, int first_ranks,
                                     const quadrille_bind_options* options,
                                     struct qd_problem* problem) {
  struct qd_binding* binding = qd_binding_new(schedule_data, channel);
  if (!binding) {
    qd_refuse(problem, MPI_ERR_NO_MEM, qd_no_memory);
    return NULL;
  }
  fill(binding, comm, first_ranks, options, problem);
  if (problem->error_class == MPI_SUCCESS) return binding;
  qd_binding_destroy(binding);
  return NULL;
}

static void add_binding(struct qd_binding* binding) {
  binding->next = binding->channel->bindings;
  binding->channel->bindings = binding;
}

/* Collective. Must follow once all ranks have bound the schedule. Enables comparing or tracing if all ranks ask. */
static void grant(struct qd_binding* binding, const uint64_t wishes[QD_WISHES]) {
  binding->options.compares = wishes[QD_NO_DEBUG] == 0;
  if (wishes[QD_NO_TRACE] > 0)
    return qd_trace_refuse(wishes[QD_NO_TRACE], wishes[QD_TRACE_SPEAKER]);
  if (binding->trace.id != 0) return;
  qd_trace_bind(binding);
  if (binding->call) binding->call->is_observed = 1;
}

/* Collective. Makes a binding. Returns MPI's error code. Sets `problem` to any other error. */
static int make_binding(struct qd_schedule_data* schedule_data, MPI_Comm comm, int first_ranks,
                        const quadrille_bind_options* options, struct qd_problem* problem,
                        struct qd_binding** result) {
  struct qd_channel* channel = NULL;
  const int code = qd_open_channel(comm, problem, &channel);
  if (code != MPI_SUCCESS || !channel) return code;
  const char* error = NULL;
  if (schedule_data->program.uses.nodes && options->layout != QUADRILLE_LAYOUT_TRUSTED)
    error = qd_find_nodes(channel);
  struct qd_binding* binding = NULL;
  if (error)
    refuse_for(problem, MPI_ERR_TOPOLOGY, error);
  else
    binding = make_alone(schedule_data, channel, comm, first_ranks, options, problem);
  if (!qd_all_succeeded(channel->comm, problem) || !binding) {
    if (binding) qd_binding_destroy(binding);
    return MPI_SUCCESS;
  }
  add_binding(binding);
  *result = binding;
  return MPI_SUCCESS;
}

/* Refuses a number of groups that the schedule is not for, or a wrong `first_ranks`. `program` may be NULL. */
static void check_groups(const struct qd_program* program, MPI_Comm comm, int first_ranks,
                         struct qd_problem* problem) {
  int inter = 0, ranks = 0;
  PMPI_Comm_test_inter(comm, &inter);
  PMPI_Comm_size(comm, &ranks);
  if (first_ranks != 0 && inter)
    qd_refuse(problem, MPI_ERR_COMM,
              "the communicator has two groups of its own; bind with quadrille_bind");
  else if (first_ranks < 0 || (first_ranks > 0 && first_ranks >= ranks))
    qd_refuse(problem, MPI_ERR_ARG,
              "the first group has less than one rank, or leaves none for the second");
  else if (program && program->groups == 2 && first_ranks == 0 && !inter)
    qd_refuse(problem, MPI_ERR_COMM,
              "the schedule is for collectives between two groups; the communicator is no "
              "intercommunicator: bind with quadrille_bind_groups to make two of its ranks");
  else if (program && program->groups == 1 && (first_ranks != 0 || inter))
    qd_refuse(
        problem, MPI_ERR_COMM,
        inter ? "the communicator is an intercommunicator; load a schedule that was generated with "
                "--remote-nodes"
              : "the schedule is for one group; load one that was generated with --remote-nodes");
}

/* Sets the problem to the error on which the ranks agreed, if there is one. Returns whether there is none. */
static int take_agreement(const struct agreement* agreement, struct qd_problem* problem) {
  if (problem->error_class != MPI_SUCCESS)
    problem->error_class = agreement->error_class;
  else if (agreement->error_class != MPI_SUCCESS)
    qd_refuse(problem, agreement->error_class,
              "another rank could not bring a schedule that can be bound; its own message, or "
              "QUADRILLE_DEBUG=1, says why");
  else if (agreement->difference)
    qd_refuse(problem, MPI_ERR_ARG, agreement->difference);
  return problem->error_class == MPI_SUCCESS;
}

/* Returns the schedule of the handle with a reference, or NULL. Sets `problem` if it cannot be bound. */
static struct qd_schedule_data* find_schedule(quadrille_schedule schedule, MPI_Comm comm,
                                              int first_ranks,
                                              const quadrille_bind_options* options,
                                              struct qd_problem* problem) {
  struct qd_schedule_data* data = qd_acquire(schedule);
  if (!data)
    qd_refuse(problem, MPI_ERR_ARG, "the schedule is null or was freed; load one first");
  else if (data->failure_class != MPI_SUCCESS)
    qd_refuse(problem, data->failure_class, data->failure);
  else
    check_block_size(&data->program, options->block_size, problem);
  if (problem->error_class == MPI_SUCCESS) check_groups(&data->program, comm, first_ranks, problem);
  if (!data || data->failure_class == MPI_SUCCESS) return data;
  qd_release(data);
  return NULL;
}

/* Binds a schedule, or finds its binding. The handle may be null or stale. Returns MPI's error code, and sets
 * `problem` to any other error. Calls no error handler, since that might not return. */
static int bind_schedule(quadrille_schedule schedule, MPI_Comm comm, int first_ranks,
                         const quadrille_bind_options* options, struct qd_problem* problem,
                         struct qd_binding** result) {
  const quadrille_bind_options known = known_options(options, problem);
  struct qd_schedule_data* data = find_schedule(schedule, comm, first_ranks, &known, problem);
  struct agreement agreement;
  int code = agree(comm, problem->error_class, data, &known, first_ranks, &agreement);
  if (code == MPI_SUCCESS && take_agreement(&agreement, problem)) {
    *result = binding_of(comm, data->program.hash);
    if (*result && (*result)->layout.first_ranks != first_ranks)
      qd_refuse(
          problem, MPI_ERR_COMM,
          "the schedule is bound to other groups of this communicator; bind it to a duplicate");
    else if (*result)
      retune(*result, &known);
    else
      code = make_binding(data, comm, first_ranks, &known, problem, result);
    if (*result && problem->error_class == MPI_SUCCESS) grant(*result, agreement.wishes);
  }
  qd_release(data);
  return code;
}

/* Does what bind_schedule does, and reports errors. Returns an MPI error code. */
static int bind(quadrille_schedule schedule, MPI_Comm comm, int first_ranks,
                const quadrille_bind_options* options, struct qd_binding** result) {
  struct qd_problem problem = {MPI_SUCCESS, ""};
  const int code = bind_schedule(schedule, comm, first_ranks, options, &problem, result);
  if (code != MPI_SUCCESS) return qd_mpi_error(comm, code);
  if (problem.error_class == MPI_SUCCESS) return MPI_SUCCESS;
  *result = NULL;
  return qd_error(comm, problem.error_class, "%s", problem.text);
}

int qd_bind_members(quadrille_schedule schedule, MPI_Comm comm,
                    const quadrille_bind_options* options, const struct qd_members* members) {
  struct qd_problem problem = {MPI_SUCCESS, ""};
  const quadrille_bind_options known = known_options(options, &problem);
  struct qd_schedule_data* data = find_schedule(schedule, comm, 0, &known, &problem);
  struct qd_channel* channel = qd_open_members(comm, members);
  struct qd_binding* binding = NULL;
  if (!channel)
    qd_refuse(&problem, MPI_ERR_NO_MEM, qd_no_memory);
  else if (problem.error_class == MPI_SUCCESS && (binding = binding_of(comm, data->program.hash)))
    retune(binding, &known);
  else if (problem.error_class == MPI_SUCCESS &&
           (binding = make_alone(data, channel, comm, 0, &known, &problem)))
    add_binding(binding);
  qd_release(data);
  return problem.error_class;
}

static int check_communicator(MPI_Comm comm) {
  if (!qd_mpi_is_usable())
    return qd_error(MPI_COMM_NULL, MPI_ERR_OTHER,
                    "call MPI_Init first, and nothing after MPI_Finalize");
  if (comm == MPI_COMM_NULL)
    return qd_error(MPI_COMM_WORLD, MPI_ERR_COMM, "the communicator is MPI_COMM_NULL");
  return MPI_SUCCESS;
}

static int check_and_bind(quadrille_schedule schedule, MPI_Comm comm, int first_ranks,
                          const quadrille_bind_options* options) {
  const int code = check_communicator(comm);
  struct qd_binding* binding = NULL;
  return code == MPI_SUCCESS ? bind(schedule, comm, first_ranks, options, &binding) : code;
}

int quadrille_bind(quadrille_schedule schedule, MPI_Comm comm,
                   const quadrille_bind_options* options) {
  return check_and_bind(schedule, comm, 0, options);
}

int quadrille_bind_groups(quadrille_schedule schedule, MPI_Comm comm, int first_ranks,
                          const quadrille_bind_options* options) {
  /* In bind(), 0 means the communicator's own groups. Here 0 is an error: it becomes -1, which bind() refuses. */
  return check_and_bind(schedule, comm, first_ranks == 0 ? -1 : first_ranks, options);
}

/* Returns the binding of the schedule to the communicator, or NULL. */
static struct qd_binding* bound_to(MPI_Comm comm, quadrille_schedule schedule) {
  unsigned char hash[QD_HASH_LENGTH];
  return qd_hash_of(schedule, hash) == 1 ? binding_of(comm, hash) : NULL;
}

void qd_bound(quadrille_schedule schedule, MPI_Comm comm, int tag) {
  struct qd_binding* binding = bound_to(comm, schedule);
  binding->channel->tag = tag;
  grant(binding, binding->channel->members->wishes);
}

int quadrille_retune(quadrille_schedule schedule, MPI_Comm comm,
                     const quadrille_bind_options* options) {
  struct qd_problem problem = {MPI_SUCCESS, ""};
  const int code = check_communicator(comm);
  if (code != MPI_SUCCESS) return code;
  const quadrille_bind_options known = known_options(options, &problem);
  struct qd_binding* binding = bound_to(comm, schedule);
  if (!binding)
    qd_refuse(&problem, MPI_ERR_ARG, "the schedule is not bound to the communicator; bind it");
  else
    check_block_size(&binding->schedule_data->program, known.block_size, &problem);
  if (!binding || problem.error_class != MPI_SUCCESS)
    return qd_error(comm, problem.error_class, "%s", problem.text);
  retune(binding, &known);
  return MPI_SUCCESS;
}

int quadrille_keeps_order(quadrille_schedule schedule, MPI_Comm comm) {
  const struct qd_binding* binding =
      check_communicator(comm) == MPI_SUCCESS ? bound_to(comm, schedule) : NULL;
  if (!binding) return 0;
  const struct qd_program* program = &binding->schedule_data->program;
  return qd_reduces(program) && !program->commutative && binding->layout.is_in_order;
}

/* Reports an error if a function of the API makes another collective than the schedule is for. */
static int check_collective(const struct qd_binding* binding, int collective, MPI_Comm comm) {
  const int scheduled = binding->schedule_data->program.collective;
  if (scheduled == collective) return MPI_SUCCESS;
  return qd_error(
      comm, MPI_ERR_ARG,
      "the schedule is for %s; call the functions of that name, or load one for this collective",
      qd_collective_name(scheduled));
}

static int find_or_bind(quadrille_schedule schedule, MPI_Comm comm, struct qd_binding** binding) {
  unsigned char hash[QD_HASH_LENGTH];
  const int found = qd_hash_of(schedule, hash);
  *binding = found == 1 ? binding_of(comm, hash) : NULL;
  if (*binding) return MPI_SUCCESS;
  /* If the communicator has bindings, other ranks may be in a call of one, and would not enter an agreement. */
  if (found < 0 && qd_channel_of(comm))
    return qd_error(comm, MPI_ERR_ARG, "the schedule is null or was freed; load one first");
  return bind(schedule, comm, 0, NULL, binding);
}

int qd_find_binding(quadrille_schedule schedule, MPI_Comm comm, int collective,
                    struct qd_binding** binding) {
  *binding = qd_recent(schedule, comm);
  if (!*binding) {
    int code = check_communicator(comm);
    if (code == MPI_SUCCESS) code = find_or_bind(schedule, comm, binding);
    if (code != MPI_SUCCESS || !*binding) return code;
    qd_remember(schedule, comm, *binding);
  }
  return check_collective(*binding, collective, comm);
}
