// A schedule is a program over one rank. This header is the definition of the language; the walk (schedule/walk.h),
// the prover (verifier/prove) and the interpreter (runtime/) each implement it.
//
// Steps. A step has a key; keys strictly increase at a rank. `step key after a` may start once this rank's earlier
// steps with key <= a are complete; without `after`, once the previous step is. A window further limits how many steps
// are in flight. Messages are posted in key order and posting never blocks. All sends of a step read first. Then its
// copies and reductions run in the order of the text, each on the results of those above. Then its receives are
// written, or combined, in the order of the text. The order between statements of different kinds has no meaning.
// `copy` and `reduce` outside steps wait for all earlier steps, and later steps wait for them.
//
// Messages. A step has at most one message in each direction between two ranks. No rank sends to itself, and no
// message stands outside a step. The t-th send of a rank to another matches the t-th receive there. Both have the same
// number of pieces, and piece by piece the same length. A message without pieces is a token: it orders steps and moves
// no data. The receiver of a `sized` message does not know the lengths: they travel ahead of the data.
//
// Combining. A receive that combines replaces the data of each of its pieces: on the left by `arrived op present`, on
// the right by `present op arrived`. Each piece is as long as the arriving data.
//
// Sums. The canonical tree of one contribution is that contribution. For n consecutive ones, let h be the greatest
// power of two below n. Their canonical tree applies the operator to the trees of the first h and of the others. In a
// program that claims canonical sums, every combination makes a canonical tree. So results depend on contributions
// alone.
//
// Two groups. `remote k` is rank k of the other group. An exchange between groups takes one step: each rank posts all
// its messages at once, so no rank waits because another one posts in a different order.
//
// Units. A range of a piece counts elements in a reduction, and bytes of the packed block otherwise. A whole block of
// the temporary buffer is as long as the data last written to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "schedule/collective.h"
#include "schedule/expression.h"
#include "schedule/limits.h"
#include "schedule/result.h"

namespace quadrille {

struct Range {
  Expression low, high;
  friend bool operator==(const Range&, const Range&) = default;
};

// A block of a buffer, or a range of one.
struct Piece {
  Buffer buffer = Buffer::kSend;
  Expression block;
  std::optional<Range> range;
  friend bool operator==(const Piece&, const Piece&) = default;
};

struct Statement;
using Body = std::vector<Statement>;

// Names are for people: programs that differ only in names are equal.
struct Name {
  std::string text;
  friend bool operator==(const Name&, const Name&) { return true; }
};

struct Let {
  Name name;
  Expression value;
  friend bool operator==(const Let&, const Let&) = default;
};
// Runs the body for low, low + 1, ..., high - 1. Both bounds are evaluated once.
struct For {
  Name name;
  Expression low, high;
  Body body;
  friend bool operator==(const For&, const For&) = default;
};
struct If {
  Expression condition;
  Body then, otherwise;
  friend bool operator==(const If&, const If&) = default;
};
struct Step {
  Expression key;
  std::optional<Expression> after;
  Body body;
  friend bool operator==(const Step&, const Step&) = default;
};
enum class Direction : uint8_t { kSend, kReceive };
// The side on which the new operand of a combination stands. kLeft: arrived op present; kRight: present op arrived.
enum class Side : uint8_t { kLeft, kRight };
// The body holds For, If, Let and Transfer only: one message carries a list of pieces.
struct Message {
  Direction direction = Direction::kSend;
  bool remote = false;  // the peer is a rank of the other group
  bool sized = false;
  Expression peer;
  Body pieces;
  std::optional<Side> combine = {};  // the side, if it is a receive that combines and is not sized
  friend bool operator==(const Message&, const Message&) = default;
};
// A piece in the body of a message.
struct Transfer {
  Piece piece;
  friend bool operator==(const Transfer&, const Transfer&) = default;
};
struct Copy {
  Piece from, to;
  friend bool operator==(const Copy&, const Copy&) = default;
};
struct Reduce {
  Side side = Side::kLeft;
  Piece from, into;
  friend bool operator==(const Reduce&, const Reduce&) = default;
};

struct Statement {
  std::variant<Let, For, If, Step, Message, Transfer, Copy, Reduce> kind;
  friend bool operator==(const Statement&, const Statement&) = default;
};

enum class TableKind : uint8_t {
  kNodes,         // node sizes of this rank's group, ascending
  kRemoteNodes,   // node sizes of the other group
  kCounts,        // filled at the call: one entry per rank of this rank's group, in units of Range
  kRemoteCounts,  // counts of the other group
  kPrefix,        // prefix(t): 0, t[0], t[0] + t[1], ...; one entry more than t
  kDistinct,      // distinct(t): 0, then the distinct entries of an ascending t
  kPowers,        // powers(r, m): 1, r, r*r, ... up to the first that is >= m
  kMap,           // [i in 0 .. n]: an expression of i, which is variable 0
  kGreatest,      // greatest(t): entry i is the greatest of 0 and the i entries t[0], ..., t[i - 1]
  kLiteral,       // the entries stand in the program
};

// True for the node sizes of either group.
inline bool is_nodes(TableKind kind) {
  return kind == TableKind::kNodes || kind == TableKind::kRemoteNodes;
}
// True for a table that is made from an earlier one, which `source` names.
inline bool has_source(TableKind kind) {
  return kind == TableKind::kPrefix || kind == TableKind::kDistinct || kind == TableKind::kGreatest;
}
inline bool is_counts(TableKind kind) {
  return kind == TableKind::kCounts || kind == TableKind::kRemoteCounts;
}

struct Table {
  Name name;
  TableKind kind = TableKind::kNodes;
  int64_t source = 0;            // kPrefix, kDistinct, kGreatest: index of an earlier table
  Expression first, second;      // kPowers: r, m; kMap: n, the element
  Name index;                    // kMap: the name of its index
  std::vector<int64_t> entries;  // kLiteral: 1 to kMaxLiterals
  friend bool operator==(const Table&, const Table&) = default;
};

struct Parameter {
  Name name;
  bool at_call = false;  // given with each call, the same on all ranks; else in the file
  // The parameter is a block size, and the blocks of all contributions pass over trees of ceil(log2 p) levels, not
  // along a ring. Only with at_call, and only if may_pass_over_trees().
  bool over_trees = false;
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

// Limits the messages that each rank or each node (`per`) has in a step. kExchange: one partner, both directions.
// kSendReceive: one partner for each direction. kParameter: the first parameter, which is in the file, is the number
// of messages of a node in each direction.
enum class PortKind : uint8_t { kNone, kExchange, kSendReceive, kParameter };
enum class PortScope : uint8_t { kRank, kNode };
struct Port {
  PortKind kind = PortKind::kNone;
  PortScope per = PortScope::kRank;
  friend bool operator==(const Port&, const Port&) = default;
};

struct Program {
  Name algorithm;  // "hierarchical-factor"
  Collective collective = Collective::kAlltoall;
  int groups = 1;
  Port port;
  bool in_place = false;     // claims that no block is overwritten before it is sent
  bool commutative = false;  // a reduction that is correct only for commutative operators
  bool canonical = false;    // a reduction whose sums all have the canonical tree
  int64_t window = 0;        // most steps in flight if binding names none; 0: the library's default
  std::vector<Parameter> parameters;
  // No declaration depends on the rank: tables and requirements are the same on all ranks.
  std::vector<Expression> requirements;  // booleans over parameters, ranks and tables
  std::vector<Table> tables;
  Expression temporary_blocks;  // the number of blocks of the temporary buffer
  Body body;
  friend bool operator==(const Program&, const Program&) = default;
};

// Checks types, scopes, contexts and limits. A program from a file or a text is used only after this.
Result<bool> validate(const Program& program);

// The kind of part that a flaw is in. Parts of one kind are counted from 0 in the order of the text. A piece in the
// line of its message counts as the next statement.
enum class ProgramPart : uint8_t {
  kHeading,
  kParameter,
  kTable,
  kRequirement,
  kTemporary,
  kStatement
};
struct Flaw {
  std::string message;
  ProgramPart part = ProgramPart::kHeading;
  size_t index = 0;
};
std::optional<Flaw> find_flaw(const Program& program);

// Returns the names of a program in the order of declaration: the algorithm, parameters, tables (after a kMap its
// index), lets and fors. set_names() takes a list in that order; if it is short, the last ones keep their names.
std::vector<std::string> names(const Program& program);
void set_names(Program& program, const std::vector<std::string>& names);

}  // namespace quadrille
