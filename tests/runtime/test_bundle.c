/*
 * Loading bundles: the checksum function against known values, every refusal of bundle_check by the
 * text that names it, damage at random places, files that are none, and a file system that lets
 * nothing become code.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite.h"

#include "build.h"
#include "dlc/dlc_runtime.h"
#include "kernels.h"
#include "runtime/cpu.h"
#include "runtime/timing.h"

enum { N = 100 };

START_TEST(sum_is_xxh64)
{
	/* From the reference implementation (xxhsum -H64). */
	unsigned char ramp[101];
	for (int i = 0; i < LEN(ramp); i++)
		ramp[i] = (unsigned char)i;
	ck_assert_uint_eq(bundle_sum("", 0), 0xef46db3751d8e999u);
	ck_assert_uint_eq(bundle_sum("a", 1), 0xd24ec4f1a98c6e5bu);
	ck_assert_uint_eq(bundle_sum("abc", 3), 0x44bc2cf5ad770999u);
	ck_assert_uint_eq(bundle_sum("Nobody inspects the spammish repetition", 39), 0xfbcea83c8a378bf1u);
	ck_assert_uint_ne(bundle_sum(ramp, 100), bundle_sum(ramp, 101));
}
END_TEST

static void change_nothing(Build *b)
{
	(void)b;
}
static void wrong_arch(Build *b)
{
	b->h.arch = b->h.arch == BUNDLE_ARM ? BUNDLE_X86_64 : BUNDLE_ARM;
}
static void no_feature(Build *b)
{
	b->feature[b->h.feature.count++] = build_text(b, "avx9000f");
}
static void no_device(Build *b)
{
	b->h.device = DLC_DEVICE_METAL;
}
static void unknown_device(Build *b)
{
	b->h.device = 99;
}
static void image_outside(Build *b)
{
	b->image[0].bytes += 1;
}
static void image_unaligned(Build *b)
{
	b->image[0].offset = 32;
	b->image[0].bytes -= 32;
}
static void entry_image(Build *b)
{
	b->entry[3].image = 1;
}
static void entry_launch(Build *b)
{
	b->h.launch.count = 1;
	for (int k = 0; k < DLC_LAUNCH_DIMS; k++)
		b->launch[0].dim[k] = (DlcDim){ { -1, -1 }, 0, 1, 1 };
	b->entry[3].launch = 1; /* on a CPU a team enters it */
}
static void zero_threads(Build *b)
{
	b->h.threads = 0;
}
static void huge_arena(Build *b)
{
	b->h.arena_bytes = UINT64_MAX;
}
static void text_outside(Build *b)
{
	b->tensor[0].name = 1u << 30;
}
static void text_open(Build *b)
{
	b->text[b->h.text.count++] = 'x';
}
static void dim_symbol(Build *b)
{
	b->dim[1].sym[0] = 7;
}
static void dim_division(Build *b)
{
	b->dim[1].div = 0;
}
static void dim_negative(Build *b)
{
	b->dim[1].add = -5;
}
static void sym_range(Build *b)
{
	build_sym(b, "n", BUNDLE_SYM_INPUT, 5, 4, 0);
}
static void sym_dim(Build *b)
{
	build_sym(b, "n", BUNDLE_SYM_DERIVED, 0, 4, 1u << 20);
}
static void sym_circle(Build *b)
{
	uint32_t dim = build_dim(b, 0, 1, 0, 1);
	build_sym(b, "n", BUNDLE_SYM_DERIVED, 0, 4, dim);
}
static void tensor_rank(Build *b)
{
	b->tensor[0].ndim = 99;
}
static void tensor_type(Build *b)
{
	b->tensor[0].bits = 65;
}
static void tensor_huge(Build *b)
{
	b->dim[1].add = (int64_t)1 << 61;
}
static void tensor_order(Build *b)
{
	b->tensor[0].output = 1;
}
static void tensor_loop(Build *b)
{
	build_sym(b, "n", BUNDLE_SYM_LOOP, 0, 1, 0);
	b->dim[1].sym[0] = 0;
}
/* Only a symbol between them differs: an output would be copied with another shape than it was bound with. */
static void tensor_derived_from_loop(Build *b)
{
	build_sym(b, "n", BUNDLE_SYM_LOOP, 0, 1, 0);
	uint32_t one = build_sym(b, "m", BUNDLE_SYM_DERIVED, 0, 1, build_dim(b, 0, 1, 0, 1));
	b->dim[1].sym[0] = (int32_t)build_sym(b, "l", BUNDLE_SYM_DERIVED, 0, 1, build_dim(b, (int)one, 1, 0, 1));
}
static void slot_kind(Build *b)
{
	b->slot[0].kind = 9;
}
static void slot_index(Build *b)
{
	b->slot[0].index = 2;
}
static void slot_offset(Build *b)
{
	b->slot[0].offset = 1u << 20;
}
static void slot_outside(Build *b)
{
	b->slot[4].bytes = sizeof b->constant + 1;
}
static void slot_unaligned(Build *b)
{
	b->dim[b->slot[4].offset].add = 32;
}
static void entry_outside(Build *b)
{
	b->entry[3].offset = 1u << 30;
}
static void arg_outside(Build *b)
{
	b->arg[1] = 64;
}
static void op_kind(Build *b)
{
	b->op[0].kind = 4;
}
static void op_entry(Build *b)
{
	b->op[0].entry = 77;
}
static void op_args(Build *b)
{
	b->op[1].narg = 4;
}
static void op_args_outside(Build *b)
{
	b->op[1].arg = UINT32_MAX;
}
static void op_dims(Build *b)
{
	b->op[0].ndim = 2;
}
static void copy_large(Build *b)
{
	BundleOp *o = build_op(b, BUNDLE_COPY, "copy");
	build_arg(b, o, 2);
	build_arg(b, o, 3);
	build_const(b, N * 4 + 1);
	o->ndim = 1;
}
static void loop_symbol(Build *b)
{
	build_sym(b, "n", BUNDLE_SYM_INPUT, 0, 4, 0);
	BundleOp *o = build_op(b, BUNDLE_LOOP, "loop");
	build_const(b, 0);
	build_const(b, 4);
	o->ndim = 2;
}
static void loop_range(Build *b)
{
	build_sym(b, "n", BUNDLE_SYM_LOOP, 0, 4, 0);
	BundleOp *o = build_op(b, BUNDLE_LOOP, "loop");
	build_const(b, 0);
	build_const(b, 6);
	o->ndim = 2;
}
static void loop_body(Build *b)
{
	build_sym(b, "n", BUNDLE_SYM_LOOP, 0, 4, 0);
	BundleOp *o = build_op(b, BUNDLE_LOOP, "loop");
	build_const(b, 0);
	build_const(b, 4);
	o->ndim = 2;
	o->body = 1;
}
static void if_deep(Build *b)
{
	for (int i = 0; i < BUNDLE_DEPTH + 1; i++) {
		BundleOp *o = build_op(b, BUNDLE_IF, "if");
		build_arg(b, o, 3);
		o->body = (uint32_t)(BUNDLE_DEPTH - i);
	}
}

/* A row for each refusal: what makes it, its status, and what its sentence contains. */
static const struct Refusal {
	void (*change)(Build *b);
	DlcStatus status;
	const char *says;
} REFUSAL[] = {
	{ change_nothing, DLC_OK, "" },
	{ wrong_arch, DLC_BAD_TARGET, "compile it for this machine" },
	{ no_feature, DLC_BAD_TARGET, "needs avx9000f, which this CPU does not have" },
	{ no_device, DLC_BAD_TARGET, "for Metal, which this runtime cannot use" },
	{ unknown_device, DLC_BAD_TARGET, "device type 99, which this runtime does not know" },
	{ image_outside, DLC_BAD_FILE, "image lies outside" },
	{ image_unaligned, DLC_BAD_FILE, "image lies outside" },
	{ entry_image, DLC_BAD_FILE, "kernel lies outside" },
	{ entry_launch, DLC_BAD_FILE, "launch does not fit" },
	{ zero_threads, DLC_BAD_FILE, "number of threads" },
	{ huge_arena, DLC_BAD_FILE, "workspace" },
	{ text_outside, DLC_BAD_FILE, "name lies outside" },
	{ text_open, DLC_BAD_FILE, "table lies outside" },
	{ dim_symbol, DLC_BAD_FILE, "names no symbol" },
	{ dim_division, DLC_BAD_FILE, "impossible value" },
	{ dim_negative, DLC_BAD_FILE, "impossible value" },
	{ sym_range, DLC_BAD_FILE, "impossible range" },
	{ sym_dim, DLC_BAD_FILE, "symbol lies outside" },
	{ sym_circle, DLC_BAD_FILE, "derived symbol" },
	{ tensor_rank, DLC_BAD_FILE, "type or shape" },
	{ tensor_type, DLC_BAD_FILE, "type or shape" },
	{ tensor_huge, DLC_BAD_FILE, "size is impossible" },
	{ tensor_order, DLC_BAD_FILE, "input follows an output" },
	{ tensor_loop, DLC_BAD_FILE, "a loop decides a tensor's shape" },
	{ tensor_derived_from_loop, DLC_BAD_FILE, "a loop decides a tensor's shape" },
	{ slot_kind, DLC_BAD_FILE, "buffer names nothing" },
	{ slot_index, DLC_BAD_FILE, "buffer names nothing" },
	{ slot_offset, DLC_BAD_FILE, "buffer names nothing" },
	{ slot_outside, DLC_BAD_FILE, "buffer lies outside" },
	{ slot_unaligned, DLC_BAD_FILE, "not aligned" },
	{ entry_outside, DLC_BAD_FILE, "kernel lies outside" },
	{ arg_outside, DLC_BAD_FILE, "step names no buffer" },
	{ op_kind, DLC_BAD_FILE, "step of its plan" },
	{ op_entry, DLC_BAD_FILE, "step of its plan" },
	{ op_args, DLC_BAD_FILE, "step of its plan" },
	{ op_args_outside, DLC_BAD_FILE, "step of its plan" },
	{ op_dims, DLC_BAD_FILE, "step of its plan" },
	{ copy_large, DLC_BAD_FILE, "step of its plan" },
	{ loop_symbol, DLC_BAD_FILE, "step of its plan" },
	{ loop_range, DLC_BAD_FILE, "step of its plan" },
	{ loop_body, DLC_BAD_FILE, "do not nest" },
	{ if_deep, DLC_BAD_FILE, "do not nest" },
};

START_TEST(refusals)
{
	const struct Refusal *r = &REFUSAL[_i];
	Build *b = build_add(N);
	r->change(b);
	size_t size;
	unsigned char *bytes = build_finish(b, &size);
	DlcModel *m;
	DlcError err = { 0 };
	DlcStatus s = dlc_model_open_memory(bytes, size, &m, &err);
	ck_assert_msg(s == r->status, "row %d: status %d: %s", _i, (int)s, err.text);
	ck_assert_msg(strstr(err.text, r->says) != NULL, "row %d: %s", _i, err.text);
	ck_assert((m != NULL) == (s == DLC_OK));
	dlc_model_close(m);
	free(bytes);
	free(b);
}
END_TEST

/* Every bit of head and code counts; constants are looked at when asked. */
START_TEST(damage_is_found)
{
	Build *b = build_add(N);
	size_t size;
	unsigned char *bytes = build_finish(b, &size);
	unsigned seed = (unsigned)timing_wall_ns();
	printf("damage: seed %u\n", seed);
	srand(seed);
	const uint64_t part[][2] = { { 0, b->h.head_bytes }, { b->h.code_offset, b->h.code_bytes } };
	for (int i = 0; i < 2000; i++) {
		const uint64_t *p = part[i & 1];
		size_t at = p[0] + (size_t)rand() % p[1];
		unsigned char bit = (unsigned char)(1 << rand() % 8);
		DlcModel *m;
		DlcError err = { 0 };
		bytes[at] ^= bit;
		DlcStatus s = dlc_model_open_memory(bytes, size, &m, &err);
		ck_assert_msg(s == DLC_BAD_FILE, "bit %d of byte %zu: status %d", bit, at, (int)s);
		bytes[at] ^= bit;
	}
	DlcModel *m;
	bytes[b->h.const_offset + 17] ^= 4;
	ck_assert_int_eq(dlc_model_open_memory(bytes, size, &m, NULL), DLC_OK);
	ck_assert_int_eq(dlc_model_verify(m, NULL), DLC_BAD_FILE);
	bytes[b->h.const_offset + 17] ^= 4;
	ck_assert_int_eq(dlc_model_verify(m, NULL), DLC_OK);
	dlc_model_close(m);
	for (size_t n = 0; n < size; n += n < 2000 ? 37 : 7001)
		ck_assert_int_eq(dlc_model_open_memory(bytes, n, &m, NULL), DLC_BAD_FILE);
	ck_assert_int_eq(dlc_model_open_memory(bytes + 1, size - 1, &m, NULL), DLC_BAD_ARGUMENT);
	free(bytes);
	free(b);
}
END_TEST

/* Random rows with right checksums: the checks themselves must hold. */
START_TEST(wild_rows)
{
	unsigned seed = (unsigned)timing_wall_ns();
	printf("wild rows: seed %u\n", seed);
	srand(seed);
	Build *b = build_add(N);
	size_t size;
	unsigned char *bytes = build_finish(b, &size), *copy = aligned_alloc(64, size + 64);
	int loaded = 0, rounds = getenv("DLC_TEST_ALL") != NULL ? 100000 : 5000;
	for (int i = 0; i < rounds; i++) {
		memcpy(copy, bytes, size);
		for (int k = rand() % 4; k >= 0; k--) {
			size_t at = (size_t)rand() % (b->h.head_bytes / 4) * 4;
			const uint32_t values[] = { 0, 1, 0xffffffffu, 0x7fffffffu, (uint32_t)rand() % 64, (uint32_t)rand() };
			memcpy(copy + at, &values[rand() % LEN(values)], 4);
		}
		build_resum(copy, size);
		DlcModel *m;
		DlcInstance *in = NULL;
		if (dlc_model_open_memory(copy, size, &m, NULL) == DLC_OK) {
			loaded++;
			DlcTensor t;
			if (m != NULL && dlc_instance_open(m, 1, &in, NULL) == DLC_OK)
				for (int k = 0; k < dlc_model_count(m, DLC_OUTPUT); k++)
					ck_assert_int_eq(dlc_instance_tensor(in, DLC_OUTPUT, k, &t, NULL), DLC_OK);
		}
		dlc_instance_close(in);
		dlc_model_close(m);
	}
	ck_assert_int_gt(loaded, 0);
	ck_assert_int_lt(loaded, rounds);
	free(copy);
	free(bytes);
	free(b);
}
END_TEST

static void write_file(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
	ck_assert_int_eq(fclose(f), 0);
}

START_TEST(files)
{
	char folder[] = "/tmp/dlc_bundle.XXXXXX", path[64];
	ck_assert_ptr_nonnull(mkdtemp(folder));
	Build *b = build_add(N);
	size_t size;
	unsigned char *bytes = build_finish(b, &size);
	DlcModel *m;
	DlcError err;
	snprintf(path, sizeof path, "%s/x.dlcb", folder);
	ck_assert_int_eq(dlc_model_open(path, &m, &err), DLC_BAD_FILE);
	ck_assert_ptr_nonnull(strstr(err.text, path));
	ck_assert_int_eq(dlc_model_open(folder, &m, &err), DLC_BAD_FILE);
	write_file(path, bytes, 0);
	ck_assert_int_eq(dlc_model_open(path, &m, &err), DLC_BAD_FILE);
	write_file(path, bytes, size - 1);
	ck_assert_int_eq(dlc_model_open(path, &m, &err), DLC_BAD_FILE);
	write_file(path, bytes, size);
	ck_assert_int_eq(dlc_model_open(path, &m, &err), DLC_OK);
	ck_assert_str_eq(dlc_model_info(m, "model"), "test");
	ck_assert_ptr_null(dlc_model_info(m, "nothing"));
	ck_assert_int_eq(dlc_model_find(m, DLC_INPUT, "b"), 1);
	ck_assert_int_eq(dlc_model_find(m, DLC_OUTPUT, "b"), -1);
	ck_assert_ptr_null(dlc_model_name(m, DLC_OUTPUT, 1));
	ck_assert_int_eq(dlc_model_steps(m), 2);
	ck_assert_str_eq(dlc_model_step(m, 1), "add");
	dlc_model_close(m);
	if (geteuid() != 0) {
		chmod(path, 0);
		ck_assert_int_eq(dlc_model_open(path, &m, &err), DLC_SYSTEM);
	}
	unlink(path);
	rmdir(folder);
	free(bytes);
	free(b);
}
END_TEST

/* Opening takes well under a millisecond however large the constants are. */
START_TEST(load_is_quick)
{
	char path[] = "/tmp/dlc_bundle.XXXXXX";
	int fd = mkstemp(path);
	Build *b = build_add(N);
	size_t size;
	unsigned char *bytes = build_finish(b, &size);
	uint64_t large = (uint64_t)1 << 30; /* of constants, a hole in the file */
	((BundleHeader *)bytes)->const_bytes = large;
	((BundleHeader *)bytes)->file_bytes = b->h.const_offset + large;
	build_resum(bytes, size);
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	ck_assert_int_eq(ftruncate(fd, (off_t)(b->h.const_offset + large)), 0);
	close(fd);
	double ms[15];
	for (int i = 0; i < LEN(ms); i++) {
		DlcModel *m;
		DlcError err = { 0 };
		uint64_t start = timing_wall_ns();
		DlcStatus s = dlc_model_open(path, &m, &err);
		ms[i] = (double)(timing_wall_ns() - start) / 1e6;
		ck_assert_msg(s == DLC_OK, "%s", err.text);
		dlc_model_close(m);
	}
	unlink(path);
	double median = timing_summary(ms, LEN(ms)).median;
	printf("load: %.3f ms\n", median);
	ck_assert_double_lt(median, 5);
	free(bytes);
	free(b);
}
END_TEST

/* Needs the right to mount; where it is missing the test says so. */
START_TEST(noexec)
{
	char folder[] = "/tmp/dlc_noexec.XXXXXX", path[64];
	ck_assert_ptr_nonnull(mkdtemp(folder));
	/* In a mount table of its own, so that nobody else sees it. */
	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		mount("dlc", folder, "tmpfs", MS_NOEXEC, "size=4m") != 0) {
		suite_skip("noexec", strerror(errno));
		rmdir(folder);
		return;
	}
	snprintf(path, sizeof path, "%s/x.dlcb", folder);
	Build *b = build_add(N);
	size_t size;
	unsigned char *bytes = build_finish(b, &size);
	write_file(path, bytes, size);
	DlcModel *m;
	DlcInstance *in;
	DlcError err = { 0 };
	DlcStatus s = dlc_model_open(path, &m, &err);
	umount2(folder, MNT_DETACH);
	rmdir(folder);
	ck_assert_msg(s == DLC_OK, "%s", err.text);
	ck_assert_int_eq(dlc_instance_open(m, 1, &in, NULL), DLC_OK);
	ck_assert_int_eq(dlc_instance_run(in, NULL), DLC_OK);
	dlc_instance_close(in);
	dlc_model_close(m);
	free(bytes);
	free(b);
}
END_TEST

START_TEST(features)
{
	char text[4096], word[64];
	ck_assert_uint_lt(dlc_cpu_features(text, sizeof text), sizeof text);
	printf("%s\n", text);
	ck_assert_uint_eq(dlc_cpu_features(NULL, 0), strlen(text));
	int there = 0;
	for (int i = 0; cpu_feature_name(i) != NULL; i++) {
		snprintf(word, sizeof word, " %s", cpu_feature_name(i));
		size_t n = strlen(word);
		const char *at = strstr(text, word);
		while (at != NULL && at[n] != ' ' && at[n] != 0)
			at = strstr(at + 1, word);
		ck_assert_msg((at != NULL) == cpu_has(word + 1), "%s", word);
		there += at != NULL;
	}
#if defined(__x86_64__)
	ck_assert(cpu_has("sse2"));
	ck_assert(!cpu_has("avx512f") || cpu_has("avx2"));
	ck_assert_int_eq(__builtin_cpu_supports("avx2") != 0, cpu_has("avx2"));
	ck_assert_int_eq(__builtin_cpu_supports("avx512f") != 0, cpu_has("avx512f"));
	ck_assert_int_eq(__builtin_cpu_supports("fma") != 0, cpu_has("fma"));
	ck_assert_int_eq(__builtin_cpu_supports("bmi2") != 0, cpu_has("bmi2"));
	ck_assert_int_eq(__builtin_cpu_supports("avx512vnni") != 0, cpu_has("avx512vnni"));
#endif
	ck_assert_int_gt(there, 0);
	ck_assert(!cpu_has(""));
	ck_assert_int_ge(cpu_count(), 1);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("bundle");
	tcase_add_test(tc, sum_is_xxh64);
	tcase_add_loop_test(tc, refusals, 0, LEN(REFUSAL));
	tcase_add_test(tc, damage_is_found);
	tcase_add_test(tc, wild_rows);
	tcase_add_test(tc, files);
	tcase_add_test(tc, load_is_quick);
	tcase_add_test(tc, noexec);
	tcase_add_test(tc, features);
	return run_suite("bundle", tc);
}
