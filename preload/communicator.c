/* Keeps the settings, rules and state of a communicator as its attribute. The first call on the communicator makes
 * it, without a message: in MPI_Init, the ranks of MPI_COMM_WORLD exchange their settings and nodes, and rank 0 reads
 * the rules for all. If settings differ, MPI serves all calls on all ranks. MPI_Init also makes the carrier, the
 * communicator on which the messages of all schedules travel. Tested by tests/preload/choice_test.sh and
 * corners_test.sh. */
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/interpose.h"
#include "preload/preload.h"
#include "runtime/execute/api.h"
#include "runtime/execute/datatypes.h"
#include "runtime/execute/nodes.h"

enum { CACHED = 8 };

static pthread_mutex_t communicators_lock = PTHREAD_MUTEX_INITIALIZER;
static int keyval = MPI_KEYVAL_INVALID;
unsigned preload_freed_so_far;
_Thread_local struct preload_recent preload_recent;
static int has_ended;
static MPI_Comm carrier = MPI_COMM_NULL; /* of all messages */

static _Thread_local struct {
  MPI_Comm comms[CACHED];
  struct preload_communicator* found[CACHED];
} cache;

static void forget_cached(void) { __atomic_add_fetch(&preload_freed_so_far, 1, __ATOMIC_RELAXED); }

/* ---- The end of a communicator. MPI deletes attributes in any order, and a delete function of the program may call
 * collectives on the communicator. If an operation still runs, MPICH deletes attributes later, for example in
 * MPI_Wait. So the state outlives its attribute. Meanwhile the library asks MPI for no attribute, since MPICH's list
 * has freed ones. If another thread gets the handle before MPI_Comm_free returns, that thread frees the state. */

struct preload_dying {
  MPI_Comm comm;
  struct preload_communicator* of; /* or NULL */
  int has_no_attributes;
  int is_left; /* MPI_Comm_free has returned */
  struct preload_dying* next;
};

static struct preload_dying* ending; /* under the lock */

static void free_state(struct preload_communicator* of) {
  const int was_inside = preload_is_inside;
  if (!of) return;
  preload_is_inside = 1;
  qd_close_channels(of->comm);
  preload_is_inside = was_inside;
  forget_cached();
  preload_learners_free(of);
  free(of->rules);
  free(of->bound);
  free(of->members.ranks);
  free(of->members.node_of);
  free(of);
}

/* Returns the link to the communicator in the list, or the list's last link. The caller holds the lock. */
static struct preload_dying** place_of(MPI_Comm comm) {
  struct preload_dying** place = &ending;
  while (*place && (*place)->comm != comm) place = &(*place)->next;
  return place;
}

static struct preload_dying* dying(MPI_Comm comm) {
  if (!__atomic_load_n(&ending, __ATOMIC_RELAXED)) return NULL;
  pthread_mutex_lock(&communicators_lock);
  struct preload_dying* const found = *place_of(comm);
  pthread_mutex_unlock(&communicators_lock);
  return found;
}

static int delete_communicator(MPI_Comm comm, int key, void* attribute, void* extra) {
  struct preload_dying* const found = dying(comm);
  (void)key, (void)extra;
  if (found)
    found->has_no_attributes = 1;
  else
    free_state(attribute);
  return MPI_SUCCESS;
}

static struct preload_dying* begin_to_leave(MPI_Comm comm, struct preload_communicator* of) {
  struct preload_dying* const made = malloc(sizeof *made);
  if (!made) qd_end_without_memory(MPI_COMM_WORLD);
  *made = (struct preload_dying){.comm = comm, .of = of};
  pthread_mutex_lock(&communicators_lock);
  made->next = ending;
  __atomic_store_n(&ending, made, __ATOMIC_RELAXED);
  pthread_mutex_unlock(&communicators_lock);
  return made;
}

/* Runs when MPI_Comm_free has returned. Keeps the state if MPI has not deleted the attributes yet. */
static void end_leaving(struct preload_dying* this, int code) {
  pthread_mutex_lock(&communicators_lock);
  struct preload_dying** place = &ending;
  while (*place && *place != this) place = &(*place)->next;
  const int is_taken = !*place;
  if (!is_taken && this->has_no_attributes) free_state(this->of); /* while the list still has it */
  const int lingers = !is_taken && !this->has_no_attributes && code == MPI_SUCCESS;
  if (!is_taken && !lingers) __atomic_store_n(place, this->next, __ATOMIC_RELEASE);
  this->is_left = 1;
  pthread_mutex_unlock(&communicators_lock);
  if (lingers)
    forget_cached();
  else
    free(this);
}

void preload_made(MPI_Comm comm) {
  struct preload_communicator* of = NULL;
  if (!__atomic_load_n(&ending, __ATOMIC_ACQUIRE)) return;
  pthread_mutex_lock(&communicators_lock);
  struct preload_dying **const place = place_of(comm), *const found = *place;
  if (found) {
    of = found->of;
    __atomic_store_n(place, found->next, __ATOMIC_RELAXED);
    if (found->is_left) free(found);
  }
  pthread_mutex_unlock(&communicators_lock);
  free_state(of);
}

void preload_forget_communicators(void) {
  has_ended = 1;
  forget_cached();
  if (carrier != MPI_COMM_NULL) PMPI_Comm_free(&carrier);
}

/* ---- What all ranks know after MPI_Init */

static void say(const char* text) { fprintf(stderr, "quadrille: %s\n", text); }

/* Prints the text to stderr unless *is_said is set, and sets it. So a process prints the text once. */
static void say_once(int* is_said, const char* text) {
  if (!__atomic_exchange_n(is_said, 1, __ATOMIC_RELAXED)) say(text);
}

static const char* driver_reason(int driver) {
  return driver == PRELOAD_ROCM ? "ROCm is loaded: buffers may be in device memory"
                                : "CUDA is loaded: buffers may be in device memory";
}

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
static struct preload_tags tags;
static const char* error; /* of this rank */

/* Returns whether a part of the program other than MPI names MPI's function that revokes communicators. MPI's parts
 * are libmpi*, libpmpi* and libopen*. */
static int has_revoke(struct dl_phdr_info* part, size_t size, void* unused) {
  static const char name[] = "MPIX_Comm_revoke";
  const char* strings = NULL;
  size_t length = 0;
  (void)size, (void)unused;
  if (strstr(part->dlpi_name, "/libmpi") || strstr(part->dlpi_name, "/libpmpi") ||
      strstr(part->dlpi_name, "/libopen"))
    return 0;
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
  char* const shared = own == 0 ? text : malloc((size_t)length);
  if (!shared) qd_end_without_memory(MPI_COMM_WORLD);
  PMPI_Bcast(shared, length, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (shared == text) return; /* rank 0 has taken them */
  preload_take_rules(shared, (size_t)length);
  free(shared);
}

void preload_know_world(void) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int *greatest = NULL, has_greatest = 0, unused = 0, nodes = 0;
  size_t length = 0;
  uint64_t no_trace = 0;
  PMPI_Get_library_version(version, &unused);
  preload_know_library(version, 1);
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
  for (int i = 0; i < ranks; i++)
    if (world[i].wishes[QD_NO_TRACE] > no_trace) no_trace = world[i].wishes[QD_NO_TRACE];
  if (no_trace > 1) qd_trace_refuse(no_trace, 0); /* a rank cannot write its trace */
  qd_gather_nodes(MPI_COMM_WORLD, own, node_of);
  for (int i = 0; i < ranks; i++) nodes += node_of[i] == i;
  preload_know_nodes(nodes);
  qd_private_communicator(MPI_COMM_WORLD, &carrier);
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &greatest, &has_greatest);
  tags = preload_tags_of(own, ranks, has_greatest ? *greatest : INT16_MAX, QD_TAGS);
  preload_report_begin();
}

struct preload_tags* preload_own_tags(void) {
  return &tags;
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
  if (speaks) say_once(is_said, text);
  if (speaks && preload_settings()->sums == PRELOAD_CANONICAL_SUMS)
    say_once(&said_sums, "so sums are MPI's own, and not canonical");
  return reason;
}

/* Finds the members, the nodes, and whether the communicator is watched. Returns why nothing is served, or NULL. */
static const char* meet_members(struct preload_communicator* of) {
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
  return sum.driver == PRELOAD_NO_DRIVER ? NULL : driver_reason(sum.driver);
}

/* ---- Making the attribute */

void preload_stop_serving(struct preload_communicator* of, const char* reason) {
  of->reason = reason;
  of->adapts = 0;
  memset(of->first, 0, sizeof of->first);
  memset(of->decisions, 0, sizeof of->decisions);
}

void preload_meet_driver(struct preload_communicator* of, int driver) {
  if (driver != PRELOAD_NO_DRIVER) preload_stop_serving(of, driver_reason(driver));
}

static void take_rules(struct preload_communicator* of) {
  const struct preload_settings* settings = preload_settings();
  int count = 0;
  for (int collective = 0; collective < PRELOAD_COLLECTIVE_COUNT; collective++) {
    of->first[collective] = count;
    of->asks_for_bytes[collective] = settings->mode == PRELOAD_LEARN;
    for (int i = 0; i < settings->rule_count; i++)
      if (settings->rules[i].collective == collective &&
          preload_shape_fits(&settings->rules[i], &of->shape)) {
        of->rules[count++] = &settings->rules[i];
        if (preload_asks_for_bytes(&settings->rules[i])) of->asks_for_bytes[collective] = 1;
      }
  }
  of->first[PRELOAD_COLLECTIVE_COUNT] = count;
}

/* Warns once, on rank 0 of MPI_COMM_WORLD, which writes the files when MPI ends. The warnings are about files that it
 * cannot write, about rules of other conditions, and about a variable that it does not know. */
static void warn(void) {
  static int is_done;
  char text[PRELOAD_TEXT];
  int world = 0;
  if (__atomic_exchange_n(&is_done, 1, __ATOMIC_RELAXED)) return;
  PMPI_Comm_rank(MPI_COMM_WORLD, &world);
  if (world != 0) return;
  for (int i = 0; preload_has_other_origin(i, text); i++) say(text);
  if (preload_loses_rules(text))
    fprintf(stderr, "quadrille: %s; what is learned will be lost\n", text);
  if (preload_loses_report(text)) say(text);
  if (preload_settings()->ignored[0])
    fprintf(stderr, "quadrille: %s is no setting of Quadrille, and is ignored\n",
            preload_settings()->ignored);
}

static struct preload_communicator* describe(MPI_Comm comm) {
  struct preload_communicator* of = calloc(1, sizeof *of);
  int inter = 0;
  if (!of) qd_end_without_memory(comm);
  of->comm = comm;
  of->tag = -1;
  PMPI_Comm_test_inter(comm, &inter);
  of->shape.groups = inter ? 2 : 1;
  PMPI_Comm_size(comm, &of->shape.ranks);
  PMPI_Comm_rank(comm, &of->rank);
  if (inter) PMPI_Comm_remote_size(comm, &of->shape.remote_ranks);
  return of;
}

static void fill(struct preload_communicator* of) {
  const struct preload_settings* settings = preload_settings();
  of->is_watched = settings->report != NULL;
  if (of->shape.ranks + of->shape.remote_ranks == 1)
    of->reason = "one rank";
  else
    of->reason = meet_members(of);
  if (of->reason) return;
  warn();
  of->rules = calloc((size_t)settings->rule_count + 1, sizeof *of->rules);
  of->bound = calloc((size_t)preload_schedule_count(), sizeof *of->bound);
  if (!of->rules || !of->bound) qd_end_without_memory(of->comm);
  of->adapts = settings->mode > PRELOAD_ON;
  take_rules(of);
}

static int is_usable(MPI_Comm comm) {
  int initialized = 0, finalized = 0;
  if (comm == MPI_COMM_NULL || has_ended) return 0;
  PMPI_Initialized(&initialized);
  PMPI_Finalized(&finalized);
  return initialized && !finalized;
}

/* Returns the key of the attribute. The first call makes it. */
static int key_of(MPI_Comm comm) {
  int code = MPI_SUCCESS;
  pthread_mutex_lock(&communicators_lock);
  if (keyval == MPI_KEYVAL_INVALID)
    code = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_communicator, &keyval, NULL);
  pthread_mutex_unlock(&communicators_lock);
  if (code != MPI_SUCCESS) qd_end_without_memory(comm);
  return keyval;
}

static struct preload_communicator* kept_communicator(MPI_Comm comm) {
  void* attribute = NULL;
  int found = 0;
  return is_usable(comm) &&
                 PMPI_Comm_get_attr(comm, key_of(comm), &attribute, &found) == MPI_SUCCESS && found
             ? attribute
             : NULL;
}

int preload_leave(int (*next)(MPI_Comm*), MPI_Comm* comm) {
  if (!comm || !is_usable(*comm) || dying(*comm)) return next(comm);
  struct preload_communicator* const of = kept_communicator(*comm);
  /* The library sees by this attribute when MPI deletes attributes. */
  if (!of) PMPI_Comm_set_attr(*comm, keyval, NULL);
  struct preload_dying* const this = begin_to_leave(*comm, of);
  const int code = next(comm);
  end_leaving(this, code);
  return code;
}

/* The cache keeps a communicator in one of two neighboring slots. */
struct preload_communicator* preload_communicator_of(MPI_Comm comm) {
  const uintptr_t bits = (uintptr_t)comm;
  const unsigned now = preload_freed();
  const unsigned home = (unsigned)(bits ^ bits >> 4 ^ bits >> 9) % CACHED;
  if (preload_recent.freed != now) {
    memset(&cache, 0, sizeof cache);
    preload_recent = (struct preload_recent){.freed = now};
  }
  unsigned slot = cache.comms[home] == comm ? home : home ^ 1;
  if (!cache.found[slot] || cache.comms[slot] != comm) {
    const struct preload_dying* const end = dying(comm);
    if (end) return end->of;
    slot = cache.found[home] == preload_recent.of ? home ^ 1 : home; /* two calls alternate */
    cache.found[slot] = kept_communicator(comm);
    cache.comms[slot] = comm;
  }
  preload_recent.comm = comm;
  return preload_recent.of = cache.found[slot];
}

/* Returns the role of this rank in a call. */
static enum qd_role role_of(const struct preload_communicator* of,
                            const struct qd_arguments* given) {
  return qd_role_of(given->function, of->shape.groups == 2, of->rank, given->root, given->send.base,
                    given->receive.base);
}

struct preload_communicator* preload_meet(MPI_Comm comm, struct qd_arguments* given) {
  struct preload_communicator* of = preload_communicator_of(comm);
  if (of) given->role = role_of(of, given);
  if (of || !is_usable(comm)) return of;
  of = describe(comm);
  given->role = role_of(of, given);
  struct preload_dying* const end = dying(comm);
  /* Without the attribute, this rank would forget the agreements, and then wait for the others forever. */
  if (end)
    end->of = of;
  else if (PMPI_Comm_set_attr(comm, keyval, of) != MPI_SUCCESS)
    qd_end_without_memory(comm);
  fill(of);
  return of;
}
