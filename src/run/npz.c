/*
 * NumPy's .npz: a zip file of .npy members, read through its central directory.  Members are stored
 * or, where this was built with zlib, deflated; zip64 is not read (arrays above 4 GiB).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/array.h"
#include "runtime/model.h"
#include "run/npz.h"

#if defined(HAVE_ZLIB)
#include <zlib.h>
#endif

enum { END_BYTES = 22, CENTRAL_BYTES = 46, LOCAL_BYTES = 30, STORED = 0, DEFLATED = 8 };

/* A member as the central directory describes it. */
typedef struct Member {
	uint32_t method, flags, crc, packed, bytes, local;
	const unsigned char *name;
	size_t nname;
} Member;

static uint32_t get16(const unsigned char *p)
{
	return p[0] | (uint32_t)p[1] << 8;
}

static uint32_t get32(const unsigned char *p)
{
	return get16(p) | get16(p + 2) << 16;
}

uint32_t npz_crc(uint32_t crc, const void *bytes, size_t n)
{
	uint32_t table[256];
	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int k = 0; k < 8; k++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
	}
	const unsigned char *p = bytes;
	crc = ~crc;
	for (size_t i = 0; i < n; i++)
		crc = crc >> 8 ^ table[(crc ^ p[i]) & 255];
	return ~crc;
}

bool npz_recognise(const unsigned char *bytes, size_t size)
{
	return size >= END_BYTES &&
	       (memcmp(bytes, "PK\3\4", 4) == 0 || memcmp(bytes, "PK\5\6", 4) == 0);
}

static DlcStatus broken(DlcError *err, const char *what)
{
	return runtime_fail(err, DLC_BAD_FILE, "the .npz file is damaged: %s", what);
}

/* The record at the end of a zip file, before a comment of at most 65535 bytes. */
static const unsigned char *find_end(const unsigned char *bytes, size_t size)
{
	size_t first = size > END_BYTES + 65535 ? size - END_BYTES - 65535 : 0;
	for (size_t at = size - END_BYTES + 1; at-- > first;)
		if (memcmp(bytes + at, "PK\5\6", 4) == 0)
			return bytes + at;
	return NULL;
}

DlcStatus npz_count(const unsigned char *bytes, size_t size, int *n, DlcError *err)
{
	const unsigned char *end = size >= END_BYTES ? find_end(bytes, size) : NULL;
	if (end == NULL)
		return broken(err, "it has no directory at its end");
	*n = (int)get16(end + 10);
	return DLC_OK;
}

static DlcStatus find_member(
	const unsigned char *bytes, size_t size, int index, Member *m, DlcError *err)
{
	const unsigned char *end = size >= END_BYTES ? find_end(bytes, size) : NULL;
	if (end == NULL)
		return broken(err, "it has no directory at its end");
	size_t at = get32(end + 16), limit = (size_t)(end - bytes);
	for (int i = 0;; i++) {
		if (at > limit || limit - at < CENTRAL_BYTES ||
			memcmp(bytes + at, "PK\1\2", 4) != 0)
			return broken(err, "its directory is not where its end says");
		const unsigned char *p = bytes + at;
		*m = (Member){ get16(p + 10), get16(p + 8), get32(p + 16), get32(p + 20),
			get32(p + 24), get32(p + 42), p + CENTRAL_BYTES, get16(p + 28) };
		if (m->nname > limit - at - CENTRAL_BYTES)
			return broken(err, "a member's name ends behind the end of the file");
		if (i == index)
			return DLC_OK;
		at += CENTRAL_BYTES + m->nname + get16(p + 30) + get16(p + 32);
	}
}

/* Unpacks into memory of exactly m->bytes, which deflate's ratio of at most 1032 to 1 bounds. */
static DlcStatus inflate_member(
	const unsigned char *packed, const Member *m, unsigned char **out, DlcError *err)
{
#if defined(HAVE_ZLIB)
	if (m->bytes / 1032 > m->packed)
		return broken(err, "a member says that it has more bytes than it can unpack to");
	*out = malloc(m->bytes + (size_t)1);
	if (*out == NULL)
		return runtime_fail(err, DLC_NO_MEMORY, "there is no memory for a member of %u bytes", m->bytes);
	z_stream z = { .next_in = (Bytef *)(uintptr_t)packed, .avail_in = m->packed };
	z.next_out = *out;
	z.avail_out = m->bytes + 1;
	int end = inflateInit2(&z, -15);
	if (end == Z_OK) {
		end = inflate(&z, Z_FINISH);
		inflateEnd(&z);
	}
	if (end == Z_STREAM_END && z.total_out == m->bytes)
		return DLC_OK;
	free(*out);
	*out = NULL;
	return broken(err, "a member does not unpack");
#else
	(void)packed, (void)m, (void)out;
	return runtime_fail(err, DLC_BAD_FILE,
		"the .npz file is compressed, but dlc-run was built without zlib: write it with numpy.savez");
#endif
}

DlcStatus npz_parse(const unsigned char *bytes, size_t size, int index, Array *out, DlcError *err)
{
	Member m = { 0 };
	*out = (Array){ .ndim = 0 };
	DlcStatus s = find_member(bytes, size, index, &m, err);
	if (s != DLC_OK)
		return s;
	if (m.packed == UINT32_MAX || m.bytes == UINT32_MAX || m.local == UINT32_MAX)
		return runtime_fail(err, DLC_BAD_FILE, "the .npz file has a member above 4 GiB: write .npy files");
	if ((m.flags & 1) != 0 || (m.method != STORED && m.method != DEFLATED))
		return runtime_fail(err, DLC_BAD_FILE,
			"the .npz file has a member that is encrypted or packed by an unknown method: write it with numpy.savez");
	if (m.local > size || size - m.local < LOCAL_BYTES ||
		memcmp(bytes + m.local, "PK\3\4", 4) != 0)
		return broken(err, "a member is not where the directory says");
	size_t from = m.local + (size_t)LOCAL_BYTES + get16(bytes + m.local + 26) +
	              get16(bytes + m.local + 28);
	if (from > size || m.packed > size - from || (m.method == STORED && m.packed != m.bytes))
		return broken(err, "a member ends behind the end of the file");
	const unsigned char *data = bytes + from;
	unsigned char *unpacked = NULL;
	if (m.method == DEFLATED) {
		s = inflate_member(data, &m, &unpacked, err);
		if (s != DLC_OK)
			return s;
		data = unpacked;
	}
	s = npz_crc(0, data, m.bytes) == m.crc ? npy_parse(data, m.bytes, out, err)
	                                       : broken(err, "a member's checksum does not match");
	out->owned = unpacked;
	bool ends = m.nname >= 4 && memcmp(m.name + m.nname - 4, ".npy", 4) == 0;
	snprintf(out->name, sizeof out->name, "%.*s", (int)(m.nname - (ends ? 4 : 0)), m.name);
	if (s != DLC_OK)
		array_free(out);
	return s;
}

static void put16(unsigned char *p, uint32_t v)
{
	p[0] = (unsigned char)v;
	p[1] = (unsigned char)(v >> 8);
}

static void put32(unsigned char *p, uint32_t v)
{
	put16(p, v & 0xffff);
	put16(p + 2, v >> 16);
}

/* The fields that local and central headers share. */
static void put_common(unsigned char *p, const NpzEntry *e)
{
	put16(p, 20);               /* version of zip needed */
	put16(p + 8, 0x21);         /* date: 1980-01-01, so that equal tensors give equal files */
	put32(p + 10, e->crc);
	put32(p + 14, e->bytes);
	put32(p + 18, e->bytes);
	put16(p + 22, (uint32_t)strlen(e->name));
}

size_t npz_local(const NpzEntry *e, unsigned char out[NPZ_HEADER])
{
	size_t n = strlen(e->name);
	memset(out, 0, LOCAL_BYTES);
	memcpy(out, "PK\3\4", 4);
	put_common(out + 4, e);
	memcpy(out + LOCAL_BYTES, e->name, n);
	return LOCAL_BYTES + n;
}

size_t npz_central(const NpzEntry *e, unsigned char out[NPZ_HEADER])
{
	size_t n = strlen(e->name);
	memset(out, 0, CENTRAL_BYTES);
	memcpy(out, "PK\1\2", 4);
	put16(out + 4, 20);
	put_common(out + 6, e);
	put32(out + 42, e->local);
	memcpy(out + CENTRAL_BYTES, e->name, n);
	return CENTRAL_BYTES + n;
}

size_t npz_end(int n, uint32_t central, uint32_t bytes, unsigned char out[NPZ_HEADER])
{
	memset(out, 0, END_BYTES);
	memcpy(out, "PK\5\6", 4);
	put16(out + 8, (uint32_t)n);
	put16(out + 10, (uint32_t)n);
	put32(out + 12, bytes);
	put32(out + 16, central);
	return END_BYTES;
}
