// Messages, from their posts to their delivery.
//
// The t-th send of a rank to another with a tag in a communicator matches the t-th receive there. So the two are
// matched as soon as both are posted. The seed decides only when the data arrives.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "schedule/result.h"
#include "tests/net/world.h"

namespace quadrille::net {
namespace {

constexpr unsigned kRequests = 0x10000000u;
constexpr int64_t kMostBytes = 1 << 28;
constexpr char kRubbish = static_cast<char>(0xdb);

// Reports buffers in flight that overlap. Two sends may read the same bytes.
void check_overlaps(const Request& request) {
  for (const Request* other : world->ranks[static_cast<size_t>(request.owner)].active)
    if ((request.receives || other->receives) && overlap(request.intervals, other->intervals))
      problem(fmt::format("the buffer of a {} overlaps that of a {}, which is under way",
                          text_of(request), text_of(*other)));
}

bool match(const Request& receive, const Request& send) {
  return receive.context == send.context && receive.target == send.target &&
         (receive.source == send.source || receive.source == MPI_ANY_SOURCE) &&
         (receive.tag == send.tag || receive.tag == MPI_ANY_TAG);
}

void note_event(Request& request) {
  Rank& rank = world->ranks[static_cast<size_t>(request.owner)];
  rank.listing.push_back(
      {.kind = request.receives ? Event::Kind::kReceive : Event::Kind::kSend,
       .peer = request.peer,
       .tag = request.tag,
       .comm = request.comm,
       .is_synchronous = request.is_synchronous,
       .sends_in_flight =
           static_cast<int>(std::ranges::count_if(rank.active, [&](const Request* other) {
             return !other->receives && other->comm == request.comm && other->tag == request.tag;
           }))});
}

void join(Request& receive, Request& send) {
  receive.partner = &send;
  send.partner = &receive;
  world->meeting.push_back(&receive);
  if (world->machine.is_eager && send.is_synchronous) world->leaving.push_back(&send);
}

void find_partner(Request& request) {
  const auto found = std::ranges::find_if(world->posted, [&](const Request* other) {
    return other->receives != request.receives &&
           (request.receives ? match(request, *other) : match(*other, request));
  });
  if (found == world->posted.end()) {
    world->posted.push_back(&request);
    return;
  }
  Request& other = **found;
  world->posted.erase(found);
  request.receives ? join(request, other) : join(other, request);
}

void check_rubbish(const Request& receive) {
  const std::vector<char> now = receive.data.packed();
  // The first byte is rubbish, and every byte equals the one before it.
  if (now.empty() ||
      (now[0] == kRubbish && std::memcmp(now.data(), now.data() + 1, now.size() - 1) == 0))
    return;
  problem(fmt::format("rank {} wrote to the buffer of a {} before it was over", receive.owner,
                      text_of(receive)));
}

void deliver(Request& receive) {
  Request& send = *receive.partner;
  if (receive.is_freed) return;  // then its buffer may be gone
  const std::vector<char> data =
      world->machine.is_eager || send.is_freed ? send.before : send.data.packed();
  const auto sent = static_cast<int64_t>(data.size()), room = receive.data.bytes();
  check_rubbish(receive);
  receive.data.unpack(receive.before, room);
  receive.data.unpack(data, std::min(sent, room));
  receive.arrived = std::min(sent, room);
  receive.status_source = receive.peer == MPI_ANY_SOURCE ? send.source : receive.peer;
  receive.status_tag = send.tag;
  receive.error = sent > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  receive.is_complete = true;
  if (!world->machine.is_eager) world->leaving.push_back(&send);
}

Request* take_any(std::vector<Request*>& from, size_t which) {
  Request* const taken = from[which];
  from.erase(from.begin() + static_cast<ptrdiff_t>(which));
  return taken;
}

}  // namespace

std::string text_of(const Request& request) {
  return fmt::format("{} of {} bytes {} rank {} with tag {}", request.receives ? "receive" : "send",
                     request.data.bytes(), request.receives ? "from" : "to", request.peer,
                     request.tag);
}

bool can_deliver() { return !world->meeting.empty() || !world->leaving.empty(); }

void deliver_one() {
  const size_t which = world->random() % (world->meeting.size() + world->leaving.size());
  if (which < world->meeting.size())
    deliver(*take_any(world->meeting, which));
  else
    take_any(world->leaving, which - world->meeting.size())->is_complete = true;
}

void start(Request& request) {
  request.is_active = true;
  request.is_complete = false;
  request.partner = nullptr;
  request.error = MPI_SUCCESS;
  request.intervals = request.data.intervals();
  check_overlaps(request);
  request.before = request.data.packed();
  world->ranks[static_cast<size_t>(request.owner)].active.push_back(&request);
  note_event(request);
  if (request.receives) request.data.fill(kRubbish);
  if (!request.receives && world->machine.is_eager && !request.is_synchronous)
    request.is_complete = true;
  find_partner(request);
}

// Makes the request, and starts it unless it is persistent. Returns an MPI error code.
int post(const Request& request, MPI_Request* handle) {
  const Communicator* const comm = find_communicator(request.comm);
  if (!comm) return MPI_ERR_COMM;
  const bool is_any = request.receives && request.peer == MPI_ANY_SOURCE;
  int code = MPI_SUCCESS;
  if (!request.data.type) code = MPI_ERR_TYPE;
  if (request.data.count < 0) code = MPI_ERR_COUNT;
  if (!is_any && (request.peer < 0 || request.peer >= comm->peers())) code = MPI_ERR_RANK;
  if (code == MPI_SUCCESS && request.data.base == 0 && request.data.bytes() > 0 &&
      request.data.type->true_lower() == 0)
    code = MPI_ERR_BUFFER;
  int64_t bytes = 0;
  if (code == MPI_SUCCESS &&
      (__builtin_mul_overflow(request.data.count, request.data.type->size, &bytes) || bytes < 0 ||
       bytes > kMostBytes)) {
    problem("a message is posted of more bytes than the simulation takes");
    code = MPI_ERR_COUNT;
  }
  if (code != MPI_SUCCESS) return raise(request.comm, code);
  auto made = std::make_unique<Request>(request);
  const int peer = is_any ? MPI_ANY_SOURCE : comm->peer_in_world(request.peer);
  made->owner = comm->owner;
  made->context = comm->context->id;
  made->source = request.receives ? peer : comm->owner;
  made->target = request.receives ? comm->owner : peer;
  *handle = static_cast<MPI_Request>(kRequests + static_cast<unsigned>(world->requests.size()));
  world->requests.push_back(std::move(made));
  if (!request.is_persistent) start(*world->requests.back());
  maybe_pause();
  return MPI_SUCCESS;
}

Request* find_request(MPI_Request handle) {
  const unsigned index = static_cast<unsigned>(handle) - kRequests;
  Request* const found = index < world->requests.size() ? world->requests[index].get() : nullptr;
  if (!found || found->owner != this_rank()) {
    problem("a request is none of this rank's");
    return nullptr;
  }
  if (found->is_freed) {
    problem(fmt::format("the request of a {} was waited for, or freed, before", text_of(*found)));
    return nullptr;
  }
  return found;
}

void check_requests_are_over() {
  for (const auto& request : world->requests)
    if (!request->is_freed && world->ended.empty())
      world->problems.push_back(
          fmt::format("rank {} never waited for its {}", request->owner, text_of(*request)));
}

}  // namespace quadrille::net
