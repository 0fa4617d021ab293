/*
 * How long a packed file becomes must be found out: anyone can write anything into its trailer, and a small file may
 * become very long.  So it is unpacked twice: to count, into a piece of fixed size, and into memory of that many bytes.
 */
#include "base/gzip.h"

#include <assert.h>
#include <limits.h>
#include <stdint.h>
#include <zlib.h>

enum { PIECE = 1 << 16, GZIP_ONLY = 16 + MAX_WBITS };

typedef struct Unpacking {
	z_stream z;
	size_t n;        /* bytes that are out */
	const char *why; /* what is wrong with the file; NULL: nothing */
} Unpacking;

static void *take_memory(void *arena, uInt n, uInt size)
{
	return arena_alloc(arena, (size_t)n * size);
}

static void leave_memory(void *arena, void *at)
{
	(void)arena, (void)at;
}

static bool is_packed(const unsigned char *at, size_t n)
{
	return n >= 2 && at[0] == 0x1f && at[1] == 0x8b;
}

/* gzip fills up to the blocks of a tape. */
static bool is_filling(const unsigned char *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (at[i] != 0)
			return false;
	return true;
}

static uInt piece_of(size_t n)
{
	return n < UINT_MAX ? (uInt)n : UINT_MAX;
}

/*
 * Goes on, to `limit` bytes at most: into out[0 .. limit), or, where that is NULL, into a piece again and again.
 * False: there is nothing more, or no more that is sound.
 */
static bool unpack_some(Unpacking *u, const Bytes *file, unsigned char *out, size_t limit)
{
	unsigned char piece[PIECE];
	uInt room = out == NULL && limit - u->n > PIECE ? PIECE : piece_of(limit - u->n);
	size_t left = (size_t)(file->at + file->n - u->z.next_in);
	u->z.next_out = out != NULL ? out + u->n : piece;
	u->z.avail_out = room;
	u->z.avail_in = piece_of(left);
	int end = inflate(&u->z, Z_NO_FLUSH);
	u->n += room - u->z.avail_out;
	left = (size_t)(file->at + file->n - u->z.next_in);
	if (end == Z_STREAM_END && is_packed(u->z.next_in, left)) {
		inflateReset(&u->z);
		return u->n < limit;
	}
	if (end == Z_STREAM_END && is_filling(u->z.next_in, left))
		return false;
	if (end == Z_STREAM_END)
		u->why = "other bytes follow the packed ones";
	else if (end == Z_BUF_ERROR || (end == Z_OK && left == 0 && u->z.avail_out > 0))
		u->why = "it is cut off";
	else if (end != Z_OK)
		u->why = u->z.msg != NULL ? u->z.msg : "it cannot be unpacked";
	return u->why == NULL && u->n < limit;
}

static size_t unpack(Arena *a, const Bytes *file, unsigned char *out, size_t limit, const char **why)
{
	Unpacking u = { .z = { .next_in = (Bytef *)(uintptr_t)file->at,
		.zalloc = take_memory,
		.zfree = leave_memory,
		.opaque = a } };
	int begun = inflateInit2(&u.z, GZIP_ONLY);
	assert(begun == Z_OK); /* it fails for want of memory, or with another zlib than it was compiled for */
	(void)begun;
	while (unpack_some(&u, file, out, limit))
		;
	inflateEnd(&u.z);
	*why = u.why;
	return u.n;
}

bool gzip_unpack(Arena *a, Bytes *file, size_t limit, Err *err)
{
	const char *why, *same;
	if (!is_packed(file->at, file->n))
		return true;
	size_t n = unpack(a, file, NULL, limit + 1, &why);
	if (n > limit) {
		*file = (Bytes){ arena_alloc(a, 1), 0 };
		return fail(err, ERR_INPUT, "", "unpacks to more than %zu bytes: make several files of it", limit);
	}
	unsigned char *out = arena_alloc(a, n + 1);
	*file = (Bytes){ out, n > 0 ? unpack(a, file, out, n, &same) : 0 };
	return why == NULL || fail(err, ERR_INPUT, "", "the packed file is damaged: %s", why);
}
