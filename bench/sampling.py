"""Runs bench/collective.c and reads its output."""
from dataclasses import dataclass, field

from bench import machine, paired


@dataclass
class Sampled:
    """The times of a schedule and of the native collective, in seconds, as a pair for each repetition."""

    algorithm: str
    window: int
    pairs: list = field(default_factory=list)

    @property
    def ratios(self):
        return paired.ratios(self.pairs)

    @property
    def ours(self):
        return [ours for _, ours in self.pairs]

    @property
    def native(self):
        return [native for native, _ in self.pairs]


def parse(lines):
    """Reads the output of collective.c, schedule by schedule. ValueError if it is not complete."""
    sampled, ended = {}, False
    for line in lines:
        words = line.split()
        if words[:1] == ["schedule"]:
            sampled[int(words[1])] = Sampled(words[2], int(words[4]))
        elif words[:1] == ["sample"]:
            sampled[int(words[1])].pairs.append((float(words[2]), float(words[3])))
        ended = ended or line == "end"
    if not ended:
        raise ValueError("it did not come to its end")
    return [sampled[index] for index in sorted(sampled)]


def parse_or_complain(lines, said=()):
    """The same; incomplete output is an Unusable with the program's own sentence. `said`: lines of its error stream."""
    try:
        return parse(lines)
    except ValueError as error:
        own = [line.removeprefix("collective: ") for line in said if line.startswith("collective: ")]
        raise machine.Unusable(f"collective: {own[0] if own else error}") from None


def sample(command, timeout):
    """Runs a command that starts collective.c."""
    lines, errors = machine.lines_until(command, "end", timeout)
    return parse_or_complain(lines, errors.splitlines())


class Generator:
    """Makes schedule files in a folder, each once."""

    def __init__(self, program, folder):
        self.program, self.folder, self.files = program, folder, {}

    def file(self, collective, algorithm, nodes, *options):
        key = (collective, algorithm, nodes, *options)
        if key not in self.files:
            path = f"{self.folder}/{len(self.files)}.qs"
            machine.run(
                [self.program, "generate", collective, "--algorithm", algorithm, "--nodes", nodes, *options]
                + ["--out", path]
            )
            self.files[key] = path
        return self.files[key]
