/* MPICH polls for messages without yielding its core to other ranks. With more ranks than cores, this makes a rank
 * that has found nothing for a while sleep a little: seconds of waiting become milliseconds. It is linked into the
 * test programs, before UCX's own function. */
#include <dlfcn.h>
#include <sched.h>
#include <string.h>
#include <time.h>

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*progress)(void*);
  static _Thread_local int empty;
  if (!progress) {
    void* const found = dlsym(RTLD_NEXT, "ucp_worker_progress");
    memcpy(&progress, &found, sizeof progress);
  }
  const unsigned done = progress(worker);
  if (done > 0) {
    empty = 0;
  } else if (++empty < 20) {
    sched_yield();
  } else {
    const struct timespec moment = {0, 20000};
    nanosleep(&moment, NULL);
  }
  return done;
}
