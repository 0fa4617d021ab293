/* Files beside a model's file (neighbour.h). */
#include "frontend/neighbour.h"

#include "base/text.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

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
