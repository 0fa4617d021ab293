/* See lock_file.h. The file is not trusted: every word is checked, rows are in order and unique. */
#include "compile/lock_file.h"

#include "compile/untuned.h"
#include "op/steps.h"

#include <stdlib.h>
#include <string.h>

static const char head[] = "dlc lock 1";

typedef struct Line {
	const char *word[6];
	int n;
} Line;

/* Cuts a copy of the line at single blanks. */
static Line cut(Arena *a, const char *at, size_t n)
{
	Line l = { .n = 0 };
	char *copy = arena_printf(a, "%.*s", (int)n, at);
	for (char *p = copy; p != NULL && l.n < 6; l.n++) {
		l.word[l.n] = p;
		p = strchr(p, ' ');
		if (p != NULL)
			*p++ = 0;
	}
	return l;
}

static bool read_hit(const char *word, HitClass *out)
{
	for (int h = 0; h < HIT_COUNT; h++)
		if (strcmp(word, hit_name((HitClass)h)) == 0) {
			*out = (HitClass)h;
			return true;
		}
	return false;
}

static bool read_row(Arena *a, Lock *lock, const Line *l, const char *place, Err *err)
{
	LockRow r = { .hit = HIT_DEFAULT };
	Config config;
	bool known = l->n == 5 && strcmp(l->word[0], "task") == 0 && hash_parse(l->word[1], &r.task) &&
	             read_hit(l->word[2], &r.hit) && hash_parse(l->word[4], &r.trace) &&
	             (r.hit == HIT_DEFAULT   ? strcmp(l->word[3], "-") == 0
	              : r.hit == HIT_MODEL ? untuned_parse_config(l->word[3], &config)
	                                   : hash_parse(l->word[3], &r.record));
	if (!known)
		return fail(err, ERR_SYNTAX, place,
			"is not a line of a lock file: \"task ID exact|near|stale|model|default RECORD TRACE\"");
	r.config = r.hit == HIT_MODEL ? arena_printf(a, "%s", l->word[3]) : NULL;
	if (lock->row.n > 0 && memcmp(&lock->row.at[lock->row.n - 1].task, &r.task, sizeof(Hash)) >= 0)
		return fail(err, ERR_SYNTAX, place, "the tasks of a lock file must stand once each, in the order of their ids");
	vec_push(a, &lock->row, r);
	return true;
}

/* "region HASH 1": the alternative of a region that does not take its first one. */
static bool read_region(Arena *a, Lock *lock, const Line *l, const char *place, Err *err)
{
	LockRegion r;
	bool known = l->n == 3 && hash_parse(l->word[1], &r.region) && strlen(l->word[2]) == 1 && l->word[2][0] >= '1' &&
	             l->word[2][0] <= '9';
	if (!known)
		return fail(err, ERR_SYNTAX, place, "is not a line of a lock file: \"region HASH 1\" (or 2 to 9)");
	if (lock->region.n > 0 && memcmp(&lock->region.at[lock->region.n - 1].region, &r.region, sizeof(Hash)) >= 0)
		return fail(
			err, ERR_SYNTAX, place, "the regions of a lock file must stand once each, in the order of their hashes");
	r.taken = l->word[2][0] - '0';
	vec_push(a, &lock->region, r);
	return true;
}

Lock *lock_parse(Arena *a, const char *name, const char *text, size_t n, Err *err)
{
	Lock *lock = arena_new_of(a, Lock);
	int line = 1;
	for (size_t at = 0; at < n; line++) {
		const char *from = text + at, *place = arena_printf(a, "%s:%d", name, line);
		size_t len = text_line(text, n, &at);
		if (len > 200) {
			fail(err, ERR_SYNTAX, place, "is not a line of a lock file: it has %zu bytes", len);
			return NULL;
		}
		Line l = cut(a, from, len);
		bool ok = true;
		if (line == 1)
			ok = (len == strlen(head) && memcmp(text, head, len) == 0) ||
			     fail(err, ERR_INPUT, name, "is not a lock file of this version, which begins with \"%s\"", head);
		else if (line == 2)
			ok = (l.n == 2 && strcmp(l.word[0], "target") == 0 && hash_parse(l.word[1], &lock->target)) ||
			     fail(err, ERR_SYNTAX, place, "\"target ID\" is missing");
		else if (l.n > 0 && strcmp(l.word[0], "region") == 0)
			ok = read_region(a, lock, &l, place, err);
		else
			ok = read_row(a, lock, &l, place, err);
		if (!ok)
			return NULL;
	}
	if (line < 3) {
		fail(err, ERR_INPUT, name, "is not a lock file: it ends before its target");
		return NULL;
	}
	return lock;
}

const LockRow *lock_find(const Lock *l, Hash task)
{
	size_t lo = 0, hi = l->row.n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = memcmp(&l->row.at[mid].task, &task, sizeof task);
		if (c == 0)
			return &l->row.at[mid];
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* Equal regions have equal choices: the Tasks of all alternatives name it. */
static Hash region_hash(const Region *r)
{
	HashState s;
	hash_begin(&s, "dlc/region/v1");
	for (int k = 0; k < r->n; k++) {
		const Alternative *x = &r->alternative[k];
		unsigned char n = (unsigned char)x->ngroup;
		hash_add(&s, &n, 1);
		for (int i = 0; i < x->ngroup; i++)
			hash_add(&s, &x->group[i].task->id, sizeof(Hash));
	}
	return hash_end(&s);
}

int lock_taken(const Lock *l, const Region *r)
{
	Hash h = region_hash(r);
	for (size_t i = 0; i < l->region.n; i++)
		if (memcmp(&l->region.at[i].region, &h, sizeof h) == 0)
			return l->region.at[i].taken;
	return 0;
}

static int by_task(const void *a, const void *b)
{
	return memcmp(&((const LockRow *)a)->task, &((const LockRow *)b)->task, sizeof(Hash));
}

static int by_region(const void *a, const void *b)
{
	return memcmp(&((const LockRegion *)a)->region, &((const LockRegion *)b)->region, sizeof(Hash));
}

void lock_print(Text *out, const Compiled *c, const Target *target)
{
	const Partition *p = c->partition;
	char task[HASH_HEX], record[HASH_HEX], trace[HASH_HEX], hash[HASH_HEX];
	int n = p->ntask, nregion = 0;
	LockRow *row = arena_array(out->arena, LockRow, n + 1);
	for (int k = 0; k < n; k++)
		row[k] = (LockRow){ c->task[k].task->id, c->task[k].record, steps_hash(c->task[k].trace),
			c->task[k].config, c->task[k].hit };
	qsort(row, (size_t)n, sizeof *row, by_task);
	hash_hex(target_id(target), task);
	text_add(out, "%s\ntarget %s\n", head, task);
	for (int k = 0; k < n; k++) {
		hash_hex(row[k].task, task);
		hash_hex(row[k].record, record);
		hash_hex(row[k].trace, trace);
		const char *from = row[k].hit == HIT_DEFAULT ? "-" : row[k].hit == HIT_MODEL ? row[k].config : record;
		text_add(out, "task %s %s %s %s\n", task, hit_name(row[k].hit), from, trace);
	}
	/* The regions that do not take their first alternative, once each. */
	LockRegion *region = arena_array(out->arena, LockRegion, p->nregion + 1);
	for (int r = 0; r < p->nregion; r++)
		if (p->region[r].taken > 0)
			region[nregion++] = (LockRegion){ region_hash(&p->region[r]), p->region[r].taken };
	qsort(region, (size_t)nregion, sizeof *region, by_region);
	for (int k = 0; k < nregion; k++) {
		hash_hex(region[k].region, hash);
		if (k == 0 || by_region(&region[k - 1], &region[k]) != 0)
			text_add(out, "region %s %d\n", hash, region[k].taken);
	}
}
