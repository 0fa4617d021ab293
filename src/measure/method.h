/*
 * The numbers that decide how candidates are measured, rows of measure/method.def, each with its
 * reason. COUNT rows become integer constants (METHOD_SAMPLES), RATIO rows doubles (METHOD_SPARE).
 */
#ifndef MEASURE_METHOD_H
#define MEASURE_METHOD_H

#define COUNT(name, value, unit, reason) enum { METHOD_##name = value };
#define RATIO(name, value, unit, reason) static const double METHOD_##name = value;
#include "measure/method.def"
#undef COUNT
#undef RATIO

#endif
