/* Inside the room: the cost model of a call, with the learned one that lies beside its databases. */
#ifndef API_LEARNED_MODEL_H
#define API_LEARNED_MODEL_H

#include "api/session.h"
#include "compile/untuned.h"
#include "cost_model/cost_model.h"

/* Whether a learned model lies beside a database or among the shipped logs, of use or not. */
bool session_has_model(const DlcSession *s, DlcDatabase *const *database, int n, const Target *t, Arena *a);
/* The cost model that is named, opened; one that reads a file finds that of the first database. Tells its note. */
bool session_cost(DlcSession *s, const char *name, DlcDatabase *const *database, int n, const Target *t, Cost *out,
	Arena *a, Err *err);
/*
 * The model that chooses schedules of Tasks without records; NULL: there is none, or `name` says that there is to be
 * none. It is that of `name`, else the first one beside a database, else that of the shipped logs. A model that is no
 * use is named in a note, and the next one is taken.
 */
Untuned *session_untuned(
	DlcSession *s, const char *name, DlcDatabase *const *database, int n, const Target *t, Arena *a);
/* Keeps what it chose. NULL is allowed. */
void session_untuned_end(DlcSession *s, Untuned *u);
/*
 * Keeps the predictor rows of what a session of tuning ran, so that training on its records need not replay them. A
 * schedule takes half a millisecond, divided by the processors. What goes wrong is a note.
 */
void session_keep_rows(DlcSession *s, Db *db, TargetKind kind, Hash session);

#endif
