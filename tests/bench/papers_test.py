"""papers_test.py GENERATOR: the quick sections of docs/papers.md equal what `./dev bench papers` writes.
The tests also show how that command treats its page."""
import contextlib
import io
import os
import sys
import tempfile
import types
import unittest
from unittest import mock

from bench import machine, papers, papers_closure, papers_page, report

PROGRAMS = [os.path.abspath(sys.argv[1])]
QUICK = [section for section in papers.SECTIONS if section.quick]


def options(only="", update=False):
    return types.SimpleNamespace(only=only, update=update)


class Page(unittest.TestCase):
    def test_quick_sections_are_what_the_command_writes(self):
        self.assertGreater(len(QUICK), 3)
        page = papers.read_page()
        for section in QUICK:
            with tempfile.TemporaryDirectory() as folder, self.subTest(section=section.name):
                written = papers.written(section, papers_page.Runs(PROGRAMS, folder, page), page)
                self.assertEqual(papers.sections_of(page).get(section.name), written)

    def test_has_every_section_in_order(self):
        self.assertEqual(list(papers.sections_of(papers.read_page())), [section.name for section in papers.SECTIONS])


PAGE = "# Page\n\n## One\n\nIts prose.\n\n|\n\n## Two\n\n|\n\nAnd | this.\n\n|\n"


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.page = os.path.join(folder.name, "papers.md")
        with open(self.page, "w") as file:
            file.write(PAGE)
        tables = {"One": ["| 1 |\n"], "Two": ["| 2 |\n", "| a |\n|---|\n"]}
        sections = [papers_page.Section(name, lambda runs, name=name: [*tables[name]]) for name in tables]
        for target, value in (("PAGE", self.page), ("SECTIONS", sections)):
            patch = mock.patch.object(papers, target, value)
            patch.start()
            self.addCleanup(patch.stop)

    def run_command(self, **words):
        """Returns the number of sections that differ, and the messages."""
        made = report.Report("papers", "2026-01-01", {})
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            papers.measure(made, options(**words), PROGRAMS)
        return made.figures[0]["value"], said.getvalue()

    def test_update_writes_what_a_later_run_finds(self):
        self.assertEqual(self.run_command()[0], 2)
        self.assertEqual(papers.read_page(), PAGE)
        self.assertIn("2 of 2 sections changed", self.run_command(update=True)[1])
        self.assertEqual(self.run_command()[0], 0)
        self.assertIn("## One\n\nIts prose.\n\n| 1 |\n\n## Two\n\n| 2 |\n\nAnd | this.\n\n| a |\n|---|\n", papers.read_page())

    def test_a_page_without_place_for_the_tables_is_refused(self):
        with open(self.page, "w") as file:
            file.write(PAGE.removesuffix("|\n"))
        with self.assertRaisesRegex(machine.Unusable, "'Two' of the page wants 2 tables"):
            self.run_command(update=True)
        os.remove(self.page)
        with self.assertRaisesRegex(machine.Unusable, "No such file"):
            self.run_command()

    def test_a_changed_number_is_told(self):
        self.run_command(update=True)
        text = papers.read_page()
        with open(self.page, "w") as file:
            file.write(text.replace("2 |\n", "3 |\n"))
        differing, said = self.run_command()
        self.assertEqual(differing, 1)
        self.assertIn("has another text for 'Two'", said)
        self.run_command(update=True, only="Two")
        self.assertEqual(self.run_command()[0], 0)

    def test_an_unknown_section_is_refused(self):
        with self.assertRaisesRegex(machine.Unusable, "no section has 'Three' in its name; there are: One, Two"):
            self.run_command(only="Three")


class Closure(unittest.TestCase):
    STATUS = "Package: a\nDepends: b (>= 1), c | d\n\nPackage: b\nPre-Depends: e:any\nDescription: x\n Depends: no\n\nPackage: e\n"

    def test_reads_dependencies_of_packages(self):
        self.assertEqual(papers_closure.edges_of(self.STATUS), {("a", "b"), ("a", "c"), ("b", "e")})

    def test_finds_all_paths_of_a_chain_and_a_circle(self):
        chain = {(i, i + 1) for i in range(5)}
        named = {(f"v{one}", f"v{other}") for one, other in chain}
        rounds = list(papers_closure.rounds_of(named, 4))
        self.assertEqual(rounds[-1][1], 15)
        self.assertEqual(sum(map(sum, rounds[0][0])), 4 * papers_closure.PAIR)
        self.assertEqual(sum(map(sum, rounds[-1][0])), 0)
        circle = {(f"v{i}", f"v{(i + 1) % 5}") for i in range(5)}
        self.assertEqual(list(papers_closure.rounds_of(circle, 3))[-1][1], 25)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
