// Puts code that is no program into a file that is otherwise correct. Decoder and loader refuse it.
#include "schedule/text.h"
#include "tests/reject/files.h"

namespace quadrille::verifier::code_test {

Bytes code_of(const std::string& text) { return encode_code(parse_program(text, "text").value()); }

TEST(RejectedFiles, PartsOfBlocksInAnAllToAll) {
  Bytes code = code_of(
      "algorithm a for allgather\nstep 0\n  send send[0]@0..1 to 1\n  receive recv[1]@0..1 from 1");
  expect_taken(with_code(code));
  code[0] = QD_ALLTOALL;
  expect_refused(with_code(code), "a part of a block in an all-to-all");
}

Bytes file_with(const Bytes& code, uint8_t collective) {
  Bytes changed = code;
  changed[0] = collective;
  return with_code(changed);
}

constexpr uint8_t kEndsKnow[] = {QD_ALLTOALL, QD_GATHER, QD_SCATTER};
constexpr uint8_t kAllKnow[] = {QD_ALLGATHER,      QD_BROADCAST, QD_REDUCE, QD_ALLREDUCE,
                                QD_REDUCE_SCATTER, QD_SCAN,      QD_EXSCAN};

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
                         QD_REDUCE));
}

TEST(RejectedFiles, ABarrierThatMovesBlocksAndAScanBetweenGroups) {
  const Bytes token = code_of("algorithm a for alltoall\nstep 0\n  send nothing to 1\n");
  expect_taken(file_with(token, QD_BARRIER));
  for (const char* moves :
       {"copy send[0] to recv[0]", "step 0\n  send send[0] to 1", "table m = counts"})
    expect_refused(
        file_with(code_of(std::string("algorithm a for allreduce\n") + moves), QD_BARRIER),
        "in a barrier, which moves nothing", "");
  expect_refused(file_with(code_of("algorithm a for alltoall\nstep 0\n  send sized nothing to 1\n"),
                           QD_BARRIER),
                 "a sized message in a barrier", "");
  const Bytes between = code_of("algorithm a for alltoall between groups\n");
  const auto file = [&](uint8_t collective) {
    Bytes code = between;
    code[0] = collective;
    return file_of({section("PRG", 1, code), section("JOB", 1, job() + job())});
  };
  expect_taken(file(QD_ALLTOALL));
  expect_taken(file(QD_BARRIER));
  for (const uint8_t collective : {QD_SCAN, QD_EXSCAN})
    expect_refused(file(collective), "scan between groups, which MPI does not have");
  expect_refused(file(QD_COLLECTIVE_COUNT), "malformed");
}

TEST(RejectedFiles, APortOfAsManyMessagesAsAParameterThatTheFileLacks) {
  Bytes several = code_of("algorithm a for alltoall\nparameter k\nport k+k per node\n"),
        none = code_of("algorithm a for alltoall\nport one+one per node\n");
  Bytes given = job();
  given.push_back(0);
  const auto file = [&] { return file_of({section("PRG", 1, several), section("JOB", 1, given)}); };
  expect_taken(file());
  several[1] &= ~QD_PORT_PER_NODE;
  expect_refused(file(), "a port of k+k messages is one of nodes", "malformed");
  none[1] |= QD_PORT_PARAMETER << QD_PORT_SHIFT;
  expect_refused(with_code(none), "a port of k+k messages is one of nodes", "malformed");
}

TEST(RejectedFiles, AReduceScatterInPlace) {
  const Bytes code = code_of("algorithm a for allreduce\nin_place\n");
  expect_taken(file_with(code, QD_ALLREDUCE));
  expect_refused(file_with(code, QD_REDUCE_SCATTER), "'in_place' in a reduce-scatter",
                 "a reduce-scatter is in place");
}

TEST(RejectedFiles, CanonicalSumsInAnotherOrderOrWithoutAnOperator) {
  Bytes code = code_of("algorithm a for allreduce\nsums canonical\n");
  ASSERT_EQ(code[0], QD_ALLREDUCE | QD_CANONICAL);
  expect_taken(with_code(code));
  const Bytes allgather = code_of("algorithm a for allgather\n");
  expect_refused(file_with(allgather, QD_ALLGATHER | QD_CANONICAL),
                 "'sums canonical' in an allgather", "the code claims canonical sums");
  expect_refused(file_with(allgather, QD_COLLECTIVE_COUNT | QD_CANONICAL), "malformed");
  code[1] |= QD_COMMUTATIVE;
  expect_refused(with_code(code), "'sums canonical' keeps the order of ranks",
                 "the code claims canonical sums");
}

// The code of a step with one message, and the position of the message's byte in it.
struct CombiningCode {
  Bytes bytes;
  size_t message;
};
CombiningCode combining_code() {
  const Bytes code = code_of("algorithm a for allreduce\nstep 0\n  receive left recv[0] from 1");
  const int message = QD_MESSAGE | QD_MESSAGE_RECEIVE | QD_MESSAGE_SINGLE | QD_MESSAGE_LEFT;
  return {code, static_cast<size_t>(std::ranges::find(code, message) - code.begin())};
}

TEST(RejectedFiles, MessagesThatCombineAsNoneCan) {
  const CombiningCode good = combining_code();
  ASSERT_LT(good.message, good.bytes.size());
  const auto with = [&](int flags) {
    Bytes bytes = good.bytes;
    bytes[good.message] ^= flags;
    return with_code(bytes);
  };
  expect_taken(with(0));
  expect_taken(with(QD_MESSAGE_LEFT | QD_MESSAGE_RIGHT));
  expect_refused(with(QD_MESSAGE_RIGHT), "the code is malformed", "malformed");
  expect_refused(with(QD_MESSAGE_RECEIVE), "a send that combines", "malformed");
  expect_refused(with(QD_MESSAGE_SIZED), "a sized message in an allreduce", "malformed");
}

TEST(RejectedFiles, CombiningWithoutAnOperatorIntoTheSendBufferOrOfNothing) {
  const CombiningCode good = combining_code();
  Bytes allgather = good.bytes;
  allgather[0] = QD_ALLGATHER;
  expect_refused(with_code(allgather),
                 "a receive that combines in a collective without an operator",
                 "in a collective without an operator");
  Bytes into_send = good.bytes;  // one byte of the peer, then the piece, follow the message's byte
  ASSERT_EQ(into_send[good.message + 2], QD_PIECE | QD_PIECE_RECEIVE);
  into_send[good.message + 2] = QD_PIECE | QD_PIECE_SEND;
  expect_refused(with_code(into_send), "a message received into the send buffer",
                 "writes into the send buffer");
  Bytes nothing = good.bytes;
  nothing[good.message] ^= QD_MESSAGE_SINGLE;
  nothing[good.message + 2] = QD_END;
  nothing.erase(nothing.begin() + good.message + 3);  // the piece's block
  expect_refused(with_code(nothing), "a message that combines nothing", "malformed");
}

TEST(RejectedFiles, StatementsThatThereAreNot) {
  const CombiningCode good = combining_code();
  const size_t step = good.message - 2;  // the step's byte; its key is the byte between
  ASSERT_EQ(good.bytes[step], QD_STEP);
  for (const uint8_t opcode : {0x0a, 0x0b, 0x0f, 0x28, 0x80}) {
    Bytes bytes = good.bytes;
    bytes[step] = opcode;
    expect_refused(with_code(bytes), "", "malformed");
  }
}

// The third byte of the code is the window.
TEST(RejectedFiles, WindowsOfNoStepsAndOfTooMany) {
  const auto with_window = [](const Bytes& window) {
    Bytes code = code_of("algorithm a for alltoall\nwindow 1");
    code.erase(code.begin() + 2);
    code.insert(code.begin() + 2, window.begin(), window.end());
    return with_code(code);
  };
  expect_taken(with_window(varint(1)));
  expect_taken(with_window(varint(QD_MAX_WINDOW)));
  expect_refused(with_window(varint(0)), QD_WIDE_WINDOW);
  expect_refused(with_window(varint(QD_MAX_WINDOW + 1)), QD_WIDE_WINDOW);
}

// Byte 3 of the code is the kind of the only parameter.
TEST(RejectedFiles, ParametersOverTreesThatAreNotBlockSizes) {
  const auto with_kind = [](int collective, int kind) {
    Bytes code = code_of("algorithm a for broadcast\nparameter B at call over trees");
    code[0] = collective;
    code[3] = kind;
    return file_of({section("PRG", 1, code), section("JOB", 1, job() + Bytes{0})});
  };
  const int over_trees = QD_PARAMETER_OVER_TREES, block_size = QD_PARAMETER_AT_CALL | over_trees;
  expect_taken(with_kind(QD_BROADCAST, block_size));
  expect_taken(with_kind(QD_REDUCE, block_size));
  expect_taken(with_kind(QD_ALLGATHER, block_size));
  expect_taken(with_kind(QD_REDUCE_SCATTER, block_size));
  for (const int collective :
       {QD_ALLTOALL, QD_GATHER, QD_SCATTER, QD_ALLREDUCE, QD_SCAN, QD_EXSCAN})
    expect_refused(with_kind(collective, block_size), "only a broadcast, a reduce", "malformed");
  expect_refused(with_kind(QD_BROADCAST, over_trees), "only a broadcast, a reduce", "malformed");
  expect_refused(with_kind(QD_BROADCAST, 4), "malformed");
}

TEST(RejectedFiles, TablesOfNoLiterals) {
  const Bytes one = code_of("algorithm a for alltoall\ntable t = 5");
  const auto kind = std::ranges::find(one, QD_TABLE_LITERAL);
  Bytes none(one.begin(), kind + 1);
  none.push_back(0);
  none.insert(none.end(), kind + 3, one.end());
  expect_refused(with_code(none), "a table of numbers without numbers", "malformed");
}

// Tables that depend on the rank would differ between ranks, but the checker fills tables only once.
TEST(RejectedFiles, DeclarationsThatDependOnTheRank) {
  for (const char* text :
       {"require ranks < 9", "table t[i in 0 .. ranks] = i", "table t[i in 0 .. 3] = ranks",
        "table t = powers(2, ranks)", "temporary ranks blocks"}) {
    Bytes code = code_of(std::string("algorithm a for alltoall\n") + text + "\n");
    expect_taken(with_code(code));
    std::replace(code.begin(), code.end(), uint8_t{QD_RANKS}, uint8_t{QD_RANK});
    expect_refused(with_code(code), "'rank' in a declaration",
                   "asks for a rank where all ranks must agree");
  }
}

}  // namespace quadrille::verifier::code_test
