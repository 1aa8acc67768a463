"""A table of schedules for any nodes, as one C library."""

def quadrille_universal(name, schedules, visibility = None):
    """The table of universal.h: schedules for any nodes. All must be proven, or nothing is built.

    Args:
      name: of the library.
      schedules: a dictionary from a collective, with "-between-groups" after it if it is for two groups, to a list
        of algorithms, each with its options: "tuna:radix=8".
      visibility: of the library.
    """
    generator, verifier = "//generator", "//verifier"
    make, table = "make_schedule.sh", "make_universal.sh"
    words = []
    for kind, algorithms in schedules.items():
        words += ["%s %s" % (kind, algorithm) for algorithm in algorithms]
    native.genrule(
        name = name + "_table",
        outs = [name + ".c"],
        cmd = "$(location %s) $(location %s) $(location %s) $(location %s) %s > $@" % (
            table,
            make,
            generator,
            verifier,
            " ".join(["'%s'" % word for word in words]),
        ),
        tools = [generator, verifier, make, table],
    )
    native.cc_library(
        name = name,
        srcs = [name + ".c"],
        hdrs = ["universal.h"],
        copts = ["-std=c11", "-fvisibility=hidden"],
        visibility = visibility,
    )
