// First assigns posts to their steps. The messages from one rank to another keep their order, so the t-th post is the
// t-th message. Then checks the order in time by the places of posts and waits in the rank's list.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "tests/net/oracle.h"

namespace quadrille::net {
namespace {

struct Post {
  size_t place;  // index in the list
  size_t step = 0;
  const Event* event;
};

struct Wanted {
  size_t step;
  const ExpectedMessage* message;
};

// Returns the most bytes of lengths that may precede a message's data.
int64_t most_head(int64_t pieces) { return 16 + 8 * pieces; }

// Assigns the posts of a pair of ranks in one direction to the expected messages. Lengths that travel ahead may have
// their own tags; posts keep their order within a tag.
class Parser {
 public:
  Parser(std::vector<Post>& posts, const std::vector<Wanted>& wanted, bool has_heads)
      : posts_(posts), wanted_(wanted), has_heads_(has_heads) {
    std::map<int, std::vector<Post*>> by_tag;
    for (Post& post : posts) by_tag[has_heads ? post.event->tag : 0].push_back(&post);
    for (auto& [tag, stream] : by_tag) streams_.push_back(std::move(stream));
  }

  bool parse() { return parse(0, std::vector<size_t>(streams_.size(), 0)); }

  std::string text(bool receives, int peer) const {
    std::string posted, expected;
    for (const Post& post : posts_) posted += fmt::format(" {}", bytes_of(post));
    for (const Wanted& wanted : wanted_) expected += fmt::format(" {}", wanted.message->bytes);
    return fmt::format("{} rank {}: posted are messages of{} bytes, to be posted are{}",
                       receives ? "from" : "to", peer, posted, expected);
  }

 private:
  using Next = std::vector<size_t>;  // index of the next post in each stream

  // Parses the messages from the w-th on, with these posts next.
  bool parse(size_t w, const Next& next) {
    if (w == wanted_.size()) {
      for (size_t s = 0; s < next.size(); ++s)
        if (next[s] < streams_[s].size()) return false;
      return true;
    }
    if (!seen_.insert({w, next}).second) return false;
    const ExpectedMessage& message = *wanted_[w].message;
    const bool is_empty = message.bytes == 0 && message.pieces > 0;
    if (!has_heads_ && is_empty) return parse(w + 1, next);
    for (size_t s = 0; s < streams_.size(); ++s)
      if (parse_whole(w, next, s) || parse_apart(w, next, s)) return true;
    return is_empty && parse(w + 1, next);
  }

  int64_t head_of(size_t w) const {
    const int64_t pieces = wanted_[w].message->pieces;
    return has_heads_ && pieces > 0 ? most_head(pieces) : 0;
  }

  // Takes the next post of a stream. Returns null if there is none.
  Post* take(Next& next, size_t stream, size_t w) {
    if (next[stream] == streams_[stream].size()) return nullptr;
    Post* const post = streams_[stream][next[stream]++];
    post->step = wanted_[w].step;
    return post;
  }

  // Parses lengths and data in one message.
  bool parse_whole(size_t w, Next next, size_t stream) {
    const Post* const post = take(next, stream, w);
    const int64_t bytes = wanted_[w].message->bytes;
    if (!post || bytes_of(*post) < bytes || bytes_of(*post) > bytes + head_of(w)) return false;
    if (!parse(w + 1, next)) return false;
    streams_[stream][next[stream] - 1]->step = wanted_[w].step;
    return true;
  }

  bool parse_apart(size_t w, const Next& before, size_t stream) {
    for (size_t other = 0; other < streams_.size() && head_of(w) > 0; ++other) {
      Next next = before;
      Post* const head = take(next, stream, w);
      Post* const data = head ? take(next, other, w) : nullptr;
      if (!data || bytes_of(*head) > head_of(w) || bytes_of(*data) != wanted_[w].message->bytes ||
          !parse(w + 1, next))
        continue;
      head->step = data->step = wanted_[w].step;
      return true;
    }
    return false;
  }

  // A receive whose lengths travel ahead has room for more bytes than arrive.
  int64_t bytes_of(const Post& post) const {
    const bool is_open = has_heads_ && post.event->kind == Event::Kind::kReceive;
    return is_open ? post.event->arrived : post.event->bytes;
  }

  std::vector<Post>& posts_;
  const std::vector<Wanted>& wanted_;
  bool has_heads_;
  std::vector<std::vector<Post*>> streams_;
  std::set<std::pair<size_t, Next>> seen_;
};

using Pairs = std::map<std::pair<bool, int>, std::vector<Post>>;

class Checker {
 public:
  Checker(const std::vector<ExpectedStep>& expected, const Listing& listing, const Manner& manner)
      : expected_(expected), listing_(listing), manner_(manner) {}

  std::string run(size_t begin, size_t end, int own) {
    for (size_t i = begin; i < end; ++i) {
      const Event& event = listing_[i];
      const bool receives = event.kind == Event::Kind::kReceive;
      if ((!receives && event.kind != Event::Kind::kSend) || event.peer == own) continue;
      pairs_[{receives, event.peer}].push_back({i, 0, &event});
      if (event.comm == manner_.users)
        return fmt::format("a message at {} travels in the user's communicator", i);
      if (!receives && event.is_synchronous != manner_.is_synchronous)
        return fmt::format("the send at {} is {}synchronous", i,
                           manner_.is_synchronous ? "not " : "");
      if (event.waited == kNever || event.waited >= end)
        return fmt::format("the message at {} is not waited for within the call", i);
    }
    if (std::string wrong = bring_to_steps(); !wrong.empty()) return wrong;
    for (auto& [pair, posts] : pairs_) all_.insert(all_.end(), posts.begin(), posts.end());
    std::ranges::sort(all_, {}, &Post::place);
    const std::string wrong = check_window();
    return wrong.empty() ? check_after() : wrong;
  }

 private:
  std::string bring_to_steps() {
    std::map<std::pair<bool, int>, std::vector<Wanted>> wanted;
    for (size_t s = 0; s < expected_.size(); ++s)
      for (const ExpectedMessage& message : expected_[s].messages)
        wanted[{message.receives, message.peer}].push_back({s, &message});
    for (const auto& [pair, posts] : pairs_) wanted[pair];
    for (const auto& [pair, messages] : wanted) {
      Parser parser(pairs_[pair], messages, manner_.has_heads);
      if (!parser.parse()) return parser.text(pair.first, pair.second);
    }
    return "";
  }

  // Returns for each step the place where all messages of a kind up to this step are waited for, or 0 without any.
  std::vector<size_t> over_at(bool sends, bool receives) const {
    std::vector<size_t> over(expected_.size(), 0);
    for (const Post& post : all_) {
      const bool is_receive = post.event->kind == Event::Kind::kReceive;
      if (is_receive ? receives : sends)
        over[post.step] = std::max(over[post.step], post.event->waited);
    }
    for (size_t s = 1; s < over.size(); ++s) over[s] = std::max(over[s], over[s - 1]);
    return over;
  }

  // Counts only steps in which something was posted.
  std::string check_window(bool sends, bool receives) const {
    const std::vector<size_t> over = over_at(sends, receives);
    std::vector<size_t> steps;
    for (const Post& post : all_)
      if (post.event->kind == Event::Kind::kReceive ? receives : sends) steps.push_back(post.step);
    std::ranges::sort(steps);
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    const auto window = static_cast<size_t>(manner_.window);
    for (const Post& post : all_) {
      if (!(post.event->kind == Event::Kind::kReceive ? receives : sends)) continue;
      const auto number =
          static_cast<size_t>(std::ranges::lower_bound(steps, post.step) - steps.begin());
      if (number < window || over[steps[number - window]] < post.place) continue;
      return fmt::format("{} of step {} is posted while step {} is under way, {} steps before it",
                         text_of(post), expected_[post.step].key.value,
                         expected_[steps[number - window]].key.value, window);
    }
    return "";
  }

  std::string check_window() const {
    if (manner_.has_whole_steps) return check_window(true, true);
    const std::string wrong = check_window(true, false);
    return wrong.empty() ? check_window(false, true) : wrong;
  }

  std::string check_after() const {
    const std::vector<size_t> over = over_at(manner_.has_whole_steps, true);
    for (const Post& post : all_) {
      if (post.event->kind == Event::Kind::kReceive) continue;
      const Key after = expected_[post.step].after;
      std::optional<size_t> last;
      for (size_t s = 0; s < post.step && expected_[s].key <= after; ++s) last = s;
      if (!last || over[*last] < post.place) continue;
      return fmt::format("{} of step {} is posted before steps up to {} are over", text_of(post),
                         expected_[post.step].key.value, expected_[*last].key.value);
    }
    return "";
  }

  static std::string text_of(const Post& post) {
    const bool receives = post.event->kind == Event::Kind::kReceive;
    return fmt::format("the {} {} rank {} at {}", receives ? "receive" : "send",
                       receives ? "from" : "to", post.event->peer, post.place);
  }

  const std::vector<ExpectedStep>& expected_;
  const Listing& listing_;
  const Manner& manner_;
  Pairs pairs_;
  std::vector<Post> all_;
};

size_t place_of(const Listing& listing, int mark) {
  for (size_t i = 0; i < listing.size(); ++i)
    if (listing[i].kind == Event::Kind::kMark && listing[i].tag == mark) return i;
  return listing.size();
}

}  // namespace

std::string check_posts(const std::vector<ExpectedStep>& expected, const Listing& listing,
                        int first_mark, int last_mark, int own, const Manner& manner) {
  const size_t begin = place_of(listing, first_mark), end = place_of(listing, last_mark);
  if (end == listing.size()) return "the call did not end";
  return Checker(expected, listing, manner).run(begin, end, own);
}

}  // namespace quadrille::net
