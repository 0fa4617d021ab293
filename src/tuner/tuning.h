/*
 * The numbers that decide what is measured and what is chosen: rows of tuner/tuning.def, each with its reason.
 * COUNT rows become integer constants (TUNE_IN_FLIGHT), RATIO rows doubles (TUNE_SLOW).
 */
#ifndef TUNER_TUNING_H
#define TUNER_TUNING_H

#define COUNT(name, value, unit, reason) enum { TUNE_##name = value };
#define RATIO(name, value, unit, reason) static const double TUNE_##name = value;
#include "tuner/tuning.def"
#undef COUNT
#undef RATIO

#endif
