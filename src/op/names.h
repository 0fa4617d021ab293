/*
 * Unique names: of values in a Dag, of loops and buffers in a Fn. A table remembers every name it gave; a
 * name that is taken gets a number: x, x_1, x_2. The cost is linear in the number of names.
 */
#ifndef OP_NAMES_H
#define OP_NAMES_H

#include "base/arena.h"

#include <stdbool.h>

typedef struct Names Names;

Names *names_new(Arena *a);
Names *names_copy(Arena *a, const Names *t);
/* `wish` (copied into the arena), or `wish` with the first free number. */
const char *names_give(Names *t, const char *wish);
bool names_taken(const Names *t, const char *name);
/* The number that names_bind stored with a name; -1: there is none. */
void names_bind(Names *t, const char *name, int to);
int names_find(const Names *t, const char *name);

#endif
