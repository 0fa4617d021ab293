/*
 * The learned model: trees that are checked before they are used, files that are refused, training that is reproducible
 * and not misled, and the row that learns while it is told.
 */
#include "suite.h"

#include "base/file.h"
#include "base/rng.h"
#include "cost_model/cost_model.h"
#include "cost_model/learned_file.h"
#include "cost_model/train.h"
#include "schedule/space.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* 1: with train.c as a build without libxgboost has it. */
#ifndef WITHOUT_XGBOOST
#define WITHOUT_XGBOOST 0
#endif

/* ---- trees ---- */

/* Two trees: x[3] < 2 ? -1 : 0.5, and a leaf of 0.25. */
static Forest two_trees(Arena *a)
{
	static const TreeNode node[] = { { 3, 2, 1, 2 }, { -1, -1, 0, 0 }, { -1, 0.5f, 0, 0 }, { -1, 0.25f, 0, 0 } };
	static const uint32_t root[] = { 0, 3 };
	return (Forest){ 2, 4, arena_copy(a, root, sizeof root), arena_copy(a, node, sizeof node) };
}

START_TEST(trees_add_up)
{
	Arena *a = arena_new();
	Forest f = two_trees(a), twice = forest_join(a, &f, &f), none = forest_join(a, NULL, &(Forest){ 0 });
	float row[PREDICTORS] = { 0 };
	row[3] = 1.5f;
	ck_assert(forest_value(&f, row) == -0.75 && forest_value(&twice, row) == -1.5 && forest_value(&none, row) == 0);
	row[3] = 2;
	ck_assert(forest_value(&f, row) == 0.75 && forest_check(&twice, PREDICTORS, "f", NULL));
	arena_free(a);
}
END_TEST

static const struct {
	const char *name;
	int at;
	TreeNode node;
	const char *says;
} broken[] = {
	{ "a predictor that there is not", 0, { PREDICTORS, 1, 1, 2 }, "node 0 of tree 0 is out of range" },
	{ "a circle", 0, { 0, 1, 0, 2 }, "node 0 of tree 0 is out of range" },
	{ "into the next tree", 0, { 0, 1, 1, 3 }, "node 0 of tree 0 is out of range" },
	{ "beyond all", 0, { 0, 1, 1, 77 }, "node 0 of tree 0 is out of range" },
	{ "no number", 1, { -1, NAN, 0, 0 }, "node 1 of tree 0 is out of range" },
	{ "endless", 3, { -1, INFINITY, 0, 0 }, "node 0 of tree 1 is out of range" },
	{ "absurd", 3, { -1, 900, 0, 0 }, "has absurd scores: leaves add up to 901" },
};

START_TEST(trees_that_lead_astray_are_refused)
{
	Arena *a = arena_new();
	Forest f = two_trees(a);
	Err err = { 0 };
	f.node[broken[_i].at] = broken[_i].node;
	ck_assert_msg(!forest_check(&f, PREDICTORS, "f", &err), "%s", broken[_i].name);
	ck_assert_str_eq(err.text, broken[_i].says);
	arena_free(a);
}
END_TEST

/* ---- files ---- */

static Target some_cpu(void)
{
	Target t;
	Err err = { 0 };
	static const char text[] = "{\"kind\":\"cpu\",\"model\":\"x86-64-v3\",\"fma_rate\":2,\"fma_latency\":4}";
	ck_assert_msg(target_parse(&t, "t", text, sizeof text - 1, 1, &err), "%s", err.text);
	return t;
}

static LearnedModel small_model(Arena *a)
{
	static LearnedScore score[] = { { "all", 3, 40, { 0.5, 0.75 }, { 1.25, 1.125 } } };
	static LearnedGain gains[] = { { ARCH_X86_64, 512, false, 9, 5, 0.125, 0.0625, 0.25 },
		{ ARCH_X86_64, 256, true, 9, 0, LEARNED_NEVER, 0, 0.5 } };
	LearnedModel m = { .kind = TARGET_CPU, .predictors = predictor_id(), .trained_s = 1700000000, .runs = 41,
		.rows = 40,
		.tasks = 3, .targets = 1, .forest = two_trees(a), .score = score, .nscore = 1, .epoch = 9,
		.untuned = gains, .nuntuned = 2 };
	m.gain[2] = 0.75;
	m.data = hash_of("test", "x", 1);
	return m;
}

static const char *path_of(Arena *a, const char *name)
{
	return arena_printf(a, "/tmp/dlc-learned-%ld-%s", (long)getpid(), name);
}

START_TEST(a_file_reads_back)
{
	Arena *a = arena_new();
	LearnedModel m = small_model(a), back;
	Err err = { 0 };
	const char *path = path_of(a, "back");
	ck_assert_msg(learned_write(path, &m, &err) && learned_read(a, path, &back, &err), "%s", err.text);
	ck_assert(back.forest.nnode == 4 && memcmp(back.forest.node, m.forest.node, 4 * sizeof(TreeNode)) == 0);
	ck_assert(back.rows == 40 && back.runs == 41 && back.tasks == 3 && back.gain[2] == 0.75 && back.nscore == 1);
	ck_assert(back.score[0].rank[1] == 0.75 && back.score[0].pick[0] == 1.25 && back.kind == TARGET_CPU);
	ck_assert(memcmp(&back.data, &m.data, sizeof m.data) == 0 && back.epoch == 9 && back.nuntuned == 2);
	Target t = some_cpu();
	t.vector_bits = 512;
	const LearnedGain *g = learned_gain(&back, &t);
	ck_assert(g != NULL && g->tasks == 9 && g->taken == 5 && g->margin == 0.125 && fabs(g->gain - 0.0625) < 1e-3);
	t.threads = 2;
	ck_assert(learned_gain(&back, &t) == NULL);
	t.vector_bits = 256;
	g = learned_gain(&back, &t);
	ck_assert(g != NULL && g->margin == LEARNED_NEVER && g->best == 0.5);
	ck_assert(!learned_read(a, path_of(a, "absent"), &back, &err) && err.code == ERR_MISSING);
	unlink(path);
	arena_free(a);
}
END_TEST

/* Every byte counts, and so does every length. */
START_TEST(a_damaged_file_is_refused)
{
	Arena *a = arena_new();
	LearnedModel m = small_model(a), back;
	Bytes file;
	Err err = { 0 };
	const char *path = path_of(a, "damage");
	ck_assert(learned_write(path, &m, &err) && file_read(a, path, 1 << 20, &file, &err));
	unsigned char *bytes = arena_copy(a, file.at, file.n + 1);
	for (size_t i = 0; i < file.n; i++) {
		Arena *scratch = arena_new();
		bytes[i] ^= 1u << i % 8;
		ck_assert_msg(!learned_parse(scratch, "m", bytes, file.n, &back, &err), "byte %zu", i);
		bytes[i] = file.at[i];
		ck_assert_msg(!learned_parse(scratch, "m", bytes, i, &back, &err), "%zu bytes", i);
		arena_free(scratch);
	}
	ck_assert(learned_parse(a, "m", bytes, file.n, &back, &err));
	ck_assert(!learned_parse(a, "m", bytes, file.n + 1, &back, &err));
	unlink(path);
	arena_free(a);
}
END_TEST

/* Files that are whole and of no use: the row takes the estimate, and says so. */
static const struct {
	const char *name, *says;
} useless[] = {
	{ "predictors", "was trained on other predictors than those of this dlc" },
	{ "kind", "is for targets of kind cuda" },
	{ "worse", "ranks Tasks that it has not seen no better than the estimate does (0.40, 0.50)" },
	{ "absurd", "has absurd scores" },
	{ "text", "is no learned cost model" },
	{ "missing", "there is no learned cost model" },
};

static const char dense[] =
	"dag t\nin v0: f32[4,256]\nconst c0: f32[256,256]\nv1: f32[4,256] = dense(v0, c0)\nout v1\n";

static const Task *dense_task(Arena *a)
{
	Err err = { 0 };
	Dag *d = dag_parse(a, "t", dense, sizeof dense - 1, &err);
	Task *t = d != NULL ? task_new(a, d, &err) : NULL;
	ck_assert_msg(t != NULL, "%s: %s", err.place, err.text);
	return t;
}

static KernelSet *schedule(Arena *a, const Task *task, const Target *target, const char *trace)
{
	Err err = { 0 };
	Trace *t = trace_parse(a, "trace", trace, strlen(trace), &err);
	KernelSet *ks = t != NULL ? schedule_replay(ir_new(a), task, target, t, &err) : NULL;
	ck_assert_msg(ks != NULL, "%s: %s", err.place, err.text);
	return ks;
}

START_TEST(a_useless_file_leaves_the_estimate)
{
	Arena *a = arena_new();
	LearnedModel m = small_model(a);
	LearnedScore worse = { "all", 3, 40, { 0.5, 0.4 }, { 1, 1 } };
	Target target = some_cpu();
	Err err = { 0 };
	Cost cost;
	const char *path = path_of(a, useless[_i].name);
	m.predictors.byte[0] ^= strcmp(useless[_i].name, "predictors") == 0;
	m.kind = strcmp(useless[_i].name, "kind") == 0 ? TARGET_CUDA : TARGET_CPU;
	m.score = strcmp(useless[_i].name, "worse") == 0 ? &worse : m.score;
	m.forest.node[3].at = strcmp(useless[_i].name, "absurd") == 0 ? 1e9f : 0.25f;
	bool ok = strcmp(useless[_i].name, "text") == 0 ? file_write(path, "hello\n", 6, &err)
		: strcmp(useless[_i].name, "missing") == 0 || learned_write(path, &m, &err);
	ck_assert(ok && cost_open(&cost, a, "xgboost", path, &target, &err));
	ck_assert_msg(cost_note(&cost) != NULL && strstr(cost_note(&cost), useless[_i].says) != NULL &&
		strstr(cost_note(&cost), path) != NULL, "%s", cost_note(&cost));
	const Task *task = dense_task(a);
	KernelSet *ks = schedule(a, task, &target, "split k 8\n");
	Cost plain = cost_or_first(NULL, a, &target);
	ck_assert(cost_estimate_one(&cost, ks, task) == cost_estimate_one(&plain, ks, task));
	cost_close(&cost);
	unlink(path);
	arena_free(a);
}
END_TEST

/* A file that the user names must be there; one that is of use is used. */
START_TEST(a_file_is_used)
{
	Arena *a = arena_new();
	LearnedModel m = small_model(a);
	Target target = some_cpu();
	Err err = { 0 };
	Cost cost, plain = cost_or_first(NULL, a, &target);
	const char *path = path_of(a, "used");
	ck_assert(!cost_open(&cost, a, arena_printf(a, "xgboost:%s", path), NULL, &target, &err));
	ck_assert(err.code == ERR_MISSING && learned_write(path, &m, &err));
	ck_assert(cost_open(&cost, a, arena_printf(a, "xgboost:%s", path), NULL, &target, &err));
	ck_assert(cost_note(&cost) == NULL);
	const Task *task = dense_task(a);
	KernelSet *ks = schedule(a, task, &target, "split k 8\n");
	double ratio = cost_estimate_one(&cost, ks, task) / cost_estimate_one(&plain, ks, task);
	ck_assert_msg(fabs(ratio - exp(0.75)) < 1e-6 || fabs(ratio - exp(-0.75)) < 1e-6, "%g", ratio);
	cost_close(&cost);
	unlink(path);
	arena_free(a);
}
END_TEST

/* ---- training ---- */

enum { TASKS = 12, EACH = 60, ROWS = TASKS * EACH };

/* Times that depend on three predictors, and on the Task in a way that no predictor tells. */
static TrainSet made_up(Arena *a, uint64_t seed)
{
	Rng rng = rng_seed(seed);
	float *row = arena_array(a, float, ROWS * PREDICTORS);
	double *ns = arena_array(a, double, ROWS), *estimate = arena_array(a, double, ROWS);
	int *task = arena_array(a, int, ROWS);
	for (int i = 0; i < ROWS; i++) {
		float *x = row + (size_t)i * PREDICTORS;
		for (int k = 0; k < PREDICTORS; k++)
			x[k] = (float)rng_real(&rng);
		task[i] = i / EACH;
		estimate[i] = 1000;
		ns[i] = 1000 * exp(0.2 * task[i] + (x[5] > 0.5f ? 0.8 : 0) + (double)x[9] * (double)x[11]);
	}
	return (TrainSet){ ROWS, row, ns, estimate, NULL, task };
}

/* Of the pairs of one Task whose times are 10 % apart: the part that the trees put into order. */
static double in_order(const Forest *f, const TrainSet *s)
{
	double right = 0, pairs = 0;
	for (int i = 0; i < s->n; i++)
		for (int k = 0; k < s->n; k++)
			if (s->task[i] == s->task[k] && s->ns[i] > s->ns[k] * 1.1) {
				pairs++;
				right += forest_value(f, s->row + (size_t)i * PREDICTORS) >
					forest_value(f, s->row + (size_t)k * PREDICTORS);
			}
	return right / pairs;
}

START_TEST(training_finds_what_matters)
{
	Arena *a = arena_new();
	TrainSet set = made_up(a, 1), other = made_up(a, 2);
	Forest f, again;
	double gain[PREDICTORS];
	Err err = { 0 };
	if (!train_there(NULL)) {
		if (!WITHOUT_XGBOOST)
			suite_skip_installable("training", "this dlc was built without libxgboost");
		ck_assert(!train_forest(a, &set, NULL, &f, gain, &err) && err.code == ERR_UNSUPPORTED);
		ck_assert_msg(strstr(err.text, "install libxgboost-dev") != NULL, "%s", err.text);
		arena_free(a);
		return;
	}
	ck_assert_msg(train_forest(a, &set, NULL, &f, gain, &err), "%s", err.text);
	ck_assert_msg(in_order(&f, &other) > 0.85, "%g", in_order(&f, &other));
	for (int k = 0; k < PREDICTORS; k++)
		ck_assert_msg(gain[k] <= gain[5] && (k == 5 || k == 11 || gain[k] <= gain[9]), "predictor %d: %g", k, gain[k]);
	ck_assert(train_forest(a, &set, NULL, &again, NULL, &err) && again.nnode == f.nnode);
	ck_assert_msg(memcmp(f.node, again.node, f.nnode * sizeof *f.node) == 0, "equal rows give equal trees");
	arena_free(a);
}
END_TEST

/* What is trained on top of a model that is full already could not be read again. */
START_TEST(a_model_has_an_end)
{
	Arena *a = arena_new();
	TrainSet set = made_up(a, 1);
	Forest f, before = { .ntree = FOREST_TREES, .nnode = FOREST_TREES };
	Err err = { 0 };
	if (!train_there(NULL)) {
		arena_free(a);
		return;
	}
	before.root = arena_array(a, uint32_t, FOREST_TREES);
	before.node = arena_array(a, TreeNode, FOREST_TREES);
	for (int t = 0; t < FOREST_TREES; t++) {
		before.root[t] = (uint32_t)t;
		before.node[t].predictor = -1;
	}
	ck_assert(forest_check(&before, PREDICTORS, "full", &err));
	ck_assert(!train_forest(a, &set, &before, &f, NULL, &err));
	ck_assert_msg(strstr(err.text, "at most 4096") != NULL, "%s", err.text);
	before.ntree = before.nnode = 3;
	ck_assert_msg(train_forest(a, &set, &before, &f, NULL, &err) && f.ntree > 3, "%s", err.text);
	arena_free(a);
}
END_TEST

/* Clocks that stood still, and a machine that slept: some times are a million times off. */
START_TEST(absurd_times_spoil_nothing)
{
	Arena *a = arena_new();
	TrainSet set = made_up(a, 3), other = made_up(a, 4);
	double *ns = arena_copy(a, set.ns, ROWS * sizeof *ns);
	Forest sound, spoilt;
	Err err = { 0 };
	if (!train_there(NULL)) {
		arena_free(a);
		return;
	}
	ck_assert(train_forest(a, &set, NULL, &sound, NULL, &err));
	for (int i = 0; i < ROWS; i += 25)
		ns[i] = i % 50 == 0 ? ns[i] * 1e6 : 1;
	for (int i = 7; i < ROWS; i += 31)
		ns[i] *= 40;
	set.ns = ns;
	ck_assert_msg(train_forest(a, &set, NULL, &spoilt, NULL, &err), "%s", err.text);
	double before = in_order(&sound, &other), after = in_order(&spoilt, &other);
	ck_assert_msg(after > before - 0.04, "%g, and %g with absurd times", before, after);
	arena_free(a);
}
END_TEST

/* What a run tells the row, it knows some time later, without being waited for. Without the library it never does. */
START_TEST(a_run_is_learned_from)
{
	enum { TELLS = 80, WAIT = 2000 };
	static const char *const trace[] = { "", "split k 8\n", "split k 8\nunroll k.i\n", "split k 4\nunroll k.i\n" };
	Arena *a = arena_new();
	Target target = some_cpu();
	Cost cost;
	Err err = { 0 };
	const Task *task = dense_task(a);
	KernelSet *ks[LEN(trace)];
	double first[LEN(trace)], last[LEN(trace)], ns;
	ck_assert(cost_open(&cost, a, "xgboost", NULL, &target, &err));
	for (int i = 0; i < LEN(trace); i++) {
		ks[i] = schedule(a, task, &target, trace[i]);
		first[i] = cost_estimate_one(&cost, ks[i], task);
	}
	int worst = 0, best = 0;
	for (int i = 1; i < LEN(trace); i++) {
		worst = first[i] > first[worst] ? i : worst;
		best = first[i] < first[best] ? i : best;
	}
	ck_assert(first[best] < first[worst]);
	for (int i = 0; i < TELLS; i++) { /* the worst estimate is the fastest */
		ns = i % LEN(trace) == worst ? 1000 : 10000;
		cost_observe(&cost, &(CostCandidate){ ks[i % LEN(trace)], task }, 1, &ns);
	}
	last[worst] = INFINITY;
	last[best] = 0;
	int waits = train_there(NULL) ? WAIT : 1;
	for (int wait = 0; wait < waits && !(last[worst] < last[best]); wait++) {
		usleep(10000);
		ns = 1000;
		cost_observe(&cost, &(CostCandidate){ ks[worst], task }, 1, &ns);
		for (int i = 0; i < LEN(trace); i++)
			last[i] = cost_estimate_one(&cost, ks[i], task);
	}
	ck_assert_msg((last[worst] < last[best]) == train_there(NULL), "%g and %g", last[worst], last[best]);
	for (int i = 0; i < LEN(trace); i++)
		ck_assert(train_there(NULL) || last[i] == first[i]);
	cost_close(&cost);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("cost_learned");
	tcase_add_test(tc, trees_add_up);
	tcase_add_loop_test(tc, trees_that_lead_astray_are_refused, 0, LEN(broken));
	tcase_add_test(tc, a_file_reads_back);
	tcase_add_test(tc, a_damaged_file_is_refused);
	tcase_add_loop_test(tc, a_useless_file_leaves_the_estimate, 0, LEN(useless));
	tcase_add_test(tc, a_file_is_used);
	tcase_add_test(tc, training_finds_what_matters);
	tcase_add_test(tc, a_model_has_an_end);
	tcase_add_test(tc, absurd_times_spoil_nothing);
	tcase_add_test(tc, a_run_is_learned_from);
	return run_suite("cost_learned", tc);
}
