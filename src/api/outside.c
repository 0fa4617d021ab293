/*
 * Front ends of other programs: a shared object is opened, its row checked, and what it builds goes the way of a
 * program's own network. See outside.h.
 */
#include "api/outside.h"

#include "api/network_builder.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>

enum { SEED = 2018 };

typedef struct Outside {
	DlcSession *session;
	const char *path; /* of the shared object */
	const DlcFrontend *row;
} Outside;

static void close_object(void *handle)
{
	dlclose(handle);
}

static bool recognise(Bytes file, void *arg)
{
	const Outside *o = arg;
	return o->row->recognise(file.at, file.n) != 0;
}

static Dag *load(Arena *a, const char *path, Bytes file, const ModelArgs *args, void *arg, Err *err)
{
	const Outside *o = arg;
	const char *slash = strrchr(path, '/');
	const DlcModelFile model = { path, file.at, file.n, args->weights, args->signature, args->tags };
	DlcBuilder *b = builder_new(o->session, a, slash != NULL ? slash + 1 : path, SEED, args);
	b->name = path;
	if (o->row->load(b, &model) != 0)
		fail(b->net->err, ERR_INPUT, NULL, "front end %.60s refuses it without saying why", o->row->name);
	Dag *d = builder_take(b, err);
	/* A wrong call of the builder is a mistake of the file or its front end, not of the command line. */
	if (d == NULL && err->code == ERR_USAGE && strcmp(err->place, path) == 0)
		err->code = ERR_INPUT;
	return d;
}

/* The loader's words, without the path that they begin with. */
static const char *loader_says(const char *path)
{
	const char *says = dlerror();
	size_t n = strlen(path);
	if (says == NULL)
		return "the loader does not say why";
	return strncmp(says, path, n) == 0 && strncmp(says + n, ": ", 2) == 0 ? says + n + 2 : says;
}

static bool check_row(const Outside *o, Err *err)
{
	const DlcFrontend *row = o->row;
	if (row == NULL)
		return fail(err, ERR_INPUT, o->path, "has no symbol dlc_frontend, by which dlc knows a front end");
	if (row->abi != DLC_FRONTEND_ABI)
		return fail(err, ERR_INPUT, o->path,
			"is a front end of ABI %d, but dlc %s takes ABI %d: build it with the headers of this dlc", row->abi,
			DLC_VERSION, DLC_FRONTEND_ABI);
	return (row->name != NULL && row->name[0] != 0 && row->recognise != NULL && row->load != NULL) ||
		fail(err, ERR_INPUT, o->path, "is a front end without a name or without its two functions");
}

bool outside_open(DlcSession *s, Arena *a, const char *path, OutsideFormat *out, Err *err)
{
	struct stat st;
	Outside *o = arena_new_of(a, Outside);
	/* A name without a folder would be looked for where libraries are. */
	const char *file = strchr(path, '/') != NULL ? path : arena_printf(a, "./%s", path);
	*o = (Outside){ .session = s, .path = arena_printf(a, "%s", path) };
	if (stat(file, &st) != 0 || !S_ISREG(st.st_mode))
		return fail(err, ERR_USAGE, "frontend", "there is no file %.300s", path);
	void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (handle == NULL)
		return fail(err, ERR_INPUT, path, "is no shared object that can be opened: %.300s", loader_says(file));
	arena_at_end(a, close_object, handle);
	o->row = dlsym(handle, "dlc_frontend");
	*out = (OutsideFormat){ recognise, load, o };
	return check_row(o, err);
}
