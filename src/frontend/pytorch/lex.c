/* Words of TorchScript code; lex.h says what they are. Lines that only have blanks or a comment are left out. */
#include "frontend/pytorch/lex.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool script_fail(ScriptLexer *l, const char *why)
{
	return fail(l->err, ERR_INPUT, NULL, "its code %.120s:%d %s", l->module, l->line, why);
}

static int peek(const ScriptLexer *l, size_t ahead)
{
	return l->at + ahead < l->in.n ? l->in.at[l->at + ahead] : 0;
}

static bool give(ScriptLexer *l, TokenKind kind, const char *text)
{
	l->kind = kind;
	l->text = text;
	return true;
}

static bool is_name(int c)
{
	return isalnum(c) || c == '_' || c >= 128;
}

static bool word(ScriptLexer *l)
{
	size_t from = l->at;
	while (is_name(peek(l, 0)))
		l->at++;
	if (l->at - from > 1000)
		return script_fail(l, "has a name of more than 1000 letters");
	const char *s = arena_printf(l->a, "%.*s", (int)(l->at - from), (const char *)l->in.at + from);
	bool yes = strcmp(s, "True") == 0;
	if (strcmp(s, "None") != 0 && !yes && strcmp(s, "False") != 0)
		return give(l, TOKEN_NAME, s);
	l->value = s[0] == 'N' ? torch_none() : torch_bool(yes);
	return give(l, TOKEN_CONST, s);
}

static bool number(ScriptLexer *l)
{
	char s[64];
	size_t n = 0;
	bool real = false;
	while (n + 1 < sizeof s) {
		int c = peek(l, 0);
		bool sign = (c == '+' || c == '-') && n > 0 && (s[n - 1] == 'e' || s[n - 1] == 'E');
		if (!isdigit(c) && c != '.' && c != 'e' && c != 'E' && !sign)
			break;
		real |= !isdigit(c);
		s[n++] = (char)c;
		l->at++;
	}
	s[n] = 0;
	if (n + 1 == sizeof s || is_name(peek(l, 0)))
		return script_fail(l, "has a number that dlc does not read");
	errno = 0;
	char *end;
	if (real)
		l->value = torch_float(strtod(s, &end));
	else
		l->value = torch_int(strtoll(s, &end, 10));
	if (*end != 0 || (!real && errno != 0))
		return script_fail(l, "has a number that dlc does not read");
	return give(l, TOKEN_CONST, "a number");
}

/* What a backslash stands for. */
static bool escaped(ScriptLexer *l, char *out)
{
	static const char from[] = "ntrabfv\\\"'", to[] = "\n\t\r\a\b\f\v\\\"'";
	int c = peek(l, 0), v = 0, k = 0;
	const char *at = c != 0 ? strchr(from, c) : NULL;
	l->at++;
	if (at != NULL) {
		*out = to[at - from];
		return true;
	}
	if (c == 'x') {
		for (; k < 2 && isxdigit(peek(l, 0)); k++, l->at++)
			v = v * 16 + (isdigit(peek(l, 0)) ? peek(l, 0) - '0' : (peek(l, 0) | 32) - 'a' + 10);
	} else {
		for (l->at--; k < 3 && peek(l, 0) >= '0' && peek(l, 0) <= '7'; k++, l->at++)
			v = v * 8 + peek(l, 0) - '0';
	}
	*out = (char)(v & 255);
	return k > 0 ? true : script_fail(l, "has a text with an unknown escape");
}

static bool quoted(ScriptLexer *l)
{
	int quote = peek(l, 0);
	Text t = { .arena = l->a };
	for (l->at++; peek(l, 0) != quote;) {
		char c = (char)peek(l, 0);
		if (c == 0 || c == '\n')
			return script_fail(l, "has a text without an end");
		l->at++;
		if (c == '\\' && !escaped(l, &c))
			return false;
		text_put(&t, c != 0 ? &c : "?", 1);
	}
	l->at++;
	l->value = torch_text(text_str(&t));
	return give(l, TOKEN_CONST, "a text");
}

static bool sign(ScriptLexer *l)
{
	static const char *const signs[] = { "->", "(", ")", "[", "]", "{", "}", ",", ":", "=", ".", "-" };
	for (size_t k = 0; k < sizeof signs / sizeof *signs; k++) {
		size_t n = strlen(signs[k]);
		if (l->in.n - l->at < n || memcmp(l->in.at + l->at, signs[k], n) != 0)
			continue;
		l->at += n;
		l->nest += k >= 1 && k <= 6 ? (k % 2 == 1 ? 1 : -1) : 0;
		if (l->nest < 0 || l->nest > 256)
			return script_fail(l, "has brackets that do not fit each other, or more than 256 inside each other");
		return give(l, TOKEN_SIGN, signs[k]);
	}
	return script_fail(l, "has a character that dlc does not read");
}

/* The begin of a line: how far it is indented. */
static bool begin(ScriptLexer *l, bool *made)
{
	int column = 0;
	*made = false;
	for (;;) {
		size_t at = l->at;
		for (column = 0; at < l->in.n && (l->in.at[at] == ' ' || l->in.at[at] == '\t' || l->in.at[at] == '\r'); at++)
			column++;
		if (at < l->in.n && l->in.at[at] == '#')
			while (at < l->in.n && l->in.at[at] != '\n')
				at++;
		l->at = at;
		if (at >= l->in.n || l->in.at[at] != '\n')
			break;
		l->at++;
		l->line++;
	}
	if (l->at >= l->in.n)
		column = 0;
	l->fresh = false;
	if (column > l->indent[l->depth]) {
		if (l->depth == 255)
			return script_fail(l, "has more than 255 blocks inside each other");
		l->indent[++l->depth] = column;
		*made = true;
		return give(l, TOKEN_INDENT, "");
	}
	while (column < l->indent[l->depth]) {
		l->depth--;
		l->dedents++;
	}
	return column == l->indent[l->depth] || script_fail(l, "is indented like no line before it");
}

bool script_word(ScriptLexer *l)
{
	bool made;
	if (l->fresh && l->nest == 0) {
		if (!begin(l, &made))
			return false;
		if (made)
			return true;
	}
	if (l->dedents > 0) {
		l->dedents--;
		return give(l, TOKEN_DEDENT, "");
	}
	for (;; l->at++) {
		int c = peek(l, 0);
		if (c == '\n' && l->at < l->in.n) {
			l->line++;
			if (l->nest > 0)
				continue;
			l->at++;
			l->fresh = true;
			return give(l, TOKEN_LINE, "");
		}
		if (c == '#') {
			while (l->at + 1 < l->in.n && l->in.at[l->at + 1] != '\n')
				l->at++;
			continue;
		}
		if (c != ' ' && c != '\t' && c != '\r')
			break;
	}
	int c = peek(l, 0);
	if (c == 0 && l->at >= l->in.n)
		return give(l, TOKEN_END, "");
	if (isdigit(c) || (c == '.' && isdigit(peek(l, 1))))
		return number(l);
	if (is_name(c))
		return word(l);
	return c == '"' || c == '\'' ? quoted(l) : sign(l);
}
