"""bazel run //bench:random_topologies [NAME...]: checks every algorithm on ten random topologies of up to 300 ranks.

The arguments are words of `quadrille list`, such as `allreduce ring`. Without them, checks all algorithms. The
topologies are the same on every run. If an algorithm does not serve one, another one is drawn.
"""
import random
import subprocess
import sys
import tempfile

GENERATOR, VERIFIER = "generator/generator", "verifier/verifier"
TOPOLOGIES = 10
MOST_RANKS = 300
MOST_DRAWS = 200
NOT_SERVED = ("requires", "serves", "is known for")


def draw(seed):
    """Returns random node sizes: few or many nodes, of one size or of several, often with a power of two of ranks."""
    generator = random.Random(seed)
    ranks = generator.choice([generator.randint(1, MOST_RANKS), 2 ** generator.randint(0, 8)])
    largest = generator.choice([1, 2, 8, 16, 48])
    same = generator.random() < 0.3
    sizes = []
    while sum(sizes) < ranks:
        size = largest if same else generator.randint(1, largest)
        sizes.append(min(size, ranks - sum(sizes)))
    return ",".join(map(str, sizes))


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, (done.stdout + done.stderr).strip()


def check(name, seed, file):
    """Returns whether the algorithm serves the topology of that seed, and what is wrong with its schedule, or ""."""
    collective, algorithm, *groups = name.split()
    nodes = draw(seed)
    remote = ["--remote-nodes", draw(seed + 1000000)] if groups else []
    place = f"{name} on {nodes} {' '.join(remote)}"
    code, text = run(GENERATOR, "generate", collective, "--algorithm", algorithm, "--nodes", nodes, *remote, "--out", file)
    if code != 0:
        return False, "" if any(word in text for word in NOT_SERVED) else f"{place}: {text}"
    code, text = run(VERIFIER, "check", file)
    return True, "" if code == 0 else f"{place}: {text}"


def main():
    code, text = run(GENERATOR, "list")
    names = [line for line in text.splitlines() if line and not line.startswith(" ")]
    names = [name for name in names if name.startswith(" ".join(sys.argv[1:]))]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            checked, seed = 0, 0
            while checked < TOPOLOGIES and seed < MOST_DRAWS:
                served, fault = check(name, seed, folder + "/schedule.qs")
                checked, seed = checked + served, seed + 1
                if fault:
                    failures += 1
                    print(fault)
            failures += checked < TOPOLOGIES
            print(f"{name}: checked on {checked} topologies", flush=True)
    print(f"{len(names)} algorithms, {failures} failures")
    sys.exit(code != 0 or not names or failures > 0)


if __name__ == "__main__":
    main()
