// MPI's collectives. Each waits for all ranks.
#include <fmt/core.h>
#include <mpi.h>
#include <cstring>

#include "schedule/result.h"
#include "tests/net/world.h"

namespace quadrille::net {

void meet(Communicator& comm, const std::string& name, void* argument,
          const std::function<void(std::vector<void*>&)>& act) {
  Event event{Event::Kind::kCollective};
  event.name = name;
  world->current().listing.push_back(event);
  const auto context = comm.context;
  const int64_t number = comm.collectives++;
  Context::Meeting& meeting = context->meetings[number];
  if (meeting.arguments.empty()) meeting.arguments.resize(context->members.size());
  if (meeting.arrived == 0) meeting.name = name;
  if (meeting.name != name)
    problem(fmt::format("this rank calls {} where another calls {}", name, meeting.name));
  meeting.arguments[static_cast<size_t>(comm.place)] = argument;
  if (++meeting.arrived == comm.all()) {
    act(meeting.arguments);
    meeting.is_over = true;
  }
  wait_until([&meeting] { return meeting.is_over; }, "all ranks to call " + name);
  if (++meeting.left == comm.all()) context->meetings.erase(number);
}

namespace {

struct Sides {
  const void* in;
  void* out;
};

// Returns the communicator for a collective that is simulated on one group only.
Communicator* find_group(MPI_Comm handle) {
  Communicator* const comm = find_communicator(handle);
  check(!comm || !comm->is_between_groups(), "this collective between groups is not simulated");
  return comm;
}

const void* input_of(const void* argument) {
  const Sides& sides = *static_cast<const Sides*>(argument);
  return sides.in == MPI_IN_PLACE ? sides.out : sides.in;
}

// Combines the contributions in their order.
std::vector<char> reduce(const std::vector<void*>& those, int count, MPI_Datatype type, MPI_Op op) {
  const auto bytes = static_cast<size_t>(count * type_of(type)->size);
  std::vector<char> result(bytes), left(bytes);
  for (size_t i = those.size(); i-- > 0 && bytes > 0;) {
    std::memcpy(i + 1 == those.size() ? result.data() : left.data(), input_of(those[i]), bytes);
    if (i + 1 < those.size()) combine(left.data(), result.data(), count, type, op);
  }
  return result;
}

void give(const std::vector<void*>& those, const std::vector<char>& bytes) {
  for (void* argument : those)
    if (!bytes.empty()) std::memcpy(static_cast<Sides*>(argument)->out, bytes.data(), bytes.size());
}

int64_t bytes_of(int count, MPI_Datatype type) { return count * type_of(type)->size; }

}  // namespace
}  // namespace quadrille::net

using namespace quadrille::net;  // NOLINT(google-build-using-namespace): functions outside any

extern "C" {

SIMULATED(Barrier, MPI_Comm handle) {
  Communicator* const comm = find_communicator(handle);
  if (!comm) return MPI_ERR_COMM;
  meet(*comm, "barrier", nullptr, [](std::vector<void*>&) {});
  return MPI_SUCCESS;
}

SIMULATED(Allreduce, const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
          MPI_Comm handle) {
  Communicator* const comm = find_communicator(handle);
  if (!comm) return MPI_ERR_COMM;
  if (!is_operator_for(op, type_of(type))) return raise(handle, MPI_ERR_OP);
  Sides sides{in, out};
  meet(*comm, fmt::format("allreduce of {} bytes", bytes_of(count, type)), &sides,
       [&](std::vector<void*>& all) {
         // Between groups, each group gets the result of the other.
         const auto middle = all.begin() + comm->context->low;
         const std::vector<void*> low(all.begin(), middle), high(middle, all.end());
         const std::vector<char> of_high = reduce(high, count, type, op);
         const std::vector<char> of_low = reduce(low, count, type, op);
         give(high, low.empty() ? of_high : of_low);
         give(low, of_high);
       });
  return MPI_SUCCESS;
}

SIMULATED(Bcast, void* buffer, int count, MPI_Datatype type, int root, MPI_Comm handle) {
  Communicator* const comm = find_group(handle);
  if (!comm) return MPI_ERR_COMM;
  meet(*comm, fmt::format("broadcast of {} bytes", bytes_of(count, type)), buffer,
       [&](std::vector<void*>& all) {
         for (void* to : all)
           std::memmove(to, all[static_cast<size_t>(root)],
                        static_cast<size_t>(bytes_of(count, type)));
       });
  return MPI_SUCCESS;
}

SIMULATED(Allgather, const void* in, int count, MPI_Datatype type, void* out, int, MPI_Datatype,
          MPI_Comm handle) {
  Communicator* const comm = find_group(handle);
  if (!comm) return MPI_ERR_COMM;
  quadrille::check(in != MPI_IN_PLACE, "an allgather in place is not simulated");
  Sides sides{in, out};
  const auto bytes = static_cast<size_t>(bytes_of(count, type));
  meet(*comm, fmt::format("allgather of {} bytes", bytes), &sides, [&](std::vector<void*>& all) {
    for (size_t from = 0; from < all.size(); ++from)
      for (void* to : all)
        std::memcpy(static_cast<char*>(static_cast<Sides*>(to)->out) + from * bytes,
                    static_cast<Sides*>(all[from])->in, bytes);
  });
  return MPI_SUCCESS;
}

SIMULATED(Alltoall, const void* in, int count, MPI_Datatype type, void* out, int, MPI_Datatype,
          MPI_Comm handle) {
  Communicator* const comm = find_group(handle);
  if (!comm) return MPI_ERR_COMM;
  quadrille::check(in != MPI_IN_PLACE, "an all-to-all in place is not simulated");
  Sides sides{in, out};
  const auto bytes = static_cast<size_t>(bytes_of(count, type));
  meet(*comm, fmt::format("all-to-all of {} bytes", bytes), &sides, [&](std::vector<void*>& all) {
    for (size_t from = 0; from < all.size(); ++from)
      for (size_t to = 0; to < all.size(); ++to)
        std::memcpy(static_cast<char*>(static_cast<Sides*>(all[to])->out) + from * bytes,
                    static_cast<const char*>(static_cast<Sides*>(all[from])->in) + to * bytes,
                    bytes);
  });
  return MPI_SUCCESS;
}

}  // extern "C"
