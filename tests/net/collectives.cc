// MPI's collectives, each of which waits for all ranks, and error codes.
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
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
  meeting.arguments[static_cast<size_t>(comm.rank)] = argument;
  if (++meeting.arrived == comm.size()) {
    act(meeting.arguments);
    meeting.is_over = true;
  }
  wait_until([&meeting] { return meeting.is_over; }, "all ranks to call " + name);
  if (++meeting.left == comm.size()) context->meetings.erase(number);
}

namespace {

struct Sides {
  const void* in;
  void* out;
};

bool is_unsigned(MPI_Datatype type) {
  return type == MPI_UINT64_T || type == MPI_UINT32_T || type == MPI_UNSIGNED ||
         type == MPI_UNSIGNED_LONG || type == MPI_UNSIGNED_LONG_LONG || type == MPI_BYTE ||
         type == MPI_UINT8_T || type == MPI_UNSIGNED_CHAR;
}

template <typename T>
T combine(MPI_Op op, T a, T b) {
  switch (op) {
    case MPI_MAX: return std::max(a, b);
    case MPI_MIN: return std::min(a, b);
    case MPI_SUM: return static_cast<T>(a + b);
    case MPI_LAND: return a && b;
    case MPI_LOR: return a || b;
    case MPI_BAND: return static_cast<T>(a & b);
    case MPI_BOR: return static_cast<T>(a | b);
    default: check(false, "this operator is not simulated"); return a;
  }
}

template <typename T>
void reduce_as(const std::vector<void*>& all, int count, MPI_Op op) {
  std::vector<T> result(static_cast<size_t>(count)), next(result);
  for (size_t r = 0; r < all.size(); ++r) {
    const Sides& sides = *static_cast<Sides*>(all[r]);
    const void* const in = sides.in == MPI_IN_PLACE ? sides.out : sides.in;
    if (count > 0) std::memcpy(next.data(), in, sizeof(T) * next.size());
    for (size_t i = 0; i < next.size(); ++i)
      result[i] = r == 0 ? next[i] : combine(op, result[i], next[i]);
  }
  for (void* argument : all)
    if (count > 0)
      std::memcpy(static_cast<Sides*>(argument)->out, result.data(), sizeof(T) * result.size());
}

void reduce(const std::vector<void*>& all, int count, MPI_Datatype type, MPI_Op op) {
  const auto size = type_of(type)->size;
  const bool is_positive = is_unsigned(type);
  if (size == 8 && is_positive) return reduce_as<uint64_t>(all, count, op);
  if (size == 8) return reduce_as<int64_t>(all, count, op);
  if (size == 4 && is_positive) return reduce_as<uint32_t>(all, count, op);
  if (size == 4) return reduce_as<int32_t>(all, count, op);
  check(size == 1, "integers of this size are not simulated");
  return reduce_as<uint8_t>(all, count, op);
}

int64_t bytes_of(int count, MPI_Datatype type) { return count * type_of(type)->size; }

}  // namespace
}  // namespace quadrille::net

using namespace quadrille::net;  // NOLINT(google-build-using-namespace): functions outside any

extern "C" {

int MPI_Barrier(MPI_Comm handle) {
  Communicator* const comm = find_communicator(handle);
  if (!comm) return MPI_ERR_COMM;
  meet(*comm, "barrier", nullptr, [](std::vector<void*>&) {});
  return MPI_SUCCESS;
}

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm handle) {
  Communicator* const comm = find_communicator(handle);
  if (!comm) return MPI_ERR_COMM;
  Sides sides{in, out};
  meet(*comm, fmt::format("allreduce of {} bytes", bytes_of(count, type)), &sides,
       [&](std::vector<void*>& all) { reduce(all, count, type, op); });
  return MPI_SUCCESS;
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm handle) {
  Communicator* const comm = find_communicator(handle);
  if (!comm) return MPI_ERR_COMM;
  meet(*comm, fmt::format("broadcast of {} bytes", bytes_of(count, type)), buffer,
       [&](std::vector<void*>& all) {
         for (void* to : all)
           std::memmove(to, all[static_cast<size_t>(root)],
                        static_cast<size_t>(bytes_of(count, type)));
       });
  return MPI_SUCCESS;
}

int MPI_Allgather(const void* in, int count, MPI_Datatype type, void* out, int, MPI_Datatype,
                  MPI_Comm handle) {
  Communicator* const comm = find_communicator(handle);
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

int MPI_Alltoall(const void* in, int count, MPI_Datatype type, void* out, int, MPI_Datatype,
                 MPI_Comm handle) {
  Communicator* const comm = find_communicator(handle);
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
