/* The zoo's networks, built from code with seeded weights. */
#ifndef FRONTEND_ZOO_H
#define FRONTEND_ZOO_H

#include "frontend/frontend.h"

bool zoo_has(const char *name);
/* The network `name` with input `data` and result `out`; --shape and --batch as for files. */
Dag *zoo_build(Arena *a, const char *name, const ModelArgs *args, Err *err);
/* The name nearest to what was typed; NULL if none is near. */
const char *zoo_nearest(const char *name);

#endif
