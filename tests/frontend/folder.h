/* A temporary folder for each test, and models in it: what the tests of this room share. */
#ifndef TESTS_FRONTEND_FOLDER_H
#define TESTS_FRONTEND_FOLDER_H

#include "frontend/frontend.h"
#include "model_text.h"
#include "suite.h"

#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64]; /* a temporary one, for each test of its own */

static inline void make_folder(void)
{
	snprintf(folder, sizeof folder, "/tmp/dlc-frontend-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static inline int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st, (void)kind, (void)where;
	return remove(path);
}

static inline void remove_folder(void)
{
	ck_assert_int_eq(nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static inline const char *in_folder(Arena *a, const char *name)
{
	return arena_printf(a, "%s/%s", folder, name);
}

static inline Dag *load_text(Arena *a, const char *text, const ModelArgs *args, Err *err)
{
	const char *path = in_folder(a, "m.onnx");
	save_model(a, path, model_text(a, text));
	return frontend_load(a, path, args, err);
}

#endif
