// Calls the entry points. In most calls, arguments that are not significant at this rank are junk: a null pointer, an
// invalid address or handle, or a negative count.
#include <climits>
#include <cstring>
#include <deque>
#include <type_traits>

#include "tests/mpi/calls.h"

// The entry points for a call: MPI's own function, and Quadrille's for a plain and for a persistent call. Not all
// libraries have MPI's functions with 64-bit counts. The simulated MPI has only what the runtime calls.
#ifdef SIMULATED_MPI
#define OWN(Name) nullptr
#define OWN_LARGE(Name) nullptr
#elif MPI_VERSION < 4
#define OWN(Name) MPI_##Name
#define OWN_LARGE(Name) MPI_##Name
#else
#define OWN(Name) MPI_##Name
#define OWN_LARGE(Name) MPI_##Name##_c
#endif
#define FORMS(name, Name) OWN(Name), quadrille_##name, quadrille_##name##_init
#define LARGE_FORMS(name, Name) OWN_LARGE(Name), quadrille_##name##_c, quadrille_##name##_init_c
// Calls an entry point with 64-bit counts, or one with 32 bits.
#define ANY_FORMS(is_large, name, Name, ...) \
  ((is_large) ? call(LARGE_FORMS(name, Name), __VA_ARGS__) : call(FORMS(name, Name), __VA_ARGS__))

namespace quadrille::mpi {
namespace {

// An array of numbers that the destructor overwrites after the call.
class Numbers {
 public:
  explicit Numbers(const std::vector<int64_t>& values) : values_(values) {}
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  ~Numbers() {
    for (volatile char& byte : bytes_) byte = 0x4d;
  }
  template <typename T>
  operator const T*() const {
    bytes_.resize(values_.size() * sizeof(T));
    for (size_t i = 0; i < values_.size(); ++i) {
      const T value = static_cast<T>(values_[i]);
      std::memcpy(&bytes_[i * sizeof value], &value, sizeof value);
    }
    return reinterpret_cast<const T*>(bytes_.data());
  }

 private:
  std::vector<int64_t> values_;
  mutable std::vector<char> bytes_;
};

// A datatype that the destructor frees after the call, unless it is predefined.
class LentType {
 public:
  LentType(const Layout& layout, bool is_wrong)
      : LentType(is_wrong                ? MPI_DATATYPE_NULL
                 : layout.shapes.empty() ? MPI_BYTE
                                         : layout.shapes[0]->type) {}
  explicit LentType(MPI_Datatype type) : type_(type) {
    int integers, addresses, types, combiner = MPI_COMBINER_NAMED;
    if (type_ != MPI_DATATYPE_NULL)
      MPI_Type_get_envelope(type_, &integers, &addresses, &types, &combiner);
    is_ours_ = combiner != MPI_COMBINER_NAMED;
    if (is_ours_) MPI_Type_dup(type_, &type_);
  }
  LentType(const LentType&) = delete;
  LentType& operator=(const LentType&) = delete;
  ~LentType() {
    if (is_ours_) MPI_Type_free(&type_);
  }
  operator MPI_Datatype() const { return type_; }

 private:
  MPI_Datatype type_;
  bool is_ours_;
};

// A datatype for each block. Empty ones may have MPI_DATATYPE_NULL.
class LentTypes {
 public:
  LentTypes(const Layout& layout, const std::vector<int64_t>& counts, bool may_lack,
            bool is_wrong) {
    for (size_t b = 0; b < counts.size(); ++b) {
      const bool is_none = (may_lack && counts[b] == 0) || is_wrong;
      lent_.emplace_back(is_none ? MPI_DATATYPE_NULL : layout.shapes[b]->type);
      types_.push_back(lent_.back());
    }
  }
  operator const MPI_Datatype*() const { return types_.data(); }

 private:
  std::deque<LentType> lent_;
  std::vector<MPI_Datatype> types_;
};

}  // namespace

// An array argument, or junk in its place.
template <typename Array>
struct Passed {
  const Array* array;
  void* junk;
  template <typename T>
  operator const T*() const {
    return array ? static_cast<const T*>(*array) : static_cast<const T*>(junk);
  }
};

// Passes significant arguments on, and replaces the others by junk.
class Meaning {
 public:
  Meaning(unsigned significant, unsigned seed, bool is_plain)
      : significant_(significant), seed_(seed), kinds_(is_plain ? 2 : 3) {}
  // MPI's own functions refuse MPI_IN_PLACE at more ranks than they need to.
  void* buffer(unsigned argument, const void* address) const {
    void* const junk[] = {nullptr, nowhere(), MPI_IN_PLACE};
    return is_meant(argument) || address == MPI_IN_PLACE ? const_cast<void*>(address)
                                                         : junk[drawn(argument) % kinds_];
  }
  int64_t count(unsigned argument, int64_t count) const {
    return is_meant(argument) ? count : -1 - static_cast<int64_t>(drawn(argument) % 2) * INT_MAX;
  }
  MPI_Datatype type(unsigned argument, MPI_Datatype type) const {
    return is_meant(argument) ? type : handle(argument, MPI_DATATYPE_NULL);
  }
  MPI_Op operation(MPI_Op op) const {
    return is_meant(QD_OPERATOR) ? op : handle(QD_OPERATOR, MPI_OP_NULL);
  }
  // For an array of counts, displacements or datatypes.
  template <typename Array>
  Passed<Array> array(unsigned argument, const Array& array) const {
    void* const junk = drawn(argument) % 2 ? nowhere() : nullptr;
    return is_meant(argument) ? Passed<Array>{&array, nullptr} : Passed<Array>{nullptr, junk};
  }

 private:
  static void* nowhere() { return reinterpret_cast<void*>(intptr_t{8}); }
  bool is_meant(unsigned argument) const { return seed_ % 4 == 0 || significant_ & argument; }
  uint64_t drawn(unsigned argument) const { return mix(seed_ * 128 + argument); }
  // Returns a null handle, or a value that is no handle.
  template <typename Handle>
  Handle handle(unsigned argument, Handle null) const {
    return drawn(argument) % 2 ? null : (Handle)(intptr_t)8;
  }

  unsigned significant_, seed_, kinds_;
};

constexpr unsigned kEitherBuffer = QD_SEND_BUFFER | QD_RECEIVE_BUFFER,
                   kEitherCounts = QD_SEND_COUNTS | QD_RECEIVE_COUNTS,
                   kEitherTypes = QD_SEND_TYPES | QD_RECEIVE_TYPES;

namespace {

// Returns arguments that are not significant, but that MPI's own functions check nevertheless.
unsigned checked_by_mpi(qd_function function, qd_role role) {
  const bool is_idle = role == QD_ROLE_IDLE;
#ifdef OPEN_MPI
  if (function == QD_Bcast || function == QD_Reduce)
    return is_idle ? kEitherCounts | kEitherTypes | QD_OPERATOR : 0;
#else
  if (function == QD_Exscan && role == QD_ROLE_OTHER) return QD_RECEIVE_BUFFER;
  if (function == QD_Reduce && role == QD_ROLE_USUAL_BETWEEN) return QD_SEND_BUFFER;
  if (function == QD_Bcast && is_idle) return kEitherCounts | kEitherTypes | kEitherBuffer;
#endif
  return 0;
}

}  // namespace

Meaning CollectivePart::meaning(qd_function function, const void* from, const void* to) const {
  const qd_role role =
      qd_role_of(function, call_.groups.remote > 0, own_, root_argument(), from, to);
  const unsigned checked = is_plain() ? checked_by_mpi(function, role) : 0;
  return Meaning(qd_significant(function, role) | checked, call_.seed / 2, is_plain());
}

// Between groups, the root's group passes MPI_ROOT or MPI_PROC_NULL.
int CollectivePart::root_argument() const {
  const Groups& g = call_.groups;
  if (mistake_ == Mistake::kRoot) return 1000;
  if (g.remote == 0) return call_.root;
  if (g.group_of(call_.root) == group_) return is_root_ ? MPI_ROOT : MPI_PROC_NULL;
  return call_.root - g.first(1 - group_);
}

// A buffer that the call ignores has some address.
void* CollectivePart::address_of(Blocks& blocks) {
  if (mistake_ == Mistake::kBuffer && (&blocks == &from_ || !from_.buffer)) return nullptr;
  return blocks.buffer ? blocks.buffer->address() : &blocks;
}

int64_t CollectivePart::mistaken(int64_t count) const {
  if (mistake_ == Mistake::kNegative) return -1;
  return mistake_ == Mistake::kTooLarge ? INT64_MAX : count + (mistake_ == Mistake::kLonger);
}

int64_t CollectivePart::count_of(const Blocks& blocks) const {
  return mistaken(blocks.layout.counts.empty() ? 0 : blocks.layout.counts[0]);
}

// Adds the schedule before the arguments and the communicator behind them.
template <typename... Arguments>
int CollectivePart::call([[maybe_unused]] auto own, auto now, auto init,
                         const Arguments&... arguments) {
  if constexpr (!std::is_null_pointer_v<decltype(own)>)
    if (is_plain()) return own(arguments..., comm_);
  return is_made_ ? init(schedule_, arguments..., comm_, MPI_INFO_NULL, request_)
                  : now(schedule_, arguments..., comm_);
}

int CollectivePart::run_bcast() {
  Blocks& one = from_.buffer ? from_ : to_;
  void* const buffer = address_of(one);
  const LentType type(one.layout, mistake_ == Mistake::kType);
  const Meaning m = meaning(QD_Bcast, buffer, buffer);
  return ANY_FORMS(call_.seed % 2, bcast, Bcast, m.buffer(kEitherBuffer, buffer),
                   m.count(kEitherCounts, count_of(one)), m.type(kEitherTypes, type),
                   root_argument());
}

// Makes the call of a gather, a scatter or an allgather.
int CollectivePart::run_moving(qd_function function) {
  const bool scatters = function == QD_Scatter;
  const void* from = in_place_ && !scatters ? MPI_IN_PLACE : address_of(from_);
  void* to = in_place_ && scatters ? MPI_IN_PLACE : address_of(to_);
  const Meaning m = meaning(function, from, to);
  from = m.buffer(QD_SEND_BUFFER, from);
  to = m.buffer(QD_RECEIVE_BUFFER, to);
  const LentType lent(from_.layout, mistake_ == Mistake::kType);
  const LentType taken(to_.layout, mistake_ == Mistake::kType);
  const MPI_Datatype sent = m.type(QD_SEND_TYPES, lent), received = m.type(QD_RECEIVE_TYPES, taken);
  const int64_t send = m.count(QD_SEND_COUNTS, count_of(from_)),
                receive = m.count(QD_RECEIVE_COUNTS, count_of(to_));
  const int root = root_argument();
  if (call_.form == 0) {
    const bool is_large = call_.seed % 2;
    if (function == QD_Gather)
      return ANY_FORMS(is_large, gather, Gather, from, send, sent, to, receive, received, root);
    if (scatters)
      return ANY_FORMS(is_large, scatter, Scatter, from, send, sent, to, receive, received, root);
    return ANY_FORMS(is_large, allgather, Allgather, from, send, sent, to, receive, received);
  }
  const bool is_large = call_.form == 2;
  const Layout& blocks = scatters ? from_.layout : to_.layout;
  const unsigned argument = scatters ? QD_SEND_COUNTS : QD_RECEIVE_COUNTS;
  const Numbers lengths(blocks.counts), displacements(blocks.displacements());
  const auto counts = m.array(argument, lengths), places = m.array(argument, displacements);
  if (function == QD_Gather)
    return ANY_FORMS(is_large, gatherv, Gatherv, from, send, sent, to, counts, places, received,
                     root);
  if (scatters)
    return ANY_FORMS(is_large, scatterv, Scatterv, from, counts, places, sent, to, receive,
                     received, root);
  return ANY_FORMS(is_large, allgatherv, Allgatherv, from, send, sent, to, counts, places,
                   received);
}

int CollectivePart::run_alltoall() {
  const void* const from = in_place_ ? MPI_IN_PLACE : address_of(from_);
  void* const to = address_of(to_);
  const Layout &out = from_.layout, &in = to_.layout;
  const bool is_wrong = mistake_ == Mistake::kType;
  const LentType sent(out, is_wrong), received(in, false);
  const Meaning m = meaning(QD_Alltoall, from, to);
  if (call_.form == 0)
    return ANY_FORMS(call_.seed % 2, alltoall, Alltoall, from,
                     m.count(QD_SEND_COUNTS, count_of(from_)), m.type(QD_SEND_TYPES, sent), to,
                     count_of(to_), received);
  std::vector<int64_t> sent_counts = out.counts;
  if (!in_place_) sent_counts[0] = count_of(from_);
  const Numbers counts(sent_counts), room(in.counts), places(out.displacements()), bytes(out.bytes);
  if (!has_types_of_their_own(call_))
    return ANY_FORMS(call_.form == 2, alltoallv, Alltoallv, from, m.array(QD_SEND_COUNTS, counts),
                     m.array(QD_SEND_COUNTS, places), m.type(QD_SEND_TYPES, sent), to, room,
                     Numbers(in.displacements()), received);
  const LentTypes types(out, in_place_ ? out.counts : sent_counts, !is_plain(), is_wrong);
  return ANY_FORMS(call_.form == 2, alltoallw, Alltoallw, from, m.array(QD_SEND_COUNTS, counts),
                   m.array(QD_SEND_COUNTS, bytes), m.array(QD_SEND_TYPES, types), to, room,
                   Numbers(in.bytes), LentTypes(in, in.counts, !is_plain(), false));
}

int CollectivePart::run_reduce_scatter() {
  const void* const from = in_place_ ? MPI_IN_PLACE : address_of(from_);
  std::vector<int64_t> lengths = results();
  lengths[0] = mistaken(lengths[0]);
  const LentType type(mistake_ == Mistake::kType ? MPI_DATATYPE_NULL : element_->shape.type);
  const MPI_Op op = mistake_ == Mistake::kOperation ? MPI_OP_NULL : element_->operation;
  if (call_.form == 0)
    return ANY_FORMS(call_.seed % 2, reduce_scatter_block, Reduce_scatter_block, from,
                     address_of(to_), lengths[0], type, op);
  return ANY_FORMS(call_.form == 2, reduce_scatter, Reduce_scatter, from, address_of(to_),
                   Numbers(lengths), type, op);
}

// All ranks give one count.
int CollectivePart::run_combining() {
  const void* from = in_place_ ? MPI_IN_PLACE : address_of(from_);
  void* to = address_of(to_);
  const LentType lent(mistake_ == Mistake::kType ? MPI_DATATYPE_NULL : element_->shape.type);
  const bool is_large = call_.form == 2;
  const bool is_reduce = call_.collective == Collective::kReduce;
  const Meaning m = meaning(is_reduce                                 ? QD_Reduce
                            : call_.collective == Collective::kExscan ? QD_Exscan
                                                                      : QD_Allreduce,
                            from, to);
  const int64_t count = m.count(kEitherCounts, std::max(count_of(from_), count_of(to_)));
  const MPI_Datatype type = m.type(kEitherTypes, lent);
  const MPI_Op op =
      m.operation(mistake_ == Mistake::kOperation ? MPI_OP_NULL : element_->operation);
  from = m.buffer(QD_SEND_BUFFER, from);
  to = m.buffer(QD_RECEIVE_BUFFER, to);
  switch (call_.collective) {
    case Collective::kReduce:
      return ANY_FORMS(is_large, reduce, Reduce, from, to, count, type, op, root_argument());
    case Collective::kAllreduce:
      return ANY_FORMS(is_large, allreduce, Allreduce, from, to, count, type, op);
    case Collective::kScan: return ANY_FORMS(is_large, scan, Scan, from, to, count, type, op);
    default: return ANY_FORMS(is_large, exscan, Exscan, from, to, count, type, op);
  }
}

int CollectivePart::run_any() {
  switch (call_.collective) {
    case Collective::kBroadcast: return run_bcast();
    case Collective::kGather: return run_moving(QD_Gather);
    case Collective::kScatter: return run_moving(QD_Scatter);
    case Collective::kAllgather: return run_moving(QD_Allgather);
    case Collective::kAlltoall: return run_alltoall();
    case Collective::kReduceScatter: return run_reduce_scatter();
    case Collective::kBarrier: return call(FORMS(barrier, Barrier));
    default: return run_combining();
  }
}

int CollectivePart::run(quadrille_schedule schedule, MPI_Comm comm, int& entered) {
  ++entered;
  schedule_ = schedule;
  comm_ = comm;
  is_made_ = false;
  const int code = run_any();
  if (call_.collective == Collective::kBarrier) {
    EXPECT_EQ(entered, call_.groups.all()) << "a barrier lets a rank go too early";
  }
  return code;
}

int CollectivePart::make(quadrille_schedule schedule, MPI_Comm comm, quadrille_request* request) {
  schedule_ = schedule;
  comm_ = comm;
  is_made_ = true;
  request_ = mistake_ == Mistake::kRequest ? nullptr : request;
  return run_any();
}

int CollectivePart::run_persistent(quadrille_schedule schedule, MPI_Comm comm, int starts) {
  quadrille_request request = QUADRILLE_REQUEST_NULL;
  int code = make(schedule, comm, &request);
  if (code != MPI_SUCCESS) return code;
  for (int i = 0; i < starts && code == MPI_SUCCESS; ++i) {
    if (i > 0) {
      EXPECT_TRUE(is_right()) << "start " << i;
    }
    fill(call_.seed + static_cast<unsigned>(i));
    code = quadrille_start(request);
    if (code == MPI_SUCCESS) code = quadrille_wait(request);
  }
  EXPECT_EQ(quadrille_free_request(&request), MPI_SUCCESS);
  return code;
}

}  // namespace quadrille::mpi
