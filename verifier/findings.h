// What checkers find, in the words that they share. Every sentence begins with the name of the process that is to
// blame.
#ifndef QUADRILLE_VERIFIER_FINDINGS_H_
#define QUADRILLE_VERIFIER_FINDINGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schedule/walk.h"
#include "verifier/verdict.h"

namespace quadrille::verifier {

// All processes of both groups, numbered: group 0 first. In a job of one group a rank is its number.
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

using Key = std::optional<int64_t>;  // of the step that a process is in, where it is in one

// The first of the processes is to blame. `words` is the whole sentence; `did` goes on behind that one's name.
Violation violation_in_words(const Processes& all, Property property, Key key,
                             const std::vector<int64_t>& involved, std::string words);
Violation violation_of(const Processes& all, Property property, Key key,
                       const std::vector<int64_t>& involved, const std::string& did);
Violation undefined_value(const Processes& all, Key key, int64_t process, Undefined why);
// The process goes on to a step whose key is not above its last.
Violation key_out_of_order(const Processes& all, Key key, int64_t process, int64_t next);
// The process names a rank outside 0 .. ranks as its peer, or, where `itself` is set, itself.
Violation wrong_peer(const Processes& all, Key key, int64_t process, int64_t peer, int64_t ranks,
                     bool itself);
// The buffer has so many blocks, and not this one.
Violation no_such_block(const Processes& all, Key key, int64_t process, const PieceValue& piece,
                        int64_t blocks);
Violation not_held(const Processes& all, Key key, int64_t process, const PieceValue& piece);
Violation arrives_again(const Processes& all, Key key, int64_t process, const PieceValue& piece);
Violation two_messages(const Processes& all, Key key, int64_t process, int64_t peer);
Violation lengths_ahead_at_one_end(const Processes& all, Key key, int64_t source, int64_t target);
Violation read_after_overwritten(const Processes& all, Key key, int64_t process, int64_t send_block,
                                 int64_t receive_block);
// The port of the process, or of a node.
Violation port_overused(const Processes& all, Key key, int64_t source, int64_t target, bool of_node,
                        int64_t number);
Violation send_without_receive(const Processes& all, Key key, int64_t source, int64_t target);
Violation receive_without_send(const Processes& all, Key key, int64_t source, int64_t target);
// At the end.
Violation not_filled(const Processes& all, int64_t process, int64_t block, const std::string& why);
Violation left_over(const Processes& all, int64_t process, int64_t block);

// "block 3 of its temporary buffer"
std::string text(const PieceValue& piece);

// Only the first violation of a run counts.
struct Findings {
  const Processes& processes;
  std::optional<Violation> violation = {};
  Key key = {};  // of the step that a checker looks at which takes all ranks together

  bool any() const { return violation.has_value(); }
  // Cold: the loops of checkers that call these are faster without their code.
  [[gnu::cold]] void add(Violation another);
  [[gnu::cold]] void add(Property property, Key at, const std::vector<int64_t>& involved,
                         const std::string& did);
  [[gnu::cold]] void add(Property property, const std::vector<int64_t>& involved,
                         const std::string& did);
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_FINDINGS_H_
