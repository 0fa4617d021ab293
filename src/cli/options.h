/*
 * Verbs and options are data: one const Verb per file cmd_NAME.c, one row in verbs.def. The parser,
 * --help and the usage errors read the same tables.
 *
 * To add a verb:
 *  1. src/cli/cmd_NAME.c, which ends with const Verb cmd_NAME = { .name = "NAME", ... };
 *  2. src/cli/verbs.def gets VERB(NAME); src/cli/meson.build the file and, if it is to be typed
 *     dlc-NAME, the name in `links`; man/dlc-NAME.1 is its page.
 *  3. run_NAME returns true, or fills err: its code is the exit code (base/err.def), its text is
 *     printed; ERR_USAGE adds "see dlc NAME --help". Results go to stdout (printf; main checks that
 *     they got there), progress to stderr. Options were checked against their rows before.
 * --help, --version are everybody's and not listed. A verb with `sub` has verbs of its own (dlc db
 * list). "--opt v" and "--opt=v" are the same, "-o v" and "-ov" too; "--" ends options.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

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
} OptKind;

typedef struct Option {
	const char *name; /* without "--"; NULL ends a table */
	OptKind kind;
	const char *arg;  /* what --help calls the value: "FILE" */
	const char *help; /* one line, default included */
	int64_t lo, hi;
	char letter; /* 0: has none */
	bool many;   /* each occurrence counts; else the last one */
} Option;

#define OPTION_END { .name = NULL }
#include "cli/rows.h"

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

/* ---- what run() is given; asking for an option that has no row is our bug */

Arena *args_arena(const Args *a); /* the process's */
int args_count(const Args *a);    /* operands */
const char *args_operand(const Args *a, int i); /* NULL behind the last */
bool args_given(const Args *a, const char *option);
bool args_has(const Args *a, const char *option); /* whether the verb has such a row */
const char *args_text(const Args *a, const char *option, const char *otherwise);
int64_t args_int(const Args *a, const char *option, int64_t otherwise); /* INT TRIALS TIME CHOICE */
bool args_plus(const Args *a, const char *option);
/* Every value given to an option, in order; *n of them. */
const char *const *args_all(const Args *a, const char *option, size_t *n);
/* The part behind '=' of a value "NAME=VALUE", and a copy of NAME; else NULL and err. */
const char *args_pair(
	const Args *a, const char *option, const char *value, const char **name, Err *err);

/* ---- for main and tests */

/*
 * The verb that the argc words of argv (without the program's name) select among `verbs`, with its
 * arguments. NULL: err says why, or what was asked for (--help, --version) is in `out`. *called is
 * set to "dlc db best", as far as the words were understood, for "see ... --help".
 */
Args *args_parse(Arena *a, const Verb *const *verbs, int argc, const char *const *argv, Text *out,
	const char **called, Err *err);
bool args_run(const Args *a, Err *err);
/* The process: argv as main got it; returns the exit code. */
int cli_main(int argc, char **argv);

#endif
