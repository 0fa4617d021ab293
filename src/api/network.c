/* Networks: loaded with what the program gives of shapes and constants, and their tasks. See dlc/dlc_network.h. */
#include "api/network.h"

#include "api/outside.h"
#include "compile/compile.h"
#include "graph/without.h"
#include "graph/precision.h"

#include <string.h>

_Static_assert((int)DLC_FP32 == (int)PRECISION_fp32 && (int)DLC_TF32 == (int)PRECISION_tf32 &&
		(int)DLC_FP16 == (int)PRECISION_fp16 && (int)DLC_BF16 == (int)PRECISION_bf16 &&
		(int)DLC_PRECISIONS == (int)PRECISIONS,
	"a DlcPrecision is a Precision");

const char *dlc_precision_name(DlcPrecision p)
{
	return (int)p >= 0 && p < DLC_PRECISIONS ? precision_name((Precision)p) : NULL;
}

bool network_read_tensor(
	Arena *a, const char *name, const DlcTensor *t, bool borrow, BindArg *out, Err *err)
{
	_Static_assert((int)DLC_RANK == (int)DAG_MAX_RANK, "a shape is a Shape");
	int64_t compact = 1;
	if (t->ndim < 0 || t->ndim > DAG_MAX_RANK)
		return fail(err, ERR_INPUT, name, "it has %d dimensions; a tensor has at most %d", t->ndim, DAG_MAX_RANK);
	if (t->ndim > 0 && t->shape == NULL)
		return fail(err, ERR_USAGE, name, "its tensor has %d dimensions, but shape is NULL", t->ndim);
	for (int i = t->ndim - 1; i >= 0; i--) {
		if (t->strides != NULL && t->shape[i] != 1 && t->strides[i] != compact)
			return fail(err, ERR_INPUT, name, "its elements are not compact in row-major order: copy them first");
		if (t->shape[i] < 0 || (t->shape[i] > 0 && compact > INT64_MAX / 16 / t->shape[i]))
			return fail(err, ERR_INPUT, name, "it has a negative dimension, or more elements than fit into memory");
		compact *= t->shape[i];
	}
	DType type = { t->dtype.code, t->dtype.bits, 1 };
	int64_t bytes = dtype_bytes(type, compact);
	if (bytes < 0 || (bytes > 0 && t->data == NULL))
		return fail(err, ERR_INPUT, name, "it has no data, or a type that dlc does not know");
	const void *data = bytes > 0 ? (const char *)t->data + t->byte_offset : NULL;
	*out = (BindArg){ .name = arena_printf(a, "%s", name), .type = type, .shape = shape_of(t->ndim, t->shape),
		.data = data == NULL ? arena_alloc(a, 1) : borrow ? data : arena_copy(a, data, (size_t)bytes) };
	return true;
}

typedef struct Loading {
	Arena *arena;
	const DlcLoadOptions *o;
} Loading;

static bool offer(const char *input, BindArg *out, void *arg)
{
	const Loading *x = arg;
	DlcTensor t = { 0 };
	return x->o->offer(input, &t, x->o->offer_arg) != 0 && network_read_tensor(x->arena, input, &t, false, out, NULL);
}

bool network_read_options(DlcSession *s, Arena *a, const DlcLoadOptions *o, ModelArgs *m, Err *err)
{
	ShapeArg *shape = arena_array(a, ShapeArg, o->nshape + 1);
	BindArg *bind = arena_array(a, BindArg, o->nbind + 1);
	for (int i = 0; i < o->nshape; i++)
		shape[i] = (ShapeArg){ arena_printf(a, "%s", o->shape[i].name), shape_of(o->shape[i].rank, o->shape[i].dim) };
	LayoutArg *layout = arena_array(a, LayoutArg, o->nlayout + 1);
	for (int i = 0; i < o->nlayout; i++)
		layout[i] =
			(LayoutArg){ arena_printf(a, "%s", o->layout[i].name), arena_printf(a, "%s", o->layout[i].layout) };
	for (int i = 0; i < o->nbind; i++)
		if (!network_read_tensor(a, o->bind[i].name, &o->bind[i].tensor, false, &bind[i], err))
			return false;
	*m = (ModelArgs){ .shape = shape,
		.nshape = o->nshape,
		.bind = bind,
		.nbind = o->nbind,
		.layout = layout,
		.nlayout = o->nlayout,
		.batch = o->batch,
		.seq = o->seq,
		.weights = o->weights != NULL ? arena_printf(a, "%s", o->weights) : NULL,
		.signature = o->signature != NULL ? arena_printf(a, "%s", o->signature) : NULL,
		.tags = o->tags != NULL ? arena_printf(a, "%s", o->tags) : NULL,
		.eval = compile_eval,
		.note = session_note,
		.note_arg = s };
	return true;
}

bool network_make(
	DlcSession *s, Arena *a, const char *name, Dag *imported, const DlcLoadOptions *o, DlcNetwork **out, Err *err)
{
	Dag *converted = dag_copy(a, imported);
	if (!graph_leave_out(converted, o->without != NULL ? o->without : "", err) ||
		!graph_precision(converted, (Precision)o->precision, compile_eval, err))
		return false;
	DlcNetwork *n = arena_new_of(a, DlcNetwork);
	*n = (DlcNetwork){ .session = s, .arena = a, .name = arena_printf(a, "%s", name), .dag = converted,
		.imported = imported, .precision = (Precision)o->precision };
	*out = n;
	return true;
}

/* bytes NULL: model is a name of the zoo or a path. */
static bool load(DlcSession *s, const char *model, const void *bytes, size_t size, const DlcLoadOptions *o,
	DlcNetwork **out, Err *err)
{
	static const DlcLoadOptions none;
	Arena *a = arena_new();
	Loading x = { a, o != NULL ? o : &none };
	ModelArgs m;
	OutsideFormat outside;
	Dag *dag = NULL;
	if (network_read_options(s, a, x.o, &m, err)) {
		m.offer = x.o->offer != NULL ? offer : NULL;
		m.offer_arg = &x;
		m.outside = x.o->frontend != NULL ? &outside : NULL;
		if (m.outside != NULL && !outside_open(s, a, x.o->frontend, &outside, err)) {
			arena_free(a);
			return false;
		}
		dag = bytes == NULL ? frontend_load(a, model, &m, err)
				    : frontend_load_bytes(a, model, (Bytes){ bytes, size }, &m, err);
	}
	if (dag == NULL || !network_make(s, a, model, dag, x.o, out, err)) {
		arena_free(a);
		return false;
	}
	return true;
}

DlcFault dlc_network_load(
	DlcSession *s, const char *model, const DlcLoadOptions *options, DlcNetwork **out, DlcFailure *why)
{
	API_CHECK(why, API_OUT(out), API_GIVEN(s), API_GIVEN(model), API_OPTIONS(options, api_load_options));
	API_CALL(s, why, load(s, model, NULL, 0, options, out, err));
}

DlcFault dlc_network_load_memory(DlcSession *s, const char *name, const void *bytes, size_t size,
	const DlcLoadOptions *options, DlcNetwork **out, DlcFailure *why)
{
	API_CHECK(why, API_OUT(out), API_GIVEN(s), API_GIVEN(name), API_GIVEN(bytes),
		API_OPTIONS(options, api_load_options));
	API_CALL(s, why, load(s, name, bytes, size, options, out, err));
}

void dlc_network_close(DlcNetwork *n)
{
	if (n == NULL)
		return;
	arena_free(n->view);
	arena_free(n->arena);
}

static bool list_tasks(DlcNetwork *n, const DlcTarget *target, const DlcTask **out, int *count, Err *err)
{
	Target t;
	Arena *a = session_view(n->session, &n->view, "n", err);
	if (a == NULL || !session_target(n->session, target, false, &t, err) || !session_takes_precision(n, &t, err))
		return false;
	Partition *p = compile_tasks(a, dag_copy(a, n->dag), &t, err);
	if (p == NULL)
		return false;
	DlcTask *list = arena_array(a, DlcTask, p->ntask + p->nmore + 1);
	for (int i = 0; i < p->ntask + p->nmore; i++)
		list[i] = session_task(p->task[i], p->task[i]->weight, i >= p->ntask);
	*out = list;
	*count = p->ntask + p->nmore;
	return true;
}

DlcFault dlc_network_tasks(DlcNetwork *n, const DlcTarget *target, const DlcTask **out, int *count, DlcFailure *why)
{
	API_CHECK(why, API_OUT(out), API_GIVEN(n), API_GIVEN(count), API_OPTIONS(target, api_target));
	*count = 0;
	API_CALL(n->session, why, list_tasks(n, target, out, count, err));
}
