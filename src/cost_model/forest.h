/*
 * Inside the room: regression trees over predictors. They are read from a file with all checks, so that evaluating them
 * needs none, and no library.
 */
#ifndef COST_MODEL_FOREST_H
#define COST_MODEL_FOREST_H

#include "base/arena.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* Rows whose predictor is less than `at` go left. predictor < 0: a leaf of value `at`. */
typedef struct TreeNode {
	int32_t predictor;
	float at;
	uint32_t left, right; /* both behind this node, in the same tree */
} TreeNode;

typedef struct Forest {
	int ntree;
	size_t nnode;
	uint32_t *root; /* ntree of them, growing; the first is 0 */
	TreeNode *node;
} Forest;

enum { FOREST_TREES = 4096, FOREST_NODES = 1 << 22 };

double forest_value(const Forest *f, const float *row);
/*
 * Whether sizes, indices and values are in range: at most FOREST_TREES and FOREST_NODES, predictors below `predictors`,
 * sums of leaves within +-FOREST_MOST.
 */
#define FOREST_MOST 64.0
bool forest_check(const Forest *f, int predictors, const char *name, Err *err);
/* All trees of both: the value is the sum. NULL or empty ones are nothing. */
Forest forest_join(Arena *a, const Forest *x, const Forest *y);
/* As bytes, little endian, and back; n must be just as many as ntree and nnode need. */
size_t forest_bytes(const Forest *f);
void forest_put(const Forest *f, unsigned char *out);
Forest forest_get(Arena *a, const unsigned char *at, int ntree, size_t nnode);

#endif
