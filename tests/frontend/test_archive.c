/* Archives and HDF5 files of strangers: what is read, and what is refused. The archives are made here by bytes. */
#include "archive_bytes.h"
#include "folder.h"

#include "base/rng.h"
#include "frontend/archive.h"
#include "frontend/hdf5_file.h"
#include "frontend/neighbour.h"

static bool built_without(const Err *err)
{
	return strstr(err->text, "this build of dlc has no lib") != NULL;
}

START_TEST(archives_are_read)
{
	static const Entry e[] = { { "m/data/0", "hello", 0, 0, 0, 0 }, { "m/version", "3\n", 0, 0, 0, 0 } };
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes b;
	Archive *z = archive_open(a, "m.pt", make_archive(a, e, 2), &err);
	if (z == NULL && built_without(&err)) {
		suite_skip("archives", "built without libzip");
		arena_free(a);
		return;
	}
	ck_assert_msg(z != NULL, "%s", err.text);
	ck_assert_uint_eq(archive_count(z), 2);
	ck_assert_str_eq(archive_name(z, 0), "m/data/0");
	ck_assert_int_eq(archive_find(z, "m/version"), 1);
	ck_assert_int_eq(archive_find(z, "m/none"), -1);
	ck_assert(archive_read(z, 0, &b, &err) && b.n == 5 && strcmp((const char *)b.at, "hello") == 0);
	arena_free(a);
}
END_TEST

static const struct {
	Entry e[2];
	int n;
	const char *want;
} bad[] = {
	{ { { "../x", "a", 0, 0, 0, 0 } }, 1, "an entry '../x', whose path leads out of it" },
	{ { { "a/../../x", "a", 0, 0, 0, 0 } }, 1, "whose path leads out of it" },
	{ { { "/etc/passwd", "a", 0, 0, 0, 0 } }, 1, "whose path leads out of it" },
	{ { { "a\\x", "a", 0, 0, 0, 0 } }, 1, "whose path leads out of it" },
	{ { { "l", "/etc/passwd", 0120777, 0, 0, 0 } }, 1, "the entry 'l' of the archive is a link" },
	{ { { "x", "a", 0, 0, 0, 0 }, { "x", "b", 0, 0, 0, 0 } }, 2, "two entries 'x'" },
	{ { { "x", "a", 0, 14, 0, 0 } }, 1, "is packed by method 14" },
	{ { { "x", "a", 0, 0, 77, 0 } }, 1, "the entry 'x' of the archive does not fit" },
	{ { { "x", "a", 0, 99, 0, 0 } }, 1, "is not a zip archive that can be read" },
	{ { { "x", "abc", 0, 8, 0x40000000, 0 } }, 1, "the archive unpacks to more than 64 times its" },
};

START_TEST(archives_are_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	ck_assert(archive_open(a, "m.pt", make_archive(a, bad[_i].e, bad[_i].n), &err) == NULL);
	ck_assert_msg(built_without(&err) || strstr(err.text, bad[_i].want) != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

START_TEST(damaged_archives)
{
	static const Entry e[] = { { "m/data/0", "hello", 0, 0, 0, 0 }, { "m/version", "3\n", 0, 8, 0, 0 } };
	Rng r = rng_seed(5);
	for (int k = 0; k < 5000; k++) {
		Arena *a = arena_new();
		Bytes good = make_archive(a, e, 2), b;
		unsigned char *at = arena_copy(a, good.at, good.n);
		for (uint64_t i = 1 + rng_below(&r, 3); i > 0; i--)
			at[rng_below(&r, good.n)] ^= (unsigned char)(1 << rng_below(&r, 8));
		size_t n = rng_below(&r, 4) == 0 ? rng_below(&r, good.n) : good.n;
		Err err = { 0 };
		Archive *z = archive_open(a, "m.pt", (Bytes){ at, n }, &err);
		ck_assert((z == NULL) == (err.code != ERR_NONE));
		for (size_t i = 0; z != NULL && i < archive_count(z); i++)
			ck_assert(archive_read(z, i, &b, &(Err){ 0 }) ? b.at != NULL : true);
		arena_free(a);
	}
}
END_TEST

/* A real file of Keras; NULL: it is not there, or nothing reads it, which is said. */
static Hdf5 *open_real(Arena *a, Bytes *file)
{
	Err err = { 0 };
	const char *data = getenv("DLC_TEST_DATA");
	data = data != NULL ? data : SOURCE_ROOT "/../shared";
	const char *path = neighbour_last(a, arena_printf(a, "%s/models/keras/mnist-coreml/x", data), "", ".hdf5");
	Hdf5 *h = NULL;
	if (path != NULL && file_read(a, path, (size_t)1 << 30, file, &err))
		h = hdf5_open(a, path, *file, &err);
	if (path == NULL || (h == NULL && built_without(&err)))
		suite_skip("HDF5", path == NULL ? "no models in DLC_TEST_DATA" : "built without libhdf5");
	else
		ck_assert_msg(h != NULL, "%s", err.text);
	return h;
}

/* libhdf5 1.10 does not end where the size of what is free in a collection of texts is 0: none is followed then. */
START_TEST(hdf5_collections_are_checked)
{
	static const unsigned char sizes[] = { 0, 15, 255 };
	Arena *a = arena_new();
	Bytes file;
	if (open_real(a, &file) == NULL) {
		arena_free(a);
		return;
	}
	int seen = 0;
	for (int k = 0; k < LEN(sizes); k++) {
		unsigned char *at = arena_copy(a, file.at, file.n), *heap = at;
		while ((heap = memmem(heap, (size_t)(at + file.n - heap), "GCOL\1", 5)) != NULL) {
			unsigned char *o = heap + 16, *end = heap + (heap[8] | heap[9] << 8 | heap[10] << 16);
			while (o + 16 <= end && (o[0] | o[1]) != 0)
				o += 16 + ((o[8] | o[9] << 8 | o[10] << 16) + 7) / 8 * 8;
			if (o + 16 <= end) {
				memset(o + 8, sizes[k] == 255 ? 255 : 0, 8);
				o[8] = sizes[k];
				seen++;
			}
			heap++;
		}
		Err err = { 0 };
		Hdf5 *h = hdf5_open(a, "m.h5", (Bytes){ at, file.n }, &err);
		ck_assert_msg(h != NULL, "%s", err.text);
		ck_assert_ptr_null(hdf5_text(h, "", "model_config"));
		ck_assert(!hdf5_close(h, &err));
		ck_assert_msg(strstr(err.text, "cannot read the attribute 'model_config' of '/'") != NULL, "%s", err.text);
	}
	ck_assert_int_ge(seen, LEN(sizes));
	arena_free(a);
}
END_TEST

/* The first bytes of a collection among the numbers of a kernel, with a size that no collection has. */
START_TEST(hdf5_data_may_look_like_a_collection)
{
	static const unsigned char look[16] = "GCOL\1";
	static const char kernel[] = "model_weights/conv2d_1/conv2d_1/kernel:0";
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes file;
	Hdf5Data d;
	Hdf5 *h = open_real(a, &file);
	if (h != NULL) {
		ck_assert_msg(hdf5_read(h, kernel, &d, &err), "%s", err.text);
		size_t n = (size_t)dtype_bytes(d.type, shape_elements(d.shape));
		unsigned char *at = arena_copy(a, file.at, file.n), *data = memmem(at, file.n, d.data, n);
		ck_assert(data != NULL && n >= sizeof look);
		memcpy(data, look, sizeof look);
		h = hdf5_open(a, "m.h5", (Bytes){ at, file.n }, &err);
		ck_assert_msg(h != NULL && hdf5_text(h, "", "model_config") != NULL, "%s", err.text);
		ck_assert(hdf5_read(h, kernel, &d, &err) && memcmp(d.data, data, n) == 0);
		ck_assert(hdf5_close(h, &err));
	}
	arena_free(a);
}
END_TEST

/* Its layers, and a kernel. */
START_TEST(hdf5_files_are_read)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes file;
	Hdf5 *h = open_real(a, &file);
	if (h == NULL) {
		arena_free(a);
		return;
	}
	ck_assert_ptr_nonnull(hdf5_text(h, "", "model_config"));
	ck_assert_ptr_null(hdf5_text(h, "", "nothing"));
	int n, m;
	const char *const *layers = hdf5_texts(h, "model_weights", "layer_names", &n);
	ck_assert(layers != NULL && n > 4);
	ck_assert(hdf5_names(h, "model_weights", &m) != NULL && m >= n);
	int read = 0;
	for (int k = 0; k < n; k++) {
		const char *group = arena_printf(a, "model_weights/%s", layers[k]);
		const char *const *weights = hdf5_texts(h, group, "weight_names", &m);
		for (int i = 0; i < m; i++) {
			Hdf5Data d;
			ck_assert_msg(hdf5_read(h, arena_printf(a, "%s/%s", group, weights[i]), &d, &err), "%s", err.text);
			ck_assert(dtype_eq(d.type, F32) && d.shape.rank >= 1);
			read++;
		}
	}
	ck_assert_int_ge(read, 4);
	Hdf5Data d;
	ck_assert(!hdf5_read(h, "model_weights/none", &d, &err));
	ck_assert_msg(strstr(err.text, "has no data set 'model_weights/none'") != NULL, "%s", err.text);
	err = (Err){ 0 };
	ck_assert(hdf5_open(a, "cut.h5", (Bytes){ file.at, 100 }, &err) == NULL);
	ck_assert_msg(strstr(err.text, "damaged or cut off") != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("archive");
	tcase_add_test(tc, archives_are_read);
	tcase_add_loop_test(tc, archives_are_refused, 0, LEN(bad));
	tcase_add_test(tc, damaged_archives);
	tcase_add_test(tc, hdf5_files_are_read);
	tcase_add_test(tc, hdf5_collections_are_checked);
	tcase_add_test(tc, hdf5_data_may_look_like_a_collection);
	return run_suite("archive", tc);
}
