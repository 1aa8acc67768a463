"""Runs bench/collective.c and reads its output."""
from dataclasses import dataclass, field

from bench import machine, paired


@dataclass
class Sampled:
    """The times of a schedule and of the native collective: for each repetition a pair (native, ours), in seconds."""

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
    """Reads the output of collective.c. Returns a Sampled for each schedule. Raises ValueError if part is missing."""
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
    """Does what parse does, but raises Unusable with the program's error, from its error stream `said`."""
    try:
        return parse(lines)
    except ValueError as error:
        own = [line.removeprefix("collective: ") for line in said if line.startswith("collective: ")]
        raise machine.Unusable(f"collective: {own[0] if own else error}") from None


def sample(command, timeout):
    """Runs a command that starts collective.c. Returns a Sampled for each schedule."""
    lines, errors = machine.lines_until(command, "end", timeout)
    return parse_or_complain(lines, errors.splitlines())


class Generator:
    """Makes schedule files in a folder, each only once."""

    def __init__(self, program, folder):
        self.program, self.folder, self.files, self.lines = program, folder, {}, []

    def file(self, collective, algorithm, nodes, *options):
        key = tuple(map(str, (collective, algorithm, nodes, *options)))
        if key not in self.files:
            path = f"{self.folder}/{len(self.files)}.qs"
            machine.run([self.program, "generate", *key[:1], "--algorithm", key[1], "--nodes", *key[2:], "--out", path])
            self.files[key] = path
        return self.files[key]

    def names(self, collective, between_groups=False):
        """Returns the algorithms of a collective."""
        self.lines = self.lines or machine.run([self.program, "list"]).splitlines()
        end = " between groups" if between_groups else ""
        words = [line.removesuffix(end).split() for line in self.lines if line.endswith(end) and line[:1] != " "]
        return [each[1] for each in words if len(each) == 2 and each[0] == collective]

    def for_any(self, collective, between_groups=False):
        """Returns files for any nodes of all algorithms of a collective, by name."""
        remote = ["--remote-nodes", "any"] if between_groups else []
        return {name: self.file(collective, name, "any", *remote) for name in self.names(collective, between_groups)}


class Measuring:
    """What the parts of an instrument share: the report, the options and the generator. `program`: the generator."""

    def __init__(self, report, options, program, folder):
        self.report, self.options, self.folder = report, options, folder
        self.generator = Generator(program, folder)

    def wanted(self, name):
        return self.options.only in name

    def repetitions(self, usual):
        return self.options.repetitions or usual
