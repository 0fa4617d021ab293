/*
 * The table of PyTorch's operators, which serves all layouts, and the functions in which its rows are written. A row
 * has the operator's name, its arguments with their kinds and defaults, and a function that reads them and gives a
 * result. As those of frontend/node/visit.h these functions do nothing after a failure.
 */
#ifndef FRONTEND_PYTORCH_ATEN_H
#define FRONTEND_PYTORCH_ATEN_H

#include "frontend/node/compose.h"
#include "frontend/pytorch/tensor.h"

typedef struct Aten Aten;

/*
 * name:  "add!": `add` and the in-place `add_`; "max.dim": a form of `max`; "torchvision::nms": of another domain.
 * args:  "self:T other:* alpha:n=1". Kinds: T a tensor, L a list of them, n a number, i an integer, f, b, d the number
 *        of a type, given by name only, I integers or one, F floats, s a text, A a list of anything, D a dictionary,
 *        * anything, _ what changes nothing here. "?": may be None, which is its default. Of forms with one name the
 *        first one that the arguments fit is taken.
 */
typedef struct AtenRow {
	const char *name, *args;
	void (*import)(Aten *n);
	int op; /* for functions that serve several rows */
} AtenRow;

enum { ATEN_ARGS = 40 };

typedef struct AtenArg {
	const char *name;
	size_t len;
	char kind;
	bool optional, given, seen;
	TorchValue value;
} AtenArg;

/* One call of an operator. */
struct Aten {
	Visit *v;
	const AtenRow *row;
	AtenArg arg[ATEN_ARGS], none; /* none: stands for an argument that the form lacks */
	int narg;
	bool done;
	TorchValue result;
};

/* The arguments of a call: `nplace` by place, the others by name. */
typedef struct AtenIn {
	const TorchValue *at;
	const char *const *name; /* NULL: by place */
	size_t n;
} AtenIn;

/* Finds the row of "add.Tensor", "add_" or "torchvision::nms" and runs it. `v` names the call. */
bool aten_call(Visit *v, const char *name, const AtenIn *in, TorchValue *out);

/* ---- arguments by name */

bool aten_given(Aten *n, const char *name); /* and not None */
TorchValue aten_any(Aten *n, const char *name);
TorchTensor *aten_tensor(Aten *n, const char *name);
Item *aten_item(Aten *n, const char *name);
int aten_value(Aten *n, const char *name); /* DAG_NONE: None */
Shape aten_shape(Aten *n, const char *name);
int64_t aten_int(Aten *n, const char *name);
double aten_float(Aten *n, const char *name);
bool aten_flag(Aten *n, const char *name);
const char *aten_text(Aten *n, const char *name);
int aten_axis(Aten *n, const char *name, int rank);
/* Integers; one counts for all `want` places; want < 0: any number of them. Returns how many. */
int aten_ints(Aten *n, const char *name, int want, int64_t *out); /* out has room for ATEN_INTS */
enum { ATEN_INTS = 16 };
int aten_values(Aten *n, const char *name, int **out); /* of a list of tensors; None is DAG_NONE */
/* The type that an argument `dtype` names, else `otherwise`. */
DType aten_type(Aten *n, const char *name, DType otherwise);
/* The integer that a number or a known tensor is. */
bool torch_to_int(Visit *v, TorchValue x, int64_t *out);

/*
 * Elements that an import makes by itself, of constants and lists, are counted: a small file must not ask for all
 * memory there is. False: too many, which is refused.
 */
bool torch_spend(Visit *v, int64_t elements);

/* Its memory_format is one that lays elements in another order than row-major. */
bool aten_reorders(Aten *n);

/* ---- types */

/* The type of a result of tensors and numbers, by PyTorch's rules of promotion. */
DType aten_promote(Aten *n, const TorchValue *in, int count);
int aten_as(Aten *n, TorchValue x, DType type); /* a tensor or a number as a value of that type */
int aten_floating(Aten *n, int x);              /* integers become f32 */

/* ---- results */

void aten_set(Aten *n, int value);
void aten_give(Aten *n, TorchValue x);
void aten_give_values(Aten *n, const int *value, int count); /* a tuple of tensors */

extern const AtenRow *const torch_rows[]; /* all lists; the last one is NULL */
/* Lists of rows; each ends with name NULL. */
extern const AtenRow torch_unary_rows[], torch_binary_rows[], torch_logic_rows[], torch_reduce_rows[],
	torch_move_rows[], torch_join_rows[], torch_fill_rows[], torch_index_rows[], torch_matmul_rows[],
	torch_window_rows[], torch_norm_rows[], torch_resize_rows[], torch_recurrent_rows[], torch_attention_rows[],
	torch_loss_rows[], torch_scatter_rows[], torch_scalar_rows[], torch_list_rows[], torch_vision_rows[],
	torch_sort_rows[], torch_pool_rows[], torch_control_rows[], torch_quant_rows[];

#endif
