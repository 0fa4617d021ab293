/*
 * The file system of shared_mount.h: paths are passed through; a lock of a process is an open-file lock on a
 * descriptor that is kept for that process and file, so that the locks of both mounts meet in the folder.  One
 * request at a time.
 */
#define FUSE_USE_VERSION 31
#include "shared_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOCKS = 256 };

static int root = -1;
static struct {
	ino_t file;
	uint64_t owner;
	int fd; /* 0: free */
} locks[LOCKS];

/* A file that was removed while it is open has no path. */
static const char *inside(const char *path)
{
	return path == NULL ? "" : path[1] == 0 ? "." : path + 1;
}

static int result(int r)
{
	return r < 0 ? -errno : r;
}

static int do_getattr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	return fi != NULL ? result(fstat((int)fi->fh, st))
	                  : result(fstatat(root, inside(path), st, AT_SYMLINK_NOFOLLOW));
}

static int do_open(const char *path, struct fuse_file_info *fi)
{
	int fd = openat(root, inside(path), fi->flags & ~O_APPEND, 0644);
	fi->fh = (uint64_t)fd;
	return fd < 0 ? -errno : 0;
}

static int do_create(const char *path, mode_t mode, struct fuse_file_info *fi)
{
	int fd = openat(root, inside(path), (fi->flags | O_CREAT) & ~O_APPEND, mode);
	fi->fh = (uint64_t)fd;
	return fd < 0 ? -errno : 0;
}

static int do_read(const char *path, char *to, size_t n, off_t at, struct fuse_file_info *fi)
{
	(void)path;
	return result((int)pread((int)fi->fh, to, n, at));
}

static int do_write(const char *path, const char *from, size_t n, off_t at, struct fuse_file_info *fi)
{
	(void)path;
	return result((int)pwrite((int)fi->fh, from, n, at));
}

static int do_truncate(const char *path, off_t n, struct fuse_file_info *fi)
{
	int fd = fi != NULL ? (int)fi->fh : openat(root, inside(path), O_WRONLY);
	int r = fd < 0 ? -errno : result(ftruncate(fd, n));
	if (fi == NULL && fd >= 0)
		close(fd);
	return r;
}

static int do_unlink(const char *path)
{
	return result(unlinkat(root, inside(path), 0));
}

static int do_rename(const char *from, const char *to, unsigned flags)
{
	(void)flags;
	return result(renameat(root, inside(from), root, inside(to)));
}

static int do_fsync(const char *path, int data, struct fuse_file_info *fi)
{
	(void)path, (void)data, (void)fi;
	return 0;
}

static int lock_fd(int file, uint64_t owner)
{
	struct stat st;
	char name[32];
	int empty = -1;
	if (fstat(file, &st) != 0)
		return -1;
	for (int i = 0; i < LOCKS; i++) {
		if (locks[i].fd != 0 && locks[i].file == st.st_ino && locks[i].owner == owner)
			return locks[i].fd;
		if (locks[i].fd == 0)
			empty = i;
	}
	if (empty < 0)
		return -1;
	snprintf(name, sizeof name, "/proc/self/fd/%d", file);
	int fd = open(name, O_RDWR);
	if (fd < 0)
		return -1;
	locks[empty].fd = fd;
	locks[empty].file = st.st_ino;
	locks[empty].owner = owner;
	return fd;
}

static int do_lock(const char *path, struct fuse_file_info *fi, int cmd, struct flock *l)
{
	int fd = lock_fd((int)fi->fh, fi->lock_owner);
	(void)path;
	l->l_pid = 0;
	return fd <= 0 ? -ENOLCK : result(fcntl(fd, cmd == F_GETLK ? F_OFD_GETLK : F_OFD_SETLK, l));
}

/* A process that closes a descriptor of a file has no locks on it from then on. */
static int do_flush(const char *path, struct fuse_file_info *fi)
{
	struct stat st;
	(void)path;
	for (int i = 0; i < LOCKS && fstat((int)fi->fh, &st) == 0; i++)
		if (locks[i].fd != 0 && locks[i].file == st.st_ino && locks[i].owner == fi->lock_owner) {
			close(locks[i].fd);
			locks[i].fd = 0;
		}
	return 0;
}

static int do_release(const char *path, struct fuse_file_info *fi)
{
	(void)path;
	return result(close((int)fi->fh));
}

/* Nothing is remembered of names and sizes; pages are forgotten when a file is opened, and when its time changes.
 */
static void *do_init(struct fuse_conn_info *conn, struct fuse_config *c)
{
	(void)conn;
	c->attr_timeout = c->entry_timeout = c->negative_timeout = 0;
	c->auto_cache = 1;
	c->hard_remove = 1;
	return NULL;
}

static const struct fuse_operations operations = {
	.init = do_init,
	.getattr = do_getattr,
	.open = do_open,
	.create = do_create,
	.read = do_read,
	.write = do_write,
	.truncate = do_truncate,
	.unlink = do_unlink,
	.rename = do_rename,
	.fsync = do_fsync,
	.lock = do_lock,
	.flush = do_flush,
	.release = do_release,
};

static int serve(const char *folder, const char *at)
{
	char *words[] = { "shared", "-o", "default_permissions", NULL };
	struct fuse_args args = FUSE_ARGS_INIT(3, words);
	root = open(folder, O_RDONLY | O_DIRECTORY);
	struct fuse *f = root >= 0 ? fuse_new(&args, &operations, sizeof operations, NULL) : NULL;
	if (f == NULL || fuse_mount(f, at) != 0)
		return 1;
	fuse_loop(f);
	fuse_unmount(f);
	fuse_destroy(f);
	return 0;
}

bool shared_mount(const char *folder, const char *at, pid_t *server)
{
	struct stat before, now;
	if (stat(at, &before) != 0)
		return false;
	*server = fork();
	if (*server == 0)
		_exit(serve(folder, at));
	for (int i = 0; i < 500; i++) {
		usleep(10000);
		if (stat(at, &now) == 0 && now.st_dev != before.st_dev)
			return true;
		if (waitpid(*server, NULL, WNOHANG) == *server)
			return false;
	}
	shared_unmount(at, *server);
	return false;
}

void shared_unmount(const char *at, pid_t server)
{
	umount2(at, MNT_DETACH);
	for (int i = 0; i < 200; i++) {
		if (waitpid(server, NULL, WNOHANG) == server)
			return;
		usleep(10000);
	}
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
}
