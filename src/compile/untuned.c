/*
 * See untuned.h. What is tried: the default, configs drawn from the space, and moves of single knobs of the best so
 * far, in the order of the model's expectation. The numbers are drawn from the Task's id, and nothing depends on a
 * clock: equal models choose equal schedules.
 *
 * The file of choices has a line for each Task: its id, the hash of the chosen trace, the gain in thousandths, and the
 * config. A choice counts if its config still makes that trace; a template that has changed makes another one.
 */
#include "compile/untuned.h"

#include "base/file.h"
#include "base/map.h"
#include "compile/choose.h"
#include "op/steps.h"
#include "schedule/drafts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Choice {
	Hash task, trace;
	int64_t gain;       /* thousandths; 0: the default stays */
	const char *config; /* "-": the default's */
} Choice;

struct Untuned {
	Arena *arena;
	Target target;
	LearnedModel model;
	double margin;    /* natural logarithm */
	const char *path; /* of the choices; NULL: none are kept */
	Map known;        /* ids of Tasks: numbers of choices */
	VEC(Choice) choice;
	bool fresh;       /* there is something to write */
	const char *note;
};

enum { FILE_BYTES = 1 << 20, FILE_CHOICES = 4096, THOUSAND = 1000 };

/* ---- configs as text ---- */

const char *untuned_print_config(Arena *a, const Config *c)
{
	Text text = { .arena = a };
	for (int k = 0; k < c->n; k++)
		text_add(&text, "%s%d", k > 0 ? "." : "", c->pick[k]);
	return text_str(&text);
}

bool untuned_parse_config(const char *text, Config *out)
{
	*out = (Config){ 0 };
	for (const char *p = text;; p++) {
		int value = 0, digits = 0;
		while (*p >= '0' && *p <= '9' && digits++ < 2)
			value = 10 * value + *p++ - '0';
		if (digits < 1 || digits > 2 || value >= KNOB_OPTIONS || out->n == KNOBS || (*p != 0 && *p != '.'))
			return false;
		out->pick[out->n++] = (uint8_t)value;
		if (*p == 0)
			return true;
	}
}

/* ---- the file of choices ---- */

static const char *head_of(const Untuned *u, Arena *a)
{
	char hex[HASH_HEX];
	hash_hex(u->model.id, hex);
	return arena_printf(a, "dlc untuned 1 %s %s %d\n", DLC_VERSION, hex, CODEGEN_EPOCH);
}

static void note_choice(Untuned *u, Choice c)
{
	uint32_t before = u->known.index.n;
	MapEntry *e = map_add_bytes(&u->known, &c.task, sizeof c.task);
	if (u->known.index.n > before) {
		e->num = (int64_t)u->choice.n;
		vec_push(u->arena, &u->choice, c);
	} else {
		u->choice.at[e->num] = c;
	}
}

static bool read_choice(Untuned *u, const char *line)
{
	char task[HASH_HEX], trace[HASH_HEX], config[128];
	Choice c;
	long long gain;
	Config parsed;
	int end = 0;
	if (sscanf(line, "%32[0-9a-f] %32[0-9a-f] %lld %127[-0-9.]%n", task, trace, &gain, config, &end) != 4 ||
		line[end] != 0 || !hash_parse(task, &c.task) || !hash_parse(trace, &c.trace) || gain < 0 || gain > INT32_MAX)
		return false;
	if (gain > 0 ? !untuned_parse_config(config, &parsed) : strcmp(config, "-") != 0)
		return false;
	c.gain = gain;
	c.config = arena_printf(u->arena, "%s", config);
	note_choice(u, c);
	return true;
}

/* Choices by another model, of another dlc or of another epoch are left, and written over later. */
static void read_choices(Untuned *u)
{
	Arena *a = arena_new();
	Bytes file;
	const char *head = head_of(u, a);
	size_t n = strlen(head);
	if (access(u->path, F_OK) == 0 && file_read(a, u->path, FILE_BYTES, &file, NULL) && file.n >= n &&
		memcmp(file.at, head, n) == 0) {
		const char *text = (const char *)file.at;
		bool sound = true;
		for (size_t at = n; sound && at < file.n;) {
			const char *from = text + at;
			size_t len = text_line(text, file.n, &at);
			sound = read_choice(u, arena_printf(a, "%.*s", (int)(len < 256 ? len : 256), from));
		}
		if (!sound || u->choice.n > FILE_CHOICES) {
			u->known = MAP_OF(u->arena);
			u->choice.n = 0;
			if (!sound)
				u->note = arena_printf(u->arena, "%s is damaged: schedules are chosen again", u->path);
		}
	}
	arena_free(a);
}

static const char *choices_path(Untuned *u, const char *folder)
{
	const char *target = arena_printf(u->arena, "%s %d", target_json(u->arena, &u->target), u->target.threads);
	char hex[HASH_HEX];
	hash_hex(hash_of("dlc/untuned/v1", target, strlen(target)), hex);
	return arena_printf(u->arena, "%s/untuned/%.16s.choices", folder, hex);
}

const char *untuned_save(Untuned *u)
{
	Arena *a = arena_new();
	Err why = { 0 };
	Text text = { .arena = a };
	char task[HASH_HEX], trace[HASH_HEX], *folder = u->path != NULL ? arena_printf(a, "%s", u->path) : NULL;
	if (u->fresh && folder != NULL) {
		*strrchr(folder, '/') = 0;
		mkdir(folder, 0700);
		text_add(&text, "%s", head_of(u, a));
		for (size_t k = 0; k < u->choice.n; k++) {
			const Choice *c = &u->choice.at[k];
			hash_hex(c->task, task);
			hash_hex(c->trace, trace);
			text_add(&text, "%s %s %lld %s\n", task, trace, (long long)c->gain, c->config);
		}
		if (!file_write(u->path, text_str(&text), text.n, &why))
			u->note = arena_printf(u->arena, "%s: the choices for untuned Tasks are not kept: %s", u->path, why.text);
		u->fresh = false;
	}
	arena_free(a);
	const char *note = u->note;
	u->note = NULL;
	return note;
}

/* ---- choosing ---- */

typedef struct Trial {
	Untuned *u;
	Space *space;
	Drafts *drafts;
	Arena *arena;
	Map seen; /* traces */
	int tried;
	Config best;
	double ns;
} Trial;

/* The trace of a config as text; NULL: the template refuses it. */
static const char *trace_of(Space *space, const Config *c, Arena *a)
{
	Text text = { .arena = a };
	Trace *t = space_trace(space, c, a, NULL);
	if (t == NULL)
		return NULL;
	trace_print(&text, t);
	return text_str(&text);
}

/* True: it is better than all before. */
static bool try_config(Trial *x, const Config *c)
{
	bool better = false;
	Arena *a = arena_new();
	Text text = { .arena = a };
	Trace *t = space_trace(x->space, c, a, NULL);
	if (t != NULL)
		trace_print(&text, t);
	uint32_t before = x->seen.index.n;
	map_add_text(&x->seen, text_str(&text));
	if (t != NULL && x->seen.index.n > before) {
		const KernelSet *ks = drafts_make(x->drafts, a, t, NULL);
		double ns = ks != NULL ? learned_ns(&x->u->model, ks, x->space->task, &x->u->target) : 0;
		x->tried++;
		better = ks != NULL && (x->ns == 0 || ns < x->ns);
		if (better) {
			x->ns = ns;
			x->best = *c;
		}
	}
	arena_free(a);
	return better;
}

/* Moves of one knob, in a drawn order; the first that is better is the one to move on from. False: none is. */
static bool move_on(Trial *x, Rng *rng)
{
	Config from = x->best;
	VEC(uint16_t) move = { 0 }; /* knob, option */
	for (int k = 0; k < from.n; k++)
		for (int o = 0; o < space_knob(x->space, &from, k)->n; o++)
			if (o != from.pick[k])
				vec_push(x->arena, &move, (uint16_t)(k * KNOB_OPTIONS + o));
	for (size_t i = 0; i < move.n && x->tried < CHOOSE_UNTUNED_TRIED; i++) {
		size_t j = i + (size_t)rng_below(rng, move.n - i);
		uint16_t m = move.at[j];
		move.at[j] = move.at[i];
		Config c = space_move(x->space, &from, m / KNOB_OPTIONS, m % KNOB_OPTIONS);
		if (try_config(x, &c))
			return true;
	}
	return false;
}

static Choice choose(Untuned *u, Space *space)
{
	Arena *a = arena_new();
	uint64_t seed;
	Trial x = { .u = u, .space = space, .drafts = drafts_new(a, space->task, &u->target), .arena = a,
		.seen = MAP_OF(a) };
	Choice c = { .task = space->task->id, .config = "-" };
	memcpy(&seed, &space->task->id, sizeof seed);
	Rng rng = rng_seed(seed);
	const char *first = trace_of(space, &space->first, a);
	if (first != NULL)
		c.trace = steps_hash(first);
	if (first != NULL && try_config(&x, &space->first)) {
		double standard = x.ns;
		for (int i = 0; i < CHOOSE_UNTUNED_DRAWN && x.tried < CHOOSE_UNTUNED_TRIED; i++) {
			Config drawn = space_sample(space, &rng);
			try_config(&x, &drawn);
		}
		while (x.tried < CHOOSE_UNTUNED_TRIED && move_on(&x, &rng)) { }
		const char *trace = trace_of(space, &x.best, a);
		if (log(standard / x.ns) > u->margin && trace != NULL && x.best.n > 0) {
			c.trace = steps_hash(trace);
			c.gain = llround(standard / x.ns * THOUSAND);
			c.config = untuned_print_config(u->arena, &x.best);
		}
	}
	arena_free(a);
	return c;
}

/* The trace that the choice stands for; NULL: templates have changed since. */
static const char *trace_of_choice(const Choice *c, Space *space, Arena *a)
{
	Config config = space->first;
	if (c->gain > 0 && !untuned_parse_config(c->config, &config))
		return NULL;
	const char *trace = trace_of(space, &config, a);
	Hash h = steps_hash(trace != NULL ? trace : "");
	return trace != NULL && memcmp(&h, &c->trace, sizeof h) == 0 ? trace : NULL;
}

bool untuned_pick(Untuned *u, Space *space, UntunedPick *out, Arena *a)
{
	const MapEntry *e = map_find_bytes(&u->known, &space->task->id, sizeof space->task->id);
	const char *trace = e != NULL ? trace_of_choice(&u->choice.at[e->num], space, a) : NULL;
	Choice c;
	if (trace != NULL) {
		c = u->choice.at[e->num];
	} else {
		c = choose(u, space);
		trace = trace_of_choice(&c, space, a);
		note_choice(u, c);
		u->fresh = true;
	}
	*out = (UntunedPick){ trace, c.config, (double)c.gain / THOUSAND };
	return c.gain > 0 && trace != NULL;
}

/* ---- opening ---- */

Untuned *untuned_open(Arena *a, const char *path, const Target *t, const char *folder, Err *err)
{
	Untuned *u = arena_new_of(a, Untuned);
	*u = (Untuned){ .arena = a, .target = *t, .known = MAP_OF(a) };
	if (!learned_read(a, path, &u->model, err))
		return NULL;
	const char *unfit = learned_unfit(a, &u->model, t);
	const LearnedGain *g = learned_gain(&u->model, t);
	if (unfit != NULL) {
		fail(err, ERR_INPUT, path, "%s", unfit);
		return NULL;
	}
	if (g == NULL || g->margin == LEARNED_NEVER)
		return NULL;
	u->margin = g->margin;
	if (folder != NULL) {
		u->path = choices_path(u, folder);
		read_choices(u);
	}
	return u;
}

double untuned_ns(const Untuned *u, const KernelSet *ks, const Task *task)
{
	return learned_ns(&u->model, ks, task, &u->target);
}

double untuned_margin(const Untuned *u)
{
	return exp(u->margin);
}
