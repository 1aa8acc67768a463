// MPI's functions that make, query and use datatypes.
#include <mpi.h>

#include <algorithm>
#include <cstring>

#include "tests/net/world.h"

using namespace quadrille::net;  // NOLINT(google-build-using-namespace): functions outside any

namespace {

// `count` elements of a type at a byte displacement. Every constructor ends with such blocks.
struct Placed {
  int64_t count;
  int64_t displacement;
  TypeRef type;
};

void append(Type& type, const Segment& segment) {
  if (segment.bytes == 0) return;
  if (!type.map.empty() && type.map.back().offset + type.map.back().bytes == segment.offset)
    type.map.back().bytes += segment.bytes;
  else
    type.map.push_back(segment);
}

void append_block(Type& type, const Placed& block) {
  const Type& inner = *block.type;
  const bool is_one = inner.map.size() == 1 && inner.map[0].bytes == inner.extent;
  if (is_one)
    append(type, {block.displacement + inner.map[0].offset, block.count * inner.size});
  else
    for (int64_t i = 0; i < block.count; ++i)
      for (const Segment& s : inner.map)
        append(type, {block.displacement + i * inner.extent + s.offset, s.bytes});
}

int make(Type type, const std::vector<Placed>& blocks, MPI_Datatype* result) {
  int64_t lower = INT64_MAX, upper = INT64_MIN;
  for (const Placed& block : blocks) {
    if (!block.type) return MPI_ERR_TYPE;
    if (block.count < 0) return MPI_ERR_COUNT;
    append_block(type, block);
    type.size += block.count * block.type->size;
    if (block.count == 0) continue;
    const int64_t last = (block.count - 1) * block.type->extent;
    const int64_t start = block.displacement + block.type->lower;
    lower = std::min(lower, start + std::min<int64_t>(0, last));
    upper = std::max(upper, start + std::max<int64_t>(0, last) + block.type->extent);
  }
  type.lower = lower == INT64_MAX ? 0 : lower;
  type.extent = lower == INT64_MAX ? 0 : upper - lower;
  *result = make_handle(std::make_shared<Type>(std::move(type)), false);
  return MPI_SUCCESS;
}

int invalid_type(const char* function) {
  problem(std::string(function) + " of a datatype that is none, or was freed");
  return MPI_ERR_TYPE;
}

// Makes a type of `count` blocks of another one. block(i, inner) returns block i.
template <typename Block>
int construct(int combiner, std::vector<int> integers, std::vector<MPI_Aint> addresses,
              MPI_Datatype old, int count, const Block& block, MPI_Datatype* result) {
  const TypeRef inner = type_of(old);
  if (!inner) return invalid_type("a constructor");
  Type type;
  type.combiner = combiner;
  type.integers = std::move(integers);
  type.addresses = std::move(addresses);
  type.inner = {inner};
  std::vector<Placed> blocks;
  for (int i = 0; i < count; ++i) blocks.push_back(block(i, inner));
  return make(std::move(type), blocks, result);
}

// Makes a type with the bytes of another one.
int derive(int combiner, std::vector<MPI_Aint> bounds, MPI_Datatype old, MPI_Datatype* result) {
  const TypeRef inner = type_of(old);
  if (!inner) return invalid_type("a constructor");
  Type type = *inner;
  type.named = MPI_DATATYPE_NULL;
  type.combiner = combiner;
  type.integers.clear();
  type.inner = {inner};
  if (!bounds.empty()) type.lower = bounds[0], type.extent = bounds[1];
  type.addresses = std::move(bounds);
  *result = make_handle(std::make_shared<Type>(std::move(type)),
                        combiner == MPI_COMBINER_DUP && is_committed(old));
  return MPI_SUCCESS;
}

// Returns the count of the blocks, their lengths, and their displacements if they are integers.
std::vector<int> integers_of(int count, const int lengths[], const int displacements[] = nullptr) {
  std::vector<int> integers = {count};
  integers.insert(integers.end(), lengths, lengths + count);
  if (displacements) integers.insert(integers.end(), displacements, displacements + count);
  return integers;
}

}  // namespace

extern "C" {

SIMULATED(Type_commit, MPI_Datatype* type) {
  if (!type_of(*type)) return invalid_type("MPI_Type_commit");
  if (TypeHandle* const found = find_type(*type)) found->is_committed = true;
  return MPI_SUCCESS;
}

SIMULATED(Type_free, MPI_Datatype* type) {
  if (!free_handle(*type)) return invalid_type("MPI_Type_free");
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

SIMULATED(Type_dup, MPI_Datatype old, MPI_Datatype* result) {
  return derive(MPI_COMBINER_DUP, {}, old, result);
}

SIMULATED(Type_contiguous, int count, MPI_Datatype old, MPI_Datatype* result) {
  const auto block = [count](int, const TypeRef& inner) { return Placed{count, 0, inner}; };
  return construct(MPI_COMBINER_CONTIGUOUS, {count}, {}, old, 1, block, result);
}

SIMULATED(Type_vector, int count, int length, int stride, MPI_Datatype old, MPI_Datatype* result) {
  const auto block = [=](int i, const TypeRef& inner) {
    return Placed{length, i * (stride * inner->extent), inner};
  };
  return construct(MPI_COMBINER_VECTOR, {count, length, stride}, {}, old, count, block, result);
}

SIMULATED(Type_create_hvector, int count, int length, MPI_Aint stride, MPI_Datatype old,
          MPI_Datatype* result) {
  const auto block = [=](int i, const TypeRef& inner) { return Placed{length, i * stride, inner}; };
  return construct(MPI_COMBINER_HVECTOR, {count, length}, {stride}, old, count, block, result);
}

SIMULATED(Type_create_struct, int count, const int lengths[], const MPI_Aint displacements[],
          const MPI_Datatype types[], MPI_Datatype* result) {
  Type type;
  type.combiner = MPI_COMBINER_STRUCT;
  type.integers = {count};
  std::vector<Placed> blocks;
  for (int i = 0; i < count; ++i) {
    const TypeRef inner = type_of(types[i]);
    if (!inner) return invalid_type("MPI_Type_create_struct");
    type.integers.push_back(lengths[i]);
    type.addresses.push_back(displacements[i]);
    type.inner.push_back(inner);
    blocks.push_back({lengths[i], displacements[i], inner});
  }
  return make(std::move(type), blocks, result);
}

SIMULATED(Type_create_hindexed, int count, const int lengths[], const MPI_Aint displacements[],
          MPI_Datatype old, MPI_Datatype* result) {
  const auto block = [=](int i, const TypeRef& inner) {
    return Placed{lengths[i], displacements[i], inner};
  };
  return construct(MPI_COMBINER_HINDEXED, integers_of(count, lengths),
                   {displacements, displacements + count}, old, count, block, result);
}

SIMULATED(Type_indexed, int count, const int lengths[], const int displacements[], MPI_Datatype old,
          MPI_Datatype* result) {
  const auto block = [=](int i, const TypeRef& inner) {
    return Placed{lengths[i], displacements[i] * inner->extent, inner};
  };
  return construct(MPI_COMBINER_INDEXED, integers_of(count, lengths, displacements), {}, old, count,
                   block, result);
}

SIMULATED(Type_create_resized, MPI_Datatype old, MPI_Aint lower, MPI_Aint extent,
          MPI_Datatype* result) {
  return derive(MPI_COMBINER_RESIZED, {lower, extent}, old, result);
}

SIMULATED(Type_size_x, MPI_Datatype handle, MPI_Count* size) {
  const TypeRef type = type_of(handle);
  if (!type) return MPI_ERR_TYPE;
  *size = type->size;
  return MPI_SUCCESS;
}

SIMULATED(Type_get_extent, MPI_Datatype handle, MPI_Aint* lower, MPI_Aint* extent) {
  const TypeRef type = type_of(handle);
  if (!type) return MPI_ERR_TYPE;
  *lower = type->lower;
  *extent = type->extent;
  return MPI_SUCCESS;
}

SIMULATED(Type_get_true_extent, MPI_Datatype handle, MPI_Aint* lower, MPI_Aint* extent) {
  const TypeRef type = type_of(handle);
  if (!type) return MPI_ERR_TYPE;
  *lower = type->true_lower();
  *extent = type->true_upper() - type->true_lower();
  return MPI_SUCCESS;
}

SIMULATED(Type_get_envelope, MPI_Datatype handle, int* integers, int* addresses, int* types,
          int* combiner) {
  const TypeRef type = type_of(handle);
  if (!type) return MPI_ERR_TYPE;
  *integers = static_cast<int>(type->integers.size());
  *addresses = static_cast<int>(type->addresses.size());
  *types = static_cast<int>(type->inner.size());
  *combiner = type->combiner;
  return MPI_SUCCESS;
}

SIMULATED(Type_get_envelope_c, MPI_Datatype handle, MPI_Count* integers, MPI_Count* addresses,
          MPI_Count* counts, MPI_Count* types, int* combiner) {
  int few_integers = 0, few_addresses = 0, few_types = 0;
  const int code =
      PMPI_Type_get_envelope(handle, &few_integers, &few_addresses, &few_types, combiner);
  *integers = few_integers;
  *addresses = few_addresses;
  *counts = 0;
  *types = few_types;
  return code;
}

SIMULATED(Type_get_contents_c, MPI_Datatype handle, MPI_Count most_integers,
          MPI_Count most_addresses, MPI_Count, MPI_Count most_types, int integers[],
          MPI_Aint addresses[], MPI_Count[], MPI_Datatype types[]) {
  const TypeRef type = type_of(handle);
  if (!type || type->combiner == MPI_COMBINER_NAMED) return MPI_ERR_TYPE;
  if (most_integers < static_cast<MPI_Count>(type->integers.size()) ||
      most_addresses < static_cast<MPI_Count>(type->addresses.size()) ||
      most_types < static_cast<MPI_Count>(type->inner.size()))
    return MPI_ERR_ARG;
  std::copy(type->integers.begin(), type->integers.end(), integers);
  std::copy(type->addresses.begin(), type->addresses.end(), addresses);
  for (const TypeRef& inner : type->inner) *types++ = make_handle(inner, true);
  return MPI_SUCCESS;
}

SIMULATED(Type_get_contents, MPI_Datatype handle, int most_integers, int most_addresses,
          int most_types, int integers[], MPI_Aint addresses[], MPI_Datatype types[]) {
  return PMPI_Type_get_contents_c(handle, most_integers, most_addresses, 0, most_types, integers,
                                  addresses, nullptr, types);
}

SIMULATED(Get_address, const void* location, MPI_Aint* address) {
  *address = reinterpret_cast<MPI_Aint>(location);
  return MPI_SUCCESS;
}

// MPICH refuses a null buffer here for any type.
SIMULATED(Pack, const void* from, int count, MPI_Datatype handle, void* to, int room, int* position,
          MPI_Comm) {
  const TypeRef type = type_of(handle);
  if (!type || !is_committed(handle)) return invalid_type("MPI_Pack");
  if (!from && count > 0) return MPI_ERR_BUFFER;
  const Data data{reinterpret_cast<uintptr_t>(from), count, type};
  if (*position + data.bytes() > room) return MPI_ERR_ARG;
  const std::vector<char> packed = data.packed();
  if (!packed.empty())
    std::memcpy(static_cast<char*>(to) + *position, packed.data(), packed.size());
  *position += static_cast<int>(packed.size());
  return MPI_SUCCESS;
}

SIMULATED(Unpack, const void* from, int size, int* position, void* to, int count,
          MPI_Datatype handle, MPI_Comm) {
  const TypeRef type = type_of(handle);
  if (!type || !is_committed(handle)) return invalid_type("MPI_Unpack");
  if (!to && count > 0) return MPI_ERR_BUFFER;
  const Data data{reinterpret_cast<uintptr_t>(to), count, type};
  if (*position + data.bytes() > size) return MPI_ERR_ARG;
  const char* start = static_cast<const char*>(from) + *position;
  data.unpack({start, start + data.bytes()}, data.bytes());
  *position += static_cast<int>(data.bytes());
  return MPI_SUCCESS;
}

}  // extern "C"
