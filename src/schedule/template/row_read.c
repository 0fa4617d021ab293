/*
 * Reads rows: Tasks whose nests share axes of the result, and reduce or go along the others (block.h). A softmax of
 * [n, k] has n rows; so has a layer norm, whose mean and deviation are one value for each row.
 */
#include "schedule/template/block.h"

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
static int find_side(const BlockSet *set, const BlockRows *r)
{
	double within = 0, best = 0;
	int side = -1;
	for (int j = 0; j < set->n; j++) {
		double most = 0;
		for (int a = 0; a < set->nest[j].n; a++)
			if (!rows_has(r, j, a) && block_traffic(set, &set->nest[j], a) > most)
				most = block_traffic(set, &set->nest[j], a);
		within += most;
	}
	for (int k = 0; k < r->n; k++) {
		double weight = 0;
		for (int j = 0; j < set->n; j++)
			weight += block_traffic(set, &set->nest[j], r->of[j][k]);
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
	r->side = find_side(set, r);
	return r->folds > 0 && r->n > 0;
}
