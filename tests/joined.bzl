"""Test files of a folder that are compiled as one."""

load("//third_party:joined.bzl", "joined")

def joined_test(name, deps, parts = None, **attributes):
    """Defines a test of several files.

    Args:
      name: of the test. It ends in _test.
      deps: what the files use, besides GoogleTest.
      parts: the names of its files without "_test.cc", or None for all of the folder. The names in a file are in a
        namespace PART_test.
      **attributes: those of a cc_test.
    """
    files = [part + "_test.cc" for part in parts] if parts else native.glob(["*_test.cc"])
    native.cc_library(
        name = name + "_parts",
        testonly = True,
        textual_hdrs = files,
    )
    native.cc_test(
        name = name,
        srcs = [joined(name, files, testonly = True)],
        deps = deps + [name + "_parts", "//third_party:gmock"],
        **attributes
    )
