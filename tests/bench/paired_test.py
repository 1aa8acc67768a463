import random
import unittest

from bench import paired


class Median(unittest.TestCase):
    def test_is_the_middle_value_or_the_middle_of_two(self):
        self.assertEqual(paired.median([3, 1, 2]), 2)
        self.assertEqual(paired.median([4, 1, 2, 9]), 3)
        self.assertEqual(paired.median([7]), 7)


class Interval(unittest.TestCase):
    def test_of_known_sizes(self):
        # From tables of the binomial distribution: the ordered values that enclose the median with 95 %.
        for n, low, high in ((6, 1, 6), (8, 1, 8), (9, 2, 8), (15, 4, 12), (20, 6, 15), (25, 8, 18), (100, 40, 61)):
            self.assertEqual(paired.interval(range(1, n + 1)), [low, high], n)

    def test_of_few_values_is_their_range(self):
        for n in range(1, 6):
            self.assertEqual(paired.interval(range(n)), [0, n - 1])

    def test_does_not_depend_on_the_order(self):
        values = list(range(40))
        random.Random(1).shuffle(values)
        self.assertEqual(paired.interval(values), paired.interval(range(40)))

    def test_encloses_the_true_median_in_at_least_95_percent(self):
        drawn = random.Random(2)
        for n in (7, 12, 25):
            hits = 0
            for _ in range(4000):
                low, high = paired.interval([drawn.expovariate(1) for _ in range(n)])
                hits += low <= 0.6931471805599453 <= high
            self.assertGreater(hits, 0.94 * 4000)


class Ratios(unittest.TestCase):
    def test_are_native_over_ours_pair_by_pair(self):
        self.assertEqual(paired.ratios([(3.0, 2.0), (1.0, 4.0)]), [1.5, 0.25])


if __name__ == "__main__":
    unittest.main()
