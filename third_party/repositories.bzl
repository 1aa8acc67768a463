"""All dependencies of Quadrille: Debian packages (tools/packages.txt), which Bazel uses where they are installed, and @abi (runtime/abi/mpi.h)."""

def quadrille_repositories(path):
    """Declares them, in a workspace named quadrille or one that has Quadrille as the repository of that name.

    Args:
      path: of Quadrille's tree.
    """
    for name, place in {
        "bazel_skylib": "/usr/share/bazel/tools/skylib",
        "platforms": "/usr/share/bazel/tools/platforms",
        "remote_coverage_tools": path + "/third_party/remote_coverage_tools",
        "rules_cc": path + "/third_party/rules_cc",
        "rules_java": "/usr/share/bazel/rules/java",
        "rules_proto": "/usr/share/bazel/rules/proto",
    }.items():
        if not native.existing_rule(name):
            native.local_repository(name = name, path = place)
    for name, place in {
        "abi": path + "/runtime/abi",
        "mpich": "/usr/include/x86_64-linux-gnu/mpich",
        "openmpi": "/usr/lib/x86_64-linux-gnu/openmpi",
        "simgrid": "/usr/include/smpi",
    }.items():
        native.new_local_repository(
            name = name,
            build_file = "@quadrille//third_party:%s.BUILD" % name,
            path = place,
        )
