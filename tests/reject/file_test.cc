// What both readers of schedule files must refuse, the decoder and the runtime's loader: each
// refusal is a sentence that says what is wrong and how to mend it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>

#include "generator/encode.h"
#include "generator/registry.h"
#include "runtime/program/digest.h"
#include "runtime/program/program.h"
#include "schedule/text.h"
#include "tests/support/effort.h"
#include "tests/support/reseal.h"
#include "tests/support/topologies.h"
#include "verifier/decode.h"

namespace quadrille::verifier {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Bytes operator+(Bytes left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

Bytes varint(uint64_t value) {
  Bytes bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<uint8_t>(value | 0x80));
  bytes.push_back(static_cast<uint8_t>(value));
  return bytes;
}

// The same number in one byte more than it needs.
Bytes overlong(uint64_t value) {
  Bytes bytes = varint(value);
  bytes.back() |= 0x80;
  bytes.push_back(0);
  return bytes;
}

Bytes section(const std::string& letters, int flags, const Bytes& payload) {
  return Bytes(letters.begin(), letters.end()) + Bytes{static_cast<uint8_t>(flags)} +
         varint(payload.size()) + payload;
}

Program example() {
  const Algorithm& factor = *find_algorithm(Collective::kAlltoall, "factor");
  return make_program(factor, all_choices(factor)[0]);
}
Bytes code() { return encode_code(example()); }
Bytes job() { return {2, 1, 1, 1, 2}; }  // two runs: one node of 1, one of 2
Bytes program_section() { return section("PRG", 1, code()); }
Bytes job_section() { return section("JOB", 1, job()); }
Bytes names_section() { return section("NAM", 0, encode_names(example())); }

struct Header {
  int major = 1, minor = 0, oldest_reader = 1;
};

Bytes file_of(const std::vector<Bytes>& sections, const Header& header = {}) {
  const std::string magic = QUADRILLE_MAGIC;
  Bytes file(magic.begin(), magic.end());
  for (const int number :
       {header.major, header.minor, header.oldest_reader, static_cast<int>(sections.size())})
    file = file + Bytes{static_cast<uint8_t>(number), static_cast<uint8_t>(number >> 8)};
  file.resize(QUADRILLE_SECTIONS_OFFSET);
  for (const Bytes& section : sections) file = file + section;
  file.resize(file.size() + QUADRILLE_CHECKSUM_LENGTH);
  quadrille_reseal(file.data(), file.size());
  return file;
}

Bytes good() { return file_of({program_section(), job_section(), names_section()}); }

std::string decoder_says(const Bytes& file) {
  const Result<Schedule> schedule = decode(file, "bad.qs");
  return schedule.ok() ? "" : schedule.error().message;
}

std::string loader_says(const Bytes& file) {
  quadrille_program program;
  const char* error = quadrille_program_load(&program, file.data(), file.size());
  if (!error) quadrille_program_destroy(&program);
  return error ? error : "";
}

void expect_taken(const Bytes& file) {
  EXPECT_EQ(decoder_says(file), "");
  EXPECT_EQ(loader_says(file), "");
}

// Both refuse it; the texts are parts of what they say.
void expect_refused(const Bytes& file, const std::string& decoder, const std::string& loader) {
  const std::string decoded = decoder_says(file), loaded = loader_says(file);
  EXPECT_THAT(decoded, StartsWith("bad.qs: "));
  EXPECT_THAT(decoded, HasSubstr(decoder));
  EXPECT_THAT(loaded, HasSubstr(loader));
  for (const std::string& said : {decoded, loaded}) {
    const std::string remedy = said.substr(std::min(said.size(), said.find("; ")));
    EXPECT_TRUE(remedy.starts_with("; make ") || remedy.starts_with("; use a newer")) << said;
  }
}

void expect_refused(const Bytes& file, const std::string& both) {
  expect_refused(file, both, both);
}

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
  // Without sections that can be told apart, only the checksum is made right again.
  file[QUADRILLE_HASH_OFFSET] ^= 1;
  const size_t covered = file.size() - QUADRILLE_CHECKSUM_LENGTH;
  const uint32_t checksum = quadrille_crc32c(file.data(), covered);
  for (int i = 0; i < QUADRILLE_CHECKSUM_LENGTH; ++i)
    file[covered + i] = static_cast<uint8_t>(checksum >> 8 * i);
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
  expect_refused(file_of({program_section(), section("JOB", 1, overlong(2) + Bytes{1, 1, 1, 2})}),
                 "the job is malformed", "malformed");
  expect_refused(
      file_of({program_section(), section("JOB", 1, Bytes{2, 1} + overlong(1) + Bytes{1, 2})}),
      "the job is malformed", "malformed");
  // The third byte of the code is the number of parameters.
  Bytes longer = code();
  ASSERT_EQ(longer[2], 0);
  longer[2] = 0x80;
  longer.insert(longer.begin() + 3, 0);
  expect_refused(file_of({section("PRG", 1, longer), job_section()}), "the code is malformed",
                 "malformed");
}

TEST(RejectedFiles, BytesThatTrail) {
  expect_refused(file_of({program_section(), job_section() + Bytes{0}}),
                 "sections that do not fill the file");
  expect_refused(file_of({section("PRG", 1, code() + Bytes{0}), job_section()}),
                 "the code is malformed", "malformed");
  expect_refused(file_of({program_section(), section("JOB", 1, job() + Bytes{0})}),
                 "the job is malformed", "malformed");
  expect_refused(good() + Bytes{0}, "damaged");
}

TEST(RejectedFiles, AbsurdCountsAskForNoMemory) {
  const rlimit limit{1 << 29, 1 << 29};
  ASSERT_TRUE(kSanitized || setrlimit(RLIMIT_AS, &limit) == 0);
  const Bytes tag = {'P', 'R', 'G', 1};
  for (const uint64_t count :
       {uint64_t{1} << 20, uint64_t{1} << 40, uint64_t{1} << 62, uint64_t{1} << 63, UINT64_MAX}) {
    expect_refused(file_of({tag + varint(count) + code(), job_section()}), "do not fill");
    expect_refused(file_of({program_section(), section("JOB", 1, varint(count) + Bytes{1, 1})}), "",
                   "");
    expect_refused(file_of({program_section(),
                            section("JOB", 1, Bytes{1} + varint(count << 5 >> 5) + varint(count))}),
                   "", "");
    Bytes parameters = code();
    parameters = Bytes(parameters.begin(), parameters.begin() + 2) + varint(count) +
                 Bytes(parameters.begin() + 3, parameters.end());
    expect_refused(file_of({section("PRG", 1, parameters), job_section()}), "", "");
  }
}

TEST(RejectedFiles, NodesThatDoNotAscendOrAreNone) {
  for (const Bytes& job : {Bytes{}, Bytes{0}, Bytes{1, 0, 1}, Bytes{1, 1, 0}, Bytes{2, 1, 2, 1, 1},
                           Bytes{2, 1, 2, 1, 2}})
    expect_refused(file_of({program_section(), section("JOB", 1, job)}), "", "malformed");
}

TEST(RejectedFiles, PartsOfBlocksInAnAllToAll) {
  const std::string text =
      "algorithm a for allgather\nstep 0\n  send send[0]@0..1 to 1\n  receive recv[1]@0..1 from 1";
  Bytes code = encode_code(parse_program(text, "text").value());
  expect_taken(file_of({section("PRG", 1, code), job_section()}));
  code[0] = QUADRILLE_ALLTOALL;
  expect_refused(file_of({section("PRG", 1, code), job_section()}),
                 "a part of a block in an all-to-all", "a part of a block in an all-to-all");
}

Bytes code_of(const std::string& text) { return encode_code(parse_program(text, "text").value()); }
Bytes file_with(const Bytes& code, uint8_t collective) {
  Bytes changed = code;
  changed[0] = collective;
  return file_of({section("PRG", 1, changed), job_section()});
}

constexpr uint8_t kEndsKnow[] = {QUADRILLE_ALLTOALL, QUADRILLE_GATHER, QUADRILLE_SCATTER};
constexpr uint8_t kAllKnow[] = {QUADRILLE_ALLGATHER, QUADRILLE_BROADCAST,      QUADRILLE_REDUCE,
                                QUADRILLE_ALLREDUCE, QUADRILLE_REDUCE_SCATTER, QUADRILLE_SCAN,
                                QUADRILLE_EXSCAN};

TEST(RejectedFiles, LengthsThatNobodyKnows) {
  const Bytes counts = code_of("algorithm a for allgather\ntable m = counts\n"),
              part = code_of("algorithm a for allgather\ncopy send[0]@0..1 to recv[0]@0..1\n"),
              sized = code_of("algorithm a for alltoall\nstep 0\n  send sized send[0] to 1\n"),
              several = code_of(
                  "algorithm a for alltoall\nstep 0\n  receive from 1\n    recv[0]\n    "
                  "for i in 0 .. 2\n      temp[i]\n"),
              single = code_of("algorithm a for alltoall\nstep 0\n  receive temp[0] from 1\n");
  for (const uint8_t collective : kEndsKnow) {
    expect_refused(file_with(counts, collective), "a table of counts in", "counts that no rank");
    expect_refused(file_with(part, collective), "a part of a block in", "a part of a block");
    for (const Bytes& code : {sized, several, single}) expect_taken(file_with(code, collective));
  }
  for (const uint8_t collective : kAllKnow) {
    expect_taken(file_with(counts, collective));
    expect_taken(file_with(part, collective));
    expect_refused(file_with(sized, collective), "a sized message in", "that every rank knows");
    for (const Bytes& code : {several, single})
      expect_refused(file_with(code, collective), "a whole temporary block is received",
                     "receives a block of a length that is not known");
  }
  expect_taken(file_with(code_of("algorithm a for reduce\nstep 0\n  receive left temp[0] from 1"),
                         QUADRILLE_REDUCE));
}

TEST(RejectedFiles, ABarrierThatMovesBlocksAndAScanBetweenGroups) {
  const Bytes token = code_of("algorithm a for alltoall\nstep 0\n  send nothing to 1\n");
  expect_taken(file_with(token, QUADRILLE_BARRIER));
  for (const char* moves :
       {"copy send[0] to recv[0]", "step 0\n  send send[0] to 1", "table m = counts"})
    expect_refused(
        file_with(code_of(std::string("algorithm a for allreduce\n") + moves), QUADRILLE_BARRIER),
        "in a barrier, which moves nothing", "");
  expect_refused(file_with(code_of("algorithm a for alltoall\nstep 0\n  send sized nothing to 1\n"),
                           QUADRILLE_BARRIER),
                 "a sized message in a barrier", "");
  const Bytes between = code_of("algorithm a for alltoall between groups\n");
  const auto file = [&](uint8_t collective) {
    Bytes code = between;
    code[0] = collective;
    return file_of({section("PRG", 1, code), section("JOB", 1, job() + job())});
  };
  expect_taken(file(QUADRILLE_ALLTOALL));
  expect_taken(file(QUADRILLE_BARRIER));
  for (const uint8_t collective : {QUADRILLE_SCAN, QUADRILLE_EXSCAN})
    expect_refused(file(collective), "scan between groups, which MPI does not have");
  expect_refused(file(QUADRILLE_COLLECTIVE_COUNT), "malformed");
}

TEST(RejectedFiles, AReduceScatterInPlace) {
  const Bytes code = code_of("algorithm a for allreduce\nin_place\n");
  expect_taken(file_with(code, QUADRILLE_ALLREDUCE));
  expect_refused(file_with(code, QUADRILLE_REDUCE_SCATTER), "'in_place' in a reduce-scatter",
                 "a reduce-scatter is in place");
}

// The code of a step with one message, and that message's byte in it.
struct CombiningCode {
  Bytes bytes;
  size_t message;
};
CombiningCode combining_code() {
  const std::string text = "algorithm a for allreduce\nstep 0\n  receive left recv[0] from 1";
  const Bytes code = encode_code(parse_program(text, "text").value());
  const int message = QUADRILLE_MESSAGE | QUADRILLE_MESSAGE_RECEIVE | QUADRILLE_MESSAGE_SINGLE |
                      QUADRILLE_MESSAGE_LEFT;
  return {code, static_cast<size_t>(std::find(code.begin(), code.end(), message) - code.begin())};
}

TEST(RejectedFiles, MessagesThatCombineAsNoneCan) {
  const CombiningCode good = combining_code();
  ASSERT_LT(good.message, good.bytes.size());
  const auto with = [&](int flags) {
    Bytes bytes = good.bytes;
    bytes[good.message] ^= flags;
    return file_of({section("PRG", 1, bytes), job_section()});
  };
  expect_taken(with(0));
  expect_taken(with(QUADRILLE_MESSAGE_LEFT | QUADRILLE_MESSAGE_RIGHT));
  expect_refused(with(QUADRILLE_MESSAGE_RIGHT), "the code is malformed", "malformed");
  expect_refused(with(QUADRILLE_MESSAGE_RECEIVE), "a send that combines", "malformed");
  expect_refused(with(QUADRILLE_MESSAGE_SIZED), "a sized message in an allreduce", "malformed");
}

TEST(RejectedFiles, CombiningWithoutAnOperatorIntoTheSendBufferOrOfNothing) {
  const CombiningCode good = combining_code();
  const auto file = [](const Bytes& code) {
    return file_of({section("PRG", 1, code), job_section()});
  };
  Bytes allgather = good.bytes;
  allgather[0] = QUADRILLE_ALLGATHER;
  expect_refused(file(allgather), "a receive that combines in a collective without an operator",
                 "in a collective without an operator");
  Bytes into_send = good.bytes;  // behind the message stand its peer, in one byte, and the piece
  ASSERT_EQ(into_send[good.message + 2], QUADRILLE_PIECE | QUADRILLE_PIECE_RECEIVE);
  into_send[good.message + 2] = QUADRILLE_PIECE | QUADRILLE_PIECE_SEND;
  expect_refused(file(into_send), "a message received into the send buffer",
                 "writes into the send buffer");
  Bytes nothing = good.bytes;
  nothing[good.message] ^= QUADRILLE_MESSAGE_SINGLE;
  nothing[good.message + 2] = QUADRILLE_END;
  nothing.erase(nothing.begin() + good.message + 3);  // the block
  expect_refused(file(nothing), "a message that combines nothing", "malformed");
}

TEST(RejectedFiles, StatementsThatThereAreNot) {
  const CombiningCode good = combining_code();
  const size_t step = good.message - 2;  // before its key, in one byte
  ASSERT_EQ(good.bytes[step], QUADRILLE_STEP);
  for (const uint8_t opcode : {0x0a, 0x0b, 0x0f, 0x28, 0x80}) {
    Bytes bytes = good.bytes;
    bytes[step] = opcode;
    expect_refused(file_of({section("PRG", 1, bytes), job_section()}), "", "malformed");
  }
}

// A program with a parameter in the file, one at the call, and tables of nodes and others.
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

constexpr uint8_t kInline = QUADRILLE_INLINE_BIT | QUADRILLE_INLINE_CONSTANT_BIT;

TEST(RejectedFiles, JobsForAnyNodesWhoseFormulasAreNone) {
  const Bytes at_call = {6};
  expect_taken(any_file(Bytes{0, 0, kInline + 3} + at_call));
  expect_taken(any_file(Bytes{0, 9, QUADRILLE_RANKS} + at_call));
  expect_taken(any_file(Bytes{0, 9, QUADRILLE_ELEMENT, 0, kInline + 1} + at_call));
  expect_taken(any_file(Bytes{0, 9, QUADRILLE_LENGTH, 0} + at_call));
  const std::string alone = "a parameter depends on";
  for (const Bytes& formula :
       {Bytes{QUADRILLE_PARAMETER, 0}, Bytes{QUADRILLE_GROUP}, Bytes{QUADRILLE_ELEMENT, 1, kInline},
        Bytes{QUADRILLE_LENGTH, 1}, Bytes{QUADRILLE_ADD, kInline, QUADRILLE_GROUP}})
    expect_refused(any_file(Bytes{0, 0} + formula + at_call), alone);
  expect_refused(any_file(Bytes{0, 0, QUADRILLE_RANK} + at_call), "'rank' in a declaration",
                 "asks for a rank");
  for (const Bytes& formula :
       {Bytes{}, Bytes{QUADRILLE_INLINE_BIT}, Bytes{QUADRILLE_ROOT}, Bytes{QUADRILLE_REMOTE_RANKS},
        Bytes{QUADRILLE_LENGTH, 2}, Bytes{QUADRILLE_PARAMETER, 2}, Bytes{QUADRILLE_ADD, kInline},
        Bytes{QUADRILLE_LESS, kInline, kInline}, Bytes{QUADRILLE_EXPRESSION_END}, Bytes{0},
        Bytes{QUADRILLE_CONSTANT, 2}, Bytes(50, QUADRILLE_ADD) + Bytes(51, kInline)})
    expect_refused(any_file(Bytes{0, 0} + formula + at_call), "");
}

// Tables would be others at each rank, and whoever checks the program fills them once.
TEST(RejectedFiles, DeclarationsThatDependOnTheRank) {
  for (const char* text :
       {"require ranks < 9", "table t[i in 0 .. ranks] = i", "table t[i in 0 .. 3] = ranks",
        "table t = powers(2, ranks)", "temporary ranks blocks"}) {
    const Program program =
        parse_program(std::string("algorithm a for alltoall\n") + text + "\n", "test").value();
    Bytes code = encode_code(program);
    expect_taken(file_of({section("PRG", 1, code), job_section()}));
    std::replace(code.begin(), code.end(), uint8_t{QUADRILLE_RANKS}, uint8_t{QUADRILLE_RANK});
    expect_refused(file_of({section("PRG", 1, code), job_section()}), "'rank' in a declaration",
                   "asks for a rank where all ranks must agree");
  }
}

TEST(RejectedFiles, JobsForAnyNodesThatAreMalformed) {
  const Bytes rest = {kInline, 6};
  expect_taken(any_file(Bytes{0, 0} + rest));
  expect_taken(any_file(Bytes{0} + varint(QUADRILLE_MAX_RANKS) + rest));
  expect_refused(any_file(Bytes{0} + varint(QUADRILLE_MAX_RANKS + 1) + rest), "malformed");
  expect_refused(any_file(Bytes{0} + varint(UINT64_MAX) + rest), "malformed");
  expect_refused(any_file(Bytes{0} + overlong(1) + rest), "malformed");
  expect_refused(any_file(overlong(0) + Bytes{0} + rest), "malformed");
  expect_refused(any_file(Bytes{0, 0} + rest + Bytes{0}), "malformed");
  expect_refused(any_file({0, 0, kInline}), "malformed");
}

// A job for any nodes of two groups has one limit, and numbers where others have formulas.
TEST(RejectedFiles, JobsForAnyNodesOfTwoGroupsWhoseParametersAreNoNumbers) {
  const Bytes at_call = {6};
  const Program between = parameterized(2);
  expect_taken(any_file(Bytes{0, 0, kInline + 3} + at_call, between));
  expect_taken(any_file(Bytes{0, 9, kInline + 3} + at_call, between));
  expect_taken(any_file(Bytes{0, 9, QUADRILLE_CONSTANT} + varint(2000) + at_call, between));
  for (const Bytes& formula :
       {Bytes{QUADRILLE_RANKS}, Bytes{QUADRILLE_REMOTE_RANKS}, Bytes{QUADRILLE_GROUP},
        Bytes{QUADRILLE_LENGTH, 0}, Bytes{QUADRILLE_ADD, kInline, kInline},
        Bytes{QUADRILLE_ELEMENT, 0, kInline + 1}})
    expect_refused(any_file(Bytes{0, 0} + formula + at_call, between), "between groups is");
  expect_refused(any_file(Bytes{0, 0, QUADRILLE_INLINE_BIT} + at_call, between), "");
  expect_refused(any_file(Bytes{0} + varint(QUADRILLE_MAX_RANKS + 1) + Bytes{kInline, 6}, between),
                 "malformed");
  expect_refused(any_file({0, 0}, between), "");
  expect_refused(any_file({0, 0, 0, kInline, 6}, between), "");  // a limit for each
}

TEST(RejectedFiles, WordsThatAreMalformedOrOutOfPlace) {
  const Bytes words = section("REQ", 0, {2, 'o', 'k'});
  expect_taken(file_of({program_section(), job_section(), names_section(), words}));
  expect_refused(file_of({program_section(), job_section(), words}), "out of place");
  expect_refused(file_of({program_section(), job_section(), words, names_section()}),
                 "out of place");
  expect_refused(file_of({program_section(), job_section(), names_section(), words, words}),
                 "out of place");
  // Like names, words are for people: the runtime does not say those that it cannot.
  for (const Bytes& payload : {Bytes{}, Bytes{0}, Bytes{3, 'o', 'k'}, Bytes{1, 'o', 'k'},
                               Bytes{1, '\n'}, Bytes{64} + Bytes(64, 'x')}) {
    const Bytes file =
        file_of({program_section(), job_section(), names_section(), section("REQ", 0, payload)});
    EXPECT_THAT(decoder_says(file), HasSubstr("the words of the requirement are malformed"));
    EXPECT_EQ(loader_says(file), "");
  }
}

}  // namespace
}  // namespace quadrille::verifier
