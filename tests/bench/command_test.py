import contextlib
import io
import os
import tempfile
import types
import unittest
from unittest import mock

from bench import __main__ as command
from bench import machine, report


def instrument(value, needs_calm=True):
    """Returns an instrument whose figure must be at most 1."""
    return types.SimpleNamespace(
        NEEDS_CALM=needs_calm,
        build=lambda: ["program"],
        measure=lambda made, options, programs: made.figure("x", value, at_most=1),
    )


class Command(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_command(self, *words, module=None, calm=True):
        """Returns the exit code, the output and the error output."""
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors), mock.patch.object(
            command.importlib, "import_module", return_value=module
        ), mock.patch.object(machine, "await_calm", return_value=calm):
            try:
                code = command.main([*words])
            except SystemExit as end:
                code = end.code
        return code, out.getvalue(), errors.getvalue()

    def out(self):
        return "--out", self.folder.name

    def test_exit_codes(self):
        self.assertEqual(self.run_command("check", *self.out(), module=instrument(1))[0], 0)
        code, _, errors = self.run_command("check", *self.out(), module=instrument(2))
        self.assertEqual(code, 1)
        self.assertIn("missed: x", errors)

    def test_a_loaded_machine_is_refused(self):
        code, _, errors = self.run_command("check", *self.out(), module=instrument(1), calm=False)
        self.assertEqual(code, 2)
        self.assertIn("give --force", errors)
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_forced_it_is_flagged(self):
        code, out, _ = self.run_command("check", "--force", *self.out(), module=instrument(1), calm=False)
        self.assertEqual(code, 0)
        self.assertIn("LOADED MACHINE", out)
        (name,) = os.listdir(self.folder.name)
        self.assertTrue(report.load(os.path.join(self.folder.name, name))["loaded"])

    def test_counts_do_not_ask_for_calm(self):
        code, out, _ = self.run_command("count", *self.out(), module=instrument(1, needs_calm=False), calm=False)
        self.assertEqual(code, 0)
        self.assertNotIn("LOADED MACHINE", out)

    def test_show(self):
        self.run_command("check", *self.out(), module=instrument(2))
        path = os.path.join(self.folder.name, os.listdir(self.folder.name)[0])
        code, out, _ = self.run_command("show", path)
        self.assertEqual(code, 1)
        self.assertIn("at most 1: MISSED", out)
        self.assertEqual(self.run_command("show", "no-such-file")[0], 2)

    def test_bad_input(self):
        for words, text in (
            (["chekc"], "there is no instrument 'chekc'"),
            (["check", "--date", "yesterday"], "'yesterday' is not a date like 2026-01-31"),
            (["check", "--repetitions", "0"], "'0' is not a number from 1 on"),
            (["race", "--calls", "0"], "'0' is not a number from 1 on"),
            (["check", "--calls", "9"], "--calls is for race alone"),
            (["show"], "show wants a file"),
            (["check", "--fast"], "--fast"),
            (["check", "--all"], "--all is for programs alone"),
        ):
            code, out, errors = self.run_command(*words)
            self.assertEqual((code, out), (2, ""), words)
            self.assertIn(text, errors)


if __name__ == "__main__":
    unittest.main()
