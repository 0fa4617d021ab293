/* See equal.h. */
#include "equal.h"
#include "suite.h"

#include "base/rng.h"
#include "ir/build.h"
#include "op/element.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Task *task_of(Arena *a, const char *text)
{
	Err err = { 0 };
	Dag *d = dag_parse(a, "workload", text, strlen(text), &err);
	Task *t = d != NULL ? task_new(a, d, &err) : NULL;
	ck_assert_msg(t != NULL, "%s: %s", err.place, err.text);
	return t;
}

Target named_target(const char *name, int threads)
{
	Err err = { 0 };
	Target t;
	char dir[4096];
	const char *dirs[] = { dir }, *root = getenv("DLC_SOURCE_ROOT");
	snprintf(dir, sizeof dir, "%s/configs/targets", root != NULL ? root : ".");
	ck_assert_msg(target_resolve(&t, name, threads, dirs, 1, &err), "%s: %s", err.place, err.text);
	return t;
}

/* An index map's expression where its variables have these values. */
static int64_t place_at(const Expr *e, const IndexMap *m, const int64_t *at)
{
	int64_t x, y;
	for (int k = 0; e->op == IR_VAR && k < m->nvar; k++)
		if (e->name == m->var[k])
			return at[k];
	if (ir_is_int(e, &x))
		return x;
	x = place_at(e->arg[0], m, at);
	y = place_at(e->arg[1], m, at);
	switch (e->op) {
	case IR_ADD: return x + y;
	case IR_MUL: return x * y;
	case IR_DIV: return x / y;
	case IR_MOD: return x % y;
	default: ck_abort_msg("an index map of other operations");
	}
	return 0;
}

/* Which physical elements hold logical ones; the others are padding, and zero. NULL: all. */
static bool *reached(Arena *a, const Buf *b, int64_t count)
{
	int64_t at[IR_MAX_RANK] = { 0 }, n;
	int k = 0;
	if (b->map.n == 0)
		return NULL;
	bool *yes = arena_array(a, bool, count);
	while (k >= 0) {
		int64_t place = 0;
		for (int d = 0; d < b->map.n; d++)
			place = place * place_at(b->map.extent[d], &b->map, at) + place_at(b->map.at[d], &b->map, at);
		yes[place] = true;
		for (k = b->rank - 1; k >= 0 && ir_is_int(b->shape[k], &n) && ++at[k] == n; k--)
			at[k] = 0;
	}
	return yes;
}

int draw_args(Arena *a, const KernelSet *naive, InterpDomain domain, uint64_t seed, IrArg *arg)
{
	Rng rng = rng_seed(seed);
	int n = 0;
	const Fn *fn = naive->fn[0];
	for (int k = 0; k < fn->nparam; k++) {
		const Buf *b = fn->param[k].buf;
		int64_t count = ir_buf_elements(b, NULL, 0);
		if (b->role == BUF_WORK)
			continue;
		ck_assert_int_lt(n, EQUAL_TENSORS);
		uint64_t *residue = arena_alloc_aligned(a, (size_t)count * sizeof *residue + 64, 64);
		const bool *holds = reached(a, b, count);
		memset(residue, 0, (size_t)count * sizeof *residue);
		for (int64_t i = 0; i < count; i++) {
			if (holds != NULL && !holds[i])
				continue;
			if (!dtype_is_float(b->type)) {
				uint64_t any = rng_next(&rng);
				memcpy((char *)residue + dtype_bytes(b->type, i), &any, (size_t)dtype_bytes(b->type, 1));
				continue;
			}
			double v = rng_real(&rng) * 2 - 1;
			if (domain == INTERP_MODP)
				residue[i] = rng_below(&rng, 1000000);
			else
				element_set(b->type, residue, i, v);
		}
		arg[n++] = (IrArg){ .name = b->name, .data = residue };
	}
	return n;
}

/*
 * Other orders of sums differ by rounding, which moves a half by a unit; another algorithm by its stated error; factors
 * of tf32 by 2^-11 each.
 */
static double tolerance(DType t, double value, const char *trace)
{
	double sums = strstr(trace, "_tf32") != NULL ? 4e-3 : strstr(trace, "compute ") != NULL ? 1e-4 : 1e-5;
	return sums + (t.bits == 16 ? fabs(value) / 128 : 0);
}

static void compare(const Buf *b, int64_t count, const void *x, const void *y, InterpDomain domain, const char *trace)
{
	if (!dtype_is_float(b->type)) {
		ck_assert_msg(memcmp(x, y, (size_t)dtype_bytes(b->type, count)) == 0, "%s differs:\n%s", b->name, trace);
		return;
	}
	for (int64_t i = 0; i < count; i++) {
		if (domain == INTERP_MODP) {
			ck_assert_msg(interp_modp_same(((const uint64_t *)x)[i], ((const uint64_t *)y)[i]),
				"%s[%lld] differs:\n%s", b->name, (long long)i, trace);
			continue;
		}
		double p = element_get(b->type, x, i), q = element_get(b->type, y, i);
		if (p == q || (isnan(p) && isnan(q))) /* infinities, too */
			continue;
		ck_assert_msg(fabs(p - q) <= tolerance(b->type, p, trace), "%s[%lld]: %g and %g:\n%s", b->name, (long long)i,
			p, q, trace);
	}
}

void must_agree(const KernelSet *naive, const IrArg *x, const IrArg *y, int n, InterpDomain domain, const char *trace)
{
	for (int k = 0; k < n; k++) {
		const Buf *b = ir_find_buf(naive->fn[0], x[k].name);
		compare(b, ir_buf_elements(b, NULL, 0), x[k].data, y[k].data, domain, trace);
	}
}

void must_run(const KernelSet *ks, IrArg *arg, int n, InterpDomain domain, uint64_t seed, const char *trace)
{
	Err err = { 0 };
	InterpRun how = { .seed = seed, .domain = domain };
	ck_assert_msg(interp_run_set(ks, arg, n, &how, &err), "%s: %s\n%s", err.place, err.text, trace);
}

Want want_run(Arena *a, const KernelSet *naive, InterpDomain domain, uint64_t seed)
{
	Want w = { .naive = naive, .domain = domain, .seed = seed };
	w.n = draw_args(a, naive, domain, seed, w.arg);
	must_run(naive, w.arg, w.n, domain, seed, "naive");
	return w;
}

static bool compares(void)
{
	return suite_count(1, 0, 1) > 0;
}

Want want_of(Arena *a, const KernelSet *naive, InterpDomain domain, uint64_t seed)
{
	return compares() ? want_run(a, naive, domain, seed) : (Want){ .naive = naive };
}

void must_give(const Want *w, const KernelSet *ks, uint64_t order, const char *trace)
{
	if (!compares())
		return;
	Arena *a = arena_new();
	IrArg got[EQUAL_TENSORS];
	draw_args(a, w->naive, w->domain, w->seed, got);
	must_run(ks, got, w->n, w->domain, order, trace);
	must_agree(w->naive, w->arg, got, w->n, w->domain, trace);
	arena_free(a);
}

void must_equal(const KernelSet *naive, const KernelSet *ks, InterpDomain domain, uint64_t seed, const char *trace)
{
	Arena *a = arena_new();
	Want w = want_of(a, naive, domain, seed);
	must_give(&w, ks, seed, trace);
	arena_free(a);
}
