// MPI's datatypes as lists of the bytes that they name, in the order of their packed form. They belong to the
// process, not to a simulation, so that tests may make theirs once.
#ifndef QUADRILLE_TESTS_NET_DATATYPES_H_
#define QUADRILLE_TESTS_NET_DATATYPES_H_

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace quadrille::net {

struct Segment {
  int64_t offset, bytes;
};

struct Type;
using TypeRef = std::shared_ptr<const Type>;

struct Type {
  std::vector<Segment> map;
  int64_t size = 0, lower = 0, extent = 0;
  MPI_Datatype named = MPI_DATATYPE_NULL;  // the handle of a type that MPI has by itself
  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<TypeRef> inner;

  int64_t true_lower() const;
  int64_t true_upper() const;
};

// The type of a handle; null where it is none, or was freed.
TypeRef type_of(MPI_Datatype handle);
bool is_committed(MPI_Datatype handle);
// Handles that were made and not freed yet.
int64_t live_types();

// For the functions of MPI that make and free handles.
struct TypeHandle {
  TypeRef type;  // null: it was freed
  bool is_committed;
};
// Null where the handle is none of a derived type.
TypeHandle* find_type(MPI_Datatype handle);
// A new handle; of a named type, its own.
MPI_Datatype make_handle(TypeRef type, bool is_committed);
bool free_handle(MPI_Datatype handle);

// Bytes of memory from `start` to before `end`.
struct Interval {
  uintptr_t start, end;
};

// Whether any of them, which ascend, is in both.
bool overlap(const std::vector<Interval>& one, const std::vector<Interval>& other);

// A buffer as calls name it.
struct Data {
  uintptr_t base = 0;
  int64_t count = 0;
  TypeRef type;

  int64_t bytes() const { return count * type->size; }
  std::vector<char> packed() const;
  // Writes the first bytes of the packed form; what follows in the buffer stays.
  void unpack(const std::vector<char>& from, int64_t bytes) const;
  void fill(char byte) const;
  // Where it lies, ascending, without overlaps.
  std::vector<Interval> intervals() const;

 private:
  template <typename Visit>
  void each(const Visit& visit) const;
};

}  // namespace quadrille::net

#endif  // QUADRILLE_TESTS_NET_DATATYPES_H_
