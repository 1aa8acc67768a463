"""Source files that are compiled as one, so that the compiler reads headers and instantiates templates once."""

def joined(name, files, testonly = False):
    """Defines a source file that includes others.

    Args:
      name: of the file without ".cc". It is in the folder of the first one.
      files: C++ files of this package.
      testonly: as in every rule.
    Returns:
      the label of the file.
    """
    file = files[0][:files[0].rfind("/") + 1] + name + ".cc"
    native.genrule(
        name = name + "_source",
        testonly = testonly,
        outs = [file],
        cmd = "printf '#include \"%s\"\\n' {} > $@".format(" ".join([native.package_name() + "/" + file for file in files])),
    )
    return file
