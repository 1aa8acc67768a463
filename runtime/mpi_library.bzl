"""The runtime, built against one MPI library."""

_SOURCES = [
    "alltoall.c",
    "alltoall.h",
    "alltoall_in_place.c",
    "api.c",
    "bind.c",
    "blocks.c",
    "errors.c",
    "flight.c",
    "global.c",
    "internal.h",
    "layout.c",
    "schedule.c",
    "steps.c",
]

def quadrille_library(name, mpi):
    """`name` is the static library, `libquadrille_NAME.so` the shared one.

    Args:
      name: which MPI, as it stands in the names of the libraries.
      mpi: the MPI library's target.
    """
    native.cc_library(
        name = name,
        srcs = _SOURCES,
        hdrs = ["quadrille.h"],
        copts = ["-std=c11", "-D_GNU_SOURCE", "-fvisibility=hidden"],
        linkopts = ["-ldl", "-lpthread"],
        alwayslink = True,
        deps = [":program", mpi],
    )
    native.cc_binary(
        name = "libquadrille_%s.so" % name,
        linkopts = ["-Wl,-soname,libquadrille_%s.so" % name],
        linkshared = True,
        deps = [":" + name],
    )
