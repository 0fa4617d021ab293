/* dlc builder: the child of dlc tune that compiles candidates; not meant to be typed. */
#include "cli/options.h"
#include "cli/places.h"
#include "measure/measure.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

static bool run_builder(const Args *args, Err *err)
{
	Target t;
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
