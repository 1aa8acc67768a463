// The messages of a program, and their lengths. All ranks are walked, and then followed together: forwarded data is as
// long as the data received.
#include <deque>
#include <map>

#include "schedule/result.h"
#include "tests/net/oracle.h"

namespace quadrille::net {
namespace {

struct WalkedMessage {
  MessageHead head;
  std::vector<PieceValue> pieces;
};

struct WalkedStep {
  int64_t key, after;
  std::vector<WalkedMessage> messages;
  std::vector<std::pair<PieceValue, PieceValue>> copies;
  bool is_outside = false;  // only copies
};

class Collector : public SinkOf<Collector> {
 public:
  void message(const MessageHead& head) { steps.back().messages.push_back({head, {}}); }
  void piece(const PieceValue& piece) { steps.back().messages.back().pieces.push_back(piece); }
  void copy(const PieceValue& from, const PieceValue& to) {
    steps.back().copies.emplace_back(from, to);
  }
  void reduce(Side, const PieceValue&, const PieceValue&) {
    check(false, "collectives that reduce are not simulated yet");
  }
  std::vector<WalkedStep> steps;
};

std::vector<WalkedStep> walk(const Walked& walked, int64_t rank) {
  std::vector<int64_t> registers(static_cast<size_t>(walked.code.registers()));
  Collector collector;
  Walker walker;
  walked.code.start(walked.binding, rank, walker, registers.data());
  int64_t last = -1;
  for (;;) {
    const Pause pause =
        walked.code.run<PauseAtAll>(walked.binding, walker, registers.data(), collector);
    if (pause == Pause::kEnd) return std::move(collector.steps);
    check(pause == Pause::kStep || pause == Pause::kStepEnd || pause == Pause::kOutside,
          "a program of the registry is undefined, or has lanes");
    if (pause == Pause::kStep) {
      collector.steps.push_back({walker.key, walker.has_after ? walker.after : last, {}, {}});
      last = walker.key;
    }
    if (pause == Pause::kOutside) collector.steps.push_back({last, last, {}, {}, true});
  }
}

// Follows all ranks at once.
class Follower {
 public:
  Follower(const Walked& walked, const std::vector<int>& real, const Lengths& lengths)
      : walked_(walked), real_(real), lengths_(lengths), ranks_(walked.ranks) {
    for (int64_t r = 0; r < ranks_; ++r) states_.push_back({walk(walked, r), 0, false, {}, {}});
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
    std::vector<WalkedStep> steps;
    size_t next;
    bool has_sent;
    std::map<int64_t, int64_t> temporaries;  // the lengths of temporary blocks
    std::vector<ExpectedStep> expected;
  };
  using Pieces = std::vector<int64_t>;  // the lengths of a message's pieces

  int64_t length(int64_t rank, const PieceValue& piece) {
    if (piece.ranged) return piece.high - piece.low;
    if (piece.buffer == Buffer::kTemporary)
      return states_[static_cast<size_t>(rank)].temporaries.at(piece.block);
    if (walked_.collective == Collective::kAllgather) {
      const Rank owner{piece.buffer == Buffer::kSend ? rank : piece.block};
      return lengths_(owner, owner);
    }
    return piece.buffer == Buffer::kSend ? lengths_({rank}, {piece.block})
                                         : lengths_({piece.block}, {rank});
  }

  ExpectedMessage expect(const WalkedMessage& message, const Pieces& lengths) {
    int64_t bytes = 0;
    for (const int64_t length : lengths) bytes += length;
    return {message.head.direction == Direction::kReceive,
            real_[static_cast<size_t>(message.head.peer)], bytes,
            static_cast<int64_t>(lengths.size())};
  }

  void send(int64_t rank, State& state, const WalkedStep& step) {
    std::vector<std::pair<int64_t, int64_t>> copied;
    if (!step.is_outside) state.expected.push_back({{step.key}, {step.after}, {}});
    for (const WalkedMessage& message : step.messages) {
      if (message.head.direction == Direction::kReceive) continue;
      Pieces lengths;
      for (const PieceValue& piece : message.pieces) lengths.push_back(length(rank, piece));
      state.expected.back().messages.push_back(expect(message, lengths));
      under_way_[{rank, message.head.peer}].push_back(std::move(lengths));
    }
    for (const auto& [from, to] : step.copies)
      if (to.buffer == Buffer::kTemporary) copied.emplace_back(to.block, length(rank, from));
    for (const auto& [slot, bytes] : copied) state.temporaries[slot] = bytes;
    state.has_sent = true;
  }

  bool can_receive(int64_t rank, const WalkedStep& step) {
    for (const WalkedMessage& message : step.messages)
      if (message.head.direction == Direction::kReceive &&
          under_way_[{message.head.peer, rank}].empty())
        return false;
    return true;
  }

  void receive(int64_t rank, State& state, const WalkedStep& step) {
    for (const WalkedMessage& message : step.messages) {
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
    const WalkedStep& step = state.steps[state.next];
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

Code compiled(const Program& program) {
  Result<Code> code = Code::compile(program);
  if (!code.ok()) check(false, code.error().message.c_str());
  return std::move(code).value();
}

Binding bound(const Program& program, const Job& job, const Call& call) {
  Result<Binding> binding = bind(program, job, call, 0);
  if (!binding.ok()) check(false, binding.error().message.c_str());
  return std::move(binding).value();
}

}  // namespace

Walked::Walked(const Program& program, const Job& job, const Call& call)
    : collective(program.collective),
      code(compiled(program)),
      binding(bound(program, job, call)),
      ranks(job.groups[0].ranks()) {}

Expected expect_posts(const Walked& walked, const std::vector<int>& real, const Lengths& lengths) {
  return Follower(walked, real, lengths).run();
}

}  // namespace quadrille::net
