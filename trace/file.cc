// Trusts no length, count or place in a file. Tested by tests/trace.
#include "trace/file.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "cli/files.h"

namespace quadrille::trace {
namespace {

constexpr size_t kWord = sizeof(uint64_t);

class Reader {
 public:
  explicit Reader(File& file) : file_(file) {}

  // Returns what is wrong, or an empty string.
  std::string read() {
    qd_trace_header header;
    if (bytes() < sizeof header) return "is too short for a trace";
    std::memcpy(&header, file_.words.data(), sizeof header);
    if (header.magic != QD_TRACE_MAGIC)
      return "is no trace of this version of Quadrille, or one of a machine with another byte "
             "order";
    if (header.length != bytes())
      return fmt::format("is cut or damaged: it has {} bytes, and says {}", bytes(), header.length);
    file_.rank = header.rank;
    file_.is_full = header.is_full != 0;
    for (next_ = sizeof header; next_ < bytes(); next_ += length_)
      if (!read_section()) return fmt::format("is damaged at byte {}", next_);
    return "";
  }

 private:
  size_t bytes() const { return file_.words.size() * kWord; }

  // Reads the head of the current section. Returns false if the section is too short.
  template <class Head>
  bool head(Head& into) {
    if (length_ < sizeof into) return false;
    std::memcpy(&into, at(0), sizeof into);
    behind_ = (length_ - sizeof into) / kWord;
    numbers_ = sizeof into;
    return true;
  }

  const char* at(size_t offset) const {
    return reinterpret_cast<const char*>(file_.words.data()) + next_ + offset;
  }

  // Takes the next `count` numbers behind the head. Returns false if the section has fewer.
  bool take(int64_t count, std::vector<int64_t>& into) {
    if (count < 0 || static_cast<uint64_t>(count) > behind_) return false;
    into.resize(static_cast<size_t>(count));
    if (count > 0) std::memcpy(into.data(), at(numbers_), into.size() * kWord);
    numbers_ += into.size() * kWord;
    behind_ -= into.size();
    return true;
  }

  bool take_runs(int64_t count, std::vector<Run>& into) {
    std::vector<int64_t> numbers;
    if (count < 0 || count > kMaxRanks || !take(2 * count, numbers)) return false;
    for (size_t i = 0; i < numbers.size(); i += 2) into.push_back({numbers[i], numbers[i + 1]});
    return true;
  }

  bool read_section() {
    qd_trace_section section;
    length_ = sizeof section;
    if (bytes() - next_ < sizeof section || !head(section)) return false;
    length_ = section.length;
    if (length_ < sizeof section || length_ % kWord != 0 || length_ > bytes() - next_) return false;
    switch (section.kind) {
      case QD_TRACE_BINDING: return read_binding();
      case QD_TRACE_SETUP: return read_setup();
      case QD_TRACE_PART: return read_part();
      default: return false;
    }
  }

  bool read_binding() {
    BindingSection binding;
    if (!head(binding.head)) return false;
    const qd_trace_binding& h = binding.head;
    const int64_t all = int64_t{h.ranks} + h.remote;
    if (h.ranks < 1 || h.remote < 0 || h.rank < 0 || h.rank >= h.ranks || h.own < 0 ||
        h.own >= all || all > 2 * kMaxRanks || h.error < 0)
      return false;
    binding.head.algorithm[sizeof h.algorithm - 1] = 0;
    binding.head.collective[sizeof h.collective - 1] = 0;
    if (!take_runs(h.runs, binding.runs) || !take_runs(h.remote_runs, binding.remote_runs))
      return false;
    bindings_[next_] = file_.bindings.size();
    file_.bindings.push_back(std::move(binding));
    return true;
  }

  // Takes the counts of a group: none, one for all ranks, or one for each.
  bool take_counts(int64_t count, int64_t ranks, std::vector<int64_t>& into) {
    return (count == 0 || count == 1 || count == ranks) && take(count, into);
  }

  bool read_setup() {
    SetupSection setup;
    if (!head(setup.head)) return false;
    const auto binding = bindings_.find(setup.head.binding);
    if (binding == bindings_.end()) return false;
    setup.binding = binding->second;
    const qd_trace_binding& of = file_.bindings[setup.binding].head;
    const qd_trace_setup& h = setup.head;
    if (h.group < 0 || h.group > 1 || h.window < 0 || h.unit < 0 ||
        !take(h.parameters, setup.parameters) || !take_counts(h.counts, of.ranks, setup.counts) ||
        !take_counts(h.remote_counts, of.remote, setup.remote_counts))
      return false;
    setups_[next_] = file_.setups.size();
    file_.setups.push_back(std::move(setup));
    return true;
  }

  bool read_part() {
    PartSection part;
    if (!head(part.head)) return false;
    const qd_trace_part& h = part.head;
    const auto setup = setups_.find(h.setup);
    if (setup == setups_.end() || h.receives < 0 || h.sends < 0) return false;
    const size_t messages = static_cast<size_t>(h.receives) + static_cast<size_t>(h.sends);
    if (messages * sizeof(qd_trace_message) != length_ - sizeof h) return false;
    part.setup = setup->second;
    const auto* first = reinterpret_cast<const qd_trace_message*>(at(sizeof h));
    part.receives = {first, static_cast<size_t>(h.receives)};
    part.sends = {first + h.receives, static_cast<size_t>(h.sends)};
    file_.parts.push_back(part);
    return true;
  }

  File& file_;
  size_t next_ = 0, length_ = 0;     // the current section
  size_t behind_ = 0, numbers_ = 0;  // words behind its head that are not taken; where they begin
  std::map<uint64_t, size_t> bindings_, setups_;  // by place in the file
};

}  // namespace

Result<File> read_file(const std::string& path) {
  File file;
  file.path = path;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(cli::user_path(path), ignored))
    return Error{fmt::format("{}: is no file; leave only files of traces in the folder", path)};
  std::ifstream in(cli::user_path(path), std::ios::binary | std::ios::ate);
  if (!in) return Error{fmt::format("{}: {}", path, std::strerror(errno))};
  const auto length = static_cast<size_t>(in.tellg());
  if (length % kWord != 0)
    return Error{fmt::format("{}: is cut or damaged: its {} bytes are no whole words of {}", path,
                             length, kWord)};
  file.words.resize(length / kWord);
  in.seekg(0);
  if (!in.read(reinterpret_cast<char*>(file.words.data()), static_cast<std::streamsize>(length)))
    return Error{fmt::format("{}: cannot be read", path)};
  const std::string wrong = Reader(file).read();
  if (!wrong.empty()) return Error{fmt::format("{}: {}", path, wrong)};
  return file;
}

}  // namespace quadrille::trace
