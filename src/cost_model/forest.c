/* See forest.h. */
#include "cost_model/forest.h"

#include <math.h>
#include <string.h>

double forest_value(const Forest *f, const float *row)
{
	double sum = 0;
	for (int t = 0; t < f->ntree; t++) {
		const TreeNode *n = &f->node[f->root[t]];
		while (n->predictor >= 0)
			n = &f->node[row[n->predictor] < n->at ? n->left : n->right];
		sum += n->at;
	}
	return sum;
}

bool forest_check(const Forest *f, int predictors, const char *name, Err *err)
{
	double most = 0;
	if (f->ntree > FOREST_TREES || f->nnode > FOREST_NODES)
		return fail(err, ERR_INPUT, name, "has %d trees of %zu nodes, and a model has at most %d of %d: train it anew",
			f->ntree, f->nnode, (int)FOREST_TREES, (int)FOREST_NODES);
	if ((f->ntree > 0) != (f->nnode > 0))
		return fail(err, ERR_INPUT, name, "has %d trees of %zu nodes", f->ntree, f->nnode);
	for (int t = 0; t < f->ntree; t++) {
		size_t first = f->root[t], end = t + 1 < f->ntree ? f->root[t + 1] : f->nnode;
		double leaf = 0;
		if (first >= end || end > f->nnode || (t == 0 && first != 0))
			return fail(err, ERR_INPUT, name, "tree %d has no nodes", t);
		for (size_t k = first; k < end; k++) {
			const TreeNode *n = &f->node[k];
			bool split = n->predictor >= 0;
			if (n->predictor >= predictors || !isfinite(n->at) ||
				(split && (n->left <= k || n->right <= k || n->left >= end || n->right >= end)))
				return fail(err, ERR_INPUT, name, "node %zu of tree %d is out of range", k - first, t);
			leaf = split ? leaf : fmax(leaf, fabs(n->at));
		}
		most += leaf;
	}
	if (most > FOREST_MOST)
		return fail(err, ERR_INPUT, name, "has absurd scores: leaves add up to %.3g", most);
	return true;
}

Forest forest_join(Arena *a, const Forest *x, const Forest *y)
{
	const Forest *part[] = { x, y };
	Forest f = { 0 };
	for (int k = 0; k < 2; k++) {
		f.ntree += part[k] != NULL ? part[k]->ntree : 0;
		f.nnode += part[k] != NULL ? part[k]->nnode : 0;
	}
	f.root = arena_array(a, uint32_t, f.ntree + 1);
	f.node = arena_array(a, TreeNode, f.nnode + 1);
	int trees = 0;
	size_t nodes = 0;
	for (int k = 0; k < 2; k++) {
		for (int t = 0; part[k] != NULL && t < part[k]->ntree; t++)
			f.root[trees++] = part[k]->root[t] + (uint32_t)nodes;
		size_t from = nodes;
		for (size_t i = 0; part[k] != NULL && i < part[k]->nnode; i++) {
			TreeNode n = part[k]->node[i];
			n.left += (uint32_t)from;
			n.right += (uint32_t)from;
			f.node[nodes++] = n;
		}
	}
	return f;
}

/* ---- bytes ---- */

enum { ROOT_BYTES = 4, NODE_BYTES = 16 };

static void put_word(unsigned char *out, uint32_t v)
{
	for (int k = 0; k < 4; k++)
		out[k] = (unsigned char)(v >> 8 * k);
}

static uint32_t get_word(const unsigned char *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

size_t forest_bytes(const Forest *f)
{
	return (size_t)f->ntree * ROOT_BYTES + f->nnode * NODE_BYTES;
}

void forest_put(const Forest *f, unsigned char *out)
{
	for (int t = 0; t < f->ntree; t++, out += ROOT_BYTES)
		put_word(out, f->root[t]);
	for (size_t k = 0; k < f->nnode; k++, out += NODE_BYTES) {
		uint32_t at;
		memcpy(&at, &f->node[k].at, sizeof at);
		put_word(out, (uint32_t)f->node[k].predictor);
		put_word(out + 4, at);
		put_word(out + 8, f->node[k].left);
		put_word(out + 12, f->node[k].right);
	}
}

Forest forest_get(Arena *a, const unsigned char *in, int ntree, size_t nnode)
{
	Forest f = { ntree, nnode, arena_array(a, uint32_t, ntree + 1), arena_array(a, TreeNode, nnode + 1) };
	for (int t = 0; t < ntree; t++, in += ROOT_BYTES)
		f.root[t] = get_word(in);
	for (size_t k = 0; k < nnode; k++, in += NODE_BYTES) {
		uint32_t at = get_word(in + 4);
		f.node[k] = (TreeNode){ (int32_t)get_word(in), 0, get_word(in + 8), get_word(in + 12) };
		memcpy(&f.node[k].at, &at, sizeof at);
	}
	return f;
}
