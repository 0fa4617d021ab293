/*
 * Turns paths into bytes and bytes into files.  Reading refuses what is not a file by name and
 * never takes a size for granted.  Writing goes to a file without a name (O_TMPFILE) where the file
 * system has it, so that even kill -9 leaves nothing behind, else to ".NAME.PID-N.tmp"; commit
 * syncs, names and renames it.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OUT_BUFFER = 1 << 16, READ_CHUNK = 1 << 16, WRITER_MS = 1000 };

/* What a user did wrong, against what the machine refuses. */
static bool fail_errno(Err *err, const char *path, const char *what, int code)
{
	if (code == ENOENT || code == ENOTDIR || code == ENAMETOOLONG || code == ELOOP)
		return fail(err, ERR_INPUT, path, "there is no such file");
	return fail(err, ERR_DEVICE, path, "cannot %s: %s", what, strerror(code));
}

static bool refuse_kind(Err *err, const char *path, mode_t mode)
{
	const char *kind = S_ISDIR(mode)    ? "folder"
	                   : S_ISCHR(mode)  ? "character device"
	                   : S_ISBLK(mode)  ? "block device"
	                   : S_ISSOCK(mode) ? "socket"
	                                    : "pipe";
	return fail(err, ERR_INPUT, path, "it is a %s, not a file", kind);
}

void file_fill_streams(void)
{
	int fd;
	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
}

bool file_is_plain(const char *path, Err *err)
{
	struct stat st;
	return stat(path, &st) != 0 || S_ISREG(st.st_mode) || refuse_kind(err, path, st.st_mode);
}

bool file_is_same(const char *a, const char *b)
{
	struct stat x, y;
	return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool file_of_program(char out[FILE_PATH])
{
	ssize_t n = readlink("/proc/self/exe", out, FILE_PATH - 1);
	const char *started = (const char *)(uintptr_t)getauxval(AT_EXECFN);
	if (n > 0)
		out[n] = 0;
	return n > 0 || (started != NULL && realpath(started, out) != NULL);
}

int file_open_now(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	/* Until a first writer opens a pipe, a read would give its end. */
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode))
		poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, WRITER_MS);
	return fd;
}

ssize_t file_read_some(int fd, void *to, size_t n)
{
	for (;;) {
		ssize_t got = read(fd, to, n);
		if (got >= 0 || (errno != EINTR && errno != EAGAIN))
			return got;
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		if (errno == EAGAIN)
			poll(&wait, 1, -1);
	}
}

/* Looks before it opens, because opening a device may already do something. */
static int open_input(const char *path, bool pipes, struct stat *st, Err *err)
{
	int fd = -1;
	if (stat(path, st) != 0)
		fail_errno(err, path, "be looked at", errno);
	else if (!S_ISREG(st->st_mode) && !(pipes && S_ISFIFO(st->st_mode)))
		refuse_kind(err, path, st->st_mode);
	else if ((fd = file_open_now(path)) < 0)
		fail_errno(err, path, "be opened", errno);
	return fd;
}

static bool too_large(Err *err, const char *name, size_t limit)
{
	return fail(err, ERR_INPUT, name, "it is larger than the %zu bytes that are read", limit);
}

bool file_read_fd(Arena *a, int fd, const char *name, size_t limit, Bytes *out, Err *err)
{
	struct stat st;
	size_t cap = READ_CHUNK, n = 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= 0) {
		if ((uint64_t)st.st_size > limit)
			return too_large(err, name, limit);
		cap = (size_t)st.st_size + 1;
	}
	/* Heap until the size is known, so that growth leaves nothing in the arena. */
	unsigned char *buf = malloc(cap);
	for (;;) {
		if (buf == NULL)
			return fail(err, ERR_MEMORY, name, "needs more memory than there is");
		ssize_t got = file_read_some(fd, buf + n, cap - n);
		if (got < 0) {
			fail_errno(err, name, "be read", errno);
			free(buf);
			return false;
		}
		if (got == 0)
			break;
		n += (size_t)got;
		if (n > limit) {
			free(buf);
			return too_large(err, name, limit);
		}
		if (n == cap) {
			unsigned char *wide = realloc(buf, cap *= 2);
			if (wide == NULL)
				free(buf);
			buf = wide;
		}
	}
	unsigned char *copy = arena_alloc(a, n + 1);
	memcpy(copy, buf, n);
	free(buf);
	*out = (Bytes){ copy, n };
	return true;
}

bool file_read(Arena *a, const char *path, size_t limit, Bytes *out, Err *err)
{
	struct stat st;
	int fd = open_input(path, true, &st, err);
	if (fd < 0)
		return false;
	bool ok = file_read_fd(a, fd, path, limit, out, err);
	close(fd);
	if (ok && out->n == 0 && S_ISFIFO(st.st_mode))
		return fail(err, ERR_INPUT, path, "it is a pipe to which no program writes");
	return ok;
}

bool file_map(const char *path, size_t limit, Bytes *out, Err *err)
{
	struct stat st;
	*out = (Bytes){ 0 };
	int fd = open_input(path, false, &st, err);
	if (fd < 0)
		return false;
	bool ok = fstat(fd, &st) == 0;
	if (!ok)
		fail_errno(err, path, "be looked at", errno);
	else if ((uint64_t)st.st_size > limit)
		ok = too_large(err, path, limit);
	else if (st.st_size > 0) {
		void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		ok = p != MAP_FAILED;
		if (ok)
			*out = (Bytes){ p, (size_t)st.st_size };
		else
			fail_errno(err, path, "be mapped", errno);
	}
	close(fd);
	return ok;
}

void file_unmap(Bytes *map)
{
	if (map->at != NULL)
		munmap((void *)(uintptr_t)map->at, map->n);
	*map = (Bytes){ 0 };
}

/* Wherever an output cannot go is the machine's refusal, a missing folder included. */
static bool fail_output(Err *err, const FileOut *f, int code)
{
	return fail(err, ERR_DEVICE, f->as, "cannot be written: %s", strerror(code));
}

static bool open_temp(FileOut *f)
{
	static atomic_uint serial;
	size_t n = strlen(f->path);
	char *slash = strrchr(f->path, '/');
	char *folder = slash == NULL
	                       ? strdup(".")
	                       : strndup(f->path, slash == f->path ? 1 : (size_t)(slash - f->path));
	f->temp = malloc(n + 64);
	if (folder == NULL || f->temp == NULL) {
		free(folder);
		errno = ENOMEM;
		return false;
	}
	int head = slash == NULL ? 0 : (int)(slash - f->path) + 1;
	snprintf(f->temp, n + 64, "%.*s.%s.%ld-%u.tmp", head, f->path, f->path + head,
		(long)getpid(), atomic_fetch_add(&serial, 1));
	unlink(f->temp); /* a dead process of our number left it */
	/* It is named through /proc later; a system without that gets a named one now. */
	if (access("/proc/self/fd", X_OK) == 0)
		f->fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	free(folder);
	if (f->fd >= 0)
		return true;
	f->fd = open(f->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	f->named = f->fd >= 0;
	return f->named;
}

static void release(FileOut *f)
{
	if (f->fd >= 0)
		close(f->fd);
	if (f->named)
		unlink(f->temp);
	free(f->path);
	free(f->temp);
	free(f->buf);
	*f = (FileOut){ .fd = -1 };
}

bool file_create(FileOut *f, const char *path, Err *err)
{
	struct stat st;
	*f = (FileOut){ .fd = -1, .as = path };
	bool exists = stat(path, &st) == 0, ok;
	if (exists && S_ISDIR(st.st_mode)) {
		fail(err, ERR_DEVICE, path, "cannot be written: it is a folder");
		return false;
	}
	f->direct = exists && !S_ISREG(st.st_mode);
	/* A link is followed, so that it stays one; a dangling one is replaced. */
	f->path = exists && !f->direct ? realpath(path, NULL) : strdup(path);
	f->buf = malloc(OUT_BUFFER);
	if (f->path == NULL || f->buf == NULL)
		ok = false;
	else if (f->direct)
		ok = (f->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)) >= 0;
	else if (exists && access(f->path, W_OK) != 0)
		ok = false; /* a rename would replace what its owner protected */
	else
		ok = open_temp(f);
	if (ok && exists && !f->direct)
		ok = fchmod(f->fd, st.st_mode & 07777) == 0;
	if (!ok) {
		fail_output(err, f, errno);
		release(f);
	}
	return ok;
}

static bool put_now(FileOut *f, const char *p, size_t n, Err *err)
{
	while (n > 0) {
		ssize_t put = write(f->fd, p, n);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return fail_output(err, f, put == 0 ? ENOSPC : errno);
		p += put;
		n -= (size_t)put;
	}
	return true;
}

static bool flush(FileOut *f, Err *err)
{
	size_t n = f->n;
	f->n = 0;
	/* release() frees it.  NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
	return put_now(f, f->buf, n, err);
}

bool file_put(FileOut *f, const void *bytes, size_t n, Err *err)
{
	if (n > OUT_BUFFER - f->n && !flush(f, err))
		return false;
	if (n >= OUT_BUFFER)
		return put_now(f, bytes, n, err);
	if (n != 0)
		memcpy(f->buf + f->n, bytes, n);
	f->n += n;
	return true;
}

/* An unnamed file cannot replace another by linkat; it gets its temporary name first. */
static bool name_and_rename(FileOut *f)
{
	char self[64];
	snprintf(self, sizeof self, "/proc/self/fd/%d", f->fd);
	if (!f->named && linkat(AT_FDCWD, self, AT_FDCWD, f->temp, AT_SYMLINK_FOLLOW) != 0)
		return false;
	f->named = true;
	if (rename(f->temp, f->path) != 0)
		return false;
	f->named = false;
	return true;
}

bool file_commit(FileOut *f, Err *err)
{
	bool ok = flush(f, err);
	if (ok && !f->direct && fsync(f->fd) != 0 && errno != EINVAL && errno != EROFS)
		ok = fail_output(err, f, errno);
	if (ok && !f->direct && !name_and_rename(f))
		ok = fail_output(err, f, errno);
	if (ok && f->direct) {
		int fd = f->fd;
		f->fd = -1;
		if (close(fd) != 0)
			ok = fail_output(err, f, errno);
	}
	release(f);
	return ok;
}

void file_abandon(FileOut *f)
{
	release(f);
}

bool file_write(const char *path, const void *bytes, size_t n, Err *err)
{
	FileOut f;
	if (!file_create(&f, path, err))
		return false;
	if (!file_put(&f, bytes, n, err)) {
		file_abandon(&f);
		return false;
	}
	return file_commit(&f, err);
}
