"""quadrille_schedule makes a schedule a build target. It is checked before anything can link it."""

def quadrille_schedule(
        name,
        collective,
        algorithm = None,
        nodes = None,
        remote_nodes = None,
        program = None,
        proof = None,
        options = {},
        check = [],
        visibility = None,
        testonly = None):
    """Generates a schedule, checks it, and makes it a C library. If the check fails, nothing is built.

    `name` is a cc_library. #include "PACKAGE/NAME.h" declares the array `quadrille_NAME` for quadrille_load_memory.
    Other outputs are NAME.qs, the schedule file, and NAME.check.txt, the verifier's report.

    Args:
      name: of the library and of the array; a C identifier.
      collective: such as "alltoall" or "allgather".
      algorithm: such as "hierarchical-factor"; `bazel run //generator -- list` names all. Or "auto", with the flags
        by which it chooses as options, such as {"bytes": "512"}.
      program: in place of an algorithm, a file with a program of your own (docs/language.md).
      proof: the file with its proof. If it does not hold, nothing is built. `nodes` may then be "any".
      nodes: "any", for a schedule that serves every job; or the ranks on each node, as for --nodes: "1,2,3" or "4x8".
      remote_nodes: the nodes of the second group, for a schedule between two groups; "any" if `nodes` is.
      options: of the algorithm, such as {"self-loops": "drop"} or {"block-size": "65536"}.
      check: further arguments of `verifier check`, such as ["--ports", "1"]. An allgather is checked with counts,
        such as ["--counts", "6x1000"], or else with a few standard ones. A schedule for any nodes must be proven. It
        is also checked on nodes that are given here, such as ["--nodes", "1,2,3"].
      visibility: of all these targets.
      testonly: as in every rule.
    """
    generator = str(Label("//generator:generator"))
    verifier = str(Label("//verifier:verifier"))
    make = str(Label("//emitted:make_schedule.sh"))
    arguments = [collective, "--nodes", nodes] + (["--algorithm", algorithm] if algorithm else [])
    if remote_nodes:
        arguments += ["--remote-nodes", remote_nodes]
    for option, value in options.items():
        arguments += ["--" + option, value]
    native.genrule(
        name = name + "_files",
        srcs = [file for file in [program, proof] if file],
        outs = [name + ending for ending in [".qs", ".check.txt", ".h", ".c"]],
        cmd = " ".join([
            "$(location %s)" % make,
            "$(location %s)" % generator,
            "$(location %s)" % verifier,
            name,
            "$(RULEDIR)",
            "'%s'" % " ".join(check),
            "$(location %s)" % program if program else "''",
            "$(location %s)" % proof if proof else "''",
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
