/* dlc show: a model at any stage of its way, as text (or as an ONNX file) on stdout. */
#include "base/file.h"
#include "cli/operands.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int keep(const char *bytes, size_t n, void *arg)
{
	text_put(arg, bytes, n);
	return 0;
}

static bool write_out(const Args *args, Text *out, bool binary, Err *err)
{
	const char *path = args_text(args, "output", "-");
	if (strcmp(path, "-") != 0)
		return file_write(path, text_str(out), out->n, err);
	if (binary && isatty(STDOUT_FILENO))
		return fail(err, ERR_USAGE, "--output", "an ONNX file is binary: write it with -o FILE.onnx");
	if (!binary && out->n > 0) /* a file keeps what the model says */
		text_make_printable(out->at, "\n\t");
	fwrite(text_str(out), 1, binary ? out->n : strlen(text_str(out)), stdout); /* main checks that it got there */
	return true;
}

static bool show(const Args *args, DlcSession *s, const DlcShowOptions *o, Err *err)
{
	Text out = { .arena = args_arena(args) };
	DlcNetwork *n = network_load(args, s, args_operand(args, 0), err);
	bool ok = n != NULL && dlc_network_show(n, o, keep, &out, failure_of(err)) == DLC_FAULT_NONE &&
		write_out(args, &out, strcmp(o->stage, "onnx") == 0, err);
	dlc_network_close(n);
	return ok;
}

static bool run_show(const Args *args, Err *err)
{
	Databases d = { 0 };
	const char *path = args_text(args, "output", "-");
	DlcShowOptions o = { .target = target_of(args),
		.stage = args_text(args, "stage", "graph"),
		.task = args_text(args, "task", NULL),
		.schedule_name = args_text(args, "apply", NULL),
		.json = args_given(args, "json"),
		.imported = args_given(args, "imported"),
		.unscheduled = args_given(args, "unscheduled") };
	DlcSession *s = session_open(err);
	bool ok = s != NULL && (strcmp(path, "-") == 0 || output_is_apart(args, s, path, err));
	if (ok && o.schedule_name != NULL)
		ok = (o.schedule = text_load(args_arena(args), &o.schedule_name, err)) != NULL;
	ok = ok && target_settle(args, s, &o.target, err) &&
		dlc_show_check(s, &o, failure_of(err)) == DLC_FAULT_NONE && databases_open(args, s, false, &d, err);
	o.database = d.at;
	o.ndatabase = d.n;
	ok = ok && show(args, s, &o, err);
	databases_close(&d);
	dlc_session_close(s);
	return ok;
}

static const Option options[] = {
	{ .name = "stage",
		.kind = OPT_TEXT,
		.arg = "STAGE",
		.help = "graph (default), onnx, tasks, space, ir, trace, plan, resources, or a form of the code: "
	            "lowered, llvm, asm; for CUDA lowered, llvm, ptx; for OpenCL lowered, opencl" },
	{ .name = "task", .kind = OPT_TEXT, .arg = "ID", .help = "only tasks whose id begins so" },
	{ .name = "apply", .field = "schedule", .kind = OPT_TEXT, .arg = "FILE.trace",
		.help = "schedule with this trace" },
	{ .name = "imported", .kind = OPT_FLAG, .help = "graph: as imported, before any pass" },
	{ .name = "unscheduled", .kind = OPT_FLAG, .help = "the naive loops as they are" },
	{ .name = "output", .letter = 'o', .kind = OPT_TEXT, .arg = "FILE", .help = "default stdout" },
	OPTION_TARGET,
	OPTION_DEVICE,
	OPTION_THREADS,
	OPTION_DB,
	OPTIONS_MODEL,
	OPTION_JSON,
	OPTION_END,
};

const Verb cmd_show = {
	.name = "show",
	.summary = "Show a model at a stage of its way: graph, loops, code, plan; or write it as ONNX",
	.operands = "MODEL",
	.least = 1,
	.most = 1,
	.options = options,
	.notes = NOTE_MODEL,
	.run = run_show,
};
