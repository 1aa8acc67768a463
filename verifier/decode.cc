// The envelope of a schedule file, strictly: every section where it belongs, checksum and hash as
// they should be, nothing left over; so two files with the same program have the same code. Tested
// by tests/verifier/decode_test.cc, by the mutants of tests/mutation and by
// tests/fuzz.
#include "verifier/decode.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "runtime/program/digest.h"
#include "runtime/program/table_format.h"
#include "schedule/any_nodes.h"
#include "verifier/cursor.h"
#include "verifier/decode_code.h"

namespace quadrille::verifier {
namespace {

static_assert(kRuleNone == QD_CHOOSE_NONE && kRuleLeast == QD_CHOOSE_LEAST &&
              kRuleModel == QD_CHOOSE_MODEL && kRuleAuto == QD_CHOOSE_AUTO &&
              kMaxCost == QD_MAX_COST);
static_assert(kMaxRanks == QD_MAX_RANKS && kMaxTableLength == QD_MAX_TABLE_LENGTH &&
              kMaxCount == QD_MAX_COUNT && kMaxParameter == QD_MAX_PARAMETER &&
              kMaxIterations == QD_MAX_ITERATIONS &&
              kMaxIterationsARankAndNode == QD_MAX_ITERATIONS_A_RANK_AND_NODE &&
              kMaxIterationsAByte == QD_MAX_ITERATIONS_A_BYTE);

using View = std::span<const uint8_t>;

struct Sections {
  View program, job, names, requirement;
  bool named = false, worded = false;
};

class FileReader {
 public:
  FileReader(View file, const std::string& source) : file_(file), source_(source) {}

  Result<Schedule> run() {
    envelope();
    Sections sections;
    if (error_.empty()) sections = this->sections();
    if (error_.empty()) content(sections);
    if (!error_.empty()) return Error{fmt::format("{}: {}", source_, error_)};
    return std::move(schedule_);
  }

 private:
  void fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
  }

  // Length, magic, checksum, versions.
  void envelope() {
    const size_t least = QD_SECTIONS_OFFSET + QD_CHECKSUM_LENGTH;
    if (file_.size() > QD_MAX_FILE_LENGTH)
      return fail("longer than any schedule file; make it again");
    const size_t magic = std::min<size_t>(file_.size(), QD_MAGIC_LENGTH);
    if (magic == 0 || std::memcmp(file_.data(), QD_MAGIC, magic) != 0)
      return fail("not a schedule file; make one with the generator");
    if (file_.size() < least) return fail("truncated; make it again");
    Cursor in(file_.subspan(QD_MAGIC_LENGTH));
    schedule_.major = in.fixed(2);
    schedule_.minor = in.fixed(2);
    const int oldest_reader = in.fixed(2);
    section_count_ = in.fixed(2);
    if (oldest_reader > QD_FORMAT_MAJOR)
      return fail(
          fmt::format("format {}.{} needs a reader of format {} and this one reads {}; "
                      "use a newer one",
                      schedule_.major, schedule_.minor, oldest_reader, QD_FORMAT_MAJOR));
    if (schedule_.major < 1 || oldest_reader < 1 || oldest_reader > schedule_.major)
      return fail("impossible version numbers; make it again");
    Cursor end(file_.last(QD_CHECKSUM_LENGTH));
    const size_t covered = file_.size() - QD_CHECKSUM_LENGTH;
    if (end.fixed(QD_CHECKSUM_LENGTH) != qd_crc32c(file_.data(), covered))
      fail("damaged: the checksum does not fit; make it again");
  }

  Sections sections() {
    Sections found;
    const View all =
        file_.subspan(QD_SECTIONS_OFFSET, file_.size() - QD_SECTIONS_OFFSET - QD_CHECKSUM_LENGTH);
    Cursor in(all);
    qd_sha256 hash;
    qd_sha256_start(&hash);
    int order = 0;
    for (int i = 0; i < section_count_ && error_.empty(); ++i) {
      const size_t start = in.position();
      const View tag = in.take(QD_SECTION_TAG_LENGTH);
      const View payload = in.take(in.varint());
      if (in.failed()) break;
      if (tag[3] & QD_SECTION_CRITICAL)
        qd_sha256_add(&hash, all.data() + start, in.position() - start);
      section(tag, payload, found, order);
    }
    if (in.failed() || !in.at_end()) fail("sections that do not fill the file; make it again");
    if (error_.empty() && (order < 2)) fail("a section is missing; make it again");
    unsigned char digest[32];
    qd_sha256_end(&hash, digest);
    if (error_.empty() && std::memcmp(digest, &file_[QD_HASH_OFFSET], QD_HASH_LENGTH) != 0)
      fail("the hash does not fit its contents; make it again");
    for (int i = 0; i < QD_HASH_LENGTH; ++i) schedule_.hash += fmt::format("{:02x}", digest[i]);
    return found;
  }

  // `order` counts the known sections that have been seen: each has its place.
  void section(View head, View payload, Sections& found, int& order) {
    const std::string tag(head.begin(), head.begin() + 3);
    const int flags = head[3];
    if (flags & ~QD_SECTION_CRITICAL)
      return fail(fmt::format("section {} has unknown flags; make it again", tag));
    const auto known = [&](int place, int wanted_flags, View& slot) {
      if (order != place || flags != wanted_flags)
        return fail(fmt::format("section {} is out of place; make it again", tag));
      slot = payload;
      ++order;
    };
    if (tag == QD_SECTION_PROGRAM) return known(0, QD_SECTION_CRITICAL, found.program);
    if (tag == QD_SECTION_JOB) return known(1, QD_SECTION_CRITICAL, found.job);
    if (tag == QD_SECTION_NAMES) {
      known(2, 0, found.names);
      found.named = true;
      return;
    }
    if (tag == QD_SECTION_REQUIREMENT) {
      known(3, 0, found.requirement);
      found.worded = true;
      return;
    }
    if (flags & QD_SECTION_CRITICAL)
      fail(fmt::format(
          "section {} is needed to read the file and unknown to this reader; use a newer one",
          tag));
  }

  void content(const Sections& sections) {
    std::optional<Program> program = read_code(sections.program);
    if (!program) return fail("the code is malformed; make it again");
    schedule_.program = std::move(*program);
    const Result<bool> valid = validate(schedule_.program);
    if (!valid.ok()) {
      const std::string& what = valid.error().message;
      return fail("the code is not a program: " + what.substr(0, what.find(';')) +
                  "; make it again");
    }
    if (sections.named && !read_names(schedule_.program, sections.names))
      return fail("the names do not fit the code; make it again");
    schedule_.code.assign(sections.program.begin(), sections.program.end());
    job(sections.job);
    if (sections.worded) words(sections.requirement);
  }

  // Printable ASCII.
  void words(View bytes) {
    Cursor in(bytes);
    const View text = in.take(in.varint());
    schedule_.job.needs.assign(text.begin(), text.end());
    if (in.failed() || !in.at_end() || text.empty() || text.size() > QD_MAX_NAME_LENGTH ||
        std::any_of(text.begin(), text.end(), [](uint8_t c) { return c < ' ' || c > '~'; }))
      fail("the words of the requirement are malformed; make it again");
  }

  void job(View bytes) {
    Cursor in(bytes);
    nodes(in);
    for (const Parameter& parameter : schedule_.program.parameters) {
      schedule_.job.models.emplace_back();
      schedule_.job.formulas.emplace_back();
      if (schedule_.any_nodes && !parameter.at_call) {
        formula(in);
        continue;
      }
      schedule_.job.parameters.push_back(in.signed_varint());
      if (parameter.at_call) rule(in);
    }
    if (!schedule_.any_nodes) schedule_.job.formulas.clear();
    if (in.failed() || !in.at_end()) fail("the job is malformed; make it again");
  }

  // Topologies, or, where the first has no runs, the number of ranks that any nodes may have.
  void nodes(Cursor& in) {
    const uint64_t runs = in.varint();
    schedule_.any_nodes = !in.failed() && runs == 0;
    if (!schedule_.any_nodes) {
      topology(in, runs);
      if (schedule_.program.groups == 2 && error_.empty()) topology(in, in.varint());
      return;
    }
    const uint64_t most = in.varint();
    if (most > kMaxRanks) in.fail();
    schedule_.job.most_ranks = static_cast<int64_t>(most);
  }

  void formula(Cursor& in) {
    schedule_.job.parameters.push_back(0);
    Expression& formula = schedule_.job.formulas.back();
    formula = read_formula(in);
    if (in.failed()) return;
    const Result<bool> valid = validate_formula(schedule_.program, formula);
    if (!valid.ok()) fail(valid.error().message + "; make it again");
  }

  // Whether the last parameter is a rule, and the model behind it.
  void rule(Cursor& in) {
    const int64_t rule = schedule_.job.parameters.back();
    if (rule < QD_CHOOSE_AUTO || rule > INT32_MAX) in.fail();
    if (rule != QD_CHOOSE_MODEL && rule != QD_CHOOSE_AUTO) return;
    const uint64_t alpha = in.varint(), beta = in.varint();
    if (alpha > QD_MAX_COST || beta > QD_MAX_COST) in.fail();
    schedule_.job.models.back() = {static_cast<int64_t>(alpha), static_cast<int64_t>(beta)};
  }

  void topology(Cursor& in, uint64_t count) {
    std::vector<Run> runs;
    for (uint64_t i = 0; i < count && !in.failed(); ++i) {
      const uint64_t nodes = in.varint(), size = in.varint();
      if (nodes > kMaxRanks || size > kMaxRanks)
        return fail(fmt::format("more than {} ranks; make it again", kMaxRanks));
      runs.push_back({static_cast<int64_t>(nodes), static_cast<int64_t>(size)});
    }
    if (in.failed()) return fail("the job is malformed; make it again");
    Result<Topology> topology = Topology::from_runs(runs);
    if (!topology.ok()) {
      const std::string& what = topology.error().message;
      return fail(what.substr(0, what.find(';')) + "; make it again");
    }
    if (topology->runs() != runs) return fail("node sizes that do not ascend; make it again");
    schedule_.job.groups.push_back(std::move(topology).value());
  }

  View file_;
  const std::string& source_;
  Schedule schedule_;
  int section_count_ = 0;
  std::string error_;
};

}  // namespace

Result<Schedule> decode(View file, const std::string& source) {
  return FileReader(file, source).run();
}

Result<Program> decode_program(View code, View names, const std::string& source) {
  std::optional<Program> program = read_code(code);
  if (!program) return Error{fmt::format("{}: the code is malformed", source)};
  const Result<bool> valid = validate(*program);
  if (!valid.ok()) return Error{fmt::format("{}: {}", source, valid.error().message)};
  if (!read_names(*program, names))
    return Error{fmt::format("{}: the names do not fit the code", source)};
  return *std::move(program);
}

}  // namespace quadrille::verifier
