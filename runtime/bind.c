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

#include "runtime/agree.h"
#include "runtime/execution.h"
#include "runtime/traffic.h"

static const char no_memory[] = "out of memory";

static void destroy_traffic(struct quadrille_traffic* traffic) {
  if (traffic) quadrille_traffic_close(traffic);
  free(traffic);
}

/* Where persistent calls are left, the last of them does it. */
static void destroy(struct quadrille_binding* binding) {
  binding->is_alone = 1;
  if (binding->persistent > 0) return;
  pthread_mutex_lock(&quadrille_global.lock);
  if (binding->earlier) binding->earlier->later = binding->later;
  if (binding->later) binding->later->earlier = binding->earlier;
  if (quadrille_global.bindings == binding) quadrille_global.bindings = binding->later;
  quadrille_forget(binding);
  pthread_mutex_unlock(&quadrille_global.lock);
  quadrille_flight_close(&binding->flight);
  quadrille_plan_destroy(&binding->plan);
  quadrille_execution_close(binding->execution);
  destroy_traffic(binding->traffic);
  if (binding->route) quadrille_route_destroy(binding->route);
  free(binding->route);
  if (binding->comm != MPI_COMM_NULL) MPI_Comm_free(&binding->comm);
  quadrille_release(binding->loaded);
  free(binding->real);
  free(binding->topology.runs);
  free(binding);
}

void quadrille_leave_binding(struct quadrille_binding* binding) {
  if (__atomic_sub_fetch(&binding->persistent, 1, __ATOMIC_RELAXED) == 0 && binding->is_alone)
    destroy(binding);
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
  pthread_mutex_lock(&quadrille_global.lock);
  quadrille_forget(NULL);
  pthread_mutex_unlock(&quadrille_global.lock);
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

static void refuse_broken(struct quadrille_offer* offer, const char* error) {
  char text[QUADRILLE_TEXT];
  snprintf(text, sizeof text, "the schedule is broken: %s; verify it", error);
  quadrille_refuse_for(offer, MPI_ERR_INTERN, strcmp(error, "out of memory") == 0 ? error : text);
}

/* Whether every block of an all-to-all travels in a message of its own, from rank to rank. */
static int is_direct(const struct quadrille_program* program) {
  return !program->has_sized && !program->has_temporaries && !program->has_several_pieces;
}

/* NULL where memory ran out. */
static struct quadrille_traffic* make_traffic(struct quadrille_binding* binding, int window) {
  struct quadrille_traffic* traffic = calloc(1, sizeof *traffic);
  if (!traffic ||
      quadrille_traffic_open(traffic, binding, binding->route, window, QUADRILLE_EAGER_BYTES))
    return traffic;
  destroy_traffic(traffic);
  return NULL;
}

static const char* make_route(struct quadrille_binding* binding,
                              const struct quadrille_tables* tables) {
  binding->route = calloc(1, sizeof *binding->route);
  return binding->route ? quadrille_route_make(binding->route, binding, tables) : no_memory;
}

/* A plan, or a route. Tables live while it is made from them. */
static void make_plan(struct quadrille_binding* binding, int window,
                      struct quadrille_offer* offer) {
  struct quadrille_tables tables;
  const int direct = is_direct(&binding->loaded->program);
  const char* error = quadrille_tables_fill(&tables, &binding->loaded->program, &binding->place);
  if (error) {
    quadrille_refuse_for(offer, MPI_ERR_TOPOLOGY, error);
  } else if ((error = direct ? quadrille_plan_make(&binding->plan, binding, &tables)
                             : make_route(binding, &tables)) != NULL) {
    refuse_broken(offer, error);
  } else if (!direct && !(binding->traffic = make_traffic(binding, window))) {
    quadrille_refuse(offer, MPI_ERR_NO_MEM, no_memory);
  }
  quadrille_tables_destroy(&tables);
}

/* What does not depend on the call, and a try of what does: without contributions. */
static void make_execution(struct quadrille_binding* binding, int64_t block_size, int window,
                           struct quadrille_offer* offer) {
  const char* error = quadrille_execution_open(binding, block_size, window);
  if (error)
    quadrille_refuse_for(offer, MPI_ERR_TOPOLOGY, error);
  else if ((error = quadrille_execution_follow(binding, 0)) != NULL)
    refuse_broken(offer, error);
}

/* Fills a new binding: all ranks succeed, or all fail. */
static void fill(struct quadrille_binding* binding, const quadrille_bind_options* options,
                 struct quadrille_offer* offer) {
  char failure[QUADRILLE_TEXT];
  int ranks = 0;
  MPI_Comm_size(binding->comm, &ranks);
  binding->place.ranks = ranks;
  binding->real = malloc((size_t)ranks * sizeof *binding->real);
  const int window = options->window > 0 ? options->window : QUADRILLE_DEFAULT_WINDOW;
  binding->window = window;
  const int planned = binding->loaded->program.collective == QUADRILLE_ALLTOALL;
  if (!binding->real || (planned && !quadrille_flight_open(&binding->flight, window)))
    quadrille_refuse(offer, MPI_ERR_NO_MEM, "out of memory");
  if (!quadrille_all_well(binding->comm, offer)) return;
  const char* error = quadrille_lay_out(binding, options->layout, failure);
  if (error)
    quadrille_refuse_for(offer, MPI_ERR_TOPOLOGY, error);
  else if (planned)
    make_plan(binding, window, offer);
  else
    make_execution(binding, options->block_size, window, offer);
  quadrille_all_well(binding->comm, offer);
  if (binding->execution) return;
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
                  struct quadrille_offer* offer) {
  struct quadrille_execution* execution = binding->execution;
  struct quadrille_flight flight = {0};
  struct quadrille_pipeline pipeline = {0};
  struct quadrille_traffic* traffic = NULL;
  const int window = options->window > 0 ? options->window : QUADRILLE_DEFAULT_WINDOW;
  const struct quadrille_program* program =
      options->block_size > 0 ? NULL : &binding->loaded->program;
  if (!(execution          ? quadrille_pipeline_open(&pipeline, program, window)
        : binding->traffic ? (traffic = make_traffic(binding, window)) != NULL
                           : quadrille_flight_open(&flight, window)))
    quadrille_refuse(offer, MPI_ERR_NO_MEM, "out of memory");
  if (!quadrille_all_well(binding->comm, offer)) {
    quadrille_pipeline_close(&pipeline);
    quadrille_flight_close(&flight);
    destroy_traffic(traffic);
    return 0;
  }
  binding->synchronous = options->synchronous;
  binding->window = window;
  if (traffic) {
    destroy_traffic(binding->traffic);
    binding->traffic = traffic;
    return 1;
  }
  if (!execution) {
    quadrille_flight_close(&binding->flight);
    binding->flight = flight;
    return 1;
  }
  quadrille_pipeline_close(&execution->pipeline);
  execution->pipeline = pipeline;
  quadrille_record_forget(&execution->record);
  execution->tables_are_good &= execution->block_size == options->block_size;
  execution->block_size = options->block_size;
  return 1;
}

static int make_binding(struct quadrille_loaded* loaded, MPI_Comm comm,
                        const quadrille_bind_options* options, struct quadrille_offer* offer,
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
    quadrille_refuse(offer, MPI_ERR_NO_MEM, "out of memory");
    quadrille_all_well(private, offer);
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
  struct quadrille_offer offer = {MPI_SUCCESS, ""};
  const quadrille_bind_options known = quadrille_known_options(options, &offer);
  struct quadrille_loaded* loaded = quadrille_acquire(schedule);
  if (!loaded)
    quadrille_refuse(&offer, MPI_ERR_ARG, "the schedule is null or was freed; load one first");
  else if (loaded->failure_class != MPI_SUCCESS)
    quadrille_refuse(&offer, loaded->failure_class, loaded->failure);
  else if (quadrille_unserved(&loaded->program))
    quadrille_refuse(&offer, MPI_ERR_UNSUPPORTED_OPERATION, quadrille_unserved(&loaded->program));
  else
    quadrille_check_block_size(&loaded->program, known.block_size, &offer);

  struct quadrille_agreement agreement;
  const int usable = loaded && loaded->failure_class == MPI_SUCCESS;
  const int code =
      quadrille_agree(comm, offer.error_class, usable ? loaded : NULL, &known, &agreement);
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
  } else if (!agreement.same_block_size) {
    returned = quadrille_error(comm, MPI_ERR_ARG,
                               "ranks bind with different block sizes; give the same everywhere");
  } else if ((*result = binding_of(comm, loaded->program.hash)) != NULL) {
    returned = adjust(*result, &known, &offer)
                   ? MPI_SUCCESS
                   : quadrille_error(comm, offer.error_class, "%s", offer.text);
  } else {
    returned = make_binding(loaded, comm, &known, &offer, result);
  }
  if (returned == MPI_SUCCESS) (*result)->compares = agreement.all_debug;
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

/* The other functions of the API would do what the schedule is not for. */
static int check_collective(const struct quadrille_binding* binding, int collective,
                            MPI_Comm comm) {
  const int scheduled = binding->loaded->program.collective;
  if (scheduled == collective) return MPI_SUCCESS;
  return quadrille_error(comm, MPI_ERR_ARG,
                         "the schedule is for %s; call the functions of that name, or load one for "
                         "this collective",
                         scheduled == QUADRILLE_ALLTOALL ? "alltoall" : "allgather");
}

static int find_or_bind(quadrille_schedule schedule, MPI_Comm comm,
                        struct quadrille_binding** binding) {
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

int quadrille_find_binding(quadrille_schedule schedule, MPI_Comm comm, int collective,
                           struct quadrille_binding** binding) {
  *binding = quadrille_recent(schedule, comm);
  if (!*binding) {
    int code = check_communicator(comm);
    if (code == MPI_SUCCESS) code = find_or_bind(schedule, comm, binding);
    if (code != MPI_SUCCESS) return code;
    quadrille_remember(schedule, comm, *binding);
  }
  return check_collective(*binding, collective, comm);
}
