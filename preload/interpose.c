/* Intercepts functions of MPI that are no collectives: those that free or make communicators, make error handlers,
 * and begin MPI. Each calls MPI's function, as the program expects. Tested by corners_test.sh. */
#include "preload/interpose.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>

#include "preload/preload.h"
#include "preload/words.h"
#include "runtime/execute/api.h"

_Thread_local int preload_is_inside;

void* (*preload_next_of)(const char* name);

void preload_begin_in(const char* folder) {
  preload_keep_to(folder);
  qd_begin_in(folder);
}

void* preload_next(void** next, const char* name) {
  void* found = __atomic_load_n(next, __ATOMIC_RELAXED);
  if (found) return found;
  found = preload_next_of ? preload_next_of(name) : dlsym(RTLD_NEXT, name);
  __atomic_store_n(next, found, __ATOMIC_RELAXED);
  return found;
}

#define DEFINE(Name, does, types)         \
  PRELOAD_DEFINE(MPI_##Name, does, types) \
  PRELOAD_DEFINE(PMPI_##Name, does, types)

/* ---- Freed communicators, and new ones. A new one may have the handle of a freed one. */

DEFINE(Comm_free, preload_leave(next, comm), (MPI_Comm * comm))
DEFINE(Comm_disconnect, preload_leave(next, comm), (MPI_Comm * comm))

static int made(int code, intptr_t comm) {
  if (code == MPI_SUCCESS) preload_made(*(MPI_Comm*)comm);
  return code;
}

#define MAKING(Name, words, comm) DEFINE(Name, made(next(GIVES_##words), comm), (TAKES_##words))
PRELOAD_MAKING(MAKING)

/* ---- Error handlers. A handler may call collectives, and may leave by longjmp or an exception. So while it runs,
 * preload_is_inside is 0. MPI passes a handler nothing that identifies it. So each handler of the program gets its
 * own wrapper here, until the wrappers run out. */

enum { HANDLERS = 64 };

static MPI_Comm_errhandler_function* handlers[HANDLERS];

/* Calls the handler of this number. Open MPI passes the name of the MPI function as well. */
static void handle(int number, MPI_Comm* comm, int* code, void* name) {
  const int was_inside = preload_is_inside;
  preload_is_inside = 0;
  handlers[number](comm, code, name, NULL);
  preload_is_inside = was_inside;
}

#define HANDLER(number)                                         \
  static void handle_##number(MPI_Comm* comm, int* code, ...) { \
    va_list rest;                                               \
    va_start(rest, code);                                       \
    handle(number, comm, code, va_arg(rest, void*));            \
    va_end(rest);                                               \
  }
/* Numbers 000 to 077, in octal. */
#define ROW(DO, row) \
  DO(row##0) DO(row##1) DO(row##2) DO(row##3) DO(row##4) DO(row##5) DO(row##6) DO(row##7)
#define EACH_HANDLER(DO) \
  ROW(DO, 00) ROW(DO, 01) ROW(DO, 02) ROW(DO, 03) ROW(DO, 04) ROW(DO, 05) ROW(DO, 06) ROW(DO, 07)
EACH_HANDLER(HANDLER)
#define ADDRESS(number) handle_##number,
static MPI_Comm_errhandler_function* const wrappers[HANDLERS] = {EACH_HANDLER(ADDRESS)};

static MPI_Comm_errhandler_function* wrap(MPI_Comm_errhandler_function* function) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  int number = 0;
  if (!function) return NULL; /* MPI reports the error */
  pthread_mutex_lock(&lock);
  while (number < HANDLERS && handlers[number] && handlers[number] != function) number++;
  if (number < HANDLERS) handlers[number] = function;
  pthread_mutex_unlock(&lock);
  return number < HANDLERS ? wrappers[number] : function;
}

DEFINE(Comm_create_errhandler, next(wrap(function), handler),
       (MPI_Comm_errhandler_function * function, MPI_Errhandler* handler))
/* MPI 1 has this function, and some libraries still have it. */
DEFINE(Errhandler_create, next(wrap(function), handler),
       (MPI_Comm_errhandler_function * function, MPI_Errhandler* handler))

/* Open MPI's Fortran interfaces do not call the C function. They pass a handler the same arguments, by reference. */
#ifdef OPEN_MPI
#define DEFINE_FORTRAN(name)                                \
  PRELOAD_DEFINE(name, next(wrap(function), handler, code), \
                 (MPI_Comm_errhandler_function * function, int* handler, int* code))
DEFINE_FORTRAN(mpi_comm_create_errhandler_)
DEFINE_FORTRAN(pmpi_comm_create_errhandler_)
DEFINE_FORTRAN(ompi_comm_create_errhandler_f) /* of mpi_f08 */
#endif

/* ---- The beginning and the end of MPI */

/* Runs in MPI_Finalize, which first deletes the attributes of MPI_COMM_SELF, the newest first. This library's is the
 * oldest. So the program's own delete functions run before. They may still communicate with other ranks. */
static int finish(MPI_Comm self, int key, void* attribute, void* extra) {
  (void)self, (void)key, (void)attribute, (void)extra;
  preload_is_inside = 1;
  preload_report_end();
  preload_verify_tell();
  preload_forget_communicators();
  preload_is_inside = 0;
  return MPI_SUCCESS;
}

static void begin(void) {
  if (!preload_is_inside) preload_settings();
}

static int started(int code) {
  static int key = MPI_KEYVAL_INVALID;
  if (code != MPI_SUCCESS || key != MPI_KEYVAL_INVALID) return code;
  qd_make_keyvals();
  if (!preload_is_inside) {
    preload_is_inside = 1;
    preload_know_world();
    preload_is_inside = 0;
  }
  if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finish, &key, NULL) == MPI_SUCCESS)
    PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  return code;
}

DEFINE(Init, (begin(), started(next(count, words))), (int* count, char*** words))
DEFINE(Init_thread, (begin(), started(next(count, words, required, provided))),
       (int* count, char*** words, int required, int* provided))
