/*
 * See hdf5_file.h: the parent's side. It asks the child (hdf5_serve.c), checks each answer against what the file can
 * hold, and turns a child that ends, is late or answers nonsense into one sentence, which stays.
 */
#include "frontend/hdf5_file.h"

#include "base/subprocess.h"
#include "base/text.h"
#include "frontend/hdf5_serve.h"

#include <assert.h>
#include <string.h>

struct Hdf5 {
	Arena *arena;
	const char *name;
	Bytes file;
	Subprocess child;
	uint32_t number; /* of the last request */
	Err failure;     /* nothing is asked after it */
};

/*
 * What libhdf5 may take. Debian's 1.10.8 takes 3 MB for a file of 100 KB, and its cache up to 32; a thread's heap
 * reserves 128 MiB. A gzipped file of 500 MB is unpacked in 3 s. The wait is long, for machines that are busy.
 */
enum { LEAST_MEMORY = 256 << 20, MEMORY_RATIO = 4, LEAST_CPU_S = 5, CPU_BYTES_PER_S = 16 << 20, LEAST_WAIT_S = 60 };

int64_t hdf5_data_bytes(DType type, Shape shape, size_t file)
{
	int64_t n = shape_elements(shape), bytes = n < 0 ? -1 : dtype_bytes(type, n);
	return bytes < 0 || (uint64_t)bytes / HDF5_MOST_RATIO > file ? -1 : bytes;
}

static void end_child(void *h)
{
	subprocess_end(&((Hdf5 *)h)->child, NULL);
}

/* Always false. */
static bool set_failure(Hdf5 *h, const char *what)
{
	return fail(&h->failure, ERR_INPUT, h->name,
		"libhdf5 %s: the file is probably damaged, so save the model again or fetch another copy", what);
}

static bool receive_answer(Hdf5 *h, Hdf5Answer *out)
{
	if (!subprocess_receive(&h->child, out, sizeof *out) || out->number != h->number || out->word >= HDF5_WORDS)
		return false;
	return out->word == HDF5_FOUND || (out->texts == 0 && out->bytes == 0);
}

static bool lose_child(Hdf5 *h, const char *read)
{
	char how[SUBPROCESS_HOW];
	subprocess_end(&h->child, how);
	return set_failure(h, arena_printf(h->arena, "%s while it read %s", how, read));
}

Hdf5 *hdf5_open(Arena *a, const char *name, Bytes file, Err *err)
{
	Hdf5Answer first = { .word = HDF5_WORDS };
	if (!hdf5_library_open(name, err))
		return NULL;
	Hdf5 *h = arena_new_of(a, Hdf5);
	*h = (Hdf5){ .arena = a, .name = name, .file = file };
	int64_t s = (int64_t)(file.n / CPU_BYTES_PER_S);
	SubprocessLimits limits = { LEAST_MEMORY + MEMORY_RATIO * (int64_t)file.n, (int)(LEAST_CPU_S + s),
		(int)(LEAST_WAIT_S + s) };
	arena_at_end(a, end_child, h);
	if (!subprocess_start(&h->child, &limits, hdf5_serve, &h->file, err)) {
		err_at(err, name);
		return NULL;
	}
	if (receive_answer(h, &first) && first.word == HDF5_FOUND)
		return h;
	if (first.word == HDF5_DAMAGED)
		fail(err, ERR_INPUT, name, "is not an HDF5 file that can be read: it is damaged or cut off");
	else
		lose_child(h, "its beginning");
	hdf5_close(h, err);
	return NULL;
}

bool hdf5_close(Hdf5 *h, Err *err)
{
	if (h == NULL)
		return true;
	end_child(h);
	if (h->failure.code != ERR_NONE && err != NULL)
		*err = h->failure;
	return h->failure.code == ERR_NONE;
}

int hdf5_child(const Hdf5 *h)
{
	return h->child.pid;
}

/* In words for a sentence. */
static const char *name_of(Hdf5 *h, const char *path, const char *attribute)
{
	path = path[0] != 0 ? path : "/";
	return attribute == NULL ? arena_printf(h->arena, "'%.200s'", path)
	                         : arena_printf(h->arena, "the attribute '%.100s' of '%.200s'", attribute, path);
}

/* False: there is no answer, and h->failure says why. What is longer than a request is not there. */
static bool ask(Hdf5 *h, Hdf5Ask what, const char *path, const char *attribute, Hdf5Answer *out)
{
	Hdf5Request r = { .ask = what };
	const char *name = attribute == NULL ? "" : attribute;
	*out = (Hdf5Answer){ .word = HDF5_ABSENT };
	if (h->failure.code != ERR_NONE)
		return false;
	if (strlen(path) >= sizeof r.path || strlen(name) >= sizeof r.attribute)
		return true;
	assert(h->child.pid != 0); /* not after hdf5_close */
	memcpy(r.path, path, strlen(path));
	memcpy(r.attribute, name, strlen(name));
	r.number = ++h->number;
	if (!subprocess_send(&h->child, &r, sizeof r) || !receive_answer(h, out))
		return lose_child(h, name_of(h, path, attribute));
	if (out->word == HDF5_DAMAGED && what != HDF5_READ)
		return set_failure(h, arena_printf(h->arena, "cannot read %s", name_of(h, path, attribute)));
	return true;
}

bool hdf5_has(Hdf5 *h, const char *path)
{
	Hdf5Answer got;
	return ask(h, HDF5_HAS, path, NULL, &got) && got.word == HDF5_FOUND;
}

/* All of them come from the file, which has each once. */
static const char *const *receive_texts(Hdf5 *h, const Hdf5Answer *got)
{
	if (got->texts > HDF5_MOST_NAMES || got->bytes > HDF5_MOST_TEXT || got->bytes > h->file.n + got->texts)
		return NULL;
	const char **out = arena_array(h->arena, const char *, got->texts + 1);
	char *text = arena_alloc(h->arena, got->bytes + 1), *end = text + got->bytes;
	if (!subprocess_receive(&h->child, text, got->bytes))
		return NULL;
	for (uint64_t k = 0; k < got->texts; k++) {
		if (text == end)
			return NULL;
		out[k] = text;
		text += strlen(text) + 1; /* at most one behind the end, where a 0 is */
		if (text > end)
			return NULL;
	}
	return text == end ? out : NULL;
}

static const char *const *ask_texts(Hdf5 *h, Hdf5Ask what, const char *path, const char *attribute, int *n)
{
	Hdf5Answer got;
	*n = -1;
	if (!ask(h, what, path, attribute, &got) || got.word != HDF5_FOUND)
		return NULL;
	const char *const *out = receive_texts(h, &got);
	if (out == NULL)
		lose_child(h, name_of(h, path, attribute));
	else
		*n = (int)got.texts;
	return out;
}

const char *const *hdf5_names(Hdf5 *h, const char *group, int *n)
{
	return ask_texts(h, HDF5_NAMES, group, NULL, n);
}

const char *const *hdf5_texts(Hdf5 *h, const char *path, const char *attribute, int *n)
{
	return ask_texts(h, HDF5_TEXTS, path, attribute, n);
}

const char *hdf5_text(Hdf5 *h, const char *path, const char *attribute)
{
	int n;
	const char *const *all = hdf5_texts(h, path, attribute, &n);
	return n == 1 ? all[0] : NULL;
}

static bool refuse_set(Hdf5 *h, const Hdf5Answer *got, const char *path, Err *err)
{
	switch ((Hdf5Word)got->word) {
	case HDF5_GROUP:
		return fail(err, ERR_INPUT, h->name, "'%.200s' is a group, not a data set", path);
	case HDF5_ELSEWHERE:
		return fail(err, ERR_INPUT, h->name, "the data set '%.200s' has its data in another file", path);
	case HDF5_NOT_NUMBERS:
		return fail(err, ERR_UNSUPPORTED, h->name, "the data set '%.200s' does not have numbers that dlc knows", path);
	case HDF5_RANK:
		return fail(err, ERR_UNSUPPORTED, h->name, "the data set '%.200s' has %d dimensions; dlc takes at most %d",
			path, got->shape.rank, DAG_MAX_RANK);
	case HDF5_LARGE:
		return fail(err, ERR_INPUT, h->name, "the data set '%.200s' has a shape too large for a file of %zu bytes",
			path, h->file.n);
	case HDF5_DAMAGED:
		return fail(err, ERR_INPUT, h->name,
			"the data set '%.200s' cannot be read: it is damaged, or packed by a filter that libhdf5 does not have",
			path);
	default:
		return fail(err, ERR_INPUT, h->name, "has no data set '%.200s' of its own", path);
	}
}

static bool is_type_of_numbers(DType t)
{
	bool number = dtype_is_int(t) || t.kind == DT_FLOAT || t.kind == DT_BOOL;
	return dtype_known(t) && number && t.lanes == 1 && t.bits >= 8;
}

/* Bytes of the data set that an answer announces; -1: it is none of this file's. */
static int64_t announced_bytes(const Hdf5 *h, const Hdf5Answer *got)
{
	if (!is_type_of_numbers(got->type) || got->shape.rank < 0 || got->shape.rank > DAG_MAX_RANK)
		return -1;
	for (int k = 0; k < got->shape.rank; k++)
		if (got->shape.dim[k] < 0)
			return -1;
	int64_t bytes = hdf5_data_bytes(got->type, got->shape, h->file.n);
	return got->bytes == (uint64_t)bytes ? bytes : -1;
}

bool hdf5_read(Hdf5 *h, const char *path, Hdf5Data *out, Err *err)
{
	Hdf5Answer got;
	bool answered = ask(h, HDF5_READ, path, NULL, &got);
	if (answered && got.word != HDF5_FOUND)
		return refuse_set(h, &got, path, err);
	int64_t bytes = answered ? announced_bytes(h, &got) : -1;
	if (bytes >= 0) {
		*out = (Hdf5Data){ got.type, { .rank = got.shape.rank }, NULL };
		memcpy(out->shape.dim, got.shape.dim, sizeof *got.shape.dim * (size_t)got.shape.rank);
		void *to = arena_alloc_aligned(h->arena, (size_t)bytes + 1, 64);
		out->data = to;
		if (subprocess_receive(&h->child, to, (size_t)bytes))
			return true;
	}
	if (answered)
		lose_child(h, name_of(h, path, NULL));
	return fail(err, h->failure.code, h->failure.place, "%s", h->failure.text);
}
