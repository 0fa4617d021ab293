/* See model.h. */
#include "cli/model.h"

#include "base/file.h"
#include "cli/folders.h"
#include "compile/compile.h"
#include "run/array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void note(const char *sentence, void *arg)
{
	Arena *a = arena_new();
	char *text = arena_printf(a, "%s", sentence); /* it has names of the model's */
	(void)arg;
	text_make_printable(text, "");
	fprintf(stderr, "dlc: %s\n", text);
	arena_free(a);
}

/* "1,3,224,224" */
static bool read_shape(const char *text, Shape *out)
{
	*out = (Shape){ 0 };
	for (const char *p = text;;) {
		char number[24];
		int64_t v;
		size_t n = strcspn(p, ",");
		if (n == 0 || n >= sizeof number || out->rank == DAG_MAX_RANK)
			return false;
		memcpy(number, p, n);
		number[n] = 0;
		if (!text_to_int(number, 0, INT64_C(1) << 40, &v))
			return false;
		out->dim[out->rank++] = v;
		if (p[n] == 0)
			return true;
		p += n + 1;
	}
}

static bool read_shapes(const Args *args, ModelArgs *m, Err *err)
{
	size_t n;
	const char *const *given = args_all(args, "shape", &n);
	ShapeArg *shape = arena_array(args_arena(args), ShapeArg, n + 1);
	for (size_t i = 0; i < n; i++) {
		const char *value = args_pair(args, "shape", given[i], &shape[i].name, err);
		if (value == NULL)
			return false;
		if (!read_shape(value, &shape[i].shape))
			return fail(err, ERR_USAGE, "--shape", "\"%s\" is no shape such as data=1,3,224,224", given[i]);
		for (size_t k = 0; k < i; k++)
			if (strcmp(shape[k].name, shape[i].name) == 0)
				return fail(err, ERR_USAGE, "--shape", "input '%s' is given twice", shape[i].name);
	}
	m->shape = shape;
	m->nshape = (int)n;
	return true;
}

/* A .npy file, or a TensorProto of ONNX test data. */
static bool bind_file(Arena *a, const char *path, BindArg *out, Err *err)
{
	Bytes file;
	Array array;
	DlcError why;
	if (!file_read(a, path, (size_t)1 << 31, &file, err))
		return false;
	bool numpy = file.n > 6 && memcmp(file.at, "\x93NUMPY", 6) == 0;
	DlcStatus s = numpy ? npy_parse(file.at, file.n, &array, &why) : tensor_pb_parse(file.at, file.n, &array, &why);
	if (s != DLC_OK)
		return fail(err, ERR_INPUT, path, "%s", why.text);
	bool fits = array.ndim <= DAG_MAX_RANK;
	if (fits) {
		void *data = arena_alloc(a, (size_t)array.bytes + 1);
		array_copy(&array, data);
		*out = (BindArg){ .type = { array.dtype.code, array.dtype.bits, 1 },
			.shape = shape_of(array.ndim, array.shape),
			.data = data };
	}
	array_free(&array);
	return fits || fail(err, ERR_INPUT, path, "%d dimensions; a tensor has at most %d", array.ndim, DAG_MAX_RANK);
}

static bool read_binds(const Args *args, ModelArgs *m, Err *err)
{
	size_t n;
	Arena *a = args_arena(args);
	const char *const *given = args_all(args, "bind", &n);
	BindArg *bind = arena_array(a, BindArg, n + 1);
	for (size_t i = 0; i < n; i++) {
		const char *name, *path = args_pair(args, "bind", given[i], &name, err);
		if (path == NULL || !bind_file(a, path, &bind[i], err))
			return false;
		bind[i].name = name;
		for (size_t k = 0; k < i; k++)
			if (strcmp(bind[k].name, name) == 0)
				return fail(err, ERR_USAGE, "--bind", "input '%s' is given twice", name);
	}
	m->bind = bind;
	m->nbind = (int)n;
	return true;
}

/*
 * An input that must be known while compiling, from the first set of test data: the tensor of that
 * name.
 */
static bool offer_check(const char *input, BindArg *out, void *arg)
{
	const Args *args = arg;
	Arena *a = args_arena(args);
	for (int k = 0; k < 4096; k++) {
		char *path = arena_printf(a, "%s/test_data_set_0/input_%d.pb", args_text(args, "check", ""), k);
		BindArg b;
		Err err = { 0 };
		Bytes file;
		if (access(path, F_OK) != 0)
			return false;
		if (!file_read(a, path, (size_t)1 << 31, &file, &err) || !frontend_read_tensor("onnx", a, file, &b, &err))
			continue;
		if (b.name != NULL && strcmp(b.name, input) == 0) {
			*out = b;
			return true;
		}
	}
	return false;
}

Dag *model_load(const Args *args, const char *model, Err *err)
{
	ModelArgs m = { .batch = args_int(args, "batch", 0), .eval = compile_eval, .note = note };
	if (!read_shapes(args, &m, err) || !read_binds(args, &m, err))
		return NULL;
	if (args_has(args, "check") && args_text(args, "check", "")[0] != 0) {
		m.offer = offer_check;
		m.offer_arg = (void *)(uintptr_t)args;
	}
	return frontend_load(args_arena(args), model, &m, err);
}

Trace *trace_load(Arena *a, const char *path, Err *err)
{
	enum { TRACE_BYTES = 1 << 20 };
	Bytes file;
	bool in = strcmp(path, "-") == 0;
	const char *name = in ? "standard input" : path;
	if (in ? !file_read_fd(a, STDIN_FILENO, name, TRACE_BYTES, &file, err) : !file_read(a, path, TRACE_BYTES, &file, err))
		return NULL;
	return trace_parse(a, name, (const char *)file.at, file.n, err);
}

/* ---- outputs ---- */

bool output_is_apart(const Args *args, const char *path, Err *err)
{
	size_t n;
	const char *const *db = place_databases(args, &n, NULL);
	bool apart = !file_is_same(path, args_operand(args, 0));
	for (size_t i = 0; i < n; i++)
		apart = apart && !file_is_same(path, db[i]);
	return apart || fail(err, ERR_USAGE, path, "is an input of this command, which would be overwritten; name another output");
}

/* ---- databases ---- */

static bool make_folders(Arena *a, const char *path, Err *err)
{
	char *p = arena_printf(a, "%s", path);
	for (char *slash = strchr(p + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		if (mkdir(p, 0700) != 0 && errno != EEXIST)
			return fail(err, ERR_DEVICE, p, "the folder cannot be made: %s", strerror(errno));
		*slash = '/';
	}
	return true;
}

/* ---- the code cache ---- */

enum { CODE_CACHE_BYTES = 64 << 20 };

/* Code that others may write is not run. */
static bool is_private(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 022) == 0;
}

const CodeCache *code_cache_open(Arena *a)
{
	const char *path = place_code_cache(a);
	Err ignored = { 0 };
	if (path == NULL || !make_folders(a, arena_printf(a, "%s/", path), &ignored) || !is_private(path))
		return NULL;
	CodeCache *c = arena_new_of(a, CodeCache);
	*c = (CodeCache){ path, CODE_CACHE_BYTES };
	return c;
}

/* As this user's, by the key of place_key; `make`: something will be stored, so it is made where there is none. */
static void own(Arena *a, Db *db, bool make)
{
	DbOwner owner;
	Err err = { 0 };
	const char *path = place_key(a);
	bool there = path != NULL ? (!make || make_folders(a, path, &err)) && db_owner_load(path, make, &owner, &err)
				  : fail(&err, ERR_DEVICE, "HOME", "is not set, so there is no place for this user's key");
	if (there)
		db_own(db, &owner);
	else if (make)
		fprintf(stderr, "dlc: later commands will treat the records of this one as another user's, since this user has no key: %s: %s\n", err.place, err.text);
}

Db *database_open(Arena *a, const char *path, DbMode mode, Err *err)
{
	Db *db = db_open(path, mode, err);
	if (db == NULL)
		return NULL;
	own(a, db, mode == DB_WRITE);
	if (db_note(db) != NULL)
		fprintf(stderr, "dlc: %s\n", db_note(db));
	return db;
}

bool databases_open(const Args *args, bool write, Databases *out, Err *err)
{
	*out = (Databases){ 0 };
	Arena *a = args_arena(args);
	size_t n;
	bool asked = args_given(args, "tuning-db"), named = asked || place_db_is_named();
	bool dry = args_has(args, "dry-run") && args_given(args, "dry-run"); /* for a run that makes it */
	Err why = { 0 };
	const char *const *path = place_databases(args, &n, &why);
	if (why.code != ERR_NONE && (asked || write)) {
		*err = why;
		return false;
	}
	if (write && n == 0)
		return fail(err, ERR_USAGE, "--tuning-db", "tuning needs a database to write to");
	if (write && !asked && !make_folders(a, path[0], err))
		return false;
	out->db = arena_array(a, Db *, n + 1);
	/* The one that is written comes last, so that none is made where another cannot be read. */
	for (size_t k = 0; k < n; k++) {
		size_t i = write ? (k + 1) % n : k;
		bool there = access(path[i], F_OK) == 0;
		if (!there && !write && (!named || dry))
			continue;
		if (!there && !write && !asked)
			return fail(err, ERR_INPUT, path[i], "there is no such file, and DLC_TUNING_DB names it");
		Db *db = database_open(a, path[i], write && i == 0 ? DB_WRITE : DB_READ, err);
		if (db == NULL) {
			databases_close(out);
			return false;
		}
		if (write && i == 0)
			memmove(out->db + 1, out->db, out->n * sizeof *out->db);
		out->db[write && i == 0 ? 0 : out->n] = db;
		out->n++;
		if (out->path == NULL || i == 0)
			out->path = path[i];
	}
	return true;
}

void databases_close(Databases *d)
{
	for (size_t i = 0; i < d->n; i++)
		db_close(d->db[i]);
	d->n = 0;
}

bool databases_open_for(const Args *args, bool write, Target *t, Databases *out, Err *err)
{
	if (!databases_open(args, write, out, err))
		return false;
	if (compile_core(t, (DbSet){ out->db, (int)out->n }, write, err))
		return true;
	databases_close(out);
	return false;
}
