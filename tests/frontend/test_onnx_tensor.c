/* Data of ONNX tensors: each place they may be in, each way they may be wrong. */
#include "folder.h"

static const char one_init[] = "opset 13\nin x f32 2\ninit w f32 2 = 1 2\nnode Add x,w -> y\nout y\n";

static Dag *load_model(Arena *a, const OnnxModel *m, Err *err)
{
	const char *path = in_folder(a, "m.onnx");
	save_model(a, path, m);
	return frontend_load(a, path, NULL, err);
}

static void external(Arena *a, OnnxTensor *t, const char *location, const char *offset, const char *length)
{
	OnnxPair where = { .key = "location", .value = location }, from = { .key = "offset", .value = offset };
	OnnxPair size = { .key = "length", .value = length };
	t->raw_data = (Bytes){ NULL, 0 };
	t->data_location = 1;
	vec_push(a, &t->external_data, where);
	if (offset != NULL)
		vec_push(a, &t->external_data, from);
	if (length != NULL)
		vec_push(a, &t->external_data, size);
}

static const struct {
	const char *location, *offset, *length, *want; /* NULL: it is read */
} externals[] = {
	{ "w.bin", "4", "8", NULL },
	{ "sub/w.bin", "0", NULL, NULL },
	{ "sub/w.bin", NULL, NULL, NULL },
	{ "../outside.bin", "0", "8", "is not a path inside the model's folder" },
	{ "sub/../w.bin", "0", "8", "is not a path inside the model's folder" },
	{ "/etc/passwd", "0", "8", "is not a path inside the model's folder" },
	{ "", "0", "8", "is not a path inside the model's folder" },
	{ "sub//w.bin", "0", "8", "is not a path inside the model's folder" },
	{ "./w.bin", "0", "8", "is not a path inside the model's folder" },
	{ "link.bin", "0", "8", "it is a link, which could lead out of the model's folder" },
	{ "linked/w.bin", "0", "8", "no folder of its own" },
	{ "nosuch.bin", "0", "8", "No such file" },
	{ "sub", "0", "8", "is not a regular file" },
	{ "w.bin", "8", "8", "lie outside of 'w.bin', which has 12" },
	{ "w.bin", "9223372036854775807", "8", "lie outside of" },
	{ "w.bin", "-4", "8", "the offset '-4' of its external data is not a number" },
	{ "w.bin", "0", "99999999999999999999", "the length '99999999999999999999' of its external data is not a number" },
	{ "w.bin", "0", "12", "its external data have 12 bytes where its shape needs 8" },
};

START_TEST(external_data)
{
	Arena *a = arena_new();
	static const float numbers[] = { 5, 6, 7 };
	Err err = { 0 };
	ck_assert_int_eq(mkdir(in_folder(a, "sub"), 0700), 0);
	save_bytes(in_folder(a, "w.bin"), numbers, sizeof numbers);
	save_bytes(in_folder(a, "sub/w.bin"), numbers, 8);
	ck_assert_int_eq(symlink("w.bin", in_folder(a, "link.bin")), 0);
	ck_assert_int_eq(symlink("sub", in_folder(a, "linked")), 0);
	OnnxModel *m = model_text(a, one_init);
	external(a, &m->graph->initializer.at[0], externals[_i].location, externals[_i].offset, externals[_i].length);
	Dag *d = load_model(a, m, &err);
	if (externals[_i].want == NULL) {
		ck_assert_msg(d != NULL, "%s", err.text);
		const Value *w = &d->value.at[dag_find_value(d, "w")];
		ck_assert(((const float *)w->data)[0] == (strcmp(externals[_i].location, "w.bin") == 0 ? 6 : 5));
	} else {
		ck_assert(d == NULL);
		ck_assert_msg(strstr(err.text, externals[_i].want) != NULL, "%s", err.text);
		ck_assert_msg(strstr(err.text, "initializer 'w'") != NULL, "%s", err.text);
	}
	arena_free(a);
}
END_TEST

typedef struct Typed {
	int64_t type;
	int list;        /* 0 int32_data, 1 int64_data, 2 uint64_data, 3 float_data, 4 double_data */
	int64_t bits[2]; /* as stored in the list */
	double want[2];
} Typed;

static const Typed typed[] = {
	{ 1, 3, { 0 }, { 1.5, -2 } },
	{ 11, 4, { 0 }, { 1.5, -2 } },
	{ 2, 0, { 1, 255 }, { 1, 255 } },
	{ 3, 0, { 1, -128 }, { 1, -128 } },
	{ 4, 0, { 1, 65535 }, { 1, 65535 } },
	{ 5, 0, { 1, -32768 }, { 1, -32768 } },
	{ 6, 0, { 1, -2147483648LL }, { 1, -2147483648.0 } },
	{ 7, 1, { 1, -5000000000LL }, { 1, -5000000000.0 } },
	{ 9, 0, { 0, 7 }, { 0, 1 } },
	{ 10, 0, { 0x3c00, 0xc000 }, { 1, -2 } },
	{ 12, 2, { 1, 4294967295LL }, { 1, 4294967295.0 } },
	{ 13, 2, { 1, 5000000000LL }, { 1, 5000000000.0 } },
	{ 16, 0, { 0x3f80, 0xc000 }, { 1, -2 } },
	{ 22, 0, { 0xf1, 0 }, { 1, -1 } },
	{ 21, 0, { 0xf1, 0 }, { 1, 15 } },
};

START_TEST(typed_data)
{
	const Typed *c = &typed[_i];
	Arena *a = arena_new();
	Err err = { 0 };
	OnnxTensor t = { .name = "t", .data_type = c->type };
	Text out = { .arena = a };
	BindArg b;
	int n = c->type == 21 || c->type == 22 ? 1 : 2; /* two nibbles in a number */
	vec_push(a, &t.dims, 2);
	for (int k = 0; k < n; k++) {
		switch (c->list) {
		case 0: vec_push(a, &t.int32_data, c->bits[k]); break;
		case 1: vec_push(a, &t.int64_data, c->bits[k]); break;
		case 2: vec_push(a, &t.uint64_data, c->bits[k]); break;
		case 3: vec_push(a, &t.float_data, (float)c->want[k]); break;
		case 4: vec_push(a, &t.double_data, c->want[k]); break;
		}
	}
	wire_write(&out, &OnnxTensor_message, &t);
	ck_assert_msg(
		frontend_read_tensor("onnx", a, (Bytes){ (const unsigned char *)out.at, out.n }, &b, &err), "%s", err.text);
	for (int k = 0; k < 2; k++)
		ck_assert_msg(
			element_get(b.type, b.data, k) == c->want[k], "type %d: %g", (int)c->type, element_get(b.type, b.data, k));
	arena_free(a);
}
END_TEST

static void break_count(Arena *a, OnnxTensor *t)
{
	t->raw_data.n = 0;
	for (int k = 0; k < 3; k++)
		vec_push(a, &t->float_data, 1);
}

static void break_twice(Arena *a, OnnxTensor *t)
{
	vec_push(a, &t->float_data, 1);
}

static void break_length(Arena *a, OnnxTensor *t)
{
	(void)a;
	t->raw_data.n = 7;
}

static void break_dims(Arena *a, OnnxTensor *t)
{
	for (int k = 0; k < 4; k++)
		vec_push(a, &t->dims, (int64_t)1 << 40);
}

static void break_negative(Arena *a, OnnxTensor *t)
{
	(void)a;
	t->dims.at[0] = -2;
}

static void break_rank(Arena *a, OnnxTensor *t)
{
	for (int k = 0; k < 9; k++)
		vec_push(a, &t->dims, 1);
}

static void break_type(Arena *a, OnnxTensor *t)
{
	(void)a;
	t->data_type = 8;
}

static void break_large(Arena *a, OnnxTensor *t)
{
	(void)a;
	t->dims.at[0] = (int64_t)1 << 40;
}

static const struct {
	void (*damage)(Arena *a, OnnxTensor *t);
	const char *want;
} broken[] = {
	{ break_count, "initializer 'w' has 3 numbers where its shape needs 2" },
	{ break_twice, "initializer 'w' has its data twice" },
	{ break_length, "initializer 'w' has 7 bytes of data where its shape needs 8" },
	{ break_dims, "initializer 'w' has a shape whose size overflows" },
	{ break_negative, "initializer 'w' has a dimension of -2" },
	{ break_rank, "initializer 'w' has 10 dimensions; dlc takes at most 8" },
	{ break_type, "initializer 'w' has element type STRING, which dlc does not have" },
	{ break_large, "initializer 'w' has 8 bytes of data where its shape needs 4398046511104" },
};

START_TEST(broken_tensors)
{
	Arena *a = arena_new();
	Err err = { 0 };
	OnnxModel *m = model_text(a, one_init);
	broken[_i].damage(a, &m->graph->initializer.at[0]);
	ck_assert(load_model(a, m, &err) == NULL);
	ck_assert_msg(strstr(err.text, broken[_i].want) != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("onnx-tensor");
	tcase_add_checked_fixture(tc, make_folder, remove_folder);
	tcase_add_loop_test(tc, external_data, 0, LEN(externals));
	tcase_add_loop_test(tc, typed_data, 0, LEN(typed));
	tcase_add_loop_test(tc, broken_tensors, 0, LEN(broken));
	return run_suite("onnx-tensor", tc);
}
