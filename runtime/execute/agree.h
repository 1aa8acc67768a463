/* Agreement of all ranks at binding. Every rank enters it, even a rank that has failed before. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_AGREE_H_
#define QUADRILLE_RUNTIME_EXECUTE_AGREE_H_

#include "runtime/execute/api.h"
#include "runtime/execute/schedule.h"

/* The reason why this rank cannot continue. The class MPI_SUCCESS means that it can. */
struct qd_problem {
  int error_class;
  char text[QD_TEXT];
};
void qd_refuse(struct qd_problem* problem, int error_class, const char* text);
/* Sets the problem, with the class MPI_ERR_NO_MEM if the text is qd_no_memory. */
void qd_refuse_for(struct qd_problem* problem, int error_class, const char* text);
/* Sets the problem for a schedule that could not be planned. `error` is a text of the builder. */
void qd_refuse_broken(struct qd_problem* problem, const char* error);

/* Returns the caller's options, with defaults for fields that its header lacks. Refuses invalid values. */
quadrille_bind_options qd_known_options(const quadrille_bind_options* options,
                                        struct qd_problem* problem);
/* Refuses a block size if the program takes none, and the lack of one if the program has no rule to choose it. */
void qd_check_block_size(const struct qd_program* program, int64_t block_size,
                         struct qd_problem* problem);

/* The result of the agreement, equal on all ranks. */
struct qd_agreement {
  int error_class;            /* the greatest of all ranks */
  const char* difference;     /* an error text if ranks bring different arguments, or NULL */
  uint64_t wishes[QD_WISHES]; /* the greatest of all ranks */
};
/* Collective. Compares the schedules, first_ranks, layouts and block sizes of all ranks. `schedule_data` and
 * `options` may be NULL. Returns an MPI error code. */
int qd_agree(MPI_Comm comm, int error_class, const struct qd_schedule_data* schedule_data,
             const quadrille_bind_options* options, int first_ranks,
             struct qd_agreement* agreement);
/* Collective. Returns whether no rank has a problem. If another rank has one, this rank gets one too. */
int qd_all_succeeded(MPI_Comm comm, struct qd_problem* problem);

#endif /* QUADRILLE_RUNTIME_EXECUTE_AGREE_H_ */
