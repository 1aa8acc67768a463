"""Simulates what an unchanged program gains or loses while the preload library adapts, over SimGrid's MPI.

One program (bench/preloaded.c) contains the preload library and the runtime. Native collectives are those that
SimGrid selects for an MPI library. Computation takes no time. All messages take time, also those of the preload
library. A case is a row of calls on 64 ranks, from the first call on. All adapting calls are simulated. Native calls
and those of a fixed choice settle soon, so only the first of them are simulated. Each later call then counts as the
mean of the second half of these.
"""
import concurrent.futures
import os
import sys
import tempfile

from bench import machine, paired, simulation
from bench.adapt import choice_of, schedules_of
from bench.distributions import DISTRIBUTIONS, as_text

NEEDS_CALM = False
CALLS = 2000
NATIVE_CALLS, FIXED_CALLS = 400, 12  # how many are simulated
COLLECTIVES = (
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv"),
    *("broadcast", "scatter", "reduce", "reduce-scatter"),
)
SIZES = (8, 64, 512, 4096, 32768, 262144)  # mean bytes of a block, or bytes of the vector
NODES = ("8x8", "16x4", "16,12,3x8,2x4,4")
NETWORKS = {"flat": "ompi", "busy": "mpich", "fat-tree": "ompi"}  # and the library whose collectives are native there
EAGER = "--cfg=smpi/send-is-detached-thresh:4096"  # bytes of the longest message whose send completes at once
BLOCK_SIZES = (8192, 16384)  # for algorithms whose names begin with these words:
BLOCKED = ("blocked", "pipeline", "binary")
WINS = 0.95  # times the native time; a fixed choice that takes at most this gains 5 %
MOST_WORST, MOST_MEDIAN = 1.02, 1.1


def build():
    return machine.build("//bench:smpi_race.so")


def counts(collective, size, ranks):
    """Returns the counts as bench/collective.c reads them. Lengths differ if the collective allows it."""
    if collective == "allgatherv":
        return as_text(DISTRIBUTIONS["linear"](size * ranks, ranks))
    return f"uniform:{2 * size}" if collective == "alltoallv" else str(size)


def choices(collective, size):
    """Returns the fixed choices, as variables of the preload library name them."""
    every = schedules_of(collective.removesuffix("v"))
    blocked = [name for name in every if name.startswith(BLOCKED)]
    return every + [f"{name}:block-size={block}" for name in blocked for block in BLOCK_SIZES if block < size]


def read(printed):
    """Returns pairs (calls, seconds until they were made). SimGrid exits with 0 even if the program fails."""
    *words, end = [line.split() for line in printed.splitlines() if line.startswith(("race ", "end"))] or [[]]
    if end != ["end"]:
        raise machine.Unusable("race: it did not come to its end: received bytes are wrong, or a collective failed")
    return [(int(calls), float(seconds)) for _, calls, seconds in words]


def total(marks, calls):
    """Returns the seconds of that many calls. Those that were not simulated count as the mean of the second half."""
    (half, until_half), (most, seconds) = marks[len(marks) // 2 - 1], marks[-1]
    return seconds + (calls - most) * (seconds - until_half) / (most - half)


class Case:
    """Simulates calls of one collective, with one size, on some nodes of a network."""

    def __init__(self, program, kind, nodes, collective, size, library=None):
        self.program, self.kind, self.nodes, self.collective, self.size = program, kind, nodes, collective, size
        self.library = library or NETWORKS[kind]
        self.name = f"{collective} {nodes}, {size} B, {kind} {self.library}"

    def run(self, calls, variables, checked=False, options=()):
        """Makes the calls, with these variables of the preload library. Returns what `read` returns."""
        others = {name: value for name, value in os.environ.items() if not name.startswith("QUADRILLE")}
        with tempfile.TemporaryDirectory() as folder:
            network = simulation.Network(self.kind, self.nodes, folder)
            how = f"{'checked' if checked else 'marks'}={calls}"
            words = [self.program, 0, how, f"{self.collective}={counts(self.collective, self.size, network.ranks)}"]
            chosen = [f"--cfg=smpi/coll-selector:{self.library}", "--cfg=smpi/wtime:0", EAGER, *options]
            chosen += [] if checked else [simulation.SHARED]
            command = network.command(network.ranks, network.hosts, chosen, words)
            return read(machine.run(command, timeout=3000, cwd=folder, env={**others, **variables}))

    def native(self, calls):
        return total(self.run(min(calls, NATIVE_CALLS), {"QUADRILLE": "off"}), calls)

    def forced(self, name):
        """Returns the variables that make all calls follow a choice."""
        return dict(variable.split("=", 1) for variable in choice_of(self.collective, name))

    def fixed(self, name, calls):
        return total(self.run(min(calls, FIXED_CALLS), self.forced(name)), calls)


def measured(case, calls):
    """Returns the seconds of native, of adapting and of best fixed calls, and the best choice; None on failure."""
    try:
        native, adapting = case.native(calls), total(case.run(calls, {}), calls)
        fixed = {name: case.fixed(name, calls) for name in choices(case.collective, case.size)}
    except machine.Unusable as error:
        print(f"{case.name}: {error}", file=sys.stderr, flush=True)
        return None
    best = min(fixed, key=fixed.get)
    shares = f"adapting {adapting / native:.3f}, {best} {fixed[best] / native:.3f} of native"
    print(f"{case.name}: {shares}", file=sys.stderr, flush=True)
    return native, adapting, fixed[best], best


def measure(report, options, programs):
    (program,) = programs
    calls = options.calls or CALLS
    places = [(kind, nodes) for kind in NETWORKS for nodes in NODES]
    every = [Case(program, *place, collective, size) for place in places for collective in COLLECTIVES for size in SIZES]
    cases = [case for case in every if options.only in case.name]
    if not cases:
        raise machine.Unusable(f"race: no case has '{options.only}' in its name; the first is '{every[0].name}'")
    with concurrent.futures.ThreadPoolExecutor(machine.cores()) as pool:
        found = list(pool.map(lambda case: measured(case, calls), cases))
    tell(report, calls, [(case.name, *one) for case, one in zip(cases, found) if one], found.count(None))


def tell(report, calls, found, failed):
    """Adds the figures of the cases, and their limits."""
    for name, native, adapting, fixed, best in found:
        report.figure(f"{name} | adapting / native", adapting / native, n=calls)
        report.figure(f"{name} | {best} / native", fixed / native, n=calls)
    report.figure("cases with a run that failed", failed, at_most=0, n=failed + len(found))
    ratios = [adapting / native for _, native, adapting, _, _ in found]
    if ratios:
        report.figure("adapting / native, the worst", max(ratios), at_most=MOST_WORST, n=len(ratios))
    gaining = [adapting / fixed for _, native, adapting, fixed, _ in found if fixed <= WINS * native]
    if gaining:
        what = "adapting / the best fixed choice where that gains 5 %, the median"
        report.figure(what, paired.median(gaining), at_most=MOST_MEDIAN, n=len(gaining))
