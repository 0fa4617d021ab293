/*
 * The builder alone, with files for its two ends: what it answers depends on the candidate, not on
 * those before it, though prepare Fns and nests are compiled once; a Fn of one nest is the code that a bundle gets.
 */
#include "suite.h"

#include "base/text.h"
#include "codegen/codegen.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "measure/builder_child.h"
#include "measure/kept_modules.h"
#include "worker/frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* p = c times the factor, by the prepare Fn; y = x + p plus the shift, by the run Fn. */
static const char set[] =
	"prepare fn pack(c: const f32[64], p: out f32[64]) {\n"
	"\tfor i in 0..64 vector {\n\t\tp[i] = c[i] * %d.0\n\t}\n}\n"
	"fn k(x: in f32[64], p: const f32[64], y: out f32[64]) {\n"
	"\tfor i in 0..64 vector {\n\t\ty[i] = x[i] + p[i] + %d.0\n\t}\n}\n";

typedef struct Candidate {
	int factor, shift; /* factor 0: without a prepare Fn */
} Candidate;

typedef struct Answer {
	MsgView view;
	DlcImage image[MSG_IMAGES];
	int n;
} Answer;

static const char *text_of(Arena *a, Candidate c)
{
	if (c.factor == 0)
		return arena_printf(a,
			"fn k(x: in f32[64], y: out f32[64]) {\n\tfor i in 0..64 vector {\n\t\ty[i] = x[i] + %d.0\n\t}\n}\n",
			c.shift);
	return arena_printf(a, set, c.factor, c.shift);
}

static KernelSet *parse(Arena *a, const char *text)
{
	Err err = { 0 };
	KernelSet *ks = ir_parse_set(ir_new(a), "set", text, strlen(text), &err);
	ck_assert_msg(ks != NULL && ir_verify_set(ks, &err), "%s: %s", err.place, err.text);
	return ks;
}

/* What one builder for t answers to n texts, one after the other. */
static Answer *answers_for(Arena *a, const Target *t, const char *const *text, int n)
{
	FILE *in = tmpfile(), *out = tmpfile();
	Msg msg = { 0 };
	ck_assert(in != NULL && out != NULL);
	for (int k = 0; k < n; k++) {
		MsgBuild f = { .ntext = strlen(text[k]) };
		msg_begin(&msg, MSG_BUILD, (uint64_t)k, &f);
		msg_add(&msg, text[k], f.ntext);
		ck_assert(msg_end(&msg));
	}
	ck_assert(fwrite(msg.bytes, 1, msg.size, in) == msg.size && fflush(in) == 0);
	msg_free(&msg);
	ck_assert(lseek(fileno(in), 0, SEEK_SET) == 0);
	ck_assert_int_eq(measure_builder(fileno(in), fileno(out), t), 0);
	size_t size = (size_t)lseek(fileno(out), 0, SEEK_END), at = 0;
	unsigned char *bytes = arena_alloc(a, size);
	char why[MSG_WHY];
	ck_assert(lseek(fileno(out), 0, SEEK_SET) == 0 && read(fileno(out), bytes, size) == (ssize_t)size);
	Answer *r = arena_array(a, Answer, n);
	MsgView hello;
	ck_assert(msg_parse(bytes, size, &hello, why) == MSG_OK && hello.kind == MSG_HELLO);
	at += hello.size;
	for (int k = 0; k < n; k++) {
		ck_assert(msg_parse(bytes + at, size - at, &r[k].view, why) == MSG_OK);
		ck_assert_uint_eq(r[k].view.kind, MSG_BUILT);
		ck_assert_uint_eq(r[k].view.serial, (uint64_t)k);
		const MsgBuilt *f = r[k].view.fixed;
		MsgView v;
		for (uint64_t i = 0; i < f->nbytes; i += v.size, r[k].n++) {
			ck_assert_int_lt(r[k].n, MSG_IMAGES);
			const unsigned char *from = (const unsigned char *)r[k].view.array[0] + i;
			ck_assert(msg_parse(from, f->nbytes - i, &v, why) == MSG_OK);
			ck_assert_msg(msg_image_read(&v, &r[k].image[r[k].n], why), "%s", why);
		}
		at += r[k].view.size;
	}
	ck_assert_uint_eq(at, size);
	fclose(in);
	fclose(out);
	return r;
}

static Answer *answers_to(Arena *a, const char *const *text, int n)
{
	Target host;
	target_host(&host, 1);
	return answers_for(a, &host, text, n);
}

static Answer *answers(Arena *a, const Candidate *c, int n)
{
	const char **text = arena_array(a, const char *, n);
	for (int k = 0; k < n; k++)
		text[k] = text_of(a, c[k]);
	return answers_to(a, text, n);
}

static void same_image(const DlcImage *x, const DlcImage *y)
{
	ck_assert_uint_eq(x->nentry, y->nentry);
	ck_assert_uint_eq(x->size, y->size);
	ck_assert_mem_eq(x->entry, y->entry, sizeof(DlcEntry) * x->nentry);
	ck_assert_mem_eq(x->bytes, y->bytes, x->size);
}

static void same(const Answer *x, const Answer *y)
{
	ck_assert_int_eq(x->n, y->n);
	for (int k = 0; k < x->n; k++)
		same_image(&x->image[k], &y->image[k]);
}

/* The kernels of both images are run. */
static void computes(Arena *a, const Answer *r, Candidate c)
{
	KernelSet *ks = parse(a, text_of(a, c));
	float constant[64], x[64], p[64] = { 0 }, y[64] = { 0 };
	for (int i = 0; i < 64; i++) {
		constant[i] = (float)i;
		x[i] = (float)(3 * i);
	}
	IrArg arg[] = { { .name = "x", .data = x }, { .name = "y", .data = y }, { .name = "c", .data = constant },
		{ .name = "p", .data = p } };
	ck_assert_int_eq(r->n, c.factor == 0 ? 1 : 2);
	for (int k = 0; k < r->n; k++) {
		Module m = { .image = r->image[k] };
		Mapped *code;
		Err err = { 0 };
		ck_assert_msg(codegen_map(&m, &code, &err) && codegen_call(ks, &m, code, arg, 4, &err), "%s", err.text);
		codegen_unmap(code);
	}
	for (int i = 0; i < 64; i++)
		ck_assert_float_eq(y[i], (float)(3 * i + c.factor * i + c.shift));
}

/* More prepare Fns than a builder keeps, most of them more than once. */
START_TEST(candidates_before_do_not_matter)
{
	Arena *a = arena_new();
	Candidate c[100];
	for (int k = 0; k < 100; k++)
		c[k] = (Candidate){ k % 7 == 6 ? 0 : k < 50 ? k % 3 + 1 : k - 40, k % 5 };
	Answer *all = answers(a, c, 100);
	for (int k = 0; k < 100; k += 9) {
		same(&all[k], answers(a, &c[k], 1));
		computes(a, &all[k], c[k]);
	}
	same(&all[0], &all[15]); /* 1, 0: of the same text */
	arena_free(a);
}
END_TEST

START_TEST(run_fns_are_the_code_of_a_bundle)
{
	static const Candidate c = { 3, 2 };
	Arena *a = arena_new();
	Err err = { 0 };
	Target host;
	Module m;
	target_host(&host, 1);
	const KernelSet *run = ir_set_of_kind(a, parse(a, text_of(a, c)), FN_RUN);
	ck_assert_msg(codegen_compile(a, run, &host, NULL, &m, &err), "%s", err.text);
	const Answer *r = answers(a, &c, 1);
	ck_assert_int_eq(r->n, 2);
	ck_assert_uint_eq(r->image[0].nentry, 1);
	ck_assert_str_eq(r->image[0].entry[0].name, "pack");
	same_image(&r->image[1], &m.image);
	arena_free(a);
}
END_TEST

/* Two nests: w = x times the factor; y = w plus the shift. */
static const char nests[] =
	"fn k(x: in f32[64], w: work f32[64], y: out f32[64]) {\n"
	"\tfor i in 0..64 vector {\n\t\tw[i] = x[i] * %d.0\n\t}\n"
	"\tfor j in 0..64 vector {\n\t\ty[j] = w[j] + %d.0\n\t}\n}\n";

/* Nests of other candidates are used again, and an answer does not depend on those before it. */
START_TEST(a_candidate_of_several_nests)
{
	Arena *a = arena_new();
	const char *text[40];
	for (int k = 0; k < 40; k++)
		text[k] = arena_printf(a, nests, k % 5, k % 3);
	const Answer *all = answers_to(a, text, LEN(text));
	for (int k = 0; k < 40; k++) {
		const DlcImage *image = &all[k].image[0];
		Module m = { .image = *image };
		Mapped *code;
		Err err = { 0 };
		float x[64], w[64] = { 0 }, y[64] = { 0 };
		for (int i = 0; i < 64; i++)
			x[i] = (float)i;
		ck_assert_uint_eq(image->nentry, 2);
		ck_assert_uint_eq(image->entry[0].rest, 1);
		ck_assert_msg(codegen_map(&m, &code, &err), "%s", err.text);
		void *buf[] = { x, w, y };
		const DlcCall call = { .buf = buf, .threads = 1 };
		for (uint32_t i = 0; i < image->nentry; i++)
			ck_assert_int_eq(codegen_launch(code, i, &call), 0);
		codegen_unmap(code);
		for (int i = 0; i < 64; i++)
			ck_assert_float_eq(y[i], (float)(i * (k % 5) + k % 3));
		same(&all[k], &all[k % 15]);
	}
	for (int k = 0; k < 40; k += 13)
		same(&all[k], answers_to(a, &text[k], 1));
	arena_free(a);
}
END_TEST

/* Equal texts are compiled once, until others have taken the place. */
START_TEST(modules_are_kept)
{
	static const int asked[] = { 1, 2, 1, 1, 2, 3, 1, 2, 2 }, compiled[] = { 1, 2, 2, 2, 2, 3, 4, 5, 5 };
	static const CodegenOptions plain = { 0 };
	Arena *a = arena_new();
	Target host;
	Err err = { 0 };
	KeptModule place[2] = { 0 };
	target_host(&host, 1);
	KeptModules kept = { .target = &host, .options = &plain, .n = 2, .at = place };
	for (int k = 0; k < LEN(asked); k++) {
		Candidate c = { 0, asked[k] };
		const Module *m = kept_module(&kept, parse(a, text_of(a, c)), &err);
		ck_assert_msg(m != NULL && m->image.nentry == 1, "%s", err.text);
		ck_assert_msg(kept.compiled == (uint64_t)compiled[k], "%d: %llu", k, (unsigned long long)kept.compiled);
	}
	kept_modules_free(&kept);
	arena_free(a);
}
END_TEST

/* Nothing to run is no fault: the answer has the images that there are. */
START_TEST(sets_without_run_fns)
{
	static const char *const text[] = { "", "# only a comment\n",
		"prepare fn p(c: const f32[4], y: out f32[4]) {\n\tfor i in 0..4 {\n\t\ty[i] = c[i]\n\t}\n}\n" };
	Arena *a = arena_new();
	const Answer *r = answers_to(a, text, LEN(text));
	ck_assert_int_eq(r[0].n, 0);
	ck_assert_int_eq(r[1].n, 0);
	ck_assert_int_eq(r[2].n, 1);
	ck_assert_str_eq(r[2].image[0].entry[0].name, "p");
	arena_free(a);
}
END_TEST

/* The first image is the host's, and the second one is what the device's back end makes of the run Fns alone. */
START_TEST(prepare_fns_of_a_device_are_code_of_the_host)
{
	static const Candidate c = { 3, 2 };
	Arena *a = arena_new();
	Err err = { 0 };
	Target device;
	Module m;
	target_host(&device, 1);
	device.kind = TARGET_OPENCL;
	device.arch = ARCH_OPENCL;
	device.features = 0;
	device.blocks = (Blocks){ .warp = 1 };
	const char *text = text_of(a, c);
	const KernelSet *run = ir_set_of_kind(a, parse(a, text), FN_RUN);
	ck_assert_msg(codegen_compile(a, run, &device, NULL, &m, &err), "%s", err.text);
	const Answer *r = answers_for(a, &device, &text, 1), *host = answers(a, &c, 1);
	ck_assert_int_eq(r->n, 2);
	ck_assert_int_eq(r->image[0].device, DLC_DEVICE_CPU);
	ck_assert_int_eq(r->image[1].device, DLC_DEVICE_OPENCL);
	same_image(&r->image[0], &host->image[0]);
	same_image(&r->image[1], &m.image);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("builder");
	tcase_add_test(tc, candidates_before_do_not_matter);
	tcase_add_test(tc, run_fns_are_the_code_of_a_bundle);
	tcase_add_test(tc, a_candidate_of_several_nests);
	tcase_add_test(tc, modules_are_kept);
	tcase_add_test(tc, sets_without_run_fns);
	tcase_add_test(tc, prepare_fns_of_a_device_are_code_of_the_host);
	return run_suite("builder", tc);
}
