/* What rows with windows share. */
#ifndef FRONTEND_PYTORCH_WINDOW_H
#define FRONTEND_PYTORCH_WINDOW_H

#include "frontend/node/windows.h"
#include "frontend/pytorch/aten.h"

/* x[C,S] without a batch becomes [1,C,S]; *single: it had none, and the result shall have none. */
int torch_batched(Aten *n, int x, int spatial, bool *single);
void torch_set_batched(Aten *n, int y, bool single);
/* `count` numbers of an argument, at least `least`. */
void torch_window_numbers(Aten *n, const char *name, int count, int64_t least, int64_t *out);

#endif
