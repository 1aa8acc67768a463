/* Whether buffers are device memory. Knows no MPI. */
#ifndef QUADRILLE_PRELOAD_DEVICE_H_
#define QUADRILLE_PRELOAD_DEVICE_H_

enum preload_driver { PRELOAD_NO_DRIVER, PRELOAD_CUDA, PRELOAD_ROCM };

/* The driver of GPUs that the process has loaded, at any time. */
enum preload_driver preload_loaded_driver(void);
/* Whether a driver says that the buffer is device memory. Only MPI may read and write that. */
int preload_is_device_memory(const void* buffer);

#endif /* QUADRILLE_PRELOAD_DEVICE_H_ */
