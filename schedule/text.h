// The text form of a program. It reads like the pseudo-code of a paper, and parse_program(print(p)) == p.
//
//   algorithm factor for alltoall
//   port exchange per rank
//   table size = nodes                      -- optional: tables, parameters, requirements
//
//   for round in 0 .. ranks                 -- blocks by indentation; -- starts a comment
//     let peer = wrap(round - rank, ranks)
//     if peer != rank
//       step round after -1
//         send send[peer] to peer
//         receive recv[peer] from peer
//
// README.md and docs/language.md show every construct.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schedule/program.h"
#include "schedule/result.h"

namespace quadrille {

// Returns the text of the whole program, which ends in a newline.
std::string print(const Program& program);

// Reads and validates a program. Errors name `source`, the line and the column.
// Fills in, if given, the number of the line of each statement, counted as in ProgramPart.
Result<Program> parse_program(std::string_view text, const std::string& source,
                              std::vector<int>* lines_of_statements = nullptr);

// The names in scope when expressions are printed. `variables` are outermost first.
struct ExpressionNames {
  const std::vector<Parameter>* parameters;
  const std::vector<Table>* tables;
  const std::vector<std::string>* variables;
};
std::string print(const Expression& expression, const ExpressionNames& names);

}  // namespace quadrille
