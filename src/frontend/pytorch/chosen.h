/*
 * Tensors of chosen rows. torchvision::nms gives as many indices as data says; in the Dag such a tensor has a place for
 * each that there may be, and a scalar says how many there are. What lies behind them is any number that can index.
 * Operators that treat rows one by one keep that; all others are refused.
 */
#ifndef FRONTEND_PYTORCH_CHOSEN_H
#define FRONTEND_PYTORCH_CHOSEN_H

#include "frontend/pytorch/aten.h"

struct TorchChosen {
	int count; /* an i64 scalar of the Dag */
};

/* What a call makes of the rows that it reads. */
typedef struct ChosenCall {
	const TorchChosen *rows; /* NULL: it reads no chosen rows */
	int64_t places;          /* of its results */
	bool keeps;              /* its results have these rows */
} ChosenCall;

/* Of a tensor or of what it is a view of; NULL: its rows are all there. */
const TorchChosen *torch_chosen(const TorchTensor *t);
/* Bool [rows, 1 ..] of a rank: which rows there are. */
int torch_chosen_rows(Visit *v, const TorchChosen *c, int64_t places, int rank);
/* Before a row of `list` is run, with its arguments read: false, it does not treat rows one by one. */
bool torch_check_chosen(Aten *n, const AtenRow *list, const AtenIn *in, ChosenCall *call);
void torch_keep_chosen(Aten *n, const ChosenCall *call, TorchValue *out);
/* A call with the number of rows: true, it was made (as far as it has a result), or has failed. */
bool torch_call_lost(Visit *v, const char *name, const AtenIn *in, TorchValue *out);

#endif
