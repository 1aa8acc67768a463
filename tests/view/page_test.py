"""`show --format html` in a real browser: keys, the running lines, colours, sums, no network, size, and time to the first picture."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

from browser import Browser

GENERATOR = os.path.realpath(sys.argv.pop(1))
MOST_BYTES = 3_000_000

# The palettes of the page in light, dark and print, told apart by their background.
GROUNDS = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 29)"}


def run(*arguments, expected=0):
    done = subprocess.run([GENERATOR, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == expected, (arguments, done.returncode, done.stderr)
    return done


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.folder.cleanup()

    def file(self, name):
        return os.path.join(self.folder.name, name)

    def make(self, name, collective, algorithm, nodes, *flags, generate=()):
        if not os.path.exists(self.file(name + ".qs")):
            run("generate", collective, "--algorithm", algorithm, "--nodes", nodes, "--out", self.file(name + ".qs"), *generate)
            run("show", self.file(name + ".qs"), "--format", "html", "--out", self.file(name + ".html"), *flags)
        return self.file(name + ".html")

    def open(self, path):
        page = self.browser.page(path)
        self.addCleanup(page.close)
        return page

    def six(self):
        return self.open(self.make("six", "alltoall", "hierarchical-factor", "1,2,3", "--bytes", "1000"))

    def running(self, page):
        return page.value("[...document.querySelectorAll('#program .runs')].map(line => line.textContent.trim())")

    def now(self, page):
        return page.value("document.getElementById('now').textContent")

    def pixel(self, page, canvas, x, y):
        """Returns the color of a canvas at (x, y) in CSS pixels."""
        return page.value(f"""(() => {{ const c = document.querySelector({json.dumps(canvas)});
            const scale = c.width / c.clientWidth;
            return [...c.getContext('2d').getImageData({x} * scale, {y} * scale, 1, 1).data].slice(0, 3) }})()""")

    def test_keys_change_the_step_and_the_running_lines(self):
        page = self.six()
        self.assertIn("step 0 (1 of 18)", self.now(page))
        first = self.running(page)
        self.assertIn("copy send[rank] to recv[rank]", first)
        page.press("ArrowRight")
        self.assertIn("step 1 (2 of 18)", self.now(page))
        self.assertNotIn("copy send[rank] to recv[rank]", self.running(page))
        self.assertEqual(page.value("document.querySelector('.figure .chosen .step').textContent"), "1")
        page.press("ArrowLeft")
        self.assertEqual(self.running(page), first)
        page.press("End")
        self.assertIn("(18 of 18)", self.now(page))
        self.assertEqual(self.running(page), ["step k + v after -1", "copy send[rank] to recv[rank]"])
        page.press("ArrowRight")  # there is no next step
        self.assertIn("(18 of 18)", self.now(page))
        page.press("Home")
        self.assertEqual(self.now(page), "before the first of 18 steps")
        self.assertEqual(self.running(page), [])
        self.assertEqual(page.errors(), [])

    def test_the_slider_and_a_click_on_a_step_choose_it_and_space_plays(self):
        page = self.six()
        page.value("(() => { const s = document.getElementById('slider'); s.value = 7; s.dispatchEvent(new Event('input')) })()")
        self.assertIn("(7 of 18)", self.now(page))
        page.value("document.querySelector('.figure [data-row=\"3\"]').dispatchEvent(new MouseEvent('click'))")
        self.assertIn("(4 of 18)", self.now(page))
        self.assertEqual(page.value("document.getElementById('slider').value"), "4")
        page.press(" ")
        page.wait("document.getElementById('now').textContent.includes('(6 of 18)')")
        page.press(" ")
        stopped = self.now(page)
        page.value("new Promise(done => setTimeout(done, 1000))")
        self.assertEqual(self.now(page), stopped)

    def test_blocks_move_from_step_to_step_and_back(self):
        page = self.six()
        held = lambda: page.value("document.getElementById('held').textContent")
        page.press("End")
        end = held()
        self.assertIn("36,000 bytes in receive buffers, 0 bytes in temporary buffers", end)
        page.press("Home")
        self.assertIn("All together: 0 bytes in receive buffers", held())
        page.press("ArrowRight")  # ranks 1 and 3 exchange blocks, and rank 0 copies its own
        self.assertIn("All together: 3,000 bytes in receive buffers", held())
        size = page.value("(document.getElementById('holdings').clientWidth - 76) / 6")
        square = lambda row, column, part: self.pixel(page, "#holdings", 74 + size * (column + (part + .4) / 6), 34 + size * (row + .5))
        self.assertEqual(square(1, 3, 1), [0, 114, 178], "rank 1 holds the block of rank 3 for rank 1")
        self.assertNotEqual(square(1, 3, 2), [0, 114, 178])
        self.assertNotEqual(square(2, 3, 2), [0, 114, 178])

    def test_temporary_data_has_a_colour_of_its_own_and_goes(self):
        page = self.open(self.make("bruck", "alltoall", "tuna-coalesced", "2x4", generate=("--radix", "2")))
        held = lambda: [int(n.replace(",", "")) for n in re.findall(r"([\d,]+) byte", page.value("document.getElementById('held').textContent"))]
        page.press("End")
        self.assertEqual(held()[0], 64 * 4096)
        temporary = []
        while "before" not in self.now(page):
            temporary.append(held()[1])
            page.press("ArrowLeft")
        self.assertGreater(max(temporary), 0)

    def test_the_sums_of_the_matrix_are_those_of_the_call(self):
        page = self.six()
        self.assertEqual(page.value("document.getElementById('sums').textContent"),
                         "22 messages, 22,000 bytes, between nodes; 8 messages, 8,000 bytes, inside a node.")
        page.value("document.getElementById('table').open = true")
        page.settle()
        rows = page.value("[...document.querySelectorAll('#table tr')].map(row => [...row.children].map(cell => cell.textContent))")
        self.assertEqual(rows[0], ["from, to", "0", "1", "2", "3", "4", "5", "sum"])
        numbers = [[int(cell) for cell in row[1:]] for row in rows[1:]]
        for rank in range(6):
            self.assertEqual(numbers[rank][:6], [0 if other == rank else 1000 for other in range(6)])
            self.assertEqual(numbers[rank][6], 5000)
            self.assertEqual(numbers[6][rank], 5000)
        self.assertEqual(numbers[6][6], 30000)
        page.value("document.querySelector('[name=scope][value=step]').click()")
        page.settle()
        self.assertEqual(page.value("document.getElementById('sums').textContent"),
                         "2 messages between nodes; 0 messages inside a node.")

    def test_dark_mode_and_print_change_the_colours(self):
        page = self.six()
        ground = lambda: page.value("getComputedStyle(document.body).backgroundColor")
        busy = lambda: self.pixel(page, "#runs canvas", 98, 9)
        page.media()
        self.assertEqual((ground(), busy()), (GROUNDS["light"], [0, 158, 115]))
        page.media(dark=True)
        self.assertEqual((ground(), busy()), (GROUNDS["dark"], [47, 207, 159]))
        page.media("print", dark=True)
        self.assertEqual((ground(), busy()), (GROUNDS["light"], [0, 158, 115]))
        self.assertEqual(page.value("getComputedStyle(document.getElementById('slider')).display"), "none")

    def test_the_timeline_shows_who_is_busy_and_who_waits(self):
        # Two ranks exchange 10,000 bytes of 1 ns each after 2 us: nothing is copied, and no rank waits.
        plain = ("--alpha", "2us", "--beta", "1ns", "--gap", "0", "--copy", "0", "--beta-copy", "0")
        page = self.open(self.make("two", "alltoall", "factor", "1,1", "--bytes", "10000", *plain))
        self.assertIn("Simulated: 12 us; ranks are idle for 0.0 % of it on average", page.value("document.getElementById('runs').textContent"))
        self.assertEqual(self.pixel(page, "#runs canvas", 400, 9), [213, 94, 0])
        # The root of a broadcast among three ranks is done after its sends. The last rank waits for it.
        page = self.open(self.make("three", "broadcast", "binomial", "3x1", "--bytes", "10000", *plain))
        idle = page.value("JSON.parse(document.getElementById('data').textContent).runs[0].idle")
        self.assertEqual(idle[0], 0)
        self.assertGreater(max(idle), 300)

    def test_a_rank_that_has_ended_is_idle(self):
        # Rank 0 sends to rank 1 for 12 us, and is done. Rank 1 sends to rank 2 until 24 us.
        with open(self.file("relay.txt"), "w") as file:
            file.write("algorithm relay for broadcast\nif rank = 0\n  copy send[0] to recv[0]\nif 0 < rank\n  step rank\n    receive recv[0] from rank - 1\n"
                       "if rank + 1 < ranks\n  step rank + 1\n    send recv[0] to rank + 1\n")
        run("generate", "broadcast", "--program", self.file("relay.txt"), "--nodes", "1,1,1", "--out", self.file("relay.qs"))
        run("show", self.file("relay.qs"), "--format", "html", "--out", self.file("relay.html"), "--bytes", "10000", "--alpha", "2us", "--beta", "1ns",
            "--gap", "0", "--copy", "0", "--beta-copy", "0")
        page = self.open(self.file("relay.html"))
        self.assertEqual(page.value("JSON.parse(document.getElementById('data').textContent).runs[0].idle"), [500, 0, 500])
        right = page.value("document.querySelector('#runs canvas').clientWidth - 74 - 5")
        self.assertEqual(self.pixel(page, "#runs canvas", right, 11), [227, 230, 234])

    def test_the_headline_says_what_is_shown_and_an_image_has_it(self):
        page = self.six()
        self.assertRegex(page.value("document.querySelector('h1').textContent"),
                         r"^hierarchical-factor: an all-to-all on nodes 1,2,3 takes [0-9.]+ us, 1\.[0-9]{3} times the lower bound$")
        self.assertEqual(page.value("document.querySelector('meta[property=\"og:title\"]').content"), page.value("document.title"))
        page.value("HTMLAnchorElement.prototype.click = function () { window.saved = this; }")
        page.value("document.getElementById('save').click()")
        self.assertEqual(page.value("saved.download"), "quadrille.png")
        wide, dark, coloured = page.value("""(async () => { const image = new Image(); image.src = saved.href; await image.decode();
            const canvas = document.createElement('canvas'); canvas.width = image.width; canvas.height = image.height;
            const context = canvas.getContext('2d'); context.drawImage(image, 0, 0);
            const count = (top, high, is) => { const d = context.getImageData(0, top, image.width, high).data; let n = 0;
              for (let i = 0; i < d.length; i += 4) n += is(d[i], d[i + 1], d[i + 2]); return n };
            return [image.width, count(0, 280, (r, g, b) => r + g + b < 150), count(280, image.height - 280, (r, g, b) => r === 213 && g === 94 && b === 0)] })()""")
        self.assertEqual(wide, 2400)
        self.assertGreater(dark, 1000, "the words of the headline")
        self.assertGreater(coloured, 10000, "messages between nodes")

    def test_sums_below_the_matrix_do_not_run_together(self):
        page = self.make("wide", "alltoall", "linear", "16x1", "--bytes", "1000000")
        page = self.browser.page(page, width=420)
        self.addCleanup(page.close)
        page.value("CanvasRenderingContext2D.prototype.fillText = function (text, x, y) { (window.written ??= []).push([text, x, y, this.measureText(text).width]) }")
        page.press("ArrowRight")
        below = [(x, width) for text, x, y, width in page.value("written") if text == "15,000,000" and y == max(one[2] for one in page.value("written") if one[0] == text)]
        self.assertGreater(len(below), 1)
        for (x, width), (following, _) in zip(below, below[1:]):
            self.assertGreater(following - x, width + 4)

    def test_rows_of_many_ranks_are_as_high_as_at_the_busiest_moment(self):
        # One port serves the 16 ranks of each node, so few of them have messages on their way.
        page = self.open(self.make("port", "alltoall", "tuna-coalesced", "8x16", "--bytes", "100000"))
        self.assertRegex(page.value("document.querySelector('#runs h3').textContent"), "; a row is full when [0-9.]+ % of its ranks have messages on their way$")
        full = page.value("JSON.parse(document.getElementById('data').textContent).runs[0].full")
        self.assertLess(full, .3)
        part = page.value("""(() => { const c = document.querySelector('#runs canvas'), d = c.getContext('2d').getImageData(184, 8, c.width - 332, 236).data;
            let n = 0; for (let i = 0; i < d.length; i += 4) n += d[i] === 213 || d[i + 1] === 114;  // between nodes or inside
               return 4 * n / d.length })()""")
        self.assertGreater(part, .35)

    def test_the_page_says_what_is_proven_and_what_is_not(self):
        verdict = lambda page: page.value("document.querySelector('.verdict').textContent")
        self.assertIn("Proven for all sizes: the proof alltoall.hierarchical-factor", verdict(self.six()))
        text = "algorithm shift for alltoall\ncopy send[rank] to recv[rank]\nfor round in 1 .. ranks\n  let right = wrap(rank + round, ranks)\n" \
            "  let left = wrap(rank - round, ranks)\n  step round\n    send send[right] to right\n    receive recv[left] from left\n"
        with open(self.file("shift.txt"), "w") as file:
            file.write(text)
        run("generate", "alltoall", "--program", self.file("shift.txt"), "--nodes", "2,2", "--out", self.file("shift.qs"))
        run("show", self.file("shift.qs"), "--format", "html", "--out", self.file("shift.html"))
        page = self.open(self.file("shift.html"))
        self.assertIn("Verified on these nodes", verdict(page))
        self.assertIn("No proof of this program is known", verdict(page))
        # Without the copy of a rank's own block, each rank lacks one block.
        with open(self.file("wrong.txt"), "w") as file:
            file.write(text.replace("copy send[rank] to recv[rank]\n", ""))
        run("generate", "alltoall", "--program", self.file("wrong.txt"), "--nodes", "2,2", "--out", self.file("wrong.qs"))
        run("show", self.file("wrong.qs"), "--format", "html", "--out", self.file("wrong.html"))
        said = verdict(self.open(self.file("wrong.html")))
        self.assertIn("Refuted.", said)
        self.assertIn("(coverage)", said)
        self.assertNotIn("Verified", said)

    def test_pages_of_all_kinds_of_calls_draw_without_errors(self):
        calls = [("allgather", "blocked-ring-nodes", "1,2,3", ("--counts", "3000,0,1000,5000,2000,1000"), ()),
                 ("allreduce", "ring-nodes", "2,2,2", (), ()), ("reduce", "binomial", "3,3", (), ()),
                 ("barrier", "dissemination", "4x1", (), ()), ("scan", "doubling", "5", (), ()),
                 ("alltoall", "factor", "3,1", (), ("--remote-nodes", "2,2")), ("scatter", "binomial", "40", (), ())]
        for number, (collective, algorithm, nodes, flags, groups) in enumerate(calls):
            with self.subTest(collective=collective):
                page = self.open(self.make(f"call{number}", collective, algorithm, nodes, *flags, generate=groups))
                page.press("End")
                self.assertEqual(page.errors(), [])
                self.assertIn("Verified", page.value("document.querySelector('.verdict').textContent"))
                self.assertEqual(page.value("document.getElementById('blocks').hidden"), collective == "barrier")
                self.assertGreater(page.value("document.querySelectorAll('#runs canvas').length"), 0)

    def test_the_page_asks_for_no_other_file(self):
        page = self.six()
        self.assertEqual([os.path.basename(address) for address in page.requests()], ["six.html"])
        with open(self.file("six.html")) as file:
            text = file.read()
        for reference in (r"https?://(?!www\.w3\.org/2000/svg)", r"\bsrc=", r"@import", r"url\((?!#)", r"<link", r"fetch\(", r"XMLHttpRequest"):
            self.assertIsNone(re.search(reference, text), reference)

    def test_a_page_of_1024_ranks_is_small_and_by_node(self):
        for name, collective, algorithm, nodes, lane in (
                ("large", "alltoall", "tuna-coalesced", "32x32", "node 31"),
                ("ring", "allgather", "linear-ring", "1024x1", "nodes 1008-1023")):
            with self.subTest(algorithm=algorithm):
                path = self.make(name, collective, algorithm, nodes, "--bytes", "4KiB")
                self.assertLessEqual(os.path.getsize(path), MOST_BYTES)
                page = self.open(path)
                worked = page.processor_milliseconds()  # until all is drawn, so longer than until the first picture
                after = page.value("performance.getEntriesByName('first picture')[0].startTime")
                # Times depend on the load of the machine, so they are printed and not checked.
                print(f"{algorithm}: {os.path.getsize(path)} bytes, first picture after {after:.0f} ms, {worked:.0f} ms of work")
                self.assertEqual(page.value("JSON.parse(document.getElementById('data').textContent).lanes.at(-1)"), lane)
                page.press("End")
                self.assertEqual(page.errors(), [])
                held = page.value("document.getElementById('held').textContent")
                self.assertIn(f"{1024 * 1024 * 4096:,} bytes in receive buffers", held)

    def test_bad_input_gets_one_sentence(self):
        path = self.file("six.qs")
        self.make("six", "alltoall", "hierarchical-factor", "1,2,3", "--bytes", "1000")
        for flags, said in (
                (("--steps", "0..2"), "--steps: a page shows all steps; leave it out"),
                (("--rank", "2"), "--rank: it is for --format plan"),
                (("--bytes", "x"), "--bytes: 'x' is not a number of bytes"),
                (("--bytes", "8", "--counts", "6x8"), "give the bytes of each block with --bytes, or those of each rank with --counts"),
                (("--window", "0"), "--window: 0 is not a number of steps from 1 to 65536"),
                (("--beta", "fast"), "--beta: 'fast' is neither")):
            done = run("show", path, "--format", "html", "--out", self.file("bad.html"), *flags, expected=2)
            self.assertIn(f"show: {said}", done.stderr)
            self.assertFalse(os.path.exists(self.file("bad.html")))
        done = run("show", path, "--format", "svg", "--exclusive", expected=2)
        self.assertIn("show: --exclusive: it is for --explain and --format html", done.stderr)


if __name__ == "__main__":
    unittest.main()
