#include "simulate/export.h"

#include <fmt/format.h>

namespace quadrille {
namespace {

using Text = std::back_insert_iterator<std::string>;

double microseconds(int64_t picoseconds) { return static_cast<double>(picoseconds) / 1e6; }

// Writes the operations of one process. A GOAL label is a letter and a number: s is a send, r a receive, m a moment.
void goal_of(const Script& script, Text out) {
  size_t received = 0, sent = 0, receives = 0, sends = 0, moments = 0;
  for (const Turn& turn : script.turns) {
    const size_t waits =
        static_cast<size_t>(turn.receives_done) + static_cast<size_t>(turn.sends_done);
    if (waits > 0) {
      fmt::format_to(out, "m{}: calc 0\n", ++moments);
      if (moments > 1) fmt::format_to(out, "m{} requires m{}\n", moments, moments - 1);
      for (int32_t n = 0; n < turn.receives_done; ++n)
        fmt::format_to(out, "m{} requires r{}\n", moments, received++);
      for (int32_t n = 0; n < turn.sends_done; ++n)
        fmt::format_to(out, "m{} requires s{}\n", moments, sent++);
    }
    const auto post = [&](char kind, size_t index, const char* what, const char* side,
                          const Post& message) {
      fmt::format_to(out, "{}{}: {} {}b {} {}\n", kind, index, what, message.bytes, side,
                     message.peer);
      if (moments > 0) fmt::format_to(out, "{}{} requires m{}\n", kind, index, moments);
    };
    for (int32_t n = 0; n < turn.receives_posted; ++n, ++receives) {
      post('r', receives, "recv", "from", script.receives[receives]);
      if (script.receives[receives].kind == Kind::kData)
        fmt::format_to(out, "r{} requires r{}\n", receives, receives - 1);
    }
    for (int32_t n = 0; n < turn.sends_posted; ++n, ++sends)
      post('s', sends, "send", "to", script.sends[sends]);
  }
}

}  // namespace

std::string goal_text(const Scripts& scripts) {
  std::string text = fmt::format("num_ranks {}\n", scripts.all.size());
  for (size_t i = 0; i < scripts.all.size(); ++i) {
    fmt::format_to(Text(text), "\nrank {} {{\n", i);
    goal_of(scripts.all[i], Text(text));
    text += "}\n";
  }
  return text;
}

std::string chrome_text(const Scripts& scripts, const Trace& trace) {
  std::string text = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
  const Text out(text);
  for (int32_t node = 0; node < scripts.nodes; ++node)
    fmt::format_to(out,
                   R"({{"ph":"M","name":"process_name","pid":{0},"args":{{"name":"node {0}"}}}},)"
                   "\n",
                   node);
  const auto place = [&](size_t process) {
    return fmt::format(R"("pid":{},"tid":{})", scripts.node[process], process);
  };
  int64_t arrow = 0;
  for (size_t i = 0; i < scripts.all.size(); ++i) {
    fmt::format_to(out,
                   R"({{"ph":"M","name":"thread_name",{},"args":{{"name":"rank {}"}}}},)"
                   "\n",
                   place(i), i);
    for (const Wait& wait : trace.waits[i]) {
      const Post& send = scripts.all[wait.of.process].sends[wait.of.index];
      const bool receives = send.peer == static_cast<int32_t>(i);
      fmt::format_to(
          out,
          R"({{"ph":"X","name":"wait for {} {}",{},"ts":{:.6f},"dur":{:.6f},"args":{{"bytes":{}}}}},)"
          "\n",
          receives ? "a message of rank" : "the send to rank",
          receives ? wait.of.process : send.peer, place(i), microseconds(wait.begin),
          microseconds(wait.end - wait.begin), send.bytes);
    }
    for (const Busy& busy : trace.busy[i])
      fmt::format_to(out,
                     R"({{"ph":"X","name":"busy",{},"ts":{:.6f},"dur":{:.6f}}},)"
                     "\n",
                     place(i), microseconds(busy.begin), microseconds(busy.end - busy.begin));
    for (size_t n = 0; n < scripts.all[i].sends.size(); ++n, ++arrow) {
      const Post& send = scripts.all[i].sends[n];
      const Times& times = trace.messages[i][n];
      fmt::format_to(out,
                     R"({{"ph":"s","id":{0},"cat":"message","name":"message",{1},"ts":{2:.6f}}},)"
                     "\n",
                     arrow, place(i), microseconds(times.send_posted));
      fmt::format_to(
          out,
          R"({{"ph":"f","bp":"e","id":{0},"cat":"message","name":"message",{1},"ts":{2:.6f}}},)"
          "\n",
          arrow, place(static_cast<size_t>(send.peer)), microseconds(times.arrived));
    }
  }
  if (text.ends_with(",\n")) text.resize(text.size() - 2);
  return text + "\n]}\n";
}

std::string csv_text(const Scripts& scripts, const Trace& trace) {
  std::string text = "from,to,bytes,send_posted_us,receive_posted_us,arrived_us\n";
  for (size_t i = 0; i < scripts.all.size(); ++i)
    for (size_t n = 0; n < scripts.all[i].sends.size(); ++n) {
      const Post& send = scripts.all[i].sends[n];
      const Times& times = trace.messages[i][n];
      fmt::format_to(Text(text), "{},{},{},{:.6f},{:.6f},{:.6f}\n", i, send.peer, send.bytes,
                     microseconds(times.send_posted), microseconds(times.receive_posted),
                     microseconds(times.arrived));
    }
  return text;
}

std::string time_text(int64_t picoseconds) {
  const auto time = static_cast<double>(picoseconds);
  if (time < 1e6) return fmt::format("{:.4g} ns", time / 1e3);
  if (time < 1e9) return fmt::format("{:.4g} us", time / 1e6);
  return time < 1e12 ? fmt::format("{:.4g} ms", time / 1e9) : fmt::format("{:.4g} s", time / 1e12);
}

std::string size_text(int64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB"};
  size_t unit = 0;
  for (; unit < 3 && bytes >= 1024 && bytes % 1024 == 0; bytes /= 1024) ++unit;
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

}  // namespace quadrille
