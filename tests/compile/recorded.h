/* A run in a database, for tests that compile with records. */
#ifndef TESTS_COMPILE_RECORDED_H
#define TESTS_COMPILE_RECORDED_H

#include "db/db.h"
#include "suite.h"

/* A run of the task that took so long; with its task, target, environment and session. The run's id. */
static inline Hash put_recorded(
	Db *db, const Target *target, const Task *task, const char *trace, int64_t ns, int epoch)
{
	Err err = { 0 };
	RunRecord r = {
		.workload = task->id, .trace = trace, .status = RUN_OK, .median_ns = ns, .samples = 5, .detail = ""
	};
	SessionInfo s = { "test", "none", "t", 1, 1700000000, NULL, 0, 0 };
	ck_assert(db_put_task(db, task, &err) && db_put_target(db, target, &r.target, &err) &&
		  db_put_env(db, epoch, "test", NULL, NULL, &r.env, &err) && db_put_session(db, &s, &r.session, &err));
	ck_assert_msg(db_put_run(db, &r, &err), "%s", err.text);
	return r.id;
}

#endif
