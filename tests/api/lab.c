/* See lab.h. */
#include "api/lab.h"

#include "base/text.h"
#include "frontend/frontend.h"
#include "op/dag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Small networks that differ, so that a mix-up of sessions shows. */
const char *const network[NETWORKS] = {
	"dag a\nin x: f32[1,8,6,6]\nconst w: f32[8,8,3,3]\nc: f32[1,8,6,6] = conv(x, w) pads=[1,1,1,1]\n"
	"y: f32[1,8,6,6] = relu(c)\nout y\n",
	"dag b\nin x: f32[4,6,24]\ny: f32[24,4,6] = transpose(x) perm=[2,0,1]\n"
	"p: f32[24,4] = reduce_max(y) axes=[2] keep=0\nout y, p\n",
	"dag c\nin x: f32[2,40]\nconst w: f32[40,30]\ny: f32[2,30] = matmul(x, w)\nout y\n",
	"dag d\nin x: f32[3,50]\nin z: f32[3,50]\ns: f32[3,50] = add(x, z)\ny: f32[3,50] = exp(s)\nout y\n",
	[SEVERAL_TASKS] = "dag e\nin x: f32[2,40]\nconst v: f32[40,30]\nconst w: f32[30,20]\nconst u: f32[20,50]\n"
	"const t: f32[50,10]\na: f32[2,30] = matmul(x, v)\nb: f32[2,20] = matmul(a, w)\nc: f32[2,50] = matmul(b, u)\n"
	"y: f32[2,10] = matmul(c, t)\nout y\n",
};
static const float *weights(Arena *a, int64_t n)
{
	float *w = arena_array(a, float, n);
	for (int64_t i = 0; i < n; i++)
		w[i] = (float)(i % 7 - 3) / 8;
	return w;
}

Model onnx_of(const char *text)
{
	Err err = { 0 };
	Arena *a = arena_new();
	Text out = { .arena = a };
	Dag *d = dag_parse(a, "n", text, strlen(text), &err);
	for (size_t v = 0; d != NULL && v < d->value.n; v++)
		if (d->value.at[v].kind == VALUE_CONST)
			d->value.at[v].data = weights(a, value_bytes(&d->value.at[v]) / 4);
	ck_assert_msg(d != NULL && frontend_write("onnx", &out, d, &err), "%s: %s", err.place, err.text);
	Model m = { malloc(out.n), out.n };
	memcpy(m.bytes, out.at, out.n);
	arena_free(a);
	return m;
}

char folder[SUITE_FOLDER];

const char *file(Arena *a, const char *name)
{
	return arena_printf(a, "%s/%s", folder, name);
}

DlcSession *open_session(void)
{
	DlcFailure why = { 0 };
	DlcSession *s;
	DlcSessionOptions o = { .programs = DLC_TEST_PROGRAMS };
	ok(dlc_session_open(&o, &s, &why), why);
	return s;
}

DlcNetwork *load(DlcSession *s, const Model *m)
{
	DlcFailure why = { 0 };
	DlcNetwork *n;
	ok(dlc_network_load_memory(s, "n.onnx", m->bytes, m->n, NULL, &n, &why), why);
	return n;
}

float *run_network(Arena *a, DlcNetwork *n, const float *x, int64_t nx, int64_t ny)
{
	DlcFailure why = { 0 };
	DlcError err = { 0 };
	DlcBundle *bundle;
	DlcModel *m;
	DlcInstance *i;
	size_t size;
	float *y = arena_array(a, float, ny);
	ok(dlc_compile(n, NULL, &bundle, &why), why);
	const void *bytes = dlc_bundle_bytes(bundle, &size);
	ck_assert_msg(dlc_model_open_memory(bytes, size, &m, &err) == DLC_OK &&
			dlc_instance_open(m, 0, &i, &err) == DLC_OK &&
			dlc_instance_write(i, DLC_INPUT, 0, x, sizeof(float) * (size_t)nx, &err) == DLC_OK &&
			dlc_instance_run(i, &err) == DLC_OK &&
			dlc_instance_read(i, DLC_OUTPUT, 0, y, sizeof(float) * (size_t)ny, &err) == DLC_OK,
		"%s", err.text);
	dlc_instance_close(i);
	dlc_model_close(m);
	dlc_bundle_close(bundle);
	return y;
}

Lab open_lab(int which, const char *database)
{
	DlcFailure why = { 0 };
	Lab lab = { .arena = arena_new(), .session = open_session(), .model = onnx_of(network[which]) };
	lab.network = load(lab.session, &lab.model);
	if (database != NULL)
		ok(dlc_database_open(lab.session, file(lab.arena, database), DLC_WRITE, &lab.database, &why), why);
	return lab;
}

void close_lab(Lab *lab)
{
	dlc_database_close(lab->database);
	dlc_network_close(lab->network);
	dlc_session_close(lab->session);
	free(lab->model.bytes);
	arena_free(lab->arena);
}

int put(const char *bytes, size_t n, void *arg)
{
	text_put(arg, bytes, n);
	return 0;
}

int count_runs(const DlcRunRow *row, void *arg)
{
	ck_assert_int_eq(strlen(row->record), 32);
	++*(int *)arg;
	return 0;
}

int take_task(const DlcTaskRow *row, void *arg)
{
	First *x = arg;
	if (x->n++ == 0) {
		x->row = *row;
		snprintf(x->trace, sizeof x->trace, "%s", row->best != NULL ? row->best->trace : "-");
	}
	return 0;
}
