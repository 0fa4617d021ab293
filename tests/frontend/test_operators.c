/*
 * The tables of operators in docs/frontends.md (counts beside TVM's importers) and docs/operators.md (names), which the
 * rows of the front ends make. DLC_BLESS=1 writes them anew. And the sentence of --help that names the formats.
 */
#include "doc_table.h"
#include "frontend/format.h"
#include "frontend/node/operators.h"

#include <stdlib.h>

#define FORMAT(name) &format_##name,
static const Format *const formats[] = {
#include "frontend/format.def"
};
#undef FORMAT

/*
 * Entries of the tables of TVM 0.18's relay importers, the last release that has them all; "-": it has none such.
 * Keras: 55 layers and 12 activations. PyTorch: of aten, prim and torchvision, quantised and structural ones.
 */
static const struct {
	const char *format, *tvm;
} others[] = {
	{ "ONNX", "201" },
	{ "MXNet", "237" },
	{ "Keras", "67" },
	{ "TensorFlow", "192" },
	{ "TensorFlow Lite", "107" },
	{ "DarkNet", "13" },
	{ "Caffe", "24" },
	{ "Caffe2", "16" },
	{ "CoreML", "25" },
	{ "PyTorch", "293" },
};

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char **names_of_rows(Arena *a, const NodeFormat *f, int *n)
{
	VEC(const char *) all = { 0 };
	for (const NodeRow *const *list = f->lists; *list != NULL; list++)
		for (const NodeRow *r = *list; r->name != NULL; r++)
			vec_push(a, &all, r->name);
	*n = (int)all.n;
	return all.at;
}

/* The names of a format's operators, each once, in order. */
typedef struct NameTable {
	const char *format, **at;
	int n;
} NameTable;

static NameTable names_of(Arena *a, const Format *f, const NodeFormat *node)
{
	int n, m = 0;
	const char **all = f->names != NULL ? f->names(a, &n) : names_of_rows(a, node, &n);
	qsort(all, (size_t)n, sizeof *all, by_name);
	for (int k = 0; k < n; k++)
		if (k == 0 || strcmp(all[k], all[m - 1]) != 0)
			all[m++] = all[k];
	return (NameTable){ node->name, all, m };
}

static const char *tvm_of(const char *format)
{
	for (int k = 0; k < LEN(others); k++)
		if (strcmp(others[k].format, format) == 0)
			return others[k].tvm;
	return "-";
}

/* Calls `each` for all formats that have rows. */
static void each_format(Text *t, void (*each)(Text *t, const NameTable *f))
{
	for (int k = 0; k < LEN(formats); k++)
		for (int i = 0; i < FORMAT_NODES && formats[k]->node[i] != NULL; i++) {
			NameTable names = names_of(t->arena, formats[k], formats[k]->node[i]);
			each(t, &names);
		}
}

static void count(Text *t, const NameTable *f)
{
	text_add(t, "| %s | %d | %s |\n", f->format, f->n, tvm_of(f->format));
}

START_TEST(counts_stand_beside_those_of_tvm)
{
	Text t = { .arena = arena_new() };
	text_add(&t, "| format | operators | TVM 0.18 |\n|---|---|---|\n");
	each_format(&t, count);
	doc_table("docs/frontends.md", &t);
	arena_free(t.arena);
}
END_TEST

/* A row for each format and number of names. */
static void list(Text *t, const NameTable *f)
{
	enum { IN_ROW = 16 };
	for (int k = 0; k < f->n; k += IN_ROW) {
		text_add(t, "| %s |", f->format);
		for (int i = k; i < f->n && i < k + IN_ROW; i++)
			text_add(t, "%s `%s`", i > k ? "," : "", f->at[i]);
		text_add(t, " |\n");
	}
}

START_TEST(the_page_has_every_name)
{
	Text t = { .arena = arena_new() };
	text_add(&t, "| format | operators, in order of their names |\n|---|---|\n");
	each_format(&t, list);
	doc_table("docs/operators.md", &t);
	arena_free(t.arena);
}
END_TEST

/* "MODEL is a name of the zoo .., or a file or folder of PyTorch, ONNX .. or DarkNet.", in any order */
START_TEST(help_names_every_format)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes file;
	const char *name = arena_printf(a, "%s/src/cli/operands.h", getenv("DLC_SOURCE_ROOT"));
	ck_assert_msg(file_read(a, name, 1 << 20, &file, &err), "%s: %s", name, err.text);
	const char *at = strstr((const char *)file.at, "#define NOTE_MODEL");
	const char *end = at != NULL ? strstr(at, ".\"") : NULL;
	at = at != NULL ? strstr(at, "folder of ") : NULL;
	ck_assert_msg(at != NULL && end != NULL && at < end, "%s has no sentence of NOTE_MODEL", name);
	Text list = { .arena = a }; /* " PyTorch, ONNX, .. DarkNet." */
	for (at += strlen("folder of"); at <= end; at++) {
		bool blank = *at == '"' || *at == '\t' || *at == '\n' || *at == '\\' || (*at == 'n' && at[-1] == '\\');
		if (!blank && (*at != ' ' || list.n == 0 || text_str(&list)[list.n - 1] != ' '))
			text_put(&list, at, 1);
	}
	int commas = 0, n = 0;
	for (const char *s = text_str(&list); *s != 0; s++)
		commas += *s == ',';
	for (int k = 0; k < LEN(formats); k++) {
		const NodeFormat *f = formats[k]->node[0];
		bool found = f == NULL;
		for (int e = 0; e < 3 && !found; e++)
			found = strstr(text_str(&list),
						arena_printf(a, " %s%s", f->name, (const char *[]){ ",", " or ", "." }[e])) != NULL;
		ck_assert_msg(found, "%s: NOTE_MODEL lacks %s:%s", name, f != NULL ? f->name : "", text_str(&list));
		n += f != NULL;
	}
	ck_assert_int_eq(commas + 2, n); /* and no others */
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("operators");
	tcase_add_test(tc, counts_stand_beside_those_of_tvm);
	tcase_add_test(tc, the_page_has_every_name);
	tcase_add_test(tc, help_names_every_format);
	return run_suite("operators", tc);
}
