/* dlc info: this machine, the targets, the zoo, what was built in, where files are looked for. */
#include "api/info.h"
#include "cli/rows.h"

#include <stdio.h>

static bool run_info(const Args *args, Err *err)
{
	Text out = { .arena = args_arena(args) };
	if (!info_text(&out, args_given(args, "json"), args_given(args, "probe"), err))
		return false;
	fputs(text_str(&out), stdout);
	return true;
}

static const Option options[] = {
	{ .name = "probe", .kind = OPT_FLAG, .help = "measure what a core does in a cycle; takes about half a second" },
	OPTION_JSON,
	OPTION_END,
};

const Verb cmd_info = {
	.name = "info",
	.summary = "Show this machine, the targets, the zoo, what is built in and where files are looked for",
	.options = options,
	.run = run_info,
};
