/* A call on its route: what has been posted, what has arrived, and the memory for it.
 *
 * Blocks travel as the bytes of their packed forms. Receives are posted as soon as the window has
 * room for their step, into memory of their own; a step's blocks are put where they belong once all
 * of it, and of all steps before it, has arrived, and its own sends have been copied out. So nothing
 * is overwritten that is still to be read, a block that the same step sends and receives included.
 *
 * Where lengths are not known, a message begins with them: a word that says how it goes on, then one
 * length a piece. Up to QUADRILLE_EAGER_BYTES of data follow in the same message, so a step of small
 * blocks is one message; what is longer follows in a second one on a tag of its own. */
#ifndef QUADRILLE_RUNTIME_TRAFFIC_H_
#define QUADRILLE_RUNTIME_TRAFFIC_H_

#include <string.h>

#include "runtime/internal.h"
#include "runtime/route.h"

/* The same at all ranks. */
enum { QUADRILLE_EAGER_BYTES = 1 << 14 };

/* What travels: lengths and blocks; lengths alone; blocks of which all lengths are known. */
enum quadrille_cargo { QUADRILLE_CARGO_BOTH, QUADRILLE_CARGO_LENGTHS, QUADRILLE_CARGO_BLOCKS };

/* Memory that grows. */
struct quadrille_room {
  char* address;
  int64_t size;
};

/* Packed, where it is of a temporary block or of a side that packs as it lies. */
struct quadrille_stored {
  char* address;
  int64_t bytes;
};

/* A message under way. */
struct quadrille_parcel {
  MPI_Request request, data;  /* of the message, and of data that follows in another */
  struct quadrille_room room; /* the lengths, then the data */
  char* address; /* of the data: in the room, or where its one block lies; NULL: there is none */
  int64_t bytes; /* of the data */
};

/* Messages by number, modulo a power of two. */
struct quadrille_parcels {
  struct quadrille_parcel* all;
  uint32_t mask;
};

/* A message of which all is known before it starts. */
struct quadrille_fixed_message {
  MPI_Request request;
  char* address; /* of the data: in the arena, or where its one block lies */
  int64_t bytes;
};

struct quadrille_fixed_copy {
  char *from, *to; /* the same: nothing is to be done */
  int64_t bytes;
};

/* A call of which all lengths are known: what belongs to the route's messages, pieces and copies. */
struct quadrille_fixed {
  struct quadrille_fixed_message *receives, *sends;
  struct quadrille_stored* pieces; /* where they come from, or go to from where they arrive */
  struct quadrille_fixed_copy* copies;
  char* arena; /* messages and temporary blocks */
};

/* A block that is not as long as its receiver says. */
struct quadrille_mismatch {
  int source; /* rank in the communicator; -1: there is none */
  int64_t sent, expected;
};

struct quadrille_traffic {
  const struct quadrille_route* route;
  struct quadrille_binding* binding;
  enum quadrille_cargo cargo;
  int window, length_tag, data_tag;
  int (*post_send)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

  struct quadrille_side send, receive;   /* types alone: where blocks lie is stored */
  int in_place, send_lies, receive_lies; /* lies: in memory as it is packed */
  struct quadrille_stored* stored;       /* by place */
  struct quadrille_room* slots;          /* for temporary blocks that cannot stay where they are */
  struct quadrille_room copy;            /* of all that is sent, for calls in place */

  struct quadrille_parcels incoming, outgoing; /* while lengths are not known */
  struct quadrille_fixed fixed;                /* of persistent calls */
  int posted;                                  /* steps whose receives are posted */
  int sent;                                    /* steps whose sends are posted */
  int received;                                /* steps that have arrived in full */
  int gone;                                    /* steps whose sends are over */
  int headed; /* incoming messages of which the beginning was read */
  int error;  /* the first MPI error, or MPI_SUCCESS */
  struct quadrille_mismatch mismatch;
};

/* Makes room for calls by that route, and in each message that arrives for so much data; 0 where
 * memory ran out, and everything is to be closed. */
int quadrille_traffic_open(struct quadrille_traffic* traffic, struct quadrille_binding* binding,
                           const struct quadrille_route* route, int window, int64_t data);
void quadrille_traffic_close(struct quadrille_traffic* traffic);
/* Gives back what is needed while lengths are not known. */
void quadrille_traffic_shrink(struct quadrille_traffic* traffic);
/* Empties the temporary blocks, which lie where those of the call before did. */
void quadrille_traffic_forget(struct quadrille_traffic* traffic);
/* Where the blocks of a call lie, and how long they are. Returns NULL, or what is wrong, with its
 * class. */
const char* quadrille_traffic_load(struct quadrille_traffic* traffic,
                                   const struct quadrille_side* send,
                                   const struct quadrille_side* receive, int in_place,
                                   int* error_class);
/* Posts what need not wait. */
void quadrille_traffic_start(struct quadrille_traffic* traffic, enum quadrille_cargo cargo);
/* Waits until all is over. */
void quadrille_traffic_finish(struct quadrille_traffic* traffic);
/* What is wrong with the lengths of a call that is over; NULL: nothing. */
const char* quadrille_traffic_mismatch(const struct quadrille_traffic* traffic,
                                       char text[QUADRILLE_TEXT]);
/* What the call came to: an MPI error code, after the communicator's handler was called. */
int quadrille_traffic_report(const struct quadrille_traffic* traffic, MPI_Comm comm);

/* parcels.c: one message. */
void quadrille_parcel_receive(struct quadrille_traffic* traffic, int message);
void quadrille_parcel_send(struct quadrille_traffic* traffic, int message);
/* Waits for an incoming message and puts its blocks where they belong. */
void quadrille_parcel_land(struct quadrille_traffic* traffic, int message);
/* Waits until an outgoing message is gone. */
void quadrille_parcel_wait(struct quadrille_traffic* traffic, int message);
/* Takes the block of one place to another, one of which is temporary. */
void quadrille_parcel_copy(struct quadrille_traffic* traffic, int from, int to);
/* Copies this rank's block to itself. */
void quadrille_parcel_copy_own(struct quadrille_traffic* traffic, int own);
/* Where the room of a message for so many pieces begins to hold data. */
int64_t quadrille_parcel_head(int pieces);
/* Posts a receive, or a send, of any length. */
void quadrille_traffic_post(struct quadrille_traffic* traffic, int receives, char* address,
                            int64_t bytes, int peer, int tag, MPI_Request* request);

/* Packs a block of a place that is sent, or unpacks one that is received. */
void quadrille_traffic_pack(struct quadrille_traffic* traffic, int place,
                            const struct quadrille_stored* stored, char* to);
void quadrille_traffic_unpack(struct quadrille_traffic* traffic, int place,
                              const struct quadrille_stored* stored, char* from);

/* fixed.c: opens what is written when lengths alone travel; 0 where memory ran out. */
int quadrille_fixed_open(struct quadrille_traffic* traffic);
/* Lays everything out, once lengths have travelled; 0 where memory ran out. */
int quadrille_fixed_settle(struct quadrille_traffic* traffic);
void quadrille_fixed_close(struct quadrille_fixed* fixed);
/* As quadrille_parcel_receive and so on. */
void quadrille_fixed_receive(struct quadrille_traffic* traffic, int message);
void quadrille_fixed_send(struct quadrille_traffic* traffic, int message);
void quadrille_fixed_land(struct quadrille_traffic* traffic, int message);
void quadrille_fixed_wait(struct quadrille_traffic* traffic, int message);
void quadrille_fixed_copy(struct quadrille_traffic* traffic, int copy);

static inline void quadrille_traffic_check(struct quadrille_traffic* traffic, int code) {
  if (code != MPI_SUCCESS && traffic->error == MPI_SUCCESS) traffic->error = code;
}
static inline int quadrille_traffic_wait(MPI_Request* request) {
  return *request == MPI_REQUEST_NULL ? MPI_SUCCESS : MPI_Wait(request, MPI_STATUS_IGNORE);
}
/* Copies a block that is not empty, of a place that is sent or temporary, into a message. */
static inline void quadrille_traffic_take_out(struct quadrille_traffic* t, const int32_t* place,
                                              const struct quadrille_stored* stored, char* to) {
  if (t->send_lies || *place >= t->route->ranks)
    memcpy(to, stored->address, (size_t)stored->bytes);
  else
    quadrille_traffic_pack(t, *place, stored, to);
}
/* The same, from a message to a place that is received or temporary. */
static inline void quadrille_traffic_put_in(struct quadrille_traffic* t, const int32_t* place,
                                            const struct quadrille_stored* stored, char* from) {
  if (t->receive_lies || *place >= 2 * t->route->ranks)
    memcpy(stored->address, from, (size_t)stored->bytes);
  else
    quadrille_traffic_unpack(t, *place, stored, from);
}
/* Whether the block at a place, which is sent or temporary, is bytes that nothing in this call
 * overwrites. */
static inline int quadrille_is_held(const struct quadrille_traffic* t, int place) {
  return place < t->route->ranks
             ? t->send_lies
             : t->stored[place].address != t->slots[place - 2 * t->route->ranks].address;
}
/* Whether no other message of this call arrives in the room of that one. */
static inline int quadrille_room_is_kept(const struct quadrille_traffic* t, int message) {
  return t->route->receives.count - message <= (int64_t)t->incoming.mask + 1;
}
static inline struct quadrille_parcel* quadrille_parcel_at(const struct quadrille_parcels* parcels,
                                                           int message) {
  return &parcels->all[(uint32_t)message & parcels->mask];
}

/* forward.c: runs a whole all-to-all call by a schedule that forwards blocks. In place, `send` means
 * nothing. Returns an MPI error code, after the handler was called. */
int quadrille_forward_run(struct quadrille_binding* binding, const struct quadrille_side* send,
                          const struct quadrille_side* receive, int in_place, MPI_Comm comm);

/* persistent.c: makes a persistent call, of which something may be wrong already. Collective: all
 * ranks return the same class of error, after the handler was called. */
int quadrille_persistent_make(quadrille_schedule schedule, const struct quadrille_side* send,
                              const struct quadrille_side* receive, int in_place, MPI_Comm comm,
                              int error_class, const char* error, quadrille_request* request);

#endif /* QUADRILLE_RUNTIME_TRAFFIC_H_ */
