"""agreement_test.py TABLE GENERATOR: simulated times agree with those of SimGrid within 5 %.

TABLE is tests/simulation/expected.txt, which has SimGrid's times. The test compares its lines of the network linear.
"""
import json
import sys
import tempfile
import unittest

from bench import expected, machine, sampling, simulation
from bench.simulate import LINEAR

TABLE, GENERATOR = sys.argv[1:3]
MOST_DIFFERENCE = 0.05


def rows():
    return [words for words in expected.read(TABLE) if isinstance(words, list) and words[0] == "linear"]


def call(collective, counts, nodes):
    """Returns the simulator's arguments, or None if SimGrid's program reads the counts of two groups differently."""
    if collective in expected.BY_PAIR:
        return ["--sizes", counts, *(["--persistent"] if collective == "persistent" else [])]
    if ":" in counts:
        return ["--counts", expected.counts_of(collective, counts, sum(simulation.node_sizes(nodes)))]
    return ["--bytes", counts] if counts.isdigit() else None


class Agreement(unittest.TestCase):
    def simulated(self, words, generator):
        """Returns the simulated time in seconds, or None if the call cannot be compared."""
        _, nodes, collective, counts, window, _, algorithm, *options = words
        given = call(collective, counts, nodes)
        if given is None or ("--remote-nodes" in options and collective == "reduce-scatter"):
            return None
        file = generator.file(expected.schedules_for(collective), algorithm, nodes, *options)
        command = [GENERATOR, "simulate", file, *given, "--window", window, "--format", "json", *LINEAR]
        return json.loads(machine.run(command))["time_ps"] * 1e-12

    def test_times_are_those_of_simgrid(self):
        compared = 0
        with tempfile.TemporaryDirectory() as folder:
            generator = sampling.Generator(GENERATOR, folder)
            for words in rows():
                seconds = self.simulated(words, generator)
                if seconds is None:
                    continue
                compared += 1
                with self.subTest(words=" ".join(words)):
                    self.assertAlmostEqual(seconds / float(words[5]), 1, delta=MOST_DIFFERENCE)
        print(f"{compared} of {len(rows())} times compared; the others give counts that only SimGrid's program reads")
        self.assertGreater(compared, 45)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
