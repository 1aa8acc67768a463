// A handle of a predefined type of MPICH contains the size. Others are never reused, so a freed one is noticed.
#include "tests/net/datatypes.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "schedule/result.h"

namespace quadrille::net {
namespace {

constexpr unsigned kNamed = 0x4c000000u, kKind = 0xff000000u, kDerived = 0xac000000u;

std::vector<TypeHandle> handles;
int64_t live = 0;
std::map<MPI_Datatype, TypeRef> named_types;

TypeHandle* find(MPI_Datatype handle) {
  const auto bits = static_cast<unsigned>(handle);
  const size_t index = bits & ~kKind;
  if ((bits & kKind) != kDerived || index >= handles.size() || !handles[index].type) return nullptr;
  return &handles[index];
}

TypeRef named_type(MPI_Datatype handle) {
  TypeRef& found = named_types[handle];
  if (found) return found;
  auto type = std::make_shared<Type>();
  type->size = type->extent = static_cast<unsigned>(handle) >> 8 & 0xff;
  type->map = {{0, type->size}};
  type->named = handle;
  return found = type;
}

bool is_one_segment(const Type& type) {
  return type.map.size() == 1 && type.map[0].bytes == type.extent;
}

}  // namespace

TypeHandle* find_type(MPI_Datatype handle) { return find(handle); }

MPI_Datatype make_handle(TypeRef type, bool is_committed) {
  if (type->named != MPI_DATATYPE_NULL) return type->named;
  handles.push_back({std::move(type), is_committed});
  ++live;
  check(handles.size() < 1u << 24, "too many datatypes were made");
  return static_cast<MPI_Datatype>(kDerived | static_cast<unsigned>(handles.size() - 1));
}

bool free_handle(MPI_Datatype handle) {
  TypeHandle* const found = find(handle);
  if (!found) return false;
  found->type = nullptr;
  --live;
  return true;
}

int64_t live_types() { return live; }

TypeRef type_of(MPI_Datatype handle) {
  if ((static_cast<unsigned>(handle) & kKind) == kNamed) return named_type(handle);
  const TypeHandle* const found = find(handle);
  return found ? found->type : nullptr;
}

bool is_committed(MPI_Datatype handle) {
  if ((static_cast<unsigned>(handle) & kKind) == kNamed) return true;
  const TypeHandle* const found = find(handle);
  return found && found->is_committed;
}

int64_t Type::true_lower() const {
  int64_t least = map.empty() ? 0 : map[0].offset;
  for (const Segment& segment : map) least = std::min(least, segment.offset);
  return least;
}

int64_t Type::true_upper() const {
  int64_t most = map.empty() ? 0 : map[0].offset + map[0].bytes;
  for (const Segment& segment : map) most = std::max(most, segment.offset + segment.bytes);
  return most;
}

template <typename Visit>
void Data::each(const Visit& visit) const {
  if (count == 0) return;
  if (is_one_segment(*type))
    return visit(base + static_cast<uintptr_t>(type->map[0].offset), bytes());
  for (int64_t i = 0; i < count; ++i)
    for (const Segment& segment : type->map)
      visit(base + static_cast<uintptr_t>(i * type->extent + segment.offset), segment.bytes);
}

std::vector<char> Data::packed() const {
  std::vector<char> result(static_cast<size_t>(bytes()));
  char* next = result.data();
  each([&](uintptr_t address, int64_t length) {
    std::memcpy(next, reinterpret_cast<const char*>(address), static_cast<size_t>(length));
    next += length;
  });
  return result;
}

void Data::unpack(const std::vector<char>& from, int64_t bytes) const {
  const char* next = from.data();
  each([&](uintptr_t address, int64_t length) {
    length = std::min(length, bytes);
    if (length == 0) return;
    std::memcpy(reinterpret_cast<char*>(address), next, static_cast<size_t>(length));
    next += length;
    bytes -= length;
  });
}

void Data::fill(char byte) const {
  each([&](uintptr_t address, int64_t length) {
    std::memset(reinterpret_cast<char*>(address), byte, static_cast<size_t>(length));
  });
}

bool overlap(const std::vector<Interval>& one, const std::vector<Interval>& other) {
  if (one.empty() || other.empty()) return false;
  if (one.back().end <= other.front().start || other.back().end <= one.front().start) return false;
  for (auto i = one.begin(), j = other.begin(); i != one.end() && j != other.end();) {
    if (i->start < j->end && j->start < i->end) return true;
    i->end < j->end ? ++i : ++j;
  }
  return false;
}

std::vector<Interval> Data::intervals() const {
  std::vector<Interval> all;
  each([&](uintptr_t address, int64_t length) {
    const uintptr_t end = address + static_cast<uintptr_t>(length);
    if (!all.empty() && all.back().end == address)
      all.back().end = end;
    else if (length > 0)
      all.push_back({address, end});
  });
  if (all.size() < 2) return all;
  const auto is_before = [](const Interval& a, const Interval& b) { return a.start < b.start; };
  if (!std::ranges::is_sorted(all, is_before)) std::ranges::sort(all, is_before);
  std::vector<Interval> merged = {all[0]};
  for (const Interval& next : all)
    if (next.start <= merged.back().end)
      merged.back().end = std::max(merged.back().end, next.end);
    else
      merged.push_back(next);
  return merged;
}

}  // namespace quadrille::net
