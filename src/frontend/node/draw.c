/* Draws weights (draw.h). */
#include "frontend/node/draw.h"

#include "base/rng.h"

enum { SEED = 2018 };

static const int64_t most_drawn = (int64_t)1 << 29; /* in all */

const float *node_draw(
	Visit *v, int64_t *drawn, const char *what, const char *key, int64_t n, double mean, double spread)
{
	if (n > most_drawn - *drawn) {
		node_fail(
			v, ERR_MEMORY, "its %s, and those before, are more numbers than dlc draws: give a file of weights", what);
		return NULL;
	}
	*drawn += n;
	float *at = arena_array(v->im->arena, float, n + 1);
	Rng seed = rng_seed(SEED), r = rng_fork(&seed, key);
	for (int64_t i = 0; i < n; i++) /* uniform, with that deviation */
		at[i] = (float)(mean + spread * 1.7320508075688772 * (2 * rng_real(&r) - 1));
	return at;
}
