"""C++ rules that compile sources as C++20, whatever the workspace's own flags are."""

def cc_library(copts = [], **attributes):
    native.cc_library(copts = ["-std=c++20"] + copts, **attributes)

def cc_binary(copts = [], **attributes):
    native.cc_binary(copts = ["-std=c++20"] + copts, **attributes)
