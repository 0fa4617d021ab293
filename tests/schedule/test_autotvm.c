/*
 * The space of dlc's template contains schedules of AutoTVM's template of convolutions for CUDA (conv2d_nchw.cuda). The
 * best schedules that TVM publishes (TopHub, cuda_v0.10.log, records of Titan X and TX2) are configs of it, with the
 * same blocks and threads. A published axis has blocks, virtual threads, threads and neighbours; a reduction has rounds
 * and what a round takes.
 */
#include "equal.h"
#include "suite.h"

#include "ir/query.h"
#include "ir/threads/form.h"
#include "schedule/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Published {
	const char *dag;
	int64_t axis[3][4];    /* filters, rows, columns */
	int64_t channels, taps[2]; /* of a round */
} Published;

#define CONV(c, h, w, o, kh, kw, attrs, oh, ow) \
	"dag c\nin x: f32[1," #c "," #h "," #w "]\nconst w: f32[" #o "," #c "," #kh "," #kw "]\n" \
	"y: f32[1," #o "," #oh "," #ow "] = conv(x, w)" attrs "\nout y\n"

static const Published published[] = {
	{ CONV(2048, 8, 8, 192, 1, 1, "", 8, 8), { { 6, 1, 32, 1 }, { 4, 1, 2, 1 }, { 1, 1, 8, 1 } }, 32, { 1, 1 } },
	{ CONV(2048, 8, 8, 448, 1, 1, "", 8, 8), { { 28, 2, 8, 1 }, { 2, 2, 2, 1 }, { 1, 1, 8, 1 } }, 32, { 1, 1 } },
	{ CONV(384, 8, 8, 384, 3, 1, " pads=[1,0,1,0]", 8, 8), { { 24, 2, 8, 1 }, { 4, 1, 2, 1 }, { 1, 1, 8, 1 } }, 24,
		{ 3, 1 } },
	{ CONV(192, 17, 17, 192, 3, 3, " strides=[2,2]", 8, 8), { { 12, 1, 16, 1 }, { 8, 1, 1, 1 }, { 1, 1, 8, 1 } }, 6,
		{ 3, 1 } },
	{ CONV(192, 17, 17, 320, 3, 3, " strides=[2,2]", 8, 8), { { 10, 1, 16, 2 }, { 4, 1, 2, 1 }, { 1, 1, 4, 2 } }, 4,
		{ 3, 3 } },
	{ CONV(192, 17, 17, 192, 7, 1, " pads=[3,0,3,0]", 17, 17), { { 8, 4, 6, 1 }, { 17, 1, 1, 1 }, { 1, 1, 17, 1 } }, 6,
		{ 1, 1 } },
	{ CONV(192, 17, 17, 192, 1, 7, " pads=[0,3,0,3]", 17, 17), { { 8, 1, 6, 4 }, { 17, 1, 1, 1 }, { 1, 1, 17, 1 } }, 6,
		{ 1, 1 } },
	{ CONV(128, 17, 17, 192, 1, 7, " pads=[0,3,0,3]", 17, 17), { { 6, 4, 8, 1 }, { 17, 1, 1, 1 }, { 1, 1, 17, 1 } }, 8,
		{ 1, 7 } },
	{ CONV(1024, 14, 14, 512, 1, 1, "", 14, 14), { { 16, 4, 4, 2 }, { 2, 1, 7, 1 }, { 1, 7, 2, 1 } }, 8, { 1, 1 } },
	{ CONV(864, 14, 14, 128, 1, 1, "", 14, 14), { { 4, 4, 8, 1 }, { 2, 7, 1, 1 }, { 1, 1, 14, 1 } }, 8, { 1, 1 } },
	{ CONV(704, 7, 7, 128, 1, 1, "", 7, 7), { { 2, 2, 16, 2 }, { 1, 1, 1, 7 }, { 1, 1, 7, 1 } }, 32, { 1, 1 } },
	{ CONV(608, 7, 7, 128, 1, 1, "", 7, 7), { { 4, 2, 16, 1 }, { 1, 7, 1, 1 }, { 1, 1, 7, 1 } }, 38, { 1, 1 } },
};

/* The config with that option of the knob. A knob with one option is not asked: that must be `only`. */
static Config with(Space *s, const Config *c, const char *name, const char *want, const char *only)
{
	Text all = { .arena = s->arena };
	for (int at = 0; at < c->n; at++) {
		const Knob *k = space_knob(s, c, at);
		for (int o = 0; strcmp(k->name, name) == 0 && o < k->n; o++) {
			Text option = { .arena = s->arena };
			knob_print_option(&option, &k->option[o]);
			if (strcmp(text_str(&option), want) == 0)
				return space_move(s, c, at, o);
			text_add(&all, " %s", text_str(&option));
		}
	}
	ck_assert_msg(all.n == 0, "%s=%s is not offered, but%s", name, want, text_str(&all));
	ck_assert_msg(strcmp(want, only) == 0, "%s=%s is not asked for", name, want);
	return *c;
}

static Config with_number(Space *s, const Config *c, const char *name, int axis, int64_t want)
{
	char full[32], number[32];
	snprintf(full, sizeof full, axis < 0 ? "%s" : "%s.%d", name, axis);
	snprintf(number, sizeof number, "%lld", (long long)want);
	return with(s, c, full, number, "1");
}

static Config config_of(Space *s, const Published *p)
{
	char taps[32];
	Config c = with(s, &s->first, "algorithm", "direct", "direct");
	c = with(s, &c, "tiles", "direct", "");
	c = with(s, &c, "threads", "other", "");
	for (int k = 0; k < 3; k++)
		c = with_number(s, &c, "threads", k, p->axis[k][2]);
	c = with(s, &c, "tile", "other", "");
	for (int k = 0; k < 3; k++)
		c = with_number(s, &c, "tile", k, p->axis[k][1] * p->axis[k][3]);
	for (int k = 0; k < 3; k++) /* of one thread, virtual ones are neighbours */
		c = with_number(s, &c, "virtual", k, p->axis[k][2] > 1 ? p->axis[k][1] : 1);
	snprintf(taps, sizeof taps, "%lldx%lld", (long long)p->taps[0], (long long)p->taps[1]);
	c = with(s, &c, "taps", taps, "1x1");
	return with_number(s, &c, "round", -1, p->channels);
}

typedef struct Sizes {
	int64_t grid, block;
} Sizes;

static bool see_bound(Stmt *s, void *arg)
{
	Sizes *x = arg;
	int64_t hi;
	AxisKind kind = ir_axis_of(s, NULL);
	if (kind == AXIS_GRID && ir_is_int(s->loop.hi, &hi))
		x->grid *= hi;
	if (kind == AXIS_BLOCK && ir_is_int(s->loop.hi, &hi))
		x->block = hi > x->block ? hi : x->block;
	return true;
}

START_TEST(published_schedules_are_configs)
{
	const Published *p = &published[_i];
	Arena *a = arena_new();
	Err err = { 0 };
	Target t = named_target("cuda:gtx1080ti", 1);
	Task *task = task_of(a, p->dag);
	Space *s = space_new(a, task, &t, &err);
	ck_assert_msg(s != NULL, "%s", err.text);
	Config c = config_of(s, p);
	Trace *trace = space_trace(s, &c, a, &err);
	const KernelSet *ks = trace != NULL ? schedule_draft(ir_new(a), task, &t, trace, &err) : NULL;
	ck_assert_msg(ks != NULL, "%s", err.text);
	Sizes want = { 1, 1 };
	for (int k = 0; k < 3; k++) {
		want.grid *= p->axis[k][0];
		want.block *= p->axis[k][2];
	}
	for (size_t k = 0; k < ks->n; k++)
		for (Stmt *top = ks->fn[k]->kind == FN_RUN ? ks->fn[k]->body : NULL; top != NULL; top = top->next) {
			Sizes got = { 1, 1 };
			Stmt one = *top;
			one.next = NULL;
			ir_each_stmt(&one, see_bound, &got);
			ck_assert_int_eq(got.grid, want.grid);
			ck_assert_int_eq(got.block, want.block);
		}
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("autotvm");
	tcase_add_loop_test(tc, published_schedules_are_configs, 0, LEN(published));
	return run_suite("schedule-autotvm", tc);
}
