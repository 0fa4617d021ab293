/*
 * See run/test_data.h.  A tensor of the data belongs to the input of its name.  If the model has no such input, the
 * number of the tensor's file counts.  If the model has fewer inputs than that, the tensor was bound as a constant when
 * the model was compiled.
 */
#include "run/test_data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/model.h"
#include "run/difference.h"
#include "runtime/tensor.h"

enum { SETS = 10000, FILES = 4096, PATH_BYTES = 4096 };

static DlcStatus read_pb(const char *path, unsigned char **bytes, Array *a, DlcError *err)
{
	size_t size;
	DlcStatus s = array_read_file(path, bytes, &size, err);
	if (s != DLC_OK)
		return s;
	DlcError why = { 0 };
	s = tensor_pb_parse(*bytes, size, a, &why);
	if (s == DLC_OK)
		return s;
	free(*bytes);
	return runtime_fail(err, s, "%s: %.380s", path, why.text);
}

static int count_files(const char *folder, const char *role)
{
	char path[PATH_BYTES];
	struct stat st;
	int n = 0;
	for (; n < FILES; n++) {
		snprintf(path, sizeof path, "%s/%s_%d.pb", folder, role, n);
		if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
			break;
	}
	return n;
}

/* The tensor of the model that file number k, which holds a, belongs to; -1: none. */
static int owner(const DlcModel *m, DlcRole role, const Array *a, int k, int files)
{
	int by_name = a->name[0] != 0 ? dlc_model_find(m, role, a->name) : -1;
	if (by_name >= 0)
		return by_name;
	return files == dlc_model_count(m, role) ? k : -1;
}

static DlcStatus load_inputs(
	Feed *f, DlcInstance *i, const DlcModel *m, const char *folder, DlcError *err)
{
	char path[PATH_BYTES];
	int files = count_files(folder, "input"), fed = 0;
	for (int k = 0; k < files; k++) {
		unsigned char *bytes = NULL;
		Array a;
		snprintf(path, sizeof path, "%s/input_%d.pb", folder, k);
		DlcStatus s = read_pb(path, &bytes, &a, err);
		if (s != DLC_OK)
			return s;
		int at = owner(m, DLC_INPUT, &a, k, files);
		DlcError why = { 0 };
		DlcTensor own;
		if (at >= 0 && dlc_model_tensor(m, DLC_INPUT, at, &own) == DLC_OK)
			difference_read_as(&a, own.dtype);
		if (at >= 0) {
			s = feed_array(f, i, at, &a, &why);
			fed++;
		}
		array_free(&a);
		free(bytes);
		if (s != DLC_OK)
			return runtime_fail(err, s, "%s: %.380s", path, why.text);
	}
	if (fed == f->n)
		return DLC_OK;
	return runtime_fail(
		err, DLC_BAD_ARGUMENT, "%s has %d of the model's %d inputs", folder, fed, f->n);
}

static DlcStatus compare_outputs(Difference *set, DlcInstance *i, const DlcModel *m, const RunOptions *o,
	const char *folder, DlcError *err)
{
	char path[PATH_BYTES];
	int files = count_files(folder, "output");
	if (files == 0)
		return runtime_fail(err, DLC_BAD_ARGUMENT, "%s has no output_0.pb", folder);
	for (int k = 0; k < files; k++) {
		unsigned char *bytes = NULL;
		Array a;
		DlcTensor t;
		snprintf(path, sizeof path, "%s/output_%d.pb", folder, k);
		DlcStatus s = read_pb(path, &bytes, &a, err);
		if (s != DLC_OK)
			return s;
		int at = owner(m, DLC_OUTPUT, &a, k, files);
		if (at < 0)
			s = runtime_fail(
				err, DLC_BAD_ARGUMENT, "%s: the model has no such output", path);
		else
			s = output_read(i, at, &t, err);
		if (s == DLC_OK) {
			difference_add(set, &t, &a, dlc_model_name(m, DLC_OUTPUT, at), o);
			free(t.data);
		}
		array_free(&a);
		free(bytes);
		if (s != DLC_OK)
			return s;
	}
	return DLC_OK;
}

static DlcStatus check_set(Feed *f, DlcInstance *i, const DlcModel *m, const RunOptions *o,
	const char *folder, const char *name, bool *differs, DlcError *err)
{
	Difference set = { .what = "set", .name = name };
	DlcStatus s = load_inputs(f, i, m, folder, err);
	if (s != DLC_OK)
		return s;
	for (int k = 0; k < dlc_model_count(m, DLC_OUTPUT) && s == DLC_OK; k++) {
		DlcTensor t;
		s = output_read(i, k, &t, err);
		if (s != DLC_OK)
			return s;
		memset(t.data, 0xff, (size_t)tensor_bytes(&t)); /* poison */
		s = dlc_instance_write(i, DLC_OUTPUT, k, t.data, (size_t)tensor_bytes(&t), err);
		free(t.data);
	}
	if (s == DLC_OK)
		s = dlc_instance_run(i, err);
	if (s == DLC_OK)
		s = compare_outputs(&set, i, m, o, folder, err);
	if (s != DLC_OK)
		return s;
	difference_print(&set, o->json);
	*differs |= set.outside > 0;
	return DLC_OK;
}

DlcStatus check_folder(
	Feed *f, DlcInstance *i, const DlcModel *m, const RunOptions *o, DlcError *err)
{
	char folder[PATH_BYTES], name[40];
	bool differs = false;
	int n = 0;
	if (o->check_dir == NULL) {
		printf(o->json ? "{\"checksums\":\"ok\"}\n"
			       : "checksums of plan, code and constants: ok\n");
		return DLC_OK;
	}
	for (int k = 0; k < SETS; k++) {
		struct stat st;
		snprintf(name, sizeof name, "test_data_set_%d", k);
		int len = snprintf(folder, sizeof folder - 32, "%s/%s", o->check_dir, name);
		if (len >= (int)sizeof folder - 32)
			return runtime_fail(err, RUN_USAGE, "--check: the path is too long");
		if (stat(folder, &st) != 0)
			break;
		DlcStatus s = check_set(f, i, m, o, folder, name, &differs, err);
		if (s != DLC_OK)
			return s;
		n++;
	}
	if (n == 0 && count_files(o->check_dir, "output") > 0) {
		DlcStatus s = check_set(f, i, m, o, o->check_dir, o->check_dir, &differs, err);
		if (s != DLC_OK)
			return s;
		n++;
	}
	struct stat st;
	if (stat(o->check_dir, &st) != 0)
		return runtime_fail(err, DLC_BAD_FILE, "%s: %s", o->check_dir, strerror(errno));
	if (n == 0)
		return runtime_fail(err, DLC_BAD_ARGUMENT,
			"%s has no test_data_set_0 and no output_0.pb", o->check_dir);
	if (differs)
		return runtime_fail(err, DLC_BAD_ARGUMENT,
			"outputs differ from %s at rtol %g, atol %g", o->check_dir, o->rtol,
			o->atol);
	return DLC_OK;
}
