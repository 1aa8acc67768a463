"""The curves of the papers, simulated beside the printed numbers: docs/papers.md.

Each run makes the text of every section and compares it with the page. `--update` writes the page instead. `--only TEXT` takes
the sections whose name has this text. Simulated times are the same on every run and at any load.
"""
import re
import sys
import tempfile

from bench import machine, papers_closure, papers_kang, papers_sanders, papers_smpi, papers_traff, papers_tuna
from bench.papers_page import Runs

NEEDS_CALM = False
PAGE = "docs/papers.md"
SECTIONS = [
    papers_kang.QUICK,
    papers_kang.LONG,
    papers_traff.QUICK,
    papers_traff.LONG,
    papers_tuna.QUICK,
    papers_tuna.LONG,
    papers_sanders.QUICK,
    papers_closure.LONG,
    papers_smpi.LONG,
]
HEAD = """<!-- ./dev bench papers --update writes this page. -->

# The papers' figures

Quadrille's schedules come from many [papers](references.md). This page repeats the measurements of four of them in simulation. Our
numbers stand beside the printed ones, and a sentence explains each difference. `./dev bench papers` runs everything again and
compares it with this page; `./dev bench papers --only "Kang et al."` runs the sections with that name.

Our copies of the papers have no readable plots, so the printed numbers are those of the papers' text. The simulator is that of
[the guide](guide.md#simulate-it).
"""


def build():
    return machine.build("//generator:generator", "//simulate:simulator", "//bench:smpi_collective.so")


def written(section, runs):
    """The text of a section, with its heading."""
    return f"## {section.name}\n\n{section.write(runs)}".strip() + "\n"


def sections_of(page):
    """The sections of a page, by name."""
    parts = re.split(r"^(?=## )", page, flags=re.MULTILINE)[1:]
    return {part.split("\n", 1)[0].removeprefix("## "): part.strip() + "\n" for part in parts}


def read_page():
    try:
        with open(PAGE) as file:
            return file.read()
    except OSError:
        return ""


def write_page(found):
    with open(PAGE, "w") as file:
        file.write(HEAD + "".join(f"\n{found[section.name]}" for section in SECTIONS if section.name in found))


def measure(report, options, programs):
    wanted = [section for section in SECTIONS if options.only in section.name]
    if not wanted:
        names = ", ".join(section.name for section in SECTIONS)
        raise machine.Unusable(f"papers: no section has '{options.only}' in its name; there are: {names}")
    page = sections_of(read_page())
    differing = 0
    for number, section in enumerate(wanted, 1):
        with tempfile.TemporaryDirectory() as folder:
            step = f"papers: {section.name} ({number} of {len(wanted)})"
            runs = Runs(programs, folder, lambda text: print(f"{step}: {text}", file=sys.stderr, flush=True))
            text = written(section, runs)
        if page.get(section.name) != text:
            differing += 1
            if not options.update:
                print(f"papers: {PAGE} has another text for '{section.name}' than this run:\n{text}", file=sys.stderr)
        page[section.name] = text
        if options.update:
            write_page(page)
    if options.update:
        print(f"papers: {PAGE} written; {differing} of {len(wanted)} sections changed")
    report.figure(
        f"sections of {PAGE} that this run writes otherwise", 0 if options.update else differing, at_most=0, n=len(wanted)
    )
