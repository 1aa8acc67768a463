// Computes a program's messages and their lengths. It follows all ranks together, since forwarded data keeps its
// length.
#include <deque>
#include <map>

#include "schedule/result.h"
#include "tests/net/oracle.h"
#include "tests/support/oracle_log.h"
#include "tests/support/plain_walk.h"

namespace quadrille::net {
namespace {

using oracle::Action;
using oracle::Letter;

oracle::Trace walk(const Walked& walked, int64_t rank) {
  oracle::Recorder recorder;
  const WalkEnd end = PlainWalk(walked.program, walked.binding, rank, recorder).run();
  check(end == WalkEnd::kEnd, "a program of the registry is undefined");
  return std::move(recorder.trace);
}

// Follows all ranks together.
class Follower {
 public:
  Follower(const Walked& walked, const std::vector<int>& real, const Lengths& lengths)
      : walked_(walked), real_(real), lengths_(lengths), ranks_(walked.ranks) {
    for (int64_t r = 0; r < ranks_; ++r) states_.push_back({walk(walked, r)});
  }

  Expected run() {
    Expected expected(static_cast<size_t>(ranks_));
    for (bool moved = true; moved;) {
      moved = false;
      for (int64_t r = 0; r < ranks_; ++r) moved |= advance(r);
    }
    for (int64_t r = 0; r < ranks_; ++r) {
      State& state = states_[static_cast<size_t>(r)];
      check(state.next == state.steps.size(), "a program of the registry waits for ever");
      expected[static_cast<size_t>(real_[static_cast<size_t>(r)])] = std::move(state.expected);
    }
    return expected;
  }

 private:
  struct State {
    oracle::Trace steps;
    size_t next = 0;
    bool has_sent = false;
    int64_t last = -1;                            // key of the last step
    std::map<int64_t, int64_t> temporaries = {};  // length of each temporary block
    std::vector<ExpectedStep> expected = {};
  };
  using Pieces = std::vector<int64_t>;  // length of each piece of a message

  int64_t length(int64_t rank, const PieceValue& piece) {
    if (piece.ranged) return piece.high - piece.low;
    if (piece.buffer == Buffer::kTemporary)
      return states_[static_cast<size_t>(rank)].temporaries.at(piece.block);
    if (walked_.program.collective == Collective::kAllgather) {
      const Rank owner{piece.buffer == Buffer::kSend ? rank : piece.block};
      return lengths_(owner, owner);
    }
    return piece.buffer == Buffer::kSend ? lengths_({rank}, {piece.block})
                                         : lengths_({piece.block}, {rank});
  }

  ExpectedMessage expect(const Letter& message, const Pieces& lengths) {
    int64_t bytes = 0;
    for (const int64_t length : lengths) bytes += length;
    return {message.head.direction == Direction::kReceive,
            real_[static_cast<size_t>(message.head.peer)], bytes,
            static_cast<int64_t>(lengths.size())};
  }

  void send(int64_t rank, State& state, const Action& step) {
    std::vector<std::pair<int64_t, int64_t>> copied;
    if (step.key) {
      state.expected.push_back({{*step.key}, {step.after.value_or(state.last)}, {}});
      state.last = *step.key;
    }
    for (const Letter& message : step.letters) {
      if (message.head.direction == Direction::kReceive) continue;
      Pieces lengths;
      for (const PieceValue& piece : message.pieces) lengths.push_back(length(rank, piece));
      state.expected.back().messages.push_back(expect(message, lengths));
      under_way_[{rank, message.head.peer}].push_back(std::move(lengths));
    }
    for (const auto& [side, from, to] : step.works) {
      check(!side, "collectives that reduce are not simulated yet");
      if (to.buffer == Buffer::kTemporary) copied.emplace_back(to.block, length(rank, from));
    }
    for (const auto& [slot, bytes] : copied) state.temporaries[slot] = bytes;
    state.has_sent = true;
  }

  bool can_receive(int64_t rank, const Action& step) {
    for (const Letter& message : step.letters)
      if (message.head.direction == Direction::kReceive &&
          under_way_[{message.head.peer, rank}].empty())
        return false;
    return true;
  }

  void receive(int64_t rank, State& state, const Action& step) {
    for (const Letter& message : step.letters) {
      if (message.head.direction != Direction::kReceive) continue;
      auto& queue = under_way_[{message.head.peer, rank}];
      const Pieces lengths = std::move(queue.front());
      queue.pop_front();
      check(lengths.size() == message.pieces.size(), "both ends of a message have other pieces");
      for (size_t i = 0; i < lengths.size(); ++i)
        if (message.pieces[i].buffer == Buffer::kTemporary)
          state.temporaries[message.pieces[i].block] = lengths[i];
        else
          check(lengths[i] == length(rank, message.pieces[i]), "a block arrives that is not it");
      state.expected.back().messages.push_back(expect(message, lengths));
    }
  }

  bool advance(int64_t rank) {
    State& state = states_[static_cast<size_t>(rank)];
    if (state.next == state.steps.size()) return false;
    const Action& step = state.steps[state.next];
    if (!state.has_sent) send(rank, state, step);
    if (!can_receive(rank, step)) return false;
    receive(rank, state, step);
    state.has_sent = false;
    state.next++;
    return true;
  }

  const Walked& walked_;
  const std::vector<int>& real_;
  const Lengths& lengths_;
  int64_t ranks_;
  std::vector<State> states_;
  std::map<std::pair<int64_t, int64_t>, std::deque<Pieces>> under_way_;
};

Binding bound(const Program& program, const Job& job, const Call& call) {
  Result<Binding> binding = bind(program, job, call, 0);
  if (!binding.ok()) check(false, binding.error().message.c_str());
  return std::move(binding).value();
}

}  // namespace

Walked::Walked(const Program& program, const Job& job, const Call& call)
    : program(program), binding(bound(program, job, call)), ranks(job.groups[0].ranks()) {}

Expected expect_posts(const Walked& walked, const std::vector<int>& real, const Lengths& lengths) {
  return Follower(walked, real, lengths).run();
}

}  // namespace quadrille::net
