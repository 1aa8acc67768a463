"""C++ rules that compile sources as C++20, whatever the workspace's own flags are."""

load("//third_party:joined.bzl", "joined")

# A change of one file compiles so many again.
_MOST_JOINED = 6

def _joined(name, srcs, deps, testonly):
    """Joins the C++ files of a rule. Returns its sources and dependencies."""
    files = [src for src in srcs if src.endswith(".cc") and ":" not in src]
    if len(files) < 2:
        return srcs, deps
    groups = [files[first:first + _MOST_JOINED] for first in range(0, len(files), _MOST_JOINED)]
    native.cc_library(
        name = name + "_parts",
        testonly = testonly,
        textual_hdrs = files,
    )
    sources = [joined("%s_joined_%d" % (name, i), group, testonly) for i, group in enumerate(groups)]
    return [src for src in srcs if src not in files] + sources, deps + [name + "_parts"]

def cc_library(name, srcs = [], hdrs = [], deps = [], copts = [], testonly = False, **attributes):
    """Defines a library. It consists of NAME.cc and NAME.h, unless files are given."""
    is_pair = not srcs and not hdrs
    srcs, deps = _joined(name, [name + ".cc"] if is_pair else srcs, deps, testonly)
    native.cc_library(
        name = name,
        srcs = srcs,
        hdrs = [name + ".h"] if is_pair else hdrs,
        deps = deps,
        copts = ["-std=c++20"] + copts,
        testonly = testonly,
        **attributes
    )

def cc_binary(name, srcs = [], deps = [], copts = [], testonly = False, **attributes):
    srcs, deps = _joined(name, srcs, deps, testonly)
    native.cc_binary(
        name = name,
        srcs = srcs,
        deps = deps,
        copts = ["-std=c++20"] + copts,
        testonly = testonly,
        **attributes
    )
