/* See show_space.h. */
#include "api/show_space.h"

#include "base/json.h"
#include "cost_model/roof.h"
#include "db/rank.h"

#include <string.h>

enum { SAMPLES = 32 };

/* Percent of a space's configs whose traces replay, of a sample. */
static double valid_percent(Space *space, const Task *t, const Target *target)
{
	Rng rng = rng_seed(1);
	int valid = 0;
	for (int i = 0; i < SAMPLES; i++) {
		Arena *a = arena_new();
		Config c = i == 0 ? space->first : space_sample(space, &rng);
		Trace *trace = space_trace(space, &c, a, NULL);
		valid += trace != NULL && schedule_replay(ir_new(a), t, target, trace, NULL) != NULL;
		arena_free(a);
	}
	return 100.0 * valid / SAMPLES;
}

/* Recorded milliseconds of the best schedule and of the default one; 0: none. */
static bool recorded_ms(Space *space, const Task *t, const CompileOptions *o, Arena *a, double *best,
	double *plain, Err *err)
{
	DbKey key = { .workload = t->id,
		.target = target_id(o->target),
		.epoch = CODEGEN_EPOCH,
		.floor_ns = roof_floor_ns(t, o->target) };
	DbSet set = { o->db, o->ndb };
	DbChoice c;
	Text text = { .arena = a };
	Trace *first = space_trace(space, &space->first, a, err);
	int n;
	bool there;
	*best = *plain = 0;
	if (first == NULL || !db_rank(set, &key, &c, 1, &n, a, err))
		return false;
	trace_print(&text, first);
	*best = n > 0 ? (double)c.ns / 1e6 : 0;
	if (!db_of_trace(set, &key, text_str(&text), &c, &there, a, err))
		return false;
	*plain = there ? (double)c.ns / 1e6 : 0;
	return true;
}

static Json *ms_or_null(Arena *a, double ms)
{
	return ms > 0 ? json_new_real(a, ms) : json_new(a, JV_NULL);
}

bool show_task_row(Text *out, const Task *t, bool alternative, const CompileOptions *o, const Roof *machine, Err *err)
{
	Arena *a = arena_new();
	char hex[HASH_HEX];
	double best, plain;
	Space *space = space_new(a, t, o->target, err);
	bool ok = space != NULL && recorded_ms(space, t, o, a, &best, &plain, err);
	if (ok) {
		RoofTime roof = roof_of(t, machine);
		double ms = best > 0 ? best : plain;
		hash_hex(t->id, hex);
		Json *v = json_new(a, JV_OBJECT);
		json_set(a, v, "key", json_new_text(a, hex));
		json_set(a, v, "op", json_new_text(a, t->label));
		json_set(a, v, "weight", json_new_int(a, t->weight));
		json_set(a, v, "alternative", json_new_bool(a, alternative));
		json_set(a, v, "flops", json_new_count(a, t->flops));
		json_set(a, v, "bytes", json_new_count(a, t->bytes));
		json_set(a, v, "space", json_new_count(a, space_size(space)));
		json_set(a, v, "valid_percent", json_new_count(a, valid_percent(space, t, o->target)));
		json_set(a, v, "best_ms", ms_or_null(a, best));
		json_set(a, v, "default_ms", ms_or_null(a, plain));
		json_set(a, v, "direct_roof_percent", ms_or_null(a, ms > 0 ? roof_ns(t, machine) / ms / 1e4 : 0));
		json_set(a, v, "bound", json_new_text(a, roof.flops_ns >= roof.bytes_ns ? "compute" : "memory"));
		json_write(out, v);
		text_add(out, "\n");
	}
	arena_free(a);
	return ok;
}

/* ---- the space */

static const char *option_text(Arena *a, const KnobOption *o)
{
	Text text = { .arena = a };
	knob_print_option(&text, o);
	return text_str(&text);
}

static Json *option_json(Arena *a, const KnobOption *o)
{
	return o->kind == KNOB_NUMBER ? json_new_int(a, o->number) : json_new_text(a, option_text(a, o));
}

/* Whether the default config has the knob; *option: which one. */
static bool default_has(const Space *s, const Knob *k, int *option)
{
	for (int at = 0; at < s->first.n; at++)
		if (space_knob(s, &s->first, at) == k) {
			*option = s->first.pick[at];
			return true;
		}
	return false;
}

/*
 * Whether an earlier row says the same of this knob, since what is its default depends on another knob: then that of
 * the default config stands there.
 */
static bool is_told(const Space *s, Arena *a, size_t at)
{
	const Knob *k = &s->knob.at[at];
	int picked;
	for (size_t i = 0; i < s->knob.n && !default_has(s, k, &picked); i++) {
		const Knob *o = &s->knob.at[i];
		bool same = o->name == k->name && o->n == k->n && o->under != NULL && k->under != NULL &&
			strcmp(o->under, k->under) == 0;
		for (int n = 0; n < k->n && same; n++)
			same = strcmp(option_text(a, &o->option[n]), option_text(a, &k->option[n])) == 0;
		if (same && (i < at || default_has(s, o, &picked)))
			return i != at;
	}
	return false;
}

static void space_json(Text *out, Arena *a, Space *s, const char *id)
{
	Json *v = json_new(a, JV_OBJECT);
	json_set(a, v, "key", json_new_text(a, id));
	json_set(a, v, "op", json_new_text(a, s->task->label));
	json_set(a, v, "template", json_new_text(a, s->tmpl->name));
	json_set(a, v, "space", json_new_count(a, space_size(s)));
	Json *knobs = json_set(a, v, "knobs", json_new(a, JV_ARRAY));
	Json *first = json_set(a, v, "default", json_new(a, JV_OBJECT));
	for (size_t k = 0; k < s->knob.n; k++) {
		const Knob *knob = &s->knob.at[k];
		int picked;
		if (is_told(s, a, k))
			continue;
		Json *row = json_new(a, JV_OBJECT);
		json_set(a, row, "name", json_new_text(a, knob->name));
		if (knob->under != NULL)
			json_set(a, row, "under", json_new_text(a, knob->under));
		Json *list = json_set(a, row, "options", json_new(a, JV_ARRAY));
		for (int i = 0; i < knob->n; i++)
			json_push(a, list, option_json(a, &knob->option[i]));
		json_push(a, knobs, row);
		if (default_has(s, knob, &picked))
			json_set(a, first, knob->name, option_json(a, &knob->option[picked]));
	}
	json_write(out, v);
	text_add(out, "\n");
}

static void space_text(Text *out, Arena *a, Space *s, const char *id)
{
	double size = space_size(s);
	int names = 0;
	for (size_t k = 0; k < s->knob.n; k++) {
		size_t i = 0;
		while (s->knob.at[i].name != s->knob.at[k].name)
			i++;
		names += i == k; /* a knob under two options stands in two rows */
	}
	text_add(out, "# task %.7s %s\ntemplate %s: %s\n%d knobs, %.0f configs; the default's options in brackets\n", id,
		s->task->label, s->tmpl->name, s->tmpl->doc, names, size);
	for (size_t k = 0; k < s->knob.n; k++) {
		const Knob *knob = &s->knob.at[k];
		int picked = -1;
		if (is_told(s, a, k))
			continue;
		default_has(s, knob, &picked);
		text_add(out, "%-20s", knob->name);
		for (int i = 0; i < knob->n; i++)
			text_add(out, i == picked ? " [%s]" : " %s", option_text(a, &knob->option[i]));
		text_add(out, knob->under != NULL ? "  (under %s)\n" : "\n", knob->under);
	}
}

bool show_space(Text *out, const Task *t, const Target *target, bool json, Err *err)
{
	Arena *a = arena_new();
	char hex[HASH_HEX];
	Space *s = space_new(a, t, target, err);
	hash_hex(t->id, hex);
	if (s != NULL && json)
		space_json(out, a, s, hex);
	else if (s != NULL)
		space_text(out, a, s, hex);
	arena_free(a);
	return s != NULL;
}
