// Before MPI_Init and after MPI_Finalize, the library loads and frees schedules, and its errors have their text.
// Functions that need MPI return an error and do not abort.
#include <mpi.h>

#include <cstdio>
#include <cstring>

#include "runtime/quadrille.h"

namespace {

int checks, failures;

void check(bool holds, const char* what) {
  ++checks;
  if (holds) return;
  ++failures;
  std::printf("lifetime_test: %s\n", what);
}

bool last_error_has(const char* part) {
  char text[256];
  quadrille_last_error(text, sizeof text);
  return std::strstr(text, part) != nullptr;
}

bool call_is_refused(quadrille_schedule schedule, const char* why) {
  int from = 1, to = 0;
  return quadrille_bind(schedule, MPI_COMM_WORLD, nullptr) != MPI_SUCCESS && last_error_has(why) &&
         quadrille_alltoall(schedule, &from, 1, MPI_INT, &to, 1, MPI_INT, MPI_COMM_WORLD) !=
             MPI_SUCCESS &&
         last_error_has(why);
}

}  // namespace

int main(int argc, char** argv) {
  quadrille_schedule schedule, missing;
  char text[8] = "text";
  quadrille_last_error(text, sizeof text);
  check(text[0] == 0, "there is no error before the first");
  check(quadrille_load_file("tests/mpi/schedules/factor_1.qs", &schedule) == MPI_SUCCESS,
        "a schedule loads before MPI_Init");
  const int code = quadrille_load_file("no/such.qs", &missing);
  check(quadrille_error_class(code) == MPI_ERR_NO_SUCH_FILE, "a missing file has its class");
  check(last_error_has("no/such.qs: No such file"), "a missing file has its text");
  quadrille_last_error(text, sizeof text);
  check(std::strcmp(text, "quadril") == 0, "a text is cut off where there is no more room");
  check(quadrille_free(&missing) == MPI_SUCCESS, "what did not load is freed");
  check(call_is_refused(schedule, "call MPI_Init first"), "a call before MPI_Init is refused");

  MPI_Init(&argc, &argv);
  int rank = 0, from = 7, to = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  check(quadrille_alltoall(schedule, &from, 1, MPI_INT, &to, 1, MPI_INT, MPI_COMM_SELF) ==
                MPI_SUCCESS &&
            to == 7,
        "a schedule from before MPI_Init runs");
  MPI_Comm own;
  quadrille_request request;
  const int one = 1, none = 0;
  MPI_Comm_dup(MPI_COMM_SELF, &own);
  check(quadrille_alltoallv_init(schedule, &from, &one, &none, MPI_INT, &to, &one, &none, MPI_INT,
                                 own, MPI_INFO_NULL, &request) == MPI_SUCCESS,
        "a persistent call is made");
  MPI_Comm_free(&own);
  quadrille_request lost;
  check(quadrille_alltoall_init(schedule, &from, 1, MPI_INT, &to, 1, MPI_INT, MPI_COMM_SELF,
                                MPI_INFO_NULL, &lost) == MPI_SUCCESS &&
            quadrille_start(lost) == MPI_SUCCESS,
        "a persistent call is started before MPI_Finalize");
  MPI_Finalize();

  check(quadrille_error_class(quadrille_start(request)) == MPI_ERR_REQUEST &&
            last_error_has("MPI_Finalize"),
        "a persistent call is not started after MPI_Finalize");
  check(quadrille_free_request(&request) == MPI_SUCCESS,
        "a persistent call whose communicator is gone is freed after MPI_Finalize");

  check(quadrille_error_class(quadrille_wait(lost)) == MPI_ERR_REQUEST &&
            last_error_has("MPI_Finalize"),
        "a persistent call is not waited for after MPI_Finalize");
  check(quadrille_free_request(&lost) == MPI_SUCCESS,
        "a persistent call that was in flight is freed after MPI_Finalize");
  check(call_is_refused(schedule, "MPI_Finalize"), "a call after MPI_Finalize is refused");
  check(quadrille_free(&schedule) == MPI_SUCCESS, "a schedule is freed after MPI_Finalize");
  check(quadrille_free(&schedule) != MPI_SUCCESS && last_error_has("null or was freed"),
        "errors after MPI_Finalize have their text");
  if (failures == 0) std::printf("rank %d ran %d tests, all passed\n", rank, checks);
  return failures != 0;
}
