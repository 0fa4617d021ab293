/* See configs.h. */
#include "tuner/configs.h"

uint32_t config_set_add(ConfigSet *s, const Config *c, bool *fresh)
{
	uint32_t before = s->picks.index.n;
	MapEntry *e = map_add_bytes(&s->picks, c->pick, c->n); /* picks tell which knobs there are */
	*fresh = s->picks.index.n > before;
	if (*fresh) {
		e->num = before;
		vec_push(s->picks.index.arena, &s->at, *c);
	}
	return (uint32_t)e->num;
}

Config config_mutate(Space *s, const Config *c, Rng *rng)
{
	if (c->n == 0)
		return *c;
	int k = (int)rng_below(rng, c->n), o = (int)rng_below(rng, (uint64_t)space_knob(s, c, k)->n - 1);
	return space_move(s, c, k, o + (o >= c->pick[k]));
}

Config config_cross(Space *s, const Config *a, const Config *b, Rng *rng)
{
	Config child = *a;
	for (int k = 0; k < child.n; k++) {
		bool other = rng_below(rng, 2) == 1;
		int j = 0;
		while (j < b->n && b->knob[j] != child.knob[k])
			j++;
		if (other && j < b->n && b->pick[j] != child.pick[k])
			child = space_move(s, &child, k, b->pick[j]);
	}
	return child;
}
