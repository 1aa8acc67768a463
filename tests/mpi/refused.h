// Refusals on a communicator with the user's error handler: one sentence, and one call of the handler.
#ifndef QUADRILLE_TESTS_MPI_REFUSED_H_
#define QUADRILLE_TESTS_MPI_REFUSED_H_

#include <gtest/gtest.h>

#include <cstring>

#include "tests/mpi/world.h"

namespace quadrille::mpi {

class Refused : public testing::Test {
 protected:
  void SetUp() override {
    MPI_Comm_create_errhandler(handler, &errhandler_);
    MPI_Comm_set_errhandler(comm_, errhandler_);
    handled_ = 0;
  }
  void TearDown() override { MPI_Errhandler_free(&errhandler_); }

  // Expects this refusal on one rank.
  void expect_refusal(int code, int error_class, const std::string& part) {
    expect_error(code, error_class, part);
    expect_one_sentence();
    EXPECT_EQ(handled_, 1);
    EXPECT_EQ(handled_code_, code);
    handled_ = 0;
  }

  // The same, if every rank calls with that class of error.
  void expect_refusal_everywhere(int code, int error_class, const std::string& part) {
    expect_refusal(code, error_class, part);
    expect_error_everywhere(MPI_COMM_WORLD, code, error_class);
  }

  // The number of the handler's calls since the last refusal.
  static int handled() { return handled_; }

  // "quadrille: ...", on one line, and complete.
  static void expect_one_sentence() {
    const std::string text = last_error();
    EXPECT_EQ(text.rfind("quadrille: ", 0), 0u) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    EXPECT_LT(text.size(), 255u) << text;
  }

  const Communicator comm_{MPI_COMM_WORLD, 0, rank_in(MPI_COMM_WORLD)};

 private:
  static void handler(MPI_Comm*, int* code, ...) {
    ++handled_;
    handled_code_ = *code;
  }

  static inline int handled_, handled_code_;
  MPI_Errhandler errhandler_;
};

}  // namespace quadrille::mpi

#endif  // QUADRILLE_TESTS_MPI_REFUSED_H_
