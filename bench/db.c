/*
 * bench_db [RECORDS [FOLDER [LOG]]] prints what the database takes, one line for each: best look-ups a second,
 * merging of new and of known records, runs put one by one, a cold open with one look-up.  It prints the wall time
 * and this thread's CPU time, which is less noisy where other work runs.
 */
#include "base/file.h"
#include "base/rng.h"
#include "db/rank.h"
#include "db/db.h"
#include "runtime/timing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TASKS = 100, SESSIONS = 20, EPOCH = 7 };

static Arena *arena;

static void must(bool ok, const Err *err)
{
	if (ok)
		return;
	fprintf(stderr, "bench_db: %s: %s\n", err->place, err->text);
	exit(1);
}

static void add_line(Text *log, Json *o, Hash *id)
{
	Err err = { 0 };
	const char *line;
	must(record_seal(arena, o, id, &line, &err), &err);
	text_add(log, "%s\n", line);
}

static Json *object(const char *kind)
{
	Json *o = json_new(arena, JV_OBJECT);
	json_set(arena, o, "kind", json_new_text(arena, kind));
	return o;
}

static Hash add_task(Text *log, int i)
{
	Hash id;
	Err err = { 0 };
	char *text = arena_printf(arena,
		"dag t\nin x: f32[1,%d,56,56]\nconst c: f32[64,%d,3,3]\n"
		"y: f32[1,64,56,56] = conv(x, c) pads=[1,1,1,1]\nz: f32[1,64,56,56] = relu(y)\nout z\n",
		i + 1, i + 1);
	Task *t = task_new(arena, dag_parse(arena, "t", text, strlen(text), &err), &err);
	must(t != NULL, &err);
	text_add(log, "%s\n", task_record(arena, t));
	id = t->id;
	return id;
}

static Hash add_session(Text *log, int i)
{
	Hash id;
	Json *o = object("session");
	json_set(arena, o, "tool", json_new_text(arena, "dlc"));
	json_set(arena, o, "search", json_new_text(arena, "random"));
	json_set(arena, o, "model", json_new_text(arena, "bench"));
	json_set(arena, o, "seed", json_new_int(arena, i));
	json_set(arena, o, "started_s", json_new_int(arena, 1700000000 + i));
	add_line(log, o, &id);
	return id;
}

/* Runs as a tuner writes them: 250 bytes of trace, one in fifty failed, a few schedules run twice. */
static const char *make_log(int runs, Hash *task, Hash *target, size_t *n)
{
	Text log = { .arena = arena };
	Hash session[SESSIONS], env;
	Rng rng = rng_seed(1);
	Target host;
	Err err = { 0 };
	target_host(&host, 1);
	for (int i = 0; i < TASKS; i++)
		task[i] = add_task(&log, i);
	Json *t = json_parse(arena, "target", target_record(arena, &host), strlen(target_record(arena, &host)), &err);
	must(t != NULL, &err);
	add_line(&log, t, target);
	Json *e = object("environment");
	json_set(arena, e, "codegen_epoch", json_new_int(arena, EPOCH));
	json_set(arena, e, "compiler", json_new_text(arena, "llvm"));
	add_line(&log, e, &env);
	for (int i = 0; i < SESSIONS; i++)
		session[i] = add_session(&log, i);
	for (int i = 0; i < runs; i++) {
		Arena *whole = arena;
		arena = arena_new();
		bool ok = rng_below(&rng, 50) != 0;
		RunRecord r = { .workload = task[rng_below(&rng, TASKS)],
			.target = *target,
			.session = session[i * SESSIONS / runs],
			.env = env,
			.status = ok ? RUN_OK : RUN_WRONG_RESULT,
			.samples = ok ? 9 : 0,
			.median_ns = ok ? 100000 + (int64_t)rng_below(&rng, 900000) : 0,
			.max_err_e9 = ok ? 300 : -1,
			.detail = "",
			.compile_ns = 9000000,
			.seq = i };
		r.trace = arena_printf(arena,
			"pack c0 OIHW16i16o\nsplit c_2 %d\nsplit w_2 %d\nreorder n c_2.o h_2 w_2.o c_2.i "
			"w_2.i\n"
			"compute_at conv w_2.o\nsplit c 16\nreorder n o.o h w.o c.o kh kw c.i w.i o.i\nunroll kw\nunroll w.i\n"
			"vectorize o.i\nsplit o %d\nunroll o.o\n# %d\n",
			(int)rng_below(&rng, 64) + 1, (int)rng_below(&rng, 28) + 1, (int)rng_below(&rng, 64) + 1,
			(int)rng_below(&rng, (uint64_t)runs));
		Json *o = record_from_run(arena, &r);
		Hash id;
		const char *line;
		must(record_seal(arena, o, &id, &line, &err), &err);
		text_add(&log, "%s\n", line);
		arena_free(arena);
		arena = whole;
	}
	*n = log.n;
	return text_str(&log);
}

typedef struct Clocks {
	uint64_t wall, cpu;
} Clocks;

static Clocks now(void)
{
	return (Clocks){ timing_wall_ns(), timing_thread_ns() };
}

static void report(const char *what, Clocks from, double n, const char *unit)
{
	Clocks to = now();
	double wall = (double)(to.wall - from.wall) / 1e9, cpu = (double)(to.cpu - from.cpu) / 1e9;
	printf("%-34s %8.3f s, CPU %8.3f s  %10.0f %s/s  %8.2f us each\n", what, wall, cpu, n / cpu, unit, cpu / n * 1e6);
}

static void import(Db *db, const char *what, const char *log, size_t n, int64_t records)
{
	ImportCount count = { 0 };
	Err err = { 0 };
	Clocks from = now();
	must(db_import(db, "log", log, n, &count, &err), &err);
	report(what, from, (double)records, "records");
	if (count.refused != 0 || count.taken + count.known != records) {
		fprintf(stderr, "bench_db: %" PRId64 " refused: %s\n", count.refused, count.first);
		exit(1);
	}
}

static int by_us(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* `most`: look-ups in one transaction, as dlc compile asks for a network's tasks. */
static void look_up(Db *db, const char *what, const Hash *task, Hash target, int most)
{
	enum { TIMES = 300, AT_ONCE = 100 };
	double us[TIMES];
	DbSet set = { &db, 1 };
	Clocks from = now();
	for (int i = 0; i < TIMES; i++) {
		Arena *a = arena_new();
		Err err = { 0 };
		uint64_t start = timing_thread_ns();
		for (int k = 0; k < AT_ONCE; k++) {
			if (k % most == 0)
				must(db_hold(set, &err), &err);
			must(db_best(db, task[k % TASKS], target, EPOCH, a, &err) != NULL, &err);
			if ((k + 1) % most == 0)
				db_release(set);
		}
		us[i] = (double)(timing_thread_ns() - start) / 1e3 / AT_ONCE;
		arena_free(a);
	}
	report(what, from, (double)TIMES * AT_ONCE, "look-ups");
	qsort(us, TIMES, sizeof *us, by_us);
	printf("%-34s %8.2f us, median %.2f us, nine of ten below %.2f us\n",
		arena_printf(arena, "quickest hundred, %d at a time", most), us[0], us[TIMES / 2], us[TIMES * 9 / 10]);
}

/* As a tuner does, each in a transaction of its own. */
static void put(Db *db, const Hash *task, Hash target)
{
	enum { PUTS = 1000 };
	Err err = { 0 };
	RunRecord r = { .target = target, .status = RUN_OK, .median_ns = 100000, .samples = 9, .detail = "" };
	SessionInfo s = { "dlc", "random", "bench", 1, 1800000000, NULL, 0, 0 };
	must(db_put_env(db, EPOCH, "llvm", NULL, NULL, &r.env, &err) && db_put_session(db, &s, &r.session, &err), &err);
	Clocks from = now();
	for (int i = 0; i < PUTS; i++) {
		Arena *a = arena_new();
		r.workload = task[i % TASKS];
		r.trace = arena_printf(a, "split c_2 %d\nreorder n c_2.o h_2 w_2.o c_2.i w_2.i\nunroll kw\n", i);
		must(db_put_run(db, &r, &err), &err);
		arena_free(a);
	}
	report("runs put one by one", from, PUTS, "records");
}

int main(int argc, char **argv)
{
	int runs = argc > 1 ? atoi(argv[1]) : 100000;
	const char *folder = argc > 2 ? argv[2] : "/tmp";
	char path[400];
	Hash task[TASKS], target;
	Err err = { 0 };
	size_t n;
	arena = arena_new();
	snprintf(path, sizeof path, "%s/bench_db.%d.sqlite", folder, (int)getpid());
	const char *log = make_log(runs > 0 ? runs : 1, task, &target, &n);
	if (argc > 3) {
		must(file_write(argv[3], log, n, &err), &err);
		arena_free(arena);
		return 0;
	}
	int64_t records = (int64_t)runs + TASKS + SESSIONS + 2;
	Clocks from = now();
	Db *db = db_open(path, DB_WRITE, &err);
	must(db != NULL, &err);
	import(db, "import, new records", log, n, records);
	import(db, "import, known records", log, n, records);
	look_up(db, "best look-up, one at a time", task, target, 1);
	look_up(db, "best look-up, 20 at a time", task, target, 20);
	put(db, task, target);
	db_close(db);
	from = now();
	db = db_open(path, DB_READ, &err);
	must(db != NULL && db_best(db, task[0], target, EPOCH, arena, &err) != NULL, &err);
	report("open and one look-up", from, 1, "times");
	from = now();
	must(db_check(db, &records, &err), &err);
	report("check", from, (double)records, "records");
	db_close(db);
	for (const char *const *end = (const char *const[]){ "", "-wal", "-shm", NULL }; *end != NULL; end++) {
		char file[420];
		snprintf(file, sizeof file, "%s%s", path, *end);
		unlink(file);
	}
	arena_free(arena);
	return 0;
}
