"""quadrille_universal makes a table of schedules for any nodes, as one C library."""

def quadrille_universal(name, schedules, visibility = None):
    """Makes the table of universal.h from schedules for any nodes. If one is not proven, nothing is built.

    Args:
      name: of the library.
      schedules: a dictionary from a collective to a list of algorithms with options, such as "tuna:radix=8".
        "-between-groups" follows the name of a collective between two groups.
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
