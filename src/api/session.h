/*
 * Inside the room: what a session has, and how a public function begins and ends. Public functions take a DlcFailure
 * and guard their work (base/guard.h); what they call takes an Err, as everywhere.
 */
#ifndef API_SESSION_H
#define API_SESSION_H

#include "api/call_check.h"
#include "api/failure.h"
#include "api/folders.h"
#include "base/guard.h"
#include "codegen/code_cache.h"
#include "measure/measure.h"
#include "db/db.h"
#include "graph/precision.h"

#include <stdatomic.h>

/*
 * A public call under way. A callback may call too, so a session's calls nest; an inner one is refused what an outer
 * one holds.
 */
typedef struct Call {
	Guard guard;
	struct Call *outer;
	Arena **view;     /* that it fills; NULL: none */
	Measure *measure; /* its children; NULL: none. Abandoned where memory runs out */
	bool stopped;     /* a callback has ended it: STOP_CALLBACK is its */
} Call;

/* Who has said that the calls under way end: dlc_session_cancel, or a callback, which does so for its call alone. */
enum { STOP_CANCEL = 1, STOP_CALLBACK = 2 };

struct DlcSession {
	Arena *arena;
	Folders folders;
	Arena *info, *target_info; /* views: what dlc_session_info and dlc_target_info gave last; NULL: nothing */
	const char *command; /* for the logs that are written; NULL: not said */
	void (*note)(const char *sentence, void *arg);
	void *note_arg;
	atomic_int stop; /* STOP_ bits; 0: go on */
	Call *call; /* the innermost under way; NULL: none */
};

/* A view's arena holds what the last call gave. */
struct DlcNetwork {
	DlcSession *session;
	Arena *arena, *view;
	const char *name;
	const Dag *imported; /* as the model says */
	const Dag *dag;      /* in the precision that was asked for; passes change a copy */
	Precision precision;
};

struct DlcDatabase {
	DlcSession *session;
	Arena *arena, *view;
	const char *path;
	Db *db;
};

/*
 * A public function's body: `work` gives a bool and fills `err` below a guard, unless the session is cancelled.
 * `session` may be NULL.
 */
#define API_CALL(session, why, work)                                          \
	do {                                                                  \
		Call call_;                                                   \
		Err own_, *const err = (why) != NULL ? err_of(why) : &own_;   \
		*err = (Err){ 0 };                                            \
		if (!session_begin((session), &call_, err))                   \
			return DLC_FAULT_INTERRUPTED;                         \
		if (GUARD_ENTER(&call_.guard))                                \
			return session_out_of_memory((session), err);         \
		bool ok_ = (work);                                            \
		guard_leave(&call_.guard);                                    \
		return session_end((session), ok_, err);                      \
	} while (0)

/* `c` is the session's innermost call until one of the next two; s may be NULL. False: the session is cancelled. */
bool session_begin(DlcSession *s, Call *c, Err *err);
DlcFault session_out_of_memory(DlcSession *s, Err *err);
DlcFault session_end(DlcSession *s, bool ok, Err *err);
void session_stop_call(DlcSession *s); /* a callback ends the innermost call */
/* Tells the user; names of strangers are made printable. `session` is a DlcSession. */
void session_note(const char *sentence, void *session);
/* An empty arena in place of the last one. NULL: an outer call fills it; err names the argument. */
Arena *session_view(DlcSession *s, Arena **view, const char *argument, Err *err);

/* The target that is named; runs_here: refused unless its code runs on this machine. t may be NULL: host. */
bool session_target(const DlcSession *s, const DlcTarget *t, bool runs_here, Target *out, Err *err);
/* The same for a target to measure here: refused if the device's times do not count for the target. */
bool session_measured_target(const DlcSession *s, const DlcTarget *t, Target *out, Err *err);
/* Refuses a precision that gives the same results as fp32 on the target. */
bool session_takes_precision(const DlcNetwork *n, const Target *t, Err *err);
const CodeCache *session_cache(const DlcSession *s, Arena *a); /* NULL: nothing is kept, which is no error */
/* Whether the children's programs are in the session's folder. */
bool session_has_programs(const DlcSession *s, const Target *t, Err *err);

typedef struct ChildOptions {
	const DlcTarget *name;
	const Target *target;
	const int *device; /* that measure at once; none: the name's */
	int ndevice;
	int jobs, run_ms;
	void (*tick)(void *arg);
	void *tick_arg;
} ChildOptions;
/* Builders and a runner for the call under way, until session_close_children. An outer call's are a failure. */
bool session_open_children(DlcSession *s, const ChildOptions *o, Err *err);
void session_close_children(DlcSession *s);

/* The databases as the rooms below take them. */
Db *const *session_databases(DlcDatabase *const *database, int n, Arena *a);
/* The one record of the kind (RECORD_KINDS: any) whose id begins so. ERR_MISSING: none, or several, which it names. */
bool session_find_record(Db *db, const char *prefix, RecordKind kind, RecordName *out, Err *err);
/* A public view of a Task; texts are the Task's. */
DlcTask session_task(const Task *t, int weight, bool alternative);

#endif
