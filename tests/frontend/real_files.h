/* Models that others wrote, and what their frameworks compute, in $DLC_TEST_DATA/models: .npy files of f32. */
#ifndef TESTS_FRONTEND_REAL_FILES_H
#define TESTS_FRONTEND_REAL_FILES_H

#include "base/file.h"
#include "op/op.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

/* `format`: "keras", a folder */
static inline const char *real_file(Arena *a, const char *format, const char *name)
{
	const char *data = getenv("DLC_TEST_DATA");
	return arena_printf(a, "%s/models/%s/%s", data != NULL ? data : SOURCE_ROOT "/../shared", format, name);
}

/* The elements and the shape; NULL: there is no such file. */
static inline const float *read_npy(Arena *a, const char *path, Shape *shape)
{
	Bytes b;
	Err err = { 0 };
	if (!file_read(a, path, 1 << 26, &b, &err))
		return NULL;
	ck_assert_msg(b.n >= 10, "%s", path);
	size_t head = 10 + b.at[8] + 256u * b.at[9];
	ck_assert_msg(head <= b.n, "%s", path);
	const char *text = arena_printf(a, "%.*s", (int)head - 10, (const char *)b.at + 10);
	const char *dim = strstr(text, "'shape': (");
	ck_assert_msg(dim != NULL && strstr(text, "'<f4'") != NULL, "%s: %s", path, text);
	*shape = shape_of(0, NULL);
	char *end;
	for (dim += strlen("'shape': ("); *dim >= '0' && *dim <= '9'; dim = end + strspn(end, ", "))
		shape->dim[shape->rank++] = strtoll(dim, &end, 10);
	ck_assert_msg(b.n - head == sizeof(float) * (size_t)shape_elements(*shape), "%s", path);
	return arena_copy(a, b.at + head, b.n - head);
}

/*
 * Whether the network is run. With sanitizers a large one is only read: the interpreter, which tests/ir has with them,
 * would take nearly all of the time, and the results are the release build's to check.
 */
static inline bool real_file_runs(const Dag *d)
{
	enum { SMALL = 1000000 };
	return suite_count(1, dag_flops(d) <= SMALL, 1) > 0;
}

#endif
