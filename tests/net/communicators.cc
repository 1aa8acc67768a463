// MPI's functions for communicators, groups and attributes, and other queries of a rank. Handles are never reused.
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>

#include "schedule/result.h"
#include "tests/net/world.h"

namespace quadrille::net {
namespace {

constexpr unsigned kCommunicators = 0x84000000u;
std::vector<std::unique_ptr<Communicator>> communicators;  // of this simulation
unsigned first_handle = 0;                                 // of this simulation

struct Keyval {
  MPI_Comm_copy_attr_function* copy;
  MPI_Comm_delete_attr_function* gone;
  void* extra;
};
std::vector<Keyval> keyvals;  // of the process, because the runtime makes its keyvals only once
constexpr int kFirstKeyval = 0x24000000;
std::vector<std::vector<int>> groups;
constexpr int kFirstGroup = 0x08000000;
std::vector<MPI_Comm_errhandler_function*> handlers;  // the user's handlers, of the process
constexpr int kFirstHandler = 0x14000000;

Communicator* at(MPI_Comm handle) {
  if (handle == MPI_COMM_WORLD) return at(world->current().world);
  if (handle == MPI_COMM_SELF) return at(world->current().self);
  const unsigned index = static_cast<unsigned>(handle) - kCommunicators - first_handle;
  return index < communicators.size() ? communicators[index].get() : nullptr;
}

Keyval* find_keyval(int keyval) {
  const auto index = static_cast<size_t>(keyval - kFirstKeyval);
  return keyval >= kFirstKeyval && index < keyvals.size() ? &keyvals[index] : nullptr;
}

// Ranks with equal colors form a communicator, ordered by key. A rank with a negative color gets none.
struct SplitArgument {
  int color, key, rank;
  MPI_Comm result;
};

int split(Communicator& comm, const char* name, int color, int key, MPI_Comm* result) {
  quadrille::check(!comm.is_between_groups(), "intercommunicators are not split here");
  SplitArgument mine{color, key, comm.rank(), MPI_COMM_NULL};
  meet(comm, name, &mine, [&](std::vector<void*>& all) {
    std::map<int, std::vector<SplitArgument*>> by_color;
    for (void* argument : all) {
      auto* const one = static_cast<SplitArgument*>(argument);
      if (one->color >= 0) by_color[one->color].push_back(one);
    }
    for (auto& [color, members] : by_color) {
      std::ranges::sort(members, [](const SplitArgument* a, const SplitArgument* b) {
        return std::pair(a->key, a->rank) < std::pair(b->key, b->rank);
      });
      std::vector<int> ranks;
      for (const SplitArgument* one : members)
        ranks.push_back(comm.context->members[static_cast<size_t>(one->rank)]);
      const auto context = make_context(ranks);
      for (SplitArgument* one : members)
        one->result =
            make_communicator(context, comm.context->members[static_cast<size_t>(one->rank)]);
    }
  });
  *result = mine.result;
  if (Communicator* const made = at(*result)) made->handler = comm.handler;
  return MPI_SUCCESS;
}

void delete_attributes(MPI_Comm handle, Communicator& comm) {
  const std::map<int, void*> attributes = std::move(comm.attributes);
  comm.attributes.clear();
  for (const auto& [keyval, value] : attributes)
    if (const Keyval* const found = find_keyval(keyval); found && found->gone)
      found->gone(handle, keyval, value, found->extra);
}

}  // namespace

std::shared_ptr<Context> make_context(std::vector<int> members, int low) {
  return std::make_shared<Context>(Context{world->contexts++, std::move(members), low, {}});
}

MPI_Comm make_communicator(std::shared_ptr<Context> context, int owner, bool is_predefined) {
  auto made = std::make_unique<Communicator>();
  const auto& members = context->members;
  made->owner = owner;
  made->is_predefined = is_predefined;
  made->place = static_cast<int>(std::ranges::find(members, owner) - members.begin());
  made->context = std::move(context);
  communicators.push_back(std::move(made));
  return static_cast<MPI_Comm>(kCommunicators + first_handle +
                               static_cast<unsigned>(communicators.size() - 1));
}

namespace {

// All ranks form one communicator, in the order that `order` returns.
struct MergeArgument {
  int high;
  MPI_Comm result;
};

MPI_Comm make_of_all(Communicator& comm, const char* name, int high, int low,
                     const std::function<std::vector<int>(bool is_low_high)>& order) {
  MergeArgument mine{high, MPI_COMM_NULL};
  meet(comm, name, &mine, [&](std::vector<void*>& all) {
    const auto is_high = [&](size_t place) {
      return static_cast<MergeArgument*>(all[place])->high != 0;
    };
    const auto first = static_cast<size_t>(comm.context->low);
    for (size_t i = 1; i < all.size(); ++i)
      if (i != first && is_high(i) != is_high(i - 1))
        problem("ranks of a group disagree on whether it is the high one");
    // If both groups give the same value, MPI leaves the order open.
    const bool swaps = is_high(0) == is_high(first) ? world->random() % 2 : is_high(0);
    const auto context = make_context(order(swaps), low);
    for (size_t i = 0; i < all.size(); ++i)
      static_cast<MergeArgument*>(all[i])->result =
          make_communicator(context, comm.context->members[i]);
  });
  at(mine.result)->handler = comm.handler;
  return mine.result;
}

}  // namespace

MPI_Comm make_groups(MPI_Comm handle, int low) {
  Communicator& comm = *find_communicator(handle);
  return make_of_all(comm, "groups", 0, low, [&](bool) { return comm.context->members; });
}

Communicator* find_communicator(MPI_Comm handle) {
  Communicator* const found = at(handle);
  if (!found || found->is_freed || found->owner != this_rank()) {
    problem("a communicator is used that is none, was freed, or is another rank's");
    return nullptr;
  }
  return found;
}

void set_handler(MPI_Comm handle, MPI_Errhandler handler) { at(handle)->handler = handler; }

void delete_attributes_of_self() {
  const auto& attributes = at(world->current().self)->attributes;
  while (!attributes.empty()) PMPI_Comm_delete_attr(MPI_COMM_SELF, attributes.rbegin()->first);
}

void check_communicators_are_freed() {
  for (const auto& comm : communicators)
    if (!comm->is_freed && !comm->is_predefined)
      world->problems.push_back(fmt::format("rank {} did not free a communicator", comm->owner));
}

void close_communicators() {
  first_handle += static_cast<unsigned>(communicators.size());
  communicators.clear();
  groups.clear();
}

int raise(MPI_Comm handle, int code) {
  const bool in_world = handle == MPI_COMM_WORLD;
  const Communicator* const comm = find_communicator(handle);
  if (!comm) return code;
  const auto own = static_cast<size_t>(comm->handler - kFirstHandler);
  if (own < handlers.size()) handlers[own](&handle, &code);
  if (comm->handler != MPI_ERRORS_ARE_FATAL) return code;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  problem(fmt::format("the job ends by an error handler{}: {}",
                      in_world ? " of MPI_COMM_WORLD" : "", text));
  world->ended = "an error that is fatal";
  for (;;) Fibers::pause();
}

}  // namespace quadrille::net

using namespace quadrille::net;  // NOLINT(google-build-using-namespace): functions outside any

extern "C" {

int PMPI_Abort(MPI_Comm, int code) {
  problem(fmt::format("the job is aborted with code {}", code));
  world->ended = "an abort";
  for (;;) Fibers::pause();
}

SIMULATED(Comm_rank, MPI_Comm handle, int* rank) {
  const Communicator* const comm = find_communicator(handle);
  if (!comm) return MPI_ERR_COMM;
  *rank = comm->rank();
  return MPI_SUCCESS;
}

SIMULATED(Comm_size, MPI_Comm handle, int* size) {
  const Communicator* const comm = find_communicator(handle);
  if (!comm) return MPI_ERR_COMM;
  *size = comm->size();
  return MPI_SUCCESS;
}

SIMULATED(Comm_test_inter, MPI_Comm handle, int* flag) {
  const Communicator* const comm = find_communicator(handle);
  *flag = comm && comm->is_between_groups();
  return comm ? MPI_SUCCESS : MPI_ERR_COMM;
}

SIMULATED(Comm_remote_size, MPI_Comm handle, int* size) {
  const Communicator* const comm = find_communicator(handle);
  if (!comm) return MPI_ERR_COMM;
  if (!comm->is_between_groups()) return raise(handle, MPI_ERR_COMM);
  *size = comm->remote_size();
  return MPI_SUCCESS;
}

SIMULATED(Intercomm_merge, MPI_Comm handle, int high, MPI_Comm* result) {
  Communicator* const comm = find_communicator(handle);
  if (!comm) return MPI_ERR_COMM;
  if (!comm->is_between_groups()) return raise(handle, MPI_ERR_COMM);
  *result = make_of_all(*comm, "merge", high, 0, [&](bool swaps) {
    std::vector<int> members = comm->context->members;
    if (swaps) std::rotate(members.begin(), members.begin() + comm->context->low, members.end());
    return members;
  });
  return MPI_SUCCESS;
}

SIMULATED(Comm_split_type, MPI_Comm handle, int type, int key, MPI_Info, MPI_Comm* result) {
  Communicator* const comm = find_communicator(handle);
  if (!comm) return MPI_ERR_COMM;
  quadrille::check(type == MPI_COMM_TYPE_SHARED, "only MPI_COMM_TYPE_SHARED is simulated");
  const std::vector<int>& nodes = world->machine.node_of;
  const int node = nodes.empty() ? 0 : nodes[static_cast<size_t>(comm->owner)];
  return split(*comm, "split by nodes", node, key, result);
}

SIMULATED(Comm_split, MPI_Comm handle, int color, int key, MPI_Comm* result) {
  Communicator* const comm = find_communicator(handle);
  return comm ? split(*comm, "split", color, key, result) : MPI_ERR_COMM;
}

SIMULATED(Comm_dup, MPI_Comm handle, MPI_Comm* result) {
  Communicator* const comm = find_communicator(handle);
  if (!comm) return MPI_ERR_COMM;
  const int code = split(*comm, "dup", 0, comm->rank(), result);
  for (const auto& [keyval, value] : comm->attributes) {
    const Keyval* const found = find_keyval(keyval);
    void* copied = nullptr;
    int flag = 0;
    if (found && found->copy)
      found->copy(handle, keyval, found->extra, value, static_cast<void*>(&copied), &flag);
    if (flag) at(*result)->attributes[keyval] = copied;
  }
  return code;
}

SIMULATED(Comm_group, MPI_Comm handle, MPI_Group* group) {
  const Communicator* const comm = find_communicator(handle);
  if (!comm) return MPI_ERR_COMM;
  groups.push_back(comm->context->members);
  *group = kFirstGroup + static_cast<int>(groups.size() - 1);
  return MPI_SUCCESS;
}

SIMULATED(Group_free, MPI_Group* group) {
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}

SIMULATED(Group_translate_ranks, MPI_Group from, int count, const int* ranks, MPI_Group to,
          int* translated) {
  const auto& members = groups[static_cast<size_t>(from - kFirstGroup)];
  const auto& others = groups[static_cast<size_t>(to - kFirstGroup)];
  for (int i = 0; i < count; ++i) {
    const auto found = std::ranges::find(others, members[static_cast<size_t>(ranks[i])]);
    translated[i] =
        found == others.end() ? MPI_UNDEFINED : static_cast<int>(found - others.begin());
  }
  return MPI_SUCCESS;
}

SIMULATED(Comm_create, MPI_Comm handle, MPI_Group group, MPI_Comm* result) {
  Communicator* const comm = find_communicator(handle);
  if (!comm) return MPI_ERR_COMM;
  const auto& members = groups[static_cast<size_t>(group - kFirstGroup)];
  const auto found = std::ranges::find(members, comm->owner);
  return split(*comm, "create", found == members.end() ? -1 : 0,
               static_cast<int>(found - members.begin()), result);
}

// Like Open MPI and MPICH, it does not wait for other ranks.
SIMULATED(Comm_free, MPI_Comm* handle) {
  Communicator* const comm = find_communicator(*handle);
  if (!comm) return MPI_ERR_COMM;
  delete_attributes(*handle, *comm);
  maybe_pause();
  comm->is_freed = true;
  *handle = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

SIMULATED(Comm_create_keyval, MPI_Comm_copy_attr_function* copy,
          MPI_Comm_delete_attr_function* gone, int* keyval, void* extra) {
  *keyval = kFirstKeyval + static_cast<int>(keyvals.size());
  keyvals.push_back({copy, gone, extra});
  return MPI_SUCCESS;
}

SIMULATED(Comm_set_attr, MPI_Comm handle, int keyval, void* value) {
  Communicator* const comm = find_communicator(handle);
  if (!comm) return MPI_ERR_COMM;
  const Keyval* const found = find_keyval(keyval);
  if (!found) return MPI_ERR_KEYVAL;
  if (const auto old = comm->attributes.find(keyval); old != comm->attributes.end() && found->gone)
    found->gone(handle, keyval, old->second, found->extra);
  comm->attributes[keyval] = value;
  return MPI_SUCCESS;
}

SIMULATED(Comm_delete_attr, MPI_Comm handle, int keyval) {
  Communicator* const comm = find_communicator(handle);
  if (!comm) return MPI_ERR_COMM;
  const Keyval* const found = find_keyval(keyval);
  const auto old = comm->attributes.find(keyval);
  if (!found || old == comm->attributes.end()) return MPI_ERR_KEYVAL;
  void* const value = old->second;
  comm->attributes.erase(old);
  return found->gone ? found->gone(handle, keyval, value, found->extra) : MPI_SUCCESS;
}

SIMULATED(Comm_get_attr, MPI_Comm handle, int keyval, void* value, int* flag) {
  Communicator* const comm = find_communicator(handle);
  if (!comm) return MPI_ERR_COMM;
  *flag = keyval == MPI_TAG_UB || comm->attributes.count(keyval) > 0;
  if (*flag)
    *static_cast<void**>(value) =
        keyval == MPI_TAG_UB ? &world->machine.most_tag : comm->attributes.at(keyval);
  return MPI_SUCCESS;
}

SIMULATED(Comm_create_errhandler, MPI_Comm_errhandler_function* function, MPI_Errhandler* handler) {
  *handler = kFirstHandler + static_cast<int>(handlers.size());
  handlers.push_back(function);
  return MPI_SUCCESS;
}

SIMULATED(Comm_set_errhandler, MPI_Comm handle, MPI_Errhandler handler) {
  Communicator* const comm = find_communicator(handle);
  if (!comm) return MPI_ERR_COMM;
  comm->handler = handler;
  return MPI_SUCCESS;
}

SIMULATED(Comm_get_errhandler, MPI_Comm handle, MPI_Errhandler* handler) {
  const Communicator* const comm = find_communicator(handle);
  if (!comm) return MPI_ERR_COMM;
  *handler = comm->handler;
  return MPI_SUCCESS;
}

SIMULATED(Errhandler_free, MPI_Errhandler* handler) {
  *handler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}

SIMULATED(Comm_call_errhandler, MPI_Comm handle, int code) {
  raise(handle, code);
  return MPI_SUCCESS;
}

}  // extern "C"
