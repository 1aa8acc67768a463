"""Simulates the transitive closure of a graph (Fan et al. 2024, Fig. 15): the dependencies of Debian's packages."""
import os
import zlib

from bench import machine
from bench.papers_page import Section, table

STATUS = "/var/lib/dpkg/status"
NODES, RANKS = "8x32", 256
PAIR = 16  # bytes of a pair of vertices
ALGORITHMS = {  # radices to try, and the speed-up that the paper prints
    "tuna": ((2, 4, 16, 64), "5.98"),
    "tuna-coalesced": ((2, 6, 32), "7.96"),
    "tuna-staggered": ((2, 6, 32), "-"),
}
DIRECT = "spread-out"  # stands for MPI_Alltoallv


def edges_of(text):
    """Returns the pairs (package, dependency) in dpkg's status file. Of alternatives, the first one counts."""
    found = set()
    for paragraph in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in paragraph.splitlines() if ": " in line and not line.startswith(" "))
        needs = ",".join(filter(None, (fields.get("Depends"), fields.get("Pre-Depends"))))
        for need in needs.split(","):
            name = need.split("|")[0].split("(")[0].strip().split(":")[0]
            if name and "Package" in fields:
                found.add((fields["Package"], name))
    return found


def rounds_of(edges, ranks):
    """Yields, for each round of the closure, the bytes from each rank to each other one, and the number of known
    paths. A rank owns the vertices whose hash is its number. It has the edges that leave them and the new paths that
    end there. In a round it extends each new path by one edge, and sends it to the owner of its end."""
    owner = {vertex: zlib.crc32(vertex.encode()) % ranks for edge in edges for vertex in edge}
    after = {}
    for source, target in edges:
        after.setdefault(source, []).append(target)
    known, new = set(edges), set(edges)
    while new:
        sizes = [[0] * ranks for _ in range(ranks)]
        found = set()
        for source, middle in new:
            for target in after.get(middle, ()):
                sizes[owner[middle]][owner[target]] += PAIR
                found.add((source, target))
        new = found - known
        known |= new
        yield sizes, len(known)


def written_rounds(runs, edges):
    paths, files = len(edges), []
    for sizes, paths in rounds_of(edges, RANKS):
        path = os.path.join(runs.folder, f"round-{len(files)}.txt")
        with open(path, "w") as file:
            file.writelines(" ".join(map(str, line)) + "\n" for line in sizes)
        files.append((path, sum(map(sum, sizes))))
    return files, paths


def long(runs):
    try:
        with open(STATUS, errors="replace") as file:
            edges = edges_of(file.read())
    except OSError as error:
        raise machine.Unusable(f"papers: {STATUS}: {error.strerror}; the closure needs Debian's packages") from None
    files, paths = written_rounds(runs, edges)

    def seconds(algorithm, *options):
        return sum(runs.seconds("alltoall", algorithm, NODES, ["--sizes", path], "Polaris", *options) for path, _ in files)

    direct = seconds(DIRECT)
    rows = [[f"`{DIRECT}`", f"{1e3 * direct:.3f}", "1.00", "", "1"]]
    for algorithm, (radices, printed) in ALGORITHMS.items():
        time, radix = min((seconds(algorithm, "--radix", radix), radix) for radix in radices)
        rows.append([f"`{algorithm}`", f"{1e3 * time:.3f}", f"{direct / time:.2f}", radix, printed])
    sizes = [size for _, size in files]
    graph = [len({vertex for edge in edges for vertex in edge}), len(edges), len(files), paths, sum(sizes), max(sizes)]
    head = ["packages", "dependencies", "rounds", "pairs found", "bytes in all", "in the largest round"]
    return [table(head, [graph]), table(["algorithm", "ms", "speed-up", "radix", "printed"], rows)]


LONG = Section("Fan et al. 2024: transitive closure of a real graph", long)
