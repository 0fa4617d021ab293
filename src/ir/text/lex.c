/*
 * Bytes to tokens. Every byte is read once. The numbers of a text are checked here, so that all later
 * code sees only numbers that fit 64 bits.
 */
#include "ir/text/lex.h"

#include <stdlib.h>
#include <string.h>

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char peek(const Lexer *l, size_t k)
{
	return (size_t)(l->end - l->at) > k ? l->at[k] : '\0';
}

static void skip_space(Lexer *l)
{
	for (; l->at < l->end; l->at++) {
		if (*l->at == '#')
			while (l->at + 1 < l->end && l->at[1] != '\n')
				l->at++;
		else if (*l->at == '\n')
			l->line++;
		else if (*l->at != ' ' && *l->at != '\t' && *l->at != '\r')
			return;
	}
}

static size_t name_length(const Lexer *l)
{
	size_t n = 1;
	for (;;) {
		char c = peek(l, n), after = peek(l, n + 1);
		if (is_letter(c) || is_digit(c))
			n++;
		else if (c == '.' && (is_letter(after) || is_digit(after)))
			n += 2;
		else
			return n;
	}
}

/* Digits, then a fraction and an exponent if they are there; `0..4` is 0 and a range. */
static size_t number_length(const Lexer *l, bool *real)
{
	size_t n = 0;
	*real = false;
	while (is_digit(peek(l, n)))
		n++;
	if (peek(l, n) == '.' && is_digit(peek(l, n + 1))) {
		*real = true;
		for (n++; is_digit(peek(l, n));)
			n++;
	}
	char e = peek(l, n), sign = peek(l, n + 1);
	size_t skip = sign == '+' || sign == '-' ? 2 : 1;
	if ((e == 'e' || e == 'E') && is_digit(peek(l, n + skip))) {
		*real = true;
		for (n += skip; is_digit(peek(l, n));)
			n++;
	}
	return n;
}

static void bad(Token *t, const char *why)
{
	t->kind = T_BAD;
	t->why = why;
}

static void lex_number(Lexer *l, Token *t)
{
	bool real;
	t->n = number_length(l, &real);
	t->kind = real ? T_FLOAT : T_INT;
	if (t->n > LEX_NUMBER)
		bad(t, "a number of more than 63 characters");
	else if (is_letter(peek(l, t->n)))
		bad(t, "a name that starts with a digit");
	for (size_t i = 0; t->kind == T_INT && i < t->n; i++)
		if (__builtin_mul_overflow(t->value, 10, &t->value) ||
			__builtin_add_overflow(t->value, (uint64_t)(l->at[i] - '0'), &t->value))
			bad(t, "an integer beyond 64 bits");
}

static void lex_mark(Lexer *l, Token *t)
{
	static const struct {
		char text[3];
		int kind;
	} pairs[] = {
		{ "..", T_RANGE },
		{ "<-", T_ARROW },
		{ "->", T_MAPS },
		{ "==", T_EQ },
		{ "!=", T_NE },
		{ "<=", T_LE },
		{ ">=", T_GE },
		{ "<<", T_SHL },
		{ ">>", T_SHR },
	};
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		if (peek(l, 0) == pairs[i].text[0] && peek(l, 1) == pairs[i].text[1]) {
			t->kind = pairs[i].kind;
			t->n = 2;
			return;
		}
	t->n = 1;
	t->kind = (unsigned char)*l->at;
	if (*l->at == '\0' || strchr("()[]{}:;,=<>+-*/%&|^!@", *l->at) == NULL)
		bad(t, "a character that means nothing here");
}

Token lex_next(Lexer *l)
{
	skip_space(l);
	Token t = { .at = l->at, .line = l->line };
	if (l->at == l->end)
		return t;
	if (is_letter(*l->at)) {
		t.kind = T_NAME;
		t.n = name_length(l);
		if (t.n > LEX_NAME)
			bad(&t, "a name of more than 255 characters");
	} else if (is_digit(*l->at)) {
		lex_number(l, &t);
	} else {
		lex_mark(l, &t);
	}
	l->at += t.n;
	return t;
}

bool lex_is(const Token *t, const char *word)
{
	return t->kind == T_NAME && strlen(word) == t->n && memcmp(t->at, word, t->n) == 0;
}

double lex_real(const Token *t, bool narrow)
{
	char text[LEX_NUMBER + 1] = { 0 };
	memcpy(text, t->at, t->n < LEX_NUMBER ? t->n : LEX_NUMBER);
	return narrow ? (double)strtof(text, NULL) : strtod(text, NULL);
}
