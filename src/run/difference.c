/* See difference.h. Elements are compared with the tolerances of --rtol and --atol, as NumPy's allclose does. */
#include "run/difference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/feed.h"
#include "run/print_json.h"
#include "runtime/element.h"
#include "runtime/model.h"
#include "runtime/tensor.h"

void difference_read_as(Array *a, DlcDataType wanted)
{
	if (wanted.code == TYPE_BFLOAT && a->dtype.code == TYPE_UINT && a->dtype.bits == wanted.bits)
		a->dtype = wanted;
}

void difference_add(Difference *d, const DlcTensor *got, Array *want, const char *name, const RunOptions *o)
{
	difference_read_as(want, got->dtype);
	DlcTensor w = array_tensor(want);
	bool same = w.ndim == got->ndim && w.dtype.code == got->dtype.code && w.dtype.bits == got->dtype.bits;
	for (int k = 0; same && k < w.ndim; k++)
		same = w.shape[k] == got->shape[k];
	if (!same) {
		char a[TENSOR_TEXT], b[TENSOR_TEXT];
		snprintf(d->detail, sizeof d->detail, "output %.60s is %s instead of %s", name, tensor_print(got, a),
			tensor_print(&w, b));
		d->outside++;
		return;
	}
	int64_t n = tensor_count(got);
	Compared c = element_compare(got->dtype, got->data, want->data, n, o->rtol, o->atol);
	d->n += n;
	d->max_error = c.max_error > d->max_error ? c.max_error : d->max_error;
	d->max_want = c.max_want > d->max_want ? c.max_want : d->max_want;
	char x[ELEMENT_TEXT], y[ELEMENT_TEXT];
	if (c.nout > 0 && d->outside == 0)
		snprintf(d->detail, sizeof d->detail,
			"output %.60s: %lld of %lld outside the tolerance, %lld not finite; element %lld is %s instead of %s", name,
			(long long)c.nout, (long long)n, (long long)c.nbad, (long long)c.worst,
			element_print(got->dtype, got->data, c.worst, x), element_print(got->dtype, want->data, c.worst, y));
	d->outside += c.nout;
}

void difference_print(const Difference *d, bool json)
{
	bool ok = d->outside == 0;
	if (json) {
		printf("{\"%s\":", d->what);
		json_text(stdout, d->name);
		printf(",\"ok\":%s,\"elements\":%lld,\"outside\":%lld", ok ? "true" : "false", (long long)d->n,
			(long long)d->outside);
		json_number(stdout, "max_error", d->max_error);
		json_number(stdout, "max_want", d->max_want);
		printf("}\n");
	} else if (ok) {
		printf("%s: ok, largest error %.3g of %.3g\n", d->name, d->max_error, d->max_want);
	} else {
		printf("%s: differs: %s\n", d->name, d->detail);
	}
}

/* Compares output k with an array, which is released. */
static DlcStatus expect_one(
	DlcInstance *i, const DlcModel *m, const RunOptions *o, int k, Array *want, bool *differs, DlcError *err)
{
	DlcTensor got;
	Difference d = { .what = "output", .name = dlc_model_name(m, DLC_OUTPUT, k) };
	DlcStatus s = output_read(i, k, &got, err);
	unsigned char *plain = s == DLC_OK ? malloc((size_t)want->bytes + 1) : NULL;
	if (s == DLC_OK && plain == NULL)
		s = runtime_fail(err, DLC_NO_MEMORY, "there is no memory for %lld bytes", (long long)want->bytes);
	if (s == DLC_OK) {
		array_copy(want, plain);
		Array row = *want;
		row.data = plain;
		difference_add(&d, &got, &row, d.name, o);
		difference_print(&d, o->json);
		*differs |= d.outside > 0;
		free(got.data);
	}
	free(plain);
	array_free(want);
	return s;
}

/* The member of an .npz file with the output's name; each output must have one. */
static DlcStatus expect_member(DlcInstance *i, const DlcModel *m, const RunOptions *o, int index,
	const unsigned char *bytes, size_t size, bool *differs, DlcError *err)
{
	int n;
	const char *name = dlc_model_name(m, DLC_OUTPUT, index);
	DlcStatus s = npz_count(bytes, size, &n, err);
	for (int k = 0; k < n && s == DLC_OK; k++) {
		Array a;
		s = npz_parse(bytes, size, k, &a, err);
		if (s == DLC_OK && strcmp(a.name, name) == 0)
			return expect_one(i, m, o, index, &a, differs, err);
		if (s == DLC_OK)
			array_free(&a);
	}
	return s != DLC_OK ? s : runtime_fail(err, DLC_BAD_ARGUMENT,
		"has no member for output %s; name the output that the file is for, as NAME=FILE", name);
}

DlcStatus expect_outputs(DlcInstance *i, const DlcModel *m, const RunOptions *o, DlcError *err)
{
	bool differs = false;
	for (int k = 0; k < o->expect.n; k++) {
		int index;
		unsigned char *bytes;
		size_t size;
		Array a;
		DlcError why = { 0 };
		const char *path = split_name(m, DLC_OUTPUT, o->expect.at[k], &index);
		if (index == -2)
			return no_such(m, DLC_OUTPUT, o->expect.at[k], err);
		DlcStatus s = array_read_file(path, &bytes, &size, err);
		if (s != DLC_OK)
			return s;
		if (npz_recognise(bytes, size)) {
			int last = index < 0 ? dlc_model_count(m, DLC_OUTPUT) - 1 : index;
			for (int at = index < 0 ? 0 : index; at <= last && s == DLC_OK; at++)
				s = expect_member(i, m, o, at, bytes, size, &differs, &why);
		} else if (index < 0 && dlc_model_count(m, DLC_OUTPUT) != 1) {
			free(bytes);
			return no_such(m, DLC_OUTPUT, "say which output it is, as NAME=FILE", err);
		} else {
			s = npy_parse(bytes, size, &a, &why);
			if (s == DLC_OK)
				s = expect_one(i, m, o, index < 0 ? 0 : index, &a, &differs, &why);
		}
		free(bytes);
		if (s != DLC_OK)
			return runtime_fail(err, s, "%s: %.380s", path, why.text);
	}
	if (differs)
		return runtime_fail(
			err, DLC_BAD_ARGUMENT, "outputs differ from --expect at rtol %g, atol %g", o->rtol, o->atol);
	return DLC_OK;
}
