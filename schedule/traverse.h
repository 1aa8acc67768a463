// Visits the parts of a program, const or not, in the order of the text (and of the encoding).
#pragma once

#include <type_traits>
#include <variant>

#include "schedule/program.h"

namespace quadrille {

template <class PieceType, class Visit>
void for_each_expression_of_piece(PieceType& piece, Visit& visit) {
  visit(piece.block);
  if (!piece.range) return;
  visit(piece.range->low);
  visit(piece.range->high);
}

// Calls visit(statement) for every statement, an outer one before those inside it.
template <class BodyType, class Visit>
void for_each_statement(BodyType& body, Visit&& visit) {
  const auto in_statement = [&](auto& kind) {
    using Kind = std::remove_cvref_t<decltype(kind)>;
    if constexpr (std::is_same_v<Kind, For> || std::is_same_v<Kind, Step>) {
      for_each_statement(kind.body, visit);
    } else if constexpr (std::is_same_v<Kind, If>) {
      for_each_statement(kind.then, visit);
      for_each_statement(kind.otherwise, visit);
    } else if constexpr (std::is_same_v<Kind, Message>) {
      for_each_statement(kind.pieces, visit);
    }
  };
  for (auto& statement : body) {
    visit(statement);
    std::visit(in_statement, statement.kind);
  }
}

// Calls visit(expression) for every expression that a statement of the body contains (not for its operands).
template <class BodyType, class Visit>
void for_each_expression(BodyType& body, Visit&& visit) {
  const auto in_statement = [&](auto& kind) {
    using Kind = std::remove_cvref_t<decltype(kind)>;
    if constexpr (std::is_same_v<Kind, Let>) {
      visit(kind.value);
    } else if constexpr (std::is_same_v<Kind, For>) {
      visit(kind.low);
      visit(kind.high);
    } else if constexpr (std::is_same_v<Kind, If>) {
      visit(kind.condition);
    } else if constexpr (std::is_same_v<Kind, Step>) {
      visit(kind.key);
      if (kind.after) visit(*kind.after);
    } else if constexpr (std::is_same_v<Kind, Message>) {
      visit(kind.peer);
    } else if constexpr (std::is_same_v<Kind, Transfer>) {
      for_each_expression_of_piece(kind.piece, visit);
    } else if constexpr (std::is_same_v<Kind, Copy>) {
      for_each_expression_of_piece(kind.from, visit);
      for_each_expression_of_piece(kind.to, visit);
    } else {
      static_assert(std::is_same_v<Kind, Reduce>);
      for_each_expression_of_piece(kind.from, visit);
      for_each_expression_of_piece(kind.into, visit);
    }
  };
  for_each_statement(body, [&](auto& statement) { std::visit(in_statement, statement.kind); });
}

// Calls visit(expression) for every expression of the declarations, then for those of the body.
template <class ProgramType, class Visit>
void for_each_expression_of_program(ProgramType& program, Visit&& visit) {
  for (auto& table : program.tables) {
    if (table.kind != TableKind::kPowers && table.kind != TableKind::kMap) continue;
    visit(table.first);
    visit(table.second);
  }
  for (auto& requirement : program.requirements) visit(requirement);
  visit(program.temporary_blocks);
  for_each_expression(program.body, visit);
}

}  // namespace quadrille
