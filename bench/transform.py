#!/usr/bin/python3
"""transform.py N slab|pencil REPETITIONS, under mpirun: transforms N x N x N numbers and back with mpi4py-fft.

Rank 0 prints the median of the slowest rank's seconds, and whether all ranks got their numbers back.
"""
import statistics
import sys

import numpy
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

size, kind, repetitions = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
ranks = MPI.COMM_WORLD
transform = PFFT(ranks, [size] * 3, dtype=complex, slab=kind == "slab")
before, waves, after = (newDistArray(transform, forward) for forward in (False, True, False))
before[...] = numpy.random.default_rng(ranks.rank).random(before.shape)
times = []
for _ in range(repetitions):
    ranks.Barrier()
    start = MPI.Wtime()
    transform.forward(before, waves)
    transform.backward(waves, after)
    times.append(ranks.allreduce(MPI.Wtime() - start, MPI.MAX))
right = ranks.allreduce(numpy.allclose(before, after), MPI.LAND)
if ranks.rank == 0:
    print("seconds", statistics.median(times), "right" if right else "wrong")
