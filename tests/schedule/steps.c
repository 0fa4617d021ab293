/* See steps.h. */
#include "steps.h"
#include "suite.h"

#include "ir/text/ir_text.h"
#include "ir/threads/form.h"
#include "ir/verify/verify.h"
#include "ir/walk.h"

#include <string.h>

const char *const step_workloads[] = {
	"dag conv\nin x: f32[1,3,7,13]\nconst w: f32[5,3,3,3]\nconst b: f32[5]\n"
	"y: f32[1,5,7,13] = conv(x, w, b) pads=[1,1,1,1]\nz: f32[1,5,7,13] = relu(y)\nout z\n",
	"dag depthwise\nin x: f32[1,7,5,6]\nconst w: f32[7,1,3,3]\ny: f32[1,7,3,4] = conv(x, w) groups=7\nout y\n",
	"dag strided\nin x: f32[2,4,7,7]\nconst w: f32[6,2,1,1]\ny: f32[2,6,4,4] = conv(x, w) strides=[2,2] "
	"groups=2\nout y\n",
	"dag dense\nin x: f32[2,24]\nconst w: f32[13,24]\nconst b: f32[13]\ny: f32[2,13] = dense(x, w, b)\nout y\n",
	"dag matmul\nin a: f32[2,5,7]\nin b: f32[2,7,6]\ny: f32[2,5,6] = matmul(a, b)\nout y\n",
	"dag pool\nin x: f32[1,4,7,13]\ny: f32[1,4,3,6] = max_pool(x) kernel=[3,3] strides=[2,2]\nout y\n",
	"dag mean\nin x: f32[1,3,7,7]\ny: f32[1,3,7,7] = avg_pool(x) kernel=[3,3] pads=[1,1,1,1]\nout y\n",
	"dag add\nin a: f32[7,24]\nin b: f32[7,1]\ny: f32[7,24] = add(a, b)\nz: f32[7,24] = relu(y)\nout z\n",
	"dag softmax\nin x: f32[3,49]\ny: f32[3,49] = softmax(x)\nout y\n",
	"dag mean\nin x: f32[3,197]\ny: f32[3,1] = reduce_mean(x) axes=[1] keep=1\nout y\n",
	"dag concat\nin a: f32[1,3,13]\nin b: f32[1,4,13]\ny: f32[1,7,13] = concat(a, b) axis=1\nz: f32[1,7,13] = "
	"relu(y)\nout z\n",
	"dag block\nin x: f32[1,4,7,7]\nin r: f32[1,6,7,7]\nconst w: f32[6,4,3,3]\ny: f32[1,6,7,7] = conv(x, w) "
	"pads=[1,1,1,1]\n"
	"z: f32[1,6,7,7] = add(y, r)\nv: f32[1,6,7,7] = relu(z)\nout v\n",
	"dag rows\nin x: f32[1,3,7,5]\nconst w: f32[4,3,1,1]\nconst v: f32[4,1,3,3]\ny: f32[1,4,7,5] = conv(x, w)\n"
	"z: f32[1,4,7,5] = conv(y, v) groups=4 pads=[1,1,1,1]\nout z\n",
	"dag pooled\nin x: f32[1,2,7,8]\nconst w: f32[3,2,1,1]\ny: f32[1,3,7,8] = conv(x, w)\nr: f32[1,3,7,8] = relu(y)\n"
	"z: f32[1,3,3,3] = max_pool(r) kernel=[3,3] strides=[2,2]\nout z\n",
	"dag chain\nin x: f32[1,2,17]\nconst w: f32[3,2,3]\nconst v: f32[3,1,5]\ny: f32[1,3,17] = conv(x, w) pads=[1,1]\n"
	"r: f32[1,3,17] = relu(y)\nz: f32[1,3,8] = conv(r, v) groups=3 strides=[2] pads=[1,1]\n"
	"p: f32[1,3,6] = max_pool(z) kernel=[3]\nout p\n",
	"dag exp\nin x: f32[2,16]\ny: f32[2,16] = exp(x)\nout y\n",
	"dag attention\nin q: f32[1,1,5,2]\nin k: f32[1,1,6,2]\nin v: f32[1,1,6,3]\n"
	"y: f32[1,1,5,3] = attention(q, k, v) causal=1\nout y\n",
	"dag transpose\nin x: f32[7,4,13]\ny: f32[13,7,4] = transpose(x) perm=[2,0,1]\nout y\n",
};
const int step_nworkload = LEN(step_workloads);

/* A buffer that a loop's body declares, or a block below it, and the loop. */
typedef struct Inside {
	const char *name, *loop;
} Inside;

typedef struct Loops {
	Arena *arena;
	VEC(const char *) name, block, tensor;
	VEC(Inside) declared, below;
} Loops;

static void add_inside(Loops *l, const Stmt *loop)
{
	for (const Stmt *c = loop->loop.body; c != NULL; c = c->next) {
		const Stmt *inner = c;
		while (inner->kind == ST_FOR)
			inner = inner->loop.body;
		if (c->kind == ST_ALLOC)
			vec_push(l->arena, &l->declared, ((Inside){ c->alloc->name, loop->loop.var }));
		if (inner->kind == ST_BLOCK && c->next != NULL)
			vec_push(l->arena, &l->below, ((Inside){ inner->block.name, loop->loop.var }));
	}
}

static bool add_loop(Stmt *s, void *arg)
{
	Loops *l = arg;
	if (s->kind == ST_FOR) {
		vec_push(l->arena, &l->name, s->loop.var);
		add_inside(l, s);
	}
	if (s->kind == ST_BLOCK)
		vec_push(l->arena, &l->block, s->block.name);
	if (s->kind == ST_ALLOC)
		vec_push(l->arena, &l->tensor, s->alloc->name);
	return true;
}

static void add_names(Loops *l, const Fn *fn)
{
	ir_each_stmt(fn->body, add_loop, l);
	for (int k = 0; k < fn->nparam; k++)
		vec_push(l->arena, &l->tensor, fn->param[k].name);
}

static const char *any_loop(const Loops *l, Rng *rng)
{
	if (l->name.n == 0 || rng_below(rng, 40) == 0)
		return "nosuch";
	return l->name.at[rng_below(rng, l->name.n)];
}

/* A copy of the loop, as cut makes it, or any loop. */
static const char *copy_of_loop(const Loops *l, const char *name, Rng *rng)
{
	size_t n = strlen(name), from = (size_t)rng_below(rng, l->name.n + 1);
	for (size_t k = 0; k < l->name.n; k++) {
		const char *other = l->name.at[(from + k) % l->name.n];
		if (strncmp(other, name, n) == 0 && other[n] == '.' && other[n + 1] >= '2' && other[n + 1] <= '9')
			return other;
	}
	return any_loop(l, rng);
}

/* One loop, or it and what may be alike. */
static void add_alike(Text *line, const Loops *l, Rng *rng)
{
	const char *first = any_loop(l, rng);
	text_add(line, " %s", first);
	for (int k = (int)rng_below(rng, 3); k > 0; k--)
		text_add(line, " %s", copy_of_loop(l, first, rng));
}

/* Often the loop behind *last in the text, which is the next one of its nest. */
static const char *next_loop(const Loops *l, size_t *last, Rng *rng)
{
	if (*last + 1 < l->name.n && rng_below(rng, 4) != 0)
		return l->name.at[++*last];
	*last = (size_t)rng_below(rng, l->name.n + 1);
	return *last < l->name.n ? l->name.at[*last] : any_loop(l, rng);
}

/* Often the block behind *last. */
static const char *any_block(const Loops *l, size_t *last, Rng *rng)
{
	if (l->block.n == 0 || rng_below(rng, 40) == 0)
		return "nosuch";
	*last = *last + 1 < l->block.n && rng_below(rng, 4) != 0 ? *last + 1 : (size_t)rng_below(rng, l->block.n);
	return l->block.at[*last];
}

static const char *any_tensor(const Loops *l, Rng *rng)
{
	if (l->tensor.n == 0 || rng_below(rng, 40) == 0)
		return "nosuch";
	return l->tensor.at[rng_below(rng, l->tensor.n)];
}

static const char *any_word(Prim p, Rng *rng)
{
	static const char *const layout[] = { "OIHW4i8o", "OIHW16o", "OI16o", "IO4i", "O4o", "HWIO", "NONE" };
	static const char *const axis[] = { "grid.x", "grid.y", "block.x", "block.y", "block.x", "warp.x" };
	static const char *const scope[] = { "shared", "local", "global", "fragment" };
	static const char *const tail[] = { "guard", "peel", "overlap" };
	static const char *const intrin[] = { "vexp_f32x16", "vexp_f32x16", "dpbusd_bcast_i32x16", "nothing" };
	if (p == PRIM_bind)
		return axis[rng_below(rng, LEN(axis))];
	if (p == PRIM_scope)
		return scope[rng_below(rng, LEN(scope))];
	if (p == PRIM_tensorize)
		return intrin[rng_below(rng, LEN(intrin))];
	return p == PRIM_split ? tail[rng_below(rng, LEN(tail))] : layout[rng_below(rng, LEN(layout))];
}

/* Names of the results: new ones, of which a few are in use already. */
static void add_results(Text *line, const PrimRow *row, const Loops *l, Rng *rng)
{
	int n = ((int)strlen(row->makes) + 1) / 2;
	if (row->makes[1] == '*')
		n = 1 + (int)rng_below(rng, 4);
	else if (strchr(row->makes, '*') != NULL)
		n--; /* names of the loops of cache_write may be left out */
	text_add(line, " as");
	for (int k = 0; k < n; k++)
		if (rng_below(rng, 16) == 0)
			text_add(line, " %s", any_loop(l, rng));
		else
			text_add(line, " r%d", (int)rng_below(rng, 1000));
}

const char *random_step(Arena *a, const KernelSet *ks, Rng *rng)
{
	return random_step_of(a, ks, (Prim)rng_below(rng, PRIM_COUNT), rng);
}

const char *random_step_of(Arena *a, const KernelSet *ks, Prim prim, Rng *rng)
{
	static const int64_t factor[] = { 1, 2, 3, 4, 5, 7, 8, 13, 16, 64, 1000 };
	Loops l = { .arena = a };
	Text line = { .arena = a };
	for (size_t i = 0; i < ks->n; i++)
		add_names(&l, ks->fn[i]);
	size_t last = (size_t)rng_below(rng, l.name.n + 1), block = (size_t)rng_below(rng, l.block.n + 1);
	const PrimRow *row = prim_row(prim);
	text_add(&line, "%s", row->name);
	size_t pairs = prim == PRIM_store_at ? l.declared.n : prim == PRIM_ring ? l.below.n : 0;
	if (pairs > 0 && rng_below(rng, 8) != 0) { /* of any two names hardly any fit */
		size_t k = (size_t)rng_below(rng, pairs);
		const Inside *in = prim == PRIM_store_at ? &l.declared.at[k] : &l.below.at[k];
		text_add(&line, " %s %s\n", in->name, in->loop);
		return text_str(&line);
	}
	for (const char *p = row->args; *p != 0; p += strcspn(p, " "), p += strspn(p, " ")) {
		if (prim == PRIM_outline) {
			add_alike(&line, &l, rng);
			break;
		}
		int many = p[0] == 'L' && p[1] == '*' ? 2 + (int)rng_below(rng, 4) : 1;
		if (p[0] == 'W')
			text_add(&line, "%s%s", p[1] == 0 || rng_below(rng, 4) != 0 ? " " : " #", any_word(prim, rng));
		else if (p[0] == 'I')
			text_add(&line, "%s%lld", p[1] != '?' || rng_below(rng, 2) != 0 ? " " : " #",
				(long long)factor[rng_below(rng, sizeof factor / sizeof *factor)]);
		else if (p[0] == 'A')
			text_add(&line, " conv2d.winograd");
		else if (p[0] == 'K')
			text_add(&line, " m=%d", 2 + (int)rng_below(rng, 3));
		else if (p[0] == 'B')
			text_add(&line, " %s", any_block(&l, &block, rng));
		else if (p[0] == 'T')
			text_add(&line, " %s", any_tensor(&l, rng));
		for (int k = 0; p[0] == 'L' && k < many; k++)
			text_add(&line, " %s", p[1] == '*' ? any_loop(&l, rng) : next_loop(&l, &last, rng));
	}
	if (row->makes[0] != 0 && rng_below(rng, 4) == 0)
		add_results(&line, row, &l, rng);
	text_add(&line, "\n");
	return text_str(&line);
}

/* Loops that may become blocks of a launch, and those that may become threads. */
typedef struct Bindable {
	Arena *arena;
	VEC(const char *) grid, block, declared;
} Bindable;

static void add_bindable(Bindable *b, const Stmt *list, bool outside)
{
	for (const Stmt *s = list; s != NULL; s = s->next) {
		Stmt **below[IR_CHILDREN];
		bool serial = s->kind == ST_FOR && s->loop.kind == LOOP_SERIAL;
		if (serial && outside)
			vec_push(b->arena, &b->grid, s->loop.var);
		if (serial)
			vec_push(b->arena, &b->block, s->loop.var);
		if (s->kind == ST_ALLOC)
			vec_push(b->arena, &b->declared, s->alloc->name);
		for (int k = 0, n = ir_children(s, below); k < n; k++)
			add_bindable(b, *below[k], outside && ir_axis_of(s, NULL) == AXIS_GRID);
	}
}

/* Where a buffer lies: its scope, a gap, a swizzle. */
static const char *random_place(Arena *a, const char *buf, Rng *rng)
{
	static const char *const scope[] = { "shared", "shared", "local", "global" };
	int n = 1 << (1 + rng_below(rng, 3)), few = 1 + (int)rng_below(rng, 3), rows = 1 + (int)rng_below(rng, 2);
	switch (rng_below(rng, 5)) {
	case 0: return arena_printf(a, "gap %s %d %d\n", buf, few, n);
	case 1: return arena_printf(a, "swizzle %s %d %d %d\n", buf, n, few, rows);
	default: return arena_printf(a, "scope %s %s\n", buf, scope[rng_below(rng, LEN(scope))]);
	}
}

const char *random_bound_step(Arena *a, const KernelSet *ks, Rng *rng)
{
	static const char *const grid[] = { "grid.x", "grid.y", "grid.z" };
	static const char *const block[] = { "block.x", "block.x", "block.y" };
	Bindable b = { .arena = a };
	for (size_t k = 0; k < ks->n; k++)
		if (ks->fn[k]->kind == FN_RUN)
			add_bindable(&b, ks->fn[k]->body, true);
	switch (rng_below(rng, 5)) {
	case 2:
		if (b.block.n > 0)
			return arena_printf(a, "pipeline %s %d\n", b.block.at[rng_below(rng, b.block.n)],
				2 + (int)rng_below(rng, 2));
		break;
	case 0:
		if (b.grid.n > 0)
			return arena_printf(a, "bind %s %s\n", b.grid.at[rng_below(rng, b.grid.n)],
				grid[rng_below(rng, LEN(grid))]);
		break;
	case 1:
		if (b.declared.n > 0)
			return random_place(a, b.declared.at[rng_below(rng, b.declared.n)], rng);
		break;
	default: break;
	}
	if (b.block.n > 0)
		return arena_printf(a, "bind %s %s\n", b.block.at[rng_below(rng, b.block.n)],
			block[rng_below(rng, LEN(block))]);
	return random_step(a, ks, rng);
}

/* Steps of any kind, then those of which most bind. */
enum { FIRST = 10, THEN = 36 };

static bool take(Arena *a, KernelSet *ks, const Target *target, const char *step, const char *before)
{
	Err err = { 0 }, sound = { 0 };
	const char *was = ir_set_str(a, ks);
	Trace *t = trace_parse(a, "step", step, strlen(step), &err);
	ck_assert_msg(t != NULL, "%s: %s", step, err.text);
	bool taken = trace_apply(ks, t, NULL, target, &err);
	ck_assert_msg(ir_verify_set(ks, &sound), "%s%s: %s: %s\n%s", before, step, sound.place, sound.text, was);
	if (!taken) {
		ck_assert_int_eq(err.code, ERR_ILLEGAL);
		ck_assert_str_eq(was, ir_set_str(a, ks));
	}
	return taken;
}

KernelSet *random_bound_trace(Arena *a, const Task *task, const Target *target, uint64_t seed, Text *steps)
{
	Rng rng = rng_seed(seed);
	KernelSet *ks = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, NULL);
	for (int i = 0; i < FIRST + THEN; i++) {
		static const Prim some[] = { PRIM_split, PRIM_compute_at, PRIM_cache_read, PRIM_fuse, PRIM_reorder };
		Prim prim = some[rng_below(&rng, LEN(some))];
		bool any = rng_below(&rng, 6) == 0;
		const char *step = any ? random_step(a, ks, &rng)
			: i < FIRST || rng_below(&rng, 5) == 0 ? random_step_of(a, ks, prim, &rng) : random_bound_step(a, ks, &rng);
		if (take(a, ks, target, step, text_str(steps)))
			text_add(steps, "%s", step);
	}
	return ks;
}
