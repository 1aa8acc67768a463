// Makes a rank's events in three ways.
#include "tests/support/events.h"

#include <fmt/core.h>

#include <algorithm>

#include "runtime/program/program.h"
#include "tests/support/found_nodes.h"
#include "tests/support/plain_walk.h"
#include "verifier/replay.h"

namespace quadrille {
namespace {

using verifier::EventTeller;
using verifier::message_text;
using verifier::piece_text;
using verifier::step_text;

// Records the events of the plain walk.
class PlainTeller {
 public:
  void step(int64_t key, std::optional<int64_t> after) {
    events_.push_back(step_text(key, after.has_value(), after.value_or(0)));
  }
  void step_end() { events_.push_back("step end"); }
  void message(const MessageHead& head) { events_.push_back(message_text(head)); }
  void piece(const PieceValue& piece) { events_.push_back(piece_text(piece)); }
  void message_end() { events_.push_back("message end"); }
  void copy(const PieceValue& from, const PieceValue& to, bool in_step) {
    events_.push_back(
        fmt::format("copy{} {} {}", in_step ? "" : " outside", piece_text(from), piece_text(to)));
  }
  void reduce(Side side, const PieceValue& from, const PieceValue& into, bool in_step) {
    events_.push_back(fmt::format("reduce {}{} {} {}", side == Side::kLeft ? "left" : "right",
                                  in_step ? "" : " outside", piece_text(from), piece_text(into)));
  }

  Events finish(WalkEnd end) {
    events_.push_back(end == WalkEnd::kEnd ? "end" : "undefined");
    return std::move(events_);
  }

 private:
  Events events_;
};

std::string text_of(const qd_piece& piece) {
  return piece_text(piece.buffer, piece.block, piece.ranged, piece.low, piece.high);
}

std::string head_text(unsigned flags, int64_t peer) {
  MessageHead head{flags & QD_MESSAGE_RECEIVE ? Direction::kReceive : Direction::kSend,
                   (flags & QD_MESSAGE_REMOTE) != 0, (flags & QD_MESSAGE_SIZED) != 0, peer};
  if (flags & QD_MESSAGE_LEFT) head.combine = Side::kLeft;
  if (flags & QD_MESSAGE_RIGHT) head.combine = Side::kRight;
  return message_text(head);
}

// Appends the event. Returns false after the last event.
bool tell(const qd_event& event, Events& events) {
  const char* outside = event.outside ? " outside" : "";
  switch (event.kind) {
    case QD_EVENT_STEP: events.push_back(step_text(event.key, event.has_after, event.after)); break;
    case QD_EVENT_STEP_END: events.push_back("step end"); break;
    case QD_EVENT_PIECE_MESSAGE:
      events.push_back(head_text(event.flags, event.peer));
      events.push_back(text_of(event.piece));
      events.push_back("message end");
      break;
    case QD_EVENT_MESSAGE: events.push_back(head_text(event.flags, event.peer)); break;
    case QD_EVENT_PIECE: events.push_back(text_of(event.piece)); break;
    case QD_EVENT_MESSAGE_END: events.push_back("message end"); break;
    case QD_EVENT_COPY:
      events.push_back(
          fmt::format("copy{} {} {}", outside, text_of(event.piece), text_of(event.second)));
      break;
    case QD_EVENT_REDUCE_LEFT:
    case QD_EVENT_REDUCE_RIGHT:
      events.push_back(fmt::format("reduce {}{} {} {}",
                                   event.kind == QD_EVENT_REDUCE_LEFT ? "left" : "right", outside,
                                   text_of(event.piece), text_of(event.second)));
      break;
    case QD_EVENT_END: events.push_back("end"); return false;
    case QD_EVENT_UNDEFINED: events.push_back("undefined"); return false;
  }
  return true;
}

}  // namespace

Events oracle_events(const Program& program, const Binding& binding, int64_t rank) {
  PlainTeller teller;
  return teller.finish(PlainWalk(program, binding, rank, teller).run());
}

Events walk_events(const Program& program, const Binding& binding, int64_t rank) {
  return EventTeller<PauseAtAll>(program, binding).run(rank);
}

Events fast_walk_events(const Program& program, const Binding& binding, int64_t rank) {
  return EventTeller<PauseAtOutside>(program, binding).run(rank);
}

Events runtime_events(const Bytes& file, const Call& call, int64_t group, int64_t rank,
                      int64_t root, const std::vector<Topology>& groups) {
  qd_program program;
  if (const char* error = qd_program_load(&program, file.data(), file.size()))
    return {std::string("refused: ") + error};
  size_t at_call = 0;
  for (int i = 0; i < program.parameter_count; ++i)
    if (program.rules[i].at_call && at_call < call.parameters.size())
      program.parameters[i] = call.parameters[at_call++];
  qd_context place{rank,
                   program.topologies[group].ranks,
                   program.groups == 2 ? program.topologies[1 - group].ranks : 0,
                   group,
                   root,
                   nullptr,
                   nullptr,
                   nullptr,
                   nullptr};
  std::optional<FoundNodes> found;
  std::string why;
  if (program.serves_any_nodes) why = found.emplace(groups).take(program, place);
  const auto counts = [&](int64_t which) -> const int64_t* {
    return which < static_cast<int64_t>(call.counts.size()) ? call.counts[which].data() : nullptr;
  };
  place.counts = counts(group);
  place.remote_counts = counts(1 - group);
  Events events;
  qd_tables tables{};
  if (!why.empty()) {
    events.push_back("refused: " + why);
  } else if (const char* error = qd_tables_fill(&tables, &program, &place)) {
    events.push_back(std::string("refused: ") + error);
  } else {
    qd_walker walker;
    qd_event event{};
    qd_walk_start(&walker, &program, &tables, &place);
    do qd_walk_next(&walker, &event);
    while (tell(event, events));
  }
  qd_tables_destroy(&tables);
  qd_program_destroy(&program);
  return events;
}

Events without_broken_step(Events events) {
  if (events.empty() || events.back() != "undefined") return events;
  const auto step = std::find_if(events.rbegin(), events.rend(), [](const std::string& event) {
    return event.starts_with("step ");
  });
  events.erase(step.base(), events.end() - 1);
  return events;
}

Events without_step_ends(const Events& events) {
  Events result;
  std::copy_if(events.begin(), events.end(), std::back_inserter(result),
               [](const std::string& event) { return event != "step end"; });
  return result;
}

}  // namespace quadrille
