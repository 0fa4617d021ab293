/*
 * Values of a PyTorch program while it is imported: numbers, texts, lists and modules are known; tensors are Items of
 * the import. A list is shared by all variables that hold it, as in Python. A tensor is a cell: an in-place operator
 * changes what the cell holds, and all its variables see that.
 */
#ifndef FRONTEND_PYTORCH_VALUE_H
#define FRONTEND_PYTORCH_VALUE_H

#include "frontend/node/visit.h"

typedef struct Archive Archive;
typedef struct TorchTensor TorchTensor;
typedef struct TorchList TorchList;
typedef struct TorchObject TorchObject;
typedef struct TorchQuant TorchQuant;
typedef struct TorchChosen TorchChosen;
typedef struct ScriptItem ScriptItem;

typedef enum {
	TORCH_NONE,
	TORCH_BOOL,
	TORCH_INT,
	TORCH_FLOAT,
	TORCH_TEXT,
	TORCH_TENSOR,
	TORCH_LIST,
	TORCH_TUPLE,
	TORCH_DICT,
	TORCH_OBJECT,
	TORCH_CODE,   /* a function or a class of the code, or the name of an operator */
	TORCH_METHOD, /* of an object */
	TORCH_DEVICE,
	TORCH_GLOBAL, /* in a pickle: the name of a Python object */
	TORCH_MARK,   /* in a pickle */
	TORCH_GRAPH,  /* a part of an exported program, which another operator runs */
	TORCH_LOST    /* differs between the sides of a condition as no value can; `text` says how, NULL: never set */
} TorchKind;

typedef struct TorchValue {
	TorchKind kind;
	union {
		int64_t i; /* BOOL, INT */
		double f;
		const char *text; /* TEXT, DEVICE, GLOBAL, CODE, LOST */
		TorchTensor *tensor;
		TorchList *list;     /* LIST, TUPLE; a DICT has pairs of key and value */
		TorchObject *object; /* OBJECT, METHOD */
		const void *graph;   /* GRAPH: of Program's run_graph */
	};
	const ScriptItem *code; /* CODE: NULL where `text` is an operator's name; METHOD */
} TorchValue;

struct TorchList {
	TorchValue *at;
	size_t n, cap;
	/* Of choice.h: */
	unsigned born;
	const void *noted;
	const char *lost; /* why its elements are not known */
	bool fixed;       /* one of two lists, as a condition says: a change of it is refused */
};

struct TorchObject {
	const char *class; /* "__torch__.torch.nn.modules.conv.Conv2d" */
	const char *path;  /* where it is in the model: "layer1.0.conv1" */
	TorchList *state;  /* pairs of name and value */
	TorchList *given;  /* in a file: what __setstate__ of its class takes; NULL: it has been called, or there is none */
};

TorchValue torch_none(void);
TorchValue torch_bool(bool b);
TorchValue torch_int(int64_t i);
TorchValue torch_float(double f);
TorchValue torch_text(const char *s);
TorchValue torch_list(Arena *a, TorchKind kind); /* LIST, TUPLE or DICT, empty */
TorchValue torch_tensor(Arena *a, Item *it);
TorchValue torch_of(Visit *v, int value); /* a tensor of a value of the Dag */
void torch_push(Arena *a, TorchList *l, TorchValue x);

bool torch_is_number(TorchValue x); /* BOOL, INT or FLOAT */
double torch_number(TorchValue x);
/* The value under a key, NULL: there is none. */
TorchValue *torch_find(const TorchList *pairs, const char *key);
bool torch_equal(Visit *v, TorchValue a, TorchValue b); /* after a failure: false */
/* "int", "Tensor", "List" */
const char *torch_kind_name(TorchKind k);
/* As Python prints it; cut at `limit` bytes. */
const char *torch_str(Arena *a, TorchValue x, size_t limit);
/* ScalarType's number (6: f32); false: dlc has no such type. */
bool torch_type_from(int64_t code, DType *out);
int64_t torch_type_code(DType t);

#endif
