/*
 * Reads and writes protobuf messages by their field tables (wire.h). The input is never trusted:
 * each length is compared with what is left before it is used, nesting is limited, and everything
 * that is allocated is charged against a budget that grows with the input, because two bytes of
 * input can ask for a struct of three hundred. Left out: groups, and the merging of unknown
 * fields.
 */
#include "base/wire.h"
#include "base/wire_fill.h"

#include <assert.h>
#include <string.h>

enum { WIRE_VARINT = 0, WIRE_EIGHT = 1, WIRE_LEN = 2, WIRE_FOUR = 5 };
enum { BUDGET_FACTOR = 64, BUDGET_FLOOR = 1 << 20 };

typedef struct Reader {
	WireFill fill;
	const unsigned char *base; /* for the byte offsets of messages */
	int depth;
} Reader;

size_t wire_kind_size(const WireField *f)
{
	switch (f->kind) {
	case WIRE_INT: return sizeof(int64_t);
	case WIRE_FLOAT: return sizeof(float);
	case WIRE_DOUBLE: return sizeof(double);
	case WIRE_TEXT: return sizeof(const char *);
	case WIRE_BYTES: return sizeof(Bytes);
	case WIRE_MSG: return f->message->size;
	}
	return 0;
}

static bool damaged(Reader *r, const WireMessage *m, const WireField *f, const unsigned char *at,
	const char *why)
{
	return fail(r->fill.err, ERR_INPUT, NULL, "damaged at byte %zu, in %s%s%s: %s",
		(size_t)(at - r->base), m->name, f != NULL ? "." : "", f != NULL ? f->name : "",
		why);
}

/* A varint of at most ten bytes; false if it is cut off or longer. */
static bool get_varint(Bytes *b, uint64_t *out)
{
	uint64_t v = 0;
	for (size_t i = 0; i < 10 && i < b->n; i++) {
		v |= (uint64_t)(b->at[i] & 0x7f) << (7 * i);
		if (b->at[i] < 0x80) {
			b->at += i + 1;
			b->n -= i + 1;
			*out = v;
			return true;
		}
	}
	return false;
}

WireFill wire_fill_for(Arena *a, size_t input, Err *err)
{
	size_t budget = input > SIZE_MAX / 2 / BUDGET_FACTOR ? SIZE_MAX / 2 : input * BUDGET_FACTOR;
	return (WireFill){ a, budget + BUDGET_FLOOR, err };
}

bool wire_charge(WireFill *w, size_t n)
{
	if (n > w->budget)
		return fail(w->err, ERR_MEMORY, NULL,
			"its messages need more than %d times the file's size in memory",
			BUDGET_FACTOR);
	w->budget -= n;
	return true;
}

bool wire_reserve(WireFill *w, void *seq, size_t more, size_t size)
{
	WireSeq *s = seq;
	if (more <= s->cap - s->n)
		return true;
	size_t cap = s->cap * 2 > s->n + more ? s->cap * 2 : s->n + more;
	if (cap > SIZE_MAX / 2 / size || !wire_charge(w, cap * size))
		return fail(w->err, ERR_MEMORY, NULL, "a list of it is too long");
	void *at = arena_alloc(w->arena, cap * size);
	if (s->n > 0)
		memcpy(at, s->at, s->n * size);
	s->at = at;
	s->cap = cap;
	return true;
}

/* One scalar: number kinds only. */
static bool get_number(Bytes *b, WireKind kind, void *to)
{
	if (kind == WIRE_INT) {
		uint64_t v;
		if (!get_varint(b, &v))
			return false;
		memcpy(to, &v, sizeof v);
		return true;
	}
	size_t n = kind == WIRE_FLOAT ? 4 : 8;
	if (b->n < n)
		return false;
	memcpy(to, b->at, n);
	b->at += n;
	b->n -= n;
	return true;
}

static const int wire_type[] = { [WIRE_INT] = WIRE_VARINT,
	[WIRE_FLOAT] = WIRE_FOUR,
	[WIRE_DOUBLE] = WIRE_EIGHT,
	[WIRE_TEXT] = WIRE_LEN,
	[WIRE_BYTES] = WIRE_LEN,
	[WIRE_MSG] = WIRE_LEN };

static bool read_packed(Reader *r, const WireMessage *m, const WireField *f, Bytes b, WireSeq *s)
{
	size_t size = wire_kind_size(f), count = f->kind == WIRE_INT ? 0 : b.n / (f->kind == WIRE_FLOAT ? 4 : 8);
	for (size_t i = 0; i < b.n && f->kind == WIRE_INT; i++) /* the last byte of each varint */
		count += b.at[i] < 0x80;
	if (!wire_reserve(&r->fill, s, count, size))
		return false;
	while (b.n > 0) {
		if (s->n == s->cap || !get_number(&b, f->kind, (char *)s->at + s->n * size))
			return damaged(
				r, m, f, b.at, "the last number of a packed list is cut off");
		s->n++;
	}
	return true;
}

static bool read_text(Reader *r, const WireMessage *m, const WireField *f, Bytes b, const char **to)
{
	if (b.n > 0 && memchr(b.at, 0, b.n) != NULL)
		return damaged(r, m, f, b.at, "a name holds a zero byte");
	if (!wire_charge(&r->fill, b.n + 1))
		return false;
	char *s = arena_alloc(r->fill.arena, b.n + 1);
	if (b.n > 0)
		memcpy(s, b.at, b.n);
	*to = s;
	return true;
}

static bool read_message(Reader *r, const WireMessage *m, Bytes b, void *out);

/* A length-delimited item into the member at `to`. */
static bool read_block(Reader *r, const WireMessage *m, const WireField *f, Bytes b, void *to)
{
	if (f->kind == WIRE_TEXT)
		return read_text(r, m, f, b, to);
	if (f->kind == WIRE_BYTES) {
		memcpy(to, &b, sizeof b);
		return true;
	}
	if (r->depth == WIRE_DEPTH)
		return damaged(r, m, f, b.at, "messages are nested too deeply");
	r->depth++;
	bool ok = read_message(r, f->message, b, to);
	r->depth--;
	return ok;
}

static bool read_field(
	Reader *r, const WireMessage *m, const WireField *f, const WireItem *it, void *member)
{
	bool number = f->kind <= WIRE_DOUBLE;
	const unsigned char *at = it->bytes.at;
	if (f->many && number && it->type == WIRE_LEN)
		return read_packed(r, m, f, it->bytes, member);
	if (it->type != wire_type[f->kind])
		return damaged(r, m, f, at, "it has another wire type than the schema says");
	void *to = member;
	if (f->many) {
		WireSeq *s = member;
		if (!wire_reserve(&r->fill, s, 1, wire_kind_size(f)))
			return false;
		to = (char *)s->at + s->n++ * wire_kind_size(f);
	} else if (f->kind == WIRE_MSG) {
		void **p = member;
		if (*p == NULL) { /* given twice, a message is merged */
			if (!wire_charge(&r->fill, f->message->size))
				return false;
			*p = arena_alloc(r->fill.arena, f->message->size);
		}
		to = *p;
	}
	if (!number)
		return read_block(r, m, f, it->bytes, to);
	memcpy(to, &it->value, f->kind == WIRE_FLOAT ? 4 : 8);
	return true;
}

/* Why an item could not be taken, from the bytes where it begins. */
static const char *why_not(Bytes b)
{
	uint64_t key, n;
	if (!get_varint(&b, &key))
		return "a number is cut off or longer than ten bytes";
	if (key >> 3 == 0 || key >> 3 > 0x1fffffff)
		return "a field number out of range";
	switch (key & 7) {
	case 3:
	case 4: return "groups are not supported";
	case 6:
	case 7: return "no such wire type";
	case WIRE_LEN:
		if (get_varint(&b, &n))
			return "it says to be longer than what is left of the file";
		break;
	default: break;
	}
	return "a number is cut off or longer than ten bytes";
}

/* Takes one item; false with *rest unmoved if it is damaged or there is none. */
static bool take(Bytes *rest, WireItem *out, bool partial)
{
	Bytes b = *rest;
	uint64_t key, n;
	if (!get_varint(&b, &key) || key >> 3 == 0 || key >> 3 > 0x1fffffff)
		return false;
	*out = (WireItem){ .number = (uint32_t)(key >> 3), .type = (int)(key & 7), .bytes = b };
	switch (out->type) {
	case WIRE_VARINT:
		if (!get_varint(&b, &out->value))
			return false;
		break;
	case WIRE_FOUR:
	case WIRE_EIGHT:
		if (!get_number(&b, out->type == WIRE_FOUR ? WIRE_FLOAT : WIRE_DOUBLE, &out->value))
			return false;
		break;
	case WIRE_LEN:
		if (!get_varint(&b, &n) || (n > b.n && !partial))
			return false;
		n = n > b.n ? b.n : n;
		out->bytes = (Bytes){ b.at, (size_t)n };
		b.at += n;
		b.n -= (size_t)n;
		break;
	default: return false;
	}
	*rest = b;
	return true;
}

bool wire_next(Bytes *rest, WireItem *out)
{
	return rest->n > 0 && take(rest, out, true);
}

static bool read_message(Reader *r, const WireMessage *m, Bytes b, void *out)
{
	int row = 0; /* fields mostly come in order, or the last one again */
	while (b.n > 0) {
		WireItem it;
		if (!take(&b, &it, false))
			return damaged(r, m, NULL, b.at, why_not(b));
		int tried = 0;
		while (tried < m->nfield && m->field[row].number != it.number) {
			row = row + 1 == m->nfield ? 0 : row + 1;
			tried++;
		}
		if (tried == m->nfield)
			continue;
		const WireField *f = &m->field[row];
		if (!read_field(r, m, f, &it, (char *)out + f->offset))
			return false;
		uint64_t has;
		memcpy(&has, out, sizeof has);
		has |= (uint64_t)1 << row;
		memcpy(out, &has, sizeof has);
	}
	return true;
}

bool wire_read(Arena *a, const WireMessage *m, Bytes in, void *out, Err *err)
{
	assert(m->nfield > 0 && m->nfield <= 64);
	Reader r = { .fill = wire_fill_for(a, in.n, err), .base = in.at };
	return read_message(&r, m, in, out);
}

static size_t varint_size(uint64_t v)
{
	size_t n = 1;
	while (v >= 0x80) {
		v >>= 7;
		n++;
	}
	return n;
}

static size_t number_size(WireKind kind, const void *at)
{
	uint64_t v = 0;
	if (kind == WIRE_INT)
		memcpy(&v, at, sizeof v);
	return kind == WIRE_INT ? varint_size(v) : kind == WIRE_FLOAT ? 4 : 8;
}

/* Bytes of the payload of a text, a blob or a message; of all numbers of a packed list. */
static size_t block_size(const WireField *f, const void *at)
{
	if (f->kind == WIRE_TEXT)
		return strlen(*(const char *const *)at);
	if (f->kind == WIRE_BYTES)
		return ((const Bytes *)at)->n;
	return wire_size(f->message, at);
}

static size_t packed_size(const WireField *f, const WireSeq *s)
{
	size_t n = 0, size = wire_kind_size(f);
	for (size_t i = 0; i < s->n; i++)
		n += number_size(f->kind, (const char *)s->at + i * size);
	return n;
}

/* Whether a singular member is to be written; *at becomes the item itself. */
static bool is_there(const WireField *f, uint64_t has, int row, const void **at)
{
	if (f->kind == WIRE_MSG || f->kind == WIRE_TEXT) {
		const void *p;
		memcpy(&p, *at, sizeof p);
		if (f->kind == WIRE_MSG)
			*at = p;
		return p != NULL;
	}
	if (has >> row & 1)
		return true;
	static const char zero[sizeof(Bytes)];
	return f->kind == WIRE_BYTES ? ((const Bytes *)*at)->n > 0
	                             : memcmp(*at, zero, wire_kind_size(f)) != 0;
}

static size_t item_size(const WireField *f, const void *at)
{
	if (f->kind <= WIRE_DOUBLE)
		return number_size(f->kind, at);
	size_t n = block_size(f, at);
	return varint_size(n) + n;
}

size_t wire_size(const WireMessage *m, const void *msg)
{
	size_t n = 0;
	uint64_t has;
	memcpy(&has, msg, sizeof has);
	for (int row = 0; row < m->nfield; row++) {
		const WireField *f = &m->field[row];
		const void *at = (const char *)msg + f->offset;
		size_t key = varint_size((uint64_t)f->number << 3);
		if (!f->many) {
			if (is_there(f, has, row, &at))
				n += key + item_size(f, at);
			continue;
		}
		const WireSeq *s = at;
		if (f->kind <= WIRE_DOUBLE && s->n > 0) {
			size_t all = packed_size(f, s);
			n += key + varint_size(all) + all;
			continue;
		}
		for (size_t i = 0; i < s->n; i++)
			n += key + item_size(f, (const char *)s->at + i * wire_kind_size(f));
	}
	return n;
}

static void put_varint(Text *out, uint64_t v)
{
	char b[10];
	size_t n = 0;
	do {
		b[n++] = (char)((v & 0x7f) | (v >= 0x80 ? 0x80 : 0));
		v >>= 7;
	} while (v > 0);
	text_put(out, b, n);
}

static void put_number(Text *out, WireKind kind, const void *at)
{
	if (kind == WIRE_INT) {
		uint64_t v;
		memcpy(&v, at, sizeof v);
		put_varint(out, v);
	} else {
		text_put(out, at, kind == WIRE_FLOAT ? 4 : 8);
	}
}

static void put_item(Text *out, const WireField *f, const void *at)
{
	if (f->kind <= WIRE_DOUBLE) {
		put_number(out, f->kind, at);
		return;
	}
	put_varint(out, block_size(f, at));
	if (f->kind == WIRE_TEXT)
		text_put(out, *(const char *const *)at, strlen(*(const char *const *)at));
	else if (f->kind == WIRE_BYTES)
		text_put(out, (const char *)((const Bytes *)at)->at, ((const Bytes *)at)->n);
	else
		wire_write(out, f->message, at);
}

void wire_write(Text *out, const WireMessage *m, const void *msg)
{
	uint64_t has;
	memcpy(&has, msg, sizeof has);
	for (int row = 0; row < m->nfield; row++) {
		const WireField *f = &m->field[row];
		const void *at = (const char *)msg + f->offset;
		uint64_t key = (uint64_t)f->number << 3;
		if (!f->many) {
			if (is_there(f, has, row, &at)) {
				put_varint(out, key | (unsigned)wire_type[f->kind]);
				put_item(out, f, at);
			}
			continue;
		}
		const WireSeq *s = at;
		size_t size = wire_kind_size(f);
		if (f->kind <= WIRE_DOUBLE && s->n > 0) {
			put_varint(out, key | WIRE_LEN);
			put_varint(out, packed_size(f, s));
			for (size_t i = 0; i < s->n; i++)
				put_number(out, f->kind, (const char *)s->at + i * size);
			continue;
		}
		for (size_t i = 0; i < s->n; i++) {
			put_varint(out, key | WIRE_LEN);
			put_item(out, f, (const char *)s->at + i * size);
		}
	}
}
