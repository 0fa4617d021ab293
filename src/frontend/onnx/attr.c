/*
 * The attributes of the current node. An attribute of a node in a function may refer to one of the function's call, and
 * is followed there. A wrong kind is refused.
 */
#include "frontend/onnx/visit.h"

#include <math.h>
#include <string.h>

static const OnnxAttr *attr_in(const OnnxNode *node, const char *name, size_t *at)
{
	for (size_t k = 0; k < node->attribute.n; k++)
		if (strcmp(onnx_text(node->attribute.at[k].name), name) == 0) {
			*at = k;
			return &node->attribute.at[k];
		}
	return NULL;
}

static const OnnxAttr *default_in(const OnnxFunction *f, const char *name)
{
	for (size_t k = 0; k < f->attribute_proto.n; k++)
		if (strcmp(onnx_text(f->attribute_proto.at[k].name), name) == 0)
			return &f->attribute_proto.at[k];
	return NULL;
}

/* An attribute that refers to one of the function's becomes that of the call, and so on upwards. */
static const OnnxAttr *follow(const Frame *frame, const OnnxAttr *at)
{
	size_t ignored;
	while (at != NULL && onnx_text(at->ref_attr_name)[0] != 0) {
		if (frame == NULL || frame->call == NULL)
			return NULL;
		const char *name = at->ref_attr_name;
		at = attr_in(frame->call, name, &ignored);
		if (at == NULL)
			return default_in(frame->function, name);
		frame = frame->up;
	}
	return at;
}

const OnnxAttr *node_attr(Visit *n, const char *name)
{
	size_t at = 0;
	const OnnxAttr *a = attr_in(n->proto, name, &at);
	if (a == NULL)
		return NULL;
	n->attr_seen[at] = 1;
	return follow(n->frame, a);
}

bool node_has(Visit *n, const char *name)
{
	return node_attr(n, name) != NULL;
}

/* Old files leave `type` out; then the member that is present tells it. */
static const OnnxAttr *attr_of_kind(Visit *n, const char *name, int type, int row, const char *kind)
{
	const OnnxAttr *a = node_attr(n, name);
	if (a == NULL)
		return NULL;
	if (a->type == type || (a->type == 0 && (a->has >> row & 1)))
		return a;
	if (a->type == 0 && a->has >> OnnxAttr_f == 0 && (row == OnnxAttr_ints || row == OnnxAttr_floats))
		return a; /* an empty list leaves nothing in the file */
	node_fail(n, ERR_TYPE, "its attribute %s must be %s", name, kind);
	return NULL;
}

int64_t node_attr_int(Visit *n, const char *name, int64_t otherwise)
{
	const OnnxAttr *a = attr_of_kind(n, name, ONNX_INT, OnnxAttr_i, "an integer");
	return a != NULL ? a->i : otherwise;
}

bool node_attr_flag(Visit *n, const char *name, bool otherwise)
{
	int64_t v = node_attr_int(n, name, otherwise);
	if (v != 0 && v != 1)
		node_fail(n, ERR_INPUT, "its attribute %s is %lld, but must be 0 or 1", name, (long long)v);
	return v != 0;
}

double node_attr_float(Visit *n, const char *name, double otherwise)
{
	const OnnxAttr *a = attr_of_kind(n, name, ONNX_FLOAT, OnnxAttr_f, "a number");
	return a != NULL ? onnx_number(F32, &a->f) : otherwise;
}

double node_attr_size(Visit *n, const char *name, double otherwise)
{
	double v = node_attr_float(n, name, otherwise);
	if (!(v >= 0) || isinf(v))
		node_fail(n, ERR_INPUT, "its attribute %s is %g, but must be a finite number that is not negative", name, v);
	return v;
}

const char *node_attr_text(Visit *n, const char *name, const char *otherwise)
{
	const OnnxAttr *a = attr_of_kind(n, name, ONNX_STRING, OnnxAttr_s, "a text");
	if (a == NULL)
		return otherwise;
	char *s = arena_alloc(n->im->arena, a->s.n + 1);
	if (a->s.n > 0)
		memcpy(s, a->s.at, a->s.n);
	return s;
}

const int64_t *node_attr_ints(Visit *n, const char *name, int *count)
{
	const OnnxAttr *a = attr_of_kind(n, name, ONNX_INTS, OnnxAttr_ints, "a list of integers");
	*count = a == NULL ? -1 : (int)a->ints.n;
	return a == NULL ? NULL : a->ints.at;
}

const float *node_attr_floats(Visit *n, const char *name, int *count)
{
	const OnnxAttr *a = attr_of_kind(n, name, ONNX_FLOATS, OnnxAttr_floats, "a list of numbers");
	*count = a == NULL ? -1 : (int)a->floats.n;
	return a == NULL ? NULL : a->floats.at;
}

const OnnxGraph *node_attr_graph(Visit *n, const char *name)
{
	size_t at = 0;
	const OnnxAttr *a = attr_of_kind(n, name, ONNX_GRAPH, OnnxAttr_g, "a graph"), *own = attr_in(n->proto, name, &at);
	if (own != NULL && onnx_text(own->ref_attr_name)[0] != 0)
		node_fail(n, ERR_UNSUPPORTED, "its graph %s comes from the call of a function", name);
	else if (a == NULL || a->g == NULL)
		node_fail(n, ERR_INPUT, "its attribute %s, a graph, is missing", name);
	return node_ok(n) ? a->g : NULL;
}

bool node_attr_tensor(Visit *n, const char *name, BindArg *out)
{
	const OnnxAttr *a = attr_of_kind(n, name, ONNX_TENSOR, OnnxAttr_t, "a tensor");
	if (a == NULL || a->t == NULL)
		return false;
	const char *what = arena_printf(n->im->arena, "%s: its attribute %s", n->name, name);
	return onnx_tensor_read(n->im->arena, a->t, &n->im->files, what, out, &n->im->err);
}

const int64_t *node_attr_or_input(Visit *n, const char *name, int opset, int k, int *count)
{
	return n->frame->opset < opset ? node_attr_ints(n, name, count) : node_ints(n, k, count);
}
