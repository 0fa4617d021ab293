/*
 * Decides whether outputs are right.  First they are compared with reference values (the naive form in f64): all
 * elements where that is cheap, else some hundred, the padding, and whether anything was left unwritten.  The outputs
 * of a candidate that has passed become the whole that later ones are compared with: two schedules that agree
 * everywhere, and with all reference values, are right.  Where two disagree, the reference computes the element in
 * which they differ most, and shows which of them is wrong.
 */
#include "measure/runner.h"

#include "runtime/element.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double relative(const MsgCompared *c)
{
	return c->max_want > 0 ? c->max_error / c->max_want : c->max_error;
}

/*
 * Values between the calls of a Task are rounded too. So the coarsest type of all values counts, not that of the output
 * alone. Rounded factors of products count as well.
 */
static double tolerance_of(const Local *m, const Task *t)
{
	DType coarsest = dag_coarsest(t->dag);
	DTypeKind kind = coarsest.bits == 16 ? coarsest.kind : DT_INT;
	double halves = kind == DT_FLOAT ? METHOD_F16_TOLERANCE : kind == DT_BFLOAT ? METHOD_BF16_TOLERANCE : 0;
	return fmax(m->o.tolerance, fmax(halves, dag_allows_tf32(t->dag) ? METHOD_TF32_TOLERANCE : 0));
}

static bool agrees(const Local *m, const MsgCompared *c, const Task *t)
{
	return c->nbad == 0 && relative(c) <= tolerance_of(m, t);
}

static void note_error(Job *j, double error)
{
	int64_t e9 = error < 1e6 ? (int64_t)ceil(error * 1e9) : INT64_C(1000000000000000);
	if (!(e9 <= j->result.max_err_e9))
		j->result.max_err_e9 = e9;
}

static Verdict wrong(Job *j, const MsgCompared *c, const RefOut *o)
{
	if (c->nleft > 0)
		snprintf(j->result.detail, sizeof j->result.detail, "%llu elements of output %s were not written",
			(unsigned long long)c->nleft, o->buf.name);
	else if (c->nbad > 0)
		snprintf(j->result.detail, sizeof j->result.detail,
			"%llu elements of output %s are infinite or NaN where the reference is not, or the reverse",
			(unsigned long long)c->nbad, o->buf.name);
	else
		snprintf(j->result.detail, sizeof j->result.detail, "the error is %.3g of the largest element of output %s",
			relative(c), o->buf.name);
	return VERDICT_WRONG;
}

Verdict verdict_of_check(const Local *m, Job *j)
{
	Verdict v = VERDICT_GOOD;
	const MsgCompared *c = j->compared.at;
	for (size_t k = 0; k < j->ref->out.n; k++) {
		const RefOut *o = &j->ref->out.at[k];
		const MsgCompared *asked = c++, *all = o->points > 0 ? c++ : asked;
		note_error(j, relative(asked));
		if (!agrees(m, asked, j->ref->task))
			return wrong(j, asked, o);
		if (all->nleft > 0)
			return wrong(j, all, o);
		if (o->whole != NULL && !agrees(m, all, j->ref->task) && v == VERDICT_GOOD) {
			v = VERDICT_DISPUTED;
			j->disputed = (int)k;
			j->element = (int64_t)all->worst;
		}
	}
	if (v != VERDICT_DISPUTED)
		return v;
	const RefOut *o = &j->ref->out.at[j->disputed];
	int64_t *index = arena_array(j->arena, int64_t, o->place.rank + 1);
	if (places_find(&o->place, j->element, index))
		return v;
	snprintf(j->result.detail, sizeof j->result.detail, "the padding of output %s is not zero", o->buf.name);
	return VERDICT_WRONG;
}

/* Whether two values are equal, within the tolerance of a size. */
static bool close_to(double tolerance, double a, double b, double size)
{
	if (!isfinite(a) || !isfinite(b))
		return (isnan(a) && isnan(b)) || a == b;
	return fabs(a - b) <= tolerance * size;
}

static double largest(const RefOut *o, DlcDataType t)
{
	double size = 0;
	for (int i = 0; i < o->points; i++) {
		double v = fabs(element_value(t, o->value, i));
		size = isfinite(v) && v > size ? v : size;
	}
	return size > 0 ? size : 1;
}

Verdict verdict_of_judge(Local *m, Job *j)
{
	RefOut *o = &j->ref->out.at[j->disputed];
	DlcDataType t = { o->buf.type.kind, o->buf.type.bits, 1 };
	double size = largest(o, t), oracle = element_value(t, j->data.at[0].bytes, 0),
	       got = element_value(t, j->data.at[1].bytes, 0),
	       whole = element_value(t, o->whole, j->element);
	if (!close_to(tolerance_of(m, j->ref->task), got, oracle, size)) {
		note_error(j, fabs(got - oracle) / size);
		snprintf(j->result.detail, sizeof j->result.detail, "element %lld of output %s is %.6g, not %.6g",
			(long long)j->element, o->buf.name, got, oracle);
		return VERDICT_WRONG;
	}
	if (close_to(tolerance_of(m, j->ref->task), whole, oracle, size))
		return VERDICT_GOOD; /* each half a tolerance off */
	/* The first candidate was wrong in an element without a reference value. */
	j->ref->outputs_version++;
	for (size_t k = 0; k < j->ref->out.n; k++)
		if (j->ref->out.at[k].points > 0)
			j->ref->out.at[k].whole = NULL;
	j->result.refuted = j->ref->first;
	j->result.unproven = j->ref->passed.at;
	j->result.nunproven = (int)j->ref->passed.n;
	j->ref->first = NULL;
	j->ref->passed = (Traces){ 0 };
	return VERDICT_AGAIN; /* checked as the first, this one may become what others are compared with */
}

void verdict_adopt(Local *m, Job *j)
{
	LocalRef *r = j->ref;
	size_t next = 0;
	if (j->phase != PHASE_CHECK || j->data.n == 0) {
		/* Compared with the outputs of another candidate; nothing to note where the oracle gave them all. */
		bool noted = r->first == NULL || strcmp(r->first, j->trace) == 0;
		for (size_t i = 0; i < r->passed.n && !noted; i++)
			noted = strcmp(r->passed.at[i], j->trace) == 0;
		if (!noted)
			vec_push(m->arena, &r->passed, arena_printf(m->arena, "%s", j->trace));
		return;
	}
	r->first = arena_printf(m->arena, "%s", j->trace);
	r->outputs_version++;
	for (int i = 0; i < m->o.runners; i++)
		r->at[i].whole_loaded = 0;
	for (size_t k = 0; k < j->ref->out.n; k++) {
		RefOut *o = &j->ref->out.at[k];
		if (o->whole != NULL || next >= j->data.n)
			continue;
		o->whole = arena_copy(m->arena, j->data.at[next].bytes, j->data.at[next].n);
		next++;
	}
}
