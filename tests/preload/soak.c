/* A plain MPI program: random collectives with random counts and datatypes on short-lived communicators.
 * QUADRILLE=verify checks their results. soak CALLS SEED */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { COMMS = 6, MOST = 64, ROOM = 1 << 20, TYPES = 4 };

static uint64_t state;
static char *sent, *received;
static MPI_Datatype types[TYPES]; /* each of two integers */
static MPI_Comm comms[COMMS];
static int world, ranks;

/* The same on all ranks. */
static int draw(int choices) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return (int)((state >> 33) % (uint64_t)choices);
}

static void make_types(void) {
  MPI_Datatype two;
  MPI_Type_contiguous(2, MPI_INT, &types[0]);
  MPI_Type_vector(2, 1, 3, MPI_INT, &types[1]);
  MPI_Type_create_resized(types[0], 0, 20, &types[2]);
  MPI_Type_create_hindexed(2, (int[]){1, 1}, (MPI_Aint[]){8, 0}, MPI_INT, &two);
  MPI_Type_create_resized(two, -4, 24, &types[3]);
  MPI_Type_free(&two);
  for (int i = 0; i < TYPES; i++) MPI_Type_commit(&types[i]);
}

static void make_comm(MPI_Comm* comm) {
  MPI_Comm local;
  const int colors = 1 + draw(3), first = 1 + draw(ranks > 1 ? ranks - 1 : 1);
  int color = 0;
  for (int i = 0; i < ranks; i++) {
    const int drawn = draw(colors);
    if (i == world) color = drawn;
  }
  const int kind = draw(ranks > 1 ? 4 : 3), group = world >= first;
  if (kind == 0) {
    MPI_Comm_dup(MPI_COMM_WORLD, comm);
  } else if (kind < 3) {
    MPI_Comm_split(MPI_COMM_WORLD, color, kind == 1 ? world : -world, comm);
  } else {
    MPI_Comm_split(MPI_COMM_WORLD, group, world, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, group ? 0 : first, 7, comm);
    MPI_Comm_free(&local);
  }
}

/* The length for a pair of ranks of the two groups, or of the one; mostly small. */
static int count_of(int call, int source, int target) {
  const unsigned mixed = (unsigned)(call * 31 + source * 7 + target * 13) * 2654435761U >> 8;
  return (int)(mixed % (mixed % 16 == 0 ? 200 : 6));
}

static void one_call(int call, MPI_Comm comm) {
  int inter = 0, rank = 0, own = 0, others = 0, sends[MOST], receives[MOST], to[MOST], from[MOST];
  MPI_Datatype send_types[MOST], receive_types[MOST];
  MPI_Comm_test_inter(comm, &inter);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &own);
  others = own;
  if (inter) MPI_Comm_remote_size(comm, &others);
  const MPI_Datatype send = types[draw(TYPES)], receive = types[draw(TYPES)];
  const int which = draw(12), n = draw(8) == 0 ? draw(200) : draw(5), root = draw(MOST) % own;
  const int in_place = !inter && draw(4) == 0;
  for (int r = 0; r < others; r++) {
    sends[r] = inter ? count_of(call, rank + r, 0) : count_of(call, rank, r);
    receives[r] = inter ? count_of(call, rank + r, 0) : count_of(call, r, rank);
    to[r] = from[r] = 201 * r;
    send_types[r] = types[(call + r) % TYPES];
    receive_types[r] = types[(call + 2 * r) % TYPES];
  }
  const MPI_Op op = (MPI_Op[]){MPI_SUM, MPI_MAX, MPI_BXOR}[draw(3)];
  char* const out = received + 64;
  const void* const in = in_place ? MPI_IN_PLACE : sent + 64;
  switch (which) {
    case 0: MPI_Alltoall(in, n, send, out, n, receive, comm); break;
    case 1: MPI_Alltoallv(sent + 64, sends, to, send, out, receives, from, receive, comm); break;
    case 2:
      for (int r = 0; r < others; r++) {
        to[r] *= 24;
        from[r] *= 24;
      }
      MPI_Alltoallw(sent + 64, sends, to, send_types, out, receives, from, receive_types, comm);
      break;
    case 3: MPI_Allgather(in, n, send, out, n, receive, comm); break;
    case 4:
      for (int r = 0; r < others; r++) receives[r] = inter ? n : count_of(call, r, 0);
      MPI_Allgatherv(in, inter ? n : receives[rank], send, out, receives, from, receive, comm);
      break;
    case 5: MPI_Allreduce(in, out, n, MPI_INT, op, comm); break;
    case 6: MPI_Reduce_scatter_block(in, out, inter ? 0 : n, MPI_INT, op, comm); break;
    case 7:
      for (int r = 0; r < own; r++) receives[r] = inter ? 0 : count_of(call, r, 0);
      MPI_Reduce_scatter(in, out, receives, MPI_INT, op, comm);
      break;
    case 8:
      if (!inter) MPI_Bcast(out, n, root % 2 ? send : receive, root, comm);
      break;
    case 9:
      if (!inter) MPI_Gather(sent + 64, n, send, out, n, receive, root, comm);
      break;
    case 10:
      if (!inter) MPI_Scatter(sent + 64, n, send, out, n, receive, root, comm);
      break;
    default:
      if (!inter) MPI_Scan(in, out, n, MPI_INT, op, comm);
  }
}

static long memory(void) {
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file && fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
  if (file) fclose(file);
  return 4 * pages;
}

int main(int count, char** arguments) {
  const int calls = count > 1 ? atoi(arguments[1]) : 300;
  state = count > 2 ? (uint64_t)atoi(arguments[2]) : 1;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  sent = malloc(ROOM);
  received = malloc(ROOM);
  for (int i = 0; i < ROOM; i++) sent[i] = (char)(i * 7 + world * 31 + i / 251);
  for (int i = 0; i < ROOM; i++) received[i] = (char)(i * 5 + world);
  make_types();
  for (int i = 0; i < COMMS; i++) make_comm(&comms[i]);
  long half = 0;
  for (int call = 0; call < calls; call++) {
    if (draw(40) == 0) {
      MPI_Comm* const comm = &comms[draw(COMMS)];
      MPI_Comm_free(comm);
      make_comm(comm);
    }
    one_call(call, comms[draw(COMMS)]);
    if (call == calls / 2) half = memory();
  }
  if (world == 0 && calls > 1000) printf("%ld KiB, %ld at half the calls\n", memory(), half);
  for (int i = 0; i < COMMS; i++) MPI_Comm_free(&comms[i]);
  for (int i = 0; i < TYPES; i++) MPI_Type_free(&types[i]);
  printf("rank %d ran %d tests, all passed\n", world, calls);
  free(sent);
  free(received);
  MPI_Finalize();
  return 0;
}
