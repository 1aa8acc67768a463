"""Counts the instructions of a call with callgrind, without those of MPI.

The program bench/instructions.c makes the calls of one rank over an MPI that does nothing (bench/stub_mpi.c). A
transfer is one message of the rank, a send or a receive. For some algorithms a hand-written loop posts the same
messages in the same order, and the program compares both first. Binding, which a communicator needs once, has its own
figures. Allgathers have 64 blocks per rank. If an algorithm forwards blocks, the figures are per piece instead of per
transfer. A piece is one block in a message that is sent or received.
"""
import os
import tempfile

from bench import callgrind, machine
from bench.distributions import random_nodes
from bench.sampling import Generator
from bench.simulation import node_sizes

NEEDS_CALM = False
WINDOW = 16
MOST_WITH_COUNTS = 60  # instructions a transfer of quadrille_alltoallv
MOST_WITH_LENGTHS = 66  # instructions a piece of it, where blocks are forwarded with their lengths
MOST_FIXED = 400  # instructions of a call besides its messages
CALLS = (  # name, collective, algorithm, nodes, ranks to count, most instructions a transfer, most over those by hand
    ("hierarchical-factor 32x32", "alltoall", "hierarchical-factor", "32x32", (0, 517, 1023), 60, 1.5),
    ("hierarchical-factor 512x32", "alltoall", "hierarchical-factor", "512x32", (0, 8000, 16383), 60, 1.5),
    ("hierarchical-factor 512 random nodes", "alltoall", "hierarchical-factor", random_nodes(), (0, 8000, 16018), 60, 1.5),
    ("factor 1024", "alltoall", "factor", "1024", (0, 700), 60, 1.5),
    ("hierarchical-factor 8,4,2,2", "alltoall", "hierarchical-factor", "8,4,2,2", (0, 15), None, None),
    ("linear-ring 1024", "allgather", "linear-ring", "1024", (0, 700), 80, None),
    ("blocked-ring 1024", "allgather", "blocked-ring", "1024", (0, 700), 150, None),
    ("blocked-ring-nodes 32x32", "allgather", "blocked-ring-nodes", "32x32", (0, 700), 150, None),
    ("blocked-ring-blocking 1024", "allgather", "blocked-ring-blocking", "1024", (0, 700), 150, None),
    ("recursive-doubling 1024", "allgather", "recursive-doubling", "1024", (0, 700), 150, None),
    ("bruck 1024", "allgather", "bruck", "1024", (0, 700), 150, None),
    ("neighbor-exchange 1024", "allgather", "neighbor-exchange", "1024", (0, 700), 80, None),
)
FORWARDING = (  # algorithm, ranks in all, radix, rank to count, most instructions a piece
    ("tuna", 128, 2, 0, 30),
    ("tuna", 128, 8, 5, 30),
    ("tuna", 1024, 8, 700, 30),
    ("tuna", 8, 2, 0, None),
)
SHARES = ((64, None), (4096, 3))  # bytes of a block, and at most this percentage of Open MPI's own instructions
MPIRUN = (
    ["env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "mpirun.openmpi", "--oversubscribe", "-n", "16"]
    + ["--mca", "btl", "self,vader", "--mca", "mpi_yield_when_idle", "1"]
)
TWO_RANKS = ["2" if word == "16" else word for word in MPIRUN]
MOST_FALLING_THROUGH = 150  # instructions of a call that the preload library leaves to MPI


def build():
    return machine.build("//generator:generator", "//bench:instructions", "//tools:run", "//bench:falls_through")


def counted(command, function, must_be_called=True):
    """Returns the messages or pieces of a call, which the program prints, and the Instructions inside a function."""
    printed, (profile,) = callgrind.count(command, function, must_be_called=must_be_called)
    return int(printed.split()[0]), profile


def one_rank(report, case, collective, command, most, most_of_loop):
    """Adds the figures of one rank's call, with equal blocks and with counts, and of its binding."""
    messages, ours = counted(command, "counted_runtime")
    by_hand = counted(command, "counted_by_hand", must_be_called=False)[1].all  # some algorithms have no loop
    report.figure(f"{case} | a transfer", ours.own / messages, "instructions", at_most=most, n=messages)
    if by_hand:
        report.figure(f"{case} | whole call / loop by hand", ours.all / by_hand, at_most=most_of_loop)
    if collective == "alltoall":
        with_counts = counted(command, "counted_with_counts")[1].own / messages
        most_with_counts = MOST_WITH_COUNTS if most else None
        report.figure(f"{case} | alltoallv, a transfer", with_counts, "instructions", at_most=most_with_counts)
    report.figure(f"{case} | binding, once", counted(command, "quadrille_bind")[1].all, "instructions")


def forwarding(report, case, command, most):
    """Adds the instructions for each piece: in a plain call, in a persistent one, and in one with lengths."""
    for what, function, most in (
        ("a piece", "counted_runtime", most),
        ("persistent, a piece", "counted_persistent", most),
        ("alltoallv, a piece", "counted_with_counts", most and MOST_WITH_LENGTHS),
    ):
        pieces, profile = counted(command, function)
        report.figure(f"{case} | {what}", profile.own / pieces, "instructions", at_most=most, n=pieces)


def fixed_part(report, case, few, many):
    """Adds the cost of a call without its messages, computed from a call with few messages and one with many."""
    (n, ours), (n_many, with_many) = (counted(command, "counted_runtime") for command in (few, many))
    fixed = ours.own - n * (with_many.own - ours.own) / (n_many - n)
    report.figure(f"{case} | besides messages", fixed, "instructions", at_most=MOST_FIXED)


def under_open_mpi(report, generator, run, bytes, most):
    """Adds the worst share of 16 ranks, over shared memory. It depends a little on how ranks wait for each other."""
    file = generator.file("alltoall", "hierarchical-factor", "8,4,2,2")
    words = [run, file, "--layout", "trusted", "--repetitions", 10, "--bytes", bytes]
    profiles = callgrind.count(words, "quadrille_alltoall", MPIRUN)[1]
    shares = sorted(100 * profile.own / profile.open_mpi for profile in profiles)
    report.figure(
        f"under Open MPI, 16 ranks, blocks of {bytes} B | ours / Open MPI's own, the worst rank",
        shares[-1],
        "%",
        at_most=most,
        n=len(shares),
    )


def falling_through(report, program, folder):
    """Adds the instructions that the preload library costs an allreduce that it leaves to MPI. There are three cases:
    no rule for allreduces, a rule for longer ones, and a race that MPI's own has won."""
    rules = os.path.join(folder, "rules.txt")
    with open(rules, "w") as file:
        file.write("allreduce bytes=99999.. use=recursive-multiplying\n")
    for what, launcher, most in (
        ("no rule", ["env", "QUADRILLE=on", *TWO_RANKS], MOST_FALLING_THROUGH),
        ("a rule for longer ones", ["env", "QUADRILLE=on", f"QUADRILLE_RULES={rules}", *TWO_RANKS], None),
        ("chosen after comparisons", TWO_RANKS, MOST_FALLING_THROUGH),
    ):
        few, many = (
            callgrind.count([program, calls], "MPI_Allreduce", launcher)[1][0].own for calls in (10000, 11000)
        )
        report.figure(f"preload, a call that falls through, {what}", (many - few) / 1000, "instructions", at_most=most)


def measure(report, options, programs):
    generator_program, instructions, run, falls_through = programs
    with tempfile.TemporaryDirectory() as folder:
        generator = Generator(generator_program, folder)

        def command(file, nodes, rank):
            return [instructions, file, ",".join(map(str, node_sizes(str(nodes)))), rank, 1, WINDOW]

        for what, collective, algorithm, nodes, ranks, most, most_of_loop in CALLS:
            for rank in ranks:
                case = f"{what}, rank {rank}"
                if options.only in case:
                    file = generator.file(collective, algorithm, nodes)
                    one_rank(report, case, collective, command(file, nodes, rank), most, most_of_loop)
        for algorithm, size, radix, rank, most in FORWARDING:
            case = f"{algorithm} {size} radix {radix}, rank {rank}"
            if options.only in case:
                file = generator.file("alltoall", algorithm, size, "--radix", radix)
                forwarding(report, case, command(file, size, rank), most)
        case = "factor, a call"
        if options.only in case:
            few, many = (command(generator.file("alltoall", "factor", size), size, 0) for size in (2, 1024))
            fixed_part(report, case, few, many)
        if options.only in "preload, a call that falls through":
            falling_through(report, falls_through, folder)
        for bytes, most in SHARES:
            if options.only in "under Open MPI":
                under_open_mpi(report, generator, run, bytes, most)
