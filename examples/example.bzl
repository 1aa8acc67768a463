"""Applications for each MPI library, and their tests. Some link an emitted schedule; others do not know Quadrille."""

def mpi_example(name, sentence, deps):
    """Makes the programs NAME and NAME_mpich, which run on six ranks, and NAME_openmpi_test and NAME_mpich_test.

    Args:
      name: of the program; NAME.c is its source.
      sentence: what the program prints on six ranks.
      deps: libraries that the program needs beside the runtime.
    """
    for mpi in ["openmpi", "mpich"]:
        program = name if mpi == "openmpi" else name + "_" + mpi
        native.cc_binary(
            name = program,
            srcs = [name + ".c"],
            copts = ["-std=c11"],
            visibility = ["//visibility:public"],
            deps = deps + ["//runtime:" + mpi],
        )
        native.sh_test(
            name = "%s_%s_test" % (name, mpi),
            size = "small",
            srcs = ["//examples:example_test.sh"],
            args = [mpi, "$(location %s)" % program, "'%s'" % sentence],
            data = [program, "//tests/mpi:mpirun.sh"],
        )

def plain_example(name, sentence, rule, deps = []):
    """Makes NAME and NAME_mpich, plain MPI programs, and NAME_openmpi_test and NAME_mpich_test.

    Args:
      name: of the program; NAME.c is its source.
      sentence: what the program prints on six ranks.
      rule: VARIABLE=SCHEDULE, the schedule that serves the program under the preload library.
      deps: libraries that the program needs beside MPI.
    """
    for mpi in ["openmpi", "mpich"]:
        program = name if mpi == "openmpi" else name + "_" + mpi
        preload = "//preload:libquadrille_preload_%s.so" % mpi
        idle = "//tests/mpi:preloaded_idle.so"
        native.cc_binary(
            name = program,
            srcs = [name + ".c"],
            copts = ["-std=c11"],
            visibility = ["//visibility:public"],
            deps = deps + ["@%s//:mpi" % mpi],
        )
        native.sh_test(
            name = "%s_%s_test" % (name, mpi),
            size = "small",
            srcs = ["//examples:plain_test.sh"],
            args = [mpi, "$(location %s)" % program, "'%s'" % sentence, "$(location %s)" % preload, rule, "$(location %s)" % idle],
            data = [idle, program, preload, "//tests/mpi:mpirun.sh"],
            tags = ["unsanitized"],  # a sanitizer's library must be preloaded first
        )
