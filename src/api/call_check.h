/*
 * Inside the room: what a public function demands of its arguments. Each function lists its arguments once, in
 * API_CHECK; each struct of options has one table of fields (call_check.c). Whatever is wrong is DLC_FAULT_USAGE.
 */
#ifndef API_CALL_CHECK_H
#define API_CALL_CHECK_H

#include <dlc/dlc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ApiKind {
	API_INT,     /* lo .. hi; enums too */
	API_INT64,   /* lo .. hi */
	API_SECONDS, /* a double, 0 or more */
	API_TEXT,    /* a pointer that must not be NULL */
	API_LIST     /* a pointer to `count` elements */
} ApiKind;

typedef struct ApiField {
	const char *name; /* NULL ends a table */
	ApiKind kind;
	size_t at;
	int64_t lo, hi;
	const char *count_name; /* of a list, as what follows */
	size_t count_at, size;
	const struct ApiField *element; /* NULL: elements are pointers, which must not be NULL */
} ApiField;

extern const ApiField api_session_options[], api_load_options[], api_show_options[], api_compile_options[],
	api_tune_request[], api_target[], api_mode[];

typedef struct ApiArg {
	const char *name;
	bool given;             /* false: it is NULL, and must not be */
	const void *options;    /* a struct whose fields are looked at; NULL: none */
	const ApiField *fields;
} ApiArg;

/* The kinds of arguments: a pointer that must be given; a result, NULL until the call succeeds; structs of options. */
#define API_GIVEN(p) { #p, (p) != NULL, NULL, NULL }
#define API_OUT(p) { #p, (p) != NULL && (*(p) = NULL, true), NULL, NULL }
#define API_OPTIONS(p, fields) { #p, true, (p), fields }
#define API_REQUEST(p, fields) { #p, (p) != NULL, (p), fields }

/* The first statement of a public function, which it ends where an argument is wrong. */
#define API_CHECK(why, ...)                                                               \
	do {                                                                              \
		const ApiArg arg_[] = { __VA_ARGS__ };                                    \
		if (!api_check(arg_, (int)(sizeof arg_ / sizeof *arg_), (why)))           \
			return DLC_FAULT_USAGE;                                           \
	} while (0)

bool api_check(const ApiArg *arg, int n, DlcFailure *why);

#endif
