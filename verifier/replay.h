// Lists the actions of ranks, event by event. The replay command of a refutation prints them, and tests compare them.
#pragma once

#include <fmt/core.h>

#include <optional>
#include <string>
#include <vector>

#include "schedule/walk.h"

namespace quadrille::verifier {

using Events = std::vector<std::string>;

std::string step_text(int64_t key, bool has_after, int64_t after);
std::string message_text(const MessageHead& head);
std::string piece_text(int buffer, int64_t block, bool ranged, int64_t low, int64_t high);
std::string piece_text(const PieceValue& piece);

// Turns the walk of one rank into events: "step 3 after -1", "send sized to 4", "recv[5]", "message end", "end". A
// walk that meets an expression without a value ends with "undefined". `Pauses` says whether the events include the
// ends of steps.
template <class Pauses>
class EventTeller : public SinkOf<EventTeller<Pauses>> {
 public:
  EventTeller(const Program& program, const Binding& binding)
      : code_(*Code::compile(program)), binding_(binding) {}

  Events run(int64_t rank) {
    std::vector<int64_t> registers(code_.registers());
    Walker walker;
    code_.start(binding_, rank, walker, registers.data());
    go(walker, registers);
    return std::move(events_);
  }

  // The walk calls these five.
  void message(const MessageHead& head) { events_.push_back(message_text(head)); }
  void piece(const PieceValue& piece) { events_.push_back(piece_text(piece)); }
  void message_end() { events_.push_back("message end"); }
  void copy(const PieceValue& from, const PieceValue& to) {
    events_.push_back(
        fmt::format("copy{} {} {}", outside_ ? " outside" : "", piece_text(from), piece_text(to)));
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
          events_.push_back(step_text(walker.key, walker.has_after, walker.after));
          break;
        case Pause::kStepEnd: events_.push_back("step end"); break;
        case Pause::kOutside:
        case Pause::kLoop: break;
        case Pause::kEnd: events_.push_back("end"); return;
        case Pause::kUndefined: events_.push_back("undefined"); return;
      }
    }
  }

  const Code code_;
  const Binding& binding_;
  bool outside_ = false;
  Events events_;
};

// Returns the rank's steps with low <= key < high, one per line. Without `high`, it goes on to the last step.
std::vector<std::string> replay(const Program& program, const Binding& binding, int64_t rank,
                                int64_t low, std::optional<int64_t> high);

}  // namespace quadrille::verifier
