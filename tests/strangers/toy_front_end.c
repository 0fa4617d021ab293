/*
 * A front end of another program, for a toy format: a line for each layer, which reads the one before.
 *
 *     toy 1
 *     input x 1 3 8 8
 *     conv c 16 3 relu
 *     pool p 2
 *     skip c                 adds the value of that name
 *     dense d 10 softmax
 *     output y
 *
 * It is built with the installed headers alone: cc -shared -fPIC toy_front_end.c -o toy.so. Weights are drawn.
 */
#include <dlc/dlc.h>
#include <stdio.h>
#include <string.h>

#ifndef TOY_ABI
#define TOY_ABI DLC_FRONTEND_ABI
#endif
#ifndef TOY_SYMBOL
#define TOY_SYMBOL dlc_frontend
#endif

enum { VALUES = 64, WORDS = 8, LINE = 256 };

typedef struct Toy {
	DlcBuilder *b;
	DlcValue last, value[VALUES];
	char name[VALUES][32];
	int n, line, done;
	char word[WORDS][32];
	int nword;
} Toy;

static void refuse(Toy *t, const char *why)
{
	char text[128];
	snprintf(text, sizeof text, "line %d: %s", t->line, why);
	dlc_builder_refuse(t->b, DLC_FAULT_SYNTAX, text);
}

/* Word k as a number from 1 to a million; 0 and a refusal if it is none. */
static int number(Toy *t, int k)
{
	int v = 0, end = 0;
	if (k < t->nword && sscanf(t->word[k], "%7d%n", &v, &end) == 1 && t->word[k][end] == 0 && v > 0 && v <= 1000000)
		return v;
	refuse(t, "a number is missing or out of range");
	return 0;
}

static void keep(Toy *t, DlcValue v)
{
	t->last = v;
	if (t->n == VALUES) {
		refuse(t, "there are too many layers");
		return;
	}
	strcpy(t->name[t->n], t->word[1]);
	t->value[t->n++] = v;
}

static DlcValue find(Toy *t, const char *name)
{
	for (int k = 0; k < t->n; k++)
		if (strcmp(t->name[k], name) == 0)
			return t->value[k];
	refuse(t, "there is no value of that name");
	return (DlcValue){ 0 };
}

static void read_line(Toy *t)
{
	const char *what = t->word[0], *name = t->word[1], *activation = t->nword > 4 ? t->word[4] : NULL;
	int64_t dim[WORDS], size;
	if (strcmp(what, "input") == 0) {
		for (int k = 2; k < t->nword; k++)
			dim[k - 2] = strcmp(t->word[k], "?") == 0 ? -1 : number(t, k);
		keep(t, dlc_builder_input(t->b, name, (DlcDataType){ 2, 32, 1 }, t->nword - 2, dim));
	} else if (strcmp(what, "conv") == 0) {
		size = number(t, 3);
		DlcConv o = { .out = number(t, 2), .window = { .kernel = { size, size }, .pad = DLC_PAD_SAME },
			.activation = activation };
		keep(t, dlc_builder_conv(t->b, name, t->last, &o));
	} else if (strcmp(what, "pool") == 0) {
		size = number(t, 2);
		keep(t, dlc_builder_max_pool(t->b, name, t->last, &(DlcPool){ .window = { .kernel = { size, size } } }));
	} else if (strcmp(what, "skip") == 0) {
		keep(t, dlc_builder_op2(t->b, NULL, "add", t->last, find(t, name)));
	} else if (strcmp(what, "dense") == 0) {
		DlcValue flat = dlc_builder_avg_pool(t->b, NULL, t->last, &(DlcPool){ .flat = 1 });
		DlcDense o = { .units = number(t, 2), .activation = t->nword > 3 ? t->word[3] : NULL };
		keep(t, dlc_builder_dense(t->b, name, flat, &o));
	} else if (strcmp(what, "output") == 0) {
		dlc_builder_output(t->b, name, t->last);
	} else {
		refuse(t, "is no layer of a toy");
	}
}

static int recognise(const void *bytes, size_t size)
{
	return size > 4 && memcmp(bytes, "toy ", 4) == 0;
}

static int load(DlcBuilder *b, const DlcModelFile *file)
{
	Toy t = { .b = b };
	const char *at = file->bytes, *end = at + file->size;
	for (t.line = 1; at < end && dlc_builder_fault(b, NULL) == DLC_FAULT_NONE; t.line++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((stop != NULL ? stop : end) - at);
		char line[LINE];
		if (n >= LINE) {
			refuse(&t, "is too long");
			break;
		}
		memcpy(line, at, n);
		line[n] = 0;
		at += n + 1;
		memset(t.word, 0, sizeof t.word);
		t.nword = sscanf(line, "%31s%31s%31s%31s%31s%31s%31s%31s", t.word[0], t.word[1], t.word[2], t.word[3],
			t.word[4], t.word[5], t.word[6], t.word[7]);
		if (t.nword > 1 && t.line > 1)
			read_line(&t);
		else if (t.nword == 1)
			refuse(&t, "a word is missing");
	}
	return dlc_builder_fault(b, NULL) != DLC_FAULT_NONE;
}

extern const DlcFrontend TOY_SYMBOL;
const DlcFrontend TOY_SYMBOL = { TOY_ABI, "toy", recognise, load };
