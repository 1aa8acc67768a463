#include "tests/mpi/handles.h"

#include <gtest/gtest.h>

namespace quadrille::mpi {

int rank_in(MPI_Comm comm) {
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int ranks_of(MPI_Comm comm) {
  int ranks = -1;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}

Schedule::Schedule(const std::string& path) {
  EXPECT_EQ(quadrille_load_file(path.c_str(), &handle_), MPI_SUCCESS) << path;
}

Schedule::Schedule(const std::vector<uint8_t>& file) {
  EXPECT_EQ(quadrille_load_memory(file.data(), file.size(), &handle_), MPI_SUCCESS);
}

Schedule::~Schedule() { free(); }

void Schedule::free() {
  if (handle_ == QUADRILLE_SCHEDULE_NULL) return;
  EXPECT_EQ(quadrille_free(&handle_), MPI_SUCCESS);
}

quadrille_schedule_info info_of(quadrille_schedule schedule) {
  quadrille_schedule_info info{};
  info.size = sizeof info;
  EXPECT_EQ(quadrille_info(schedule, &info), MPI_SUCCESS);
  return info;
}

quadrille_bind_options trusted(int window, int synchronous, int64_t block_size) {
  return {sizeof(quadrille_bind_options), QUADRILLE_LAYOUT_TRUSTED, window, synchronous,
          block_size};
}

Communicator::Communicator(MPI_Comm given) : comm_(given) {
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
}

Communicator::Communicator(MPI_Comm of, int color, int key) {
  EXPECT_EQ(MPI_Comm_split(of, color, key, &comm_), MPI_SUCCESS);
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
}

Communicator::~Communicator() { free(); }

void Communicator::free() {
  if (comm_ == MPI_COMM_NULL) return;
  EXPECT_EQ(MPI_Comm_free(&comm_), MPI_SUCCESS);
}

std::string last_error() {
  char text[MPI_MAX_ERROR_STRING] = "";
  quadrille_last_error(text, sizeof text);
  return text;
}

void expect_error(int code, int error_class, const std::string& part) {
  [[maybe_unused]] char text[MPI_MAX_ERROR_STRING] = "";
  [[maybe_unused]] int length = 0;
  ASSERT_NE(code, MPI_SUCCESS) << "no error; expected: " << part;
  EXPECT_EQ(quadrille_error_class(code), error_class);
  EXPECT_NE(last_error().find(part), std::string::npos) << last_error();
  int mpi_class = 0;
  MPI_Error_class(code, &mpi_class);
  EXPECT_EQ(mpi_class, error_class);
#if defined(OPEN_MPI)
  MPI_Error_string(code, text, &length);
  EXPECT_EQ(text, last_error());
#endif
}

}  // namespace quadrille::mpi
