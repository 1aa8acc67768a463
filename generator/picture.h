// Pictures of a schedule from a walk of all its ranks: a table of steps against nodes like Sanders and Traeff's figure
// 3, as text or as SVG. The nodes of two groups stand side by side. Ranks and nodes of the second group are primed:
// 0'.
#ifndef QUADRILLE_GENERATOR_PICTURE_H_
#define QUADRILLE_GENERATOR_PICTURE_H_

#include <optional>
#include <string>
#include <vector>

#include "schedule/binding.h"
#include "schedule/program.h"

namespace quadrille {

// How a message ends: its pieces are stored, or reduced, or it has none.
enum class ArcKind : uint8_t { kMoves, kCombines, kToken };

// What happens between two ranks in a step. Ranks are numbered through both groups.
struct Arc {
  int64_t source, target;  // a copy where equal
  bool both_ways = false;
  ArcKind kind = ArcKind::kMoves;
};

struct FigureRow {
  int64_t key;
  std::string heading;  // "phase 0, round 1", where it changes
  std::vector<Arc> arcs;
};

struct Figure {
  std::string title;
  std::vector<int64_t> node_sizes;  // of all groups
  size_t first_nodes = 0;           // so many of them are of the first group
  std::vector<FigureRow> rows;      // ascending keys

  int64_t first_ranks() const;  // of the first group
  std::string rank_name(int64_t rank) const;
  std::string node_name(size_t node) const;
};

// Steps low .. high of the schedule in that call. Errors: too large to draw, a call that does not
// fit, an expression without a value.
Result<Figure> draw(const Program& program, const Job& job, const Call& call,
                    std::optional<int64_t> low, std::optional<int64_t> high);

std::string as_text(const Figure& figure);
std::string as_svg(const Figure& figure);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_PICTURE_H_
