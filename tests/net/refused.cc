#include "tests/net/refused.h"

namespace quadrille::net {
namespace {

std::vector<std::vector<int>> handled;  // for each rank, the codes that its handler got

void handle(MPI_Comm*, int* code, ...) {
  handled[static_cast<size_t>(this_rank())].push_back(*code);
}

}  // namespace

Place::Place(MPI_Comm comm) : own(mpi::rank_in(comm)), all(mpi::ranks_of(comm)), comm_(comm) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
}

void expect_one_sentence() {
  const std::string text = last_error();
  EXPECT_TRUE(text.starts_with("quadrille: ")) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  EXPECT_LT(text.size(), 255u) << text;
}

void Place::expect_refused(int code, int error_class, const std::string& part) {
  mpi::expect_error(code, error_class, part);
  expect_one_sentence();
  EXPECT_EQ(std::exchange(handled[static_cast<size_t>(own)], {}), std::vector<int>{code}) << part;
}

void Place::expect_unbound(quadrille_schedule schedule, const quadrille_bind_options* options,
                           int error_class, const std::string& part) {
  expect_refused(quadrille_bind(schedule, comm_, options), error_class, part);
  int from[16] = {0}, to[16];
  if (options == nullptr)
    expect_refused(quadrille_alltoall(schedule, from, 1, MPI_INT, to, 1, MPI_INT, comm_),
                   error_class, part);
}

void on_ranks(int ranks, const std::function<void(Place&)>& body, const std::vector<int>& node_of) {
  testing::ScopedTrace trace(__FILE__, __LINE__, std::to_string(ranks) + " ranks");
  handled.assign(static_cast<size_t>(ranks), {});
  expect_no_problem({.ranks = ranks, .node_of = node_of}, [&](MPI_Comm comm) {
    Place here(comm);
    body(here);
    mpi::expect_works(Schedule(gathering("linear-ring", {ranks}).file), comm);
  });
}

void on_ranks(const std::function<void(Place&)>& body) {
  for (const int ranks : {2, 3, 6}) on_ranks(ranks, body);
}

}  // namespace quadrille::net
