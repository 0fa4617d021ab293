/*
 * Estimates against times: schedules of nine layers that were measured on a Sapphire Rapids (records.jsonl, as dlc db
 * export prints them; bench/estimate does the same with a whole database). The thresholds are properties that
 * an estimate must have to be of use to a search, with room for a change that trades a little for something else.
 */
#include "suite.h"

#include "base/file.h"
#include "base/json.h"
#include "cost_model/cost_model.h"
#include "cost_model/roof.h"
#include "schedule/space.h"

#include <math.h>
#include <string.h>

/* The machine that the records are of. */
static const char machine[] = "{\"kind\":\"cpu\",\"model\":\"sapphirerapids\",\"features\":[\"x86-64-v4\"],"
							  "\"cache\":[{\"bytes\":49152},{\"bytes\":2097152},{\"bytes\":272629760}]}";

enum { TASKS = 16, RUNS = 32 };

typedef struct Layer {
	const char *id;
	const Task *task;
	int n;
	double estimate[RUNS], time[RUNS]; /* ns */
} Layer;

typedef struct Records {
	Arena *arena;
	Target target;
	Cost cost;
	int n;
	Layer layer[TASKS];
} Records;

static const char *text_of(const Json *o, const char *key)
{
	const char *s;
	Err err = { 0 };
	ck_assert_msg(json_str(o, key, &s, &err), "%s", err.text);
	return s;
}

static void take_run(Records *r, const Json *o)
{
	int64_t ns;
	Err err = { 0 };
	const char *trace = text_of(o, "trace");
	Layer *l = r->layer;
	while (l < r->layer + r->n && strcmp(l->id, text_of(o, "workload")) != 0)
		l++;
	ck_assert(l < r->layer + r->n && l->n < RUNS && json_int(o, "median_ns", 1, INT64_MAX, &ns, &err));
	Arena *scratch = arena_new();
	Trace *t = trace_parse(scratch, "trace", trace, strlen(trace), &err);
	KernelSet *ks = t != NULL ? schedule_replay(ir_new(scratch), l->task, &r->target, t, &err) : NULL;
	ck_assert_msg(ks != NULL, "%s: %s: %s", l->task->label, err.place, err.text);
	l->estimate[l->n] = cost_estimate_one(&r->cost, ks, l->task);
	l->time[l->n++] = (double)ns;
	arena_free(scratch);
}

static Records *read_records(void)
{
	Arena *a = arena_new();
	Records *r = arena_new_of(a, Records);
	Bytes file;
	Err err = { 0 };
	const char *path = arena_printf(a, "%s/tests/cost_model/records.jsonl", getenv("DLC_SOURCE_ROOT"));
	r->arena = a;
	ck_assert_msg(target_parse(&r->target, "machine", machine, sizeof machine - 1, 1, &err), "%s", err.text);
	ck_assert_msg(file_read(a, path, 1 << 20, &file, &err), "%s: %s", err.place, err.text);
	r->cost = cost_or_first(NULL, a, &r->target);
	for (const char *s = (const char *)file.at, *end = s + file.n; s < end;) {
		size_t n = (size_t)((const char *)memchr(s, '\n', (size_t)(end - s)) - s);
		const Json *o = json_parse(a, path, s, n, &err);
		ck_assert_msg(o != NULL, "%s: %s", err.place, err.text);
		if (strcmp(text_of(o, "kind"), "workload") == 0) {
			const char *dag = text_of(o, "dag");
			Layer l = { .id = text_of(o, "id"), .task = task_parse(a, dag, strlen(dag), &err) };
			ck_assert_msg(l.task != NULL && r->n < TASKS, "%s", err.text);
			r->layer[r->n++] = l;
		} else {
			take_run(r, o);
		}
		s += n + 1;
	}
	ck_assert_int_ge(r->n, 5);
	return r;
}

/* Of the pairs, of one layer or of two, whose times are a factor `apart` from each other: the part in order. */
static double in_order(const Records *r, bool one_layer, double apart)
{
	double right = 0, pairs = 0;
	for (int i = 0; i < r->n; i++)
		for (int j = 0; j < r->n; j++)
			for (int x = 0; x < r->layer[i].n && (i == j) == one_layer; x++)
				for (int y = 0; y < r->layer[j].n; y++)
					if (r->layer[i].time[x] > r->layer[j].time[y] * apart) {
						pairs++;
						right += r->layer[i].estimate[x] > r->layer[j].estimate[y];
					}
	ck_assert_msg(pairs >= 20, "%g pairs", pairs);
	return right / pairs;
}

/*
 * Guessing is right in half of the pairs. The schedules of a layer are those that a search by estimates has chosen, so
 * only what is far apart tells; the layers were chosen by nobody.
 */
START_TEST(what_takes_longer_is_estimated_longer)
{
	Records *r = read_records();
	double schedules = in_order(r, true, 1.5), layers = in_order(r, false, 1.25);
	ck_assert_msg(schedules > 0.65, "only %g of the pairs of schedules are in order", schedules);
	ck_assert_msg(layers > 0.85, "only %g of the pairs of layers are in order", layers);
	arena_free(r->arena);
}
END_TEST

/* The times themselves: half of them within a factor of 1.6, nearly all within 4; none below the floor. */
START_TEST(estimates_are_of_the_size_of_times)
{
	Records *r = read_records();
	int near = 0, far = 0, all = 0;
	for (int i = 0; i < r->n; i++)
		for (int k = 0; k < r->layer[i].n; k++) {
			double error = fabs(log(r->layer[i].estimate[k] / r->layer[i].time[k]));
			near += error < log(1.6);
			far += error > log(4);
			all++;
			ck_assert(r->layer[i].time[k] >= (double)roof_floor_ns(r->layer[i].task, &r->target));
		}
	ck_assert_msg(near * 2 >= all && far * 8 <= all, "%d of %d are near, %d far", near, all, far);
	arena_free(r->arena);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("cost_records");
	tcase_add_test(tc, what_takes_longer_is_estimated_longer);
	tcase_add_test(tc, estimates_are_of_the_size_of_times);
	return run_suite("cost_records", tc);
}
