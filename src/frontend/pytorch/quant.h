/*
 * Quantised tensors: their cells hold codes, integers of 8 or 32 bits, that stand for scale * (code - zero). Operators
 * that know codes have rows in op_quant.c. Views keep their scale; some others compute with the numbers that codes
 * stand for and round to the same scale.
 */
#ifndef FRONTEND_PYTORCH_QUANT_H
#define FRONTEND_PYTORCH_QUANT_H

#include "frontend/pytorch/aten.h"

struct TorchQuant {
	double scale;
	int64_t zero;
	TorchTensor *scales, *zeros; /* one for each element of `axis`; NULL: `scale` and `zero` count for all */
	int axis;
};

/* Of a tensor or of what it is a view of; NULL: it is not quantised. */
const TorchQuant *torch_quant(const TorchTensor *t);
/* round(x / scale) + zero, saturated. */
int torch_codes(Visit *v, int x, const TorchQuant *q, DType type);
/* Some argument is quantised. */
bool torch_has_quant(const AtenIn *in);
/*
 * A call of a row of `list` with quantised arguments. *done: it was made; else the row itself is to be run, and its
 * result goes to torch_keep_quant.
 */
bool torch_call_quant(
	Visit *v, const AtenRow *list, const char *name, bool inplace, const AtenIn *in, TorchValue *out, bool *done);
/* Views of a quantised tensor have its scale. */
void torch_keep_quant(Visit *v, const AtenRow *list, const AtenIn *in, TorchValue out);

#endif
