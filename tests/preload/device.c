/* Cases of the program corners: collectives on memory that is not host memory. A GPU's driver is loaded after the first
 * call. */
#include <dlfcn.h>
#include <string.h>

#include "tests/preload/corners.h"

enum { COUNT = 2048 };
static int sent[COUNT], received[COUNT * MOST], seen[COUNT];

/* The driver, loaded as programs load it. */
static void* driver;
static char* (*memory)(void);
static void (*copy)(void*, const void*, size_t);

static void load(const char* path) {
  driver = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!driver) return expect(0, dlerror());
  memory = (char* (*)(void))dlsym(driver, "device_memory");
  copy = (void (*)(void*, const void*, size_t))dlsym(driver, "device_copy");
}

/* The driver must have no error that the program did not make. */
static void expect_no_error(void) {
  int (*const take)(void) = (int (*)(void))dlsym(driver, "hipGetLastError");
  expect(!take || take() == 0, "the driver has an error that the program did not make");
}

static void all_kinds(void* from, void* to, int count) {
  MPI_Allgather(from, count, MPI_INT, to, count, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoall(from, count / MOST, MPI_INT, to, count / MOST, MPI_INT, MPI_COMM_WORLD);
  MPI_Bcast(from, count, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, from, count / MOST, MPI_INT, MPI_COMM_WORLD);
  MPI_Allreduce(from, to, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* Schedules serve buffers in device memory, on a communicator that was used before. */
void device_later(const char* path) {
  for (int i = 0; i < COUNT; i++) sent[i] = i + me;
  all_kinds(sent, received, COUNT);
  load(path);
  if (!driver) return;
  char *const there = memory(), *const result = there + sizeof sent;
  for (int i = 0; i < COUNT; i++) sent[i] = i + me;
  copy(there, sent, sizeof sent);
  all_kinds(there, result, COUNT);
  copy(seen, result, sizeof seen);
  expect(memcmp(seen, received, sizeof seen) == 0, "a collective on device memory is wrong");
  MPI_Gather(sent, 8, MPI_INT, received, 8, MPI_INT, 0, MPI_COMM_WORLD);
  expect_no_error();
}

static void expect_allgather(void* from, void* to, MPI_Comm comm) {
  MPI_Allgather(from, 4, MPI_INT, to, 4, MPI_INT, comm);
  if (to == received)
    memcpy(seen, received, 4 * sizeof(int) * (size_t)ranks);
  else
    copy(seen, to, 4 * sizeof(int) * (size_t)ranks);
  for (int r = 0; r < ranks; r++) expect(seen[4 * r] == 10 * r + 1, "an allgather is wrong");
}

/* MPI serves communicators made after one rank has loaded the driver, and older communicators from some call on. */
void device_passed(const char* path) {
  MPI_Comm fresh;
  sent[0] = 10 * me + 1;
  for (int i = 0; i < 3; i++) expect_allgather(sent, received, MPI_COMM_WORLD);
  if (me == 1) load(path);
  if (me == 1 && !driver) return;
  char* const there = driver ? memory() : NULL;
  if (there) copy(there, sent, sizeof sent);
  for (int i = 0; i < 400; i++)
    expect_allgather(there ? there : (void*)sent, there ? there + sizeof sent : (void*)received,
                     MPI_COMM_WORLD);
  MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
  for (int i = 0; i < 3; i++) expect_allgather(sent, received, fresh);
  MPI_Comm_free(&fresh);
}
