/* A tool that counts the calls of all MPI functions, by MPI_ and by PMPI_ name. It is in the program, before the
 * preload library or behind it. MPI_Finalize writes a line NAME CALLS for each into the file COUNTS.RANK. A later
 * call by an MPI_ name ends the process. The file NAMES has a line COUNT(FUNCTION) for each MPI function. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define SHOWN __attribute__((visibility("default")))

struct counter {
  const char* name;
  long calls;
  struct counter* next;
};
static struct counter* counters;
static int is_over;

static void note(struct counter* counter) {
  if (counter->calls++ > 0) return;
  counter->next = counters;
  counters = counter;
}

static void note_of_program(struct counter* counter) {
  note(counter);
  if (!is_over) return;
  fprintf(stderr, "FAILED: %s after MPI_Finalize\n", counter->name);
  abort();
}

static void write_counts(void) {
  char path[256];
  const char* const rank = getenv("OMPI_COMM_WORLD_RANK") ? "OMPI_COMM_WORLD_RANK" : "PMI_RANK";
  snprintf(path, sizeof path, "%s.%s", getenv("COUNTS"), getenv(rank));
  FILE* const file = fopen(path, "w");
  for (const struct counter* one = counters; file && one; one = one->next)
    fprintf(file, "%s %ld\n", one->name, one->calls);
  if (!file || fclose(file) != 0) abort();
}

/* Passes all arguments on unchanged. */
enum { BYTES_OF_STACK = 64 };
#define DEFINE(name, notes, next)                                                      \
  SHOWN void name() {                                                                  \
    static struct counter counter = {#name, 0, NULL};                                  \
    notes(&counter);                                                                   \
    __builtin_return(__builtin_apply((next), __builtin_apply_args(), BYTES_OF_STACK)); \
  }
#define COUNT(function)                                    \
  void PMPI_##function();                                  \
  DEFINE(MPI_##function, note_of_program, PMPI_##function) \
  static void (*next_##function)();                        \
  DEFINE(                                                  \
      PMPI_##function, note,                               \
      next_##function ? next_##function : (next_##function = dlsym(RTLD_NEXT, "PMPI_" #function)))
#ifdef NAMES
#include NAMES
#endif

SHOWN int MPI_Finalize(void) {
  int (*const finalize)(void) = dlsym(RTLD_DEFAULT, "PMPI_Finalize");
  write_counts();
  is_over = 1;
  return finalize();
}
