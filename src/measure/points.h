/*
 * A task's naive form at single elements of its outputs, where computing all of them would take
 * seconds; and which elements those are.
 */
#ifndef MEASURE_POINTS_H
#define MEASURE_POINTS_H

#include "measure/elements.h"
#include "measure/method.h"
#include "op/op.h"

enum { POINTS = METHOD_POINTS /* of an output */ };

/*
 * A set of one run Fn "k0", "k1", ... for each output, in f64, with one buffer "point" of POINTS
 * elements in the output's place.  Its symbols, all from 1: the element of "point" to write, and
 * the index of the output to compute.  Only what that needs of each intermediate value is computed.
 * NULL without an error: the form has a shape that this file cannot restrict, or computing the
 * points so would not be cheaper than computing everything.
 */
KernelSet *points_set(Ir *ir, const Dag *dag, Err *err);

#endif
