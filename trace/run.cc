// Puts the files of processes together. Two processes take part in one call if the names of their bindings and the
// numbers of their calls are equal. Tested by tests/trace.
#include "trace/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "cli/files.h"

namespace quadrille::trace {
namespace {

using Name =
    std::pair<uint64_t, int64_t>;  // of a binding: its id, and the number of a persistent call

// The most nanoseconds by which the clocks of two nodes drift apart in a second.
constexpr int64_t kDrift = 100'000;
// So few nanoseconds mean nothing: a time is read before or after its event, and converted from ticks.
constexpr int64_t kResolution = 1000;

Result<std::vector<std::string>> files_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  std::filesystem::directory_iterator all(cli::user_path(folder), error);
  if (error) return Error{fmt::format("{}: {}", folder, error.message())};
  for (const std::filesystem::directory_entry& entry : all)
    if (entry.path().extension() == QD_TRACE_SUFFIX)
      paths.push_back((std::filesystem::path(folder) / entry.path().filename()).string());
  std::ranges::sort(paths);
  if (paths.empty())
    return Error{fmt::format(
        "{}: has no traces; run the program with QUADRILLE_TRACE={}, up to its MPI_Finalize",
        folder, folder)};
  return paths;
}

std::string hex(const char (&hash)[16]) {
  std::string text;
  for (const char byte : hash) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

class Merger {
 public:
  Merger(TracedRun& run, std::string folder) : run_(run), folder_(std::move(folder)) {}

  // Returns what is wrong, or an empty string.
  std::string merge() {
    for (const File& file : run_.files) run_.is_full |= file.is_full;
    for (const File& file : run_.files)
      for (const BindingSection& section : file.bindings)
        if (std::string wrong = add(file, section); !wrong.empty()) return wrong;
    for (const Bound& bound : run_.bound)
      if (std::string wrong = find_missing(bound); !wrong.empty()) return wrong;
    for (const File& file : run_.files) add_parts(file);
    for (auto& [of, call] : calls_)
      if (std::string wrong = finish(call); !wrong.empty()) return wrong;
    std::ranges::sort(run_.calls, [](const TracedCall& a, const TracedCall& b) {
      return std::pair(a.begun, a.bound) < std::pair(b.begun, b.bound);
    });
    return "";
  }

 private:
  std::string add(const File& file, const BindingSection& section) {
    const qd_trace_binding& h = section.head;
    const auto [found, is_new] = names_.try_emplace({h.id, h.request}, run_.bound.size());
    const auto all = static_cast<size_t>(h.ranks) + static_cast<size_t>(h.remote);
    if (is_new) {
      if (all > run_.files.size())  // so memory grows with the files only
        return fmt::format(
            "{}: has {} traces, and the communicator of {} by {} has {} ranks; copy the traces of "
            "all nodes into one folder",
            folder_, run_.files.size(), h.collective, h.algorithm, all);
      run_.bound.push_back({h.algorithm, h.collective, hex(h.hash), h.request, {}});
      run_.bound.back().ranks.resize(all);
      files_.emplace_back(all);
    }
    Bound& bound = run_.bound[found->second];
    if (bound.ranks.size() != all || bound.hash != hex(h.hash))
      return fmt::format("{}: contradicts the traces of other ranks on {}", file.path,
                         bound.name());
    const auto own = static_cast<size_t>(h.own);
    if (bound.ranks[own])
      return fmt::format("{}: {} is a trace of the same rank, {}; remove one of them", file.path,
                         files_[found->second][own]->path, own);
    bound.ranks[own] = &section;
    files_[found->second][own] = &file;
    return "";
  }

  std::string find_missing(const Bound& bound) const {
    for (size_t rank = 0; rank < bound.ranks.size(); ++rank)
      if (!bound.ranks[rank] && !run_.is_full)
        return fmt::format(
            "{}: the trace of rank {} of {} is missing, of the communicator of {}; copy the traces "
            "of all nodes into one folder",
            folder_, rank, bound.ranks.size(), bound.name());
    return "";
  }

  void add_parts(const File& file) {
    for (const PartSection& part : file.parts) {
      const SetupSection& setup = file.setups[part.setup];
      const qd_trace_binding& h = file.bindings[setup.binding].head;
      const size_t bound = names_.at({h.id, h.request});
      TracedCall& call = calls_[{bound, part.head.call}];
      call.bound = bound;
      call.number = part.head.call;
      call.ranks.resize(run_.bound[bound].ranks.size());
      Noted& noted = call.ranks[static_cast<size_t>(h.own)];
      noted.setup = &setup;
      noted.parts.push_back(&part);
      noted.shift = h.offset;
      noted.error = kResolution + h.error;
      if (h.error > 0) noted.error += (part.head.begun - h.bound) / 1'000'000'000 * kDrift + kDrift;
    }
  }

  // Returns whether a rank may be idle: between groups, its root may be MPI_PROC_NULL.
  static bool may_be_idle(const Bound& bound, size_t rank) {
    static const char* const rooted[] = {"broadcast", "gather", "reduce", "scatter"};
    return bound.ranks[rank] && bound.ranks[rank]->head.remote > 0 &&
           std::ranges::find(rooted, bound.collective) != std::end(rooted);
  }

  // Adds the call to the run, or drops it if a full trace lacks it. Returns what is wrong, or an empty string.
  std::string finish(TracedCall& call) {
    const Bound& bound = run_.bound[call.bound];
    bool is_first = true;
    for (size_t rank = 0; rank < call.ranks.size(); ++rank) {
      const Noted& noted = call.ranks[rank];
      const File* file = files_[call.bound][rank];
      const bool is_whole = noted.setup && noted.parts.back()->head.ended != 0;
      if (!is_whole && (!file || file->is_full)) {
        ++run_.dropped;
        return "";
      }
      if (!noted.setup && may_be_idle(bound, rank)) continue;
      if (!is_whole)
        return fmt::format("{}: call {} of {} {} at this rank", file->path, call.number,
                           bound.name(), noted.setup ? "did not end" : "was not made");
      for (size_t i = 0; i < noted.parts.size(); ++i)
        if (noted.parts[i]->head.number != static_cast<int64_t>(i))
          return fmt::format("{}: lacks a part of call {} of {}", file->path, call.number,
                             bound.name());
      const int64_t begun = noted.parts.front()->head.begun + noted.shift;
      const int64_t ended = noted.parts.back()->head.ended + noted.shift;
      call.begun = is_first ? begun : std::min(call.begun, begun);
      call.ended = is_first ? ended : std::max(call.ended, ended);
      call.has_failed |= noted.parts.back()->head.has_failed != 0;
      is_first = false;
    }
    run_.calls.push_back(std::move(call));
    return "";
  }

  TracedRun& run_;
  const std::string folder_;
  std::map<Name, size_t> names_;                            // indices of bindings
  std::vector<std::vector<const File*>> files_;             // by binding and rank
  std::map<std::pair<size_t, int64_t>, TracedCall> calls_;  // by binding and number
};

}  // namespace

std::string Bound::name() const {
  return request == 0 ? fmt::format("{} by {}", collective, algorithm)
                      : fmt::format("persistent {} {} by {}", collective, request, algorithm);
}

Result<TracedRun> read_run(const std::string& folder, const Say& say) {
  const Result<std::vector<std::string>> paths = files_in(folder);
  if (!paths.ok()) return paths.error();
  TracedRun run;
  for (const std::string& path : *paths) {
    say("reading " + path);
    Result<File> file = read_file(path);
    if (!file.ok()) return file.error();
    run.files.push_back(std::move(file).value());
  }
  say("putting the traces together");
  const std::string wrong = Merger(run, folder).merge();
  if (!wrong.empty()) return Error{wrong};
  return run;
}

}  // namespace quadrille::trace
