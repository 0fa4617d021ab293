/*
 * The texts that show what the language can say. Each NAME.ir is compared with NAME.naive.ir, in
 * several random orders, on random inputs, exactly (to a tolerance) and modulo a prime (to the
 * bit); the faulty ones must fail, with the right words.
 */
#include "base/rng.h"
#include "ir/build.h"
#include "interp/interp.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct Pair {
	const char *name;
	double tol;      /* of the largest output; 0: the same bits */
	bool ints;       /* nothing to be had modulo a prime */
	const char *sym; /* a symbol and its values, ended by 0 */
	int64_t value[8];
} Pair;

/* Reassociated sums of a few dozen terms: 1e-5. Winograd F(4,3) loses about four bits more. */
static const Pair pairs[] = {
	{ "winograd", 1e-4, false, NULL, { 0 } },
	{ "flash", 1e-5, false, NULL, { 0 } },
	{ "flash_monoid", 1e-5, false, NULL, { 0 } },
	{ "splitk", 1e-5, false, NULL, { 0 } },
	{ "async_mma", 1e-5, false, NULL, { 0 } },
	{ "vnni", 0, true, NULL, { 0 } },
	{ "ring", 1e-5, false, NULL, { 0 } },
	{ "lstm", 1e-5, false, NULL, { 0 } },
	{ "symbolic", 1e-5, false, "M", { 1, 3, 4, 7, 16, 61 } },
	{ "blocked", 1e-6, false, NULL, { 0 } },
	{ "blocked_vector", 1e-6, false, NULL, { 0 } },
	{ "edges", 1e-5, false, NULL, { 0 } },
	{ "argmax", 0, false, NULL, { 0 } },
	{ "welford", 1e-5, false, NULL, { 0 } },
};

static const struct {
	const char *name;
	ErrCode code;
	const char *says, *at; /* parts of the sentence and of the place */
} faults[] = {
	{ "race_sum", ERR_RACE, "y[]", "total:5" },
	{ "race_shared", ERR_RACE, "s[", "shift:" },
	{ "race_second", ERR_RACE, "s[", "shift:" },
	{ "race_loops", ERR_RACE, "s[", "shift:" },
	{ "race_rounds", ERR_RACE, "s[", "shift:" },
	{ "race_first", ERR_RACE, "s[", "sum:" },
	{ "race_own", ERR_INPUT, "acc[0] is read and was never written", "pass:11" },
	{ "race_place", ERR_RACE, "s[0]", "turn:" },
	{ "race_twice", ERR_INPUT, "are both bound to block.x", "twice" },
	{ "divergent_short", ERR_RACE, "barrier block", "shift:7" },
	{ "race_blocks", ERR_RACE, "w[", "reverse:" },
	{ "race_vector", ERR_RACE, "y[", "prefix:7" },
	{ "race_flag", ERR_RACE, "part[", "last:" },
	{ "divergent_if", ERR_RACE, "barrier block", "half:7" },
	{ "divergent_two", ERR_RACE, "barrier block", "halves:" },
	{ "divergent_loop", ERR_RACE, "barrier block", "rounds:6" },
	{ "async_early", ERR_INPUT, "s[1, 0] is read before its async copy was waited for",
		"copy:14" },
	{ "async_other", ERR_RACE, "s[", "copy:" },
	{ "async_overwrite", ERR_INPUT, "s[0] is written while an async copy to it is under way",
		"copy:8" },
	{ "uninitialised", ERR_INPUT, "acc[0] is read and was never written", "rows:9" },
	{ "unwritten", ERR_INPUT, "y is not written completely", "most" },
	{ "outside", ERR_INPUT, "x[10] is outside of its shape, [10]", "copy:5" },
	{ "outside_padding", ERR_INPUT, "is outside of its shape, [24]", "copy:5" },
	{ "outside_window", ERR_INPUT, "leaves dimension 0: 4 elements from 8 on, of 10",
		"copy:10" },
	{ "ring_stale", ERR_INPUT, "t[0] is read, but another element now lies in its place",
		"diff:6" },
	{ "scan_order", ERR_INPUT, "takes step 3 after step -1", "run:4" },
	{ "iterator", ERR_INPUT, "iterator v of block copy is 10, outside of [0, 10)", "copy:5" },
	{ "zero_division", ERR_INPUT, "this statement divides by zero", "copy:3" },
};

/* One slip in a text that is right: the comparison, or the interpreter, must notice. */
static const struct {
	const char *name, *from, *to;
} slips[] = {
	{ "winograd", "5.0 * d[2]", "4.0 * d[2]" },
	{ "winograd", "/ 24.0 - g[1]", "/ 24.0 + g[1]" },
	{ "winograd", "h < 8", "h < 7" },
	{ "flash", "l[i3] * fix", "l[i3]" },
	{ "flash", "max top[0]", "min top[0]" },
	{ "flash_monoid", "al * exp(am - bm)", "al" },
	{ "flash_monoid", "weigh (m[0], l[0], a[0]) <- (m[1]",
		"weigh (m[1], l[1], a[1]) <- (m[1]" },
	{ "splitk", "before == i32(3)", "before == i32(2)" },
	{ "splitk", "barrier block\n\t\t\t\tif t", "if t" },
	{ "splitk", "part[split, tile", "part[0, tile" },
	{ "splitk", "count[tile] = i32(0)", "count[tile] = i32(1)" }, /* not zero for the next call */
	{ "splitk", "sum count[tile]", "sum count[0]" },
	{ "splitk", "if last[0] {", "if true {" },
	{ "async_mma", "wait 1", "wait 2" },
	{ "async_mma", "as[(k + 1) % 2", "as[k % 2" },
	{ "async_mma", "barrier block\n\t\t\t}", "}" },
	{ "async_mma", "wait 1\n\t\t\t\tbarrier block", "wait 1" },
	{ "vnni", "i32(-128)", "i32(-127)" },
	{ "vnni", "^ u8(128)", "" },
	{ "ring", "[h % 2 : 2", "[h % 1 : 1" },
	{ "ring", "min(3, 11 - h)", "min(3, 12 - h)" },
	{ "lstm", "vt: scan 0..5 = t", "vt: scan 0..5 = 4 - t" },
	{ "lstm", "for q in 0..4", "for q in 0..3" },
	{ "symbolic", "(M + 3) / 4", "M / 4" },
	{ "symbolic", "min(4, M - tile * 4)", "4" },
	{ "blocked", " where vc < 24", "" },
	{ "blocked_vector", " where m", "" },
	{ "edges", "x[h, at + vj + vk - 1]", "x[h, max(at + vj - 1, 0)]" },
	{ "argmax", "bv < av | av == bv & ai < bi", "bv < av" },
	{ "argmax", "vj * 4 + vs)", "vj * 4)" },
	{ "welford", "am + (bm - am) * bn", "am + (bm - am) * an" },
};

static Text read_text(Arena *a, const char *name)
{
	char path[512];
	snprintf(path, sizeof path, "%s/%s.ir", HARD_DIR, name);
	FILE *f = fopen(path, "rb");
	ck_assert_msg(f != NULL, "cannot open %s", path);
	Text t = { .arena = a };
	char buf[4096];
	for (size_t n; (n = fread(buf, 1, sizeof buf, f)) > 0;)
		text_put(&t, buf, n);
	fclose(f);
	return t;
}

static KernelSet *read_set(Arena *a, const char *name, bool legal)
{
	Text t = read_text(a, name);
	Err err = { 0 };
	KernelSet *ks = ir_parse_set(ir_new(a), name, text_str(&t), t.n, &err);
	ck_assert_msg(ks != NULL, "%s: %s", err.place, err.text);
	if (legal)
		ck_assert_msg(ir_verify_set(ks, &err), "%s: %s: %s", name, err.place, err.text);
	return ks;
}

static const Buf *interface_buf(const KernelSet *ks, const char *name)
{
	for (size_t k = 0; k < ks->n; k++)
		for (int p = 0; ks->fn[k]->kind != FN_SUB && p < ks->fn[k]->nparam; p++)
			if (strcmp(ks->fn[k]->param[p].name, name) == 0)
				return ks->fn[k]->param[p].buf;
	return NULL;
}

/* The tensor of a buffer as one set lays it out. */
typedef struct Tensor {
	const char *name;
	const Buf *buf;
	unsigned char *data;
	int64_t n;   /* physical */
	int64_t shape[8], count;
	bool residues;
} Tensor;

static void shape_of(Tensor *t, const IrArg *sym)
{
	t->count = 1;
	for (int k = 0; k < t->buf->rank; k++) {
		if (!ir_is_int(t->buf->shape[k], &t->shape[k]))
			t->shape[k] = sym->value; /* the only symbol there is, by itself */
		t->count *= t->shape[k];
	}
}

/* Where logical element e lies; buffers with a map have constant shapes here. */
static int64_t place(const Tensor *t, int64_t e)
{
	int64_t idx[8];
	if (t->buf->map.n == 0)
		return e;
	for (int k = t->buf->rank - 1; k >= 0; e /= t->shape[k--])
		idx[k] = e % t->shape[k];
	return ir_buf_offset(t->buf, idx);
}

static void put(Tensor *t, int64_t at, Rng *r)
{
	DType d = t->buf->type;
	if (t->residues) {
		uint64_t v = rng_next(r);
		memcpy(t->data + 8 * at, &v, 8);
	} else if (d.kind == DT_FLOAT && d.bits == 32) {
		float f = (float)rng_normal(r);
		memcpy(t->data + 4 * at, &f, 4);
	} else if (d.kind == DT_FLOAT && d.bits == 16) { /* sixteenths in [1, 2) with a sign */
		uint16_t h = (uint16_t)(0x3c00 | (rng_next(r) & 0x83c0));
		memcpy(t->data + 2 * at, &h, 2);
	} else {
		uint64_t v = rng_next(r);
		memcpy(t->data + at * d.bits / 8, &v, d.bits < 8 ? 1 : d.bits / 8);
	}
}

static double get(const Tensor *t, int64_t at)
{
	DType d = t->buf->type;
	float f;
	int32_t i;
	int64_t l;
	if (dtype_is_float(d)) {
		memcpy(&f, t->data + 4 * at, 4);
		return (double)f;
	}
	if (d.bits == 64) {
		memcpy(&l, t->data + 8 * at, 8);
		return (double)l;
	}
	memcpy(&i, t->data + 4 * at, 4);
	return i;
}

static Tensor tensor(
	Arena *a, const KernelSet *ks, const char *name, const IrArg *sym, uint64_t seed, bool modp)
{
	Tensor t = { .name = name, .buf = interface_buf(ks, name) };
	ck_assert_msg(t.buf != NULL, "%s is not a parameter of both", name);
	t.residues = modp && dtype_is_float(t.buf->type);
	t.n = ir_buf_elements(t.buf, sym, 1);
	ck_assert_int_ge(t.n, 0);
	t.data = arena_alloc(a, (size_t)t.n * 8 + 8);
	shape_of(&t, sym);
	if (t.buf->role == BUF_OUT) {
		memset(t.data, 0xab, (size_t)t.n * 8);
		return t;
	}
	Rng all = rng_seed(seed), r = rng_fork(&all, name);
	for (int64_t e = 0; e < t.count; e++)
		put(&t, place(&t, e), &r);
	return t;
}

enum { TENSORS = 16 };

/* Runs a set on the interface of `naive`; returns the number of tensors. */
static int run_set(Arena *a, const KernelSet *ks, const KernelSet *naive, const IrArg *sym,
	const InterpRun *how, uint64_t data, Tensor *t, Err *err)
{
	IrArg arg[TENSORS + 1];
	int n = 0;
	const Fn *fn = naive->fn[naive->n - 1];
	for (int p = 0; p < fn->nparam; p++) {
		if (fn->param[p].buf->role == BUF_WORK)
			continue;
		t[n] = tensor(a, ks, fn->param[p].name, sym, data, how->domain == INTERP_MODP);
		arg[n] = (IrArg){ t[n].name, t[n].data, 0 };
		n++;
	}
	arg[n] = *sym;
	return interp_run_set(ks, arg, n + 1, how, err) ? n : -1;
}

static bool padding_is_zero(const Tensor *t)
{
	size_t bytes = t->residues ? 8 : t->buf->type.bits / 8;
	bool *reached = calloc((size_t)t->n + 1, 1), ok = true;
	for (int64_t e = 0; e < t->count; e++)
		reached[place(t, e)] = true;
	for (int64_t k = 0; k < t->n; k++)
		for (size_t b = 0; b < bytes && !reached[k]; b++)
			ok = ok && t->data[(size_t)k * bytes + b] == 0;
	free(reached);
	return ok;
}

/* NULL, or how the two differ. */
static const char *difference(Arena *a, const Pair *p, const Tensor *want, const Tensor *got)
{
	double top = 0, worst = 0;
	for (int64_t e = 0; e < want->count; e++) {
		if (want->residues) {
			uint64_t x, y;
			memcpy(&x, want->data + 8 * place(want, e), 8);
			memcpy(&y, got->data + 8 * place(got, e), 8);
			if (!interp_modp_same(x, y))
				return arena_printf(
					a, "%s differs at %lld modulo p", want->name, (long long)e);
			continue;
		}
		double x = get(want, place(want, e)), y = get(got, place(got, e));
		top = fmax(top, fabs(x));
		worst = fmax(worst, isnan(y) ? INFINITY : fabs(x - y));
	}
	if (worst > p->tol * top)
		return arena_printf(a, "%s is off by %g of %g", want->name, worst, top);
	return padding_is_zero(got) ? NULL
	                            : arena_printf(a, "padding of %s is not zero", want->name);
}

/* NULL, or what was wrong with ks on the inputs of `seed`. */
static const char *run_pair(Arena *a, const Pair *p, const KernelSet *naive, const KernelSet *ks,
	int64_t value, InterpDomain domain, uint64_t seed)
{
	Tensor want[TENSORS], got[TENSORS];
	IrArg sym = { p->sym ? p->sym : "", NULL, value };
	InterpRun how = { .seed = seed, .domain = domain, .steps = 50000000 };
	Err err = { 0 };
	int n = run_set(a, naive, naive, &sym, &how, seed, want, &err);
	ck_assert_msg(n > 0, "%s, naive: %s: %s", p->name, err.place, err.text);
	const char *wrong = NULL;
	for (int skip = 0; skip < 2 && wrong == NULL; skip++) {
		how.skip_races = skip;
		if (run_set(a, ks, naive, &sym, &how, seed, got, &err) != n)
			return arena_printf(a, "%s: %s", err.place, err.text);
		for (int k = 0; k < n && wrong == NULL; k++)
			if (want[k].buf->role == BUF_OUT || want[k].buf->role == BUF_INOUT)
				wrong = difference(a, p, &want[k], &got[k]);
	}
	return wrong;
}

static const char *run_domains(
	const Pair *p, const KernelSet *naive, const KernelSet *ks, uint64_t seed, Arena *out)
{
	const char *wrong = NULL;
	for (int v = 0; (v == 0 || p->value[v] != 0) && wrong == NULL; v++)
		for (int d = 0; d < (p->ints ? 1 : 2) && wrong == NULL; d++) {
			Arena *a = arena_new();
			wrong = run_pair(
				a, p, naive, ks, p->value[v], d ? INTERP_MODP : INTERP_EXACT, seed);
			wrong = wrong ? arena_printf(out, "%s", wrong) : NULL;
			arena_free(a);
		}
	return wrong;
}

START_TEST(hard_equals_naive)
{
	const Pair *p = &pairs[_i];
	Arena *a = arena_new();
	KernelSet *naive = read_set(a, arena_printf(a, "%s.naive", p->name), true),
		  *ks = read_set(a, p->name, true);
	int seeds = getenv("DLC_TEST_ALL") != NULL ? 200 : 8;
	for (int seed = 1; seed <= seeds; seed++) {
		const char *wrong = run_domains(p, naive, ks, (uint64_t)seed, a);
		ck_assert_msg(wrong == NULL, "%s: %s, seed %d", p->name, wrong, seed);
	}
	arena_free(a);
}
END_TEST

static const Pair *find_pair(const char *name)
{
	for (int k = 0; k < LEN(pairs); k++)
		if (strcmp(pairs[k].name, name) == 0)
			return &pairs[k];
	ck_abort_msg("no pair %s", name);
}

START_TEST(slip_is_noticed)
{
	const Pair *p = find_pair(slips[_i].name);
	Arena *a = arena_new();
	KernelSet *naive = read_set(a, arena_printf(a, "%s.naive", p->name), true);
	Text right = read_text(a, p->name), text = { .arena = a };
	char *at = strstr(right.at, slips[_i].from);
	ck_assert_msg(at != NULL, "%s has no %s", p->name, slips[_i].from);
	text_put(&text, right.at, (size_t)(at - right.at));
	text_add(&text, "%s%s", slips[_i].to, at + strlen(slips[_i].from));
	Err err = { 0 };
	KernelSet *ks = ir_parse_set(ir_new(a), p->name, text_str(&text), text.n, &err);
	ck_assert_msg(ks != NULL, "%s: %s", err.place, err.text);
	const char *wrong = ir_verify_set(ks, &err) ? NULL : err.text;
	for (uint64_t seed = 1; seed <= 3 && wrong == NULL; seed++)
		wrong = run_domains(p, naive, ks, seed, a);
	ck_assert_msg(wrong != NULL, "%s: nobody noticed %s instead of %s", p->name, slips[_i].to,
		slips[_i].from);
	if (getenv("DLC_TEST_VERBOSE") != NULL)
		printf("%s, %s: %s\n", p->name, slips[_i].to, wrong);
	arena_free(a);
}
END_TEST

START_TEST(hard_reads_back)
{
	Arena *a = arena_new();
	KernelSet *ks = read_set(a, pairs[_i].name, true);
	const char *text = ir_set_str(a, ks);
	Err err = { 0 };
	KernelSet *back = ir_parse_set(ir_new(a), "printed", text, strlen(text), &err);
	ck_assert_msg(back != NULL, "%s: %s: %s", pairs[_i].name, err.place, err.text);
	ck_assert_str_eq(text, ir_set_str(a, back));
	arena_free(a);
}
END_TEST

START_TEST(fault_is_found)
{
	Arena *a = arena_new();
	KernelSet *ks = read_set(a, faults[_i].name, false);
	for (uint64_t seed = 1; seed <= 20; seed++) { /* whatever the order */
		Tensor t[TENSORS];
		IrArg sym = { "", NULL, 0 };
		InterpRun how = { .seed = seed, .steps = 1000000 };
		Err err = { 0 };
		int n = run_set(a, ks, ks, &sym, &how, seed, t, &err);
		ck_assert_msg(n < 0, "%s: nothing was found, seed %d", faults[_i].name, (int)seed);
		ck_assert_msg(err.code == faults[_i].code &&
				      strstr(err.text, faults[_i].says) != NULL &&
				      strstr(err.place, faults[_i].at) != NULL,
			"%s: code %d: %s: %s", faults[_i].name, (int)err.code, err.place, err.text);
	}
	arena_free(a);
}
END_TEST

/* A random number, line or pair of lines changed. */
static void mutate(Text *t, Rng *r)
{
	char *at = t->at + rng_below(r, t->n);
	static const char *const number[] = { "0", "1", "2", "5", "9", "64" };
	char *digit = at + strcspn(at, "0123456789");
	char *line = at + strcspn(at, "\n"),
	     *end = *line ? line + 1 + strcspn(line + 1, "\n") : line;
	Text out = { .arena = t->arena };
	if (rng_below(r, 3) != 0 && *digit) {
		text_put(&out, t->at, (size_t)(digit - t->at));
		text_add(&out, "%s%s", number[rng_below(r, 6)], digit + 1);
	} else { /* a line left out, or written twice */
		bool twice = rng_next(r) & 1;
		text_put(&out, t->at, (size_t)(end - t->at));
		out.n = twice ? out.n : (size_t)(line - t->at);
		text_add(&out, "%.*s%s", twice ? (int)(end - line) : 0, line, end);
	}
	*t = out;
}

/* What the verifier lets pass may be wrong, but it runs or is refused. */
START_TEST(mutants_do_no_harm)
{
	uint64_t seed = getenv("DLC_TEST_ALL") != NULL ? (uint64_t)time(NULL) : 1;
	int rounds = getenv("DLC_TEST_ALL") != NULL ? 2000 : 300, legal = 0, ran = 0;
	Rng r = rng_seed(seed + (uint64_t)_i);
	Arena *keep = arena_new();
	KernelSet *naive = read_set(keep, arena_printf(keep, "%s.naive", pairs[_i].name), true);
	for (int k = 0; k < rounds; k++) {
		Arena *a = arena_new();
		Text text = read_text(a, pairs[_i].name);
		for (int n = (int)rng_range(&r, 1, 3); n > 0; n--)
			mutate(&text, &r);
		KernelSet *ks = ir_parse_set(ir_new(a), "mutant", text.at, text.n, NULL);
		bool whole = ks != NULL && ir_verify_set(ks, NULL);
		const Fn *last = naive->fn[naive->n - 1];
		for (int p = 0; whole && p < last->nparam; p++)
			whole = interface_buf(ks, last->param[p].name) != NULL;
		if (whole) {
			Tensor t[TENSORS];
			IrArg sym = { pairs[_i].sym ? pairs[_i].sym : "", NULL, 3 };
			InterpRun how = { .seed = rng_next(&r),
				.domain = rng_next(&r) & 1,
				.steps = 300000,
				.memory = 1 << 26,
				.partial = true };
			legal++;
			ran += run_set(a, ks, naive, &sym, &how, seed, t, NULL) > 0;
		}
		arena_free(a);
	}
	arena_free(keep);
	ck_assert_msg(legal > rounds / 20 && ran > 0, "seed %llu: %d legal, %d ran",
		(unsigned long long)seed, legal, ran);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("hard");
	tcase_add_loop_test(tc, hard_equals_naive, 0, LEN(pairs));
	tcase_add_loop_test(tc, slip_is_noticed, 0, LEN(slips));
	tcase_add_loop_test(tc, hard_reads_back, 0, LEN(pairs));
	tcase_add_loop_test(tc, mutants_do_no_harm, 0, LEN(pairs));
	tcase_add_loop_test(tc, fault_is_found, 0, LEN(faults));
	return run_suite("hard", tc);
}
