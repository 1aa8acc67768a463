/* Reads datatypes and blocks of the user's buffers, packs and unpacks blocks, and copies them. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/execute/datatypes.h"
#include "runtime/execute/state.h"

static int describe_type(struct qd_side* side) {
  MPI_Aint lower = 0, extent = 0;
  MPI_Count size = 0;
  if (side->type == MPI_DATATYPE_NULL) return MPI_ERR_TYPE;
  int code = PMPI_Type_get_extent(side->type, &lower, &extent);
  if (code == MPI_SUCCESS) code = PMPI_Type_size_x(side->type, &size);
  side->extent = extent;
  side->type_size = size;
  side->is_too_much = __builtin_mul_overflow(side->count, extent, &side->stride);
  return code;
}

struct qd_side qd_side_of(const struct qd_side* side, int rank) {
  struct qd_side own = *side;
  if (!side->types) return own;
  own.types = NULL;
  own.type = side->types[rank];
  describe_type(&own);
  return own;
}

int qd_side_describe(struct qd_side* side, int ranks) {
  int code = MPI_SUCCESS;
  if (!side->types) {
    code = describe_type(side);
    side->unit = side->extent;
    return code;
  }
  struct qd_side own = *side;
  for (int rank = 0; rank < ranks && code == MPI_SUCCESS; rank++) {
    if (qd_count_of(side, rank) == 0) continue; /* the type of an empty block may be null */
    if (own.type == side->types[rank]) continue;
    own.type = side->types[rank];
    code = describe_type(&own);
  }
  side->unit = 1;
  return code;
}

/* Writes blocks of any counts and types, as qd_side_blocks. */
static int read_blocks(const struct qd_side* side, int ranks, int in_bytes,
                       struct qd_block* blocks) {
  int64_t total = 0, offset, size = side->type_size;
  for (int rank = 0; rank < ranks; rank++) {
    blocks[rank] = (struct qd_block){side->base, 0};
    if (qd_count_of(side, rank) == 0) continue; /* its address and type may be invalid */
    if (!side->counts &&
        __builtin_mul_overflow(side->large_displacements[rank], side->unit, &offset))
      return 0;
    struct qd_block block = qd_block_of(side, rank);
    if (side->types) size = qd_side_of(side, rank).type_size;
    int64_t bytes;
    if (__builtin_mul_overflow(block.count, size, &bytes) ||
        __builtin_add_overflow(total, bytes, &total))
      return 0;
    if (in_bytes) block.count = bytes;
    blocks[rank] = block;
  }
  return 1;
}

/* Writes blocks of one type whose counts are ints, as qd_side_blocks. The sum of the counts cannot overflow. */
static int read_small_blocks(const struct qd_side* side, int ranks, int in_bytes,
                             struct qd_block* blocks) {
  const uint64_t size = in_bytes ? (uint64_t)side->type_size : 1;
  int64_t total = 0;
  for (int rank = 0; rank < ranks; rank++) {
    const int64_t count = side->counts[rank];
    char* const address = side->base + side->displacements[rank] * side->unit;
    blocks[rank] = (struct qd_block){address, (int64_t)((uint64_t)count * size)};
    total += count;
  }
  return !__builtin_mul_overflow(total, side->type_size, &total);
}

int qd_side_blocks(const struct qd_side* side, int ranks, int in_bytes, struct qd_block* blocks) {
  int64_t count = side->count, last, bytes;
  if (side->counts && !side->types) return read_small_blocks(side, ranks, in_bytes, blocks);
  if (!side->uniform) return read_blocks(side, ranks, in_bytes, blocks);
  if (side->is_too_much || __builtin_mul_overflow(count, side->type_size, &bytes) ||
      __builtin_mul_overflow(bytes, (int64_t)ranks, &last) ||
      __builtin_mul_overflow(side->stride, (int64_t)ranks, &last))
    return 0;
  if (in_bytes) count = bytes;
  for (int rank = 0; rank < ranks; rank++)
    blocks[rank] = (struct qd_block){side->base + rank * side->stride, count};
  return 1;
}

int qd_has_no_gaps(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return 1; /* no elements */
  MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  MPI_Count size = 0;
  PMPI_Type_get_extent(type, &lower, &extent);
  PMPI_Type_get_true_extent(type, &true_lower, &true_extent);
  PMPI_Type_size_x(type, &size);
  return lower == 0 && true_lower == 0 && extent == (MPI_Aint)size && true_extent == (MPI_Aint)size;
}

int qd_elements_are_disjoint(MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  PMPI_Type_get_extent(type, &lower, &extent);
  PMPI_Type_get_true_extent(type, &true_lower, &true_extent);
  return true_lower >= 0 && true_lower + true_extent <= extent;
}

/* MPI libraries with large counts have these. NULL: the library that the program runs with has none. */
__attribute__((weak)) int PMPI_Type_get_envelope_c(MPI_Datatype type, MPI_Count* integers,
                                                   MPI_Count* addresses, MPI_Count* counts,
                                                   MPI_Count* types, int* combiner);
__attribute__((weak)) int PMPI_Type_get_contents_c(MPI_Datatype type, MPI_Count most_integers,
                                                   MPI_Count most_addresses, MPI_Count most_counts,
                                                   MPI_Count most_types, int integers[],
                                                   MPI_Aint addresses[], MPI_Count counts[],
                                                   MPI_Datatype types[]);

int qd_read_envelope(MPI_Datatype type, struct qd_envelope* m) {
  int integers = 0, addresses = 0, types = 0;
  if (PMPI_Type_get_envelope_c)
    return PMPI_Type_get_envelope_c(type, &m->integers, &m->addresses, &m->counts, &m->types,
                                    &m->combiner);
  const int code = PMPI_Type_get_envelope(type, &integers, &addresses, &types, &m->combiner);
  *m = (struct qd_envelope){integers, addresses, 0, types, m->combiner};
  return code;
}

int qd_read_inner_types(MPI_Datatype type, const struct qd_envelope* m, MPI_Datatype* inner) {
  int* integers = calloc((size_t)m->integers + 1, sizeof *integers);
  MPI_Aint* addresses = calloc((size_t)m->addresses + 1, sizeof *addresses);
  MPI_Count* counts = calloc((size_t)m->counts + 1, sizeof *counts);
  int code = integers && addresses && counts ? MPI_SUCCESS : MPI_ERR_NO_MEM;
  if (code == MPI_SUCCESS && PMPI_Type_get_contents_c)
    code = PMPI_Type_get_contents_c(type, m->integers, m->addresses, m->counts, m->types, integers,
                                    addresses, counts, inner);
  else if (code == MPI_SUCCESS)
    code = PMPI_Type_get_contents(type, (int)m->integers, (int)m->addresses, (int)m->types,
                                  integers, addresses, inner);
  free(integers);
  free(addresses);
  free(counts);
  return code;
}

void qd_free_inner(MPI_Datatype* inner, MPI_Count types) {
  for (MPI_Count i = 0; i < types; i++)
    if (!qd_is_predefined(inner[i])) PMPI_Type_free(&inner[i]);
}

int qd_is_predefined(MPI_Datatype type) {
  struct qd_envelope m;
  if (type == MPI_DATATYPE_NULL) return 1;
  return qd_read_envelope(type, &m) == MPI_SUCCESS &&
         (m.combiner == MPI_COMBINER_NAMED || m.combiner == MPI_COMBINER_F90_REAL ||
          m.combiner == MPI_COMBINER_F90_COMPLEX || m.combiner == MPI_COMBINER_F90_INTEGER);
}

int qd_is_exchangeable(MPI_Op operation) {
  return operation == MPI_SUM || operation == MPI_PROD || operation == MPI_BAND ||
         operation == MPI_BOR || operation == MPI_BXOR || operation == MPI_LAND ||
         operation == MPI_LOR || operation == MPI_LXOR;
}

int qd_is_predefined_operator(MPI_Op operation) {
  return qd_is_exchangeable(operation) || operation == MPI_MAX || operation == MPI_MIN ||
         operation == MPI_MAXLOC || operation == MPI_MINLOC;
}

int qd_is_contiguous(MPI_Datatype type) {
  struct qd_envelope m;
  MPI_Datatype inner;
  if (type == MPI_BYTE || type == MPI_DATATYPE_NULL) return 1;
  if (!qd_has_no_gaps(type) || qd_read_envelope(type, &m) != MPI_SUCCESS) return 0;
  if (m.combiner == MPI_COMBINER_NAMED) return 1;
  /* These constructors have one inner type and keep the order of its elements. */
  if (m.combiner != MPI_COMBINER_DUP && m.combiner != MPI_COMBINER_CONTIGUOUS &&
      m.combiner != MPI_COMBINER_RESIZED)
    return 0;
  if (qd_read_inner_types(type, &m, &inner) != MPI_SUCCESS) return 0;
  const int simple = qd_is_contiguous(inner);
  qd_free_inner(&inner, 1);
  return simple;
}

/* Returns how many elements to pack in one call of MPI, which counts bytes in an int. */
static int64_t elements_at_once(const struct qd_side* side) {
  enum { MOST_BYTES = 1 << 30 };
  return side->type_size >= MOST_BYTES ? 1 : MOST_BYTES / side->type_size;
}

/* MPICH packs nothing at MPI_BOTTOM, a null pointer. This makes a type of the same elements for another address. */
static int move_from_bottom(MPI_Datatype type, char** address, MPI_Datatype* moved) {
  MPI_Aint at;
  int one = 1, code = PMPI_Get_address(&qd_global, &at);
  at = (MPI_Aint)(0 - (uintptr_t)at);
  MPI_Aint lower, extent;
  MPI_Datatype displaced;
  if (code == MPI_SUCCESS) code = PMPI_Type_get_extent(type, &lower, &extent);
  if (code == MPI_SUCCESS) code = PMPI_Type_create_hindexed(1, &one, &at, type, &displaced);
  if (code != MPI_SUCCESS) return code;
  code = PMPI_Type_create_resized(displaced, lower, extent, moved);
  PMPI_Type_free(&displaced);
  *address = (char*)&qd_global;
  return code == MPI_SUCCESS ? PMPI_Type_commit(moved) : code;
}

static int convert(const struct qd_side* side, struct qd_block block, char* packed, int unpacks,
                   MPI_Comm comm);

static int convert_from_bottom(struct qd_side side, struct qd_block block, char* packed,
                               int unpacks, MPI_Comm comm) {
  int code = move_from_bottom(side.type, &block.address, &side.type);
  if (code != MPI_SUCCESS) return code;
  code = convert(&side, block, packed, unpacks, comm);
  PMPI_Type_free(&side.type);
  return code;
}

/* Unpacks a block if `unpacks`, else packs it. Returns an MPI error code. */
static int convert(const struct qd_side* side, struct qd_block block, char* packed, int unpacks,
                   MPI_Comm comm) {
  if (!block.address && block.count > 0 && side->type_size > 0)
    return convert_from_bottom(*side, block, packed, unpacks, comm);
  if (side->type_size == 0) return MPI_SUCCESS;
  int code = side->type_size > INT_MAX ? MPI_ERR_COUNT : MPI_SUCCESS;
  while (block.count > 0 && code == MPI_SUCCESS) {
    int64_t count = elements_at_once(side);
    if (count > block.count) count = block.count;
    const int64_t bytes = count * side->type_size;
    int position = 0;
    code = unpacks ? PMPI_Unpack(packed, (int)bytes, &position, block.address, (int)count,
                                 side->type, comm)
                   : PMPI_Pack(block.address, (int)count, side->type, packed, (int)bytes, &position,
                               comm);
    block.address += count * side->extent;
    block.count -= count;
    packed += bytes;
  }
  return code;
}

int qd_pack(const struct qd_side* side, struct qd_block block, char* packed, MPI_Comm comm) {
  return convert(side, block, packed, 0, comm);
}

int qd_unpack(const struct qd_side* side, struct qd_block block, char* packed, MPI_Comm comm) {
  return convert(side, block, packed, 1, comm);
}

int qd_large_type(int64_t count, MPI_Datatype type, MPI_Datatype* large) {
  const int64_t chunk = 1 << 30;
  MPI_Aint lower, extent;
  MPI_Datatype one_chunk, parts[2];
  int lengths[2] = {1, (int)(count % chunk)};
  MPI_Aint displacements[2] = {0, 0};
  int code = PMPI_Type_get_extent(type, &lower, &extent);
  if (code == MPI_SUCCESS) code = PMPI_Type_contiguous((int)chunk, type, &one_chunk);
  if (code != MPI_SUCCESS) return code;
  code = PMPI_Type_contiguous((int)(count / chunk), one_chunk, &parts[0]);
  PMPI_Type_free(&one_chunk);
  if (code != MPI_SUCCESS) return code;
  parts[1] = type;
  displacements[1] = (MPI_Aint)(count / chunk * chunk) * extent;
  code = PMPI_Type_create_struct(2, lengths, displacements, parts, large);
  PMPI_Type_free(&parts[0]);
  return code == MPI_SUCCESS ? PMPI_Type_commit(large) : code;
}

/* Writes a count that an int holds, and the type for it. The caller frees this type if it is not `type`. */
static int int_sized(int64_t count, MPI_Datatype type, int* few, MPI_Datatype* as) {
  *as = type;
  *few = count <= INT_MAX ? (int)count : 1;
  return count <= INT_MAX ? MPI_SUCCESS : qd_large_type(count, type, as);
}

int qd_copy_block(MPI_Comm comm, int own, int tag, const struct qd_side* from,
                  struct qd_block source, const struct qd_side* to, struct qd_block target) {
  if (source.count * from->type_size == 0) return MPI_SUCCESS;
  if (from->type == to->type && source.count == target.count) {
    if (source.address == target.address) return MPI_SUCCESS;
    if (qd_has_no_gaps(from->type) && !from->on_device && !to->on_device) {
      memcpy(target.address, source.address, (size_t)(source.count * from->type_size));
      return MPI_SUCCESS;
    }
  }
  /* Open MPI reports no error if a message from a rank to itself is too long. */
  if (source.count * from->type_size > target.count * to->type_size) return MPI_ERR_TRUNCATE;
  int send_count, receive_count;
  MPI_Datatype send_type, receive_type;
  int code = int_sized(source.count, from->type, &send_count, &send_type);
  if (code != MPI_SUCCESS) return code;
  code = int_sized(target.count, to->type, &receive_count, &receive_type);
  if (code == MPI_SUCCESS)
    code = PMPI_Sendrecv(source.address, send_count, send_type, own, tag, target.address,
                         receive_count, receive_type, own, tag, comm, MPI_STATUS_IGNORE);
  if (send_type != from->type) PMPI_Type_free(&send_type);
  if (receive_type != to->type) PMPI_Type_free(&receive_type);
  return code;
}
