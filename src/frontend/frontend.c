/*
 * MODEL as users type it: a zoo name, or else a file whose content tells what it is.
 */
#include "frontend/frontend.h"

#include "frontend/format.h"
#include "frontend/onnx/onnx.h"
#include "frontend/zoo.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { SMALL_FILE = 1 << 20 };
static const size_t most_file = (size_t)1 << 40;

/*
 * Small files are copied; a large one stays mapped until the process ends, because weights are
 * borrowed from it for as long as the Dag lives.
 */
static bool read_model(Arena *a, const char *path, Bytes *out, Err *err)
{
	struct stat st;
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > SMALL_FILE)
		return file_map(path, most_file, out, err);
	return file_read(a, path, most_file, out, err);
}

/* A name without a folder or an extension was meant for the zoo. */
static bool refuse_name(const char *model, Err *err)
{
	const char *near = zoo_nearest(model);
	if (strpbrk(model, "/.") != NULL)
		return fail(err, ERR_INPUT, model, "no such file");
	return fail(err, ERR_INPUT, model, "is no file and no network of the zoo%s%s; `dlc info` lists the zoo",
		near != NULL ? "; did you mean " : "", near != NULL ? near : "");
}

Dag *frontend_load(Arena *a, const char *model, const ModelArgs *args, Err *err)
{
	static const ModelArgs none = { 0 };
	Bytes file;
	struct stat st;
	if (args == NULL)
		args = &none;
	if (zoo_has(model))
		return zoo_build(a, model, args, err);
	if (stat(model, &st) != 0 && errno == ENOENT) {
		refuse_name(model, err);
		return NULL;
	}
	if (stat(model, &st) == 0 && S_ISDIR(st.st_mode)) {
		format_refuse_folder(model, err);
		return NULL;
	}
	if (!read_model(a, model, &file, err) || !format_is_onnx(model, file, err))
		return NULL;
	return onnx_import(a, model, file, args, err);
}
