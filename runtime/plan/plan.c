/* The memory of a plan, and the plan as text. The text is tested by tests/cli/show_test.sh. */
#include "runtime/plan/plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void qd_plan_destroy(struct qd_plan* plan) {
  free(plan->receives.all);
  free(plan->sends.all);
  free(plan->parts);
  free(plan->operations);
  free(plan->copies);
  memset(plan, 0, sizeof *plan);
}

static void print_part(FILE* out, const struct qd_plan* plan, int has_global_counts,
                       const struct qd_part* part) {
  const int32_t region = part->region;
  if (has_global_counts && region < QD_TEMPORARY_REGIONS)
    fprintf(out, "%s", region == QD_RECEIVE_REGION ? "receive buffer" : "send buffer");
  else if (has_global_counts)
    fprintf(out, "temporary %d", (int)(region - QD_TEMPORARY_REGIONS));
  else if (qd_is_temporary(plan, region))
    fprintf(out, "temporary %d",
            (int)(region - plan->regions.send_blocks - plan->regions.receive_blocks));
  else if (region < plan->regions.send_blocks)
    fprintf(out, "send block %d%s", (int)region, part->form == QD_SAVED ? ", saved" : "");
  else
    fprintf(out, "receive block %d", (int)(region - plan->regions.send_blocks));
  if (part->form == QD_RANGE) fprintf(out, " bytes %" PRId64 "..%" PRId64, part->low, part->high);
}

static void print_buffer(FILE* out, const char* how, int32_t buffer) {
  if (buffer != QD_NO_BUFFER) fprintf(out, " %s buffer %d", how, (int)buffer);
}

static void begin_line(FILE* out, struct qd_plan_lines* lines) {
  fprintf(out, "%6" PRId64 "  ", ++lines->lines);
}

static void print_message(FILE* out, const struct qd_plan* plan, int has_global_counts,
                          int receives, int32_t index, int64_t number) {
  const struct qd_message* m = &(receives ? &plan->receives : &plan->sends)->all[index];
  const struct qd_part* parts = qd_parts_of(plan, m);
  fprintf(out, "post %s %" PRId64 " %s rank %d:", receives ? "receive" : "send", number,
          receives ? "from" : "to", (int)m->peer);
  if (m->count == 0) fprintf(out, " an empty message");
  for (int32_t i = 0; i < m->count; i++) {
    fprintf(out, i > 0 ? ", " : " ");
    print_part(out, plan, has_global_counts, &parts[i]);
  }
  print_buffer(out, "through", m->buffer);
  if (m->combines)
    fprintf(out, ", combined on the %s", m->combines == QD_ON_THE_LEFT ? "left" : "right");
  fputc('\n', out);
}

static void print_copy(FILE* out, const struct qd_plan* plan, int has_global_counts,
                       const struct qd_copy* copy) {
  fprintf(out, copy->combines ? "reduce " : "copy ");
  print_part(out, plan, has_global_counts, &copy->from);
  fprintf(out, copy->combines ? " into " : " to ");
  print_part(out, plan, has_global_counts, &copy->to);
  if (copy->combines)
    fprintf(out, ", on the %s", copy->combines == QD_ON_THE_LEFT ? "left" : "right");
  print_buffer(out, "in", copy->buffer);
  fputc('\n', out);
}

void qd_plan_print(FILE* out, const struct qd_plan* plan, int has_global_counts,
                   struct qd_plan_lines* lines) {
  struct qd_progress at = {0, 0, 0, 0};
  for (int32_t i = 0; i < plan->operation_count; i++) {
    const struct qd_operation* o = &plan->operations[i];
    if (o->kind == QD_PLAN_END) break;
    if (o->kind != QD_PLAN_MESSAGES) begin_line(out, lines);
    if (o->kind == QD_PLAN_COPY) print_copy(out, plan, has_global_counts, &plan->copies[o->what]);
    if (o->kind == QD_PLAN_COPY_OWN) fprintf(out, "copy the own block\n");
    if (o->kind == QD_PLAN_SAVE)
      fprintf(out, "save block %d in buffer %d\n", (int)o->what, (int)o->buffer);
    if (o->kind != QD_PLAN_MESSAGES) continue;
    for (int n = o->more.receives_done; n > 0; n--) {
      begin_line(out, lines);
      fprintf(out, "wait for receive %" PRId64 "\n", lines->receives + at.receives_done++);
    }
    for (int n = o->more.sends_done; n > 0; n--) {
      begin_line(out, lines);
      fprintf(out, "wait for send %" PRId64 "\n", lines->sends + at.sends_done++);
    }
    for (int n = o->more.receives_posted; n > 0; n--, at.receives_posted++) {
      begin_line(out, lines);
      print_message(out, plan, has_global_counts, 1, at.receives_posted,
                    lines->receives + at.receives_posted);
    }
    for (int n = o->more.sends_posted; n > 0; n--, at.sends_posted++) {
      begin_line(out, lines);
      print_message(out, plan, has_global_counts, 0, at.sends_posted,
                    lines->sends + at.sends_posted);
    }
  }
  lines->receives += plan->receives.count;
  lines->sends += plan->sends.count;
}
