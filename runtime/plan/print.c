/* A plan as text. Tested by tests/cli/show_test.sh. */
#include "runtime/plan/print.h"

#include <inttypes.h>

static void print_part(FILE* out, const struct qd_plan* plan, int is_counted,
                       const struct qd_part* part) {
  const int32_t place = part->place;
  if (is_counted && place < QD_TEMPORARY_PLACES)
    fprintf(out, "%s", place == QD_RECEIVE_PLACE ? "receive buffer" : "send buffer");
  else if (is_counted)
    fprintf(out, "temporary %d", (int)(place - QD_TEMPORARY_PLACES));
  else if (qd_is_temporary(plan, place))
    fprintf(out, "temporary %d", (int)(place - plan->send_blocks - plan->receive_blocks));
  else if (place < plan->send_blocks)
    fprintf(out, "send block %d%s", (int)place, part->form == QD_SAVED ? ", saved" : "");
  else
    fprintf(out, "receive block %d", (int)(place - plan->send_blocks));
  if (part->form == QD_RANGE) fprintf(out, " bytes %" PRId64 "..%" PRId64, part->low, part->high);
}

static void print_buffer(FILE* out, const char* how, int32_t buffer) {
  if (buffer != QD_NO_BUFFER) fprintf(out, " %s buffer %d", how, (int)buffer);
}

static void begin_line(FILE* out, struct qd_plan_lines* lines) {
  fprintf(out, "%6" PRId64 "  ", ++lines->lines);
}

static void print_message(FILE* out, const struct qd_plan* plan, int is_counted, int receives,
                          int32_t index, int64_t number) {
  const struct qd_message* m = &(receives ? &plan->receives : &plan->sends)->all[index];
  const struct qd_part* parts = qd_parts_of(plan, m);
  fprintf(out, "post %s %" PRId64 " %s rank %d:", receives ? "receive" : "send", number,
          receives ? "from" : "to", (int)m->peer);
  if (m->count == 0) fprintf(out, " an empty message");
  for (int32_t i = 0; i < m->count; i++) {
    fprintf(out, i > 0 ? ", " : " ");
    print_part(out, plan, is_counted, &parts[i]);
  }
  print_buffer(out, "through", m->buffer);
  if (m->combines)
    fprintf(out, ", combined on the %s", m->combines == QD_ON_THE_LEFT ? "left" : "right");
  fputc('\n', out);
}

static void print_copy(FILE* out, const struct qd_plan* plan, int is_counted,
                       const struct qd_copy* copy) {
  fprintf(out, copy->combines ? "reduce " : "copy ");
  print_part(out, plan, is_counted, &copy->from);
  fprintf(out, copy->combines ? " into " : " to ");
  print_part(out, plan, is_counted, &copy->to);
  if (copy->combines)
    fprintf(out, ", on the %s", copy->combines == QD_ON_THE_LEFT ? "left" : "right");
  print_buffer(out, "in", copy->buffer);
  fputc('\n', out);
}

void qd_plan_print(FILE* out, const struct qd_plan* plan, int is_counted,
                   struct qd_plan_lines* lines) {
  struct qd_progress at = {0, 0, 0, 0};
  for (int32_t i = 0; i < plan->operation_count; i++) {
    const struct qd_operation* o = &plan->operations[i];
    if (o->kind == QD_PLAN_OVER) break;
    if (o->kind != QD_PLAN_MESSAGES) begin_line(out, lines);
    if (o->kind == QD_PLAN_COPY) print_copy(out, plan, is_counted, &plan->copies[o->what]);
    if (o->kind == QD_PLAN_COPY_OWN) fprintf(out, "copy the own block\n");
    if (o->kind == QD_PLAN_SAVE)
      fprintf(out, "save block %d in buffer %d\n", (int)o->what, (int)o->buffer);
    if (o->kind != QD_PLAN_MESSAGES) continue;
    for (int n = o->more.received; n > 0; n--) {
      begin_line(out, lines);
      fprintf(out, "wait for receive %" PRId64 "\n", lines->receives + at.received++);
    }
    for (int n = o->more.gone; n > 0; n--) {
      begin_line(out, lines);
      fprintf(out, "wait for send %" PRId64 "\n", lines->sends + at.gone++);
    }
    for (int n = o->more.posted; n > 0; n--, at.posted++) {
      begin_line(out, lines);
      print_message(out, plan, is_counted, 1, at.posted, lines->receives + at.posted);
    }
    for (int n = o->more.sent; n > 0; n--, at.sent++) {
      begin_line(out, lines);
      print_message(out, plan, is_counted, 0, at.sent, lines->sends + at.sent);
    }
  }
  lines->receives += plan->receives.count;
  lines->sends += plan->sends.count;
}
