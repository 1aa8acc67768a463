/* Passes parameters of MPI's functions on unchanged, as words in registers or on the stack. So handles of any MPI library
 * work. Lists the functions that make communicators. */
#pragma once

#include <stdint.h>

#define TAKES_1 intptr_t a
#define TAKES_2 TAKES_1, intptr_t b
#define TAKES_3 TAKES_2, intptr_t c
#define TAKES_4 TAKES_3, intptr_t d
#define TAKES_5 TAKES_4, intptr_t e
#define TAKES_6 TAKES_5, intptr_t f
#define TAKES_7 TAKES_6, intptr_t g
#define TAKES_8 TAKES_7, intptr_t h
#define TAKES_9 TAKES_8, intptr_t i
#define TAKES_10 TAKES_9, intptr_t j
#define GIVES_1 a
#define GIVES_2 GIVES_1, b
#define GIVES_3 GIVES_2, c
#define GIVES_4 GIVES_3, d
#define GIVES_5 GIVES_4, e
#define GIVES_6 GIVES_5, f
#define GIVES_7 GIVES_6, g
#define GIVES_8 GIVES_7, h
#define GIVES_9 GIVES_8, i
#define GIVES_10 GIVES_9, j

/* The columns: MPI's name, the number of parameters, and which of them is the address of the new communicator. */
#define PRELOAD_MAKING(ROW)              \
  ROW(Comm_dup, 2, b)                    \
  ROW(Comm_dup_with_info, 3, c)          \
  ROW(Comm_idup, 3, b)                   \
  ROW(Comm_idup_with_info, 4, c)         \
  ROW(Comm_create, 3, c)                 \
  ROW(Comm_create_from_group, 5, e)      \
  ROW(Comm_create_group, 4, d)           \
  ROW(Comm_split, 4, d)                  \
  ROW(Comm_split_type, 5, e)             \
  ROW(Cart_create, 6, f)                 \
  ROW(Cart_sub, 3, c)                    \
  ROW(Graph_create, 6, f)                \
  ROW(Dist_graph_create, 9, i)           \
  ROW(Dist_graph_create_adjacent, 10, j) \
  ROW(Intercomm_merge, 3, c)             \
  ROW(Comm_spawn, 8, g)                  \
  ROW(Comm_spawn_multiple, 9, h)         \
  ROW(Comm_accept, 5, e)                 \
  ROW(Comm_connect, 5, e)                \
  ROW(Comm_join, 2, b)                   \
  ROW(Intercomm_create, 6, f)            \
  ROW(Intercomm_create_from_groups, 8, h)
