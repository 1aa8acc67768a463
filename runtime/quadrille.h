/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Quadrille: collectives that follow a proven schedule, in any MPI program.
 *
 *   quadrille_schedule schedule;
 *   quadrille_load_file("alltoall.qs", &schedule);
 *   quadrille_bind(schedule, comm, NULL);                       (optional: the first call binds)
 *   quadrille_alltoall(schedule, sendbuf, n, MPI_DOUBLE, recvbuf, n, MPI_DOUBLE, comm);
 *   quadrille_free(&schedule);
 *
 * Arguments are MPI's own, after the schedule. Functions return MPI_SUCCESS or an MPI error code. The class of the
 * code is an MPI error class. MPI_Error_string says what is wrong and how to mend it; with MPICH 4.0, use
 * quadrille_last_error instead. A function with a communicator first calls the error handler of the communicator, as
 * MPI does. The others do not.
 *
 * Environment:
 *   QUADRILLE_DEBUG=1         reports the library's actions; if set on all ranks, also compares counts and lengths
 *   QUADRILLE_STALL=SECONDS   a rank that waits longer for a message reports that on standard error, and waits on
 *   QUADRILLE_TRACE=FOLDER    writes to FOLDER when messages were posted and completed, for `quadrille trace`
 *
 * Threads: any thread may call if MPI was initialised with MPI_THREAD_MULTIPLE. Buffers are in host memory. */
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
/* The version of the linked library: "0.1". Libraries of one major version can replace each other. */
QUADRILLE_API const char* quadrille_version(void);

/* A handle of a loaded schedule. Passing a freed handle is an error, and never a crash. */
typedef uint64_t quadrille_schedule;
#define QUADRILLE_SCHEDULE_NULL ((quadrille_schedule)0)

/* Loads a schedule from a file, or from `length` bytes in memory, which may be freed afterwards.
 *
 * On failure *schedule is a handle that remembers the error. Every rank can then call quadrille_bind, which returns
 * that error on all ranks. Errors: MPI_ERR_NO_SUCH_FILE, MPI_ERR_FILE (damaged, foreign, or of a later version),
 * MPI_ERR_ARG, MPI_ERR_NO_MEM. */
QUADRILLE_API int quadrille_load_file(const char* path, quadrille_schedule* schedule);
QUADRILLE_API int quadrille_load_memory(const void* bytes, uint64_t length,
                                        quadrille_schedule* schedule);

/* Frees the handle and sets it to QUADRILLE_SCHEDULE_NULL. Communicators that the schedule is bound to keep what they
 * need until they are freed. */
QUADRILLE_API int quadrille_free(quadrille_schedule* schedule);

/* How ranks are placed on nodes. */
enum quadrille_layout {
  QUADRILLE_LAYOUT_SHARED = 0, /* ranks that share memory (MPI_COMM_TYPE_SHARED) are a node */
  /* Ranks are in the order of the schedule: node by node, nodes by ascending size. Binding refuses this for a
   * schedule for any nodes that depends on node sizes, which binding finds only with QUADRILLE_LAYOUT_SHARED. */
  QUADRILLE_LAYOUT_TRUSTED = 1
};

typedef struct {
  size_t size;     /* sizeof(quadrille_bind_options): tells the library which fields there are */
  int layout;      /* an enum quadrille_layout; the same on all ranks */
  int window;      /* the most steps in flight, 1 or more; 0: what the schedule says, or 16 */
  int synchronous; /* nonzero: every send is an MPI_Issend */
  /* Bytes of the blocks of a pipelined schedule; the same on all ranks. 0: the schedule chooses. */
  int64_t block_size;
} quadrille_bind_options;

/* Binds a schedule to a communicator. Collective. The binding is freed with the communicator; MPI_Comm_dup does not
 * copy it. `options` may be NULL. A second call changes window, synchronous and block_size.
 *
 * A schedule for any nodes (`generate --nodes any`) adapts to the nodes that binding finds. It can be bound to
 * communicators of different sizes at the same time. A schedule for given nodes binds to these nodes alone.
 *
 * All ranks return the same error. Errors: MPI_ERR_ARG (no schedule, or different ones), MPI_ERR_TOPOLOGY (the
 * schedule is for another number of ranks or other nodes, the algorithm cannot serve this number of ranks, or a scan
 * has another order of ranks), MPI_ERR_COMM (the communicator is null, or has another number of groups), MPI_ERR_FILE
 * (the schedule could not be loaded), MPI_ERR_NO_MEM. */
QUADRILLE_API int quadrille_bind(quadrille_schedule schedule, MPI_Comm comm,
                                 const quadrille_bind_options* options);

/* Changes window, synchronous and block_size of a bound schedule, without communication. All ranks must make the same
 * change between the same two calls; nothing checks that. Errors: MPI_ERR_ARG (the schedule is not bound to the
 * communicator, or does not accept this block size). */
QUADRILLE_API int quadrille_retune(quadrille_schedule schedule, MPI_Comm comm,
                                   const quadrille_bind_options* options);

/* Returns whether a bound schedule combines contributions in the order of the communicator's ranks, and so accepts
 * operators that do not commute. Returns 0 if it does not reduce, or is not bound to the communicator. */
QUADRILLE_API int quadrille_keeps_order(quadrille_schedule schedule, MPI_Comm comm);

/* Binds a schedule for two groups to an intracommunicator. The ranks below `first_ranks` are one group, the others
 * are the other group; ranks are numbered from 0 in each. Calls with that communicator then mean the same as on an
 * intercommunicator of these groups. This serves coupled codes that share one communicator, and MPI libraries without
 * intercommunicators. A communicator has one such pair of groups for each schedule: bind another pair to a duplicate.
 * Errors: as for quadrille_bind, and MPI_ERR_ARG for a group without ranks. */
QUADRILLE_API int quadrille_bind_groups(quadrille_schedule schedule, MPI_Comm comm, int first_ranks,
                                        const quadrille_bind_options* options);

/* A handle of a persistent call. A freed handle is never reused. */
typedef uint64_t quadrille_request;
#define QUADRILLE_REQUEST_NULL ((quadrille_request)0)

/* Every collective has four functions. Those of MPI_Bcast are:
 *
 *   quadrille_bcast(schedule, buffer, count, datatype, root, comm);
 *   quadrille_bcast_c(...);         the same with MPI_Count counts and MPI_Aint displacements
 *   quadrille_bcast_init(schedule, buffer, count, datatype, root, comm, info, &request);
 *   quadrille_bcast_init_c(...);    a persistent call, as MPI_Bcast_init makes; `info` is ignored
 *
 * The first call binds the schedule, if it is not bound. The functions accept any datatype, zero counts and
 * MPI_IN_PLACE. They accept an intercommunicator if the schedule is for two groups. There `root` is MPI_ROOT,
 * MPI_PROC_NULL, or a rank of the other group; each call may have its root in either group. */
#define QUADRILLE_COLLECTIVE(name, arguments)                                                    \
  QUADRILLE_API int name(quadrille_schedule schedule, arguments(int, int), MPI_Comm comm);       \
  QUADRILLE_API int name##_c(quadrille_schedule schedule, arguments(MPI_Count, MPI_Aint),        \
                             MPI_Comm comm);                                                     \
  QUADRILLE_API int name##_init(quadrille_schedule schedule, arguments(int, int), MPI_Comm comm, \
                                MPI_Info info, quadrille_request* request);                      \
  QUADRILLE_API int name##_init_c(quadrille_schedule schedule, arguments(MPI_Count, MPI_Aint),   \
                                  MPI_Comm comm, MPI_Info info, quadrille_request* request)

/* The arguments, which are MPI's own. */
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
 * A schedule that forwards blocks packs each block once, at its source, and unpacks it once, at its target. Forwarded
 * blocks stay in the messages in which they arrived. That memory is reused once the blocks have been sent on. An
 * all-to-all in place copies its blocks first. This memory grows as calls need it and is freed with the communicator.
 *
 * A rank whose memory runs out in a call says so and ends the job, since other ranks would wait for it. Binding
 * returns MPI_ERR_NO_MEM at all ranks instead. Making a persistent call may do either.
 *
 * If lengths do not match, the receiver returns MPI_ERR_TRUNCATE. When the v and w forms forward blocks, nothing
 * outside the blocks changes. quadrille_alltoall relies on MPI's rule that all blocks have one length. Between two
 * groups, the rule is for the blocks that one group sends.
 *
 * A schedule that forwards no blocks leaves lengths to MPI. Then a call may wait for ever if only one of two ranks
 * says that a block is empty. Open MPI 4.1 may write beyond a block that is too short. MPICH 4.0 calls the error
 * handler of MPI_COMM_WORLD. With QUADRILLE_DEBUG=1 on all ranks, each all-to-all compares lengths first, and all
 * ranks return one error. Persistent calls always compare lengths when they are made. */
QUADRILLE_COLLECTIVE(quadrille_alltoall, QUADRILLE_EQUAL_BLOCKS);
QUADRILLE_COLLECTIVE(quadrille_alltoallv, QUADRILLE_COUNTED_BLOCKS);
QUADRILLE_COLLECTIVE(quadrille_alltoallw, QUADRILLE_TYPED_BLOCKS);
QUADRILLE_COLLECTIVE(quadrille_gather, QUADRILLE_EQUAL_BLOCKS_OF_ROOT);
QUADRILLE_COLLECTIVE(quadrille_gatherv, QUADRILLE_GATHERED_BLOCKS_OF_ROOT);
QUADRILLE_COLLECTIVE(quadrille_scatter, QUADRILLE_EQUAL_BLOCKS_OF_ROOT);
QUADRILLE_COLLECTIVE(quadrille_scatterv, QUADRILLE_SCATTERED_BLOCKS_OF_ROOT);

/* Collectives whose counts all ranks know. Data travels in packed form. If the receive type is not contiguous, the
 * library copies the receive buffer. All ranks must give the same counts. With QUADRILLE_DEBUG=1 on all ranks, each
 * call compares counts, checks that blocks do not overlap, and names the ranks that disagree. Persistent calls always
 * do so when they are made. */
QUADRILLE_COLLECTIVE(quadrille_allgather, QUADRILLE_EQUAL_BLOCKS);
QUADRILLE_COLLECTIVE(quadrille_allgatherv, QUADRILLE_GATHERED_BLOCKS);
QUADRILLE_COLLECTIVE(quadrille_bcast, QUADRILLE_BUFFER_OF_ROOT);

/* Reductions. They accept any operator. A schedule that does not combine contributions in the order of ranks
 * (quadrille_keeps_order) refuses operators that do not commute. Elements with gaps are copied to the library's
 * memory and back.
 *
 * Errors: MPI_ERR_ROOT, MPI_ERR_OP, and those of the other collectives. MPI_ERR_TYPE also if elements reach beyond
 * the extent of their datatype. */
QUADRILLE_COLLECTIVE(quadrille_reduce, QUADRILLE_ELEMENTS_OF_ROOT);
QUADRILLE_COLLECTIVE(quadrille_allreduce, QUADRILLE_ELEMENTS);
QUADRILLE_COLLECTIVE(quadrille_scan, QUADRILLE_ELEMENTS);
QUADRILLE_COLLECTIVE(quadrille_exscan, QUADRILLE_ELEMENTS);
QUADRILLE_COLLECTIVE(quadrille_reduce_scatter, QUADRILLE_COUNTED_ELEMENTS);
QUADRILLE_COLLECTIVE(quadrille_reduce_scatter_block, QUADRILLE_ELEMENTS);

QUADRILLE_API int quadrille_barrier(quadrille_schedule schedule, MPI_Comm comm);
QUADRILLE_API int quadrille_barrier_init(quadrille_schedule schedule, MPI_Comm comm, MPI_Info info,
                                         quadrille_request* request);

/* These do what MPI_Start, MPI_Wait and MPI_Request_free do, for a persistent call.
 *
 * Making the call is collective. It compares all lengths and takes the memory. A start takes more memory for a while
 * if the operator does not commute, or if a message has several long blocks. A start and its wait exchange the blocks
 * and nothing else. Several calls may be in flight, together with other calls on the communicator.
 *
 * A call outlives its communicator. If a private communicator is kept for it, MPI_Finalize frees that. Datatypes,
 * counts and displacements may be freed once the call is made. A user-defined operator gets a duplicate of the
 * datatype, and must live until the call is freed.
 *
 * Between start and wait the buffers belong to the library. A call progresses only while its rank waits for it. So
 * all ranks must wait for their calls in the same order, and no rank may depend on another between its own start and
 * wait.
 *
 * Errors of making the call have one class on all ranks: MPI_ERR_TRUNCATE if lengths do not match, MPI_ERR_ROOT if
 * roots differ. The functions below return MPI_ERR_REQUEST, and change nothing, if the request is null or freed, if a
 * call in flight is started or freed, or if a call that was not started is waited for. Start and wait return it after
 * MPI_Finalize, too: then a call in flight is lost, and can be freed. */
QUADRILLE_API int quadrille_start(quadrille_request request);
QUADRILLE_API int quadrille_wait(quadrille_request request);
QUADRILLE_API int quadrille_free_request(quadrille_request* request);

/* A description of a schedule, for messages and tools. */
typedef struct {
  size_t size;                        /* sizeof(quadrille_schedule_info), set by the caller */
  int64_t ranks;                      /* of the first group; 0: the schedule is for any nodes */
  int64_t nodes;                      /* of the first group; 0: not fixed, or without effect */
  char algorithm[64];                 /* "hierarchical-factor" */
  char collective[16];                /* "alltoall" */
  char hash[33];                      /* in hexadecimal; different for every schedule */
  int groups;                         /* 2: it is for intercommunicators */
  int64_t remote_ranks, remote_nodes; /* of the second group */
  int commutative;                    /* it is for commutative operators only */
  int canonical;                      /* the bits of its sums depend on the number of ranks alone */
} quadrille_schedule_info;
QUADRILLE_API int quadrille_info(quadrille_schedule schedule, quadrille_schedule_info* info);

/* Returns the MPI error class of a code that a function of this library returned, even before MPI_Init. */
QUADRILLE_API int quadrille_error_class(int code);

/* Writes the text of this process's last error, at most `size` bytes, even of one before MPI_Init. Else writes "". */
QUADRILLE_API void quadrille_last_error(char* text, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_RUNTIME_QUADRILLE_H_ */
