// First the oracle records every rank's walk. Then it matches messages one by one, and keeps every block as a map
// from positions to contents. At the end it checks the log of all accesses, pair by pair, for steps in flight
// together and calls in place.
#include "tests/support/oracle.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>

#include "tests/support/oracle_log.h"
#include "tests/support/plain_walk.h"

namespace quadrille {
namespace oracle {
namespace {

struct Cell {
  std::vector<Contribution> sum;
  std::string tree;  // as in "((0 1) 2)"
  int64_t origin;    // position in its contributions
  bool used;
};
struct Content {
  bool written = false;
  std::map<int64_t, Cell> cells;
};
struct Data {  // data read from a piece, which has a length even if it is empty
  PieceValue piece;
  std::vector<Cell> cells;
};

struct Posted {
  int process;
  int64_t epoch;
  const Action* step;
  MessageHead head;
  std::vector<PieceValue> pieces;
  std::vector<Data> data;  // the data that is sent or has arrived
};

// How far a rank has come.
struct Context {
  int process;
  const Trace* trace;
  int64_t next = 0, epoch = 0, unmet = 0;
  std::vector<Posted> receives;  // of the step in which it waits
};

class Oracle {
 public:
  Oracle(const Program& program, const Job& job, const Call& call)
      : program_(program), job_(job), call_(call) {
    for (const Table& table : program.tables)
      knows_counts_ |= table.kind == TableKind::kCounts || table.kind == TableKind::kRemoteCounts;
  }

  void run(int64_t limit) {
    for (int64_t group = 0; group < program_.groups; ++group) {
      const Binding binding = *bind(program_, job_, call_, group);
      for (int64_t rank = 0; rank < binding.place.ranks; ++rank) add_rank(binding, rank, limit);
    }
    for (size_t i = 0; i < traces_.size(); ++i) {
      ask_order(traces_[i]);
      contexts_.push_back({static_cast<int>(i), &traces_[i], 0, 0, 0, {}});
      ready_.push_back(&contexts_.back());
    }
    while (!ready_.empty()) {
      Context& next = *ready_.front();
      ready_.pop_front();
      advance(next);
    }
    for (const Context& context : contexts_)
      demand(context.next == static_cast<int64_t>(context.trace->size()) && context.unmet == 0,
             "somebody waits for ever");
    ask_end();
    ask_uses(log_);
    ask_in_place(log_, program_);
    ask_port(log_, program_, job_);
    if (program_.collective == Collective::kBarrier) ask_barrier(log_, traces_);
  }

 private:
  using Where = Log::Where;

  void add_rank(const Binding& binding, int64_t rank, int64_t limit) {
    Recorder recorder;
    const WalkEnd end = PlainWalk(program_, binding, rank, recorder).run(limit);
    demand(end != WalkEnd::kTooLong, "too long");
    demand(end != WalkEnd::kUndefined, "undefined");
    const int process = static_cast<int>(traces_.size());
    traces_.push_back(std::move(recorder.trace));
    log_.places.push_back(binding.place);
    log_.places.back().rank = rank;
    temporary_.push_back(binding.temporary_blocks);
    for (int64_t block = 0; block < blocks(process, Buffer::kSend); ++block) {
      Content& content = memory_[{process, Buffer::kSend, block}];
      content.written = true;
      for (int64_t i = 0; i < length(process, Buffer::kSend, block); ++i)
        content.cells[i] = {{{binding.place.group, rank, block}}, std::to_string(rank), i, true};
    }
  }

  int64_t blocks(int process, Buffer buffer) const {
    return buffer == Buffer::kTemporary
               ? temporary_[process]
               : block_count(program_.collective, buffer, log_.places[process]);
  }

  int64_t length(int process, Buffer buffer, int64_t block) const {
    if (call_.counts.empty()) return 1;
    const Place& place = log_.places[process];
    const LengthSource source = length_source(program_.collective, buffer, place, {block});
    return call_.counts[source.remote ? 1 - place.group : place.group][source.index];
  }

  static void ask_order(const Trace& trace) {
    std::optional<int64_t> last;
    for (const Action& action : trace) {
      if (!action.key) continue;
      demand(!last || *last < *action.key, "keys do not increase");
      last = action.key;
    }
  }

  // Runs the context's actions until it has to wait.
  void advance(Context& context) {
    going_ = &context;
    land(context);
    while (context.next < static_cast<int64_t>(context.trace->size())) {
      const Action& action = (*context.trace)[context.next++];
      if (action.key) {
        post(context, action);
        if (context.unmet > 0) return;
        land(context);
      } else {
        ++context.epoch;
        work(context, action);
      }
    }
  }

  static Posted here(const Context& context, const Action& action) {
    return {context.process, context.epoch, &action, {}, {}, {}};
  }

  // Returns the range [low, high) that the piece takes of its block. `whole` is the end of a piece without a range.
  std::pair<int64_t, int64_t> part(int process, const PieceValue& piece, int64_t whole) const {
    demand(0 <= piece.block && piece.block < blocks(process, piece.buffer), "no such block");
    if (!piece.ranged) return {0, whole};
    demand(0 <= piece.low && piece.low <= piece.high, "no such range");
    const bool temporary = piece.buffer == Buffer::kTemporary;
    demand(piece.high <= (temporary ? kMaxCount : length(process, piece.buffer, piece.block)) ||
               (temporary && piece.low == piece.high),
           "no such range");
    return {piece.low, piece.high};
  }

  Data read(const Posted& by, const PieceValue& piece) {
    const int process = by.process;
    demand(0 <= piece.block && piece.block < blocks(process, piece.buffer), "no such block");
    Content& content = memory_[{process, piece.buffer, piece.block}];
    const int64_t whole = piece.buffer != Buffer::kTemporary
                              ? length(process, piece.buffer, piece.block)
                          : content.cells.empty() ? 0
                                                  : content.cells.rbegin()->first + 1;
    const auto [low, high] = part(process, piece, whole);
    demand(content.written, "not held");
    Data data{piece, {}};
    for (int64_t i = low; i < high; ++i) {
      const auto cell = content.cells.find(i);
      demand(cell != content.cells.end(), "not held");
      cell->second.used = true;
      data.cells.push_back(cell->second);
    }
    touch(by, piece, low, high, false, false);
    return data;
  }

  void touch(const Posted& by, const PieceValue& piece, int64_t low, int64_t high, bool write,
             bool onto_itself) {
    log_.touches[{by.process, piece.buffer, piece.block}].push_back(
        {uses_++, by.epoch, by.step->key, by.step->after, write, onto_itself, low, high});
  }

  static bool same(const Cell& a, const Cell& b) { return a.sum == b.sum && a.origin == b.origin; }

  void write(const Posted& by, const PieceValue& piece, const Data& data, bool local) {
    const int process = by.process;
    const int64_t size = static_cast<int64_t>(data.cells.size());
    const bool temporary = piece.buffer == Buffer::kTemporary;
    part(process, piece, 0);
    const auto [low, high] =
        part(process, piece, temporary ? size : length(process, piece.buffer, piece.block));
    demand(high - low == size, "lengths differ");
    demand(!is_own(process, piece) ||
               (local && data.piece.buffer == Buffer::kSend && data.piece.low == low),
           "written over the own contribution");
    Content& content = memory_[{process, piece.buffer, piece.block}];
    content.written = true;
    bool again = false;
    for (int64_t i = 0; i < size; ++i) {
      const auto cell = content.cells.find(low + i);
      again = again || (cell != content.cells.end() && same(cell->second, data.cells[i]));
      demand(cell == content.cells.end() || cell->second.used, "overwritten before it was used");
    }
    demand(!again, "written again");
    if (temporary && !piece.ranged) {
      for (const auto& [position, cell] : content.cells)
        demand(cell.used, "overwritten before it was used");
      content.cells.clear();
    }
    for (int64_t i = 0; i < size; ++i) {
      content.cells[low + i] = data.cells[i];
      content.cells[low + i].used = false;
    }
    const bool onto_itself =
        local && data.piece.buffer == Buffer::kSend && piece.buffer == Buffer::kReceive &&
        log_.alias(program_.collective, process, data.piece.block) == piece.block &&
        data.piece.low == low;
    touch(by, piece, low, high, true, onto_itself);
  }

  // Returns whether the piece's block serves as the send buffer of an allgather in place.
  bool is_own(int process, const PieceValue& piece) const {
    return program_.collective == Collective::kAllgather && program_.groups == 1 &&
           piece.buffer == Buffer::kReceive && piece.block == log_.places[process].rank;
  }

  // Returns the canonical tree of `ranks` ranks, from `first` on.
  static std::string canonical_tree(int64_t first, int64_t ranks) {
    if (ranks == 1) return std::to_string(first);
    int64_t half = 1;
    while (2 * half < ranks) half *= 2;
    return "(" + canonical_tree(first, half) + " " + canonical_tree(first + half, ranks - half) +
           ")";
  }

  Data combine(const Data& from, const Data& into, Side side) const {
    demand(from.cells.size() == into.cells.size(), "lengths differ");
    Data result = into;
    for (size_t i = 0; i < result.cells.size(); ++i) {
      const Cell& left = side == Side::kLeft ? from.cells[i] : into.cells[i];
      const Cell& right = side == Side::kLeft ? into.cells[i] : from.cells[i];
      demand(left.origin == right.origin, "elements of different places");
      Cell& cell = result.cells[i];
      cell.sum = left.sum;
      for (const Contribution& contribution : right.sum) {
        demand(std::ranges::find(cell.sum, contribution) == cell.sum.end(), "added twice");
        cell.sum.push_back(contribution);
      }
      cell.tree = "(" + left.tree + " " + right.tree + ")";
      demand(!program_.canonical ||
                 cell.tree == canonical_tree(cell.sum[0].rank, std::ssize(cell.sum)),
             "another tree");
    }
    return result;
  }

  // Runs local statements in the order of the text. Each sees the results of those above it.
  void work(Context& context, const Action& action) {
    const Posted by = here(context, action);
    for (const Work& work : action.works) {
      Data result = read(by, work.from);
      if (work.side) result = combine(result, read(by, work.to), *work.side);
      write(by, work.to, result, true);
    }
  }

  void post(Context& context, const Action& action) {
    std::vector<std::pair<int, Posted>> sends;
    std::vector<int> froms;  // source of each receive
    std::set<std::pair<int, bool>> seen;
    const Place& place = log_.places[context.process];
    if (!action.letters.empty() && place.group == 0 && place.remote_ranks > 0 &&
        rooted(program_.collective))
      demand(place.rank == place.root, "the root alone of its group takes part");
    for (const Letter& letter : action.letters) {
      const int64_t ranks = letter.head.remote ? place.remote_ranks : place.ranks;
      demand(0 <= letter.head.peer && letter.head.peer < ranks, "no such rank");
      const int64_t group = letter.head.remote ? 1 - place.group : place.group;
      const int peer = static_cast<int>(letter.head.peer + (group ? job_.groups[0].ranks() : 0));
      demand(peer != context.process, "a message to itself");
      const bool send = letter.head.direction == Direction::kSend;
      demand(seen.insert({peer, send}).second, "two messages one way");
      Posted posted = here(context, action);
      posted.head = letter.head;
      posted.pieces = letter.pieces;
      for (const PieceValue& piece : letter.pieces)
        if (send) {
          posted.data.push_back(read(posted, piece));
          demand(!posted.data.back().cells.empty() || letter.head.sized || !knows_counts_,
                 "an empty piece");
        } else {
          part(context.process, piece, 0);
        }
      if (send)
        sends.emplace_back(peer, std::move(posted));
      else
        context.receives.push_back(std::move(posted)), froms.push_back(peer);
    }
    work(context, action);
    context.unmet += static_cast<int64_t>(action.letters.size());
    for (auto& [peer, posted] : sends) {
      sends_[{context.process, peer}].push_back(std::move(posted));
      meet(context.process, peer);
    }
    for (size_t i = 0; i < froms.size(); ++i) {
      receives_[{froms[i], context.process}].push_back({&context, i});
      meet(froms[i], context.process);
    }
  }

  // Matches the next send from `source` to `target` with the next receive there, if both are posted.
  void meet(int source, int target) {
    std::deque<Posted>& sends = sends_[{source, target}];
    std::deque<Receive>& receives = receives_[{source, target}];
    if (sends.empty() || receives.empty()) return;
    const Posted& sent = sends.front();
    Context* const receiver = receives.front().context;
    Posted& received = receiver->receives[receives.front().number];
    demand(*sent.step->key == *received.step->key, "keys differ");
    demand(sent.pieces.size() == received.pieces.size(), "numbers of pieces differ");
    demand(sent.head.sized == received.head.sized, "one end knows no lengths");
    received.data = sent.data;
    log_.met.push_back({source, target, *sent.step->key});
    for (Context* context : {&contexts_[source], receiver})
      if (--context->unmet == 0 && context != going_) ready_.push_back(context);
    sends.pop_front();
    receives.pop_front();
  }

  // Writes or combines the data that the step received, in the order of the text.
  void land(Context& context) {
    for (const Posted& received : context.receives)
      for (size_t i = 0; i < received.pieces.size(); ++i) {
        const PieceValue& piece = received.pieces[i];
        const auto side = received.head.combine;
        write(received, piece,
              side ? combine(received.data[i], read(received, piece), *side) : received.data[i],
              false);
      }
    context.receives.clear();
  }

  void ask_end() {
    for (int process = 0; process < static_cast<int>(log_.places.size()); ++process)
      for (int64_t block = 0; block < blocks(process, Buffer::kReceive); ++block)
        ask_block(process, block);
    for (const auto& [where, content] : memory_)
      for (const auto& [position, cell] : content.cells)
        demand(cell.used || std::get<1>(where) != Buffer::kTemporary, "moved in vain");
  }

  void ask_block(int process, int64_t block) {
    const std::vector<Contribution> wanted =
        required(program_.collective, log_.places[process], {block});
    const Content& content = memory_[{process, Buffer::kReceive, block}];
    for (int64_t i = 0; i < length(process, Buffer::kReceive, block); ++i) {
      const auto cell = content.cells.find(i);
      demand(cell != content.cells.end(), "missing at the end");
      std::vector<Contribution> sum = cell->second.sum;
      if (program_.commutative) std::ranges::sort(sum);
      demand(sum == wanted && cell->second.origin == i, "something else at the end");
    }
  }

  const Program& program_;
  const Job& job_;
  const Call& call_;
  bool knows_counts_ = false;
  std::deque<Trace> traces_;
  Log log_;
  int64_t uses_ = 0;
  std::vector<int64_t> temporary_;
  std::deque<Context> contexts_;
  std::deque<Context*> ready_;
  const Context* going_ = nullptr;
  std::map<Where, Content> memory_;
  struct Receive {
    Context* context;
    size_t number;  // index among the context's receives
  };
  std::map<std::pair<int, int>, std::deque<Posted>> sends_;
  std::map<std::pair<int, int>, std::deque<Receive>> receives_;
};

}  // namespace
}  // namespace oracle

std::optional<std::string> what_is_wrong(const Program& program, const Job& job, const Call& call,
                                         int64_t limit) {
  try {
    oracle::Oracle(program, job, call).run(limit);
  } catch (const oracle::Wrong& wrong) {  // the style allows exceptions in the oracle only
    return wrong.what;
  }
  return std::nullopt;
}

}  // namespace quadrille
