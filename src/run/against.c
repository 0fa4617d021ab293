/* See against.h. */
#include "run/against.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/print_json.h"
#include "runtime/element.h"
#include "runtime/model.h"
#include "runtime/tensor.h"
#include "runtime/timing.h"

/* A model that can be run. */
typedef struct Side {
	const DlcModel *m;
	DlcInstance *i;
	Feed f;
} Side;

double distance_relative(const Distance *d)
{
	return d->bad > 0 ? INFINITY : d->max_error > 0 ? d->max_error / d->max_want : 0;
}

static bool same_tensors(const DlcModel *a, const DlcModel *b, DlcRole role)
{
	DlcTensor x, y;
	bool same = dlc_model_count(a, role) == dlc_model_count(b, role);
	for (int k = 0; same && k < dlc_model_count(a, role); k++) {
		same = dlc_model_tensor(a, role, k, &x) == DLC_OK && dlc_model_tensor(b, role, k, &y) == DLC_OK &&
		       x.ndim == y.ndim && x.dtype.code == y.dtype.code && x.dtype.bits == y.dtype.bits &&
		       memcmp(x.shape, y.shape, sizeof *x.shape * (size_t)x.ndim) == 0 &&
		       strcmp(dlc_model_name(a, role, k), dlc_model_name(b, role, k)) == 0;
	}
	return same;
}

static DlcStatus open_side(Side *s, const DlcModel *m, int threads, DlcError *err)
{
	*s = (Side){ .m = m };
	DlcStatus status = dlc_instance_open(m, threads, &s->i, err);
	if (status == DLC_OK && !feed_init(&s->f, m))
		status = runtime_fail(err, DLC_NO_MEMORY, "no memory");
	return status;
}

static void close_side(Side *s)
{
	feed_free(&s->f);
	dlc_instance_close(s->i);
}

static DlcStatus open_sides(Side s[2], const DlcModel *m, const DlcModel *want, int threads, DlcError *err)
{
	s[1] = (Side){ 0 };
	if (!same_tensors(m, want, DLC_INPUT) || !same_tensors(m, want, DLC_OUTPUT))
		return runtime_fail(err, DLC_BAD_ARGUMENT,
			"the inputs or outputs of the two models differ: compile both from one network, with one shape");
	DlcStatus status = open_side(&s[0], m, threads, err);
	return status == DLC_OK ? open_side(&s[1], want, 0, err) : status;
}

static DlcStatus add_output(const Side s[2], int k, Distance *d, DlcError *err)
{
	DlcTensor got = { 0 }, want = { 0 };
	DlcStatus status = output_read(s[0].i, k, &got, err);
	if (status == DLC_OK)
		status = output_read(s[1].i, k, &want, err);
	if (status == DLC_OK && element_known(got.dtype)) {
		Compared c = element_compare(got.dtype, got.data, want.data, tensor_count(&got), 0, 0);
		d->max_error = c.max_error > d->max_error ? c.max_error : d->max_error;
		d->max_want = c.max_want > d->max_want ? c.max_want : d->max_want;
		d->bad += c.nbad;
	}
	free(got.data);
	free(want.data);
	return status;
}

/* Both have their inputs. */
static DlcStatus run_sides(const Side s[2], Distance *d, DlcError *err)
{
	DlcStatus status = DLC_OK;
	for (int k = 0; k < 2 && status == DLC_OK; k++)
		status = dlc_instance_run(s[k].i, err);
	for (int k = 0; k < dlc_model_count(s[0].m, DLC_OUTPUT) && status == DLC_OK; k++) {
		d[k].output = dlc_model_name(s[0].m, DLC_OUTPUT, k);
		status = add_output(s, k, &d[k], err);
	}
	return status;
}

static DlcStatus fill_sides(const Side s[2], uint64_t seed, DlcError *err)
{
	DlcStatus status = feed_random(&s[0].f, s[0].i, s[0].m, seed, err);
	return status == DLC_OK ? feed_random(&s[1].f, s[1].i, s[1].m, seed, err) : status;
}

static DlcStatus run_random(const Side s[2], uint64_t seed, Distance *d, int *inputs, DlcError *err)
{
	uint64_t start = timing_wall_ns();
	DlcStatus status = DLC_OK;
	*inputs = 0;
	while (status == DLC_OK && *inputs < AGAINST_INPUTS &&
		(*inputs == 0 || timing_wall_ns() - start < (uint64_t)1000000000 * AGAINST_SECONDS)) {
		status = fill_sides(s, seed + (uint64_t)*inputs, err);
		if (status == DLC_OK)
			status = run_sides(s, d, err);
		++*inputs;
	}
	return status;
}

DlcStatus against_random(
	const DlcModel *m, const DlcModel *want, uint64_t seed, Distance *d, int *inputs, DlcError *err)
{
	Side s[2] = { 0 };
	DlcStatus status = open_sides(s, m, want, 0, err);
	if (status == DLC_OK)
		status = run_random(s, seed, d, inputs, err);
	close_side(&s[0]);
	close_side(&s[1]);
	return status;
}

static void print_distance(const Distance *d, const char *against, int inputs, bool json)
{
	char shown[200];
	if (json) {
		printf("{\"output\":");
		json_text(stdout, d->output);
		printf(",\"against\":");
		json_text(stdout, against);
		printf(",\"inputs\":%d,\"not_finite\":%lld", inputs, (long long)d->bad);
		json_number(stdout, "max_error", d->max_error);
		json_number(stdout, "max_value", d->max_want);
		json_number(stdout, "relative", distance_relative(d));
		printf("}\n");
		return;
	}
	printf("%s: largest error %.3g of %.3g (%.2g %%) over %d input%s", runtime_shown(shown, sizeof shown, d->output),
		d->max_error, d->max_want, 100 * distance_relative(d), inputs, inputs == 1 ? "" : "s");
	if (d->bad > 0)
		printf("; %lld elements are not finite in one of the two", (long long)d->bad);
	printf("\n");
}

/* Inputs without an --input get the same random values in both. */
static DlcStatus run_given(Side s[2], const RunOptions *o, Distance *d, DlcError *err)
{
	DlcStatus status = DLC_OK;
	for (int k = 0; k < 2 && status == DLC_OK; k++)
		status = feed_options(&s[k].f, s[k].i, s[k].m, o, err);
	if (status == DLC_OK)
		status = fill_sides(s, (uint64_t)o->seed, err);
	return status == DLC_OK ? run_sides(s, d, err) : status;
}

DlcStatus against_options(const DlcModel *m, const RunOptions *o, const RunHost *host, bool hosts, DlcError *err)
{
	Side s[2] = { 0 };
	DlcModel *want = NULL;
	DlcStatus status;
	int inputs = 1, outputs = dlc_model_count(m, DLC_OUTPUT);
	bool fp32 = strcmp(o->against, "fp32") == 0;
	if (fp32 && (!hosts || host->reference == NULL))
		return runtime_fail(err, RUN_USAGE,
			"--against: %s is a bundle, which has no fp32 of its own: name a bundle that was compiled in fp32",
			o->model);
	status = fp32 ? host->reference(host->arg, o->model, &want, err) : dlc_model_open(o->against, &want, err);
	Distance *d = calloc((size_t)outputs + 1, sizeof *d);
	if (status == DLC_OK && d == NULL)
		status = runtime_fail(err, DLC_NO_MEMORY, "no memory");
	if (status == DLC_OK)
		status = open_sides(s, m, want, (int)o->threads, err);
	if (status == DLC_OK)
		status = o->input.n > 0 ? run_given(s, o, d, err) : run_random(s, (uint64_t)o->seed, d, &inputs, err);
	for (int k = 0; k < outputs && status == DLC_OK; k++)
		print_distance(&d[k], o->against, inputs, o->json);
	close_side(&s[0]);
	close_side(&s[1]);
	free(d);
	dlc_model_close(want);
	return status;
}
