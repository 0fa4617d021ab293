/*
 * Chooses among records; docs/records.md has the rules. A schedule (a trace) is judged by its runs in all databases:
 * own runs if there are any, else those of others. Each session gives the median of its best supported runs, and the
 * time of the schedule is the median over sessions. Pure functions of the set of records and of the owner: the order
 * of databases and lines does not matter.
 */
#ifndef DB_RANK_H
#define DB_RANK_H

#include "db/db.h"

/* Databases that are asked as one. */
typedef struct DbSet {
	Db *const *db;
	int n;
} DbSet;

/*
 * Look-ups between these two see the databases as they were at one moment. They take no locks, which are most of the
 * cost of a look-up. May be nested. Nothing is put meanwhile. Hold for a short time only: until the release, records of
 * other programs stay in the write-ahead log.
 */
bool db_hold(DbSet set, Err *err);
void db_release(DbSet set);

typedef enum {
	DB_DECIDED, /* own runs; if the Task has none, those of others */
	DB_OWN,
	DB_HINTS,  /* schedules without own runs, by the runs of others */
	DB_CLAIMS, /* the same, by the fastest session of each, even if other sessions are against it */
	DB_DISPUTED, /* all schedules by all runs that are not retracted, even if sessions are against them */
} DbWhose;

/* Of which runs; those faster than floor_ns (roof_floor_ns of cost_model) are left out. */
typedef struct DbKey {
	Hash workload, target;
	int epoch;
	int64_t floor_ns;
	DbWhose whose;
	bool alone; /* times inside a network are left out */
} DbKey;

/* A schedule that ran and was verified. */
typedef struct DbChoice {
	RunRecord run; /* its fastest run at that stage; the smaller id where two are */
	int64_t ns;    /* the estimate */
	RunStage stage; /* of the runs that the estimate is of: later stages outweigh earlier ones */
	bool own;       /* measured by who asks */
	int runs, sessions, against; /* sessions in which it failed */
} DbChoice;

/* The best schedules, at most `most`, best first; *n of them. Equally good: the smaller id of its run. */
bool db_rank(DbSet set, const DbKey *key, DbChoice *out, int most, int *n, Arena *a, Err *err);

/* The judgement of one schedule; *there: some run of it counts. */
bool db_of_trace(DbSet set, const DbKey *key, const char *trace, DbChoice *out, bool *there, Arena *a, Err *err);

/* The epochs of verified runs other than `epoch`, newest first, at most `most`. */
bool db_epochs(DbSet set, Hash workload, Hash target, int epoch, int *out, int most, int *n, Err *err);
/* How many verified runs of any epoch claim to be faster than floor_ns. */
bool db_count_below(DbSet set, const DbKey *key, int64_t *below, Err *err);
/* The runs of any epoch and status; those that several databases have count several times. */
bool db_count_runs(DbSet set, const DbKey *key, int64_t *runs, Err *err);

/* A run by its id; NULL without an error: none has it. */
const RunRecord *db_run(DbSet set, Hash id, Arena *a, Err *err);
/* Whether any database retracts it; an own run, whether its owner does. */
bool db_retracted(DbSet set, Hash run, bool own, bool *is, Err *err);

/* ---- near ones */

/* The hash of a workload's text without its integers: equal in a family. */
Hash db_family(const char *workload);
/* Sum over a family's integers of |log2| of their ratio; infinite between families. */
double db_distance(const char *a, const char *b);
/*
 * How far a target is from the one of a record: a feature that only one of them has counts 1, another model 8, other
 * threads 4, and 4 for each doubling beyond the first. Below DB_SAME_CORE it is the same core with nearly the same
 * code; infinite where the record is of another kind of targets, or of none.
 */
enum { DB_SAME_CORE = 4 };
double db_target_distance(const Target *t, const Json *record);

/* A workload that has verified runs on a target. */
typedef struct DbNear {
	Hash workload, target;
	double distance, apart; /* of the workloads, of the targets */
} DbNear;

/*
 * The task on other targets of the same type with verified runs: the nearest first, then by id; at most `most`. A
 * database is asked for 64 targets, those with the smallest ids.
 */
bool db_elsewhere(DbSet set, const Task *task, const Target *target, DbNear *out, int most, int *n, Arena *a, Err *err);
/*
 * The same (distance 0), and behind it others of the task's family with verified runs on `target`: the nearest first,
 * then by id; at most `most`. A database is asked for 1000 of the family, those with the smallest ids.
 */
bool db_nearest(DbSet set, const Task *task, const Target *target, DbNear *out, int most, int *n, Arena *a, Err *err);

#endif
