// Starting walkers; walking itself is in walk.h, for its sinks to be inlined, and what is walked is
// made by walk_compile.cc. Tested with that.
#include "schedule/walk.h"

namespace quadrille {

void Code::start(const Binding& binding, int64_t rank, Walker& walker, int64_t* registers) const {
  walker = Walker{};
  for (size_t i = 0; i < invariants_.size(); ++i) {
    const int64_t value = invariants_[i].value;
    switch (invariants_[i].op) {
      case Operator::kConstant: registers[i] = value; break;
      case Operator::kParameter: registers[i] = binding.parameters[value]; break;
      case Operator::kRank: registers[i] = rank; break;
      case Operator::kRanks: registers[i] = binding.place.ranks; break;
      case Operator::kRemoteRanks: registers[i] = binding.place.remote_ranks; break;
      case Operator::kGroup: registers[i] = binding.place.group; break;
      case Operator::kRoot: registers[i] = binding.place.root; break;
      default: registers[i] = binding.tables[value].size(); break;
    }
  }
}

// One whole block each way, the sent one of the send buffer.
bool Code::exchanges_blocks(const Run& run) {
  if (run.messages.size() != 2 || run.messages[0].flags == run.messages[1].flags) return false;
  for (const Run::Message& message : run.messages) {
    if (message.flags != 0 && message.flags != kReceiveFlag) return false;
    if (message.buffer != (message.flags == 0 ? Buffer::kSend : Buffer::kReceive)) return false;
  }
  return true;
}

std::optional<Exchanges> Code::exchanges(const Walker& walker, const int64_t* registers) const {
  const Instruction& next = instructions_[walker.program_counter];
  if (next.op != Operation::kRunStep) return std::nullopt;
  const Run& run = runs_[next.immediate];
  if (!exchanges_blocks(run)) return std::nullopt;
  const auto stride = [&](uint8_t value) {
    for (const auto& [strided, by] : run.strided)
      if (strided == value) return registers[by];
    return int64_t{0};
  };
  const uint8_t peer = run.messages[0].peer;
  for (const Run::Message& message : run.messages)
    for (const uint8_t value : {message.peer, message.block})
      if (registers[value] != registers[peer] || stride(value) != stride(peer)) return std::nullopt;
  if (run.after != kNoRegister && stride(run.after) != 0) return std::nullopt;
  return Exchanges{walker.key, stride(run.key), registers[peer], stride(peer),
                   registers[run.bound] - registers[run.index]};
}

}  // namespace quadrille
