"""What an unchanged program gains or loses while the preload library adapts, over SimGrid's MPI: the same times at any load.

One program (bench/preloaded.c) holds the preload library and the runtime. Native collectives are those that SimGrid selects for an MPI
library. Computation takes no time. All messages do, also those of the preload library. A case is a row of calls on 64 ranks, from
the first call on. All adapting calls are simulated. Native calls and those of a fixed choice settle soon, so only the first of them are
simulated: each call after them takes as long as the second half of these did on the average.
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
NATIVE_CALLS, FIXED_CALLS = 400, 12  # that are simulated
COLLECTIVES = (
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv"),
    *("broadcast", "scatter", "reduce", "reduce-scatter"),
)
SIZES = (8, 64, 512, 4096, 32768, 262144)  # bytes of a block on the average, or of the vector
NODES = ("8x8", "16x4", "16,12,3x8,2x4,4")
NETWORKS = {"flat": "ompi", "busy": "mpich", "fat-tree": "ompi"}  # with the library whose collectives are native
EAGER = "--cfg=smpi/send-is-detached-thresh:4096"  # bytes of the longest message whose send is over at once
BLOCK_SIZES = (8192, 16384)  # of algorithms with this in their names
BLOCKED = ("blocked", "pipeline")
WINS = 0.95  # of the native time: a fixed choice that takes at most this gains 5 %
MOST_WORST, MOST_MEDIAN = 1.02, 1.1


def build():
    return machine.build("//bench:smpi_race.so")


def counts(collective, size, ranks):
    """As bench/collective.c takes them. In collectives that allow it, lengths differ."""
    if collective == "allgatherv":
        return as_text(DISTRIBUTIONS["linear"](size * ranks, ranks))
    return f"uniform:{2 * size}" if collective == "alltoallv" else str(size)


def choices(collective, size):
    """The fixed choices, as a variable of the preload library names them."""
    every = schedules_of(collective.removesuffix("v"))
    blocked = [name for name in every if name.startswith(BLOCKED)]
    return every + [f"{name}:block-size={block}" for name in blocked for block in BLOCK_SIZES if block < size]


def read(printed):
    """The numbers of calls, and the seconds until they were made. The simulator ends with code 0 also if the program failed."""
    *words, end = [line.split() for line in printed.splitlines() if line.startswith(("race ", "end"))] or [[]]
    if end != ["end"]:
        raise machine.Unusable("race: it did not come to its end: received bytes are wrong, or a collective failed")
    return [(int(calls), float(seconds)) for _, calls, seconds in words]


def total(marks, calls):
    """The seconds of that many calls. Those that were not simulated take as long as the second half of the others."""
    (half, until_half), (most, seconds) = marks[len(marks) // 2 - 1], marks[-1]
    return seconds + (calls - most) * (seconds - until_half) / (most - half)


class Case:
    """Calls of one collective, with one size, on some nodes of a network."""

    def __init__(self, program, kind, nodes, collective, size, library=None):
        self.program, self.kind, self.nodes, self.collective, self.size = program, kind, nodes, collective, size
        self.library = library or NETWORKS[kind]
        self.name = f"{collective} {nodes}, {size} B, {kind} {self.library}"

    def run(self, calls, variables, checked=False, options=()):
        """Makes the calls, with these variables of the preload library."""
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
        """The variables that make all calls follow a choice."""
        return dict(variable.split("=", 1) for variable in choice_of(self.collective, name))

    def fixed(self, name, calls):
        return total(self.run(min(calls, FIXED_CALLS), self.forced(name)), calls)


def measured(case, calls):
    """The seconds of native calls, of adapting calls, and of the best fixed choice, and its name. None if a run failed."""
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
