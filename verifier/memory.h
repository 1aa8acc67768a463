// The buffers of all ranks in execute(): what every block holds, which steps have accessed which part of it, and every
// rule about blocks. Checking stops at the first violation.
#ifndef QUADRILLE_VERIFIER_MEMORY_H_
#define QUADRILLE_VERIFIER_MEMORY_H_

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "schedule/walk.h"
#include "verifier/contents.h"
#include "verifier/findings.h"
#include "verifier/values.h"

namespace quadrille::verifier {

// Who uses a block, and when. Uses outside steps overlap with no step.
struct Use {
  int process = 0;
  int64_t epoch = 0;  // of the process: a copy outside steps ends one
  std::optional<int64_t> key;
  std::optional<int64_t> after;
  bool in_step = false;
};

// A piece, and what was read there.
struct Part {
  PieceValue piece{};
  int64_t length = 0;  // -1: as long as what arrives
  Fragments fragments;
};

class Memory {
 public:
  Memory(const Program& program, const Call& call, const std::vector<Binding>& bindings,
         const Processes& processes, Findings& findings);

  // What a send, copy or reduction reads there.
  Part read(const Use& use, const PieceValue& piece);
  // Where a receive will write, and how much.
  Part target(const Use& use, const PieceValue& piece);
  // Writes what was read at `source`. A local write comes from the same rank.
  void write(const Use& use, const PieceValue& piece, const Part& source, bool local);
  // `into` with `from` combined on that side.
  Part combine(const Use& use, const Part& from, const Part& into, Side side);
  // Records whether a receiver that knows only the lengths of its own blocks can know this one's.
  void note_length(const Use& use, const Part& part);

  // The postcondition, at the end.
  void finish();

  bool in_place() const { return in_place_; }
  bool any_counts() const { return any_counts_; }

 private:
  struct BufferState {
    std::vector<BlockContents> blocks;
    std::vector<Accesses> accesses;  // of each; none where no step may be in flight beside another
    std::vector<bool> arrived;  // something was written that a call in place has not there already
  };
  using Buffers = std::array<BufferState, 3>;

  void fail(Property property, const Use& use, std::string detail);
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
  Values values_;
  std::vector<Buffers> buffers_;  // by process
  bool in_place_ = true, any_counts_ = true;
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_MEMORY_H_
