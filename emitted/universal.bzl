"""quadrille_universal makes a table of schedules for any nodes, as one C library."""

def quadrille_universal(name, schedules, visibility = None):
    """Makes NAME.base64, an archive of all schedules for any nodes, and the table of universal.h from some of them. If one is not
    proven, nothing is built.

    Args:
      name: of the library.
      schedules: a dictionary from a collective to a list of algorithms with options, such as "tuna:radix=8".
        "-between-groups" follows the name of a collective between two groups.
      visibility: of the library.
    """
    words = []
    for kind, algorithms in schedules.items():
        words += ["%s %s" % (kind, algorithm) for algorithm in algorithms]
    native.genrule(
        name = name + "_archive",
        outs = [name + ".base64"],
        cmd = "$(location make_universal.sh) $(location //generator) $(location //verifier) %s > $@" % (
            " ".join(["'%s'" % word for word in words])
        ),
        tools = ["make_universal.sh", "//generator", "//verifier"],
        visibility = visibility,
    )
    native.genrule(
        name = name + "_table",
        srcs = [name + ".base64"],
        outs = [name + ".c"],
        cmd = "$(location universal_table.sh) $< > $@",
        tools = ["universal_table.sh"],
    )
    native.cc_library(
        name = name,
        srcs = [name + ".c"],
        hdrs = ["universal.h"],
        copts = ["-std=c11", "-fvisibility=hidden"],
        visibility = visibility,
    )
