/*
 * Finds the front end of MODEL as users type it: the name of a model that a format has without a file, or
 * else a file whose content tells its format. What no format reads is refused by its name (foreign.h).
 */
#include "frontend/foreign.h"
#include "frontend/format.h"
#include "frontend/input_layout.h"
#include "frontend/neighbour.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define FORMAT(name) &format_##name,
static const Format *const formats[] = {
#include "frontend/format.def"
};
#undef FORMAT
enum { NFORMAT = sizeof formats / sizeof *formats };

const NamedModel *frontend_models(Arena *a, int *n)
{
	VEC(NamedModel) list = { 0 };
	const NamedModel *m;
	for (int k = 0; k < NFORMAT; k++)
		for (int i = 0; formats[k]->named != NULL && (m = formats[k]->named(i)) != NULL; i++)
			vec_push(a, &list, *m);
	*n = (int)list.n;
	return list.at;
}

static const Format *format_of_name(const char *model)
{
	const NamedModel *m;
	for (int k = 0; k < NFORMAT; k++)
		for (int i = 0; formats[k]->named != NULL && (m = formats[k]->named(i)) != NULL; i++)
			if (strcmp(m->name, model) == 0)
				return formats[k];
	return NULL;
}

/* "ONNX models, GGUF models and Keras models": the formats that are read from files. */
static const char *readable(Arena *a)
{
	Text t = { .arena = a };
	int left = 0;
	for (int k = 0; k < NFORMAT; k++)
		left += formats[k]->recognise != NULL;
	for (int k = 0; k < NFORMAT; k++)
		if (formats[k]->recognise != NULL) {
			text_add(&t, "%s%s", t.n == 0 ? "" : left == 1 ? " and " : ", ", formats[k]->doc);
			left--;
		}
	return text_str(&t);
}

static bool refuse_foreign(Arena *a, const char *path, const Foreign *what, Err *err)
{
	if (!what->model)
		return fail(err, ERR_INPUT, path, "is %s, not a model; this version reads %s", what->name, readable(a));
	return fail(
		err, ERR_UNSUPPORTED, path, "is %s; this version reads %s: convert it to one of them", what->name, readable(a));
}

/* True if a name ends with one of the words of a list. */
static bool ends_with_one(const char *name, const char *list)
{
	size_t n = strlen(name);
	for (const char *s = list != NULL ? list : ""; *s != 0; s += strcspn(s, " "), s += *s == ' ') {
		size_t m = strcspn(s, " ");
		if (n > m && memcmp(name + n - m, s, m) == 0)
			return true;
	}
	return false;
}

/*
 * A sure format first, then the formats that dlc does not read and that have a signature, then a likely one, then one
 * whose files have such names.
 */
static const Format *format_of_content(Arena *a, const char *path, Bytes file, Err *err)
{
	const Format *likely = NULL;
	if (file.n == 0) {
		fail(err, ERR_INPUT, path, "is an empty file; this version reads %s", readable(a));
		return NULL;
	}
	for (int k = 0; k < NFORMAT; k++) {
		FormatMatch match = formats[k]->recognise != NULL ? formats[k]->recognise(file) : FORMAT_NO;
		if (match == FORMAT_SURE)
			return formats[k];
		if (match == FORMAT_LIKELY && likely == NULL)
			likely = formats[k];
	}
	Foreign what = foreign_by_signature(file);
	if (what.name == NULL && likely != NULL)
		return likely;
	for (int k = 0; k < NFORMAT && what.name == NULL; k++)
		if (ends_with_one(path, formats[k]->endings))
			return formats[k];
	if (what.name == NULL)
		what = foreign_by_fields(file);
	if (what.name != NULL)
		refuse_foreign(a, path, &what, err);
	else
		fail(err, ERR_INPUT, path, "is not a model that this version knows; it reads %s", readable(a));
	return NULL;
}

/* A name without a folder or an extension was meant for the zoo. */
static bool refuse_name(Arena *a, const char *model, Err *err)
{
	if (strpbrk(model, "/.") != NULL)
		return fail(err, ERR_INPUT, model, "no such file");
	int n;
	const NamedModel *all = frontend_models(a, &n);
	const char **names = arena_array(a, const char *, n + 1);
	for (int k = 0; k < n; k++)
		names[k] = all[k].name;
	const char *close = text_nearest(model, names, n);
	return fail(err, ERR_INPUT, model, "is neither a file nor a network of the zoo%s%s; `dlc info` lists the zoo",
		close != NULL ? "; did you mean " : "", close != NULL ? close : "");
}

/* The format of a folder. */
static const Format *format_of_folder(const char *path, Err *err)
{
	for (int k = 0; k < NFORMAT; k++)
		if (formats[k]->recognise_folder != NULL && formats[k]->recognise_folder(path))
			return formats[k];
	fail(err, ERR_INPUT, path, "is a folder; name a model file in it");
	return NULL;
}

static Dag *load(Arena *a, const Format *format, const char *model, Bytes file, const ModelArgs *args, Err *err)
{
	static const ModelArgs none = { 0 };
	if (format == NULL)
		return NULL;
	if (args != NULL && args->weights != NULL && !format->weights) {
		fail(err, ERR_USAGE, "weights", "%s have no file of weights apart", format->doc);
		return NULL;
	}
	if (args != NULL && args->signature != NULL && !format->signatures) {
		fail(err, ERR_USAGE, "signature", "%s have one entry point, so there is none to choose", format->doc);
		return NULL;
	}
	if (args != NULL && args->tags != NULL && !format->tags) {
		fail(err, ERR_USAGE, "tags", "%s have no graphs with tags", format->doc);
		return NULL;
	}
	Err why = { 0 };
	Dag *d = format->load(a, model, file, args != NULL ? args : &none, &why);
	if (d == NULL && err != NULL && err->code == ERR_NONE) {
		*err = why;
		err_at(err, model);
	}
	return d;
}

/* A file's content goes to the front end that knows it. */
static Dag *load_content(Arena *a, const char *path, Bytes file, const ModelArgs *args, Err *err)
{
	const OutsideFormat *outside = args != NULL && file.n > 0 ? args->outside : NULL;
	if (outside != NULL && outside->recognise(file, outside->arg))
		return outside->load(a, path, file, args, outside->arg, err);
	return load(a, format_of_content(a, path, file, err), path, file, args, err);
}

static Dag *load_model(Arena *a, const char *model, const ModelArgs *args, Err *err)
{
	Bytes file = { NULL, 0 };
	struct stat st;
	const Format *format = format_of_name(model);
	if (format != NULL)
		return load(a, format, model, file, args, err);
	bool there = stat(model, &st) == 0;
	if (!there && errno == ENOENT) {
		refuse_name(a, model, err);
		return NULL;
	}
	if (there && S_ISDIR(st.st_mode))
		return load(a, format_of_folder(model, err), model, file, args, err);
	if (!neighbour_read(a, model, &file, err))
		return NULL;
	return load_content(a, model, file, args, err);
}

/* The same for all formats: the inputs' layouts. */
static Dag *with_layouts(Dag *d, const ModelArgs *args, Err *err)
{
	return d != NULL && args != NULL && !input_layouts(d, args, err) ? NULL : d;
}

Dag *frontend_load(Arena *a, const char *model, const ModelArgs *args, Err *err)
{
	return with_layouts(load_model(a, model, args, err), args, err);
}

Dag *frontend_load_bytes(Arena *a, const char *name, Bytes file, const ModelArgs *args, Err *err)
{
	return with_layouts(load_content(a, name, file, args, err), args, err);
}

static const Format *find(const char *name)
{
	for (int k = 0; k < NFORMAT; k++)
		if (strcmp(formats[k]->name, name) == 0)
			return formats[k];
	return NULL;
}

bool frontend_write(const char *format, Text *out, const Dag *d, Err *err)
{
	const Format *f = find(format);
	if (f == NULL || f->write == NULL)
		return fail(err, ERR_UNSUPPORTED, d->name, "the format %s cannot be written", format);
	return f->write(out, d, err);
}

bool frontend_read_tensor(const char *format, Arena *a, Bytes file, BindArg *out, Err *err)
{
	const Format *f = find(format);
	if (f == NULL || f->read_tensor == NULL)
		return fail(err, ERR_UNSUPPORTED, "", "the format %s has no files of tensors", format);
	return f->read_tensor(a, file, out, err);
}
