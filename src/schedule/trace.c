/*
 * Text <-> Trace.  One step a line: a primitive's name and its arguments, as its row in prim.def
 * says.  The reader is bounded and reports the line. What a step does is in prim/, a file for each row.
 */
#include "schedule/trace.h"

#include "ir/text/ir_text.h"

#include <stdio.h>
#include <string.h>

static const PrimRow rows[PRIM_COUNT] = {
#define PRIM(name, args, makes, kind, law, needs) [PRIM_##name] = { #name, args, makes, PRIM_##kind, law, needs },
#include "schedule/prim.def"
#undef PRIM
};

const PrimRow *prim_row(Prim p)
{
	return &rows[p];
}

enum { STEP_WORDS = 2 * STEP_ARGS + 2 }; /* name, arguments, "as", names */

typedef struct Word {
	const char *at;
	size_t n;
} Word;

/* A line of the text, which messages name. */
typedef struct Line {
	Arena *arena;
	const char *name;
	int number;
} Line;

static const char *place_of(const Line *l)
{
	return arena_printf(l->arena, "%s:%d", l->name, l->number);
}

static bool word_is(Word w, const char *s)
{
	return strlen(s) == w.n && memcmp(w.at, s, w.n) == 0;
}

static bool is_name(Word w)
{
	if (w.n == 0 || w.n > TRACE_NAME || (w.at[0] >= '0' && w.at[0] <= '9'))
		return false;
	for (size_t i = 0; i < w.n; i++) {
		char c = w.at[i];
		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			    c == '_' || c == '.'))
			return false;
	}
	return true;
}

static char *word_copy(Arena *a, Word w)
{
	char *copy = arena_alloc(a, w.n + 1); /* ends with its 0 */
	memcpy(copy, w.at, w.n);
	return copy;
}

/* The words of one line, without its comment; -1: more than fit. */
static int cut_words(const char *line, size_t n, Word *out, int max)
{
	int k = 0;
	for (size_t i = 0; i < n && line[i] != '#';) {
		if (line[i] == ' ' || line[i] == '\t' || line[i] == '\r') {
			i++;
			continue;
		}
		size_t from = i;
		while (i < n && line[i] != ' ' && line[i] != '\t' && line[i] != '\r' && line[i] != '#')
			i++;
		if (k == max)
			return -1;
		out[k++] = (Word){ line + from, i - from };
	}
	return k;
}

static bool read_number(Arena *a, Word w, int64_t *out)
{
	if (w.n > 1 && w.at[0] == '0') /* one schedule, one text */
		return false;
	return w.n <= 18 && text_to_int(word_copy(a, w), 1, INT64_C(1) << 40, out);
}

/* "key=4" */
static bool read_pair(Arena *a, Word w, StepArg *arg)
{
	const char *eq = memchr(w.at, '=', w.n);
	if (eq == NULL)
		return false;
	Word key = { w.at, (size_t)(eq - w.at) }, value = { eq + 1, w.n - key.n - 1 };
	arg->word = word_copy(a, key);
	return is_name(key) && read_number(a, value, &arg->num);
}

/* Reads the words behind the name as the row's argument string asks. */
static bool read_args(Arena *a, Step *st, const Word *w, int n, const Line *l, Err *err)
{
	const PrimRow *row = &rows[st->prim];
	int next = 0;
	for (const char *p = row->args; *p != 0; p += strcspn(p, " "), p += strspn(p, " ")) {
		bool many = p[1] == '*', optional = p[1] == '?';
		if (optional && next == n)
			break;
		do {
			if (next == n)
				return fail(err, ERR_SYNTAX, place_of(l), "%s needs more arguments: %s", row->name,
					row->args);
			StepArg *arg = &st->arg[st->n++];
			if (p[0] == 'I') {
				if (!read_number(a, w[next], &arg->num))
					return fail(err, ERR_SYNTAX, place_of(l),
						"%s: \"%.*s\" is no number from 1 to 2^40", row->name,
						(int)(w[next].n < 40 ? w[next].n : 40), w[next].at);
			} else if (p[0] == 'K') {
				if (!read_pair(a, w[next], arg))
					return fail(err, ERR_SYNTAX, place_of(l), "%s: \"%.*s\" is no KEY=NUMBER", row->name,
						(int)(w[next].n < 40 ? w[next].n : 40), w[next].at);
			} else {
				if (!is_name(w[next]))
					return fail(err, ERR_SYNTAX, place_of(l), "%s: \"%.*s\" is no name", row->name,
						(int)(w[next].n < 40 ? w[next].n : 40), w[next].at);
				arg->word = word_copy(a, w[next]);
			}
			next++;
		} while (many && next < n);
	}
	if (next != n)
		return fail(err, ERR_SYNTAX, place_of(l), "%s has too many arguments; it takes: %s", row->name,
			row->args);
	return true;
}

/* NULL: there is no such primitive. */
static const PrimRow *find_row(Word name)
{
	for (int p = 0; p < PRIM_COUNT; p++)
		if (word_is(name, rows[p].name))
			return &rows[p];
	return NULL;
}

/* The names behind "as". */
static bool read_names(Arena *a, Step *st, const Word *w, int n, const Line *l, Err *err)
{
	const PrimRow *row = &rows[st->prim];
	const char *many = strchr(row->makes, '*'); /* of a last letter */
	int want = (int)(many != NULL ? (size_t)(many - row->makes) : strlen(row->makes) + 1) / 2; /* and blanks */
	if (row->makes[0] == 0)
		return fail(err, ERR_SYNTAX, place_of(l), "%s makes nothing that has a name", row->name);
	if (n == 0 || n > STEP_ARGS || (many != NULL ? n < want : n != want))
		return fail(err, ERR_SYNTAX, place_of(l), "%s makes %s; as many names must follow \"as\"", row->name,
			row->makes);
	for (int k = 0; k < n; k++) {
		char *name = word_copy(a, w[k]);
		/* What follows prints and verifies the loops by these names. */
		if (!is_name(w[k]) || word_is(w[k], "as") || !ir_is_name(name))
			return fail(err, ERR_SYNTAX, place_of(l),
				"%s: \"%.40s\" is no name; names are letters, digits, _ and inner dots, and no reserved word",
				row->name,
				name);
		st->as[st->nas++] = name;
	}
	return true;
}

static bool read_step(Arena *a, Trace *t, const Word *w, int n, const Line *l, Err *err)
{
	const PrimRow *row = find_row(w[0]);
	if (row == NULL)
		return fail(err, ERR_SYNTAX, place_of(l), "\"%.*s\" is no scheduling step; there are %s, %s, %s, ...",
			(int)(w[0].n < 40 ? w[0].n : 40), w[0].at, rows[0].name, rows[1].name, rows[2].name);
	Step st = { .prim = (Prim)(row - rows), .line = l->number };
	int as = n < 2 ? n : 2; /* where "as" stands, behind an argument; n: nowhere */
	while (as < n && !word_is(w[as], "as"))
		as++;
	if (as - 1 > STEP_ARGS)
		return fail(err, ERR_SYNTAX, place_of(l), "%s has %d arguments; a step has at most %d", row->name, as - 1,
			STEP_ARGS);
	if (!read_args(a, &st, w + 1, as - 1, l, err) ||
		(as < n && !read_names(a, &st, w + as + 1, n - as - 1, l, err)))
		return false;
	vec_push(a, &t->step, st);
	return true;
}

Trace *trace_parse(Arena *a, const char *name, const char *text, size_t n, Err *err)
{
	Trace *t = arena_new_of(a, Trace);
	t->name = arena_printf(a, "%s", name);
	const int64_t bytes = limit_row(LIMIT_bytes)->most, steps = limit_row(LIMIT_steps)->most;
	if (n > (size_t)bytes) {
		fail(err, ERR_SYNTAX, name, "%zu bytes; a trace has at most %lld", n, (long long)bytes);
		return NULL;
	}
	Line line = { a, t->name, 1 };
	for (size_t at = 0; at < n; line.number++) {
		const char *from = text + at;
		Word w[STEP_WORDS];
		int k = cut_words(from, text_line(text, n, &at), w, STEP_WORDS);
		if (k == 0)
			continue;
		if (k < 0 || t->step.n == (size_t)steps) {
			fail(err, ERR_SYNTAX, place_of(&line), "a trace has at most %lld steps of at most %d words",
				(long long)steps, STEP_WORDS);
			return NULL;
		}
		if (word_is(w[0], "task")) {
			if (k != 2 || t->task != NULL || t->step.n != 0) {
				fail(err, ERR_SYNTAX, place_of(&line), "\"task ID\" stands once, before the first step");
				return NULL;
			}
			t->task = word_copy(a, w[1]); /* the beginning of an id, as git abbreviates */
			if (w[1].n > 32 || strspn(t->task, "0123456789abcdef") != w[1].n) {
				fail(err, ERR_SYNTAX, place_of(&line),
					"a task is named by the beginning of its id, up to 32 digits 0-9a-f");
				return NULL;
			}
			continue;
		}
		if (!read_step(a, t, w, k, &line, err))
			return NULL;
	}
	return t;
}

static void put_word(Text *out, const char *word)
{
	text_put(out, " ", 1);
	text_put(out, word, strlen(word));
}

void trace_print(Text *out, const Trace *t)
{
	if (t->task != NULL)
		text_add(out, "task %s\n", t->task);
	for (size_t i = 0; i < t->step.n; i++) {
		const Step *st = &t->step.at[i];
		text_put(out, rows[st->prim].name, strlen(rows[st->prim].name));
		for (int k = 0; k < st->n; k++) {
			if (st->arg[k].word != NULL)
				put_word(out, st->arg[k].word);
			if (st->arg[k].word == NULL || st->arg[k].num != 0)
				text_add(out, "%s%lld", st->arg[k].word != NULL ? "=" : " ", (long long)st->arg[k].num);
		}
		for (int k = 0; k < st->nas; k++) {
			if (k == 0)
				put_word(out, "as");
			put_word(out, st->as[k]);
		}
		text_put(out, "\n", 1);
	}
}

const Algo *trace_algo(const char *text)
{
	Word w[STEP_WORDS];
	char name[TRACE_NAME + 1];
	int n = cut_words(text, strcspn(text, "\n"), w, STEP_WORDS);
	const PrimRow *row = n >= 2 ? find_row(w[0]) : NULL;
	if (row == NULL || row->args[0] != 'A' || w[1].n > TRACE_NAME)
		return NULL;
	snprintf(name, sizeof name, "%.*s", (int)w[1].n, w[1].at);
	return algo_find(name);
}
