/*
 * The builder's side of measurement: what the program `dlc builder` does.
 */
#ifndef MEASURE_BUILDER_CHILD_H
#define MEASURE_BUILDER_CHILD_H

#include "target/target.h"

/* Compiles for `target`: answers BUILD messages on `in` with BUILT on `out` until `in` ends; returns the exit code. */
int measure_builder(int in, int out, const Target *target);

#endif
