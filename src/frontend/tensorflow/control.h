/* Inside the room: what loops (frames.c) and choices (choices.c) of version 1 share. */
#ifndef FRONTEND_TENSORFLOW_CONTROL_H
#define FRONTEND_TENSORFLOW_CONTROL_H

#include "frontend/tensorflow/graph.h"

static inline TfOp *at(TfOps *o, TfRef r)
{
	return &o->op.at[r.op];
}

static inline void become(TfOp *op, const char *kind, TfRefs in)
{
	op->kind = kind;
	op->in = in;
	op->from = NULL;
}

static inline TfRefs one_ref(TfOps *o, TfRef r)
{
	TfRefs list = { 0 };
	vec_push(o->all->arena, &list, r);
	return list;
}

/* Ops behind some results, the ones that are read first; `stop` are not looked behind. */
typedef struct Walk {
	TfOps *o;
	Arena *arena; /* of its lists */
	unsigned char *state; /* 0 not met, 1 on the way, 2 done, 3 stop */
	VEC(int) order;
	VEC(int) stack;
} Walk;

static inline Walk walk_new(TfOps *o, Arena *a)
{
	return (Walk){ .o = o, .arena = a, .state = arena_alloc(a, o->op.n + 1) };
}

void walk_from(Walk *w, TfRef r);

/* Each Merge that a Switch decides becomes an If, or reads the predicate and both sides. */
bool tf_make_choices(TfOps *o, const TfRefs *root);

#endif
