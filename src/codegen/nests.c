/* See nests.h. A Fn stays whole where lowering decides by all uses of something, and several nests use it. */
#include "codegen/nests.h"
#include "codegen/backend.h"
#include "ir/build.h"
#include "ir/query.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Nest {
	Stmt *first, **end;
	bool parallel;
} Nest;

typedef struct Cut {
	Arena *arena;
	const KernelSet *ks;
	const Fn *fn;
	VEC(Nest) nest;
} Cut;

static bool is_parallel(const Stmt *s, void *arg)
{
	(void)arg;
	return s->kind == ST_FOR && (s->loop.kind == LOOP_PARALLEL || s->loop.kind == LOOP_BOUND);
}

/* Kernels cost some 2 ms to compile, however small. */
static bool is_large(const Stmt *s)
{
	return s->kind == ST_FOR || s->kind == ST_BLOCK || s->kind == ST_IF || s->kind == ST_CALL;
}

/*
 * Each loop, block, if or call begins a nest. In a team, neighbours that thread 0 runs alone stay together: lowering
 * puts no barrier between them. A let, an alloc or an old value is seen by all that follows.
 */
static bool cut_list(Cut *c, int threads)
{
	for (const Stmt *s = c->fn->body; s != NULL; s = s->next) {
		if (s->kind == ST_LET || s->kind == ST_ALLOC || (s->kind == ST_REDUCE && s->reduce.old != NULL))
			return false;
		if (s->kind == ST_BARRIER)
			continue;
		Nest *last = c->nest.n > 0 ? &c->nest.at[c->nest.n - 1] : NULL;
		bool parallel = is_parallel(s, NULL) || ir_find_below(s, is_parallel, NULL) != NULL;
		if (last == NULL || (threads == 1 ? is_large(s) : parallel || last->parallel)) {
			vec_push(c->arena, &c->nest, ((Nest){ .parallel = parallel }));
			last = &c->nest.at[c->nest.n - 1];
		}
		Stmt *own = arena_copy(c->arena, s, sizeof *s);
		own->next = NULL;
		*(last->first == NULL ? &last->first : last->end) = own;
		last->end = &own->next;
	}
	return c->nest.n > 1;
}

/* ---- what nests use ---- */

typedef struct Use {
	const char *name;
	bool yes, loads;
} Use;

static void note_use(const IrUse *use, void *arg)
{
	Use *u = arg;
	u->yes = true;
	u->loads |= use->kind != USE_STORE && use->kind != USE_PREFETCH;
}

static Use use_in(Stmt *list, const char *buf)
{
	Use u = { .name = buf };
	ir_each_use_of(list, buf, note_use, &u);
	return u;
}

static bool note_call(Stmt *s, void *arg)
{
	Use *u = arg;
	u->yes |= s->kind == ST_CALL && !s->call.intrin && strcmp(s->call.fn, u->name) == 0;
	return true;
}

static bool calls(Stmt *list, const Fn *sub)
{
	Use u = { .name = sub->name };
	ir_each_stmt(list, note_call, &u);
	return u.yes;
}

/* Whether it may have elements that no index has. The Fn zeroes them before all nests. */
static bool may_have_padding(const Buf *b)
{
	int64_t logical = 1, physical = 1, n;
	for (int k = 0; k < b->rank; k++)
		logical *= ir_is_int(b->shape[k], &n) ? n : 0;
	for (int k = 0; k < b->map.n; k++)
		physical *= ir_is_int(b->map.extent[k], &n) ? n : 0;
	return b->map.n > 0 && (logical == 0 || logical != physical);
}

/* Padded outputs and sub Fns are of one nest each; sub Fns that call others are not looked through. */
static bool are_apart(const Cut *c)
{
	for (int k = 0; k < c->fn->nparam; k++) {
		const Buf *b = c->fn->param[k].buf;
		int users = 0;
		for (size_t i = 0; b != NULL && b->role == BUF_OUT && may_have_padding(b) && i < c->nest.n; i++)
			users += use_in(c->nest.at[i].first, b->name).yes;
		if (users > 1)
			return false;
	}
	for (size_t k = 0; k < c->ks->n; k++) {
		const Fn *sub = c->ks->fn[k];
		int callers = 0;
		for (size_t i = 0; sub != c->fn && i < c->ks->n; i++)
			callers += c->ks->fn[i] != c->fn && calls(c->ks->fn[i]->body, sub) ? 2 : 0;
		for (size_t i = 0; sub != c->fn && i < c->nest.n; i++)
			callers += calls(c->nest.at[i].first, sub);
		if (callers > 1)
			return false;
	}
	return true;
}

/* ---- their sets ---- */

/* For a parameter that the nest does not use. Its name is free: see codegen_nests. */
static Buf *unused(Ir *ir, Arena *a, int k)
{
	int64_t one = 1;
	return ir_buf(ir, arena_printf(a, "unused.%d", k), BUF_IN, DT(UINT, 8), "global", &one, 1);
}

static KernelSet *set_of(const Cut *c, Stmt *nest)
{
	Arena *a = c->arena;
	KernelSet *set = arena_copy(a, c->ks, sizeof *c->ks);
	Fn *fn = arena_copy(a, c->fn, sizeof *c->fn);
	fn->body = nest;
	fn->param = arena_array(a, Param, fn->nparam);
	for (int k = 0; k < fn->nparam; k++) {
		const Param *p = &c->fn->param[k];
		fn->param[k] = *p;
		if (p->buf == NULL)
			continue;
		Buf *b = use_in(nest, p->name).yes ? arena_copy(a, p->buf, sizeof *p->buf) : unused(c->ks->ir, a, k);
		for (size_t i = 0; i < c->nest.n && b->streamed; i++) /* of its own loads the nest's emitter decides */
			b->streamed = c->nest.at[i].first == nest || !use_in(c->nest.at[i].first, p->name).loads;
		fn->param[k] = (Param){ b, b->name, b->type };
	}
	set->fn = arena_array(a, Fn *, c->ks->n);
	set->n = 0;
	set->cap = c->ks->n;
	for (size_t k = 0; k < c->ks->n; k++)
		if (c->ks->fn[k] == c->fn)
			set->fn[set->n++] = fn;
		else if (calls(nest, c->ks->fn[k]))
			set->fn[set->n++] = c->ks->fn[k];
	return set;
}

const KernelSet **codegen_nests(Arena *a, const KernelSet *ks, const Target *t, size_t *n)
{
	Cut c = { .arena = a, .ks = ks };
	int run = 0;
	for (size_t k = 0; k < ks->n; k++)
		if (ks->fn[k]->kind != FN_SUB) {
			c.fn = ks->fn[k];
			run++;
		}
	const Backend *b = backend_for(t);
	if (b == NULL || b->device != DLC_DEVICE_CPU || run != 1 || !cut_list(&c, t->threads) || !are_apart(&c))
		return NULL;
	for (int k = 0; k < c.fn->nparam; k++)
		if (ir_has_name(ks->ir, arena_printf(a, "unused.%d", k)))
			return NULL;
	const KernelSet **set = arena_array(a, const KernelSet *, c.nest.n);
	for (size_t k = 0; k < c.nest.n; k++)
		set[k] = set_of(&c, c.nest.at[k].first);
	*n = c.nest.n;
	return set;
}

/* The Fn's figures, as its whole code has them: frames share places, and the deepest loop of all counts. */
static KernelReport join_reports(const Module *const *nest, size_t n)
{
	KernelReport all = nest[0]->report[0];
	double moved = 0;
	for (size_t k = 0; k < n; k++) {
		const KernelReport *r = &nest[k]->report[0];
		all.depth = r->depth > all.depth ? r->depth : all.depth;
		all.frame_bytes = r->frame_bytes > all.frame_bytes ? r->frame_bytes : all.frame_bytes;
		all.spills += k > 0 ? r->spills : 0;
		all.code_bytes += k > 0 ? r->code_bytes : 0;
	}
	for (size_t k = 0; k < n; k++)
		moved += ldexp(nest[k]->report[0].inner_spills, 5 * (nest[k]->report[0].depth - all.depth));
	all.inner_spills = moved;
	return all;
}

bool codegen_join_nests(
	Arena *a, const Target *t, const Module *const *nest, size_t n, Module *out, Err *err)
{
	int64_t weight = 0;
	for (size_t k = 0; k < n; k++)
		weight += nest[k]->weight;
	if (!codegen_weighs_little(weight, nest[0]->report[0].name, err))
		return false;
	uint64_t align = nest[0]->backend->code_align[t->arch], size = 0, *at = arena_array(a, uint64_t, n);
	DlcEntry *entry = arena_array(a, DlcEntry, n);
	for (size_t k = 0; k < n; k++) {
		at[k] = size;
		size += (nest[k]->image.size + align - 1) / align * align;
	}
	unsigned char *bytes = arena_alloc_aligned(a, size, align);
	*out = *nest[0];
	out->weight = weight;
	out->image.bytes = bytes;
	out->image.size = size;
	out->image.entry = entry;
	out->image.nentry = (uint32_t)n;
	out->report = arena_array(a, KernelReport, n);
	for (size_t k = 0; k < n; k++) {
		memcpy(bytes + at[k], nest[k]->image.bytes, nest[k]->image.size);
		entry[k] = nest[k]->image.entry[0];
		entry[k].offset += at[k];
		entry[k].rest = (uint32_t)(n - 1 - k);
		size_t named = strlen(entry[k].name);
		if (k > 0)
			snprintf(entry[k].name + named, sizeof entry[k].name - named, ".%zu", k);
		out->report[k] = nest[k]->report[0];
		out->report[k].name = entry[k].name;
	}
	out->report[0] = join_reports(nest, n);
	out->report[0].name = entry[0].name;
	return true;
}
