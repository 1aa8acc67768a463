// Products of 2 x 2 matrices of bytes modulo 256 are associative and do not commute. An operator finds the layout of
// its elements by the datatype that MPI passes to it. A datatype that no element has is a failure.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "tests/mpi/buffer.h"

namespace quadrille::mpi {
namespace {

void add_integers(const uint8_t* left, uint8_t* right) {
  uint32_t a, b;
  std::memcpy(&a, left, sizeof a);
  std::memcpy(&b, right, sizeof b);
  b += a;
  std::memcpy(right, &b, sizeof b);
}

// Takes pairs of a value and an index. The greater value wins; of two equal values, the one with the lesser index.
void greater_pair(const uint8_t* left, uint8_t* right) {
  int32_t a[2], b[2];
  std::memcpy(a, left, sizeof a);
  std::memcpy(b, right, sizeof b);
  if (a[0] > b[0] || (a[0] == b[0] && a[1] < b[1])) std::memcpy(right, a, sizeof a);
}

void flip_bits(const uint8_t* left, uint8_t* right) { *right ^= *left; }

void add_bytes(const uint8_t* left, uint8_t* right) {
  for (int i = 0; i < 4; ++i) right[i] = static_cast<uint8_t>(right[i] + left[i]);
}

void multiply(const uint8_t* a, uint8_t* right) {
  const uint8_t b[4] = {right[0], right[1], right[2], right[3]};
  for (int row = 0; row < 2; ++row)
    for (int column = 0; column < 2; ++column)
      right[2 * row + column] =
          static_cast<uint8_t>(a[2 * row] * b[column] + a[2 * row + 1] * b[2 + column]);
}

// Returns the byte offsets of an element in packed order. This also works for a duplicate of the type.
std::vector<ptrdiff_t> offsets_of(MPI_Datatype type) {
  uint8_t memory[16], packed[sizeof memory];
  int size = 0;
  std::iota(std::begin(memory), std::end(memory), uint8_t{0});
  MPI_Pack(memory, 1, type, packed, sizeof packed, &size, MPI_COMM_SELF);
  return {packed, packed + size};
}

template <auto kCombine>
void on_memory(void* in, void* inout, int* count, MPI_Datatype* type) {
  const auto& all = elements();
  const std::vector<ptrdiff_t> offsets = offsets_of(*type);
  const auto found = std::ranges::find_if(all, [&](const Element& element) {
    return element.shape.offsets == offsets && element.combine == kCombine;
  });
  if (found == all.end()) {
    ADD_FAILURE() << "an operator is called for a datatype that it is not for";
    return;
  }
  const Shape& shape = found->shape;
  for (int i = 0; i < *count; ++i) {
    uint8_t* const a = static_cast<uint8_t*>(in) + i * shape.extent;
    uint8_t* const b = static_cast<uint8_t*>(inout) + i * shape.extent;
    uint8_t left[4], right[4];
    for (size_t k = 0; k < 4; ++k) {
      left[k] = a[shape.offsets[k]];
      right[k] = b[shape.offsets[k]];
    }
    kCombine(left, right);
    for (size_t k = 0; k < 4; ++k) b[shape.offsets[k]] = right[k];
  }
}

template <auto kCombine>
MPI_Op operation_of(bool commutes) {
  MPI_Op made;
  MPI_Op_create(on_memory<kCombine>, commutes, &made);
  return made;
}

// Returns a shape of four bytes at these offsets.
Shape bytes_at(const std::string& name, const std::vector<ptrdiff_t>& offsets, ptrdiff_t extent) {
  const std::vector<int> lengths(offsets.size(), 1);
  const std::vector<MPI_Aint> displacements(offsets.begin(), offsets.end());
  MPI_Datatype all, type;
  MPI_Type_create_hindexed(static_cast<int>(offsets.size()), lengths.data(), displacements.data(),
                           MPI_BYTE, &all);
  MPI_Type_create_resized(all, 0, extent, &type);
  MPI_Type_free(&all);
  MPI_Type_commit(&type);
  return {name, type, 1, offsets, extent};
}

std::vector<Element> made() {
  const MPI_Op product = operation_of<multiply>(false), sum = operation_of<add_bytes>(true);
  const Shape gaps = bytes_at("with gaps", {0, 1, 6, 7}, 10);
  return {
      {{"ints", MPI_INT, 1, {0, 1, 2, 3}, 4}, MPI_SUM, true, add_integers},
      {{"bytes", MPI_BYTE, 1, {0}, 1}, MPI_BXOR, true, flip_bits},
      {gaps, sum, true, add_bytes},
      {gaps, product, false, multiply},
      {bytes_at("without gaps", {0, 1, 2, 3}, 4), product, false, multiply},
      {bytes_at("backwards", {3, 2, 1, 0}, 4), product, false, multiply},
      {bytes_at("behind gaps", {5, 2, 8, 9}, 12), product, false, multiply},
      {{"pairs", MPI_2INT, 1, {0, 1, 2, 3, 4, 5, 6, 7}, 8}, MPI_MAXLOC, true, greater_pair},
  };
}

}  // namespace

const std::vector<Element>& elements() {
  static const std::vector<Element> kAll = made();
  return kAll;
}

}  // namespace quadrille::mpi
