/* Loaded before MPI. Each rank's clock is 5 seconds ahead of the rank before, and no rank can read its boot id. With the
 * variable INTERRUPTED all ranks have one clock, and rank 1 rests for 5 ms after its first reading in each 50 us. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long rank(void) {
  const char *openmpi = getenv("OMPI_COMM_WORLD_RANK"), *mpich = getenv("PMI_RANK");
  return openmpi ? atol(openmpi) : mpich ? atol(mpich) : 0;
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  int (*const real)(clockid_t, struct timespec*) =
      (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  const int code = real(clock, time);
  static struct timespec last;
  if (clock != CLOCK_MONOTONIC) return code;
  if (!getenv("INTERRUPTED")) {
    time->tv_sec += 5 * rank();
    return code;
  }
  const long pause = (time->tv_sec - last.tv_sec) * 1000000000 + time->tv_nsec - last.tv_nsec;
  if (rank() == 1 && pause > 50000) usleep(5000);
  return real(clock, &last);
}

FILE* fopen(const char* path, const char* mode) {
  FILE* (*const real)(const char*, const char*) =
      (FILE * (*)(const char*, const char*)) dlsym(RTLD_NEXT, "fopen");
  return strstr(path, "boot_id") && !getenv("INTERRUPTED") ? NULL : real(path, mode);
}
