/* Checks that plans are lawful. The laws are the hypotheses of the theorem in theory/Runtime.v, record lawful_plan, under the
 * same names. The check walks the program by itself and takes nothing from the builder but its plans.
 *
 * Each rank's plan is checked alone. qd_plan_match compares the messages of all ranks. The verifier, not this check, proves
 * the hypotheses about the program (`match`, `held`, `apart` ...). */
#ifndef QUADRILLE_RUNTIME_PLAN_CHECK_H_
#define QUADRILLE_RUNTIME_PLAN_CHECK_H_

#include "runtime/plan/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { QD_LAW_TEXT = 200 };

/* The names of the laws: the fields of lawful_plan, then those that Coq states elsewhere. NULL ends the list.
 *
 * own            the messages and copies are those of the program, with the same parts
 * all_posted     every send is posted
 * all_opened     every receive is posted
 * all_sent       the rank waits for every send
 * all_received   the rank waits for every receive
 * all_put_away   the data of every receive is delivered; all_received implies it here
 * in_steps       sends and copies are made in the order of the steps
 * after_steps    a send is posted after the receives that its step waits for are complete
 * read_in_step   a copy is made after the receives that its step waits for are complete
 * early          a receive that combines is not posted straight into its target
 * saves          a block that is still to be read is saved before data overwrites it
 * puts_away      data is delivered after all earlier reads and writes there
 * posted_by_key  a rank that waits for a message has posted all messages of the steps up to that one's
 * posted_early   nothing touches the target of a receive before it, if it is posted straight into it
 * buffers        a buffer is not used again while its data is needed
 * match          the t-th send to a rank meets its t-th receive, in the same step and with as many bytes */
extern const char* const qd_laws[];

struct qd_plan_check; /* of one rank in one call */

/* Walks the program for the call that `input` describes. `in_place`, `unit`: as in struct qd_traits. Returns NULL if memory
 * ran out. The caller closes the check. */
struct qd_plan_check* qd_check_open(const struct qd_plan_input* input, int in_place, int64_t unit);
/* Takes the next plan of the call: the only one, or the next part of a streamed one. */
void qd_check_feed(struct qd_plan_check* check, const struct qd_plan* plan);
/* Judges all plans of the call. Returns NULL, or the name of a law that they break, and writes how. Returns qd_no_memory if
 * the check would take too much memory or time. */
const char* qd_check_end(struct qd_plan_check* check, char text[QD_LAW_TEXT]);
void qd_check_close(struct qd_plan_check* check);

/* Whether the t-th send of each rank to another has a t-th receive there, with the same key and number of bytes. `checks` are
 * those of all ranks, by rank in the private communicator, after qd_check_end. Returns as qd_check_end. */
const char* qd_plan_match(struct qd_plan_check* const* checks, int ranks, char text[QD_LAW_TEXT]);

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_RUNTIME_PLAN_CHECK_H_ */
