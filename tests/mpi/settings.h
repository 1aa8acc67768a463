// What collectives are called on: kinds of elements and operators, communicators of one group and of two, counts.
#ifndef QUADRILLE_TESTS_MPI_SETTINGS_H_
#define QUADRILLE_TESTS_MPI_SETTINGS_H_

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <numeric>

#include "tests/mpi/buffer.h"

namespace quadrille::mpi {

// Products of 2 x 2 matrices modulo a prime do not commute; elements have a gap behind the matrix.
struct Matrix {
  int32_t entries[4];
  int32_t gap;
};

inline void multiply(void* in, void* inout, int* length, MPI_Datatype*) {
  constexpr int64_t kPrime = 32749;
  auto* left = static_cast<Matrix*>(in);
  auto* right = static_cast<Matrix*>(inout);
  for (int i = 0; i < *length; ++i) {
    const int32_t *a = left[i].entries, *b = right[i].entries;
    const int32_t product[4] = {
        static_cast<int32_t>((int64_t{a[0]} * b[0] + int64_t{a[1]} * b[2]) % kPrime),
        static_cast<int32_t>((int64_t{a[0]} * b[1] + int64_t{a[1]} * b[3]) % kPrime),
        static_cast<int32_t>((int64_t{a[2]} * b[0] + int64_t{a[3]} * b[2]) % kPrime),
        static_cast<int32_t>((int64_t{a[2]} * b[1] + int64_t{a[3]} * b[3]) % kPrime)};
    std::copy_n(product, 4, right[i].entries);
  }
}

// What is combined, and by what.
struct Kind {
  std::string name;
  MPI_Datatype type;
  MPI_Op operation;
  int64_t extent;
  bool commutes;
};

inline const std::vector<Kind>& kinds() {
  static const std::vector<Kind> kKinds = [] {
    MPI_Datatype four, matrix;
    MPI_Op product;
    MPI_Type_contiguous(4, MPI_INT, &four);
    MPI_Type_create_resized(four, 0, sizeof(Matrix), &matrix);
    MPI_Type_commit(&matrix);
    MPI_Type_free(&four);
    MPI_Op_create(multiply, 0, &product);
    return std::vector<Kind>{{"sums of ints", MPI_INT, MPI_SUM, 4, true},
                             {"products of matrices", matrix, product, sizeof(Matrix), false},
                             {"greatest pairs", MPI_2INT, MPI_MAXLOC, 8, true},
                             {"bytes", MPI_BYTE, MPI_BXOR, 1, true}};
  }();
  return kKinds;
}

inline Bytes noise(size_t size, unsigned seed) {
  Bytes bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(mix(i * 977 + mix(seed)));
  return bytes;
}

// Elements of that kind: small numbers, so that nothing overflows.
inline Bytes elements(const Kind& kind, int64_t count, unsigned seed) {
  Bytes bytes = noise(static_cast<size_t>(count * kind.extent), seed);
  if (kind.extent == 1) return bytes;
  for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    const int32_t value = bytes[i] % 100;
    std::memcpy(&bytes[i], &value, 4);
  }
  return bytes;
}

// A communicator, and who is where.
struct Setting {
  MPI_Comm comm = MPI_COMM_NULL;
  int groups = 1, rank = 0, ranks = 1, remote = 0;  // remote: ranks of the other group
  bool is_low = true;                               // the first of two groups
  bool serves_all_roots = true;                     // else those of the first group alone
  int peers() const { return groups == 2 ? remote : ranks; }
};

inline Setting setting_of(MPI_Comm comm, bool is_low) {
  Setting s{comm};
  int inter = 0;
  MPI_Comm_test_inter(comm, &inter);
  MPI_Comm_rank(comm, &s.rank);
  MPI_Comm_size(comm, &s.ranks);
  if (inter) {
    s.groups = 2;
    MPI_Comm_remote_size(comm, &s.remote);
  }
  s.is_low = is_low;
  return s;
}

// All roots, as this rank names them: of each group, where there are two.
inline std::vector<int> all_roots(const Setting& s) {
  std::vector<int> roots;
  if (s.groups == 1) {
    roots.resize(static_cast<size_t>(s.ranks));
    std::iota(roots.begin(), roots.end(), 0);
    return roots;
  }
  for (const bool in_low : {true, false}) {
    if (!in_low && !s.serves_all_roots) break;
    const int candidates = in_low == s.is_low ? s.ranks : s.remote;
    for (int r = 0; r < candidates; ++r)
      roots.push_back(in_low != s.is_low ? r : r == s.rank ? MPI_ROOT : MPI_PROC_NULL);
  }
  return roots;
}

// All schedules for one group, or for two.
inline std::vector<std::string> collective_paths(int groups) {
  std::vector<std::string> found;
  const std::string folder = groups == 2 ? "collectives_between" : "collectives";
  for (const auto& entry : std::filesystem::recursive_directory_iterator("tests/mpi/" + folder))
    if (entry.path().extension() == ".qs") found.push_back(entry.path().string());
  std::sort(found.begin(), found.end());
  return found;
}

struct Displaced {
  std::vector<int> counts, displacements;
  int64_t room = 0;  // elements
};

// One block a rank with gaps between, in descending order where the seed is odd.
inline Displaced displaced(int blocks, const std::function<int(int)>& count, unsigned seed) {
  Displaced d;
  d.counts.resize(static_cast<size_t>(blocks));
  d.displacements.resize(static_cast<size_t>(blocks));
  for (int i = 0; i < blocks; ++i) {
    const auto block = static_cast<size_t>(seed % 2 ? blocks - 1 - i : i);
    d.counts[block] = count(static_cast<int>(block));
    d.displacements[block] = static_cast<int>(d.room);
    d.room += d.counts[block] + static_cast<int>(seed % 3);
  }
  return d;
}

}  // namespace quadrille::mpi

#endif  // QUADRILLE_TESTS_MPI_SETTINGS_H_
