/* Loaded before MPI. Each rank's clock is 5 seconds ahead of the rank before, and no rank can read its boot id. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long rank(void) {
  const char *openmpi = getenv("OMPI_COMM_WORLD_RANK"), *mpich = getenv("PMI_RANK");
  return openmpi ? atol(openmpi) : mpich ? atol(mpich) : 0;
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  int (*const real)(clockid_t, struct timespec*) =
      (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  const int code = real(clock, time);
  if (clock == CLOCK_MONOTONIC) time->tv_sec += 5 * rank();
  return code;
}

FILE* fopen(const char* path, const char* mode) {
  FILE* (*const real)(const char*, const char*) =
      (FILE * (*)(const char*, const char*)) dlsym(RTLD_NEXT, "fopen");
  return strstr(path, "boot_id") ? NULL : real(path, mode);
}
