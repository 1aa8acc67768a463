/* The limits of the language. Every reader enforces all of them: the reader of texts, validate(), the decoder, the checker, the
 * prover, and the runtime's loader, tables and builder. So what is verified or proven can be loaded. Plain C, as the runtime reads
 * this list, too. tests/reject/limits_test.cc makes a program at each limit and one beyond it, and asks every reader. */
#ifndef QUADRILLE_SCHEDULE_LIMITS_H_
#define QUADRILLE_SCHEDULE_LIMITS_H_

/* Each limit is one plain number, so that QD_DIGITS() can print it. */
#define QD_MAX_FILE_LENGTH 16777216 /* bytes */
#define QD_MAX_RANKS 1048576        /* of a group */
#define QD_MAX_WINDOW 65536         /* steps in flight */
#define QD_MAX_PARAMETERS 16
#define QD_MAX_TABLES 16
#define QD_MAX_LITERALS 256 /* of a table */
#define QD_MAX_REQUIREMENTS 16
#define QD_MAX_DEPTH 40 /* of statements, and of operators in an expression */
#define QD_MAX_VARIABLES 48
/* Values that never change at a rank: numbers other than 0 and 1, parameters, `rank` and its like, lengths of tables.
 * Each counts once. With the limits of variables and depth, this bounds the registers (runtime/program/compile.c). */
#define QD_MAX_CONSTANTS 80
#define QD_MAX_NAME_LENGTH 63
#define QD_MAX_COST 1000000000       /* of alpha, and of beta */
#define QD_MAX_BLOCK_SIZE 2147483647 /* in a file */

/* 2^40. QD_MAX_COUNT limits the bytes of a contribution of known length, and the end of a range of a temporary block
 * unless the range is empty. QD_MAX_PARAMETER limits the magnitude of a parameter. */
#define QD_MAX_COUNT 1099511627776
#define QD_MAX_PARAMETER 1099511627776

/* The limit of entries of one table, and of temporary blocks: the first number, plus the second times the square of
 * the number of ranks, but never above the third. They take memory at every rank, so a small job may have few. */
#define QD_MAX_ENTRIES 1048576
#define QD_MAX_ENTRIES_A_PAIR 4
#define QD_MAX_TABLE_LENGTH 33554432

/* The limit of iterations of all loops together at one rank: the first number, plus the second times ranks times
 * nodes, plus the third times all bytes. Schedules need far fewer. It keeps a damaged file from walking for hours. */
#define QD_MAX_ITERATIONS 1048576
#define QD_MAX_ITERATIONS_A_RANK_AND_NODE 64
#define QD_MAX_ITERATIONS_A_BYTE 4

/* The texts with which all readers refuse a program. */
#define QD_DIGITS_OF(tokens) #tokens
#define QD_DIGITS(limit) QD_DIGITS_OF(limit)
#define QD_LONG_FILE "longer than " QD_DIGITS(QD_MAX_FILE_LENGTH) " bytes"
#define QD_MANY_RANKS "more than " QD_DIGITS(QD_MAX_RANKS) " ranks"
#define QD_WIDE_WINDOW "a window of fewer than 1 or more than " QD_DIGITS(QD_MAX_WINDOW) " steps"
#define QD_MANY_PARAMETERS "more than " QD_DIGITS(QD_MAX_PARAMETERS) " parameters"
#define QD_MANY_TABLES "more than " QD_DIGITS(QD_MAX_TABLES) " tables"
#define QD_MANY_LITERALS "a table of more than " QD_DIGITS(QD_MAX_LITERALS) " numbers"
#define QD_MANY_REQUIREMENTS "more than " QD_DIGITS(QD_MAX_REQUIREMENTS) " requirements"
#define QD_DEEP_STATEMENTS "statements deeper than " QD_DIGITS(QD_MAX_DEPTH)
#define QD_DEEP_EXPRESSION "an expression deeper than " QD_DIGITS(QD_MAX_DEPTH) " operators"
#define QD_MANY_VARIABLES "more than " QD_DIGITS(QD_MAX_VARIABLES) " variables in scope"
#define QD_MANY_CONSTANTS \
  "more than " QD_DIGITS(QD_MAX_CONSTANTS) " different numbers, parameters and lengths of tables"
#define QD_GREAT_COST "a cost above " QD_DIGITS(QD_MAX_COST)
#define QD_GREAT_BLOCK_SIZE "a block size above " QD_DIGITS(QD_MAX_BLOCK_SIZE)

/* The words of the language. A name must not be one of these. */
#define QD_RESERVED_WORDS                                                                        \
  " after and copy div else for from group if in into length let locate max min mod nothing or " \
  "rank ranks receive recv reduce remote remote_ranks root send sized step temp to wrap xor "

#ifdef __cplusplus
#include <cstdint>

namespace quadrille {

inline constexpr int64_t kMaxRanks = QD_MAX_RANKS;
inline constexpr int64_t kMaxWindow = QD_MAX_WINDOW;
inline constexpr int kMaxParameters = QD_MAX_PARAMETERS;
inline constexpr int kMaxTables = QD_MAX_TABLES;
inline constexpr int kMaxLiterals = QD_MAX_LITERALS;
inline constexpr int kMaxRequirements = QD_MAX_REQUIREMENTS;
inline constexpr int kMaxDepth = QD_MAX_DEPTH;
inline constexpr int kMaxVariables = QD_MAX_VARIABLES;
inline constexpr int kMaxConstants = QD_MAX_CONSTANTS;
inline constexpr int kMaxNameLength = QD_MAX_NAME_LENGTH;
inline constexpr int64_t kMaxCost = QD_MAX_COST;
inline constexpr int64_t kMaxCount = QD_MAX_COUNT;
inline constexpr int64_t kMaxParameter = QD_MAX_PARAMETER;
inline constexpr int64_t kMaxEntries = QD_MAX_ENTRIES;
inline constexpr int64_t kMaxEntriesAPair = QD_MAX_ENTRIES_A_PAIR;
inline constexpr int64_t kMaxTableLength = QD_MAX_TABLE_LENGTH;
inline constexpr int64_t kMaxIterations = QD_MAX_ITERATIONS;
inline constexpr int64_t kMaxIterationsARankAndNode = QD_MAX_ITERATIONS_A_RANK_AND_NODE;
inline constexpr int64_t kMaxIterationsAByte = QD_MAX_ITERATIONS_A_BYTE;

}  // namespace quadrille
#endif

#endif /* QUADRILLE_SCHEDULE_LIMITS_H_ */
