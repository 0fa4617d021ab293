/*
 * Running Fns and kernel sets: symbols get their values, parameters their tensors, and each Fn in
 * turn is compiled and run by its first thread. A tensor lives as long as the set runs, so a
 * prepare's out is a run's const, and what was never written stays undefined in between.
 */
#include "interp/step.h"

#include <stdlib.h>
#include <string.h>

typedef struct Session {
	const KernelSet *ks;
	const IrArg *arg;
	int n;
	const InterpRun *how;
	Err *err;
	Run *store; /* only its memory and limits are used */
	VEC(Store *) tensor;
} Session;

/* Symbols and scalar parameters; room for all of them. */
static bool bind(const Session *s, const Fn *fn, IrArg *out, int *n)
{
	*n = 0;
	for (int k = 0; k < fn->nsym; k++) {
		const Sym *sym = &fn->sym[k];
		const IrArg *arg = ir_find_arg(s->arg, s->n, sym->name);
		if (arg == NULL || arg->data != NULL)
			return fail(s->err, ERR_TYPE, fn->name, "symbol %s has no value", sym->name);
		if (arg->value < sym->lo || arg->value > sym->hi || (sym->div > 1 && arg->value % sym->div != 0))
			return fail(s->err, ERR_TYPE, fn->name,
				"symbol %s is %lld, but must be in [%lld, %lld] and a multiple of %lld",
				sym->name, (long long)arg->value, (long long)sym->lo, (long long)sym->hi,
				(long long)sym->div);
		out[(*n)++] = (IrArg){ .name = sym->name, .value = arg->value };
	}
	for (int k = 0; k < fn->nparam; k++) {
		const Param *p = &fn->param[k];
		if (p->buf != NULL)
			continue;
		const IrArg *arg = ir_find_arg(s->arg, s->n, p->name);
		if (arg == NULL || arg->data != NULL)
			return fail(s->err, ERR_TYPE, fn->name, "parameter %s has no value", p->name);
		Val v = { .i = arg->value };
		if (!dtype_is_float(p->type))
			v.i = dtype_wrap(p->type, v.i);
		else if (s->how->domain == INTERP_MODP)
			v.m = interp_modp_of(v.f);
		else
			v.f = dtype_round(p->type, v.f);
		out[(*n)++] = (IrArg){ .name = p->name, .value = v.i };
	}
	return true;
}

/* Calls f on the physical offset of every logical element; false if the map leads outside. */
static bool each_element(
	const Store *s, void (*f)(const Store *s, int64_t at, void *arg), void *arg)
{
	View v = { 0 };
	uint32_t list[RANK];
	Val idx[RANK] = { 0 };
	int64_t logical, count;
	interp_whole(&v, (Store *)(uintptr_t)s);
	for (int k = 0; k < s->rank; k++)
		list[k] = (uint32_t)k;
	if (!ir_count_elements(s->shape, s->rank, &count))
		return false;
	for (int64_t e = 0; e < count; e++) {
		int64_t at = interp_at(&v, list, idx, &logical);
		if (at < 0)
			return false;
		f(s, at, arg);
		for (int k = s->rank - 1; k >= 0 && ++idx[k].i == s->shape[k]; k--)
			idx[k].i = 0;
	}
	return true;
}

static void mark(const Store *s, int64_t at, void *arg)
{
	uint8_t *reached = arg;
	(void)s;
	reached[at] = 1;
}

/* Padding of what comes in must be zero; that of what is yet to be written becomes zero. */
static bool padding(Session *s, const Fn *fn, Store *t, bool given)
{
	if (t->map == NULL)
		return true;
	int64_t count;
	if (!ir_count_elements(t->shape, t->rank, &count) || (s->store->steps -= count) < 0)
		return fail(s->err, ERR_MEMORY, fn->name,
			"%s has more elements than steps are allowed", t->name);
	uint8_t *reached = interp_get(s->store, (size_t)t->n + 1, true);
	if (reached == NULL)
		return false;
	bool ok = each_element(t, mark, reached) ||
	          fail(s->err, ERR_INPUT, fn->name,
			  "the index map of %s leads outside of its storage", t->name);
	for (int64_t k = 0; k < t->n && ok; k++) {
		if (reached[k])
			continue;
		if (!given)
			interp_save(t, k, (Val){ 0 });
		else if (interp_load(t, k).m << 1 != 0 && (t->residues || interp_load(t, k).f != 0))
			ok = fail(s->err, ERR_INPUT, fn->name,
				"the padding of %s is not zero, at physical element %lld", t->name,
				(long long)k);
	}
	interp_put(s->store, reached, (size_t)t->n + 1);
	return ok;
}

static bool describe(Session *s, const Fn *fn, const Buf *b, const IrArg *sym, int nsym, Store *t)
{
	int64_t count;
	t->name = b->name;
	t->type = dtype_scalar(b->type);
	t->residues = s->how->domain == INTERP_MODP && dtype_is_float(t->type);
	t->rank = b->rank;
	t->nphys = b->map.n;
	if (!ir_eval_extents(b->shape, b->rank, sym, nsym, t->shape, &t->n) ||
		(b->map.n > 0 && !ir_eval_extents(b->map.extent, b->map.n, sym, nsym, t->extent, &count)))
		return fail(s->err, ERR_TYPE, fn->name,
			"the shape of %s overflows or is not an expression of symbols", b->name);
	if (b->map.n == 0)
		return true;
	t->n = count;
	t->map = ir_map_program(s->store->arena, b, sym, nsym, fn->name, s->err);
	return t->map != NULL;
}

/* The tensor of a buffer that no Fn before has named. */
static Store *new_tensor(Session *s, const Fn *fn, const Buf *b, const Store *like)
{
	const IrArg *arg = ir_find_arg(s->arg, s->n, b->name);
	Store *t = interp_get(s->store, sizeof *t, true);
	if (t == NULL)
		return NULL;
	*t = *like;
	t->fn = fn;
	bool outside = arg != NULL && (arg->data != NULL || t->n == 0) && b->role != BUF_ZERO;
	bool given = outside && (b->role == BUF_IN || b->role == BUF_CONST || b->role == BUF_INOUT);
	if (outside)
		t->data = arg->data;
	if (!outside && (b->role == BUF_IN || b->role == BUF_INOUT)) {
		fail(s->err, ERR_TYPE, fn->name, "no tensor is given for %s", b->name);
		return NULL;
	}
	if (!interp_fill(s->store, t, false, outside) || !padding(s, fn, t, given))
		return NULL;
	if (given || b->role == BUF_ZERO)
		memset(t->def, DEFINED, (size_t)t->n);
	vec_push(s->store->arena, &s->tensor, t);
	return t;
}

static Store *tensor(Session *s, const Fn *fn, const Buf *b, const IrArg *sym, int nsym)
{
	Store like = { 0 };
	if (!describe(s, fn, b, sym, nsym, &like))
		return NULL;
	Store *t = NULL;
	for (size_t k = 0; k < s->tensor.n && t == NULL; k++)
		if (strcmp(s->tensor.at[k]->name, b->name) == 0)
			t = s->tensor.at[k];
	like.result = b->role == BUF_OUT || b->role == BUF_INOUT;
	like.zero = b->role == BUF_ZERO;
	if (t == NULL)
		return new_tensor(s, fn, b, &like);
	bool same = dtype_eq(t->type, like.type) && t->rank == like.rank &&
	            t->nphys == like.nphys && t->n == like.n &&
	            memcmp(t->shape, like.shape, sizeof t->shape) == 0 &&
	            memcmp(t->extent, like.extent, sizeof t->extent) == 0;
	if (!same) {
		fail(s->err, ERR_TYPE, fn->name,
			"%s has another type or shape in an earlier Fn of the set", b->name);
		return NULL;
	}
	t->map = like.map;
	t->result = t->result || like.result;
	return t;
}

/* Parameters become the first views of the first thread. */
static bool parameters(Session *s, Run *r, const Fn *fn, const IrArg *sym, int nsym, Thread *t)
{
	for (int k = 0; k < fn->nparam; k++) {
		const Buf *b = fn->param[k].buf;
		if (b == NULL)
			continue;
		Store *st = tensor(s, fn, b, sym, nsym);
		View *v = interp_get(r, sizeof *v, true);
		if (st == NULL || v == NULL)
			return false;
		bool shadow = r->races && b->role != BUF_IN && b->role != BUF_CONST;
		st->shadow = NULL;
		if (shadow && (st->shadow = interp_get(
				       r, sizeof(Shadow) * ((size_t)st->n + 1), true)) == NULL)
			return false;
		interp_whole(v, st);
		t->view[k] = v;
	}
	return true;
}

static bool run_in(Session *s, Run *r, const Fn *fn)
{
	IrArg *sym = arena_array(r->arena, IrArg, fn->nsym + fn->nparam + 1);
	int nsym;
	if (!bind(s, fn, sym, &nsym))
		return false;
	r->p = interp_compile(r->arena, s->ks, fn, sym, nsym, s->how->domain, s->err);
	if (r->p == NULL || !interp_race_start(r))
		return false;
	r->scan = arena_array(r->arena, Map, r->p->nscan + 1);
	for (uint32_t k = 0; k < r->p->nscan; k++)
		r->scan[k] = MAP_OF(r->arena);
	Thread *t = interp_thread(r, NULL);
	if (t == NULL || !parameters(s, r, fn, sym, nsym, t))
		return false;
	return interp_schedule(r, t);
}

static bool run_one(Session *s, const Fn *fn, uint64_t number)
{
	Run r = { .arena = arena_new(), .how = s->how, .err = s->err };
	r.rng = rng_seed(s->how->seed + number * 0x9e3779b97f4a7c15u);
	r.limit = s->store->limit - s->store->used;
	r.steps = s->store->steps;
	bool ok = run_in(s, &r, fn);
	s->store->steps = r.steps;
	for (size_t k = 0; k < s->tensor.n; k++)
		s->tensor.at[k]->shadow = NULL;
	arena_free(r.arena);
	return ok;
}

typedef struct Hole {
	bool found;
	int64_t at;
} Hole;

static void look(const Store *s, int64_t at, void *arg)
{
	Hole *h = arg;
	if (!h->found && s->def[at] != DEFINED)
		*h = (Hole){ true, at };
}

/* Every element of what the caller gets must have been written. */
static bool complete(Session *s)
{
	for (size_t k = 0; k < s->tensor.n; k++) {
		const Store *t = s->tensor.at[k];
		const IrArg *arg = ir_find_arg(s->arg, s->n, t->name);
		Hole h = { false, 0 };
		if (arg == NULL || arg->data == NULL || !t->result)
			continue;
		each_element(t, look, &h);
		if (h.found)
			return fail(s->err, ERR_INPUT, t->fn->name,
				"%s is not written completely: physical element %lld is undefined",
				t->name, (long long)h.at);
	}
	return true;
}

/* Zero buffers must be zero again for the next call. */
static bool zeroed(Session *s)
{
	for (size_t k = 0; k < s->tensor.n; k++) {
		const Store *t = s->tensor.at[k];
		int64_t bytes = t->residues ? 8 * t->n : dtype_bytes(t->type, t->n), at = 0;
		while (t->zero && at < bytes && t->data[at] == 0)
			at++;
		if (t->zero && at < bytes)
			return fail(s->err, ERR_INPUT, t->fn->name, "%s is not zero when the call ends: element %lld is not",
				t->name, (long long)(t->residues ? at / 8 : at * 8 / t->type.bits));
	}
	return true;
}

/* Runs the Fns of the set of that kind, or the one given. */
static bool run_kind(Session *s, FnKind kind, uint64_t *number)
{
	for (size_t k = 0; k < s->ks->n; k++)
		if (s->ks->fn[k]->kind == kind && !run_one(s, s->ks->fn[k], (*number)++))
			return false;
	return true;
}

static bool with_session(
	const KernelSet *ks, const Fn *fn, const IrArg *arg, int n, const InterpRun *how, Err *err)
{
	Run memory = { .arena = arena_new(), .how = how, .err = err };
	memory.limit = how->memory > 0 ? (size_t)how->memory : (size_t)2 << 30;
	memory.steps = how->steps > 0 ? how->steps : INT64_MAX;
	Session s = { ks, arg, n, how, err, &memory, { 0 } };
	uint64_t number = 0;
	bool ok = fn != NULL ? run_one(&s, fn, 0)
	                     : run_kind(&s, FN_PREPARE, &number) && run_kind(&s, FN_RUN, &number) &&
	                               zeroed(&s) && (how->partial || complete(&s));
	arena_free(memory.arena);
	return ok;
}

bool interp_run_set(const KernelSet *ks, const IrArg *arg, int n, const InterpRun *how, Err *err)
{
	return with_session(ks, NULL, arg, n, how, err);
}

bool interp_run_fn(
	const KernelSet *ks, const Fn *fn, const IrArg *arg, int n, const InterpRun *how, Err *err)
{
	return with_session(ks, fn, arg, n, how, err);
}
