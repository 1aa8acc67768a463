"""quadrille_schedule: a schedule as a build target, checked before anything can link it."""

def quadrille_schedule(
        name,
        collective,
        algorithm,
        nodes,
        remote_nodes = None,
        options = {},
        check = [],
        visibility = None,
        testonly = None):
    """Generates a schedule, checks it, and makes it a C library. If the check fails, nothing is built.

    `name` is a cc_library: #include "PACKAGE/NAME.h" declares the array `quadrille_NAME` for quadrille_load_memory. Beside
    it are NAME.qs, the schedule file, and NAME.check.txt, the verifier's report.

    Args:
      name: of the library and of the array; a C identifier.
      collective: such as "alltoall" or "allgather".
      algorithm: such as "hierarchical-factor"; `bazel run //generator -- list` names all. Or "auto", with
        {"bytes": "512"} and the other flags that it chooses by as options.
      nodes: "any", for a schedule for every job; or ranks on each node, as for --nodes:
        "1,2,3" or "4x8".
      remote_nodes: between two groups, those of the other one; "any" if `nodes` is.
      options: of the algorithm, such as {"self-loops": "drop"} or {"block-size": "65536"}.
      check: further arguments of `verifier check`, such as ["--ports", "1"]; for an allgather, the
        counts to check it with, such as ["--counts", "6x1000"]; otherwise there are a few standard ones. A
        schedule for any nodes must be proven; it is checked as well if nodes are given here,
        as in ["--nodes", "1,2,3"].
      visibility: of all these targets.
      testonly: as in every rule.
    """
    generator = str(Label("//generator:generator"))
    verifier = str(Label("//verifier:verifier"))
    make = str(Label("//emitted:make_schedule.sh"))
    arguments = [collective, "--algorithm", algorithm, "--nodes", nodes]
    if remote_nodes:
        arguments += ["--remote-nodes", remote_nodes]
    for option, value in options.items():
        arguments += ["--" + option, value]
    native.genrule(
        name = name + "_files",
        outs = [name + ending for ending in [".qs", ".check.txt", ".h", ".c"]],
        cmd = " ".join([
            "$(location %s)" % make,
            "$(location %s)" % generator,
            "$(location %s)" % verifier,
            name,
            "$(RULEDIR)",
            "'%s'" % " ".join(check),
        ] + ["'%s'" % argument for argument in arguments]),
        testonly = testonly,
        tools = [generator, verifier, make],
        visibility = visibility,
    )
    native.cc_library(
        name = name,
        srcs = [name + ".c"],
        hdrs = [name + ".h"],
        testonly = testonly,
        visibility = visibility,
    )
