// All readers accept a program, job or call at each limit of schedule/limits.h, and refuse one just beyond it with
// one sentence. Readers are the text reader, validate(), the decoder, the runtime's loader, the checker and the
// runtime's builder. A limit without a case fails the test. tests/prove/cases/limits.cases tests the prover.
#include <fmt/core.h>

#include <fstream>
#include <functional>
#include <map>
#include <set>

#include "runtime/plan/builder.h"
#include "schedule/text.h"
#include "tests/reject/files.h"
#include "tests/support/events.h"
#include "tests/support/matches.h"
#include "tests/support/topologies.h"
#include "verifier/check.h"
#include "verifier/plans.h"

namespace quadrille::verifier::limits_test {

using testing::MatchesRegex;

// By reader: its error message, or "" if it accepts the program.
using Answers = std::map<std::string, std::string>;

Answers walk(const Program& program, const Job& job, const Call& call) {
  Answers answers;
  const Result<Report> report = check_schedule(program, job, call, {});
  answers["checker"] = !report.ok()         ? report.error().message
                       : !report->violation ? ""
                                            : report->violation->detail;
  const Bytes file = encode(program, job);
  const Result<Plans> plans = Plans::make(file, program, job, call);
  answers["builder"] = plans.ok() ? plans->objection().value_or("") : plans.error().message;
  return answers;
}

std::string refusal_of_tables(const Program& program, const Job& job, const Call& call) {
  const std::string event = runtime_events(encode(program, job), call, 0, 0, 0)[0];
  return event.starts_with("refused: ") ? event : "";
}

// Also asks the runtime to fill the tables of the call.
Answers bind_and_walk(const Program& program, const Job& job, const Call& call) {
  Answers answers = walk(program, job, call);
  answers["tables"] = refusal_of_tables(program, job, call);
  return answers;
}

const char* const kAlone = "algorithm a for allgather\ncopy send[0] to recv[rank]\n";

Program program_of(const std::string& text) { return parse_program(text, "text").value(); }

// Asks all readers about a file with this program for one rank.
Answers ask_program(const Program& program) {
  const Job job{{topology_of({1})}, std::vector<int64_t>(program.parameters.size())};
  const Bytes file = encode(program, job);
  const Result<Program> read = parse_program(print(program), "text");
  const Result<bool> valid = validate(program);
  Answers answers = {{"text", read.ok() ? "" : read.error().message},
                     {"validate", valid.ok() ? "" : valid.error().message},
                     {"decoder", decoder_says(file)},
                     {"loader", loader_says(file)}};
  if (valid.ok()) answers.merge(walk(program, job, {}));
  return answers;
}

Answers ask_file(const Bytes& file) {
  return {{"decoder", decoder_says(file)}, {"loader", loader_says(file)}};
}

const char* const kExchange =
    "copy send[0] to recv[rank]\nfor k in 1 .. ranks\n  step k\n"
    "    send send[0] to wrap(rank + k, ranks)\n"
    "    receive recv[wrap(rank - k, ranks)] from wrap(rank - k, ranks)\n";

// Calls ask(program, job, call) for an allgather on `ranks` nodes of one rank each.
template <class Ask>
Answers ask_call(Ask ask, const std::string& declaration, int64_t ranks, int64_t count = 1,
                 const std::string& more = "") {
  return ask(program_of("algorithm a for allgather\n" + declaration + "\n" + kExchange + more),
             {{topology_of(std::vector<int64_t>(ranks, 1))}, {}},
             {{std::vector<int64_t>(ranks, count)}, {}});
}

Expression is_true() { return apply(Operator::kLess, {constant(0), constant(1)}); }

// Returns a function that changes a program for one rank by a number, and asks all readers about it.
std::function<Answers(int64_t)> changed(void (*change)(Program& program, int64_t number)) {
  return [change](int64_t number) {
    Program program = program_of(kAlone);
    change(program, number);
    return ask_program(program);
  };
}

void add_statements(Program& program, int64_t depth) {
  Body inner = {{Let{{"x"}, constant(0)}}};
  for (int64_t i = 1; i < depth; ++i) inner = {{If{is_true(), inner, {}}}};
  program.body.push_back(inner[0]);
}

void add_expression(Program& program, int64_t depth) {
  Expression deep = constant(1);
  for (int64_t i = 0; i < depth; ++i) deep = apply(Operator::kAdd, {deep, constant(1)});
  program.body.push_back({Let{{"x"}, deep}});
}

// Adds constants until there are `number`. The code keeps `rank` as a constant, but not 0 and 1.
void add_constants(Program& program, int64_t number) {
  for (int64_t i = 1; i < number; ++i)
    program.body.push_back({If{is_true(), {{Let{{"x"}, constant(1 + i)}}}, {}}});
}

// Constants of a job's formulas count together with those of the program.
Answers ask_formulas(int64_t number) {
  Program program = program_of(kAlone);
  program.parameters = {{{"p"}}, {{"q"}}};
  Job job{{}, {0, 0}, {{}, {}}, {constant(2), leaf(Operator::kRanks)}};
  for (int64_t i = 3; i < number; ++i)
    program.body.push_back({If{is_true(), {{Let{{"x"}, constant(1 + i)}}}, {}}});
  return ask_file(encode(program, job));
}

Bytes name_section(uint64_t length) {
  return section("NAM", 0, varint(length) + Bytes(length, 'a'));
}

Answers ask_name(int64_t length) {
  const std::string name(length, 'a');
  const Result<Program> read = parse_program("algorithm " + name + " for allgather\n", "text");
  Answers answers = ask_file(file_of({section("PRG", 1, encode_code(program_of(kAlone))),
                                      section("JOB", 1, {1, 1, 1}), name_section(length)}));
  answers["text"] = read.ok() ? "" : read.error().message;
  return answers;
}

Answers ask_file_length(int64_t length) {
  const std::vector<Bytes> known = {program_section(), job_section()};
  const auto padded = [&](int64_t by) {
    return file_of({known[0], known[1], section("XYZ", 0, Bytes(by))});
  };
  // The length of the padding is a varint of four bytes.
  const int64_t rest = static_cast<int64_t>(padded(1 << 22).size()) - (1 << 22);
  return ask_file(padded(length - rest));
}

Answers ask_ranks(int64_t ranks) {
  Answers answers = ask_file(
      file_of({section("PRG", 1, encode_code(program_of(kAlone))),
               section("JOB", 1, Bytes{1} + varint(static_cast<uint64_t>(ranks)) + Bytes{1})}));
  const Result<Topology> nodes = parse_nodes(fmt::format("{}x1", ranks));
  answers["text"] = nodes.ok() ? "" : nodes.error().message;
  return answers;
}

// Asks about a job with this rule for a block size.
Answers ask_rule(const Bytes& rule) {
  const Program program = program_of("algorithm a for broadcast\nparameter B at call\n");
  return ask_file(
      file_of({section("PRG", 1, encode_code(program)), section("JOB", 1, Bytes{1, 1, 1} + rule)}));
}
Answers ask_cost(int64_t cost) {
  const Bytes model = {3};  // QD_CHOOSE_MODEL
  return ask_rule(model + varint(static_cast<uint64_t>(cost)) + Bytes{0});
}
Answers ask_block_size(int64_t size) { return ask_rule(varint(2 * static_cast<uint64_t>(size))); }

Answers ask_count(int64_t count) { return ask_call(bind_and_walk, "table m = counts", 1, count); }

Answers ask_range(int64_t end) {
  const std::string part = fmt::format("temp[0]@{}..{}", end - 1, end);
  return walk(program_of("algorithm a for allreduce\ntemporary 1 blocks\ncopy send[0]@0..1 to " +
                         part + "\ncopy " + part + " to recv[0]@0..1\n"),
              {{topology_of({1})}, {}}, {{{1}}, {}});
}

Answers ask_parameter(int64_t value) {
  Program program = program_of(kAlone);
  program.parameters = {{{"p"}}};
  return bind_and_walk(program, {{topology_of({1})}, {value}}, {});
}

Answers ask_table(int64_t ranks, int64_t entries) {
  return ask_call(bind_and_walk, fmt::format("table t[i in 0 .. {}] = 1", entries), ranks);
}
Answers ask_sums(int64_t ranks, int64_t entries) {
  return ask_call(bind_and_walk,
                  fmt::format("table t[i in 0 .. {}] = 1\ntable s = prefix(t)", entries - 1),
                  ranks);
}
Answers ask_temporary(int64_t ranks, int64_t blocks) {
  return ask_call(bind_and_walk, fmt::format("temporary {} blocks", blocks), ranks);
}

Answers ask_iterations(int64_t ranks, int64_t count, int64_t iterations) {
  return ask_call(walk, "table m = counts", ranks, count,
                  fmt::format("for i in 0 .. {}\n  let x = i\n", iterations - ranks + 1));
}

struct LimitCase {
  std::string name;  // what follows QD_MAX_ in the limit's name
  int64_t limit;
  std::function<Answers(int64_t)> ask;
  std::string sentence;  // a part of each refusal
};

std::vector<LimitCase> cases() {
  const auto on = [](int64_t ranks, Answers (*ask)(int64_t, int64_t)) {
    return [=](int64_t number) { return ask(ranks, number); };
  };
  const auto iterations = [](int64_t ranks, int64_t count) {
    return [=](int64_t number) { return ask_iterations(ranks, count, number); };
  };
  // On many ranks, walks take long, so this only binds and fills tables.
  const auto on_many = [](int64_t blocks) {
    const Program program =
        program_of(fmt::format("{}temporary {} blocks", "algorithm a for allgather\n", blocks));
    const Job job{{topology_of(std::vector<int64_t>(3000, 1))}, {}};
    const Result<Binding> binding = bind(program, job, {}, 0);
    return Answers{{"bind", binding.ok() ? "" : binding.error().message},
                   {"tables", refusal_of_tables(program, job, {})}};
  };
  const int64_t on_two = most_entries(2);
  const std::string entries = "between 0 and 1048580 are allowed on 1 rank",
                    more_entries = "between 0 and 1048592 are allowed on 2 ranks",
                    endless = "loops";
  return {
      {"FILE_LENGTH", QD_MAX_FILE_LENGTH, ask_file_length, QD_LONG_FILE},
      {"RANKS", QD_MAX_RANKS, ask_ranks, "1048576"},
      {"WINDOW", QD_MAX_WINDOW, changed([](Program& p, int64_t n) { p.window = n; }), "65536"},
      {"PARAMETERS", QD_MAX_PARAMETERS, changed([](Program& p, int64_t n) {
         for (int64_t i = 0; i < n; ++i) p.parameters.push_back({{fmt::format("p{}", i)}});
       }),
       QD_MANY_PARAMETERS},
      {"TABLES", QD_MAX_TABLES, changed([](Program& p, int64_t n) {
         for (int64_t i = 0; i < n; ++i)
           p.tables.push_back({{fmt::format("t{}", i)}, TableKind::kNodes, 0, {}, {}, {}, {}});
       }),
       QD_MANY_TABLES},
      {"LITERALS", QD_MAX_LITERALS, changed([](Program& p, int64_t n) {
         p = program_of("algorithm a for allgather\ntable t = 7\ncopy send[0] to recv[rank]\n");
         p.tables[0].entries.resize(n);
       }),
       QD_MANY_LITERALS},
      {"REQUIREMENTS", QD_MAX_REQUIREMENTS,
       changed([](Program& p, int64_t n) { p.requirements.resize(n, is_true()); }),
       QD_MANY_REQUIREMENTS},
      {"DEPTH", QD_MAX_DEPTH, changed(add_statements), QD_DEEP_STATEMENTS},
      {"DEPTH", QD_MAX_DEPTH, changed(add_expression), QD_DEEP_EXPRESSION},
      {"VARIABLES", QD_MAX_VARIABLES, changed([](Program& p, int64_t n) {
         p.body.insert(p.body.end(), n, Statement{Let{{"x"}, constant(0)}});
       }),
       QD_MANY_VARIABLES},
      {"CONSTANTS", QD_MAX_CONSTANTS, changed(add_constants), QD_MANY_CONSTANTS},
      {"CONSTANTS", QD_MAX_CONSTANTS, ask_formulas, QD_MANY_CONSTANTS},
      {"NAME_LENGTH", QD_MAX_NAME_LENGTH, ask_name, ""},
      {"COST", QD_MAX_COST, ask_cost, QD_GREAT_COST},
      {"BLOCK_SIZE", QD_MAX_BLOCK_SIZE, ask_block_size, QD_GREAT_BLOCK_SIZE},
      {"COUNT", QD_MAX_COUNT, ask_count, "count"},
      {"COUNT", QD_MAX_COUNT, ask_range, ""},
      {"PARAMETER", QD_MAX_PARAMETER, ask_parameter, "parameter"},
      {"ENTRIES", most_entries(1), on(1, ask_table), entries},
      {"ENTRIES", most_entries(1), on(1, ask_sums), entries},
      {"ENTRIES", most_entries(1), on(1, ask_temporary), entries},
      {"ENTRIES_A_PAIR", on_two, on(2, ask_table), more_entries},
      {"ENTRIES_A_PAIR", on_two, on(2, ask_temporary), more_entries},
      {"TABLE_LENGTH", QD_MAX_TABLE_LENGTH, on_many,
       "between 0 and 33554432 are allowed on 3000 ranks"},
      {"ITERATIONS", QD_MAX_ITERATIONS + 64, iterations(1, 0), endless},
      {"ITERATIONS_A_RANK_AND_NODE", QD_MAX_ITERATIONS + 4 * 64 + 2 * 4, iterations(2, 1), endless},
      {"ITERATIONS_A_BYTE", QD_MAX_ITERATIONS + 4 * 64 + 14 * 4, iterations(2, 7), endless},
  };
}

TEST(Limits, EachHasACase) {
  std::ifstream list("schedule/limits.h");
  std::set<std::string> listed, tried;
  for (std::string line; std::getline(list, line);)
    for (const Match& match : matches(line, "^#define QD_MAX_([A-Z0-9_]+) "))
      listed.insert(match.groups[1]);
  for (const LimitCase& each : cases()) tried.insert(each.name);
  EXPECT_GT(listed.size(), 0u);
  EXPECT_EQ(listed, tried);
}

TEST(Limits, AllReadersTakeWhatIsAtALimitAndRefuseOneMoreInOneSentence) {
  for (const LimitCase& each : cases()) {
    for (const auto& [reader, said] : each.ask(each.limit))
      EXPECT_EQ(said, "") << reader << ", at " << each.name;
    for (const auto& [reader, said] : each.ask(each.limit + 1)) {
      EXPECT_NE(said, "") << reader << ", beyond " << each.name;
      EXPECT_THAT(said, HasSubstr(each.sentence)) << reader << ", beyond " << each.name;
      EXPECT_EQ(said.find('\n'), std::string::npos) << said;
    }
  }
}

TEST(Limits, TheRuntimeNamesTheScheduleAndTheDeclarationThatItRefuses) {
  const std::string one = "table o = 2, 1\n";
  for (const auto& [declarations, said] : std::map<std::string, std::string>{
           {"table t[i in 0 .. 2] = 1 div i", "table 2: a divisor is not positive"},
           {"table t = powers(ranks, 8)", "table 2: its radix is less than 2"},
           {"table t[i in 0 .. -1] = i",
            "table 2: it declares -1 entries; between 0 and 1048580 are allowed on 1 rank"},
           {"require 1 div (ranks - 1) < 1", "condition 1: a divisor is not positive"},
           {"require locate(o, ranks) < 1", "table 1: it is searched and does not ascend"},
           {"temporary o[ranks + 1] blocks", "temporary buffer: an index is outside its table"}})
    EXPECT_EQ(
        refusal_of_tables(
            program_of(
                std::string("algorithm far for allgather\n").append(one).append(declarations)),
            {{topology_of({1})}, {}}, {}),
        "refused: far: its " + said + "; `quadrille show` prints it");
}

// This program needs the most registers: 48 variables, bounds of 39 loops, all constants, and the parts of a copy,
// the last of which is an expression of the greatest depth.
TEST(Limits, AProgramAtAllLimitsOfRegistersRuns) {
  const Expression one = constant(1);
  const Expression two = apply(Operator::kAdd, {one, one});
  Expression deep = two;  // evaluating a right operand needs a register that keeps the left one
  for (int i = 1; i < kMaxDepth; ++i) deep = apply(Operator::kMinimum, {two, deep});
  Program program = program_of("algorithm a for allgather\n");
  for (int i = 0; i + kMaxDepth - 1 < kMaxVariables; ++i)
    program.body.push_back({Let{{"x"}, constant(0)}});
  for (int i = 0; i < kMaxConstants; ++i)
    program.body.push_back({Step{constant(2 + i), std::nullopt, {}}});
  const Expression nothing = apply(Operator::kSubtract, {one, one});
  const auto part = [&](Buffer buffer) {
    return Piece{buffer, nothing,
                 Range{nothing, apply(Operator::kMinimum, {one, deep.operands[1]})}};
  };
  Body inner = {{Copy{part(Buffer::kSend), part(Buffer::kReceive)}}};
  for (int i = 1; i < kMaxDepth; ++i)
    inner = {{For{{"i"}, constant(0), apply(Operator::kSubtract, {two, one}), inner}}};
  program.body.push_back(inner[0]);
  for (const auto& [reader, said] : ask_program(program)) EXPECT_EQ(said, "") << reader;
}

TEST(Limits, NamesThatDoNotFitTheCodeAreRefused) {
  const auto named = [](const Bytes& names) {
    return file_of({program_section(), job_section(), section("NAM", 0, names)});
  };
  const Bytes names = encode_names(example());
  expect_taken(named(names));
  expect_refused(named(names + Bytes{1, 'z'}), "the names do not fit the code");
  expect_refused(named(Bytes(names.begin(), names.end() - 1)), "the names do not fit the code");
  expect_refused(named({}), "the names do not fit the code");
  const Bytes code = encode_code(program_of(
      "algorithm a for alltoall\ntable t[i in 0 .. 2] = i\ntable u = nodes\nlet x = 0\n"));
  const auto with = [&](const std::string& text) {
    Bytes all;
    for (size_t at = 0, end; at < text.size(); at = end + 1) {
      end = std::min(text.find(' ', at), text.size());
      all.push_back(static_cast<uint8_t>(end - at));
      all.insert(all.end(), text.begin() + at, text.begin() + end);
    }
    return file_of({section("PRG", 1, code), job_section(), section("NAM", 0, all)});
  };
  for (const char* good : {"a t i u x", "a-b+c t t u t", "rank _ i u x9"}) expect_taken(with(good));
  for (const char* bad : {"a t i t x", "a t i u rank", "a t i u 9x", "a t i u x-y", "-a t i u x",
                          "a+ t i u x", "9 t i u x", "a t i u", "a t i u x y", "a t i  x"})
    expect_refused(with(bad), "the names do not fit the code");
  const Bytes again = {1, 'a', 64, 65, 1, 'u', 65};
  expect_taken(file_of({section("PRG", 1, code), job_section(), section("NAM", 0, again)}));
  for (const size_t at : {2u, 3u, 6u}) {
    Bytes later = again;
    later[at] = 64 + 5;
    expect_refused(file_of({section("PRG", 1, code), job_section(), section("NAM", 0, later)}),
                   "the names do not fit the code");
  }
}

}  // namespace quadrille::verifier::limits_test
