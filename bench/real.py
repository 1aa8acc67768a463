"""Runs programs of Debian's packages natively and with the preload library, and compares their results.

A result is all that a program writes: its output, its error stream and its files. A pattern of each program leaves
out times and what follows from them; each run says in how many lines. Two native runs must have the same result, or
nothing could be compared. The library leaves sums to MPI unless QUADRILLE_SUMS says otherwise. So the results of all
modes but the forced ones must be the native ones bit by bit.

Forced runs follow one schedule for each collective, even for sums, so their numbers may differ a little.
"""
import dataclasses
import itertools
import json
import operator
import os
import re
import runpy
import shutil
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(HERE)
INPUTS = os.path.join(HERE, "inputs")
MPIRUN = os.path.join(TREE, "tests/mpi/mpirun.sh")
RANKS = 4
NATIVE = "native"
# Modes whose results must be the native ones bit by bit, and modes that follow a collective's first or last schedule.
EXACT = {
    "off": {"QUADRILLE": "off"},
    "adapt": {},
    "learn": {"QUADRILLE": "learn", "QUADRILLE_RULES": "rules.txt"},
    "verify": {"QUADRILLE": "verify"},
}
FORCED = {"forced first": (0, ""), "forced last": (-1, ""), "forced between groups": (0, "-between-groups")}
FORMS = {
    "allgather": ("ALLGATHER", "ALLGATHERV"),
    "alltoall": ("ALLTOALL", "ALLTOALLV", "ALLTOALLW"),
    "broadcast": ("BCAST",),
    "gather": ("GATHER", "GATHERV"),
    "reduce-scatter": ("REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK"),
    "scatter": ("SCATTER", "SCATTERV"),
}
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@dataclasses.dataclass(frozen=True)
class Program:
    """A program of Debian's packages. Patterns that are not given match nothing."""

    packages: tuple
    command: tuple
    inputs: tuple = ()  # files to copy to its folder, in bench/inputs if not absolute; ':' precedes another name
    outputs: tuple = ()  # files that the program writes into its folder
    stdin: str = os.devnull
    times: str = r"(?!)"  # parts of lines that are not compared
    residuals: str = r"(?!)"  # lines with rounding errors; of forced runs, only their words count, such as PASSED
    tolerance: float = 1e-9  # relative difference of numbers that forced runs may have
    mpi: str = "openmpi"
    groups: bool = False  # whether the program has collectives between groups
    seconds: int = 60  # on an idle machine; a run that takes ten times as long has failed


@dataclasses.dataclass(frozen=True)
class Result:
    code: int
    lines: list
    times: int  # how many lines have times
    calls: list  # in the preload library's report; None without a report
    seconds: float

    @property
    def served(self):
        """Returns how many calls schedules served."""
        return sum(call["calls"] for call in self.calls or [] if call["schedule"] != "native")


@dataclasses.dataclass(frozen=True)
class Libraries:
    """Paths of libraries that the build makes, by MPI library."""

    preload: dict
    idle: dict  # lets waiting ranks sleep; some MPI libraries have none


TIMES_OF_LAMMPS = (
    r"(.* CPU =|Loop time of|Performance:|.*% CPU use|(Pair|Bond|Kspace|Neigh|Comm|Output|Modify|Other) +\||Total wall time|Per MPI rank memory).*"
)


def lammps(text, *words):
    return Program(
        packages=("lammps",),
        command=("/usr/bin/lmp", "-in", text, *words),
        inputs=(text,),
        outputs=("atoms.txt",),
        times=TIMES_OF_LAMMPS,
    )


TIMES_OF_HPCC = (
    r".*(Current time|Hostname|[Tt]ime used|_[Tt]ime\d?=|CheckTime=|ExeUpdates=|GUP|[GT]flop|gflop|GB|MB|[Bb]andwidth|[Ll]atency|sec\b|"
    r"secs|ping pong pairs|client pings|microseconds|clock ticks|setup time|Node selected|Computing:|Tuning:|Generation time:|Inverse FFT:).*|"
    r"(WALL|CPU|WR\w+|Copy:|Scale:|Add:|Triad:|(Star|Single)STREAM_\w+=|Scaled residual:) .*|(Star|Single)STREAM_.*"
)
PROGRAMS = {
    "lammps-lj": lammps("lammps_lj.txt"),
    "lammps-pppm": lammps("lammps_pppm.txt"),
    "hpcc": Program(
        packages=("hpcc",),
        command=("/usr/bin/hpcc",),
        inputs=("hpcc.txt:hpccinf.txt",),
        outputs=("hpccoutf.txt",),
        times=TIMES_OF_HPCC,
        residuals=r"^\|\|Ax-b|HPL_Rnorm|max\(\|x-x0|MPIFFT_maxErr|RESID",
    ),
    "mpi4py": Program(
        packages=("python3-mpi4py-fft",),
        command=("/usr/bin/python3", "arrays.py", "3"),
        inputs=("arrays.py",),
        groups=True,
    ),
    "mumps": Program(
        packages=("mumps-test",),
        command=("/usr/lib/mumps/dsimpletest",),
        stdin="/usr/lib/mumps/input_simpletest_real",
        times=r".*([Tt]ime|Elapsed|ELAPSED).*",
    ),
    "scalapack": Program(
        packages=("scalapack-mpi-test",),
        command=("/usr/lib/x86_64-linux-gnu/scalapack/mpich-tests/xdsep",),
        inputs=("scalapack.txt:SEP.dat",),
        times=r"(?<=[NY]) +\d+\.\d\d +-?\d+\.\d\d(?= )",
        residuals=r"PASSED",
        mpi="mpich",
    ),
}

# Larger programs, and ScaLAPACK with Open MPI: ./dev bench programs --all.
LARGER = {
    "lammps-pppm, 1500 steps": dataclasses.replace(
        lammps("lammps_pppm.txt", "-var", "steps", "1500"), seconds=120
    ),
    "gpaw": Program(
        packages=("gpaw", "gpaw-data"),
        command=("/usr/bin/gpaw", "python", "gpaw_run.py"),
        inputs=("gpaw_run.py",),
        seconds=120,
    ),
    "quantum-espresso": Program(
        packages=("quantum-espresso", "abinit-data"),
        command=("/usr/bin/pw.x", "-in", "espresso.txt"),
        inputs=("espresso.txt", "/usr/share/abinit/psp/14-Si.nlcc.UPF"),
        outputs=("silicon.xml",),
        times=r".*(WALL|starts on|This run was terminated on|total cpu time|<created|<cpu>|<wall>|<closed).*",
        seconds=120,
    ),
    "cp2k": Program(
        packages=("cp2k", "cp2k-data"),
        command=("/usr/bin/cp2k.psmp", "-i", "cp2k.txt"),
        inputs=("cp2k.txt",),
        outputs=("water-pos-1.xyz",),
        times=r".*(PROGRAM (STARTED|PROCESS|ENDED|STOPPED)|MEMORY\||memory|CPU time|Estimated peak).*|"
        r" \w+ +\d+ +\d+\.\d( +\d+\.\d{3}){4}|(?<= 0\.15E\+00) +\d+\.\d",
        seconds=120,
    ),
    "abinit": Program(
        packages=("abinit", "abinit-data"),
        command=("/usr/bin/abinit", "abinit.txt"),
        inputs=("abinit.txt",),
        outputs=("abinit.abo",),
        times=r".*([Tt]ime|[Cc]pu|wall|[Dd]ate|\( at ).*",
        seconds=120,
    ),
    "scalapack, Open MPI": dataclasses.replace(
        PROGRAMS["scalapack"],
        command=("/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests/xdsep",),
        mpi="openmpi",
    ),
}


def modes(program):
    """Returns all modes in which a program can be compared with native runs."""
    return [*EXACT, *(mode for mode in FORCED if program.groups or "groups" not in mode)]


def forced(mode):
    """Returns the variables of a forced mode: the first or last schedule that the library has for each collective."""
    index, end = FORCED[mode]
    schedules = runpy.run_path(os.path.join(TREE, "emitted/universal_schedules.bzl"))["UNIVERSAL_SCHEDULES"]
    chosen = {"QUADRILLE": "on", "QUADRILLE_SUMS": "any"}
    for collective, names in schedules.items():
        if collective.endswith("-between-groups") == bool(end):
            collective = collective.removesuffix(end)
            for form in FORMS.get(collective, [collective.upper()]):
                chosen["QUADRILLE_" + form] = names[index]
    return chosen


def run(program, mode, libraries, variables=None):
    """Runs a program once, in a folder of its own. Adds `variables` to those of the mode. Returns the Result."""
    chosen = {} if mode == NATIVE else EXACT[mode] if mode in EXACT else forced(mode)
    preload = [libraries.idle[program.mpi]] if program.mpi in libraries.idle else []
    if mode != NATIVE:
        preload.insert(0, libraries.preload[program.mpi])
        chosen = {**chosen, "QUADRILLE_REPORT": "report.json"}
    chosen = {"OMP_NUM_THREADS": "1", "LD_PRELOAD": " ".join(preload), **chosen, **(variables or {})}
    with tempfile.TemporaryDirectory() as folder:
        for name in program.inputs:
            source, _, target = name.partition(":")
            shutil.copy(os.path.join(INPUTS, source), os.path.join(folder, target or os.path.basename(source)))
        start = ["bash", "-c", '. "$0" && start_ranks "$@"', MPIRUN, program.mpi, str(RANKS), str(program.seconds), "env"]
        words = [*start, *(f"{name}={value}" for name, value in chosen.items()), *program.command]
        began = time.monotonic()
        with open(program.stdin) as stdin:
            done = subprocess.run(words, cwd=folder, stdin=stdin, capture_output=True, text=True, errors="replace")
        seconds = time.monotonic() - began
        errors = "".join(sorted(done.stderr.splitlines(keepends=True)))  # ranks write in any order
        errors = re.sub(EQUAL, "", errors)
        texts = [done.stdout, errors, *(contents(os.path.join(folder, name)) for name in program.outputs)]
        calls = json.loads(contents(os.path.join(folder, "report.json")) or '{"calls": null}')["calls"]
    raw = [line for text in texts for line in [*text.splitlines(), "-- end"]]
    lines = [re.sub(program.times, "#", line) for line in raw]
    times = sum(map(operator.ne, raw, lines))
    return Result(done.returncode, [line for line in lines if line != "#"], times, calls, seconds)


EQUAL = r"quadrille: (\d+ calls of \d+ compared with MPI's own: all equal|no call of \d+ compared with MPI's own: .*)\n"


def contents(path):
    """Returns the text of a file, or "" if the program has not written it."""
    if not os.path.exists(path):
        return ""
    with open(path, errors="replace") as file:
        return file.read()


def difference(program, native, result, exact):
    """Returns a sentence about the first difference between a native run and another one, or None."""
    if result.code != native.code:
        return f"it ends with {result.code}{' (timeout)' if result.code == 124 else ''} instead of {native.code}"
    alike = operator.eq if exact else lambda *lines: is_near(program, *lines)
    for i, (one, other) in enumerate(itertools.zip_longest(native.lines, result.lines, fillvalue="(nothing)")):
        if not alike(one, other):
            return f"line {i + 1} is '{other}' instead of '{one}'"
    return None


def is_near(program, one, other):
    """Returns whether two lines have the same words, and near numbers unless they are lines of residuals."""
    if re.search(program.residuals, one):
        return NUMBER.sub("#", one).split() == NUMBER.sub("#", other).split()
    numbers = [[float(number) for number in NUMBER.findall(line)] for line in (one, other)]
    return NUMBER.sub("#", one).split() == NUMBER.sub("#", other).split() and all(
        abs(a - b) <= program.tolerance * max(abs(a), abs(b), 1) for a, b in zip(*numbers)
    )


def unserved(mode, result):
    """Returns what is wrong with the report of a mode, or None. So a library that was not loaded is noticed."""
    if mode == "off":
        return None if result.calls is None else "the library has done something"
    if not result.calls:
        return "the library reports no call"
    if mode in ("learn", "verify", *FORCED) and result.served == 0:
        return "schedules served no call"
    return None


def compare(program, modes, libraries):
    """Runs a program natively and in those modes. Yields each mode, what is wrong or None, and the Result."""
    first, native = (run(program, NATIVE, libraries) for _ in range(2))
    yield NATIVE, "it fails natively" if first.code else difference(program, first, native, exact=True), native
    for mode in modes:
        result = run(program, mode, libraries)
        yield mode, difference(program, native, result, mode in EXACT) or unserved(mode, result), result
