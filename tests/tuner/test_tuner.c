/* The tuner over a recording (lab.h): which task and candidate is next, and when it ends. */
#include "lab.h"

#include "tuner/run.h"

START_TEST(each_default_is_measured_first)
{
	Lab *lab = open_lab(all_good);
	Job o = job_of(lab);
	o.ask.trials = 10;
	TuneResult s = tune(lab, &o);
	ck_assert_int_eq(s.end.ntask, 2);
	ck_assert_int_eq((int)lab->seen.n, 10);
	for (int k = 0; k < 2; k++) {
		int at = lab->seen.at[0].task == lab->part->task[k] ? 0 : 1;
		ck_assert(lab->seen.at[at].task == lab->part->task[k]);
		ck_assert_str_eq(lab->seen.at[at].trace, lab->first[k]);
		ck_assert(s.end.task[k].default_ms == 0.9 && s.end.task[k].best_ms <= 0.9);
	}
	ck_assert_int_eq(s.end.default_unmeasured, 0);
	ck_assert(s.end.default_tasks_ms > 1.79 && s.end.default_tasks_ms < 1.81);
	close_lab(lab);
}
END_TEST

START_TEST(trials_count_what_is_known)
{
	static const struct {
		int64_t trials, more, want, reused;
	} runs[] = {
		{ 12, -1, 12, 0 },
		{ 12, -1, 0, 12 }, /* nothing left to do */
		{ 5, -1, 0, 12 },
		{ 20, -1, 8, 12 },
		{ -1, 7, 7, 20 }, /* +7 */
		{ -1, 0, 0, 27 },
		{ 0, -1, 0, 27 },
	};
	Lab *lab = open_lab(all_good);
	int64_t all = 0;
	for (int i = 0; i < LEN(runs); i++) {
		Job o = job_of(lab);
		o.ask.trials = runs[i].trials;
		o.ask.more_trials = runs[i].more;
		TuneResult s = tune(lab, &o);
		ck_assert_int_eq(s.end.trials, runs[i].want);
		ck_assert_int_eq(s.end.reused, runs[i].reused);
		ck_assert_int_eq(stored(lab, lab->db), all += runs[i].want);
	}
	close_lab(lab);
}
END_TEST

/* Many short runs find the whole space, as one long one does, and the best of it. */
START_TEST(resuming_goes_on_where_it_was)
{
	Lab *lab = open_lab_of(large, all_good);
	Job o = job_of(lab);
	TuneResult s;
	Err err = { 0 };
	int rounds = 0;
	ck_assert_int_gt((int)lab->all, 300);
	do {
		o.ask.more_trials = 60;
		s = tune(lab, &o);
		ck_assert_int_lt(++rounds, 200);
	} while (s.end.trials > 0);
	/* A repeated default may take the same time, which is one record. */
	ck_assert_int_ge(stored(lab, lab->db), lab->all);
	ck_assert_int_le(stored(lab, lab->db), lab->all + lab->repeats);
	for (int k = 0; k < 2; k++) {
		const Task *t = lab->part->task[k];
		const RunRecord *best = db_best(lab->recording, t->id, target_id(&lab->target), CODEGEN_EPOCH, lab->arena,
			&err);
		const RunRecord *found = db_best(lab->db, t->id, target_id(&lab->target), CODEGEN_EPOCH, lab->arena, &err);
		ck_assert(best != NULL && found != NULL);
		ck_assert_str_eq(best->trace, found->trace);
		ck_assert(s.end.task[k].end == TASK_SEARCHED && s.end.task[k].best_ms == (double)best->median_ns / 1e6);
	}
	close_lab(lab);
}
END_TEST

START_TEST(a_space_comes_to_its_end)
{
	Lab *lab = open_lab(_i == 0 ? all_good : most_fail);
	Job o = job_of(lab);
	TuneResult s = tune(lab, &o);
	ck_assert_int_eq(s.end.trials, lab->all + lab->repeats);
	ck_assert_int_eq(s.end.pruned, 0);
	ck_assert((s.end.failed == 0) == (_i == 0));
	ck_assert(s.end.task[0].end == TASK_SEARCHED && s.end.task[1].end == TASK_SEARCHED);
	close_lab(lab);
}
END_TEST

START_TEST(a_budget_ends_the_run)
{
	Lab *lab = open_lab(all_good);
	Job o = job_of(lab);
	o.ask.budget_ms = 100;
	TuneResult s = tune(lab, &o);
	ck_assert_int_gt(s.end.trials, 2);
	ck_assert_int_lt(s.end.trials, lab->all);
	ck_assert(s.end.seconds >= 0.1 && s.end.seconds < 0.2);
	ck_assert(s.end.candidates_per_s > 0 && !s.interrupted);
	ck_assert_int_eq(stored(lab, lab->db), s.end.trials);
	close_lab(lab);
}
END_TEST

START_TEST(ctrl_c_keeps_what_was_measured)
{
	Lab *lab = open_lab(all_good);
	Job o = job_of(lab);
	lab->stop_after = 9;
	TuneResult s = tune(lab, &o);
	ck_assert(s.interrupted);
	ck_assert_int_eq(s.end.trials, 9);
	ck_assert_int_eq(stored(lab, lab->db), 9);
	lab->stop = 0;
	lab->stop_after = 0;
	o.ask.trials = 11;
	s = tune(lab, &o);
	ck_assert(!s.interrupted && s.end.trials == 2 && s.end.reused == 9);
	close_lab(lab);
}
END_TEST

START_TEST(prefixes_choose_tasks)
{
	char hex[HASH_HEX];
	Err err = { 0 };
	TuneResult s;
	Lab *lab = open_lab(all_good);
	Job o = job_of(lab);
	hash_hex(lab->part->task[1]->id, hex);
	hex[7] = 0;
	o.ask.tasks = (const char *const[]){ hex };
	o.ask.ntasks = 1;
	o.ask.trials = 5;
	s = tune(lab, &o);
	ck_assert(s.end.ntask == 1 && s.end.task[0].task == lab->part->task[1] && s.end.trials == 5);
	for (size_t i = 0; i < lab->seen.n; i++)
		ck_assert(lab->seen.at[i].task == lab->part->task[1]);
	o.ask.tasks = (const char *const[]){ hex, "zz" };
	for (o.ask.ntasks = 2; o.ask.ntasks > 0; o.ask.tasks++, o.ask.ntasks--) {
		err = (Err){ 0 };
		ck_assert(!tune_model(lab->arena, lab->part, &o.ask, &o.with, &s, &err));
		ck_assert_int_eq(err.code, ERR_MISSING);
		ck_assert_msg(strstr(err.text, "\"zz\"") != NULL, "%s", err.text);
	}
	lab->part->ntask = 0; /* a network of views has none, and nothing is left to do */
	o.ask.ntasks = 0;
	s = tune(lab, &o);
	ck_assert(s.end.ntask == 0 && s.end.trials == 0);
	close_lab(lab);
}
END_TEST

/* A task whose default fails is searched all the same; its best is what ran, its default is none. */
START_TEST(failures_are_results)
{
	Lab *lab = open_lab(defaults_crash);
	Job o = job_of(lab);
	o.ask.trials = 40;
	TuneResult s = tune(lab, &o);
	ck_assert_int_eq(s.end.trials, 40);
	ck_assert_int_eq(s.end.failed, 2);
	ck_assert_int_eq(s.end.default_unmeasured, 2);
	for (int k = 0; k < 2; k++) {
		ck_assert_int_gt(s.end.task[k].trials, 3);
		ck_assert(s.end.task[k].best_ms > 0 && s.end.task[k].default_ms == 0);
	}
	close_lab(lab);
}
END_TEST

START_TEST(ties_are_no_trouble)
{
	Lab *lab = open_lab(all_same);
	Job o = job_of(lab);
	o.ask.trials = 30;
	TuneResult s = tune(lab, &o);
	ck_assert_int_eq(s.end.trials, 30);
	ck_assert(s.end.tasks_ms == s.end.default_tasks_ms && s.end.tasks_ms == 0.01);
	close_lab(lab);
}
END_TEST

/* What this user's tuners put into other databases is not measured again, and counts. */
START_TEST(more_databases_are_read)
{
	Lab *lab = open_lab(all_good);
	Job o = job_of(lab);
	TuneResult first = tune(lab, &o);
	Db *own = lab->db;
	o.with.db = lab->db = open_db(lab, "other.sqlite", DB_WRITE);
	o.with.more = &own;
	o.with.nmore = 1;
	TuneResult s = tune(lab, &o);
	ck_assert_int_eq(s.end.trials, 0);
	ck_assert_int_eq(s.end.reused, first.end.trials);
	ck_assert_int_eq(s.end.unmeasured, 0);
	ck_assert_int_eq(stored(lab, lab->db), 0);
	db_close(own);
	close_lab(lab);
}
END_TEST

/* Records of others, imported or in a second database: a few of the best come after the default, before the search. */
START_TEST(hints_are_measured_first)
{
	Lab *lab = open_lab(all_good);
	Job o = job_of(lab);
	Err err = { 0 };
	Hash target = target_id(&lab->target);
	o.with.more = &lab->recording;
	o.with.nmore = 1;
	o.ask.trials = 4; /* of each task the default and one hint */
	TuneResult s = tune(lab, &o);
	ck_assert(s.end.reused == 0 && s.end.trials == 4);
	for (int k = 0; k < 2; k++) {
		const Task *t = lab->part->task[k];
		const char *best = db_best(lab->recording, t->id, target, CODEGEN_EPOCH, lab->arena, &err)->trace;
		int at = 0;
		while (lab->seen.at[at].task != t || strcmp(lab->seen.at[at].trace, best) != 0)
			ck_assert_int_lt(++at, 4);
		ck_assert_str_eq(db_best(lab->db, t->id, target, CODEGEN_EPOCH, lab->arena, &err)->trace, best);
	}
	close_lab(lab);
}
END_TEST

/* A device that stays lost ends the run. Nothing was measured, so nothing is recorded or counted. */
START_TEST(lost_devices_say_nothing_of_candidates)
{
	Lab *lab = open_lab(none_recorded);
	Job o = job_of(lab);
	Err err = { 0 };
	TuneResult s;
	o.ask.trials = _i == 0 ? 6 : -1;
	ck_assert(!tune_model(lab->arena, lab->part, &o.ask, &o.with, &s, &err));
	ck_assert_int_eq(err.code, ERR_DEVICE);
	ck_assert_msg(strstr(err.text, "10 candidates in a row could not be run") != NULL, "%s", err.text);
	ck_assert(s.end.trials == 0 && s.end.failed == 0 && s.end.unmeasured == 2 && stored(lab, lab->db) == 0);
	close_lab(lab);
}
END_TEST

/* So does one whose time is over before ten in a row were lost. */
START_TEST(a_short_run_on_a_lost_device_is_a_failure)
{
	Lab *lab = open_lab(none_recorded);
	Job o = job_of(lab);
	Err err = { 0 };
	TuneResult s;
	o.ask.budget_ms = 10;
	ck_assert(!tune_model(lab->arena, lab->part, &o.ask, &o.with, &s, &err));
	ck_assert_int_eq(err.code, ERR_DEVICE);
	ck_assert_msg(strstr(err.text, "could not be run: the recording has no such candidate") != NULL &&
		strncmp(err.text, "10 ", 3) != 0, "%s", err.text);
	ck_assert(s.end.trials == 0 && stored(lab, lab->db) == 0);
	close_lab(lab);
}
END_TEST

/* Where every candidate fails, the run says so, how many, why most of them, and what to do. */
START_TEST(nothing_that_ran_is_a_failure)
{
	Lab *lab = open_lab(all_oom);
	Job o = job_of(lab);
	Err err = { 0 };
	TuneResult s;
	o.ask.trials = 6;
	ck_assert(!tune_model(lab->arena, lab->part, &o.ask, &o.with, &s, &err));
	ck_assert_int_eq(err.code, ERR_DEVICE);
	ck_assert_str_eq(err.text, "none of 6 candidates could be measured, and 6 failed as oom (as recorded): "
		"end other programs that use it, or take a smaller batch");
	ck_assert(s.end.trials == 6 && s.end.failed == 6 && stored(lab, lab->db) == 6);
	close_lab(lab);
}
END_TEST

START_TEST(what_cannot_be_stored_ends_the_run)
{
	Lab *lab = open_lab(all_good);
	Job o = job_of(lab);
	Err err = { 0 };
	TuneResult s;
	Db *closed = open_db(lab, "db.sqlite", DB_READ);
	o.with.db = closed;
	ck_assert(!tune_model(lab->arena, lab->part, &o.ask, &o.with, &s, &err));
	ck_assert_int_eq(err.code, ERR_DEVICE);
	ck_assert_int_eq((int)lab->seen.n, 0);
	db_close(closed);
	close_lab(lab);
}
END_TEST

START_TEST(a_seed_is_a_run)
{
	Lab *lab[2] = { open_lab(all_good), open_lab(all_good) };
	for (int i = 0; i < 2; i++) {
		Job o = job_of(lab[i]);
		o.ask.trials = 60;
		tune(lab[i], &o);
	}
	ck_assert_int_eq((int)lab[0]->seen.n, (int)lab[1]->seen.n);
	for (size_t i = 0; i < lab[0]->seen.n; i++)
		ck_assert_str_eq(lab[0]->seen.at[i].trace, lab[1]->seen.at[i].trace);
	close_lab(lab[0]);
	close_lab(lab[1]);
}
END_TEST

/* A roof that the best time meets ends a task; its certificate is another one. */
START_TEST(a_roof_ends_a_task)
{
	Lab *lab = open_lab(all_same);
	Job o = job_of(lab);
	double bytes = lab->part->task[0]->bytes;
	o.ask.search = &search_rank;
	o.with.roof.gbps = bytes / 4900; /* of the 5000 ns that every candidate takes */
	TuneResult s = tune(lab, &o);
	ck_assert_int_eq(s.end.task[0].end, TASK_AT_ROOF);
	ck_assert_int_le(s.end.task[0].trials, 4); /* those that were under way */
	ck_assert_int_eq(s.end.task[1].end, lab->part->task[1]->bytes >= bytes * 0.98 ? TASK_AT_ROOF : TASK_SEARCHED);
	close_lab(lab);
}
END_TEST

START_TEST(finalists_race)
{
	Lab *lab = open_lab(all_good);
	Job o = job_of(lab);
	o.ask.finalists = 3;
	o.ask.trials = 60;
	o.with.on_trial = NULL; /* racers are measured twice */
	TuneResult s = tune(lab, &o);
	ck_assert_int_eq(s.end.trials, 60); /* races, for which some were kept, included */
	ck_assert(s.end.task[0].raced && s.end.task[1].raced);
	o.ask.trials = -1;
	s = tune(lab, &o);
	ck_assert(s.end.task[0].raced || s.end.task[1].raced);
	ck_assert_int_le(stored(lab, lab->db), s.end.trials + s.end.reused); /* a run that equals another is one record */
	close_lab(lab);
}
END_TEST

/* The least rounds of a slow network fit, but no more than that is kept for what takes long. */
START_TEST(time_is_kept_for_the_network)
{
	static const struct {
		double ms, least_s, most_s;
	} run[] = { { 10, 6, 9 }, { 265, 25, 31 }, { 1000, 60, 70 } };
	for (int i = 0; i < LEN(run); i++) {
		Compiled plain = { 0 };
		TuneProgress p = { .tasks_ms = run[i].ms, .default_tasks_ms = run[i].ms };
		double s = confirm_ms(&(Tuner){ .progress = &p, .plain = &plain }) / 1000;
		ck_assert_msg(s > run[i].least_s && s < run[i].most_s, "%.1f s for %.0f ms", s, run[i].ms);
	}
}
END_TEST

static Fate default_close_behind(const Task *task, const char *trace, bool is_default)
{
	(void)task;
	return (Fate){ RUN_OK, is_default ? 1050000 : 1000000 + (int64_t)(hash_text(trace) % 1000) };
}

static void count_defaults(const RunRecord *run, const Task *task, void *arg)
{
	Lab *lab = arg;
	for (int k = 0; k < lab->part->ntask; k++)
		if (lab->part->task[k] == task && strcmp(run->trace, lab->first[k]) == 0)
			vec_push(lab->arena, &lab->seen, ((Seen){ task, lab->first[k] }));
}

/* Many are a little faster at first sight; the default is raced all the same. */
START_TEST(a_default_that_is_near_races)
{
	Lab *lab = open_lab(default_close_behind);
	Job o = job_of(lab);
	o.ask.finalists = 2;
	o.ask.trials = 40; /* too few to repeat a default meanwhile */
	o.with.on_trial = count_defaults;
	TuneResult s = tune(lab, &o);
	ck_assert(s.end.task[0].raced && s.end.task[1].raced);
	ck_assert_int_eq(lab->seen.n, 4); /* of both tasks: a first look and a race */
	close_lab(lab);
}
END_TEST

START_TEST(a_plan_writes_nothing)
{
	Lab *lab = open_lab(all_good);
	Job o = job_of(lab);
	Err err = { 0 };
	TuneResult s;
	o.with.db = NULL;
	o.with.measure = NULL;
	ck_assert(tune_plan(lab->arena, lab->part, &o.ask, &o.with, &s, &err));
	ck_assert(s.end.ntask == 2 && s.end.reused == 0 && s.end.trials == 0 && s.end.unmeasured == 2);
	ck_assert(s.end.task[0].space > 2 && s.end.task[1].space > 2);
	o.with.more = &lab->recording;
	o.with.nmore = 1;
	ck_assert(tune_plan(lab->arena, lab->part, &o.ask, &o.with, &s, &err));
	ck_assert(s.end.reused == 0 && s.end.unmeasured == 2 && s.end.task[0].seeds > 1); /* somebody else's */
	ck_assert_int_eq(stored(lab, lab->db), 0);
	o = job_of(lab);
	int64_t trials = tune(lab, &o).end.trials;
	ck_assert(tune_plan(lab->arena, lab->part, &o.ask, &o.with, &s, &err));
	ck_assert(s.end.reused == trials && s.end.unmeasured == 0 && s.end.trials == 0);
	close_lab(lab);
}
END_TEST

/* One schedule by hand: a record, also where it fails; what is refused is none. */
START_TEST(a_schedule_is_tried)
{
	Lab *lab = open_lab(_i == 0 ? all_good : defaults_crash);
	Job o = job_of(lab);
	Err err = { 0 };
	TuneResult s;
	const Task *task = lab->part->task[0];
	Trace *first = trace_parse(lab->arena, "first", lab->first[0], strlen(lab->first[0]), &err);
	ck_assert(tune_try(lab->arena, task, first, &o.ask, &o.with, &s, &err) == (_i == 0));
	ck_assert(_i == 0 ? s.end.task[0].best_ms == 0.9 : err.code == ERR_ILLEGAL && strstr(err.text, "crash") != NULL);
	ck_assert_int_eq(stored(lab, lab->db), 1);
	err = (Err){ 0 };
	Trace *wrong = trace_parse(lab->arena, "wrong", "unroll nosuch\n", 14, &err);
	ck_assert(!tune_try(lab->arena, task, wrong, &o.ask, &o.with, &s, &err));
	ck_assert_int_eq(stored(lab, lab->db), 1);
	close_lab(lab);
}
END_TEST

/* What is told is the time of the tried schedule, not of a faster one in the database; none where it failed. */
START_TEST(a_tried_schedule_is_told)
{
	Lab *lab = open_lab(most_fail);
	Job o = job_of(lab);
	const RecordedSpace *space = &lab->space[0];
	o.ask.trials = 40;
	o.with.on_trial = NULL;
	TuneResult s = tune(lab, &o);
	const RecordedRun *slow = &space->run[0], *failed = NULL;
	for (int i = 0; i < space->n; i++) {
		slow = space->run[i].median_ns > slow->median_ns ? &space->run[i] : slow;
		failed = space->run[i].status != RUN_OK ? &space->run[i] : failed;
	}
	ck_assert(failed != NULL && s.end.task[0].best_ms < (double)slow->median_ns / 1e6);
	for (int i = 0; i < 2; i++) {
		Err err = { 0 };
		const RecordedRun *run = i == 0 ? slow : failed;
		Trace *trace = trace_parse(lab->arena, "tried", run->trace, strlen(run->trace), &err);
		ck_assert(tune_try(lab->arena, space->task, trace, &o.ask, &o.with, &s, &err) == (i == 0));
		const TaskProgress *p = &s.end.task[0];
		double ms = i == 0 ? (double)slow->median_ns / 1e6 : 0;
		ck_assert_msg(p->best_ms == ms && p->likely_ms == ms && s.end.tasks_ms == ms, "%f, %f of %f", p->best_ms,
			p->likely_ms, ms);
	}
	close_lab(lab);
}
END_TEST

/* Best schedules of another epoch are measured right behind the default. */
START_TEST(old_records_are_seeds)
{
	Lab *lab = open_lab(all_good);
	Job o = job_of(lab);
	Err err = { 0 };
	const Task *task = lab->part->task[0];
	Space *space = space_new(lab->arena, task, &lab->target, &err);
	Config c = space_begin(space);
	const char *old = NULL;
	while (old == NULL || strcmp(old, lab->first[0]) == 0) {
		space_next(space, &c);
		old = trace_of(lab->arena, space, c);
	}
	RunRecord run = { .workload = task->id, .trace = old, .status = RUN_OK, .median_ns = 70000, .min_ns = 70000,
		.samples = 3,
		.max_err_e9 = 1, .detail = "" };
	SessionInfo before = { "test", "old", "n", 1, 1600000000, NULL, 0, 0 };
	ck_assert(db_put_task(lab->db, task, &err) && db_put_target(lab->db, &lab->target, &run.target, &err) &&
		db_put_env(lab->db, CODEGEN_EPOCH - 1, "test", NULL, NULL, &run.env, &err) &&
		db_put_session(lab->db, &before, &run.session, &err) && db_put_run(lab->db, &run, &err));
	o.ask.trials = 6;
	TuneResult s = tune(lab, &o);
	ck_assert_int_eq(s.end.reused, 0);
	ck_assert_int_eq(s.end.task[0].seeds, 1);
	int at = 0;
	while (lab->seen.at[at].task != task || strcmp(lab->seen.at[at].trace, old) != 0)
		ck_assert_int_lt(++at, 6);
	close_lab(lab);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("tuner");
	tcase_add_test(tc, each_default_is_measured_first);
	tcase_add_test(tc, trials_count_what_is_known);
	tcase_add_test(tc, resuming_goes_on_where_it_was);
	tcase_add_loop_test(tc, a_space_comes_to_its_end, 0, 2);
	tcase_add_test(tc, a_budget_ends_the_run);
	tcase_add_test(tc, ctrl_c_keeps_what_was_measured);
	tcase_add_test(tc, prefixes_choose_tasks);
	tcase_add_test(tc, failures_are_results);
	tcase_add_test(tc, ties_are_no_trouble);
	tcase_add_test(tc, more_databases_are_read);
	tcase_add_test(tc, hints_are_measured_first);
	tcase_add_loop_test(tc, lost_devices_say_nothing_of_candidates, 0, 2);
	tcase_add_test(tc, a_short_run_on_a_lost_device_is_a_failure);
	tcase_add_test(tc, nothing_that_ran_is_a_failure);
	tcase_add_test(tc, what_cannot_be_stored_ends_the_run);
	tcase_add_test(tc, a_seed_is_a_run);
	tcase_add_test(tc, a_roof_ends_a_task);
	tcase_add_test(tc, finalists_race);
	tcase_add_test(tc, time_is_kept_for_the_network);
	tcase_add_test(tc, a_default_that_is_near_races);
	tcase_add_test(tc, a_plan_writes_nothing);
	tcase_add_loop_test(tc, a_schedule_is_tried, 0, 2);
	tcase_add_test(tc, a_tried_schedule_is_told);
	tcase_add_test(tc, old_records_are_seeds);
	return run_suite("tuner", tc);
}
