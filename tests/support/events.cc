// The three ways to a rank's event stream.
#include "tests/support/events.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/program.h"
#include "schedule/evaluate.h"
#include "schedule/traverse.h"
#include "verifier/replay.h"

namespace quadrille {
namespace {

using verifier::EventTeller;
using verifier::message_text;
using verifier::piece_text;
using verifier::step_text;

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
    events_.push_back(message_text(message.direction == Direction::kReceive, message.remote,
                                   message.sized, peer));
    body(message.pieces, in_step);
    events_.push_back("message end");
  }
  void statement(const Transfer& transfer, bool) {
    events_.push_back(piece_text(value(transfer.piece)));
  }
  void statement(const Copy& copy, bool in_step) {
    const PieceValue from = value(copy.from), to = value(copy.to);
    events_.push_back(
        fmt::format("copy{} {} {}", in_step ? "" : " outside", piece_text(from), piece_text(to)));
  }
  void statement(const Reduce& reduce, bool in_step) {
    const PieceValue from = value(reduce.from), into = value(reduce.into);
    events_.push_back(fmt::format("reduce {}{} {} {}",
                                  reduce.side == Side::kLeft ? "left" : "right",
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

std::string text_of(const quadrille_piece& piece) {
  return piece_text(piece.buffer, piece.block, piece.ranged, piece.low, piece.high);
}

std::string head_text(unsigned flags, int64_t peer) {
  return message_text(flags & QUADRILLE_MESSAGE_RECEIVE, flags & QUADRILLE_MESSAGE_REMOTE,
                      flags & QUADRILLE_MESSAGE_SIZED, peer);
}

void tell_run(const quadrille_event& event, Events& events) {
  for (int64_t i = 0; i < event.count; ++i) {
    const auto value = [&](int at) {
      return event.strides[at].value + i * event.strides[at].stride;
    };
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
    case QUADRILLE_EVENT_STEP:
      events.push_back(step_text(event.key, event.has_after, event.after));
      break;
    case QUADRILLE_EVENT_STEP_END: events.push_back("step end"); break;
    case QUADRILLE_EVENT_BLOCK_MESSAGE:
      events.push_back(head_text(event.flags, event.peer));
      events.push_back(piece_text(event.piece.buffer, event.piece.block, false, 0, 0));
      events.push_back("message end");
      break;
    case QUADRILLE_EVENT_MESSAGE: events.push_back(head_text(event.flags, event.peer)); break;
    case QUADRILLE_EVENT_PIECE: events.push_back(text_of(event.piece)); break;
    case QUADRILLE_EVENT_MESSAGE_END: events.push_back("message end"); break;
    case QUADRILLE_EVENT_COPY:
      events.push_back(
          fmt::format("copy{} {} {}", outside, text_of(event.piece), text_of(event.second)));
      break;
    case QUADRILLE_EVENT_REDUCE_LEFT:
    case QUADRILLE_EVENT_REDUCE_RIGHT:
      events.push_back(fmt::format("reduce {}{} {} {}",
                                   event.kind == QUADRILLE_EVENT_REDUCE_LEFT ? "left" : "right",
                                   outside, text_of(event.piece), text_of(event.second)));
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
  return EventTeller<PauseAtAll>(program, binding).run(rank);
}

struct PauseAtOutside {
  static constexpr bool kStepEnd = false, kOutside = true;
};

Events fast_walk_events(const Program& program, const Binding& binding, int64_t rank) {
  return EventTeller<PauseAtOutside>(program, binding).run(rank);
}

Events runtime_events(const Bytes& file, const Call& call, int64_t group, int64_t rank,
                      int64_t root) {
  quadrille_program program;
  if (const char* error = quadrille_program_load(&program, file.data(), file.size()))
    return {std::string("refused: ") + error};
  size_t at_call = 0;
  for (int i = 0; i < program.parameter_count; ++i)
    if (program.at_call[i] && at_call < call.parameters.size())
      program.parameters[i] = call.parameters[at_call++];
  quadrille_place place{rank,
                        program.topologies[group].ranks,
                        program.groups == 2 ? program.topologies[1 - group].ranks : 0,
                        group,
                        root,
                        nullptr,
                        nullptr};
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
