/*
 * Networks whose first Task has a default schedule that a limit refuses: at its replay (0), at its code for a CPU (1),
 * and that of any loops, too (LIMITED_NAIVE); at its code for a device (LIMITED_DEVICE).
 */
#ifndef TESTS_COMPILE_LIMITED_H
#define TESTS_COMPILE_LIMITED_H

#include "base/text.h"

enum { LIMITED_NAIVE = 2, LIMITED_NETWORKS = 3, LIMITED_DEVICE = 3 };

/* Cubes of cubes behind a convolution, which inlining writes out as 3^11 products; powers behind its tile and edges;
 * so many that two Tasks have them, and the first one turns what it stores. */
static inline const char *limited_network(Arena *a, int which)
{
	Text t = { .arena = a };
	if (which == 1)
		return "dag p\nin x: f32[1,64,28,28]\nconst w: f32[64,64,7,7]\nin e: f32[1]\ny = conv(x, w) pads=[3,3,3,3]\n"
		       "p = pow(y, e)\nq = pow(p, e)\nr = pow(q, e)\nout r\n";
	if (which == LIMITED_DEVICE || which == LIMITED_NAIVE) {
		text_add(&t, "dag p\nin x: f32[1,64,28,28]\nconst w: f32[64,64,7,7]\nin e: f32[1]\n"
			     "y0 = conv(x, w) pads=[3,3,3,3]\n");
		int powers = which == LIMITED_NAIVE ? 40 : 8;
		for (int k = 1; k <= powers; k++)
			text_add(&t, "y%d = pow(y%d, e)\n", k, k - 1);
		text_add(&t, "out y%d\n", powers);
		return text_str(&t);
	}
	text_add(&t, "dag c\nin x: f32[1,32,8,9]\nconst w: f32[32,32,1,1]\ny0 = conv(x, w)\n");
	for (int k = 1; k <= 11; k++)
		text_add(&t, "x%d = mul(y%d, y%d)\ny%d = mul(x%d, y%d)\n", k, k - 1, k - 1, k, k, k - 1);
	text_add(&t, "out y11\n");
	return text_str(&t);
}

#endif
