/*
 * An image at places of a grid (grid_sample.h). Places are arithmetic on tensors; reading is one resample over all
 * spatial dimensions, taken as one, with an index and a weight for each tap. A tap outside has an index that no element
 * has, so it counts 0.
 */
#include "frontend/node/grid_sample.h"
#include "frontend/node/compose.h"

enum { SPATIAL = 3 };

static int number(Visit *v, int like, double x)
{
	return node_number(v, node_val(v, like)->type, x);
}

static int plus(Visit *v, int a, double b)
{
	return node_call2(v, OP_add, a, number(v, a, b));
}

static int times(Visit *v, int a, double b)
{
	return node_call2(v, OP_mul, a, number(v, a, b));
}

/* u at least 0, turned back at `top`, as often as needed. */
static int turn_back(Visit *v, int u, double top)
{
	bool whole = dtype_is_int(node_val(v, u)->type);
	Attr fmod = attr_int("fmod", 1);
	int in[] = { u, number(v, u, 2 * top) }, m = node_call(v, OP_mod, in, 2, &fmod, whole ? 0 : 1);
	return node_call2(v, OP_minimum, m, node_call2(v, OP_sub, number(v, u, 2 * top), m));
}

/* The place in elements, moved inside as the padding says. */
static int place_of(Visit *v, const GridSampling *s, int grid, int64_t n)
{
	double low = s->corners ? 0 : -0.5, top = s->corners ? (double)n - 1 : (double)n;
	int at = s->corners ? times(v, plus(v, grid, 1), ((double)n - 1) / 2)
	                    : times(v, plus(v, times(v, plus(v, grid, 1), (double)n), -1), 0.5);
	if (s->taps == 1)
		at = node_call1(v, OP_round, at);
	if (s->padding == GRID_BORDER) { /* of four taps, those outside are moved one by one: from here on they all are */
		double beyond = s->taps == 4 ? 2 : 0;
		Attr to[] = { attr_float("lo", -beyond), attr_float("hi", (double)n - 1 + beyond) };
		at = node_call(v, OP_clip, &at, 1, to, 2);
	}
	if (s->padding == GRID_REFLECTION && top == 0)
		at = times(v, at, 0);
	else if (s->padding == GRID_REFLECTION)
		at = plus(v, turn_back(v, node_call1(v, OP_abs, plus(v, at, -low)), top), low);
	return at;
}

/* The index of a tap, moved inside as the padding says; with zeros it may lie outside. */
static int tap_inside(Visit *v, const GridSampling *s, int at, int64_t n)
{
	Attr to[] = { attr_float("lo", 0), attr_float("hi", (double)n - 1) };
	if (s->padding == GRID_REFLECTION && s->corners && n > 1) {
		at = turn_back(v, node_call1(v, OP_abs, at), (double)n - 1);
	} else if (s->padding == GRID_REFLECTION && !s->corners) { /* -1 is 0, n is n - 1 */
		Attr none = attr_int("fmod", 0);
		int in[] = { at, number(v, at, 2 * (double)n) }, m = node_call(v, OP_mod, in, 2, &none, 1);
		at = node_call2(v, OP_minimum, m, node_call2(v, OP_sub, number(v, m, 2 * (double)n - 1), m));
	}
	return s->padding == GRID_ZEROS ? at : node_call(v, OP_clip, &at, 1, to, 2);
}

/* The weight of a tap at a distance: a triangle, or the cubic of a = -0.75 in its two parts. */
static int weight_at(Visit *v, const GridSampling *s, int distance, const double *offset, int64_t n)
{
	double a = -0.75;
	if (s->taps == 2)
		return plus(v, times(v, distance, -1), 1);
	int d = distance, d2 = node_call2(v, OP_mul, d, d);
	int near = plus(v, node_call2(v, OP_mul, plus(v, times(v, d, a + 2), -(a + 3)), d2), 1);
	int far = plus(v, times(v, d, a), -5 * a);
	far = plus(v, node_call2(v, OP_mul, plus(v, node_call2(v, OP_mul, far, d), 8 * a), d), -4 * a);
	double *is_near = arena_array(v->im->arena, double, n);
	for (int64_t i = 0; i < n; i++)
		is_near[i] = offset[i] == 0 || offset[i] == 1;
	return node_where(v, node_numbers(v, BOOL, is_near, n, 3), near, far);
}

/* x of [N, C, elements] at index [N, points, taps] with these weights; integers go by way of f32. */
static int read_at(Visit *v, int x, int index, int weight)
{
	DType type = node_val(v, x)->type;
	Attr attr[] = { attr_int("axis", 2), attr_int("batch", 1) };
	int in[] = { dtype_is_float(type) ? x : node_cast(v, x, F32), index, weight };
	return node_cast(v, node_call(v, OP_resample, in, 3, attr, 2), type);
}

int node_grid_sample(Visit *v, int image_value, int grid_value, const GridSampling *s)
{
	const Value image_is = *node_val(v, image_value), grid_is = *node_val(v, grid_value), *x = &image_is,
				*grid = &grid_is;
	int rank = x->shape.rank - 2;
	bool fits = rank >= 1 && rank <= SPATIAL && grid->shape.rank == rank + 2 && grid->shape.dim[rank + 1] == rank &&
	            grid->shape.dim[0] == x->shape.dim[0] && dtype_is_float(grid->type);
	for (int k = 0; k < rank && fits; k++)
		fits = x->shape.dim[2 + k] > 0 && x->shape.dim[2 + k] < 1 << 20;
	if (node_ok(v) && !fits)
		node_fail(v, ERR_TYPE, "its grid does not fit its input of %d dimensions", x->shape.rank);
	if (!node_ok(v))
		return DAG_NONE;
	DType type = dtype_eq(grid->type, F64) ? F64 : F32;
	int64_t places[] = { x->shape.dim[0], shape_product(&grid->shape, 1, rank + 1), rank }, taps = 1, step = 1;
	int64_t all[] = { x->shape.dim[0], x->shape.dim[1], shape_product(&x->shape, 2, rank + 2) };
	int points = node_cast(v, node_reshape(v, grid_value, shape_of(3, places)), type);
	int flat = DAG_NONE, weight = DAG_NONE, inside = DAG_NONE;
	for (int k = 0; k < rank; k++)
		taps *= s->taps;
	double *offset = arena_array(v->im->arena, double, taps);
	for (int k = rank - 1, each = 1; k >= 0; k--, each *= s->taps) { /* the grid names the last dimension first */
		int64_t n = x->shape.dim[2 + k];
		for (int64_t i = 0; i < taps; i++)
			offset[i] = (double)(i / each % s->taps) - (s->taps == 4);
		int at = place_of(v, s, node_slice(v, points, 2, rank - 1 - k, 1), n);
		int base = s->taps == 1 ? at : node_call1(v, OP_floor, at);
		int index = node_call2(v, OP_add, node_cast(v, base, I64), node_numbers(v, I64, offset, taps, 3));
		if (s->taps > 1) {
			int past = node_call2(v, OP_sub, at, base); /* of the base */
			int distance = node_call1(v, OP_abs, node_call2(v, OP_sub, node_numbers(v, type, offset, taps, 3), past));
			int w = weight_at(v, s, distance, offset, taps);
			weight = weight == DAG_NONE ? w : node_call2(v, OP_mul, weight, w);
		}
		index = tap_inside(v, s, index, n);
		int above = node_call2(v, OP_less_equal, number(v, index, 0), index);
		int in = node_call2(v, OP_bit_and, above, node_call2(v, OP_less, index, number(v, index, (double)n)));
		inside = inside == DAG_NONE ? in : node_call2(v, OP_bit_and, inside, in);
		index = times(v, index, (double)step);
		flat = flat == DAG_NONE ? index : node_call2(v, OP_add, flat, index);
		step *= n;
	}
	if (s->padding == GRID_ZEROS) /* counted from the end it is outside, too */
		flat = node_where(v, inside, flat, number(v, flat, -1 - (double)step));
	int image = node_reshape(v, image_value, shape_of(3, all)), y;
	if (s->taps == 1) {
		Attr attr[] = { attr_int("axis", 2), attr_int("batch", 1) };
		int in[] = { image, node_reshape(v, flat, shape_of(2, places)) };
		y = node_call(v, OP_gather, in, 2, attr, 2);
	} else {
		y = read_at(v, image, flat, weight);
	}
	Shape out = { .rank = rank + 2, .dim = { x->shape.dim[0], x->shape.dim[1] } };
	for (int k = 0; k < rank; k++)
		out.dim[2 + k] = grid->shape.dim[1 + k];
	return node_reshape(v, y, out);
}
