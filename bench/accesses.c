/*
 * How many schedules of a network's Tasks are proved to stay inside their buffers, and what the proof costs.
 *
 *     bench_accesses MODEL TARGET THREADS SAMPLES [FOLDER of targets]
 *
 * Of each Task: the default and SAMPLES random configs of its template's space, replayed. A config that a
 * primitive refuses is no schedule and is counted apart. What is not proved is printed with its trace.
 */
#include "compile/compile.h"
#include "frontend/frontend.h"
#include "ir/verify/verify.h"
#include "runtime/timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Count {
	int schedules, refused, unproved;
	double replay_ns, proof_ns;
} Count;

static int die(const Err *e)
{
	fprintf(stderr, "%s: %s\n", e->place, e->text);
	return 1;
}

static void try(Space *s, Config c, Count *n)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Trace *t = space_trace(s, &c, a, &err);
	KernelSet *ks = t != NULL ? op_naive(ir_new(a), s->task->dag, "k", NAIVE_AS_TYPED, &err) : NULL;
	uint64_t from = timing_thread_ns();
	bool legal = ks != NULL && trace_apply(ks, t, s->task->dag, s->target, &err) && ir_verify_set(ks, &err);
	uint64_t replayed = timing_thread_ns();
	if (!legal) {
		n->refused++;
	} else {
		bool proved = ir_verify_accesses(ks, &err);
		n->proof_ns += (double)(timing_thread_ns() - replayed);
		n->replay_ns += (double)(replayed - from);
		n->schedules++;
		n->unproved += !proved;
		if (!proved) {
			Text text = { .arena = a };
			trace_print(&text, t);
			printf("# %s: %s: %s\n%s", s->task->label, err.place, err.text, text_str(&text));
		}
	}
	arena_free(a);
}

int main(int argc, char **argv)
{
	if (argc < 5) {
		fprintf(stderr, "bench_accesses MODEL TARGET THREADS SAMPLES [FOLDER]\n");
		return 2;
	}
	Arena *a = arena_new();
	Err err = { 0 };
	Target target;
	Count n = { 0 };
	const char *dirs[] = { argc > 5 ? argv[5] : "configs/targets" };
	if (!target_resolve(&target, argv[2], atoi(argv[3]), dirs, 1, &err))
		return die(&err);
	ModelArgs how = { .eval = compile_eval };
	Dag *dag = frontend_load(a, argv[1], &how, &err);
	Partition *p = dag != NULL ? compile_tasks(a, dag, &target, &err) : NULL;
	if (p == NULL)
		return die(&err);
	Rng rng = rng_seed(1);
	for (int k = 0; k < p->ntask + p->nmore; k++) {
		Arena *own = arena_new();
		Space *s = space_new(own, p->task[k], &target, &err);
		if (s == NULL)
			return die(&err);
		try(s, s->first, &n);
		for (int i = 0; i < atoi(argv[4]); i++)
			try(s, space_sample(s, &rng), &n);
		arena_free(own);
	}
	printf("%s %s t%s: %d tasks, %d schedules, %d not proved, %d configs refused; replay %.0f us, "
		   "proof %.0f us\n",
		argv[1], argv[2], argv[3], p->ntask + p->nmore, n.schedules, n.unproved, n.refused,
		n.replay_ns / n.schedules / 1e3, n.proof_ns / n.schedules / 1e3);
	return n.unproved > 0;
}
