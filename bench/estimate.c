/*
 * How good the estimates of a cost model are: the schedules that a database has measured on this machine are replayed,
 * estimated and compared with their times, by class of operator.
 *
 *     bench_estimate DB [--cost-model=NAME[:FILE]] [--target=FILE] [--tasks]
 *
 * rank: Spearman's correlation of estimates and times over the schedules of one task, the mean over the tasks of the
 * class that have at least LEAST schedules, weighted by their number: what a search needs. factor: geometric mean of
 * estimate / time. median, p90: of |ln(estimate / time)|, so 0.22 is a quarter off. A schedule's time is the median
 * of its runs' medians. --target takes a file that describes this machine otherwise (docs/targets.md).
 */
#include "cost_model/cost_model.h"
#include "cost_model/learned_file.h"
#include "db/look.h"
#include "learn/hold_out.h"
#include "schedule/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 4, CLASSES = 64, THREADS = 16 };

/* One schedule. */
typedef struct Point {
	const char *trace;
	double estimate, time; /* ns */
	VEC(double) run;
} Point;

typedef VEC(Point) Points;

typedef struct Class {
	char name[32];
	int tasks, schedules;
	double rank, weight; /* sum over tasks of correlation times schedules; of schedules */
	VEC(double) error;   /* ln(estimate / time) */
} Class;

typedef struct Bench {
	Arena *arena;
	Db *db;
	const char *cost_model, *target_file, *beside; /* beside: the learned model of the database */
	bool each_task;
	Target target[THREADS]; /* by threads - 1 */
	Class class[CLASSES];
	int nclass, refused;
	/* of the task that is read */
	Arena *scratch;
	Points point;
} Bench;

static int die(const Err *e)
{
	fprintf(stderr, "bench_estimate: %s: %s\n", e->place, e->text);
	exit(1);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double quantile(double *at, size_t n, double q)
{
	qsort(at, n, sizeof *at, by_value);
	return n > 0 ? at[(size_t)(q * (double)(n - 1) + 0.5)] : NAN;
}

static bool take_run(const RunRecord *run, void *arg)
{
	Bench *b = arg;
	Point *p = NULL;
	for (size_t i = 0; i < b->point.n; i++)
		if (strcmp(b->point.at[i].trace, run->trace) == 0)
			p = &b->point.at[i];
	if (p == NULL) {
		vec_push(b->scratch, &b->point, ((Point){ .trace = arena_printf(b->scratch, "%s", run->trace) }));
		p = &b->point.at[b->point.n - 1];
	}
	vec_push(b->scratch, &p->run, (double)run->median_ns);
	return true;
}

/* NAN where all values of one side are equal. */
static double spearman(const Points *p, Arena *a)
{
	double *x = arena_array(a, double, p->n), *y = arena_array(a, double, p->n);
	bool differ[2] = { false, false };
	for (size_t i = 0; i < p->n; i++) {
		x[i] = p->at[i].estimate;
		y[i] = p->at[i].time;
		differ[0] |= x[i] != x[0];
		differ[1] |= y[i] != y[0];
	}
	return differ[0] && differ[1] ? learn_rank(x, y, (int)p->n, a) : NAN;
}

static Class *class_of(Bench *b, const Task *task)
{
	char name[32];
	snprintf(name, sizeof name, "%.*s", (int)strcspn(task->label, " "), task->label);
	for (int i = 0; i < b->nclass; i++)
		if (strcmp(b->class[i].name, name) == 0)
			return &b->class[i];
	Class *c = &b->class[b->nclass < CLASSES - 1 ? b->nclass++ : CLASSES - 1];
	snprintf(c->name, sizeof c->name, "%s", name);
	return c;
}

/* Fills in estimates and times; schedules that are refused today leave the list. */
static void estimate(Bench *b, const Task *task, const Target *target)
{
	size_t kept = 0;
	Cost cost;
	Err err = { 0 };
	if (!cost_open(&cost, b->scratch, b->cost_model, b->beside, target, &err))
		die(&err);
	if (cost_note(&cost) != NULL)
		fprintf(stderr, "bench_estimate: %s\n", cost_note(&cost));
	for (size_t i = 0; i < b->point.n; i++) {
		Point p = b->point.at[i];
		Arena *a = arena_new();
		Trace *t = trace_parse(a, "record", p.trace, strlen(p.trace), NULL);
		const KernelSet *ks = t != NULL ? schedule_draft(ir_new(a), task, target, t, NULL) : NULL;
		if (ks != NULL) {
			p.estimate = cost_estimate_one(&cost, ks, task);
			p.time = quantile(p.run.at, p.run.n, 0.5);
			b->point.at[kept++] = p;
		} else {
			b->refused++;
		}
		arena_free(a);
	}
	b->point.n = kept;
	cost_close(&cost);
}

static void judge(Bench *b, const Task *task, const Target *target)
{
	Class *c = class_of(b, task);
	double rank = b->point.n >= LEAST ? spearman(&b->point, b->scratch) : NAN, sum = 0;
	for (size_t i = 0; i < b->point.n; i++) {
		double error = log(b->point.at[i].estimate / b->point.at[i].time);
		vec_push(b->arena, &c->error, error);
		sum += error;
	}
	c->tasks += b->point.n > 0;
	c->schedules += (int)b->point.n;
	if (!isnan(rank)) {
		c->rank += rank * (double)b->point.n;
		c->weight += (double)b->point.n;
	}
	if (b->each_task && b->point.n > 0)
		printf("%-40s t%d %5zu schedules  rank %6.2f  factor %5.2f\n", task->label, target->threads, b->point.n, rank,
			exp(sum / (double)b->point.n));
}

static bool take_task(const DbTask *t, void *arg)
{
	Bench *b = arg;
	Err err = { 0 };
	const Target *target = NULL;
	for (int i = 0; i < THREADS; i++) {
		Hash id = target_id(&b->target[i]);
		if (memcmp(&id, &t->target, sizeof id) == 0)
			target = &b->target[i];
	}
	if (target == NULL)
		return true;
	b->scratch = arena_new();
	b->point = (Points){ 0 };
	const char *dag;
	const Record *r = db_record(b->db, t->workload, NULL, b->scratch, &err);
	if (r == NULL || !json_str(r->json, "dag", &dag, &err))
		die(&err);
	const Task *task = task_parse(b->scratch, dag, strlen(dag), &err);
	if (task == NULL || !db_each_verified(b->db, t->workload, t->target, take_run, b, &err))
		die(&err);
	estimate(b, task, target);
	judge(b, task, target);
	arena_free(b->scratch);
	return true;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const Class *)a)->name, ((const Class *)b)->name);
}

static void print_class(const char *name, Class *c)
{
	size_t n = c->error.n;
	double sum = 0;
	char rank[16] = "-";
	for (size_t i = 0; i < n; i++) {
		sum += c->error.at[i];
		c->error.at[i] = fabs(c->error.at[i]);
	}
	if (c->weight > 0)
		snprintf(rank, sizeof rank, "%.2f", c->rank / c->weight);
	printf("| %s | %d | %d | %s | %.2f | %.2f | %.2f |\n", name, c->tasks, c->schedules, rank, exp(sum / (double)n),
		quantile(c->error.at, n, 0.5), quantile(c->error.at, n, 0.9));
}

static void print_table(Bench *b)
{
	Class all = { .name = "all" };
	qsort(b->class, (size_t)b->nclass, sizeof *b->class, by_name);
	printf("| operator | tasks | schedules | rank | factor | median | p90 |\n|---|---|---|---|---|---|---|\n");
	for (int i = 0; i < b->nclass; i++) {
		Class *c = &b->class[i];
		all.tasks += c->tasks;
		all.schedules += c->schedules;
		all.rank += c->rank;
		all.weight += c->weight;
		for (size_t k = 0; k < c->error.n; k++)
			vec_push(b->arena, &all.error, c->error.at[k]);
		if (c->schedules > 0)
			print_class(c->name, c);
	}
	print_class("all", &all);
	if (b->refused > 0)
		printf("%d schedules are refused today\n", b->refused);
}

int main(int argc, char **argv)
{
	Bench b = { .arena = arena_new() };
	const char *path = NULL;
	Err err = { 0 };
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "--cost-model=", 13) == 0)
			b.cost_model = argv[i] + 13;
		else if (strncmp(argv[i], "--target=", 9) == 0)
			b.target_file = argv[i] + 9;
		else if (strcmp(argv[i], "--tasks") == 0)
			b.each_task = true;
		else
			path = argv[i];
	if (path == NULL || path[0] == '-')
		fail(&err, ERR_USAGE, "usage", "bench_estimate DB [--cost-model=NAME] [--target=FILE] [--tasks]"), die(&err);
	for (int i = 0; i < THREADS; i++)
		if (!target_resolve(&b.target[i], b.target_file != NULL ? b.target_file : "host", i + 1, NULL, 0, &err))
			die(&err);
	b.beside = learned_path(b.arena, path, false, b.target[0].kind);
	b.db = db_open(path, DB_READ, &err);
	if (b.db == NULL || !db_each_task(b.db, take_task, &b, &err))
		die(&err);
	print_table(&b);
	db_close(b.db);
	arena_free(b.arena);
	return 0;
}
