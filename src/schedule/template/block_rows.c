/*
 * Rows that blocks reduce, a Task in one launch. Some rows are a block; some threads share each: they reduce parts of
 * it side by side, and the parts in shared memory, those in two rounds where there are many.
 *
 *	for rows grid.x {
 *		for t block.x { for row block.y { for k { parts[t, row] } } }
 *		for u block.x { for row block.y { for t.o { tree[u, row] of parts[t.o, u, row] } } }
 *		for row block.y { for u { result[row] of tree[u, row] } }
 *		for e block.x { for row block.y { for e.o { store } } }
 *	}
 *
 * Where neighbours lie in different rows, as in a mean over the first axis, rows are block.x.
 */
#include "schedule/template/block.h"

#include "ir/arg.h"
#include "ir/build.h"
#include "ir/query.h"
#include "schedule/producer.h"

#include <string.h>

/* ---- reading ---- */

typedef struct Streams {
	const Fn *fn;
	int64_t least;
	bool found;
} Streams;

static void note_stream(const Expr *e, void *arg)
{
	Streams *x = arg;
	const Buf *b = e->op == IR_LOAD ? ir_find_buf(x->fn, e->name) : NULL;
	x->found |= b != NULL && ir_buf_elements(b, NULL, 0) >= x->least;
}

bool block_rows_read(const Sketch *s, const BlockSet *set, BlockRows *r)
{
	if (!rows_read(set, r))
		return false;
	for (int j = 0; j < r->root; j++)
		for (int a = 0; a < set->nest[j].spatial && !set->nest[j].inlined; a++)
			if (!rows_has(r, j, a) && set->nest[j].axis[a].extent > 1)
				return false; /* it keeps more than a value for each row */
	Streams x = { .fn = set->fn, .least = r->rows * r->length / 2 };
	for (int j = 0; j < set->n; j++)
		ir_each_node_in((Stmt *)(uintptr_t)set->nest[j].stmt->block.body, note_stream, &x);
	bool few = r->rows < device_fill(s->target) / TMPL_ROWS_FEW;
	r->likely = r->folds > 1 || (r->length >= s->target->blocks.warp && (few || (x.found && r->side < 0)));
	return true;
}

/* ---- choosing ---- */

typedef struct Share {
	int64_t threads; /* that share a row */
	int64_t rows;    /* of a block, along row `split` */
	int64_t unroll;  /* steps of a thread that are written out */
	int split;
} Share;

/* The largest power of two up to n. */
static int64_t power_below(int64_t n)
{
	int64_t p = 1;
	while (p * 2 <= n)
		p *= 2;
	return p;
}

/* Parts that are left after the first round, for so many; 1: there is one round. */
static int64_t tree_of(int64_t threads)
{
	int64_t tree = 1;
	while (threads >= TMPL_ROWS_TREE && tree * tree < threads)
		tree *= 2;
	return tree;
}

/* Bytes of shared memory: parts of each reduction, those left after a round, results. */
static int64_t shared_bytes(const BlockSet *set, int64_t threads, int64_t rows)
{
	int64_t bytes = 0;
	for (int j = 0; j < set->n; j++)
		if (!set->nest[j].inlined)
			bytes += dtype_bytes(set->nest[j].made->type,
				rows * (set->nest[j].folds ? threads + tree_of(threads) + 1 : 1));
	return bytes;
}

static int64_t default_threads(const Sketch *s, const BlockRows *r, int64_t most)
{
	int64_t warp = s->target->blocks.warp, threads = r->side < 0 ? warp : 1;
	while (threads * 2 <= TMPL_BLOCK_THREADS / (r->side < 0 ? 1 : warp) && threads * 2 * TMPL_ROWS_EACH <= r->length &&
		   r->rows * threads < device_fill(s->target))
		threads *= 2;
	return threads < most ? threads : most;
}

static Share choose(Sketch *s, const BlockSet *set, const BlockRows *r)
{
	const BlockNest *root = &set->nest[r->root];
	int64_t option[KNOB_OPTIONS], most = block_most_threads(s->target), units = s->target->cores;
	Share x = { .split = r->side };
	for (int k = 0; k < r->n && r->side < 0; k++) /* the last row of several places */
		x.split = x.split < 0 || root->axis[r->axis[k]].extent > 1 ? k : x.split;
	int64_t extent = root->axis[r->axis[x.split]].extent, longest = power_below(r->length);
	int n = block_powers(1, longest < most ? longest : most, option), first = 0;
	while (n > 1 && shared_bytes(set, option[n - 1], 1) > device_shared(s->target))
		n--;
	int64_t guess = default_threads(s, r, option[n - 1]);
	while (first + 1 < n && option[first] < guess)
		first++;
	x.threads = sketch_number(s, "rows.threads", option, n, first);
	sketch_opens(s);
	n = block_powers(1, extent < most / x.threads ? extent : most / x.threads, option);
	while (n > 1 && shared_bytes(set, x.threads, option[n - 1]) > device_shared(s->target))
		n--;
	int64_t wide = r->side >= 0 ? s->target->blocks.warp : TMPL_ROWS_BLOCK / x.threads;
	for (first = 0; first + 1 < n && option[first + 1] <= wide &&
		 (r->side >= 0 || r->rows / option[first + 1] >= units);)
		first++;
	x.rows = sketch_number(s, "rows.together", option, n, first);
	n = block_powers(1, TMPL_ROWS_UNROLL, option);
	first = 0;
	while (first + 1 < n && option[first + 1] * x.threads <= r->length && option[first] < TMPL_ROWS_STEPS)
		first++;
	x.unroll = sketch_number(s, "rows.unroll", option, n, first);
	return x;
}

/* ---- writing ---- */

/* What is bound and what is shared, once all loops stand. */
typedef struct Writing {
	Sketch *s;
	const BlockRows *r;
	Share x;
	Text binds, scopes;
} Writing;

static void bind_part(Writing *w, const char *loop, bool row)
{
	bool along = row == (w->r->side >= 0);
	if (!row || w->x.rows > 1)
		text_add(&w->binds, "bind %s block.%c\n", loop, along ? 'x' : 'y');
}

static const char *fuse_list(Sketch *s, const char *const *loop, int n)
{
	const char *name = loop[0];
	for (int k = 1; k < n; k++) {
		sketch_step(s, "fuse %s %s", name, loop[k]);
		name = arena_printf(s->arena, "%s_%s", name, loop[k]);
	}
	return name;
}

static void cut_loop(Sketch *s, const char *loop, int64_t part, const char **outer, const char **inner)
{
	sketch_step(s, "split %s %lld", loop, (long long)part);
	*outer = arena_printf(s->arena, "%s.o", loop);
	*inner = arena_printf(s->arena, "%s.i", loop);
}

/* The parts of a row that threads have made become its value, by the thread of the row. */
static void join_steps(Writing *w, const BlockNest *n, const char *part, const char *row, int64_t threads)
{
	Sketch *s = w->s;
	int64_t tree = tree_of(threads);
	const char *outer, *inner;
	part = arena_printf(s->arena, "%s.rf", part);
	row = arena_printf(s->arena, "%s.rf", row);
	if (tree > 1) {
		cut_loop(s, part, tree, &outer, &inner);
		sketch_step(s, "reorder %s %s %s", inner, row, outer);
		sketch_step(s, "rfactor %s %s as %s.tree", n->block, inner, n->block);
		bind_part(w, inner, false);
		bind_part(w, row, true);
		text_add(&w->scopes, "scope %s.tree shared\n", n->block);
		part = arena_printf(s->arena, "%s.rf", inner);
		row = arena_printf(s->arena, "%s.rf", row);
	}
	sketch_step(s, "reorder %s %s", row, part);
	bind_part(w, row, true);
}

/* A reduction, where loop `row` goes over the rows of a block and those in `around` over nothing or over blocks. */
static void fold_steps(Writing *w, const BlockNest *n, const char *around, const char *row)
{
	Sketch *s = w->s;
	const char *reduce[BLOCK_AXES] = { NULL }, *outer, *inner, *steps = NULL, *written = NULL;
	int64_t all = 1;
	int count = 0;
	Text line = { .arena = s->arena };
	for (int k = n->spatial; k < n->n; k++) {
		reduce[count++] = producer_stem(&(Iter){ .name = n->axis[k].iter });
		text_add(&line, " %s", reduce[count - 1]);
		all *= n->axis[k].extent;
	}
	if (n->selects)
		sketch_step(s, "skip %s", n->block);
	sketch_step(s, "reorder%s%s %s", around, text_str(&line), row);
	const char *r = fuse_list(s, reduce, count);
	int64_t threads = w->x.threads < all ? w->x.threads : power_below(all), unroll = w->x.unroll;
	outer = inner = r;
	if (threads > 1)
		cut_loop(s, r, threads, &outer, &inner);
	while (unroll > (all + threads - 1) / threads)
		unroll /= 2;
	steps = outer;
	if (unroll > 1)
		cut_loop(s, outer, unroll, &steps, &written);
	const char *last = written != NULL ? arena_printf(s->arena, "%s %s", steps, written) : steps;
	if (threads > 1)
		sketch_step(s, "reorder %s %s %s", inner, row, last);
	else
		sketch_step(s, "reorder %s %s", row, last);
	if (threads > 1) {
		sketch_step(s, "rfactor %s %s", n->block, inner);
		text_add(&w->scopes, "scope %s.rf shared\n", n->block);
		bind_part(w, inner, false);
	}
	bind_part(w, row, true);
	if (written != NULL)
		sketch_step(s, "unroll %s", written);
	if (threads > 1)
		join_steps(w, n, inner, row, threads);
}

/* The root's loops over blocks of rows; the one in which a block's work stands, and that over its rows. */
typedef struct Frame {
	const char *outer[BLOCK_AXES];
	int n;
	const char *row;
	Text around;
} Frame;

static Frame split_rows(Writing *w, const BlockNest *root)
{
	Frame f = { .around = { .arena = w->s->arena } };
	for (int k = 0; k < w->r->n; k++)
		if (k != w->x.split)
			f.outer[f.n++] = root->axis[w->r->axis[k]].loop;
	cut_loop(w->s, root->axis[w->r->axis[w->x.split]].loop, w->x.rows, &f.outer[f.n], &f.row);
	f.n++;
	for (int k = 0; k < f.n; k++)
		text_add(&f.around, " %s", f.outer[k]);
	return f;
}

/* What stores the result: threads of a row side by side. */
static void store_steps(Writing *w, const BlockNest *root, const Frame *f)
{
	Sketch *s = w->s;
	const char *inside[BLOCK_AXES], *outer, *inner;
	int count = 0;
	int64_t all = 1;
	Text line = { .arena = s->arena }, around = f->around;
	for (int k = 0; k < root->n; k++)
		if (!rows_has(w->r, w->r->root, k)) {
			inside[count++] = root->axis[k].loop;
			text_add(&line, " %s", inside[count - 1]);
			all *= root->axis[k].extent;
		}
	sketch_step(s, "reorder%s%s %s", text_str(&around), text_str(&line), f->row);
	bind_part(w, f->row, true);
	if (count == 0)
		return;
	inner = fuse_list(s, inside, count);
	if (all > w->x.threads) {
		cut_loop(s, inner, w->x.threads, &outer, &inner);
		sketch_step(s, "reorder %s %s %s", inner, f->row, outer);
	}
	if (w->x.threads > 1)
		bind_part(w, inner, false);
}

void block_rows(Sketch *s, BlockSet *set, const BlockRows *r)
{
	const BlockNest *root = &set->nest[r->root];
	sketch_group(s);
	Writing w = { s, r, choose(s, set, r), { .arena = s->arena }, { .arena = s->arena } };
	sketch_group_end(s);
	Frame f = split_rows(&w, root);
	const char *block = f.outer[f.n - 1];
	if (root->folds)
		fold_steps(&w, root, text_str(&f.around), f.row);
	else
		store_steps(&w, root, &f);
	for (int j = r->root - 1; j >= 0; j--) {
		const BlockNest *n = &set->nest[j];
		Text line = { .arena = s->arena };
		const char *row = producer_stem(&(Iter){ .name = n->axis[r->of[j][w.x.split]].iter });
		if (n->inlined)
			continue;
		sketch_step(s, "compute_at %s %s", n->block, block);
		text_add(&w.scopes, "scope %s shared\n", n->made->name);
		for (int k = 0; k < n->spatial; k++)
			if (k != r->of[j][w.x.split])
				text_add(&line, " %s", producer_stem(&(Iter){ .name = n->axis[k].iter }));
		if (n->folds)
			fold_steps(&w, n, text_str(&line), row);
		else
			bind_part(&w, row, true);
	}
	sketch_step(s, "bind %s grid.x", fuse_list(s, f.outer, f.n));
	text_add(&s->steps, "%s%s", text_str(&w.scopes), text_str(&w.binds));
}
