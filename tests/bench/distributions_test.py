import unittest

from bench import distributions, simulation
from bench.distributions import DISTRIBUTIONS


class Distributions(unittest.TestCase):
    def test_there_are_the_six_of_the_paper(self):
        self.assertEqual(set(DISTRIBUTIONS), {"regular", "broadcast", "spike", "geometric", "half", "linear"})

    def test_sum_up_to_the_total_but_for_what_is_rounded_down(self):
        for name, counts_of in DISTRIBUTIONS.items():
            for total in (0, 1, 17, 4096, 4 << 20):
                for ranks in (1, 2, 3, 16, 33):
                    counts = counts_of(total, ranks)
                    least = total - ranks if name != "geometric" else total - total // 2**ranks - ranks
                    self.assertEqual(len(counts), ranks)
                    self.assertTrue(least <= sum(counts) <= total, (name, total, ranks))
                    self.assertGreaterEqual(min(counts), 0)

    def test_are_what_their_names_say(self):
        self.assertEqual(DISTRIBUTIONS["regular"](18, 4), [4, 4, 4, 4])
        self.assertEqual(DISTRIBUTIONS["broadcast"](16, 4), [16, 0, 0, 0])
        self.assertEqual(DISTRIBUTIONS["spike"](20, 4), [10, 3, 3, 3])
        self.assertEqual(DISTRIBUTIONS["geometric"](16, 5), [8, 4, 2, 1, 0])
        self.assertEqual(DISTRIBUTIONS["half"](16, 4), [8, 8, 0, 0])
        self.assertEqual(DISTRIBUTIONS["linear"](20, 4), [8, 6, 4, 2])


class Text(unittest.TestCase):
    def test_joins_equal_counts(self):
        self.assertEqual(distributions.as_text([5, 5, 0, 7]), "2x5,1x0,1x7")

    def test_random_nodes_are_the_same_everywhere(self):
        sizes = simulation.node_sizes(distributions.random_nodes())
        self.assertEqual((len(sizes), min(sizes), max(sizes), sum(sizes) > 16018), (512, 1, 64, True))
        self.assertEqual(sizes[:4], [33, 20, 55, 4])

    def test_node_sizes(self):
        self.assertEqual(simulation.node_sizes("3x2,5"), [2, 2, 2, 5])


if __name__ == "__main__":
    unittest.main()
