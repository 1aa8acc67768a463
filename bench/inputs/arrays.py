#!/usr/bin/python3
"""arrays.py REPETITIONS, under mpirun: transforms by mpi4py-fft, and mpi4py's collectives on one and two groups.

The collectives move objects and arrays. Rank 0 prints checksums of all data that moved, and sums with all digits.
"""
import sys
import zlib

import numpy
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
random = numpy.random.default_rng(rank)


def show(name, *data):
    """Prints one checksum of the data of all ranks."""
    sums = world.gather([zlib.crc32(numpy.ascontiguousarray(part).tobytes()) for part in data])
    if rank == 0:
        print(name, zlib.crc32(repr(sums).encode()))


def transforms(slab):
    plan = PFFT(world, [12] * 3, dtype=complex, slab=slab)
    before, waves, after = (newDistArray(plan, forward) for forward in (False, True, False))
    before[...] = random.random(before.shape)
    plan.forward(before, waves)
    plan.backward(waves, after)
    show("transform", waves, after)


def moved(comm, partners):
    """Moves data by collectives. `partners`: the ranks of the other group, or of the only one."""
    counts = [5 * i + 1 for i in range(partners)]
    mine = random.random(5 * comm.rank + 1)
    all_of_them = numpy.zeros(sum(counts))
    comm.Allgatherv(mine, [all_of_them, counts])
    equal, others = random.random((partners, 7)), numpy.zeros((partners, 7))
    comm.Alltoall(equal, others)
    words = comm.alltoall([{"from": rank, "to": i} for i in range(partners)]) + comm.allgather((rank, "text" * rank))
    show("moved", all_of_them, others, numpy.frombuffer(repr(words).encode(), numpy.uint8))


def rooted(comm):
    for root in range(comm.size):
        text = comm.bcast("x" * 3000 * root if comm.rank == root else None, root)
        part = comm.scatter([[i] * i for i in range(comm.size)] if comm.rank == root else None, root)
        parts = comm.gather(random.random(3), root)
        show("rooted", numpy.frombuffer(repr((text, part, parts)).encode(), numpy.uint8))


def summed(comm):
    values, total, prefix = random.random(501), numpy.zeros(501), numpy.zeros(501)
    comm.Allreduce(values, total)
    comm.Scan(values, prefix)
    comm.Reduce(values, prefix if comm.rank == 1 else None, root=1)
    block = numpy.zeros(10)
    comm.Reduce_scatter_block(random.random(10 * comm.size), block)
    least = comm.allreduce(float(block.min()), MPI.MIN), comm.allreduce(rank, MPI.SUM)
    parts = world.gather([float(data.sum()) for data in (total, prefix, block)])
    if rank == 0:
        print("summed", *least, *(value for part in parts for value in part))


halves = world.Split(rank % 2, rank)
between = halves.Create_intercomm(0, world, 1 - rank % 2)
for _ in range(int(sys.argv[1])):
    transforms(slab=True)
    transforms(slab=False)
    for comm in (world, halves):
        moved(comm, comm.size)
        rooted(comm)
        summed(comm)
    moved(between, between.remote_size)
    total = numpy.zeros(9)
    between.Allreduce(random.random(9), total)
    if rank == 0:
        print("between", *total)
