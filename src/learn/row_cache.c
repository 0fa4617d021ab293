/*
 * See row_cache.h. The file is a head, the rows as they lie in memory, and a BLAKE2b hash of both. The head names the
 * predictors and the epoch, and so the programs that may read the rows. A change of the estimate changes neither; so
 * some of the rows that are found are made again and compared. Rows that were asked for last lie first; those behind
 * ROWS_MOST are forgotten.
 */
#include "learn/row_cache.h"

#include "base/file.h"

#include <math.h>
#include <string.h>

#define ROWS_BYTES ((size_t)1 << 31)
enum {
	VERSION = 2,
	DOUBTED = 256,      /* rows found for each that is made again */
	ROWS_MOST = 1 << 17 /* that are kept: 45 MB, read in 50 ms */
};

typedef struct Head {
	char magic[8];
	uint32_t version, predictors; /* also the order of bytes */
	int64_t epoch, rows;
	Hash names; /* predictor_id */
} Head;
_Static_assert(sizeof(Head) == 48, "no padding");

static const char magic[8] = { 'd', 'l', 'c', 'r', 'o', 'w', 's', '\n' };

static Head head_of(const RowCache *c, size_t rows)
{
	Head h = { .version = VERSION, .predictors = PREDICTORS, .epoch = c->epoch, .rows = (int64_t)rows };
	memcpy(h.magic, magic, sizeof magic);
	h.names = predictor_id();
	return h;
}

static Hash sum_of(const void *bytes, size_t n)
{
	return hash_of("dlc/predictor-rows/v1", bytes, n);
}

static uint64_t number_of(Hash key)
{
	uint64_t half[2];
	memcpy(half, key.byte, sizeof half);
	return half[0] ^ (half[1] << 32 | half[1] >> 32);
}

/* NULL: it can be used; "": it is another program's, which is no damage. */
static const char *refuse(const RowCache *c, const Bytes *file)
{
	Head h;
	if (file->n < sizeof h + sizeof(Hash) || memcmp(file->at, magic, sizeof magic) != 0)
		return "holds no predictor rows";
	memcpy(&h, file->at, sizeof h);
	Hash sum = sum_of(file->at, file->n - sizeof(Hash));
	if (memcmp(&sum, file->at + file->n - sizeof sum, sizeof sum) != 0)
		return "is damaged: its hash is another one";
	Head ours = head_of(c, 0);
	ours.rows = h.rows;
	if (memcmp(&h, &ours, sizeof h) != 0)
		return "";
	size_t room = (file->n - sizeof h - sizeof sum) / sizeof(CachedRow);
	if (h.rows < 0 || (uint64_t)h.rows != room || file->n != sizeof h + sizeof sum + room * sizeof(CachedRow))
		return "is damaged: it has another number of rows than it says";
	return NULL;
}

static bool is_sound(const CachedRow *r)
{
	bool sound = r->estimate == ROW_REFUSED || (isfinite(r->estimate) && r->estimate > 0);
	for (int k = 0; k < PREDICTORS; k++)
		sound &= isfinite(r->row[k]) != 0;
	return sound;
}

void row_cache_open(RowCache *c, Arena *a, const char *path, int epoch)
{
	Err why = { 0 };
	Bytes file;
	*c = (RowCache){ .arena = a, .path = path, .epoch = epoch, .index = MAP_OF(a) };
	if (path == NULL)
		return;
	if (!file_read(a, path, ROWS_BYTES, &file, &why)) {
		if (file_is_plain(path, NULL) && why.code != ERR_INPUT)
			c->note = arena_printf(a, "%s: %s; the rows are made again", path, why.text);
		return;
	}
	const char *wrong = refuse(c, &file);
	if (wrong != NULL) {
		if (wrong[0] != 0)
			c->note = arena_printf(a, "%s %s: the rows are made again", path, wrong);
		return;
	}
	c->nold = (file.n - sizeof(Head) - sizeof(Hash)) / sizeof(CachedRow);
	c->old = (const CachedRow *)(const void *)(file.at + sizeof(Head));
	c->used = arena_array(a, bool, c->nold + 1);
	for (size_t i = 0; i < c->nold; i++)
		map_add(&c->index, number_of(c->old[i].key))->num = (int64_t)i;
}

Hash row_cache_task(Hash workload, const char *target_text)
{
	HashState s;
	hash_begin(&s, "dlc/predictor-row/v2");
	hash_add(&s, &workload, sizeof workload);
	hash_add(&s, target_text, strlen(target_text));
	return hash_end(&s);
}

Hash row_cache_key(Hash task, int64_t trace)
{
	_Static_assert(sizeof task == 2 * sizeof trace, "half of it is the trace's");
	memcpy(task.byte + sizeof trace, &trace, sizeof trace);
	return task;
}

void row_cache_add(RowCache *c, const CachedRow *row)
{
	if (c->path != NULL)
		vec_push(c->arena, &c->added, *row);
}

const CachedRow *row_cache_find(RowCache *c, Hash key)
{
	const MapEntry *e = map_find(&c->index, number_of(key));
	if (e == NULL || memcmp(&c->old[e->num].key, &key, sizeof key) != 0 || !is_sound(&c->old[e->num]))
		return NULL;
	c->used[e->num] = true;
	c->found++;
	return &c->old[e->num];
}

bool row_cache_doubts(const RowCache *c)
{
	return c->found % DOUBTED == 1;
}

void row_cache_drop(RowCache *c)
{
	c->note = arena_printf(c->arena, "%s is of another program: the rows are made again", c->path);
	c->index = MAP_OF(c->arena);
	c->nold = 0;
	c->added.n = 0;
	c->found = 0;
}

/* The rows in the order of the file; how many. */
static size_t order(const RowCache *c, CachedRow *out)
{
	size_t n = 0;
	for (size_t i = 0; i < c->added.n && n < ROWS_MOST; i++)
		out[n++] = c->added.at[i];
	for (int used = 1; used >= 0; used--)
		for (size_t i = 0; i < c->nold && n < ROWS_MOST; i++)
			if (c->used[i] == (bool)used)
				out[n++] = c->old[i];
	return n;
}

void row_cache_save(RowCache *c)
{
	FileOut f;
	Err why = { 0 };
	if (c->path == NULL || c->added.n == 0)
		return;
	Arena *a = arena_new();
	CachedRow *row = arena_array(a, CachedRow, c->added.n + c->nold);
	size_t n = order(c, row);
	Head h = head_of(c, n);
	HashState s;
	hash_begin(&s, "dlc/predictor-rows/v1");
	hash_add(&s, &h, sizeof h);
	hash_add(&s, row, n * sizeof *row);
	Hash sum = hash_end(&s);
	bool ok = file_create(&f, c->path, &why);
	if (ok && !(file_put(&f, &h, sizeof h, &why) && file_put(&f, row, n * sizeof *row, &why) &&
			  file_put(&f, &sum, sizeof sum, &why))) {
		file_abandon(&f);
		ok = false;
	}
	ok = ok && file_commit(&f, &why);
	if (!ok)
		c->note = arena_printf(c->arena, "%s: the predictor rows are not kept: %s", c->path, why.text);
	arena_free(a);
}
