// The datatypes of the tests: MPI makes each, and a list of byte offsets repeats it.
#include "tests/mpi/buffer.h"

namespace quadrille::mpi {
namespace {

// Returns the offsets of all bytes of the given parts: (offset, number of bytes).
std::vector<ptrdiff_t> bytes_at(const std::vector<std::pair<ptrdiff_t, int>>& parts) {
  std::vector<ptrdiff_t> offsets;
  for (const auto& [start, length] : parts)
    for (int i = 0; i < length; ++i) offsets.push_back(start + i);
  return offsets;
}

MPI_Datatype commit(MPI_Datatype type) {
  MPI_Type_commit(&type);
  return type;
}

MPI_Datatype vector_of_ints(int stride) {
  MPI_Datatype type;
  MPI_Type_vector(2, 1, stride, MPI_INT, &type);
  return commit(type);
}

MPI_Datatype resized(MPI_Datatype type, MPI_Aint lower, MPI_Aint extent) {
  MPI_Datatype result;
  MPI_Type_create_resized(type, lower, extent, &result);
  MPI_Type_free(&type);
  return commit(result);
}

MPI_Datatype ints_at(MPI_Aint first, MPI_Aint second) {
  const int lengths[2] = {1, 1};
  const MPI_Aint displacements[2] = {first, second};
  MPI_Datatype type;
  MPI_Type_create_hindexed(2, lengths, displacements, MPI_INT, &type);
  return commit(type);
}

MPI_Datatype mixed_at(MPI_Aint character, MPI_Aint real, MPI_Aint integer) {
  const int lengths[3] = {1, 1, 1};
  const MPI_Aint displacements[3] = {character, real, integer};
  const MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
  MPI_Datatype type;
  MPI_Type_create_struct(3, lengths, displacements, types, &type);
  return commit(type);
}

MPI_Datatype pair_of_ints() {
  MPI_Datatype type;
  MPI_Type_contiguous(2, MPI_INT, &type);
  return commit(type);
}

std::vector<Shape> integers, mixed;

}  // namespace

const std::vector<Shape>& integer_shapes() {
  if (!integers.empty()) return integers;
  const ptrdiff_t far = 1 << 14;
  integers = {
      {"ints", MPI_INT, 2, bytes_at({{0, 4}}), 4},
      {"contiguous pair", pair_of_ints(), 1, bytes_at({{0, 8}}), 8},
      {"vector", vector_of_ints(3), 1, bytes_at({{0, 4}, {12, 4}}), 16},
      {"vector backwards", vector_of_ints(-3), 1, bytes_at({{0, 4}, {-12, 4}}), 16},
      {"negative lower bound", ints_at(-8, 4), 1, bytes_at({{-8, 4}, {4, 4}}), 16},
      {"last int first", ints_at(4, 0), 1, bytes_at({{4, 4}, {0, 4}}), 8},
      {"padded", resized(ints_at(4, 12), -8, 40), 1, bytes_at({{4, 4}, {12, 4}}), 40},
      {"interleaved columns", resized(ints_at(0, far), 0, 4), 1, bytes_at({{0, 4}, {far, 4}}), 4},
  };
  return integers;
}

const std::vector<Shape>& mixed_shapes() {
  if (mixed.empty())
    mixed = {
        {"struct", resized(mixed_at(0, 8, 16), 0, 24), 1, bytes_at({{0, 1}, {8, 8}, {16, 4}}), 24},
        {"struct in another order", resized(mixed_at(12, 0, -4), -4, 20), 1,
         bytes_at({{12, 1}, {0, 8}, {-4, 4}}), 20},
    };
  return mixed;
}

}  // namespace quadrille::mpi
