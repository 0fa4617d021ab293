/*
 * Inside the room: how long a database waits, and how much of it is looked at: rows of db/bound.def, each with its
 * reason, as integer constants (BOUND_WAIT_MS).
 */
#ifndef DB_BOUND_H
#define DB_BOUND_H

#define COUNT(name, value, unit, reason) enum { BOUND_##name = value };
#include "db/bound.def"
#undef COUNT

#endif
