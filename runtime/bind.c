/* Binding a schedule to a communicator: agreement, layout, plan, and the attribute that keeps
 * them.
 *
 * Every rank enters the agreement, also one that has no schedule, so that all return the same error
 * and none waits. What follows is computed by all ranks from the same data; agreements before and
 * after it cover what can differ: memory, and where in a broken schedule the error is. Tested by
 * tests/mpi/binding_test.cc and memory_test.cc. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/internal.h"

static void destroy(struct quadrille_binding* binding) {
  pthread_mutex_lock(&quadrille_global.lock);
  if (binding->earlier) binding->earlier->later = binding->later;
  if (binding->later) binding->later->earlier = binding->earlier;
  if (quadrille_global.bindings == binding) quadrille_global.bindings = binding->later;
  pthread_mutex_unlock(&quadrille_global.lock);
  quadrille_flight_close(&binding->flight);
  quadrille_plan_destroy(&binding->plan);
  if (binding->comm != MPI_COMM_NULL) MPI_Comm_free(&binding->comm);
  quadrille_release(binding->loaded);
  free(binding->real);
  free(binding);
}

/* The communicator goes: so do its bindings. */
static int delete_bindings(MPI_Comm comm, int keyval, void* attribute, void* extra) {
  (void)comm, (void)keyval, (void)extra;
  for (struct quadrille_binding* binding = attribute; binding;) {
    struct quadrille_binding* next = binding->next;
    destroy(binding);
    binding = next;
  }
  return MPI_SUCCESS;
}

/* MPI_Finalize frees attributes of MPI_COMM_SELF first, while MPI still works: private
 * communicators of bindings to communicators that nobody freed go now. */
static int finalize(MPI_Comm comm, int keyval, void* attribute, void* extra) {
  (void)comm, (void)keyval, (void)attribute, (void)extra;
  for (struct quadrille_binding* binding = quadrille_global.bindings; binding;
       binding = binding->later)
    if (binding->comm != MPI_COMM_NULL) MPI_Comm_free(&binding->comm);
  return MPI_SUCCESS;
}

static int make_keyvals(void) {
  struct quadrille_global* g = &quadrille_global;
  if (__atomic_load_n(&g->has_keyvals, __ATOMIC_ACQUIRE)) return MPI_SUCCESS;
  pthread_mutex_lock(&g->lock);
  int code = MPI_SUCCESS;
  if (!g->has_keyvals) {
    code = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_bindings, &g->binding_keyval, NULL);
    if (code == MPI_SUCCESS)
      code = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalize, &g->finalizer_keyval, NULL);
    if (code == MPI_SUCCESS) code = MPI_Comm_set_attr(MPI_COMM_SELF, g->finalizer_keyval, NULL);
    __atomic_store_n(&g->has_keyvals, code == MPI_SUCCESS, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&g->lock);
  return code;
}

static struct quadrille_binding* first_binding(MPI_Comm comm) {
  void* attribute = NULL;
  int found = 0;
  if (MPI_Comm_get_attr(comm, quadrille_global.binding_keyval, &attribute, &found) != MPI_SUCCESS ||
      !found)
    return NULL;
  return attribute;
}

/* By the schedule's hash, not by its handle: a file that was loaded twice is bound once, and all
 * ranks find the same. */
static struct quadrille_binding* binding_of(MPI_Comm comm, const unsigned char* hash) {
  struct quadrille_binding* binding = first_binding(comm);
  while (binding && memcmp(binding->loaded->program.hash, hash, QUADRILLE_HASH_LENGTH) != 0)
    binding = binding->next;
  return binding;
}

/* What this rank brings to the agreement: a class and a text where it cannot go on. */
struct offer {
  int error_class;
  char text[QUADRILLE_TEXT];
};

static void refuse(struct offer* offer, int error_class, const char* text) {
  offer->error_class = error_class;
  snprintf(offer->text, sizeof offer->text, "%s", text);
}

/* What of the language the MPI executor serves. */
static const char* unserved(const struct quadrille_program* program) {
  if (program->collective != QUADRILLE_ALLTOALL || program->groups != 1)
    return "this library runs all-to-all schedules on intracommunicators; the schedule is for "
           "another collective";
  if (program->has_lanes || program->has_ranges || program->has_sized || program->has_temporaries ||
      program->has_several_pieces)
    return "this library runs schedules in which every block travels directly; the schedule "
           "forwards blocks";
  return NULL;
}

static quadrille_bind_options known_options(const quadrille_bind_options* options,
                                            struct offer* offer) {
  quadrille_bind_options known = {sizeof known, QUADRILLE_LAYOUT_SHARED, 0, 0};
  if (!options) return known;
  if (options->size < sizeof options->size + 3 * sizeof(int)) {
    refuse(offer, MPI_ERR_ARG,
           "the size field of the bind options is not set to sizeof(quadrille_bind_options)");
    return known;
  }
  known.layout = options->layout;
  known.window = options->window;
  known.synchronous = options->synchronous;
  if (known.layout != QUADRILLE_LAYOUT_SHARED && known.layout != QUADRILLE_LAYOUT_TRUSTED)
    refuse(offer, MPI_ERR_ARG,
           "the layout is neither QUADRILLE_LAYOUT_SHARED nor QUADRILLE_LAYOUT_TRUSTED");
  if (known.window < 0 || known.window > QUADRILLE_MAX_WINDOW)
    refuse(offer, MPI_ERR_ARG, "the window is negative or absurdly large");
  return known;
}

/* The same at all ranks: the worst class of error, and whether schedules and layouts are one. */
struct agreement {
  int error_class;
  int same_schedule, same_layout;
};

static int agree(MPI_Comm comm, int error_class, const struct quadrille_loaded* loaded, int layout,
                 struct agreement* agreement) {
  /* Maxima of x and of ~x are equal where all x are. */
  uint64_t mine[7] = {(uint64_t)error_class, 0, ~(uint64_t)0, 0, ~(uint64_t)0, (uint64_t)layout,
                      ~(uint64_t)layout};
  uint64_t all[7];
  if (loaded) {
    memcpy(&mine[1], loaded->program.hash, 8);
    memcpy(&mine[3], loaded->program.hash + 8, 8);
    mine[2] = ~mine[1];
    mine[4] = ~mine[3];
  }
  const int code = MPI_Allreduce(mine, all, 7, MPI_UINT64_T, MPI_MAX, comm);
  agreement->error_class = (int)all[0];
  agreement->same_schedule = all[1] == ~all[2] && all[3] == ~all[4];
  agreement->same_layout = all[5] == ~all[6];
  return code;
}

/* A communicator of the same processes, in the same order, without the user's attributes. */
static int private_communicator(MPI_Comm comm, MPI_Comm* result) {
  MPI_Group group;
  int code = MPI_Comm_group(comm, &group);
  if (code != MPI_SUCCESS) return code;
  code = MPI_Comm_create(comm, group, result);
  MPI_Group_free(&group);
  if (code == MPI_SUCCESS) MPI_Comm_set_errhandler(*result, MPI_ERRORS_RETURN);
  return code;
}

/* Whether all ranks have come this far; where this one has and another has not, that is its error
 * too. */
static int all_well(MPI_Comm comm, struct offer* offer) {
  struct agreement agreement;
  const int code = agree(comm, offer->error_class, NULL, 0, &agreement);
  if (code == MPI_SUCCESS && agreement.error_class == MPI_SUCCESS) return 1;
  if (offer->error_class == MPI_SUCCESS)
    refuse(offer, code == MPI_SUCCESS ? agreement.error_class : MPI_ERR_OTHER,
           agreement.error_class == MPI_ERR_NO_MEM
               ? "another rank is out of memory"
               : "another rank cannot follow the schedule; its own message, or QUADRILLE_DEBUG=1, "
                 "says why");
  else if (code == MPI_SUCCESS)
    offer->error_class = agreement.error_class;
  return 0;
}

static void refuse_unless_memory(struct offer* offer, int error_class, const char* text) {
  refuse(offer, strcmp(text, "out of memory") == 0 ? MPI_ERR_NO_MEM : error_class, text);
}

/* Tables live while the plan is made from them. */
static void make_plan(struct quadrille_binding* binding, struct offer* offer) {
  struct quadrille_tables tables;
  const char* error = quadrille_tables_fill(&tables, &binding->loaded->program, &binding->place);
  if (error) {
    refuse_unless_memory(offer, MPI_ERR_TOPOLOGY, error);
  } else if ((error = quadrille_plan_make(&binding->plan, binding, &tables)) != NULL) {
    char text[QUADRILLE_TEXT];
    snprintf(text, sizeof text, "the schedule is broken: %s; verify it", error);
    refuse_unless_memory(offer, MPI_ERR_INTERN, strcmp(error, "out of memory") == 0 ? error : text);
  }
  quadrille_tables_destroy(&tables);
}

/* Fills a new binding: all ranks succeed, or all fail. */
static void fill(struct quadrille_binding* binding, const quadrille_bind_options* options,
                 struct offer* offer) {
  char failure[QUADRILLE_TEXT];
  int ranks = 0;
  MPI_Comm_size(binding->comm, &ranks);
  binding->place.ranks = ranks;
  binding->real = malloc((size_t)ranks * sizeof *binding->real);
  const int window = options->window > 0 ? options->window : QUADRILLE_DEFAULT_WINDOW;
  if (!binding->real || !quadrille_flight_open(&binding->flight, window))
    refuse(offer, MPI_ERR_NO_MEM, "out of memory");
  if (!all_well(binding->comm, offer)) return;
  const char* error = quadrille_lay_out(binding, options->layout, failure);
  if (error)
    refuse_unless_memory(offer, MPI_ERR_TOPOLOGY, error);
  else
    make_plan(binding, offer);
  all_well(binding->comm, offer);
  free(binding->real);
  binding->real = NULL;
}

/* Puts a binding on its communicator's list, behind the head, which is the attribute and so never
 * changes. */
static int keep(struct quadrille_binding* binding, MPI_Comm comm) {
  pthread_mutex_lock(&quadrille_global.lock);
  binding->later = quadrille_global.bindings;
  if (binding->later) binding->later->earlier = binding;
  quadrille_global.bindings = binding;
  pthread_mutex_unlock(&quadrille_global.lock);
  struct quadrille_binding* head = first_binding(comm);
  if (!head) return MPI_Comm_set_attr(comm, quadrille_global.binding_keyval, binding);
  binding->next = head->next;
  head->next = binding;
  return MPI_SUCCESS;
}

/* Changes what may change of a binding that is there already. */
static int adjust(struct quadrille_binding* binding, const quadrille_bind_options* options,
                  struct offer* offer) {
  struct quadrille_flight flight;
  const int window = options->window > 0 ? options->window : QUADRILLE_DEFAULT_WINDOW;
  if (!quadrille_flight_open(&flight, window)) refuse(offer, MPI_ERR_NO_MEM, "out of memory");
  if (!all_well(binding->comm, offer)) {
    quadrille_flight_close(&flight);
    return 0;
  }
  quadrille_flight_close(&binding->flight);
  binding->flight = flight;
  binding->synchronous = options->synchronous;
  return 1;
}

static int make_binding(struct quadrille_loaded* loaded, MPI_Comm comm,
                        const quadrille_bind_options* options, struct offer* offer,
                        struct quadrille_binding** result) {
  struct quadrille_binding* binding = calloc(1, sizeof *binding);
  MPI_Comm private = MPI_COMM_NULL;
  const int code = private_communicator(comm, &private);
  if (code != MPI_SUCCESS) {
    free(binding);
    return quadrille_mpi_error(comm, code);
  }
  if (binding) {
    binding->comm = private;
    binding->loaded = loaded;
    binding->driver = quadrille_find_driver();
    pthread_mutex_lock(&quadrille_global.lock);
    loaded->references++;
    pthread_mutex_unlock(&quadrille_global.lock);
    binding->synchronous = options->synchronous;
    fill(binding, options, offer);
  } else {
    refuse(offer, MPI_ERR_NO_MEM, "out of memory");
    all_well(private, offer);
    MPI_Comm_free(&private);
  }
  if (offer->error_class != MPI_SUCCESS) {
    if (binding) destroy(binding);
    return quadrille_error(comm, offer->error_class, "%s", offer->text);
  }
  *result = binding;
  return keep(binding, comm);
}

/* Binds, or finds the binding, of `schedule`, which may be null or stale. */
static int bind_schedule(quadrille_schedule schedule, MPI_Comm comm,
                         const quadrille_bind_options* options, struct quadrille_binding** result) {
  struct offer offer = {MPI_SUCCESS, ""};
  const quadrille_bind_options known = known_options(options, &offer);
  struct quadrille_loaded* loaded = quadrille_acquire(schedule);
  if (!loaded)
    refuse(&offer, MPI_ERR_ARG, "the schedule is null or was freed; load one first");
  else if (loaded->failure_class != MPI_SUCCESS)
    refuse(&offer, loaded->failure_class, loaded->failure);
  else if (unserved(&loaded->program))
    refuse(&offer, MPI_ERR_UNSUPPORTED_OPERATION, unserved(&loaded->program));

  struct agreement agreement;
  const int usable = loaded && loaded->failure_class == MPI_SUCCESS;
  const int code = agree(comm, offer.error_class, usable ? loaded : NULL, known.layout, &agreement);
  int returned;
  if (code != MPI_SUCCESS) {
    returned = quadrille_mpi_error(comm, code);
  } else if (offer.error_class != MPI_SUCCESS) {
    returned = quadrille_error(comm, agreement.error_class, "%s", offer.text);
  } else if (agreement.error_class != MPI_SUCCESS) {
    returned = quadrille_error(comm, agreement.error_class,
                               "another rank could not bring a schedule that can be bound; its own "
                               "message, or QUADRILLE_DEBUG=1, says why");
  } else if (!agreement.same_schedule) {
    returned = quadrille_error(comm, MPI_ERR_ARG,
                               "ranks bring different schedules; load the same file everywhere");
  } else if (!agreement.same_layout) {
    returned = quadrille_error(
        comm, MPI_ERR_ARG, "ranks bind with different layouts; give the same option everywhere");
  } else if ((*result = binding_of(comm, loaded->program.hash)) != NULL) {
    returned = adjust(*result, &known, &offer)
                   ? MPI_SUCCESS
                   : quadrille_error(comm, offer.error_class, "%s", offer.text);
  } else {
    returned = make_binding(loaded, comm, &known, &offer, result);
  }
  quadrille_release(loaded);
  return returned;
}

static int check_communicator(MPI_Comm comm) {
  int inter = 0;
  if (!quadrille_mpi_is_usable())
    return quadrille_error(MPI_COMM_NULL, MPI_ERR_OTHER,
                           "call MPI_Init first, and nothing after MPI_Finalize");
  if (comm == MPI_COMM_NULL)
    return quadrille_error(MPI_COMM_WORLD, MPI_ERR_COMM, "the communicator is MPI_COMM_NULL");
  MPI_Comm_test_inter(comm, &inter);
  if (inter)
    return quadrille_error(
        comm, MPI_ERR_COMM,
        "the communicator is an intercommunicator; schedules for it are not served yet");
  const int code = make_keyvals();
  return code == MPI_SUCCESS ? MPI_SUCCESS : quadrille_mpi_error(comm, code);
}

int quadrille_bind(quadrille_schedule schedule, MPI_Comm comm,
                   const quadrille_bind_options* options) {
  const int code = check_communicator(comm);
  struct quadrille_binding* binding = NULL;
  return code == MPI_SUCCESS ? bind_schedule(schedule, comm, options, &binding) : code;
}

int quadrille_find_binding(quadrille_schedule schedule, MPI_Comm comm,
                           struct quadrille_binding** binding) {
  const int code = check_communicator(comm);
  if (code != MPI_SUCCESS) return code;
  unsigned char hash[QUADRILLE_HASH_LENGTH];
  const int found = quadrille_hash_of(schedule, hash);
  *binding = found == 1 ? binding_of(comm, hash) : NULL;
  if (*binding) return MPI_SUCCESS;
  /* Where the communicator has bindings, the other ranks may be calling by one of them: they would
   * not come to an agreement. */
  if (found < 0 && first_binding(comm))
    return quadrille_error(comm, MPI_ERR_ARG, "the schedule is null or was freed; load one first");
  return bind_schedule(schedule, comm, NULL, binding);
}
