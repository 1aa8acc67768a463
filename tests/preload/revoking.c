/* Imports the MPI function that revokes a communicator. Some MPI libraries lack it. */
__attribute__((weak)) int MPIX_Comm_revoke(void* comm);
int revoke(void* comm);
int revoke(void* comm) { return MPIX_Comm_revoke(comm); }
