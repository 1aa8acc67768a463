// The three ways to a rank's event stream.
#include "tests/support/events.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/program.h"
#include "schedule/evaluate.h"
#include "schedule/traverse.h"
#include "schedule/walk.h"

namespace quadrille {
namespace {

constexpr const char* kBufferNames[] = {"send", "recv", "temp"};

std::string step_text(int64_t key, bool has_after, int64_t after) {
  return has_after ? fmt::format("step {} after {}", key, after) : fmt::format("step {}", key);
}

std::string head_text(bool receive, bool remote, bool sized, int64_t peer) {
  return fmt::format("{}{}{} {}", receive ? "receive" : "send", sized ? " sized" : "", remote ? " remote" : "", peer);
}

std::string piece_text(int buffer, int64_t block, bool ranged, int64_t low, int64_t high) {
  return ranged ? fmt::format("{}[{}]@{}..{}", kBufferNames[buffer], block, low, high)
                : fmt::format("{}[{}]", kBufferNames[buffer], block);
}

std::string piece_text(const PieceValue& piece) {
  return piece_text(static_cast<int>(piece.buffer), piece.block, piece.ranged, piece.low, piece.high);
}

struct Stop {};  // thrown where an expression is undefined: only in this oracle

class Oracle {
 public:
  Oracle(const Program& program, const Binding& binding, int64_t rank)
      : program_(program), environment_{binding.place, binding.parameters, binding.tables, {}} {
    environment_.place.rank = rank;
  }

  Events run() {
    try {
      body(program_.body, false);
      events_.push_back("end");
    } catch (const Stop&) {
      events_.push_back("undefined");
    }
    return std::move(events_);
  }

 private:
  int64_t value(const Expression& expression) {
    Undefined why = Undefined::kNone;
    const auto result = evaluate(expression, environment_, &why);
    if (!result) throw Stop{};
    return *result;
  }

  PieceValue value(const Piece& piece) {
    PieceValue result{piece.buffer, value(piece.block), piece.range.has_value(), 0, 0};
    if (!piece.range) return result;
    result.low = value(piece.range->low);
    result.high = value(piece.range->high);
    return result;
  }

  void body(const Body& statements, bool in_step) {
    const size_t scope = environment_.variables.size();
    for (const Statement& statement : statements)
      std::visit([&](const auto& kind) { this->statement(kind, in_step); }, statement.kind);
    environment_.variables.resize(scope);
  }

  void statement(const Let& let, bool) { environment_.variables.push_back(value(let.value)); }
  void statement(const For& loop, bool in_step) {
    const int64_t low = value(loop.low), high = value(loop.high);
    for (int64_t i = low; i < high; ++i) {
      environment_.variables.push_back(i);
      body(loop.body, in_step);
      environment_.variables.pop_back();
    }
  }
  void statement(const If& choice, bool in_step) {
    body(value(choice.condition) ? choice.then : choice.otherwise, in_step);
  }
  void statement(const Step& step, bool) {
    const int64_t key = value(step.key);
    events_.push_back(step_text(key, step.after.has_value(), step.after ? value(*step.after) : 0));
    body(step.body, true);
    events_.push_back("step end");
  }
  void statement(const Message& message, bool in_step) {
    const int64_t peer = value(message.peer);
    events_.push_back(head_text(message.direction == Direction::kReceive, message.remote, message.sized, peer));
    body(message.pieces, in_step);
    events_.push_back("message end");
  }
  void statement(const Transfer& transfer, bool) { events_.push_back(piece_text(value(transfer.piece))); }
  void statement(const Copy& copy, bool in_step) {
    const PieceValue from = value(copy.from), to = value(copy.to);
    events_.push_back(fmt::format("copy{} {} {}", in_step ? "" : " outside", piece_text(from), piece_text(to)));
  }
  void statement(const Reduce& reduce, bool in_step) {
    const PieceValue from = value(reduce.from), into = value(reduce.into);
    events_.push_back(fmt::format("reduce {}{} {} {}", reduce.side == Side::kLeft ? "left" : "right",
                                  in_step ? "" : " outside", piece_text(from), piece_text(into)));
  }
  void statement(const Lanes& lanes, bool) {
    events_.push_back(fmt::format("lanes {}", lanes.bodies.size()));
    for (const Body& lane : lanes.bodies) {
      events_.push_back("lane");
      body(lane, false);
    }
    events_.push_back("lanes end");
  }

  const Program& program_;
  Environment environment_;
  Events events_;
};

// The checker's walk, told as events.
template <class Pauses>
class WalkTeller {
 public:
  WalkTeller(const Program& program, const Binding& binding)
      : code_(*Code::compile(program)), binding_(binding) {}

  Events run(int64_t rank) {
    std::vector<int64_t> registers(code_.registers());
    Walker walker;
    code_.start(binding_, rank, walker, registers.data());
    go(walker, registers);
    return std::move(events_);
  }

  void block_message(const MessageHead& head, Buffer buffer, int64_t block) {
    message(head);
    piece({buffer, block, false, 0, 0});
    message_end();
  }
  void message(const MessageHead& head) {
    events_.push_back(head_text(head.direction == Direction::kReceive, head.remote, head.sized, head.peer));
  }
  void piece(const PieceValue& piece) { events_.push_back(piece_text(piece)); }
  void message_end() { events_.push_back("message end"); }
  void copy(const PieceValue& from, const PieceValue& to) {
    events_.push_back(fmt::format("copy{} {} {}", outside_ ? " outside" : "", piece_text(from), piece_text(to)));
  }
  void reduce(Side side, const PieceValue& from, const PieceValue& into) {
    events_.push_back(fmt::format("reduce {}{} {} {}", side == Side::kLeft ? "left" : "right",
                                  outside_ ? " outside" : "", piece_text(from), piece_text(into)));
  }

 private:
  void go(Walker& walker, std::vector<int64_t>& registers) {
    for (;;) {
      const Pause pause = code_.run<Pauses>(binding_, walker, registers.data(), *this);
      outside_ = pause == Pause::kOutside;
      switch (pause) {
        case Pause::kStep:
          events_.push_back(step_text(walker.key, walker.after != kNoAfter, walker.after));
          break;
        case Pause::kStepEnd: events_.push_back("step end"); break;
        case Pause::kOutside: break;
        case Pause::kLanes: lanes(walker, registers); break;
        case Pause::kLaneEnd: return;
        case Pause::kEnd: events_.push_back("end"); return;
        case Pause::kUndefined: events_.push_back("undefined"); return;
      }
    }
  }

  void lanes(Walker& walker, const std::vector<int64_t>& registers) {
    events_.push_back(fmt::format("lanes {}", code_.lanes(walker)));
    for (int i = 0; i < code_.lanes(walker); ++i) {
      events_.push_back("lane");
      Walker lane;
      std::vector<int64_t> own = registers;
      code_.start_lane(walker, i, lane);
      go(lane, own);
    }
    events_.push_back("lanes end");
    code_.resume_after_lanes(walker);
  }

  const Code code_;
  const Binding& binding_;
  bool outside_ = false;
  Events events_;
};

std::string piece_text(const quadrille_piece& piece) {
  return piece_text(piece.buffer, piece.block, piece.ranged, piece.low, piece.high);
}

std::string head_text(unsigned flags, int64_t peer) {
  return head_text(flags & QUADRILLE_MESSAGE_RECEIVE, flags & QUADRILLE_MESSAGE_REMOTE, flags & QUADRILLE_MESSAGE_SIZED,
                   peer);
}

void tell_run(const quadrille_event& event, Events& events) {
  for (int64_t i = 0; i < event.count; ++i) {
    const auto value = [&](int at) { return event.strides[at].value + i * event.strides[at].stride; };
    events.push_back(step_text(value(0), event.has_after, event.has_after ? value(1) : 0));
    for (int m = 0; m < event.run->message_count; ++m) {
      const auto& message = event.run->messages[m];
      events.push_back(head_text(message.flags, value(message.peer)));
      events.push_back(piece_text(message.buffer, value(message.block), false, 0, 0));
      events.push_back("message end");
    }
    events.push_back("step end");
  }
}

// Appends the event; false at the end.
bool tell(const quadrille_event& event, Events& events) {
  const char* outside = event.outside ? " outside" : "";
  switch (event.kind) {
    case QUADRILLE_EVENT_STEP: events.push_back(step_text(event.key, event.has_after, event.after)); break;
    case QUADRILLE_EVENT_STEP_END: events.push_back("step end"); break;
    case QUADRILLE_EVENT_BLOCK_MESSAGE:
      events.push_back(head_text(event.flags, event.peer));
      events.push_back(piece_text(event.piece.buffer, event.piece.block, false, 0, 0));
      events.push_back("message end");
      break;
    case QUADRILLE_EVENT_MESSAGE: events.push_back(head_text(event.flags, event.peer)); break;
    case QUADRILLE_EVENT_PIECE: events.push_back(piece_text(event.piece)); break;
    case QUADRILLE_EVENT_MESSAGE_END: events.push_back("message end"); break;
    case QUADRILLE_EVENT_COPY:
      events.push_back(fmt::format("copy{} {} {}", outside, piece_text(event.piece), piece_text(event.second)));
      break;
    case QUADRILLE_EVENT_REDUCE_LEFT:
    case QUADRILLE_EVENT_REDUCE_RIGHT:
      events.push_back(fmt::format("reduce {}{} {} {}", event.kind == QUADRILLE_EVENT_REDUCE_LEFT ? "left" : "right",
                                   outside, piece_text(event.piece), piece_text(event.second)));
      break;
    case QUADRILLE_EVENT_LANES: events.push_back(fmt::format("lanes {}", event.count)); break;
    case QUADRILLE_EVENT_LANE: events.push_back("lane"); break;
    case QUADRILLE_EVENT_LANES_END: events.push_back("lanes end"); break;
    case QUADRILLE_EVENT_RUN: tell_run(event, events); break;
    case QUADRILLE_EVENT_END: events.push_back("end"); return false;
    case QUADRILLE_EVENT_UNDEFINED: events.push_back("undefined"); return false;
  }
  return true;
}

}  // namespace

Events oracle_events(const Program& program, const Binding& binding, int64_t rank) {
  return Oracle(program, binding, rank).run();
}

Events walk_events(const Program& program, const Binding& binding, int64_t rank) {
  return WalkTeller<PauseAtAll>(program, binding).run(rank);
}

struct PauseAtOutside {
  static constexpr bool kStepEnd = false, kOutside = true;
};

Events fast_walk_events(const Program& program, const Binding& binding, int64_t rank) {
  return WalkTeller<PauseAtOutside>(program, binding).run(rank);
}

Events runtime_events(const Bytes& file, const Call& call, int64_t group, int64_t rank, int64_t root) {
  quadrille_program program;
  if (const char* error = quadrille_program_load(&program, file.data(), file.size()))
    return {std::string("refused: ") + error};
  size_t at_call = 0;
  for (int i = 0; i < program.parameter_count; ++i)
    if (program.at_call[i] && at_call < call.parameters.size()) program.parameters[i] = call.parameters[at_call++];
  quadrille_place place{rank, program.topologies[group].ranks, program.groups == 2 ? program.topologies[1 - group].ranks : 0,
                        group, root, nullptr, nullptr};
  const auto counts = [&](int64_t which) -> const int64_t* {
    return which < static_cast<int64_t>(call.counts.size()) ? call.counts[which].data() : nullptr;
  };
  place.counts = counts(group);
  place.remote_counts = counts(1 - group);
  Events events;
  quadrille_tables tables;
  if (const char* error = quadrille_tables_fill(&tables, &program, &place)) {
    events.push_back(std::string("refused: ") + error);
  } else {
    quadrille_walker walker;
    quadrille_event event{};
    quadrille_walk_start(&walker, &program, &tables, &place);
    do quadrille_walk_next(&walker, &event);
    while (tell(event, events));
  }
  quadrille_tables_destroy(&tables);
  quadrille_program_destroy(&program);
  return events;
}

Events without_step_ends(const Events& events) {
  Events result;
  std::copy_if(events.begin(), events.end(), std::back_inserter(result),
               [](const std::string& event) { return event != "step end"; });
  return result;
}

}  // namespace quadrille
