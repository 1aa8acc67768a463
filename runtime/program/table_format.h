/* The schedule file: what its bytes mean. Encoder, decoder, emitter and interpreter share these
 * numbers and nothing else; each reads or writes the bytes on its own.
 *
 * All fixed-width integers are little-endian. A varint is LEB128: seven bits a byte, least
 * significant first, in the fewest bytes. A signed varint is a varint of the zigzag form. Strings
 * are a varint length and bytes.
 *
 *   offset  bytes
 *   0       8      QUADRILLE_MAGIC
 *   8       2      major version: a reader of an older major refuses the file unless oldest_reader
 *           allows it
 *   10      2      minor version: additions that older readers may skip
 *   12      2      oldest major version whose readers understand the critical sections
 *   14      2      number of sections
 *   16      16     hash: the first 16 bytes of SHA-256 over all critical sections, heads included,
 *           in file order
 *   32      ...    sections
 *   end-4   4      CRC-32C of everything before it
 *
 * A section: three letters, one byte of flags (bit 0: critical, a reader that does not know it
 * refuses the file), the payload's length as a varint of up to 64 bits, the payload. Each known
 * section stands exactly once, in this order:
 *
 *   PRG critical  the program: see "code" below. Equal bytes mean the same program, which is what
 *                 is proven.
 *   JOB critical  for each group: varint number of runs, then per run varint nodes and varint
 *                 ranks on each, by ascending size; then one signed varint a parameter: its
 *                 value, or, where it is given at the call, the rule by which the runtime chooses
 *                 it: a value of 1 or more is always that, others are QUADRILLE_CHOOSE_...; behind
 *                 MODEL and AUTO stand two varints, alpha (ns a message) and beta (ps a byte), each
 *                 at most QUADRILLE_MAX_COST. A schedule for any nodes: see below
 *   NAM           the names of the program in the order of declaration, each a string, or, where
 *                 an earlier name comes again, a varint of 64 plus that one's number; may be
 *                 missing
 *   REQ           what the program requires of the number of ranks, in words, a string of printable
 *                 ASCII: "an even number of ranks"; only behind NAM, and may be missing
 *
 * A schedule for any nodes holds no topology: binding takes the nodes that it finds, so one file
 * and one hash serve every job, and, between two groups, either of them as the first. In place of the
 * runs of all groups, of which a topology has at least one, JOB has the varint 0, then a varint, the most
 * ranks that it serves in each group, 0 where there is no limit. A parameter that is not given at the call
 * has an expression in place of the signed varint, over constants, `ranks` and tables of node sizes
 * (QUADRILLE_TABLE_NODES), which binding evaluates; between two groups it is a constant, which has one
 * value in both. Such a file has major version and oldest reader QUADRILLE_FORMAT_ANY_NODES.
 *
 * Code. First byte: collective; second: bits 0-1 groups, bits 2-3 port kind, bit 4 port per node,
 * bit 5 in place, bit 6 commutative. Then varint number of parameters and a byte each (bit 0:
 * given at the call); varint number of tables and each table; varint number of requirements and an
 * expression each; the expression of the number of temporary blocks; the body. A body is
 * statements up to QUADRILLE_END.
 *
 * Expressions are in prefix order. A byte with the top bit set is a variable (bit 6 clear),
 * numbered by the low six bits, or a constant (bit 6 set), the low six bits minus 1; every other
 * expression starts with its QUADRILLE_EXPRESSION byte.
 */
#ifndef QUADRILLE_RUNTIME_TABLE_FORMAT_H_
#define QUADRILLE_RUNTIME_TABLE_FORMAT_H_

#define QUADRILLE_MAGIC "\211QDR\r\n\032\n"
#define QUADRILLE_MAGIC_LENGTH 8
#define QUADRILLE_FORMAT_MAJOR 2 /* the latest that there is */
#define QUADRILLE_FORMAT_MINOR 0
#define QUADRILLE_FORMAT_GIVEN_NODES 1
#define QUADRILLE_FORMAT_ANY_NODES 2

#define QUADRILLE_HASH_OFFSET 16
#define QUADRILLE_HASH_LENGTH 16
#define QUADRILLE_SECTIONS_OFFSET 32
#define QUADRILLE_SECTION_TAG_LENGTH 4 /* with the flags */
#define QUADRILLE_CHECKSUM_LENGTH 4
#define QUADRILLE_SECTION_CRITICAL 1

#define QUADRILLE_SECTION_PROGRAM "PRG"
#define QUADRILLE_SECTION_JOB "JOB"
#define QUADRILLE_SECTION_NAMES "NAM"
#define QUADRILLE_SECTION_REQUIREMENT "REQ"

/* Rules for a parameter that is given at the call. */
#define QUADRILLE_CHOOSE_NONE 0     /* no rule: whoever calls must give it */
#define QUADRILLE_CHOOSE_LEAST (-1) /* the least count that is not 0, in bytes; 1 where all are 0 */
#define QUADRILLE_CHOOSE_MODEL (-2) /* the optimum of the linear model, in closed form */
#define QUADRILLE_CHOOSE_AUTO (-3)  /* the best of the linear model, rounds counted exactly */
#define QUADRILLE_MAX_COST 1000000000 /* of alpha, and of beta */

/* A longer file is refused before it is read. */
#define QUADRILLE_MAX_FILE_LENGTH (1 << 24)

/* Limits of a program; every reader enforces them. */
#define QUADRILLE_MAX_RANKS (1 << 20)
#define QUADRILLE_MAX_TABLE_LENGTH (32 * QUADRILLE_MAX_RANKS)
#define QUADRILLE_MAX_COUNT ((int64_t)1 << 40) /* bytes of a contribution whose length is known */
#define QUADRILLE_MAX_PARAMETER ((int64_t)1 << 40) /* and, negated, the least */
/* Iterations of all loops together, at one rank: these, and so many for each rank and node (their
 * product), and for each byte of all contributions. Far more than any schedule takes: a damaged one
 * shall not walk for hours. */
#define QUADRILLE_MAX_ITERATIONS (1 << 20)
#define QUADRILLE_MAX_ITERATIONS_A_RANK_AND_NODE 64
#define QUADRILLE_MAX_ITERATIONS_A_BYTE 4
#define QUADRILLE_MAX_VARIABLES 48
#define QUADRILLE_MAX_TABLES 16
#define QUADRILLE_MAX_PARAMETERS 16
#define QUADRILLE_MAX_REQUIREMENTS 16
#define QUADRILLE_MAX_DEPTH 40

/* Second byte of the code. */
#define QUADRILLE_GROUPS_MASK 0x03
#define QUADRILLE_PORT_SHIFT 2
#define QUADRILLE_PORT_MASK 0x03
#define QUADRILLE_PORT_PER_NODE 0x10
#define QUADRILLE_IN_PLACE 0x20
#define QUADRILLE_COMMUTATIVE 0x40

#define QUADRILLE_INLINE_BIT 0x80
#define QUADRILLE_INLINE_CONSTANT_BIT 0x40
#define QUADRILLE_INLINE_MASK 0x3f
#define QUADRILLE_LEAST_INLINE_CONSTANT (-1)
#define QUADRILLE_GREATEST_INLINE_CONSTANT 62
#define QUADRILLE_MAX_NAME_LENGTH 63
#define QUADRILLE_NAME_AGAIN 64

enum quadrille_collective {
  QUADRILLE_ALLTOALL = 0,
  QUADRILLE_ALLGATHER = 1,
  QUADRILLE_BROADCAST = 2,
  QUADRILLE_GATHER = 3,
  QUADRILLE_SCATTER = 4,
  QUADRILLE_REDUCE = 5,
  QUADRILLE_ALLREDUCE = 6,
  QUADRILLE_REDUCE_SCATTER = 7,
  QUADRILLE_SCAN = 8,
  QUADRILLE_EXSCAN = 9,
  QUADRILLE_BARRIER = 10,
  QUADRILLE_COLLECTIVE_COUNT
};

enum quadrille_port {
  QUADRILLE_PORT_NONE = 0,
  QUADRILLE_PORT_EXCHANGE = 1,
  QUADRILLE_PORT_SEND_RECEIVE = 2
};

enum quadrille_table {
  QUADRILLE_TABLE_NODES = 0,
  QUADRILLE_TABLE_REMOTE_NODES = 1,
  QUADRILLE_TABLE_COUNTS = 2,
  QUADRILLE_TABLE_REMOTE_COUNTS = 3,
  QUADRILLE_TABLE_PREFIX = 4,   /* byte: table */
  QUADRILLE_TABLE_DISTINCT = 5, /* byte: table */
  QUADRILLE_TABLE_POWERS = 6,   /* expressions: radix, limit */
  QUADRILLE_TABLE_MAP = 7,      /* expressions: length, element */
  QUADRILLE_TABLE_KIND_COUNT
};

enum quadrille_statement {
  QUADRILLE_END = 0x00,        /* of a body */
  QUADRILLE_LET = 0x01,        /* expression */
  QUADRILLE_FOR = 0x02,        /* low, high, body */
  QUADRILLE_IF = 0x03,         /* condition, body */
  QUADRILLE_IF_ELSE = 0x04,    /* condition, body, body (not empty) */
  QUADRILLE_STEP = 0x05,       /* key, body */
  QUADRILLE_STEP_AFTER = 0x06, /* key, after, body */
  QUADRILLE_COPY = 0x07,       /* piece, piece */
  QUADRILLE_REDUCE_LEFT = 0x08,
  QUADRILLE_REDUCE_RIGHT = 0x09, /* 0x0a is not used */
  QUADRILLE_MESSAGE = 0x10,      /* | flags; peer, then one piece or a body */
  QUADRILLE_PIECE = 0x20         /* | flags; block, and where ranged low, high */
};

/* Flags of QUADRILLE_MESSAGE. */
#define QUADRILLE_MESSAGE_RECEIVE 0x01
#define QUADRILLE_MESSAGE_REMOTE 0x02
#define QUADRILLE_MESSAGE_SIZED 0x04
#define QUADRILLE_MESSAGE_SINGLE 0x08 /* one piece follows instead of a body */
#define QUADRILLE_MESSAGE_LEFT 0x20   /* a receive, not sized, that combines what arrives with */
#define QUADRILLE_MESSAGE_RIGHT 0x40  /* its pieces, one or more: on that side */
#define QUADRILLE_MESSAGE_FLAGS 0x6f

/* Flags of QUADRILLE_PIECE: the buffer in bits 0-1. */
#define QUADRILLE_PIECE_SEND 0x00
#define QUADRILLE_PIECE_RECEIVE 0x01
#define QUADRILLE_PIECE_TEMPORARY 0x02
#define QUADRILLE_PIECE_BUFFER 0x03
#define QUADRILLE_PIECE_RANGED 0x04
#define QUADRILLE_PIECE_FLAGS 0x07

enum quadrille_expression {
  QUADRILLE_CONSTANT = 0x40,  /* signed varint, not -1 .. 62 */
  QUADRILLE_PARAMETER = 0x41, /* byte: parameter */
  QUADRILLE_RANK = 0x42,
  QUADRILLE_RANKS = 0x43,
  QUADRILLE_REMOTE_RANKS = 0x44,
  QUADRILLE_GROUP = 0x45,
  QUADRILLE_ROOT = 0x46,
  QUADRILLE_ADD = 0x47,
  QUADRILLE_SUBTRACT = 0x48,
  QUADRILLE_MULTIPLY = 0x49,
  QUADRILLE_DIVIDE = 0x4a,
  QUADRILLE_MODULO = 0x4b,
  QUADRILLE_XOR = 0x4c,
  QUADRILLE_MINIMUM = 0x4d,
  QUADRILLE_MAXIMUM = 0x4e,
  QUADRILLE_WRAP = 0x4f,
  QUADRILLE_EQUAL = 0x50,
  QUADRILLE_NOT_EQUAL = 0x51,
  QUADRILLE_LESS = 0x52,
  QUADRILLE_LESS_EQUAL = 0x53,
  QUADRILLE_AND = 0x54,
  QUADRILLE_CHOOSE = 0x55,
  QUADRILLE_ELEMENT = 0x56, /* byte: table; index */
  QUADRILLE_LOCATE = 0x57,  /* byte: table; x */
  QUADRILLE_LENGTH = 0x58,  /* byte: table */
  QUADRILLE_EXPRESSION_END
};

#endif /* QUADRILLE_RUNTIME_TABLE_FORMAT_H_ */
