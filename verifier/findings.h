// Puts the findings of all checkers into words. A sentence mostly begins with the name of the process to blame.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "schedule/walk.h"
#include "verifier/verdict.h"

namespace quadrille::verifier {

// Numbers the processes of both groups: the ranks of group 0 come first, then those of group 1.
class Processes {
 public:
  explicit Processes(const std::vector<Binding>& bindings);

  int size() const { return static_cast<int>(groups_[0].ranks + groups_[0].remote_ranks); }
  Place place(int64_t process) const;
  int index(int64_t group, int64_t rank) const {
    return static_cast<int>(rank + (group == 1 ? groups_[0].ranks : 0));
  }
  std::string name(int64_t process) const;  // "rank 3", "rank 3 of group 1"

 private:
  std::vector<Place> groups_;
};

using Key = std::optional<int64_t>;  // of the process's current step; empty outside steps

// A finding that several checkers share. `did` says what the process to blame did. The caller fills in each {}.
struct Finding {
  Property property;
  const char* did;
};
inline constexpr Finding kUndefinedValue{Property::kDefined, "meets {}"};
inline constexpr Finding kKeyOutOfOrder{Property::kOrder, "goes on to step {}"};
inline constexpr Finding kSendsToItself{Property::kSelfMessage, "sends to itself"};
inline constexpr Finding kNoSuchRank{Property::kPeer, "names rank {} of {}"};
inline constexpr Finding kNoSuchBlock{Property::kBlock, "names {}, which has {}"};
inline constexpr Finding kNotHeld{Property::kHeld, "uses {}, which holds nothing there yet"};
inline constexpr Finding kArrivesAgain{Property::kOnce, "gets into {} what is there already"};
inline constexpr Finding kTwoMessages{Property::kOrder,
                                      "has two messages in one direction with {} in a step"};
inline constexpr Finding kLengthsAheadAtOneEnd{Property::kLength,
                                               "and {} disagree whether lengths travel ahead"};
// The next two matter only if block sizes differ.
inline constexpr Finding kLengthUnknown{Property::kLength,
                                        "cannot know the length of what it receives into {} if "
                                        "block sizes differ; write 'sized' at both ends"};
inline constexpr Finding kDoesNotFit{
    Property::kLength, "keeps a block in {} that has another length if block sizes differ"};
inline constexpr Finding kReadAfterOverwritten{
    Property::kInPlace,
    "reads block {} of its send buffer after block {} of its receive buffer was written"};
inline constexpr Finding kSendWithoutReceive{
    Property::kMatch, "sends to {}, which receives nothing from it in this step"};
inline constexpr Finding kReceiveWithoutSend{
    Property::kMatch, "receives from {}, which sends it nothing in this step"};

// Describes a piece: "block 3 of its temporary buffer".
std::string text(const PieceValue& piece);

// A value for {} that becomes the name of this process.
struct Named {
  int64_t process;
};
inline std::string in_words(const Processes& all, Named named) { return all.name(named.process); }
inline std::string in_words(const Processes&, const PieceValue& piece) { return text(piece); }
inline const char* in_words(const Processes&, Undefined why) { return describe(why); }
inline int64_t in_words(const Processes&, int64_t number) { return number; }

// Both return a violation. The first process of `involved` is to blame. `words` is the whole sentence.
// `did` is the sentence without the name of that process, with which it begins.
Violation violation_in_words(const Processes& all, Property property, Key key,
                             const std::vector<int64_t>& involved, std::string words);
Violation violation_of(const Processes& all, Property property, Key key,
                       const std::vector<int64_t>& involved, const std::string& did);
// Puts the `given` values into words. It is never inlined, because the callers' loops are faster without this code.
template <class... Given>
[[gnu::cold, gnu::noinline]] Violation violation_of(const Processes& all, const Finding& finding,
                                                    Key key,
                                                    std::initializer_list<int64_t> involved,
                                                    Given... given) {
  return violation_of(all, finding.property, key, involved,
                      fmt::format(fmt::runtime(finding.did), in_words(all, given)...));
}
// Returns the violation by a message that is one too many for the port of node or rank `number`.
Violation port_overused(const Processes& all, Key key, int64_t source, int64_t target, bool of_node,
                        int64_t number);
// Both return a violation that the end of the walk shows: a receive block is not right, a temporary one is unused.
Violation not_filled(const Processes& all, int64_t process, int64_t block, const std::string& why);
Violation left_over(const Processes& all, int64_t process, int64_t block);

// Keeps the first violation of a run, and ignores later ones.
struct Findings {
  const Processes& processes;
  std::optional<Violation> violation = {};
  Key key = {};  // current step, in a checker that walks all ranks together

  bool any() const { return violation.has_value(); }
  // Cold: the checkers' loops are faster without the code of these functions.
  [[gnu::cold]] void add(Violation another);
  [[gnu::cold]] void add(Property property, Key at, const std::vector<int64_t>& involved,
                         const std::string& did);
  [[gnu::cold]] void add(Property property, const std::vector<int64_t>& involved,
                         const std::string& did);
  template <class... Given>
  [[gnu::cold, gnu::noinline]] void add(const Finding& finding, Key at,
                                        std::initializer_list<int64_t> involved, Given... given) {
    add(violation_of(processes, finding, at, involved, given...));
  }
};

}  // namespace quadrille::verifier
