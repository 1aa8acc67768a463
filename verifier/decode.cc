// Reads schedule files strictly. Every section must be in its place, checksum and hash must be right, and nothing may
// be left over. So two files with the same program have the same code. Tested by
// tests/generator/encode_test.cc, by the mutants of tests/mutation and by tests/fuzz.
#include "verifier/decode.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>

#include "runtime/program/digest.h"
#include "runtime/program/table_format.h"
#include "schedule/any_nodes.h"
#include "schedule/lexer.h"

namespace quadrille::verifier {

namespace {

// Reads bytes and numbers in order. After the first failure, every read returns zero.
class Cursor {
 public:
  explicit Cursor(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool at_end() const { return next_ == bytes_.size(); }
  bool failed() const { return failed_; }
  // Notes the first failure. An empty `what` means that the bytes are malformed.
  void fail(const std::string& what = "") {
    if (!failed_) what_ = what;
    failed_ = true;
  }
  std::string what(const std::string& malformed) const { return what_.empty() ? malformed : what_; }

  uint8_t byte() {
    if (failed_ || at_end()) {
      failed_ = true;
      return 0;
    }
    return bytes_[next_++];
  }
  uint64_t fixed(int width) {
    uint64_t value = 0;
    for (int i = 0; i < width; ++i) value |= uint64_t{byte()} << (8 * i);
    return value;
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const uint8_t next = byte();
      if (failed_) return 0;
      // The tenth byte has room for one bit. A last byte of zero is refused, since the number has a shorter form.
      if ((shift == 63 && next > 1) || (next == 0 && shift > 0)) failed_ = true;
      value |= uint64_t{next & 0x7fu} << shift;
      if (next < 0x80 || failed_) return failed_ ? 0 : value;
    }
  }
  int64_t signed_varint() {
    const uint64_t value = varint();
    return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
  }
  size_t position() const { return next_; }
  std::span<const uint8_t> take(uint64_t length) {
    if (failed_ || length > bytes_.size() - next_) {
      failed_ = true;
      return {};
    }
    next_ += length;
    return bytes_.subspan(next_ - length, length);
  }

 private:
  std::span<const uint8_t> bytes_;
  size_t next_ = 0;
  bool failed_ = false;
  std::string what_;
};

// Returns the operator of an opcode. Opcodes are in the order of operators. A variable has no opcode.
std::optional<Operator> operator_of(uint8_t opcode) {
  constexpr int kShift = QD_RANK - static_cast<int>(Operator::kRank);
  static_assert(QD_LENGTH - kShift == static_cast<int>(Operator::kLength) &&
                QD_ADD - kShift == static_cast<int>(Operator::kAdd) &&
                QD_EXPRESSION_END - kShift == kOperatorCount &&
                static_cast<int>(Operator::kVariable) + 1 == static_cast<int>(Operator::kRank));
  if (opcode == QD_CONSTANT) return Operator::kConstant;
  if (opcode == QD_PARAMETER) return Operator::kParameter;
  if (opcode < QD_RANK || opcode >= QD_EXPRESSION_END) return std::nullopt;
  return static_cast<Operator>(opcode - kShift);
}

class CodeReader {
 public:
  explicit CodeReader(const Cursor& in) : in_(in) {}

  Result<Program> run() {
    Program program;
    heading(program);
    const uint64_t parameters = counted(kMaxParameters, QD_MANY_PARAMETERS);
    for (uint64_t i = 0; i < parameters; ++i) {
      const uint8_t kind = in_.byte();
      const bool over_trees = kind & QD_PARAMETER_OVER_TREES;
      if (kind > (QD_PARAMETER_AT_CALL | QD_PARAMETER_OVER_TREES)) in_.fail();
      program.parameters.push_back(
          {{fmt::format("parameter{}", i)}, (kind & QD_PARAMETER_AT_CALL) != 0, over_trees});
    }
    const uint64_t tables = counted(kMaxTables, QD_MANY_TABLES);
    for (uint64_t i = 0; i < tables; ++i) program.tables.push_back(table(i));
    const uint64_t requirements = counted(kMaxRequirements, QD_MANY_REQUIREMENTS);
    for (uint64_t i = 0; i < requirements; ++i) program.requirements.push_back(expression(0));
    program.temporary_blocks = expression(0);
    program.body = body(0);
    if (!in_.at_end()) in_.fail();
    if (in_.failed()) return Error{in_.what("the code is malformed")};
    return program;
  }

  const Cursor& position() const { return in_; }

  Expression expression(int depth) {
    const uint8_t first = in_.byte();
    if (depth > kMaxDepth) in_.fail("the code has " QD_DEEP_EXPRESSION);
    if (in_.failed()) return {};
    if (first & QD_INLINE_BIT)
      return first & QD_INLINE_CONSTANT_BIT
                 ? constant((first & QD_INLINE_MASK) + QD_LEAST_INLINE_CONSTANT)
                 : variable(first & QD_INLINE_MASK);
    const std::optional<Operator> op = operator_of(first);
    if (!op) {
      in_.fail();
      return {};
    }
    Expression result = leaf(*op);
    if (*op == Operator::kConstant) {
      result.value = in_.signed_varint();
      if (result.value >= QD_LEAST_INLINE_CONSTANT && result.value <= QD_GREATEST_INLINE_CONSTANT)
        in_.fail();
    } else if (has_value(*op)) {
      result.value = in_.byte();
    }
    for (int i = 0; i < arity(*op) && !in_.failed(); ++i)
      result.operands.push_back(expression(depth + 1));
    return result;
  }

 private:
  uint64_t counted(uint64_t limit, const std::string& beyond) {
    const uint64_t count = in_.varint();
    if (count > limit) in_.fail("the code has " + beyond);
    return in_.failed() ? 0 : count;
  }

  int64_t window() {
    const uint64_t window = counted(kMaxWindow, QD_WIDE_WINDOW);
    if (window == 0) in_.fail("the code has " QD_WIDE_WINDOW);
    return static_cast<int64_t>(window);
  }

  void heading(Program& program) {
    program.algorithm.text = "unnamed";
    const uint8_t first = in_.byte(), collective = first & ~QD_CANONICAL;
    if (collective >= QD_COLLECTIVE_COUNT) in_.fail();
    program.collective = static_cast<Collective>(collective % QD_COLLECTIVE_COUNT);
    program.canonical = first & QD_CANONICAL;
    const uint8_t flags = in_.byte();
    program.groups = flags & QD_GROUPS_MASK;
    const int port = flags >> QD_PORT_SHIFT & QD_PORT_MASK;
    program.port.kind = static_cast<PortKind>(port);
    program.port.per = flags & QD_PORT_PER_NODE ? PortScope::kNode : PortScope::kRank;
    program.in_place = flags & QD_IN_PLACE;
    program.commutative = flags & QD_COMMUTATIVE;
    const bool scope_of_no_port = port == QD_PORT_NONE && (flags & QD_PORT_PER_NODE);
    if (flags & QD_WINDOWED) program.window = window();
    if (scope_of_no_port || program.groups < 1 || program.groups > 2) in_.fail();
  }

  Table table(uint64_t index) {
    Table table;
    table.name.text = fmt::format("table{}", index);
    table.index.text = "index";
    const uint8_t kind = in_.byte();
    if (kind >= QD_TABLE_KIND_COUNT) in_.fail();
    if (in_.failed()) return table;
    table.kind = static_cast<TableKind>(kind);
    if (has_source(table.kind)) table.source = in_.byte();
    if (kind == QD_TABLE_LITERAL)
      for (uint64_t left = counted(kMaxLiterals, QD_MANY_LITERALS); left > 0 && !in_.failed();
           --left)
        table.entries.push_back(in_.signed_varint());
    if (kind == QD_TABLE_POWERS || kind == QD_TABLE_MAP) {
      table.first = expression(0);
      table.second = expression(0);
    }
    return table;
  }

  Body body(int depth) {
    Body statements;
    if (depth > kMaxDepth) in_.fail("the code has " QD_DEEP_STATEMENTS);
    while (!in_.failed()) {
      const uint8_t opcode = in_.byte();
      if (opcode == QD_END) break;
      statements.push_back(statement(opcode, depth + 1));
    }
    return statements;
  }

  Statement statement(uint8_t opcode, int depth) {
    switch (opcode) {
      case QD_LET: return {Let{{name()}, expression(0)}};
      case QD_FOR: {
        For loop{{name()}, expression(0), {}, {}};
        loop.high = expression(0);
        loop.body = body(depth);
        return {loop};
      }
      case QD_IF:
      case QD_IF_ELSE: {
        If choice{expression(0), body(depth), {}};
        if (opcode == QD_IF) return {choice};
        choice.otherwise = body(depth);
        if (choice.otherwise.empty()) in_.fail();
        return {choice};
      }
      case QD_STEP:
      case QD_STEP_AFTER: {
        Step step{expression(0), std::nullopt, {}};
        if (opcode == QD_STEP_AFTER) step.after = expression(0);
        step.body = body(depth);
        return {step};
      }
      case QD_COPY: {
        Copy copy{piece(in_.byte()), {}};
        copy.to = piece(in_.byte());
        return {copy};
      }
      case QD_REDUCE_LEFT:
      case QD_REDUCE_RIGHT: {
        Reduce reduce{opcode == QD_REDUCE_LEFT ? Side::kLeft : Side::kRight, piece(in_.byte()), {}};
        reduce.into = piece(in_.byte());
        return {reduce};
      }
      default: break;
    }
    if ((opcode & ~QD_MESSAGE_FLAGS) == QD_MESSAGE) return {message(opcode, depth)};
    return {Transfer{piece(opcode)}};
  }

  Message message(uint8_t opcode, int depth) {
    Message message;
    message.direction = opcode & QD_MESSAGE_RECEIVE ? Direction::kReceive : Direction::kSend;
    message.remote = opcode & QD_MESSAGE_REMOTE;
    message.sized = opcode & QD_MESSAGE_SIZED;
    if (opcode & QD_MESSAGE_LEFT) message.combine = Side::kLeft;
    if (opcode & QD_MESSAGE_RIGHT) {
      if (message.combine) in_.fail();
      message.combine = Side::kRight;
    }
    message.peer = expression(0);
    if (opcode & QD_MESSAGE_SINGLE) {
      message.pieces.push_back({Transfer{piece(in_.byte())}});
      return message;
    }
    message.pieces = body(depth);
    // A single piece must have the shorter form above.
    if (message.pieces.size() == 1 && std::holds_alternative<Transfer>(message.pieces[0].kind))
      in_.fail();
    return message;
  }

  Piece piece(uint8_t opcode) {
    if ((opcode & ~QD_PIECE_FLAGS) != QD_PIECE || (opcode & QD_PIECE_BUFFER) > QD_PIECE_TEMPORARY)
      in_.fail();
    if (in_.failed()) return {};
    Piece piece{static_cast<Buffer>(opcode & QD_PIECE_BUFFER), expression(0), std::nullopt};
    if (opcode & QD_PIECE_RANGED) {
      piece.range = Range{expression(0), {}};
      piece.range->high = expression(0);
    }
    return piece;
  }

  std::string name() { return fmt::format("v{}", declared_++); }

  Cursor in_;
  int declared_ = 0;
};

bool is_word(const std::string& text) {
  const auto in_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), in_word);
}

bool is_name(const std::string& text) { return is_word(text) && !is_reserved(text); }

// "hierarchical-factor+token": words joined by - and +.
bool is_algorithm_name(std::string text) {
  std::replace(text.begin(), text.end(), '-', '_');
  std::replace(text.begin(), text.end(), '+', '_');
  return is_word(text) && text.front() != '_' && text.back() != '_';
}

Result<Program> read_code(std::span<const uint8_t> section) {
  return CodeReader(Cursor(section)).run();
}

Expression read_formula(Cursor& in) {
  CodeReader reader(in);
  Expression formula = reader.expression(0);
  in = reader.position();
  return formula;
}

bool read_names(Program& program, std::span<const uint8_t> section) {
  Cursor in(section);
  const size_t count = names(program).size();
  std::vector<std::string> found;
  for (size_t i = 0; i < count && !in.failed(); ++i) {
    const uint64_t length = in.varint();
    if (length >= QD_NAME_AGAIN) {
      if (length - QD_NAME_AGAIN >= i) return false;
      found.push_back(found[length - QD_NAME_AGAIN]);
    } else {
      const std::span<const uint8_t> text = in.take(length);
      found.emplace_back(text.begin(), text.end());
    }
    if (!(i == 0 ? is_algorithm_name(found[0]) : is_name(found[i]))) return false;
  }
  if (in.failed() || !in.at_end()) return false;
  set_names(program, found);
  std::vector<std::string> global;
  for (const Parameter& parameter : program.parameters) global.push_back(parameter.name.text);
  for (const Table& table : program.tables) global.push_back(table.name.text);
  std::sort(global.begin(), global.end());
  return std::adjacent_find(global.begin(), global.end()) == global.end();
}

static_assert(kRuleNone == QD_CHOOSE_NONE && kRuleLeast == QD_CHOOSE_LEAST &&
              kRuleModel == QD_CHOOSE_MODEL && kRuleAuto == QD_CHOOSE_AUTO);

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

  // Checks length, magic, checksum and versions.
  void envelope() {
    const size_t least = QD_SECTIONS_OFFSET + QD_CHECKSUM_LENGTH;
    if (file_.size() > QD_MAX_FILE_LENGTH) return fail(QD_LONG_FILE "; make it again");
    const size_t magic = std::min<size_t>(file_.size(), QD_MAGIC_LENGTH);
    if (magic == 0 || std::memcmp(file_.data(), QD_MAGIC, magic) != 0)
      return fail("not a schedule file; make one with `generate`, of a text with --program");
    if (file_.size() < least) return fail("truncated; make it again");
    Cursor in(file_.subspan(QD_MAGIC_LENGTH));
    schedule_.major = in.fixed(2);
    schedule_.minor = in.fixed(2);
    const int oldest_reader = in.fixed(2);
    section_count_ = in.fixed(2);
    if (oldest_reader > QD_FORMAT_MAJOR)
      return fail(fmt::format(
          "format {}.{} needs a reader of format {} and this one reads {}; use a newer one",
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

  // `order` is the number of known sections so far. Each known section has one place in the order.
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
    Result<Program> program = read_code(sections.program);
    if (!program.ok()) return fail(program.error().message + "; make it again");
    schedule_.program = std::move(program).value();
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

  // Reads the words of the requirement, which must be printable ASCII.
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
    if (!in.at_end()) in.fail();
    if (in.failed()) return fail(in.what("the job is malformed") + "; make it again");
    if (!schedule_.any_nodes) schedule_.job.formulas.clear();
    const Result<bool> valid = validate_formulas(schedule_.program, schedule_.job.formulas);
    if (!valid.ok()) fail("the formulas of the job: " + valid.error().message + "; make it again");
  }

  // Reads the topologies. If the first has no runs, the file is for any nodes, and the most ranks follow.
  void nodes(Cursor& in) {
    const uint64_t runs = in.varint();
    schedule_.any_nodes = !in.failed() && runs == 0;
    if (!schedule_.any_nodes) {
      topology(in, runs);
      if (schedule_.program.groups == 2 && error_.empty()) topology(in, in.varint());
      return;
    }
    const uint64_t most = in.varint();
    if (most > kMaxRanks) in.fail(QD_MANY_RANKS);
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

  // Checks the rule of the last parameter, and reads the cost model that some rules have.
  void rule(Cursor& in) {
    const int64_t rule = schedule_.job.parameters.back();
    if (rule < int64_t{QD_CHOOSE_AUTO} - QD_MAX_BLOCK_SIZE) in.fail();
    if (rule > QD_MAX_BLOCK_SIZE) in.fail(QD_GREAT_BLOCK_SIZE);
    if (rule != QD_CHOOSE_MODEL && rule != QD_CHOOSE_AUTO) return;
    const uint64_t alpha = in.varint(), beta = in.varint();
    if (alpha > QD_MAX_COST || beta > QD_MAX_COST) in.fail(QD_GREAT_COST);
    schedule_.job.models.back() = {static_cast<int64_t>(alpha), static_cast<int64_t>(beta)};
  }

  void topology(Cursor& in, uint64_t count) {
    std::vector<Run> runs;
    for (uint64_t i = 0; i < count && !in.failed(); ++i) {
      const uint64_t nodes = in.varint(), size = in.varint();
      if (nodes > kMaxRanks || size > kMaxRanks) in.fail(QD_MANY_RANKS);
      runs.push_back({static_cast<int64_t>(nodes), static_cast<int64_t>(size)});
    }
    if (in.failed()) return;
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
  Result<Program> program = read_code(code);
  if (!program.ok()) return Error{fmt::format("{}: {}", source, program.error().message)};
  const Result<bool> valid = validate(*program);
  if (!valid.ok()) return Error{fmt::format("{}: {}", source, valid.error().message)};
  if (!read_names(*program, names))
    return Error{fmt::format("{}: the names do not fit the code", source)};
  return program;
}

}  // namespace quadrille::verifier
