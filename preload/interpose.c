/* Intercepts functions of MPI that are no collectives: those that free or make communicators, make error handlers,
 * and begin MPI. Each calls MPI's function, as the program expects. Tested by corners_test.sh. */
#include "preload/interpose.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>

#include "preload/preload.h"
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

static int made(int code, const MPI_Comm* comm) {
  if (code == MPI_SUCCESS) preload_made(*comm);
  return code;
}

#define MAKING(Name, types, ...) DEFINE(Name, made(next(__VA_ARGS__, comm), comm), types)
MAKING(Comm_dup, (MPI_Comm old, MPI_Comm* comm), old)
MAKING(Comm_dup_with_info, (MPI_Comm old, MPI_Info info, MPI_Comm* comm), old, info)
MAKING(Comm_create, (MPI_Comm old, MPI_Group group, MPI_Comm* comm), old, group)
MAKING(Comm_create_group, (MPI_Comm old, MPI_Group group, int tag, MPI_Comm* comm), old, group, tag)
MAKING(Comm_split, (MPI_Comm old, int color, int key, MPI_Comm* comm), old, color, key)
MAKING(Comm_split_type, (MPI_Comm old, int type, int key, MPI_Info info, MPI_Comm* comm), old, type,
       key, info)
MAKING(Cart_create,
       (MPI_Comm old, int count, const int* sizes, const int* periods, int reorder, MPI_Comm* comm),
       old, count, sizes, periods, reorder)
MAKING(Cart_sub, (MPI_Comm old, const int* kept, MPI_Comm* comm), old, kept)
MAKING(Graph_create,
       (MPI_Comm old, int count, const int* index, const int* edges, int reorder, MPI_Comm* comm),
       old, count, index, edges, reorder)
MAKING(Dist_graph_create,
       (MPI_Comm old, int count, const int* sources, const int* degrees, const int* destinations,
        const int* weights, MPI_Info info, int reorder, MPI_Comm* comm),
       old, count, sources, degrees, destinations, weights, info, reorder)
MAKING(Dist_graph_create_adjacent,
       (MPI_Comm old, int in, const int* sources, const int* in_weights, int out,
        const int* destinations, const int* out_weights, MPI_Info info, int reorder,
        MPI_Comm* comm),
       old, in, sources, in_weights, out, destinations, out_weights, info, reorder)
MAKING(Comm_create_from_group,
       (MPI_Group group, const char* tag, MPI_Info info, MPI_Errhandler handler, MPI_Comm* comm),
       group, tag, info, handler)
MAKING(Intercomm_merge, (MPI_Comm old, int high, MPI_Comm* comm), old, high)
#define MAKING_BETWEEN(Name, types, arguments) DEFINE(Name, made(next arguments, intercomm), types)
DEFINE(Comm_idup, made(next(old, comm, request), comm),
       (MPI_Comm old, MPI_Comm* comm, MPI_Request* request))
DEFINE(Comm_idup_with_info, made(next(old, info, comm, request), comm),
       (MPI_Comm old, MPI_Info info, MPI_Comm* comm, MPI_Request* request))

MAKING_BETWEEN(Comm_spawn,
               (const char* command, char* argv[], int maxprocs, MPI_Info info, int root,
                MPI_Comm comm, MPI_Comm* intercomm, int codes[]),
               (command, argv, maxprocs, info, root, comm, intercomm, codes))
MAKING_BETWEEN(Comm_spawn_multiple,
               (int count, char* commands[], char** argvs[], const int maxprocs[],
                const MPI_Info infos[], int root, MPI_Comm comm, MPI_Comm* intercomm, int codes[]),
               (count, commands, argvs, maxprocs, infos, root, comm, intercomm, codes))
MAKING_BETWEEN(Comm_accept,
               (const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* intercomm),
               (port, info, root, comm, intercomm))
MAKING_BETWEEN(Comm_connect,
               (const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* intercomm),
               (port, info, root, comm, intercomm))
MAKING_BETWEEN(Comm_join, (int socket, MPI_Comm* intercomm), (socket, intercomm))
MAKING_BETWEEN(Intercomm_create,
               (MPI_Comm comm, int leader, MPI_Comm peer, int remote_leader, int tag,
                MPI_Comm* intercomm),
               (comm, leader, peer, remote_leader, tag, intercomm))
MAKING_BETWEEN(Intercomm_create_from_groups,
               (MPI_Group group, int leader, MPI_Group others, int remote_leader, const char* tag,
                MPI_Info info, MPI_Errhandler handler, MPI_Comm* intercomm),
               (group, leader, others, remote_leader, tag, info, handler, intercomm))

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
