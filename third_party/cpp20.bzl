"""Rules that compile several files as one, so that the compiler reads headers and instantiates templates once. They compile C++
as C++20, whatever the workspace's own flags are."""

# The most C++ files that are compiled as one. A change of one of them compiles all of them again.
_MOST_JOINED = 6

def _join(name, srcs, extension, testonly, most):
    """Returns srcs with joined files in place of those with the extension, and the library that has these."""
    files = [src for src in srcs if src.endswith(extension)]
    if len(files) < 2:
        return srcs, []
    native.cc_library(
        name = name + "_parts",
        testonly = testonly,
        textual_hdrs = files,
    )

    # They stand in the folder of the first file, so .bazelrc gives them the flags of that folder.
    folder = files[0][:files[0].rfind("/") + 1]
    paths = [file[2:].replace(":", "/") if ":" in file else native.package_name() + "/" + file for file in files]
    joined = ["%s%s_joined_%d" % (folder, name, first // most) for first in range(0, len(files), most)]
    for i, file in enumerate(joined):
        native.genrule(
            name = file,
            testonly = testonly,
            outs = [file + extension],
            cmd = "printf '#include \"%s\"\\n' {} > $@".format(" ".join(paths[i * most:(i + 1) * most])),
        )
    return [src for src in srcs if src not in files] + [file + extension for file in joined], [name + "_parts"]

def _define(rule, name, srcs, deps = [], copts = [], testonly = False, most = _MOST_JOINED, **attributes):
    srcs, parts = _join(name, srcs, ".cc", testonly, most)
    rule(name = name, srcs = srcs, deps = deps + parts, copts = ["-std=c++20"] + copts, testonly = testonly, **attributes)

def joined_c_library(name, srcs, deps = [], **attributes):
    """Defines a library of C files that are compiled as one. Their names differ, also those of static functions."""
    srcs, parts = _join(name, srcs, ".c", False, len(srcs))
    native.cc_library(name = name, srcs = srcs, deps = deps + parts, **attributes)

def cc_library(name, srcs = [], hdrs = [], **attributes):
    """Defines a library. It consists of NAME.cc and NAME.h, unless files are given."""
    if not srcs and not hdrs:
        srcs, hdrs = [name + ".cc"], [name + ".h"]
    _define(native.cc_library, name, srcs, hdrs = hdrs, **attributes)

def cc_binary(name, srcs = [], **attributes):
    _define(native.cc_binary, name, srcs, **attributes)

def joined_test(name, srcs, deps, **attributes):
    """Defines a test of several files, which are compiled as one. The names in a file PART_test.cc are in a namespace PART_test."""
    _define(native.cc_test, name, srcs, deps + ["//third_party:gmock"], testonly = True, most = len(srcs), **attributes)
