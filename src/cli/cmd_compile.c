/* dlc compile: a model and what databases know of it become a bundle. */
#include "base/file.h"
#include "base/json.h"
#include "cli/model.h"
#include "cli/folders.h"
#include "cli/roof.h"
#include "compile/lock_file.h"
#include "runtime/timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void progress(int done, int all, const char *label, void *arg)
{
	(void)arg;
	fprintf(stderr, "\r\033[K%d/%d %s", done + 1, all, label);
}

/* ---- what is told */

/* Milliseconds of the network that no schedule of this task can be shown to need. */
static double could_save(const TaskPlan *p, const Roof *machine)
{
	double over = p->estimated_ms - roof_ns(p->task, machine) / 1e6;
	return over > 0 ? over * p->task->weight : 0;
}

typedef struct Saving {
	const TaskPlan *plan;
	double ms;
} Saving;

static int by_saving(const void *pa, const void *pb)
{
	const Saving *a = pa, *b = pb;
	if (a->ms != b->ms)
		return a->ms > b->ms ? -1 : 1;
	return memcmp(&a->plan->task->id, &b->plan->task->id, sizeof(Hash));
}

/* The command that looks for what is missing: the tasks without a record of their own, the dearest first. */
static void print_next(const Args *args, const Compiled *c, const Roof *machine)
{
	enum { NAMED = 5, SECONDS = 4 /* about 120 trials */ };
	static const char *const same[] = { "target", "threads", "tuning-db", "batch", "shape", "bind" };
	Saving *s = arena_array(args_arena(args), Saving, c->partition->ntask + 1);
	int n = 0;
	for (int k = 0; k < c->partition->ntask; k++)
		if (c->task[k].hit != HIT_EXACT)
			s[n++] = (Saving){ &c->task[k], could_save(&c->task[k], machine) };
	if (n == 0)
		return;
	qsort(s, (size_t)n, sizeof *s, by_saving);
	printf("    next: dlc-tune %s", args_operand(args, 0));
	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		size_t given;
		const char *const *value = args_all(args, same[i], &given);
		for (size_t k = 0; k < given; k++)
			if (strcmp(value[k], "none") != 0) /* it must have a database */
				printf(" --%s=%s", same[i], value[k]);
	}
	for (int k = 0; k < n && k < NAMED && n < c->partition->ntask; k++) {
		char hex[HASH_HEX];
		hash_hex(s[k].plan->task->id, hex);
		printf(" --tasks=%.7s", hex);
	}
	int named = n < c->partition->ntask && n > NAMED ? NAMED : n;
	printf("  (~%d s)", named * SECONDS);
}

static void print_explain(const Args *args, const Compiled *c, const Target *t)
{
	Roof machine = roof_machine(t);
	printf("%-9s%-38s%3s  %-9s%-34s%9s  %s\n", "task", "op", "x", "source", "why", "ms", "could save");
	for (int k = 0; k < c->partition->ntask; k++) {
		const TaskPlan *p = &c->task[k];
		char hex[HASH_HEX];
		hash_hex(p->task->id, hex);
		printf("%.7s  %-38.38s%3d  %-9s%-34.34s%9.3f  %10.3f\n", hex, p->task->label, p->task->weight, hit_name(p->hit),
			p->why, p->estimated_ms, could_save(p, &machine));
	}
	for (int h = 0; h < HIT_COUNT; h++)
		printf("%s%s %d", h > 0 ? ", " : "", hit_name((HitClass)h), c->hits[h]);
	printf("; estimated %.3f ms", c->estimated_ms);
	print_next(args, c, &machine);
	printf("\n");
}

/* --explain --json: an object for each task. */
static void print_tasks(Arena *a, const Compiled *c, const Target *t)
{
	Roof machine = roof_machine(t);
	for (int k = 0; k < c->partition->ntask; k++) {
		const TaskPlan *p = &c->task[k];
		char hex[HASH_HEX];
		Text out = { .arena = a };
		Json *v = json_new(a, JV_OBJECT);
		hash_hex(p->task->id, hex);
		json_set(a, v, "task", json_new_text(a, hex));
		json_set(a, v, "op", json_new_text(a, p->task->label));
		json_set(a, v, "weight", json_new_int(a, p->task->weight));
		json_set(a, v, "source", json_new_text(a, hit_name(p->hit)));
		json_set(a, v, "why", json_new_text(a, p->why));
		json_set(a, v, "ms", json_new_real(a, p->estimated_ms));
		json_set(a, v, "could_save_ms", json_new_real(a, could_save(p, &machine)));
		json_write(&out, v);
		puts(text_str(&out));
	}
}

static void print_json(Arena *a, const Compiled *c, const char *model, const Target *t, double seconds)
{
	char text[TARGET_TEXT];
	Text out = { .arena = a };
	Json *v = json_new(a, JV_OBJECT);
	json_set(a, v, "model", json_new_text(a, model));
	json_set(a, v, "target", json_new_text(a, target_text(t, text)));
	json_set(a, v, "tasks", json_new_int(a, c->partition->ntask));
	Json *hits = json_set(a, v, "hits", json_new(a, JV_OBJECT));
	for (int h = 0; h < HIT_COUNT; h++)
		json_set(a, hits, hit_name((HitClass)h), json_new_int(a, c->hits[h]));
	json_set(a, v, "estimated_ms", json_new_real(a, c->estimated_ms));
	json_set(a, v, "bytes", json_new_int(a, (int64_t)c->bundle_bytes));
	json_set(a, v, "workspace_bytes", json_new_int(a, c->workspace_bytes));
	json_set(a, v, "live_bytes", json_new_int(a, c->live_bytes));
	json_set(a, v, "seconds", json_new_real(a, seconds));
	json_write(&out, v);
	puts(text_str(&out));
}

/* Records that cannot be true, once for all tasks. */
static void report_implausible(const Compiled *c)
{
	const TaskPlan *first = NULL;
	int64_t n = 0;
	for (int k = 0; k < c->partition->ntask; k++) {
		n += c->task[k].implausible;
		if (first == NULL && c->task[k].implausible > 0)
			first = &c->task[k];
	}
	if (first != NULL)
		fprintf(stderr, "dlc: %lld record%s left out: no core is as fast as they say (%s); dlc db verify tries them\n",
			(long long)n, n == 1 ? " is" : "s are", first->task->label);
}

/* ---- the files */

typedef struct Job {
	const Args *args;
	const Target *target;
	const char *model, *path; /* path NULL: stdout */
	uint64_t from;
	bool lock_new; /* --lock names a file that is not there yet */
	CompileOptions o;
} Job;

/* A lock that is there is obeyed; one that is not is written. */
static bool read_lock(Job *j, Err *err)
{
	Bytes file;
	Arena *a = args_arena(j->args);
	Hash target = target_id(j->target);
	const char *name = args_text(j->args, "lock", NULL);
	if (name != NULL && j->path != NULL && strcmp(name, j->path) == 0)
		return fail(err, ERR_USAGE, name, "cannot be the lock and the bundle");
	if (name != NULL && j->o.unscheduled)
		return fail(err, ERR_USAGE, "--lock", "excludes --unscheduled");
	j->o.lock_name = name;
	j->lock_new = name != NULL && access(name, F_OK) != 0;
	if (name == NULL || j->lock_new)
		return true;
	if (!file_read(a, name, LOCK_BYTES, &file, err))
		return false;
	Lock *lock = lock_parse(a, name, (const char *)file.at, file.n, err);
	j->o.lock = lock;
	return lock != NULL && (memcmp(&lock->target, &target, sizeof target) == 0 ||
				       fail(err, ERR_INPUT, name, "is a lock for another target than this one"));
}

static bool write_lock(const Job *j, const Compiled *c, Err *err)
{
	return !j->lock_new || file_write(j->o.lock_name, c->lock_text, strlen(c->lock_text), err);
}

static Compiled *compile(const Job *j, Err *err)
{
	Dag *dag = model_load(j->args, j->model, err);
	Compiled *c = dag != NULL ? compile_model(args_arena(j->args), dag, &j->o, err) : NULL;
	if (j->o.progress != NULL)
		fputs("\r\033[K", stderr); /* before what is printed next, a message or a table */
	return c;
}

/* A folder that is missing or not to be written is told before the work, not after it. */
static bool compile_to_file(const Job *j, Compiled **out, Err *err)
{
	FileOut f;
	if (!file_create(&f, j->path, err))
		return false;
	Compiled *c = compile(j, err);
	if (c == NULL || !file_put(&f, c->bundle, c->bundle_bytes, err) || !write_lock(j, c, err)) {
		file_abandon(&f);
		return false;
	}
	*out = c;
	return file_commit(&f, err);
}

static bool compile_to_stdout(const Job *j, Compiled **out, Err *err)
{
	Compiled *c = compile(j, err);
	if (c == NULL || !write_lock(j, c, err))
		return false;
	*out = c;
	return fwrite(c->bundle, 1, c->bundle_bytes, stdout) == c->bundle_bytes ||
		fail(err, ERR_DEVICE, "standard output", "cannot be written");
}

static bool compile_job(Job *j, Err *err)
{
	Compiled *c = NULL;
	if (!read_lock(j, err) || !(j->path != NULL ? compile_to_file(j, &c, err) : compile_to_stdout(j, &c, err)))
		return false;
	report_implausible(c);
	bool explain = args_given(j->args, "explain"), json = args_given(j->args, "json");
	if (explain && json)
		print_tasks(args_arena(j->args), c, j->target);
	else if (explain)
		print_explain(j->args, c, j->target);
	if (json)
		print_json(args_arena(j->args), c, j->model, j->target, (double)(timing_wall_ns() - j->from) / 1e9);
	return true;
}

static bool run_compile(const Args *args, Err *err)
{
	Target t;
	Databases d;
	Cost cost = { 0 };
	const char *path = args_text(args, "output", NULL);
	bool text = args_given(args, "json") || args_given(args, "explain");
	if (path != NULL && strcmp(path, "-") == 0)
		path = NULL;
	if (path == NULL && (text || isatty(STDOUT_FILENO)))
		return fail(err, ERR_USAGE, "--output", "say where the bundle goes: -o FILE.dlcb");
	if (path != NULL && !output_is_apart(args, path, err))
		return false;
	if (!place_target(args, &t, err) || !databases_open_for(args, false, &t, &d, err))
		return false;
	/* The option's words are in the order of HitClass. */
	Job j = { .args = args,
		.target = &t,
		.model = args_operand(args, 0),
		.path = path,
		.from = timing_wall_ns(),
		.o = { .target = &t,
			.db = d.db,
			.ndb = (int)d.n,
			.cost = &cost,
			.cache = code_cache_open(args_arena(args)),
			.required = args_given(args, "require"),
			.require = (HitClass)args_int(args, "require", HIT_DEFAULT),
			.unscheduled = args_given(args, "unscheduled"),
			.progress = isatty(STDERR_FILENO) ? progress : NULL } };
	bool ok = cost_open(&cost, args_arena(args), args_text(args, "cost-model", NULL), &t, err) && compile_job(&j, err);
	cost_close(&cost);
	databases_close(&d);
	return ok;
}

static const Option options[] = {
	{ .name = "output", .letter = 'o', .kind = OPT_TEXT, .arg = "FILE", .help = "the bundle; - or no option: stdout" },
	OPTION_TARGET,
	OPTION_THREADS,
	OPTION_DB,
	OPTION_COST_MODEL,
	OPTIONS_MODEL,
	{ .name = "explain", .kind = OPT_FLAG, .help = "print where each task's schedule came from" },
	{ .name = "require", .kind = OPT_CHOICE, .arg = "exact|near|stale|default",
		.help = "fail where a task has less: exact, then stale, near, default" },
	{ .name = "lock", .kind = OPT_TEXT, .arg = "FILE",
		.help = "take the records that it names; write it if it is not there" },
	{ .name = "unscheduled", .kind = OPT_FLAG, .help = "the naive loops as they are: the base line of comparisons" },
	OPTION_JSON,
	OPTION_END,
};

const Verb cmd_compile = {
	.name = "compile",
	.summary = "Compile a model to a bundle with the best schedules of the tuning databases",
	.operands = "MODEL",
	.least = 1,
	.most = 1,
	.options = options,
	.notes = "MODEL is a name of the zoo (see dlc info) or an ONNX file. The databases are only read. A task's\n"
		 "schedule is the best that they have for it (exact); of another version of the code generator (stale);\n"
		 "of a task like it, where the estimate is better than the default's (near); or the default. The same\n"
		 "inputs and databases give the same bundle, byte for byte.",
	.run = run_compile,
};
