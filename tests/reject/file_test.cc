// Files that both the decoder and the runtime's loader must refuse. Each refusal is one sentence that says what is
// wrong and what to do.
#include "tests/reject/files.h"

#include <sys/resource.h>

#include "schedule/text.h"
#include "tests/support/effort.h"
#include "tests/support/topologies.h"

namespace quadrille::verifier::file_test {

TEST(RejectedFiles, TheFileThatTheyAreMadeOfIsTaken) {
  expect_taken(good());
  EXPECT_EQ(good(), encode(example(), job_of({1, 2})));
}

TEST(RejectedFiles, TruncatedAtAnyLength) {
  const Bytes file = good();
  for (size_t length = 0; length < file.size(); ++length)
    expect_refused(Bytes(file.begin(), file.begin() + length),
                   length == 0   ? "not a schedule file"
                   : length < 36 ? "truncated"
                                 : "damaged: the checksum does not fit");
}

TEST(RejectedFiles, AnyBitFlipped) {
  for (size_t bit = 0; bit < 8 * good().size(); ++bit) {
    Bytes file = good();
    file[bit / 8] ^= 1 << (bit % 8);
    expect_refused(file, "");
  }
}

TEST(RejectedFiles, AHashThatDoesNotFitUnderARightChecksum) {
  Bytes file = good();
  // quadrille_reseal() would also correct the hash, so this corrects the checksum alone.
  file[QD_HASH_OFFSET] ^= 1;
  quadrille_fix_checksum(file.data(), file.size());
  expect_refused(file, "the hash does not fit its contents");
}

TEST(RejectedFiles, AForeignFile) {
  for (const std::string text :
       {"", "\177ELF\2\1\1", "#!/bin/sh\n", "algorithm factor for alltoall\n",
        "\211PNG\r\n\032\n and more than forty bytes of picture data"})
    expect_refused(Bytes(text.begin(), text.end()), "not a schedule file");
}

TEST(RejectedFiles, ALaterFormatIsTakenOnlyWhereItAllowsThat) {
  const std::vector<Bytes> sections = {program_section(), job_section(), names_section()};
  expect_taken(file_of(sections, {1, 7, 1}));
  expect_taken(file_of(sections, {9, 0, 1}));
  expect_refused(file_of(sections, {3, 0, 3}), "needs a reader of format 3", "a later format");
  expect_refused(file_of(sections, {0, 0, 0}), "impossible version numbers");
  expect_refused(file_of(sections, {1, 0, 0}), "impossible version numbers");
}

TEST(RejectedFiles, AnUnknownSectionIsSkippedUnlessItIsCritical) {
  const Bytes payload = {1, 2, 3};
  expect_taken(file_of({program_section(), job_section(), section("XYZ", 0, payload)}));
  expect_taken(file_of({section("XYZ", 0, payload), program_section(), job_section()}));
  expect_refused(file_of({program_section(), job_section(), section("XYZ", 1, payload)}),
                 "section XYZ is needed to read the file", "does not know");
  expect_refused(file_of({program_section(), job_section(), section("XYZ", 2, payload)}),
                 "section XYZ has unknown flags", "unknown flags");
}

TEST(RejectedFiles, SectionsMissingDoubledOrOutOfOrder) {
  expect_taken(file_of({program_section(), job_section()}));
  expect_refused(file_of({}), "a section is missing");
  expect_refused(file_of({program_section()}), "a section is missing");
  expect_refused(file_of({job_section(), program_section()}), "section JOB is out of place",
                 "out of place");
  expect_refused(file_of({program_section(), program_section(), job_section()}),
                 "section PRG is out of place", "out of place");
  expect_refused(file_of({program_section(), job_section(), names_section(), names_section()}),
                 "section NAM is out of place", "out of place");
  expect_refused(file_of({section("PRG", 0, code()), job_section()}), "section PRG is out of place",
                 "out of place");
}

TEST(RejectedFiles, OverlongNumbers) {
  const Bytes tag = {'P', 'R', 'G', 1};
  expect_refused(file_of({tag + overlong(code().size()) + code(), job_section()}), "");
  expect_refused(with_job(overlong(2) + Bytes{1, 1, 1, 2}), "the job is malformed", "malformed");
  expect_refused(with_job(Bytes{2, 1} + overlong(1) + Bytes{1, 2}), "the job is malformed",
                 "malformed");
  // The third byte of the code is the number of parameters.
  Bytes longer = code();
  ASSERT_EQ(longer[2], 0);
  longer[2] = 0x80;
  longer.insert(longer.begin() + 3, 0);
  expect_refused(with_code(longer), "the code is malformed", "malformed");
}

TEST(RejectedFiles, BytesThatTrail) {
  expect_refused(file_of({program_section(), job_section() + Bytes{0}}),
                 "sections that do not fill the file");
  expect_refused(with_code(code() + Bytes{0}), "the code is malformed", "malformed");
  expect_refused(with_job(job() + Bytes{0}), "the job is malformed", "malformed");
  expect_refused(good() + Bytes{0}, "damaged");
}

TEST(RejectedFiles, AbsurdCountsAskForNoMemory) {
  const rlimit limit{1 << 29, 1 << 29};
  ASSERT_TRUE(kSanitized || setrlimit(RLIMIT_AS, &limit) == 0);
  const Bytes tag = {'P', 'R', 'G', 1};
  for (const uint64_t count :
       {uint64_t{1} << 20, uint64_t{1} << 40, uint64_t{1} << 62, uint64_t{1} << 63, UINT64_MAX}) {
    expect_refused(file_of({tag + varint(count) + code(), job_section()}), "do not fill");
    expect_refused(with_job(varint(count) + Bytes{1, 1}), "", "");
    expect_refused(file_of({program_section(),
                            section("JOB", 1, Bytes{1} + varint(count << 5 >> 5) + varint(count))}),
                   "", "");
    Bytes parameters = code();
    parameters = Bytes(parameters.begin(), parameters.begin() + 2) + varint(count) +
                 Bytes(parameters.begin() + 3, parameters.end());
    expect_refused(with_code(parameters), "", "");
  }
}

TEST(RejectedFiles, NodesThatDoNotAscendOrAreNone) {
  for (const Bytes& job : {Bytes{}, Bytes{0}, Bytes{1, 0, 1}, Bytes{1, 1, 0}, Bytes{2, 1, 2, 1, 1},
                           Bytes{2, 1, 2, 1, 2}})
    expect_refused(with_job(job), "", "malformed");
}

// Returns a program with a parameter in the file, one at the call, a table of nodes, and a table made from it.
Program parameterized(int groups = 1) {
  return parse_program(std::string("algorithm a for alltoall") +
                           (groups == 2 ? " between groups\n" : "\n") +
                           "parameter r\nparameter B at call\ntable size = nodes\n"
                           "table base = prefix(size)\n",
                       "test")
      .value();
}

Bytes any_file(const Bytes& job, const Program& program = parameterized()) {
  return file_of({section("PRG", 1, encode_code(program)), section("JOB", 1, job)}, {2, 0, 2});
}

constexpr uint8_t kInline = QD_INLINE_BIT | QD_INLINE_CONSTANT_BIT;

TEST(RejectedFiles, JobsForAnyNodesWhoseFormulasAreNone) {
  const Bytes at_call = {6};
  expect_taken(any_file(Bytes{0, 0, kInline + 3} + at_call));
  expect_taken(any_file(Bytes{0, 9, QD_RANKS} + at_call));
  expect_taken(any_file(Bytes{0, 9, QD_ELEMENT, 0, kInline + 1} + at_call));
  expect_taken(any_file(Bytes{0, 9, QD_LENGTH, 0} + at_call));
  const std::string alone = "a parameter depends on";
  for (const Bytes& formula :
       {Bytes{QD_PARAMETER, 0}, Bytes{QD_GROUP}, Bytes{QD_ELEMENT, 1, kInline}, Bytes{QD_LENGTH, 1},
        Bytes{QD_ADD, kInline, QD_GROUP}})
    expect_refused(any_file(Bytes{0, 0} + formula + at_call), alone);
  expect_refused(any_file(Bytes{0, 0, QD_RANK} + at_call), "'rank' in a declaration",
                 "asks for a rank");
  for (const Bytes& formula :
       {Bytes{}, Bytes{QD_INLINE_BIT}, Bytes{QD_ROOT}, Bytes{QD_REMOTE_RANKS}, Bytes{QD_LENGTH, 2},
        Bytes{QD_PARAMETER, 2}, Bytes{QD_ADD, kInline}, Bytes{QD_LESS, kInline, kInline},
        Bytes{QD_EXPRESSION_END}, Bytes{0}, Bytes{QD_CONSTANT, 2},
        Bytes(50, QD_ADD) + Bytes(51, kInline)})
    expect_refused(any_file(Bytes{0, 0} + formula + at_call), "");
}

TEST(RejectedFiles, JobsForAnyNodesThatAreMalformed) {
  const Bytes rest = {kInline, 6};
  expect_taken(any_file(Bytes{0, 0} + rest));
  expect_taken(any_file(Bytes{0} + varint(QD_MAX_RANKS) + rest));
  expect_refused(any_file(Bytes{0} + varint(QD_MAX_RANKS + 1) + rest), QD_MANY_RANKS);
  expect_refused(any_file(Bytes{0} + varint(UINT64_MAX) + rest), QD_MANY_RANKS);
  expect_refused(any_file(Bytes{0} + overlong(1) + rest), "malformed");
  expect_refused(any_file(overlong(0) + Bytes{0} + rest), "malformed");
  expect_refused(any_file(Bytes{0, 0} + rest + Bytes{0}), "malformed");
  expect_refused(any_file({0, 0, kInline}), "malformed");
}

// A job for any nodes of two groups has one limit of ranks, and its parameters are numbers, not formulas.
TEST(RejectedFiles, JobsForAnyNodesOfTwoGroupsWhoseParametersAreNoNumbers) {
  const Bytes at_call = {6};
  const Program between = parameterized(2);
  expect_taken(any_file(Bytes{0, 0, kInline + 3} + at_call, between));
  expect_taken(any_file(Bytes{0, 9, kInline + 3} + at_call, between));
  expect_taken(any_file(Bytes{0, 9, QD_CONSTANT} + varint(2000) + at_call, between));
  for (const Bytes& formula :
       {Bytes{QD_RANKS}, Bytes{QD_REMOTE_RANKS}, Bytes{QD_GROUP}, Bytes{QD_LENGTH, 0},
        Bytes{QD_ADD, kInline, kInline}, Bytes{QD_ELEMENT, 0, kInline + 1}})
    expect_refused(any_file(Bytes{0, 0} + formula + at_call, between), "between groups is");
  expect_refused(any_file(Bytes{0, 0, QD_INLINE_BIT} + at_call, between), "");
  expect_refused(any_file(Bytes{0} + varint(QD_MAX_RANKS + 1) + Bytes{kInline, 6}, between),
                 QD_MANY_RANKS);
  expect_refused(any_file({0, 0}, between), "");
  expect_refused(any_file({0, 0, 0, kInline, 6}, between), "");  // one limit for each group
}

TEST(RejectedFiles, WordsThatAreMalformedOrOutOfPlace) {
  const Bytes words = section("REQ", 0, {2, 'o', 'k'});
  expect_taken(file_of({program_section(), job_section(), names_section(), words}));
  expect_refused(file_of({program_section(), job_section(), words}), "out of place");
  expect_refused(file_of({program_section(), job_section(), words, names_section()}),
                 "out of place");
  expect_refused(file_of({program_section(), job_section(), names_section(), words, words}),
                 "out of place");
  for (const Bytes& payload : {Bytes{}, Bytes{0}, Bytes{3, 'o', 'k'}, Bytes{1, 'o', 'k'},
                               Bytes{1, '\n'}, Bytes{64} + Bytes(64, 'x')})
    expect_refused(
        file_of({program_section(), job_section(), names_section(), section("REQ", 0, payload)}),
        "the words of the requirement are malformed");
}

}  // namespace quadrille::verifier::file_test
