/*
 * What libdlc says a session has to work with, and what it says of a target; also when memory runs out.
 */
#include "api/lab.h"

#include "base/guard.h"

#include <stddef.h>
#include <string.h>

static int index_of(const char *const *list, int n, const char *name)
{
	int i = 0;
	while (i < n && strcmp(list[i], name) != 0)
		i++;
	return i < n ? i : -1;
}

/* What programs of libdlc.so.1 were built with: the numbers of hits, and where DlcBundleInfo has its fields. */
START_TEST(old_programs_read_what_they_read)
{
	static const struct {
		DlcHit hit;
		const char *name;
	} hits[] = { { 0, "exact" }, { 1, "near" }, { 2, "stale" }, { 3, "default" }, { 4, "model" } };
	typedef struct OldInfo {
		const char *target;
		int hits[4];
		int ntask;
		const DlcChoice *task;
		double estimated_ms;
	} OldInfo;
	for (int k = 0; k < LEN(hits); k++)
		ck_assert_str_eq(dlc_hit_name(hits[k].hit), hits[k].name);
	ck_assert_uint_eq(offsetof(DlcBundleInfo, hits), offsetof(OldInfo, hits));
	ck_assert_uint_eq(offsetof(DlcBundleInfo, ntask), offsetof(OldInfo, ntask));
	ck_assert_uint_eq(offsetof(DlcBundleInfo, task), offsetof(OldInfo, task));
	ck_assert_uint_eq(offsetof(DlcBundleInfo, estimated_ms), offsetof(OldInfo, estimated_ms));
}
END_TEST

START_TEST(a_session_says_what_it_has)
{
	DlcFailure why = { 0 };
	DlcSession *s;
	const DlcSessionInfo *v;
	const DlcTargetInfo *t;
	const char *const dirs[] = { DLC_TEST_TARGETS };
	DlcSessionOptions o = { .programs = DLC_TEST_PROGRAMS, .targets = dirs, .ntargets = 1,
		.database = "/no/where.sqlite" };
	ok(dlc_session_open(&o, &s, &why), why);
	ok(dlc_session_info(s, &v, &why), why);
	ok(dlc_target_info(s, NULL, 0, &t, &why), why); /* leaves the other view as it is */
	ck_assert_int_ge(index_of(v->target, v->ntarget, "cortex-a72"), 0);
	ck_assert_int_ge(index_of(v->target, v->ntarget, "znver5"), 0);
	for (int i = 1; i < v->ntarget; i++)
		ck_assert_str_lt(v->target[i - 1], v->target[i]);
	ck_assert_int_ge(index_of(v->zoo, v->nzoo, "resnet18"), 0);
	const char *name[16], *what[16];
	ck_assert(v->ncomponent < LEN(name) && v->nplace < LEN(what));
	for (int i = 0; i < v->ncomponent; i++) {
		name[i] = v->component[i].name;
		ck_assert(v->component[i].use[0] != 0 && v->component[i].there == (v->component[i].remedy == NULL));
	}
	for (int i = 0; i < v->nplace; i++)
		what[i] = v->place[i].what;
	ck_assert_int_ge(index_of(name, v->ncomponent, "sqlite"), 0);
	int programs = index_of(what, v->nplace, "programs"), targets = index_of(what, v->nplace, "targets"),
		database = index_of(what, v->nplace, "tuning_db");
	ck_assert(programs >= 0 && targets >= 0 && database >= 0);
	ck_assert(strcmp(v->place[programs].path, DLC_TEST_PROGRAMS) == 0 && v->place[programs].exists);
	ck_assert(strcmp(v->place[targets].path, DLC_TEST_TARGETS) == 0 && v->place[targets].exists);
	ck_assert(strcmp(v->place[database].path, "/no/where.sqlite") == 0 && !v->place[database].exists);
	ck_assert_int_eq(index_of(what, v->nplace, "cache"), -1); /* of a user, whom this session does not know */
	dlc_session_close(s);
}
END_TEST

START_TEST(a_target_is_described)
{
	DlcFailure why = { 0 };
	DlcSession *s = open_session();
	const DlcTargetInfo *t;
	char text[DLC_TARGET_TEXT];
	ok(dlc_target_info(s, NULL, 0, &t, &why), why);
	ok(dlc_target_text(s, NULL, 1, text, &why), why);
	ck_assert(strcmp(t->text, text) == 0 && strlen(t->id) == 32 && strcmp(t->kind, "cpu") == 0);
	ck_assert(t->cores > 0 && t->cpus >= t->cores && t->vector_bits > 0 && t->vector_registers > 0);
	ck_assert_int_gt(t->ncore, 0);
	for (int i = 0; i < t->ncore; i++)
		ck_assert(t->core[i].value > 0 && t->core[i].measured == 0 && t->core[i].meaning[0] != 0);
	bool arm = strcmp(t->arch, "aarch64") == 0;
	/* Another machine: a name, its file, and no measurement. */
	DlcTarget other = { .name = arm ? DLC_TEST_TARGETS "/skylake-avx512.json" : DLC_TEST_TARGETS "/cortex-a72.json",
		.threads = 2 };
	ok(dlc_target_info(s, &other, 0, &t, &why), why);
	ck_assert_str_eq(t->model, arm ? "skylake-avx512" : "cortex-a72");
	ck_assert_str_eq(t->text, arm ? "cpu:skylake-avx512 t2" : "cpu:cortex-a72 t2");
	ck_assert_str_eq(t->arch, arm ? "x86-64" : "aarch64");
	ck_assert_int_eq(t->vector_bits, arm ? 512 : 128);
	ck_assert_int_ge(index_of(t->feature, t->nfeature, arm ? "avx512f" : "neon"), 0);
	ck_assert(t->brand[0] == 0 && t->ncache >= 2 && t->cache[0].bytes > 0 && t->cache[0].bytes < t->cache[1].bytes);
	ck_assert_int_eq(dlc_target_info(s, &other, 1, &t, &why), DLC_FAULT_MISSING);
	ck_assert(t == NULL && strstr(why.text, "machine") != NULL);
	ck_assert_int_eq(dlc_target_info(s, &(DlcTarget){ .name = "toaster", .threads = 1 }, 0, &t, &why), DLC_FAULT_USAGE);
	/* A figure outside its bounds counts as not measured: an emulated core may have such ones, but not all. */
	ok(dlc_target_info(s, NULL, 1, &t, &why), why);
	int measured = 0;
	for (int i = 0; i < t->ncore; i++)
		measured += t->core[i].measured > 0;
	ck_assert_int_gt(measured, 0);
	dlc_session_close(s);
}
END_TEST

/* Each kind has devices, each with a target, or a reason why it has none. */
START_TEST(devices_are_described)
{
	DlcFailure why = { 0 };
	DlcSession *s = open_session();
	const DlcSessionInfo *v;
	const DlcTargetInfo *t;
	int n;
	ok(dlc_session_info(s, &v, &why), why);
	ck_assert_int_ge(index_of(v->kind, v->nkind, "opencl"), 0);
	for (int k = 0; k < v->nkind; k++) {
		DlcFault f = dlc_session_devices(s, v->kind[k], &n, &why);
		ck_assert((f == DLC_FAULT_NONE && n > 0) || (f == DLC_FAULT_DEVICE && n == 0 && why.text[0] != 0));
		for (int id = 0; id < n; id++) {
			DlcTarget device = { .name = v->kind[k], .device = id };
			ok(dlc_target_info(s, &device, 0, &t, &why), why);
			ck_assert_str_eq(t->kind, v->kind[k]);
			ck_assert(t->brand[0] != 0 && t->cores > 0 && index_of(&t->blocks[0].key, 1, "warp") == 0);
			for (int i = 0; i < t->nblocks; i++)
				ck_assert_msg(t->blocks[i].value > 0 && t->blocks[i].meaning[0] != 0, "%s", t->blocks[i].key);
			ck_assert_int_eq(dlc_target_info(s, &device, 1, &t, &why), DLC_FAULT_USAGE);
		}
		DlcTarget none = { .name = v->kind[k], .device = 4000 };
		ck_assert_int_eq(dlc_target_info(s, &none, 0, &t, &why), DLC_FAULT_DEVICE);
	}
	ok(dlc_target_info(s, NULL, 0, &t, &why), why);
	ck_assert_int_eq(t->nblocks, 0);
	ck_assert_int_eq(dlc_target_info(s, &(DlcTarget){ .device = 1 }, 0, &t, &why), DLC_FAULT_DEVICE);
	dlc_session_close(s);
}
END_TEST

/* Each piece of memory in turn is not there. The session can be asked again. */
START_TEST(memory_runs_out_while_a_session_is_asked)
{
	DlcFailure why = { 0 };
	DlcSession *s = open_session();
	int failed[2] = { 0 };
	for (int which = 0; which < LEN(failed); which++)
		for (int64_t at = 1;; at++) {
			const DlcSessionInfo *v = NULL;
			const DlcTargetInfo *t = NULL;
			guard_fail_at(at);
			DlcFault f = which == 0 ? dlc_session_info(s, &v, &why) : dlc_target_info(s, NULL, 0, &t, &why);
			bool all = guard_fail_at(0) > 0; /* it did not come to that */
			ck_assert_int_eq(f, all ? DLC_FAULT_NONE : DLC_FAULT_MEMORY);
			ck_assert(all == (v != NULL || t != NULL));
			failed[which] += !all;
			if (all)
				break;
			ok(which == 0 ? dlc_session_info(s, &v, &why) : dlc_target_info(s, NULL, 0, &t, &why), why);
		}
	ck_assert(failed[0] > 0 && failed[1] > 0);
	dlc_session_close(s);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("info");
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, old_programs_read_what_they_read);
	tcase_add_test(tc, a_session_says_what_it_has);
	tcase_add_test(tc, a_target_is_described);
	tcase_add_test(tc, devices_are_described);
	tcase_add_test(tc, memory_runs_out_while_a_session_is_asked);
	return run_suite("info", tc);
}
