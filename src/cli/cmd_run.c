/*
 * dlc run: dlc-run for models that are no bundles.  The model is compiled in memory and run from
 * there; dlc-run hands over to this where it is given a model.  With --check=DIR, inputs that fix a
 * shape or an axis are bound from the test data.  --against=fp32 compiles it once more, in fp32 for this CPU.
 */
#include "cli/precision_error.h"
#include "run/option.h"
#include "run/program.h"

#include <stdio.h>
#include <unistd.h>

typedef struct Host {
	const Args *args;
	DlcSession *session;
	DlcBundle *bundle, *reference;
	Err *err;
} Host;

static DlcBundle *compile(const Host *h, const char *path)
{
	char text[DLC_TARGET_TEXT];
	DlcCompileOptions o = { .target = target_of(h->args) };
	DlcBundle *b = NULL;
	DlcNetwork *n = NULL;
	Databases d = { 0 };
	if (dlc_target_text(h->session, &o.target, 1, text, failure_of(h->err)) == DLC_FAULT_NONE &&
		databases_open(h->args, h->session, false, &d, h->err))
		n = network_load(h->args, h->session, path, h->err);
	o.database = d.at;
	o.ndatabase = d.n;
	if (n != NULL)
		dlc_compile(n, &o, &b, failure_of(h->err));
	dlc_network_close(n);
	databases_close(&d);
	return b;
}

static DlcStatus open_model(void *arg, const char *path, DlcModel **out, DlcError *why)
{
	Host *h = arg;
	size_t size;
	*out = NULL;
	h->session = session_open(h->err);
	h->bundle = h->session != NULL ? compile(h, path) : NULL;
	if (h->bundle == NULL)
		return RUN_REPORTED;
	const void *bytes = dlc_bundle_bytes(h->bundle, &size);
	return dlc_model_open_memory_on((int)args_int(h->args, "device", 0), bytes, size, out, why);
}

static DlcStatus open_reference(void *arg, const char *path, DlcModel **out, DlcError *why)
{
	Host *h = arg;
	(void)why;
	return precision_open(h->args, h->session, path, DLC_FP32, &h->reference, out, h->err) ? DLC_OK : RUN_REPORTED;
}

static bool run_run(const Args *args, Err *err)
{
	Host h = { .args = args, .err = err };
	RunHost host = { "dlc run", open_model, open_reference, &h };
	int code = run_main(args, &host);
	dlc_bundle_close(h.bundle);
	dlc_bundle_close(h.reference);
	dlc_session_close(h.session);
	if (code < 0)
		return false;
	fflush(stdout);
	if (code != 0)
		_exit(code); /* it has said why */
	return true;
}

const Verb cmd_run = {
	.name = "run",
	.summary = "Compile a model in memory and run it, as dlc-run runs a bundle",
	.operands = "MODEL",
	.least = 1,
	.most = 1,
	.options = run_option,
	.run = run_run,
};
