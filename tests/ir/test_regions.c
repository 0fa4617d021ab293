/*
 * Regions: golden hulls, and random nests in which every access that running them makes must lie
 * in the region of each statement around it.
 */
#include "ir/region/region.h"
#include "suite.h"
#include "trace.h"

static Arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static KernelSet *parse(Ir *ir, const char *text)
{
	Err err = { 0 };
	KernelSet *ks = ir_parse_set(ir, "case", text, strlen(text), &err);
	ck_assert_msg(ks != NULL, "%s: %s: %s", text, err.place, err.text);
	return ks;
}

static const Stmt *find_stmt(const Stmt *s, const char *name)
{
	for (; s != NULL; s = s->next) {
		const Stmt *inner = NULL;
		if (s->kind == ST_FOR && strcmp(s->loop.var, name) == 0)
			return s;
		if (s->kind == ST_BLOCK && strcmp(s->block.name, name) == 0)
			return s;
		if (s->kind == ST_FOR)
			inner = find_stmt(s->loop.body, name);
		else if (s->kind == ST_BLOCK)
			inner = find_stmt(s->block.body, name);
		else if (s->kind == ST_IF)
			inner = find_stmt(s->branch.then, name);
		else if (s->kind == ST_ASYNC)
			inner = find_stmt(s->async, name);
		if (inner != NULL)
			return inner;
	}
	return NULL;
}

static const char *show(const Region *r, int n)
{
	Text t = { .arena = arena };
	for (int i = 0; i < n; i++) {
		text_add(&t, "%s%s%s %s[", i > 0 ? "; " : "", r[i].read ? "r" : "",
			r[i].write ? "w" : "", r[i].buf);
		for (int k = 0; k < r[i].n; k++)
			text_add(&t, "%s%s..%s", k > 0 ? ", " : "", ir_expr_str(arena, r[i].lo[k]),
				ir_expr_str(arena, r[i].hi[k]));
		text_add(&t, "]");
	}
	return text_str(&t);
}

static const struct {
	const char *text, *at, *want;
} cases[] = {
#include "regions_cases.def"
};

/* Of a buffer alone is what is found of it among all; expressions that are equal are one. */
static void check_each_alone(Ir *ir, const Fn *fn, const KernelSet *ks, const Stmt *s, const Region *r, int n)
{
	ck_assert_ptr_null(ir_region_of(ir, fn, ks, s, "no.such.buffer"));
	for (int i = 0; i < n; i++) {
		const Region *own = ir_region_of(ir, fn, ks, s, r[i].buf);
		ck_assert_ptr_nonnull(own);
		ck_assert(own->buf == r[i].buf && own->read == r[i].read && own->write == r[i].write);
		ck_assert_int_eq(own->n, r[i].n);
		for (int k = 0; k < own->n; k++)
			ck_assert(own->lo[k] == r[i].lo[k] && own->hi[k] == r[i].hi[k]);
	}
}

START_TEST(regions_are)
{
	Ir *ir = ir_new(arena);
	KernelSet *ks = parse(ir, cases[_i].text);
	const Fn *fn = ks->fn[ks->n - 1];
	const Stmt *s = find_stmt(fn->body, cases[_i].at);
	ck_assert_msg(s != NULL, "no %s", cases[_i].at);
	int n;
	const Region *r = ir_regions(ir, fn, ks, s, &n);
	ck_assert_str_eq(show(r, n), cases[_i].want);
	check_each_alone(ir, fn, ks, s, r, n);
}
END_TEST

typedef struct Watch {
	const Region *region;
	int n;
	const char *text;
} Watch;

static void check_inside(Trace *t, size_t first, void *arg)
{
	const Watch *w = arg;
	for (size_t i = first; i < t->touch.n; i++) {
		Touch *a = &t->touch.at[i];
		const Region *r = NULL;
		for (int k = 0; k < w->n; k++)
			if (strcmp(w->region[k].buf, a->buf) == 0)
				r = &w->region[k];
		ck_assert_ptr_nonnull(r);
		ck_assert(a->write ? r->write : r->read);
		for (int k = 0; k < a->n; k++) {
			int64_t at = a->at[k], lo = trace_eval(t, r->lo[k]),
				hi = trace_eval(t, r->hi[k]);
			ck_assert_msg(lo <= at && at < hi,
				"%s\n%s: %s[%d] is %lld, not in %s..%s = %lld..%lld", w->text,
				vars_show(&t->v), a->buf, k, (long long)at,
				ir_expr_str(arena, r->lo[k]), ir_expr_str(arena, r->hi[k]),
				(long long)lo, (long long)hi);
		}
	}
}

static void check_nest(Ir *ir, Fn *fn, const Stmt *s)
{
	KernelSet *ks = ir_set_new(ir);
	ir_set_add(ks, fn);
	Text text = { .arena = arena };
	ir_print_fn(&text, fn);
	text_add(&text, "regions of:\n");
	Stmt alone = *s;
	alone.next = NULL;
	ir_print_stmt(&text, &alone, 0);
	Watch w = { .text = text_str(&text) };
	w.region = ir_regions(ir, fn, ks, s, &w.n);
	check_each_alone(ir, fn, ks, s, w.region, w.n);
	for (int64_t n = 1; n <= 9; n += 2) {
		Trace t = { .v = { .ir = ir }, .watched = s, .check = check_inside, .arg = &w };
		bind_name(&t, fn->sym[0].name, n);
		trace_list(&t, fn->body);
	}
}

START_TEST(every_access_lies_in_its_regions)
{
	Rng seed = rng_seed(77), r = rng_fork(&seed, _i == 0 ? "a" : "b");
	int count = getenv("DLC_TEST_ALL") != NULL ? 5000 : 120;
	for (int k = 0; k < count; k++) {
		teardown();
		setup();
		NestGen g = { .ir = ir_new(arena), .r = &r };
		Fn *fn = nest_fn(&g);
		for (int j = 0; j < 3; j++)
			check_nest(g.ir, fn, g.all.at[rng_below(&r, g.all.n)]);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("regions");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, regions_are, 0, LEN(cases));
	tcase_add_loop_test(tc, every_access_lies_in_its_regions, 0, 2);
	return run_suite("ir-regions", tc);
}
