"""algorithms_test.py GENERATOR REFERENCES ALGORITHMS: docs/algorithms.md has one section for each algorithm of `generator list`,
with its words on cost, needs, source and options. The bibliography has the papers that the sources name, and lists the
same algorithms for them. An algorithm of our own says so."""
import re
import subprocess
import sys

COLLECTIVES = ("reduce-scatter|alltoall|allgather|allreduce|broadcast|gather|scatter|reduce|scan|exscan|barrier")
TOKEN = re.compile(r"`([^`]*)`|(?<![\w-])(%s)( between groups)?(?![\w-])" % COLLECTIVES)
FACTS = ("cost", "needs", "source")


def listed(text):
    """{heading: {fact: words}} of the list; a heading is "alltoall factor between groups"."""
    algorithms = {}
    for line in text.splitlines():
        if line[:1].isalpha():
            algorithms[line] = facts = {"options": ""}
            continue
        key, _, words = line.strip().partition(": ")
        if key in FACTS:
            facts[key] = words
        elif key.startswith("--") and key != "--nodes any":
            facts["options"] += ", `%s`" % key.split()[0] if facts["options"] else "`%s`" % key.split()[0]
    return algorithms


def described(text):
    """The same from the document's sections; "idea" is a section's text before its list."""
    algorithms = {}
    for section in re.split(r"^### ", text, flags=re.M)[1:]:
        heading, _, body = re.split(r"^## ", section, flags=re.M)[0].partition("\n")
        algorithms[heading] = facts = {"options": ""}
        facts["idea"], _, items = body.partition("\n- ")
        for item in items.split("\n- "):
            key, _, words = item.partition(": ")
            if key in (*FACTS, "options"):
                facts[key] = words.strip()
            elif item.startswith("use it "):
                facts["use"] = item
    return algorithms


def pair_of(heading):
    """(collective, name). The collective has " between groups" after it if it is."""
    collective, name, *between = heading.split(" ", 2)
    return " ".join([collective, *between]), name


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


def complaints(text, references, document):
    registry, sections, said = listed(text), described(document), []
    papers, own = references.split("\n## Our own\n")
    entries = dict(part.split("\n", 1) for part in papers.split("\n### ")[1:])
    for heading, facts in registry.items():
        algorithm, source = pair_of(heading), facts["source"]
        rest = source
        for key, entry in entries.items():
            rest = rest.replace(key, "")
            if (key in source) != (algorithm in named(entry)):
                said.append(f"{algorithm}: '{source}', which the entry of {key} contradicts")
        if rest == source or re.search(r"\d{4}", rest):
            said.append(f"{algorithm}: '{source}' names what the bibliography lacks")
        if source.startswith("ours: ") != (algorithm in named(own)):
            said.append(f"{algorithm}: '{source}', which the list of our own contradicts")
        section = sections.get(heading, {})
        for fact in (*FACTS, "options"):
            if facts[fact] != section.get(fact):
                said.append(f"{heading}: {fact} '{facts[fact]}' is '{section.get(fact)}' in the document")
        if not section.get("idea", "").strip() or "use" not in section:
            said.append(f"{heading}: the document does not say its idea, or when to use it")
    for algorithm in set().union(named(own), *map(named, entries.values())) - set(map(pair_of, registry)):
        said.append(f"{algorithm} is no algorithm")
    for heading in sections.keys() - registry.keys():
        said.append(f"{heading} has a section and is no algorithm")
    if len(re.findall(r"^### ", document, flags=re.M)) != len(sections):
        said.append("an algorithm has two sections")
    return said


generator, references, document = sys.argv[1], *(open(path, encoding="utf-8").read() for path in sys.argv[2:])
given = [subprocess.run([generator, "list"], check=True, capture_output=True, text=True).stdout, references, document]
assert len(listed(given[0])) > 60, "the list is not read"
failures = complaints(*given)

# Refused edits: (which text, old text, new text, part of the complaint).
for at, old, new, complaint in [
    (0, "source: Kang et al. 2018", "source: Kang et al. 2017", "names what the bibliography lacks"),
    (0, "source: Traeff 2025", "source: folklore", "names what the bibliography lacks"),
    (0, "source: ours: the stages", "source: the stages", "which the list of our own contradicts"),
    (0, "source: Hillis", "source: ours: Hillis", "which the list of our own contradicts"),
    (0, "section 4.1, Algorithm 2\n", "section 4.2, Algorithm 2\n", "in the document"),
    (0, "cost: p/2 rounds", "cost: p rounds", "cost 'p rounds"),
    (0, "needs: a power of two", "needs: a power of three", "needs 'a power of three"),
    (0, "alltoall xor\n", "alltoall xxor\n", "alltoall xor has a section and is no algorithm"),
    (1, "### Chen et al. 2005", "### Chan et al. 2005", "names what the bibliography lacks"),
    (1, "scan `doubling`", "scan `halving`", "('scan', 'halving') is no algorithm"),
    (1, "barrier `dissemination`, ", "", "which the entry of Hensgen, Finkel and Manber 1988 contradicts"),
    (1, "- alltoall `hierarchical-overlapped`", "- alltoall", "which the list of our own contradicts"),
    (2, "### scan doubling\n", "### scan dubling\n", "is 'None' in the document"),
    (2, "### scan doubling\n", "### scan doubling\n- use it twice\n### scan doubling\n", "two sections"),
    (2, "- options: `--early`\n", "", "options '`--early`' is ''"),
    (2, "- use it for any inclusive scan", "- for any inclusive scan", "does not say its idea"),
]:
    changed = list(given)
    changed[at] = changed[at].replace(old, new)
    if changed == given or not any(complaint in said for said in complaints(*changed)):
        failures.append(f"'{new}' for '{old}' is not refused")

sys.exit("\n".join(failures) or 0)
