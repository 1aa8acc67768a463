"""Unchanged programs on the emulated cluster: the time in their all-to-alls, with MPI alone and with learned rules, and the time of
whole programs while the preload library adapts, without rules.

Runs of both kinds take turns. The preload library's report has the time of rank 0 in the calls.

With --all instead: programs of Debian's packages (bench/real.py) on this machine alone. Their results have to be the native ones.
"""
import json
import os
import re
import subprocess
import tempfile
import time

from bench import cluster, machine, real

NEEDS_CALM = True
PAIRS = 5
RUNS = 3
NODES = "4x8"
TRANSFORM = ["bench/transform.py"]
# The words after the program, then the last word when it learns and when it is measured.
PROGRAMS = {
    "mpi4py-fft 32^3, slabs": (TRANSFORM, ["32", "slab"], "150", "24"),
    "mpi4py-fft 32^3, pencils": (TRANSFORM, ["32", "pencil"], "150", "24"),
    "mpi4py-fft 64^3, slabs": (TRANSFORM, ["64", "slab"], "150", "24"),
    "mpi4py-fft 64^3, pencils": (TRANSFORM, ["64", "pencil"], "150", "24"),
    "examples/fft": (None, [], "150", "24"),
    "examples/closure": (None, [], "8", "1"),
}
RIGHT = re.compile(r"right$| 0 (elements )?wrong$")  # the last words of a program with the right result
AT_LEAST = 0.98
AT_LEAST_ADAPTING = 1 / 1.01
AT_LEAST_TRANSFORM = {"mpi4py-fft 32^3, slabs": 1.4}


def build():
    cluster.want_root("programs")
    *libraries, idle, fft, closure = machine.build(
        *(f"//preload:libquadrille_preload_{library}.so" for library in cluster.LIBRARIES),
        *("//tests/mpi:preloaded_idle.so", "//examples/fft:fft", "//examples/closure:closure"),
    )
    libraries = real.Libraries(dict(zip(cluster.LIBRARIES, libraries)), idle)
    return libraries, {"examples/fft": fft, "examples/closure": closure}


def run(library, command, *variables):
    """Returns the lines of the output and the standard error of a run with the right result."""
    start = cluster.preloaded("openmpi", NODES, library, *variables)
    lines, errors = machine.lines_until([*start, *command], "never", 300)
    if not any(map(RIGHT.search, lines)):
        raise machine.Unusable(f"programs: {command[0]}: {machine.last_words(errors)} {lines}")
    return lines, errors


def seconds_of(library, command, *variables):
    """Of a whole run, the start of the job included."""
    start = time.monotonic()
    run(library, command, *variables)
    return time.monotonic() - start


class Run:
    """The output and the report of a run."""

    def __init__(self, library, command, *variables):
        with tempfile.TemporaryDirectory() as folder:
            report = f"{folder}/report.json"
            self.lines, errors = run(library, command, f"QUADRILLE_REPORT={report}", *variables)
            if not os.path.exists(report):
                raise machine.Unusable(f"programs: {command[0]}: {machine.last_words(errors)}")
            with open(report) as file:
                self.calls = [call for call in json.load(file)["calls"] if call["collective"].startswith("alltoall")]

    @property
    def seconds(self):
        return sum(call["seconds"] for call in self.calls)

    @property
    def whole(self):
        return next(float(line.split()[1]) for line in self.lines if line.startswith("seconds "))


def adapting(report, options, library, name, command):
    """The time of whole runs without rules, and without a report, which costs time itself."""
    kinds = "QUADRILLE=off", "QUADRILLE=adapt"
    pairs = []
    for i in range(options.repetitions or PAIRS):
        runs = {kind: seconds_of(library, command, kind) for kind in (kinds if i % 2 == 0 else kinds[::-1])}
        pairs.append([runs[kind] for kind in kinds])
    ratios = [native / ours for native, ours in pairs]
    report.sample(f"{name} | whole program, native / adapting", ratios, at_least=AT_LEAST_ADAPTING)


def program(report, options, library, name, command, learning, measuring, folder):
    rules = f"QUADRILLE_RULES={folder}/{name.replace(' ', '-').replace('/', '-')}.txt"
    Run(library, [*command, learning], "QUADRILLE=learn", rules)
    pairs = [
        (Run(library, [*command, measuring], "QUADRILLE=on"), Run(library, [*command, measuring], rules))
        for _ in range(options.repetitions or PAIRS)
    ]
    schedules = sorted({call["schedule"] for _, preloaded in pairs for call in preloaded.calls})
    title = f"{name} | all-to-alls ({', '.join(schedules)})"
    add(report, title, pairs, "seconds", AT_LEAST)
    if command[0] == TRANSFORM[0]:
        add(report, f"{name} | whole transforms", pairs, "whole", AT_LEAST_TRANSFORM.get(name, AT_LEAST))


def add(report, name, pairs, what, at_least):
    ratios = [getattr(native, what) / getattr(preloaded, what) for native, preloaded in pairs]
    report.sample(f"{name}, native / preloaded", ratios, at_least=at_least)


def install(packages):
    """Installs the packages that are missing."""
    shown = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *packages], capture_output=True, text=True)
    missing = [package for package in packages if f"{package} installed" not in shown.stdout.splitlines()]
    if missing:
        machine.run(["apt-get", "-qq", "update"])
        machine.run(["apt-get", "-qq", "install", "-y", "--no-install-recommends", *missing])


def of_debian(report, options, libraries):
    for name, program in {**real.PROGRAMS, **real.LARGER}.items():
        if options.only not in name:
            continue
        install(program.packages)
        ratios = {mode: [] for mode in real.EXACT}
        differ = {mode: [] for mode in (real.NATIVE, *real.EXACT)}
        for _ in range(options.repetitions or RUNS):
            for mode, wrong, result in real.compare(program, real.EXACT, libraries):
                if mode == real.NATIVE:
                    native = result
                else:
                    ratios[mode].append(native.seconds / result.seconds)
                if wrong:
                    differ[mode].append(wrong)
                    report.note(f"{name}, {mode}: {wrong}")
        for mode, wrong in differ.items():
            report.figure(f"{name} | {mode}: results unlike the native ones", len(wrong), at_most=0, n=options.repetitions or RUNS)
        for mode, values in ratios.items():
            report.sample(f"{name} | {mode}: whole program, native / with the library", values)
        report.note(f"{name}: of {len(native.lines) + native.times} lines, {native.times} have times")


def measure(report, options, programs):
    libraries, examples = programs
    if options.all:
        of_debian(report, options, libraries)
        return
    library = libraries.preload["openmpi"]
    with tempfile.TemporaryDirectory() as folder, cluster.Cluster(4, cluster.RATE):
        for name, (start, words, learning, measuring) in PROGRAMS.items():
            if options.only in name:
                command = [*(start or [examples[name]]), *words]
                program(report, options, library, name, command, learning, measuring, folder)
            if options.only in f"{name}, adapting" and start:
                adapting(report, options, library, name, [*start, *words, learning])
