// The handles of datatypes, for the functions of MPI that make and free them.
#ifndef QUADRILLE_TESTS_NET_DATATYPES_TABLE_H_
#define QUADRILLE_TESTS_NET_DATATYPES_TABLE_H_

#include "tests/net/datatypes.h"

namespace quadrille::net {

struct TypeHandle {
  TypeRef type;  // null: it was freed
  bool is_committed;
};

// Null where the handle is none of a derived type.
TypeHandle* find_type(MPI_Datatype handle);
// A new handle; of a named type, its own.
MPI_Datatype make_handle(TypeRef type, bool is_committed);
bool free_handle(MPI_Datatype handle);

}  // namespace quadrille::net

#endif  // QUADRILLE_TESTS_NET_DATATYPES_TABLE_H_
