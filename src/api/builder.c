/* See builder.h. */
#include "api/builder.h"

#include "api/session.h"
#include "measure/builder_child.h"
#include "runtime/host.h"

#include <unistd.h>

enum { MEMORY_PERCENT = 50 /* a candidate that unrolls without end is an error of its own */ };

bool builder_serve(const DlcTarget *target, Err *err)
{
	DlcSession *s;
	Target t;
	host_limit_memory(MEMORY_PERCENT);
	if (dlc_session_open_user(NULL, &s, failure_of(err)) != DLC_FAULT_NONE)
		return false;
	bool ok = session_target(s, target, false, &t, err);
	if (ok && measure_builder(STDIN_FILENO, STDOUT_FILENO, &t) != 0)
		ok = fail(err, ERR_INPUT, "standard input", "holds no request to build something");
	dlc_session_close(s);
	return ok;
}
