/*
 * Memory of a worker's buffers, called as functions: what is kept for the next, where constants lie, that
 * making caches cold changes no byte and maps no page anew, and when looks at the last cache decide.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "suite.h"

#include "runtime/device.h"
#include "worker/sampling.h"
#include "worker/worker.h"

enum { MIB = 1 << 20, LIVE = 40, STEPS = 20000 };

static uint32_t draw(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % below;
}

static void no_overlap(const Area *live, int n, Area a)
{
	for (int i = 0; i < n; i++)
		ck_assert(a.data + a.bytes <= live[i].data || live[i].data + live[i].bytes <= a.data);
}

/* Whatever is taken and left, in any order: areas are large enough, not much too large, and nobody else's. */
START_TEST(areas)
{
	static Worker w;
	Area live[LIVE];
	DlcError err;
	int n = 0, again = 0;
	uint64_t seed = 7;
	ck_assert_int_eq(worker_open(&w, &device_cpu, 0, &err), DLC_OK);
	for (int step = 0; step < STEPS; step++) {
		if (n < LIVE && (n == 0 || draw(&seed, 2) == 0)) {
			size_t bytes = draw(&seed, 20) == 0 ? (size_t)draw(&seed, 40 * MIB) : draw(&seed, 100000);
			bool mapped = draw(&seed, 2) == 0;
			int kept = w.site[SITE_HOST].nkept;
			Area a;
			ck_assert_int_eq(area_take(&w.site[SITE_HOST], bytes + 1, mapped, &a, &err), DLC_OK);
			again += w.site[SITE_HOST].nkept < kept;
			ck_assert_uint_ge(a.bytes, bytes + 1);
			ck_assert_uint_le(a.bytes / 2, bytes + 1);
			ck_assert_int_eq(a.mapped, mapped && bytes + 1 >= 2 * MIB);
			a.data[0] = a.data[a.bytes - 1] = 1;
			no_overlap(live, n, a);
			live[n++] = a;
		} else {
			int i = (int)draw(&seed, (uint32_t)n);
			area_leave(&w.site[SITE_HOST], live[i]);
			live[i] = live[--n];
		}
		uint64_t sum = 0;
		for (int i = 0; i < w.site[SITE_HOST].nkept; i++)
			sum += w.site[SITE_HOST].kept[i].bytes;
		ck_assert_uint_eq(sum, w.site[SITE_HOST].kept_bytes);
		ck_assert(w.site[SITE_HOST].kept_bytes <= w.site[SITE_HOST].keep);
	}
	ck_assert_int_gt(again, STEPS / 10);
	while (n > 0)
		area_leave(&w.site[SITE_HOST], live[--n]);
	worker_close(&w);
	ck_assert_int_eq(w.site[SITE_HOST].nkept, 0);
}
END_TEST

START_TEST(larger_than_all_that_is_kept)
{
	static Worker w;
	DlcError err;
	Area a;
	ck_assert_int_eq(worker_open(&w, &device_cpu, 0, &err), DLC_OK);
	w.site[SITE_HOST].keep = MIB;
	ck_assert_int_eq(area_take(&w.site[SITE_HOST], MIB + 1, false, &a, &err), DLC_OK);
	area_leave(&w.site[SITE_HOST], a);
	ck_assert_int_eq(w.site[SITE_HOST].nkept, 0);
	ck_assert_int_eq(area_take(&w.site[SITE_HOST], (size_t)1 << 60, false, &a, &err), DLC_NO_MEMORY);
	ck_assert_msg(strncmp(err.text, "1152921504606846976 bytes are asked for, and the machine has ", 61) == 0, "%s",
		err.text);
	worker_close(&w);
}
END_TEST

/* Whether the system was told to give this memory no huge pages; -1: it does not tell. */
static int small_pages(const void *p)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	char line[400];
	int told = -1;
	bool here = false;
	while (f != NULL && told < 0 && fgets(line, sizeof line, f) != NULL) {
		unsigned long lo, hi;
		if (sscanf(line, "%lx-%lx ", &lo, &hi) == 2)
			here = lo <= (uintptr_t)p && (uintptr_t)p < hi;
		else if (here && strncmp(line, "VmFlags:", 8) == 0)
			told = strstr(line, " nh") != NULL;
	}
	if (f != NULL)
		fclose(f);
	return access("/sys/kernel/mm/transparent_hugepage", F_OK) == 0 ? told : -1;
}

/* Constants lie as a bundle's do, also where memory that others left is at hand; a number may change its kind. */
START_TEST(constants)
{
	static Worker w;
	DlcError err;
	MsgBuffer m = { .buffer = 1, .fill = MSG_FILL_POISON, .bytes = 8 * MIB };
	ck_assert_int_eq(worker_open(&w, &device_cpu, 0, &err), DLC_OK);
	for (int turn = 0; turn < 6; turn++) {
		m.constant = turn % 3 == 1;
		ck_assert_int_eq(worker_buffer(&w, &m, NULL, &err), DLC_OK);
		const Buffer *b = worker_find(&w, 1);
		int small = small_pages(b->data + 4 * MIB);
		if (small < 0 && turn == 0)
			suite_skip("huge pages of constants", "this system does not tell of them");
		ck_assert_msg(small < 0 || small == m.constant, "turn %d: small pages: %d", turn, small);
		for (size_t i = 0; i < b->bytes; i += 4096)
			ck_assert_uint_eq(b->data[i], 0xff);
		void *address = b->data;
		MsgArg arg = { .buffer = 1 };
		LoadedProgram p = { .site = &w.site[SITE_HOST], .narg = 1, .arg = &arg, .address = &address };
		ck_assert_int_eq(worker_check_guards(&w, &p, &err), DLC_OK);
		b->data[b->bytes] ^= 1;
		ck_assert_int_eq(worker_check_guards(&w, &p, &err), DLC_KERNEL);
	}
	worker_close(&w);
}
END_TEST

static long faults(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return u.ru_minflt;
}

START_TEST(cold)
{
	static Worker w;
	DlcError err;
	void *address[3];
	MsgArg arg[3];
	ck_assert_int_eq(worker_open(&w, &device_cpu, 0, &err), DLC_OK);
	ck_assert((w.team = team_open(1 + _i)) != NULL);
	for (uint32_t i = 0; i < 3; i++) {
		MsgBuffer m = { .buffer = i,
			.fill = MSG_FILL_RANDOM,
			.code = 2,
			.bits = 32,
			.holes = MSG_TABLE,
			.constant = i == 0,
			.bytes = 16 * MIB,
			.seed = i,
			.lo = -1,
			.hi = 1 };
		ck_assert_int_eq(worker_buffer(&w, &m, NULL, &err), DLC_OK);
		address[i] = w.buffer[i]->data;
		arg[i] = (MsgArg){ .buffer = i,
			.use = i == 0 ? MSG_USE_CONST : i == 1 ? MSG_USE_INPUT : MSG_USE_OUTPUT,
			.bytes = 16 * MIB };
	}
	LoadedProgram p = { .site = &w.site[SITE_HOST], .narg = 3, .arg = arg, .address = address };
	unsigned char *before = malloc(48 * MIB);
	for (size_t i = 0; i < 3; i++)
		memcpy(before + i * 16 * MIB, address[i], 16 * MIB);
	ck_assert_int_eq(worker_cold_open(&w, (uint64_t)1 << 40, &err), DLC_OK);
	worker_cold(&w, &p, &err); /* its own memory is mapped now */
	long start = faults();
	worker_cold(&w, &p, &err);
	long more = faults() - start;
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_eq(memcmp(before + i * 16 * MIB, address[i], 16 * MIB), 0);
	ck_assert_msg(more < 1024 + 100, "%ld faults: pages of the buffers were lost", more); /* they have 12 288 */
	free(before);
	worker_close(&w);
}
END_TEST

START_TEST(threads_write_each_line_once)
{
	static const size_t sizes[] = { 0, 1, 63, 64, 65, 128, 1000, 4096, 99999 };
	for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
		size_t end = 0, from, least = SIZE_MAX, most = 0;
		for (int t = 0; t < 1 + _i; t++) {
			size_t n = worker_cold_part(sizes[k], t, 1 + _i, &from);
			ck_assert(n == 0 || (from == end && from % 64 == 0));
			end += n;
			least = n < least ? n : least;
			most = n > most ? n : most;
		}
		ck_assert_uint_eq(end, sizes[k]);
		ck_assert(most - least < 128); /* a line more, and the end of the last one */
	}
}
END_TEST

/* Looks in their order, h: held, n: not; each takes so many ms. After how many looks which of the two is decided. */
static const struct {
	const char *looks;
	int ms, asked;
	char decided;
} looks[] = {
	/* Nine at most, fewer once the others cannot change what most say. */
	{ "hhhhhhhhh", 1, 5, 'h' },
	{ "nnnnnnnnn", 1, 5, 'n' },
	{ "hhhhnnnnn", 1, 9, 'n' },
	{ "nnnnhhhhh", 1, 9, 'h' },
	/* Looks that neighbours disturbed: the first, some between, the last. */
	{ "nhhhhhhhh", 1, 6, 'h' },
	{ "hnhnhhhhh", 1, 7, 'h' },
	{ "nnhnnhnhh", 1, 7, 'n' },
	/* Three at most where they take long, two if they agree. */
	{ "hhhhhhhhh", 100, 2, 'h' },
	{ "nnhhhhhhh", 200, 2, 'n' },
	{ "nhhhhhhhh", 100, 3, 'h' },
	{ "hnnhhhhhh", 1000, 3, 'n' },
	/* A tie when time is over: one more look. */
	{ "hnhnhnhnn", SAMPLING_LOOKS_MS / 4 + 1, 5, 'h' },
	{ "nnhhnnnnn", SAMPLING_LOOKS_MS / 4 + 1, 5, 'n' },
	/* Time is over between two looks, and the lead is there: no more. */
	{ "hnhhnnnnn", SAMPLING_LOOKS_MS / 4 + 1, 4, 'h' },
};

START_TEST(looks_decide)
{
	int held = 0, n = 0;
	const uint64_t ns = (uint64_t)looks[_i].ms * 1000000;
	for (; worker_cold_asks(held, n, ns * (uint64_t)n); n++) {
		ck_assert_int_lt(n, (int)strlen(looks[_i].looks));
		held += looks[_i].looks[n] == 'h';
	}
	ck_assert_int_eq(n, looks[_i].asked);
	ck_assert_int_ne(2 * held, n);
	ck_assert_int_eq(2 * held > n ? 'h' : 'n', looks[_i].decided);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("worker_memory");
	tcase_add_test(tc, areas);
	tcase_add_test(tc, larger_than_all_that_is_kept);
	tcase_add_test(tc, constants);
	tcase_add_loop_test(tc, cold, 0, 2);
	tcase_add_loop_test(tc, threads_write_each_line_once, 0, 7);
	tcase_add_loop_test(tc, looks_decide, 0, sizeof looks / sizeof *looks);
	return run_suite("worker_memory", tc);
}
