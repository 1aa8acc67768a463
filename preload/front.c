/* The library that users preload. It defines the functions that Quadrille intercepts. It links no MPI library, since
 * the program brings one. At the first call it finds out which one. If Quadrille was built for it, this library loads
 * the core, which is all other files here, and passes calls to it. Otherwise, and with QUADRILLE=off, calls go to MPI
 * unchanged. Tested by tests/preload: corners_test.sh, fortran_test.sh and tools_test.sh. */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/rules.h"
#include "preload/words.h"

/* The kinds of MPI libraries, which differ in the handles of their programs. */
enum library { OPEN_MPI, MPICH, STANDARD_ABI, ANOTHER };
#if defined(PRELOAD_ABI)
#define CORE "quadrille/libquadrille_preload_abi_core.so"
#define SERVED STANDARD_ABI
#elif defined(PRELOAD_MPICH)
#define CORE "quadrille/libquadrille_preload_mpich_core.so"
#define SERVED MPICH
#else
#define CORE "quadrille/libquadrille_preload_openmpi_core.so"
#define SERVED OPEN_MPI
#endif

static void* core; /* NULL: all calls go to MPI */
static char folder[4096];
static char core_file[2 * sizeof folder]; /* its full name */

/* Notes the folder, which a program may change later, and the full name of the core. If another library intercepts
 * dlopen, $ORIGIN would be that library's folder. */
__attribute__((constructor)) static void note_folders(void) {
  Dl_info own;
  if (!getcwd(folder, sizeof folder)) folder[0] = '\0';
  if (!dladdr(folder, &own)) return;
  const char* const name = own.dli_fname;
  const char* const slash = strrchr(name, '/');
  snprintf(core_file, sizeof core_file, "%s/%.*s" CORE, name[0] == '/' ? "" : folder,
           slash ? (int)(slash + 1 - name) : 0, name);
}

static void* next_of(const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found) return found;
  fprintf(stderr, "quadrille: no MPI library behind this one has %s\n", name);
  abort();
}

/* Makes the MPI library visible to all libraries. Python hides it, because it loads its MPI module locally. */
static void show_mpi(void) {
  static const char known[] = "PMPI_Get_library_version"; /* this library does not define it */
  struct link_map* one = NULL;
  Dl_info library;
  if (dlsym(RTLD_DEFAULT, known) || dlinfo(dlopen(NULL, RTLD_LAZY), RTLD_DI_LINKMAP, &one) != 0)
    return;
  for (; one; one = one->l_next) {
    void* const loaded = one->l_name[0] ? dlopen(one->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void* const found = loaded ? dlsym(loaded, known) : NULL;
    if (loaded) dlclose(loaded);
    if (!found || !dladdr(found, &library)) continue;
    dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
    return;
  }
}

/* Calls a function of MPI that writes two numbers, if the MPI library has it. */
static void ask(const char* name, int* first, int* second) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  if (found) ((int (*)(int*, int*))found)(first, second);
}

/* Returns the program's kind of MPI library. Libraries with the standard ABI of MPI 5 say so, and those with their own
 * ABI answer -1. Drafts of that ABI, in libraries for MPI 4, have other values. Open MPI's and MPICH's own mpi.h give
 * programs a symbol. */
static enum library find_library(void) {
  int major = -1, minor = -1, version = 0, subversion = 0;
  ask("PMPI_Abi_get_version", &major, &minor);
  if (major < 0) ask("MPI_Abi_get_version", &major, &minor);
  ask("PMPI_Get_version", &version, &subversion);
  if (major >= 0) return major == 1 && version >= 5 ? STANDARD_ABI : ANOTHER;
  if (dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world")) return OPEN_MPI;
  return dlsym(RTLD_DEFAULT, "MPIR_Dup_fn") ? MPICH : ANOTHER;
}

static void look(void) {
  const char* const mode = getenv("QUADRILLE");
  show_mpi();
  if (mode && strcmp(mode, "off") == 0) return;
  const enum library library = find_library();
  if (library != SERVED && library == STANDARD_ABI)
    fprintf(stderr,
            "quadrille: the program's MPI library has the standard ABI of MPI, which this preload "
            "library is not for; it does nothing; preload libquadrille_preload_abi.so\n");
  else if (library != SERVED)
    fprintf(stderr,
            "quadrille: this preload library is for another MPI library than the program's; it "
            "does nothing\n");
  else if (!(core = dlopen(core_file, RTLD_NOW | RTLD_LOCAL)))
    fprintf(stderr,
            "quadrille: the rest of the preload library cannot be loaded, so it does nothing: %s\n",
            dlerror());
  if (!core) return;
  *(void* (**)(const char*))dlsym(core, "preload_next_of") = next_of;
  ((void (*)(const char*))dlsym(core, "preload_begin_in"))(folder);
}

/* Returns the function that makes the calls of this name: the core's, or else MPI's. */
static void* find(const char* name) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, look);
  void* const found = core ? dlsym(core, name) : NULL;
  return found ? found : next_of(name);
}

/* Defines a function that jumps to the one that makes the call. At first this is `first_`, which finds that one. */
#define DEFINE(name, words)                                                 \
  static int first_##name(TAKES_##words);                                   \
  static int (*makes_##name)(TAKES_##words) = first_##name;                 \
  static int first_##name(TAKES_##words) {                                  \
    int (*const found)(TAKES_##words) = find(#name);                        \
    __atomic_store_n(&makes_##name, found, __ATOMIC_RELEASE);               \
    return found(GIVES_##words);                                            \
  }                                                                         \
  __attribute__((visibility("default"))) int name(TAKES_##words);           \
  int name(TAKES_##words) {                                                 \
    return __atomic_load_n(&makes_##name, __ATOMIC_RELAXED)(GIVES_##words); \
  }
#define DEFINE_BOTH(Name, words) DEFINE_NUMBER(Name, words)
#define DEFINE_NUMBER(Name, words) \
  DEFINE(MPI_##Name, words)        \
  DEFINE(PMPI_##Name, words)

DEFINE_BOTH(Init, 2)
DEFINE_BOTH(Init_thread, 4)
DEFINE_BOTH(Comm_free, 1)
DEFINE_BOTH(Comm_disconnect, 1)
#define DEFINE_MAKING(Name, words, made) DEFINE_BOTH(Name, words)
PRELOAD_MAKING(DEFINE_MAKING)
DEFINE_BOTH(Comm_create_errhandler, 2)
DEFINE_BOTH(Errhandler_create, 2)
#if !defined(PRELOAD_ABI) && !defined(PRELOAD_MPICH)
DEFINE(mpi_comm_create_errhandler_, 3)
DEFINE(pmpi_comm_create_errhandler_, 3)
DEFINE(ompi_comm_create_errhandler_f, 3)
#endif

/* The number of parameters in each family of collectives, with the communicator. */
#define WORDS_OF_NOTHING 1
#define WORDS_OF_EQUAL_BLOCKS 7
#define WORDS_OF_EQUAL_BLOCKS_OF_ROOT 8
#define WORDS_OF_COUNTED_BLOCKS 9
#define WORDS_OF_TYPED_BLOCKS 9
#define WORDS_OF_GATHERED_BLOCKS 8
#define WORDS_OF_GATHERED_BLOCKS_OF_ROOT 9
#define WORDS_OF_SCATTERED_BLOCKS_OF_ROOT 9
#define WORDS_OF_BUFFER_OF_ROOT 5
#define WORDS_OF_ELEMENTS 6
#define WORDS_OF_ELEMENTS_OF_ROOT 7
#define WORDS_OF_COUNTED_ELEMENTS 6
#define DEFINE_COLLECTIVE(Name, name, scheduled, family, direction, size) \
  DEFINE_BOTH(Name, WORDS_OF_##family)
PRELOAD_COLLECTIVES(DEFINE_COLLECTIVE)
#define DEFINE_LARGE(Name, name, scheduled, family, direction, size) \
  DEFINE_BOTH(Name##_c, WORDS_OF_##family)
PRELOAD_COLLECTIVES_WITH_DATA(DEFINE_LARGE)
