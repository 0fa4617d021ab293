/* Searches that a cost model directs, in the tuner: when they end, what goes on meanwhile, what the model is told. */
#include "lab.h"

/* The ranked search ends with a certificate long before the space does, and near its best. */
START_TEST(a_ranked_search_ends)
{
	Lab *lab = open_lab_of(large, all_good);
	Job o = job_of(lab);
	o.ask.search = &search_rank;
	TuneResult s = tune(lab, &o);
	for (int k = 0; k < 2; k++)
		ck_assert(s.end.task[k].end == TASK_SEARCHED && s.end.task[k].best_ms > 0);
	ck_assert_int_lt(s.end.trials, lab->all);
	int64_t first = s.end.trials;
	s = tune(lab, &o); /* all of it is known: the same way once more, without a trial */
	ck_assert_int_eq(s.end.trials, 0);
	ck_assert_int_eq(s.end.reused, first);
	ck_assert(s.end.task[0].end == TASK_SEARCHED && s.end.task[1].end == TASK_SEARCHED);
	close_lab(lab);
}
END_TEST

/* A cost model of our own: everything takes as long; what it was asked and told. */
typedef struct Student {
	int64_t asked, told;
} Student;

static void guess(const void *state, const CostCandidate *x, int n, double *ns)
{
	for (int i = 0; i < n; i++) {
		ck_assert(x[i].ks != NULL && x[i].task != NULL);
		ns[i] = 1000;
	}
	((Student *)(uintptr_t)state)->asked += n;
}

static void learn(void *state, const CostCandidate *x, int n, const double *ns)
{
	for (int i = 0; i < n; i++)
		ck_assert(x[i].ks != NULL && x[i].task != NULL && ns[i] > 0);
	((Student *)state)->told += n;
}

START_TEST(a_cost_model_is_told_what_was_measured)
{
	static const CostModel row = { .name = "student", .batch = 7, .estimate = guess, .observe = learn };
	Student student = { 0 };
	Lab *lab = open_lab(most_fail);
	Job o = job_of(lab);
	o.ask.search = &search_rank;
	o.with.cost = &(Cost){ &row, &student };
	TuneResult s = tune(lab, &o);
	ck_assert(s.end.failed > 0 && s.end.trials > s.end.failed);
	ck_assert_int_ge(student.told, s.end.trials - s.end.failed);
	ck_assert_int_gt(student.asked, student.told);
	close_lab(lab);
}
END_TEST

/* What a run has measured since the cost model was told last, whenever it is asked. */
typedef struct Listener {
	const Lab *lab;
	size_t told_at, most; /* trials that were stored at that moment; at most so many were since */
	int64_t told;
} Listener;

static void listen_guess(const void *state, const CostCandidate *x, int n, double *ns)
{
	Listener *l = (Listener *)(uintptr_t)state;
	for (int i = 0; i < n; i++)
		ns[i] = 1000 + (double)(x[i].ks->n % 7);
	size_t since = l->lab->seen.n - l->told_at;
	l->most = since > l->most ? since : l->most;
}

static void listen_learn(void *state, const CostCandidate *x, int n, const double *ns)
{
	Listener *l = state;
	(void)x;
	(void)ns;
	l->told += n;
	l->told_at = l->lab->seen.n;
}

/* While a space is ranked, another task is measured. The model hears of that later, and equal runs are equal. */
START_TEST(measuring_goes_on_while_a_space_is_ranked)
{
	static const CostModel row = { .name = "listener", .batch = 1, .estimate = listen_guess, .observe = listen_learn };
	Lab *lab[2];
	Listener l[2];
	for (int i = 0; i < 2; i++) {
		lab[i] = open_lab_of(large, all_good);
		l[i] = (Listener){ .lab = lab[i] };
		Job o = job_of(lab[i]);
		o.ask.search = searches[_i];
		o.ask.trials = 60;
		o.with.cost = &(Cost){ &row, &l[i] };
		TuneResult s = tune(lab[i], &o);
		ck_assert_int_eq(s.end.trials, 60);
		ck_assert_int_eq(l[i].told, 60);
		ck_assert_int_ge((int)l[i].most, 4);
	}
	for (size_t k = 0; k < lab[0]->seen.n; k++)
		ck_assert_str_eq(lab[0]->seen.at[k].trace, lab[1]->seen.at[k].trace);
	close_lab(lab[0]);
	close_lab(lab[1]);
}
END_TEST

/* Interrupted ranked runs come to the same candidates as one that was not. */
START_TEST(a_ranked_search_goes_on)
{
	Lab *whole = open_lab_of(large, all_good), *parts = open_lab_of(large, all_good);
	Job o = job_of(whole), p = job_of(parts);
	o.ask.search = p.ask.search = &search_rank;
	o.with.measure = whole->measure;
	TuneResult s = tune(whole, &o);
	p.ask.more_trials = 17;
	for (int i = 0; i < 100 && tune(parts, &p).end.trials > 0; i++)
		;
	TuneResult t = tune(parts, &p);
	ck_assert_int_eq(t.end.reused, (int64_t)parts->seen.n);
	for (int k = 0; k < 2; k++)
		ck_assert(t.end.task[k].end == TASK_SEARCHED && t.end.task[k].best_ms <= s.end.task[k].best_ms * 1.5);
	close_lab(whole);
	close_lab(parts);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("ranked");
	tcase_add_test(tc, a_ranked_search_ends);
	tcase_add_loop_test(tc, measuring_goes_on_while_a_space_is_ranked, 0, 2);
	tcase_add_test(tc, a_ranked_search_goes_on);
	tcase_add_test(tc, a_cost_model_is_told_what_was_measured);
	return run_suite("ranked", tc);
}
