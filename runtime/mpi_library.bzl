"""The runtime, built against one MPI library."""

load("//third_party:cpp20.bzl", "joined_c_library")

# The headers that the preload library and tests include besides the public one.
SHARED = ["execute/%s.h" % name for name in ["api", "arguments", "datatypes", "nodes", "significance"]]

def quadrille_library(name, mpi, copts = []):
    """Defines the target `name`, and `libquadrille_NAME.so`, whose soname ends in QUADRILLE_VERSION_MAJOR.

    Args:
      name: a word for the MPI library, used in the names of the targets.
      mpi: the MPI library's target.
      copts: further options of the compiler.
    """
    joined_c_library(
        name = "quadrille_" + name,
        srcs = native.glob(["execute/*"], exclude = SHARED + ["execute/trace_format.h"]),
        hdrs = SHARED + ["quadrille.h"],
        copts = ["-std=c11", "-D_GNU_SOURCE", "-fvisibility=hidden"] + copts,
        linkopts = ["-ldl", "-lpthread"],
        # The rule below makes the shared library.
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
