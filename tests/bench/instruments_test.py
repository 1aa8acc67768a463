"""Tests the instruments' own logic: medians, distributions, the machine, reports, and how output is parsed."""
import json
import os
import random
import tempfile
import types
import unittest

from bench import callgrind, check, cluster, distributions, expected, machine, paired, race, report, sampling, simulation, smpi
from bench.distributions import DISTRIBUTIONS


class Median(unittest.TestCase):
    def test_is_the_middle_value_or_the_middle_of_two(self):
        self.assertEqual(paired.median([3, 1, 2]), 2)
        self.assertEqual(paired.median([4, 1, 2, 9]), 3)
        self.assertEqual(paired.median([7]), 7)


class Interval(unittest.TestCase):
    def test_of_known_sizes(self):
        # From tables of the binomial distribution: the ordered values that enclose the median with 95 % probability.
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


class Calm(unittest.TestCase):
    def await_calm(self, loads, patience):
        slept, loads = [], iter(loads)
        now = [next(loads)]

        def sleep(seconds):
            slept.append(seconds)
            now[0] = next(loads, now[0])

        return machine.await_calm(patience, 0.35, lambda: now[0], sleep), sum(slept)

    def test_a_calm_machine_is_not_waited_for(self):
        self.assertEqual(self.await_calm([0.2], 150), (True, 0))

    def test_a_machine_that_calms_is_waited_for(self):
        self.assertEqual(self.await_calm([2, 1, 0.3], 150), (True, 10))

    def test_a_machine_that_stays_loaded_is_given_up(self):
        calm, waited = self.await_calm([2], 150)
        self.assertFalse(calm)
        self.assertGreaterEqual(waited, 150)


class Commands(unittest.TestCase):
    def test_a_failure_is_told_by_its_last_words(self):
        with self.assertRaisesRegex(machine.Unusable, "sh failed: second"):
            machine.run(["sh", "-c", "echo first >&2; echo second >&2; exit 3"])

    def test_a_missing_program_is_told(self):
        with self.assertRaisesRegex(machine.Unusable, "no-such-program is not there"):
            machine.run(["no-such-program"])

    def test_a_hang_is_an_error(self):
        with self.assertRaisesRegex(machine.Unusable, "did not end"):
            machine.run(["sleep", "60"], timeout=0.1)

    def test_a_launcher_that_hangs_after_the_last_line_is_ended(self):
        lines, errors = machine.lines_until(["sh", "-c", "echo one; echo bad >&2; echo end; sleep 60"], "end", 30)
        self.assertEqual((lines, errors), (["one", "end"], "bad\n"))

    def test_one_that_hangs_before_is_ended_too(self):
        lines, _ = machine.lines_until(["sh", "-c", "echo one; sleep 60"], "end", 5)
        self.assertEqual(lines, ["one"])

    def test_each_repetition_is_timed(self):
        done = []
        times = machine.elapsed(3, lambda: done.append(0))
        self.assertEqual((len(times), len(done)), (3, 3))
        self.assertTrue(all(0 <= seconds < 30 for seconds in times))


MACHINE = {"processor": "a processor", "cores": 2, "system": "a system"}


def made(loaded=False):
    return report.Report("check", "2026-01-31", MACHINE, 0.123, loaded)


class Limits(unittest.TestCase):
    def missed(self, value, **limit):
        one = made()
        one.figure("x", value, **limit)
        return len(report.missed(one.contents())) == 1

    def test_at_most_and_at_least(self):
        self.assertFalse(self.missed(1.25, at_most=1.25))
        self.assertTrue(self.missed(1.26, at_most=1.25))
        self.assertFalse(self.missed(0.97, at_least=0.97))
        self.assertTrue(self.missed(0.96, at_least=0.97))

    def test_without_a_limit_nothing_is_missed(self):
        self.assertFalse(self.missed(1e9))

    def test_what_is_no_number_is_missed(self):
        self.assertTrue(self.missed(float("nan"), at_most=1))
        self.assertTrue(self.missed(float("nan"), at_least=1))


class Samples(unittest.TestCase):
    def test_a_sample_is_its_median_and_the_interval(self):
        one = made()
        one.sample("x", [5.0, 1.0, 3.0], "s", at_most=2)
        (figure,) = report.missed(one.contents())
        self.assertEqual((figure["value"], figure["spread"], figure["n"]), (3.0, [1.0, 5.0], 3))


class Files(unittest.TestCase):
    def test_what_is_written_is_read_again(self):
        one = made()
        one.figure("a | b", 2.5, "ms", at_most=3, spread=[2, 3], n=7)
        one.note("a note")
        with tempfile.TemporaryDirectory() as folder:
            first, second = one.write(folder), one.write(folder)
            self.assertEqual(os.path.basename(first), "check-2026-01-31.json")
            self.assertEqual(os.path.basename(second), "check-2026-01-31-2.json")
            self.assertEqual(report.load(first), one.contents())

    def test_other_files_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("text", "no"), ("list", "[]"), ("schema", json.dumps({**made().contents(), "schema": 9}))):
                path = os.path.join(folder, name)
                with open(path, "w") as file:
                    file.write(text)
                with self.assertRaisesRegex(ValueError, "not a report of schema 1"):
                    report.load(path)
            with self.assertRaisesRegex(ValueError, "No such file"):
                report.load(os.path.join(folder, "missing"))


class Table(unittest.TestCase):
    def test_has_case_value_spread_and_verdict(self):
        one = made()
        one.figure("a case | first", 1.5, "ms", at_most=1, spread=[1.25, 2], n=9)
        one.figure("a case | second", 3, at_least=2)
        lines = report.table(one.contents()).splitlines()
        self.assertEqual(lines[2], "a case")
        self.assertEqual(lines[3].split(), "first 1.5 1.25 to 2 9 ms at most 1: MISSED".split())
        self.assertEqual(lines[4].split(), "second 3 1 at least 2: ok".split())
        self.assertEqual(len(lines), 5)

    def test_says_that_the_machine_was_loaded(self):
        self.assertIn("LOADED MACHINE", report.table(made(loaded=True).contents()))
        self.assertNotIn("LOADED MACHINE", report.table(made().contents()))


PRINTED = """schedule 0 blocked-ring 1234abcd 16
schedule 1 bruck 5678abcd 4
sample 0 2.0e-03 1.0e-03
sample 1 3.0e-03 6.0e-03
sample 0 4.0e-03 1.0e-03
end"""


class Sampling(unittest.TestCase):
    def test_pairs_belong_to_their_schedules(self):
        first, second = sampling.parse(PRINTED.splitlines())
        self.assertEqual((first.algorithm, first.window, first.ratios), ("blocked-ring", 16, [2.0, 4.0]))
        self.assertEqual((second.native, second.ours), ([3e-3], [6e-3]))

    def test_a_run_that_breaks_off_is_no_measurement(self):
        with self.assertRaisesRegex(machine.Unusable, "did not come to its end"):
            sampling.parse_or_complain(PRINTED.splitlines()[:-1])

    def test_the_program_s_own_error_is_what_is_told(self):
        with self.assertRaisesRegex(machine.Unusable, "other bytes"):
            sampling.parse_or_complain([], ["noise", "collective: the schedule received other bytes than were sent"])


RACE = ["race 5 1.0e-03", "race 10 1.5e-03", "end"]


class Race(unittest.TestCase):
    def test_calls_that_were_not_simulated_take_as_long_as_the_last_ones(self):
        marks = race.read("\n".join(RACE))
        self.assertEqual(marks, [(5, 1e-3), (10, 1.5e-3)])
        self.assertAlmostEqual(race.total(marks, 10), 1.5e-3)
        self.assertAlmostEqual(race.total(marks, 30), 3.5e-3)

    def test_a_run_that_breaks_off_is_no_measurement(self):
        for lines in RACE[:-1], []:
            with self.assertRaisesRegex(machine.Unusable, "did not come to its end"):
                race.read("\n".join(lines))

    def test_lengths_differ_where_the_collective_allows_it(self):
        self.assertEqual(race.counts("allgather", 8, 4), "8")
        self.assertEqual(race.counts("allgatherv", 10, 4), "1x16,1x12,1x8,1x4")
        self.assertEqual(race.counts("alltoallv", 8, 4), "uniform:16")

    def test_limits_hold_for_the_worst_case_and_for_the_gains_that_a_fixed_choice_has(self):
        made = report.Report("race", "2026-01-31", {})
        slow, gained, missed = ("slow", 1.0, 1.03, 0.96, "a"), ("gained", 1.0, 0.6, 0.5, "b"), ("missed", 1.0, 1.0, 0.9, "c")
        race.tell(made, 2000, [slow, gained, missed], 1)
        figures = {figure["name"]: figure for figure in made.figures}
        self.assertEqual(figures["slow | adapting / native"]["value"], 1.03)
        self.assertEqual(figures["gained | b / native"]["value"], 0.5)
        median = "adapting / the best fixed choice where that gains 5 %, the median"
        self.assertAlmostEqual(figures[median]["value"], (0.6 / 0.5 + 1.0 / 0.9) / 2)
        self.assertEqual(
            [figure["name"] for figure in report.missed(made.contents())],
            ["cases with a run that failed", "adapting / native, the worst", median],
        )

    def test_a_pattern_without_a_case_is_refused(self):
        options = types.SimpleNamespace(calls=None, only="allgather 3x3")
        with self.assertRaisesRegex(machine.Unusable, "no case has 'allgather 3x3'.* is 'allgather 8x8, 8 B, flat ompi'"):
            race.measure(None, options, ["program"])


PROFILE = """positions: line
events: Ir
ob=(1) /somewhere/run
fn=(1) quadrille_alltoall
10 100
cob=(2) /usr/lib/openmpi/libmpi.so
cfn=(2) PMPI_Isend
calls=2 0
12 5000
+3 20
fn=(3) PMPI_Irecv
5 7
ob=(2)
fn=(2)
* 40
ob=(4) /usr/lib/libc.so.6
fn=(5) memcpy
- 1"""


class Callgrind(unittest.TestCase):
    def test_counts_where_it_happens_and_not_what_is_called(self):
        found = callgrind.read(PROFILE.splitlines(), "run")
        self.assertEqual((found.all, found.own, found.open_mpi), (168, 120, 40))


class Google(unittest.TestCase):
    def lines(self, **more):
        return {"run_name": "a", "name": "a", "run_type": "iteration", "cpu_time": 2.0, "time_unit": "ms", **more}

    def test_repetitions_without_aggregates(self):
        lines = [self.lines(), self.lines(cpu_time=3.0, transfers=5.0), self.lines(run_type="aggregate", cpu_time=9.0)]
        found = check.parse(json.dumps({"benchmarks": lines}))
        seconds, counters = found["a"]
        self.assertEqual(seconds, [0.002, 0.003])
        self.assertEqual(counters["time_unit"], "ms")

    def test_an_error_is_no_time(self):
        line = self.lines(error_occurred=True, error_message="REFUTED")
        with self.assertRaisesRegex(machine.Unusable, "a: REFUTED"):
            check.parse(json.dumps({"benchmarks": [line]}))


class Expected(unittest.TestCase):
    def read(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False) as file:
            file.write(text)
        try:
            return expected.read(file.name)
        finally:
            os.remove(file.name)

    def test_comments_stay_and_lines_are_words(self):
        rows = self.read("# what\nflat 4x1 alltoall 8 16 1.5e-05 factor --self-loops drop\n")
        self.assertEqual(rows[0], "# what")
        self.assertEqual(rows[1][6:], ["factor", "--self-loops", "drop"])

    def test_a_line_that_lacks_something_is_refused(self):
        with self.assertRaisesRegex(machine.Unusable, r":2: wants network"):
            self.read("flat 4x1 alltoall 8 16 1.5e-05 factor\nflat 4x1 alltoall 8 16 soon factor\n")

    def test_a_table_without_times_is_refused(self):
        with self.assertRaisesRegex(machine.Unusable, "expects no times at all"):
            self.read("# nothing\n")

    def test_counts(self):
        self.assertEqual(expected.counts_of("allgather", "1024", 4), "1024")
        self.assertEqual(expected.counts_of("allgather", "broadcast:64", 4), "1x64,3x0")
        self.assertEqual(expected.counts_of("alltoallv", "uniform:64", 4), "uniform:64")
        with self.assertRaisesRegex(machine.Unusable, "no distribution 'spiky'"):
            expected.counts_of("allgather", "spiky:64", 4)

    def test_times_are_compared_to_rounding(self):
        self.assertTrue(expected.agrees(1.0000005, 1.0))
        self.assertFalse(expected.agrees(1.00001, 1.0))
        self.assertFalse(expected.agrees(0.99999, 1.0))
        self.assertFalse(expected.agrees(float("nan"), 1.0))


class Networks(unittest.TestCase):
    def test_a_fat_tree_has_room_for_all_nodes(self):
        self.assertEqual([simulation.fat_tree(n) for n in (16, 64, 15)], ["2;4,4;1,4;1,1", "2;8,8;1,8;1,1", "2;5,3;1,5;1,1"])

    def test_what_there_is_not_is_refused(self):
        with self.assertRaisesRegex(ValueError, "no network 'torus'"):
            simulation.shape("torus", 16)
        with self.assertRaisesRegex(ValueError, "a dragonfly has 16, 64, 256 nodes, not 17"):
            simulation.shape("dragonfly", 17)


class Blocks(unittest.TestCase):
    def test_an_empty_contribution_has_one(self):
        self.assertEqual(smpi.blocks([10, 0, 8], 4), 3 + 1 + 2)


class Groups(unittest.TestCase):
    def test_a_node_may_have_ranks_of_both(self):
        self.assertEqual(cluster.groups_of("n0:4,n1:4", None), ["4,4"])
        self.assertEqual(cluster.groups_of("n0:4,n1:4", 4), ["4", "4"])
        self.assertEqual(cluster.groups_of("n0:4,n1:4,n2:4", 9), ["4,4,1", "3"])


if __name__ == "__main__":
    unittest.main()
