/* Exchanges the settings and nodes of all ranks of MPI_COMM_WORLD in MPI_Init. So the ranks of a later communicator
 * agree without a message. Rank 0 reads the rules for all. MPI_Init also makes the carrier, the communicator on which
 * the messages of all schedules travel. Tested by tests/preload/choice_test.sh and corners_test.sh. */
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "preload/interpose.h"
#include "preload/preload.h"
#include "runtime/execute/datatypes.h"
#include "runtime/execute/nodes.h"

/* What a rank tells all others. */
struct told {
  uint64_t hash; /* of its settings */
  int has_report, has_error, revokes;
  int driver; /* enum preload_driver */
  int rules;  /* rank 0 alone: bytes of the rules that it has read; 0 elsewhere */
  uint64_t wishes[QD_WISHES];
};

static struct told* world; /* by rank; NULL before MPI_Init */
static int* node_of;       /* by rank: the lowest rank on the node */
static int ranks, own;
static MPI_Comm carrier = MPI_COMM_NULL; /* of all messages */
static struct preload_tags tags;
static const char* error; /* of this rank */

/* Returns whether a part of the program other than MPI names MPI's function that revokes communicators. */
static int has_revoke(struct dl_phdr_info* part, size_t size, void* unused) {
  static const char name[] = "MPIX_Comm_revoke";
  const char* strings = NULL;
  size_t length = 0;
  (void)size, (void)unused;
  if (strstr(part->dlpi_name, "/libmpi")) return 0;
  for (int i = 0; i < part->dlpi_phnum; i++) {
    if (part->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const ElfW(Dyn)* d = (const ElfW(Dyn)*)(part->dlpi_addr + part->dlpi_phdr[i].p_vaddr);
    for (; d->d_tag != DT_NULL; d++) {
      if (d->d_tag == DT_STRTAB) strings = (const char*)d->d_un.d_ptr;
      if (d->d_tag == DT_STRSZ) length = d->d_un.d_val;
    }
  }
  /* The dynamic linker has made an address of the offset, except in the part that the kernel provides. */
  return (uintptr_t)strings > part->dlpi_addr && memmem(strings, length, name, sizeof name) != NULL;
}

/* Tells all ranks what this rank brings. Others wait here for a rank without this library. The wait reports that. */
static void tell(size_t rules) {
  const struct preload_settings* const settings = preload_settings();
  MPI_Request request;
  const char* const file = own == 0 ? preload_unfollowed_file() : "";
  error = settings->error[0] ? settings->error : file;
  struct told mine = {.hash = settings->hash,
                      .has_report = settings->report != NULL,
                      .has_error = error[0] != 0,
                      .revokes = dl_iterate_phdr(has_revoke, NULL),
                      .driver = (int)preload_loaded_driver(),
                      .rules = error[0] ? 0 : (int)rules};
  qd_wish(mine.wishes);
  PMPI_Iallgather(&mine, sizeof mine, MPI_BYTE, world, sizeof mine, MPI_BYTE, MPI_COMM_WORLD,
                  &request);
  qd_wait_for_library(&request);
}

/* Gives all ranks the rules that rank 0 has read. Another job may replace the file before other ranks read it. */
static void share_rules(char* text, int length) {
  if (own != 0 && !(text = malloc((size_t)length))) qd_end_without_memory(MPI_COMM_WORLD);
  PMPI_Bcast(text, length, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (own == 0) return;
  preload_take_rules(text, (size_t)length);
  free(text);
}

void preload_know_world(void) {
  int *greatest = NULL, has_greatest = 0;
  size_t length = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &own);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  world = calloc((size_t)ranks, sizeof *world);
  node_of = calloc((size_t)ranks, sizeof *node_of);
  if (!world || !node_of) qd_end_without_memory(MPI_COMM_WORLD);
  char* const rules = own == 0 ? preload_read_own_rules(&length) : NULL;
  tell(length);
  if (world[0].rules > 0) {
    share_rules(rules, world[0].rules);
    tell(0);
  }
  free(rules);
  qd_gather_nodes(MPI_COMM_WORLD, own, node_of);
  qd_private_communicator(MPI_COMM_WORLD, &carrier);
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &greatest, &has_greatest);
  tags = preload_tags_of(own, ranks, has_greatest ? *greatest : INT16_MAX, QD_TAGS);
  preload_report_begin();
  if (own == 0) preload_save_begin();
}

struct preload_tags* preload_own_tags(void) {
  return &tags;
}

void preload_forget_world(void) {
  if (carrier != MPI_COMM_NULL) PMPI_Comm_free(&carrier);
}

/* Sets `members` to the ranks that a group's members have in MPI_COMM_WORLD. Returns 0 if one is from elsewhere. */
static int find_members(MPI_Group group, int count, int* members) {
  int* const all = malloc((size_t)count * sizeof *all);
  int are_known = 1;
  MPI_Group whole;
  if (!all) qd_end_without_memory(MPI_COMM_WORLD);
  for (int i = 0; i < count; i++) all[i] = i;
  PMPI_Comm_group(MPI_COMM_WORLD, &whole);
  PMPI_Group_translate_ranks(group, count, all, whole, members);
  PMPI_Group_free(&whole);
  PMPI_Group_free(&group);
  for (int i = 0; i < count; i++) are_known &= members[i] != MPI_UNDEFINED;
  free(all);
  return are_known;
}

/* Numbers the members. The group whose first has the lower rank comes first. Returns 0 if one is from elsewhere. */
static int find_all_members(const struct preload_communicator* of, struct qd_members* all) {
  const int own_count = of->shape.ranks, other_count = of->shape.remote_ranks;
  int *const found = all->ranks, *const space = all->node_of;
  MPI_Group group;
  PMPI_Comm_group(of->comm, &group);
  all->own = of->rank;
  if (!find_members(group, own_count, found)) return 0;
  if (other_count == 0) return 1;
  PMPI_Comm_remote_group(of->comm, &group);
  if (!find_members(group, other_count, found + own_count)) return 0;
  if (found[0] < found[own_count]) return 1;
  memcpy(space, found, (size_t)own_count * sizeof *found);
  memmove(found, found + own_count, (size_t)other_count * sizeof *found);
  memcpy(found + other_count, space, (size_t)own_count * sizeof *found);
  all->own += other_count;
  return 1;
}

static void find_nodes(const struct qd_members* all) {
  int* const first = calloc((size_t)ranks, sizeof *first); /* number on the node, plus 1 */
  if (!first) qd_end_without_memory(MPI_COMM_WORLD);
  for (int i = 0; i < all->count; i++) {
    int* const one = &first[node_of[all->ranks[i]]];
    if (*one == 0) *one = i + 1;
    all->node_of[i] = *one - 1;
  }
  free(first);
}

/* What the members of a communicator have told, combined. */
struct sum {
  int first_error; /* the first rank with an error, or that many ranks */
  int are_different, has_report, driver, revokes;
};

static void add(struct sum* sum, struct qd_members* all, int rank) {
  const struct told* one = &world[rank];
  if (one->has_error && rank < sum->first_error) sum->first_error = rank;
  sum->are_different |= one->hash != world[own].hash;
  sum->has_report |= one->has_report;
  sum->revokes |= one->revokes;
  if (one->driver > sum->driver) sum->driver = one->driver;
  for (int i = 0; i < QD_WISHES; i++)
    if (one->wishes[i] > all->wishes[i]) all->wishes[i] = one->wishes[i];
}

/* Prints why nothing is served, if `speaks`. Returns the reason. */
static const char* refuse(int speaks, int* is_said, const char* text, const char* reason) {
  static int said_sums;
  if (speaks) preload_say_once(is_said, text);
  if (speaks && preload_settings()->sums == PRELOAD_CANONICAL_SUMS)
    preload_say_once(&said_sums, "so sums are MPI's own, and not canonical");
  return reason;
}

const char* preload_agree(struct preload_communicator* of) {
  static int said_error, said_different;
  struct preload_shape* const shape = &of->shape;
  struct qd_members* const all = &of->members;
  struct sum sum = {.first_error = ranks};
  if (!world) return "MPI_Init was not called";
  const int count = all->count = shape->ranks + shape->remote_ranks;
  all->carrier = carrier;
  all->ranks = malloc((size_t)count * sizeof *all->ranks);
  all->node_of = calloc(2 * (size_t)count, sizeof *all->node_of);
  if (!all->ranks || !all->node_of) qd_end_without_memory(MPI_COMM_WORLD);
  if (!find_all_members(of, all)) return "it has processes from outside MPI_COMM_WORLD";
  for (int i = 0; i < count; i++) add(&sum, all, all->ranks[i]);
  find_nodes(all);
  if (shape->groups == 1)
    qd_measure_nodes(all->node_of, count, all->node_of + count, &shape->nodes, &shape->least,
                     &shape->most);
  if (sum.revokes) return "the program can revoke communicators";
  if (world[0].has_error) sum.first_error = 0;
  of->is_watched = sum.has_report;
  if (sum.first_error < ranks)
    return refuse(sum.first_error == own, &said_error, error, "settings are wrong");
  if (sum.are_different)
    return refuse(of->rank == 0, &said_different,
                  "ranks have different QUADRILLE variables or rules; MPI's own collectives are "
                  "used where they meet",
                  "ranks have different settings");
  return sum.driver == PRELOAD_NO_DRIVER ? NULL : preload_driver_reason(sum.driver);
}
