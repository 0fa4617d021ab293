/*
 * Tasks without a record: a model's choice takes the place of the template's default, is kept, is what a tuner begins
 * with, and is locked by its config. Models that are no use choose nothing.
 */
#include "suite.h"

#include "base/file.h"
#include "compile/choose.h"
#include "compile/lock_file.h"
#include "compile/untuned.h"
#include "op/steps.h"
#include "target/detect.h"

#include <string.h>
#include <unistd.h>

static const char layer[] =
	"dag t\nin v0: f32[60,256]\nconst c0: f32[96,256]\nv1: f32[60,96] = dense(v0, c0)\nout v1\n";

typedef struct Lab {
	char folder[SUITE_FOLDER];
	Arena *arena;
	Target target;
	Task *task;
	Space *space;
	LearnedModel model;
	const char *path, *standard; /* of the model; the trace of the default */
} Lab;

static const char *text_of(Lab *lab, const Config *c)
{
	Err err = { 0 };
	Text text = { .arena = lab->arena };
	Trace *t = space_trace(lab->space, c, lab->arena, &err);
	ck_assert_msg(t != NULL, "%s", err.text);
	trace_print(&text, t);
	return text_str(&text);
}

static bool row_of(Lab *lab, const Config *c, float row[PREDICTORS])
{
	Trace *t = space_trace(lab->space, c, lab->arena, NULL);
	const KernelSet *ks =
		t != NULL ? schedule_draft(ir_new(lab->arena), lab->task, &lab->target, t, NULL) : NULL;
	if (ks != NULL)
		predictor_row(ks, lab->task, &lab->target, row);
	return ks != NULL;
}

/* Finds a predictor that tells a move of one knob from the default, and makes a tree that likes the move e^4 times. */
static void make_model(Lab *lab)
{
	float plain[PREDICTORS], other[PREDICTORS];
	const Config *first = &lab->space->first;
	int best = -1;
	float at = 0;
	bool below = false;
	ck_assert(row_of(lab, first, plain));
	for (int k = 0; k < first->n && best < 0; k++) {
		Config c = space_move(lab->space, first, k, first->pick[k] == 0 ? 1 : 0);
		for (int p = 0; row_of(lab, &c, other) && p < PREDICTORS && best < 0; p++)
			if (other[p] < plain[p] - 0.01f || other[p] > plain[p] + 0.01f) {
				best = p;
				at = (plain[p] + other[p]) / 2;
				below = other[p] < at;
			}
	}
	ck_assert_int_ge(best, 0);
	TreeNode node[] = { { best, at, 1, 2 }, { -1, below ? -2 : 2, 0, 0 }, { -1, below ? 2 : -2, 0, 0 } };
	static const uint32_t root[] = { 0 };
	static LearnedScore score[] = { { "all", 3, 40, { 0.5, 0.75 }, { 1.25, 1.125 } } };
	LearnedGain gain = { lab->target.arch, lab->target.vector_bits, false, 20, 9, 0.5, 0.1, 0.2 };
	lab->model = (LearnedModel){ .kind = TARGET_CPU, .predictors = predictor_id(), .epoch = CODEGEN_EPOCH,
		.forest = { 1, 3, arena_copy(lab->arena, root, sizeof root), arena_copy(lab->arena, node, sizeof node) },
		.score = score, .nscore = 1, .untuned = arena_copy(lab->arena, &gain, sizeof gain), .nuntuned = 1 };
}

static void put_model(Lab *lab)
{
	Err err = { 0 };
	ck_assert_msg(learned_write(lab->path, &lab->model, &err), "%s", err.text);
}

static Lab *open_lab(void)
{
	Err err = { 0 };
	Arena *a = arena_new();
	Lab *lab = arena_new_of(a, Lab);
	lab->arena = a;
	ck_assert(suite_folder(lab->folder, "untuned"));
	target_host(&lab->target, 1);
	lab->task = task_new(a, dag_parse(a, "t", layer, sizeof layer - 1, &err), &err);
	ck_assert_msg(lab->task != NULL, "%s", err.text);
	lab->space = space_new(a, lab->task, &lab->target, &err);
	ck_assert_msg(lab->space != NULL && lab->space->first.n > 0, "%s", err.text);
	lab->standard = text_of(lab, &lab->space->first);
	lab->path = arena_printf(a, "%s/cpu.model", lab->folder);
	make_model(lab);
	put_model(lab);
	return lab;
}

static void close_lab(Lab *lab)
{
	ck_assert_int_eq(system(arena_printf(lab->arena, "rm -rf %s", lab->folder)), 0);
	arena_free(lab->arena);
}

static Untuned *opened(Lab *lab)
{
	Err err = { 0 };
	Untuned *u = untuned_open(lab->arena, lab->path, &lab->target, lab->folder, &err);
	ck_assert_msg(u != NULL, "%s: %s", err.place, err.text);
	return u;
}

static TaskPlan chosen(Lab *lab, Untuned *u)
{
	Err err = { 0 };
	TaskPlan plan;
	CompileOptions o = { .target = &lab->target, .untuned = u };
	ck_assert_msg(
		compile_task(ir_new(lab->arena), lab->task, &o, &plan, &err) != NULL, "%s: %s", err.place, err.text);
	return plan;
}

START_TEST(the_model_replaces_the_default)
{
	Lab *lab = open_lab();
	Err err = { 0 };
	Untuned *u = opened(lab);
	TaskPlan plain = chosen(lab, NULL), plan = chosen(lab, u), begun;
	ck_assert(plain.hit == HIT_DEFAULT && strcmp(plain.trace, lab->standard) == 0);
	ck_assert_int_eq(plan.hit, HIT_MODEL);
	ck_assert_str_ne(plan.trace, lab->standard);
	ck_assert_msg(strstr(plan.why, "no database; ") != NULL && strstr(plan.why, "x expected") != NULL, "%s", plan.why);
	Config c;
	ck_assert(untuned_parse_config(plan.config, &c));
	ck_assert_str_eq(text_of(lab, &c), plan.trace);
	/* The base line of a tuner is the same. */
	CompileOptions o = { .target = &lab->target, .untuned = u };
	ck_assert(compile_lowered_default(ir_new(lab->arena), lab->task, &o, &begun, &err) != NULL);
	ck_assert_str_eq(begun.trace, plan.trace);
	/* A default that the caller asks for stays one. */
	ck_assert(compile_default(ir_new(lab->arena), lab->task, &o, &begun, "x", &err) != NULL);
	ck_assert_str_eq(begun.trace, lab->standard);
	close_lab(lab);
}
END_TEST

/* A gain below the margin is not taken. */
START_TEST(the_margin_counts)
{
	Lab *lab = open_lab();
	lab->model.untuned[0].margin = 8;
	put_model(lab);
	ck_assert_int_eq(chosen(lab, opened(lab)).hit, HIT_DEFAULT);
	close_lab(lab);
}
END_TEST

static const struct {
	const char *name, *says; /* NULL: it is silent */
} useless[] = {
	{ "never", NULL }, { "bits", NULL }, { "threads", NULL }, { "predictors", "other predictors" },
	{ "damage", "is damaged" }, { "kind", "of kind cuda" },
};

START_TEST(useless_models_choose_nothing)
{
	Lab *lab = open_lab();
	Err err = { 0 };
	const char *name = useless[_i].name;
	if (strcmp(name, "never") == 0)
		lab->model.untuned[0].margin = LEARNED_NEVER;
	lab->model.untuned[0].vector_bits += strcmp(name, "bits") == 0;
	lab->model.untuned[0].parallel = strcmp(name, "threads") == 0;
	lab->model.predictors.byte[0] ^= strcmp(name, "predictors") == 0;
	lab->model.kind = strcmp(name, "kind") == 0 ? TARGET_CUDA : TARGET_CPU;
	put_model(lab);
	Bytes file;
	ck_assert(file_read(lab->arena, lab->path, 1 << 20, &file, &err));
	if (strcmp(name, "damage") == 0)
		ck_assert(file_write(lab->path, file.at, file.n - 1, &err));
	ck_assert(untuned_open(lab->arena, lab->path, &lab->target, lab->folder, &err) == NULL);
	ck_assert((err.code != ERR_NONE) == (useless[_i].says != NULL));
	ck_assert_msg(useless[_i].says == NULL || strstr(err.text, useless[_i].says) != NULL, "%s", err.text);
	close_lab(lab);
}
END_TEST

static const char *choices_file(Lab *lab)
{
	char found[300] = "";
	FILE *f = popen(arena_printf(lab->arena, "ls %s/untuned/*", lab->folder), "r");
	ck_assert(f != NULL && fgets(found, sizeof found, f) != NULL && pclose(f) == 0);
	found[strcspn(found, "\n")] = 0;
	return arena_printf(lab->arena, "%s", found);
}

/* The kept choice is read, and holds for its model, its dlc and its templates alone; damage is named and repaired. */
START_TEST(choices_are_kept)
{
	Lab *lab = open_lab();
	Err err = { 0 };
	Bytes file;
	Untuned *u = opened(lab);
	TaskPlan plan = chosen(lab, u);
	ck_assert(untuned_save(u) == NULL);
	const char *path = choices_file(lab);
	ck_assert(file_read(lab->arena, path, 1 << 20, &file, &err));
	const char *text = (const char *)file.at, *line = strchr(text, '\n') + 1;
	/* It is what decides: a gain that no model would say comes back. */
	const char *gain = strchr(strchr(line, ' ') + 1, ' ') + 1;
	const char *other = arena_printf(lab->arena, "%.*s7250%s", (int)(gain - text), text, strchr(gain, ' '));
	ck_assert(file_write(path, other, strlen(other), &err));
	TaskPlan again = chosen(lab, opened(lab));
	ck_assert(strcmp(again.trace, plan.trace) == 0 && strstr(again.why, "7.25x") != NULL);
	/* A trace that its config does not make any more is chosen anew. */
	char *changed = arena_printf(lab->arena, "%s", other), *digit = strchr(changed, '\n') + 1 + HASH_HEX;
	*digit = *digit == '0' ? '1' : '0';
	ck_assert(file_write(path, changed, strlen(changed), &err));
	again = chosen(lab, opened(lab));
	ck_assert(strcmp(again.trace, plan.trace) == 0 && strstr(again.why, "7.25x") == NULL);
	/* Another version of dlc may estimate otherwise. */
	changed = arena_printf(lab->arena, "%s", other);
	char *version = strstr(changed, " " DLC_VERSION " ");
	ck_assert(version != NULL && version < strchr(changed, '\n'));
	version[1] = version[1] == '9' ? '8' : '9';
	ck_assert(file_write(path, changed, strlen(changed), &err));
	again = chosen(lab, opened(lab));
	ck_assert(strcmp(again.trace, plan.trace) == 0 && strstr(again.why, "7.25x") == NULL);
	/* Damage. */
	ck_assert(file_write(path, other, strlen(other) - 3, &err) && file_write(path, "", 0, &err));
	other = arena_printf(lab->arena, "%sx%s", text, text);
	ck_assert(file_write(path, other, strlen(other), &err));
	u = opened(lab);
	ck_assert_str_eq(chosen(lab, u).trace, plan.trace);
	const char *note = untuned_save(u);
	ck_assert_msg(note != NULL && strstr(note, path) != NULL && strstr(note, "is damaged") != NULL, "%s", note);
	ck_assert(file_read(lab->arena, path, 1 << 20, &file, &err) && strcmp((const char *)file.at, text) == 0);
	/* Another model asks anew. */
	lab->model.untuned[0].margin = 8;
	put_model(lab);
	ck_assert_int_eq(chosen(lab, opened(lab)).hit, HIT_DEFAULT);
	close_lab(lab);
}
END_TEST

/* A lock says the config: it leads to the schedule without the model, which may have learned since. */
START_TEST(a_lock_has_the_config)
{
	Lab *lab = open_lab();
	Err err = { 0 };
	char task[HASH_HEX], trace[HASH_HEX], target[HASH_HEX];
	TaskPlan plan = chosen(lab, opened(lab)), again;
	hash_hex(lab->task->id, task);
	hash_hex(steps_hash(plan.trace), trace);
	hash_hex(target_id(&lab->target), target);
	const char *text = arena_printf(
		lab->arena, "dlc lock 1\ntarget %s\ntask %s model %s %s\n", target, task, plan.config, trace);
	CompileOptions o = { .target = &lab->target, .lock_name = "t.lock",
		.lock = lock_parse(lab->arena, "t.lock", text, strlen(text), &err) };
	ck_assert_msg(o.lock != NULL, "%s", err.text);
	ck_assert_msg(
		compile_task(ir_new(lab->arena), lab->task, &o, &again, &err) != NULL, "%s: %s", err.place, err.text);
	ck_assert(again.hit == HIT_MODEL && strcmp(again.trace, plan.trace) == 0 && strcmp(again.why, "locked") == 0);
	close_lab(lab);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("untuned");
	tcase_add_test(tc, the_model_replaces_the_default);
	tcase_add_test(tc, the_margin_counts);
	tcase_add_loop_test(tc, useless_models_choose_nothing, 0, LEN(useless));
	tcase_add_test(tc, choices_are_kept);
	tcase_add_test(tc, a_lock_has_the_config);
	return run_suite("untuned", tc);
}
