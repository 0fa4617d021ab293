/*
 * Bundles of the test kernels for CUDA, opened on the driver without a GPU (tests/fake_cuda).
 */
#ifndef TESTS_RUNTIME_CUDA_NET_H
#define TESTS_RUNTIME_CUDA_NET_H

#include "net.h"

extern const char *const CUDA_HEAD; /* what the PTX of a bundle begins with: for sm_75 */

/* The bundle's kernels as PTX, in ceil(n / 32) blocks of 32 threads. */
Build *for_cuda(Build *b, const char *head);
/* Opens model and instance; what fails is in err, and net_close frees what there is. */
DlcStatus open_cuda(Build *b, Net *n, DlcError *err);
Net opened(Build *b);
/* Closes all and expects that nothing of the driver's is held. */
void closed(Net *n);
/* What a function of the driver without a GPU returns. */
int ask(const char *function, const char *about);
int calls(const char *function);
void bind(Net *n, DlcRole role, int index, DlcTensor t);

#endif
