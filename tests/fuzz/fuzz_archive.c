/* libFuzzer: a zip archive or an HDF5 file from a stranger, all of which is read. */
#include "fuzz.h"
#include "frontend/archive.h"
#include "frontend/hdf5_file.h"

#include <stdlib.h>

static void read_group(Hdf5 *h, Arena *a, const char *path, int depth)
{
	int n, m;
	const char *const *names = hdf5_names(h, path, &n);
	for (int k = 0; k < n && depth < 4; k++) {
		const char *inner = arena_printf(a, "%s/%s", path, names[k]);
		Hdf5Data d;
		(void)hdf5_read(h, inner, &d, &(Err){ 0 });
		(void)hdf5_texts(h, inner, "weight_names", &m);
		read_group(h, a, inner, depth + 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes file = { data, size }, b;
	Archive *z = archive_open(a, "fuzz.zip", file, &err);
	if ((z == NULL) != (err.code != ERR_NONE))
		abort();
	for (size_t k = 0; z != NULL && k < archive_count(z); k++)
		(void)archive_read(z, k, &b, &(Err){ 0 });
	err = (Err){ 0 };
	Hdf5 *h = hdf5_open(a, "fuzz.h5", file, &err);
	if ((h == NULL) != (err.code != ERR_NONE))
		abort();
	if (h != NULL)
		read_group(h, a, "", 0);
	arena_free(a);
	return 0;
}
