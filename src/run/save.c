/*
 * See run/feed.h: the outputs of an instance -> files or the screen.  A file is written under a temporary name beside
 * its own and renamed, so that a full disk leaves no half-written file.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "runtime/element.h"
#include "runtime/model.h"
#include "run/npz.h"
#include "run/print_json.h"
#include "run/feed.h"
#include "runtime/tensor.h"

enum { TOP = 5, PATH_BYTES = 4096 };

static bool is_npz(const char *path)
{
	size_t n = strlen(path);
	return n >= 4 && strcmp(path + n - 4, ".npz") == 0;
}

/* Also where neither is there yet, and where they are spelled in two ways. */
static bool is_same_output(const char *a, const char *b)
{
	char at[2][PATH_BYTES], folder[2][PATH_BYTES];
	const char *name[2];
	if (strcmp(a, b) == 0 || file_is_same(a, b))
		return true;
	for (int i = 0; i < 2; i++) {
		snprintf(at[i], sizeof at[i], "%s", i == 0 ? a : b);
		char *slash = strrchr(at[i], '/');
		name[i] = slash != NULL ? slash + 1 : at[i];
		if (slash != NULL)
			*slash = 0;
		if (realpath(slash == NULL ? "." : slash == at[i] ? "/" : at[i], folder[i]) == NULL)
			return false;
	}
	return strcmp(folder[0], folder[1]) == 0 && strcmp(name[0], name[1]) == 0;
}

/* The file of output k, where it would destroy the model, an input or another output. */
static DlcStatus check_apart(const DlcModel *m, const RunOptions *o, int k, DlcError *err)
{
	int index;
	struct stat st;
	const char *path = split_name(m, DLC_OUTPUT, o->output.at[k], &index);
	bool apart = !file_is_same(path, o->model);
	for (int j = 0; j < o->input.n; j++)
		apart = apart && !file_is_same(path, split_name(m, DLC_INPUT, o->input.at[j], &index));
	if (!apart)
		return runtime_fail(err, RUN_USAGE,
			"%s: is an input of this command, which would be overwritten; name another output", path);
	bool special = strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode));
	for (int j = 0; j < k && !special; j++)
		if (is_same_output(path, split_name(m, DLC_OUTPUT, o->output.at[j], &index)))
			return runtime_fail(err, RUN_USAGE, "%s: is named by two --output; name another file", path);
	return DLC_OK;
}

DlcStatus save_check(const DlcModel *m, const RunOptions *o, DlcError *err)
{
	for (int k = 0; k < o->output.n; k++) {
		int index;
		const char *path = split_name(m, DLC_OUTPUT, o->output.at[k], &index);
		if (index == -2 && strchr(path, '=') != NULL && strchr(path, '/') == NULL)
			return no_such(m, DLC_OUTPUT, o->output.at[k], err);
		if (index < 0 && !is_npz(path) && dlc_model_count(m, DLC_OUTPUT) != 1)
			return no_such(
				m, DLC_OUTPUT, "say which output it gets, as NAME=FILE", err);
		if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO))
			return runtime_fail(
				err, RUN_USAGE, "--output - writes binary, not to a terminal");
		if (strlen(path) > PATH_BYTES - 32)
			return runtime_fail(err, RUN_USAGE, "--output: the path is too long");
		if (check_apart(m, o, k, err) != DLC_OK)
			return RUN_USAGE;
	}
	return DLC_OK;
}

/* A file being written: where to, and under which name until it is complete. */
typedef struct Sink {
	const char *path;
	char target[PATH_BYTES]; /* the file that path names, links followed */
	char temporary[PATH_BYTES + 32];
	FILE *f;
	bool renames;
} Sink;

static DlcStatus sink_fail(Sink *s, DlcError *err)
{
	int code = errno;
	if (s->renames)
		unlink(s->temporary);
	return runtime_fail(err, DLC_SYSTEM, "%s: %s", s->path, strerror(code));
}

static DlcStatus sink_open(Sink *s, const char *path, DlcError *err)
{
	struct stat st;
	bool there = strcmp(path, "-") != 0 && stat(path, &st) == 0;
	*s = (Sink){ .path = path, .renames = false };
	if (strcmp(path, "-") == 0 || (there && !S_ISREG(st.st_mode))) {
		s->f = strcmp(path, "-") == 0 ? stdout : fopen(path, "wb");
	} else {
		struct stat link;
		if (!there && lstat(path, &link) == 0 && S_ISLNK(link.st_mode))
			return runtime_fail(err, DLC_SYSTEM, "%s: is a link to a file that is not there; remove it", path);
		if (!there)
			snprintf(s->target, sizeof s->target, "%s", path);
		else if (realpath(path, s->target) == NULL || access(s->target, W_OK) != 0)
			return sink_fail(s, err); /* a rename would replace what its owner protected */
		snprintf(s->temporary, sizeof s->temporary, "%s.tmp%ld", s->target, (long)getpid());
		int fd = open(s->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		s->renames = fd >= 0;
		bool ready = fd >= 0 && (!there || fchmod(fd, st.st_mode & 07777) == 0);
		s->f = ready ? fdopen(fd, "wb") : NULL;
	}
	return s->f != NULL ? DLC_OK : sink_fail(s, err);
}

DlcStatus output_read(DlcInstance *i, int index, DlcTensor *out, DlcError *err)
{
	DlcStatus s = dlc_instance_tensor(i, DLC_OUTPUT, index, out, err);
	if (s != DLC_OK)
		return s;
	size_t bytes = (size_t)tensor_bytes(out);
	*out = (DlcTensor){ malloc(bytes + 1), { DLC_DEVICE_CPU, 0 }, out->ndim, out->dtype, out->shape, NULL, 0 };
	if (out->data == NULL)
		return runtime_fail(err, DLC_NO_MEMORY, "there is no memory for an output of %zu bytes", bytes);
	s = dlc_instance_read(i, DLC_OUTPUT, index, out->data, bytes, err);
	if (s != DLC_OK)
		free(out->data);
	return s;
}

static void write_npy(FILE *f, const DlcTensor *t)
{
	char header[512];
	fwrite(header, 1, npy_header(t, header), f);
	if (tensor_bytes(t) > 0)
		fwrite(t->data, 1, (size_t)tensor_bytes(t), f);
}

/* Writes the member that `e` describes at e->local; false if it is too large for a zip file. */
static bool write_member(FILE *f, NpzEntry *e, const DlcTensor *t, uint64_t *at)
{
	char header[512];
	unsigned char local[NPZ_HEADER];
	size_t n = npy_header(t, header);
	uint64_t bytes = n + (uint64_t)tensor_bytes(t);
	if (bytes + *at + NPZ_HEADER >= UINT32_MAX)
		return false;
	e->bytes = (uint32_t)bytes;
	e->local = (uint32_t)*at;
	e->crc = npz_crc(npz_crc(0, header, n), t->data, (size_t)tensor_bytes(t));
	size_t nlocal = npz_local(e, local);
	fwrite(local, 1, nlocal, f);
	write_npy(f, t);
	*at += nlocal + bytes;
	return true;
}

static DlcStatus write_npz(
	FILE *f, DlcInstance *i, const DlcModel *m, int first, int last, DlcError *err)
{
	unsigned char piece[NPZ_HEADER];
	uint64_t at = 0, central;
	NpzEntry *entry = calloc((size_t)(last - first) + 1, sizeof *entry);
	if (entry == NULL)
		return runtime_fail(err, DLC_NO_MEMORY, "no memory");
	DlcStatus s = DLC_OK;
	for (int k = first; k < last && s == DLC_OK; k++) {
		DlcTensor t;
		snprintf(entry[k - first].name, NPZ_NAME, "%.180s.npy",
			dlc_model_name(m, DLC_OUTPUT, k));
		s = output_read(i, k, &t, err);
		if (s != DLC_OK)
			break;
		if (!write_member(f, &entry[k - first], &t, &at))
			s = runtime_fail(err, DLC_BAD_ARGUMENT, "more than 4 GiB for an .npz file: write .npy files");
		free(t.data);
	}
	central = at;
	for (int k = 0; k < last - first && s == DLC_OK; k++) {
		size_t n = npz_central(&entry[k], piece);
		fwrite(piece, 1, n, f);
		at += n;
	}
	fwrite(piece, 1, npz_end(last - first, (uint32_t)central, (uint32_t)(at - central), piece),
		f);
	free(entry);
	return s;
}

static DlcStatus save_one(
	DlcInstance *i, const DlcModel *m, const char *path, int index, DlcError *err)
{
	Sink sink;
	DlcStatus s = sink_open(&sink, path, err);
	if (s != DLC_OK)
		return s;
	if (is_npz(path)) {
		int n = dlc_model_count(m, DLC_OUTPUT);
		s = write_npz(sink.f, i, m, index < 0 ? 0 : index, index < 0 ? n : index + 1, err);
	} else {
		DlcTensor t;
		s = output_read(i, index < 0 ? 0 : index, &t, err);
		if (s == DLC_OK) {
			write_npy(sink.f, &t);
			free(t.data);
		}
	}
	bool bad = s == DLC_OK && (fflush(sink.f) != 0 || ferror(sink.f) != 0);
	if (sink.f != stdout)
		bad |= fclose(sink.f) != 0;
	if (s == DLC_OK && !bad && sink.renames)
		bad = rename(sink.temporary, sink.target) != 0;
	if (s == DLC_OK)
		return bad ? sink_fail(&sink, err) : DLC_OK;
	if (sink.renames)
		unlink(sink.temporary);
	return s;
}

DlcStatus save_outputs(DlcInstance *i, const DlcModel *m, const RunOptions *o, DlcError *err)
{
	DlcStatus s = DLC_OK;
	for (int k = 0; k < o->output.n && s == DLC_OK; k++) {
		int index;
		const char *path = split_name(m, DLC_OUTPUT, o->output.at[k], &index);
		s = save_one(i, m, path, index, err);
	}
	return s;
}

/* What is said of an output. */
typedef struct Summary {
	double min, max, mean;
	int64_t n, nan;
	int64_t top[TOP];
	int ntop;
} Summary;

/* Keeps the indices of the largest values, the first of equal ones in front. */
static void keep_top(Summary *s, const DlcTensor *t, int64_t i, double v)
{
	int at = s->ntop;
	while (at > 0 && element_value(t->dtype, t->data, s->top[at - 1]) < v)
		at--;
	if (at == TOP)
		return;
	if (s->ntop < TOP)
		s->ntop++;
	memmove(&s->top[at + 1], &s->top[at], (size_t)(s->ntop - 1 - at) * sizeof *s->top);
	s->top[at] = i;
}

static Summary summarise(const DlcTensor *t)
{
	Summary s = { .n = tensor_count(t), .min = INFINITY, .max = -INFINITY };
	for (int64_t i = 0; i < s.n; i++) {
		double v = element_value(t->dtype, t->data, i);
		if (isnan(v)) {
			s.nan++;
			continue;
		}
		s.min = v < s.min ? v : s.min;
		s.max = v > s.max ? v : s.max;
		s.mean += v;
		keep_top(&s, t, i, v);
	}
	s.mean /= (double)(s.n - s.nan);
	return s;
}

/* The position of flat index i, "[0,281]". */
static void print_position(FILE *f, const DlcTensor *t, int64_t i)
{
	int64_t at[BUNDLE_RANK];
	for (int d = t->ndim - 1; d >= 0; d--) {
		at[d] = i % t->shape[d];
		i /= t->shape[d];
	}
	fputc('[', f);
	for (int d = 0; d < t->ndim; d++)
		fprintf(f, "%s%lld", d > 0 ? "," : "", (long long)at[d]);
	fputc(']', f);
}

static void print_text(const char *name, const DlcTensor *t)
{
	char text[TENSOR_TEXT], shown[256];
	printf("%s %s", runtime_shown(shown, sizeof shown, name), tensor_print(t, text));
	if (!element_known(t->dtype) || tensor_count(t) == 0) {
		printf("\n");
		return;
	}
	Summary s = summarise(t);
	if (s.n > s.nan)
		printf("  min %.6g  max %.6g  mean %.6g", s.min, s.max, s.mean);
	if (s.nan > 0)
		printf("  NaN %lld of %lld", (long long)s.nan, (long long)s.n);
	printf("\n");
	for (int k = 0; k < s.ntop; k++) {
		printf("  %-12.6g ", element_value(t->dtype, t->data, s.top[k]));
		print_position(stdout, t, s.top[k]);
		printf("\n");
	}
}

static void print_json(const char *name, const DlcTensor *t)
{
	char text[TENSOR_TEXT];
	tensor_print(t, text);
	*strchr(text, '[') = 0;
	printf("{\"name\":");
	json_text(stdout, name);
	printf(",\"dtype\":\"%s\",\"shape\":", text);
	if (t->ndim == 0)
		printf("[]");
	for (int d = 0; d < t->ndim; d++)
		printf("%s%lld%s", d > 0 ? "," : "[", (long long)t->shape[d],
			d + 1 == t->ndim ? "]" : "");
	if (element_known(t->dtype) && tensor_count(t) > 0) {
		Summary s = summarise(t);
		bool any = s.n > s.nan;
		json_number(stdout, "min", any ? s.min : NAN);
		json_number(stdout, "max", any ? s.max : NAN);
		json_number(stdout, "mean", s.mean);
		printf(",\"nan\":%lld,\"top\":[", (long long)s.nan);
		for (int k = 0; k < s.ntop; k++) {
			printf("%s[%lld", k > 0 ? "," : "", (long long)s.top[k]);
			json_value(stdout, element_value(t->dtype, t->data, s.top[k]));
			printf("]");
		}
		printf("]");
	}
	printf("}\n");
}

DlcStatus print_outputs(DlcInstance *i, const DlcModel *m, bool json, DlcError *err)
{
	for (int k = 0; k < dlc_model_count(m, DLC_OUTPUT); k++) {
		DlcTensor t;
		DlcStatus s = output_read(i, k, &t, err);
		if (s != DLC_OK)
			return s;
		if (json)
			print_json(dlc_model_name(m, DLC_OUTPUT, k), &t);
		else
			print_text(dlc_model_name(m, DLC_OUTPUT, k), &t);
		free(t.data);
	}
	return DLC_OK;
}
