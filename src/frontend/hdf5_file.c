/*
 * See hdf5_file.h: the parent's side. It asks the child (hdf5_serve.c), checks each answer against what the file can
 * hold, and turns a child that ends, is late or answers nonsense into one sentence, which stays.
 */
#include "frontend/hdf5_file.h"

#include "base/subprocess.h"
#include "base/text.h"
#include "frontend/hdf5_serve.h"
#include "op/names.h"

#include <assert.h>
#include <string.h>

/* An answer with what follows it, checked. */
typedef struct Received {
	Hdf5Answer got;
	const char *const *text; /* got.texts */
	const void *data;
} Received;

/* Answers to one request of many paths; those from `at` on are still to come. */
typedef struct Batch {
	Hdf5Ask ask;
	const char *attribute;
	const char *const *path;
	Names *number; /* of a path */
	Received *out;
	size_t n, at;
} Batch;

struct Hdf5 {
	Arena *arena;
	const char *name;
	Bytes file;
	Subprocess child;
	uint32_t number;    /* of the last request */
	Err failure;        /* nothing is asked after it */
	VEC(Batch *) batch; /* only the last one has answers to come */
};

/*
 * What libhdf5 may take. Debian's 1.10.8 takes 3 MB for a file of 100 KB, and its cache up to 32; a thread's heap
 * reserves 128 MiB. A gzipped file of 500 MB is unpacked in 3 s. The wait is long, for machines that are busy.
 */
enum { LEAST_MEMORY = 256 << 20, MEMORY_RATIO = 4, LEAST_CPU_S = 5, CPU_BYTES_PER_S = 16 << 20, LEAST_WAIT_S = 60 };

int64_t hdf5_data_bytes(DType type, Shape shape, size_t file)
{
	int64_t n = shape_elements(shape), bytes = n < 0 ? -1 : dtype_bytes(type, n);
	return bytes < 0 || !shape_is_bounded(shape) || (uint64_t)bytes / HDF5_MOST_RATIO > file ? -1 : bytes;
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

/* One answer and what follows it. False: there is none, and h->failure says why. */
static bool receive(Hdf5 *h, Hdf5Ask what, const char *path, const char *attribute, Received *out)
{
	Hdf5Answer *got = &out->got;
	bool ok = receive_answer(h, got);
	if (ok && got->word == HDF5_DAMAGED && what != HDF5_READ)
		return set_failure(h, arena_printf(h->arena, "cannot read %s", name_of(h, path, attribute)));
	if (ok && got->word == HDF5_FOUND && (what == HDF5_NAMES || what == HDF5_TEXTS)) {
		out->text = receive_texts(h, got);
		ok = out->text != NULL;
	} else if (ok && got->word == HDF5_FOUND && what == HDF5_READ) {
		int64_t bytes = announced_bytes(h, got);
		void *to = bytes >= 0 ? arena_alloc_aligned(h->arena, (size_t)bytes + 1, 64) : NULL;
		out->data = to;
		ok = bytes >= 0 && subprocess_receive(&h->child, to, (size_t)bytes);
	}
	return ok || lose_child(h, name_of(h, path, attribute));
}

static bool receive_until(Hdf5 *h, Batch *b, size_t end)
{
	for (; b->at < end; b->at++)
		if (!receive(h, b->ask, b->path[b->at], b->attribute, &b->out[b->at]))
			return false;
	return true;
}

/* What came of a request of many, or is to come; NULL: none asked for it. */
static const Received *expected(Hdf5 *h, Hdf5Ask what, const char *path, const char *attribute)
{
	for (size_t k = h->batch.n; k-- > 0;) {
		Batch *b = h->batch.at[k];
		bool same = b->ask == what && (b->attribute == NULL || strcmp(b->attribute, attribute) == 0);
		int at = same ? names_find(b->number, path) : -1;
		if (at >= 0)
			return receive_until(h, b, (size_t)at + 1) ? &b->out[at] : NULL;
	}
	return NULL;
}

static bool finish_batch(Hdf5 *h)
{
	Batch *last = h->batch.n > 0 ? h->batch.at[h->batch.n - 1] : NULL;
	return last == NULL || receive_until(h, last, last->n);
}

static bool fits(const char *path, const char *attribute)
{
	return strlen(path) < HDF5_MOST_PATH && (attribute == NULL || strlen(attribute) < HDF5_MOST_NAME);
}

static bool send_request(Hdf5 *h, Hdf5Ask what, const char *path, const char *attribute, const char *more, size_t bytes)
{
	Hdf5Request r = { .ask = what, .bytes = bytes, .number = ++h->number };
	assert(h->child.pid != 0); /* not after hdf5_close */
	memcpy(r.path, path, strlen(path));
	memcpy(r.attribute, attribute != NULL ? attribute : "", attribute != NULL ? strlen(attribute) : 0);
	return subprocess_send(&h->child, &r, sizeof r) && subprocess_send(&h->child, more, bytes);
}

/* False: there is no answer, and h->failure says why. What is longer than a request is not there. */
static bool ask(Hdf5 *h, Hdf5Ask what, const char *path, const char *attribute, Received *out)
{
	*out = (Received){ .got = { .word = HDF5_ABSENT } };
	const Received *have = h->failure.code != ERR_NONE ? NULL : expected(h, what, path, attribute);
	if (have != NULL)
		*out = *have;
	if (h->failure.code != ERR_NONE || have != NULL)
		return have != NULL;
	if (!fits(path, attribute))
		return true;
	if (!finish_batch(h))
		return false;
	if (!send_request(h, what, path, attribute, NULL, 0))
		return lose_child(h, name_of(h, path, attribute));
	return receive(h, what, path, attribute, out);
}

/* Paths that were asked for already, or that are too long, are left out. */
static void expect(Hdf5 *h, Hdf5Ask what, const char *const *path, size_t n, const char *attribute)
{
	Names *number = names_new(h->arena);
	VEC(const char *) some = { 0 };
	VEC(char) more = { 0 };
	for (size_t k = 0; k < n; k++) {
		if (!fits(path[k], attribute) || names_find(number, path[k]) >= 0)
			continue;
		names_bind(number, path[k], (int)some.n);
		for (const char *c = path[k]; some.n > 0; c++) {
			vec_push(h->arena, &more, *c);
			if (*c == 0)
				break;
		}
		vec_push(h->arena, &some, path[k]);
	}
	if (some.n == 0 || h->failure.code != ERR_NONE || !finish_batch(h))
		return;
	Batch *b = arena_new_of(h->arena, Batch);
	*b = (Batch){ what, attribute, some.at, number, arena_array(h->arena, Received, some.n), some.n, 0 };
	if (send_request(h, what, some.at[0], attribute, more.at, more.n))
		vec_push(h->arena, &h->batch, b);
	else
		lose_child(h, name_of(h, some.at[0], attribute));
}

void hdf5_expect_names(Hdf5 *h, const char *const *group, size_t n)
{
	expect(h, HDF5_NAMES, group, n, NULL);
}

void hdf5_expect_texts(Hdf5 *h, const char *const *path, size_t n, const char *attribute)
{
	expect(h, HDF5_TEXTS, path, n, attribute);
}

void hdf5_expect_data(Hdf5 *h, const char *const *path, size_t n)
{
	expect(h, HDF5_READ, path, n, NULL);
}

bool hdf5_has(Hdf5 *h, const char *path)
{
	Received r;
	return ask(h, HDF5_HAS, path, NULL, &r) && r.got.word == HDF5_FOUND;
}

static const char *const *ask_texts(Hdf5 *h, Hdf5Ask what, const char *path, const char *attribute, int *n)
{
	Received r;
	bool there = ask(h, what, path, attribute, &r) && r.got.word == HDF5_FOUND;
	*n = there ? (int)r.got.texts : -1;
	return there ? r.text : NULL;
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
	case HDF5_GROUP: return fail(err, ERR_INPUT, h->name, "'%.200s' is a group, not a data set", path);
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
	default: return fail(err, ERR_INPUT, h->name, "has no data set '%.200s' of its own", path);
	}
}

bool hdf5_read(Hdf5 *h, const char *path, Hdf5Data *out, Err *err)
{
	Received r;
	if (!ask(h, HDF5_READ, path, NULL, &r))
		return fail(err, h->failure.code, h->failure.place, "%s", h->failure.text);
	if (r.got.word != HDF5_FOUND)
		return refuse_set(h, &r.got, path, err);
	*out = (Hdf5Data){ r.got.type, { .rank = r.got.shape.rank }, r.data };
	memcpy(out->shape.dim, r.got.shape.dim, sizeof *r.got.shape.dim * (size_t)r.got.shape.rank);
	return true;
}
