/*
 * Functions of one number by name, which every format has as layers or as an attribute of layers: "relu", "leaky_relu",
 * "gelu_tanh". Those that the Dag lacks become a chain of calls, which is one Task. activate.c has the table.
 */
#ifndef FRONTEND_NODE_ACTIVATE_H
#define FRONTEND_NODE_ACTIVATE_H

#include "frontend/node/visit.h"

/* With the parameters that the field takes where none are given; an unknown name is refused. */
int node_activate(Visit *v, int x, const char *name);
/* With its own: leaky_relu, elu, celu, swish, thresholded_relu take a; hard_sigmoid, selu, clip, scaled_tanh both. */
int node_activate_with(Visit *v, int x, const char *name, double a, double b);
bool node_has_activation(const char *name);

#endif
