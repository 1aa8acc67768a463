// What the oracle (oracle.h) records: every rank's walk, and every access to a block.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "schedule/binding.h"
#include "schedule/walk.h"

namespace quadrille::oracle {

struct Wrong {
  std::string what;
};
inline void demand(bool holds, const char* otherwise) {
  if (!holds) throw Wrong{otherwise};
}

struct Letter {
  MessageHead head;
  std::vector<PieceValue> pieces;
};
struct Work {  // a copy, or a reduction with its side
  std::optional<Side> side;
  PieceValue from, to;
};
struct Action {
  std::optional<int64_t> key;  // of a step; empty for one copy or reduction outside steps
  std::optional<int64_t> after;
  std::vector<Letter> letters;
  std::vector<Work> works;
};
using Trace = std::vector<Action>;

// Records a walk as a trace.
class Recorder {
 public:
  Trace trace;

  void step(int64_t key, std::optional<int64_t> after) { trace.push_back({key, after, {}, {}}); }
  void step_end() {}
  void message(const MessageHead& head) { trace.back().letters.push_back({head, {}}); }
  void piece(const PieceValue& piece) { trace.back().letters.back().pieces.push_back(piece); }
  void message_end() {}
  void copy(const PieceValue& from, const PieceValue& to, bool in_step) {
    work({std::nullopt, from, to}, in_step);
  }
  void reduce(Side side, const PieceValue& from, const PieceValue& into, bool in_step) {
    work({side, from, into}, in_step);
  }

 private:
  void work(Work work, bool in_step) {
    if (!in_step) trace.push_back({});
    trace.back().works.push_back(work);
  }
};

// An access to a range of a block.
struct Touch {
  int64_t number;  // counts all accesses, in order at each rank
  int64_t epoch;
  std::optional<int64_t> key, after;
  bool write, onto_itself;
  int64_t low, high;
};

// A send that has met its receive.
struct Met {
  int source, target;
  int64_t key;
};

struct Log {
  using Where = std::tuple<int, Buffer, int64_t>;  // process, buffer, block
  std::vector<Place> places;                       // one for each process
  std::map<Where, std::vector<Touch>> touches;
  std::vector<Met> met;

  // Returns the receive block that shares its memory with a send block in place, or nullopt if none does.
  std::optional<int64_t> alias(Collective collective, int process, int64_t block) const;
};

// Check the log at the end. They throw Wrong at the first violation.
void ask_uses(const Log& log);
void ask_in_place(const Log& log, const Program& program);
void ask_port(const Log& log, const Program& program, const Job& job);
// Returns how many messages each way the claimed port allows at a time.
inline int64_t ports_of(const Program& program, const Job& job) {
  return program.port.kind == PortKind::kParameter ? job.parameters[0] : 1;
}
// Checks that no rank leaves a barrier too early. Needs every rank's walk.
void ask_barrier(const Log& log, const std::deque<Trace>& traces);

}  // namespace quadrille::oracle
