/*
 * The command line of a program. Verbs and options are data: the parser, --help and the usage errors read the
 * same tables. A program is a list of verbs (dlc) or one verb (dlc-run, dlc-worker).
 *
 * --help and --version are everybody's and not listed. A verb with `sub` has verbs of its own (dlc db list).
 * "--opt v" and "--opt=v" are the same, "-o v" and "-ov" too; "--" ends options. Values are checked against
 * their rows before a verb sees them.
 */
#ifndef BASE_ARGS_H
#define BASE_ARGS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"

#include <stdint.h>

typedef enum {
	OPT_FLAG,
	OPT_TEXT,
	OPT_FOLDER, /* a folder or no value, "" then; `--opt DIR` where the operands are complete or DIR is there */
	OPT_INT,    /* lo..hi */
	OPT_TRIALS, /* N, or +N for N more: args_plus; lo..hi */
	OPT_TIME,   /* 500ms, 60s, 10m, 2h; as milliseconds; lo..hi of those */
	OPT_CHOICE, /* one of the words of `arg`, "graph|onnx|ir"; its index */
	OPT_REAL,   /* a decimal number of at least 0 */
	OPT_SECONDS, /* a decimal number of seconds, 0.001..1000000 */
	OPT_HEAD,   /* no option: `help` heads the rows below it in --help; `name` is "" */
} OptKind;

typedef struct Option {
	const char *name; /* without "--"; NULL ends a table */
	OptKind kind;
	const char *arg;  /* what --help calls the value: "FILE" */
	const char *help; /* one line, default included */
	int64_t lo, hi;
	char letter; /* 0: has none */
	bool many;   /* each occurrence counts; else the last one */
	const char *field; /* what the library calls it in errors; NULL: as `name` */
} Option;

#define OPTION_END { .name = NULL }

typedef struct Args Args;
typedef struct Verb Verb;
struct Verb {
	const char *name;
	const char *summary; /* one line, no full stop */
	const char *operands; /* "MODEL", "[DB] [TASK]"; NULL: none */
	int least, most;      /* how many operands; most < 0: any number */
	const Option *options; /* ended by OPTION_END; NULL: none */
	const char *notes;    /* further paragraphs of --help; may be NULL */
	const Verb *const *sub; /* ended by NULL; then run is NULL */
	bool (*run)(const Args *args, Err *err);
};

typedef struct Program {
	const char *name;         /* as users type it: "dlc" */
	const char *about;        /* what --help without a verb says; NULL where there are no verbs */
	const Verb *const *verbs; /* ended by NULL */
	const Verb *only;         /* instead of verbs: the program does one thing */
} Program;

/*
 * What the argc words of argv (without the program's name) ask the program to do. NULL: err says why they do not, or
 * what was asked for (--help, --version) is in `out`. *called is set to "dlc db best", as far as the words were
 * understood, for "see ... --help".
 */
Args *args_parse(Arena *a, const Program *program, int argc, const char *const *argv, Text *out, const char **called,
	Err *err);
/* Calls the verb. */
bool args_run(const Args *a, Err *err);

/* ---- what a verb asks; an option that has no row is our bug */

Arena *args_arena(const Args *a); /* the process's */
const char *args_command(const Args *a); /* "dlc tune resnet18 --budget=60s", as a shell takes it */
int args_count(const Args *a);    /* operands */
const char *args_operand(const Args *a, int i); /* NULL behind the last */
bool args_given(const Args *a, const char *option);
bool args_has(const Args *a, const char *option); /* whether the verb has such a row */
/* The option that an error's place names as the library's field; NULL: none, or an operand has that name. */
const char *args_option_of(const Args *a, const char *place);
/* The name of the first option below the OPT_HEAD of this heading that was given; NULL: none. */
const char *args_given_below(const Args *a, const char *heading);
const char *args_text(const Args *a, const char *option, const char *otherwise);
int64_t args_int(const Args *a, const char *option, int64_t otherwise); /* INT TRIALS TIME CHOICE */
double args_real(const Args *a, const char *option, double otherwise);  /* REAL SECONDS */
bool args_plus(const Args *a, const char *option);
/* Every value given to an option, in order; *n of them. */
const char *const *args_all(const Args *a, const char *option, size_t *n);
/* The part behind '=' of a value "NAME=VALUE", and a copy of NAME; else NULL and err. */
const char *args_pair(const Args *a, const char *option, const char *value, const char **name, Err *err);

#endif
