"""trace_test.py MPI GENERATOR TRACE RUN CLOCKS MPIRUN: the command accepts traces of real runs, and refuses each
change of one."""
import glob
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

from browser import Browser

MPI, GENERATOR, TRACE, RUN, CLOCKS, MPIRUN = sys.argv[1:7]
CLOCKS = os.path.abspath(CLOCKS)
HEADER, SECTION = struct.Struct("=QQii"), struct.Struct("=QQ")
PART = struct.Struct("=QQQqqqqiiii")  # kind, length, setup, call, block, begun, ended, number, has_failed, receives, sends
MESSAGE = struct.Struct("=qqqqqii")  # started, posted, waited, completed, bytes, peer, parts
STARTED, POSTED, WAITED, COMPLETED, BYTES, PEER, PARTS = range(7)
CALL, ENDED, NUMBER, HAS_FAILED, RECEIVES, SENDS = 3, 6, 7, 8, 9, 10


def made(folder, name, collective, algorithm, *flags):
    path = os.path.join(folder, name)
    words = [GENERATOR, "generate", collective, "--algorithm", algorithm, *flags, "--out", path]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return path


def run(ranks, traces, words, **variables):
    """Runs a program under mpirun. Returns its exit code and its output."""
    environment = {**os.environ, "QUADRILLE_TRACE": traces, **variables}
    command = ["bash", "-c", f'. "{MPIRUN}"; start_ranks "$@"', "bash", MPI, str(ranks), "60", *words]
    ran = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return ran.returncode, ran.stdout


class File:
    """Reads and writes a trace file. A part's section is a list: its head, its receives and its sends."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        self.path = path
        self.header = list(HEADER.unpack_from(data))
        self.sections, self.parts, at = [], [], HEADER.size
        while at < len(data):
            kind, length = SECTION.unpack_from(data, at)
            section = bytearray(data[at : at + length])
            if kind == 3:
                messages = [list(m) for m in MESSAGE.iter_unpack(section[PART.size :])]
                head = list(PART.unpack_from(section))
                section = [head, messages[: head[RECEIVES]], messages[head[RECEIVES] :]]
                self.parts.append(section)
            self.sections.append(section)
            at += length

    def write(self):
        body = b""
        for section in self.sections:
            if isinstance(section, list):
                head, receives, sends = section
                head[RECEIVES], head[SENDS] = len(receives), len(sends)
                head[1] = PART.size + MESSAGE.size * (len(receives) + len(sends))
                section = PART.pack(*head) + b"".join(MESSAGE.pack(*m) for m in receives + sends)
            body += section
        self.header[1] = HEADER.size + len(body)
        with open(self.path, "wb") as file:
            file.write(HEADER.pack(*self.header) + body)


def setting(found, field, value):
    """Returns a change of a trace: it sets a field of the list that `found` finds in a file."""

    def change(file):
        found(file)[field] = value

    return change


class Traces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        cls.direct = made(cls.folder, "direct.qs", "alltoall", "spread-out", "--nodes", "any")
        cls.ring = made(cls.folder, "ring.qs", "allgather", "blocked-ring", "--nodes", "any")
        cls.good = os.path.join(cls.folder, "good")
        code, said = run(3, cls.good, [RUN, cls.direct, "--repetitions", "2"])
        assert code == 0 and len(glob.glob(f"{cls.good}/*.qtrace")) == 3, said

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def trace(self, *words, code=0):
        """Runs the command and expects the code. Returns its output, or its error message if the code is 2."""
        ran = subprocess.run([TRACE, "trace", *words], capture_output=True, text=True)
        self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
        if code == 2:
            self.assertEqual((ran.stdout, ran.stderr.count("\n")), ("", 1), ran.stderr)
            return ran.stderr
        return ran.stdout

    def changed(self, change, rank=1):
        """Copies the good traces, with a change to the file of one rank. Returns the folder."""
        folder = tempfile.mkdtemp(dir=self.folder)
        for path in glob.glob(f"{self.good}/*"):
            shutil.copy(path, folder)
        (path,) = glob.glob(f"{folder}/rank-{rank}-*")
        file = File(path)
        change(file)
        file.write()
        return folder

    def differs(self, sentence, change, rank=1):
        """Expects that the command says `sentence` of one changed call, and accepts the others."""
        said = self.trace(self.changed(change, rank), self.direct, code=1)
        self.assertIn("3 processes, 3 calls; 1 of them differs from its plan", said)
        self.assertRegex(said, sentence)

    def test_what_is_no_file(self):
        folder = self.changed(lambda file: None)
        os.mkfifo(os.path.join(folder, "rank-9-9.qtrace"))
        self.assertIn("rank-9-9.qtrace: is no file", self.trace(folder, self.direct, code=2))

    def test_one_call_that_differs(self):
        folder = self.changed(lambda file: file.parts[1][2].pop())
        ran = subprocess.run([TRACE, "trace", folder, self.direct, "--call", "2"], capture_output=True, text=True)
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertEqual(ran.stderr, "trace: call 2 differs from its plan: rank 1: send 2 of 2, to rank 0, is missing\n")
        self.assertIn("only --format html simulates", self.trace(self.good, self.direct, "--machine", "ethernet-10g", code=2))

    def refused(self, sentence, change, rank=1):
        self.assertRegex(self.trace(self.changed(change, rank), self.direct, code=2), sentence)

    def test_an_unchanged_trace_follows_its_plans(self):
        self.assertIn("3 processes, 3 calls; all of them follow", self.trace(self.changed(lambda file: None), self.direct))
        # Schedules that no call uses do no harm.
        self.assertIn("3 calls of ", self.trace(self.good, self.ring, self.direct))

    def test_formats_tell_the_same(self):
        calls = json.loads(self.trace(self.good, self.direct, "--format", "json"))["calls"]
        self.assertEqual([(c["messages"], c["bytes"], c["difference"]) for c in calls], [(6, 6144, "")] * 3)
        table = self.trace(self.good, self.direct, "--call", "2", "--format", "csv").splitlines()
        self.assertEqual(sorted(line.split(",")[:3] for line in table[1:]),
                         [[str(a), str(b), "1024"] for a in range(3) for b in range(3) if a != b])
        for line in table[1:]:
            sent, received, arrived = map(float, line.split(",")[3:])
            self.assertLessEqual(received, arrived)
            self.assertLessEqual(arrived * 1000, calls[1]["time_ns"])
        out = os.path.join(self.folder, "call.json")
        self.trace(self.good, self.direct, "--call", "2", "--format", "chrome", "--out", out)
        with open(out) as file:
            events = json.load(file)["traceEvents"]
        self.assertEqual(sum(event["ph"] == "s" for event in events), 6)
        self.assertRegex(self.trace(self.good, self.direct, "--call", "3"), r"call 3: alltoall by spread-out; it follows")

    def test_the_page_shows_the_run_beside_its_simulation(self):
        out = os.path.join(self.folder, "call.html")
        self.trace(self.good, self.direct, "--call", "2", "--format", "html", "--out", out)
        with Browser() as browser:
            page = browser.page(out)
            page.wait("document.body.dataset.ready == 'yes'")
            headings = page.value("[...document.querySelectorAll('#runs h3')].map(heading => heading.textContent)")
            drawn = page.value("""[...document.querySelectorAll('#runs canvas')].map(c => new Set(new Uint32Array(
                c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size)""")
            self.assertEqual(page.errors(), [])
            page.close()
        self.assertEqual([heading.split(":")[0] for heading in headings], ["Measured", "Simulated"])
        self.assertEqual(len(drawn), 2)
        self.assertGreater(min(drawn), 3, "a timeline is empty")

    # ---- Each check of the command refuses one of these traces.

    def test_a_dropped_message(self):
        self.differs("rank 1: send 2 of 2, to rank 0, is missing", lambda f: f.parts[1][2].pop())
        self.differs("rank 1: receive 1 of 2 from rank 2; the plan has rank 0", lambda f: f.parts[1][1].pop(0))

    def test_a_doubled_message(self):
        self.differs("rank 1 has 3 sends; the plan has 2", lambda f: f.parts[0][2].append(f.parts[0][2][1]))

    def test_reordered_messages(self):
        self.differs("rank 1: send 1 of 2 to rank 0; the plan has rank 2", lambda f: f.parts[1][2].reverse())

        def swap_times(file):
            first, second = file.parts[1][1]
            for field in (STARTED, POSTED):
                first[field], second[field] = second[field], first[field]

        self.differs(r"rank 1: \w+ \d of 2 was posted before this: rank 1: \w+ \d of 2 was posted", swap_times)

        def wait_later(file):  # the plan waits for the receive before this send
            file.parts[1][1][0][COMPLETED] = file.parts[1][2][1][COMPLETED] + 1

        self.differs(r"was completed before this: rank 1: receive 1 of 2 was completed", wait_later)

    def test_wrong_bytes(self):
        def change(file):
            file.parts[1][2][0][BYTES] += 1

        self.differs("rank 1: send 1 of 2 has 1025 bytes; the plan has 1024", change)

        def only_ends_know(file):
            file.parts[1][0][4] = -1
            change(file)

        self.differs("send 1 of rank 1 to rank 2 has 1025 bytes; its receive has 1024", only_ends_know)

    def test_messages_that_were_not_posted_or_completed(self):
        for word, field in ("posted", POSTED), ("completed", COMPLETED):
            self.differs(f"rank 1: receive 2 of 2 was not {word}", setting(lambda f: f.parts[2][1][1], field, 0))

        def complete_early(file):
            message = file.parts[2][1][1]
            message[WAITED] = message[COMPLETED] = message[POSTED] - 1

        self.differs("rank 1: receive 2 of 2 was complete before it was posted", complete_early)

    def test_a_peer_that_does_not_exist(self):
        self.differs("rank 1: send 1 of 2 to no rank; the plan has rank 2", setting(lambda f: f.parts[0][2][0], PEER, 3))

    def test_a_receive_before_its_send(self):
        def change(file):
            for _, receives, sends in file.parts:
                for message in receives + sends:
                    for field in (STARTED, POSTED, WAITED, COMPLETED):
                        message[field] -= 10**9

        said = self.trace(self.changed(change), self.direct, code=1)
        self.assertIn("3 of them differ", said)
        self.assertRegex(said, r"send \d of rank \d to rank 1 was received \d+ ns before it was sent, and clocks are known to 2000 ns")

    def test_a_call_that_failed(self):
        change = setting(lambda f: f.parts[1][0], HAS_FAILED, 1)
        self.differs("the call returned an error", change)
        folder = self.changed(change)
        self.assertIn("call 2 returned an error", self.trace(folder, self.direct, "--call", "2", code=2))

    def test_calls_that_a_rank_lacks(self):
        self.refused(r"rank-1-\w+.qtrace: call 2 of alltoall by spread-out was not made at this rank",
                     lambda f: f.sections.remove(f.parts[1]))
        unfinished = setting(lambda f: f.parts[2][0], ENDED, 0)
        self.refused("call 3 of alltoall by spread-out did not end at this rank", unfinished)
        self.refused("lacks a part of call 3 of alltoall by spread-out", setting(lambda f: f.parts[2][0], NUMBER, 1))

        def full(file):  # a full trace may lack the last calls
            unfinished(file)
            file.header[3] = 1

        said = self.trace(self.changed(full), self.direct)
        self.assertIn("2 calls; all of them follow", said)
        self.assertIn("some trace was full before the last calls of the run, which are not shown", said)

    def test_ranks_that_contradict_each_other(self):
        def change_setup(offset):
            def change(file):
                file.sections[1][offset] ^= 1

            return change

        head = SECTION.size
        self.refused("call 1, alltoall by spread-out: ranks 0 and 1 have different values of root", change_setup(head + 16))
        self.refused("have different values of window", change_setup(head + 36))

        def change_hash(file):
            file.sections[0][head + 64] ^= 1

        self.refused("contradicts the traces of other ranks on alltoall by spread-out", change_hash)
        self.refused("two processes say that they are rank 0 of the schedule", setting(lambda f: f.sections[0], head + 52, 0))

    def test_damaged_files(self):
        def file_with(data):
            folder = self.changed(lambda file: None)
            (path,) = glob.glob(f"{folder}/rank-1-*")
            with open(path, "rb") as file:
                whole = file.read()
            with open(path, "wb") as file:
                file.write(data(bytearray(whole)))
            return self.trace(folder, self.direct, code=2)

        self.assertIn("is cut or damaged: it has ", file_with(lambda whole: whole[:-8]))
        self.assertIn("bytes are no whole words of 8", file_with(lambda whole: whole[:-3]))
        self.assertIn("is too short for a trace", file_with(lambda whole: b""))
        self.assertIn("is no trace of this version of Quadrille", file_with(lambda whole: b"x" + whole[1:]))

        # Whatever byte is wrong, the command neither crashes nor loops.
        folder = self.changed(lambda file: None)
        (path,) = glob.glob(f"{folder}/rank-1-*")
        with open(path, "rb") as file:
            whole = file.read()
        for place in range(0, len(whole), 13):
            with open(path, "wb") as file:
                file.write(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
            ran = subprocess.run([TRACE, "trace", folder, self.direct], capture_output=True, timeout=600)
            self.assertIn(ran.returncode, (0, 1, 2), place)

    def test_files_that_are_missing_or_of_another_run(self):
        folder = self.changed(lambda file: None)
        (path,) = glob.glob(f"{folder}/rank-2-*")
        os.rename(path, folder + "/rank-2-copy.qtrace")
        shutil.copy(glob.glob(f"{folder}/rank-1-*")[0], folder + "/rank-9.qtrace")
        self.assertIn("is a trace of the same rank, 1; remove one of them", self.trace(folder, self.direct, code=2))
        os.remove(folder + "/rank-9.qtrace")
        os.remove(folder + "/rank-2-copy.qtrace")
        self.assertIn("has 2 traces, and the communicator of alltoall by spread-out has 3 ranks; copy the traces of all nodes",
                      self.trace(folder, self.direct, code=2))
        other, _ = self.accepted(3, self.direct, 3, "--repetitions", "2")
        shutil.copy(glob.glob(f"{other}/rank-2-*")[0], folder)
        self.assertIn("the trace of rank 2 of 3 is missing, of the communicator of alltoall by spread-out",
                      self.trace(folder, self.direct, code=2))
        empty = tempfile.mkdtemp(dir=self.folder)
        self.assertIn("has no traces; run the program with QUADRILLE_TRACE=", self.trace(empty, self.direct, code=2))
        self.assertIn("No such file or directory", self.trace(empty + "/none", self.direct, code=2))
        self.assertIn("none of the files is its schedule, of hash ", self.trace(self.good, self.ring, code=2))
        self.assertIn("none.qs", self.trace(self.good, "none.qs", code=2))

    def test_flags(self):
        self.assertIn("--call: 4 is not a call from 1 to 3", self.trace(self.good, self.direct, "--call", "4", code=2))
        self.assertIn("--format csv shows one call; say which with --call, from 1 to 3",
                      self.trace(self.good, self.direct, "--format", "csv", code=2))
        self.assertIn("--format json lists all calls", self.trace(self.good, self.direct, "--format", "json", "--call", "1", code=2))
        self.assertIn("--out: ", self.trace(self.good, self.direct, "--out", "missing/out.txt", code=2))

    # ---- Runs

    def accepted(self, ranks, file, calls, *flags, **variables):
        folder = tempfile.mkdtemp(dir=self.folder)
        code, said = run(ranks, folder, [RUN, file, *flags], **variables)
        self.assertEqual(code, 0, said)
        shown = self.trace(folder, file)
        self.assertIn(f"{ranks} processes, {calls} call{'s' * (calls != 1)}; all of them follow their plans", shown)
        return folder, said

    def test_ranks_whose_clocks_differ(self):
        folder, _ = self.accepted(3, self.direct, 6, "--repetitions", "5", LD_PRELOAD=CLOCKS)
        for call in json.loads(self.trace(folder, self.direct, "--format", "json"))["calls"]:
            self.assertLess(call["time_ns"], 4 * 10**9)

    def test_a_rank_that_is_interrupted_while_it_reads_clocks(self):
        self.accepted(3, self.direct, 6, "--repetitions", "5", LD_PRELOAD=CLOCKS, INTERRUPTED="1")

    def test_options(self):
        self.accepted(3, self.direct, 3, "--repetitions", "2", "--in-place", "--window", "2", "--synchronous")
        self.accepted(3, self.ring, 3, "--repetitions", "2", "--bytes", "100", "--block-size", "7")
        self.accepted(3, self.ring, 3, "--repetitions", "2", "--bytes", "100000")
        self.accepted(2, self.direct, 3, "--repetitions", "2", QUADRILLE_STALL="100")
        groups = made(self.folder, "groups.qs", "alltoall", "direct", "--nodes", "any", "--remote-nodes", "any")
        self.accepted(3, groups, 3, "--repetitions", "2", "--first-group", "1")
        reduce = made(self.folder, "reduce.qs", "reduce", "binomial", "--nodes", "any")
        self.accepted(3, reduce, 3, "--repetitions", "2", "--root", "1")

    def test_a_trace_that_is_full_ends_with_a_whole_call(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        words = [RUN, self.ring, "--repetitions", "50", "--bytes", "200000", "--block-size", "8"]
        code, said = run(2, folder, words)
        self.assertEqual(code, 0, said)
        self.assertEqual(said.count("quadrille: the trace of rank 0 is full; it lacks the last calls"), 1, said)
        self.assertRegex(self.trace(folder, self.ring), r"2 processes, [1-9]\d* calls; all of them follow their plans\n"
                                                        r"some trace was full before the last calls of the run, which are not shown")

    def test_runs_that_cannot_be_traced(self):
        nowhere = os.path.join(self.folder, "no", "such", "folder")
        code, said = run(3, nowhere, [RUN, self.direct, "--repetitions", "2"])
        self.assertEqual((code, said.count("quadrille: ")), (0, 1), said)
        self.assertIn(f"quadrille: QUADRILLE_TRACE={nowhere}: No such file or directory; name a folder that every process can "
                      "write to; nothing is traced\n", said)
        plain = os.path.join(self.folder, "plain")
        open(plain, "w").close()
        self.assertIn(": Not a directory; name a folder", run(2, plain, [RUN, self.direct, "--repetitions", "2"])[1])

        some = os.path.join(self.folder, "some")
        for rank in "0", "1":  # the only rank that has a folder
            words = ["sh", "-c", f'[ "${{PMI_RANK:-$OMPI_COMM_WORLD_RANK}}" = {rank} ] || unset QUADRILLE_TRACE; exec "$@"', "sh",
                     RUN, self.direct, "--repetitions", "2"]
            code, said = run(3, some, words)
            self.assertEqual(code, 0, said)
            self.assertEqual(said.count("quadrille: QUADRILLE_TRACE is not set at every rank; set it at all of them; nothing is "
                                        "traced on this communicator"), 1, said)
            self.assertEqual(os.listdir(some) if os.path.exists(some) else [], [])

    def test_a_program_that_does_not_finalize_leaves_no_file(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        # The calls would take half a minute. The run is killed in the middle.
        words = ["sh", "-c", 'timeout -s KILL 2 "$@"', "sh", RUN, self.direct, "--repetitions", "1000000"]
        code, said = run(2, folder, words)
        self.assertNotEqual(code, 0, said)
        self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
