/*
 * What Linux tells of this machine: caches, cores, and the limits of a container. `sys` and `proc` are the roots
 * of the file systems, NULL for /sys and /proc, so that a test can hand in a folder. What cannot be read is 0.
 */
#ifndef RUNTIME_HOST_H
#define RUNTIME_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HOST_CPUS = 1024 }; /* of a cpu_set_t */

/*
 * Bytes of the data cache of a level, from 1, of CPU 0 (on hybrids a performance core); 0: there is none.
 * *shared_by: logical CPUs that share it; may be NULL.
 */
uint64_t host_cache(int level, const char *sys, int *shared_by);
/* Physical cores among the logical CPUs of `mask` (bit i of word i/64), ncpu of them possible; at least 1. */
int host_cores(const uint64_t *mask, int ncpu, const char *sys);
/* Logical CPUs that a cgroup grants, at least 1; INT_MAX where it sets no limit. */
int host_granted_cpus(const char *sys);
/* Bytes of memory that this process may have: the machine's, or less where a cgroup says so. */
uint64_t host_memory(const char *sys, const char *proc);
/*
 * From now on this process may not have more than so many percent of that: it is refused more (out of memory) before
 * the machine begins to swap.
 */
void host_limit_memory(int percent);
/* The first n - 1 bytes of a small file, without its last newline; false: it is empty or cannot be read. */
bool host_read(char *out, size_t n, const char *path);

#endif
