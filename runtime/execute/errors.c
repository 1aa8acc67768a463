/* Makes MPI error codes with texts of the runtime, reads the settings of the environment, and writes the debug log.
 *
 * MPI has error classes, codes within a class, and a text for each code. The runtime makes a few codes for each class
 * when it first needs them, and replaces their texts with each error. So a text can name ranks and numbers. MPICH 4.0
 * mixes up the texts of added codes. With it, the class is the code, and quadrille_last_error has the text. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* nanosleep; NOLINT(bugprone-reserved-identifier) */
#endif
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/execute/api.h"
#include "runtime/execute/errors.h"
#include "runtime/program/program.h"
#include "runtime/quadrille.h"

/* All global state. */
struct qd_global qd_global = {.lock = PTHREAD_MUTEX_INITIALIZER,
                              .settings_once = PTHREAD_ONCE_INIT};

void qd_serve_preload(void) { qd_global.serves_preload = 1; }

int qd_mpi_is_usable(void) {
  int initialized = 0, finalized = 0;
  PMPI_Initialized(&initialized);
  PMPI_Finalized(&finalized);
  return initialized && !finalized;
}

/* Makes a code of the class. Returns 0 if MPI does not return the text that the runtime sets for it. */
static int make_code(int error_class, int* code) {
  static const char probe[] = "quadrille";
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (PMPI_Add_error_code(error_class, code) != MPI_SUCCESS ||
      PMPI_Add_error_string(*code, probe) != MPI_SUCCESS)
    return 0;
  PMPI_Error_string(*code, text, &length);
  return strcmp(text, probe) == 0;
}

/* Returns the next code of a class. If no code can be made, returns the class itself, which is a code too. Codes take
 * turns, so that one thread's error does not soon change the text of another thread's error. */
static int code_of(int error_class) {
  struct qd_global* g = &qd_global;
  struct qd_error_codes* codes = g->codes;
  while (codes < g->codes + g->class_count && codes->error_class != error_class) codes++;
  if (codes == g->codes + QD_ERROR_CLASSES) return error_class;
  if (codes == g->codes + g->class_count) {
    *codes = (struct qd_error_codes){.error_class = error_class};
    g->class_count++;
  }
  const int next = codes->next++ % QD_CODES_A_CLASS;
  if (next == codes->made && !g->lacks_texts) {
    g->lacks_texts = !make_code(error_class, &codes->codes[next]);
    codes->made += !g->lacks_texts;
  }
  return next < codes->made ? codes->codes[next] : error_class;
}

int quadrille_error_class(int code) {
  int error_class = code;
  if (qd_mpi_is_usable()) PMPI_Error_class(code, &error_class);
  return error_class;
}

/* Prints the text if the error ends the job. MPI may not: Open MPI 4.1 sometimes loses the output of ranks that end a
 * job at the same moment, and MPICH prints another text. Rank 0 prints at once, the others 0.1 s later. */
static void say_if_fatal(MPI_Comm comm, const char* text) {
  MPI_Errhandler handler;
  int rank = 0;
  if (PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return;
  int is_fatal = handler == MPI_ERRORS_ARE_FATAL;
#ifdef MPI_ERRORS_ABORT /* since MPI 4 */
  is_fatal |= handler == MPI_ERRORS_ABORT;
#endif
  if (is_fatal) {
    PMPI_Comm_rank(comm, &rank);
    if (rank > 0) nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    fprintf(stderr, "%s\n", text);
  }
  PMPI_Errhandler_free(&handler);
}

int qd_error(MPI_Comm comm, int error_class, const char* format, ...) {
  char text[QD_TEXT];
  const int prefix = snprintf(text, sizeof text, "quadrille: ");
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + prefix, sizeof text - (size_t)prefix, format, arguments);
  va_end(arguments);
  qd_log("%s", text);

  int code = error_class;
  const int usable = qd_mpi_is_usable();
  pthread_mutex_lock(&qd_global.lock);
  memcpy(qd_global.last_error, text, sizeof text);
  if (usable) {
    code = code_of(error_class);
    if (code != error_class) PMPI_Add_error_string(code, text);
  }
  pthread_mutex_unlock(&qd_global.lock);
  if (usable && comm != MPI_COMM_NULL) {
    say_if_fatal(comm, text);
    PMPI_Comm_call_errhandler(comm, code);
  }
  return code;
}

void qd_end_without_memory(MPI_Comm comm) {
  fprintf(stderr, "quadrille: memory ran out\n");
  /* When the job ends, MPICH's launcher drops output that it has not passed on. */
  nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
  PMPI_Abort(comm, MPI_ERR_NO_MEM);
  abort();
}

int qd_mpi_error(MPI_Comm comm, int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  PMPI_Error_string(code, text, &length);
  qd_log("%s", text);
  pthread_mutex_lock(&qd_global.lock);
  snprintf(qd_global.last_error, sizeof qd_global.last_error, "%.*s", QD_TEXT - 1, text);
  pthread_mutex_unlock(&qd_global.lock);
  PMPI_Comm_call_errhandler(comm, code);
  return code;
}

int qd_broken_error(MPI_Comm comm, const char* error) {
  return error == qd_not_served
             ? qd_error(comm, MPI_ERR_UNSUPPORTED_OPERATION, "%s", error)
             : qd_error(comm, MPI_ERR_INTERN, "the schedule is broken: %s; verify it", error);
}

int qd_call_error(MPI_Comm comm, int code) {
  int error_class = MPI_ERR_OTHER;
  PMPI_Error_class(code, &error_class);
  if (error_class == MPI_ERR_TRUNCATE)
    return qd_error(comm, MPI_ERR_TRUNCATE,
                    "a rank sent more than this rank has room for; counts and types must "
                    "describe the same bytes at both ends");
  return qd_mpi_error(comm, code);
}

void qd_describe_mismatch(char text[QD_TEXT], int source, int64_t sent, int target,
                          int64_t expected) {
  snprintf(text, QD_TEXT,
           "rank %d sends %lld bytes to rank %d, which has room for %lld; counts and types must "
           "describe the same bytes at both ends",
           source, (long long)sent, target, (long long)expected);
}

void quadrille_last_error(char* text, size_t size) {
  if (!text || size == 0) return;
  pthread_mutex_lock(&qd_global.lock);
  snprintf(text, size, "%s", qd_global.last_error);
  pthread_mutex_unlock(&qd_global.lock);
}

void qd_log(const char* format, ...) {
  if (!qd_settings()->debug) return;
  int rank = -1;
  if (qd_mpi_is_usable()) PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char text[2 * QD_TEXT];
  const int prefix = rank < 0 ? snprintf(text, sizeof text, "[quadrille] ")
                              : snprintf(text, sizeof text, "[quadrille, rank %d] ", rank);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + prefix, sizeof text - (size_t)prefix, format, arguments);
  va_end(arguments);
  fprintf(stderr, "%s\n", text);
}

/* ---- Settings */

static int is_set(const char* name) {
  const char* value = getenv(name);
  return value && *value && strcmp(value, "0") != 0;
}

static double read_seconds(void) {
  const char* value = getenv("QUADRILLE_STALL");
  char* end = NULL;
  if (!value || !*value) return 0;
  const locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), former = uselocale(plain);
  const double seconds = strtod(value, &end);
  uselocale(former);
  if (plain) freelocale(plain);
  if (*end == '\0' && seconds >= 0 && isfinite(seconds)) return seconds;
  fprintf(stderr, "quadrille: QUADRILLE_STALL=%s is no number of seconds\n", value);
  return 0;
}

/* Notes the folder when the runtime is loaded, since the program may change its folder later. */
__attribute__((constructor)) static void note_folder(void) {
  if (!getcwd(qd_global.folder, QD_MAX_PATH)) qd_global.folder[0] = '\0';
}

void qd_begin_in(const char* folder) {
  snprintf(qd_global.folder, sizeof qd_global.folder, "%s", folder);
}

static const char* read_name(const char* variable) {
  const char* value = getenv(variable);
  return value && *value ? qd_full_name(qd_global.folder, value, qd_global.traces) : NULL;
}

static void read_settings(void) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  PMPI_Get_library_version(version, &length);
  qd_global.settings =
      (struct qd_settings){.debug = is_set("QUADRILLE_DEBUG"),
                           .stall = read_seconds(),
                           .trace = read_name("QUADRILLE_TRACE"),
                           .is_open_mpi = strncmp(version, "Open MPI", strlen("Open MPI")) == 0};
}

int qd_is_open_mpi(void) { return qd_settings()->is_open_mpi; }

const struct qd_settings* qd_settings(void) {
  pthread_once(&qd_global.settings_once, read_settings);
  return &qd_global.settings;
}
