/*
 * Damages files of the writer and looks at what the importer does:
 *
 *	onnx_damage COUNT SEED [FOLDER [FILE ...]]    COUNT files, each with one byte changed
 *	onnx_damage seeds FOLDER                      the files themselves, for a fuzzer
 *	onnx_damage each FOLDER < LIST                each file of the list as it is, one line of output for each
 *
 * Each damaged file must become a Dag that checks, or a sentence, within seconds of processor time. With a FOLDER,
 * files that are taken and cheap are run by the interpreter; the file goes to FOLDER/N.onnx, inputs and results to
 * FOLDER/N.txt, so that another runtime can be asked (tests/onnx/damage.py). Sources: the FILEs, which exporters
 * wrote, or the Dags of tests/op/calls.inc. Few bytes of weights are changed: they give other numbers and nothing else.
 */
#include "base/rng.h"
#include "calls.h"
#include "evaluate.h"

#include "frontend/onnx/onnx.h"
#include "frontend/onnx/proto.h"
#include "suite.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 20, MOST_WORK = 1 << 21, MOST_BYTES = 1 << 26 };

/* Source k as the writer writes it, its constants random; false: it cannot be written. */
static bool source(Arena *a, int k, Bytes *out)
{
	Err err = { 0 };
	Rng r = rng_seed((uint64_t)k);
	Dag *d = parse_call(a, calls[k]);
	Text t = { .arena = a };
	for (size_t i = 0; d != NULL && i < d->value.n; i++) {
		Value *v = &d->value.at[i];
		if (v->kind != VALUE_CONST || v->data != NULL)
			continue;
		void *data = arena_alloc_aligned(a, (size_t)value_bytes(v) + 1, 64);
		fill_random(&r, v, data, 1);
		v->data = data;
	}
	if (d == NULL || !onnx_export(&t, d, &err))
		return false;
	*out = (Bytes){ (const unsigned char *)text_str(&t), t.n };
	return true;
}

static void save(const char *path, Bytes b)
{
	FILE *f = fopen(path, "wb");
	if (f == NULL || fwrite(b.at, 1, b.n, f) != b.n || fclose(f) != 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(2);
	}
}

static bool is_cheap(const Dag *d)
{
	double work = 0;
	for (size_t k = 0; k < d->value.n; k++) {
		int64_t n = shape_elements(d->value.at[k].shape);
		work += n < 0 ? MOST_WORK : (double)n;
	}
	for (size_t k = 0; k < d->call.n; k++)
		work += op_flops(d, &d->call.at[k]);
	return work < MOST_WORK;
}

/*
 * What ONNX leaves open, so that runtimes differ: the maximum, sign or place of NaN, reductions of nothing, casts and
 * powers that an integer does not hold.
 */
static bool is_undefined(const Dag *d)
{
	bool undefined = false;
	for (size_t k = 0; k < d->call.n; k++) {
		const OpCall *c = &d->call.at[k];
		bool whole = !dtype_is_float(d->value.at[c->out[0]].type);
		undefined |= whole && (c->op == OP_pow || (c->op == OP_cast && dtype_is_float(d->value.at[c->in[0]].type)));
	}
	for (size_t k = 0; k < d->value.n; k++) {
		const Value *v = &d->value.at[k];
		int64_t n = shape_elements(v->shape);
		undefined |= n == 0;
		for (int64_t i = 0; v->kind == VALUE_CONST && i < n; i++)
			undefined |= !isfinite(element_get(v->type, v->data, i));
	}
	return undefined;
}

/* "in NAME TYPE DIMS = numbers": one line for each tensor, the name by its bytes. */
static void print_tensor(FILE *f, const char *what, const Value *v, const void *data)
{
	char type[DTYPE_TEXT];
	fprintf(f, "%s ", what);
	for (const char *s = v->name; *s != 0; s++)
		fprintf(f, "%02x", (unsigned char)*s);
	fprintf(f, " %s ", dtype_print(v->type, type));
	for (int k = 0; k < v->shape.rank; k++)
		fprintf(f, "%s%lld", k > 0 ? "," : "", (long long)v->shape.dim[k]);
	fprintf(f, " =");
	for (int64_t i = 0; i < shape_elements(v->shape); i++)
		fprintf(f, " %.17g", element_get(v->type, data, i));
	fprintf(f, "\n");
}

/* Runs an accepted file and notes it in PATH.txt; false: the interpreter refuses, too much work, or undefined. */
static bool note(Arena *a, const char *path, const Dag *d)
{
	Err err = { 0 };
	Rng r = rng_seed(7);
	const void **in = arena_array(a, const void *, d->input.n + 1);
	if (!is_cheap(d) || is_undefined(d))
		return false;
	for (size_t k = 0; k < d->input.n; k++) {
		const Value *v = &d->value.at[d->input.at[k]];
		void *data = arena_alloc_aligned(a, (size_t)value_bytes(v) + 1, 64);
		fill_random(&r, v, data, 1);
		in[k] = data;
	}
	void **out = evaluate(a, d, in, &err);
	if (out == NULL)
		return false;
	FILE *f = fopen(arena_printf(a, "%s.txt", path), "w");
	if (f == NULL)
		return false;
	for (size_t k = 0; k < d->input.n; k++)
		print_tensor(f, "in", &d->value.at[d->input.at[k]], in[k]);
	for (size_t k = 0; k < d->output.n; k++)
		print_tensor(f, "out", &d->value.at[d->output.at[k]], out[k]);
	return fclose(f) == 0;
}

static char doing[300]; /* for signals */

static void stopped(int number)
{
	const char *why = number == SIGPROF ? "no answer: " : "crashed: ";
	ssize_t ignored = write(2, why, strlen(why));
	ignored = write(2, doing, strlen(doing));
	(void)ignored;
	_exit(1);
}

/* Counts processor time, so that a busy machine is no hang; 0: no more. */
static void limit_seconds(int seconds)
{
	struct itimerval t = { .it_value = { .tv_sec = seconds } };
	setitimer(ITIMER_PROF, &t, NULL);
}

/* A byte of the file: outside of the weights' data, fifteen times of sixteen. */
static size_t draw_place(Arena *a, Bytes file, Rng *r)
{
	Err err = { 0 };
	OnnxModel m = { 0 };
	bool read = wire_read(a, &OnnxModel_message, file, &m, &err) && m.graph != NULL;
	bool any = rng_below(r, 16) == 0;
	for (;;) {
		size_t at = (size_t)rng_below(r, file.n);
		bool weight = false;
		for (size_t k = 0; read && k < m.graph->initializer.n; k++) {
			Bytes raw = m.graph->initializer.at[k].raw_data;
			weight |= raw.n > 64 && file.at + at >= raw.at && file.at + at < raw.at + raw.n;
		}
		if (!weight || any)
			return at;
	}
}

typedef struct Sources {
	char **file; /* none: the Dags of calls.inc */
	int n;
} Sources;

/* One damaged file; false: neither a Dag nor a sentence. */
static bool damage(int number, const Sources *from, const char *folder, Rng *r, int *taken, int *run)
{
	Arena *a = arena_new();
	Bytes file = { 0 };
	Err err = { 0 };
	int k = (int)rng_below(r, (uint64_t)(from->n > 0 ? from->n : LEN(calls)));
	if (from->n > 0 ? !file_read(a, from->file[k], MOST_BYTES, &file, &err) : !source(a, k, &file)) {
		if (from->n > 0)
			fprintf(stderr, "%s\n", err.text);
		arena_free(a);
		return from->n == 0;
	}
	unsigned char *bytes = arena_copy(a, file.at, file.n);
	size_t at = draw_place(a, file, r);
	unsigned char by = (unsigned char)(1 + rng_below(r, 255));
	bytes[at] ^= by;
	snprintf(doing, sizeof doing, "source %s %d, byte %zu xor 0x%02x\n", from->n > 0 ? from->file[k] : "", k, at, by);
	limit_seconds(SECONDS);
	ModelArgs args = { 0 };
	Dag *d = onnx_import(a, "nosuch/damaged.onnx", (Bytes){ bytes, file.n }, &args, &err);
	bool ok = (d == NULL) == (err.code != ERR_NONE) && (d != NULL || err_exit_code(err.code) == 1) &&
		(d == NULL || dag_check(d, &err));
	if (!ok)
		fprintf(stderr, "neither a Dag nor a refusal (%s): %s", err.text, doing);
	*taken += d != NULL;
	const char *path = arena_printf(a, "%s/%d", folder != NULL ? folder : "", number);
	if (ok && d != NULL && folder != NULL && note(a, path, d)) {
		save(arena_printf(a, "%s.onnx", path), (Bytes){ bytes, file.n });
		*run += 1;
	}
	limit_seconds(0);
	arena_free(a);
	return ok;
}

/* "FILE ran", "FILE taken" (not run) or "FILE refused: SENTENCE"; results go to FOLDER/N.txt, N counting the files. */
static void try_file(const char *folder, int number, const char *path)
{
	Arena *a = arena_new();
	Bytes file = { 0 };
	Err err = { 0 };
	ModelArgs args = { 0 };
	snprintf(doing, sizeof doing, "%s\n", path);
	limit_seconds(SECONDS);
	Dag *d = NULL;
	if (file_read(a, path, MOST_BYTES, &file, &err))
		d = onnx_import(a, path, file, &args, &err);
	if (d == NULL || !dag_check(d, &err))
		printf("%s %s: %s\n", path, d == NULL ? "refused" : "fails its check", err.text);
	else
		printf("%s %s\n", path, note(a, arena_printf(a, "%s/%d", folder, number), d) ? "ran" : "taken");
	fflush(stdout);
	arena_free(a);
}

/* Each file has a process of its own: one that crashes says so and the next one is tried. */
static int try_each(const char *folder)
{
	char path[4000];
	int bad = 0;
	for (int k = 0; fgets(path, sizeof path, stdin) != NULL; k++) {
		path[strcspn(path, "\n")] = 0;
		int status = 0;
		pid_t child = fork();
		if (child == 0) {
			try_file(folder, k, path);
			_exit(0);
		}
		bad += child < 0 || waitpid(child, &status, 0) < 0 || status != 0;
	}
	return bad > 0;
}

static int write_seeds(const char *folder)
{
	int n = 0;
	for (int k = 0; k < LEN(calls); k++) {
		Arena *a = arena_new();
		Bytes file;
		if (source(a, k, &file)) {
			save(arena_printf(a, "%s/%d.onnx", folder, k), file);
			n++;
		}
		arena_free(a);
	}
	printf("%d files of %d sources\n", n, LEN(calls));
	return n > 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	static const int signals[] = { SIGPROF, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
	for (int k = 0; k < LEN(signals); k++)
		signal(signals[k], stopped);
	if (argc == 3 && strcmp(argv[1], "seeds") == 0)
		return write_seeds(argv[2]);
	if (argc == 3 && strcmp(argv[1], "each") == 0)
		return try_each(argv[2]);
	if (argc < 3) {
		fprintf(stderr, "onnx_damage COUNT SEED [FOLDER [FILE ...]] | seeds FOLDER | each FOLDER\n");
		return 2;
	}
	int count = atoi(argv[1]), bad = 0, taken = 0, run = 0;
	Rng r = rng_seed((uint64_t)atoll(argv[2]));
	Sources from = { .file = argv + 4, .n = argc > 4 ? argc - 4 : 0 };
	for (int k = 0; k < count; k++)
		bad += !damage(k, &from, argc > 3 ? argv[3] : NULL, &r, &taken, &run);
	printf("%d damaged files: %d taken, %d of them run, %d neither taken nor refused\n", count, taken, run, bad);
	return bad > 0;
}
