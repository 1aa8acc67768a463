"""Measures unchanged programs on the emulated cluster: the time in their all-to-alls, with MPI alone and with learned
rules, and the time of whole programs while the preload library adapts without rules.

Native runs and runs with the library take turns. The preload library's report has the time of rank 0 in the calls.

With --all, runs programs of Debian's packages instead (bench/real.py). Their results must be the native ones.
"""
import json
import os
import re
import subprocess
import tempfile
import time

from bench import cluster, machine, paired, real

NEEDS_CALM = True
PAIRS = 5
RUNS = 3
NODES = "4x8"
TRANSFORM = ["bench/transform.py"]
# The program, its words, and its last word: first when it learns, then when it is measured.
PROGRAMS = {
    "mpi4py-fft 32^3, slabs": (TRANSFORM, ["32", "slab"], "150", "24"),
    "mpi4py-fft 32^3, pencils": (TRANSFORM, ["32", "pencil"], "150", "24"),
    "mpi4py-fft 64^3, slabs": (TRANSFORM, ["64", "slab"], "150", "24"),
    "mpi4py-fft 64^3, pencils": (TRANSFORM, ["64", "pencil"], "150", "24"),
    "examples/fft": (None, [], "150", "24"),
    "examples/closure": (None, [], "8", "1"),
}
RIGHT = re.compile(r"right$| 0 (elements )?wrong$")  # what a program with the right result prints last
AT_LEAST = 0.98
AT_LEAST_ADAPTING = 1 / 1.01
AT_LEAST_TRANSFORM = {"mpi4py-fft 32^3, slabs": 1.4}


def build():
    cluster.want_root("programs")
    *libraries, idle, fft, closure = machine.build(
        *(f"//preload:libquadrille_preload_{library}.so" for library in cluster.LIBRARIES),
        *("//tests/mpi:preloaded_idle.so", "//examples/fft:fft", "//examples/closure:closure"),
    )
    libraries = real.Libraries(dict(zip(cluster.LIBRARIES, libraries)), {"mpich": idle})
    return libraries, {"examples/fft": fft, "examples/closure": closure}


class Run:
    """A run with the right result. It has the output, the seconds with the start of the job, and reported calls."""

    def __init__(self, library, command, *variables, reports=True):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/report.json"
            variables += (f"QUADRILLE_REPORT={path}",) if reports else ()
            start = time.monotonic()
            words = [*cluster.preloaded("openmpi", NODES, library, *variables), *command]
            self.lines, errors = machine.lines_until(words, "never", 300)
            self.elapsed = time.monotonic() - start
            calls = json.loads(real.contents(path) or '{"calls": []}')["calls"]
            if not any(map(RIGHT.search, self.lines)) or reports and not os.path.exists(path):
                raise machine.Unusable(f"programs: {command[0]}: {machine.last_words(errors)} {self.lines}")
        self.calls = [call for call in calls if call["collective"].startswith("alltoall")]

    @property
    def seconds(self):
        return sum(call["seconds"] for call in self.calls)

    @property
    def whole(self):
        return next(float(line.split()[1]) for line in self.lines if line.startswith("seconds "))


def add(report, name, pairs, what, at_least):
    """Adds the ratios of native runs to runs with the library."""
    report.sample(name, [getattr(native, what) / getattr(ours, what) for native, ours in pairs], at_least=at_least)


def adapting(report, repetitions, library, name, command):
    """Measures whole runs without rules. They write no report, which would cost time itself."""
    pairs = []
    for i in range(repetitions):
        kinds = ["QUADRILLE=off", "QUADRILLE=adapt"][:: -1 if i % 2 else 1]
        runs = {kind: Run(library, command, kind, reports=False) for kind in kinds}
        pairs.append((runs["QUADRILLE=off"], runs["QUADRILLE=adapt"]))
    add(report, f"{name} | whole program, native / adapting", pairs, "elapsed", AT_LEAST_ADAPTING)


def program(report, repetitions, library, name, command, learning, measuring, folder):
    rules = f"QUADRILLE_RULES={folder}/{name.replace(' ', '-').replace('/', '-')}.txt"
    Run(library, [*command, learning], "QUADRILLE=learn", rules)
    pairs = [[Run(library, [*command, measuring], how) for how in ("QUADRILLE=on", rules)] for _ in range(repetitions)]
    schedules = sorted({call["schedule"] for _, ours in pairs for call in ours.calls})
    add(report, f"{name} | all-to-alls ({', '.join(schedules)}), native / preloaded", pairs, "seconds", AT_LEAST)
    if command[0] == TRANSFORM[0]:
        at_least = AT_LEAST_TRANSFORM.get(name, AT_LEAST)
        add(report, f"{name} | whole transforms, native / preloaded", pairs, "whole", at_least)


def install(packages):
    """Installs the packages that are missing."""
    shown = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *packages], capture_output=True, text=True)
    missing = [package for package in packages if f"{package} installed" not in shown.stdout.splitlines()]
    if missing:
        machine.run(["apt-get", "-qq", "update"])
        machine.run(["apt-get", "-qq", "install", "-y", "--no-install-recommends", *missing])


def of_debian(report, options, libraries):
    repetitions = options.repetitions or RUNS
    for name, program in {**real.PROGRAMS, **real.LARGER}.items():
        if options.only not in name:
            continue
        install(program.packages)
        seconds = {mode: [] for mode in (real.NATIVE, *real.EXACT)}
        differing = dict.fromkeys(seconds, 0)
        for _ in range(repetitions):
            for mode, wrong, result in real.compare(program, real.EXACT, libraries):
                native = result if mode == real.NATIVE else native
                seconds[mode].append(result.seconds)
                if wrong:
                    differing[mode] += 1
                    report.note(f"{name}, {mode}: {wrong}")
        for mode, count in differing.items():
            report.figure(f"{name} | {mode}: results unlike the native ones", count, at_most=0, n=repetitions)
        for mode in real.EXACT:
            ratios = paired.ratios(zip(seconds[real.NATIVE], seconds[mode]))
            report.sample(f"{name} | {mode}: whole program, native / with the library", ratios)
        report.note(f"{name}: of {len(native.lines) + native.times} lines, {native.times} have times")


def measure(report, options, programs):
    libraries, examples = programs
    if options.all:
        of_debian(report, options, libraries)
        return
    library, repetitions = libraries.preload["openmpi"], options.repetitions or PAIRS
    with tempfile.TemporaryDirectory() as folder, cluster.Cluster(4, cluster.RATE):
        for name, (start, words, learning, measuring) in PROGRAMS.items():
            if options.only in name:
                command = [*(start or [examples[name]]), *words]
                program(report, repetitions, library, name, command, learning, measuring, folder)
            if options.only in f"{name}, adapting" and start:
                adapting(report, repetitions, library, name, [*start, *words, learning])
