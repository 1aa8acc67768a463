/* What runtime, preload library and their tests use of MPI-5.0's application binary interface (its chapter 20). All MPI
 * libraries that have this interface, libmpi_abi.so.1, agree on these values and layouts. So one preload library built
 * with this header serves the programs of them all. Users' programs include the mpi.h of their own MPI library. */
#pragma once

#include <stdint.h>

#define MPI_ABI_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Count;

/* Handles are pointers. Those of predefined objects are small integers, and NULL is none. */
typedef struct MPI_ABI_Comm* MPI_Comm;
typedef struct MPI_ABI_Datatype* MPI_Datatype;
typedef struct MPI_ABI_Errhandler* MPI_Errhandler;
typedef struct MPI_ABI_Group* MPI_Group;
typedef struct MPI_ABI_Info* MPI_Info;
typedef struct MPI_ABI_Op* MPI_Op;
typedef struct MPI_ABI_Request* MPI_Request;

#define MPI_COMM_NULL ((MPI_Comm)0x100)
#define MPI_COMM_WORLD ((MPI_Comm)0x101)
#define MPI_COMM_SELF ((MPI_Comm)0x102)
#define MPI_INFO_NULL ((MPI_Info)0x130)
#define MPI_ERRORS_ARE_FATAL ((MPI_Errhandler)0x141)
#define MPI_ERRORS_ABORT ((MPI_Errhandler)0x142)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)0x143)
#define MPI_REQUEST_NULL ((MPI_Request)0x180)

#define MPI_OP_NULL ((MPI_Op)0x20)
#define MPI_SUM ((MPI_Op)0x21)
#define MPI_MIN ((MPI_Op)0x22)
#define MPI_MAX ((MPI_Op)0x23)
#define MPI_PROD ((MPI_Op)0x24)
#define MPI_BAND ((MPI_Op)0x28)
#define MPI_BOR ((MPI_Op)0x29)
#define MPI_BXOR ((MPI_Op)0x2a)
#define MPI_LAND ((MPI_Op)0x30)
#define MPI_LOR ((MPI_Op)0x31)
#define MPI_LXOR ((MPI_Op)0x32)
#define MPI_MINLOC ((MPI_Op)0x38)
#define MPI_MAXLOC ((MPI_Op)0x39)
#define MPI_REPLACE ((MPI_Op)0x3c)
#define MPI_NO_OP ((MPI_Op)0x3d)

#define MPI_DATATYPE_NULL ((MPI_Datatype)0x200)
#define MPI_AINT ((MPI_Datatype)0x201)
#define MPI_COUNT ((MPI_Datatype)0x202)
#define MPI_OFFSET ((MPI_Datatype)0x203)
#define MPI_PACKED ((MPI_Datatype)0x207)
#define MPI_SHORT ((MPI_Datatype)0x208)
#define MPI_INT ((MPI_Datatype)0x209)
#define MPI_LONG ((MPI_Datatype)0x20a)
#define MPI_LONG_LONG ((MPI_Datatype)0x20b)
#define MPI_UNSIGNED_SHORT ((MPI_Datatype)0x20c)
#define MPI_UNSIGNED ((MPI_Datatype)0x20d)
#define MPI_UNSIGNED_LONG ((MPI_Datatype)0x20e)
#define MPI_UNSIGNED_LONG_LONG ((MPI_Datatype)0x20f)
#define MPI_FLOAT ((MPI_Datatype)0x210)
#define MPI_C_FLOAT_COMPLEX ((MPI_Datatype)0x212)
#define MPI_CXX_FLOAT_COMPLEX ((MPI_Datatype)0x213)
#define MPI_DOUBLE ((MPI_Datatype)0x214)
#define MPI_C_DOUBLE_COMPLEX ((MPI_Datatype)0x216)
#define MPI_CXX_DOUBLE_COMPLEX ((MPI_Datatype)0x217)
#define MPI_INTEGER ((MPI_Datatype)0x219)
#define MPI_REAL ((MPI_Datatype)0x21a)
#define MPI_COMPLEX ((MPI_Datatype)0x21b)
#define MPI_DOUBLE_PRECISION ((MPI_Datatype)0x21c)
#define MPI_DOUBLE_COMPLEX ((MPI_Datatype)0x21d)
#define MPI_LONG_DOUBLE ((MPI_Datatype)0x220)
#define MPI_C_LONG_DOUBLE_COMPLEX ((MPI_Datatype)0x224)
#define MPI_CXX_LONG_DOUBLE_COMPLEX ((MPI_Datatype)0x225)
#define MPI_FLOAT_INT ((MPI_Datatype)0x228)
#define MPI_DOUBLE_INT ((MPI_Datatype)0x229)
#define MPI_LONG_INT ((MPI_Datatype)0x22a)
#define MPI_2INT ((MPI_Datatype)0x22b)
#define MPI_SHORT_INT ((MPI_Datatype)0x22c)
#define MPI_LONG_DOUBLE_INT ((MPI_Datatype)0x22d)
#define MPI_2REAL ((MPI_Datatype)0x230)
#define MPI_2DOUBLE_PRECISION ((MPI_Datatype)0x231)
#define MPI_2INTEGER ((MPI_Datatype)0x232)
#define MPI_INT8_T ((MPI_Datatype)0x240)
#define MPI_UINT8_T ((MPI_Datatype)0x241)
#define MPI_CHAR ((MPI_Datatype)0x243)
#define MPI_SIGNED_CHAR ((MPI_Datatype)0x244)
#define MPI_UNSIGNED_CHAR ((MPI_Datatype)0x245)
#define MPI_BYTE ((MPI_Datatype)0x247)
#define MPI_INT16_T ((MPI_Datatype)0x248)
#define MPI_UINT16_T ((MPI_Datatype)0x249)
#define MPI_INT32_T ((MPI_Datatype)0x250)
#define MPI_UINT32_T ((MPI_Datatype)0x251)
#define MPI_INT64_T ((MPI_Datatype)0x258)
#define MPI_UINT64_T ((MPI_Datatype)0x259)
#define MPI_INTEGER1 ((MPI_Datatype)0x2c1)
#define MPI_INTEGER2 ((MPI_Datatype)0x2c9)
#define MPI_INTEGER4 ((MPI_Datatype)0x2d1)
#define MPI_REAL4 ((MPI_Datatype)0x2d2)
#define MPI_INTEGER8 ((MPI_Datatype)0x2d9)
#define MPI_REAL8 ((MPI_Datatype)0x2da)
#define MPI_COMPLEX8 ((MPI_Datatype)0x2db)
#define MPI_COMPLEX16 ((MPI_Datatype)0x2e3)

typedef struct {
  int MPI_SOURCE, MPI_TAG, MPI_ERROR;
  int MPI_internal[5];
} MPI_Status;
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_STATUSES_IGNORE ((MPI_Status*)0)
#define MPI_BOTTOM ((void*)0)
#define MPI_IN_PLACE ((void*)1)

enum {
  MPI_SUCCESS = 0,
  MPI_ERR_BUFFER = 1,
  MPI_ERR_COUNT = 2,
  MPI_ERR_TYPE = 3,
  MPI_ERR_COMM = 5,
  MPI_ERR_REQUEST = 7,
  MPI_ERR_ROOT = 8,
  MPI_ERR_OP = 10,
  MPI_ERR_TOPOLOGY = 11,
  MPI_ERR_ARG = 13,
  MPI_ERR_TRUNCATE = 15,
  MPI_ERR_OTHER = 16,
  MPI_ERR_INTERN = 17,
  MPI_ERR_FILE = 30,
  MPI_ERR_NO_MEM = 39,
  MPI_ERR_NO_SUCH_FILE = 42,
  MPI_ERR_UNSUPPORTED_OPERATION = 55
};
enum { MPI_PROC_NULL = -3, MPI_ROOT = -4, MPI_UNDEFINED = -32766 };
enum { MPI_COMM_TYPE_SHARED = 221, MPI_KEYVAL_INVALID = 0, MPI_TAG_UB = 501 };
enum {
  MPI_COMBINER_NAMED = 101,
  MPI_COMBINER_DUP = 102,
  MPI_COMBINER_CONTIGUOUS = 103,
  MPI_COMBINER_F90_REAL = 113,
  MPI_COMBINER_F90_COMPLEX = 114,
  MPI_COMBINER_F90_INTEGER = 115,
  MPI_COMBINER_RESIZED = 116
};
enum {
  MPI_MAX_OBJECT_NAME = 128,
  MPI_MAX_ERROR_STRING = 512,
  MPI_MAX_LIBRARY_VERSION_STRING = 8192
};

typedef void MPI_User_function(void*, void*, int*, MPI_Datatype*);
typedef void MPI_Comm_errhandler_function(MPI_Comm*, int*, ...);
typedef int MPI_Comm_copy_attr_function(MPI_Comm, int, void*, void*, void*, int*);
typedef int MPI_Comm_delete_attr_function(MPI_Comm, int, void*, void*);
#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function*)0)

/* The functions, under MPI's names and those of the profiling interface. */
#define QD_MPI(Name, ...)      \
  int MPI_##Name(__VA_ARGS__); \
  int PMPI_##Name(__VA_ARGS__);
#define QD_MPI_SENT const void*, int, MPI_Datatype
#define QD_MPI_RECEIVED void*, int, MPI_Datatype
#define QD_MPI_REDUCED const void*, void*, int, MPI_Datatype, MPI_Op
QD_MPI(Abort, MPI_Comm, int)
QD_MPI(Add_error_code, int, int*)
QD_MPI(Add_error_string, int, const char*)
QD_MPI(Allgather, QD_MPI_SENT, QD_MPI_RECEIVED, MPI_Comm)
QD_MPI(Allgather_c, const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Datatype, MPI_Comm)
QD_MPI(Allreduce, QD_MPI_REDUCED, MPI_Comm)
QD_MPI(Alltoall, QD_MPI_SENT, QD_MPI_RECEIVED, MPI_Comm)
QD_MPI(Alltoallw, const void*, const int*, const int*, const MPI_Datatype*, void*, const int*,
       const int*, const MPI_Datatype*, MPI_Comm)
QD_MPI(Barrier, MPI_Comm)
QD_MPI(Bcast, QD_MPI_RECEIVED, int, MPI_Comm)
QD_MPI(Comm_call_errhandler, MPI_Comm, int)
QD_MPI(Comm_create, MPI_Comm, MPI_Group, MPI_Comm*)
QD_MPI(Comm_create_errhandler, MPI_Comm_errhandler_function*, MPI_Errhandler*)
QD_MPI(Comm_create_keyval, MPI_Comm_copy_attr_function*, MPI_Comm_delete_attr_function*, int*,
       void*)
QD_MPI(Comm_delete_attr, MPI_Comm, int)
QD_MPI(Comm_dup, MPI_Comm, MPI_Comm*)
QD_MPI(Comm_free, MPI_Comm*)
QD_MPI(Comm_free_keyval, int*)
QD_MPI(Comm_get_attr, MPI_Comm, int, void*, int*)
QD_MPI(Comm_get_errhandler, MPI_Comm, MPI_Errhandler*)
QD_MPI(Comm_get_name, MPI_Comm, char*, int*)
QD_MPI(Comm_group, MPI_Comm, MPI_Group*)
QD_MPI(Comm_rank, MPI_Comm, int*)
QD_MPI(Comm_remote_group, MPI_Comm, MPI_Group*)
QD_MPI(Comm_remote_size, MPI_Comm, int*)
QD_MPI(Comm_set_attr, MPI_Comm, int, void*)
QD_MPI(Comm_set_errhandler, MPI_Comm, MPI_Errhandler)
QD_MPI(Comm_size, MPI_Comm, int*)
QD_MPI(Comm_split, MPI_Comm, int, int, MPI_Comm*)
QD_MPI(Comm_split_type, MPI_Comm, int, int, MPI_Info, MPI_Comm*)
QD_MPI(Comm_test_inter, MPI_Comm, int*)
QD_MPI(Errhandler_free, MPI_Errhandler*)
QD_MPI(Error_class, int, int*)
QD_MPI(Error_string, int, char*, int*)
QD_MPI(Exscan, QD_MPI_REDUCED, MPI_Comm)
QD_MPI(Finalize, void)
QD_MPI(Finalized, int*)
QD_MPI(Gather, QD_MPI_SENT, QD_MPI_RECEIVED, int, MPI_Comm)
QD_MPI(Gatherv, QD_MPI_SENT, void*, const int*, const int*, MPI_Datatype, int, MPI_Comm)
QD_MPI(Get_address, const void*, MPI_Aint*)
QD_MPI(Get_count, const MPI_Status*, MPI_Datatype, int*)
QD_MPI(Get_library_version, char*, int*)
QD_MPI(Group_free, MPI_Group*)
QD_MPI(Group_translate_ranks, MPI_Group, int, const int*, MPI_Group, int*)
QD_MPI(Iallgather, QD_MPI_SENT, QD_MPI_RECEIVED, MPI_Comm, MPI_Request*)
QD_MPI(Init, int*, char***)
QD_MPI(Initialized, int*)
QD_MPI(Intercomm_create, MPI_Comm, int, MPI_Comm, int, int, MPI_Comm*)
QD_MPI(Intercomm_merge, MPI_Comm, int, MPI_Comm*)
QD_MPI(Irecv, QD_MPI_RECEIVED, int, int, MPI_Comm, MPI_Request*)
QD_MPI(Isend, QD_MPI_SENT, int, int, MPI_Comm, MPI_Request*)
QD_MPI(Issend, QD_MPI_SENT, int, int, MPI_Comm, MPI_Request*)
QD_MPI(Op_commutative, MPI_Op, int*)
QD_MPI(Op_create, MPI_User_function*, int, MPI_Op*)
QD_MPI(Op_free, MPI_Op*)
QD_MPI(Pack, QD_MPI_SENT, void*, int, int*, MPI_Comm)
QD_MPI(Recv, QD_MPI_RECEIVED, int, int, MPI_Comm, MPI_Status*)
QD_MPI(Reduce, QD_MPI_REDUCED, int, MPI_Comm)
QD_MPI(Reduce_local, QD_MPI_REDUCED)
QD_MPI(Reduce_scatter_block, QD_MPI_REDUCED, MPI_Comm)
QD_MPI(Request_get_status, MPI_Request, int*, MPI_Status*)
QD_MPI(Scan, QD_MPI_REDUCED, MPI_Comm)
QD_MPI(Sendrecv, QD_MPI_SENT, int, int, QD_MPI_RECEIVED, int, int, MPI_Comm, MPI_Status*)
QD_MPI(Type_commit, MPI_Datatype*)
QD_MPI(Type_contiguous, int, MPI_Datatype, MPI_Datatype*)
QD_MPI(Type_create_hindexed, int, const int*, const MPI_Aint*, MPI_Datatype, MPI_Datatype*)
QD_MPI(Type_create_resized, MPI_Datatype, MPI_Aint, MPI_Aint, MPI_Datatype*)
QD_MPI(Type_create_struct, int, const int*, const MPI_Aint*, const MPI_Datatype*, MPI_Datatype*)
QD_MPI(Type_dup, MPI_Datatype, MPI_Datatype*)
QD_MPI(Type_free, MPI_Datatype*)
QD_MPI(Type_get_contents, MPI_Datatype, int, int, int, int*, MPI_Aint*, MPI_Datatype*)
QD_MPI(Type_get_envelope, MPI_Datatype, int*, int*, int*, int*)
QD_MPI(Type_get_extent, MPI_Datatype, MPI_Aint*, MPI_Aint*)
QD_MPI(Type_get_name, MPI_Datatype, char*, int*)
QD_MPI(Type_get_true_extent, MPI_Datatype, MPI_Aint*, MPI_Aint*)
QD_MPI(Type_size_x, MPI_Datatype, MPI_Count*)
QD_MPI(Unpack, const void*, int, int*, QD_MPI_RECEIVED, MPI_Comm)
QD_MPI(Wait, MPI_Request*, MPI_Status*)
QD_MPI(Waitany, int, MPI_Request*, int*, MPI_Status*)
double MPI_Wtime(void);
double PMPI_Wtime(void);

#ifdef __cplusplus
}
#endif
