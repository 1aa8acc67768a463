"""C++ rules that compile sources as C++20, whatever the workspace's own flags are."""

def cc_library(name, srcs = None, hdrs = None, copts = [], **attributes):
    """Defines a library. It consists of NAME.cc and NAME.h, unless files are given."""
    is_pair = not srcs and not hdrs
    native.cc_library(
        name = name,
        srcs = [name + ".cc"] if is_pair else srcs,
        hdrs = [name + ".h"] if is_pair else hdrs,
        copts = ["-std=c++20"] + copts,
        **attributes
    )

def cc_binary(copts = [], **attributes):
    native.cc_binary(copts = ["-std=c++20"] + copts, **attributes)
