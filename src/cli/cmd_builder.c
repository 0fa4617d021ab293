/* dlc builder: the child of dlc tune that compiles candidates; not meant to be typed. */
#include "api/builder.h"
#include "cli/operands.h"

static bool run_builder(const Args *args, Err *err)
{
	DlcTarget target = target_of(args);
	return builder_serve(&target, err);
}

static const Option options[] = { OPTION_TARGET, OPTION_DEVICE, OPTION_THREADS, OPTION_END };

const Verb cmd_builder = {
	.name = "builder",
	.summary = "Compile kernel sets that come as messages on stdin (a child of dlc tune)",
	.options = options,
	.run = run_builder,
};
