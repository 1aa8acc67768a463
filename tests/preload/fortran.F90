! A plain MPI program in Fortran, by mpif.h, use mpi or use mpi_f08: collectives whose results it checks.
module handlers
#ifdef WITH_MPI_F08
  use mpi_f08
#elif defined(WITH_MPI)
  use mpi
#endif
  implicit none
#ifdef WITH_MPIF_H
  include 'mpif.h'
#endif
  integer :: mine = 0, total = -1
contains
  subroutine handle(comm, code)
#ifdef WITH_MPI_F08
    type(MPI_Comm) :: comm
#else
    integer :: comm
#endif
    integer :: code, ierr
    call MPI_Allreduce(mine, total, 1, MPI_INTEGER, MPI_SUM, comm, ierr)
    code = MPI_SUCCESS
  end subroutine
end module

program fortran
  use handlers
  implicit none
#ifdef WITH_MPI_F08
  type(MPI_Comm) :: comm
  type(MPI_Datatype) :: types(64), junk
  type(MPI_Errhandler) :: handler
#else
  integer :: comm, types(64), junk, handler
#endif
  integer :: rank, ranks, ierr, tests, i, round, root, count
  integer :: sent(64), received(64), counts(64), places(64), wanted(64)

  tests = 0
  call MPI_Init(ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
  call MPI_Comm_rank(comm, rank, ierr)
  call MPI_Comm_size(comm, ranks, ierr)
  do i = 1, ranks
    sent(i) = 100 * rank + i - 1
    wanted(i) = 100 * (i - 1) + rank
    counts(i) = 1
    places(i) = i - 1
    types(i) = MPI_INTEGER
  end do

  received = -1
  call MPI_Alltoall(sent, 1, MPI_INTEGER, received, 1, MPI_INTEGER, comm, ierr)
  call check(all(received(1:ranks) == wanted(1:ranks)), 'alltoall')
  received(1:ranks) = sent(1:ranks)
  call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, received, 1, MPI_INTEGER, comm, ierr)
  call check(all(received(1:ranks) == wanted(1:ranks)), 'alltoall in place')
  received = -1
  call MPI_Alltoallv(sent, counts, places, MPI_INTEGER, received, counts, places, MPI_INTEGER, comm, ierr)
  call check(all(received(1:ranks) == wanted(1:ranks)), 'alltoallv')
  places = 4 * places
  received = -1
  call MPI_Alltoallw(sent, counts, places, types, received, counts, places, types, comm, ierr)
  call check(all(received(1:ranks) == wanted(1:ranks)), 'alltoallw')
  received(rank + 1) = rank
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, received, 1, MPI_INTEGER, comm, ierr)
  call check(all(received(1:ranks) == [(i, i = 0, ranks - 1)]), 'allgather in place')
  received(1) = rank
  call MPI_Allreduce(MPI_IN_PLACE, received, 1, MPI_INTEGER, MPI_SUM, comm, ierr)
  call check(received(1) == ranks * (ranks - 1) / 2, 'allreduce in place')
  received(1) = rank
  call MPI_Bcast(received, 1, MPI_INTEGER, ranks - 1, comm, ierr)
  call check(received(1) == ranks - 1, 'bcast')

  ! Arguments that MPI ignores are junk: 0, which is no handle, and counts of -1.
#ifdef WITH_MPI_F08
  junk%MPI_VAL = 0
#else
  junk = 0
#endif
  do round = 1, 50
    root = mod(round, ranks)
    count = merge(1, -1, rank == root)
    types = junk
    if (rank == root) types = MPI_INTEGER
    sent(1) = rank + round
    received = -1
    call MPI_Gather(sent, 1, MPI_INTEGER, received, count, types(1), root, comm, ierr)
    if (rank == root) call check(all(received(1:ranks) == [(i + round, i = 0, ranks - 1)]), 'gather')
    received(rank + 1) = rank
    if (rank == root) then
      call MPI_Gather(MPI_IN_PLACE, -1, junk, received, 1, MPI_INTEGER, root, comm, ierr)
      call check(all(received(1:ranks) == [(i, i = 0, ranks - 1)]), 'gather in place')
    else
      call MPI_Gather(received(rank + 1), 1, MPI_INTEGER, received, -1, junk, root, comm, ierr)
    end if
    sent(1:ranks) = [(i, i = 0, ranks - 1)]
    received = -1
    call MPI_Scatter(sent, count, types(1), received, 1, MPI_INTEGER, root, comm, ierr)
    call check(received(1) == rank, 'scatter')
    call MPI_Reduce(rank, received, 1, MPI_INTEGER, MPI_SUM, root, comm, ierr)
    if (rank == root) call check(received(1) == ranks * (ranks - 1) / 2, 'reduce')
    received = -1
    received(rank + 1) = rank
    call MPI_Allgather(MPI_IN_PLACE, -1, junk, received, 1, MPI_INTEGER, comm, ierr)
    call check(all(received(1:ranks) == [(i, i = 0, ranks - 1)]), 'allgather in place')
    received(1:ranks) = [(100 * rank + i, i = 0, ranks - 1)]
    call MPI_Alltoall(MPI_IN_PLACE, -1, junk, received, 1, MPI_INTEGER, comm, ierr)
    call check(all(received(1:ranks) == [(100 * i + rank, i = 0, ranks - 1)]), 'alltoall in place')
  end do

  ! Rank 0 calls a collective in an error handler, and the others call it plainly.
  call MPI_Comm_create_errhandler(handle, handler, ierr)
  call MPI_Comm_set_errhandler(comm, handler, ierr)
  mine = rank
  if (rank == 0) then
    call MPI_Bcast(received, 1, MPI_INTEGER, -1, comm, ierr)
  else
    call handle(comm, ierr)
  end if
  call check(total == ranks * (ranks - 1) / 2, 'the error handler')

  call MPI_Comm_free(comm, ierr)
  print '(a, i0, a, i0, a)', 'rank ', rank, ' ran ', tests, ' tests, all passed'
  call MPI_Finalize(ierr)
contains
  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    tests = tests + 1
    if (holds) return
    print '(a, i0, 2a)', 'FAILED: rank ', rank, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine
end program
