// The state of execute(): the values in every span of a block, the steps that accessed the span, and the processes
// that each process has received from in a barrier. Memory checks every rule about blocks, up to the first violation.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "schedule/collective.h"
#include "schedule/walk.h"
#include "verifier/findings.h"

namespace quadrille::verifier {

// ---- Values: what a position of a block can hold. Each value has a number

// The contributions of `count` consecutive ranks to one block, from rank `first` upwards (step 1) or downwards (step
// -1). A single contribution has step 0.
struct ContributionRun {
  int32_t first, count;
  int32_t block;
  int8_t group, step;

  int32_t last() const { return first + (count - 1) * step; }
  friend auto operator<=>(const ContributionRun&, const ContributionRun&) = default;
};
// A sequence of contributions. Each run is as long as possible, so equal sequences have equal runs.
using ContributionRuns = std::vector<ContributionRun>;

class Values {
 public:
  // These return the number of a sequence of contributions. Equal sequences, and only these, have equal numbers.
  int32_t number(const Contribution& contribution);
  int32_t number(const std::vector<Contribution>& sequence);
  int32_t sum_of(const Contributors& contributors);
  // Returns left op right, or nothing if a contribution would be added twice.
  std::optional<int32_t> combine(int32_t left, int32_t right);
  // Returns whether left op right has the canonical tree (schedule/program.h), provided that left and right do.
  bool is_canonical(int32_t left, int32_t right) const;
  // Returns these contributions in ascending order of ranks. Values with equal sets give equal numbers.
  int32_t in_any_order(int32_t value);

  const ContributionRuns& runs(int32_t value) const { return *runs_[value]; }
  int64_t size(int32_t value) const;
  std::string text(int32_t value) const;  // "0..3 and 5", ranks in the order of the sum

 private:
  struct Hash {
    size_t operator()(const ContributionRuns& runs) const;
  };

  int32_t number(ContributionRuns runs);

  std::unordered_map<ContributionRuns, int32_t, Hash> numbers_;
  std::vector<const ContributionRuns*> runs_;
  std::unordered_map<int64_t, std::optional<int32_t>> combined_;
  std::unordered_map<int32_t, int32_t> in_any_order_;  // known results of in_any_order()
};

// ---- Contents: the exact contents of a block

// Positions low .. high of a block hold positions low + shift .. high + shift of the value.
struct Fragment {
  int64_t low, high;
  int64_t shift;
  int32_t value;
  bool unused = false;  // written, and not read since
  friend bool operator==(const Fragment&, const Fragment&) = default;
};
using Fragments = std::vector<Fragment>;

// A half-open interval.
struct Interval {
  int64_t low, high;
  bool meets(const Interval& other) const { return low < other.high && other.low < high; }
};

// The contents of a block. There are millions of blocks. Most have one fragment, which is stored without a list.
class BlockContents {
 public:
  bool written() const { return written_; }
  // Returns the fragments in the order of positions. Equal neighbors are joined.
  Fragments fragments() const;
  int64_t length() const {
    return !list_ ? one_.high : list_->empty() ? 0 : list_->rbegin()->second.high;
  }
  // Returns whether the block holds all of low .. high.
  bool holds(int64_t low, int64_t high) const;

  // Returns the contents of low .. high, moved to 0 .. high - low. They count as used from now on.
  Fragments read(int64_t low, int64_t high);
  // Replaces low .. high by fragments that cover it. They count as unused until they are read.
  void write(int64_t low, int64_t high, const Fragments& fragments);
  void clear() { replace(INT64_MIN, INT64_MAX, {}); }
  void mark_read(int64_t low, int64_t high);

  // Returns whether some position of low .. high was written and not read since.
  bool unused(int64_t low, int64_t high) const;
  // Returns whether some position already holds the data that the fragments bring there.
  bool shares(const Fragments& fragments) const;

 private:
  using List = std::map<int64_t, Fragment>;  // by `low`
  // Returns the first fragment of a list that ends above `low`.
  static List::iterator first_in(List& list, int64_t low);
  // Calls visit(fragment) for the fragments that meet low .. high, in their order, until it returns false.
  template <class Visit>
  void visit(int64_t low, int64_t high, Visit visit) const;
  // Replaces the fragments that meet low .. high by others.
  void replace(int64_t low, int64_t high, const Fragments& by);

  Fragment one_ = {};  // the only fragment, if there is no list; empty for an empty block
  std::unique_ptr<List> list_;
  bool written_ = false;
};

class Accesses {
 public:
  // Records an access in the step with that key. Keys do not decrease within an epoch, and all steps of earlier
  // epochs are complete. Returns the key of the first earlier step above `after` that conflicts with the access: both
  // access a byte in common, and one of them writes.
  std::optional<int64_t> note(int64_t epoch, int64_t key, int64_t after, const Interval& part,
                              bool write);

 private:
  struct Step {
    int64_t key;
    bool write;
    friend bool operator==(const Step&, const Step&) = default;
  };
  struct Part {
    int64_t high;
    std::vector<Step> steps;  // the steps that have accessed this part, in their order

    void use(int64_t key, bool write);
    std::optional<int64_t> disturbed(int64_t key, int64_t after, bool write) const;
  };

  using Parts = std::map<int64_t, Part>;  // by the position where they begin

  Parts::iterator cut(Parts::iterator part, int64_t position);

  int64_t epoch_ = 0;
  Parts parts_;
};

// ---- Barriers: a process knows who has entered: those that it has received from, directly or through others

// A set of processes, as intervals of their numbers. If processes receive from neighbors, the intervals are few.
class ProcessSet {
 public:
  ProcessSet() = default;
  explicit ProcessSet(int64_t process) : intervals_{{process, process + 1}} {}

  void add(const ProcessSet& others);
  // Returns the lowest process number that is not in the set.
  int64_t first_missing() const;

  friend bool operator==(const ProcessSet& a, const ProcessSet& b);

 private:
  std::vector<Interval> intervals_;  // ascending, with gaps between them
};

// Follows which processes one process has received from, step by step. A message carries the set that its sender is
// sure to have when the step starts: what came in the steps that this step waits for.
class BarrierProgress {
 public:
  // `keep`: keeps the sets of all steps, since a step may start before the previous one is complete.
  BarrierProgress(int64_t process, bool keep) : keep_(keep), process_(process) {}

  // Starts a step that waits for the steps with keys up to `after`. Without `after`, it waits for all earlier steps.
  void begin(std::optional<int64_t> after);
  const ProcessSet& sent() const { return sent_; }  // carried by each message of that step
  void receive(const ProcessSet& others) { arriving_.add(others); }
  // Completes the step that has started, if there is one.
  void complete(int64_t key);
  // Returns the set after all steps.
  ProcessSet all() const { return steps_.empty() ? ProcessSet(process_) : steps_.back().received; }

 private:
  struct Completed {
    int64_t key;
    ProcessSet received;  // everything received so far
  };

  bool keep_, begun_ = false;
  int64_t process_;
  std::vector<Completed> steps_;  // by ascending keys; only the last unless keep_
  ProcessSet sent_, arriving_;
};

// ---- The buffers of all ranks

// The process and step of an access. An access outside steps overlaps with no step.
struct Use {
  int process = 0;
  int64_t epoch = 0;  // of the process: a copy outside steps ends an epoch
  std::optional<int64_t> key;
  std::optional<int64_t> after;
  bool in_step = false;
};

// A piece, and the data read there.
struct Part {
  PieceValue piece{};
  int64_t length = 0;  // -1: the length of the arriving data
  Fragments fragments;
};

// Sees all data that processes write, in the order of the steps of each process. Pictures are made from it.
class Observer {
 public:
  virtual ~Observer() = default;
  // The fragments are about to replace the contents of interval `over` of the block, which still holds `before`.
  virtual void write(const Use& use, const PieceValue& piece, const BlockContents& before,
                     const Interval& over, const Fragments& fragments, const Values& values) = 0;
};

class Memory {
 public:
  Memory(const Program& program, const Call& call, const std::vector<Binding>& bindings,
         const Processes& processes, Findings& findings, Observer* observer = nullptr);

  // Returns the data that a send, copy or reduction reads from the piece.
  Part read(const Use& use, const PieceValue& piece);
  // Returns the place that a receive will write, and its length.
  Part target(const Use& use, const PieceValue& piece);
  // Writes the data read at `source`. A local write comes from the same rank.
  void write(const Use& use, const PieceValue& piece, const Part& source, bool local);
  // Returns the result of combining `from` into `into`, with `from` on that side of the operator.
  Part combine(const Use& use, const Part& from, const Part& into, Side side);
  // Sets uneven() if the data fits the piece only if all blocks have one length. It fits anyway if the length travels
  // ahead or the rank has the data already (`is_known`), or if the rank knows the length from its own blocks.
  void note_length(const Use& use, const PieceValue& to, const Part& part, bool is_known);

  // Checks the postcondition. Call it at the end of the walk.
  void finish();

  bool in_place() const { return in_place_; }
  const std::optional<Violation>& uneven() const { return uneven_; }

 private:
  // One T for each block. A temporary block gets its own when it is used: a program may declare many more than it uses.
  template <class T>
  class OfBlocks {
   public:
    void declare(int64_t size, bool by_need) {
      size_ = size;
      if (!by_need) all_.resize(size);
    }
    int64_t size() const { return size_; }
    T& operator[](int64_t block) { return all_.empty() ? used_[block] : all_[block]; }
    std::map<int64_t, T>& used() { return used_; }

   private:
    int64_t size_ = 0;
    std::vector<T> all_;
    std::map<int64_t, T> used_;
  };
  struct BufferState {
    OfBlocks<BlockContents> blocks;
    OfBlocks<Accesses> accesses;  // empty if no two steps may be in flight together
    std::vector<bool> arrived;    // by block: has data that a call in place does not start with
  };
  using Buffers = std::array<BufferState, 3>;

  void fail(Property property, const Use& use, const std::string& detail);
  void fill_send_blocks(int process);
  int64_t length_of(int process, Buffer buffer, int64_t block) const;
  BufferState& buffer(int process, Buffer buffer) {
    return buffers_[process][static_cast<int>(buffer)];
  }
  BlockContents* find(const Use& use, const PieceValue& piece);
  std::optional<Interval> interval(const Use& use, const PieceValue& piece, int64_t whole);
  bool is_over_own(const Use& use, const PieceValue& piece, int64_t low, const Part& source,
                   bool local) const;
  void access(const Use& use, const PieceValue& piece, const Interval& part, bool write);
  void ask_in_place(const Use& use, int64_t send_block);
  std::optional<int64_t> alias(int process, int64_t send_block) const;
  void finish_block(int process, int64_t block);

  const Program& program_;
  const Call& call_;
  const Processes& processes_;
  Findings& findings_;
  Observer* const observer_;
  Values values_;
  std::vector<Buffers> buffers_;  // by process
  bool in_place_ = true;
  std::optional<Violation> uneven_;
};

}  // namespace quadrille::verifier
