// Draws a schedule from a walk of all its ranks: a table of steps against nodes, like figure 3 of Sanders and Traeff,
// as text or SVG. The nodes of two groups are side by side. Ranks and nodes of the second group are primed: 0'.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/binding.h"
#include "schedule/program.h"

namespace quadrille {

// What the receiver does with the pieces of a message: it stores or reduces them, or there are none.
enum class ArcKind : uint8_t { kMoves, kCombines, kToken };

// A message or copy in a step. Ranks are numbered through both groups.
struct Arc {
  int64_t source, target;  // equal for a copy
  bool both_ways = false;
  ArcKind kind = ArcKind::kMoves;
};

struct FigureRow {
  int64_t key;
  std::string heading;  // "phase 0, round 1", at the first row where it applies
  std::vector<Arc> arcs;
  std::vector<int> statements;  // the step statements that run, by their number in the text
  std::optional<int64_t> last_key = {};  // if the row is several steps: the last key
};

struct Figure {
  std::string title;
  std::vector<int64_t> node_sizes;  // of all groups
  size_t first_nodes = 0;           // number of nodes of the first group
  std::vector<FigureRow> rows;      // in the order of keys

  int64_t first_ranks() const;  // number of ranks of the first group
  std::string rank_name(int64_t rank) const;
  std::string node_name(size_t node) const;
};

inline constexpr size_t kMostDrawnRows = 2000;

// Returns an error if the ranks of the job are too many to draw.
Result<bool> refuse_many_ranks(const Job& job);

// Walks the call, and returns its steps with low <= key < high. Errors: the picture is too large, the call
// does not fit, or an expression has no value.
Result<Figure> draw(const Program& program, const Job& job, const Call& call,
                    std::optional<int64_t> low, std::optional<int64_t> high,
                    size_t most_rows = kMostDrawnRows);

std::string as_text(const Figure& figure);
std::string as_svg(const Figure& figure);

}  // namespace quadrille
