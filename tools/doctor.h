/* Functions of `doctor`, which says what a job would get from Quadrille here, and what is wrong. */
#pragma once

enum { DOCTOR_TEXT = 600 };

/* Report, with printf's arguments, a fact, which rank 0 prints at once, or a finding: something wrong, which rank 0
 * prints below all facts. */
__attribute__((format(printf, 2, 3))) void doctor_fact(const char* name, const char* format, ...);
__attribute__((format(printf, 1, 2))) void doctor_finding(const char* format, ...);

/* doctor_served.c. Prints the layout and, if `is_served`, the schedules that calls on MPI_COMM_WORLD would follow.
 * Collective. */
void doctor_look_at_calls(int is_served);
