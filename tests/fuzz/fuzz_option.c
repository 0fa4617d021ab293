/*
 * libFuzzer: a command line from a stranger, words ended by newlines, for a table with every kind of
 * option.  It is refused with a sentence, answered (--help), or taken with values of their ranges.
 */
#include "fuzz.h"
#include "../base/verb_make.h"

#include <string.h>

static const Verb part = { .name = "part", .summary = "Part", .operands = "X...", .most = -1, .run = run_ok };
static const Verb *const subs[] = { &part, NULL };
static const Verb many = { .name = "many", .summary = "Many", .sub = subs };
static const Verb *const verbs[] = { &make, &many, NULL };

static void read_values(const Args *args)
{
	const char *name;
	size_t n;
	Err err = { 0 };
	if (!args_has(args, "trials"))
		return;
	int64_t trials = args_int(args, "trials", 1), budget = args_int(args, "budget", 1),
			offset = args_int(args, "offset", 0);
	must(trials >= 1 && trials <= 1000000 && budget >= 1 && offset >= -5 && offset <= 5);
	int64_t stage = args_int(args, "stage", 0);
	must(stage >= 0 && stage < 3 && args_count(args) >= 1 && args_count(args) <= 2);
	const char *const *shape = args_all(args, "shape", &n);
	for (size_t i = 0; i < n; i++)
		must((args_pair(args, "shape", shape[i], &name, &err) != NULL) == (err.code == ERR_NONE) || i > 0);
}

static const Program program = { .name = "dlc", .about = "Makes things.", .verbs = verbs };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { WORDS = 64 };
	Arena *a = arena_new();
	Text out = { .arena = a };
	Err err = { 0 };
	const char *word[WORDS], *called = NULL;
	int n = 0;
	char *text = arena_alloc(a, size + 1);
	memcpy(text, data, size);
	for (char *p = text; *p != 0 && n < WORDS;) {
		word[n++] = p;
		p += strcspn(p, "\n");
		if (*p != 0)
			*p++ = 0;
	}
	Args *args = args_parse(a, &program, n, word, &out, &called, &err);
	must(args == NULL || err.code == ERR_NONE);
	must(args != NULL || err.code == ERR_USAGE || out.n > 0);
	if (args != NULL)
		read_values(args);
	arena_free(a);
	return 0;
}
