// MPI's operators: some predefined ones for integers and bytes, and operators that a test makes for any type.
#include <mpi.h>

#include <algorithm>
#include <cstring>

#include "schedule/result.h"
#include "tests/net/world.h"

namespace quadrille::net {
namespace {

constexpr unsigned kMade = 0x98000000u;

struct Operator {
  MPI_User_function* function;  // null once freed
  bool commutes;
};
std::vector<Operator> operators;  // of the process, because tests make their operators once

Operator* find_operator(MPI_Op op) {
  const size_t index = static_cast<unsigned>(op) - kMade;
  return index < operators.size() && operators[index].function ? &operators[index] : nullptr;
}

bool is_built_in(MPI_Op op) {
  switch (op) {
    case MPI_MAX:
    case MPI_MIN:
    case MPI_SUM:
    case MPI_PROD:
    case MPI_LAND:
    case MPI_BAND:
    case MPI_LOR:
    case MPI_BOR:
    case MPI_LXOR:
    case MPI_MAXLOC:
    case MPI_BXOR: return true;
    default: return false;
  }
}

bool is_unsigned(MPI_Datatype type) {
  return type == MPI_UINT64_T || type == MPI_UINT32_T || type == MPI_UNSIGNED ||
         type == MPI_UNSIGNED_LONG || type == MPI_UNSIGNED_LONG_LONG || type == MPI_BYTE ||
         type == MPI_UINT8_T || type == MPI_UNSIGNED_CHAR;
}

// Combines two numbers. Sums and products wrap.
template <typename T>
T combined(MPI_Op op, T a, T b) {
  switch (op) {
    case MPI_MAX: return std::max(a, b);
    case MPI_MIN: return std::min(a, b);
    case MPI_SUM: return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    case MPI_PROD: return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    case MPI_LAND: return a && b;
    case MPI_LOR: return a || b;
    case MPI_LXOR: return !a != !b;
    case MPI_BAND: return static_cast<T>(a & b);
    case MPI_BOR: return static_cast<T>(a | b);
    default: return static_cast<T>(a ^ b);
  }
}

template <typename T>
void combine_as(const void* in, void* inout, int count, MPI_Op op) {
  std::vector<T> left(static_cast<size_t>(count)), right(left);
  std::memcpy(left.data(), in, sizeof(T) * left.size());
  std::memcpy(right.data(), inout, sizeof(T) * right.size());
  for (size_t i = 0; i < left.size(); ++i) right[i] = combined(op, left[i], right[i]);
  std::memcpy(inout, right.data(), sizeof(T) * right.size());
}

// Combines pairs of integers. The greater first integer wins; of two equal ones, the one with the lesser second
// integer.
void combine_pairs(const void* in, void* inout, int count) {
  for (int i = 0; i < 2 * count; i += 2) {
    int32_t a[2], b[2];
    std::memcpy(a, static_cast<const int32_t*>(in) + i, sizeof a);
    std::memcpy(b, static_cast<const int32_t*>(inout) + i, sizeof b);
    if (a[0] > b[0] || (a[0] == b[0] && a[1] < b[1]))
      std::memcpy(static_cast<int32_t*>(inout) + i, a, sizeof a);
  }
}

void combine_built_in(const void* in, void* inout, int count, MPI_Datatype type, MPI_Op op) {
  if (op == MPI_MAXLOC) return combine_pairs(in, inout, count);
  const int64_t size = type_of(type)->size;
  const bool is_positive = is_unsigned(type);
  if (size == 8 && is_positive) return combine_as<uint64_t>(in, inout, count, op);
  if (size == 8) return combine_as<int64_t>(in, inout, count, op);
  if (size == 4 && is_positive) return combine_as<uint32_t>(in, inout, count, op);
  if (size == 4) return combine_as<int32_t>(in, inout, count, op);
  check(size == 1, "integers of this size are not simulated");
  return combine_as<uint8_t>(in, inout, count, op);
}

}  // namespace

bool is_operator_for(MPI_Op op, const TypeRef& type) {
  return find_operator(op) || (is_built_in(op) && type->named != MPI_DATATYPE_NULL &&
                               (op == MPI_MAXLOC) == (type->named == MPI_2INT));
}

void combine(const void* in, void* inout, int count, MPI_Datatype type, MPI_Op op) {
  if (count == 0) return;
  if (const Operator* const made = find_operator(op))
    made->function(const_cast<void*>(in), inout, &count, &type);
  else
    combine_built_in(in, inout, count, type, op);
}

}  // namespace quadrille::net

using namespace quadrille::net;  // NOLINT(google-build-using-namespace): functions outside any

extern "C" {

SIMULATED(Op_create, MPI_User_function* function, int commutes, MPI_Op* op) {
  *op = static_cast<MPI_Op>(kMade + static_cast<unsigned>(operators.size()));
  operators.push_back({function, commutes != 0});
  return MPI_SUCCESS;
}

// The function has no communicator, so MPI_COMM_WORLD gets the error, as in MPICH.
SIMULATED(Op_commutative, MPI_Op op, int* commutes) {
  const Operator* const made = find_operator(op);
  if (!made && !is_built_in(op)) return raise(MPI_COMM_WORLD, MPI_ERR_OP);
  *commutes = !made || made->commutes;
  return MPI_SUCCESS;
}

SIMULATED(Reduce_local, const void* in, void* inout, int count, MPI_Datatype handle, MPI_Op op) {
  const TypeRef type = type_of(handle);
  if (!find_operator(op) && !is_built_in(op)) return raise(MPI_COMM_WORLD, MPI_ERR_OP);
  if (!type) return raise(MPI_COMM_WORLD, MPI_ERR_TYPE);
  if (count < 0) return raise(MPI_COMM_WORLD, MPI_ERR_COUNT);
  if (!is_operator_for(op, type)) {
    problem("an operator that MPI has by itself is used with a datatype that it is not for");
    return MPI_ERR_OP;
  }
  const Data left{reinterpret_cast<uintptr_t>(in), count, type};
  const Data right{reinterpret_cast<uintptr_t>(inout), count, type};
  if (overlap(left.intervals(), right.intervals())) {
    problem("MPI_Reduce_local is called with buffers that overlap");
    return MPI_ERR_BUFFER;
  }
  combine(in, inout, count, handle, op);
  return MPI_SUCCESS;
}

}  // extern "C"
