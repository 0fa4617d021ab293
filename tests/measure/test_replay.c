/*
 * Recorded spaces: they read back to the same text; what is damaged, cut off or of another version is refused by one
 * sentence; and a Measure made of them answers what was recorded and nothing else.
 */
#include "suite.h"

#include "base/rng.h"
#include "measure/replay.h"

#include <string.h>

static const char dag[] = "dag\nin v0: f32[4,6]\nv1: f32[4,6] = sqrt(v0)\nout v1\n";
static const char other_dag[] = "dag\nin v0: f32[4,6]\nv1: f32[4,6] = exp(v0)\nout v1\n";

static RecordedSpace small(Arena *a)
{
	RecordedRun run[] = {
		{ .config = "tile=1 order=row", .trace = "split h 2\nunroll h.i\n", .build_ns = 9000, .screen_ns = 70 },
		{ .config = "tile=1 order=column", .trace = "split h 2\n", .status = RUN_CRASH, .build_ns = 8000 },
		{ .config = "tile=2 order=row", .trace = "", .status = RUN_CONSTRAINT },
	};
	RecordedSpace s = { .epoch = 9,
		.size = 12,
		.estimate_ns = 5,
		.cold_bytes = 64,
		.machine = "a test",
		.noise = "none",
		.network = "none",
		.first = 1,
		.n = LEN(run),
		.run = arena_copy(a, run, sizeof run) };
	Err err = { 0 };
	s.task = task_parse(a, dag, strlen(dag), &err);
	ck_assert_msg(s.task != NULL, "%s: %s", err.place, err.text);
	target_host(&s.target, 1);
	recorded_add_time(&s.run[0], 300);
	recorded_add_time(&s.run[0], 100);
	recorded_add_time(&s.run[0], 120);
	return s;
}

static const char *printed(Arena *a, const RecordedSpace *s)
{
	Text text = { .arena = a };
	recorded_print(&text, s);
	return text_str(&text);
}

START_TEST(a_recorded_space_reads_back)
{
	Arena *a = arena_new();
	Err err = { 0 };
	RecordedSpace s = small(a), back;
	const char *text = printed(a, &s);
	ck_assert_msg(recorded_parse(a, "t", text, strlen(text), &back, &err), "%s: %s", err.place, err.text);
	ck_assert_str_eq(printed(a, &back), text);
	ck_assert_int_eq(back.run[0].median_ns, 120);
	ck_assert_str_eq(back.run[0].trace, s.run[0].trace);
	ck_assert(memcmp(&back.task->id, &s.task->id, sizeof s.task->id) == 0);
	arena_free(a);
}
END_TEST

/* Puts the right hash behind what stands before the old one. */
static const char *sealed(Arena *a, const char *text)
{
	char hex[HASH_HEX];
	size_t n = (size_t)(strstr(text, "\nhash ") - text) + 1;
	hash_hex(hash_of("dlc/recorded-space/v2", text, n), hex);
	return arena_printf(a, "%.*shash %s\n", (int)n, text, hex);
}

static const char *with(Arena *a, const char *text, const char *old, const char *new)
{
	const char *at = strstr(text, old);
	ck_assert_msg(at != NULL, "%s", old);
	return sealed(a, arena_printf(a, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old)));
}

static void refuses(Arena *a, const char *text, size_t n, const char *says)
{
	Err err = { 0 };
	RecordedSpace s;
	ck_assert(!recorded_parse(a, "t.space", text, n, &s, &err));
	ck_assert_msg(
		strncmp(err.place, "t.space", 7) == 0 && strstr(err.text, says) != NULL && strchr(err.text, '\n') == NULL,
		"%s: %s", err.place, err.text);
}

START_TEST(what_is_wrong_is_refused)
{
	static const char *const wrong[][3] = {
		{ "\"recorded_space\":2", "\"recorded_space\":3", "version 3" },
		{ "\"configs\":3", "\"configs\":4", "more lines than configs, or less" },
		{ "\"configs\":3", "\"configs\":2", "more lines than configs, or less" },
		{ "\"first\":1", "\"first\":3", "first" },
		{ "\"threads\":1", "\"threads\":0", "threads" },
		{ "order=column", "order=row", "twice" },
		{ "crash\t", "crash\t5", "do not fit" },
		{ "ok\t300,100,120", "ok\t", "do not fit" },
		{ "ok\t300", "ok\t-300", "do not fit" },
		{ "300,100", "300,,100", "do not fit" },
		{ "100,120", "100,120,", "do not fit" },
		{ "crash", "gone", "do not fit" },
		{ "\t9000", "\tnine", "no numbers" },
		{ "\t9000\t", "\t", "few columns" },
		{ "\t9000\t", "\t9000\t1\t", "many columns" },
		{ "in v0: f32[4,6]", "in v0: f32[4,6", "" },
	};
	Arena *a = arena_new();
	RecordedSpace s = small(a);
	const char *text = printed(a, &s);
	for (int i = 0; i < LEN(wrong); i++) {
		const char *changed = with(a, text, wrong[i][0], wrong[i][1]);
		Err err = { 0 };
		ck_assert_msg(!recorded_parse(a, "t.space", changed, strlen(changed), &s, &err), "%s", wrong[i][1]);
		ck_assert_msg(
			strstr(err.text, wrong[i][2]) != NULL && strchr(err.text, '\n') == NULL, "%s: %s", err.place, err.text);
	}
	arena_free(a);
}
END_TEST

/* Each cut, and a changed bit in each byte. */
START_TEST(damage_is_refused)
{
	Arena *a = arena_new();
	RecordedSpace s = small(a);
	const char *text = printed(a, &s);
	size_t n = strlen(text);
	Rng rng = rng_seed(1);
	for (size_t k = 0; k < n; k++) {
		char *changed = arena_copy(a, text, n + 1);
		refuses(a, text, k, "hash");
		changed[k] = (char)(changed[k] ^ (1 << rng_below(&rng, 8)));
		refuses(a, changed, n, "hash");
	}
	arena_free(a);
}
END_TEST

static MeasureResult answer(Measure *m, MeasureRef *ref, const char *trace)
{
	MeasureResult out = { 0 };
	MeasureJob job = { .trace = trace, .ref = ref, .user = &out };
	ck_assert(measure_submit(m, &job, NULL) && measure_pending(m) == 1 && measure_wait(m, 0, &out));
	ck_assert(measure_pending(m) == 0 && out.user == &out && !measure_wait(m, 0, &out));
	return out;
}

START_TEST(a_recording_answers_what_it_has)
{
	Arena *a = arena_new();
	Err err = { 0 };
	RecordedSpace s = small(a);
	const RecordedSpace *spaces[] = { &s };
	Measure *m = measure_replay(spaces, 1);
	MeasureRef *ref = measure_reference(m, s.task, 1, &err);
	ck_assert(ref != NULL);
	MeasureResult ran = answer(m, ref, s.run[0].trace), crashed = answer(m, ref, s.run[1].trace);
	ck_assert(ran.status == RUN_OK && ran.median_ns == 120 && ran.min_ns == 100 && ran.samples == 3);
	ck_assert(crashed.status == RUN_CRASH && crashed.median_ns == 0);
	MeasureResult unknown = answer(m, ref, "split h 3\n");
	ck_assert(unknown.status == RUN_DEVICE_LOST && unknown.median_ns == 0);
	ck_assert_str_eq(unknown.detail, "the recording has no such candidate");
	Task *other = task_parse(a, other_dag, strlen(other_dag), &err);
	ck_assert(other != NULL && measure_reference(m, other, 1, &err) == NULL && err.code == ERR_MISSING);
	measure_close(m);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("replay");
	tcase_add_test(tc, a_recorded_space_reads_back);
	tcase_add_test(tc, what_is_wrong_is_refused);
	tcase_add_test(tc, damage_is_refused);
	tcase_add_test(tc, a_recording_answers_what_it_has);
	return run_suite("replay", tc);
}
