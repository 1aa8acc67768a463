"""The runtime, built against one MPI library."""

# What the preload library and tests know beside the public header.
SHARED = ["execute/%s.h" % name for name in ["api", "arena", "arguments", "datatypes", "nodes", "significance"]]

def quadrille_library(name, mpi, copts = []):
    """`name` is the library to depend on, `libquadrille_NAME.so` the shared one, whose soname ends in QUADRILLE_VERSION_MAJOR.

    Args:
      name: which MPI, as it stands in the names of the libraries.
      mpi: the MPI library's target.
      copts: further ones of the compiler.
    """
    native.cc_library(
        name = "quadrille_" + name,
        srcs = native.glob(["execute/*"], exclude = SHARED + ["execute/trace_format.h"]),
        hdrs = SHARED + ["quadrille.h"],
        copts = ["-std=c11", "-D_GNU_SOURCE", "-fvisibility=hidden"] + copts,
        linkopts = ["-ldl", "-lpthread"],
        # The shared library of that name is the one below.
        linkstatic = True,
        alwayslink = True,
        deps = [":block_size", ":plan", ":program", ":trace_format", mpi],
    )
    native.alias(
        name = name,
        actual = ":quadrille_" + name,
    )
    native.cc_binary(
        name = "libquadrille_%s.so" % name,
        linkopts = ["-Wl,-soname,libquadrille_%s.so.0" % name, "-Wl,--as-needed"],
        linkshared = True,
        deps = [":quadrille_" + name],
    )
