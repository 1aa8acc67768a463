/* Problems of this rank at binding, and the agreement of all ranks. Tested by tests/net/refusals_test.cc. */
#include "runtime/execute/agree.h"
#include "runtime/execute/trace.h"
#include "runtime/plan/plan.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

void qd_refuse(struct qd_problem* problem, int error_class, const char* text) {
  problem->error_class = error_class;
  snprintf(problem->text, sizeof problem->text, "%s", text);
}

void qd_refuse_for(struct qd_problem* problem, int error_class, const char* text) {
  qd_refuse(problem, text == qd_no_memory ? MPI_ERR_NO_MEM : error_class, text);
}

void qd_refuse_broken(struct qd_problem* problem, const char* error) {
  char text[QD_TEXT];
  if (error == qd_not_served) return qd_refuse(problem, MPI_ERR_UNSUPPORTED_OPERATION, error);
  snprintf(text, sizeof text, "the schedule is broken: %s; verify it", error);
  qd_refuse_for(problem, MPI_ERR_INTERN, error == qd_no_memory ? error : text);
}

quadrille_bind_options qd_known_options(const quadrille_bind_options* options,
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
              "the block size is negative or larger than an int can hold; give 1 or more "
              "bytes, or 0 for the schedule's own choice");
  return known;
}

void qd_check_block_size(const struct qd_program* program, int64_t block_size,
                         struct qd_problem* problem) {
  int without_rule = 0;
  for (int i = 0; i < program->parameter_count; i++)
    without_rule += program->rules[i].at_call && program->parameters[i] == QD_CHOOSE_NONE;
  if (block_size > 0 && !qd_takes_block_size(program))
    qd_refuse(problem, MPI_ERR_ARG,
              "the schedule takes no block size; bind without one, or generate one that "
              "pipelines");
  if (block_size == 0 && without_rule > 0)
    qd_refuse(problem, MPI_ERR_ARG,
              "the schedule does not say how its block size is chosen; bind with the "
              "option block_size");
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

int qd_agree(MPI_Comm comm, int error_class, const struct qd_schedule_data* schedule_data,
             const quadrille_bind_options* options, int first_ranks,
             struct qd_agreement* agreement) {
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
  struct qd_agreement agreement;
  const int code = qd_agree(comm, problem->error_class, NULL, NULL, 0, &agreement);
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
