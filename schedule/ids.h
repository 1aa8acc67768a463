// Strong integer names for the things that a schedule counts, so that a rank is never passed for a
// node or a step key for a block. Inside expression evaluation all of them are plain 64-bit
// integers; these types stand at every boundary.
#ifndef QUADRILLE_SCHEDULE_IDS_H_
#define QUADRILLE_SCHEDULE_IDS_H_

#include <compare>
#include <cstdint>

namespace quadrille {

template <class Tag>
struct Id {
  int64_t value = 0;
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

using Rank = Id<struct RankTag>;    // of a process, within its group, node by node
using Node = Id<struct NodeTag>;    // in ascending order of size
using Block = Id<struct BlockTag>;  // index within a buffer
using Key = Id<struct KeyTag>;      // of a step; strictly increasing at a rank

}  // namespace quadrille

#endif  // QUADRILLE_SCHEDULE_IDS_H_
