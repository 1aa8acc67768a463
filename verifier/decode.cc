// Bytes into a program, strictly: every number in its shortest form, every section where it
// belongs, nothing left over; so a program has exactly one encoding, and two files with the same
// program have the same code. Depth is limited before it is recursed into. Tested by
// tests/verifier/decode_test.cc, by the mutants of tests/verifier/mutation_test.cc and by
// tests/fuzz.
#include "verifier/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>

#include "runtime/digest.h"
#include "runtime/table_format.h"
#include "schedule/lexer.h"

namespace quadrille::verifier {
namespace {

using View = std::span<const uint8_t>;

// Reads from the left; after the first failure everything reads as zero.
class Cursor {
 public:
  explicit Cursor(View bytes) : bytes_(bytes) {}

  bool at_end() const { return next_ == bytes_.size(); }
  bool failed() const { return failed_; }
  void fail() { failed_ = true; }

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
      // The tenth byte holds one bit; a last byte of zero would be a longer form of a shorter
      // number.
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
  View take(uint64_t length) {
    if (failed_ || length > bytes_.size() - next_) {
      failed_ = true;
      return {};
    }
    next_ += length;
    return bytes_.subspan(next_ - length, length);
  }

 private:
  View bytes_;
  size_t next_ = 0;
  bool failed_ = false;
};

std::optional<Operator> operator_of(uint8_t opcode) {
  switch (opcode) {
    case QUADRILLE_CONSTANT: return Operator::kConstant;
    case QUADRILLE_PARAMETER: return Operator::kParameter;
    case QUADRILLE_RANK: return Operator::kRank;
    case QUADRILLE_RANKS: return Operator::kRanks;
    case QUADRILLE_REMOTE_RANKS: return Operator::kRemoteRanks;
    case QUADRILLE_GROUP: return Operator::kGroup;
    case QUADRILLE_ROOT: return Operator::kRoot;
    case QUADRILLE_ADD: return Operator::kAdd;
    case QUADRILLE_SUBTRACT: return Operator::kSubtract;
    case QUADRILLE_MULTIPLY: return Operator::kMultiply;
    case QUADRILLE_DIVIDE: return Operator::kDivide;
    case QUADRILLE_MODULO: return Operator::kModulo;
    case QUADRILLE_XOR: return Operator::kXor;
    case QUADRILLE_MINIMUM: return Operator::kMinimum;
    case QUADRILLE_MAXIMUM: return Operator::kMaximum;
    case QUADRILLE_WRAP: return Operator::kWrap;
    case QUADRILLE_EQUAL: return Operator::kEqual;
    case QUADRILLE_NOT_EQUAL: return Operator::kNotEqual;
    case QUADRILLE_LESS: return Operator::kLess;
    case QUADRILLE_LESS_EQUAL: return Operator::kLessEqual;
    case QUADRILLE_AND: return Operator::kAnd;
    case QUADRILLE_CHOOSE: return Operator::kChoose;
    case QUADRILLE_ELEMENT: return Operator::kElement;
    case QUADRILLE_LOCATE: return Operator::kLocate;
    case QUADRILLE_LENGTH: return Operator::kLength;
    default: return std::nullopt;
  }
}

class CodeReader {
 public:
  explicit CodeReader(View code) : in_(code) {}

  std::optional<Program> run() {
    Program program;
    heading(program);
    const uint64_t parameters = counted(kMaxParameters);
    for (uint64_t i = 0; i < parameters; ++i) {
      const uint8_t at_call = in_.byte();
      if (at_call > 1) in_.fail();
      program.parameters.push_back({{fmt::format("parameter{}", i)}, at_call == 1});
    }
    const uint64_t tables = counted(kMaxTables);
    for (uint64_t i = 0; i < tables; ++i) program.tables.push_back(table(i));
    const uint64_t requirements = counted(QUADRILLE_MAX_REQUIREMENTS);
    for (uint64_t i = 0; i < requirements; ++i) program.requirements.push_back(expression(0));
    program.temporary_blocks = expression(0);
    program.body = body(0);
    if (in_.failed() || !in_.at_end()) return std::nullopt;
    return program;
  }

 private:
  uint64_t counted(uint64_t limit) {
    const uint64_t count = in_.varint();
    if (count > limit) in_.fail();
    return in_.failed() ? 0 : count;
  }

  void heading(Program& program) {
    program.algorithm.text = "unnamed";
    const uint8_t collective = in_.byte();
    if (collective >= QUADRILLE_COLLECTIVE_COUNT) in_.fail();
    program.collective = static_cast<Collective>(collective % QUADRILLE_COLLECTIVE_COUNT);
    const uint8_t flags = in_.byte();
    program.groups = flags & QUADRILLE_GROUPS_MASK;
    const int port = flags >> QUADRILLE_PORT_SHIFT & QUADRILLE_PORT_MASK;
    program.port.kind = static_cast<PortKind>(port);
    program.port.per = flags & QUADRILLE_PORT_PER_NODE ? PortScope::kNode : PortScope::kRank;
    program.in_place = flags & QUADRILLE_IN_PLACE;
    program.commutative = flags & QUADRILLE_COMMUTATIVE;
    const bool scope_of_no_port = port == QUADRILLE_PORT_NONE && (flags & QUADRILLE_PORT_PER_NODE);
    if (flags & 0x80 || port > QUADRILLE_PORT_SEND_RECEIVE || scope_of_no_port ||
        program.groups < 1 || program.groups > 2)
      in_.fail();
  }

  Table table(uint64_t index) {
    Table table;
    table.name.text = fmt::format("table{}", index);
    table.index.text = "index";
    const uint8_t kind = in_.byte();
    if (kind >= QUADRILLE_TABLE_KIND_COUNT) in_.fail();
    if (in_.failed()) return table;
    table.kind = static_cast<TableKind>(kind);
    if (kind == QUADRILLE_TABLE_PREFIX || kind == QUADRILLE_TABLE_DISTINCT)
      table.source = in_.byte();
    if (kind == QUADRILLE_TABLE_POWERS || kind == QUADRILLE_TABLE_MAP) {
      table.first = expression(0);
      table.second = expression(0);
    }
    return table;
  }

  Expression expression(int depth) {
    const uint8_t first = in_.byte();
    if (depth > kMaxDepth) in_.fail();
    if (in_.failed()) return {};
    if (first & QUADRILLE_INLINE_BIT)
      return first & QUADRILLE_INLINE_CONSTANT_BIT
                 ? constant((first & QUADRILLE_INLINE_MASK) + QUADRILLE_LEAST_INLINE_CONSTANT)
                 : variable(first & QUADRILLE_INLINE_MASK);
    const std::optional<Operator> op = operator_of(first);
    if (!op) {
      in_.fail();
      return {};
    }
    Expression result = leaf(*op);
    if (*op == Operator::kConstant) {
      result.value = in_.signed_varint();
      if (result.value >= QUADRILLE_LEAST_INLINE_CONSTANT &&
          result.value <= QUADRILLE_GREATEST_INLINE_CONSTANT)
        in_.fail();
    } else if (has_value(*op)) {
      result.value = in_.byte();
    }
    for (int i = 0; i < arity(*op) && !in_.failed(); ++i)
      result.operands.push_back(expression(depth + 1));
    return result;
  }

  Body body(int depth) {
    Body statements;
    if (depth > kMaxDepth) in_.fail();
    while (!in_.failed()) {
      const uint8_t opcode = in_.byte();
      if (opcode == QUADRILLE_END) break;
      statements.push_back(statement(opcode, depth + 1));
    }
    return statements;
  }

  Statement statement(uint8_t opcode, int depth) {
    switch (opcode) {
      case QUADRILLE_LET: return {Let{{name()}, expression(0)}};
      case QUADRILLE_FOR: {
        For loop{{name()}, expression(0), {}, {}};
        loop.high = expression(0);
        loop.body = body(depth);
        return {loop};
      }
      case QUADRILLE_IF:
      case QUADRILLE_IF_ELSE: {
        If choice{expression(0), body(depth), {}};
        if (opcode == QUADRILLE_IF) return {choice};
        choice.otherwise = body(depth);
        if (choice.otherwise.empty()) in_.fail();
        return {choice};
      }
      case QUADRILLE_STEP:
      case QUADRILLE_STEP_AFTER: {
        Step step{expression(0), std::nullopt, {}};
        if (opcode == QUADRILLE_STEP_AFTER) step.after = expression(0);
        step.body = body(depth);
        return {step};
      }
      case QUADRILLE_COPY: {
        Copy copy{piece(in_.byte()), {}};
        copy.to = piece(in_.byte());
        return {copy};
      }
      case QUADRILLE_REDUCE_LEFT:
      case QUADRILLE_REDUCE_RIGHT: {
        Reduce reduce{
            opcode == QUADRILLE_REDUCE_LEFT ? Side::kLeft : Side::kRight, piece(in_.byte()), {}};
        reduce.into = piece(in_.byte());
        return {reduce};
      }
      case QUADRILLE_LANES: {
        Lanes lanes;
        const uint8_t count = in_.byte();
        for (int i = 0; i < count && !in_.failed(); ++i) lanes.bodies.push_back(body(depth));
        return {lanes};
      }
      default: break;
    }
    if ((opcode & ~QUADRILLE_MESSAGE_FLAGS) == QUADRILLE_MESSAGE) return {message(opcode, depth)};
    return {Transfer{piece(opcode)}};
  }

  Message message(uint8_t opcode, int depth) {
    Message message;
    message.direction = opcode & QUADRILLE_MESSAGE_RECEIVE ? Direction::kReceive : Direction::kSend;
    message.remote = opcode & QUADRILLE_MESSAGE_REMOTE;
    message.sized = opcode & QUADRILLE_MESSAGE_SIZED;
    message.peer = expression(0);
    if (opcode & QUADRILLE_MESSAGE_SINGLE) {
      message.pieces.push_back({Transfer{piece(in_.byte())}});
      return message;
    }
    message.pieces = body(depth);
    // A lone piece has the shorter form.
    if (message.pieces.size() == 1 && std::holds_alternative<Transfer>(message.pieces[0].kind))
      in_.fail();
    return message;
  }

  Piece piece(uint8_t opcode) {
    if ((opcode & ~QUADRILLE_PIECE_FLAGS) != QUADRILLE_PIECE ||
        (opcode & QUADRILLE_PIECE_BUFFER) > QUADRILLE_PIECE_TEMPORARY)
      in_.fail();
    if (in_.failed()) return {};
    Piece piece{static_cast<Buffer>(opcode & QUADRILLE_PIECE_BUFFER), expression(0), std::nullopt};
    if (opcode & QUADRILLE_PIECE_RANGED) {
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

// Names must be as many as are declared, be words, and tell parameters and tables apart.
bool apply_names(Program& program, View section) {
  Cursor in(section);
  const size_t count = names(program).size();
  std::vector<std::string> found;
  for (size_t i = 0; i < count && !in.failed(); ++i) {
    const uint64_t length = in.varint();
    if (length >= QUADRILLE_NAME_AGAIN) {
      if (length - QUADRILLE_NAME_AGAIN >= i) return false;
      found.push_back(found[length - QUADRILLE_NAME_AGAIN]);
    } else {
      const View text = in.take(length);
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

struct Sections {
  View program, job, names;
  bool named = false;
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
    const size_t least = QUADRILLE_SECTIONS_OFFSET + QUADRILLE_CHECKSUM_LENGTH;
    if (file_.size() > QUADRILLE_MAX_FILE_LENGTH) return fail("longer than any schedule file");
    const size_t magic = std::min<size_t>(file_.size(), QUADRILLE_MAGIC_LENGTH);
    if (magic == 0 || std::memcmp(file_.data(), QUADRILLE_MAGIC, magic) != 0)
      return fail("not a schedule file");
    if (file_.size() < least) return fail("truncated; make it again");
    Cursor in(file_.subspan(QUADRILLE_MAGIC_LENGTH));
    schedule_.major = in.fixed(2);
    schedule_.minor = in.fixed(2);
    const int oldest_reader = in.fixed(2);
    section_count_ = in.fixed(2);
    if (oldest_reader > QUADRILLE_FORMAT_MAJOR)
      return fail(fmt::format("format {}.{} needs a reader of format {}; this one reads {}",
                              schedule_.major, schedule_.minor, oldest_reader,
                              QUADRILLE_FORMAT_MAJOR));
    if (schedule_.major < 1 || oldest_reader < 1 || oldest_reader > schedule_.major)
      return fail("impossible version numbers; make it again");
    Cursor end(file_.last(QUADRILLE_CHECKSUM_LENGTH));
    const size_t covered = file_.size() - QUADRILLE_CHECKSUM_LENGTH;
    if (end.fixed(QUADRILLE_CHECKSUM_LENGTH) != quadrille_crc32c(file_.data(), covered))
      fail("damaged: the checksum does not fit; make it again");
  }

  Sections sections() {
    Sections found;
    const View all =
        file_.subspan(QUADRILLE_SECTIONS_OFFSET,
                      file_.size() - QUADRILLE_SECTIONS_OFFSET - QUADRILLE_CHECKSUM_LENGTH);
    Cursor in(all);
    quadrille_sha256 hash;
    quadrille_sha256_start(&hash);
    int order = 0;
    for (int i = 0; i < section_count_ && error_.empty(); ++i) {
      const size_t start = in.position();
      const View tag = in.take(QUADRILLE_SECTION_TAG_LENGTH);
      const View payload = in.take(in.varint());
      if (in.failed()) break;
      if (tag[3] & QUADRILLE_SECTION_CRITICAL)
        quadrille_sha256_add(&hash, all.data() + start, in.position() - start);
      section(tag, payload, found, order);
    }
    if (in.failed() || !in.at_end()) fail("sections that do not fill the file; make it again");
    if (error_.empty() && (order < 2)) fail("a section is missing; make it again");
    unsigned char digest[32];
    quadrille_sha256_end(&hash, digest);
    if (error_.empty() &&
        std::memcmp(digest, &file_[QUADRILLE_HASH_OFFSET], QUADRILLE_HASH_LENGTH) != 0)
      fail("the hash does not fit its contents; make it again");
    for (int i = 0; i < QUADRILLE_HASH_LENGTH; ++i)
      schedule_.hash += fmt::format("{:02x}", digest[i]);
    return found;
  }

  // `order` counts the known sections that have been seen: each has its place.
  void section(View head, View payload, Sections& found, int& order) {
    const std::string tag(head.begin(), head.begin() + 3);
    const int flags = head[3];
    if (flags & ~QUADRILLE_SECTION_CRITICAL)
      return fail(fmt::format("section {}: unknown flags", tag));
    const auto known = [&](int place, int wanted_flags, View& slot) {
      if (order != place || flags != wanted_flags)
        return fail(fmt::format("section {} out of place", tag));
      slot = payload;
      ++order;
    };
    if (tag == QUADRILLE_SECTION_PROGRAM)
      return known(0, QUADRILLE_SECTION_CRITICAL, found.program);
    if (tag == QUADRILLE_SECTION_JOB) return known(1, QUADRILLE_SECTION_CRITICAL, found.job);
    if (tag == QUADRILLE_SECTION_NAMES) {
      known(2, 0, found.names);
      found.named = true;
      return;
    }
    if (flags & QUADRILLE_SECTION_CRITICAL)
      fail(fmt::format(
          "section {} is needed to read the file and unknown to this reader; use a newer one",
          tag));
  }

  void content(const Sections& sections) {
    std::optional<Program> program = CodeReader(sections.program).run();
    if (!program) return fail("the code is malformed; make it again");
    schedule_.program = std::move(*program);
    const Result<bool> valid = validate(schedule_.program);
    if (!valid.ok()) return fail("the code is not a program: " + valid.error().message);
    if (sections.named && !apply_names(schedule_.program, sections.names))
      return fail("the names do not fit the code; make it again");
    schedule_.code.assign(sections.program.begin(), sections.program.end());
    job(sections.job);
  }

  void job(View bytes) {
    Cursor in(bytes);
    for (int group = 0; group < schedule_.program.groups && error_.empty(); ++group) topology(in);
    for (const Parameter& parameter : schedule_.program.parameters) {
      schedule_.job.parameters.push_back(in.signed_varint());
      if (parameter.at_call && schedule_.job.parameters.back() != 0) in.fail();
    }
    if (in.failed() || !in.at_end()) fail("the job is malformed; make it again");
  }

  void topology(Cursor& in) {
    const uint64_t count = in.varint();
    std::vector<Run> runs;
    for (uint64_t i = 0; i < count && !in.failed(); ++i) {
      const uint64_t nodes = in.varint(), size = in.varint();
      if (nodes > kMaxRanks || size > kMaxRanks)
        return fail(fmt::format("more than {} ranks", kMaxRanks));
      runs.push_back({static_cast<int64_t>(nodes), static_cast<int64_t>(size)});
    }
    if (in.failed()) return fail("the job is malformed; make it again");
    Result<Topology> topology = Topology::from_runs(runs);
    if (!topology.ok()) return fail(topology.error().message);
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
  std::optional<Program> program = CodeReader(code).run();
  if (!program) return Error{fmt::format("{}: the code is malformed", source)};
  const Result<bool> valid = validate(*program);
  if (!valid.ok()) return Error{fmt::format("{}: {}", source, valid.error().message)};
  if (!apply_names(*program, names))
    return Error{fmt::format("{}: the names do not fit the code", source)};
  return *std::move(program);
}

}  // namespace quadrille::verifier
