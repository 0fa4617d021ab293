/* See precision_error.h. */
#include "cli/precision_error.h"

bool precision_open(const Args *args, DlcSession *s, const char *model, DlcPrecision p, DlcBundle **bundle,
	DlcModel **out, Err *err)
{
	DlcError why = { 0 };
	size_t size;
	*out = NULL;
	*bundle = NULL;
	DlcNetwork *n = network_load_in(args, s, model, p, err);
	if (n != NULL)
		dlc_compile(n, NULL, bundle, failure_of(err));
	dlc_network_close(n);
	if (*bundle == NULL)
		return false;
	const void *bytes = dlc_bundle_bytes(*bundle, &size);
	return dlc_model_open_memory(bytes, size, out, &why) == DLC_OK || fail(err, ERR_DEVICE, model, "%s", why.text);
}

bool precision_error(const Args *args, DlcSession *s, const char *model, PrecisionError *out, Err *err)
{
	DlcPrecision p = (DlcPrecision)args_int(args, "precision", DLC_FP32);
	DlcBundle *bundle[2] = { NULL, NULL };
	DlcModel *m[2] = { NULL, NULL };
	Arena *a = args_arena(args);
	DlcError why = { 0 };
	bool ok = precision_open(args, s, model, p, &bundle[0], &m[0], err) &&
	          precision_open(args, s, model, DLC_FP32, &bundle[1], &m[1], err);
	if (ok) {
		*out = (PrecisionError){ .noutput = dlc_model_count(m[0], DLC_OUTPUT) };
		out->output = arena_array(a, Distance, out->noutput + 1);
		ok = against_random(m[0], m[1], 1, out->output, &out->inputs, &why) == DLC_OK ||
		     fail(err, ERR_INPUT, model, "%s", why.text);
	}
	for (int k = 0; ok && k < out->noutput; k++)
		out->output[k].output = arena_printf(a, "%s", out->output[k].output);
	for (int k = 0; k < 2; k++) {
		dlc_model_close(m[k]);
		dlc_bundle_close(bundle[k]);
	}
	return ok;
}
