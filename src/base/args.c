/*
 * Turns the words of a command line into a verb and its checked arguments, by the rows of the verb's tables, and
 * the same rows into --help.  A value is checked where it is read, so a verb starts with nothing but its own
 * rules left to check.
 */
#include "base/args.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct OptionValue {
	VEC(const char *) text; /* the values as typed, all of them */
	int64_t number;
	double real;
	bool plus;
} OptionValue;

struct Args {
	Arena *arena;
	const char *command;
	const Verb *verb;
	VEC(const char *) operand;
	OptionValue *given; /* one for each row of verb->options */
};

/* ---- help */

static int count_options(const Verb *v)
{
	int n = 0;
	while (v->options != NULL && v->options[n].name != NULL)
		n++;
	return n;
}

static void help_row(Text *out, const Option *o)
{
	char left[160], letter[8] = "";
	if (o->letter != 0)
		snprintf(letter, sizeof letter, "-%c, ", o->letter);
	const char *arg = o->arg != NULL ? o->arg : "";
	snprintf(left, sizeof left, "%s--%s%s%s", letter, o->name, arg[0] != 0 ? "=" : "", arg);
	text_add(out, "  %-28s%s%s\n", left, strlen(left) >= 28 ? "\n                              " : "", o->help);
}

/* --help and --version end the rows that have no heading of their own. */
static void help_options(Text *out, const Verb *v)
{
	static const Option common[] = { { .name = "help", .help = "this text" },
		{ .name = "version", .help = "the version" } };
	int n = count_options(v), i = 0;
	text_add(out, "\noptions:\n");
	for (; i < n && v->options[i].kind != OPT_HEAD; i++)
		help_row(out, &v->options[i]);
	help_row(out, &common[0]);
	help_row(out, &common[1]);
	for (; i < n; i++)
		if (v->options[i].kind == OPT_HEAD)
			text_add(out, "\n%s:\n", v->options[i].help);
		else
			help_row(out, &v->options[i]);
}

static void help_verbs(Text *out, const Verb *const *verbs)
{
	for (; *verbs != NULL; verbs++)
		text_add(out, "  %-10s %s\n", (*verbs)->name, (*verbs)->summary);
}

static void help_verb(Text *out, const Verb *v, const char *called)
{
	const char *operands = v->sub != NULL ? "VERB [operands]" : v->operands != NULL ? v->operands : "";
	text_add(out, "usage: %s%s%s [options]\n\n%s.\n", called, operands[0] != 0 ? " " : "", operands, v->summary);
	if (v->sub != NULL) {
		text_add(out, "\nverbs:\n");
		help_verbs(out, v->sub);
	} else
		help_options(out, v);
	if (v->notes != NULL)
		text_add(out, "\n%s\n", v->notes);
}

/* ---- values */

static bool bad_value(Err *err, const Option *o, const char *value, const char *wants)
{
	char place[192];
	snprintf(place, sizeof place, "--%s=%s", o->name, value);
	return fail(err, ERR_USAGE, place, "wants %s", wants);
}

static bool bad_range(Err *err, const Option *o, const char *value, const char *what)
{
	char wants[120];
	if (o->hi == INT64_MAX)
		snprintf(wants, sizeof wants, "%s of at least %lld", what, (long long)o->lo);
	else
		snprintf(wants, sizeof wants, "%s from %lld to %lld", what, (long long)o->lo,
			(long long)o->hi);
	return bad_value(err, o, value, wants);
}

/* "1.5s" as milliseconds; false if it is no time at all. */
static bool parse_time(const char *s, double *ms)
{
	static const struct {
		const char *unit;
		double ms;
	} units[] = { { "ms", 1 }, { "s", 1e3 }, { "m", 60e3 }, { "h", 3600e3 } };
	size_t n = strspn(s, "0123456789.");
	char *end;
	if (n == 0 || n > 15 || s[0] == '.')
		return false;
	double v = strtod(s, &end);
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (end == s + n && strcmp(end, units[i].unit) == 0) {
			*ms = v * units[i].ms;
			return true;
		}
	return false;
}

/* A whole decimal number of at least 0. */
static bool parse_real(const char *s, double *out)
{
	char *end;
	*out = strtod(s, &end);
	return end != s && *end == 0 && isfinite(*out) && *out >= 0;
}

static bool set_choice(OptionValue *g, const Option *o, const char *value, Err *err)
{
	size_t n = strlen(value);
	const char *words = o->arg; /* "a|b|c" */
	for (int i = 0; words != NULL; i++) {
		size_t len = strcspn(words, "|");
		if (len == n && memcmp(words, value, n) == 0) {
			g->number = i;
			return true;
		}
		words = words[len] == '|' ? words + len + 1 : NULL;
	}
	char wants[400];
	snprintf(wants, sizeof wants, "one of %s", o->arg);
	return bad_value(err, o, value, wants);
}

/* What a flag, or an OPT_FOLDER without a folder, has as its value. */
static const char no_value[] = "";

static bool set_value(Args *a, OptionValue *g, const Option *o, const char *value, Err *err)
{
	vec_push(a->arena, &g->text, value);
	switch (o->kind) {
	case OPT_FLAG: return true;
	case OPT_FOLDER:
		return value == no_value || value[0] != 0 || bad_value(err, o, value, "a value that is not empty");
	case OPT_TEXT:
		return value[0] != 0 || bad_value(err, o, value, "a value that is not empty");
	case OPT_INT:
		return text_to_int(value, o->lo, o->hi, &g->number) ||
		       bad_range(err, o, value, "an integer");
	case OPT_TRIALS:
		g->plus = value[0] == '+';
		return (text_to_int(value + g->plus, o->lo, o->hi, &g->number) &&
			       value[g->plus] != '-') ||
		       bad_range(err, o, value, "N or +N, N an integer");
	case OPT_TIME: {
		double ms;
		if (!parse_time(value, &ms))
			return bad_value(err, o, value, "a time such as 500ms, 60s, 10m or 2h");
		if (ms < (double)o->lo || ms > (double)o->hi)
			return bad_range(err, o, value, "milliseconds");
		g->number = (int64_t)ms;
		return true;
	}
	case OPT_CHOICE: return set_choice(g, o, value, err);
	case OPT_REAL: return parse_real(value, &g->real) || bad_value(err, o, value, "a number of at least 0");
	case OPT_SECONDS:
		return (parse_real(value, &g->real) && g->real >= 1e-3 && g->real <= 1e6) ||
			bad_value(err, o, value, "seconds, from 0.001 to 1000000");
	case OPT_HEAD: break;
	}
	return false;
}

/* ---- words */

static bool unknown_option(const Verb *v, const char *word, Err *err)
{
	const char *names[64];
	char name[80];
	int n = 0;
	for (int i = 0; i < count_options(v) && n < 62; i++)
		if (v->options[i].kind != OPT_HEAD)
			names[n++] = v->options[i].name;
	names[n] = "help";
	names[n + 1] = "version";
	snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
	const char *near =
		strncmp(name, "--", 2) == 0 ? text_nearest(name + 2, names, (size_t)n + 2) : NULL;
	return fail(err, ERR_USAGE, name, "there is no such option%s%s%s",
		near != NULL ? "; did you mean --" : "", near != NULL ? near : "",
		near != NULL ? "?" : "");
}

static int find_long(const Verb *v, const char *name, size_t len)
{
	for (int i = 0; i < count_options(v); i++)
		if (len > 0 && strlen(v->options[i].name) == len && memcmp(v->options[i].name, name, len) == 0)
			return i;
	return -1;
}

static int find_letter(const Verb *v, char letter)
{
	for (int i = 0; i < count_options(v); i++)
		if (letter != 0 && v->options[i].letter == letter)
			return i;
	return -1;
}

/*
 * Whether the word behind an OPT_FOLDER is its value: no operand is a folder, and none may follow the
 * last that the verb takes.
 */
static bool is_folders_name(const Args *a, const char *word)
{
	struct stat st;
	if (word == NULL)
		return false;
	bool all = a->verb->most >= 0 && a->operand.n >= (size_t)a->verb->most;
	return (stat(word, &st) == 0 && S_ISDIR(st.st_mode)) || (all && word[0] != '-');
}

/* Takes the option at argv[*at] and, where it is a word of its own, its value behind it. */
static bool take_option(Args *a, int argc, const char *const *argv, int *at, Err *err)
{
	const char *word = argv[*at], *value = NULL;
	int i;
	if (word[1] == '-') {
		size_t len = strcspn(word + 2, "=");
		i = find_long(a->verb, word + 2, len);
		if (word[2 + len] == '=')
			value = word + 3 + len;
	} else {
		i = find_letter(a->verb, word[1]);
		if (word[2] != 0)
			value = word + 2;
	}
	if (i < 0)
		return unknown_option(a->verb, word, err);
	const Option *o = &a->verb->options[i];
	if (o->kind == OPT_FLAG && value != NULL)
		return bad_value(err, o, value, "no value");
	bool maybe = o->kind == OPT_FOLDER && !is_folders_name(a, *at + 1 < argc ? argv[*at + 1] : NULL);
	if (value == NULL && (o->kind == OPT_FLAG || maybe))
		value = no_value;
	if (value == NULL) {
		if (*at + 1 >= argc) {
			char place[96];
			snprintf(place, sizeof place, "--%s", o->name);
			return fail(err, ERR_USAGE, place, "wants a value, %s: %s", o->arg, o->help);
		}
		value = argv[++*at];
	}
	return set_value(a, &a->given[i], o, value, err);
}

static bool check_operands(const Args *a, Err *err)
{
	const Verb *v = a->verb;
	int n = (int)a->operand.n;
	for (int i = 0; i < n; i++)
		if (a->operand.at[i][0] == 0)
			return fail(err, ERR_USAGE, "", "operand %d is empty%s%s", i + 1,
				v->operands != NULL ? "; wanted: " : "",
				v->operands != NULL ? v->operands : "");
	if (n < v->least && n == 0)
		return fail(err, ERR_USAGE, "", "%s is missing", v->operands);
	if (n < v->least)
		return fail(err, ERR_USAGE, "", "too little is given; wanted: %s", v->operands);
	if (v->most >= 0 && n > v->most)
		return fail(err, ERR_USAGE, a->operand.at[v->most], "is one operand too many%s%s",
			v->operands != NULL ? "; wanted: " : "",
			v->operands != NULL ? v->operands : "");
	return true;
}

static bool is_word(const char *word, const char *name, char letter)
{
	return strcmp(word, name) == 0 ||
	       (word[0] == '-' && word[1] == letter && letter != 0 && word[2] == 0);
}

/* False: an error, or help or the version was printed. */
static bool take_words(Args *a, const Program *p, int argc, const char *const *argv, Text *out, const char *called,
	Err *err)
{
	bool options = true;
	for (int at = 0; at < argc; at++) {
		const char *word = argv[at];
		if (!options || word[0] != '-' || word[1] == 0)
			vec_push(a->arena, &a->operand, word);
		else if (strcmp(word, "--") == 0)
			options = false;
		else if (is_word(word, "--help", find_letter(a->verb, 'h') < 0 ? 'h' : 0)) {
			help_verb(out, a->verb, called);
			return false;
		} else if (strcmp(word, "--version") == 0) {
			text_add(out, "%s %s\n", p->name, DLC_VERSION);
			return false;
		} else if (!take_option(a, argc, argv, &at, err))
			return false;
	}
	return check_operands(a, err);
}

static bool unknown_verb(const Verb *const *verbs, const char *word, Err *err)
{
	const char *names[64];
	char list[400] = "";
	size_t n = 0;
	for (; verbs[n] != NULL && n < 64; n++) {
		names[n] = verbs[n]->name;
		size_t len = strlen(list);
		snprintf(list + len, sizeof list - len, "%s%s", n > 0 ? ", " : "", names[n]);
	}
	if (word == NULL)
		return fail(err, ERR_USAGE, "", "a verb is missing: %s", list);
	const char *near = text_nearest(word, names, n);
	if (near != NULL)
		return fail(err, ERR_USAGE, word, "there is no such verb; did you mean %s?", near);
	return fail(err, ERR_USAGE, word, "there is no such verb; there are: %s", list);
}

/* Takes the words that name a verb; NULL: what was asked for is in `out`, or err says what is wrong. */
static const Verb *take_verb(Arena *arena, const Program *p, int *argc, const char *const **argv, Text *out,
	const char **called, Err *err)
{
	const Verb *v = p->only;
	bool help = false;
	for (; v == NULL || v->sub != NULL; --*argc, ++*argv) {
		const Verb *const *among = v != NULL ? v->sub : p->verbs;
		const char *word = *argc > 0 ? **argv : NULL;
		if (word == NULL && help)
			break;
		if (word != NULL && strcmp(word, "--version") == 0) {
			text_add(out, "%s %s\n", p->name, DLC_VERSION);
			return NULL;
		}
		/* dlc help db best = dlc db best --help */
		if (word != NULL && (is_word(word, "--help", 'h') || (v == NULL && !help && strcmp(word, "help") == 0))) {
			help = true;
			continue;
		}
		const Verb *next = NULL;
		for (int k = 0; word != NULL && next == NULL && among[k] != NULL; k++)
			if (strcmp(among[k]->name, word) == 0)
				next = among[k];
		if (next == NULL) {
			if (word != NULL && word[0] == '-' && word[1] != 0)
				fail(err, ERR_USAGE, word, "stands before the verb; options follow it");
			else
				unknown_verb(among, word, err);
			return NULL;
		}
		v = next;
		*called = arena_printf(arena, "%s %s", *called, v->name);
	}
	if (help && v == NULL) {
		text_add(out, "usage: %s VERB [operands] [options]      %s-VERB is the same\n\n%s\n\nverbs:\n", p->name,
			p->name, p->about);
		help_verbs(out, p->verbs);
		text_add(out, "\nsee %s VERB --help\n", p->name);
	} else if (help) {
		help_verb(out, v, *called);
	}
	return help ? NULL : v;
}

/* The words with blanks between them, as a shell takes them. */
static const char *command_of(Arena *a, const char *program, int argc, const char *const *argv)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./,:+@%";
	Text out = { .arena = a };
	text_add(&out, "%s", program);
	for (int i = 0; i < argc; i++) {
		bool quoted = argv[i][0] == 0 || argv[i][strspn(argv[i], plain)] != 0;
		text_add(&out, quoted ? " '" : " ");
		for (const char *p = argv[i]; *p != 0; p++)
			text_add(&out, *p == '\'' ? "'\\''" : "%c", *p);
		text_add(&out, quoted ? "'" : "");
	}
	return text_str(&out);
}

Args *args_parse(Arena *arena, const Program *p, int argc, const char *const *argv, Text *out, const char **called,
	Err *err)
{
	*called = p->name;
	const char *command = command_of(arena, p->name, argc, argv);
	const Verb *v = take_verb(arena, p, &argc, &argv, out, called, err);
	if (v == NULL)
		return NULL;
	Args *a = arena_new_of(arena, Args);
	a->arena = arena;
	a->command = command;
	a->verb = v;
	a->given = arena_array(arena, OptionValue, count_options(v) + 1);
	return take_words(a, p, argc, argv, out, *called, err) ? a : NULL;
}

/* ---- what a verb asks */

const char *args_command(const Args *a)
{
	return a->command;
}

static const OptionValue *given(const Args *a, const char *option, const Option **row)
{
	int i = find_long(a->verb, option, strlen(option));
	assert(i >= 0 && "a verb asked for an option it has no row for");
	if (row != NULL)
		*row = &a->verb->options[i];
	return &a->given[i];
}

bool args_has(const Args *a, const char *option)
{
	return find_long(a->verb, option, strlen(option)) >= 0;
}

const char *args_option_of(const Args *a, const char *place)
{
	for (size_t k = 0; k < a->operand.n; k++)
		if (strcmp(a->operand.at[k], place) == 0)
			return NULL;
	for (int k = 0; k < count_options(a->verb); k++) {
		const Option *o = &a->verb->options[k];
		if (o->kind != OPT_HEAD && strcmp(o->field != NULL ? o->field : o->name, place) == 0)
			return o->name;
	}
	return NULL;
}

Arena *args_arena(const Args *a)
{
	return a->arena;
}

int args_count(const Args *a)
{
	return (int)a->operand.n;
}

const char *args_operand(const Args *a, int i)
{
	return i >= 0 && (size_t)i < a->operand.n ? a->operand.at[i] : NULL;
}

bool args_given(const Args *a, const char *option)
{
	return given(a, option, NULL)->text.n != 0;
}

const char *args_text(const Args *a, const char *option, const char *otherwise)
{
	const OptionValue *g = given(a, option, NULL);
	return g->text.n != 0 ? g->text.at[g->text.n - 1] : otherwise;
}

int64_t args_int(const Args *a, const char *option, int64_t otherwise)
{
	const Option *o;
	const OptionValue *g = given(a, option, &o);
	assert(o->kind >= OPT_INT && o->kind <= OPT_CHOICE);
	return g->text.n != 0 ? g->number : otherwise;
}

double args_real(const Args *a, const char *option, double otherwise)
{
	const Option *o;
	const OptionValue *g = given(a, option, &o);
	assert(o->kind == OPT_REAL || o->kind == OPT_SECONDS);
	return g->text.n != 0 ? g->real : otherwise;
}

const char *args_given_below(const Args *a, const char *heading)
{
	const Option *o = a->verb->options;
	bool below = false;
	for (int i = 0; o[i].name != NULL; i++) {
		if (o[i].kind == OPT_HEAD)
			below = strcmp(o[i].help, heading) == 0;
		else if (below && a->given[i].text.n != 0)
			return o[i].name;
	}
	return NULL;
}

bool args_plus(const Args *a, const char *option)
{
	return given(a, option, NULL)->plus;
}

const char *const *args_all(const Args *a, const char *option, size_t *n)
{
	const OptionValue *g = given(a, option, NULL);
	*n = g->text.n;
	return g->text.at;
}

const char *args_pair(const Args *a, const char *option, const char *value, const char **name, Err *err)
{
	const char *eq = strchr(value, '=');
	if (eq == NULL || eq == value || eq[1] == 0) {
		char place[192];
		const Option *o;
		given(a, option, &o);
		snprintf(place, sizeof place, "--%s %s", option, value);
		fail(err, ERR_USAGE, place, "wants %s", o->arg);
		return NULL;
	}
	*name = arena_printf(a->arena, "%.*s", (int)(eq - value), value);
	return eq + 1;
}

bool args_run(const Args *a, Err *err)
{
	return a->verb->run(a, err);
}
