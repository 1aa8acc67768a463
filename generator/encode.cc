// Encodes a program in one pass in prefix order, with every number in its shortest form. So equal programs have equal
// code. The two decoders (verifier/decode.cc, runtime/program/load.c) do not use this file.
// tests/generator/encode_test.cc tests the round trip.
#include "generator/encode.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "runtime/program/digest.h"
#include "runtime/program/table_format.h"
#include "schedule/any_nodes.h"
#include "schedule/traverse.h"

namespace quadrille {
namespace {

static_assert(kRuleNone == QD_CHOOSE_NONE && kRuleLeast == QD_CHOOSE_LEAST &&
              kRuleModel == QD_CHOOSE_MODEL && kRuleAuto == QD_CHOOSE_AUTO);

class Writer {
 public:
  void byte(int value) { bytes_.push_back(static_cast<uint8_t>(value)); }
  void fixed(uint64_t value, int width) {
    for (int i = 0; i < width; ++i) byte(value >> (8 * i) & 0xff);
  }
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte((value & 0x7f) | 0x80);
    byte(value);
  }
  void signed_varint(int64_t value) {
    varint(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
  }
  void string(std::string_view text) {
    varint(text.size());
    append(text.data(), text.size());
  }
  void append(const void* bytes, size_t length) {
    const uint8_t* first = static_cast<const uint8_t*>(bytes);
    bytes_.insert(bytes_.end(), first, first + length);
  }
  void section(const char* tag, int flags, const Bytes& payload) {
    append(tag, 3);
    byte(flags);
    varint(payload.size());
    append(payload.data(), payload.size());
  }
  Bytes take() { return std::move(bytes_); }
  Bytes& bytes() { return bytes_; }

 private:
  Bytes bytes_;
};

// Opcodes are in the order of operators. A variable has no opcode.
int opcode(Operator op) {
  constexpr int kShift = QD_RANK - static_cast<int>(Operator::kRank);
  static_assert(QD_PARAMETER - QD_CONSTANT == static_cast<int>(Operator::kParameter) &&
                QD_ADD - kShift == static_cast<int>(Operator::kAdd) &&
                QD_EXPRESSION_END - kShift == kOperatorCount);
  check(op != Operator::kVariable, "a variable has no opcode");
  return static_cast<int>(op) + (op < Operator::kVariable ? QD_CONSTANT : kShift);
}

class CodeWriter {
 public:
  Bytes run(const Program& program) {
    out_.byte(static_cast<int>(program.collective) | (program.canonical ? QD_CANONICAL : 0));
    out_.byte(program.groups | static_cast<int>(program.port.kind) << QD_PORT_SHIFT |
              (program.port.per == PortScope::kNode ? QD_PORT_PER_NODE : 0) |
              (program.in_place ? QD_IN_PLACE : 0) | (program.commutative ? QD_COMMUTATIVE : 0) |
              (program.window > 0 ? QD_WINDOWED : 0));
    if (program.window > 0) out_.varint(static_cast<uint64_t>(program.window));
    out_.varint(program.parameters.size());
    for (const Parameter& parameter : program.parameters)
      out_.byte((parameter.at_call ? QD_PARAMETER_AT_CALL : 0) |
                (parameter.over_trees ? QD_PARAMETER_OVER_TREES : 0));
    out_.varint(program.tables.size());
    for (const Table& table : program.tables) this->table(table);
    out_.varint(program.requirements.size());
    for (const Expression& requirement : program.requirements) expression(requirement);
    expression(program.temporary_blocks);
    body(program.body);
    return out_.take();
  }

  Bytes run(const Expression& formula) {
    expression(formula);
    return out_.take();
  }

 private:
  void table(const Table& table) {
    out_.byte(static_cast<int>(table.kind));
    if (has_source(table.kind)) out_.byte(table.source);
    if (table.kind == TableKind::kLiteral) {
      out_.varint(table.entries.size());
      for (const int64_t entry : table.entries) out_.signed_varint(entry);
    }
    if (table.kind != TableKind::kPowers && table.kind != TableKind::kMap) return;
    expression(table.first);
    expression(table.second);
  }

  void expression(const Expression& e) {
    if (e.op == Operator::kVariable) return out_.byte(QD_INLINE_BIT | e.value);
    if (e.op == Operator::kConstant && e.value >= QD_LEAST_INLINE_CONSTANT &&
        e.value <= QD_GREATEST_INLINE_CONSTANT)
      return out_.byte(QD_INLINE_BIT | QD_INLINE_CONSTANT_BIT |
                       (e.value - QD_LEAST_INLINE_CONSTANT));
    out_.byte(opcode(e.op));
    if (e.op == Operator::kConstant)
      out_.signed_varint(e.value);
    else if (has_value(e.op))
      out_.byte(e.value);
    for (const Expression& operand : e.operands) expression(operand);
  }

  void body(const Body& statements) {
    for (const Statement& statement : statements)
      std::visit([this](const auto& kind) { this->statement(kind); }, statement.kind);
    out_.byte(QD_END);
  }

  void statement(const Let& let) {
    out_.byte(QD_LET);
    expression(let.value);
  }
  void statement(const For& loop) {
    out_.byte(QD_FOR);
    expression(loop.low);
    expression(loop.high);
    body(loop.body);
  }
  void statement(const If& choice) {
    out_.byte(choice.otherwise.empty() ? QD_IF : QD_IF_ELSE);
    expression(choice.condition);
    body(choice.then);
    if (!choice.otherwise.empty()) body(choice.otherwise);
  }
  void statement(const Step& step) {
    out_.byte(step.after ? QD_STEP_AFTER : QD_STEP);
    expression(step.key);
    if (step.after) expression(*step.after);
    body(step.body);
  }
  void statement(const Message& message) {
    const Transfer* single =
        message.pieces.size() == 1 ? std::get_if<Transfer>(&message.pieces[0].kind) : nullptr;
    out_.byte(QD_MESSAGE | (message.direction == Direction::kReceive ? QD_MESSAGE_RECEIVE : 0) |
              (message.remote ? QD_MESSAGE_REMOTE : 0) | (message.sized ? QD_MESSAGE_SIZED : 0) |
              (message.combine == Side::kLeft ? QD_MESSAGE_LEFT : 0) |
              (message.combine == Side::kRight ? QD_MESSAGE_RIGHT : 0) |
              (single ? QD_MESSAGE_SINGLE : 0));
    expression(message.peer);
    if (single)
      piece(single->piece);
    else
      body(message.pieces);
  }
  void statement(const Transfer& transfer) { piece(transfer.piece); }
  void statement(const Copy& copy) {
    out_.byte(QD_COPY);
    piece(copy.from);
    piece(copy.to);
  }
  void statement(const Reduce& reduce) {
    out_.byte(reduce.side == Side::kLeft ? QD_REDUCE_LEFT : QD_REDUCE_RIGHT);
    piece(reduce.from);
    piece(reduce.into);
  }

  void piece(const Piece& piece) {
    out_.byte(QD_PIECE | static_cast<int>(piece.buffer) | (piece.range ? QD_PIECE_RANGED : 0));
    expression(piece.block);
    if (!piece.range) return;
    expression(piece.range->low);
    expression(piece.range->high);
  }

  Writer out_;
};

Bytes encode_job(const Program& program, const Job& job) {
  Writer out;
  if (serves_any_nodes(job)) {
    out.varint(0);
    out.varint(job.most_ranks);
  }
  for (const Topology& topology : job.groups) {
    out.varint(topology.runs().size());
    for (const Run& run : topology.runs()) {
      out.varint(run.nodes);
      out.varint(run.size);
    }
  }
  for (size_t i = 0; i < program.parameters.size(); ++i) {
    if (serves_any_nodes(job) && !program.parameters[i].at_call) {
      const Bytes formula = CodeWriter().run(job.formulas[i]);
      out.append(formula.data(), formula.size());
      continue;
    }
    const int64_t value = i < job.parameters.size() ? job.parameters[i] : kRuleNone;
    out.signed_varint(value);
    if (!program.parameters[i].at_call || !uses_model(value)) continue;
    const LinearModel model = i < job.models.size() ? job.models[i] : LinearModel{};
    out.varint(model.alpha_ns);
    out.varint(model.beta_ps);
  }
  return out.take();
}

}  // namespace

Bytes encode_code(const Program& program) { return CodeWriter().run(program); }

Bytes encode_names(const Program& program) {
  Writer out;
  const std::vector<std::string> all = names(program);
  for (auto name = all.begin(); name != all.end(); ++name) {
    check(name->size() <= QD_MAX_NAME_LENGTH, "a name is too long");
    const auto earlier = std::find(all.begin(), name, *name);
    if (earlier != name)
      out.varint(QD_NAME_AGAIN + (earlier - all.begin()));
    else
      out.string(*name);
  }
  return out.take();
}

Bytes encode(const Program& program, const Job& job) {
  Writer critical;
  critical.section(QD_SECTION_PROGRAM, QD_SECTION_CRITICAL, encode_code(program));
  critical.section(QD_SECTION_JOB, QD_SECTION_CRITICAL, encode_job(program, job));

  qd_sha256 hash;
  unsigned char digest[32];
  qd_sha256_start(&hash);
  qd_sha256_add(&hash, critical.bytes().data(), critical.bytes().size());
  qd_sha256_end(&hash, digest);

  Writer file;
  file.append(QD_MAGIC, QD_MAGIC_LENGTH);
  const int version = serves_any_nodes(job) ? QD_FORMAT_ANY_NODES : QD_FORMAT_GIVEN_NODES;
  file.fixed(version, 2);
  file.fixed(QD_FORMAT_MINOR, 2);
  file.fixed(version, 2);
  file.fixed(job.needs.empty() ? 3 : 4, 2);
  file.append(digest, QD_HASH_LENGTH);
  file.append(critical.bytes().data(), critical.bytes().size());
  file.section(QD_SECTION_NAMES, 0, encode_names(program));
  if (!job.needs.empty()) {
    check(job.needs.size() <= QD_MAX_NAME_LENGTH, "words that are too long");
    Writer words;
    words.string(job.needs);
    file.section(QD_SECTION_REQUIREMENT, 0, words.take());
  }
  file.fixed(qd_crc32c(file.bytes().data(), file.bytes().size()), QD_CHECKSUM_LENGTH);
  return file.take();
}

}  // namespace quadrille
