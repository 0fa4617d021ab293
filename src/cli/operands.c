/* See operands.h. */
#include "cli/operands.h"

#include "base/file.h"
#include "run/array.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BIND_BYTES ((size_t)1 << 31)

/* Each once, in the order in which they come. */
typedef struct Names {
	const char **at;
	size_t n, cap;
} Names;

static void names_add(Names *names, Arena *a, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (strcmp(names->at[i], name) == 0)
			return;
	vec_push(a, names, name);
}

/* A network that is loaded twice has the same notes: repetitions in a row are left out. */
static void note(const char *sentence, void *arg)
{
	static char last[400];
	(void)arg;
	if (strncmp(last, sentence, sizeof last - 1) != 0)
		fprintf(stderr, "dlc: %s\n", sentence);
	snprintf(last, sizeof last, "%.*s", (int)sizeof last - 1, sentence);
}

static const char *command;

void session_set_command(const char *text)
{
	command = text;
}

DlcSession *session_open(Err *err)
{
	DlcSession *s;
	DlcSessionOptions o = { .note = note, .command = command };
	dlc_session_open_user(&o, &s, failure_of(err));
	return s;
}

DlcTarget target_of(const Args *args)
{
	return (DlcTarget){ .name = args_text(args, "target", "host"),
		.threads = (int)args_int(args, "threads", 1),
		.device = args_has(args, "device") ? (int)args_int(args, "device", 0) : 0 };
}

/*
 * Targets of the database's runs, such as "cuda:h200", of the kind. *form: the records' description of the last one
 * that is `named`, or of the last one if that is NULL.
 */
static bool add_recorded(const Args *args, DlcDatabase *d, const char *kind, const char *named, Names *out,
	const char **form, Err *err)
{
	DlcStats stats;
	if (dlc_database_stats(d, &stats, failure_of(err)) != DLC_FAULT_NONE)
		return false;
	for (int i = 0; i < stats.ntarget; i++) {
		const char *name = stats.target[i].name, *text = stats.target[i].text;
		if (strncmp(name, kind, strlen(kind)) != 0 || name[strlen(kind)] != ':')
			continue;
		name = arena_printf(args_arena(args), "%.*s", (int)strcspn(name, " "), name);
		names_add(out, args_arena(args), name);
		if (text != NULL && (named == NULL || strcmp(name, named) == 0))
			*form = arena_printf(args_arena(args), "%s", text);
	}
	return true;
}

/* Targets of the kind that have a file. */
static bool add_files(const Args *args, DlcSession *s, const char *kind, Names *out, Err *err)
{
	const DlcSessionInfo *v;
	if (dlc_session_info(s, &v, failure_of(err)) != DLC_FAULT_NONE)
		return false;
	for (int i = 0; i < v->ntarget; i++) {
		char text[DLC_TARGET_TEXT];
		const char *name = arena_printf(args_arena(args), "%s:%s", kind, v->target[i]);
		if (dlc_target_text(s, &(DlcTarget){ .name = name }, 0, text, NULL) == DLC_FAULT_NONE)
			names_add(out, args_arena(args), arena_printf(args_arena(args), "%.*s", (int)strcspn(text, " "), text));
	}
	return true;
}

static bool refuse_kind(const char *kind, const Names *names, const char *which, Arena *a, Err *err)
{
	Text list = { .arena = a };
	for (size_t i = 0; i < names->n; i++)
		text_add(&list, "%s%s", i > 0 ? ", " : "", names->at[i]);
	return fail(err, ERR_USAGE, kind,
		"there is no such device here, and the databases have %s: name a target, such as %s", which,
		names->n > 0 ? text_str(&list) : "a .json file");
}

/*
 * The target of the databases for the name "cuda:tesla-p100", or for "cuda" if there is only one of that kind. The
 * records describe a target without a file and a device here. False without an error: no target has the name.
 */
static bool settle_by_records(const Args *args, DlcSession *s, DlcTarget *t, Err *err)
{
	char text[DLC_TARGET_TEXT];
	Databases d;
	Names names = { 0 };
	Arena *a = args_arena(args);
	const char *form = NULL, *kind = arena_printf(a, "%.*s", (int)strcspn(t->name, ":"), t->name);
	bool named = strcmp(kind, t->name) != 0, ok = databases_open(args, s, false, &d, err);
	if (!ok)
		return false;
	for (int i = 0; i < d.n && ok; i++)
		ok = add_recorded(args, d.at[i], kind, named ? t->name : NULL, &names, &form, err);
	databases_close(&d);
	if (!ok || (named && form == NULL))
		return false;
	if (!named && names.n == 0)
		return add_files(args, s, kind, &names, err) && refuse_kind(kind, &names, "no target of this kind", a, err);
	if (!named && names.n > 1)
		return refuse_kind(kind, &names, "several targets of this kind", a, err);
	if (!named) {
		t->name = names.at[0];
		note(arena_printf(
				 a, "there is no %s device here: the target is %s, the only one of the databases", kind, t->name),
			NULL);
	}
	if (dlc_target_text(s, t, 0, text, NULL) != DLC_FAULT_NONE && form != NULL)
		t->name = form;
	return dlc_target_text(s, t, 0, text, failure_of(err)) == DLC_FAULT_NONE;
}

bool target_settle(const Args *args, DlcSession *s, DlcTarget *t, Err *err)
{
	char text[DLC_TARGET_TEXT];
	int count;
	Err why = { 0 };
	if (dlc_target_text(s, t, 0, text, failure_of(err)) == DLC_FAULT_NONE)
		return true;
	bool named = err->code == ERR_USAGE && strchr(t->name, ':') != NULL;
	bool none = err->code == ERR_DEVICE && t->device == 0 &&
		dlc_session_devices(s, t->name, &count, NULL) == DLC_FAULT_DEVICE;
	if (!named && !none)
		return false;
	if (settle_by_records(args, s, t, &why)) {
		*err = (Err){ 0 };
		return true;
	}
	if (why.code != ERR_NONE)
		*err = why;
	return false;
}

/* ---- the model ---- */

/* "1,3,224,224" */
static bool read_shape(const char *text, DlcShape *out)
{
	out->rank = 0;
	for (const char *p = text;;) {
		char number[24];
		int64_t v;
		size_t n = strcspn(p, ",");
		if (n == 0 || n >= sizeof number || out->rank == DLC_RANK)
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

static bool read_shapes(const Args *args, DlcLoadOptions *o, Err *err)
{
	size_t n;
	const char *const *given = args_all(args, "shape", &n);
	DlcShape *shape = arena_array(args_arena(args), DlcShape, n + 1);
	for (size_t i = 0; i < n; i++) {
		const char *value = args_pair(args, "shape", given[i], &shape[i].name, err);
		if (value == NULL)
			return false;
		if (!read_shape(value, &shape[i]))
			return fail(err, ERR_USAGE, "--shape", "\"%s\" is not a shape: give numbers only, as in %s=1,3,224,224",
				given[i], shape[i].name);
		for (size_t k = 0; k < i; k++)
			if (strcmp(shape[k].name, shape[i].name) == 0)
				return fail(err, ERR_USAGE, "--shape", "input '%s' is given twice", shape[i].name);
	}
	o->shape = shape;
	o->nshape = (int)n;
	return true;
}

/* A .npy file, or a TensorProto of ONNX test data; the name in it, if it has one. */
static bool tensor_load(Arena *a, const char *path, DlcTensor *out, const char **name, Err *err)
{
	Bytes file;
	Array array;
	DlcError why;
	if (!file_read(a, path, BIND_BYTES, &file, err))
		return false;
	bool numpy = file.n > 6 && memcmp(file.at, "\x93NUMPY", 6) == 0;
	DlcStatus s = numpy ? npy_parse(file.at, file.n, &array, &why) : tensor_pb_parse(file.at, file.n, &array, &why);
	if (s != DLC_OK)
		return fail(err, ERR_INPUT, path, "%s", why.text);
	void *data = arena_alloc(a, (size_t)array.bytes + 1);
	array_copy(&array, data);
	*out = (DlcTensor){ .data = data, .ndim = array.ndim, .dtype = array.dtype,
		.shape = arena_copy(a, array.shape, sizeof *array.shape * (size_t)array.ndim) };
	if (name != NULL)
		*name = array.name[0] != 0 ? arena_printf(a, "%s", array.name) : NULL;
	array_free(&array);
	return true;
}

static bool read_binds(const Args *args, DlcLoadOptions *o, Err *err)
{
	size_t n;
	Arena *a = args_arena(args);
	const char *const *given = args_all(args, "bind", &n);
	DlcBinding *bind = arena_array(a, DlcBinding, n + 1);
	for (size_t i = 0; i < n; i++) {
		const char *path = args_pair(args, "bind", given[i], &bind[i].name, err);
		if (path == NULL || !tensor_load(a, path, &bind[i].tensor, NULL, err))
			return false;
		for (size_t k = 0; k < i; k++)
			if (strcmp(bind[k].name, bind[i].name) == 0)
				return fail(err, ERR_USAGE, "--bind", "input '%s' is given twice", bind[i].name);
	}
	o->bind = bind;
	o->nbind = (int)n;
	return true;
}

static bool read_layouts(const Args *args, DlcLoadOptions *o, Err *err)
{
	size_t n;
	const char *const *given = args_all(args, "input-layout", &n);
	DlcInputLayout *layout = arena_array(args_arena(args), DlcInputLayout, n + 1);
	for (size_t i = 0; i < n; i++)
		if ((layout[i].layout = args_pair(args, "input-layout", given[i], &layout[i].name, err)) == NULL)
			return false;
	o->layout = layout;
	o->nlayout = (int)n;
	return true;
}

/* An input that must be known while compiling, from the first set of test data: the tensor of that name. */
static int offer_check(const char *input, DlcTensor *out, void *arg)
{
	const Args *args = arg;
	Arena *a = args_arena(args);
	for (int k = 0; k < 4096; k++) {
		const char *path = arena_printf(a, "%s/test_data_set_0/input_%d.pb", args_text(args, "check", ""), k),
				   *name = NULL;
		if (access(path, F_OK) != 0)
			return 0;
		if (tensor_load(a, path, out, &name, NULL) && name != NULL && strcmp(name, input) == 0)
			return 1;
	}
	return 0;
}

DlcNetwork *network_load(const Args *args, DlcSession *s, const char *model, Err *err)
{
	/* The option's words are in the order of DlcPrecision. */
	return network_load_in(args, s, model, (DlcPrecision)args_int(args, "precision", DLC_FP32), err);
}

DlcNetwork *network_load_in(const Args *args, DlcSession *s, const char *model, DlcPrecision p, Err *err)
{
	DlcNetwork *n = NULL;
	DlcLoadOptions o = { .batch = args_int(args, "batch", 0), .seq = args_int(args, "seq", 0), .precision = p };
	o.weights = args_has(args, "weights") ? args_text(args, "weights", NULL) : NULL;
	o.frontend = args_has(args, "frontend") ? args_text(args, "frontend", NULL) : NULL;
	o.signature = args_has(args, "signature") ? args_text(args, "signature", NULL) : NULL;
	o.tags = args_has(args, "tags") ? args_text(args, "tags", NULL) : NULL;
	o.without = args_has(args, "without") ? args_text(args, "without", NULL) : NULL;
	if (!read_shapes(args, &o, err) || !read_binds(args, &o, err) || !read_layouts(args, &o, err))
		return NULL;
	if (args_has(args, "check") && args_text(args, "check", "")[0] != 0) {
		o.offer = offer_check;
		o.offer_arg = (void *)(uintptr_t)args;
	}
	dlc_network_load(s, model, &o, &n, failure_of(err));
	return n;
}

const char *text_load(Arena *a, const char **name, Err *err)
{
	enum { TEXT_BYTES = 1 << 20 };
	Bytes file;
	bool in = strcmp(*name, "-") == 0;
	if (in)
		*name = "standard input";
	if (in ? !file_read_fd(a, STDIN_FILENO, *name, TEXT_BYTES, &file, err)
		   : !file_read(a, *name, TEXT_BYTES, &file, err))
		return NULL;
	if (strlen((const char *)file.at) != file.n) {
		fail(err, ERR_SYNTAX, *name, "holds a zero byte; it should be a text");
		return NULL;
	}
	return (const char *)file.at;
}

/* ---- databases ---- */

/* The values of --tuning-db, or the default one; *n == 0 for "none". *named: it was said that it must be there. */
static bool named_databases(const Args *args, DlcSession *s, const char *const **out, size_t *n, bool *named, Err *err)
{
	int must = 0;
	const char **one = arena_array(args_arena(args), const char *, 1);
	const char *const *given = args_all(args, "tuning-db", n);
	*named = *n > 0;
	*out = given;
	for (size_t i = 0; i < *n; i++)
		if (strcmp(given[i], "none") == 0) {
			bool alone = *n == 1;
			*n = 0;
			return alone || fail(err, ERR_USAGE, "--tuning-db=none", "excludes every other --tuning-db");
		}
	if (*n != 0)
		return true;
	one[0] = dlc_session_database(s, &must);
	*named = must != 0;
	*out = one;
	*n = one[0] != NULL;
	return true;
}

bool database_open(DlcSession *s, const char *path, DlcMode mode, DlcDatabase **out, Err *err)
{
	int named;
	if (path == NULL && dlc_session_database(s, &named) == NULL)
		return named ? fail(err, ERR_USAGE, "DLC_TUNING_DB", "is none: name a database")
			     : fail(err, ERR_USAGE, "",
				       "no tuning database is named: name one, or set DLC_TUNING_DB, XDG_DATA_HOME or HOME");
	return dlc_database_open(s, path, mode, out, failure_of(err)) == DLC_FAULT_NONE;
}

bool output_is_apart(const Args *args, DlcSession *s, const char *path, Err *err)
{
	size_t n;
	bool named, apart = !file_is_same(path, args_operand(args, 0));
	const char *const *db;
	named_databases(args, s, &db, &n, &named, NULL);
	for (size_t i = 0; i < n; i++)
		apart = apart && !file_is_same(path, db[i]);
	return apart ||
	       fail(err, ERR_USAGE, path, "is an input of this command, which would be overwritten; name another output");
}

/* The logs that came with dlc, last. What is wrong with them is told, and they are left out. */
static void open_shipped(DlcSession *s, Databases *out)
{
	const char *path = dlc_session_shipped(s);
	char text[sizeof(Err)];
	Err why = { 0 };
	if (path == NULL)
		return;
	if (database_open(s, path, DLC_READ, &out->at[out->n], &why)) {
		out->n++;
		return;
	}
	err_format(&why, text, sizeof text);
	text[strcspn(text, "\n")] = 0;
	note(text, NULL);
}

bool databases_open(const Args *args, DlcSession *s, bool write, Databases *out, Err *err)
{
	size_t n;
	bool asked = args_given(args, "tuning-db"), named;
	bool dry = args_has(args, "dry-run") && args_given(args, "dry-run"); /* for a run that makes it */
	const char *const *path;
	*out = (Databases){ 0 };
	if (!named_databases(args, s, &path, &n, &named, err))
		return false;
	if (write && n == 0 && !asked && !named) /* says why there is none */
		return database_open(s, NULL, DLC_WRITE, &(DlcDatabase *){ NULL }, err);
	if (write && n == 0)
		return fail(err, ERR_USAGE, "--tuning-db", "tuning needs a database to write to");
	out->at = arena_array(args_arena(args), DlcDatabase *, n + 2);
	/* The one that is written comes last, so that none is made where another cannot be read. */
	for (size_t k = 0; k < n; k++) {
		size_t i = write ? (k + 1) % n : k;
		bool writes = write && i == 0, there = access(path[i], F_OK) == 0;
		if (!there && !write && (!named || dry))
			continue;
		if (!there && !write && !asked)
			return fail(err, ERR_INPUT, path[i], "there is no such file, and DLC_TUNING_DB names it");
		DlcDatabase *db;
		const char *name = writes && !asked ? NULL : path[i]; /* the folder of the default one is made */
		if (!database_open(s, name, writes ? DLC_WRITE : DLC_READ, &db, err)) {
			databases_close(out);
			return false;
		}
		if (writes)
			memmove(out->at + 1, out->at, (size_t)out->n * sizeof *out->at);
		out->at[writes ? 0 : out->n] = db;
		out->n++;
		if (out->path == NULL || i == 0)
			out->path = path[i];
	}
	if (n > 0 || (!asked && !named))
		open_shipped(s, out);
	return true;
}

void databases_close(Databases *d)
{
	for (int i = 0; i < d->n; i++)
		dlc_database_close(d->at[i]);
	d->n = 0;
}
