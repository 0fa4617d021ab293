/*
 * Tokens of the loop language. A Lexer is a position in a text; copying it is how the parser looks
 * ahead. Comments run from # to the end of the line; a line's end means nothing else.
 */
#ifndef IR_TEXT_LEX_H
#define IR_TEXT_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Punctuation of one character is its own code. */
typedef enum {
	T_END = 0,
	T_NAME = 256, /* letters, digits, _ and inner dots: i.o, block.x */
	T_INT,
	T_FLOAT,
	T_RANGE, /* .. */
	T_ARROW, /* <- */
	T_MAPS,  /* -> */
	T_EQ,
	T_NE,
	T_LE,
	T_GE,
	T_SHL,
	T_SHR,
	T_BAD, /* `why` says what is wrong */
} TokenKind;

typedef struct Token {
	int kind;
	const char *at;
	size_t n;
	int line;
	uint64_t value; /* T_INT */
	const char *why;
} Token;

typedef struct Lexer {
	const char *at, *end;
	int line;
} Lexer;

enum { LEX_NAME = 255, LEX_NUMBER = 63 }; /* the longest, in characters */

Token lex_next(Lexer *l);
bool lex_is(const Token *t, const char *word);
/* The value of a T_INT or T_FLOAT token, rounded once: to float if `narrow`, else to double. */
double lex_real(const Token *t, bool narrow);

#endif
