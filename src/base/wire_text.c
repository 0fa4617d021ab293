/*
 * Reads protobuf's text format by field tables (wire_text.h): tokens, then scalars, then messages. What is allocated is
 * charged against a budget that grows with the input, as in wire.c, since "a{}" may ask for a large struct.
 */
#include "base/wire_text.h"
#include "base/wire_fill.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SKIPPED = 64 };

typedef enum { END, WORD, NUMBER, STRING, SIGN } TokenKind;

typedef struct Token {
	TokenKind kind;
	const char *at; /* in the input */
	size_t n;
} Token;

typedef struct TextReader {
	WireFill fill;
	const char *name;
	const char *at, *end;
	int line, depth;
	Token token; /* the next one */
	WireTexts *skipped;
} TextReader;

static bool refuse(TextReader *r, const char *fmt, ...) PRINTF_LIKE(2, 3);
static bool refuse(TextReader *r, const char *fmt, ...)
{
	char text[400];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return fail(r->fill.err, ERR_SYNTAX, arena_printf(r->fill.arena, "%s:%d", r->name, r->line), "%s", text);
}

/* ---- tokens */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void skip_blanks(TextReader *r)
{
	for (; r->at < r->end; r->at++) {
		if (*r->at == '#')
			while (r->at + 1 < r->end && r->at[1] != '\n')
				r->at++;
		else if (*r->at == '\n')
			r->line++;
		else if (*r->at != ' ' && *r->at != '\t' && *r->at != '\r' && *r->at != '\v' && *r->at != '\f')
			return;
	}
}

/* The text from one quote to the next of its kind, quotes included; it does not go beyond its line. */
static bool take_string(TextReader *r)
{
	char quote = *r->at;
	const char *s = r->at + 1;
	while (s < r->end && *s != quote && *s != '\n')
		s += *s == '\\' && s + 1 < r->end ? 2 : 1;
	if (s >= r->end || *s != quote)
		return refuse(r, "a string has no closing %c", quote);
	r->token = (Token){ STRING, r->at, (size_t)(s + 1 - r->at) };
	r->at = s + 1;
	return true;
}

static bool next(TextReader *r)
{
	skip_blanks(r);
	const char *s = r->at;
	if (s == r->end) {
		r->token = (Token){ END, s, 0 };
		return true;
	}
	if (*s == '"' || *s == '\'')
		return take_string(r);
	TokenKind kind = is_letter(*s) ? WORD : is_digit(*s) || *s == '.' ? NUMBER : SIGN;
	s++;
	while (s < r->end && kind != SIGN &&
		(is_letter(*s) || is_digit(*s) || *s == '.' ||
			(kind == NUMBER && (*s == '-' || *s == '+') && (s[-1] == 'e' || s[-1] == 'E'))))
		s++;
	r->token = (Token){ kind, r->at, (size_t)(s - r->at) };
	r->at = s;
	return true;
}

static bool is_sign(const TextReader *r, char c)
{
	return r->token.kind == SIGN && *r->token.at == c;
}

static bool is_word(const TextReader *r, const char *word)
{
	return r->token.kind == WORD && strlen(word) == r->token.n && memcmp(r->token.at, word, r->token.n) == 0;
}

static bool unexpected(TextReader *r, const char *want)
{
	if (r->token.kind == END)
		return refuse(r, "the text ends where %s is needed", want);
	return refuse(r, "'%.*s' stands where %s is needed", (int)(r->token.n < 40 ? r->token.n : 40), r->token.at, want);
}

/* ---- scalars */

static int digit_of(char c)
{
	return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

/* A number of at most `most` digits at *s; *s moves behind them. */
static unsigned take_digits(const char **s, const char *end, int base, int most)
{
	unsigned v = 0;
	for (int k = 0; k < most && *s < end && digit_of(**s) < base; k++)
		v = v * (unsigned)base + (unsigned)digit_of(*(*s)++);
	return v;
}

static void put_utf8(Text *out, unsigned c)
{
	char b[4];
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	for (size_t k = n - 1; k > 0; k--, c >>= 6)
		b[k] = (char)(0x80 | (c & 0x3f));
	b[0] = (char)(lead[n] | c);
	text_put(out, b, n);
}

static void put_escape(Text *out, const char **s, const char *end)
{
	static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
	char c = *(*s)++;
	const char *k = strchr(from, c);
	if (c >= '0' && c <= '7') {
		(*s)--;
		text_put(out, &(char){ (char)take_digits(s, end, 8, 3) }, 1);
	} else if (c == 'x' || c == 'X') {
		text_put(out, &(char){ (char)take_digits(s, end, 16, 2) }, 1);
	} else if (c == 'u' || c == 'U') {
		unsigned code = take_digits(s, end, 16, c == 'u' ? 4 : 8);
		put_utf8(out, code < 0x110000 ? code : 0xfffd);
	} else if (k != NULL && c != 0) {
		text_put(out, &to[k - from], 1);
	} else {
		text_put(out, &c, 1);
	}
}

/* One string, or several behind each other, which are one. */
static bool read_string(TextReader *r, Bytes *out)
{
	Text t = { .arena = r->fill.arena };
	if (r->token.kind != STRING)
		return unexpected(r, "a string");
	while (r->token.kind == STRING) {
		const char *s = r->token.at + 1, *end = r->token.at + r->token.n - 1;
		if (!wire_charge(&r->fill, r->token.n * 2))
			return false;
		while (s < end)
			if (*s == '\\' && s + 1 < end) {
				s++;
				put_escape(&t, &s, end);
			} else {
				text_put(&t, s++, 1);
			}
		if (!next(r))
			return false;
	}
	*out = (Bytes){ (const unsigned char *)text_str(&t), t.n };
	return true;
}

/* The number of an enum's word. */
static bool read_word(TextReader *r, const WireField *f, int64_t *out)
{
	static const struct {
		const char *name;
		int64_t value;
	} truth[] = { { "true", 1 }, { "false", 0 }, { "True", 1 }, { "False", 0 }, { "t", 1 }, { "f", 0 } };
	for (int k = 0; f->message != NULL && k < f->message->nfield; k++)
		if (is_word(r, f->message->field[k].name)) {
			*out = (int32_t)f->message->field[k].number;
			return next(r);
		}
	for (size_t k = 0; k < sizeof truth / sizeof *truth; k++)
		if (is_word(r, truth[k].name)) {
			*out = truth[k].value;
			return next(r);
		}
	return refuse(
		r, "'%.*s' is no value of the field %s", (int)(r->token.n < 40 ? r->token.n : 40), r->token.at, f->name);
}

/* An integer; octal and hexadecimal ones, too. The sign was read. */
static bool read_int(TextReader *r, const WireField *f, bool minus, int64_t *out)
{
	const char *s = r->token.at, *end = s + r->token.n;
	uint64_t v = 0;
	unsigned base = 10;
	if (r->token.n > 2 && *s == '0' && (s[1] == 'x' || s[1] == 'X')) {
		base = 16;
		s += 2;
	} else if (r->token.n > 1 && *s == '0') {
		base = 8;
		s++;
	}
	for (; s < end; s++) {
		unsigned d = (unsigned)digit_of(*s);
		if (d >= base || v > (UINT64_MAX - d) / base)
			return refuse(r, "'%.*s' is no integer of the field %s", (int)(r->token.n < 40 ? r->token.n : 40),
				r->token.at, f->name);
		v = v * base + d;
	}
	*out = (int64_t)(minus ? 0 - v : v);
	return next(r);
}

static bool read_float(TextReader *r, const WireField *f, bool minus, double *out)
{
	char text[64], *end;
	if (r->token.n >= sizeof text)
		return unexpected(r, "a number");
	memcpy(text, r->token.at, r->token.n);
	text[r->token.n] = 0;
	bool word = r->token.kind == WORD;
	bool known = !word || is_word(r, "inf") || is_word(r, "infinity") || is_word(r, "nan") || is_word(r, "Infinity") ||
		is_word(r, "NaN");
	*out = strtod(text, &end);
	if (*end == 'f' || *end == 'F')
		end++;
	if (!known || end == text || *end != 0)
		return refuse(r, "'%.40s' is no number of the field %s", text, f->name);
	*out = minus ? -*out : *out;
	return next(r);
}

static bool read_number(TextReader *r, const WireField *f, void *to)
{
	bool minus = is_sign(r, '-');
	if (minus && !next(r))
		return false;
	if (r->token.kind != NUMBER && r->token.kind != WORD)
		return unexpected(r, "a number");
	if (f->kind == WIRE_INT) {
		int64_t v = 0;
		bool ok = r->token.kind == WORD && !minus ? read_word(r, f, &v) : read_int(r, f, minus, &v);
		if (ok)
			memcpy(to, &v, sizeof v);
		return ok;
	}
	double v = 0;
	if (!read_float(r, f, minus, &v))
		return false;
	if (f->kind == WIRE_FLOAT)
		memcpy(to, &(float){ (float)v }, sizeof(float));
	else
		memcpy(to, &v, sizeof v);
	return true;
}

/* ---- messages */

static bool read_fields(TextReader *r, const WireMessage *m, const char *path, char close, void *out);

/* { .. } or < .. > behind the field's name. */
static bool read_block(TextReader *r, const WireMessage *m, const char *path, void *to)
{
	char close = is_sign(r, '<') ? '>' : '}';
	if (!is_sign(r, '{') && !is_sign(r, '<'))
		return unexpected(r, "{");
	if (r->depth == WIRE_DEPTH)
		return refuse(r, "messages are nested too deeply");
	r->depth++;
	bool ok = next(r) && read_fields(r, m, path, close, to);
	r->depth--;
	return ok;
}

static bool read_value(TextReader *r, const WireField *f, const char *path, void *member)
{
	void *to = member;
	if (f->many) {
		if (!wire_reserve(&r->fill, member, 1, wire_kind_size(f)))
			return false;
		WireSeq *s = member;
		to = (char *)s->at + s->n++ * wire_kind_size(f);
	} else if (f->kind == WIRE_MSG) {
		void **p = member;
		if (*p == NULL) {
			if (!wire_charge(&r->fill, f->message->size))
				return false;
			*p = arena_alloc(r->fill.arena, f->message->size);
		}
		to = *p;
	}
	if (f->kind == WIRE_MSG)
		return read_block(r, f->message, path, to);
	if (f->kind != WIRE_TEXT && f->kind != WIRE_BYTES)
		return read_number(r, f, to);
	Bytes b;
	if (!read_string(r, &b))
		return false;
	if (f->kind == WIRE_TEXT && memchr(b.at, 0, b.n) != NULL)
		return refuse(r, "a name holds a zero byte");
	if (f->kind == WIRE_TEXT)
		memcpy(to, &b.at, sizeof b.at);
	else
		memcpy(to, &b, sizeof b);
	return true;
}

/* A value that no row wants: a block, a list or a scalar. */
static bool skip_value(TextReader *r)
{
	int deep = 0;
	for (bool more = true; more;) {
		bool close = is_sign(r, '}') || is_sign(r, '>') || is_sign(r, ']');
		if (r->token.kind == END || (close && deep == 0))
			return unexpected(r, "a value");
		deep += close ? -1 : is_sign(r, '{') || is_sign(r, '<') || is_sign(r, '[');
		bool minus = is_sign(r, '-'), string = r->token.kind == STRING;
		if (!next(r))
			return false;
		more = deep > 0 || minus || (string && r->token.kind == STRING);
	}
	return true;
}

static void note_skipped(TextReader *r, const char *path)
{
	if (r->skipped == NULL || r->skipped->n >= MOST_SKIPPED)
		return;
	for (size_t k = 0; k < r->skipped->n; k++)
		if (strcmp(r->skipped->at[k], path) == 0)
			return;
	vec_push(r->fill.arena, r->skipped, path);
}

static const WireField *find_field(const WireMessage *m, const Token *t, int *row)
{
	for (int k = 0; k < m->nfield; k++)
		if (strlen(m->field[k].name) == t->n && memcmp(m->field[k].name, t->at, t->n) == 0) {
			*row = k;
			return &m->field[k];
		}
	return NULL;
}

/* One value, or [several] of a field that may have many. */
static bool read_values(TextReader *r, const WireField *f, const char *path, void *member)
{
	if (!is_sign(r, '['))
		return read_value(r, f, path, member);
	if (!f->many)
		return refuse(r, "the field %s takes one value, not a list", f->name);
	if (!next(r))
		return false;
	while (!is_sign(r, ']')) {
		if (!read_value(r, f, path, member))
			return false;
		if (is_sign(r, ',') && !next(r))
			return false;
		else if (!is_sign(r, ']') && r->token.kind == END)
			return unexpected(r, "]");
	}
	return next(r);
}

static bool read_field(TextReader *r, const WireMessage *m, const char *path, void *out)
{
	int row = 0;
	Token name = r->token;
	if (name.kind != WORD)
		return unexpected(r, "the name of a field");
	const WireField *f = find_field(m, &name, &row);
	const char *whole = path;
	if (f == NULL || f->kind == WIRE_MSG)
		whole = arena_printf(r->fill.arena, "%s%s%.*s", path, path[0] != 0 ? "." : "", (int)(name.n < 80 ? name.n : 80),
			name.at);
	if (!wire_charge(&r->fill, 2 * strlen(whole)) || !next(r))
		return false;
	bool colon = is_sign(r, ':');
	if (colon && !next(r))
		return false;
	if (!colon && !is_sign(r, '{') && !is_sign(r, '<'))
		return unexpected(r, ":");
	if (f == NULL) {
		note_skipped(r, whole);
		return skip_value(r);
	}
	if (!read_values(r, f, whole, (char *)out + f->offset))
		return false;
	uint64_t has;
	memcpy(&has, out, sizeof has);
	has |= (uint64_t)1 << row;
	memcpy(out, &has, sizeof has);
	return true;
}

static bool read_fields(TextReader *r, const WireMessage *m, const char *path, char close, void *out)
{
	while (close == 0 ? r->token.kind != END : !is_sign(r, close)) {
		if (!read_field(r, m, path, out))
			return false;
		if ((is_sign(r, ',') || is_sign(r, ';')) && !next(r))
			return false;
	}
	return close == 0 || next(r);
}

bool wire_read_text(
	Arena *a, const WireMessage *m, const char *name, Bytes in, void *out, WireTexts *skipped, Err *err)
{
	TextReader r = { .fill = wire_fill_for(a, in.n, err),
		.name = name,
		.at = (const char *)in.at,
		.end = (const char *)in.at + in.n,
		.line = 1,
		.skipped = skipped };
	return next(&r) && read_fields(&r, m, "", 0, out);
}
