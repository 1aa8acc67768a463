/* Datatypes and blocks of buffers: what they are, and their packed form. For the runtime and the preload library. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_DATATYPES_H_
#define QUADRILLE_RUNTIME_EXECUTE_DATATYPES_H_

#include <mpi.h>
#include <stdint.h>

/* How MPI says that a datatype was made, by any constructor. */
struct qd_envelope {
  MPI_Count integers, addresses, counts, types; /* so many arguments of each kind */
  int combiner;
};
/* Reads it; an MPI error code. */
int qd_read_envelope(MPI_Datatype type, struct qd_envelope* envelope);
/* The datatypes among these arguments, in an array of `envelope->types`, to be given back. An MPI error code. */
int qd_read_inner_types(MPI_Datatype type, const struct qd_envelope* envelope, MPI_Datatype* inner);
/* Frees those that MPI has made for the caller. */
void qd_free_inner(MPI_Datatype* inner, MPI_Count types);

/* counted.c: whether the operator is MPI's own, which nobody frees. */
int qd_is_predefined_operator(MPI_Op operation);

/* One side of a call: where its blocks are, in the user's buffer or in one of ours. */
struct qd_side {
  char* base;
  MPI_Datatype type;
  int64_t type_size, extent; /* bytes packed, and from element to element */
  int on_device;             /* not in host memory: MPI packs and unpacks its blocks */
  int uniform;               /* count and stride, else the arrays of one width */
  int is_too_much;           /* 64 bits do not hold the stride */
  int64_t count, stride;
  const int *counts, *displacements;
  const MPI_Count* large_counts;
  const MPI_Aint* large_displacements; /* as displacements, in units of so many bytes: */
  int64_t unit;
  const MPI_Datatype* types; /* one a block; `type` and what depends on it mean nothing; or NULL */
};
struct qd_block {
  char* address;
  int64_t count; /* of elements */
};
static inline int64_t qd_count_of(const struct qd_side* side, int rank) {
  return side->uniform ? side->count : side->counts ? side->counts[rank] : side->large_counts[rank];
}
static inline struct qd_block qd_block_of(const struct qd_side* side, int rank) {
  if (side->uniform) return (struct qd_block){side->base + rank * side->stride, side->count};
  if (side->counts)
    return (struct qd_block){side->base + side->displacements[rank] * side->unit,
                             side->counts[rank]};
  /* That of an empty block may be anything. */
  const uintptr_t offset = (uintptr_t)side->large_displacements[rank] * (uintptr_t)side->unit;
  return (struct qd_block){(char*)((uintptr_t)side->base + offset), side->large_counts[rank]};
}
/* Reads extent and size of the type, or looks at all of them; an MPI error code. */
int qd_side_describe(struct qd_side* side, int ranks);
/* The side with the type of that rank's block. */
struct qd_side qd_side_of(const struct qd_side* side, int rank);
/* Whether the type is MPI's own, or MPI_DATATYPE_NULL: nobody frees it, and MPI's operators take no duplicate of it. */
int qd_is_predefined(MPI_Datatype type);
/* Whether the bytes of a block in memory are those of its packed form. */
int qd_is_contiguous(MPI_Datatype type);
/* Between a block and its packed form of any length, which is count x type size bytes. */
int qd_pack(const struct qd_side* side, struct qd_block block, char* packed, MPI_Comm comm);
int qd_unpack(const struct qd_side* side, struct qd_block block, char* packed, MPI_Comm comm);
/* A type that covers more elements than an int counts; to be freed. */
int qd_large_type(int64_t count, MPI_Datatype type, MPI_Datatype* large);
/* Whether a block of the type is that many bytes without gaps. */
int qd_has_no_gaps(MPI_Datatype type);
/* Whether the elements of a block lie one behind the other, gaps or not, from its address on. */
int qd_elements_are_disjoint(MPI_Datatype type);
/* All blocks, by rank: of elements, or of bytes. Returns 0 where 64 bits do not hold them. */
int qd_side_blocks(const struct qd_side* side, int ranks, int in_bytes, struct qd_block* blocks);
/* Copies a block of the one side to a block of the other, at this rank, which is `own`; `tag` is nobody
 * else's. */
int qd_copy_block(MPI_Comm comm, int own, int tag, const struct qd_side* from,
                  struct qd_block source, const struct qd_side* to, struct qd_block target);

#endif /* QUADRILLE_RUNTIME_EXECUTE_DATATYPES_H_ */
