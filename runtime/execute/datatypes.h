/* Datatypes, and blocks of buffers in memory and in packed form. The runtime and the preload library use this. */
#pragma once

#include <mpi.h>
#include <stdint.h>

/* The envelope of a datatype: its constructor, and how many arguments that had. */
struct qd_envelope {
  MPI_Count integers, addresses, counts, types; /* how many arguments of each kind */
  int combiner;
};
/* Reads the envelope. Returns an MPI error code. */
int qd_read_envelope(MPI_Datatype type, struct qd_envelope* envelope);
/* Writes the datatypes among the constructor's arguments to `inner`, which has `envelope->types` entries. The caller
 * frees them with qd_free_inner. Returns an MPI error code. */
int qd_read_inner_types(MPI_Datatype type, const struct qd_envelope* envelope, MPI_Datatype* inner);
/* Frees the inner datatypes that are not predefined. */
void qd_free_inner(MPI_Datatype* inner, MPI_Count types);

/* Returns whether the operator is predefined for reductions, so that no program frees it. */
int qd_is_predefined_operator(MPI_Op operation);
/* Returns whether operands may be exchanged without changing any bit of the result. The maximum depends on the order
 * of its operands if one is NaN, or if they are zeros of different signs. A user's operator may depend on it too. */
int qd_is_exchangeable(MPI_Op operation);

/* The send side or the receive side of a call: its blocks, in the user's buffer or in a buffer of the runtime. */
struct qd_side {
  char* base;
  MPI_Datatype type;
  int64_t type_size, extent; /* bytes of a packed element, and from one element to the next */
  int on_device;             /* the caller says that only MPI may read and write the buffer */
  int uniform;               /* all blocks have `count` and `stride`; else there are arrays */
  int is_too_much;           /* 64 bits do not hold the stride */
  int64_t count, stride;
  const int *counts, *displacements;
  const MPI_Count* large_counts;
  const MPI_Aint* large_displacements;
  int64_t unit;              /* the bytes of a unit of the displacements */
  const MPI_Datatype* types; /* one for each block, instead of `type`; or NULL */
};
struct qd_block {
  char* address;
  int64_t count; /* of elements, or of bytes */
};
static inline int64_t qd_count_of(const struct qd_side* side, int rank) {
  return side->uniform ? side->count : side->counts ? side->counts[rank] : side->large_counts[rank];
}
static inline struct qd_block qd_block_of(const struct qd_side* side, int rank) {
  if (side->uniform) return (struct qd_block){side->base + rank * side->stride, side->count};
  if (side->counts)
    return (struct qd_block){side->base + side->displacements[rank] * side->unit,
                             side->counts[rank]};
  /* the displacement of an empty block may have any value */
  const uintptr_t offset = (uintptr_t)side->large_displacements[rank] * (uintptr_t)side->unit;
  return (struct qd_block){(char*)((uintptr_t)side->base + offset), side->large_counts[rank]};
}
/* Returns whether a buffer may have this address. MPI_IN_PLACE is the first or the last byte of memory. */
static inline int qd_is_address(const void* buffer) {
  enum { NO_MEMORY = 4096 };
  return buffer != MPI_IN_PLACE && (uintptr_t)buffer >= NO_MEMORY;
}
/* Reads extent and size of the type, or checks that MPI can tell those of all types. Returns an MPI error code. */
int qd_side_describe(struct qd_side* side, int ranks);
/* Returns the side with the type of this rank's block. */
struct qd_side qd_side_of(const struct qd_side* side, int rank);
/* Returns whether the type is predefined or MPI_DATATYPE_NULL. No program frees such a type, and MPI's operators do
 * not accept a duplicate of it. */
int qd_is_predefined(MPI_Datatype type);
/* Returns whether the bytes of a block in memory are its packed form. */
int qd_is_contiguous(MPI_Datatype type);
/* These pack and unpack a block, of count x type size bytes in packed form. They return an MPI error code. */
int qd_pack(const struct qd_side* side, struct qd_block block, char* packed, MPI_Comm comm);
int qd_unpack(const struct qd_side* side, struct qd_block block, char* packed, MPI_Comm comm);
/* Makes a type of `count` elements, which an int may not hold. The caller frees it. Returns an MPI error code. */
int qd_large_type(int64_t count, MPI_Datatype type, MPI_Datatype* large);
/* Returns whether consecutive elements of the type fill memory without gaps. */
int qd_has_no_gaps(MPI_Datatype type);
/* Returns whether each element of the type is within its extent, which starts at its address. */
int qd_elements_are_disjoint(MPI_Datatype type);
/* Writes all blocks by rank, counted in bytes or in elements. Returns 0 if 64 bits do not hold all bytes. */
int qd_side_blocks(const struct qd_side* side, int ranks, int in_bytes, struct qd_block* blocks);
/* Copies a block of this rank to another one. This rank is `own` in `comm`, and no other message to itself may use
 * `tag`. Returns an MPI error code. */
int qd_copy_block(MPI_Comm comm, int own, int tag, const struct qd_side* from,
                  struct qd_block source, const struct qd_side* to, struct qd_block target);

/* channel.c. These return whether MPI accepts the operator for elements of the type, and whether the type is
 * committed. They use a private communicator, so that MPI does not call the user's error handler. */
int qd_operator_fits(MPI_Op operation, MPI_Datatype type);
int qd_is_committed(MPI_Datatype type);
