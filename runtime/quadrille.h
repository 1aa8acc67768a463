/* Quadrille: collectives that follow a proven schedule, in any MPI program.
 *
 *   quadrille_schedule schedule;
 *   quadrille_load_file("alltoall.qs", &schedule);
 *   quadrille_bind(schedule, comm, NULL);                       (optional: the first call binds)
 *   quadrille_alltoall(schedule, sendbuf, n, MPI_DOUBLE, recvbuf, n, MPI_DOUBLE, comm);
 *   quadrille_free(&schedule);
 *
 * Arguments are MPI's own, after the schedule. Return values are MPI error codes: MPI_SUCCESS, or a
 * code whose class is an MPI error class and whose MPI_Error_string says what is wrong and how to
 * mend it. Functions that take a communicator first call its error handler, as MPI does; the others
 * just return.
 *
 * QUADRILLE_CHECK_PLANS=1 in the environment: each plan is checked before it is followed; a streamed plan afterwards.
 * QUADRILLE_STALL=SECONDS in the environment: a rank that waits longer for a message says for whom, on the standard
 * error stream, and goes on waiting.
 *
 * Threads: as MPI_THREAD_MULTIPLE allows, provided that MPI was initialised for it. Buffers are in
 * host memory.
 */
#ifndef QUADRILLE_RUNTIME_QUADRILLE_H_
#define QUADRILLE_RUNTIME_QUADRILLE_H_

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define QUADRILLE_API __attribute__((visibility("default")))
#else
#define QUADRILLE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define QUADRILLE_VERSION_MAJOR 0
#define QUADRILLE_VERSION_MINOR 1
/* Those of the library that is linked: "0.1". Libraries of one major version can take each other's place. */
QUADRILLE_API const char* quadrille_version(void);

/* A loaded schedule: an index and a generation, so that a handle that was freed is an error and
 * never a crash. */
typedef uint64_t quadrille_schedule;
#define QUADRILLE_SCHEDULE_NULL ((quadrille_schedule)0)

/* Loads a schedule from a file, or from bytes in memory such as an emitted array (which may then be
 * thrown away).
 *
 * Where that fails, *schedule is a handle that remembers why: every rank can go on to
 * quadrille_bind, which returns the same error everywhere. Errors: MPI_ERR_NO_SUCH_FILE,
 * MPI_ERR_FILE (damaged, foreign, or of a later version), MPI_ERR_ARG, MPI_ERR_NO_MEM. */
QUADRILLE_API int quadrille_load_file(const char* path, quadrille_schedule* schedule);
QUADRILLE_API int quadrille_load_memory(const void* bytes, uint64_t length,
                                        quadrille_schedule* schedule);

/* Gives the handle back and sets it to QUADRILLE_SCHEDULE_NULL. Communicators that the schedule is
 * bound to keep what they need until they are freed. */
QUADRILLE_API int quadrille_free(quadrille_schedule* schedule);

/* How ranks are spread over nodes. */
enum quadrille_layout {
  QUADRILLE_LAYOUT_SHARED = 0, /* ranks that share memory (MPI_COMM_TYPE_SHARED) are a node */
  QUADRILLE_LAYOUT_TRUSTED =
      1 /* ranks lie in the order of the schedule: node by node, nodes by ascending size. A schedule
           for any nodes does not say how many ranks a node has: where that matters to it, binding
           refuses this */
};

typedef struct {
  size_t size;     /* sizeof(quadrille_bind_options): sent_number which fields the caller knows */
  int layout;      /* an enum quadrille_layout; the same at all ranks */
  int window;      /* steps in flight, 1 or more; 0: the default */
  int synchronous; /* nonzero: every send is an MPI_Issend */
  int64_t block_size; /* bytes into which a schedule that pipelines cuts contributions; the same at
                         all ranks; 0: as the schedule itself chooses */
} quadrille_bind_options;

/* Binds a schedule to a communicator: collective, once; the binding is freed with the
 * communicator and not copied by MPI_Comm_dup. `options` may be NULL. Binding again changes window,
 * synchronous and block_size.
 *
 * A schedule for any nodes (`generate --nodes any`) takes those that are found, and can be bound to
 * communicators of different sizes at the same time. One for given nodes binds to these alone.
 *
 * All ranks return the same error. Errors: MPI_ERR_ARG (no schedule, or different ones),
 * MPI_ERR_TOPOLOGY (made for another number of ranks or other nodes, or the algorithm cannot serve
 * this number of ranks), MPI_ERR_COMM, MPI_ERR_FILE
 * (it could not be schedule_data), MPI_ERR_NO_MEM. */
QUADRILLE_API int quadrille_bind(quadrille_schedule schedule, MPI_Comm comm,
                                 const quadrille_bind_options* options);

/* Changes window, synchronous and block_size of a schedule that is bound, as binding again does. But it compares nothing and
 * waits for no rank: all ranks have to make the same change between the same two calls. Errors: MPI_ERR_ARG (the schedule
 * is not bound to the communicator, or takes no such block size). */
QUADRILLE_API int quadrille_retune(quadrille_schedule schedule, MPI_Comm comm,
                                   const quadrille_bind_options* options);

/* Binds a schedule for two groups to an intracommunicator: the ranks below `first_ranks` are one group,
 * the others the other. Calls with that communicator then mean what they mean on an intercommunicator of
 * these groups, whose ranks are numbered from 0: for coupled codes that share one communicator, and where
 * MPI has no intercommunicators. A schedule is bound to one pair of groups of a communicator; for
 * another pair, bind it to a duplicate. Errors: as above, MPI_ERR_ARG for a group without ranks. */
QUADRILLE_API int quadrille_bind_groups(quadrille_schedule schedule, MPI_Comm comm, int first_ranks,
                                        const quadrille_bind_options* options);

/* A persistent call: an index that is never used again. */
typedef uint64_t quadrille_request;
#define QUADRILLE_REQUEST_NULL ((quadrille_request)0)

/* Every collective is four functions. Those of MPI_Bcast:
 *
 *   quadrille_bcast(schedule, buffer, count, datatype, root, comm);
 *   quadrille_bcast_c(...);         the same with counts and displacements of more than an int
 *   quadrille_bcast_init(schedule, buffer, count, datatype, root, comm, info, &request);
 *   quadrille_bcast_init_c(...);    a persistent call, as MPI_Bcast_init makes; `info` is not looked at
 *
 * The schedule is bound first where it is not. Any datatypes, zero counts, MPI_IN_PLACE; on
 * intracommunicators and, where the schedule is for two groups, on intercommunicators: there, `root` is
 * MPI_ROOT, MPI_PROC_NULL, or a rank of the other group, and the root may be in either group, call by
 * call. */
#define QUADRILLE_COLLECTIVE(name, arguments)                                                    \
  QUADRILLE_API int name(quadrille_schedule schedule, arguments(int, int), MPI_Comm comm);       \
  QUADRILLE_API int name##_c(quadrille_schedule schedule, arguments(MPI_Count, MPI_Aint),        \
                             MPI_Comm comm);                                                     \
  QUADRILLE_API int name##_init(quadrille_schedule schedule, arguments(int, int), MPI_Comm comm, \
                                MPI_Info info, quadrille_request* request);                      \
  QUADRILLE_API int name##_init_c(quadrille_schedule schedule, arguments(MPI_Count, MPI_Aint),   \
                                  MPI_Comm comm, MPI_Info info, quadrille_request* request)

/* Their arguments, which are MPI's own. */
#define QUADRILLE_EQUAL_BLOCKS(Count, Displacement)                                            \
  const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, Count recvcount, \
      MPI_Datatype recvtype
#define QUADRILLE_EQUAL_BLOCKS_OF_ROOT(Count, Displacement) \
  QUADRILLE_EQUAL_BLOCKS(Count, Displacement), int root
#define QUADRILLE_COUNTED_BLOCKS(Count, Displacement)                          \
  const void *sendbuf, const Count sendcounts[], const Displacement sdispls[], \
      MPI_Datatype sendtype, void *recvbuf, const Count recvcounts[],          \
      const Displacement rdispls[], MPI_Datatype recvtype
#define QUADRILLE_TYPED_BLOCKS(Count, Displacement)                            \
  const void *sendbuf, const Count sendcounts[], const Displacement sdispls[], \
      const MPI_Datatype sendtypes[], void *recvbuf, const Count recvcounts[], \
      const Displacement rdispls[], const MPI_Datatype recvtypes[]
#define QUADRILLE_GATHERED_BLOCKS(Count, Displacement)                        \
  const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, \
      const Count recvcounts[], const Displacement displs[], MPI_Datatype recvtype
#define QUADRILLE_GATHERED_BLOCKS_OF_ROOT(Count, Displacement) \
  QUADRILLE_GATHERED_BLOCKS(Count, Displacement), int root
#define QUADRILLE_SCATTERED_BLOCKS_OF_ROOT(Count, Displacement)               \
  const void *sendbuf, const Count sendcounts[], const Displacement displs[], \
      MPI_Datatype sendtype, void *recvbuf, Count recvcount, MPI_Datatype recvtype, int root
#define QUADRILLE_BUFFER_OF_ROOT(Count, Displacement) \
  void *buffer, Count count, MPI_Datatype datatype, int root
#define QUADRILLE_ELEMENTS(Count, Displacement) \
  const void *sendbuf, void *recvbuf, Count count, MPI_Datatype datatype, MPI_Op op
#define QUADRILLE_ELEMENTS_OF_ROOT(Count, Displacement) \
  QUADRILLE_ELEMENTS(Count, Displacement), int root
#define QUADRILLE_COUNTED_ELEMENTS(Count, Displacement) \
  const void *sendbuf, void *recvbuf, const Count recvcounts[], MPI_Datatype datatype, MPI_Op op

/* All-to-alls, gathers and scatters.
 *
 * A schedule that forwards blocks packs each once, at its source, and unpacks it once, at its target.
 * Blocks on their way stay in the messages in which they came, whose memory is used again once they have
 * been sent on. A call in place keeps copies of the blocks that are overwritten before they are sent.
 * That memory grows with the calls and goes with the communicator.
 *
 * A rank whose memory runs out returns MPI_ERR_NO_MEM, serves the others with empty messages, and can
 * call again; ranks that lack its bytes, or those of others who do, return MPI_ERR_OTHER. Nobody waits
 * for ever.
 *
 * Lengths that do not fit together are MPI_ERR_TRUNCATE at the rank that receives; where blocks are
 * forwarded by the v and w forms, nothing outside them changes. quadrille_alltoall relies on what MPI asks:
 * all blocks of all ranks are equally long, of two groups those of each. A schedule that sends blocks straight leaves lengths to MPI:
 * it may wait for ever where one rank alone says that a block is empty, Open MPI 4.1 may write beyond
 * a block that is too short, and MPICH 4.0 then calls the error handler of MPI_COMM_WORLD. With
 * QUADRILLE_DEBUG=1 at all ranks each all-to-all compares lengths first, and the error is one everywhere;
 * persistent calls always do, when they are made. */
QUADRILLE_COLLECTIVE(quadrille_alltoall, QUADRILLE_EQUAL_BLOCKS);
QUADRILLE_COLLECTIVE(quadrille_alltoallv, QUADRILLE_COUNTED_BLOCKS);
QUADRILLE_COLLECTIVE(quadrille_alltoallw, QUADRILLE_TYPED_BLOCKS);
QUADRILLE_COLLECTIVE(quadrille_gather, QUADRILLE_EQUAL_BLOCKS_OF_ROOT);
QUADRILLE_COLLECTIVE(quadrille_gatherv, QUADRILLE_GATHERED_BLOCKS_OF_ROOT);
QUADRILLE_COLLECTIVE(quadrille_scatter, QUADRILLE_EQUAL_BLOCKS_OF_ROOT);
QUADRILLE_COLLECTIVE(quadrille_scatterv, QUADRILLE_SCATTERED_BLOCKS_OF_ROOT);

/* What all ranks know the counts of. Data travels as the bytes of its packed form; a receive type whose
 * memory is anything else costs a copy of the receive buffer. All ranks give the same counts: with
 * QUADRILLE_DEBUG=1 at all of them, each call compares that, and whether blocks overlap, and says which
 * ranks disagree; persistent calls always do, when they are made. */
QUADRILLE_COLLECTIVE(quadrille_allgather, QUADRILLE_EQUAL_BLOCKS);
QUADRILLE_COLLECTIVE(quadrille_allgatherv, QUADRILLE_GATHERED_BLOCKS);
QUADRILLE_COLLECTIVE(quadrille_bcast, QUADRILLE_BUFFER_OF_ROOT);

/* The same, combined. Reductions take any operator and datatype, and combine contributions in the order of
 * ranks; a schedule that does not keep it refuses operators that do not commute. Elements with gaps in
 * memory, or whose blocks are not packed as they lie, are brought to memory of the library and back.
 * Elements that reach beyond their datatype's extent are packed first.
 *
 * Errors: MPI_ERR_ROOT, MPI_ERR_OP, and those of the others. */
QUADRILLE_COLLECTIVE(quadrille_reduce, QUADRILLE_ELEMENTS_OF_ROOT);
QUADRILLE_COLLECTIVE(quadrille_allreduce, QUADRILLE_ELEMENTS);
QUADRILLE_COLLECTIVE(quadrille_scan, QUADRILLE_ELEMENTS);
QUADRILLE_COLLECTIVE(quadrille_exscan, QUADRILLE_ELEMENTS);
QUADRILLE_COLLECTIVE(quadrille_reduce_scatter, QUADRILLE_COUNTED_ELEMENTS);
QUADRILLE_COLLECTIVE(quadrille_reduce_scatter_block, QUADRILLE_ELEMENTS);

QUADRILLE_API int quadrille_barrier(quadrille_schedule schedule, MPI_Comm comm);
QUADRILLE_API int quadrille_barrier_init(quadrille_schedule schedule, MPI_Comm comm, MPI_Info info,
                                         quadrille_request* request);

/* What MPI_Start, MPI_Wait and MPI_Request_free do to a persistent call.
 * Making the call is collective. It compares all lengths and takes the memory. A start takes more for a
 * moment where the operator does not commute, or a message has several long blocks. A start and the wait
 * after it exchange blocks alone. Calls may be in flight together, also with others on the communicator, and
 * outlive it until they are freed; a private communicator that was kept for them goes
 * with MPI_Finalize. Datatypes, counts and displacements may be freed once the call is made: an operator
 * of the caller's is given a duplicate of the datatype, and has itself to live until the call is freed.
 *
 * Between start and wait the buffers are the library's. A call goes on while its rank waits for it:
 * so all ranks wait in the same order, and none may depend on another between its own start and wait.
 *
 * Errors: of envelope the call, the same class at all ranks, MPI_ERR_TRUNCATE where lengths do not fit
 * together, MPI_ERR_ROOT where ranks do not mean the same one; MPI_ERR_REQUEST for a request that is null or
 * was freed, for starting a call in flight or after MPI_Finalize, waiting for one that was not started, and
 * freeing one in flight, all of which change nothing. */
QUADRILLE_API int quadrille_start(quadrille_request request);
QUADRILLE_API int quadrille_wait(quadrille_request request);
QUADRILLE_API int quadrille_free_request(quadrille_request* request);

/* What a schedule is, for messages and tools. */
typedef struct {
  size_t size;         /* sizeof(quadrille_schedule_info), set by the caller */
  int64_t ranks;       /* of the job that it is made for; 0: it serves any nodes */
  int64_t nodes;       /* 0 where it serves any nodes, or their number does not matter */
  char algorithm[64];  /* "hierarchical-factor" */
  char collective[16]; /* "alltoall" */
  char hash[33];       /* what sent_number it from every other schedule, in hexadecimal */
  int groups;          /* 2: it is for intercommunicators; ranks and nodes are the first group's, */
  int64_t remote_ranks, remote_nodes; /* and these the second's */
  int commutative;                    /* it is for operators that commute alone */
} quadrille_schedule_info;
QUADRILLE_API int quadrille_info(quadrille_schedule schedule, quadrille_schedule_info* info);

/* The MPI error class of a code that a function here returned. MPI_Error_class says the same,
 * except with MPICH, where a class of its own is what carries our text. */
QUADRILLE_API int quadrille_error_class(int code);

/* The text of this process's last error, also of one that happened before MPI_Init; empty before
 * the first. */
QUADRILLE_API void quadrille_last_error(char* text, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_RUNTIME_QUADRILLE_H_ */
