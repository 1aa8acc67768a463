// Code into a program: prefix order, every operator in its one form, so a program has exactly one
// encoding. Depth is limited before it is recursed into. Tested with decode.cc.
#include "verifier/decode_code.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "runtime/program/table_format.h"
#include "schedule/lexer.h"
#include "verifier/cursor.h"

namespace quadrille::verifier {
namespace {

std::optional<Operator> operator_of(uint8_t opcode) {
  switch (opcode) {
    case QD_CONSTANT: return Operator::kConstant;
    case QD_PARAMETER: return Operator::kParameter;
    case QD_RANK: return Operator::kRank;
    case QD_RANKS: return Operator::kRanks;
    case QD_REMOTE_RANKS: return Operator::kRemoteRanks;
    case QD_GROUP: return Operator::kGroup;
    case QD_ROOT: return Operator::kRoot;
    case QD_ADD: return Operator::kAdd;
    case QD_SUBTRACT: return Operator::kSubtract;
    case QD_MULTIPLY: return Operator::kMultiply;
    case QD_DIVIDE: return Operator::kDivide;
    case QD_MODULO: return Operator::kModulo;
    case QD_XOR: return Operator::kXor;
    case QD_MINIMUM: return Operator::kMinimum;
    case QD_MAXIMUM: return Operator::kMaximum;
    case QD_WRAP: return Operator::kWrap;
    case QD_EQUAL: return Operator::kEqual;
    case QD_NOT_EQUAL: return Operator::kNotEqual;
    case QD_LESS: return Operator::kLess;
    case QD_LESS_EQUAL: return Operator::kLessEqual;
    case QD_AND: return Operator::kAnd;
    case QD_CHOOSE: return Operator::kChoose;
    case QD_ELEMENT: return Operator::kElement;
    case QD_LOCATE: return Operator::kLocate;
    case QD_LENGTH: return Operator::kLength;
    default: return std::nullopt;
  }
}

class CodeReader {
 public:
  explicit CodeReader(const Cursor& in) : in_(in) {}

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
    const uint64_t requirements = counted(QD_MAX_REQUIREMENTS);
    for (uint64_t i = 0; i < requirements; ++i) program.requirements.push_back(expression(0));
    program.temporary_blocks = expression(0);
    program.body = body(0);
    if (in_.failed() || !in_.at_end()) return std::nullopt;
    return program;
  }

  const Cursor& position() const { return in_; }

  Expression expression(int depth) {
    const uint8_t first = in_.byte();
    if (depth > kMaxDepth) in_.fail();
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
  uint64_t counted(uint64_t limit) {
    const uint64_t count = in_.varint();
    if (count > limit) in_.fail();
    return in_.failed() ? 0 : count;
  }

  void heading(Program& program) {
    program.algorithm.text = "unnamed";
    const uint8_t collective = in_.byte();
    if (collective >= QD_COLLECTIVE_COUNT) in_.fail();
    program.collective = static_cast<Collective>(collective % QD_COLLECTIVE_COUNT);
    const uint8_t flags = in_.byte();
    program.groups = flags & QD_GROUPS_MASK;
    const int port = flags >> QD_PORT_SHIFT & QD_PORT_MASK;
    program.port.kind = static_cast<PortKind>(port);
    program.port.per = flags & QD_PORT_PER_NODE ? PortScope::kNode : PortScope::kRank;
    program.in_place = flags & QD_IN_PLACE;
    program.commutative = flags & QD_COMMUTATIVE;
    const bool scope_of_no_port = port == QD_PORT_NONE && (flags & QD_PORT_PER_NODE);
    if (flags & 0x80 || port > QD_PORT_SEND_RECEIVE || scope_of_no_port || program.groups < 1 ||
        program.groups > 2)
      in_.fail();
  }

  Table table(uint64_t index) {
    Table table;
    table.name.text = fmt::format("table{}", index);
    table.index.text = "index";
    const uint8_t kind = in_.byte();
    if (kind >= QD_TABLE_KIND_COUNT) in_.fail();
    if (in_.failed()) return table;
    table.kind = static_cast<TableKind>(kind);
    if (kind == QD_TABLE_PREFIX || kind == QD_TABLE_DISTINCT) table.source = in_.byte();
    if (kind == QD_TABLE_POWERS || kind == QD_TABLE_MAP) {
      table.first = expression(0);
      table.second = expression(0);
    }
    return table;
  }

  Body body(int depth) {
    Body statements;
    if (depth > kMaxDepth) in_.fail();
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
    // A lone piece has the shorter form.
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

}  // namespace

std::optional<Program> read_code(std::span<const uint8_t> section) {
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

}  // namespace quadrille::verifier
