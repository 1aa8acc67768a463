// Schedules, communicators and errors for tests over any MPI library.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/quadrille.h"

namespace quadrille::mpi {

int rank_in(MPI_Comm comm);
int ranks_of(MPI_Comm comm);
// Return the rank of this process and the number of ranks, in MPI_COMM_WORLD.
inline int own() { return rank_in(MPI_COMM_WORLD); }
inline int all() { return ranks_of(MPI_COMM_WORLD); }

// A schedule that the constructor loads and the destructor frees.
class Schedule {
 public:
  explicit Schedule(const std::string& path);
  explicit Schedule(const std::vector<uint8_t>& file);
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
  ~Schedule();
  operator quadrille_schedule() const { return handle_; }
  void free();

 private:
  quadrille_schedule handle_ = QUADRILLE_SCHEDULE_NULL;
};

quadrille_schedule_info info_of(quadrille_schedule schedule);

// Returns options that trust the schedule's placement of ranks. So the schedule fits any machine.
quadrille_bind_options trusted(int window = 0, int synchronous = 0, int64_t block_size = 0);

// A communicator that returns errors, and that the destructor frees: a given one, or one that MPI_Comm_split makes.
class Communicator {
 public:
  explicit Communicator(MPI_Comm given);
  Communicator(MPI_Comm of, int color, int key);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator();
  operator MPI_Comm() const { return comm_; }
  void free();

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

// Returns an intercommunicator between the first `first` ranks of MPI_COMM_WORLD and the others.
inline MPI_Comm between_groups(int first) {
  const bool is_second = own() >= first;
  const Communicator group(MPI_COMM_WORLD, is_second, own());
  MPI_Comm between;
  MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, is_second ? 0 : first, 1, &between);
  MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
  return between;
}

std::string last_error();
// Expects an error of this class, whose text contains `part`. Over Open MPI, MPI_Error_string gives the same text.
void expect_error(int code, int error_class, const std::string& part);

}  // namespace quadrille::mpi
