/* Models of PyTorch, made of their texts: scripts, and nodes of exported programs. */
#ifndef TESTS_FRONTEND_PYTORCH_TEXT_H
#define TESTS_FRONTEND_PYTORCH_TEXT_H

#include "archive_bytes.h"

#include "frontend/frontend.h"

#include <check.h>
#include <string.h>

/* ---- scripts: a module without attributes, and its code */

#define EMPTY \
	"\x80\x02" \
	"c__torch__\nM\n)\x81}b."
#define FORWARD(body) "class M(Module):\n  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n" body
/* The module with one attribute, and a pickle of another name. */
#define HOLDS(more) \
	"\x80\x02" \
	"c__torch__\nM\n)\x81}(" more "ub."

static inline Dag *load_script(Arena *a, const char *pickle, size_t n, const char *code, Err *err)
{
	Entry e[] = { { "m/data.pkl", pickle, 0, 0, 0, (uint32_t)n }, { "m/code/__torch__.py", code, 0, 0, 0, 0 } };
	ShapeArg shape = { "x", shape_of(2, (int64_t[]){ 2, 6 }) };
	return frontend_load_bytes(a, "m.pt", make_archive(a, e, 2), &(ModelArgs){ .shape = &shape, .nshape = 1 }, err);
}

/* ---- exported programs: nodes in JSON */

#define ARG(name, value) "{\"name\":\"" name "\",\"arg\":" value ",\"kind\":1}"
#define TENSOR(name) "{\"as_tensor\":{\"name\":\"" name "\"}}"
#define NODE(target, inputs) \
	"{\"target\":\"torch.ops.aten." target "\",\"inputs\":[" inputs "],\"outputs\":[" TENSOR("y") "]}"
#define WRITE(target, inputs) \
	"{\"target\":\"torch.ops.aten." target "\",\"inputs\":[" inputs "],\"outputs\":[" TENSOR("z") "]}"
#define PROGRAM(nodes, out) \
	"{\"graph_module\":{\"graph\":{\"nodes\":[" nodes "],\"tensor_values\":{\"x\":{\"dtype\":7,\"sizes\":[" \
	"{\"as_int\":2},{\"as_int\":6}]}}},\"signature\":{\"input_specs\":[{\"user_input\":{\"arg\":" TENSOR( \
		"x") "}}],\"output_specs\":[{\"user_output\":{\"arg\":" TENSOR(out) "}}]}}}"

static inline Dag *load_program(Arena *a, const char *json, Err *err)
{
	Entry e[] = { { "m/archive_format", "pt2", 0, 0, 0, 0 }, { "m/models/model.json", json, 0, 0, 0, 0 } };
	return frontend_load_bytes(a, "m.pt2", make_archive(a, e, 2), NULL, err);
}

/* The program has `want` in its Dag; NULL: it is refused by a sentence with `why`. */
static inline void check_program(const char *json, const char *want, const char *why)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_program(a, json, &err);
	ck_assert_msg((d != NULL) == (want != NULL), "%s\n%s: %s\n%s", json, err.place, err.text, err.items);
	ck_assert_msg(want == NULL || strstr(dag_str(a, d), want) != NULL, "%s\nlacks \"%s\":\n%s", json, want,
		d != NULL ? dag_str(a, d) : "");
	ck_assert_msg(
		why == NULL || strstr(err.text, why) != NULL, "%s\nrefused: %s\nnot: %s", json, err.text, why);
	arena_free(a);
}

#endif
