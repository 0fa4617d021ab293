/*
 * Both sides of a condition that depends on data: the two are run one after the other, and what differs behind them is
 * chosen by the condition. Tensors, lists and attributes of before that a side changes are noted, taken back between
 * the sides, and chosen like variables.
 */
#ifndef FRONTEND_PYTORCH_CHOICE_H
#define FRONTEND_PYTORCH_CHOICE_H

#include "frontend/pytorch/value.h"

/* A tensor or a list (the other is NULL) before the sides, and after the first one. */
typedef struct SideChange {
	TorchTensor *tensor;
	TorchList *list;
	Item *before, *first;
	TorchList old, made;
	bool state;        /* the list has an object's attributes */
	const void *noted; /* by the sides around these */
} SideChange;

/* Two lists that were chosen from, and the one that stands for both. */
typedef struct ChosenLists {
	TorchList *a, *b, *both;
} ChosenLists;

typedef struct Sides Sides;
struct Sides {
	Sides *up;
	int when;          /* the condition, a bool scalar of the Dag */
	int line;          /* of the code, in messages */
	unsigned born;     /* what has a larger number was made on one of the sides */
	size_t first_side; /* changes that the first side made */
	VEC(SideChange) change;
	VEC(ChosenLists) list;
};

/* Before something changes: notes it where sides are run and it was there before them. */
void sides_note_tensor(Visit *v, TorchTensor *root);
void sides_note_list(Visit *v, TorchList *l);
void sides_note_state(Visit *v, TorchObject *o);
/* A value that was just made, with all that it holds. */
void sides_born(Visit *v, TorchValue x);
/* A value that was there before all sides: an attribute, a constant, an input. */
void sides_old(TorchValue x);

void sides_open(Visit *v, Sides *s);
void sides_turn(Visit *v, Sides *s); /* between the sides: all is as before */
void sides_close(Visit *v, Sides *s);
/*
 * `a` where the condition holds, else `b`; TORCH_LOST where no value of dlc is both. After sides_close.
 */
TorchValue sides_choose(Visit *v, Sides *s, TorchValue a, TorchValue b);

#endif
