/* dlc compile: a model and what databases know of it become a bundle. */
#include "base/file.h"
#include "base/json.h"
#include "cli/model.h"
#include "cli/places.h"
#include "compile/compile.h"
#include "runtime/timing.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const hit_names[HIT_COUNT] = { "exact", "near", "stale", "default" };

static void progress(int done, int all, const char *label, void *arg)
{
	(void)arg;
	fprintf(stderr, "\r\033[K%d/%d %s", done + 1, all, label);
}

static void print_explain(const Compiled *c)
{
	printf("%-9s%-38s%3s  %-9s%s\n", "task", "op", "x", "source", "ms");
	for (int k = 0; k < c->partition->ntask; k++) {
		const TaskPlan *p = &c->task[k];
		char hex[HASH_HEX];
		hash_hex(p->task->id, hex);
		printf("%.7s  %-38.38s%3d  %-9s%.3f\n", hex, p->task->label, p->task->weight, hit_names[p->hit],
			p->estimated_ms);
	}
	for (int h = 0; h < HIT_COUNT; h++)
		printf("%s%s %d", h > 0 ? ", " : "", hit_names[h], c->hits[h]);
	printf("; estimated %.3f ms\n", c->estimated_ms);
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
		json_set(a, hits, hit_names[h], json_new_int(a, c->hits[h]));
	json_set(a, v, "estimated_ms", json_new_real(a, c->estimated_ms));
	json_set(a, v, "bytes", json_new_int(a, (int64_t)c->bundle_bytes));
	json_set(a, v, "workspace_bytes", json_new_int(a, c->workspace_bytes));
	json_set(a, v, "live_bytes", json_new_int(a, c->live_bytes));
	json_set(a, v, "seconds", json_new_real(a, seconds));
	json_write(&out, v);
	puts(text_str(&out));
}

/* A folder that is missing or not to be written is told before the work, not after it. */
static bool compile_to(const Args *args, const Target *t, const Databases *d, const char *path, Err *err)
{
	Arena *a = args_arena(args);
	const char *model = args_operand(args, 0);
	uint64_t from = timing_wall_ns();
	FileOut f;
	if (path != NULL && !file_create(&f, path, err))
		return false;
	CompileOptions o = { .target = t,
		.db = d->db,
		.ndb = (int)d->n,
		.unscheduled = args_given(args, "unscheduled"),
		.progress = isatty(STDERR_FILENO) ? progress : NULL };
	Dag *dag = model_load(args, model, err);
	Compiled *c = dag != NULL ? compile_model(a, dag, &o, err) : NULL;
	if (o.progress != NULL)
		fputs("\r\033[K", stderr); /* before what is printed next, a message or a table */
	if (path != NULL) {
		if (c == NULL || !file_put(&f, c->bundle, c->bundle_bytes, err)) {
			file_abandon(&f);
			return false;
		}
		if (!file_commit(&f, err))
			return false;
	} else if (c == NULL) {
		return false;
	} else if (fwrite(c->bundle, 1, c->bundle_bytes, stdout) != c->bundle_bytes) {
		return fail(err, ERR_DEVICE, "standard output", "cannot be written");
	}
	if (args_given(args, "explain") && !args_given(args, "json"))
		print_explain(c);
	if (args_given(args, "json"))
		print_json(a, c, model, t, (double)(timing_wall_ns() - from) / 1e9);
	return true;
}

static bool run_compile(const Args *args, Err *err)
{
	Target t;
	Databases d;
	const char *path = args_text(args, "output", NULL);
	bool text = args_given(args, "json") || args_given(args, "explain");
	if (path != NULL && strcmp(path, "-") == 0)
		path = NULL;
	if (path == NULL && (text || isatty(STDOUT_FILENO)))
		return fail(err, ERR_USAGE, "--output", "say where the bundle goes: -o FILE.dlcb");
	if (!place_target(args, &t, err) || !databases_open(args, false, &d, err))
		return false;
	bool ok = compile_to(args, &t, &d, path, err);
	databases_close(&d);
	return ok;
}

static const Option options[] = {
	{ .name = "output", .letter = 'o', .kind = OPT_TEXT, .arg = "FILE", .help = "the bundle; - or no option: stdout" },
	OPTION_TARGET,
	OPTION_THREADS,
	OPTION_DB,
	OPTIONS_MODEL,
	{ .name = "explain", .kind = OPT_FLAG, .help = "print where each task's schedule came from" },
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
	.notes = "MODEL is a name of the zoo (see dlc info) or an ONNX file. The databases are only read; for a task\n"
		 "that they do not know the default schedule is taken. The same inputs and databases give the same\n"
		 "bundle, byte for byte.",
	.run = run_compile,
};
