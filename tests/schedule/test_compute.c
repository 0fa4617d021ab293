/*
 * Other algorithms in traces: a schedule of Winograd's blocks equals the naive convolution exactly
 * modulo a prime, whatever the steps behind `compute`; absorb, as golden text; where compute refuses.
 */
#include "equal.h"
#include "golden.h"
#include "suite.h"

#include "ir/text.h"
#include "ir/verify.h"
#include "schedule/space.h"

#include <string.h>

static char *lines(Arena *a, const char *what)
{
	char *steps = arena_printf(a, "%s", what);
	for (char *p = steps; *p != 0; p++)
		if (*p == ';')
			*p = '\n';
	return steps;
}

static void apply(Arena *a, const char *before, const char *what, Text *out)
{
	Err err = { 0 };
	Target target;
	const char *steps = lines(a, what);
	target_host(&target, 1);
	KernelSet *ks = ir_parse_set(ir_new(a), "golden", before, strlen(before), &err);
	Trace *t = ks != NULL ? trace_parse(a, "trace", steps, strlen(steps), &err) : NULL;
	if (t == NULL || !ir_verify_set(ks, &err) || !trace_apply(ks, t, NULL, &target, &err) || !ir_verify_set(ks, &err))
		text_add(out, "! %s: %s\n", err.place, err.text);
	else
		ir_print_set(out, ks);
}

START_TEST(absorb_gives_the_golden_text)
{
	int cases;
	ck_assert_int_eq(golden_run("tests/golden/schedule/absorb.t", apply, &cases), 0);
	ck_assert_int_ge(cases, 12);
}
END_TEST

#define CONV(c, o, h, w)                                                                              \
	"dag t\nin x: f32[1," #c "," #h "," #w "]\nin r: f32[1," #o "," #h "," #w "]\nconst w: f32[" #o \
	"," #c ",3,3]\nconst b: f32[" #o "]\ny: f32[1," #o "," #h "," #w "] = conv(x, w, b) "         \
	"pads=[1,1,1,1]\ns: f32[1," #o "," #h "," #w "] = add(y, r)\nz: f32[1," #o "," #h "," #w      \
	"] = relu(s)\nout z\n"
#define ODD CONV(3, 5, 7, 13)
#define SQUARE CONV(16, 16, 14, 14)

static const struct {
	const char *dag, *steps;
} schedules[] = {
	{ ODD, "compute conv2d.winograd m=2" },
	{ ODD, "compute conv2d.winograd m=4 o=4;absorb wino.y add;absorb wino.y relu" },
	{ ODD, "compute conv2d.winograd m=2;split y.th 3;compute_at wino.m y.th.o;compute_at wino.v y.th.o" },
	{ ODD, "compute conv2d.winograd m=4;absorb wino.y add;compute_at wino.v m.j;vectorize y.o" },
	{ ODD, "compute conv2d.winograd m=4;compute_at wino.m y.th;compute_at wino.v y.th;split v.c 2;vectorize v.c.i;"
	       "split m.o 4;split m.tw 2;reorder m.i m.j m.th m.tw.o m.o.o m.c m.tw.i m.o.i;unroll m.tw.i;"
	       "vectorize m.o.i;vectorize y.o" },
	{ SQUARE, "compute conv2d.winograd m=4;absorb wino.y add;absorb wino.y relu;split y.th 2;"
		  "compute_at wino.m y.th.o;compute_at wino.v y.th.o;vectorize v.c;unroll m.tw;vectorize y.o;parallel y.th.o" },
};

START_TEST(schedules_of_winograd_equal_the_naive_convolution)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target target;
	const char *steps = lines(a, schedules[_i].steps);
	Task *task = task_of(a, schedules[_i].dag);
	target_host(&target, 2);
	Trace *t = trace_parse(a, "trace", steps, strlen(steps), &err);
	KernelSet *naive = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, &err);
	KernelSet *ks = t != NULL ? schedule_replay(ir_new(a), task, &target, t, &err) : NULL;
	ck_assert_msg(ks != NULL, "%s: %s", err.place, err.text);
	must_equal(naive, ks, IR_MODP, (uint64_t)_i + 3, steps);
	Text text = { .arena = a };
	trace_print(&text, t);
	ck_assert_int_eq(strncmp(text_str(&text), steps, strlen(steps)), 0);
	arena_free(a);
}
END_TEST

static const struct {
	const char *steps, *why;
	ErrCode code;
} refused[] = {
	{ "split h 2;compute conv2d.winograd m=2", "it comes before all other steps", ERR_ILLEGAL },
	{ "compute conv2d.winograd m=2;compute conv2d.winograd m=2", "it comes before all other steps", ERR_ILLEGAL },
	{ "compute conv2d.winograd m=5", "m is 2, 4 or 6", ERR_ILLEGAL },
	{ "compute conv2d.winograd o=16", "m= must be given", ERR_ILLEGAL },
	{ "compute fft m=2", "there is no algorithm", ERR_ILLEGAL },
	{ "compute conv2d.winograd", "needs more arguments", ERR_SYNTAX },
	{ "compute conv2d.winograd m", "no KEY=NUMBER", ERR_SYNTAX },
	{ "compute conv2d.winograd m=", "no KEY=NUMBER", ERR_SYNTAX },
	{ "compute conv2d.winograd =2", "no KEY=NUMBER", ERR_SYNTAX },
	{ "compute conv2d.winograd m=-2", "no KEY=NUMBER", ERR_SYNTAX },
};

START_TEST(compute_refuses)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target target;
	const char *steps = lines(a, refused[_i].steps);
	Task *task = task_of(a, ODD);
	target_host(&target, 1);
	Trace *t = trace_parse(a, "trace", steps, strlen(steps), &err);
	ck_assert(t == NULL || schedule_replay(ir_new(a), task, &target, t, &err) == NULL);
	ck_assert_int_eq(err.code, refused[_i].code);
	ck_assert_msg(strstr(err.text, refused[_i].why) != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("compute");
	tcase_add_test(tc, absorb_gives_the_golden_text);
	tcase_add_loop_test(tc, schedules_of_winograd_equal_the_naive_convolution, 0, LEN(schedules));
	tcase_add_loop_test(tc, compute_refuses, 0, LEN(refused));
	return run_suite("compute", tc);
}
