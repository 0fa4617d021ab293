/* Zip archives of stored entries, made byte by byte: sound ones, and such as no tool writes. */
#ifndef TESTS_FRONTEND_ARCHIVE_BYTES_H
#define TESTS_FRONTEND_ARCHIVE_BYTES_H

#include "base/file.h"
#include "base/text.h"

#include <string.h>

typedef struct Entry {
	const char *name, *data;
	uint32_t mode;   /* of Unix; 0: a plain file */
	uint32_t method; /* 0 stored, 8 deflated */
	uint32_t size;   /* that the directory says; 0: the data's */
	uint32_t n;      /* bytes of data; 0: it is a text */
} Entry;

static inline void put16(Text *t, uint32_t v)
{
	text_put(t, (const char[]){ (char)v, (char)(v >> 8) }, 2);
}

static inline void put32(Text *t, uint32_t v)
{
	put16(t, v & 0xffff);
	put16(t, v >> 16);
}

static inline uint32_t entry_bytes(const Entry *e)
{
	return e->n != 0 ? e->n : (uint32_t)strlen(e->data);
}

static inline uint32_t checksum(const Entry *e)
{
	uint32_t crc = 0xffffffff;
	for (uint32_t i = 0; i < entry_bytes(e); i++) {
		crc ^= (unsigned char)e->data[i];
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

/* What a local header and one of the directory share. */
static inline void put_common(Text *t, const Entry *e)
{
	put16(t, 0); /* flags */
	put16(t, e->method);
	put32(t, 0x21 << 16); /* a date */
	put32(t, checksum(e));
	put32(t, entry_bytes(e));
	put32(t, e->size != 0 ? e->size : entry_bytes(e));
	put16(t, (uint32_t)strlen(e->name));
	put16(t, 0);
}

static inline Bytes make_archive(Arena *a, const Entry *e, int n)
{
	Text t = { .arena = a }, dir = { .arena = a };
	for (int k = 0; k < n; k++) {
		put32(&dir, 0x02014b50);
		put16(&dir, 3 << 8 | 20); /* made by Unix */
		put16(&dir, 20);
		put_common(&dir, &e[k]);
		put16(&dir, 0);
		put16(&dir, 0);
		put16(&dir, 0);
		put32(&dir, (e[k].mode != 0 ? e[k].mode : 0100644) << 16);
		put32(&dir, (uint32_t)t.n);
		text_put(&dir, e[k].name, strlen(e[k].name));
		put32(&t, 0x04034b50);
		put16(&t, 20);
		put_common(&t, &e[k]);
		text_put(&t, e[k].name, strlen(e[k].name));
		text_put(&t, e[k].data, entry_bytes(&e[k]));
	}
	uint32_t at = (uint32_t)t.n;
	text_put(&t, text_str(&dir), dir.n);
	put32(&t, 0x06054b50);
	put32(&t, 0);
	put16(&t, (uint32_t)n);
	put16(&t, (uint32_t)n);
	put32(&t, (uint32_t)dir.n);
	put32(&t, at);
	put16(&t, 0);
	return (Bytes){ (const unsigned char *)text_str(&t), t.n };
}

#endif
