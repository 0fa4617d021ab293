/*
 * How good a learned model's choices are on networks that it has not seen, by the records of a database: each network
 * is left out in turn, trees are trained on the Tasks of the others, and choose among the recorded schedules of its
 * own.
 *
 *     bench_held_out DB [--group=BITS]
 *
 * For each group of targets, all margins (docs/cost_model.md): how many Tasks have a time of their default, how many
 * get another schedule, and the geometric means of default / chosen and of default / best. `all`: what is ranked first
 * is always taken. Then by class of operators, with the margin that training would choose. A Task of several networks
 * counts for each. --group trains on the records of targets with vectors of BITS alone.
 */
#include "db/look.h"
#include "learn/hold_out.h"
#include "record/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NETWORKS = 256, EPOCH = 0 };

typedef struct Bench {
	Arena *arena;
	Db *db;
	const char *network[NETWORKS];
	int nnetwork;
	bool *runs; /* of a Task and a network: [task * NETWORKS + network] */
	int task;
	LearnSet set;
} Bench;

static void die(const Err *e)
{
	fprintf(stderr, "bench_held_out: %s: %s\n", e->place, e->text);
	exit(1);
}

static int network_of(Bench *b, Hash session)
{
	const char *name = "";
	const Record *r = db_record(b->db, session, NULL, b->arena, NULL);
	if (r != NULL)
		json_str(r->json, "model", &name, NULL);
	for (int k = 0; k < b->nnetwork; k++)
		if (strcmp(b->network[k], name) == 0)
			return k;
	if (b->nnetwork == NETWORKS)
		return NETWORKS - 1;
	b->network[b->nnetwork] = name;
	return b->nnetwork++;
}

static bool note_run(const RunRecord *run, void *arg)
{
	Bench *b = arg;
	b->runs[b->task * NETWORKS + network_of(b, run->session)] = true;
	return true;
}

static bool in(const Bench *b, int task, int network)
{
	return b->runs[task * NETWORKS + network];
}

/* Trees of the Tasks that `out` does not have; bits: of one group alone, 0: of all. */
static bool train_without(const Bench *b, int out, int bits, Forest *f, Arena *a)
{
	const TrainSet *all = &b->set.rows;
	Err err = { 0 };
	float *row = arena_array(a, float, (size_t)all->n * PREDICTORS + 1);
	double *ns = arena_array(a, double, all->n + 1), *estimate = arena_array(a, double, all->n + 1);
	double *weight = arena_array(a, double, all->n + 1);
	int *task = arena_array(a, int, all->n + 1);
	TrainSet s = { 0, row, ns, estimate, weight, task };
	for (int t = 0; t < b->set.ntask; t++) {
		const LearnTask *x = &b->set.task[t];
		for (int i = x->first; !in(b, t, out) && (bits == 0 || x->vector_bits == bits) && i < x->first + x->n; i++) {
			memcpy(row + (size_t)s.n * PREDICTORS, all->row + (size_t)i * PREDICTORS, PREDICTORS * sizeof *row);
			ns[s.n] = all->ns[i];
			estimate[s.n] = all->estimate[i];
			weight[s.n] = all->weight[i];
			task[s.n++] = t;
		}
	}
	if (s.n < LEARN_LEAST_ROWS)
		return false;
	if (!train_forest(a, &s, NULL, f, NULL, &err))
		die(&err);
	return true;
}

/* A set in which the Tasks of each network follow each other, with what trees said that have not seen them. */
static LearnSet held_out(const Bench *b, int bits, double **said)
{
	int most = 0, n = 0;
	for (int k = 0; k < b->nnetwork; k++)
		for (int t = 0; t < b->set.ntask; t++)
			most += in(b, t, k) ? b->set.task[t].n : 0;
	double *ns = arena_array(b->arena, double, most + 1);
	LearnSet out = { .task = arena_array(b->arena, LearnTask, b->set.ntask * b->nnetwork + 1) };
	*said = arena_array(b->arena, double, most + 1);
	for (int k = 0; k < b->nnetwork; k++) {
		Arena *a = arena_new();
		Forest f;
		bool trained = train_without(b, k, bits, &f, a);
		for (int t = 0; trained && t < b->set.ntask; t++) {
			LearnTask x = b->set.task[t];
			if (!in(b, t, k) || (bits != 0 && x.vector_bits != bits))
				continue;
			for (int i = 0; i < x.n; i++) {
				const float *row = b->set.rows.row + (size_t)(x.first + i) * PREDICTORS;
				ns[n + i] = b->set.rows.ns[x.first + i];
				(*said)[n + i] = b->set.rows.estimate[x.first + i] * exp(forest_value(&f, row));
			}
			x.standard = x.standard < 0 ? -1 : n + x.standard - x.first;
			x.first = n;
			n += x.n;
			out.task[out.ntask++] = x;
		}
		arena_free(a);
	}
	out.rows = (TrainSet){ .n = n, .ns = ns };
	return out;
}

static void print_group(const LearnSet *s, const double *said, LearnedGain g)
{
	static const double margin[] = { 0, 0.02, 0.03, 0.05, 0.08, 0.12, 0.18, 0.27, 0.4, 0.6 };
	printf("%s of %d bits%s\n", arch_name(g.arch), g.vector_bits, g.parallel ? ", several threads" : "");
	printf("%-7s %6s %6s %9s %9s %9s\n", "margin", "Tasks", "taken", "gain", "+-", "best");
	for (size_t k = 0; k < sizeof margin / sizeof *margin; k++) {
		LearnedGain x = g;
		double se;
		x.margin = margin[k];
		learn_gain_at(s, said, NULL, &x, &se);
		printf("%-7.2f %6d %6d %8.3fx %9.3f %8.3fx\n", x.margin, x.tasks, x.taken, exp(x.gain), se, exp(x.best));
	}
	printf("chosen  %6s %6d %8.3fx at %.2f\n", "", g.taken, exp(g.gain), g.margin);
	for (int t = 0; t < s->ntask; t++) {
		LearnedGain x = g, all = g;
		double se;
		bool first = true;
		for (int k = 0; first && k < t; k++)
			first = strcmp(s->task[k].class, s->task[t].class) != 0;
		if (!first)
			continue;
		all.margin = 0;
		learn_gain_at(s, said, s->task[t].class, &x, &se);
		learn_gain_at(s, said, s->task[t].class, &all, &se);
		if (x.tasks > 0)
			printf("  %-26.26s %4d Tasks, %3d taken %7.3fx, all %7.3fx, best %7.3fx\n", s->task[t].class, x.tasks,
				x.taken, exp(x.gain), exp(all.gain), exp(x.best));
	}
}

int main(int argc, char **argv)
{
	Bench b = { .arena = arena_new() };
	Err err = { 0 };
	int bits = 0;
	if (argc < 2 || argc > 3 || (argc == 3 && sscanf(argv[2], "--group=%d", &bits) != 1)) {
		fprintf(stderr, "bench_held_out DB [--group=BITS]\n");
		return 2;
	}
	b.db = db_open(argv[1], DB_READ, &err);
	if (b.db == NULL)
		die(&err);
	LearnAsk ask = { .set = { &b.db, 1 }, .kind = TARGET_CPU, .epoch = EPOCH };
	if (!learn_gather(&ask, &b.set, b.arena, &err))
		die(&err);
	b.runs = arena_array(b.arena, bool, (size_t)(b.set.ntask + 1) * NETWORKS);
	memset(b.runs, 0, (size_t)(b.set.ntask + 1) * NETWORKS);
	for (b.task = 0; b.task < b.set.ntask; b.task++)
		if (!db_each_verified(b.db, b.set.task[b.task].workload, b.set.task[b.task].target, note_run, &b, &err))
			die(&err);
	printf("%d schedules of %d Tasks, %d networks\n", b.set.rows.n, b.set.ntask, b.nnetwork);
	double *said;
	LearnSet s = held_out(&b, bits, &said);
	LearnedModel m = { 0 };
	learn_gains(&s, said, &m, b.arena);
	for (int k = 0; k < m.nuntuned; k++)
		print_group(&s, said, m.untuned[k]);
	db_close(b.db);
	arena_free(b.arena);
	return 0;
}
