/* CoreML models that tests make, message by message. */
#ifndef TESTS_FRONTEND_COREML_MADE_H
#define TESTS_FRONTEND_COREML_MADE_H

#include "frontend/coreml/mil.h"

#include <string.h>

typedef struct Made {
	Arena *a;
	CoremlModel model;
	CoremlDescription about;
	CoremlNetwork net;
} Made;

static inline Bytes bytes_of(Arena *a, const WireMessage *m, const void *message)
{
	Text t = { .arena = a };
	wire_write(&t, m, message);
	return (Bytes){ (const unsigned char *)text_str(&t), t.n };
}

static inline void put_varint(Text *t, uint64_t x)
{
	for (; x >= 128; x >>= 7)
		text_put(t, (char[]){ (char)(x | 128) }, 1);
	text_put(t, (char[]){ (char)x }, 1);
}

/* An array of floats; no dimensions: it declares none. */
static inline CoremlFeature array_of(Arena *a, const char *name, int rank, const int64_t *dim)
{
	CoremlFeature f = { .name = name, .type = arena_new_of(a, CoremlType) };
	f.type->multiArrayType = arena_new_of(a, CoremlArray);
	f.type->multiArrayType->dataType = 65568;
	f.type->multiArrayType->has = 1u << CoremlArray_dataType;
	for (int k = 0; k < rank; k++)
		vec_push(a, &f.type->multiArrayType->shape, dim[k]);
	return f;
}

static inline void make(Made *m, Arena *a, int version)
{
	*m = (Made){ .a = a };
	m->model.specificationVersion = version;
	m->model.description = &m->about;
	m->model.neuralNetwork = &m->net;
	m->net.arrayInputShapeMapping = m->net.imageInputShapeMapping = version >= 4;
}

/* Names with blanks between them. */
static inline void list_names(Arena *a, const char *names, WireTexts *out)
{
	for (size_t n; *names != 0; names += n + (names[n] == ' ')) {
		n = strcspn(names, " ");
		vec_push(a, out, arena_printf(a, "%.*s", (int)n, names));
	}
}

/* A layer; inputs and results are names with blanks between them. */
static inline void add_layer(Made *m, uint32_t field, const char *in, const char *out, const void *params)
{
	CoremlLayer l = { .name = arena_printf(m->a, "l%zu", m->net.layers.n) };
	list_names(m->a, in, &l.input);
	list_names(m->a, out, &l.output);
	Bytes own = params != NULL ? bytes_of(m->a, coreml_kind_of(field)->message, params) : (Bytes){ NULL, 0 };
	Text t = { .arena = m->a };
	wire_write(&t, &CoremlLayer_message, &l);
	put_varint(&t, (uint64_t)field << 3 | 2);
	put_varint(&t, own.n);
	if (own.n > 0)
		text_put(&t, (const char *)own.at, own.n);
	vec_push(m->a, &m->net.layers, ((Bytes){ (const unsigned char *)text_str(&t), t.n }));
}

static inline Bytes made(Made *m)
{
	return bytes_of(m->a, &CoremlModel_message, &m->model);
}

static inline CoremlWeight *floats(Arena *a, const float *x, size_t n)
{
	CoremlWeight *w = arena_new_of(a, CoremlWeight);
	w->floatValue = (Bytes){ (const unsigned char *)x, n * sizeof *x };
	return w;
}

/* ---- ML programs */

static inline MilType *mil_type(Arena *a, int code, int rank, const int64_t *dim)
{
	MilType *t = arena_new_of(a, MilType);
	t->tensorType = arena_new_of(a, MilTensorType);
	*t->tensorType = (MilTensorType){ .dataType = code, .rank = rank };
	for (int k = 0; k < rank; k++) {
		MilDimension d = { .constant = arena_new_of(a, MilSize) };
		d.constant->size = dim[k];
		d.constant->has = 1;
		vec_push(a, &t->tensorType->dimensions, d);
	}
	return t;
}

enum { MIL_BOOL = 1, MIL_F32 = 11, MIL_I32 = 23 };

/* A tensor whose numbers stand in the program: floats, or integers and truth values. */
static inline MilValue *mil_numbers(Arena *a, MilType *type, const double *x, int n)
{
	MilValue *v = arena_new_of(a, MilValue);
	MilTensor *t = arena_new_of(a, MilTensor);
	*v = (MilValue){ .type = type, .immediateValue = arena_new_of(a, MilImmediate) };
	v->immediateValue->tensor = t;
	t->floats = type->tensorType->dataType == MIL_F32 ? arena_new_of(a, MilFloats) : NULL;
	t->ints = t->floats == NULL ? arena_new_of(a, MilInts) : NULL;
	for (int k = 0; k < n; k++) {
		if (t->floats != NULL)
			vec_push(a, &t->floats->values, (float)x[k]);
		else
			vec_push(a, &t->ints->values, (int64_t)x[k]);
	}
	return v;
}

/* A parameter that is a value of that name, or `value` where the name is NULL. */
static inline void mil_add_input(Arena *a, MilOperation *op, const char *key, const char *name, MilValue *value)
{
	MilArgument *arg = arena_new_of(a, MilArgument);
	vec_push(a, &arg->arguments, ((MilBinding){ .name = name, .value = value }));
	vec_push(a, &op->inputs, ((MilInput){ .key = key, .value = arg }));
}

/* A model of one function, whose results the block names. */
static inline Bytes mil_model(Arena *a, const char *opset, MilBlock *block, MilNamed *in, int nin)
{
	MilFunction fn = { .opset = opset };
	MilProgram p = { .version = 1 };
	CoremlModel m = { .specificationVersion = 8, .description = arena_new_of(a, CoremlDescription) };
	for (int k = 0; k < nin; k++)
		vec_push(a, &fn.inputs, in[k]);
	vec_push(a, &fn.block_specializations, ((MilSpecialization){ .key = opset, .value = block }));
	vec_push(a, &p.functions, ((MilFunctionEntry){ .key = "main", .value = &fn }));
	m.mlProgram = bytes_of(a, &MilProgram_message, &p);
	return bytes_of(a, &CoremlModel_message, &m);
}

#endif
