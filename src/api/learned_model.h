/* Inside the room: the cost model of a call, with the learned one that lies beside its databases. */
#ifndef API_LEARNED_MODEL_H
#define API_LEARNED_MODEL_H

#include "api/session.h"
#include "cost_model/cost_model.h"

/* The cost model that is named, opened; one that reads a file finds that of the first database. Tells its note. */
bool session_cost(DlcSession *s, const char *name, DlcDatabase *const *database, int n, const Target *t, Cost *out,
	Arena *a, Err *err);

#endif
