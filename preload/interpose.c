/* What functions that stand before MPI's share, and those of them that serve no collective: communicators that are freed,
 * processes that come from outside MPI_COMM_WORLD, and error handlers. Tested by tests/preload/corners_test.sh. */
#include "preload/interpose.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/preload.h"

_Thread_local int preload_is_inside;

void* preload_next(void** next, const char* name) {
  void* found = __atomic_load_n(next, __ATOMIC_RELAXED);
  if (found) return found;
  found = dlsym(RTLD_NEXT, name);
  if (!found) {
    fprintf(stderr, "quadrille: no MPI library behind this one has %s\n", name);
    abort();
  }
  __atomic_store_n(next, found, __ATOMIC_RELAXED);
  return found;
}

static int is_foreign;

static void ask_library(void) {
  enum { LONGEST = 1 << 14 }; /* of any MPI library */
  static char version[LONGEST];
  int length = 0;
  MPI_Get_library_version(version, &length);
#ifdef OPEN_MPI
  is_foreign = strstr(version, "Open MPI") == NULL;
#else
  is_foreign = strstr(version, "Open MPI") != NULL;
#endif
  if (is_foreign)
    fprintf(
        stderr,
        "quadrille: this preload library is for another MPI library than the program's; it does "
        "nothing\n");
}

int preload_is_foreign(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  static int is_known;
  if (__atomic_load_n(&is_known, __ATOMIC_ACQUIRE)) return is_foreign;
  pthread_once(&once, ask_library);
  __atomic_store_n(&is_known, 1, __ATOMIC_RELEASE);
  return is_foreign;
}

/* Defines MPI_Name and PMPI_Name: what is done, which may use `next`, the next definition of the function; then the
 * function's arguments with and without their types. */
#define DEFINE(Name, does, types, arguments)    \
  DEFINE_AS(MPI_##Name, does, types, arguments) \
  DEFINE_AS(PMPI_##Name, does, types, arguments)
#define DEFINE_AS(function, does, types, arguments)                                \
  PRELOAD_SHOWN int exported_##function types __asm__(#function);                  \
  PRELOAD_SHOWN int exported_##function types {                                    \
    static void* found;                                                            \
    __typeof__(exported_##function)* const next = preload_next(&found, #function); \
    if (preload_is_foreign()) return next arguments;                               \
    return does;                                                                   \
  }

/* ---- Communicators that are freed. Functions of attributes are called meanwhile, and may call collectives. What this
 * library knows of the communicator is an attribute as well, which may be gone by then or not. */

_Thread_local const struct preload_leaving* preload_leaving;

static int leave(int (*next)(MPI_Comm*), MPI_Comm* comm) {
  const struct preload_leaving this = {comm ? *comm : MPI_COMM_NULL, preload_leaving};
  preload_leaving = &this;
  const int code = next(comm);
  preload_leaving = this.outer;
  return code;
}

DEFINE(Comm_free, leave(next, comm), (MPI_Comm * comm), (comm))
DEFINE(Comm_disconnect, leave(next, comm), (MPI_Comm * comm), (comm))

/* ---- Processes from outside MPI_COMM_WORLD */

/* Arguments of `next`. */
#define MEET(...) (preload_meet_others(), next(__VA_ARGS__))
DEFINE(Comm_spawn, MEET(command, argv, maxprocs, info, root, comm, intercomm, codes),
       (const char* command, char* argv[], int maxprocs, preload_any_handle info, int root,
        preload_any_handle comm, MPI_Comm* intercomm, int codes[]),
       (command, argv, maxprocs, info, root, comm, intercomm, codes))
DEFINE(Comm_spawn_multiple,
       MEET(count, commands, argvs, maxprocs, infos, root, comm, intercomm, codes),
       (int count, char* commands[], char** argvs[], const int maxprocs[], const void* infos,
        int root, preload_any_handle comm, MPI_Comm* intercomm, int codes[]),
       (count, commands, argvs, maxprocs, infos, root, comm, intercomm, codes))
DEFINE(Comm_accept, MEET(port, info, root, comm, newcomm),
       (const char* port, preload_any_handle info, int root, preload_any_handle comm,
        MPI_Comm* newcomm),
       (port, info, root, comm, newcomm))
DEFINE(Comm_connect, MEET(port, info, root, comm, newcomm),
       (const char* port, preload_any_handle info, int root, preload_any_handle comm,
        MPI_Comm* newcomm),
       (port, info, root, comm, newcomm))
DEFINE(Comm_join, MEET(socket, intercomm), (int socket, MPI_Comm* intercomm), (socket, intercomm))
/* One rank alone may have met the other group. */
DEFINE(Intercomm_create, MEET(comm, leader, peer, remote_leader, tag, intercomm),
       (preload_any_handle comm, int leader, preload_any_handle peer, int remote_leader, int tag,
        MPI_Comm* intercomm),
       (comm, leader, peer, remote_leader, tag, intercomm))

/* ---- Error handlers, which may leave by longjmp or an exception, and may call collectives: this thread is not inside a
 * function meanwhile, and frees no communicator. MPI gives a handler nothing that tells whose it is, so each function of the
 * program has one of these before it, as long as there are some left. */

enum { HANDLERS = 64 };

static MPI_Comm_errhandler_function* handlers[HANDLERS];

/* `name`: the function's, of Open MPI. */
static void handle(int number, MPI_Comm* comm, int* code, void* name) {
  const int was_inside = preload_is_inside;
  const struct preload_leaving* const was_leaving = preload_leaving;
  preload_is_inside = 0;
  preload_leaving = NULL;
  handlers[number](comm, code, name, NULL);
  preload_is_inside = was_inside;
  preload_leaving = was_leaving;
}

#define HANDLER(number)                                         \
  static void handle_##number(MPI_Comm* comm, int* code, ...) { \
    va_list rest;                                               \
    va_start(rest, code);                                       \
    handle(number, comm, code, va_arg(rest, void*));            \
    va_end(rest);                                               \
  }
/* Octal numbers: 000 to 077. */
#define ROW(DO, row) \
  DO(row##0) DO(row##1) DO(row##2) DO(row##3) DO(row##4) DO(row##5) DO(row##6) DO(row##7)
#define EACH_HANDLER(DO) \
  ROW(DO, 00) ROW(DO, 01) ROW(DO, 02) ROW(DO, 03) ROW(DO, 04) ROW(DO, 05) ROW(DO, 06) ROW(DO, 07)
EACH_HANDLER(HANDLER)
#define ADDRESS(number) handle_##number,
static MPI_Comm_errhandler_function* const befores[HANDLERS] = {EACH_HANDLER(ADDRESS)};

static MPI_Comm_errhandler_function* before(MPI_Comm_errhandler_function* function) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  int number = 0;
  if (!function) return NULL; /* an error, and MPI's to say so */
  pthread_mutex_lock(&lock);
  while (number < HANDLERS && handlers[number] && handlers[number] != function) number++;
  if (number < HANDLERS) handlers[number] = function;
  pthread_mutex_unlock(&lock);
  return number < HANDLERS ? befores[number] : function;
}

DEFINE(Comm_create_errhandler, next(before(function), handler),
       (MPI_Comm_errhandler_function * function, MPI_Errhandler* handler), (function, handler))
/* Of MPI 1, in libraries that still have it. */
DEFINE(Errhandler_create, next(before(function), handler),
       (MPI_Comm_errhandler_function * function, MPI_Errhandler* handler), (function, handler))
