"""Runs bench/collective.c, reads what it prints, and turns pairs of times into figures."""
import tempfile
from dataclasses import dataclass, field

from bench import machine, paired


@dataclass
class Sampled:
    """Times of one schedule beside the native collective's, in seconds, a pair for each repetition."""

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
    """What collective.c printed, schedule by schedule. ValueError where it did not come to its end."""
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
    """The same, where an end that is not reached is the machine's fault. `said`: lines of errors."""
    try:
        return parse(lines)
    except ValueError as error:
        own = [line.removeprefix("collective: ") for line in said if line.startswith("collective: ")]
        raise machine.Unusable(f"collective: {own[0] if own else error}") from None


def sample(command, timeout):
    """Runs a command that ends in a call of collective."""
    with tempfile.TemporaryFile("w+") as errors:
        lines = machine.lines_until(command, "end", timeout, errors)
        errors.seek(0)
        return parse_or_complain(lines, errors.read().splitlines())


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


def add_ratio(report, name, sampled, at_least=None):
    report.figure(
        name,
        paired.median(sampled.ratios),
        at_least=at_least,
        spread=paired.interval(sampled.ratios),
        n=len(sampled.pairs),
    )


def add_time(report, name, seconds):
    milliseconds = [1e3 * value for value in seconds]
    report.figure(name, paired.median(milliseconds), "ms", spread=paired.interval(milliseconds), n=len(seconds))
