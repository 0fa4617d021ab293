/*
 * Spaces: runs of a template. Each run follows the picks that it is given and chooses further ones in one of four
 * ways; the knobs that it meets are noted in the Space. The trace is made as text and parsed, so that what a
 * template writes is what a record holds.
 */
#include "schedule/sketch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GROUP_DEPTH = 4 };
#define UNLIKE INFINITY /* of options that have nothing in common */
enum { PIXELS = 1000 /* more than a tile has: a vector more differs by more than any pixels */ };

/* How a run picks where nothing is given: the default, the first option, any, what another config has. */
typedef enum { PICK_DEFAULT, PICK_LOWEST, PICK_DRAWN, PICK_ALIKE } Picking;

typedef struct SketchRun {
	Space *space;
	const Config *given; /* the picks of its n knobs */
	Picking picking;
	Rng *rng;                 /* PICK_DRAWN */
	const Space *other;       /* PICK_ALIKE: the space of ... */
	const Config *like;       /* ... this config */
	bool strange;             /* a knob that it lacks was asked for */
	Config config;            /* the path */
	int depth, ngroup, group[GROUP_DEPTH + 1]; /* open groups, outermost first: their numbers; 0: all */
	int at_depth[KNOBS], in_group[KNOBS][GROUP_DEPTH + 1]; /* where each knob was asked */
	bool last; /* the knob asked last is the path's last: it has more than one option */
	bool failed;
	bool silent; /* nobody reads the steps */
	Err *err;
} SketchRun;

/* ---- options ---- */

void knob_print_option(Text *out, const KnobOption *o)
{
	switch (o->kind) {
	case KNOB_NUMBER: text_add(out, "%lld", (long long)o->number); break;
	case KNOB_WORD: text_add(out, "%s", o->word); break;
	case KNOB_TILE: text_add(out, "%lldx%lld", (long long)o->tile.vectors, (long long)o->tile.pixels); break;
	case KNOB_PART: text_add(out, "%s:%lld", o->part.axis, (long long)o->part.size); break;
	case KNOB_ALGO: text_add(out, "%s:%lld", o->algo.algo->name, (long long)o->algo.param); break;
	}
}

/* 0: they are the same; UNLIKE: they have nothing in common. */
static double difference(const KnobOption *a, const KnobOption *b)
{
	if (a->kind != b->kind)
		return UNLIKE;
	switch (a->kind) {
	case KNOB_NUMBER: return fabs((double)(a->number - b->number));
	case KNOB_WORD: return strcmp(a->word, b->word) == 0 ? 0 : UNLIKE;
	case KNOB_TILE:
		return PIXELS * fabs((double)(a->tile.vectors - b->tile.vectors)) +
		       fabs((double)(a->tile.pixels - b->tile.pixels));
	case KNOB_PART:
		return strcmp(a->part.axis, b->part.axis) == 0 ? fabs((double)(a->part.size - b->part.size)) : UNLIKE;
	default: return a->algo.algo == b->algo.algo && a->algo.param == b->algo.param ? 0 : UNLIKE;
	}
}

static int most_alike(const KnobOption *to, const KnobOption *option, int n, int first)
{
	int best = first;
	double least = UNLIKE;
	for (int k = 0; k < n; k++)
		if (difference(to, &option[k]) < least) {
			least = difference(to, &option[k]);
			best = k;
		}
	return best;
}

/* ---- knobs ---- */

const Knob *space_knob(const Space *s, const Config *c, int at)
{
	return &s->knob.at[c->knob[at]];
}

static const KnobOption *picked(const Space *s, const Config *c, int at)
{
	return &space_knob(s, c, at)->option[c->pick[at]];
}

static bool is_knob(const Knob *k, const char *name, const KnobOption *option, int n, int first)
{
	if (k->n != n || k->first != first || strcmp(k->name, name) != 0)
		return false;
	for (int i = 0; i < n; i++)
		if (difference(&k->option[i], &option[i]) != 0)
			return false;
	return true;
}

/* "algorithm=conv2d.winograd:4 wino.rows=4": all options that the next knob may depend on; NULL: there are none. */
static const char *condition(const SketchRun *r)
{
	const Config *c = &r->config;
	Text text = { .arena = r->space->arena };
	for (int at = 0; at < c->n; at++)
		if (space_knob(r->space, c, at)->opens && r->at_depth[at] <= r->depth &&
			r->in_group[at][r->at_depth[at]] == r->group[r->at_depth[at]]) {
			text_add(&text, "%s%s=", text.n > 0 ? " " : "", space_knob(r->space, c, at)->name);
			knob_print_option(&text, picked(r->space, c, at));
		}
	return text.n > 0 ? text_str(&text) : NULL;
}

/* The knob's number in the Space, which has it now. */
static int meet(SketchRun *r, const char *name, const KnobOption *option, int n, int first)
{
	Space *s = r->space;
	size_t guess = r->config.n > 0 ? (size_t)r->config.knob[r->config.n - 1] + 1 : 0; /* it came next before, too */
	for (size_t i = 0; i < s->knob.n; i++) {
		size_t k = (guess + i) % s->knob.n;
		if (is_knob(&s->knob.at[k], name, option, n, first))
			return (int)k;
	}
	KnobOption *kept = arena_array(s->arena, KnobOption, n);
	Knob knob = { .name = NULL, .under = condition(r), .n = n, .first = first, .option = kept };
	for (int k = 0; k < n; k++) {
		kept[k] = option[k];
		if (kept[k].kind == KNOB_WORD)
			kept[k].word = arena_printf(s->arena, "%s", option[k].word);
		if (kept[k].kind == KNOB_PART)
			kept[k].part.axis = arena_printf(s->arena, "%s", option[k].part.axis);
	}
	for (size_t k = 0; k < s->knob.n && knob.name == NULL; k++)
		knob.name = strcmp(s->knob.at[k].name, name) == 0 ? s->knob.at[k].name : NULL;
	if (knob.name == NULL)
		knob.name = arena_printf(s->arena, "%s", name);
	vec_push(s->arena, &s->knob, knob);
	return (int)s->knob.n - 1;
}

static int pick(SketchRun *r, const char *name, const KnobOption *option, int n, int first)
{
	if (r->given != NULL && r->config.n < r->given->n)
		return r->given->pick[r->config.n] < n ? r->given->pick[r->config.n] : first;
	switch (r->picking) {
	case PICK_LOWEST: return 0;
	case PICK_DRAWN: return (int)rng_below(r->rng, (uint64_t)n);
	case PICK_ALIKE:
		for (int at = 0; at < r->like->n; at++)
			if (strcmp(space_knob(r->other, r->like, at)->name, name) == 0)
				return most_alike(picked(r->other, r->like, at), option, n, first);
		r->strange = true;
		return first;
	default: return first;
	}
}

/* ---- what templates call ---- */

/* A mistake of the template; its first one is told. */
static void refuse(SketchRun *r, const char *knob, const char *why, int most)
{
	if (!r->failed)
		fail(r->err, ERR_BUG, r->space->tmpl->name, "knob %s: the template %s %d", knob, why, most);
	r->failed = true;
}

int sketch_knob(Sketch *s, const char *name, const KnobOption *option, int n, int first)
{
	SketchRun *r = s->run;
	Config *c = &r->config;
	r->last = false;
	if (first < 0 || first >= n)
		first = 0;
	if (n < 2)
		return 0;
	if (n > KNOB_OPTIONS || c->n == KNOBS) {
		refuse(r, name, n > KNOB_OPTIONS ? "gives it too many options; a knob has at most"
			: "asks for too many knobs; a config has at most", n > KNOB_OPTIONS ? KNOB_OPTIONS : KNOBS);
		return first;
	}
	for (int at = 0; at < c->n; at++)
		if (strcmp(space_knob(r->space, c, at)->name, name) == 0) {
			refuse(r, name, "asks for it again; it is already knob number", at + 1);
			return first;
		}
	int k = meet(r, name, option, n, first), o = pick(r, name, option, n, first);
	c->knob[c->n] = (uint16_t)k;
	c->pick[c->n] = (uint8_t)o;
	r->at_depth[c->n] = r->depth;
	memcpy(r->in_group[c->n], r->group, sizeof r->group);
	c->n++;
	r->last = true;
	return o;
}

int64_t sketch_number(Sketch *s, const char *name, const int64_t *option, int n, int first)
{
	KnobOption o[KNOB_OPTIONS];
	for (int k = 0; k < n && k < KNOB_OPTIONS; k++)
		o[k] = (KnobOption){ .kind = KNOB_NUMBER, .number = option[k] };
	return option[sketch_knob(s, name, o, n, first)];
}

int sketch_word(Sketch *s, const char *name, const char *const *word, int n, int first)
{
	KnobOption o[KNOB_OPTIONS];
	for (int k = 0; k < n && k < KNOB_OPTIONS; k++)
		o[k] = (KnobOption){ .kind = KNOB_WORD, .word = word[k] };
	return sketch_knob(s, name, o, n, first);
}

bool sketch_flag(Sketch *s, const char *name, bool first)
{
	static const char *const word[] = { "no", "yes" };
	return sketch_word(s, name, word, 2, first) == 1;
}

void sketch_opens(Sketch *s)
{
	if (s->run->last)
		s->run->space->knob.at[s->run->config.knob[s->run->config.n - 1]].opens = true;
}

void sketch_group(Sketch *s)
{
	SketchRun *r = s->run;
	if (++r->depth <= GROUP_DEPTH)
		r->group[r->depth] = ++r->ngroup;
	else
		refuse(r, "(none)", "nests too many groups; the limit is", GROUP_DEPTH);
	r->last = false;
}

void sketch_group_end(Sketch *s)
{
	s->run->depth--;
	s->run->last = false;
}

int sketch_room(const Sketch *s)
{
	return KNOBS - s->run->config.n;
}

MapEntry *sketch_known(Sketch *s, const char *what, Arena **keep)
{
	const Config *c = &s->run->config;
	Text key = { .arena = s->arena };
	text_add(&key, "%s", what);
	for (int at = 0; at < c->n; at++)
		text_add(&key, " %d=%d", c->knob[at], c->pick[at]);
	*keep = s->run->space->arena;
	return map_add_bytes(&s->run->space->known, text_str(&key), key.n);
}

void sketch_step(Sketch *s, const char *fmt, ...)
{
	char small[512];
	va_list ap, again;
	if (s->run->silent)
		return;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(small, sizeof small, fmt, ap);
	char *line = (size_t)n < sizeof small ? small : arena_alloc(s->arena, (size_t)n + 1);
	if (line != small)
		vsnprintf(line, (size_t)n + 1, fmt, again);
	va_end(again);
	va_end(ap);
	text_put(&s->steps, line, (size_t)n);
	text_put(&s->steps, "\n", 1);
}

/* ---- runs ---- */

/* Runs the template; its steps are made in the arena. */
static bool run(SketchRun *r, Arena *a, Text *steps)
{
	const Space *s = r->space;
	Sketch sketch = { .arena = a,
		.tmpl = s->tmpl,
		.task = s->task,
		.target = s->target,
		.naive = s->naive,
		.steps = { .arena = a },
		.run = r };
	bool ok = s->tmpl->run(&sketch, r->err) && !r->failed;
	if (ok)
		sketch_stores(&sketch);
	ok = ok && !r->failed;
	*steps = sketch.steps;
	return ok;
}

/* Runs it for the path alone. */
static bool walk(SketchRun *r)
{
	Text steps;
	Arena *scratch = arena_new();
	r->silent = true;
	bool ok = run(r, scratch, &steps);
	arena_free(scratch);
	return ok;
}

static Space *new_space(Arena *a, const Task *task, const Target *target, bool any, Err *err)
{
	Space *s = arena_new_of(a, Space);
	*s = (Space){ .arena = a, .task = task, .target = target, .known = MAP_OF(a) };
	for (const Template *const *t = templates; *t != NULL && (any || s->tmpl == NULL); t++)
		s->tmpl = (*t)->applies(task, target) ? *t : s->tmpl;
	if (s->tmpl == NULL) {
		fail(err, ERR_UNSUPPORTED, task->label, "there are no schedules for targets of kind %s yet",
			target_kind_name(target->kind));
		return NULL;
	}
	s->naive = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, err);
	SketchRun r = { .space = s, .picking = PICK_DEFAULT, .err = err };
	if (s->naive == NULL || !walk(&r))
		return NULL;
	s->first = r.config;
	return s;
}

Space *space_new(Arena *a, const Task *task, const Target *target, Err *err)
{
	return new_space(a, task, target, false, err);
}

Space *space_of_any(Arena *a, const Task *task, const Target *target, Err *err)
{
	return new_space(a, task, target, true, err);
}

Config space_sample(Space *s, Rng *rng)
{
	SketchRun r = { .space = s, .picking = PICK_DRAWN, .rng = rng };
	walk(&r);
	return r.config;
}

static Config begins_with(Space *s, const Config *c)
{
	SketchRun r = { .space = s, .given = c, .picking = PICK_LOWEST };
	walk(&r);
	return r.config;
}

Config space_begin(Space *s)
{
	return begins_with(s, NULL);
}

bool space_next(Space *s, Config *c)
{
	bool opens = false;
	int at = c->n;
	for (bool full = true; full && at > 0;) {
		const Knob *k = space_knob(s, c, --at);
		full = c->pick[at] + 1 == k->n;
		opens |= k->opens;
		c->pick[at] = full ? 0 : (uint8_t)(c->pick[at] + 1);
		if (!full) {
			if (opens) {
				Config given = *c;
				given.n = (uint8_t)(at + 1);
				*c = begins_with(s, &given);
			}
			return true;
		}
	}
	*c = space_begin(s);
	return false;
}

Config space_move(Space *s, const Config *c, int at, int option)
{
	Config moved = *c;
	moved.pick[at] = (uint8_t)option;
	if (!space_knob(s, c, at)->opens)
		return moved;
	moved.n = (uint8_t)(at + 1);
	SketchRun r = { .space = s, .given = &moved, .picking = PICK_ALIKE, .other = s, .like = c };
	walk(&r);
	return r.config;
}

bool space_alike(Space *to, const Space *from, const Config *c, Config *out)
{
	SketchRun r = { .space = to, .picking = PICK_ALIKE, .other = from, .like = c };
	bool ok = to->tmpl == from->tmpl && walk(&r);
	*out = r.config;
	return ok && !r.strange && r.config.n == c->n;
}

Trace *space_trace(Space *s, const Config *c, Arena *a, Err *err)
{
	SketchRun r = { .space = s, .given = c, .picking = PICK_DEFAULT, .err = err };
	Text steps;
	return run(&r, a, &steps) ? trace_parse(a, s->tmpl->name, text_str(&steps), steps.n, err) : NULL;
}

/* ---- looking at configs ---- */

int space_distance(const Space *s, const Config *a, const Config *b)
{
	int n = 0, both = 0;
	for (int i = 0; i < a->n; i++) {
		const Knob *k = space_knob(s, a, i);
		int j = i < b->n && b->knob[i] == a->knob[i] ? i : 0;
		while (j < b->n && space_knob(s, b, j)->name != k->name)
			j++;
		both += j < b->n;
		n += j == b->n || (a->knob[i] == b->knob[j] ? a->pick[i] != b->pick[j]
			: difference(picked(s, a, i), picked(s, b, j)) != 0);
	}
	return n + b->n - both;
}

void space_print_config(Text *out, const Space *s, const Config *c)
{
	for (int at = 0; at < c->n; at++) {
		text_add(out, "%s%s=", at > 0 ? " " : "", space_knob(s, c, at)->name);
		knob_print_option(out, picked(s, c, at));
	}
}

void space_saves(const Space *s, double *least, double *most)
{
	*least = *most = 1;
	for (size_t i = 0; i < s->knob.n; i++)
		for (int k = 0; k < s->knob.at[i].n; k++) {
			const KnobOption *o = &s->knob.at[i].option[k];
			if (o->kind != KNOB_ALGO)
				continue;
			double saves = o->algo.saves;
			*least = *least == 1 || saves < *least ? saves : *least;
			*most = saves > *most ? saves : *most;
		}
}

/* Whether knob `at` was asked in that group, or in a group within it. */
static bool is_in(const SketchRun *r, int at, int depth, int group)
{
	return at < r->config.n && r->at_depth[at] >= depth && r->in_group[at][depth] == group;
}

enum { COUNTED = 512 /* runs of a template to count a space, about 0.02 s */ };

/*
 * The number of paths that begin with c, within its group; later knobs have their defaults. It takes about so many runs
 * of the template. If there are more options, evenly spread ones stand for all of them: *all is false then.
 */
static double count(Space *s, const Config *c, int depth, int group, int runs, bool *all)
{
	SketchRun r = { .space = s, .given = c, .picking = PICK_DEFAULT };
	double paths = 1;
	if (!walk(&r))
		return 0;
	for (int at = c->n; is_in(&r, at, depth, group);) {
		Config begin = r.config;
		const Knob *k = space_knob(s, &begin, at);
		if (r.at_depth[at] > depth) {
			int inner = r.in_group[at][depth + 1];
			begin.n = (uint8_t)at;
			paths *= count(s, &begin, depth + 1, inner, runs, all);
			while (is_in(&r, at, depth + 1, inner))
				at++;
			continue;
		}
		at++;
		if (!k->opens) {
			paths *= k->n;
			continue;
		}
		double sum = 0;
		int n = k->n, some = runs < n ? runs : n;
		begin.n = (uint8_t)at;
		*all &= some == n;
		for (int o = 0; o < some; o++) {
			begin.pick[at - 1] = (uint8_t)(o * n / some);
			sum += count(s, &begin, depth, group, runs / some, all);
		}
		return paths * sum * n / some;
	}
	return paths;
}

/* Knuth's estimate: the options along a path that is drawn, multiplied, are in the mean the number of all paths. */
static double probe(Space *s)
{
	Rng rng = rng_seed(1);
	double sum = 0;
	for (int i = 0; i < COUNTED; i++) {
		Config c = space_sample(s, &rng);
		double paths = 1;
		for (int at = 0; at < c.n; at++)
			paths *= space_knob(s, &c, at)->n;
		sum += paths / COUNTED;
	}
	return sum;
}

double space_size(Space *s)
{
	bool all = true;
	if (s->size == 0)
		s->size = count(s, &(Config){ 0 }, 0, 0, COUNTED, &all);
	if (!all)
		s->size = round(probe(s));
	return s->size;
}
