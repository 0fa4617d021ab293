/* See pool.h. */
#include "tuner/pool.h"
#include "tuner/tuning.h"

#include <math.h>
#include <stdlib.h>

Pool pool_new(Arena *a, Space *space, SearchCost cost)
{
	return (
		Pool){ .arena = a, .space = space, .cost = cost, .set = CONFIGS_OF(a), .same = MAP_OF(a), .best = POOL_NONE };
}

static int revision(const Pool *p)
{
	return p->cost.revision != NULL ? p->cost.revision(p->cost.arg) : 0;
}

/* ---- points ---- */

/* Estimates the configs that the set has and that have no point yet: its last ones. */
static void estimate_fresh(Pool *p)
{
	Arena *scratch = arena_new();
	size_t first = p->point.n, n = p->set.at.n - first;
	double *ns = arena_array(scratch, double, n + 1);
	uint64_t *same = arena_array(scratch, uint64_t, n + 1);
	int now = revision(p);
	if (n > 0)
		p->cost.estimate(p->cost.arg, p->set.at.at + first, (int)n, ns, same);
	for (size_t k = 0; k < n; k++) {
		uint32_t i = (uint32_t)(first + k);
		Point x = { .same = same[k], .est = ns[k], .twin = i, .revision = now };
		uint32_t before = p->same.index.n;
		MapEntry *e = map_add(&p->same, x.same);
		if (p->same.index.n > before)
			e->num = i;
		x.twin = (uint32_t)e->num;
		vec_push(p->arena, &p->point, x);
	}
	arena_free(scratch);
}

void pool_add_all(Pool *p, const Config *c, size_t n, Numbers *out)
{
	bool fresh;
	size_t from = out->n;
	for (size_t i = 0; i < n; i++)
		vec_push(p->arena, out, config_set_add(&p->set, &c[i], &fresh));
	estimate_fresh(p);
	for (size_t i = from; i < out->n; i++)
		out->at[i] = p->point.at[out->at[i]].twin;
}

uint32_t pool_add(Pool *p, const Config *c)
{
	bool fresh;
	uint32_t i = config_set_add(&p->set, c, &fresh);
	if (fresh)
		estimate_fresh(p);
	return p->point.at[i].twin;
}

void pool_add_neighbours(Pool *p, uint32_t i, Numbers *out)
{
	Arena *scratch = arena_new();
	VEC(Config) around = { 0 };
	Config from = *pool_config(p, i);
	for (int k = 0; k < from.n; k++) {
		int options = space_knob(p->space, &from, k)->n, at = from.pick[k];
		for (int o = 0; o < options; o++)
			if (o != at && (options <= TUNE_FEW || abs(o - at) <= TUNE_FAR))
				vec_push(scratch, &around, space_move(p->space, &from, k, o));
	}
	pool_add_all(p, around.at, around.n, out);
	arena_free(scratch);
}

const Config *pool_config(const Pool *p, uint32_t i)
{
	return &p->set.at.at[i];
}

double pool_estimate(const Pool *p, uint32_t i)
{
	return p->point.at[i].est > 0 ? p->point.at[i].est : INFINITY;
}

bool pool_open(const Pool *p, uint32_t i)
{
	return !p->point.at[i].asked && p->point.at[i].est > 0;
}

int pool_distance(const Pool *p, uint32_t i, uint32_t j)
{
	return space_distance(p->space, pool_config(p, i), pool_config(p, j));
}

/* ---- estimates ---- */

void pool_refresh(Pool *p, const uint32_t *list, size_t n)
{
	Arena *scratch = arena_new();
	VEC(Config) old = { 0 };
	Numbers at = { 0 };
	int now = revision(p);
	for (size_t i = 0; i < n; i++) {
		Point *x = &p->point.at[list[i]];
		if (x->revision == now || x->est <= 0)
			continue;
		x->revision = now;
		vec_push(scratch, &old, *pool_config(p, list[i]));
		vec_push(scratch, &at, list[i]);
	}
	double *ns = arena_array(scratch, double, old.n + 1);
	uint64_t *same = arena_array(scratch, uint64_t, old.n + 1);
	if (old.n > 0)
		p->cost.estimate(p->cost.arg, old.at, (int)old.n, ns, same);
	for (size_t k = 0; k < old.n; k++)
		p->point.at[at.at[k]].est = ns[k];
	arena_free(scratch);
}

bool pool_over(const Pool *p)
{
	return p->cost.over != NULL && p->cost.over(p->cost.arg);
}

typedef struct Keyed {
	double est;
	uint32_t i;
} Keyed;

static int by_estimate(const void *pa, const void *pb)
{
	const Keyed *a = pa, *b = pb;
	return a->est != b->est ? (a->est > b->est) - (a->est < b->est) : (a->i > b->i) - (a->i < b->i);
}

void pool_sort(Pool *p, Numbers *list)
{
	size_t n = 0;
	Arena *scratch = arena_new();
	Keyed *key = arena_array(scratch, Keyed, list->n + 1);
	for (size_t i = 0; i < list->n; i++)
		key[i] = (Keyed){ pool_estimate(p, list->at[i]), list->at[i] };
	qsort(key, list->n, sizeof *key, by_estimate);
	for (size_t i = 0; i < list->n; i++)
		list->at[i] = key[i].i;
	arena_free(scratch);
	for (size_t i = 0; i < list->n; i++)
		if (p->point.at[list->at[i]].est > 0 && (n == 0 || list->at[i] != list->at[n - 1]))
			list->at[n++] = list->at[i];
	list->n = n;
}

/* ---- asking and telling ---- */

bool pool_ask(Pool *p, uint32_t i, Config *out)
{
	if (p->point.at[i].asked)
		return false;
	p->point.at[i].asked = true;
	p->waiting++;
	vec_push(p->arena, &p->asked, i);
	*out = *pool_config(p, i);
	return true;
}

uint32_t pool_tell(Pool *p, const Config *c, double ns)
{
	uint32_t i = pool_add(p, c);
	Point *x = &p->point.at[i];
	if (x->asked && x->ns == 0)
		p->waiting--;
	if (x->ns == 0)
		vec_push(p->arena, &p->told, i);
	x->asked = true;
	x->ns = ns > 0 ? ns : -1;
	if (ns > 0 && (p->best == POOL_NONE || ns < p->point.at[p->best].ns))
		p->best = i;
	return i;
}

bool pool_draw(Pool *p, Rng *rng, uint32_t *i)
{
	enum { DRAWS = 64 };
	Config c = { 0 };
	for (int k = 0; k < DRAWS; k++) {
		c = space_sample(p->space, rng);
		*i = pool_add(p, &c);
		if (pool_open(p, *i))
			return true;
	}
	for (int tried = 0; tried < TUNE_WALKED && tried < space_size(p->space) && !pool_over(p); tried++) {
		space_next(p->space, &c);
		*i = pool_add(p, &c);
		if (pool_open(p, *i))
			return true;
	}
	return false;
}
