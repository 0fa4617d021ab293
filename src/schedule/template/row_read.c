/*
 * Reads rows: Tasks whose nests share axes of the result, and reduce or go along the others (block.h). A softmax of
 * [n, k] has n rows; so has a layer norm, whose mean and deviation are one value for each row.
 */
#include "schedule/template/block.h"

#include "ir/arg.h"
#include "ir/build.h"
#include "ir/query.h"

#include <string.h>

/* The rows of nest j as all that read its result have them; those that some reader has not are no rows. */
static bool read_rows_of(const BlockSet *set, int j, BlockRows *r, bool *valid)
{
	const BlockNest *n = &set->nest[j];
	bool plain, read = false;
	int axis[IR_MAX_RANK];
	for (int k = 0; k < r->n; k++)
		r->of[j][k] = -1;
	for (int c = j + 1; c < set->n; c++) {
		const BlockNest *reader = &set->nest[c];
		if (!block_reads(reader, n->made->name, &plain, axis))
			continue;
		if (!plain)
			return false;
		for (int k = 0; k < r->n; k++) {
			int at = -1;
			for (int d = 0; d < n->made->rank; d++)
				if (axis[d] >= 0 && axis[d] == r->of[c][k])
					at = n->axis_of[d];
			bool same = at >= 0 && n->axis[at].extent == set->nest[r->root].axis[r->axis[k]].extent;
			valid[k] &= same && (!read || r->of[j][k] == at);
			r->of[j][k] = same ? at : -1;
		}
		read = true;
	}
	return read;
}

/* Row k of the root is none. */
static void drop_row(BlockRows *r, int k, int nests)
{
	for (int j = 0; j < nests; j++)
		memmove(&r->of[j][k], &r->of[j][k + 1], sizeof r->of[j][k] * (size_t)(r->n - k - 1));
	memmove(&r->axis[k], &r->axis[k + 1], sizeof r->axis[k] * (size_t)(r->n - k - 1));
	r->n--;
}

bool rows_has(const BlockRows *r, int nest, int axis)
{
	for (int k = 0; k < r->n; k++)
		if (r->of[nest][k] == axis)
			return true;
	return false;
}

int64_t rows_length(const BlockSet *set, const BlockRows *r, int j)
{
	int64_t all = 1;
	for (int k = 0; k < set->nest[j].n; k++)
		all *= rows_has(r, j, k) ? 1 : set->nest[j].axis[k].extent;
	return all;
}

/* Neighbours in memory, by the weight of what is read and stored: within rows, or in which row. */
int rows_side(const BlockSet *set, const BlockRows *r, double (*traffic)(const BlockSet *, const BlockNest *, int))
{
	double within = 0, best = 0;
	int side = -1;
	for (int j = 0; j < set->n; j++) {
		double most = 0;
		for (int a = 0; a < set->nest[j].n; a++)
			if (!rows_has(r, j, a) && traffic(set, &set->nest[j], a) > most)
				most = traffic(set, &set->nest[j], a);
		within += most;
	}
	for (int k = 0; k < r->n; k++) {
		double weight = 0;
		for (int j = 0; j < set->n; j++)
			weight += traffic(set, &set->nest[j], r->of[j][k]);
		if (weight > within && weight > best) {
			best = weight;
			side = k;
		}
	}
	return side;
}

bool rows_read(const BlockSet *set, BlockRows *r)
{
	bool valid[BLOCK_AXES];
	*r = (BlockRows){ .root = set->n - 1 };
	if (set->n == 0 || set->nest[r->root].block == NULL)
		return false;
	const BlockNest *root = &set->nest[r->root];
	for (int k = 0; k < root->spatial; k++) {
		r->axis[k] = r->of[r->root][k] = k;
		valid[k] = true;
	}
	r->n = root->spatial;
	for (int j = set->n - 1; j >= 0; j--) {
		const BlockNest *n = &set->nest[j];
		if (n->block == NULL || (!n->folds && !n->maps) ||
			(j < r->root && (n->made->role != BUF_WORK || !read_rows_of(set, j, r, valid))))
			return false;
		r->folds += n->folds;
	}
	for (int k = r->n - 1; k >= 0; k--)
		if (!valid[k])
			drop_row(r, k, set->n);
	r->rows = r->length = 1;
	for (int k = 0; k < r->n; k++)
		r->rows *= root->axis[r->axis[k]].extent;
	for (int j = 0; j < set->n; j++)
		r->length = rows_length(set, r, j) > r->length ? rows_length(set, r, j) : r->length;
	r->side = rows_side(set, r, block_traffic);
	return r->folds > 0 && r->n > 0;
}

bool rows_read_one(const BlockSet *set, BlockRows *r)
{
	*r = (BlockRows){ .root = set->n - 1, .rows = 1, .length = 1, .side = -1 };
	for (int j = 0; j < set->n; j++) {
		const BlockNest *n = &set->nest[j];
		if (n->block == NULL || (!n->folds && !n->maps) || (n->folds && block_outputs(n) > 1))
			return false;
		r->folds += n->folds;
		r->length = rows_length(set, r, j) > r->length ? rows_length(set, r, j) : r->length;
	}
	return r->folds > 0;
}

/* ---- how rows lie in memory ---- */

/* Of one nest's loads and its store. */
typedef struct Places {
	const BlockSet *set;
	const BlockRows *r;
	int nest, row;
	bool flat;
	int64_t neighbours;
} Places;

/*
 * Indices name no axis of a row, or each once: they are the last dimensions of a row-major buffer, in order. Axes and
 * dimensions of one element are anywhere.
 */
static bool is_run(const Places *x, const Buf *b, const Expr *const *idx, int nidx)
{
	const BlockNest *n = &x->set->nest[x->nest];
	int axes = 0, placed = 0, uses = 0, at = nidx - 1;
	for (int a = n->n - 1; a >= 0; a--) {
		if (rows_has(x->r, x->nest, a) || n->axis[a].extent == 1)
			continue;
		while (at >= 0 && ir_is_const(b->shape[at], 1))
			at--;
		axes++;
		placed += at >= 0 && b->map.n == 0 && ir_is_const(b->shape[at], n->axis[a].extent) &&
			idx[at]->op == IR_VAR && idx[at]->name == n->axis[a].iter;
		at--;
		for (int d = 0; d < nidx; d++)
			uses += ir_uses_var(idx[d], n->axis[a].iter);
	}
	return uses == 0 || (placed == axes && uses == axes);
}

static void note_place(Places *x, const char *buf, const Expr *const *idx, int n)
{
	const Buf *b = ir_find_buf(x->set->fn, buf);
	int side = b != NULL ? tile_side(b) : -1;
	int64_t digit = b != NULL ? block_digit(b) : 0;
	x->flat &= b != NULL && is_run(x, b, idx, n);
	if (digit > 0 && digit < x->neighbours && side >= 0 && side < n &&
		ir_uses_var(idx[side], x->set->nest[x->nest].axis[x->r->of[x->nest][x->row]].iter))
		x->neighbours = digit;
}

static void see_load(const Expr *e, void *arg)
{
	if (e->op == IR_LOAD)
		note_place(arg, e->name, e->arg, e->nargs);
}

static Places places_of(const BlockSet *set, const BlockRows *r, int row)
{
	Places x = { set, r, 0, row, true, INT64_MAX };
	for (; x.nest < set->n; x.nest++) {
		const Stmt *s = set->nest[x.nest].stmt->block.body;
		ir_each_node_in((Stmt *)(uintptr_t)s, see_load, &x);
		if (s->kind == ST_STORE)
			note_place(&x, s->store.dst.buf, s->store.dst.idx, s->store.dst.n);
	}
	return x;
}

bool rows_are_flat(const BlockSet *set, const BlockRows *r)
{
	return places_of(set, r, 0).flat;
}

int64_t rows_neighbours(const BlockSet *set, const BlockRows *r, int row)
{
	return places_of(set, r, row).neighbours;
}
