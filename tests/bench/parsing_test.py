import json
import os
import tempfile
import types
import unittest

from bench import callgrind, cluster, expected, google, machine, networks, race, report, sampling, smpi

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
        found = google.parse(json.dumps({"benchmarks": lines}))
        seconds, counters = found["a"]
        self.assertEqual(seconds, [0.002, 0.003])
        self.assertEqual(counters["time_unit"], "ms")

    def test_an_error_is_no_time(self):
        line = self.lines(error_occurred=True, error_message="REFUTED")
        with self.assertRaisesRegex(machine.Unusable, "a: REFUTED"):
            google.parse(json.dumps({"benchmarks": [line]}))


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
        self.assertEqual([networks.fat_tree(n) for n in (16, 64, 15)], ["2;4,4;1,4;1,1", "2;8,8;1,8;1,1", "2;5,3;1,5;1,1"])

    def test_what_there_is_not_is_refused(self):
        with self.assertRaisesRegex(ValueError, "no network 'torus'"):
            networks.shape("torus", 16)
        with self.assertRaisesRegex(ValueError, "a dragonfly has 16, 64, 256 nodes, not 17"):
            networks.shape("dragonfly", 17)


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
