/*
 * Inside the folder: the numbers that decide what templates offer and take: rows of template.def, each with its
 * reason; and what all count with. COUNT rows become integer constants (TMPL_WASTE), RATIO rows doubles (TMPL_HIDES).
 */
#ifndef SCHEDULE_TEMPLATE_NUMBERS_H
#define SCHEDULE_TEMPLATE_NUMBERS_H

#include <stdint.h>

#define COUNT(name, value, unit, reason) enum { TMPL_##name = value };
#define RATIO(name, value, unit, reason) static const double TMPL_##name = value;
#include "schedule/template/template.def"
#undef COUNT
#undef RATIO

static inline int64_t ceil_div(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

#endif
