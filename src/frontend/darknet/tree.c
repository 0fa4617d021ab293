/*
 * A hierarchy of classes, as YOLO9000 has it: a text file with a line "NAME PARENT" for each class, where PARENT is the
 * number of a class above it, or -1. Lines with one parent that follow each other are a group of siblings, in which
 * probabilities are those of one choice. The import needs the sizes of the groups only: they replace the file's name.
 */
#include "frontend/darknet/darknet.h"

#include "frontend/neighbour.h"

#include <string.h>

enum { MOST_CLASSES = 1 << 20 };

/* The parent in a line without its end. */
static bool read_parent(Arena *a, const char *at, size_t n, int64_t classes, int64_t *out)
{
	const char *line = arena_printf(a, "%.*s", (int)(n < 1024 ? n : 1024), at), *blanks = " \t\r";
	const char *last = line + strspn(line, blanks);
	last += strcspn(last, blanks);
	last += strspn(last, blanks);
	const char *number = arena_printf(a, "%.*s", (int)strcspn(last, blanks), last);
	return text_to_int(number, -1, classes - 1, out);
}

static bool read_groups(Arena *a, const char *name, Bytes file, WireInts *out, Err *err)
{
	int64_t classes = 0, above = 0, parent;
	for (size_t at = 0; at < file.n; classes++) {
		const char *line = (const char *)file.at + at;
		const char *end = memchr(line, '\n', file.n - at);
		size_t n = end != NULL ? (size_t)(end - line) : file.n - at;
		if (classes == MOST_CLASSES)
			return fail(err, ERR_INPUT, name, "it has more than %d classes", MOST_CLASSES);
		if (!read_parent(a, line, n, classes, &parent))
			return fail(err, ERR_INPUT, name, "line %lld is not a name and the number of a class above it, or -1",
				(long long)classes + 1);
		if (classes == 0 || parent != above)
			vec_push(a, out, 0);
		out->at[out->n - 1]++;
		above = parent;
		at += n + 1;
	}
	return classes > 0 || fail(err, ERR_INPUT, name, "it has no classes");
}

/*
 * The file as the .cfg names it, from the folder in which DarkNet is started. That is the .cfg's own, or the one above
 * a folder "cfg"; the last part of the name may also lie beside the .cfg.
 */
static bool find(Arena *a, const char *path, const char *name, Bytes *out, Err *err)
{
	const char *slash = strrchr(path, '/'), *base = strrchr(name, '/');
	const char *folder = slash == NULL ? "." : arena_printf(a, "%.*s", (int)(slash - path) + 1, path);
	size_t n = strlen(folder);
	const char *above = n > 4 && strcmp(folder + n - 5, "/cfg/") == 0 ? arena_printf(a, "%.*s", (int)n - 4, folder)
	                    : strcmp(folder, "cfg/") == 0                 ? "."
	                                                                  : NULL;
	base = base == NULL ? name : base + 1;
	if (!neighbour_is_plain(name))
		return fail(err, ERR_INPUT, path, "its tree of classes, '%.200s', must lie below the folder of the .cfg", name);
	if (neighbour_read_below(a, folder, name, out, err))
		return true;
	Err other = { 0 };
	if ((above != NULL && neighbour_read_below(a, above, name, out, &other)) ||
		neighbour_read_below(a, folder, base, out, &other)) {
		*err = (Err){ 0 };
		return true;
	}
	const char *why = arena_printf(a, "%s", err->text);
	*err = (Err){ 0 };
	return fail(err, ERR_INPUT, path, "its tree of classes, '%.200s', %s: put DarkNet's file there or beside the .cfg",
		name, why);
}

bool darknet_read_tree(Arena *a, const char *path, NodeAttr *attr, Err *err)
{
	Bytes file;
	WireInts groups = { 0 };
	const char *name = arena_printf(a, "%.*s", (int)attr->text.n, (const char *)attr->text.at);
	if (!find(a, path, name, &file, err) || !read_groups(a, name, file, &groups, err))
		return false;
	*attr = (NodeAttr){ .name = attr->name, .kind = NODE_INTS, .ints = groups };
	return true;
}
