/*
 * Kernels entered by a team of threads: random sets, the texts of tests/hard and outputs stored past the
 * caches give what the interpreter gives, whatever the number of threads. So do Fns that are cut into nests.
 */
#include "codegen/lower.h"
#include "codegen/nests.h"
#include "ir/random.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "runner.h"
#include "code_suite.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef struct Team {
	pthread_barrier_t barrier;
	const Mapped *code;
	uint32_t kernel;
	DlcCall call;
	uint64_t work_bytes;
} Team;

typedef struct Member {
	Team *team;
	uint32_t thread;
	int status;
} Member;

static void meet(void *team)
{
	pthread_barrier_wait(&((Team *)team)->barrier);
}

static void *run_member(void *arg)
{
	Member *m = arg;
	DlcCall c = m->team->call;
	c.thread = m->thread;
	c.work = aligned_alloc(64, (m->team->work_bytes + 127) / 64 * 64);
	memset(c.work, 0x5a, m->team->work_bytes);
	m->status = codegen_launch(m->team->code, m->team->kernel, &c);
	free(c.work);
	return NULL;
}

static void run_team(const Mapped *code, const Module *m, const KernelSet *ks, const Tensors *t, int threads)
{
	const Fn *f = NULL;
	for (uint32_t k = 0; k < m->image.nentry; k++) {
		const Fn *own = ir_find_fn(ks, m->image.entry[k].name);
		f = own != NULL ? own : f; /* a nest of the Fn before */
		void *buf[TENSORS];
		int64_t sym[TENSORS];
		for (int j = 0; j < f->nparam; j++)
			for (int i = 0; i < t->n; i++)
				if (strcmp(t->arg[i].name, f->param[j].name) == 0)
					buf[j] = t->arg[i].data;
		for (int j = 0; j < f->nsym; j++)
			for (int i = 0; i < t->n; i++)
				if (strcmp(t->arg[i].name, f->sym[j].name) == 0)
					sym[j] = t->arg[i].value;
		Team team = { .code = code, .kernel = k, .work_bytes = m->image.entry[k].work_bytes };
		team.call = (DlcCall){
			.buf = buf, .sym = sym, .threads = (uint32_t)threads, .barrier = threads > 1 ? meet : NULL, .team = &team
		};
		pthread_barrier_init(&team.barrier, NULL, (unsigned)threads);
		pthread_t id[8];
		Member member[8];
		for (int i = 0; i < threads; i++) {
			member[i] = (Member){ &team, (uint32_t)i, -1 };
			ck_assert(pthread_create(&id[i], NULL, run_member, &member[i]) == 0);
		}
		for (int i = 0; i < threads; i++) {
			pthread_join(id[i], NULL);
			ck_assert_int_eq(member[i].status, 0);
		}
		pthread_barrier_destroy(&team.barrier);
	}
}

/* In nests of the set with this text, where its run Fn can be cut: how many kernels ran for 1 and for 3 threads. */
static size_t compare_nests(
	const char *name, const char *text, Arena *a, const Tensors *in, const Tensors *want, double tolerance)
{
	Target host;
	Module m;
	Mapped *code;
	Tensors got;
	Err err = { 0 };
	CodegenOptions o = { .exact = tolerance == 0 };
	size_t n = 0, all = 0;
	for (int threads = 1; threads <= 3; threads += 2) {
		KernelSet *ks = ir_parse_set(ir_new(a), name, text, strlen(text), &err);
		ck_assert_msg(ks != NULL, "%s: %s", name, err.text);
		target_host(&host, threads);
		const KernelSet **set = codegen_nests(a, ks, &host, &n);
		if (set == NULL)
			continue;
		const Module **nest = arena_array(a, const Module *, n);
		for (size_t k = 0; k < n; k++) {
			Module *one = arena_new_of(a, Module);
			ck_assert_msg(codegen_compile(a, set[k], &host, &o, one, &err), "%s: %s: %s", name, err.place, err.text);
			nest[k] = one;
		}
		ck_assert_msg(codegen_join_nests(a, &host, nest, n, &m, &err), "%s: %s", name, err.text);
		all += n;
		ck_assert_msg(codegen_map(&m, &code, &err), "%s", err.text);
		tensors_copy(&got, a, in);
		run_team(code, &m, ks, &got, threads);
		char *wrong = tensors_differ(a, want, &got, tolerance);
		ck_assert_msg(wrong == NULL, "%s, %zu nests, %d threads: %s", name, n, threads, wrong);
		codegen_unmap(code);
	}
	return all;
}

/* How many kernels ran as nests. */
static size_t compare(const char *name, KernelSet *ks, Arena *a, Rng *rng, double tolerance)
{
	Tensors in, want, got;
	Target host;
	Module m;
	Mapped *code;
	Err err = { 0 };
	Text text = { .arena = a };
	target_host(&host, 1);
	tensors_make(&in, a, ks, rng);
	tensors_copy(&want, a, &in);
	ir_print_set(&text, ks);
	InterpRun how = { .seed = 1, .skip_races = true };
	ck_assert_msg(interp_run_set(ks, want.arg, want.n, &how, &err), "%s: %s: %s", name, err.place, err.text);
	CodegenOptions o = { .exact = tolerance == 0 };
	if (!codegen_compile(a, ks, &host, &o, &m, &err)) {
		ck_assert_msg(err.code == ERR_UNSUPPORTED, "%s: %s: %s", name, err.place, err.text);
		printf("%s: %s: %s\n", name, err.place, err.text);
		return 0;
	}
	ck_assert_msg(codegen_map(&m, &code, &err), "%s", err.text);
	for (int threads = 1; threads <= 4; threads++) {
		tensors_copy(&got, a, &in);
		run_team(code, &m, ks, &got, threads);
		char *wrong = tensors_differ(a, &want, &got, tolerance);
		if (wrong != NULL)
			printf("%s\n", text.at);
		ck_assert_msg(wrong == NULL, "%s, %d threads: %s", name, threads, wrong);
	}
	codegen_unmap(code);
	return ir_set_has_kind(ks, FN_PREPARE) ? 0 : compare_nests(name, text_str(&text), a, &in, &want, tolerance);
}

START_TEST(random_teams)
{
	int rounds = getenv("DLC_TEST_ALL") != NULL ? 100 : 20;
	for (int k = 0; k < rounds; k++) {
		uint64_t seed = 0x7ea40000u + (uint64_t)(_i * rounds + k);
		Rng rng = rng_seed(seed);
		Arena *a = arena_new();
		KernelSet *ks = random_set(&rng, ir_new(a), RANDOM_ALL & ~(RANDOM_LIBM | RANDOM_SPECIAL), 4);
		compare(arena_printf(a, "seed %llx", (unsigned long long)seed), ks, a, &rng, 0);
		arena_free(a);
	}
}
END_TEST

/* Sums in another order, libm: within a small part of the value, if it is not about 0. */
static const struct {
	const char *name;
	double tolerance;
} hard[] = {
	{ "winograd", 1e-3 },
	{ "winograd.naive", 1e-3 },
	{ "flash", 1e-3 },
	{ "flash.naive", 1e-3 },
	{ "flash_monoid", 1e-3 },
	{ "flash_monoid.naive", 1e-3 },
	{ "splitk", 1e-3 },
	{ "splitk.naive", 1e-3 },
	{ "async_mma", 1e-3 },
	{ "async_mma.naive", 1e-3 },
	{ "vnni", 0 },
	{ "vnni.naive", 0 },
	{ "ring", 1e-3 },
	{ "ring.naive", 1e-3 },
	{ "lstm", 1e-3 },
	{ "lstm.naive", 1e-3 },
	{ "symbolic", 1e-3 },
	{ "symbolic.naive", 1e-3 },
	{ "blocked", 1e-4 },
	{ "blocked.naive", 1e-4 },
	{ "blocked_vector", 1e-4 },
	{ "blocked_vector.naive", 1e-4 },
	{ "edges", 1e-4 },
	{ "edges.naive", 1e-4 },
	{ "argmax", 0 },
	{ "argmax.naive", 0 },
	{ "welford", 1e-3 },
	{ "welford.naive", 1e-3 },
};

START_TEST(hard_texts)
{
	Arena *a = arena_new();
	Rng rng = rng_seed(0x4a2du + (uint64_t)_i);
	Err err = { 0 };
	static char text[1 << 16];
	char *path = arena_printf(a, "%s/tests/hard/%s.ir", SOURCE_ROOT, hard[_i].name);
	FILE *f = fopen(path, "r");
	ck_assert_msg(f != NULL, "%s is missing", path);
	size_t n = fread(text, 1, sizeof text, f);
	fclose(f);
	KernelSet *ks = ir_parse_set(ir_new(a), hard[_i].name, text, n, &err);
	ck_assert_msg(ks != NULL, "%s: %s", err.place, err.text);
	compare(hard[_i].name, ks, a, &rng, hard[_i].tolerance);
	arena_free(a);
}
END_TEST

/* Rows of all sizes; rows at no multiples of theirs; rows among padding; rows that a later phase stores again. */
static const char *const streamed[] = {
	"fn k(x: in f32[96], y: out f32[96] streamed) {\n	for i in 0..12 parallel {\n"
	"		for j in 0..8 vector {\n			y[i * 8 + j] = x[i * 8 + j] * 2.0\n		}\n	}\n}\n",
	"fn k(x: in f32[96], y: out f32[96] streamed) {\n	for i in 0..6 parallel {\n"
	"		for j in 0..16 vector {\n			y[i * 16 + j] = x[i * 16 + j] * 2.0\n		}\n	}\n}\n",
	"fn k(x: in f32[96], y: out f32[96] streamed) {\n	for i in 0..4 parallel {\n"
	"		for j in 0..24 vector {\n			y[i * 24 + j] = x[i * 24 + j] * 2.0\n		}\n	}\n}\n",
	"fn k(x: in f16[96], y: out f16[96] streamed) {\n	for i in 0..6 parallel {\n"
	"		for j in 0..16 vector {\n			y[i * 16 + j] = x[i * 16 + j] + x[j]\n		}\n	}\n}\n",
	"fn k(x: in f16[96], y: out f16[96] streamed) {\n	for i in 0..4 parallel {\n"
	"		for j in 0..24 vector {\n			y[i * 24 + j] = x[i * 24 + j]\n		}\n	}\n}\n",
	"fn k(x: in bf16[96], y: out bf16[96] streamed) {\n	for i in 0..6 parallel {\n"
	"		for j in 0..16 vector {\n			y[i * 16 + j] = x[i * 16 + j] + x[j]\n		}\n	}\n}\n",
	"fn k(x: in u8[96], y: out u8[96] streamed) {\n	for i in 0..3 parallel {\n"
	"		for j in 0..32 vector {\n			y[i * 32 + j] = x[i * 32 + j] + u8(3)\n		}\n	}\n}\n",
	"fn k(x: in f64[96], y: out f64[96] streamed) {\n	for i in 0..24 parallel {\n"
	"		for j in 0..4 vector {\n			y[i * 4 + j] = x[i * 4 + j] * x[j]\n		}\n	}\n}\n",
	"fn k(x: in f32[96], y: out f32[97] streamed) {\n	y[0] = 7.0\n	for i in 0..12 parallel {\n"
	"		for j in 0..8 vector {\n			y[i * 8 + j + 1] = x[i * 8 + j]\n		}\n	}\n}\n",
	"fn k(x: in f32[24], y: out f32[24] map (i) -> [i / 16 : 2, i % 16 : 16] streamed) {\n"
	"	for i in 0..2 parallel {\n"
	"		for j in 0..16 vector {\n"
	"			block b(v: spatial 0..24 = i * 16 + j) where i * 16 + j < 24 {\n"
	"				y[v] = x[v]\n			}\n		}\n	}\n}\n",
	"fn k(x: in f32[6, 16], y: out f32[6, 16] map (i, j) -> [i + 1 : 8, j + 8 : 32] streamed) {\n"
	"	for i in 0..6 parallel {\n		for j in 0..16 vector {\n			y[i, j] = x[i, j]\n		}\n	}\n}\n",
	"fn k(x: in f32[96], y: out f32[96] streamed) {\n	for i in 0..6 parallel {\n"
	"		for j in 0..16 vector {\n			y[i * 16 + j] = x[i * 16 + j]\n		}\n	}\n"
	"	for k in 0..3 parallel {\n		for l in 0..16 vector {\n"
	"			y[64 - k * 32 + l] = x[k * 16 + l] + 1.0\n		}\n	}\n}\n",
};

START_TEST(streamed_outputs)
{
	Arena *a = arena_new();
	Rng rng = rng_seed(0x57e4u + (uint64_t)_i);
	Err err = { 0 };
	KernelSet *ks = ir_parse_set(ir_new(a), "streamed", streamed[_i], strlen(streamed[_i]), &err);
	ck_assert_msg(ks != NULL && ir_verify_set(ks, &err), "%s: %s", err.place, err.text);
	compare(arena_printf(a, "streamed %d", _i), ks, a, &rng, 0);
	arena_free(a);
}
END_TEST

#define WORK "fn k(x: in f32[96], w: work f32[96], v: work f32[96], y: out f32[96]) {\n"
#define EACH(i, how, store) "	for " i " in 0..96" how " {\n		" store "\n	}\n"

/* A nest reads what threads wrote in one before it, at other places. How many kernels for one thread and for three. */
static const struct {
	const char *text;
	size_t kernels;
} handed_on[] = {
	{ WORK EACH("i", " parallel", "w[i] = x[95 - i] * 2.0") EACH("k", " parallel", "y[k] = w[95 - k] + x[k]") "}\n",
		2 + 2 },
	{ WORK EACH("i", " parallel", "w[i] = x[i] * 3.0") EACH("j", "", "v[j] = w[95 - j] + 1.0")
		EACH("k", " parallel", "y[k] = v[95 - k] * w[k]") "}\n", 3 + 3 },
	{ WORK EACH("i", "", "w[i] = x[i] * 3.0") EACH("j", "", "v[j] = w[95 - j] + 1.0")
		EACH("k", " parallel", "y[k] = v[95 - k] * w[k]") "}\n", 3 + 2 },
	{ WORK EACH("i", " parallel", "w[i] = x[i]") "	w[5] = 4.0\n" EACH("j", " parallel", "v[j] = w[95 - j]")
		EACH("k", "", "y[k] = v[95 - k]") "}\n", 3 + 4 },
};

START_TEST(nests_hand_on)
{
	Arena *a = arena_new();
	Rng rng = rng_seed(0x4e57u + (uint64_t)_i);
	Err err = { 0 };
	const char *text = handed_on[_i].text;
	KernelSet *ks = ir_parse_set(ir_new(a), "handed on", text, strlen(text), &err);
	ck_assert_msg(ks != NULL && ir_verify_set(ks, &err), "%s: %s", err.place, err.text);
	ck_assert_uint_eq(compare(arena_printf(a, "handed on %d", _i), ks, a, &rng, 0), handed_on[_i].kernels);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("team");
	tcase_add_loop_test(tc, random_teams, 0, 5);
	tcase_add_loop_test(tc, hard_texts, 0, LEN(hard));
	tcase_add_loop_test(tc, streamed_outputs, 0, LEN(streamed));
	tcase_add_loop_test(tc, nests_hand_on, 0, LEN(handed_on));
	return run_code_suite("codegen-team", tc);
}
