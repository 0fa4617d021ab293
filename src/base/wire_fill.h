/* What the readers of wire.c and wire_text.c share: members of structs by field tables, within a budget. */
#ifndef BASE_WIRE_FILL_H
#define BASE_WIRE_FILL_H

#include "base/wire.h"

typedef struct WireFill {
	Arena *arena;
	size_t budget; /* bytes that may still be allocated; it grows with the input */
	Err *err;
} WireFill;

typedef struct WireSeq { /* any VEC */
	void *at;
	size_t n, cap;
} WireSeq;

WireFill wire_fill_for(Arena *a, size_t input, Err *err);
size_t wire_kind_size(const WireField *f); /* of one item of a member */
bool wire_charge(WireFill *w, size_t n);
/* Room for `more` items in the VEC at `seq`; the new ones are zeroed by the arena. */
bool wire_reserve(WireFill *w, void *seq, size_t more, size_t size);

#endif
