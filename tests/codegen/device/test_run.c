/*
 * OpenCL kernels on the first device there is, through its row of src/runtime/device.h, against the interpreter: kernel
 * sets written by hand with bound loops, operators in naive form (one thread), and random sets. Without an OpenCL
 * device the tests say so and do nothing. The driver's compiler takes nearly all of the time, most of it for a program
 * and not for its kernels: operators share programs. With sanitizers, which do not see its code, there are a part of
 * the same programs: PoCL's cache has them.
 */
#include "codegen/backend.h"
#include "device.h"
#include "ir/random.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "kernels.h"
#include "op/op.h"
#include "runtime/device.h"
#include "suite.h"
#include "tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const dags[] = {
#include "op/calls.inc"
};

enum { BUFS = 32 };

/* A tensor on the device. */
typedef struct There {
	const char *name;
	void *at, *host;
	size_t bytes;
} There;

typedef struct Lab {
	Arena *arena;
	DeviceContext *c;
	DeviceStream *s;
	There there[BUFS];
	int n;
	int warp; /* of the target; 1: a device whose threads run alone, as PoCL's do */
	uint64_t ns;
} Lab;

static const Device *const row = &device_opencl;

static const IrArg *find_arg(const Tensors *t, const char *name)
{
	for (int k = 0; k < t->n; k++)
		if (strcmp(t->arg[k].name, name) == 0)
			return &t->arg[k];
	ck_abort_msg("no tensor %s", name);
	return NULL;
}

static void *send(Lab *l, const char *name, const Tensors *t)
{
	for (int k = 0; k < l->n; k++)
		if (strcmp(l->there[k].name, name) == 0)
			return l->there[k].at;
	int i = (int)(find_arg(t, name) - t->arg);
	ck_assert_int_lt(l->n, BUFS);
	There *x = &l->there[l->n++];
	*x = (There){ .name = name, .host = t->arg[i].data };
	x->bytes = (size_t)dtype_bytes(t->buf[i]->type, t->elements[i]);
	x->at = row->alloc(l->c, x->bytes);
	ck_assert(x->at != NULL && row->copy(l->s, x->at, x->host, x->bytes, DEVICE_UP) == 0);
	return x->at;
}

static void launch(Lab *l, const Fn *fn, const DlcEntry *e, void *kernel, const Tensors *t, void *work)
{
	void *buf[BUFS];
	int64_t sym[BUFS];
	uint32_t nbuf = 0, nsym = 0;
	for (int k = 0; k < fn->nsym; k++)
		sym[nsym++] = find_arg(t, fn->sym[k].name)->value;
	for (int k = 0; k < fn->nparam; k++)
		buf[nbuf++] = send(l, fn->param[k].name, t);
	ck_assert(nbuf == e->nbuf && nsym == e->nsym);
	DeviceLaunch how = { .nbuf = nbuf, .nsym = nsym };
	for (int d = 0; d < DLC_LAUNCH_DIMS; d++) {
		const DlcDim *x = &e->launch.dim[d];
		int64_t v = x->mul;
		for (int k = 0; k < 2; k++)
			v *= x->sym[k] >= 0 ? sym[x->sym[k]] : 1;
		how.dim[d] = (uint32_t)((v + x->add) / x->div);
	}
	DlcCall call = { .buf = buf, .sym = sym, .work = work, .threads = 1 };
	int status = row->launch(l->s, kernel, &call, &how);
	ck_assert_msg(status == 0, "%s: status %d", e->name, status);
}

/* All entries of the module, prepare Fns first, on tensors that are copied there and back. */
static void run_module(Lab *l, const char *name, const KernelSet *ks, const Module *m, void *code, const Tensors *t)
{
	uint64_t work_bytes = 0;
	l->n = 0;
	for (uint32_t k = 0; k < m->image.nentry; k++)
		work_bytes = m->image.entry[k].work_bytes > work_bytes ? m->image.entry[k].work_bytes : work_bytes;
	void *work = row->alloc(l->c, work_bytes);
	row->mark(l->s, 0);
	for (uint32_t k = 0; k < m->image.nentry;) {
		const Fn *fn = ir_find_fn(ks, m->image.entry[k].name);
		for (uint32_t end = k + m->image.entry[k].rest; k <= end; k++) {
			const DlcEntry *e = &m->image.entry[k];
			void *kernel = row->kernel(l->c, code, e->name, e->offset, NULL);
			ck_assert_msg(kernel != NULL, "%s: no kernel %s", name, e->name);
			launch(l, fn, e, kernel, t, work);
		}
	}
	row->mark(l->s, 1);
	for (int k = 0; k < l->n; k++) {
		int status = row->copy(l->s, l->there[k].host, l->there[k].at, l->there[k].bytes, DEVICE_DOWN);
		ck_assert_msg(status == 0, "%s: %s comes back with status %d", name, l->there[k].name, status);
	}
	ck_assert_int_eq(row->synchronize(l->s), 0);
	l->ns = row->time(l->s, 0, 1);
	for (int k = 0; k < l->n; k++)
		row->release(l->c, l->there[k].at, l->there[k].bytes);
	row->release(l->c, work, work_bytes);
}

/* False, and says why, if there is no device. */
static bool lab_open(Lab *l)
{
	DlcError err = { 0 };
	*l = (Lab){ .arena = arena_new() };
	if (row->open(0, &l->c, &err) != DLC_OK) {
		suite_skip_installable("OpenCL devices", err.text);
		arena_free(l->arena);
		return false;
	}
	l->s = row->stream_open(l->c);
	ck_assert(l->s != NULL);
	return true;
}

static void lab_close(Lab *l)
{
	row->stream_close(l->s);
	row->close(l->c);
	arena_free(l->arena);
}

/* False: the back end does not print it. */
static bool printed(Lab *l, const char *name, const KernelSet *ks, Module *m)
{
	Err err = { 0 };
	CodegenOptions o = { .exact = true };
	Target target;
	device_target(&target);
	target.blocks.warp = l->warp;
	if (row->has(l->c, "fp64"))
		target.features = (uint64_t)1 << FEATURE_CL_FP64;
	bool ok = codegen_compile(l->arena, ks, &target, &o, m, &err);
	ck_assert_msg(ok || err.code == ERR_UNSUPPORTED, "%s: %s: %s", name, err.place, err.text);
	return ok;
}

static void *loaded(Lab *l, const char *text)
{
	DlcError why = { .text = "" };
	void *code = row->code_load(l->c, (const unsigned char *)text, strlen(text) + 1, false, &why);
	ck_assert_msg(code != NULL, "%s\n%s", why.text, text);
	return code;
}

static void must_agree(
	Lab *l, const char *name, KernelSet *ks, const Module *m, void *code, uint64_t seed, double tolerance)
{
	Arena *a = l->arena;
	Rng rng = rng_seed(seed);
	Tensors in, want, got;
	Err err = { 0 };
	InterpRun how = { .seed = seed, .skip_races = true };
	tensors_make(&in, a, ks, &rng);
	tensors_copy(&want, a, &in);
	tensors_copy(&got, a, &in);
	ck_assert_msg(interp_run_set(ks, want.arg, want.n, &how, &err), "%s: %s: %s", name, err.place, err.text);
	run_module(l, name, ks, m, code, &got);
	const char *wrong = tensors_differ(a, &want, &got, tolerance);
	if (wrong != NULL) {
		printf("%s\n%s\n", ir_set_str(a, ks), (const char *)m->image.bytes);
		ck_abort_msg("%s, seed %llx: %s", name, (unsigned long long)seed, wrong);
	}
}

/* False: the back end does not print it. */
static bool agree(Lab *l, const char *name, KernelSet *ks, uint64_t seed, double tolerance)
{
	Module m;
	if (!printed(l, name, ks, &m))
		return false;
	void *code = loaded(l, (const char *)m.image.bytes);
	must_agree(l, name, ks, &m, code, seed, tolerance);
	row->code_release(l->c, m.image.bytes, code, m.image.size);
	return true;
}

/* One program of several, whose kernels have different names: what stands before the kernels is there once. */
static const char *joined(Arena *a, const Module *m, int n)
{
	Text head = { .arena = a }, body = { .arena = a };
	for (int k = 0; k < n; k++) {
		const char *text = (const char *)m[k].image.bytes, *kernels = strstr(text, "__kernel");
		ck_assert_ptr_nonnull(kernels);
		for (const char *end; text < kernels; text = end + 1) {
			for (end = strchr(text, '\n'); end[1] == ' ';) /* a function of some lines */
				end = strchr(end + 1, '\n');
			const char *lines = arena_printf(a, "%.*s", (int)(end + 1 - text), text);
			if (strstr(text_str(&head), lines) == NULL)
				text_add(&head, "%s", lines);
		}
		text_add(&body, "%s", kernels);
	}
	return arena_printf(a, "%s%s", text_str(&head), text_str(&body));
}

/* Some sets, whose Fns have names of their own, as one program. */
static void agree_all(Lab *l, const char *const *name, KernelSet *const *ks, const Module *m, int n, int seeds)
{
	const char *text = joined(l->arena, m, n);
	void *code = loaded(l, text);
	for (int i = 0; i < n; i++)
		for (int k = 1; k <= seeds; k++)
			must_agree(l, name[i], ks[i], &m[i], code, (uint64_t)k, 1e-5);
	row->code_release(l->c, text, code, strlen(text) + 1);
}

enum { PARTS = 8, SHARE = 48 /* operators or sets of a program, at most */ };

START_TEST(sets_by_hand)
{
	Lab l;
	KernelSet *ks[SHARE];
	Module m[SHARE];
	int n = 0;
	if (!lab_open(&l))
		return;
	for (; device_sets[n] != NULL; n++) {
		ck_assert_int_lt(n, SHARE);
		ks[n] = device_set(l.arena, device_sets[n]);
		ck_assert_msg(printed(&l, device_sets[n], ks[n], &m[n]), "%s is refused", device_sets[n]);
	}
	agree_all(&l, device_sets, ks, m, n, SANITIZED ? 1 : 3);
	ck_assert_uint_gt(l.ns, 0);
	lab_close(&l);
}
END_TEST

/* An array too large for a thread's own memory lies in the workspace, one for each thread, or is refused. */
START_TEST(large_arrays)
{
	static const char *const text[] = {
		"fn k(x: in f32[12], y: out f32[12]) {\n\tfor g in 0..2 bound(grid.y) {\n\t\tfor h in 0..3 bound(grid.x) {\n"
		"\t\t\tfor t in 0..2 bound(block.x) {\n\t\t\t\talloc s: f32[20000]\n\t\t\t\tfor i in 0..20000 {\n"
		"\t\t\t\t\ts[i] = x[g * 6 + h * 2 + t]\n\t\t\t\t}\n\t\t\t\ty[g * 6 + h * 2 + t] = s[19999] + s[0]\n"
		"\t\t\t}\n\t\t}\n\t}\n}\n",
		"fn k[n in 1..12](x: in f32[12], y: out f32[12]) {\n\tfor g in 0..n bound(grid.x) {\n"
		"\t\talloc s: f32[20000]\n\t\tfor i in 0..20000 {\n\t\t\ts[i] = x[g]\n\t\t}\n\t\ty[g] = s[19999]\n\t}\n}\n",
	};
	Lab l;
	Err err = { 0 };
	if (!lab_open(&l))
		return;
	for (int k = 0; k < LEN(text); k++)
		for (l.warp = 0; l.warp < 2; l.warp++) {
			KernelSet *ks = ir_parse_set(ir_new(l.arena), "large", text[k], strlen(text[k]), &err);
			ck_assert_msg(ks != NULL, "%s", err.text);
			ck_assert_int_eq(agree(&l, "large", ks, 5, 0), k == 0 && l.warp == 1);
		}
	lab_close(&l);
}
END_TEST

/* Masks of rows of f64, for devices that have it; for one whose threads run together indices have 32 bits. */
START_TEST(masks_of_doubles)
{
	static const char text[] =
		"fn k(x: in f64[37], y: out f64[48], z: inout f64[90]) {\n\tfor g in 0..3 bound(grid.x) {\n"
		"\t\tfor l in 0..16 vector {\n\t\t\ty[g * 16 + l] = f64(0.5) + select(5 <= g * 16 + l & g * 16 + l < 42, "
		"x[g * 16 + l - 5], f64(3.0))\n\t\t}\n"
		"\t\tlet v: f64x16 = x[ramp(g * 10, 1, 16)]\n"
		"\t\tz[ramp(g * 16, 1, 16)] = v where v < splat(f64(g), 16) & ramp(g * 16, 1, 16) < splat(41, 16)\n"
		"\t\tz[ramp(g * 10 + 48, 2, 4)] = x[ramp(g, 3, 4)]\n\t}\n}\n";
	Lab l;
	Err err = { 0 };
	if (!lab_open(&l))
		return;
	KernelSet *ks = ir_parse_set(ir_new(l.arena), "doubles", text, strlen(text), &err);
	ck_assert_msg(ks != NULL && ir_verify_set(ks, &err), "%s", err.text);
	for (l.warp = 0; l.warp <= 32; l.warp += 32)
		ck_assert_int_eq(agree(&l, "doubles", ks, 3, 0), row->has(l.c, "fp64"));
	lab_close(&l);
}
END_TEST

START_TEST(operators)
{
	Lab l;
	int taken = 0, all = 0;
	if (!lab_open(&l))
		return;
	for (int k = _i; k < LEN(dags);) {
		KernelSet *ks[SHARE];
		Module m[SHARE];
		const char *name[SHARE];
		int n = 0;
		for (; n < SHARE && k < LEN(dags); k += PARTS, all++) {
			Err err = { 0 };
			Dag *d = dag_parse(l.arena, "case", dags[k], strlen(dags[k]), &err);
			const char *fn = arena_printf(l.arena, "k%d", k);
			ks[n] = d != NULL ? op_naive(ir_new(l.arena), d, fn, NAIVE_AS_TYPED, &err) : NULL;
			ck_assert_msg(ks[n] != NULL, "%s: %s", dags[k], err.text);
			name[n] = dags[k];
			n += printed(&l, dags[k], ks[n], &m[n]);
		}
		agree_all(&l, name, ks, m, n, 1);
		taken += n;
	}
	/* The rest has elements of less than a byte. */
	ck_assert_msg(!row->has(l.c, "fp64") || 3 * taken > 2 * all, "%d of %d", taken, all);
	lab_close(&l);
}
END_TEST

/* The form that schedules give CPUs: vectors with tails, masks, padding in blocks, packed weights. */
START_TEST(forms_of_schedules)
{
	Lab l;
	Err err = { 0 };
	if (!lab_open(&l))
		return;
	for (const HandKernel *k = hand_kernels; k->name != NULL; k++) {
		if (!k->small)
			continue;
		const char *text = hand_kernel_text(l.arena, KERNELS, k->form, k->params);
		KernelSet *ks = ir_parse_set(ir_new(l.arena), k->name, text, strlen(text), &err);
		ck_assert_msg(ks != NULL, "%s: %s", k->name, err.text);
		ck_assert_msg(agree(&l, k->name, ks, 7, 1e-5), "%s is refused", k->name);
	}
	lab_close(&l);
}
END_TEST

START_TEST(random_sets)
{
	Lab l;
	int rounds = suite_count(5, 2, 200), taken = 0;
	if (!lab_open(&l))
		return;
	for (int k = 0; k < rounds; k++) {
		uint64_t seed = 0x0c1ce000u + (uint64_t)(200 * _i + k);
		Rng rng = rng_seed(seed);
		unsigned without = RANDOM_LIBM | (k % 4 > 0 ? RANDOM_NARROW : 0u);
		KernelSet *ks = random_set(&rng, ir_new(l.arena), RANDOM_ALL & ~without, 1 + k % 4);
		l.warp = k % 2 == 0 ? 0 : 32; /* text for threads that run alone, and together */
		taken += agree(&l, "random", ks, seed, 0);
	}
	ck_assert_int_gt(taken, 0);
	lab_close(&l);
}
END_TEST

START_TEST(device_row)
{
	Lab l;
	DlcError err = { 0 };
	DeviceContext *other;
	unsigned char up[300], down[300];
	static const char bad[] = "__kernel void f(__global int *x) { x[0] = nothing; }\n";
	if (!lab_open(&l))
		return;
	ck_assert(row->open(1000, &other, &err) == DLC_SYSTEM && strstr(err.text, "no OpenCL device 1000") != NULL);
	ck_assert(row->describe(-1, &(DeviceFacts){ .n = 0 }, &err) == DLC_SYSTEM &&
			  strstr(err.text, "no OpenCL device -1") != NULL);
	ck_assert_uint_gt(row->memory(l.c), 1 << 20);
	ck_assert(!row->has(l.c, "no_such") && !row->has(l.c, "") && !row->has(l.c, "khr"));
	ck_assert(row->has(l.c, "fp64") == row->has(l.c, "cl_khr_fp64"));
	unsigned char *a = row->alloc(l.c, 300), *b = row->alloc(l.c, 1000);
	ck_assert(a != NULL && b != NULL && row->alloc(l.c, (size_t)1 << 60) == NULL);
	for (int k = 0; k < 300; k++)
		up[k] = (unsigned char)(k * 7 + 1);
	memset(down, 1, sizeof down);
	ck_assert(row->copy(l.s, down, a, 300, DEVICE_DOWN) == 0 && row->synchronize(l.s) == 0);
	for (int k = 0; k < 300; k++)
		ck_assert_int_eq(down[k], 0);
	ck_assert(row->copy(l.s, a + 3, up, 200, DEVICE_UP) == 0 && row->copy(l.s, b + 500, a, 300, DEVICE_WITHIN) == 0 &&
			  row->copy(l.s, down, b + 503, 200, DEVICE_DOWN) == 0 && row->synchronize(l.s) == 0);
	ck_assert(memcmp(up, down, 200) == 0);
	ck_assert(row->copy(l.s, up, down, 10, DEVICE_WITHIN) != 0); /* the host's */
	ck_assert(row->code_load(l.c, bad, sizeof bad, false, &err) == NULL && strstr(err.text, "nothing") != NULL &&
			  strchr(err.text, '\n') == NULL);
	row->release(l.c, a, 300);
	lab_close(&l); /* b goes with the context */
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("opencl");
	tcase_add_test(tc, device_row);
	tcase_add_test(tc, sets_by_hand);
	tcase_add_test(tc, large_arrays);
	tcase_add_test(tc, masks_of_doubles);
	tcase_add_loop_test(tc, operators, 0, suite_count(PARTS / 2, 1, PARTS));
	tcase_add_test(tc, forms_of_schedules);
	tcase_add_loop_test(tc, random_sets, 0, 2);
	return run_suite("codegen-opencl", tc);
}
