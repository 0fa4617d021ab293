/*
 * See train.h. The library grows the trees; the gradient is ours. With e the error of a row, m the mean error of its
 * Task: sum over Tasks of (e - m)^2 is half the mean of (e_i - e_j)^2 over all pairs of the Task, so it is the error of
 * the order. The mean itself counts a little (TRAIN_OFFSET), which keeps times on the scale of nanoseconds.
 */
#include "cost_model/train.h"

#include "base/json.h"
#include "base/library.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if DLC_HAVE_XGBOOST
#include <xgboost/c_api.h>
#endif

#define COUNT(name, value, unit, reason) enum { TRAIN_##name = value };
#define RATIO(name, value, unit, reason) static const double TRAIN_##name = value;
#include "cost_model/train.def"
#undef COUNT
#undef RATIO

#if !DLC_HAVE_XGBOOST

bool train_there(Err *err)
{
	return fail(err, ERR_UNSUPPORTED, "training",
		"this dlc was built without libxgboost: install libxgboost-dev and build it again");
}

bool train_forest(Arena *a, const TrainSet *set, const Forest *before, Forest *out, double *gain, Err *err)
{
	(void)a, (void)set, (void)before, (void)out, (void)gain;
	(void)TRAIN_ETA, (void)TRAIN_ROWS, (void)TRAIN_COLUMNS, (void)TRAIN_CLIP, (void)TRAIN_OFFSET;
	(void)TRAIN_TRIM;
	return train_there(err);
}

#else

/* Of the library and those that it needs. Their constructors end the process without it. */
enum { OPEN_BYTES = 32 << 20 };

#define NAMES(X) \
	X(XGBGetLastError) \
	X(XGBoosterBoostOneIter) \
	X(XGBoosterCreate) \
	X(XGBoosterFree) \
	X(XGBoosterPredictFromDMatrix) \
	X(XGBoosterSaveModelToBuffer) \
	X(XGBoosterSetParam) \
	X(XGDMatrixCreateFromMat) \
	X(XGDMatrixFree)

static struct { NAMES(LIBRARY_MEMBER) } lib;
static const char *const names[] = { NAMES(LIBRARY_TEXT) };
static Library libxgboost = { XGBOOST_SONAME, "libxgboost-dev", names, sizeof names / sizeof *names, &lib,
	OPEN_BYTES, false };

bool train_there(Err *err)
{
	return library_open(&libxgboost, "models are trained by libxgboost", "training", err);
}

/* ---- what is learned ---- */

/*
 * The rows that count, and what the trees shall say of each. Predictors that are the same in all rows tell nothing, and
 * are left out: of 84, a third are so, as a CPU has no blocks of threads.
 */
typedef struct Goal {
	int n, columns;
	int predictor[PREDICTORS]; /* of each column */
	const int *task;
	float *row, *want, *weight;
} Goal;

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Leaves the columns that differ somewhere; one at least. */
static void keep_columns(Goal *g)
{
	for (int k = 0; k < PREDICTORS; k++) {
		int i = 1;
		while (i < g->n && g->row[(size_t)i * PREDICTORS + k] == g->row[k])
			i++;
		if (i < g->n || (k == PREDICTORS - 1 && g->columns == 0))
			g->predictor[g->columns++] = k;
	}
	float *to = g->row;
	for (int i = 0; i < g->n; i++)
		for (int k = 0; k < g->columns; k++)
			*to++ = g->row[(size_t)i * PREDICTORS + g->predictor[k]];
}

static Goal goal_of(Arena *a, const TrainSet *s, const Forest *before)
{
	float *row = arena_array(a, float, (size_t)s->n * PREDICTORS + 1);
	int *task = arena_array(a, int, s->n + 1);
	Goal g = { .task = task,
		.row = row,
		.want = arena_array(a, float, s->n + 1),
		.weight = arena_array(a, float, s->n + 1) };
	double *ratio = arena_array(a, double, s->n + 1);
	for (int from = 0, end; from < s->n; from = end) {
		end = from;
		while (end < s->n && s->task[end] == s->task[from]) {
			ratio[end - from] = log(s->ns[end] / s->estimate[end]);
			end++;
		}
		qsort(ratio, (size_t)(end - from), sizeof *ratio, by_value);
		double middle = ratio[(end - from) / 2];
		for (int i = from; i < end; i++) {
			double y = log(s->ns[i] / s->estimate[i]);
			if (!(fabs(y - middle) <= TRAIN_TRIM))
				continue;
			memcpy(row + (size_t)g.n * PREDICTORS, s->row + (size_t)i * PREDICTORS, PREDICTORS * sizeof *row);
			task[g.n] = s->task[i];
			g.want[g.n] = (float)(y - (before != NULL ? forest_value(before, s->row + (size_t)i * PREDICTORS) : 0));
			g.weight[g.n++] = s->weight != NULL ? (float)s->weight[i] : 1;
		}
	}
	keep_columns(&g);
	return g;
}

static double clipped(double e)
{
	return fmin(fmax(e, -TRAIN_CLIP), TRAIN_CLIP);
}

static void gradient(const Goal *g, const float *said, float *first, float *second)
{
	for (int from = 0, end; from < g->n; from = end) {
		double sum = 0, weight = 1e-9;
		for (end = from; end < g->n && g->task[end] == g->task[from]; end++) {
			sum += g->weight[end] * clipped(said[end] - g->want[end]);
			weight += g->weight[end];
		}
		double mean = sum / weight;
		for (int i = from; i < end; i++) {
			double e = said[i] - g->want[i];
			first[i] = (float)(g->weight[i] * (clipped(e - mean) + TRAIN_OFFSET * mean));
			second[i] = g->weight[i];
		}
	}
}

/* ---- the library ---- */

typedef struct Growing {
	DMatrixHandle data;
	BoosterHandle booster;
	Err *err;
} Growing;

static bool ok(Growing *g, int code)
{
	return code == 0 || fail(g->err, ERR_UNSUPPORTED, "libxgboost", "%.160s", lib.XGBGetLastError());
}

static bool set_params(Growing *g)
{
	char number[8][32];
	const char *const param[][2] = { { "nthread", "1" }, { "seed", "1" }, { "verbosity", "0" },
		{ "objective", "reg:squarederror" }, { "base_score", "0" }, { "tree_method", "hist" }, { "lambda", "1" },
		{ "max_depth", number[0] }, { "max_bin", number[1] }, { "eta", number[2] }, { "subsample", number[3] },
		{ "colsample_bytree", number[4] }, { "min_child_weight", number[5] } };
	snprintf(number[0], sizeof *number, "%d", TRAIN_DEPTH);
	snprintf(number[1], sizeof *number, "%d", TRAIN_BINS);
	text_double(number[2], sizeof *number, TRAIN_ETA);
	text_double(number[3], sizeof *number, TRAIN_ROWS);
	text_double(number[4], sizeof *number, TRAIN_COLUMNS);
	snprintf(number[5], sizeof *number, "%d", TRAIN_CHILD);
	for (size_t k = 0; k < sizeof param / sizeof *param; k++)
		if (!ok(g, lib.XGBoosterSetParam(g->booster, param[k][0], param[k][1])))
			return false;
	return true;
}

static bool grow(Growing *x, const Goal *goal, Arena *a)
{
	static const char margin[] = "{\"type\":1,\"training\":true,\"iteration_begin\":0,\"iteration_end\":0,"
								 "\"strict_shape\":false}";
	float *first = arena_array(a, float, goal->n), *second = arena_array(a, float, goal->n);
	if (!ok(x, lib.XGDMatrixCreateFromMat(goal->row, (bst_ulong)goal->n, (bst_ulong)goal->columns, NAN, &x->data)) ||
		!ok(x, lib.XGBoosterCreate(&x->data, 1, &x->booster)) || !set_params(x))
		return false;
	for (int round = 0; round < TRAIN_ROUNDS; round++) {
		const bst_ulong *shape;
		bst_ulong dims;
		const float *said;
		if (!ok(x, lib.XGBoosterPredictFromDMatrix(x->booster, x->data, margin, &shape, &dims, &said)))
			return false;
		gradient(goal, said, first, second);
		if (!ok(x, lib.XGBoosterBoostOneIter(x->booster, x->data, first, second, (bst_ulong)goal->n)))
			return false;
	}
	return true;
}

/* ---- its trees become ours ---- */

enum { LEFT, RIGHT, SPLIT, AT, GAIN, LISTS };

/* The lists of a tree, in which each node has a place. */
typedef struct Reading {
	const Goal *goal;
	const Json *list[LISTS];
	size_t nodes, first; /* of the tree; where it begins in `node` */
	VEC(TreeNode) node;
	VEC(uint32_t) root;
	Arena *arena;
	double *gain;
	Err *err;
} Reading;

static bool is_bad(Reading *r)
{
	return fail(r->err, ERR_UNSUPPORTED, "libxgboost", "writes trees in a form that this dlc does not know");
}

static double number_at(const Json *list, size_t i)
{
	const Json *v = list->list.at[i];
	return v->kind == JV_INT ? (double)v->i : v->kind == JV_REAL ? v->real : NAN;
}

/* A node and all below it: its children are behind it. A leaf has no children, and its value instead of a condition. */
static bool add_node(Reading *r, size_t i)
{
	double left = number_at(r->list[LEFT], i), right = number_at(r->list[RIGHT], i), split;
	size_t at = r->node.n;
	TreeNode node = { .predictor = -1, .at = (float)number_at(r->list[AT], i) };
	if (at - r->first >= r->nodes) /* a circle */
		return is_bad(r);
	if (left == -1) {
		vec_push(r->arena, &r->node, node);
		return true;
	}
	split = number_at(r->list[SPLIT], i);
	if (!(left > 0 && left < (double)r->nodes && right > 0 && right < (double)r->nodes && split >= 0 &&
			split < r->goal->columns))
		return is_bad(r);
	node.predictor = r->goal->predictor[(int)split];
	r->gain[node.predictor] += number_at(r->list[GAIN], i);
	vec_push(r->arena, &r->node, node);
	r->node.at[at].left = (uint32_t)r->node.n;
	if (!add_node(r, (size_t)left))
		return false;
	r->node.at[at].right = (uint32_t)r->node.n;
	return add_node(r, (size_t)right);
}

static bool add_tree(Reading *r, const Json *tree)
{
	static const char *const key[LISTS] = { [LEFT] = "left_children", [RIGHT] = "right_children",
		[SPLIT] = "split_indices", [AT] = "split_conditions", [GAIN] = "loss_changes" };
	for (int k = 0; k < LISTS; k++) {
		r->list[k] = json_find(tree, key[k]);
		if (r->list[k] == NULL || r->list[k]->kind != JV_ARRAY || r->list[k]->list.n == 0 ||
			r->list[k]->list.n != r->list[0]->list.n)
			return is_bad(r);
	}
	r->nodes = r->list[0]->list.n;
	r->first = r->node.n;
	vec_push(r->arena, &r->root, (uint32_t)r->node.n);
	return add_node(r, 0);
}

static bool read_trees(Growing *x, const Goal *goal, Arena *a, Forest *out, double gain[PREDICTORS])
{
	static const char *const path[] = { "learner", "gradient_booster", "model", "trees" };
	bst_ulong n;
	const char *text;
	if (!ok(x, lib.XGBoosterSaveModelToBuffer(x->booster, "{\"format\":\"json\"}", &n, &text)))
		return false;
	Reading r = { .goal = goal, .arena = a, .gain = gain, .err = x->err };
	const Json *o = json_parse(a, "libxgboost", text, n, x->err);
	bool good = o != NULL;
	for (size_t k = 0; good && k < sizeof path / sizeof *path; k++) {
		o = json_find(o, path[k]);
		good = o != NULL || is_bad(&r);
	}
	good = good && (o->kind == JV_ARRAY || is_bad(&r));
	for (size_t t = 0; good && t < o->list.n; t++)
		good = add_tree(&r, o->list.at[t]);
	*out = (Forest){ (int)r.root.n, r.node.n, r.root.at, r.node.at };
	return good && forest_check(out, PREDICTORS, "training", x->err);
}

bool train_forest(Arena *a, const TrainSet *set, const Forest *before, Forest *out, double *gain, Err *err)
{
	Arena *scratch = arena_new();
	Goal goal = goal_of(scratch, set, before);
	Growing x = { .err = err };
	Forest grown;
	double own[PREDICTORS] = { 0 }, all = 1e-9;
	bool good = goal.n > 0 || fail(err, ERR_INPUT, "training", "there is nothing to learn from");
	good = good && train_there(err);
	good = good && grow(&x, &goal, scratch) && read_trees(&x, &goal, scratch, &grown, own);
	if (good) {
		*out = forest_join(a, before, &grown);
		good = forest_check(out, PREDICTORS, "the model with what was trained on top of it", err);
	}
	if (x.booster != NULL)
		lib.XGBoosterFree(x.booster);
	if (x.data != NULL)
		lib.XGDMatrixFree(x.data);
	arena_free(scratch);
	for (int k = 0; k < PREDICTORS; k++)
		all += own[k];
	for (int k = 0; gain != NULL && k < PREDICTORS; k++)
		gain[k] = own[k] / all;
	return good;
}

#endif
