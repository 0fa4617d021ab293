/*
 * A network that is built layer by layer, by the zoo and by programs (dlc/dlc_builder.h). Weights that are not given
 * are drawn, He-normal, from one seed. Each tensor draws from a stream of its own name, so that none depends on the
 * others. The caller carries the mean square of every value, which sets the scale of the weights that follow. So values
 * stay in range from the first to the last layer. After a failure all functions do nothing.
 */
#ifndef FRONTEND_LAYER_NET_H
#define FRONTEND_LAYER_NET_H

#include "base/rng.h"
#include "frontend/node/visit.h"

/* A constant whose numbers are drawn later. */
typedef struct Drawing {
	float *at;
	int64_t n;
	double mean, spread;
	Rng rng;
} Drawing;

typedef struct Net {
	Arena *arena;
	Dag *dag;
	Err *err; /* the first failure: that of `im` */
	uint64_t seed;
	int64_t drawn; /* numbers so far, which are limited */
	bool late;     /* net_draw draws all numbers at the end; no layer reads them before */
	VEC(Drawing) drawing;
	Import im;     /* what rows of front ends work on: activations and resizing are theirs */
} Net;

/* A value and its mean square; value DAG_NONE: absent. */
typedef struct Act {
	int value;
	double square;
} Act;

/* An empty network; `args` (may be NULL) are what its inputs are given. */
void net_open(Net *net, Arena *a, const char *name, uint64_t seed, const ModelArgs *args);
bool net_ok(const Net *net);
/* The layer as rows of front ends see a node; it is "layer 'conv1' (conv)" in refusals. */
Visit *net_visit(Net *net, const char *name, const char *kind);
/* The value that calls through a Visit gave, named after the layer; `before`: how many values there were. */
Act net_named(Net *net, const char *name, int value, size_t before, double square);

Act net_call(Net *net, const char *name, int op, const int *in, int nin, const Attr *attr, int nattr, double square);
const char *net_sub(Net *net, const char *name, const char *part); /* "name.part" */
const char *net_numbered(Net *net, const char *name, int k);       /* "name.k" */
Shape net_shape(const Net *net, Act x);
int64_t net_dim(const Net *net, Act x, int k);
int64_t net_channels(const Net *net, Act x); /* dimension 1 */

/* Refuses an x that is not f32 where the layer draws a weight, which is. */
bool net_may_draw(Visit *v, Act x, bool draws);
/* Refuses a given weight of another shape; `what` names it. */
void net_check_shape(Net *net, Visit *v, const char *what, Act weight, Shape need);
/* A constant of f32: mean + spread * normal. */
Act net_tensor(Net *net, const char *name, Shape s, double mean, double spread);
/* Draws what is late, by several threads. */
void net_draw(Net *net);
/* n values around `center`, at most a quarter of it away: variances and scales must stay positive. */
Act net_around(Net *net, const char *name, int64_t n, double center);
Act net_number(Net *net, const char *name, DType type, double v); /* a scalar */
/* The mean square that a call of an operator gives, as far as it can be said from those of its inputs. */
double net_square(const Net *net, int op, const Act *in, int nin);

Act net_unary(Net *net, const char *name, int op, Act x, double square);
Act net_binary(Net *net, const char *name, int op, Act a, Act b, double square);
Act net_by_number(Net *net, const char *name, int op, Act x, double v, double square); /* x op v */
Act net_add(Net *net, const char *name, Act a, Act b);
Act net_concat(Net *net, const char *name, const Act *x, int n, int axis);
Act net_reshape(Net *net, const char *name, Act x, const int64_t *dim, int rank);
Act net_transpose(Net *net, const char *name, Act x, const int64_t *perm);

#endif
