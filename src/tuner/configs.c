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
