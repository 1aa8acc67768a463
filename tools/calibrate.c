/* mpirun -n RANKS calibrate: measures the machine for `generate --algorithm auto` and prints its flags: --bytes,
 * --alpha, --beta, --gap, these three inside a node, --beta-alone, --copy, --beta-copy, --eager, --port.
 *
 * simulate/machine.h says what the flags mean. All ranks send at once, as in an all-to-all: first to another node of
 * as many ranks, then inside their own node. In a round, each rank of a team sends a number of messages of a number
 * of bytes, and receives as many. A round takes
 *     alpha + shared * messages * (gap + beta * bytes)
 * seconds. `shared` is 1 if each rank has its own port, and otherwise the number of ranks of a node that send. A
 * second measurement with few ranks shows whether the ranks of a node share a port.
 *
 * The ranks of a team stay in step, since no rank can begin a round before its neighbors have ended the last. A time
 * is the mean over a stretch of rounds, because ranks that share a core each run many rounds in a row. The median
 * over several stretches counts, so that other work of the machine has little effect. The team's time is that of its
 * slowest rank. Each load is timed in several passes, and the median of the passes counts. So a longer disturbance
 * spoils only one pass of some loads. Lengths and numbers of messages grow by a factor of 4. Lines have the least
 * relative errors, so short messages count as much as long ones.
 *
 * Times of copies are means. If ranks share a core, a median would omit the switches between ranks, which few copies
 * meet. Exit codes: 0 done, 2 bad input, or ranks that cannot be measured. Tested by tests/mpi/calibrate_test.sh and,
 * with known answers, by tests/simulation/calibrate_test.py. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/quantity.h"
#include "runtime/execute/nodes.h"
#include "tools/launcher.h"

static const char usage[] =
    "usage: mpirun -n RANKS quadrille calibrate --bytes SIZE [options]\n"
    "Measures this machine and prints the flags for `generate --algorithm auto` and `show "
    "--explain`.\n"
    "Start it on two nodes or more, with as many ranks on each as your program has.\n"
    "  --bytes SIZE      the average length of your program's blocks: 4096 or 4KiB\n"
    "  --seconds N       measure for about this long (default 3)\n"
    "  --messages LIST   instead, time single messages of these lengths, 0,4096,64KiB, between "
    "the\n"
    "                    first rank and the last, both ways at once: lines `message BYTES "
    "SECONDS`\n";

struct arguments {
  int64_t bytes;
  double seconds;
  const char* messages;
};

static const double kSeen = 20e-6;         /* seconds: longer than a tick of any clock */
static const double kLeastPerByte = 1e-13; /* seconds: 10 TB/s */
enum {
  SMALLEST = 16, /* bytes of the shortest of SIZES messages; each is 4 times as long as the last */
  SIZES = 8,
  NUMBERS = 4, /* of messages in a round: 1, 4, 16, 64; of blocks in a copy: 64, 128, 256, 512 */
  LONGEST_OF_MANY = 1 << 14,
  LOADS_OF_ROUND = SIZES + NUMBERS,
  LOADS_OF_COPY = NUMBERS + 1,
  LOADS_OF_PORT = 2,
  PASSES = 3,
  MOST_SECONDS = 3600,
  MOST_MESSAGE = 1 << 30
};

/* Returns the next length of the list, or -1 if it is wrong. Moves *list behind it, or sets it to NULL at the end. */
static int64_t next_length(const char** list) {
  int64_t bytes = -1;
  const char* const comma = strchr(*list, ',');
  quantity_bytes(*list, comma ? (size_t)(comma - *list) : strlen(*list), 0, MOST_MESSAGE, &bytes);
  *list = comma ? comma + 1 : NULL;
  return bytes;
}

static int is_list(const char* list) {
  while (list)
    if (next_length(&list) < 0) return 0;
  return 1;
}

/* Reads the arguments. Prints what is wrong and returns 0 if it cannot. */
static int parse(int count, char** words, struct arguments* a) {
  *a = (struct arguments){.seconds = 3};
  for (int i = 1; i < count; i += 2) {
    const char* value = i + 1 < count ? words[i + 1] : "";
    if (strcmp(words[i], "--bytes") == 0) {
      if (quantity_bytes(value, strlen(value), 1, MOST_MESSAGE, &a->bytes)) continue;
      fprintf(stderr,
              "calibrate: --bytes wants a number of bytes from 1 to %d, such as 4096 or 4KiB\n",
              MOST_MESSAGE);
    } else if (strcmp(words[i], "--seconds") == 0) {
      if (quantity_decimal(value, strlen(value), MOST_SECONDS, &a->seconds)) continue;
      fprintf(stderr, "calibrate: --seconds wants a number from 0 to %d\n", MOST_SECONDS);
    } else if (strcmp(words[i], "--messages") == 0) {
      a->messages = value;
      if (is_list(value)) continue;
      fprintf(stderr, "calibrate: --messages wants numbers of bytes from 0 to %d, as in 0,4KiB\n",
              MOST_MESSAGE);
    } else {
      fprintf(stderr, "calibrate: '%s' is not known\n%s", words[i], usage);
    }
    return 0;
  }
  if (a->bytes == 0 && !a->messages)
    fprintf(stderr, "calibrate: give the bytes of a block, on the average, with --bytes\n");
  return a->bytes > 0 || a->messages;
}

/* ---- Times */

static double seconds_of(void (*work)(void*), void* with, int times) {
  const double start = MPI_Wtime();
  for (int i = 0; i < times; i++) work(with);
  return (MPI_Wtime() - start) / times;
}

/* Returns how often the work fits into `seconds` at the slowest rank. To time it, runs it `times` times. */
static int times_in(double seconds, void (*work)(void*), void* with, MPI_Comm comm, int times) {
  double once = seconds_of(work, with, times);
  MPI_Allreduce(MPI_IN_PLACE, &once, 1, MPI_DOUBLE, MPI_MAX, comm);
  return (int)fmin(seconds / fmax(once, 1e-9) + 1, 1 << 22);
}

/* Returns the seconds of one `work(with)`, repeated for about `seconds`: the median over several stretches of the
 * mean time in a stretch. All ranks of the communicator repeat it equally often. */
static double median_time(void (*work)(void*), void* with, MPI_Comm comm, double seconds) {
  enum { STRETCHES = 7 };
  const double stretch = fmax(seconds / STRETCHES, kSeen);
  work(with); /* so that all connections exist */
  const int few = times_in(stretch / 2, work, with, comm, 3);
  const int times = times_in(stretch, work, with, comm, few);
  double means[STRETCHES];
  for (int i = 0; i < STRETCHES; i++) means[i] = seconds_of(work, with, times);
  return median(means, STRETCHES);
}

/* A line fitted to times: at_zero + slope * x. Neither number is below 0. */
struct line {
  double at_zero, slope;
};

/* Returns the line through `points` points (x[i], times[i]) with the least squares of relative errors. */
static struct line line_through(const double* x, const double* times, int points) {
  double one = 0, first = 0, second = 0, time = 0, moment = 0; /* sums, weighted by 1 / time^2 */
  for (int i = 0; i < points; i++) {
    const double weight = 1 / (times[i] * times[i]);
    one += weight;
    first += weight * x[i];
    second += weight * x[i] * x[i];
    time += weight * times[i];
    moment += weight * times[i] * x[i];
  }
  const double slope = (one * moment - first * time) / (one * second - first * first);
  if (slope < 0) return (struct line){time / one, 0};
  const double at_zero = (time - slope * first) / one;
  if (at_zero < 0) return (struct line){0, moment / second};
  return (struct line){at_zero, slope};
}

/* ---- Rounds */

/* Ranks that send to each other at the same time. */
struct team {
  MPI_Comm comm; /* of the team; MPI_COMM_NULL at all other ranks */
  int* to;       /* ranks in `comm` to which this rank sends, in this order */
  int* from;     /* ranks in `comm` from which it receives, in this order */
  int peers;     /* the length of each list */
};

/* The parts of a round's time, in seconds. */
struct round {
  double at_zero;     /* a round of one empty message: alpha + shared * gap */
  double per_message; /* shared * gap */
  double per_byte;    /* shared * beta */
};

/* A round of a team: each rank sends this number of messages of `bytes` bytes. */
struct load {
  const struct team* team;
  int messages, bytes;
  char* buffer;
  MPI_Request* requests;
  MPI_Status* statuses; /* ignored; GCC warns of MPICH's constant for that in a call */
  int turn; /* index of the first peer, which changes each round, so that no peer is always first */
};

static void exchange(void* with) {
  struct load* load = with;
  const struct team* team = load->team;
  const size_t bytes = (size_t)load->bytes;
  const int messages = load->messages;
  char *in = load->buffer, *out = in + (size_t)messages * bytes;
  MPI_Request* request = load->requests;
  for (int i = 0; i < messages; i++, in += bytes)
    MPI_Irecv(in, load->bytes, MPI_BYTE, team->from[(load->turn + i) % team->peers], 0, team->comm,
              request++);
  for (int i = 0; i < messages; i++, out += bytes)
    MPI_Isend(out, load->bytes, MPI_BYTE, team->to[(load->turn + i) % team->peers], 0, team->comm,
              request++);
  MPI_Waitall(2 * messages, load->requests, load->statuses);
  load->turn = (load->turn + 1) % team->peers;
}

/* Returns the seconds of a round at the team's slowest rank, or 0 at ranks outside the team. */
static double time_of(const struct team* team, int messages, int bytes, double seconds) {
  if (team->comm == MPI_COMM_NULL) return 0;
  struct load load = {team, messages, bytes, NULL, NULL, MPI_STATUSES_IGNORE, 0};
  load.buffer = allocate("calibrate", 2 * (size_t)messages * (size_t)bytes + 1, 1);
  load.requests = allocate("calibrate", 2 * (size_t)messages, sizeof *load.requests);
  double time = median_time(exchange, &load, team->comm, seconds);
  MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, team->comm);
  free(load.buffer);
  free(load.requests);
  return time;
}

/* Gives all ranks the values, which are 0 where they are not known. Ranks that wait sleep, and so free their core. */
static void share(double* values, int count) {
  const struct timespec nap = {0, 200000};
  MPI_Request measured;
  int done = 0;
  MPI_Ibarrier(MPI_COMM_WORLD, &measured);
  for (;;) {
    MPI_Test(&measured, &done, MPI_STATUS_IGNORE);
    if (done) break;
    nanosleep(&nap, NULL);
  }
  MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

/* Returns the seconds of a round of 16 messages of 16 KiB at the slowest rank. Other ranks than the team's sleep. */
static double measure_burst(const struct team* team, double seconds) {
  enum { MESSAGES = 16 };
  double of_passes[PASSES];
  for (int pass = 0; pass < PASSES; pass++)
    of_passes[pass] = time_of(team, MESSAGES, LONGEST_OF_MANY, seconds / PASSES);
  double time = median(of_passes, PASSES);
  share(&time, 1);
  return time;
}

/* Returns the seconds of a round of one message of `bytes` bytes, measured likewise. */
static double measure_message(const struct team* team, int bytes, double seconds) {
  double time = time_of(team, 1, bytes, seconds);
  share(&time, 1);
  return time;
}

/* Returns the parts of a round's time, measured likewise. Times each load for about `seconds`. In rounds of many
 * messages, these have `bytes` bytes, at most 16 KiB. */
static struct round measure_round(const struct team* team, int bytes, double seconds) {
  const int of_many = bytes < LONGEST_OF_MANY ? bytes : LONGEST_OF_MANY;
  double sizes[SIZES], numbers[NUMBERS], times[SIZES + NUMBERS], of_passes[SIZES + NUMBERS][PASSES];
  for (int i = 0; i < SIZES; i++) sizes[i] = SMALLEST << 2 * i;
  for (int i = 0; i < NUMBERS; i++) numbers[i] = 1 << 2 * i;
  for (int pass = 0; pass < PASSES; pass++) {
    for (int i = 0; i < SIZES; i++)
      of_passes[i][pass] = time_of(team, 1, SMALLEST << 2 * i, seconds / PASSES);
    for (int i = 0; i < NUMBERS; i++)
      of_passes[SIZES + i][pass] = time_of(team, 1 << 2 * i, of_many, seconds / PASSES);
  }
  for (int i = 0; i < SIZES + NUMBERS; i++) times[i] = median(of_passes[i], PASSES);
  share(times, SIZES + NUMBERS);
  const struct line by_size = line_through(sizes, times, SIZES);
  const struct line by_number = line_through(numbers, times + SIZES, NUMBERS);
  const double more = fmax(0, by_number.slope - of_many * by_size.slope);
  const double gap = fmin(more, by_size.at_zero);
  return (struct round){by_size.at_zero, gap, by_size.slope + (more - gap) / of_many};
}

/* Returns whether a send of this length completes before its receive is posted. Both ends return the same. */
static int leaves(int is_sender, int other, char* buffer, int bytes) {
  enum { DATA, TOKEN };
  MPI_Request sent;
  int gone = 0;
  if (is_sender) MPI_Isend(buffer, bytes, MPI_BYTE, other, DATA, MPI_COMM_WORLD, &sent);
  MPI_Sendrecv(NULL, 0, MPI_BYTE, other, TOKEN, NULL, 0, MPI_BYTE, other, TOKEN, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  if (is_sender) {
    MPI_Test(&sent, &gone, MPI_STATUS_IGNORE);
    MPI_Send(&gone, 1, MPI_INT, other, TOKEN, MPI_COMM_WORLD);
    if (!gone) MPI_Wait(&sent, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&gone, 1, MPI_INT, other, TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(buffer, bytes, MPI_BYTE, other, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return gone;
}

/* Returns the bytes of the longest message, a power of two up to 4 MiB, whose send completes before its receive is
 * posted, or 0 if there is none. All ranks except these two sleep. */
static int measure_eager(int sender, int receiver) {
  enum { MOST_EAGER = 1 << 22 };
  double eager = 0;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == sender || rank == receiver) {
    char* buffer = allocate("calibrate", MOST_EAGER, 1);
    const int other = rank == sender ? receiver : sender;
    for (int bytes = 1; bytes <= MOST_EAGER && leaves(rank == sender, other, buffer, bytes);
         bytes *= 2)
      eager = bytes;
    free(buffer);
  }
  share(&eager, 1);
  return (int)eager;
}

/* ---- Copies of blocks into a message or out of one. As in the library, they look up each block's address. */

enum { FEWEST = 64, MOST = FEWEST << (NUMBERS - 1), BYTES = 8 };

static double mean_time(void (*work)(void*), void* with, double seconds) {
  work(with);
  const double start = MPI_Wtime();
  double elapsed = 0;
  int calls = 0;
  for (; calls < 5 || elapsed < seconds; calls++) {
    work(with);
    elapsed = MPI_Wtime() - start;
  }
  return elapsed / calls;
}

struct block {
  char* address;
  size_t bytes;
};

/* A message of `count` blocks. */
struct message {
  int count;
  struct block sent[MOST], received[MOST];
  char together[MOST * BYTES], blocks[2 * MOST * BYTES];
};

static void fill_and_empty(void* with) {
  struct message* m = with;
  char* next = m->together;
  for (int i = 0; i < m->count; next += m->sent[i++].bytes)
    memcpy(next, m->sent[i].address, m->sent[i].bytes);
  next = m->together;
  for (int i = 0; i < m->count; next += m->received[i++].bytes)
    memcpy(m->received[i].address, next, m->received[i].bytes);
}

/* Returns the mean seconds to fill and to empty a message of this many blocks. */
static double copy_time(int blocks, double seconds) {
  static struct message message;
  message.count = blocks;
  for (int i = 0; i < blocks; i++) {
    message.sent[i] = (struct block){message.blocks + i * BYTES, BYTES};
    message.received[i] = (struct block){message.blocks + (MOST + i) * BYTES, BYTES};
  }
  return mean_time(fill_and_empty, &message, seconds);
}

/* Returns the slowest rank's seconds to copy a small block into or out of a message. All ranks copy. */
static double measure_copy(double seconds) {
  double numbers[NUMBERS], times[NUMBERS];
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < NUMBERS; i++) {
    numbers[i] = FEWEST << i;
    times[i] = copy_time(FEWEST << i, seconds);
  }
  double copy = line_through(numbers, times, NUMBERS).slope / 2;
  MPI_Allreduce(MPI_IN_PLACE, &copy, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return copy;
}

/* Returns the seconds to copy one byte of a large block, measured likewise; 0 if the clock does not see it. */
static double measure_copied_byte(double seconds) {
  enum {
    AREA = 1 << 22
  }; /* bytes: more than the cache of a core, as with blocks that a program has just made */
  char *const from = allocate("calibrate", AREA, 1), *const to = allocate("calibrate", AREA, 1);
  memcpy(to, from, AREA);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  double copied = 0, elapsed = 0, least = 0;
  do {
    from[(size_t)copied % (AREA - 1)] ^= to[AREA / 2];
    memcpy(to, from, AREA);
    copied += AREA;
    elapsed = MPI_Wtime() - start;
    least = kLeastPerByte * copied; /* in a simulation copies take no time */
  } while (elapsed < seconds && elapsed > least);
  double byte = elapsed > least ? elapsed / copied : 0;
  MPI_Allreduce(MPI_IN_PLACE, &byte, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  free(from);
  free(to);
  return byte;
}

/* ---- Nodes and teams */

/* Which rank is on which node. A node is named by its lowest rank. */
struct nodes {
  int rank, ranks;
  int* node_of;           /* the node of each rank */
  int* local_of;          /* the number of each rank on its node, from 0 on */
  int* size_of;           /* the ranks of each node; 0 for ranks that name no node */
  int most, next_to_most; /* ranks of the two largest nodes; 0 if there is no second */
};

static int* numbers(int count) { return allocate("calibrate", (size_t)count, sizeof(int)); }

static void find_nodes(struct nodes* n) {
  MPI_Comm_rank(MPI_COMM_WORLD, &n->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n->ranks);
  n->node_of = numbers(n->ranks);
  n->local_of = numbers(n->ranks);
  n->size_of = numbers(n->ranks);
  qd_gather_nodes(MPI_COMM_WORLD, n->rank, n->node_of);
  for (int r = 0; r < n->ranks; r++) n->local_of[r] = n->size_of[n->node_of[r]]++;
  for (int r = 0; r < n->ranks; r++) {
    const int size = n->size_of[r], more = size > n->most;
    if (more) n->next_to_most = n->most;
    if (more) n->most = size;
    if (!more && size > n->next_to_most) n->next_to_most = size;
  }
}

/* Finds the partners of this rank's node. Of k nodes with `senders` ranks or more, each sends to the one k/2 on. */
static void find_partners(const struct nodes* n, int senders, int* to, int* from) {
  int* nodes = numbers(n->ranks);
  int count = 0, at = 0;
  for (int r = 0; r < n->ranks; r++) {
    if (n->size_of[r] < senders) continue;
    if (r == n->node_of[n->rank]) at = count;
    nodes[count++] = r;
  }
  if (count == 0) nodes[count++] = n->rank; /* never: this rank's node is among them */
  *to = nodes[(at + count / 2) % count];
  *from = nodes[(at + count - count / 2) % count];
  free(nodes);
}

static int rank_at(const struct nodes* n, int node, int local) {
  int rank = 0;
  while (n->node_of[rank] != node || n->local_of[rank] != local) rank++;
  return rank;
}

/* Turns ranks of MPI_COMM_WORLD into ranks of another communicator. */
static void translate(int* ranks, int count, MPI_Comm comm) {
  int* translated = numbers(count);
  MPI_Group all, members;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Comm_group(comm, &members);
  MPI_Group_translate_ranks(all, count, ranks, members, translated);
  MPI_Group_free(&all);
  MPI_Group_free(&members);
  memcpy(ranks, translated, (size_t)count * sizeof *ranks);
  free(translated);
}

enum scope { BETWEEN, INSIDE };

/* Makes a team. INSIDE: up to `senders` ranks of each node, which all send to each other. BETWEEN: `senders` ranks of
 * each node that has as many. Each sends to as many ranks of another node, first to the one of its own number. */
static struct team team_of(const struct nodes* n, enum scope scope, int senders) {
  const int node = n->node_of[n->rank], local = n->local_of[n->rank], size = n->size_of[node];
  const int inside = scope == INSIDE, circle = inside && size < senders ? size : senders;
  const int member = local < circle && (inside ? circle > 1 : size >= senders);
  struct team team = {.peers = member ? circle - inside : 0};
  MPI_Comm_split(MPI_COMM_WORLD, member ? 0 : MPI_UNDEFINED, n->rank, &team.comm);
  if (!member) return team;
  int to = node, from = node;
  if (!inside) find_partners(n, senders, &to, &from);
  team.to = numbers(team.peers);
  team.from = numbers(team.peers);
  for (int i = 0; i < team.peers; i++) {
    team.to[i] = rank_at(n, to, (local + i + inside) % circle);
    team.from[i] = rank_at(n, from, (local + circle - i - inside) % circle);
  }
  translate(team.to, team.peers, team.comm);
  translate(team.from, team.peers, team.comm);
  return team;
}

static void disband(struct team* team) {
  if (team->comm != MPI_COMM_NULL) MPI_Comm_free(&team->comm);
  free(team->to);
  free(team->from);
}

/* Times each load for `seconds`, and disbands the team. Returns 0 if long messages take no longer than short ones. */
static int measure(struct team team, const struct arguments* a, double seconds,
                   struct round* round) {
  *round = measure_round(&team, (int)a->bytes, seconds);
  disband(&team);
  return round->at_zero > 0 && round->per_byte > kLeastPerByte;
}

static double burst(struct team team, double seconds) {
  const double time = measure_burst(&team, seconds);
  disband(&team);
  return time;
}

/* Returns whether the ranks of a node share its port, or its memory. If they do, a burst of k times as many senders
 * takes k times as long; otherwise it takes no longer. The answer is the nearer case. Only bursts fill a port. */
static int shares_port(const struct nodes* n, enum scope scope, int many, int few, double seconds) {
  const double long_ones = burst(team_of(n, scope, many), seconds);
  return long_ones >= sqrt((double)many / few) * burst(team_of(n, scope, few), seconds);
}

/* The values of the flags, in seconds. */
struct values {
  double alpha, beta, gap, alpha_inside, beta_inside, gap_inside, beta_alone, copy, beta_copy;
  int eager;  /* bytes */
  int shares; /* whether the ranks of a node share its port */
};

/* Sets the flags from a round in which `sharing` ranks share the port or the memory. */
static void values_of(struct round round, int sharing, double* alpha, double* beta, double* gap) {
  *gap = round.per_message / sharing;
  *alpha = round.at_zero - round.per_message;
  *beta = round.per_byte / sharing;
}

/* Returns the first rank that is not on rank 0's node, or rank 1 if there is none. */
static int first_of_another(const struct nodes* n) {
  for (int r = 1; r < n->ranks; r++)
    if (n->node_of[r] != n->node_of[0]) return r;
  return 1;
}

/* Measures all values. Returns 0, on all ranks, if the times are useless. */
static int calibrate(const struct nodes* n, const struct arguments* a, struct values* v) {
  const int pairs = n->next_to_most, own = n->most;
  const int rounds = (pairs > 0) + (own > 1) + (own > 2);
  struct round outer = {0}, inner = {0}, two = {0};
  int told = 1;
  const double seconds = a->seconds / (LOADS_OF_ROUND * rounds + LOADS_OF_PORT + LOADS_OF_COPY);
  if (pairs > 0) told &= measure(team_of(n, BETWEEN, pairs), a, seconds, &outer);
  if (own > 1) told &= measure(team_of(n, INSIDE, own), a, seconds, &inner);
  *v = (struct values){.shares = 1};
  if (own > 2) told &= measure(team_of(n, INSIDE, 2), a, seconds, &two);
  if (pairs > 1)
    v->shares = shares_port(n, BETWEEN, pairs, 1, seconds);
  else if (own > 2)
    v->shares = shares_port(n, INSIDE, own, 2, seconds);
  values_of(outer, v->shares && pairs > 0 ? pairs : 1, &v->alpha, &v->beta, &v->gap);
  values_of(inner, v->shares ? own : 1, &v->alpha_inside, &v->beta_inside, &v->gap_inside);
  v->beta_alone = own > 2 ? two.per_byte : inner.per_byte;
  v->eager = measure_eager(0, first_of_another(n));
  v->copy = measure_copy(seconds);
  v->beta_copy = measure_copied_byte(seconds);
  return told;
}

static long long whole(double value, double unit) { return value > 0 ? llround(value / unit) : 0; }

static void print(const struct nodes* n, const struct arguments* a, const struct values* v) {
  const double ns = 1e-9, ps = 1e-12;
  printf("--bytes %lld ", (long long)a->bytes);
  if (n->next_to_most > 0)
    printf("--alpha %lldns --beta %lldps --gap %lldns ", whole(v->alpha, ns), whole(v->beta, ps),
           whole(v->gap, ns));
  else
    fprintf(stderr,
            "calibrate: all ranks are on one node, so what messages take between nodes could not "
            "be measured: no --alpha, no --beta, no --gap\n");
  if (n->most > 1)
    printf("--alpha-inside %lldns --beta-inside %lldps --gap-inside %lldns --beta-alone %lldps ",
           whole(v->alpha_inside, ns), whole(v->beta_inside, ps), whole(v->gap_inside, ns),
           whole(v->beta_alone, ps));
  else
    fprintf(stderr,
            "calibrate: no node has two ranks, so what messages take inside could not be measured: "
            "no --alpha-inside, no --beta-inside, no --gap-inside, no --beta-alone\n");
  printf("--copy %lldns --beta-copy %lldps --eager %d --port %s\n", whole(v->copy, ns),
         whole(v->beta_copy, ps), v->eager, v->shares ? "node" : "rank");
}

/* Prints one line for each length: the time of a message between the first rank and the last. */
static void print_messages(const struct nodes* n, const struct arguments* a) {
  int other = n->rank == 0;
  struct team ends = {.to = &other, .from = &other, .peers = 1};
  const int member = n->rank == 0 || n->rank == n->ranks - 1;
  MPI_Comm_split(MPI_COMM_WORLD, member ? 0 : MPI_UNDEFINED, n->rank, &ends.comm);
  for (const char* rest = a->messages; rest;) {
    const int64_t bytes = next_length(&rest);
    const double time = measure_message(&ends, (int)bytes, a->seconds / 10);
    if (n->rank == 0) printf("message %lld %.12e\n", (long long)bytes, time);
  }
  if (member) MPI_Comm_free(&ends.comm);
}

/* Measures and prints. Returns the program's exit code. */
static int run(const struct arguments* a) {
  struct nodes n = {0};
  struct values v = {0};
  const char* problem = NULL;
  find_nodes(&n);
  if (n.ranks < 2)
    problem =
        "one rank has none to send to; start two or more with mpirun, best on two nodes or more";
  else if (a->messages)
    print_messages(&n, a);
  else if (!calibrate(&n, a, &v))
    problem =
        "times were too unsteady: long messages took no longer than short ones; measure while the "
        "machine has nothing else to do, with a core for each rank, or for longer, with --seconds";
  else if (n.rank == 0)
    print(&n, a, &v);
  if (problem && n.rank == 0) fprintf(stderr, "calibrate: %s\n", problem);
  free(n.node_of);
  free(n.local_of);
  free(n.size_of);
  return problem ? 2 : 0;
}

int main(int argc, char** argv) {
  struct arguments a;
  if (wants_help(argc, argv, usage)) return 0;
  if (!parse(argc, argv, &a)) return 2;
  MPI_Init(&argc, &argv);
  const int code = started_by_another("calibrate") ? 2 : run(&a);
  MPI_Finalize();
  return code;
}
