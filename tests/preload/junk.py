#!/usr/bin/python3
"""junk.py, under mpirun: collectives of mpi4py, also pickled ones. Arguments without significance at a rank are None.

Each rank prints that it ran the tests. A wrong result ends the job.
"""
import numpy
from mpi4py import MPI

comm = MPI.COMM_WORLD.Dup()
rank, ranks = comm.rank, comm.size
everyone = numpy.arange(ranks)


def check(holds, what):
    if not holds:
        print(f"FAILED: rank {rank}: {what}", flush=True)
        MPI.COMM_WORLD.Abort(1)


for turn in range(100):
    root = turn % ranks
    is_root = rank == root
    mine = numpy.array([rank + turn])
    all_of_them = numpy.full(ranks, -1) if is_root else None
    comm.Gather(mine, all_of_them, root)
    check(not is_root or (all_of_them == everyone + turn).all(), "gather")
    comm.Gatherv(mine, all_of_them, root)
    check(not is_root or (all_of_them == everyone + turn).all(), "gatherv")
    comm.Scatter(everyone if is_root else None, mine, root)
    check(mine[0] == rank, "scatter")
    total = numpy.zeros(1, int) if is_root else None
    comm.Reduce(mine, total, MPI.SUM, root)
    check(not is_root or total[0] == ranks * (ranks - 1) // 2, "reduce")
    in_place = mine.copy()
    comm.Reduce(MPI.IN_PLACE if is_root else mine, in_place if is_root else None, MPI.SUM, root)
    check(not is_root or in_place[0] == ranks * (ranks - 1) // 2, "reduce in place")
    places = everyone.copy() if rank == turn % ranks else numpy.where(everyone == rank, rank, -1)
    comm.Allgather(MPI.IN_PLACE, places)
    check((places == everyone).all(), "allgather in place")
    comm.Exscan(mine, places[:1])
    check(rank == 0 or places[0] == rank * (rank - 1) // 2, "exscan")
    check(comm.allreduce(rank, MPI.MAX) == ranks - 1, "pickled allreduce")
    check(comm.bcast({"turn": turn} if is_root else None, root) == {"turn": turn}, "pickled bcast")
    check(comm.gather(str(rank), root) == ([str(i) for i in range(ranks)] if is_root else None), "pickled gather")
    check(comm.alltoall([(rank, i) for i in range(ranks)]) == [(i, rank) for i in range(ranks)], "pickled alltoall")
comm.Free()
print(f"rank {rank} ran 100 tests, all passed", flush=True)
