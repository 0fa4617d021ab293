/*
 * Errors: what can fail returns bool and fills an Err through fail(), which always returns false.
 * An Err is caller-owned, fixed in size, and needs no release; the first failure stays.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum {
	ERR_NONE,
#define ERR(name, exit_code, meaning) ERR_##name,
#include "base/err.def"
#undef ERR
	ERR_COUNT
} ErrCode;

typedef struct Err {
	ErrCode code;
	char place[192];  /* file, file:line, node or option; may be empty */
	char text[640];   /* one sentence: what was wrong and what to do */
	char items[2048]; /* further lines, each ended by '\n'; at most ERR_ITEMS of them */
	int nitems;       /* all items offered, those not kept included */
} Err;

enum { ERR_ITEMS = 10 };

#if defined(__GNUC__)
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#else
#define PRINTF_LIKE(f, a)
#endif

/* Fills err unless it already holds a failure; err may be NULL. Returns false, to be returned. */
bool fail(Err *err, ErrCode code, const char *place, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* Adds a line to a failure ("all unsupported operators, not the first"); kept up to ERR_ITEMS. */
void err_add_item(Err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Puts `place` where the failure has none yet: the caller often knows the file, the callee not. */
bool err_at(Err *err, const char *place);

/* The exit code of a program that ends with this failure; 0 for ERR_NONE. */
int err_exit_code(ErrCode code);

/* The whole message, at most 12 lines, ended by '\n'; returns the length as snprintf does. */
int err_format(const Err *err, char *out, size_t size);

#endif
