/*
 * libFuzzer: a database file from a stranger.  It is refused, or read to its end: checked, exported,
 * asked for runs; and it is as it was afterwards.
 */
#include "fuzz.h"
#include "db/look.h"
#include "db/db.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool look(const char *line, size_t n, void *arg)
{
	(void)arg;
	return line != NULL && n > 0;
}

static bool take(const RunRecord *run, void *arg)
{
	(void)arg;
	return strlen(run->trace) < SIZE_MAX;
}

typedef struct Asked {
	Db *db;
	Arena *arena;
	int left; /* each task costs a few questions */
} Asked;

static bool take_indexed(const DbVerified *run, void *arg)
{
	Asked *x = arg;
	Err err = { 0 };
	must(run->median_ns > 0 && run->epoch >= 0);
	must(db_trace_of(x->db, run->id, run->trace, x->arena, &err) != NULL || err.code != ERR_NONE);
	return true;
}

static bool take_pair(Hash workload, Hash target, void *arg)
{
	(void)workload;
	(void)target;
	(void)arg;
	return true;
}

/* Everything that can be asked of a task that the database says it has. */
static bool ask_task(const DbTask *t, void *arg)
{
	Asked *x = arg;
	DbSet set = { &x->db, 1 };
	DbKey key = { .workload = t->workload, .target = t->target, .epoch = t->epoch, .floor_ns = 10 };
	DbChoice best[4];
	DbNear near[4];
	Err err[8] = { { 0 } };
	Target target = { .vector_bits = 256, .threads = 1 };
	int n, epoch[4];
	int64_t below, all;
	const char *line, *dag;
	must(db_rank(set, &key, best, 4, &n, x->arena, &err[0]) || err[0].code != ERR_NONE);
	must(db_epochs(set, t->workload, t->target, 7, epoch, 4, &n, &err[1]) || err[1].code != ERR_NONE);
	must(db_count_below(set, &key, &below, &err[2]) || err[2].code != ERR_NONE);
	must(db_count_runs(set, &key, &all, &err[5]) || err[5].code != ERR_NONE);
	must(db_each_verified(x->db, t->workload, t->target, take, NULL, &err[3]) || err[3].code != ERR_NONE);
	must(db_each_indexed(x->db, t->workload, t->target, take_indexed, x, &err[6]) || err[6].code != ERR_NONE);
	const Record *r = db_record(x->db, t->workload, &line, x->arena, NULL);
	if (r != NULL && json_str(r->json, "dag", &dag, NULL)) {
		Task task = { .id = t->workload, .text = dag };
		must(db_nearest(set, &task, &target, near, 4, &n, x->arena, &err[4]) || err[4].code != ERR_NONE);
		must(db_elsewhere(set, &task, &target, near, 4, &n, x->arena, &err[7]) || err[7].code != ERR_NONE);
	}
	return --x->left > 0;
}

static bool take_session(const DbSession *s, void *arg)
{
	(void)s;
	(void)arg;
	return true;
}

static void look_around(Db *db, Arena *a)
{
	Asked x = { db, a, 8 };
	RecordName found[4];
	Err err[6] = { { 0 } };
	Hash some = { { 1 } };
	DbStats stats;
	int n;
	must(db_each_task(db, ask_task, &x, &err[0]) || err[0].code != ERR_NONE);
	must(db_each_session(db, take_session, NULL, &err[1]) || err[1].code != ERR_NONE);
	must(db_each_pair(db, take_pair, NULL, &err[5]) || err[5].code != ERR_NONE);
	must(db_stats(db, &stats, &err[2]) || err[2].code != ERR_NONE);
	must(db_find(db, "0", RECORD_KINDS, found, 4, &n, &err[3]) || err[3].code != ERR_NONE);
	must(db_export_task(db, some, look, NULL, &err[4]) || err[4].code != ERR_NONE);
}

static void read_all(Db *db)
{
	Arena *a = arena_new();
	Err err[4] = { { 0 } };
	Hash some = { { 1 } };
	int64_t records;
	must(db_check(db, &records, &err[0]) || err[0].code != ERR_NONE);
	must(db_export(db, look, NULL, &err[1]) || err[1].code != ERR_NONE);
	must(db_each_run(db, some, some, 7, take, NULL, &err[2]) || err[2].code != ERR_NONE);
	db_best(db, some, some, 7, a, &err[3]);
	look_around(db, a);
	arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char path[64];
	Err err = { 0 };
	if (path[0] == 0)
		strcpy(path, "/dev/shm/fuzz_db.XXXXXX");
	int fd = access(path, F_OK) != 0 ? mkstemp(path) : open(path, O_WRONLY | O_TRUNC);
	must(fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0);
	Db *db = db_open(path, DB_READ, &err);
	must((db != NULL) == (err.code == ERR_NONE));
	if (db != NULL)
		read_all(db);
	db_close(db);
	return 0;
}
