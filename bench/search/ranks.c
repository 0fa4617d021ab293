/*
 * How well cost models order the schedules of recorded spaces.
 *
 *     bench_ranks [MODEL.model...] FILE.space...
 *
 * Each recording is a row; for the analytic estimate and for each model it has Spearman's correlation of what is said
 * and the times, and how many times as long as the best recorded schedule the one takes that is ranked first. The last
 * row has the means over recordings, of the second figure the geometric ones. A model of another kind of targets than
 * a recording's, or that is no use, is named, and ends the program.
 */
#include "hunt.h"

#include "cost_model/learned_file.h"
#include "learn/hold_out.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SAID = 8 /* models and the estimate */ };

typedef struct Bench {
	Arena *arena;
	LearnedModel model[SAID];
	const char *path[SAID];
	int n; /* models */
	double rank[SAID], pick[SAID]; /* sums over recordings: of logarithms the second */
} Bench;

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);
	return n >= m && strcmp(text + n - m, end) == 0;
}

static void judge(Bench *b, const Lab *lab)
{
	const RecordedSpace *r = &lab->recorded;
	Arena *a = arena_new();
	double *ns = arena_array(a, double, r->n), *said = arena_array(a, double, r->n);
	printf("| %s |", lab->path);
	for (int m = 0; m <= b->n; m++) {
		int n = 0;
		const char *unfit = m > 0 ? learned_unfit(a, &b->model[m - 1], &r->target) : NULL;
		Err err = { 0 };
		if (unfit != NULL && !fail(&err, ERR_INPUT, b->path[m - 1], "%s", unfit))
			lab_die(&err);
		for (int i = 0; i < r->n; i++) {
			if (r->run[i].median_ns <= 0 || lab->estimate[i] <= 0 || lab->same[i] != (uint64_t)i + 1)
				continue;
			const float *row = lab->row + (size_t)i * PREDICTORS;
			ns[n] = (double)r->run[i].median_ns;
			said[n++] = lab->estimate[i] * (m > 0 ? exp(forest_value(&b->model[m - 1].forest, row)) : 1);
		}
		double rank = learn_rank(said, ns, n, a), pick = learn_pick(said, ns, n);
		b->rank[m] += rank;
		b->pick[m] += log(pick);
		printf(" %.3f, %.3f |", rank, pick);
	}
	printf("\n");
	fflush(stdout);
	arena_free(a);
}

int main(int argc, char **argv)
{
	static Bench b;
	Err err = { 0 };
	int labs = 0;
	b.arena = arena_new();
	for (int i = 1; i < argc; i++) {
		if (!ends_with(argv[i], ".model"))
			continue;
		if (b.n == SAID - 1 && !fail(&err, ERR_USAGE, "usage", "at most %d models", SAID - 1))
			lab_die(&err);
		b.path[b.n] = argv[i];
		if (!learned_read(b.arena, argv[i], &b.model[b.n++], &err))
			lab_die(&err);
	}
	if (argc - 1 == b.n && !fail(&err, ERR_USAGE, "usage", "bench_ranks [MODEL.model...] FILE.space..."))
		lab_die(&err);
	printf("| recording | estimate: rank, pick |");
	for (int m = 0; m < b.n; m++)
		printf(" %s |", b.path[m]);
	printf("\n|---|---|");
	for (int m = 0; m < b.n; m++)
		printf("---|");
	printf("\n");
	for (int i = 1; i < argc; i++) {
		if (ends_with(argv[i], ".model"))
			continue;
		Arena *a = arena_new();
		Lab lab = { 0 };
		lab_open(a, &lab, argv[i]);
		judge(&b, &lab);
		labs++;
		arena_free(a);
	}
	printf("| mean |");
	for (int m = 0; m <= b.n; m++)
		printf(" %.3f, %.3f |", b.rank[m] / labs, exp(b.pick[m] / labs));
	printf("\n");
	arena_free(b.arena);
	return 0;
}
