"""What the sections of docs/papers.md share: machines, simulated calls, tables."""
import json
import os
from dataclasses import dataclass
from typing import Callable

from bench import machine
from bench.sampling import Generator


@dataclass
class Machine:
    """The machine of a paper: the flags of the simulator, and their source."""

    name: str
    flags: list
    source: str

    def text(self):
        return f"Machine: {self.name}, `{' '.join(map(str, self.flags))}`. {self.source}\n"


class Runs:
    """Simulates calls, and says which with `tell`. The third program is for SimGrid; tests have none."""

    def __init__(self, programs, folder, tell=lambda text: None):
        self.generator_program, self.simulator = programs[:2]
        self.collective = programs[2] if len(programs) > 2 else None
        self.folder, self.tell = folder, tell
        self.generator = Generator(self.generator_program, folder)

    def file(self, collective, algorithm, nodes, *options):
        return self.generator.file(collective, algorithm, nodes, *map(str, options))

    def simulate(self, file, call, flags):
        """What the simulator says of a call."""
        self.tell(f"{os.path.basename(file)} {' '.join(map(str, call))[:60]}")
        words = [self.simulator, "simulate", file, *call, *flags, "--format", "json"]
        return json.loads(machine.run(words, timeout=3000))

    def seconds(self, collective, algorithm, nodes, call, flags, *options):
        return self.simulate(self.file(collective, algorithm, nodes, *options), call, flags)["time_ps"] * 1e-12


def table(head, rows):
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines) + "\n"


@dataclass
class Section:
    """A part of the page: its heading, and the function that writes what is below it. A test runs the quick ones."""

    name: str
    write: Callable[[Runs], str]
    quick: bool = False
