/* Finds out whether buffers are device memory. Uses no MPI. */
#pragma once

enum preload_driver { PRELOAD_NO_DRIVER, PRELOAD_CUDA, PRELOAD_ROCM };

/* Returns the driver of GPUs that the process has loaded by now. */
enum preload_driver preload_loaded_driver(void);
/* Returns whether a driver says that the buffer is device memory, which only MPI may read and write. */
int preload_is_device_memory(const void* buffer);
