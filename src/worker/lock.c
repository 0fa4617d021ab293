/*
 * One process at a time takes samples on a device, so that samples of two tuners do not disturb each other; between
 * samples the lock is free. It is an flock on a file of the user, which the system releases when its holder ends. A
 * process that has waited for a second goes on without it: a holder that was stopped must not stop everybody.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/timing.h"
#include "worker/lock.h"
#include "worker/sampling.h"

static void sleep_us(long us)
{
	nanosleep(&(struct timespec){ .tv_nsec = us * 1000 }, NULL);
}

/* A folder of this user's that nobody else can write; false: there is none. */
static bool folder(const char *runtime_dir, char *path, size_t n)
{
	struct stat s;
	if (runtime_dir != NULL && runtime_dir[0] == '/' && stat(runtime_dir, &s) == 0 && s.st_uid == getuid())
		return snprintf(path, n, "%s", runtime_dir) < (int)n;
	snprintf(path, n, "/tmp/dlc-%lu", (unsigned long)getuid());
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return false;
	return lstat(path, &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == getuid() && (s.st_mode & 022) == 0;
}

int worker_lock_open(const char *runtime_dir, const char *device)
{
	char path[512], file[640];
	if (!folder(runtime_dir, path, sizeof path))
		return -1;
	snprintf(file, sizeof file, "%s/dlc-%s.lock", path, device);
	return open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

bool worker_lock(int fd, int timeout_ms)
{
	if (fd < 0)
		return false;
	uint64_t start = timing_wall_ns();
	while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if ((errno != EWOULDBLOCK && errno != EINTR) || timing_wall_ns() - start > (uint64_t)timeout_ms * 1000000u)
			return false;
		sleep_us(SAMPLING_POLL_US);
	}
	return true;
}

/* A process that held the lock for long lets others take it: flock itself has no queue. */
void worker_unlock(int fd, uint64_t held_ns)
{
	flock(fd, LOCK_UN);
	if (held_ns > SAMPLING_LONG_MS * 1000000ull)
		sleep_us(2 * SAMPLING_POLL_US);
}
