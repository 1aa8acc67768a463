"""agreement_test.py TABLE GENERATOR SIMULATOR: simulated times are those of SimGrid, within 5 %.

TABLE is tests/simulation/expected.txt, which SimGrid's times are in. Its lines of the network `linear` are compared.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

from bench import expected, simulation
from bench.distributions import DISTRIBUTIONS, as_text
from bench.simulate import LINEAR

TABLE, GENERATOR, SIMULATOR = sys.argv[1:4]
MOST_DIFFERENCE = 0.05


def rows():
    with open(TABLE) as file:
        lines = [line.split() for line in file]
    return [words for words in lines if words and words[0] == "linear"]


def call(collective, counts, nodes):
    """The arguments that give the call. None if SimGrid's program understands the counts of two groups differently."""
    if collective in expected.BY_PAIR:
        return ["--sizes", counts, *(["--persistent"] if collective == "persistent" else [])]
    distribution, colon, total = counts.partition(":")
    if colon:
        return ["--counts", as_text(DISTRIBUTIONS[distribution](int(total), sum(simulation.node_sizes(nodes))))]
    return ["--bytes", counts] if counts.isdigit() else None


class Agreement(unittest.TestCase):
    def simulated(self, words, folder):
        """Seconds, or None."""
        _, nodes, collective, counts, window, _, algorithm, *options = words
        given = call(collective, counts, nodes)
        if given is None or ("--remote-nodes" in options and collective == "reduce-scatter"):
            return None
        path = os.path.join(folder, "schedule.qs")
        collective = expected.schedules_for(collective)
        making = [GENERATOR, "generate", collective, "--algorithm", algorithm, "--nodes", nodes, *options, "--out", path]
        subprocess.run(making, check=True, stdout=subprocess.DEVNULL)
        command = [SIMULATOR, "simulate", path, *given, "--window", window, "--format", "json", *map(str, LINEAR)]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["time_ps"] * 1e-12

    def test_times_are_those_of_simgrid(self):
        compared = 0
        with tempfile.TemporaryDirectory() as folder:
            for words in rows():
                seconds = self.simulated(words, folder)
                if seconds is None:
                    continue
                compared += 1
                with self.subTest(words=" ".join(words)):
                    self.assertAlmostEqual(seconds / float(words[5]), 1, delta=MOST_DIFFERENCE)
        print(f"{compared} of {len(rows())} times compared; the others give counts that only SimGrid's program reads")
        self.assertGreater(compared, 45)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
