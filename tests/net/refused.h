// Refusals on a communicator with the user's error handler. Each gives one sentence, and one call of the handler.
#pragma once

#include <functional>
#include <string>

#include "tests/net/jobs.h"

namespace quadrille::net {

// One rank of a job in which every rank expects an error of the same class.
class Place {
 public:
  Place(MPI_Comm comm);
  operator MPI_Comm() const { return comm_; }
  const int own, all;
  bool is_last() const { return own == all - 1; }
  // Returns the text for this rank if only `rank` sees the mistake.
  std::string at(int rank, const std::string& part) const {
    return own == rank ? part : "another rank";
  }
  // Expects this error on this rank.
  void expect_refused(int code, int error_class, const std::string& part);
  // Expects that binding is refused. Without options it also expects that of a call, which binds by itself.
  void expect_unbound(quadrille_schedule schedule, const quadrille_bind_options* options,
                      int error_class, const std::string& part);

 private:
  MPI_Comm comm_;
};

void expect_one_sentence();

// Runs `body` on that many ranks, on these nodes. Afterwards the communicator must still serve a right schedule.
void on_ranks(int ranks, const std::function<void(Place&)>& body,
              const std::vector<int>& node_of = {});
// Runs on two, three and six ranks.
void on_ranks(const std::function<void(Place&)>& body);

}  // namespace quadrille::net
