// MPI's datatypes as lists of the bytes that they describe, in packed order. They belong to the process and not to a
// simulation, so tests may make their types once.
#pragma once

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
  MPI_Datatype named = MPI_DATATYPE_NULL;  // the handle, if the type is predefined
  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<TypeRef> inner;

  int64_t true_lower() const;
  int64_t true_upper() const;
};

// Returns the type of a handle, or null if it is no type or was freed.
TypeRef type_of(MPI_Datatype handle);
bool is_committed(MPI_Datatype handle);
// Returns the number of handles that were made and not freed.
int64_t live_types();

// What a handle of a derived type stands for. The MPI functions that make and free handles use it.
struct TypeHandle {
  TypeRef type;  // null once freed
  bool is_committed;
};
// Returns null if the handle is no derived type.
TypeHandle* find_type(MPI_Datatype handle);
// Returns a new handle, or the own handle of a predefined type.
MPI_Datatype make_handle(TypeRef type, bool is_committed);
bool free_handle(MPI_Datatype handle);

// The bytes of memory in [start, end).
struct Interval {
  uintptr_t start, end;
};

// Returns whether an interval of one list overlaps an interval of the other. Both lists are in ascending order.
bool overlap(const std::vector<Interval>& one, const std::vector<Interval>& other);

// A buffer, as a call's arguments describe it.
struct Data {
  uintptr_t base = 0;
  int64_t count = 0;
  TypeRef type;

  int64_t bytes() const { return count * type->size; }
  std::vector<char> packed() const;
  // Writes the first `bytes` bytes of the packed form, and leaves the rest of the buffer unchanged.
  void unpack(const std::vector<char>& from, int64_t bytes) const;
  void fill(char byte) const;
  // Returns the memory of the data, in ascending order and without overlaps.
  std::vector<Interval> intervals() const;

 private:
  template <typename Visit>
  void each(const Visit& visit) const;
};

}  // namespace quadrille::net
