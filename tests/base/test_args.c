/* base/args: which words a table of options takes, what they mean, and what is said otherwise. */
#include "suite.h"
#include "verb_make.h"

#include <stdio.h>
#include <string.h>

static const Verb all = { .name = "all",
	.summary = "Take all",
	.operands = "FILE...",
	.least = 0,
	.most = -1,
	.run = run_ok };
static const Verb list = { .name = "list", .summary = "List", .run = run_ok },
		  best = { .name = "best",
			  .summary = "Best",
			  .operands = "DB TASK",
			  .least = 2,
			  .most = 2,
			  .run = run_ok };
static const Verb *const db_verbs[] = { &list, &best, NULL };
static const Verb db = { .name = "db", .summary = "Databases", .sub = db_verbs };
static const Verb *const verbs[] = { &make, &all, &db, NULL };
static const Program program = { .name = "dlc", .about = "Makes things.", .verbs = verbs };

/* A program that does one thing, with numbers and a heading. */
static const Option single_options[] = {
	{ .name = "input", .letter = 'i', .kind = OPT_TEXT, .arg = "FILE", .many = true, .help = "what to read" },
	{ .name = "rtol", .kind = OPT_REAL, .arg = "X", .help = "tolerance" },
	{ .name = "seconds", .kind = OPT_SECONDS, .arg = "S", .help = "how long" },
	{ .name = "check", .kind = OPT_FOLDER, .arg = "[DIR]", .help = "compare" },
	{ .name = "", .kind = OPT_HEAD, .help = "options of a model" },
	{ .name = "batch", .kind = OPT_INT, .arg = "N", .lo = 1, .hi = 8, .help = "size" },
	OPTION_END,
};
static const Verb single_verb = { .name = "one", .summary = "Do one thing", .operands = "MODEL", .least = 1, .most = 1,
	.options = single_options, .run = run_ok };
static const Program single = { .name = "dlc-one", .only = &single_verb };

/* Words are separated by one blank; "_" is an empty word. */
static const char **split(Arena *a, const char *line, int *n)
{
	VEC(const char *) words = { 0 };
	char *copy = arena_printf(a, "%s", line), *save = NULL;
	for (char *w = strtok_r(copy, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save))
		vec_push(a, &words, strcmp(w, "_") == 0 ? "" : w);
	*n = (int)words.n;
	return words.at;
}

static Args *parse(Arena *a, const char *line, Text *out, const char **called, Err *err)
{
	int n;
	const char **words = split(a, line, &n);
	return args_parse(a, &program, n, words, out, called, err);
}

static Args *parse_single(Arena *a, const char *line, Text *out, const char **called, Err *err)
{
	int n;
	const char **words = split(a, line, &n);
	return args_parse(a, &single, n, words, out, called, err);
}

static const struct {
	const char *line, *place, *says, *called; /* place NULL: accepted */
} lines[] = {
	{ "make m", NULL, NULL, "dlc make" },
	{ "make m n --json", NULL, NULL, "dlc make" },
	{ "make -o x m", NULL, NULL, "dlc make" },
	{ "make -- --json", NULL, NULL, "dlc make" },
	{ "make -", NULL, NULL, "dlc make" },
	{ "all", NULL, NULL, "dlc all" },
	{ "all 1 2 3 4 5 6 7 8", NULL, NULL, "dlc all" },
	{ "db list", NULL, NULL, "dlc db list" },
	{ "db best a b", NULL, NULL, "dlc db best" },
	{ "", "", "a verb is missing: make, all, db", "dlc" },
	{ "mke", "mke", "there is no such verb; did you mean make?", "dlc" },
	{ "zzz", "zzz", "there is no such verb; there are: make, all, db", "dlc" },
	{ "db", "", "a verb is missing: list, best", "dlc db" },
	{ "db lst", "lst", "there is no such verb; did you mean list?", "dlc db" },
	{ "db best a", "", "too little is given; wanted: DB TASK", "dlc db best" },
	{ "db list x", "x", "is one operand too many", "dlc db list" },
	{ "make", "", "MODEL [MORE] is missing", "dlc make" },
	{ "make a b c", "c", "is one operand too many; wanted: MODEL [MORE]", "dlc make" },
	{ "make m --nosuch", "--nosuch", "there is no such option", "dlc make" },
	{ "make m --thread=2", "--thread", "there is no such option; did you mean --threads?",
		"dlc make" },
	{ "make m -x", "-x", "there is no such option", "dlc make" },
	{ "make m --threads", "--threads", "wants a value, N: threads the code is made for (default 1)", "dlc make" },
	{ "make m -o", "--output", "wants a value, FILE: the file to write", "dlc make" },
	{ "make m --threads=0", "--threads=0", "wants an integer from 1 to 256", "dlc make" },
	{ "make m --threads=257", "--threads=257", "wants an integer from 1 to 256",
		"dlc make" },
	{ "make m --threads=2x", "--threads=2x", "wants an integer from 1 to 256", "dlc make" },
	{ "make m --threads=99999999999999999999", "--threads=99999999999999999999",
		"wants an integer from 1 to 256", "dlc make" },
	{ "make m --threads _", "--threads=", "wants an integer from 1 to 256", "dlc make" },
	{ "make m --seed=-1", "--seed=-1", "wants an integer of at least 0", "dlc make" },
	{ "make m --trials=-3", "--trials=-3", "wants N or +N, N an integer from 1 to 1000000",
		"dlc make" },
	{ "make m --trials=x", "--trials=x", "wants N or +N, N an integer from 1 to 1000000",
		"dlc make" },
	{ "make m --trials=+", "--trials=+", "wants N or +N, N an integer from 1 to 1000000",
		"dlc make" },
	{ "make m --trials=+-3", "--trials=+-3", "wants N or +N, N an integer from 1 to 1000000",
		"dlc make" },
	{ "make m --budget=10parsecs", "--budget=10parsecs",
		"wants a time such as 500ms, 60s, 10m or 2h", "dlc make" },
	{ "make m --budget=10", "--budget=10", "wants a time such as 500ms, 60s, 10m or 2h",
		"dlc make" },
	{ "make m --budget=-1s", "--budget=-1s", "wants a time such as 500ms, 60s, 10m or 2h",
		"dlc make" },
	{ "make m --budget=1e5s", "--budget=1e5s", "wants a time such as 500ms, 60s, 10m or 2h",
		"dlc make" },
	{ "make m --budget=1.2.3s", "--budget=1.2.3s", "wants a time such as 500ms, 60s, 10m or 2h",
		"dlc make" },
	{ "make m --budget=0s", "--budget=0s", "wants milliseconds from 1 to 86400000",
		"dlc make" },
	{ "make m --budget=25h", "--budget=25h", "wants milliseconds from 1 to 86400000",
		"dlc make" },
	{ "make m --stage=nosuch", "--stage=nosuch", "wants one of graph|ir|asm", "dlc make" },
	{ "make m --stage=graph|ir", "--stage=graph|ir", "wants one of graph|ir|asm", "dlc make" },
	{ "make m --target=", "--target=", "wants a value that is not empty", "dlc make" },
	{ "make m --json=1", "--json=1", "wants no value", "dlc make" },
	{ "--json make", "--json", "stands before the verb; options follow it", "dlc" },
};

START_TEST(lines_are_taken_or_refused)
{
	Arena *a = arena_new();
	Text out = { .arena = a };
	Err e = { 0 };
	const char *called;
	Args *args = parse(a, lines[_i].line, &out, &called, &e);
	ck_assert_str_eq(called, lines[_i].called);
	ck_assert_int_eq(args != NULL, lines[_i].place == NULL);
	if (args == NULL) {
		ck_assert_int_eq(err_exit_code(e.code), 2);
		ck_assert_str_eq(e.place, lines[_i].place);
		ck_assert_str_eq(e.text, lines[_i].says);
	} else
		ck_assert(args_run(args, &e));
	ck_assert_str_eq(text_str(&out), "");
	arena_free(a);
}
END_TEST

static const struct {
	const char *line, *option;
	int64_t number;
	const char *text;
	bool plus;
} values[] = {
	{ "make m", "threads", -7, NULL, false },
	{ "make m --threads=3", "threads", 3, "3", false },
	{ "make --threads 3 m", "threads", 3, "3", false },
	{ "make m --threads=3 --threads=4", "threads", 4, "4", false },
	{ "make m --offset -5", "offset", -5, "-5", false },
	{ "make m --trials=20", "trials", 20, "20", false },
	{ "make m --trials=+20", "trials", 20, "+20", true },
	{ "make m --budget=90s", "budget", 90000, "90s", false },
	{ "make m --budget=1.5m", "budget", 90000, "1.5m", false },
	{ "make m --budget=250ms", "budget", 250, "250ms", false },
	{ "make m --budget=2h", "budget", 7200000, "2h", false },
	{ "make m --stage=asm", "stage", 2, "asm", false },
	{ "make m --stage=graph", "stage", 0, "graph", false },
	{ "make m --seed=9223372036854775807", "seed", INT64_MAX, "9223372036854775807", false },
};

START_TEST(values_are_what_was_typed)
{
	Arena *a = arena_new();
	Text out = { .arena = a };
	Err e = { 0 };
	const char *called;
	Args *args = parse(a, values[_i].line, &out, &called, &e);
	ck_assert_ptr_nonnull(args);
	ck_assert_int_eq(args_given(args, values[_i].option), values[_i].text != NULL);
	ck_assert_int_eq(args_int(args, values[_i].option, -7), values[_i].number);
	ck_assert_pstr_eq(args_text(args, values[_i].option, NULL), values[_i].text);
	ck_assert_int_eq(args_plus(args, values[_i].option), values[_i].plus);
	ck_assert_str_eq(args_operand(args, 0), "m");
	ck_assert_ptr_null(args_operand(args, 1));
	arena_free(a);
}
END_TEST

START_TEST(repeated_options_pairs_and_operands_keep_their_order)
{
	Arena *a = arena_new();
	Text out = { .arena = a };
	Err e = { 0 };
	const char *called, *name;
	size_t n;
	Args *args =
		parse(a, "make --tuning-db=a -ofile --tuning-db b --json m --output=last -- -n",
			&out, &called, &e);
	ck_assert_ptr_nonnull(args);
	const char *const *dbs = args_all(args, "tuning-db", &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_str_eq(dbs[0], "a");
	ck_assert_str_eq(dbs[1], "b");
	ck_assert_str_eq(args_text(args, "output", ""), "last");
	ck_assert(args_given(args, "json"));
	ck_assert_int_eq(args_count(args), 2);
	ck_assert_str_eq(args_operand(args, 1), "-n");
	ck_assert_str_eq(args_pair(args, "target", "data=a=b", &name, &e), "a=b");
	ck_assert_str_eq(name, "data");
	static const char *const bad[] = { "data", "=x", "data=", "" };
	for (int i = 0; i < LEN(bad); i++) {
		e = (Err){ 0 };
		ck_assert_ptr_null(args_pair(args, "target", bad[i], &name, &e));
		ck_assert_int_eq(err_exit_code(e.code), 2);
	}
	arena_free(a);
}
END_TEST

static const struct {
	const char *line, *starts, *has;
} helps[] = {
	{ "--help", "usage: dlc VERB", "  make       Make it\n" },
	{ "-h", "usage: dlc VERB", "see dlc VERB --help\n" },
	{ "help", "usage: dlc VERB", "  db         Databases\n" },
	{ "make --help", "usage: dlc make MODEL [MORE] [options]\n\nMake it.\n",
		"  -o, --output=FILE           the file to write\n" },
	{ "make m --threads=2 -h", "usage: dlc make", "\nA note.\n" },
	{ "help make", "usage: dlc make", "  --stage=graph|ir|asm " },
	{ "--help make", "usage: dlc make", "--threads=N" },
	{ "db --help", "usage: dlc db VERB", "  best       Best\n" },
	{ "help db best", "usage: dlc db best DB TASK [options]\n", "--help" },
	{ "all --help --nosuch", "usage: dlc all FILE... [options]\n", "--version" },
	{ "--version", "dlc " DLC_VERSION "\n", "" },
	{ "make --version", "dlc " DLC_VERSION "\n", "" },
	{ "db --version", "dlc " DLC_VERSION "\n", "" },
	{ "db best --version", "dlc " DLC_VERSION "\n", "" },
};

START_TEST(help_and_version_are_printed_instead)
{
	Arena *a = arena_new();
	Text out = { .arena = a };
	Err e = { 0 };
	const char *called;
	ck_assert_ptr_null(parse(a, helps[_i].line, &out, &called, &e));
	ck_assert_int_eq(e.code, ERR_NONE);
	if (strncmp(out.at, helps[_i].starts, strlen(helps[_i].starts)) != 0 ||
		strstr(out.at, helps[_i].has) == NULL)
		ck_abort_msg("%s", out.at);
	arena_free(a);
}
END_TEST

static const struct {
	const char *line, *says; /* NULL: accepted */
} singles[] = {
	{ "m --rtol=1e-3 --seconds=0.5 --batch=2", NULL },
	{ "m --check", NULL },
	{ "--input=a -ib m", NULL },
	{ "", "MODEL is missing" },
	{ "m n", "is one operand too many; wanted: MODEL" },
	{ "m --rtol=-1", "wants a number of at least 0" },
	{ "m --rtol=nan", "wants a number of at least 0" },
	{ "m --rtol=1x", "wants a number of at least 0" },
	{ "m --seconds=0", "wants seconds, from 0.001 to 1000000" },
	{ "m --batch=9", "wants an integer from 1 to 8" },
	{ "m --=3", "there is no such option" },
	{ "m --btch=3", "there is no such option; did you mean --batch?" },
};

START_TEST(a_program_of_one_verb_takes_its_own_words)
{
	Arena *a = arena_new();
	Text out = { .arena = a };
	Err e = { 0 };
	const char *called;
	Args *args = parse_single(a, singles[_i].line, &out, &called, &e);
	ck_assert_str_eq(called, "dlc-one");
	ck_assert_int_eq(args != NULL, singles[_i].says == NULL);
	if (args == NULL)
		ck_assert_str_eq(e.text, singles[_i].says);
	arena_free(a);
}
END_TEST

START_TEST(numbers_and_headings_of_a_program_are_read)
{
	Arena *a = arena_new();
	Text out = { .arena = a };
	Err e = { 0 };
	const char *called;
	Args *args = parse_single(a, "m --rtol=1e-3 --rtol 0.25", &out, &called, &e);
	ck_assert_ptr_nonnull(args);
	ck_assert_double_eq(args_real(args, "rtol", 1), 0.25);
	ck_assert_double_eq(args_real(args, "seconds", 2), 2);
	ck_assert_ptr_null(args_given_below(args, "options of a model"));
	args = parse_single(a, "m --batch=3", &out, &called, &e);
	ck_assert_str_eq(args_given_below(args, "options of a model"), "batch");
	ck_assert_ptr_null(parse_single(a, "--version", &out, &called, &e));
	ck_assert_str_eq(text_str(&out), "dlc-one " DLC_VERSION "\n");
	ck_assert_ptr_null(parse_single(a, "--help", &out, &called, &e));
	ck_assert_ptr_nonnull(strstr(out.at,
		"usage: dlc-one MODEL [options]\n\nDo one thing.\n\noptions:\n  -i, --input=FILE "));
	ck_assert_ptr_nonnull(strstr(out.at, "the version\n\noptions of a model:\n  --batch=N "));
	ck_assert_int_eq(e.code, ERR_NONE);
	arena_free(a);
}
END_TEST

/* The place of an error; the option that is meant. A row's `field` replaces its name; "m" is the operand. */
static const struct {
	const char *line, *place, *option;
} fields[] = {
	{ "make m", "database", "tuning-db" },
	{ "make m", "tuning-db", NULL },
	{ "make m", "stage", "stage" },
	{ "make m", "--stage", NULL },
	{ "make m", "m", NULL },
	{ "make m", "", NULL },
	{ "make stage", "stage", NULL },
	{ "make m stage", "stage", NULL },
	{ "all 1", "stage", NULL },
};

START_TEST(an_error_names_the_option_of_a_field)
{
	Arena *a = arena_new();
	Text out = { .arena = a };
	Err e = { 0 };
	const char *called;
	Args *args = parse(a, fields[_i].line, &out, &called, &e);
	ck_assert_ptr_nonnull(args);
	ck_assert_pstr_eq(args_option_of(args, fields[_i].place), fields[_i].option);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("args");
	tcase_add_loop_test(tc, lines_are_taken_or_refused, 0, LEN(lines));
	tcase_add_loop_test(tc, values_are_what_was_typed, 0, LEN(values));
	tcase_add_test(tc, repeated_options_pairs_and_operands_keep_their_order);
	tcase_add_loop_test(tc, help_and_version_are_printed_instead, 0, LEN(helps));
	tcase_add_loop_test(tc, a_program_of_one_verb_takes_its_own_words, 0, LEN(singles));
	tcase_add_test(tc, numbers_and_headings_of_a_program_are_read);
	tcase_add_loop_test(tc, an_error_names_the_option_of_a_field, 0, LEN(fields));
	return run_suite("args", tc);
}
