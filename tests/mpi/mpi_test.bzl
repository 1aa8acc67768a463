"""Tests of the runtime that run under an MPI library's mpirun."""

MPIS = ["openmpi", "mpich"]

# The collective calls and their expected results. Any MPI library can run them.
CALLS = ["calls.cc", "elements.cc", "entries.cc", "handles.cc", "shapes.cc"]
CALL_HEADERS = ["buffer.h", "calls.h", "handles.h"]

def mpi_tests(rows):
    """Defines the tests NAME_openmpi and NAME_mpich. Each runs a GoogleTest program at several numbers of ranks.

    Args:
      rows: for each program NAME.cc: its name, the numbers of ranks with Open MPI and with MPICH, the seconds that a
        run may take on an idle machine and a dictionary. A run that takes ten times as long fails. The dictionary may
        have `tags`, and `own_main` if the program has its own main, which counts its tests as world.cc does.
    """
    for name, openmpi_ranks, mpich_ranks, seconds, options in rows:
        for mpi, counts in [("openmpi", openmpi_ranks), ("mpich", mpich_ranks)]:
            program = "%s_%s_program" % (name, mpi)
            native.cc_binary(
                name = program,
                testonly = True,
                srcs = [name + ".cc"],
                visibility = ["//tests/trace:__pkg__"],
                deps = ["//runtime:" + mpi, "//tests:effort"] + (
                    ["//third_party/precompiled:precompiled_tests"] if options.get("own_main") else [":world_" + mpi, "//third_party:gtest"]
                ),
            )
            native.sh_test(
                name = "%s_%s" % (name, mpi),
                size = "medium",
                srcs = ["mpi_test.sh"],
                args = [mpi, ",".join([str(count) for count in counts]), str(seconds), "$(location %s)" % program],
                data = [program, "mpirun.sh", ":calls"],
                tags = options.get("tags", []),
            )

def schedule_files(name, folder, schedules, collective = "alltoall", testonly = True):
    """Defines a filegroup of schedule files ALGORITHM_NODES[_OPTION-VALUE]....qs in a folder.

    Args:
      name: of the filegroup.
      folder: where the files go.
      schedules: lists of an algorithm, the nodes, and its options such as "self-loops=drop".
      collective: the collective of all schedules.
      testonly: as in every rule.
    """
    outs, commands = [], []
    for schedule in schedules:
        words = [schedule[0], schedule[1].replace(",", "-")]
        words += [option.replace("=", "-") for option in schedule[2:]]
        out = "%s/%s.qs" % (folder, "_".join(words))
        outs.append(out)
        options = ["--" + option for option in schedule[2:]]
        commands.append(" ".join([
            "$(location //generator) generate " + collective,
            "--algorithm %s --nodes %s" % (schedule[0], schedule[1]),
        ] + options + ["--out $(RULEDIR)/%s > /dev/null" % out]))
    native.genrule(
        name = name,
        testonly = testonly,
        outs = outs,
        cmd = " && ".join(commands),
        tools = ["//generator"],
    )
