"""Unchanged programs on the emulated cluster: time in their all-to-alls, by MPI alone and with what preloading learned.

Runs without and with the rules take turns; the preload library's report says how long rank 0 was in the calls.
"""
import json
import os
import re
import tempfile

from bench import cluster, machine, paired

NEEDS_CALM = True
PAIRS = 5
NODES = (8, 8, 8, 8)
TRANSFORM = ["bench/transform.py"]
# Words after the program, in a run to learn in and in one to measure.
PROGRAMS = {
    "mpi4py-fft 32^3, slabs": (TRANSFORM, ["32", "slab"], "150", "24"),
    "mpi4py-fft 32^3, pencils": (TRANSFORM, ["32", "pencil"], "150", "24"),
    "mpi4py-fft 64^3, slabs": (TRANSFORM, ["64", "slab"], "150", "24"),
    "mpi4py-fft 64^3, pencils": (TRANSFORM, ["64", "pencil"], "150", "24"),
    "examples/fft": (None, [], "150", "24"),
    "examples/closure": (None, [], "8", "1"),
}
RIGHT = re.compile(r"right$| 0 (elements )?wrong$")  # the last words of a program that got what it should
AT_LEAST = 0.98
AT_LEAST_TRANSFORM = {"mpi4py-fft 32^3, slabs": 1.4}


def build():
    cluster.want_root("programs")
    library, *examples = machine.build(
        "//preload:libquadrille_preload_openmpi.so", "//examples/fft:fft", "//examples/closure:closure"
    )
    return library, dict(zip(("examples/fft", "examples/closure"), examples))


class Run:
    """What a run printed and reported."""

    def __init__(self, library, command, *variables):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as errors:
            report = f"{folder}/report.json"
            start = [cluster.MPIRUN, "openmpi", cluster.hosts_of(NODES)]
            preloaded = ["sh", "-c", 'LD_PRELOAD="$LD_PRELOAD $0" exec "$@"', library, "env"]
            variables = [f"QUADRILLE_REPORT={report}", *variables]
            self.lines = machine.lines_until([*start, *preloaded, *variables, *command], "never", 300, errors)
            errors.seek(0)
            if not os.path.exists(report) or not any(map(RIGHT.search, self.lines)):
                raise machine.Unusable(f"programs: {command[0]}: {machine.last_words(errors.read())} {self.lines}")
            with open(report) as file:
                self.calls = [call for call in json.load(file)["calls"] if call["collective"].startswith("alltoall")]

    @property
    def seconds(self):
        return sum(call["seconds"] for call in self.calls)

    @property
    def whole(self):
        return next(float(line.split()[1]) for line in self.lines if line.startswith("seconds "))


def program(report, options, library, name, command, learning, measuring, folder):
    rules = f"QUADRILLE_RULES={folder}/{name.replace(' ', '-').replace('/', '-')}.json"
    Run(library, [*command, learning], "QUADRILLE=learn", rules)
    pairs = [
        (Run(library, [*command, measuring], "QUADRILLE=off"), Run(library, [*command, measuring], rules))
        for _ in range(options.repetitions or PAIRS)
    ]
    schedules = sorted({call["schedule"] for _, preloaded in pairs for call in preloaded.calls})
    title = f"{name} | all-to-alls ({', '.join(schedules)})"
    add(report, title, pairs, "seconds", AT_LEAST)
    if command[0] == TRANSFORM[0]:
        add(report, f"{name} | whole transforms", pairs, "whole", AT_LEAST_TRANSFORM.get(name, AT_LEAST))


def add(report, name, pairs, what, at_least):
    ratios = [getattr(native, what) / getattr(preloaded, what) for native, preloaded in pairs]
    report.figure(f"{name}, native / preloaded", paired.median(ratios), at_least=at_least, spread=paired.interval(ratios), n=len(ratios))


def measure(report, options, programs):
    library, examples = programs
    with tempfile.TemporaryDirectory() as folder, cluster.Cluster(4, cluster.RATE):
        for name, (start, words, learning, measuring) in PROGRAMS.items():
            if options.only in name:
                command = [*(start or [examples[name]]), *words]
                program(report, options, library, name, command, learning, measuring, folder)
