"""python3 -m bench.expected TABLE GENERATOR PROGRAM [--accept]: compares simulated times with the expected ones.

A line of the table is: network, nodes, collective, counts, window, seconds, algorithm and its options. Counts are the
bytes of a block. For allgatherv they are DISTRIBUTION:BYTES, with the bytes in all. For alltoallv and persistent they
are a distribution of bench/collective.c. The option --remote-nodes makes a second group, on nodes of its own. A
difference beyond rounding means that the schedule, the runtime or the simulator has changed. --accept writes the new
times into TABLE, which is tests/simulation/expected.txt; look at them with `git diff`.

PROGRAM is the target //bench:smpi_collective.so. Exit codes: 0 as expected, 1 not, 2 bad input.
"""
import os
import sys
import tempfile

from bench import machine, sampling, simulation
from bench.distributions import DISTRIBUTIONS, as_text

TOLERANCE = 1e-6  # of the time
BY_PAIR = ("alltoallv", "persistent")  # collectives whose lengths differ from pair to pair


def read(path):
    """Reads a table. Returns a list: comments and empty lines as text, and other lines as lists of words."""
    try:
        with open(path) as file:
            lines = [line.rstrip("\n") for line in file]
    except OSError as error:
        raise machine.Unusable(f"{path}: {error.strerror}; give the table of expected times") from None
    rows = []
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            rows.append(line)
            continue
        try:
            float(words[5]), int(words[4]), words[6]
        except (IndexError, ValueError):
            raise machine.Unusable(
                f"{path}:{number}: wants network, nodes, collective, counts, window, seconds, algorithm"
            ) from None
        rows.append(words)
    if not any(isinstance(row, list) for row in rows):
        raise machine.Unusable(f"{path}: expects no times at all; give the table of expected times")
    return rows


def schedules_for(collective):
    """Returns the collective whose schedules serve a line with this collective."""
    if collective in BY_PAIR:
        return "alltoall"
    return collective.removesuffix("v") if collective.endswith("rv") else collective


def counts_of(collective, text, ranks):
    distribution, colon, total = text.partition(":")
    if not colon or collective in BY_PAIR:
        return text
    if distribution not in DISTRIBUTIONS:
        raise machine.Unusable(f"there is no distribution '{distribution}'; there are {', '.join(DISTRIBUTIONS)}")
    return as_text(DISTRIBUTIONS[distribution](int(total), ranks))


def simulate(words, generator, program):
    """Simulates the call of one line. Returns its seconds."""
    kind, nodes, collective, counts, window, _, algorithm, *options = words
    schedules = schedules_for(collective)
    first = None
    if "--remote-nodes" in options:
        first = sum(simulation.node_sizes(nodes))
        network_nodes = f"{nodes},{options[options.index('--remote-nodes') + 1]}"
    else:
        network_nodes = nodes
    with tempfile.TemporaryDirectory() as folder:
        made = sampling.Generator(generator, folder).file(schedules, algorithm, nodes, *options)
        network = simulation.Network(kind, network_nodes, folder)
        counts = counts_of(collective, counts, network.ranks)
        # SimGrid has no intercommunicators whose result could be compared.
        checked = first is None or schedules == "allgather"
        sampled = network.sample(
            program, collective, counts, [(made, window)], native=False, checked=checked, first_group=first
        )
    return sampled[0].ours[0]


def agrees(seconds, wanted):
    return abs(seconds - wanted) <= TOLERANCE * wanted


def main(words):
    accept = words[-1:] == ["--accept"]
    if len(words) != 3 + accept:
        raise machine.Unusable("give TABLE GENERATOR PROGRAM, and --accept to write the new times down")
    table, (generator, program) = words[0], map(os.path.abspath, words[1:3])
    rows, differing = read(table), 0
    for row in rows:
        if isinstance(row, str):
            continue
        seconds, wanted = simulate(row, generator, program), float(row[5])
        if agrees(seconds, wanted):
            continue
        differing += 1
        print(f"{' '.join(row)}: takes {seconds:.9e} s, {seconds / wanted if wanted else 0:.6f} of what is expected")
        row[5] = f"{seconds:.9e}"
    if accept:
        with open(table, "w") as file:
            for row in rows:
                file.write((row if isinstance(row, str) else " ".join(row)) + "\n")
        return 0
    return 1 if differing else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except machine.Unusable as error:
        print(f"expected: {error}", file=sys.stderr)
        sys.exit(2)
