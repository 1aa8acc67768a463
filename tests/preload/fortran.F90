! A plain MPI program in Fortran, by mpif.h, use mpi or use mpi_f08: collectives whose results it checks.
program fortran
#ifdef WITH_MPI_F08
  use mpi_f08
#elif defined(WITH_MPI)
  use mpi
#endif
  implicit none
#ifdef WITH_MPIF_H
  include 'mpif.h'
#endif
#ifdef WITH_MPI_F08
  type(MPI_Comm) :: comm
  type(MPI_Datatype) :: types(64)
#else
  integer :: comm, types(64)
#endif
  integer :: rank, ranks, ierr, tests, i
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
