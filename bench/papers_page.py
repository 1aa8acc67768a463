"""Finds the sections of docs/papers.md and makes their tables. People write its prose and its machines."""
import json
import os
import re
from dataclasses import dataclass
from typing import Callable

from bench import machine
from bench.sampling import Generator

TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
MACHINE = re.compile(r"^Machine: ([^,]*),.*?`(--.*?)`", re.MULTILINE)


def table(head, rows):
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {' | '.join(map(str, row))} |" for row in rows)]
    return "\n".join(lines) + "\n"


@dataclass
class Section:
    """A section of the page: its heading, and the function that makes its tables. A test runs the quick sections."""

    name: str
    tables: Callable
    quick: bool = False


def sections_of(page):
    """Returns the sections of a page, by name."""
    parts = re.split(r"^(?=## )", page, flags=re.MULTILINE)[1:]
    return {part.split("\n", 1)[0].removeprefix("## "): part for part in parts}


def written(section, runs, page):
    """Returns the text of a section of the page, with its tables made anew."""
    old, made = sections_of(page).get(section.name, ""), section.tables(runs)
    if len(TABLE.findall(old)) != len(made):
        raise machine.Unusable(f"papers: the section '{section.name}' of the page wants {len(made)} tables; add '|' lines to it")
    return TABLE.sub(lambda _: made.pop(0), old)


class Runs:
    """Simulates calls, and passes each to `tell` first. The second program is for SimGrid; tests have none."""

    def __init__(self, programs, folder, page, tell=lambda text: None):
        self.program, self.collective = (*programs, None)[:2]
        self.folder, self.tell, self.file = folder, tell, Generator(self.program, folder).file
        self.machines = {name: flags.split() for name, flags in MACHINE.findall(page)}

    def simulate(self, file, call, flags):
        """Returns the simulator's JSON for a call. `flags`: the simulator's, or the name of a machine of the page."""
        self.tell(f"{os.path.basename(file)} {' '.join(map(str, call))[:60]}")
        flags = self.machines[flags] if isinstance(flags, str) else flags
        return json.loads(machine.run([self.program, "simulate", file, *call, *flags, "--format", "json"], timeout=3000))

    def seconds(self, collective, algorithm, nodes, call, flags, *options):
        return self.simulate(self.file(collective, algorithm, nodes, *options), call, flags)["time_ps"] * 1e-12
