// MPI's datatypes as lists of the bytes that they describe, in the order of their packed form. They belong to the
// process, not to a simulation, so tests may make theirs once.
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
  MPI_Datatype named = MPI_DATATYPE_NULL;  // the handle of a predefined type
  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<TypeRef> inner;

  int64_t true_lower() const;
  int64_t true_upper() const;
};

// The type of a handle. Null if it is no type, or was freed.
TypeRef type_of(MPI_Datatype handle);
bool is_committed(MPI_Datatype handle);
// The number of handles that were made and not freed yet.
int64_t live_types();

// For the MPI functions that make and free handles.
struct TypeHandle {
  TypeRef type;  // null after it was freed
  bool is_committed;
};
// Null if the handle is no derived type.
TypeHandle* find_type(MPI_Datatype handle);
// A new handle; for a predefined type, its own handle.
MPI_Datatype make_handle(TypeRef type, bool is_committed);
bool free_handle(MPI_Datatype handle);

// Bytes of memory from `start` up to, not including, `end`.
struct Interval {
  uintptr_t start, end;
};

// Whether any interval of one overlaps any of the other. Both are ascending.
bool overlap(const std::vector<Interval>& one, const std::vector<Interval>& other);

// A buffer as the arguments of a call.
struct Data {
  uintptr_t base = 0;
  int64_t count = 0;
  TypeRef type;

  int64_t bytes() const { return count * type->size; }
  std::vector<char> packed() const;
  // Writes the first bytes of the packed form. The rest of the buffer is unchanged.
  void unpack(const std::vector<char>& from, int64_t bytes) const;
  void fill(char byte) const;
  // The memory of the data, ascending, without overlaps.
  std::vector<Interval> intervals() const;

 private:
  template <typename Visit>
  void each(const Visit& visit) const;
};

}  // namespace quadrille::net

#endif  // QUADRILLE_TESTS_NET_DATATYPES_H_
