/*
 * Every attribute and every constant list of integers in the models of onnx_become.inc with numbers out of all ranges:
 * each model must become a Dag that checks, or be refused with a sentence that names the node.
 */
#include "folder.h"

#include "frontend/onnx/onnx.h"

#include <math.h>

#include "onnx_become.inc"

/* One model, loaded again and again with one number of it changed. */
typedef struct Trial {
	Arena *arena;
	const OnnxModel *model;
	const char *what; /* "axis of Softmax" */
	int n;            /* how many changes there were; begins with the model's number */
} Trial;

static bool names_what(const char *text)
{
	static const char *const said[] = { "node '", "value '", "input '", "result '", "initializer '", "of this model" };
	for (int k = 0; k < LEN(said); k++)
		if (strstr(text, said[k]) != NULL)
			return true;
	return false;
}

/* Of a quick run every few changes, others in each model: the same attribute stands in many of them. */
static void import_changed(Trial *t, double value)
{
	if (t->n++ % suite_count(6, 12, 1) != 0)
		return;
	Arena *a = arena_new();
	Text file = { .arena = a };
	Err err = { 0 };
	ModelArgs args = { 0 };
	wire_write(&file, &OnnxModel_message, t->model);
	Dag *d = onnx_import(a, "changed.onnx", (Bytes){ (const unsigned char *)text_str(&file), file.n }, &args, &err);
	ck_assert_msg((d == NULL) == (err.code != ERR_NONE), "%s = %g: neither a Dag nor a sentence", t->what, value);
	if (d == NULL)
		ck_assert_msg(names_what(err.text) && err_exit_code(err.code) == 1, "%s = %g: %s", t->what, value, err.text);
	else
		ck_assert_msg(dag_check(d, &err), "%s = %g: %s", t->what, value, err.text);
	arena_free(a);
}

static void change_int(Trial *t, int64_t *x)
{
	static const int64_t values[] = { -1, 0, 3, 9, 1 << 20, (int64_t)1 << 31, ((int64_t)1 << 32) + 1, (int64_t)1 << 62,
		INT64_MAX, -((int64_t)3 << 30), INT64_MIN };
	int64_t was = *x;
	for (int k = 0; k < LEN(values); k++) {
		*x = values[k];
		if (*x != was)
			import_changed(t, (double)*x);
	}
	*x = was;
}

static void change_float(Trial *t, float *x)
{
	static const float values[] = { NAN, INFINITY, -INFINITY, 0, -1, 1e30f };
	float was = *x;
	for (int k = 0; k < LEN(values); k++) {
		*x = values[k];
		import_changed(t, *x);
	}
	*x = was;
}

static void change_attr(Trial *t, OnnxAttr *at, const char *op)
{
	t->what = arena_printf(t->arena, "%s of %s", at->name, op);
	if (at->type == ONNX_INT)
		change_int(t, &at->i);
	if (at->type == ONNX_FLOAT)
		change_float(t, &at->f);
	for (size_t k = 0; k < at->ints.n; k++)
		change_int(t, &at->ints.at[k]);
	if (at->type == ONNX_INTS && at->ints.n > 0) {
		at->ints.n--;
		import_changed(t, -1);
		at->ints.n++;
	}
	if (at->type == ONNX_STRING) {
		Bytes was = at->s;
		at->s = (Bytes){ (const unsigned char *)"nonsense", 8 };
		import_changed(t, 0);
		at->s = was;
	}
}

/* Initialisers of integers are shapes, axes and counts. */
static void change_tensor(Trial *t, OnnxTensor *w)
{
	DType type;
	if (!onnx_type_from(w->data_type, &type) || !dtype_eq(type, I64) || w->raw_data.n > 64)
		return;
	int64_t *x = arena_alloc_aligned(t->arena, w->raw_data.n + 1, 8);
	memcpy(x, w->raw_data.at, w->raw_data.n);
	w->raw_data.at = (const unsigned char *)x;
	t->what = arena_printf(t->arena, "constant %s", w->name);
	for (size_t k = 0; k < w->raw_data.n / sizeof *x; k++)
		change_int(t, &x[k]);
}

/* The tensor that an input is, or may be. */
static OnnxTensorType *tensor_of(const OnnxValueInfo *v)
{
	const OnnxType *t = v->type;
	while (t->tensor_type == NULL)
		t = (t->optional_type != NULL ? t->optional_type : t->sequence_type)->elem_type;
	return t->tensor_type;
}

/* An input of fewer and of more dimensions, and of other lengths. */
static void change_input(Trial *t, OnnxValueInfo *v)
{
	OnnxShape *s = tensor_of(v)->shape;
	t->what = arena_printf(t->arena, "shape of %s", v->name);
	for (size_t k = 0; k < s->dim.n; k++) {
		static const int64_t lengths[] = { 0, 1, 5, 1 << 20, (int64_t)1 << 40 };
		OnnxDim was = s->dim.at[k];
		for (int i = 0; i < LEN(lengths); i++) {
			s->dim.at[k] = (OnnxDim){ .has = 1 << OnnxDim_dim_value, .dim_value = lengths[i] };
			import_changed(t, (double)lengths[i]);
		}
		s->dim.at[k] = was;
	}
	size_t rank = s->dim.n;
	for (size_t n = 0; n < rank; n++) {
		s->dim.n = n;
		import_changed(t, (double)n);
	}
	s->dim.n = rank;
	for (int k = 0; k < 6; k++) {
		OnnxDim one = { .has = 1 << OnnxDim_dim_value, .dim_value = 1 };
		vec_push(t->arena, &s->dim, one);
		import_changed(t, (double)s->dim.n);
	}
	s->dim.n = rank;
}

/* Element types of an input: each must fit or be refused. */
static void change_type(Trial *t, OnnxValueInfo *v)
{
	int64_t was = tensor_of(v)->elem_type;
	t->what = arena_printf(t->arena, "type of %s", v->name);
	for (int64_t code = 0; code < 30; code++) {
		tensor_of(v)->elem_type = code;
		import_changed(t, (double)code);
	}
	tensor_of(v)->elem_type = was;
}

START_TEST(numbers_out_of_range)
{
	Trial t = { .arena = arena_new(), .n = _i };
	OnnxModel *m = model_text(t.arena, become[_i].model);
	t.model = m;
	for (size_t k = 0; k < m->graph->node.n; k++)
		for (size_t i = 0; i < m->graph->node.at[k].attribute.n; i++)
			change_attr(&t, &m->graph->node.at[k].attribute.at[i], m->graph->node.at[k].op_type);
	for (size_t k = 0; k < m->graph->initializer.n; k++)
		change_tensor(&t, &m->graph->initializer.at[k]);
	for (size_t k = 0; k < m->graph->input.n; k++) {
		change_input(&t, &m->graph->input.at[k]);
		change_type(&t, &m->graph->input.at[k]);
	}
	arena_free(t.arena);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("onnx-range");
	tcase_add_loop_test(tc, numbers_out_of_range, 0, LEN(become));
	return run_suite("onnx-range", tc);
}
