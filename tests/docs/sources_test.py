"""sources_test.py GENERATOR REFERENCES README: `generator list` names papers that the bibliography has, the bibliography and
the README's tables name the same algorithms for them, and an algorithm of our own says so."""
import re
import subprocess
import sys

COLLECTIVES = ("reduce-scatter|alltoall|allgather|allreduce|broadcast|gather|scatter|reduce|scan|exscan|barrier")
TOKEN = re.compile(r"`([^`]*)`|(?<![\w-])(%s)( between groups)?(?![\w-])" % COLLECTIVES)


def listed(text):
    """{(collective, name): source}, the collective with " between groups" where it is."""
    sources = {}
    for line in text.splitlines():
        if line[:1].isalpha():
            collective, name, *between = line.split(" ", 2)
            algorithm = (" ".join([collective, *between]), name)
        elif line.startswith("  source: "):
            sources[algorithm] = line.removeprefix("  source: ")
    return sources


def named(text):
    """The algorithms in a list: names in backquotes after their collective."""
    found = set()
    for item in re.split(r"^- ", text, flags=re.M)[1:]:
        collective = None
        for name, word, between in TOKEN.findall(" ".join(item.split())):
            if word:
                collective = word + between
            elif collective:
                found.add((collective, name))
    return found


def tabled(readme):
    """{(collective, name): source}, as `listed`, of the README's tables."""
    rows, heading = {}, None
    for line in readme.splitlines():
        if not line.startswith("|"):
            heading = None
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if heading is None:
            heading = cells if cells[-1] == "source" else [""]
        elif line.startswith("|-"):
            continue
        elif heading[0] in ("alltoall", "allgather"):
            rows[heading[0], cells[0].strip("`")] = cells[-1]
        elif heading[0] in ("collective", "between groups"):
            between = heading[0].replace("collective", "").strip()
            rows[" ".join([cells[0], between]).strip(), cells[1].strip("`")] = cells[-1]
    return rows


def complaints(text, references, readme):
    sources, said = listed(text), []
    papers, own = references.split("\n## Our own\n")
    entries = dict(part.split("\n", 1) for part in papers.split("\n### ")[1:])
    for algorithm, source in sources.items():
        rest = source
        for key, entry in entries.items():
            rest = rest.replace(key, "")
            if (key in source) != (algorithm in named(entry)):
                said.append(f"{algorithm}: '{source}', which the entry of {key} contradicts")
        if rest == source or re.search(r"\d{4}", rest):
            said.append(f"{algorithm}: '{source}' names what the bibliography lacks")
        if source.startswith("ours: ") != (algorithm in named(own)):
            said.append(f"{algorithm}: '{source}', which the list of our own contradicts")
    for algorithm in set().union(named(own), *map(named, entries.values())) - sources.keys():
        said.append(f"{algorithm} is no algorithm")
    table = tabled(readme)
    for algorithm in sources.keys() | table.keys():
        if sources.get(algorithm) != table.get(algorithm):
            said.append(f"{algorithm}: '{sources.get(algorithm)}' is '{table.get(algorithm)}' in the README")
    return said


generator, references, readme = sys.argv[1], *(open(path, encoding="utf-8").read() for path in sys.argv[2:])
given = [subprocess.run([generator, "list"], check=True, capture_output=True, text=True).stdout, references, readme]
assert len(listed(given[0])) > 60, "the list is not read"
failures = complaints(*given)

# What is refused: (which text, what stands there, what stands there instead, part of the complaint).
for at, old, new, complaint in [
    (0, "source: Kang et al. 2018", "source: Kang et al. 2017", "names what the bibliography lacks"),
    (0, "source: Traeff 2025", "source: folklore", "names what the bibliography lacks"),
    (0, "source: ours: the stages", "source: the stages", "which the list of our own contradicts"),
    (0, "source: Hillis", "source: ours: Hillis", "which the list of our own contradicts"),
    (0, "section 4.1, Algorithm 2\n", "section 4.2, Algorithm 2\n", "in the README"),
    (1, "### Chen et al. 2005", "### Chan et al. 2005", "names what the bibliography lacks"),
    (1, "scan `doubling`", "scan `halving`", "('scan', 'halving') is no algorithm"),
    (1, "barrier `dissemination`, ", "", "which the entry of Hensgen, Finkel and Manber 1988 contradicts"),
    (1, "- alltoall `hierarchical-overlapped`", "- alltoall", "which the list of our own contradicts"),
    (2, "| scan | `doubling` |", "| scan | `dubling` |", "is 'None' in the README"),
]:
    changed = list(given)
    changed[at] = changed[at].replace(old, new)
    if changed == given or not any(complaint in said for said in complaints(*changed)):
        failures.append(f"'{new}' for '{old}' is not refused")

sys.exit("\n".join(failures) or 0)
