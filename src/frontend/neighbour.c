/* Files beside a model's file (neighbour.h). */
#include "frontend/neighbour.h"

#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SMALL_FILE = 1 << 20 };

static const size_t most_file = (size_t)1 << 40;

static bool is_file(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Bytes of a path up to its last slash, that one included. */
static int folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash == NULL ? 0 : (int)(slash + 1 - path);
}

static bool ends_so(const char *s, const char *ending)
{
	size_t n = strlen(s), m = strlen(ending);
	return n > m && strcmp(s + n - m, ending) == 0;
}

const char *neighbour_named(Arena *a, const char *path, const char *name)
{
	const char *there = arena_printf(a, "%.*s%s", folder_length(path), path, name);
	return is_file(there) ? there : NULL;
}

const char *neighbour_ending(Arena *a, const char *path, const char *ending, const char *other)
{
	if (!ends_so(path, ending))
		return NULL;
	const char *there = arena_printf(a, "%.*s%s", (int)(strlen(path) - strlen(ending)), path, other);
	return is_file(there) ? there : NULL;
}

const char *neighbour_last(Arena *a, const char *path, const char *begin, const char *end)
{
	int n = folder_length(path);
	const char *folder = n == 0 ? "." : arena_printf(a, "%.*s", n, path), *last = NULL;
	DIR *d = opendir(folder);
	if (d == NULL)
		return NULL;
	for (struct dirent *e; (e = readdir(d)) != NULL;) {
		if (strncmp(e->d_name, begin, strlen(begin)) != 0 || !ends_so(e->d_name, end))
			continue;
		if (strlen(e->d_name) < strlen(begin) + strlen(end) || (last != NULL && strcmp(e->d_name, last) < 0))
			continue;
		if (neighbour_named(a, path, e->d_name) != NULL)
			last = arena_printf(a, "%s", e->d_name);
	}
	closedir(d);
	return last == NULL ? NULL : neighbour_named(a, path, last);
}

static void unmap(void *map)
{
	file_unmap(map);
}

bool neighbour_read(Arena *a, const char *path, Bytes *out, Err *err)
{
	struct stat st;
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= SMALL_FILE)
		return file_read(a, path, most_file, out, err);
	Bytes *map = arena_new_of(a, Bytes);
	arena_at_end(a, unmap, map);
	bool ok = file_map(path, most_file, map, err);
	*out = *map;
	return ok;
}

bool neighbour_is_plain(const char *s)
{
	for (;;) {
		size_t n = strcspn(s, "/");
		if (n == 0 || (n == 1 && s[0] == '.') || (n == 2 && s[0] == '.' && s[1] == '.'))
			return false;
		if (s[n] == 0)
			return true;
		s += n + 1;
	}
}

/* Opens folder/a/b/c without following a link; -1 and errno on failure. */
static int open_below(const char *folder, const char *location)
{
	int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (dir >= 0) {
		char part[NAME_MAX + 1];
		size_t n = strcspn(location, "/");
		if (n >= sizeof part) {
			close(dir);
			errno = ENAMETOOLONG;
			return -1;
		}
		memcpy(part, location, n);
		part[n] = 0;
		bool last = location[n] == 0;
		int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | (last ? O_NONBLOCK : O_DIRECTORY);
		int next = openat(dir, part, flags);
		int kept = errno;
		close(dir);
		errno = kept;
		if (last)
			return next;
		dir = next;
		location += n + 1;
	}
	return -1;
}

bool neighbour_read_below(Arena *a, const char *folder, const char *location, Bytes *out, Err *err)
{
	struct stat st;
	Bytes *map = arena_new_of(a, Bytes);
	int fd = open_below(folder, location);
	if (fd < 0)
		return fail(err, ERR_INPUT, NULL, "cannot be opened: %s",
			errno == ELOOP     ? "it is a link, which could lead out of the model's folder"
			: errno == ENOTDIR ? "a part of its path is no folder of its own"
							   : strerror(errno));
	*out = *map = (Bytes){ 0 };
	bool ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	if (!ok)
		fail(err, ERR_INPUT, NULL, "is not a regular file");
	if (ok && st.st_size > 0) {
		void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (p == MAP_FAILED) {
			ok = fail(err, ERR_DEVICE, NULL, "cannot be read: %s", strerror(errno));
		} else {
			*out = *map = (Bytes){ p, (size_t)st.st_size };
			arena_at_end(a, unmap, map);
		}
	}
	close(fd);
	return ok;
}
