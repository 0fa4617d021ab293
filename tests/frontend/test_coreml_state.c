/* States of ML programs: inputs, which are results where they are written. */
#include "coreml_made.h"
#include "evaluate.h"
#include "suite.h"

typedef struct Program {
	Arena *a;
	MilBlock block;
	MilNamed in[3];
	int nin;
	int notes;
} Program;

static MilType *state_of(Arena *a, MilType *of)
{
	MilType *t = arena_new_of(a, MilType);
	t->stateType = bytes_of(a, &MilState_message, &(MilState){ .wrappedType = of });
	t->has = 1u << MilType_stateType;
	return t;
}

static MilType *vector(Arena *a, int64_t n)
{
	return mil_type(a, MIL_F32, 1, &n);
}

/* out = type(x, y), with two parameters of these names; y NULL: one parameter, out NULL: no result */
static MilOperation operation(Arena *a, const char *type, const char *keys[2], const char *x, const char *y,
	const char *out)
{
	MilOperation op = { .type = type };
	mil_add_input(a, &op, keys[0], x, NULL);
	if (y != NULL)
		mil_add_input(a, &op, keys[1], y, NULL);
	if (out != NULL)
		vec_push(a, &op.outputs, ((MilNamed){ .name = out, .type = vector(a, 3) }));
	return op;
}

static void add(Program *p, const char *type, const char *x, const char *y, const char *out)
{
	bool on_state = strstr(type, "state") != NULL;
	const char *keys[] = { on_state ? "input" : "x", on_state ? "data" : "y" };
	vec_push(p->a, &p->block.operations, operation(p->a, type, keys, x, y, out));
}

static void count_note(const char *sentence, void *arg)
{
	((Program *)arg)->notes += strstr(sentence, "the state 's' is an input, and what it becomes") != NULL;
}

static void begin(Program *p, Arena *a)
{
	*p = (Program){ .a = a, .nin = 2 };
	p->in[0] = (MilNamed){ .name = "x", .type = vector(a, 3) };
	p->in[1] = (MilNamed){ .name = "s", .type = state_of(a, vector(a, 3)) };
}

static Dag *load(Program *p, const char *opset, Err *err)
{
	ModelArgs args = { .note = count_note, .note_arg = p };
	return frontend_load_bytes(p->a, "m.mlmodel", mil_model(p->a, opset, &p->block, p->in, p->nin), &args, err);
}

static void check(const float *x, float a, float b, float c)
{
	ck_assert_float_eq(x[0], a);
	ck_assert_float_eq(x[1], b);
	ck_assert_float_eq(x[2], c);
}

/* Reads see what was written before them, and not what is written later. */
START_TEST(states_are_inputs_and_results)
{
	static const float x[] = { 1, 2, 3 }, s[] = { 10, 20, 30 };
	Arena *a = arena_new();
	Err err = { 0 };
	Program p;
	begin(&p, a);
	add(&p, "read_state", "s", NULL, "first");
	add(&p, "add", "first", "x", "sum");
	add(&p, "write_state", "s", "sum", NULL);
	add(&p, "read_state", "s", NULL, "second");
	add(&p, "mul", "second", "x", "product");
	add(&p, "write_state", "s", "product", NULL);
	add(&p, "sub", "second", "first", "s.next"); /* a result of the name that the state would have */
	vec_push(a, &p.block.outputs, "s.next");
	vec_push(a, &p.block.outputs, "first");
	Dag *d = load(&p, "CoreML8", &err);
	ck_assert_msg(d != NULL && dag_check(d, &err), "%s\n%s", err.text, err.items);
	ck_assert_int_eq(p.notes, 1);
	ck_assert_int_eq((int)d->output.n, 3);
	ck_assert_str_eq(d->value.at[d->output.at[0]].name, "s.next");
	ck_assert_str_eq(d->value.at[d->output.at[2]].name, "s.next_");
	void **out = evaluate(a, d, (const void *const[]){ x, s }, &err);
	ck_assert_msg(out != NULL, "%s", err.text);
	check(out[0], 1, 2, 3);
	check(out[1], 10, 20, 30);
	check(out[2], 11, 44, 99);
	arena_free(a);
}
END_TEST

START_TEST(states_may_only_be_read)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Program p;
	begin(&p, a);
	add(&p, "read_state", "s", NULL, "first");
	add(&p, "add", "first", "x", "y");
	vec_push(a, &p.block.outputs, "y");
	Dag *d = load(&p, "CoreML8", &err);
	ck_assert_msg(d != NULL, "%s\n%s", err.text, err.items);
	ck_assert_int_eq((int)d->output.n, 1);
	ck_assert_int_eq((int)d->input.n, 2);
	ck_assert_int_eq(p.notes, 0);
	arena_free(a);
}
END_TEST

static void refuse_no_state(Program *p)
{
	add(p, "read_state", "x", NULL, "y");
}

static void refuse_shape(Program *p)
{
	p->in[1].type = state_of(p->a, vector(p->a, 4));
	add(p, "write_state", "s", "x", NULL);
	add(p, "read_state", "s", NULL, "y");
}

static void refuse_type(Program *p)
{
	p->in[1].type = state_of(p->a, mil_type(p->a, MIL_I32, 1, (int64_t[]){ 3 }));
	add(p, "write_state", "s", "x", NULL);
	add(p, "read_state", "s", NULL, "y");
}

static void refuse_state_of_state(Program *p)
{
	p->in[1].type = state_of(p->a, state_of(p->a, vector(p->a, 3)));
	add(p, "read_state", "s", NULL, "y");
}

/* A block of a condition writes. */
static void refuse_block(Program *p)
{
	Program inner = { .a = p->a };
	MilOperation op = { .type = "cond" };
	MilType *one = mil_type(p->a, MIL_BOOL, 0, NULL);
	p->in[2] = (MilNamed){ .name = "c", .type = one };
	p->nin = 3;
	add(&inner, "write_state", "s", "x", NULL);
	vec_push(p->a, &inner.block.outputs, "x");
	mil_add_input(p->a, &op, "pred", "c", NULL);
	for (int k = 0; k < 2; k++)
		vec_push(p->a, &op.blocks, bytes_of(p->a, &MilBlock_message, &inner.block));
	vec_push(p->a, &op.outputs, ((MilNamed){ .name = "y", .type = vector(p->a, 3) }));
	vec_push(p->a, &p->block.operations, op);
}

static const struct {
	void (*make)(Program *);
	const char *opset, *why;
} refused[] = {
	{ refuse_no_state, "CoreML8", "operator read_state reads 'x', which is no state" },
	{ refuse_shape, "CoreML8", "it writes f32[3] to a state of f32[4]" },
	{ refuse_type, "CoreML8", "it writes f32[3] to a state of i32[3]" },
	{ refuse_state_of_state, "CoreML8", "is a state of what is not a tensor" },
	{ refuse_block, "CoreML8", "a block of an operator writes the state 's': let it give the value" },
	{ refuse_shape, "CoreML7", "2 operators of this model are not supported" }, /* iOS 17 has no states */
};

START_TEST(states_are_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Program p;
	begin(&p, a);
	refused[_i].make(&p);
	vec_push(a, &p.block.outputs, "y");
	ck_assert(load(&p, refused[_i].opset, &err) == NULL);
	ck_assert_msg(strstr(err.text, refused[_i].why) != NULL, "%d: %s", _i, err.text);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("coreml_state");
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, states_are_inputs_and_results);
	tcase_add_test(tc, states_may_only_be_read);
	tcase_add_loop_test(tc, states_are_refused, 0, LEN(refused));
	return run_suite("coreml_state", tc);
}
