/*
 * The lock of a device: one process of this user at a time takes samples on it.
 */
#ifndef WORKER_LOCK_H
#define WORKER_LOCK_H

#include <stdbool.h>
#include <stdint.h>

/* The lock of a device of this user's; runtime_dir may be NULL; -1: there is none to be had. */
int worker_lock_open(const char *runtime_dir, const char *device);
/* False: somebody else held it all that time. */
bool worker_lock(int fd, int timeout_ms);
void worker_unlock(int fd, uint64_t held_ns);

#endif
