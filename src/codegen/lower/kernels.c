/*
 * Run and prepare Fns to kernels of a device, each started by one launch. A top-level statement with bound loops is
 * a kernel; neighbours without bound loops are one kernel of a single thread. Kernels run one after the other, so
 * global memory carries what one leaves for the next. An out buffer with padding that some lane may leave gets a
 * kernel of its own before the others, which flatten fills (padding.c): a store there precedes all others.
 *
 * All kernels of a Fn have its parameters. An alloc that several kernels use, or one with bound loops, becomes a
 * work parameter behind these, which lies in DlcCall.work. A top-level let becomes its value; one that loads
 * becomes a work buffer of one element, since memory changes between kernels.
 */
#include "codegen/lower/pass.h"
#include "ir/build.h"
#include "ir/query.h"

#include <string.h>

typedef struct Group { /* of one kernel */
	Stmt *first, **end;
	bool bound;
} Group;

typedef struct Cut {
	Lower *l;
	const Fn *fn;
	VEC(Group) group;
	VEC(Stmt *) alloc; /* at the top */
} Cut;

static bool is_bound(const Stmt *s, void *arg)
{
	(void)arg;
	return s->kind == ST_FOR && s->loop.kind == LOOP_BOUND;
}

static Group *add_group(Cut *c, bool bound)
{
	vec_push(c->l->arena, &c->group, ((Group){ NULL, NULL, bound }));
	return &c->group.at[c->group.n - 1];
}

static void add_stmt(Cut *c, Stmt *s)
{
	s->next = NULL;
	bool bound = is_bound(s, NULL) || ir_find_below(s, is_bound, NULL) != NULL;
	Group *g = c->group.n > 0 ? &c->group.at[c->group.n - 1] : NULL;
	if (g == NULL || bound || g->bound)
		g = add_group(c, bound);
	if (g->first == NULL)
		g->first = s;
	else
		*g->end = s;
	g->end = &s->next;
}

/* The let's value in `rest`; a value that loads is stored first. */
static void put_let(Cut *c, Stmt *s, Stmt *rest)
{
	Ir *ir = c->l->ir;
	const Expr *value = s->let.value;
	if (ir_has_load(value)) {
		int64_t one = value->type.lanes;
		Buf *b = ir_buf(ir, ir_fresh_name(ir, s->let.var), BUF_WORK, dtype_scalar(value->type), "global", &one, 1);
		Stmt *store = ir_stmt(ir, ST_STORE);
		const Expr *at = one == 1 ? ir_int(ir, 0) : lower_all_lanes(ir, (int)one);
		store->store.dst = (Access){ b->name, 1, arena_copy(c->l->arena, &at, sizeof at) };
		store->store.value = value;
		vec_push(c->l->arena, &c->alloc, ir_alloc(ir, b));
		add_stmt(c, store);
		value = ir_load(ir, b, &at, 1);
	}
	ir_subst_stmt(ir, rest, s->let.var, value);
}

static void cut_list(Cut *c, Stmt *s)
{
	for (Stmt *next; s != NULL; s = next) {
		next = s->next;
		if (s->kind == ST_LET)
			put_let(c, s, next);
		else if (s->kind == ST_ALLOC)
			vec_push(c->l->arena, &c->alloc, s);
		else if (s->kind != ST_BARRIER) /* there is one instance */
			add_stmt(c, s);
	}
}

typedef struct Used {
	const char *buf;
	bool yes;
} Used;

static void note_use(const IrUse *use, void *arg)
{
	Used *u = arg;
	u->yes = u->yes || use->buf == u->buf;
}

/* A top-level alloc goes into the only kernel that uses it, if that has one thread; else it becomes a parameter. */
static void place_alloc(Cut *c, Stmt *s, Fn *params)
{
	Group *user = NULL;
	bool many = false;
	for (size_t k = 0; k < c->group.n; k++) {
		Used u = { s->alloc->name, false };
		ir_each_use(c->group.at[k].first, note_use, &u);
		if (!u.yes)
			continue;
		many = many || user != NULL || c->group.at[k].bound;
		user = &c->group.at[k];
	}
	if (user == NULL)
		return;
	if (!many) {
		s->next = user->first;
		user->first = s;
		return;
	}
	Buf *b = s->alloc;
	b->role = BUF_WORK;
	b->scope = ir_name(c->l->ir, "global");
	ir_fn_add_buf(c->l->ir, params, b);
}

/* Names of a Fn's allocs are its own, those of parameters are the set's. */
static void rename_allocs(Cut *c)
{
	Stmt *all = NULL;
	if (c->alloc.n == 0)
		return;
	for (size_t k = 0; k < c->alloc.n; k++) {
		c->alloc.at[k]->next = NULL;
		all = ir_seq(all, c->alloc.at[k]);
	}
	for (size_t k = 0; k < c->group.n; k++)
		all = ir_seq(all, c->group.at[k].first);
	lower_rename(c->l, all);
	for (size_t k = 0; k < c->alloc.n; k++)
		c->alloc.at[k]->next = NULL;
	for (size_t k = 0; k < c->group.n; k++)
		if (c->group.at[k].end != NULL)
			*c->group.at[k].end = NULL;
}

static bool has_padding(Lower *l, const Fn *fn)
{
	for (int k = 0; k < fn->nparam; k++) {
		const Buf *b = fn->param[k].buf;
		if (b != NULL && lower_pads(l, b))
			return true;
	}
	return false;
}

/* A Fn with the parameters of another, which has buffers of its own: passes change them. */
static Fn *fn_like(Lower *l, const Fn *fn, const char *name)
{
	Fn head = *fn;
	head.body = NULL;
	Fn *copy = ir_clone_fn(l->ir, &head);
	copy->name = ir_name(l->ir, name);
	return copy;
}

static bool cut_fn(Lower *l, Fn *fn, KernelSet *out)
{
	Cut c = { .l = l, .fn = fn };
	l->fn = fn;
	int nbuf = 0;
	for (int k = 0; k < fn->nparam; k++)
		nbuf += fn->param[k].buf != NULL;
	bool padding = has_padding(l, fn);
	if (padding)
		add_group(&c, true); /* nothing joins it */
	cut_list(&c, fn->body);
	if (c.group.n == 0)
		add_group(&c, false);
	rename_allocs(&c);
	fn->body = NULL;
	for (size_t k = 0; k < c.alloc.n; k++)
		place_alloc(&c, c.alloc.at[k], fn);
	for (size_t k = 0; k < c.group.n; k++) {
		const char *name = k == 0 ? fn->name : arena_printf(l->arena, "%s.%zu", fn->name, k);
		if (k > 0 && ir_has_name(l->ir, name))
			name = ir_fresh_name(l->ir, name);
		Fn *kernel = fn_like(l, fn, name);
		kernel->body = c.group.at[k].first;
		ir_set_add(out, kernel);
		LowerKernel row = { .fn = kernel, .nbuf = (uint32_t)nbuf, .rest = (uint32_t)(c.group.n - 1 - k) };
		for (int d = 0; d < DLC_LAUNCH_DIMS; d++)
			row.launch.dim[d] = (DlcDim){ { -1, -1 }, 0, d != DLC_SHARED, 1 };
		vec_push(l->arena, &l->kernel, row);
	}
	return true;
}

bool pass_kernels(Lower *l)
{
	KernelSet out = *l->ks;
	out.fn = NULL;
	out.n = out.cap = 0;
	for (size_t k = 0; k < l->ks->n; k++) {
		Fn *fn = l->ks->fn[k];
		if (fn->kind == FN_SUB)
			ir_set_add(&out, fn);
		else if (!cut_fn(l, fn, &out))
			return false;
	}
	*l->ks = out;
	return true;
}
