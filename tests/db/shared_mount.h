/*
 * A folder that is mounted twice through FUSE, as two hosts would mount it: writes and locks go to the folder,
 * mapped memory is each mount's own.
 */
#ifndef TESTS_DB_SHARED_MOUNT_H
#define TESTS_DB_SHARED_MOUNT_H

#include <stdbool.h>
#include <sys/types.h>

/* Serves `folder` at `at` from a child process until shared_unmount. False: FUSE cannot be had here. */
bool shared_mount(const char *folder, const char *at, pid_t *server);
void shared_unmount(const char *at, pid_t server);

#endif
