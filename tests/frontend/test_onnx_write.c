/*
 * The writer: files that read back to a Dag that computes the same in the interpreter.
 */
#include "base/rng.h"
#include "calls.h"
#include "evaluate.h"
#include "folder.h"

#include <math.h>

#include "onnx_become.inc"

/* Values equal within rounding: batch norms and pads may come back as other calls. */
static void same_results(Arena *a, const Dag *d, const Dag *e, int most)
{
	Err err = { 0 };
	Rng r = rng_seed(99);
	const void **in = arena_array(a, const void *, d->input.n + 1);
	ck_assert_uint_eq(d->input.n, e->input.n);
	ck_assert_uint_eq(d->output.n, e->output.n);
	for (size_t k = 0; k < d->input.n; k++) {
		const Value *v = &d->value.at[d->input.at[k]];
		void *data = arena_alloc_aligned(a, (size_t)value_bytes(v) + 1, 64);
		fill_random(&r, v, data, most);
		in[k] = data;
		ck_assert_str_eq(v->name, e->value.at[e->input.at[k]].name);
	}
	void **x = evaluate(a, d, in, &err), **y = evaluate(a, e, in, &err);
	ck_assert_msg(x != NULL && y != NULL, "%s: %s", err.place, err.text);
	for (size_t k = 0; k < d->output.n; k++) {
		const Value *v = &d->value.at[d->output.at[k]], *w = &e->value.at[e->output.at[k]];
		ck_assert_str_eq(v->name, w->name);
		ck_assert(dtype_eq(v->type, w->type) && shape_eq(v->shape, w->shape));
		double tolerance = v->type.kind == DT_BFLOAT ? 2e-2 : v->type.bits < 32 ? 4e-3 : 1e-6;
		for (int64_t i = 0; i < shape_elements(v->shape); i++) {
			double p = element_get(v->type, x[k], i), q = element_get(v->type, y[k], i);
			ck_assert_msg(p == q || fabs(p - q) <= tolerance * (1 + fabs(p)) || (isnan(p) && isnan(q)),
				"%s[%lld]: %g and %g", v->name, (long long)i, p, q);
		}
	}
}

static Dag *written_and_read(Arena *a, const Dag *d, Err *err)
{
	Text out = { .arena = a };
	const char *path = in_folder(a, "written.onnx");
	if (!frontend_write("onnx", &out, d, err))
		return NULL;
	save_bytes(path, text_str(&out), out.n);
	return frontend_load(a, path, NULL, err);
}

START_TEST(written_models_compute_the_same)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_text(a, become[_i].model, NULL, &err);
	ck_assert(d != NULL);
	Dag *back = written_and_read(a, d, &err);
	ck_assert_msg(back != NULL, "%s: %s", err.place, err.text);
	same_results(a, d, back, 9);
	arena_free(a);
}
END_TEST

/*
 * Forms that no ONNX node has: transposed operands, dense of more dimensions, both kinds of
 * bounds.
 */
static const char *const dags[] = {
	"dag t\nin a: f32[3,2]\nin b: f32[4,3]\ny: f32[2,4] = matmul(a, b) ta=1 tb=1\nout y\n",
	"dag t\nin a: f32[2,3,2]\nin b: f32[2,3,5]\ny: f32[2,2,5] = matmul(a, b) ta=1\nout y\n",
	"dag t\nin a: f32[2,3,4]\nin w: f32[5,4]\nin b: f32[5]\ny: f32[2,3,5] = dense(a, w, "
	"b)\nout y\n",
	"dag t\nin a: f32[2,3,4]\nin w: f32[5,4]\ny: f32[2,3,5] = dense(a, w)\nout y\n",
	"dag t\nin x: f32[9]\nin l: f32[]\ny: f32[9] = clip(x, l) hi=2 lo=-0.25\nout y\n",
	"dag t\nin x: f32[1,2,7]\ny: f32[1,2,4] = avg_pool(x) ceil=1 count_pad=1 kernel=[3] "
	"pads=[1,0] strides=[2]\nout y\n",
	"dag t\nin x: f32[1,2,8]\ny: f32[1,2,5] = avg_pool(x) ceil=1 kernel=[2] pads=[1,1] "
	"strides=[2]\nout y\n",
	"dag t\nin x: f32[1,2,8]\ny: f32[1,2,4] = max_pool(x) ceil=1 dilations=[2] kernel=[2] "
	"strides=[2]\nout y\n",
	"dag t\nin x: f32[1,2,8]\ny: f32[1,2,6] = avg_pool(x) dilations=[2] kernel=[2]\nout y\n",
	"dag t\nin x: f32[5]\ny: f32[9] = pad(x) mode=wrap pads=[2,2]\nout y\n",
	"dag t\nin x: f32[5,4]\ny: f32[4,4] = pad(x) pads=[-1,2,0,-2] value=3\nout y\n",
	"dag t\nin x: f32[5,4]\ny: f32[3,2] = slice(x) sizes=[3,2] starts=[4,1] steps=[-2,1]\nout "
	"y\n",
	"dag t\nin x: bool[3,4]\ny: bool[3,1] = reduce_min(x) axes=[1]\nout y\n",
	"dag t\nin x: f32[3,4]\ny: f32[] = reduce_max(x) keep=0\nout y\n",
	"dag t\nin x: f32[3,4]\ny: f32[3,4] = relu(x)\nout y, y, x\n",
	"dag t\nin x: i8[4]\ny: f32[4] = cast(x) to=\"f32\"\nout y\n",
	"dag t\nin x: f32[2,3,9]\nin i: i64[2,4]\ny: f32[2,3,4] = gather(x, i) axis=2 batch=1\nout y\n",
	"dag t\nin x: f32[2,9,3,4]\nin i: i64[2,5]\ny: f32[2,9,5,4] = gather(x, i) axis=2 batch=1\nout y\n",
	"dag t\nin x: f32[2,9,4]\nin i: i64[7,2]\nin w: f32[7,2]\ny: f32[2,7,4] = resample(x, i, w) axis=1\nout y\n",
	"dag t\nin x: f32[2,3,4]\nin i: i64[2,5,2]\nin w: f32[2,5,2]\n"
	"y: f32[2,3,5] = resample(x, i, w) axis=2 batch=1\nout y\n",
	"dag t\nin x: f32[5,4]\nin i: i64[3,2]\nin w: f32[3,2]\ny: f32[3,4] = resample(x, i, w) edge=1\nout y\n",
	"dag t\nin x: f32[5,4]\nin i: i64[3,2]\nin w: f32[3,2]\ny: f32[3,4] = resample(x, i, w) max=1\nout y\n",
	"dag t\nin x: f32[5,4]\nin i: i64[0,2]\nin w: f32[0,2]\ny: f32[0,4] = resample(x, i, w)\nout y\n",
	"dag t\nin x: f32[0,4]\nin r: f32[1,4]\ny: f32[4,0] = reshape(x) shape=[4,0]\nout y\n",
	"dag t\nin x: f32[2,6]\na: f32[2,0], b: f32[2,6] = split(x) axis=1 sizes=[0,6]\nout a, b\n",
};

START_TEST(written_dags_compute_the_same)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = dag_parse(a, "test", dags[_i], strlen(dags[_i]), &err);
	ck_assert_msg(d != NULL, "%s: %s", err.place, err.text);
	Dag *back = written_and_read(a, d, &err);
	ck_assert_msg(back != NULL, "%s: %s", err.place, err.text);
	if (_i != 14) /* results listed twice get names of their own */
		same_results(a, d, back, 9);
	else
		ck_assert_uint_eq(back->output.n, 3);
	arena_free(a);
}
END_TEST

/* ---- every operator, with all attributes and with those only that it needs */

/* Takes the next " name=value" out of a copy of the text; *from is where to look, and to go on. NULL: there is none. */
static char *without(Arena *a, const char *text, size_t *from)
{
	const char *equals = text + *from;
	do
		equals = strchr(equals + 1, '=');
	while (equals != NULL && equals[-1] == ' ');
	if (equals == NULL)
		return NULL;
	const char *start = equals, *stop = equals + strcspn(equals, " \n");
	while (*start != ' ')
		start--;
	*from = (size_t)(stop - text);
	return (char *)(uintptr_t)arena_printf(a, "%.*s%s", (int)(start - text), text, stop);
}

static bool writes(const Dag *d, const char *text)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *back = written_and_read(a, d, &err);
	ck_assert_msg(back != NULL, "%s: %s\n%s", err.place, err.text, text);
	bool indices = strstr(text, "gather") != NULL || strstr(text, "scatter") != NULL;
	same_results(a, d, back, indices || strstr(text, "resample") != NULL ? 1 : 9);
	arena_free(a);
	return true;
}

START_TEST(written_calls_compute_the_same)
{
	Arena *a = arena_new();
	const char *text = with_inputs(a, calls[_i]);
	Dag *d = parse_call(a, text);
	ck_assert_msg(d != NULL, "%s", text);
	ck_assert(writes(d, text));
	size_t from = 0;
	for (char *less; (less = without(a, text, &from)) != NULL;) {
		d = parse_call(a, less);
		if (d == NULL || !writes(d, less))
			continue;
		from -= strlen(text) - strlen(less);
		text = less; /* and without the next one, too */
	}
	arena_free(a);
}
END_TEST

START_TEST(a_layout_is_not_written)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_text(a, become[0].model, NULL, &err);
	d->value.at[0].layout = "NCHW16c";
	Text out = { .arena = a };
	ck_assert(!frontend_write("onnx", &out, d, &err));
	ck_assert_msg(strstr(err.text, "NCHW16c") != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("onnx-write");
	tcase_add_checked_fixture(tc, make_folder, remove_folder);
	tcase_add_loop_test(tc, written_models_compute_the_same, 0, LEN(become));
	tcase_add_loop_test(tc, written_dags_compute_the_same, 0, LEN(dags));
	tcase_add_loop_test(tc, written_calls_compute_the_same, 0, LEN(calls));
	tcase_add_test(tc, a_layout_is_not_written);
	return run_suite("onnx-write", tc);
}
