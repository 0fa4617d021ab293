/*
 * Measurement with children that behave, and with children that do not: every candidate gets a
 * status, even if its process ends, and the next one is measured as usual.
 */
#include "lab.h"

#include "base/file.h"
#include "ir/verify/verify.h"
#include "measure/points.h"

#include <signal.h>
#include <unistd.h>

/* What stands for the scheduled loops of the workload above. */
static const struct {
	const char *what, *text;
	RunStatus status;
} candidates[] = {
	{ "right",
		"fn k(%s: in f32[4, 32], %s: out f32[4, 32]) {\n"
		"\tfor i in 0..4 {\n\t\tfor j in 0..32 {\n\t\t\t%s[i, j] = max(%s[i, j], 0.0)\n\t\t}\n\t}\n}\n",
		RUN_OK },
	{ "wrong",
		"fn k(%s: in f32[4, 32], %s: out f32[4, 32]) {\n"
		"\tfor i in 0..4 {\n\t\tfor j in 0..32 {\n\t\t\t%s[i, j] = max(%s[i, j], 0.5)\n\t\t}\n\t}\n}\n",
		RUN_WRONG_RESULT },
	{ "endless",
		"fn k(%s: in f32[4, 32], %s: out f32[4, 32]) {\n"
		"\tfor n in 0..4000000000000 {\n\t\tfor i in 0..4 {\n\t\t\tfor j in 0..32 {\n"
		"\t\t\t\t%s[i, j] = max(%s[i, j], 0.0)\n\t\t\t}\n\t\t}\n\t}\n}\n",
		RUN_RUN_TIMEOUT },
};

static void submit(Lab *lab, int k, int number)
{
	Err err = { 0 };
	const Dag *d = lab->task->dag;
	const char *in = d->value.at[d->input.at[0]].name, *out = d->value.at[d->output.at[0]].name;
	char *text = arena_printf(lab->arena, candidates[k].text, in, out, out, in);
	KernelSet *ks = ir_parse_set(ir_new(lab->arena), "k", text, strlen(text), &err);
	ck_assert_msg(ks != NULL && ir_verify_set(ks, &err), "%s: %s", err.place, err.text);
	MeasureJob job = { .ks = ks, .ref = lab->ref, .user = (void *)(intptr_t)number };
	ck_assert_msg(measure_submit(lab->m, &job, &err), "%s", err.text);
}

START_TEST(each_candidate_gets_its_status)
{
	Lab lab = open_lab();
	for (int round = 0; round < 2; round++)
		for (int k = 0; k < LEN(candidates); k++) {
			submit(&lab, k, k);
			MeasureResult r = result_of(&lab);
			ck_assert_msg(r.status == candidates[k].status, "%s: %s (%s)", candidates[k].what,
				run_status_text(r.status), r.detail);
			if (r.status == RUN_OK)
				ck_assert(r.median_ns > 0 && r.samples > 0 && r.max_err_e9 >= 0 && r.probe_mflops > 0);
		}
	ck_assert_int_eq(measure_pending(lab.m), 0);
	close_lab(&lab);
}
END_TEST

START_TEST(many_are_under_way_at_once)
{
	Lab lab = open_lab();
	int seen[20] = { 0 };
	for (int i = 0; i < 20; i++)
		submit(&lab, i % 2, i);
	for (int i = 0; i < 20; i++) {
		MeasureResult r = result_of(&lab);
		int number = (int)(intptr_t)r.user;
		seen[number]++;
		ck_assert_int_eq(r.status, candidates[number % 2].status);
	}
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(seen[i], 1);
	close_lab(&lab);
}
END_TEST

/* The time of a build tells it from another one. */
START_TEST(a_candidate_is_built_once)
{
	Lab lab = open_lab();
	submit(&lab, 0, 0);
	MeasureResult first = result_of(&lab);
	submit(&lab, 1, 0);
	ck_assert_int_eq(result_of(&lab).status, RUN_WRONG_RESULT);
	submit(&lab, 0, 0);
	MeasureResult again = result_of(&lab);
	ck_assert_int_eq(again.status, RUN_OK);
	ck_assert(first.compile_ns > 0 && first.compile_ns == again.compile_ns);
	close_lab(&lab);
}
END_TEST

static void think(Lab *lab, int ms)
{
	for (int i = 0; i < ms; i++) {
		measure_turn(lab->m);
		usleep(1000);
	}
}

/* A caller that hardly waits: two looks would not bring a candidate through its five phases. */
START_TEST(goes_on_while_the_caller_thinks)
{
	Lab lab = open_lab();
	MeasureResult r;
	submit(&lab, 0, 0);
	think(&lab, 2000);
	ck_assert_int_eq(measure_pending(lab.m), 1);
	if (!measure_wait(lab.m, 0, &r)) { /* a busy machine */
		think(&lab, 20000);
		ck_assert(measure_wait(lab.m, 0, &r));
	}
	ck_assert_int_eq(r.status, RUN_OK);
	close_lab(&lab);
}
END_TEST

/* Programs that are no builder, or no runner. */
static const struct {
	const char *program, *argument;
} impostors[] = {
	{ "/bin/false", NULL },
	{ "/bin/cat", NULL },
	{ "/bin/echo", "nonsense that is no frame at all, long enough to be looked at" },
	{ "/nonexistent/program", NULL },
};

START_TEST(a_builder_that_is_none_is_a_status)
{
	Lab lab = open_lab();
	Measure *good = lab.m;
	char *program = arena_printf(lab.arena, "%s", impostors[_i].program);
	char *argument = impostors[_i].argument != NULL ? arena_printf(lab.arena, "%s", impostors[_i].argument) : NULL;
	lab.m = open_with(lab.arena, program, argument, worker, "--stdio");
	submit(&lab, 0, 0);
	MeasureResult r = result_of(&lab);
	ck_assert_msg(r.status == RUN_COMPILE_ERROR || r.status == RUN_DEVICE_LOST, "%s", run_status_text(r.status));
	ck_assert_int_gt((int)strlen(r.detail), 5);
	measure_close(lab.m);
	lab.m = good;
	close_lab(&lab);
}
END_TEST

START_TEST(a_runner_that_is_none_is_a_status)
{
	Lab lab = open_lab();
	Measure *good = lab.m;
	char *program = arena_printf(lab.arena, "%s", impostors[_i].program);
	char *argument = impostors[_i].argument != NULL ? arena_printf(lab.arena, "%s", impostors[_i].argument) : NULL;
	lab.m = open_with(lab.arena, dlc, "builder", program, argument);
	submit(&lab, 0, 0);
	MeasureResult r = result_of(&lab);
	ck_assert_msg(r.status == RUN_CRASH || r.status == RUN_LAUNCH_ERROR || r.status == RUN_DEVICE_LOST, "%s",
		run_status_text(r.status));
	measure_close(lab.m);
	lab.m = good;
	close_lab(&lab);
}
END_TEST

/* The processes this one has started and that still live. */
static int living_children(void)
{
	char command[64], line[32] = "0";
	snprintf(command, sizeof command, "pgrep -c -P %d dlc", (int)getpid());
	FILE *f = popen(command, "r");
	if (f != NULL && fgets(line, sizeof line, f) == NULL)
		line[0] = '0';
	if (f != NULL)
		pclose(f);
	return atoi(line);
}

/* Sends all children a signal. */
static void signal_children(Lab *lab, const char *name)
{
	ck_assert_int_eq(system(arena_printf(lab->arena, "pkill -%s -P %d dlc", name, (int)getpid())), 0);
}

/* Ctrl-Z while builders were stopped for a sample, and fg: nobody ran, so nobody is late. */
START_TEST(who_was_stopped_himself_blames_no_child)
{
	build_ms = 1000;
	Lab lab = open_lab();
	signal_children(&lab, "STOP");
	submit(&lab, 0, 0);
	usleep(2000000);
	signal_children(&lab, "CONT");
	MeasureResult r = result_of(&lab);
	ck_assert_msg(r.status == RUN_OK, "%s: %s", run_status_text(r.status), r.detail);
	close_lab(&lab);
	build_ms = 20000;
}
END_TEST

START_TEST(closing_leaves_no_child)
{
	Lab lab = open_lab();
	submit(&lab, 2, 0); /* one that runs for ever */
	MeasureResult r;
	ck_assert(!measure_wait(lab.m, 300, &r));
	close_lab(&lab);
	ck_assert_int_eq(living_children(), 0);
}
END_TEST

/* A task of `n` inputs, its reference, and its naive set as a candidate. */
static RunStatus measure_sum(Lab *lab, int n, MeasureRef **ref)
{
	Err err = { 0 };
	Text t = { .arena = lab->arena };
	text_add(&t, "dag t\n");
	for (int i = 0; i < n; i++)
		text_add(&t, "in x%d: f32[2,3]\n", i);
	for (int i = 1; i < n; i++)
		text_add(&t, "s%d: f32[2,3] = add(%s%d, x%d)\n", i, i == 1 ? "x" : "s", i - 1, i);
	text_add(&t, "out s%d\n", n - 1);
	Dag *d = dag_parse(lab->arena, "t", text_str(&t), t.n, &err);
	Task *task = d != NULL ? task_new(lab->arena, d, &err) : NULL;
	ck_assert_msg(task != NULL, "%s: %s", err.place, err.text);
	if (*ref == NULL)
		*ref = measure_reference(lab->m, task, 1, &err);
	ck_assert_msg(*ref != NULL, "%s: %s", err.place, err.text);
	KernelSet *ks = op_naive(ir_new(lab->arena), task->dag, "k", NAIVE_AS_TYPED, &err);
	MeasureJob job = { .ks = ks, .ref = *ref, .keep = true };
	ck_assert_msg(ks != NULL && measure_submit(lab->m, &job, &err), "%s", err.text);
	return result_of(lab).status;
}

START_TEST(a_task_has_as_many_tensors_as_it_likes)
{
	Lab lab = open_lab();
	MeasureRef *ref = NULL;
	ck_assert_int_eq(measure_sum(&lab, 100, &ref), RUN_OK);
	close_lab(&lab);
}
END_TEST

/* The first task is measured again when the runner has seen a thousand others. */
START_TEST(tasks_do_not_overwrite_each_other)
{
	Lab lab = open_lab();
	MeasureRef *first = NULL;
	ck_assert_int_eq(measure_sum(&lab, 2, &first), RUN_OK);
	for (int i = 0; i < 1000; i++) {
		Err err = { 0 };
		ck_assert_msg(measure_reference(lab.m, lab.task, 2, &err) != NULL, "%s", err.text);
		if (i % 50 == 0) {
			submit(&lab, 0, i);
			ck_assert_int_eq(result_of(&lab).status, RUN_OK);
		}
	}
	ck_assert_int_eq(measure_sum(&lab, 2, &first), RUN_OK);
	close_lab(&lab);
}
END_TEST

/* ---- references ---- */

static MeasureResult measure_set(Lab *lab, MeasureRef *ref, const KernelSet *ks, const Err *err)
{
	Err no = { 0 };
	ck_assert_msg(ks != NULL, "%s: %s", err->place, err->text);
	MeasureJob job = { .ks = ks, .ref = ref, .trace = "" };
	ck_assert_msg(measure_submit(lab->m, &job, &no), "%s", no.text);
	return result_of(lab);
}

static MeasureResult measure_text(Lab *lab, MeasureRef *ref, const char *text)
{
	Err err = { 0 };
	KernelSet *ks = ir_parse_set(ir_new(lab->arena), "k", text, strlen(text), &err);
	if (ks != NULL && !ir_verify_set(ks, &err))
		ks = NULL;
	return measure_set(lab, ref, ks, &err);
}

/* Tasks whose outputs are computed at points, or, in the second half, completely. */
static const struct {
	const char *text;
	bool points;
} tasks[] = {
	{ "dag t\nin x: f32[1,16,28,28]\nin s: f32[1,32,28,28]\nconst w: f32[32,16,3,3]\nconst b: f32[32]\n"
	  "y: f32[1,32,28,28] = conv(x, w, b) pads=[1,1,1,1]\nz: f32[1,32,28,28] = add(y, s)\n"
	  "r: f32[1,32,28,28] = relu(z)\nout r\n", true },
	{ "dag t\nin x: f32[1,24,30,30]:NCHW16c\nconst w: f32[24,24,3,3]\n"
	  "y: f32[1,24,15,15]:NCHW16c = conv(x, w) pads=[1,1,1,1] strides=[2,2]\nout y\n", true },
	{ "dag t\nin x: f32[1,16,80,80]\nconst w: f32[16,16,3,3]\nconst v: f32[16,16,3,3]\n"
	  "y: f32[1,16,78,78] = conv(x, w)\nz: f32[1,16,76,76] = conv(y, v)\nout y, z\n", true },
	{ "dag t\nin x: f32[1,64,56,56]\nconst w: f32[64,1,3,3]\nconst p: f32[32,64,1,1]\n"
	  "y: f32[1,64,56,56] = conv(x, w) groups=64 pads=[1,1,1,1]\nz: f32[1,64,56,56] = relu(y)\n"
	  "q: f32[1,32,56,56] = conv(z, p)\nout q\n", true },
	{ "dag t\nin x: f32[1024,500]\ny: f32[1024,500] = softmax(x)\nout y\n", true },
	{ "dag t\nin x: f32[1,64,112,112]\ny: f32[1,64,56,56] = max_pool(x) kernel=[3,3] pads=[1,1,1,1] strides=[2,2]\n"
	  "out y\n", true },
	{ "dag t\nin a: f32[4,96,128]\nin b: f32[4,128,80]\nc: f32[4,96,80] = matmul(a, b)\nout c\n", true },
	{ "dag t\nin a: f32[2,64,64,64]\nin b: f32[2,32,64,64]\nc: f32[2,96,64,64] = concat(a, b) axis=1\n"
	  "d: f32[2,64,64,96] = transpose(c) perm=[0,2,3,1]\ne: f32[2,64,64,96] = relu(d)\nout e\n", true },
	/* A quotient and a power that have poles, were it not for their scalars. */
	{ "dag t\nin x: f32[1,32,24,24]\nin s: f32[1,32,1,1]\nconst c: f32[]\nconst k: f32[]\n"
	  "v: f32[1,32,24,24] = mul(x, s)\n"
	  "a: f32[1,32,24,24] = abs(v)\nb: f32[1,32,24,24] = add(a, c)\nd: f32[1,32,24,24] = div(v, b)\n"
	  "e: f32[1,32,24,24] = add(a, k)\nf: f32[1,32,24,24] = div(d, e)\nout f\n", false },
	{ "dag t\nin x: f32[40,64]\nconst w: f32[64,64]\nconst c: f32[1]\ny: f32[40,64] = dense(x, w)\n"
	  "z: f32[40,64] = pow(y, c)\nout z\n", false },
	{ "dag t\nin x: f32[4,32]\ny: f32[4,32] = relu(x)\nz: f32[4,32] = softmax(y)\nout y, z\n", false },
	{ "dag t\nin x: f32[1,512,49]\ny: f32[1,512,1] = reduce_mean(x) axes=[2]\nout y\n", false },
	/* Two numbers a byte. */
	{ "dag t\nin x: i4[5,5]\ny: f32[5,5] = cast(x) to=f32\nout y\n", false },
	{ "dag t\nin x: f32[5,5]\ny: u4[5,5] = cast(x) to=u4\nout y\n", false },
	{ "dag t\nin x: i4[4,6]\ny: i4[6,4] = transpose(x)\nout y\n", false },
};

/* The naive form, compiled as typed, is right for the oracle; points and wholes alike. */
START_TEST(the_oracle_and_the_naive_form_agree)
{
	Lab lab = open_lab();
	Err err = { 0 };
	Task *task = task_of(&lab, tasks[_i].text);
	ck_assert_msg((points_set(ir_new(lab.arena), task->dag, &err) != NULL) == tasks[_i].points, "%s", err.text);
	MeasureRef *ref = measure_reference(lab.m, task, 3, &err);
	ck_assert_msg(ref != NULL, "%s: %s", err.place, err.text);
	for (int round = 0; round < 2; round++) { /* against the oracle alone, then against the first one too */
		KernelSet *ks = op_naive(ir_new(lab.arena), task->dag, "k", NAIVE_AS_TYPED, &err);
		MeasureResult r = measure_set(&lab, ref, ks, &err);
		ck_assert_msg(r.status == RUN_OK, "%s: %s", run_status_text(r.status), r.detail);
		ck_assert_msg(r.max_err_e9 >= 0 && r.max_err_e9 < 5000, "%lld", (long long)r.max_err_e9);
	}
	close_lab(&lab);
}
END_TEST

/* The last digit of a half is anybody's, that before it is not. */
START_TEST(halves_are_compared_as_halves)
{
	Lab lab = open_lab();
	Err err = { 0 };
	const char *type = _i == 0 ? "f16" : "bf16", *near = _i == 0 ? "1.0005" : "1.004", *far = _i == 0 ? "1.01" : "1.05";
	char *dag = arena_printf(lab.arena, "dag t\nin x: %s[40,32]\ny: %s[40,32] = sigmoid(x)\nout y\n", type, type);
	MeasureRef *ref = measure_reference(lab.m, task_of(&lab, dag), 3, &err);
	ck_assert_msg(ref != NULL, "%s: %s", err.place, err.text);
	for (int k = 0; k < 2; k++) {
		MeasureResult r = measure_text(&lab, ref, arena_printf(lab.arena,
			"fn k(v0: in %s[40, 32], v1: out %s[40, 32]) {\n\tfor i in 0..40 {\n\t\tfor j in 0..32 {\n"
			"\t\t\tv1[i, j] = %s(sigmoid(f32(v0[i, j])) * %s)\n\t\t}\n\t}\n}\n",
			type, type, type, k == 0 ? near : far));
		ck_assert_msg(r.status == (k == 0 ? RUN_OK : RUN_WRONG_RESULT), "%s: %s", run_status_text(r.status), r.detail);
	}
	close_lab(&lab);
}
END_TEST

/* Candidates for a task of which 256 points are known; a stray error lies where none is. */
static const struct {
	const char *what, *text;
	RunStatus status;
} strays[] = {
	{ "right", BIG_FN BIG_RELU "}\n", RUN_OK },
	{ "all wrong", BIG_FN EACH("v1[0, c, h, w] = max(v0[0, c, h, w], 0.5)\n") "}\n", RUN_WRONG_RESULT },
	{ "one wrong element", BIG_FN BIG_RELU "v1[0, 13, 77, 101] = 0.5\n}\n", RUN_WRONG_RESULT },
	{ "a row not written",
		BIG_FN EACH("if h != 77 {\nv1[0, c, h, w] = max(v0[0, c, h, w], 0.0)\n}\n") "}\n", RUN_WRONG_RESULT },
	{ "padding not zero",
		PLAIN_FN PLAIN("v1[0, c, h, w, l] = max(v0[0, c, h, w, l], 0.0)\n") "v1[0, 1, 77, 101, 9] = 0.5\n}\n",
		RUN_WRONG_RESULT },
	{ "padding written as zero", PLAIN_FN PLAIN("v1[0, c, h, w, l] = max(v0[0, c, h, w, l], 0.0)\n") "}\n", RUN_OK },
};

/* In any order, right candidates are right and wrong ones wrong. */
START_TEST(errors_are_found_where_no_point_is)
{
	run_ms = 20000; /* the runner is slow with sanitizers */
	Lab lab = open_lab();
	Err err = { 0 };
	MeasureRef *ref = measure_reference(lab.m, task_of(&lab, BIG), 7, &err);
	ck_assert_msg(ref != NULL, "%s: %s", err.place, err.text);
	bool seen = false;
	for (int k = 0; k < 2 * LEN(strays); k++) {
		int row = (_i + k) % LEN(strays);
		MeasureResult r = measure_text(&lab, ref, strays[row].text);
		seen |= strays[row].status == RUN_OK;
		if (!seen && strcmp(strays[row].what, "one wrong element") == 0)
			continue; /* none has come yet that it could be compared with */
		ck_assert_msg(r.status == strays[row].status, "%s: %s %s", strays[row].what, run_status_text(r.status),
			r.detail);
	}
	close_lab(&lab);
}
END_TEST

/* ---- pruning and races ---- */

#define MATMUL "dag t\nin a: f32[64,64]\nin b: f32[64,16]\nc: f32[64,16] = matmul(a, b)\nout c\n"
/* All 64 rows at once are twice as many vectors as there are registers. */
#define TILE(rows) \
	"fn k(v0: in f32[64, 64], v1: in f32[64, 16], v2: out f32[64, 16]) {\n" \
	"for m.o in 0..64 / " #rows " {\n alloc t: f32[" #rows ", 16] @local\n" \
	"for i in 0.." #rows " unrolled {\n for j in 0..16 vector {\n t[i, j] = 0.0\n}\n}\n" \
	"for k in 0..64 {\n for ik in 0.." #rows " unrolled {\n for jk in 0..16 vector {\n" \
	"t[ik, jk] = t[ik, jk] + v0[m.o * " #rows " + ik, k] * v1[k, jk]\n}\n}\n}\n" \
	"for iw in 0.." #rows " unrolled {\n for jw in 0..16 vector {\n" \
	"v2[m.o * " #rows " + iw, jw] = t[iw, jw]\n}\n}\n}\n}\n"

START_TEST(a_candidate_that_spills_is_not_run)
{
	Lab lab = open_lab();
	Err err = { 0 };
	MeasureRef *ref = measure_reference(lab.m, task_of(&lab, MATMUL), 1, &err);
	ck_assert_msg(ref != NULL, "%s: %s", err.place, err.text);
	MeasureResult r = measure_text(&lab, ref, TILE(4));
	ck_assert_msg(r.status == RUN_OK && !r.pruned, "%s", r.detail);
	r = measure_text(&lab, ref, TILE(64));
	ck_assert_msg(r.status == RUN_CONSTRAINT && r.pruned, "%s", run_status_text(r.status));
	ck_assert_msg(strstr(r.detail, "k saves") != NULL, "%s", r.detail);
	KernelSet *ks = ir_parse_set(ir_new(lab.arena), "k", TILE(64), strlen(TILE(64)), &err);
	MeasureJob job = { .ks = ks, .ref = ref, .keep = true };
	ck_assert(measure_submit(lab.m, &job, &err));
	r = result_of(&lab);
	ck_assert_msg(r.status == RUN_OK && !r.pruned, "%s", r.detail);
	close_lab(&lab);
}
END_TEST

START_TEST(threads_share_a_candidate)
{
	threads = 2;
	run_ms = 20000;
	Lab lab = open_lab();
	Err err = { 0 };
	MeasureRef *ref = measure_reference(lab.m, task_of(&lab, BIG), 1, &err);
	ck_assert_msg(ref != NULL, "%s: %s", err.place, err.text);
	for (int i = 0; i < 2; i++) {
		MeasureResult r = measure_text(&lab, ref,
			BIG_FN "for c in 0..24 parallel {\n"
			OVER(240, h, OVER(240, w, "v1[0, c, h, w] = max(v0[0, c, h, w], 0.0)\n")) "}\n}\n");
		ck_assert_msg(r.status == RUN_OK, "%s: %s", run_status_text(r.status), r.detail);
	}
	close_lab(&lab);
}
END_TEST

START_TEST(a_race)
{
	Lab lab = open_lab();
	Err err = { 0 };
	static const char *const text[] = { TILE(4), TILE(64), TILE(8), TILE(1) };
	MeasureRef *ref = measure_reference(lab.m, task_of(&lab, MATMUL), 1, &err);
	MeasureJob job[LEN(text)];
	MeasureResult r[LEN(text)];
	submit(&lab, 0, 5); /* others may be under way */
	for (int i = 0; i < LEN(text); i++)
		job[i] = (MeasureJob){ .ks = ir_parse_set(ir_new(lab.arena), "k", text[i], strlen(text[i]), &err),
			.ref = ref,
			.user = &r[i] };
	ck_assert_msg(measure_race(lab.m, job, LEN(text), r, &err), "%s", err.text);
	for (int i = 0; i < LEN(text); i++) {
		ck_assert_msg(r[i].status == RUN_OK, "%s", r[i].detail);
		ck_assert_int_ge(r[i].samples + r[i].lost, 7);
		ck_assert_str_eq(r[i].stage, "race");
		ck_assert(r[i].user == &r[i]);
	}
	ck_assert_msg(r[1].median_ns > r[0].median_ns, "spilling %lld, in registers %lld", (long long)r[1].median_ns,
		(long long)r[0].median_ns);
	MeasureResult other = result_of(&lab);
	ck_assert(other.status == RUN_OK && other.user == (void *)(intptr_t)5);
	close_lab(&lab);
}
END_TEST

/* Entrants that are wrong, and one that ends the child that has loaded the others. */
START_TEST(a_race_with_losers)
{
	Lab lab = open_lab();
	Err err = { 0 };
	MeasureJob job[4];
	MeasureResult r[4];
	static const int row[] = { 0, 1, 2, 0 };
	for (int i = 0; i < 4; i++) {
		const Dag *d = lab.task->dag;
		const char *in = d->value.at[d->input.at[0]].name, *out = d->value.at[d->output.at[0]].name;
		char *text = arena_printf(lab.arena, candidates[row[i]].text, in, out, out, in);
		job[i] = (MeasureJob){ .ks = ir_parse_set(ir_new(lab.arena), "k", text, strlen(text), &err), .ref = lab.ref };
	}
	ck_assert_msg(measure_race(lab.m, job, 4, r, &err), "%s", err.text);
	for (int i = 0; i < 4; i++)
		ck_assert_msg(r[i].status == candidates[row[i]].status, "%d: %s %s", i, run_status_text(r[i].status),
			r[i].detail);
	ck_assert(r[0].samples > 1 && r[3].samples > 1);
	close_lab(&lab);
}
END_TEST

int main(int argc, char **argv)
{
	if (argc != 3)
		return 1;
	dlc = argv[1];
	worker = argv[2];
	TCase *tc = tcase_create("measure");
	tcase_add_test(tc, each_candidate_gets_its_status);
	tcase_add_test(tc, many_are_under_way_at_once);
	tcase_add_test(tc, a_candidate_is_built_once);
	tcase_add_test(tc, goes_on_while_the_caller_thinks);
	tcase_add_loop_test(tc, a_builder_that_is_none_is_a_status, 0, LEN(impostors));
	tcase_add_loop_test(tc, a_runner_that_is_none_is_a_status, 0, LEN(impostors));
	tcase_add_test(tc, who_was_stopped_himself_blames_no_child);
	tcase_add_test(tc, closing_leaves_no_child);
	tcase_add_test(tc, a_task_has_as_many_tensors_as_it_likes);
	tcase_add_test(tc, tasks_do_not_overwrite_each_other);
	tcase_add_loop_test(tc, the_oracle_and_the_naive_form_agree, 0, LEN(tasks));
	tcase_add_loop_test(tc, halves_are_compared_as_halves, 0, 2);
	tcase_add_loop_test(tc, errors_are_found_where_no_point_is, 0, LEN(strays));
	tcase_add_test(tc, a_candidate_that_spills_is_not_run);
	tcase_add_test(tc, threads_share_a_candidate);
	tcase_add_test(tc, a_race);
	tcase_add_test(tc, a_race_with_losers);
	return run_suite("measure", tc);
}
