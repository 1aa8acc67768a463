/* The format of a schedule file. The encoder, the decoder, the emitter and the runtime share these numbers and no
 * code: each of them reads or writes the bytes by itself.
 *
 * All fixed-width integers are little-endian. A varint is LEB128: seven bits a byte, least significant first, in the
 * fewest bytes. A signed varint is a varint of the zigzag form. A string is a varint length and bytes.
 *
 *   offset  bytes
 *   0       8      QD_MAGIC
 *   8       2      major version: a reader of an older major refuses the file unless oldest_reader allows it
 *   10      2      minor version: additions that older readers may skip
 *   12      2      oldest_reader: the oldest major version whose readers understand the critical sections
 *   14      2      number of sections
 *   16      16     hash: the first 16 bytes of SHA-256 over all critical sections with their heads, in file order
 *   32      ...    sections
 *   end-4   4      CRC-32C of all bytes before it
 *
 * A section has a tag of three letters, one byte of flags, the length of the payload as a varint of up to 64 bits,
 * and the payload. Flag bit 0 marks a critical section: a reader that does not know the section refuses the file.
 * Each known section occurs at most once, in this order:
 *
 *   PRG critical  the program: see "code" below. Equal bytes mean the same program. The proof is about these bytes.
 *   JOB critical  for each group a varint, the number of runs of nodes of equal size; for each run two varints, by
 *                 ascending size: the number of nodes, and the ranks on each. Then a signed varint for each
 *                 parameter: its value, or the rule of a parameter that is set at the call. A rule of 1 or more is
 *                 the value itself; others are QD_CHOOSE_... Two varints follow MODEL and AUTO: alpha (ns a message)
 *                 and beta (ps a byte), each at most QD_MAX_COST. For a schedule for any nodes, see below.
 *   NAM           the names of the program in the order of declaration. Each is a string. A name that occurred before
 *                 may be a varint instead: 64 plus the number of the earlier name. May be missing
 *   REQ           the requirements on the number of ranks in words, a string of printable ASCII such as "an even
 *                 number of ranks". Only after NAM, and may be missing
 *
 * A schedule for any nodes has no topology: binding uses the nodes that it finds. One file and one hash serve every
 * job. Between two groups, either group may be the first. Instead of the runs of all groups, JOB has the varint 0 (a
 * topology has at least one run) and a varint: the most ranks in each group, or 0 for no limit. A parameter that is
 * not set at the call has a formula instead of the signed varint: an expression over constants, `ranks` and tables of
 * node sizes (QD_TABLE_NODES). Binding evaluates it. Between two groups the formula must be a constant, so that both
 * groups get one value. The major version and the oldest reader of a file for any nodes are QD_FORMAT_ANY_NODES.
 *
 * Code. First byte: bits 0-6 collective, bit 7 canonical sums. Second byte: bits 0-1 groups, bits 2-3 port kind, bit
 * 4 port per node, bit 5 in place, bit 6 commutative, bit 7: a varint follows, the window. Then a varint number of
 * parameters and a byte for each (QD_PARAMETER_...); a varint number of tables and each table; a varint number of
 * requirements and an expression each; the expression of the number of temporary blocks; the body. A body is
 * statements up to QD_END.
 *
 * Expressions are in prefix order. A byte with the top bit set is a variable (bit 6 clear), numbered by the low six
 * bits, or a constant (bit 6 set), the low six bits minus 1. Every other expression starts with its QD_EXPRESSION
 * byte. */
#pragma once

#include "schedule/limits.h"

#define QD_MAGIC "\211QDR\r\n\032\n"
#define QD_MAGIC_LENGTH 8
#define QD_FORMAT_MAJOR 2 /* the latest version */
#define QD_FORMAT_MINOR 0
#define QD_FORMAT_GIVEN_NODES 1
#define QD_FORMAT_ANY_NODES 2

#define QD_HASH_OFFSET 16
#define QD_HASH_LENGTH 16
#define QD_SECTIONS_OFFSET 32
#define QD_SECTION_TAG_LENGTH 4 /* three letters and the flags */
#define QD_CHECKSUM_LENGTH 4
#define QD_SECTION_CRITICAL 1

#define QD_SECTION_PROGRAM "PRG"
#define QD_SECTION_JOB "JOB"
#define QD_SECTION_NAMES "NAM"
#define QD_SECTION_REQUIREMENT "REQ"

/* Rules for a parameter that is set at the call. */
#define QD_CHOOSE_NONE 0     /* no rule: the caller must give it */
#define QD_CHOOSE_LEAST (-1) /* the least count that is not 0, in bytes; 1 if all are 0 */
#define QD_CHOOSE_MODEL (-2) /* the optimum of the linear model, in closed form */
#define QD_CHOOSE_AUTO (-3)  /* the best of the linear model, rounds counted exactly */
/* The rule QD_CHOOSE_AUTO - N, for N from 1 to INT32_MAX, means LEAST, but at least N bytes. */

/* The byte of a parameter: 0, AT_CALL, or both. */
#define QD_PARAMETER_AT_CALL 0x01
#define QD_PARAMETER_OVER_TREES 0x02

/* First byte of the code. */
#define QD_CANONICAL 0x80

/* Second byte of the code. */
#define QD_GROUPS_MASK 0x03
#define QD_PORT_SHIFT 2
#define QD_PORT_MASK 0x03
#define QD_PORT_PER_NODE 0x10
#define QD_IN_PLACE 0x20
#define QD_COMMUTATIVE 0x40
#define QD_WINDOWED 0x80

#define QD_INLINE_BIT 0x80
#define QD_INLINE_CONSTANT_BIT 0x40
#define QD_INLINE_MASK 0x3f
#define QD_LEAST_INLINE_CONSTANT (-1)
#define QD_GREATEST_INLINE_CONSTANT 62
#define QD_NAME_AGAIN 64

enum qd_collective {
  QD_ALLTOALL = 0,
  QD_ALLGATHER = 1,
  QD_BROADCAST = 2,
  QD_GATHER = 3,
  QD_SCATTER = 4,
  QD_REDUCE = 5,
  QD_ALLREDUCE = 6,
  QD_REDUCE_SCATTER = 7,
  QD_SCAN = 8,
  QD_EXSCAN = 9,
  QD_BARRIER = 10,
  QD_COLLECTIVE_COUNT
};

/* QD_PORT_PARAMETER: at most k messages out of a node and k into it at a time, where k is the first parameter. */
enum qd_port { QD_PORT_NONE, QD_PORT_EXCHANGE, QD_PORT_SEND_RECEIVE, QD_PORT_PARAMETER };

enum qd_table {
  QD_TABLE_NODES = 0,
  QD_TABLE_REMOTE_NODES = 1,
  QD_TABLE_COUNTS = 2,
  QD_TABLE_REMOTE_COUNTS = 3,
  QD_TABLE_PREFIX = 4,   /* byte: table */
  QD_TABLE_DISTINCT = 5, /* byte: table */
  QD_TABLE_POWERS = 6,   /* expressions: radix, limit */
  QD_TABLE_MAP = 7,      /* expressions: length, element */
  QD_TABLE_GREATEST = 8, /* byte: table */
  QD_TABLE_LITERAL = 9,  /* varint: number of entries, at least 1; each as a signed varint */
  QD_TABLE_KIND_COUNT
};

enum qd_statement {
  QD_END = 0x00,        /* ends a body */
  QD_LET = 0x01,        /* expression */
  QD_FOR = 0x02,        /* low, high, body */
  QD_IF = 0x03,         /* condition, body */
  QD_IF_ELSE = 0x04,    /* condition, body, body (not empty) */
  QD_STEP = 0x05,       /* key, body */
  QD_STEP_AFTER = 0x06, /* key, after, body */
  QD_COPY = 0x07,       /* piece, piece */
  QD_REDUCE_LEFT = 0x08,
  QD_REDUCE_RIGHT = 0x09, /* 0x0a is not used */
  QD_MESSAGE = 0x10,      /* | flags; peer, then one piece or a body */
  QD_PIECE = 0x20         /* | flags; block, and low, high if it is ranged */
};

/* Flags of QD_MESSAGE. */
#define QD_MESSAGE_RECEIVE 0x01
#define QD_MESSAGE_REMOTE 0x02
#define QD_MESSAGE_SIZED 0x04
#define QD_MESSAGE_SINGLE 0x08 /* one piece follows instead of a body */
/* Only for a receive of at least one piece that is not sized. The arriving data is the left or right operand, and the
 * pieces hold the other operand and then the result. */
#define QD_MESSAGE_LEFT 0x20
#define QD_MESSAGE_RIGHT 0x40
#define QD_MESSAGE_FLAGS 0x6f

/* Flags of QD_PIECE: the buffer in bits 0-1. */
#define QD_PIECE_SEND 0x00
#define QD_PIECE_RECEIVE 0x01
#define QD_PIECE_TEMPORARY 0x02
#define QD_PIECE_BUFFER 0x03
#define QD_PIECE_RANGED 0x04
#define QD_PIECE_FLAGS 0x07

enum qd_expression {
  QD_CONSTANT = 0x40,  /* signed varint, not -1 .. 62 */
  QD_PARAMETER = 0x41, /* byte: parameter */
  QD_RANK = 0x42,
  QD_RANKS = 0x43,
  QD_REMOTE_RANKS = 0x44,
  QD_GROUP = 0x45,
  QD_ROOT = 0x46,
  QD_ADD = 0x47,
  QD_SUBTRACT = 0x48,
  QD_MULTIPLY = 0x49,
  QD_DIVIDE = 0x4a,
  QD_MODULO = 0x4b,
  QD_XOR = 0x4c,
  QD_MINIMUM = 0x4d,
  QD_MAXIMUM = 0x4e,
  QD_WRAP = 0x4f,
  QD_EQUAL = 0x50,
  QD_NOT_EQUAL = 0x51,
  QD_LESS = 0x52,
  QD_LESS_EQUAL = 0x53,
  QD_AND = 0x54,
  QD_CHOOSE = 0x55,
  QD_ELEMENT = 0x56, /* byte: table; index */
  QD_LOCATE = 0x57,  /* byte: table; x */
  QD_LENGTH = 0x58,  /* byte: table */
  QD_EXPRESSION_END
};
