// Refusals on a communicator with the user's error handler: one sentence, and one call of the handler.
#ifndef QUADRILLE_TESTS_NET_REFUSED_H_
#define QUADRILLE_TESTS_NET_REFUSED_H_

#include <functional>
#include <string>

#include "tests/net/jobs.h"

namespace quadrille::net {

// One rank of a job. Every rank expects the same class of error.
class Place {
 public:
  Place(MPI_Comm comm);
  operator MPI_Comm() const { return comm_; }
  const int own, all;
  bool is_last() const { return own == all - 1; }
  // The text on this rank if only one rank sees the mistake.
  std::string at(int rank, const std::string& part) const {
    return own == rank ? part : "another rank";
  }
  // Expects this refusal on this rank.
  void expect_refused(int code, int error_class, const std::string& part);
  // The same for a binding. A call binds as well, without options.
  void expect_unbound(quadrille_schedule schedule, const quadrille_bind_options* options,
                      int error_class, const std::string& part);

 private:
  MPI_Comm comm_;
};

void expect_one_sentence();

// Runs on so many ranks, on these nodes. Afterwards the communicator still serves a right schedule.
void on_ranks(int ranks, const std::function<void(Place&)>& body,
              const std::vector<int>& node_of = {});
// On two, three and six ranks.
void on_ranks(const std::function<void(Place&)>& body);

}  // namespace quadrille::net

#endif  // QUADRILLE_TESTS_NET_REFUSED_H_
