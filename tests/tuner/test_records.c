/* What a database claims, against a tuner: records that cannot be true win nothing and end nothing. */
#include "lab.h"

/* Puts a run of the first task into lab->db. */
static void claim(Lab *lab, const char *trace, int64_t ns, int64_t err_e9)
{
	Err err = { 0 };
	const Task *task = lab->part->task[0];
	RunRecord run = { .workload = task->id, .trace = trace, .status = RUN_OK, .median_ns = ns, .min_ns = ns,
		.samples = 3,
		.max_err_e9 = err_e9, .detail = "" };
	SessionInfo s = { "test", "claims", "n", 1, 1600000000, NULL, 0, 0 };
	ck_assert(db_put_task(lab->db, task, &err) && db_put_target(lab->db, &lab->target, &run.target, &err) &&
		db_put_env(lab->db, CODEGEN_EPOCH, "test", NULL, NULL, &run.env, &err) &&
		db_put_session(lab->db, &s, &run.session, &err) && db_put_run(lab->db, &run, &err));
}

static double best_recorded_ms(const Lab *lab)
{
	Err err = { 0 };
	const RunRecord *best = db_best(lab->recording, lab->part->task[0]->id, target_id(&lab->target), CODEGEN_EPOCH,
		lab->arena, &err);
	ck_assert(best != NULL);
	return (double)best->median_ns / 1e6;
}

/* Faster than all that is true, and none of them is a schedule: the run ends as if they were not there. */
START_TEST(refused_schedules_win_nothing)
{
	static const char *const wrong[] = { "illegal step\n", "split x 0\n", "unroll nosuch\n", "split nosuch 4\n",
		"compute conv2d.winograd m=99999999999999999999\n" };
	Lab *lab = open_lab(all_good);
	Job o = job_of(lab);
	for (int i = 0; i < LEN(wrong); i++)
		claim(lab, wrong[i], 800 + i, 10);
	o.ask.finalists = 3;
	o.with.on_trial = NULL; /* racers are measured twice */
	TuneResult s = tune(lab, &o);
	ck_assert_int_eq(s.refused, LEN(wrong));
	ck_assert_int_eq(s.end.reused, 0);
	ck_assert(s.end.task[0].raced && s.end.task[0].best_ms == best_recorded_ms(lab));
	close_lab(lab);
}
END_TEST

/* The second of two is found out when it would race. */
START_TEST(refused_schedules_do_not_race)
{
	Lab *lab = open_lab(all_good);
	Job o = job_of(lab);
	claim(lab, lab->first[0], 800, 10);
	claim(lab, "illegal step\n", 801, 10);
	o.ask.finalists = 3;
	o.with.on_trial = NULL;
	TuneResult s = tune(lab, &o);
	ck_assert_int_eq(s.refused, 1);
	ck_assert_int_eq(s.end.reused, 1);
	close_lab(lab);
}
END_TEST

START_TEST(impossible_times_are_measured)
{
	Lab *lab = open_lab(all_good);
	Job o = job_of(lab);
	claim(lab, lab->first[0], 1, 10);
	o.ask.trials = 20;
	TuneResult s = tune(lab, &o);
	ck_assert_int_eq(s.implausible, 1);
	ck_assert(s.end.reused == 0 && s.end.trials == 20);
	ck_assert(s.end.task[0].default_ms == 0.9);
	close_lab(lab);
}
END_TEST

/* The run came from a colleague, who has taken it back since. */
START_TEST(what_another_database_retracts_is_measured)
{
	Lab *lab = open_lab(all_good);
	Job o = job_of(lab);
	Err err = { 0 };
	Db *own = lab->db, *other = open_db(lab, "other.sqlite", DB_WRITE);
	claim(lab, lab->first[0], 800, 10);
	lab->db = other;
	claim(lab, lab->first[0], 800, 10);
	lab->db = own;
	Hash target = target_id(&lab->target);
	const RunRecord *run = db_best(other, lab->part->task[0]->id, target, CODEGEN_EPOCH, lab->arena, &err);
	ck_assert(run != NULL && db_put_retraction(other, run->id, "a clock that lied", &err));
	o.with.more = &other;
	o.with.nmore = 1;
	TuneResult s = tune(lab, &o);
	ck_assert_int_eq(s.end.reused, 0);
	ck_assert(s.end.task[0].default_ms == 0.9);
	db_close(other);
	close_lab(lab);
}
END_TEST

/* What was recorded as wrong beyond the tolerance, and as ok all the same, is no best time. */
START_TEST(unverified_times_win_nothing)
{
	Lab *lab = open_lab(all_good);
	Job o = job_of(lab);
	claim(lab, lab->first[0], 800, 2000000);
	TuneResult s = tune(lab, &o);
	ck_assert(s.end.reused == 1 && s.end.task[0].best_ms == best_recorded_ms(lab));
	close_lab(lab);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("tuner_records");
	tcase_add_test(tc, refused_schedules_win_nothing);
	tcase_add_test(tc, refused_schedules_do_not_race);
	tcase_add_test(tc, impossible_times_are_measured);
	tcase_add_test(tc, what_another_database_retracts_is_measured);
	tcase_add_test(tc, unverified_times_win_nothing);
	return run_suite("tuner_records", tc);
}
