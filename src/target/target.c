/*
 * Names and identities of targets: what a user typed becomes a Target, a Target becomes the short
 * text people read and the canonical record the database keys on.  target/cpu_model.c knows CPUs,
 * target/target_file.c the file form.
 */
#include "target/target.h"

#include "base/file.h"
#include "target/detect.h"
#include "target/machine_device.h"
#include "target/occupancy.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_LIMIT = 64 << 10, NAME_LIMIT = 64, PATH_LIMIT = 4096 };

static const struct {
	const char *text;
	int32_t device;
	const char *meaning;
} kinds[TARGET_KINDS] = {
#define KIND(name, text, device, meaning) [TARGET_##name] = { text, device, meaning },
#include "target/kind.def"
#undef KIND
};

const char *target_kind_name(TargetKind k)
{
	return kinds[k].text;
}

const char *target_kind_meaning(TargetKind k)
{
	return kinds[k].meaning;
}

bool target_kind_of(const char *name, TargetKind *out)
{
	size_t n = strcspn(name, ":");
	for (int k = 0; k < TARGET_KINDS; k++)
		if (strlen(kinds[k].text) == n && memcmp(kinds[k].text, name, n) == 0) {
			*out = (TargetKind)k;
			return true;
		}
	return false;
}

bool target_kind_arch(TargetKind k, Arch *out)
{
	for (int i = 0; i < ARCH_COUNT && k != TARGET_CPU; i++)
		if (arch_kind((Arch)i) == k) {
			*out = (Arch)i;
			return true;
		}
	return false;
}

const char *target_text(const Target *t, char out[TARGET_TEXT])
{
	snprintf(out, TARGET_TEXT, "%s:%s t%d", kinds[t->kind].text, t->model, t->threads);
	return out;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

char *target_record(Arena *a, const Target *t)
{
	const char *names[FEATURE_COUNT];
	size_t n = 0;
	for (int f = 0; f < FEATURE_COUNT; f++)
		if (target_has(t, (Feature)f))
			names[n++] = feature_name((Feature)f);
	qsort(names, n, sizeof *names, by_text);
	Json *record = json_new(a, JV_OBJECT);
	Json *list = json_set(a, record, "features", json_new(a, JV_ARRAY));
	for (size_t i = 0; i < n; i++)
		json_push(a, list, json_new_text(a, names[i]));
	json_set(a, record, "kind", json_new_text(a, "target"));
	json_set(a, record, "model", json_new_text(a, t->model));
	json_set(a, record, "threads", json_new_int(a, t->threads));
	json_set(a, record, "type", json_new_text(a, kinds[t->kind].text));
	Text out = { .arena = a };
	json_write_canonical(&out, record, NULL);
	return out.at;
}

Hash target_id(const Target *t)
{
	Arena *a = arena_new();
	char *line = target_record(a, t);
	Hash id = hash_of("dlc/target/v1", line, strlen(line));
	arena_free(a);
	return id;
}

int64_t target_cache(const Target *t, int level)
{
	return level >= 1 && level <= TARGET_CACHES ? t->cache[level - 1].bytes : 0;
}

bool target_runs_on(const Target *t, const Target *machine, Err *err)
{
	char text[TARGET_TEXT];
	target_text(t, text);
	if (t->kind != machine->kind || t->arch != machine->arch)
		return fail(err, ERR_MISSING, text, "the target is %s (%s), this machine is %s (%s)", arch_name(t->arch),
			kinds[t->kind].text, arch_name(machine->arch), kinds[machine->kind].text);
	uint64_t lacking = t->features & ~machine->features;
	if (lacking != 0) {
		Arena *a = arena_new();
		fail(err, ERR_MISSING, text, "the target needs features that this machine (%s) lacks: %s", machine->model,
			target_feature_list(a, lacking));
		arena_free(a);
		return false;
	}
	const Blocks *need = &t->blocks, *have = &machine->blocks;
	if (need->block_threads > have->block_threads)
		return fail(err, ERR_MISSING, text, "the target has blocks of %d threads, but %s takes at most %d",
			need->block_threads, machine->model, have->block_threads);
	if (target_block_shared(t) > target_block_shared(machine))
		return fail(err, ERR_MISSING, text, "the target's blocks have %lld bytes of shared memory, those of %s %lld",
			(long long)target_block_shared(t), machine->model, (long long)target_block_shared(machine));
	return true;
}

/* ---- names */

const char *const *target_list(Arena *a, const char *const *dirs, size_t ndirs, size_t *n)
{
	VEC(const char *) list = { 0 };
	for (size_t i = 0; i < ndirs; i++) {
		DIR *d = opendir(dirs[i]);
		for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
			size_t len = strlen(e->d_name);
			if (len > 5 && len < NAME_LIMIT && strcmp(e->d_name + len - 5, ".json") == 0)
				vec_push(a, &list, arena_printf(a, "%.*s", (int)len - 5, e->d_name));
		}
		if (d != NULL)
			closedir(d);
	}
	if (list.n > 1)
		qsort(list.at, list.n, sizeof *list.at, by_text);
	size_t kept = 0;
	for (size_t i = 0; i < list.n; i++)
		if (kept == 0 || strcmp(list.at[i], list.at[kept - 1]) != 0)
			list.at[kept++] = list.at[i];
	*n = kept;
	return list.at;
}

static bool resolve_file(Target *t, const char *path, int threads, Err *err)
{
	Arena *a = arena_new();
	Bytes b;
	bool ok = file_read(a, path, FILE_LIMIT, &b, err) && target_parse(t, path, (const char *)b.at, b.n, threads, err);
	arena_free(a);
	return ok;
}

/* DIR/NAME.json of the first folder that has it; false without an error if none has. */
static bool find_file(char *path, size_t size, const char *name, const char *const *dirs, size_t ndirs)
{
	if (strlen(name) >= NAME_LIMIT || name[0] == 0 || name[0] == '.' || strchr(name, '/') != NULL)
		return false;
	for (size_t i = 0; i < ndirs; i++) {
		int n = snprintf(path, size, "%s/%s.json", dirs[i], name);
		if (n > 0 && (size_t)n < size && access(path, F_OK) == 0)
			return true;
	}
	return false;
}

/* target_list without the files that describe no target of the kind. */
static const char *const *list_of_kind(Arena *a, TargetKind kind, const char *const *dirs, size_t ndirs, size_t *n)
{
	char path[PATH_LIMIT];
	const char *const *file = target_list(a, dirs, ndirs, n);
	VEC(const char *) list = { 0 };
	for (size_t i = 0; i < *n; i++) {
		Target t;
		Err e = { 0 };
		if (find_file(path, sizeof path, file[i], dirs, ndirs) && resolve_file(&t, path, 1, &e) && t.kind == kind)
			vec_push(a, &list, file[i]);
	}
	*n = list.n;
	return list.at;
}

/*
 * The sentence for a name that is none: what there is, and what may have been meant. kind: what the name begins
 * with, or NULL. tail: what follows the kind.
 */
static bool refuse_name(const char *name, const TargetKind *kind, const char *tail, const char *const *dirs,
	size_t ndirs, Err *err)
{
	Arena *a = arena_new();
	Arch arch;
	size_t n;
	const char *const *files =
		kind != NULL ? list_of_kind(a, *kind, dirs, ndirs, &n) : target_list(a, dirs, ndirs, &n);
	VEC(const char *) all = { 0 };
	if (kind == NULL || *kind == TARGET_CPU)
		vec_push(a, &all, "host");
	for (int k = 0; k < TARGET_KINDS && kind == NULL; k++)
		if (k == TARGET_CPU || target_kind_arch((TargetKind)k, &arch))
			vec_push(a, &all, kinds[k].text);
	for (size_t i = 0; i < n; i++) {
		TargetKind same; /* a kind's name is that before it is a file's */
		if (strcmp(files[i], "host") != 0 && (kind != NULL || !target_kind_of(files[i], &same)))
			vec_push(a, &all, files[i]);
	}
	Text list = { .arena = a };
	for (size_t i = 0; i < all.n; i++)
		text_add(&list, "%s%s", i > 0 ? ", " : "", all.at[i]);
	const char *near = text_nearest(tail, all.at, all.n), *of = kind != NULL ? kinds[*kind].text : "";
	if (all.n == 0)
		fail(err, ERR_USAGE, name, "there is no %s target: name a .json file that describes one", of);
	else if (kind != NULL && strchr(name, ':') == NULL)
		fail(err, ERR_USAGE, name, "there are several %s targets: name one of %s; or name a .json file", of,
			text_str(&list));
	else
		fail(err, ERR_USAGE, name, "there is no such %s%starget%s%s%s; there are: %s; or name a .json file", of,
			kind != NULL ? " " : "", near != NULL ? " (did you mean " : "", near != NULL ? near : "",
			near != NULL ? "?)" : "", text_str(&list));
	arena_free(a);
	return false;
}

/* The first of the files whose model is `model`, else NULL. */
static const char *file_of_model(
	const char *model, const char *const *file, size_t n, const char *const *dirs, size_t ndirs)
{
	char path[PATH_LIMIT];
	for (size_t i = 0; i < n; i++) {
		Target t;
		Err e = { 0 };
		if (find_file(path, sizeof path, file[i], dirs, ndirs) && resolve_file(&t, path, 1, &e) &&
			strcmp(t.model, model) == 0)
			return file[i];
	}
	return NULL;
}

/* ---- devices */

int target_devices(TargetKind kind, Err *err)
{
	DlcError why = { 0 };
	const Device *row = device_find(kinds[kind].device);
	if (row == NULL || row->describe == NULL) {
		fail(err, ERR_DEVICE, kinds[kind].text, "this program opens no devices of this kind");
		return 0;
	}
	int n = row->count(&why);
	if (n == 0)
		fail(err, ERR_DEVICE, kinds[kind].text, "%s", why.text);
	return n;
}

/*
 * The file of the device's model; of several, the one with the longest name. False: none. If the name fits and the
 * number of units does not, other_model gets a model made of both.
 */
static bool find_model(Target *out, char other_model[sizeof out->model], TargetKind kind, const DeviceFacts *f,
	const char *const *dirs, size_t ndirs)
{
	size_t n, longest = 0, other = 0;
	Arena *a = arena_new();
	const char *const *file = list_of_kind(a, kind, dirs, ndirs, &n);
	for (size_t i = 0; i < n; i++) {
		char path[PATH_LIMIT];
		Target t;
		if (!find_file(path, sizeof path, file[i], dirs, ndirs) || !resolve_file(&t, path, 1, NULL) ||
			!device_is_model(f, t.model))
			continue;
		size_t length = strlen(t.model);
		int units = device_units(f);
		if ((f->is_cpu || units == 0 || units == t.cores) && length > longest) {
			longest = length;
			*out = t;
		} else if (length > other) {
			other = length;
			snprintf(other_model, sizeof out->model, "%.24s-%d", t.model, units);
		}
	}
	arena_free(a);
	return longest > 0;
}

bool target_device(Target *t, TargetKind kind, int id, const char *const *dirs, size_t ndirs, Err *err)
{
	DlcError why = { 0 };
	DeviceFacts facts;
	Target model;
	char other[sizeof t->model] = "";
	const Device *row = device_find(kinds[kind].device);
	if (target_devices(kind, err) == 0)
		return false;
	if (row->describe(id, &facts, &why) != DLC_OK)
		return fail(err, ERR_DEVICE, kinds[kind].text, "%s", why.text);
	bool known = find_model(&model, other, kind, &facts, dirs, ndirs);
	if (!target_from_device(t, kind, &facts, known ? &model : NULL))
		return fail(err, ERR_DEVICE, kinds[kind].text, "device %d, %s, has no features that dlc makes code for: %s", id,
			facts.name, facts.features);
	if (!known && other[0] != 0)
		snprintf(t->model, sizeof t->model, "%s", other);
	return true;
}

bool target_times_hold(const Target *t, const Target *machine, Err *err)
{
	Arch arch;
	uint64_t level;
	char text[TARGET_TEXT];
	bool same = strcmp(t->model, machine->model) == 0;
	bool of_class = (level_find(t->model, &arch, &level) && arch == t->arch) ||
	                (unit_class(machine->model, t->arch) != NULL &&
						strcmp(t->model, unit_class(machine->model, t->arch)) == 0);
	return same || of_class ||
	       fail(err, ERR_MISSING, target_text(t, text),
			   "records of this target are times of its model, and this device, %s, is %s: name the kind %s alone",
			   machine->brand, machine->model, kinds[t->kind].text);
}

/* The first device of this machine that has the model. */
static bool device_of_model(
	Target *t, TargetKind kind, const char *model, const char *const *dirs, size_t ndirs)
{
	int n = target_devices(kind, NULL);
	for (int id = 0; id < n; id++)
		if (target_device(t, kind, id, dirs, ndirs, NULL) && strcmp(t->model, model) == 0)
			return true;
	return false;
}

/* A device that is known by its level alone: "cuda:sm_86". */
static bool level_target(Target *t, TargetKind kind, const char *level)
{
	*t = (Target){ .kind = kind };
	if (!level_find(level, &t->arch, &t->features) || arch_kind(t->arch) != kind)
		return false;
	snprintf(t->model, sizeof t->model, "%s", level);
	target_derive(t);
	return true;
}

bool target_resolve(Target *t, const char *name, int threads, const char *const *dirs, size_t ndirs, Err *err)
{
	char path[PATH_LIMIT];
	TargetKind found = TARGET_CPU, *kind = NULL;
	size_t head = strcspn(name, ":"), n = strlen(name);
	if (target_kind_of(name, &found))
		kind = &found;
	if (threads < 1 || threads > TEAM_MAX)
		return fail(err, ERR_USAGE, name, "a target has 1 to %d threads, not %d", TEAM_MAX, threads);
	const char *tail = kind != NULL ? name + head + (name[head] == ':') : name;
	bool alone = kind != NULL && name[head] == 0;
	if (found == TARGET_CPU && (alone || strcmp(tail, "host") == 0)) {
		target_host(t, threads);
		return true;
	}
	const Device *row = alone ? device_find(kinds[found].device) : NULL;
	if (row != NULL && row->describe != NULL)
		return target_device(t, found, 0, dirs, ndirs, err);
	if (name[0] == '{')
		return target_parse(t, "target", name, n, threads, err);
	if (kind == NULL && (strchr(name, '/') != NULL || (n > 5 && strcmp(name + n - 5, ".json") == 0)))
		return resolve_file(t, name, threads, err);
	Arena *a = arena_new();
	const char *file = tail;
	if (kind != NULL && (alone || !find_file(path, sizeof path, tail, dirs, ndirs))) {
		const char *const *same = list_of_kind(a, found, dirs, ndirs, &n);
		file = !alone ? file_of_model(tail, same, n, dirs, ndirs) : n == 1 ? same[0] : NULL;
	}
	if (file == NULL && found != TARGET_CPU && !alone &&
		(level_target(t, found, tail) || device_of_model(t, found, tail, dirs, ndirs))) {
		arena_free(a);
		return true;
	}
	bool there = file != NULL && find_file(path, sizeof path, file, dirs, ndirs);
	arena_free(a);
	if (there && !resolve_file(t, path, threads, err))
		return false;
	return (there && (kind == NULL || t->kind == found)) || refuse_name(name, kind, tail, dirs, ndirs, err);
}
