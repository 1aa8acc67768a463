// Visits the parts of a program, const or not, in the order in which they are written (and
// encoded).
#ifndef QUADRILLE_SCHEDULE_TRAVERSE_H_
#define QUADRILLE_SCHEDULE_TRAVERSE_H_

#include "schedule/program.h"

namespace quadrille {

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};

template <class PieceType, class Visit>
void for_each_expression_of_piece(PieceType& piece, Visit& visit) {
  visit(piece.block);
  if (!piece.range) return;
  visit(piece.range->low);
  visit(piece.range->high);
}

// Calls visit(expression) for every expression that a statement of the body holds (not for its
// operands).
template <class BodyType, class Visit>
void for_each_expression(BodyType& body, Visit&& visit) {
  for (auto& statement : body) {
    std::visit(Overloaded{[&](auto& kind) requires requires { kind.value;
  }
  { visit(kind.value); }
  , [&](auto& kind) requires requires { kind.low; }
  {
    visit(kind.low);
    visit(kind.high);
    for_each_expression(kind.body, visit);
  }
  , [&](auto& kind) requires requires { kind.condition; }
  {
    visit(kind.condition);
    for_each_expression(kind.then, visit);
    for_each_expression(kind.otherwise, visit);
  }
  , [&](auto& kind) requires requires { kind.key; }
  {
    visit(kind.key);
    if (kind.after) visit(*kind.after);
    for_each_expression(kind.body, visit);
  }
  , [&](auto& kind) requires requires { kind.peer; }
  {
    visit(kind.peer);
    for_each_expression(kind.pieces, visit);
  }
  , [&](auto& kind) requires requires { kind.piece; }
  { for_each_expression_of_piece(kind.piece, visit); }
  , [&](auto& kind) requires requires { kind.to; }
  {
    for_each_expression_of_piece(kind.from, visit);
    for_each_expression_of_piece(kind.to, visit);
  }
  , [&](auto& kind) requires requires { kind.into; }
  {
    for_each_expression_of_piece(kind.from, visit);
    for_each_expression_of_piece(kind.into, visit);
  }
  , [&](auto& kind) requires requires { kind.bodies; }
  {
    for (auto& lane : kind.bodies) for_each_expression(lane, visit);
  }
},
               statement.kind);
}  // namespace quadrille
}

// The expressions of the declarations, then those of the body.
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

// Calls visit(statement) for every statement, an outer one before those inside it.
template <class BodyType, class Visit>
void for_each_statement(BodyType& body, Visit&& visit) {
  for (auto& statement : body) {
    visit(statement);
    std::visit(Overloaded{[&](auto& kind) requires requires { kind.body;
  }
  { for_each_statement(kind.body, visit); }
  , [&](auto& kind) requires requires { kind.then; }
  {
    for_each_statement(kind.then, visit);
    for_each_statement(kind.otherwise, visit);
  }
  , [&](auto& kind) requires requires { kind.pieces; }
  { for_each_statement(kind.pieces, visit); }
  , [&](auto& kind) requires requires { kind.bodies; }
  {
    for (auto& lane : kind.bodies) for_each_statement(lane, visit);
  }
  , [](auto&) {}
},
               statement.kind);
}
}

}  // namespace quadrille

#endif  // QUADRILLE_SCHEDULE_TRAVERSE_H_
