/*
 * libFuzzer: a .npy or .npz file from a stranger; data that is taken is copied out whole.  The
 * first byte chooses: the rest is a file as it is, or what follows the magic of a .npy, or a
 * member of an .npz with right checksum and places, of which the rest's last six bytes then patch
 * one value.
 */
#include "fuzz.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "run/array.h"
#include "run/npz.h"

static void take(Array *a)
{
	void *copy = malloc((size_t)a->bytes + 1);
	array_copy(a, copy);
	free(copy);
	array_free(a);
}

static void parse(const unsigned char *file, size_t n)
{
	Array a;
	int members = 0;
	if (npy_parse(file, n, &a, NULL) == DLC_OK)
		take(&a);
	if (!npz_recognise(file, n) || npz_count(file, n, &members, NULL) != DLC_OK)
		return;
	for (int i = 0; i < members && i < 8; i++)
		if (npz_parse(file, n, i, &a, NULL) == DLC_OK)
			take(&a);
}

static size_t wrap_npz(unsigned char *out, const uint8_t *data, size_t n)
{
	NpzEntry e = { "x.npy", npz_crc(0, data, n), (uint32_t)n, 0 };
	size_t at = npz_local(&e, out);
	memcpy(out + at, data, n);
	at += n;
	size_t central = at;
	at += npz_central(&e, out + at);
	at += npz_end(1, (uint32_t)central, (uint32_t)(at - central), out + at);
	size_t place = n >= 6 ? (data[n - 6] | (size_t)data[n - 5] << 8) : at;
	if (place + 4 <= at)
		memcpy(out + place, data + n - 4, 4);
	return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	unsigned char *file = malloc(size + 4 * NPZ_HEADER);
	size_t n = size - 1;
	if (data[0] % 3 == 2) {
		n = wrap_npz(file, data + 1, n);
	} else if (data[0] % 3 == 1) {
		memcpy(file, "\x93NUMPY\x01\x00", 8);
		memcpy(file + 8, data + 1, n);
		n += 8;
	} else {
		memcpy(file, data + 1, n);
	}
	unsigned char *exact = malloc(n + (n == 0)); /* so that a byte too far is seen */
	memcpy(exact, file, n);
	parse(exact, n);
	free(exact);
	free(file);
	return 0;
}
