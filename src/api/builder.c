/* See builder.h. */
#include "api/builder.h"

#include "api/session.h"
#include "measure/builder_child.h"
#include "runtime/host.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* A candidate that unrolls without end is an error of its own before the machine begins to swap. */
static void limit_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__) /* whose shadow is larger than any memory */
	uint64_t bytes = host_memory(NULL, NULL) / 2;
	struct rlimit l;
	if (bytes == 0 || getrlimit(RLIMIT_DATA, &l) != 0)
		return;
	if (l.rlim_max == RLIM_INFINITY || bytes < l.rlim_max)
		l.rlim_cur = (rlim_t)bytes;
	setrlimit(RLIMIT_DATA, &l);
#endif
}

bool builder_serve(const DlcTarget *target, Err *err)
{
	DlcSession *s;
	Target t;
	limit_memory();
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a tuner that is killed leaves no child behind */
	if (dlc_session_open_user(NULL, &s, failure_of(err)) != DLC_FAULT_NONE)
		return false;
	bool ok = session_target(s, target, false, &t, err);
	if (ok && measure_builder(STDIN_FILENO, STDOUT_FILENO, &t) != 0)
		ok = fail(err, ERR_INPUT, "standard input", "holds no request to build something");
	dlc_session_close(s);
	return ok;
}
