/* See run/feed.h: files -> the inputs of an instance; inputs without a file are random. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/element.h"
#include "runtime/model.h"
#include "run/feed.h"
#include "runtime/tensor.h"

bool feed_init(Feed *f, const DlcModel *m)
{
	f->n = dlc_model_count(m, DLC_INPUT);
	f->owned = calloc((size_t)f->n + 1, sizeof *f->owned);
	return f->owned != NULL;
}

void feed_free(Feed *f)
{
	for (int i = 0; i < f->n && f->owned != NULL; i++)
		free(f->owned[i]);
	free(f->owned);
}

DlcStatus feed_random(
	const Feed *f, DlcInstance *i, const DlcModel *m, uint64_t seed, DlcError *err)
{
	for (int k = 0; k < dlc_model_count(m, DLC_INPUT); k++) {
		DlcTensor t;
		if (f->owned[k] != NULL)
			continue;
		DlcStatus s = dlc_instance_tensor(i, DLC_INPUT, k, &t, err);
		if (s != DLC_OK)
			return s;
		const char *name = dlc_model_name(m, DLC_INPUT, k);
		char text[TENSOR_TEXT];
		if (!element_known(t.dtype))
			return runtime_fail(err, DLC_BAD_ARGUMENT,
				"input %s is %s, a type without random numbers: give it with --input", name,
				tensor_print(&t, text));
		size_t bytes = (size_t)tensor_bytes(&t);
		void *data = malloc(bytes + 1);
		if (data == NULL)
			return runtime_fail(err, DLC_NO_MEMORY, "there is no memory for input %s of %zu bytes", name, bytes);
		/* Whole numbers may be indices: 0 and 1 are allowed almost everywhere. */
		element_fill(t.dtype, data, tensor_count(&t), seed ^ bundle_sum(name, strlen(name)),
			type_is_real(t.dtype) ? -1 : 0, 1);
		s = dlc_instance_write(i, DLC_INPUT, k, data, bytes, err);
		free(data);
		if (s != DLC_OK)
			return s;
	}
	return DLC_OK;
}

DlcStatus feed_array(Feed *f, DlcInstance *i, int index, const Array *a, DlcError *err)
{
	Array copy = *a;
	size_t room = ((size_t)a->bytes + BUNDLE_BUFFER) / BUNDLE_BUFFER * BUNDLE_BUFFER;
	void *p = aligned_alloc(BUNDLE_BUFFER, room);
	if (p == NULL)
		return runtime_fail(err, DLC_NO_MEMORY, "there is no memory for an input of %lld bytes",
			(long long)a->bytes);
	array_copy(a, p);
	copy.data = p;
	DlcTensor t = array_tensor(&copy);
	DlcStatus s = dlc_instance_bind(i, DLC_INPUT, index, &t, err);
	if (s != DLC_OK) {
		free(p);
		return s;
	}
	free(f->owned[index]);
	f->owned[index] = p;
	return DLC_OK;
}

int feed_forgotten(const Feed *f, DlcInstance *i, const DlcModel *m, char *out, size_t size)
{
	enum { MORE = 24 }; /* room for " and N more" */
	size_t at = 0;
	int n = 0, named = 0;
	out[0] = 0;
	for (int k = 0; k < f->n; k++) {
		char text[TENSOR_TEXT], one[2 * TENSOR_TEXT + 64];
		DlcTensor t;
		if (f->owned[k] != NULL || dlc_instance_tensor(i, DLC_INPUT, k, &t, NULL) != DLC_OK)
			continue;
		int len = snprintf(one, sizeof one, "%s%.60s %s", n > 0 ? ", " : "",
			dlc_model_name(m, DLC_INPUT, k), tensor_print(&t, text));
		if (named == n++ && at + (size_t)len + MORE < size) {
			memcpy(out + at, one, (size_t)len + 1);
			at += (size_t)len;
			named++;
		}
	}
	if (named < n)
		snprintf(out + at, size - at, " and %d more", n - named);
	return n;
}

DlcStatus no_such(const DlcModel *m, DlcRole role, const char *given, DlcError *err)
{
	char names[300] = "";
	size_t at = 0;
	for (int k = 0; k < dlc_model_count(m, role) && at < sizeof names; k++)
		at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", k > 0 ? ", " : "",
			dlc_model_name(m, role, k));
	return runtime_fail(err, RUN_USAGE, "%s: the model's %s are %s", given,
		role == DLC_INPUT ? "inputs" : "outputs", at > 0 ? names : "none");
}

const char *split_name(const DlcModel *m, DlcRole role, const char *given, int *index)
{
	char name[512];
	*index = strchr(given, '=') != NULL && access(given, F_OK) != 0 ? -2 : -1;
	for (const char *e = strchr(given, '='); e != NULL; e = strchr(e + 1, '=')) {
		size_t n = (size_t)(e - given);
		if (n >= sizeof name)
			break;
		memcpy(name, given, n);
		name[n] = 0;
		int k = dlc_model_find(m, role, name);
		if (k >= 0) {
			*index = k;
			return e + 1;
		}
	}
	return given;
}

/* An input that --input gives: once. */
static DlcStatus feed_given(
	Feed *f, DlcInstance *i, const DlcModel *m, int index, const Array *a, DlcError *err)
{
	if (f->owned[index] != NULL)
		return runtime_fail(err, RUN_USAGE, "input %s is given twice",
			dlc_model_name(m, DLC_INPUT, index));
	return feed_array(f, i, index, a, err);
}

/* All members of an .npz by their names, or one for input `index`. */
static DlcStatus feed_npz(Feed *f, DlcInstance *i, const DlcModel *m, const unsigned char *bytes,
	size_t size, int index, DlcError *err)
{
	int n = 0, used = 0;
	DlcStatus s = npz_count(bytes, size, &n, err);
	for (int k = 0; k < n && s == DLC_OK; k++) {
		Array a;
		s = npz_parse(bytes, size, k, &a, err);
		if (s != DLC_OK)
			return s;
		int at = dlc_model_find(m, DLC_INPUT, a.name);
		if (index >= 0 && (at == index || n == 1))
			at = index;
		else if (index >= 0)
			at = -1;
		if (at >= 0) {
			s = feed_given(f, i, m, at, &a, err);
			used++;
		}
		array_free(&a);
	}
	if (s == DLC_OK && used == 0 && index >= 0)
		return runtime_fail(err, RUN_USAGE, "none of its %d arrays is called %s", n,
			dlc_model_name(m, DLC_INPUT, index));
	if (s == DLC_OK && used == 0)
		return no_such(m, DLC_INPUT, "no array in it has the name of an input", err);
	return s;
}

static DlcStatus feed_file(
	Feed *f, DlcInstance *i, const DlcModel *m, const char *path, int index, DlcError *err)
{
	unsigned char *bytes;
	size_t size;
	DlcStatus s = array_read_file(path, &bytes, &size, err);
	if (s != DLC_OK)
		return s;
	if (npz_recognise(bytes, size)) {
		s = feed_npz(f, i, m, bytes, size, index, err);
	} else if (index < 0 && f->n != 1) {
		s = no_such(m, DLC_INPUT, "say which input it is, as NAME=FILE", err);
	} else {
		Array a;
		s = npy_parse(bytes, size, &a, err);
		if (s == DLC_OK)
			s = feed_given(f, i, m, index < 0 ? 0 : index, &a, err);
	}
	free(bytes);
	if (s == DLC_OK)
		return s;
	DlcError why = *err;
	return runtime_fail(err, s, "%s: %.380s", path, why.text);
}

DlcStatus feed_options(
	Feed *f, DlcInstance *i, const DlcModel *m, const RunOptions *o, DlcError *err)
{
	DlcStatus s = DLC_OK;
	for (int k = 0; k < o->input.n && s == DLC_OK; k++) {
		int index;
		const char *path = split_name(m, DLC_INPUT, o->input.at[k], &index);
		s = index == -2 ? no_such(m, DLC_INPUT, o->input.at[k], err)
		                : feed_file(f, i, m, path, index, err);
	}
	return s;
}
