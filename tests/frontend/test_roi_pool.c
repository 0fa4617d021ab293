/* The greatest elements of bins of regions (frontend/node/roi_pool.h), beside plain loops. */
#include "folder.h"

#include "base/rng.h"
#include "evaluate.h"

#include <math.h>

/* Bin (i, j) of ph by pw of a region of a plane, as Fast R-CNN computes it. */
static float pooled(const float *x, int h, int w, const float *r, float scale, int ph, int pw, int i, int j)
{
	int at[4], from[2], to[2], n[] = { w, h }, bin[] = { j, i }, bins[] = { pw, ph };
	for (int k = 0; k < 4; k++)
		at[k] = (int)roundf(r[k] * scale);
	for (int k = 0; k < 2; k++) {
		int size = at[2 + k] - at[k] + 1;
		float each = (float)(size > 1 ? size : 1) / (float)bins[k];
		from[k] = (int)floorf((float)bin[k] * each) + at[k];
		to[k] = (int)ceilf((float)(bin[k] + 1) * each) + at[k];
		from[k] = from[k] < 0 ? 0 : from[k];
		to[k] = to[k] > n[k] ? n[k] : to[k];
	}
	float most = from[0] < to[0] && from[1] < to[1] ? -INFINITY : 0;
	for (int y = from[1]; y < to[1]; y++)
		for (int k = from[0]; k < to[0]; k++)
			most = fmaxf(most, x[y * w + k]);
	return most;
}

/* Regions inside, outside, reversed and far larger than the image; halves round away from 0. */
START_TEST(regions_are_pooled)
{
	enum { IMAGES = 3, CHANNELS = 2, COUNT = 24 };
	static const struct {
		int h, w, ph, pw;
		float scale;
	} rows[] = { { 9, 13, 3, 2, 1 }, { 16, 8, 7, 7, 0.5f }, { 1, 5, 2, 3, 0.0625f }, { 7, 1, 1, 1, 2 } };
	Arena *a = arena_new();
	Err err = { 0 };
	Rng seed = rng_seed(41), rng = rng_fork(&seed, "regions");
	int h = rows[_i].h, w = rows[_i].w, ph = rows[_i].ph, pw = rows[_i].pw;
	float x[IMAGES * CHANNELS * 9 * 16], r[COUNT][5];
	for (int k = 0; k < LEN(x); k++)
		x[k] = (float)rng_real(&rng) - 0.75f;
	for (int k = 0; k < COUNT; k++) {
		r[k][0] = (float)(k % IMAGES);
		for (int i = 0; i < 4; i++)
			r[k][1 + i] = floorf(((float)rng_real(&rng) * 4 - 1.5f) * (float)(i % 2 ? h : w)) / 2 / rows[_i].scale;
	}
	Dag *d = load_text(a,
		arena_printf(a,
			"opset 22\nin x f32 %d,%d,%d,%d\nin r f32 %d,5\nnode MaxRoiPool x,r -> y pooled_shape=[%d,%d] "
			"spatial_scale=%.4f\nout y\n",
			IMAGES, CHANNELS, h, w, COUNT, ph, pw, (double)rows[_i].scale),
		NULL, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	void **out = evaluate(a, d, (const void *const[]){ x, r }, &err);
	ck_assert_msg(out != NULL, "%s", err.text);
	for (int k = 0; k < COUNT * CHANNELS * ph * pw; k++) {
		int region = k / (CHANNELS * ph * pw), plane = region % IMAGES * CHANNELS + k / (ph * pw) % CHANNELS;
		float want = pooled(x + plane * h * w, h, w, r[region] + 1, rows[_i].scale, ph, pw, k / pw % ph, k % pw);
		ck_assert_float_eq(((const float *)out[0])[k], want);
	}
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("roi-pool");
	tcase_add_loop_test(tc, regions_are_pooled, 0, 4);
	return run_suite("roi-pool", tc);
}
