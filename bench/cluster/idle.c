/* idle.so, for LD_PRELOAD: lets MPI processes that wait give up their core.
 *
 * Open MPI and MPICH poll for messages without end. With more ranks than cores, a measurement would show the polling
 * instead of the network. With this library, a process sleeps after a few polls that found nothing. It sleeps in
 * ppoll on the MPI library's epoll descriptors, for 100 us at most. TCP messages wake it at once. Messages in shared
 * memory wait until it wakes.
 *
 * It hooks epoll_wait and sched_yield for Open MPI (with mpi_yield_when_idle 1 and opal_event_include epoll), and
 * ucp_worker_progress for MPICH over UCX. */
#include <dlfcn.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { DESCRIPTORS = 8, PATIENCE = 3, NAP_NANOSECONDS = 100000, SLACK_NANOSECONDS = 1000 };

static struct pollfd watched[DESCRIPTORS];
static int watched_count;
static __thread int in_vain; /* polls in a row that found nothing */

/* Notes a descriptor to sleep on. Only the main thread's polls without a timeout belong to the library's progress. */
static void watch(int epoll) {
  if (syscall(SYS_gettid) != getpid()) return;
  for (int i = 0; i < watched_count; i++)
    if (watched[i].fd == epoll) return;
  if (watched_count < DESCRIPTORS) watched[watched_count++] = (struct pollfd){epoll, POLLIN, 0};
}

static void rest(void) {
  static int prepared;
  if (!prepared) prepared = prctl(PR_SET_TIMERSLACK, SLACK_NANOSECONDS) == 0;
  if (++in_vain <= PATIENCE) {
    syscall(SYS_sched_yield);
    return;
  }
  struct timespec nap = {0, NAP_NANOSECONDS};
  if (syscall(SYS_ppoll, watched, watched_count, &nap, NULL, 0) > 0) in_vain = 0;
}

int epoll_wait(int epoll, struct epoll_event* events, int room, int timeout) {
  static int (*real)(int, struct epoll_event*, int, int);
  if (!real) real = (int (*)(int, struct epoll_event*, int, int))dlsym(RTLD_NEXT, "epoll_wait");
  if (timeout == 0) watch(epoll);
  const int ready = real(epoll, events, room, timeout);
  if (ready > 0) in_vain = 0;
  return ready;
}

int sched_yield(void) {
  rest();
  return 0;
}

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*real)(void*);
  if (!real) real = (unsigned (*)(void*))dlsym(RTLD_NEXT, "ucp_worker_progress");
  const unsigned progress = real(worker);
  if (progress > 0)
    in_vain = 0;
  else
    rest();
  return progress;
}
