/*
 * Spaces: a template run in declare mode yields knobs, run with a config it yields a trace.  The
 * trace is made as text and parsed, so that what a template writes is what a record holds.
 */
#include "schedule/sketch.h"

#include "ir/verify/verify.h"

#include <stdio.h>
#include <string.h>

int64_t sketch_knob(Sketch *s, const char *name, const int64_t *option, int n, int first)
{
	if (n > KNOB_OPTIONS)
		n = KNOB_OPTIONS;
	if (first >= n)
		first = 0;
	if (s->declare != NULL) {
		Space *space = s->declare;
		if (n >= 2 && space->n < KNOBS) {
			Knob *k = &space->knob[space->n];
			k->name = arena_printf(s->arena, "%s", name);
			k->n = n;
			memcpy(k->option, option, sizeof *option * (size_t)n);
			space->first.pick[space->n++] = (uint8_t)first;
		}
		return option[first];
	}
	for (int k = 0; k < s->space->n; k++)
		if (strcmp(s->space->knob[k].name, name) == 0)
			return s->space->knob[k].option[s->config->pick[k]];
	return option[first];
}

void sketch_step(Sketch *s, const char *fmt, ...)
{
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	char *line = arena_alloc(s->arena, (size_t)n + 1);
	vsnprintf(line, (size_t)n + 1, fmt, again);
	va_end(again);
	va_end(ap);
	text_add(&s->steps, "%s\n", line);
}

Space *space_new(Arena *a, const Task *task, const Target *target, Err *err)
{
	Space *space = arena_new_of(a, Space);
	*space = (Space){ .arena = a, .task = task, .target = target };
	for (const Template *const *t = templates; *t != NULL; t++)
		if ((*t)->applies(task, target)) {
			space->tmpl = *t;
			break;
		}
	if (space->tmpl == NULL) {
		fail(err, ERR_UNSUPPORTED, task->label, "there are no schedules for targets of kind %s yet",
			target_kind_name(target->kind));
		return NULL;
	}
	space->naive = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, err);
	if (space->naive == NULL)
		return NULL;
	Sketch s = { .arena = a,
		.task = task,
		.target = target,
		.naive = space->naive,
		.declare = space,
		.steps = { .arena = a } };
	return space->tmpl->run(&s, err) ? space : NULL;
}

double space_size(const Space *s)
{
	double size = 1;
	for (int k = 0; k < s->n; k++)
		size *= s->knob[k].n;
	return size;
}

Config space_sample(const Space *s, Rng *rng)
{
	Config c = { 0 };
	for (int k = 0; k < s->n; k++)
		c.pick[k] = (uint8_t)rng_below(rng, (uint64_t)s->knob[k].n);
	return c;
}

Trace *space_trace(const Space *s, Config c, Arena *a, Err *err)
{
	Sketch sk = { .arena = a,
		.task = s->task,
		.target = s->target,
		.naive = s->naive,
		.space = s,
		.config = &c,
		.steps = { .arena = a } };
	if (!s->tmpl->run(&sk, err))
		return NULL;
	return trace_parse(a, s->tmpl->name, text_str(&sk.steps), sk.steps.n, err);
}

static KernelSet *replay(Ir *ir, const Task *task, const Target *target, const Trace *t, Err *err)
{
	KernelSet *ks = op_naive(ir, task->dag, "k", NAIVE_AS_TYPED, err);
	return ks != NULL && trace_apply(ks, t, task->dag, target, err) && ir_verify_set(ks, err) ? ks : NULL;
}

const KernelSet *schedule_draft(Ir *ir, const Task *task, const Target *target, const Trace *t, Err *err)
{
	return replay(ir, task, target, t, err);
}

KernelSet *schedule_replay(Ir *ir, const Task *task, const Target *target, const Trace *t, Err *err)
{
	KernelSet *ks = replay(ir, task, target, t, err);
	return ks != NULL && ir_verify_accesses(ks, err) ? ks : NULL;
}
