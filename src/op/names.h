/*
 * Names that are given once: of values in a Dag, of loops and buffers in a Fn. A table remembers
 * every name it gave; a wish that is taken gets a number behind it: x, x_1, x_2. Linear in total.
 */
#ifndef OP_NAMES_H
#define OP_NAMES_H

#include "base/arena.h"

#include <stdbool.h>

typedef struct Names Names;

Names *names_new(Arena *a);
/* The wish itself (copied into the arena), or the wish with the first free number behind it. */
const char *names_give(Names *t, const char *wish);
bool names_taken(const Names *t, const char *name);
/* What was stored with a name by names_bind; -1 if nothing was. */
void names_bind(Names *t, const char *name, int to);
int names_find(const Names *t, const char *name);

#endif
