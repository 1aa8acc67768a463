// Puts events into words, and each step on one line.
#include "verifier/replay.h"

namespace quadrille::verifier {

std::string step_text(int64_t key, bool has_after, int64_t after) {
  return has_after ? fmt::format("step {} after {}", key, after) : fmt::format("step {}", key);
}

std::string message_text(const MessageHead& head) {
  return fmt::format("{}{}{}{} {}", head.direction == Direction::kReceive ? "receive" : "send",
                     head.sized ? " sized" : "",
                     !head.combine                  ? ""
                     : *head.combine == Side::kLeft ? " left"
                                                    : " right",
                     head.remote ? " remote" : "", head.peer);
}

std::string piece_text(int buffer, int64_t block, bool ranged, int64_t low, int64_t high) {
  static constexpr const char* kBuffers[] = {"send", "recv", "temp"};
  return ranged ? fmt::format("{}[{}]@{}..{}", kBuffers[buffer], block, low, high)
                : fmt::format("{}[{}]", kBuffers[buffer], block);
}

std::string piece_text(const PieceValue& piece) {
  return piece_text(static_cast<int>(piece.buffer), piece.block, piece.ranged, piece.low,
                    piece.high);
}

std::vector<std::string> replay(const Program& program, const Binding& binding, int64_t rank,
                                int64_t low, std::optional<int64_t> high) {
  std::vector<std::string> lines;
  std::string line;
  bool wanted = true;  // true at first: events before the first step count
  const auto finish = [&] {
    if (wanted && !line.empty()) lines.push_back(line);
    line.clear();
  };
  for (const std::string& event : EventTeller<PauseAtAll>(program, binding).run(rank)) {
    if (event.starts_with("step ") && event != "step end") {
      finish();
      const int64_t key = std::stoll(event.substr(5));
      wanted = low <= key && (!high || key < *high);
      line = event + ":";
    } else if (event == "step end" || event == "message end") {
      continue;
    } else if (event == "end" || event.starts_with("undefined")) {
      finish();
      wanted = true;
      line = event;
    } else {
      // A piece belongs to the message before it.
      const bool piece = event.find('[') == 4;
      line += (line.empty() ? "" : line.ends_with(":") || piece ? " " : "  ") + event;
    }
  }
  finish();
  return lines;
}

}  // namespace quadrille::verifier
