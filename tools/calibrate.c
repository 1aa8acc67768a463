/* mpirun -n RANKS calibrate: measures the machine for `generate --algorithm auto` and prints its flags: --bytes,
 * --alpha, --beta, --gap, these three inside a node, --beta-alone, --copy, --beta-copy, --eager, --port.
 *
 * simulate/machine.h says what the flags mean. All ranks send at once, as in an all-to-all: first to another node of
 * as many ranks, then inside their own node. A second measurement with few ranks shows whether the ranks of a node
 * share a port. Exit codes: 0 done, 2 bad input, or ranks that cannot be measured. */
#include "tools/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/quantity.h"
#include "tools/launcher.h"

static const char usage[] =
    "usage: mpirun -n RANKS quadrille calibrate --bytes SIZE [options]\n"
    "Measures this machine and prints the flags for `generate --algorithm auto` and "
    "`show --explain`.\n"
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

static const double kLeastPerByte = 1e-13; /* seconds: 10 TB/s */
enum { LOADS_OF_PORT = 2, MOST_SECONDS = 3600, MOST_MESSAGE = 1 << 30 };

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

/* Which rank is on which node. A node is named by its lowest rank. */
struct nodes {
  int rank, ranks;
  int* node_of;           /* the node of each rank */
  int* local_of;          /* the number of each rank on its node, from 0 on */
  int* size_of;           /* the ranks of each node; 0 for ranks that name no node */
  int most, next_to_most; /* ranks of the two largest nodes; 0 if there is no second */
};

static int* numbers(int count) {
  int* result = calloc((size_t)count, sizeof *result);
  if (!result) quadrille_calibration_fails("out of memory");
  return result;
}

/* Sets node_of on all ranks. The ranks of a node are those that share memory. */
static void tell_nodes(struct nodes* n) {
  MPI_Comm node;
  int lowest = n->rank;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, n->rank, MPI_INFO_NULL, &node);
  MPI_Bcast(&lowest, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  MPI_Allgather(&lowest, 1, MPI_INT, n->node_of, 1, MPI_INT, MPI_COMM_WORLD);
}

static void find_nodes(struct nodes* n) {
  MPI_Comm_rank(MPI_COMM_WORLD, &n->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n->ranks);
  n->node_of = numbers(n->ranks);
  n->local_of = numbers(n->ranks);
  n->size_of = numbers(n->ranks);
  tell_nodes(n);
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
static struct quadrille_team team_of(const struct nodes* n, enum scope scope, int senders) {
  const int node = n->node_of[n->rank], local = n->local_of[n->rank], size = n->size_of[node];
  const int inside = scope == INSIDE, circle = inside && size < senders ? size : senders;
  const int member = local < circle && (inside ? circle > 1 : size >= senders);
  struct quadrille_team team = {.peers = member ? circle - inside : 0};
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

static void disband(struct quadrille_team* team) {
  if (team->comm != MPI_COMM_NULL) MPI_Comm_free(&team->comm);
  free(team->to);
  free(team->from);
}

/* Times each load for `seconds`, and disbands the team. Returns 0 if long messages take no longer than short ones. */
static int measure(struct quadrille_team team, const struct arguments* a, double seconds,
                   struct quadrille_round* round) {
  *round = quadrille_measure_round(&team, (int)a->bytes, seconds);
  disband(&team);
  return round->at_zero > 0 && round->per_byte > kLeastPerByte;
}

static double burst(struct quadrille_team team, double seconds) {
  const double time = quadrille_measure_burst(&team, seconds);
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
static void values_of(struct quadrille_round round, int sharing, double* alpha, double* beta,
                      double* gap) {
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
  struct quadrille_round outer = {0}, inner = {0}, two = {0};
  int told = 1;
  const double seconds =
      a->seconds / (QUADRILLE_LOADS_OF_ROUND * rounds + LOADS_OF_PORT + QUADRILLE_LOADS_OF_COPY);
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
  v->eager = quadrille_measure_eager(0, first_of_another(n));
  v->copy = quadrille_measure_copy(seconds);
  v->beta_copy = quadrille_measure_copied_byte(seconds);
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
    fprintf(
        stderr,
        "calibrate: all ranks are on one node, so what messages take between nodes could not be "
        "measured: no --alpha, no --beta, no --gap\n");
  if (n->most > 1)
    printf("--alpha-inside %lldns --beta-inside %lldps --gap-inside %lldns --beta-alone %lldps ",
           whole(v->alpha_inside, ns), whole(v->beta_inside, ps), whole(v->gap_inside, ns),
           whole(v->beta_alone, ps));
  else
    fprintf(
        stderr,
        "calibrate: no node has two ranks, so what messages take inside could not be measured: no "
        "--alpha-inside, no --beta-inside, no --gap-inside, no --beta-alone\n");
  printf("--copy %lldns --beta-copy %lldps --eager %d --port %s\n", whole(v->copy, ns),
         whole(v->beta_copy, ps), v->eager, v->shares ? "node" : "rank");
}

/* Prints one line for each length: the time of a message between the first rank and the last. */
static void print_messages(const struct nodes* n, const struct arguments* a) {
  int other = n->rank == 0;
  struct quadrille_team ends = {.to = &other, .from = &other, .peers = 1};
  const int member = n->rank == 0 || n->rank == n->ranks - 1;
  MPI_Comm_split(MPI_COMM_WORLD, member ? 0 : MPI_UNDEFINED, n->rank, &ends.comm);
  for (const char* rest = a->messages; rest;) {
    const int64_t bytes = next_length(&rest);
    const double time = quadrille_measure_message(&ends, (int)bytes, a->seconds / 10);
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
  if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
    printf("%s", usage);
    return 0;
  }
  if (!parse(argc, argv, &a)) return 2;
  MPI_Init(&argc, &argv);
  const int code = started_by_another("calibrate") ? 2 : run(&a);
  MPI_Finalize();
  return code;
}
