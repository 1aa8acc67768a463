! A user's program in Fortran, with the preload library before MPI.
program app
  use mpi
  implicit none
  integer :: rank, ranks, r, error
  integer :: send(16), receive(16)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  send = [(100*rank + r, r = 0, 15)]
  call MPI_Alltoall(send, 1, MPI_INTEGER, receive, 1, MPI_INTEGER, MPI_COMM_WORLD, error)
  if (rank == 0) print '(a)', merge('right', 'wrong', all(receive(:ranks) == [(100*r + rank, r = 0, ranks - 1)]))
  call MPI_Finalize(error)
end program app
