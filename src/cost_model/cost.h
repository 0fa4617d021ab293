/*
 * The numbers that estimates weigh beside the figures of the core: rows of cost_model/cost.def, each
 * with its reason. COUNT rows become integer constants (COST_CALL), RATIO rows doubles (COST_HIDDEN).
 */
#ifndef COST_MODEL_COST_H
#define COST_MODEL_COST_H

#define COUNT(name, value, unit, reason) enum { COST_##name = value };
#define RATIO(name, value, unit, reason) static const double COST_##name = value;
#include "cost_model/cost.def"
#undef COUNT
#undef RATIO

#endif
