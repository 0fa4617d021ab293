/*
 * Inside the room: a network that is built (network_builder.c), and what its layers (network_layers.c) and the front
 * ends of other programs need of it.
 */
#ifndef API_NETWORK_BUILDER_H
#define API_NETWORK_BUILDER_H

#include "api/network.h"
#include "frontend/layer/layer.h"

struct DlcBuilder {
	DlcSession *session;
	Arena *arena;   /* its own; NULL: its owner's */
	Arena *work;    /* of the network */
	Net *net;       /* in work; NULL: the network is given away */
	const char *name;
	uint32_t mark;  /* in the ids of its values */
	ModelArgs args;
	DlcLoadOptions options; /* precision and without alone */
	Names *names;   /* of inputs, constants and layers */
	Names *values;  /* the same and of outputs -> the number of the value */
	int line;       /* of a file, at which it is; 0: none */
	Frame inputs;   /* names of inputs */
	VEC(NodeValue) input;
	VEC(double) square; /* by value: 0: not known */
	Names *outputs;
};

/* A builder in an arena, whose network comes into it, too. */
DlcBuilder *builder_new(DlcSession *s, Arena *work, const char *name, uint64_t seed, const ModelArgs *args);
/* The network, checked as those of front ends are; NULL and err. The builder has none behind it. */
Dag *builder_take(DlcBuilder *b, Err *err);

/* A layer under way: the first failure names it. */
typedef struct Making {
	DlcBuilder *b;
	Net *net;
	const char *name, *kind;
	Guard guard;
} Making;

/*
 * The body of a function that makes a value, which `work` gives as an Act below a guard, with `m` as its Making. The
 * function ends with it.
 */
#define BUILDER_MAKE(builder, layer_name, layer_kind, work)                                  \
	do {                                                                                 \
		Making making_, *const m = &making_;                                         \
		if (!builder_begin(m, (builder)))                                            \
			return (DlcValue){ 0 };                                              \
		if (GUARD_ENTER(&m->guard))                                                  \
			return builder_out_of_memory(builder);                               \
		builder_name(m, (layer_name), (layer_kind));                                 \
		Act made_ = (work);                                                          \
		return builder_end(m, made_);                                                \
	} while (0)

bool builder_begin(Making *m, DlcBuilder *b);
void builder_name(Making *m, const char *name, const char *kind);
DlcValue builder_end(Making *m, Act made);
DlcValue builder_out_of_memory(DlcBuilder *b);
/* "layer 'conv1' (conv): ..." */
void builder_fail(Making *m, ErrCode code, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* A value that must be one of this builder's; `what` names it: "input". */
Act builder_value(Making *m, DlcValue v, const char *what);
/* The same, or NULL for none. */
const Act *builder_optional(Making *m, DlcValue v, const char *what);
DlcValue builder_public(DlcBuilder *b, Act x);

#endif
