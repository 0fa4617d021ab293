/* dlc builder: the child of dlc tune that compiles candidates; not meant to be typed. */
#include "cli/rows.h"
#include "cli/folders.h"
#include "measure/builder.h"

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

static bool run_builder(const Args *args, Err *err)
{
	Target t;
	limit_memory();
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a tuner that is killed leaves no child behind */
	if (!place_target(args, &t, err))
		return false;
	if (measure_builder(STDIN_FILENO, STDOUT_FILENO, &t) != 0)
		return fail(err, ERR_INPUT, "standard input", "is no request to build something");
	return true;
}

static const Option options[] = { OPTION_TARGET, OPTION_THREADS, OPTION_END };

const Verb cmd_builder = {
	.name = "builder",
	.summary = "Compile kernel sets that come as messages on stdin (a child of dlc tune)",
	.options = options,
	.run = run_builder,
};
