/* dlc compile: a model and what databases know of it become a bundle. */
#include "base/file.h"
#include "base/json.h"
#include "cli/precision_error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_BYTES = 16 << 20 };

static void progress(int done, int all, const char *label, void *arg)
{
	(void)arg;
	fprintf(stderr, "\r\033[K%d/%d %s", done + 1, all, label);
}

/* ---- what is told */

static int by_saving(const void *pa, const void *pb)
{
	const DlcChoice *a = *(const DlcChoice *const *)pa, *b = *(const DlcChoice *const *)pb;
	if (a->could_save_ms != b->could_save_ms)
		return a->could_save_ms > b->could_save_ms ? -1 : 1;
	return strcmp(a->task.id, b->task.id);
}

/* The options of these names, as the user typed them. */
static void print_same(FILE *f, const Args *args, const char *const *name, int n)
{
	for (int i = 0; i < n; i++) {
		size_t given;
		const char *const *value = args_all(args, name[i], &given);
		for (size_t k = 0; k < given; k++)
			if (strcmp(value[k], "none") != 0) /* a command that tunes must have a database */
				fprintf(f, " --%s=%s", name[i], value[k]);
	}
}

/* The command that tunes the tasks without a record of their own, the most expensive first. */
static void print_next(const Args *args, const DlcBundleInfo *c)
{
	enum { NAMED = 5, SECONDS = 4 /* about 120 trials */ };
	static const char *const same[] = {
		"target", "threads", "tuning-db", "batch", "seq", "shape", "bind", "input-layout", "weights", "frontend",
		"signature", "tags", "precision"
	};
	const DlcChoice **s = arena_array(args_arena(args), const DlcChoice *, c->ntask + 1);
	int n = 0;
	for (int k = 0; k < c->ntask; k++)
		if (c->task[k].hit != DLC_EXACT)
			s[n++] = &c->task[k];
	if (n == 0)
		return;
	qsort(s, (size_t)n, sizeof *s, by_saving);
	printf("    next: dlc-tune %s", args_operand(args, 0));
	print_same(stdout, args, same, (int)(sizeof same / sizeof *same));
	for (int k = 0; k < n && k < NAMED && n < c->ntask; k++)
		printf(" --tasks=%.7s", s[k]->task.id);
	int named = n < c->ntask && n > NAMED ? NAMED : n;
	printf("  (~%d s)", named * SECONDS);
}

/* Kinds of hits as they are shown: as evidence, the stronger first, but near before stale. */
static const DlcHit shown_hits[] = { DLC_EXACT, DLC_NEAR, DLC_STALE, DLC_MODEL, DLC_DEFAULT };

static int count_hits(const DlcBundleInfo *c, DlcHit h)
{
	return h == DLC_MODEL ? c->hits_model : c->hits[h];
}

static void print_explain(const Args *args, const DlcBundleInfo *c)
{
	printf("%-9s%-38s%3s  %-9s%-34s%9s  %s\n", "task", "op", "x", "source", "why", "ms", "could save");
	for (int k = 0; k < c->ntask; k++) {
		const DlcChoice *p = &c->task[k];
		printf("%.7s  %-38.38s%3d  %-9s%-34.34s%9.3f  %10.3f\n", p->task.id, p->task.label, p->task.weight,
			dlc_hit_name(p->hit), p->why, p->estimated_ms, p->could_save_ms);
	}
	for (int k = 0; k < DLC_HITS; k++)
		printf("%s%s %d", k > 0 ? ", " : "", dlc_hit_name(shown_hits[k]), count_hits(c, shown_hits[k]));
	printf("; estimated %.3f ms", c->estimated_ms);
	print_next(args, c);
	printf("\n");
	for (int k = 0; k < c->ncode; k++)
		printf("%s%s for %s: %lld bytes", k > 0 ? ", " : "code: ", c->code[k].form, c->code[k].target,
			(long long)c->code[k].bytes);
	printf("\n");
}

/* --explain --json: an object for each task. */
static void print_tasks(Arena *a, const DlcBundleInfo *c)
{
	for (int k = 0; k < c->ntask; k++) {
		const DlcChoice *p = &c->task[k];
		Text out = { .arena = a };
		Json *v = json_new(a, JV_OBJECT);
		json_set(a, v, "task", json_new_text(a, p->task.id));
		json_set(a, v, "op", json_new_text(a, p->task.label));
		json_set(a, v, "weight", json_new_int(a, p->task.weight));
		json_set(a, v, "source", json_new_text(a, dlc_hit_name(p->hit)));
		json_set(a, v, "why", json_new_text(a, p->why));
		json_set(a, v, "ms", json_new_real(a, p->estimated_ms));
		json_set(a, v, "could_save_ms", json_new_real(a, p->could_save_ms));
		json_write(&out, v);
		puts(text_str(&out));
	}
}

static void add_errors(Arena *a, Json *v, const PrecisionError *e)
{
	Json *list = json_set(a, v, "precision_error", json_new(a, JV_ARRAY));
	for (int k = 0; k < e->noutput; k++) {
		const Distance *d = &e->output[k];
		Json *row = json_push(a, list, json_new(a, JV_OBJECT));
		json_set(a, row, "output", json_new_text(a, d->output));
		json_set(a, row, "max_error", json_new_real(a, d->max_error));
		json_set(a, row, "max_value", json_new_real(a, d->max_want));
		json_set(a, row, "relative", json_new_real(a, distance_relative(d)));
		json_set(a, row, "not_finite", json_new_int(a, d->bad));
	}
}

/* The command that shows the error on the target. */
static void print_command(const Args *args, const char *before)
{
	static const char *const same[] = { "target", "batch", "seq", "shape", "bind", "input-layout", "weights",
		"frontend", "signature", "tags", "precision" };
	fprintf(stderr, "dlc: %s: dlc run %s", before, args_operand(args, 0));
	print_same(stderr, args, same, (int)(sizeof same / sizeof *same));
	fprintf(stderr, " --against=fp32\n");
}

/* The outputs with the largest errors. */
static void print_errors(const Args *args, const PrecisionError *e)
{
	enum { SHOWN = 4 };
	for (int k = 0; k < e->noutput && k < SHOWN; k++) {
		int worst = k;
		for (int j = k + 1; j < e->noutput; j++)
			if (distance_relative(&e->output[j]) > distance_relative(&e->output[worst]))
				worst = j;
		Distance d = e->output[worst];
		e->output[worst] = e->output[k];
		e->output[k] = d;
		fprintf(stderr, "dlc: %s, output %s: largest error %.3g of %.3g (%.2g %%) against fp32, %d input%s",
			args_text(args, "precision", ""), d.output, d.max_error, d.max_want, 100 * distance_relative(&d), e->inputs,
			e->inputs == 1 ? "" : "s");
		if (d.bad > 0)
			fprintf(stderr, "; %lld elements are not finite in one of the two", (long long)d.bad);
		fprintf(stderr, "\n");
	}
	if (e->noutput > SHOWN)
		fprintf(stderr, "dlc: %d more outputs have smaller errors\n", e->noutput - SHOWN);
	print_command(args, "measured on this CPU; on the target");
}

/* The error of the precision. If it cannot be measured, compiling does not fail. */
static bool find_errors(const Args *args, DlcSession *s, PrecisionError *out)
{
	Err why = { 0 };
	DlcPrecision p = (DlcPrecision)args_int(args, "precision", DLC_FP32);
	bool halves = p == DLC_FP16 || p == DLC_BF16;
	if (halves && precision_error(args, s, args_operand(args, 0), out, &why))
		return true;
	if (halves)
		fprintf(stderr, "dlc: the error against fp32 is not known: %s\n", why.text);
	if (p == DLC_TF32)
		print_command(args, "only tensor cores round to tf32; the error against fp32 on the target");
	return false;
}

static void print_json(Arena *a, const DlcBundleInfo *c, const PrecisionError *e, const char *model, size_t bytes,
	double seconds)
{
	Text out = { .arena = a };
	Json *v = json_new(a, JV_OBJECT);
	json_set(a, v, "model", json_new_text(a, model));
	json_set(a, v, "target", json_new_text(a, c->target));
	json_set(a, v, "tasks", json_new_int(a, c->ntask));
	Json *hits = json_set(a, v, "hits", json_new(a, JV_OBJECT));
	for (int k = 0; k < DLC_HITS; k++)
		json_set(a, hits, dlc_hit_name(shown_hits[k]), json_new_int(a, count_hits(c, shown_hits[k])));
	json_set(a, v, "estimated_ms", json_new_real(a, c->estimated_ms));
	json_set(a, v, "bytes", json_new_int(a, (int64_t)bytes));
	json_set(a, v, "workspace_bytes", json_new_int(a, c->workspace_bytes));
	json_set(a, v, "live_bytes", json_new_int(a, c->live_bytes));
	Json *code = json_set(a, v, "code", json_new(a, JV_ARRAY));
	for (int k = 0; k < c->ncode; k++) {
		Json *row = json_push(a, code, json_new(a, JV_OBJECT));
		json_set(a, row, "target", json_new_text(a, c->code[k].target));
		json_set(a, row, "form", json_new_text(a, c->code[k].form));
		json_set(a, row, "bytes", json_new_int(a, c->code[k].bytes));
	}
	if (e != NULL)
		add_errors(a, v, e);
	json_set(a, v, "seconds", json_new_real(a, seconds));
	json_write(&out, v);
	puts(text_str(&out));
}

/* ---- the files */

typedef struct Job {
	const Args *args;
	DlcSession *session;
	const char *path; /* NULL: stdout */
	bool lock_new;    /* --lock names a file that is not there yet */
	DlcCompileOptions o;
} Job;

/* A lock that is there is obeyed; one that is not is written. */
static bool read_lock(Job *j, Err *err)
{
	Bytes file;
	const char *name = j->o.lock_name;
	if (name != NULL && j->path != NULL && strcmp(name, j->path) == 0)
		return fail(err, ERR_USAGE, name, "cannot be the lock and the bundle");
	if (name != NULL && j->o.unscheduled)
		return fail(err, ERR_USAGE, "--lock", "excludes --unscheduled");
	j->lock_new = name != NULL && access(name, F_OK) != 0;
	if (name == NULL || j->lock_new)
		return true;
	if (!file_read(args_arena(j->args), name, LOCK_BYTES, &file, err))
		return false;
	j->o.lock = (const char *)file.at;
	return strlen(j->o.lock) == file.n || fail(err, ERR_SYNTAX, name, "holds a zero byte; it should be a text");
}

static DlcBundle *compile(const Job *j, Err *err)
{
	DlcBundle *b = NULL;
	DlcNetwork *n = network_load(j->args, j->session, args_operand(j->args, 0), err);
	if (n != NULL)
		dlc_compile(n, &j->o, &b, failure_of(err));
	if (j->o.progress != NULL)
		fputs("\r\033[K", stderr); /* before what is printed next, a message or a table */
	dlc_network_close(n);
	if (b != NULL && j->lock_new && !file_write(j->o.lock_name, dlc_bundle_lock(b), strlen(dlc_bundle_lock(b)), err)) {
		dlc_bundle_close(b);
		return NULL;
	}
	return b;
}

/* A folder that is missing or not to be written is told before the work, not after it. */
static bool compile_to_file(const Job *j, DlcBundle **out, Err *err)
{
	FileOut f;
	size_t size;
	if (!file_create(&f, j->path, err))
		return false;
	*out = compile(j, err);
	const void *bytes = *out != NULL ? dlc_bundle_bytes(*out, &size) : NULL;
	if (bytes == NULL || !file_put(&f, bytes, size, err)) {
		file_abandon(&f);
		return false;
	}
	return file_commit(&f, err);
}

static bool compile_to_stdout(const Job *j, DlcBundle **out, Err *err)
{
	size_t size;
	*out = compile(j, err);
	const void *bytes = *out != NULL ? dlc_bundle_bytes(*out, &size) : NULL;
	return bytes != NULL &&
		(fwrite(bytes, 1, size, stdout) == size || fail(err, ERR_DEVICE, "standard output", "cannot be written"));
}

static double now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool compile_job(Job *j, double from, Err *err)
{
	DlcBundle *b = NULL;
	bool explain = args_given(j->args, "explain"), json = args_given(j->args, "json");
	bool ok = read_lock(j, err) && (j->path != NULL ? compile_to_file(j, &b, err) : compile_to_stdout(j, &b, err));
	if (ok) {
		Arena *a = args_arena(j->args);
		size_t size;
		double seconds = now_s() - from;
		const DlcBundleInfo *info = dlc_bundle_info(b);
		dlc_bundle_bytes(b, &size);
		if (info == NULL) {
			dlc_bundle_close(b);
			return fail(err, ERR_MEMORY, "", "out of memory");
		}
		if (info->implausible > 0) /* once for all tasks */
			fprintf(stderr,
				"dlc: %lld record%s left out: no core is as fast as they say (%s); dlc db verify tries them\n",
				(long long)info->implausible, info->implausible == 1 ? " is" : "s are", info->implausible_task);
		if (info->naive > 0)
			fprintf(stderr,
				"dlc: %d of %d tasks %s no schedule, and their naive loops are slow; --explain names them\n",
				info->naive, info->ntask, info->naive == 1 ? "has" : "have");
		PrecisionError e;
		bool known = find_errors(j->args, j->session, &e);
		if (explain && json)
			print_tasks(a, info);
		else if (explain)
			print_explain(j->args, info);
		if (json)
			print_json(a, info, known ? &e : NULL, args_operand(j->args, 0), size, seconds);
		if (known)
			print_errors(j->args, &e);
	}
	dlc_bundle_close(b);
	return ok;
}

static bool run_compile(const Args *args, Err *err)
{
	Databases d = { 0 };
	const char *path = args_text(args, "output", NULL);
	bool words = args_given(args, "json") || args_given(args, "explain");
	double from = now_s();
	if (path != NULL && strcmp(path, "-") == 0)
		path = NULL;
	if (path == NULL && (words || isatty(STDOUT_FILENO)))
		return fail(err, ERR_USAGE, "--output", "say where the bundle goes: -o FILE.dlcb");
	DlcSession *s = session_open(err);
	/* The options' words are in the order of DlcHit and DlcCode. */
	Job j = { .args = args, .session = s, .path = path,
		.o = { .target = target_of(args),
			.cost_model = args_text(args, "cost-model", NULL),
			.required = args_given(args, "require"),
			.require = (DlcHit)args_int(args, "require", DLC_DEFAULT),
			.unscheduled = args_given(args, "unscheduled"),
			.code = (DlcCode)args_int(args, "code", DLC_CODE_AUTO),
			.lock_name = args_text(args, "lock", NULL),
			.progress = isatty(STDERR_FILENO) ? progress : NULL } };
	size_t nalso;
	j.o.also = args_all(args, "also", &nalso);
	j.o.nalso = (int)nalso;
	bool ok = s != NULL && (path == NULL || output_is_apart(args, s, path, err)) &&
		target_settle(args, s, &j.o.target, err) && databases_open(args, s, false, &d, err);
	j.o.database = d.at;
	j.o.ndatabase = d.n;
	ok = ok && compile_job(&j, from, err);
	databases_close(&d);
	dlc_session_close(s);
	return ok;
}

static const Option options[] = {
	{ .name = "output", .letter = 'o', .kind = OPT_TEXT, .arg = "FILE", .help = "the bundle; - or no option: stdout" },
	OPTION_TARGET,
	OPTION_DEVICE,
	OPTION_THREADS,
	{ .name = "also", .kind = OPT_TEXT, .arg = "TARGET", .many = true,
		.help = "code for this device as well, by the same schedules; repeats" },
	{ .name = "code", .kind = OPT_CHOICE, .arg = "auto|ptx|cubin|both",
		.help = "for CUDA: PTX, machine code, or both (default: PTX, and cubins if nvJitLink is found)" },
	OPTION_DB,
	OPTION_COST_MODEL("analytic (default), xgboost"),
	OPTIONS_MODEL,
	{ .name = "explain", .kind = OPT_FLAG, .help = "print where each task's schedule came from" },
	{ .name = "require", .kind = OPT_CHOICE, .arg = "exact|near|stale|model|default",
		.help = "fail where a task has less: exact, then stale, near, model, default" },
	{ .name = "lock", .kind = OPT_TEXT, .arg = "FILE",
		.help = "take the records that it names; write it if it is not there" },
	{ .name = "without", .kind = OPT_TEXT, .arg = "NAME,..",
		.help = "leave out what makes the graph faster, to measure what it gains" },
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
	.notes = NOTE_MODEL "\n\n"
		 "The databases are only read. A task's schedule is the best that they have for it (exact); of another\n"
		 "version of the code generator (stale); of another target, of the same core or where the estimate is\n"
		 "clearly better than the default's (near); of the task's schedules, where a learned model expects more\n"
		 "of it than of the default (model); or the default. The same inputs and databases give the same\n"
		 "bundle, byte for byte.",
	.run = run_compile,
};
