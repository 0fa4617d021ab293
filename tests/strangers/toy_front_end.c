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

enum { WORDS = 8, LETTERS = 32, LINE = 256 };

/* The words of a line; a word that is missing is empty. */
typedef struct Line {
	char word[WORDS][LETTERS];
	int n;
} Line;

/* Word k as a number from 1 to a million; 0 and a refusal if it is none. */
static int64_t number(DlcBuilder *b, const Line *l, int k)
{
	int v = 0, end = 0;
	if (k < l->n && sscanf(l->word[k], "%7d%n", &v, &end) == 1 && l->word[k][end] == 0 && v > 0 && v <= 1000000)
		return v;
	dlc_builder_refuse(b, DLC_FAULT_SYNTAX, "a number is missing or out of range");
	return 0;
}

static DlcValue input(DlcBuilder *b, const Line *l)
{
	int64_t dim[WORDS];
	for (int k = 2; k < l->n; k++)
		dim[k - 2] = strcmp(l->word[k], "?") == 0 ? -1 : number(b, l, k);
	return dlc_builder_input(b, l->word[1], (DlcDataType){ 2, 32, 1 }, l->n - 2, dim);
}

/* The value of a line, which reads x, the one before. */
static DlcValue layer(DlcBuilder *b, const Line *l, DlcValue x)
{
	const char *kind = l->word[0], *name = l->word[1];
	if (strcmp(kind, "input") == 0)
		return input(b, l);
	if (strcmp(kind, "conv") == 0) {
		int64_t size = number(b, l, 3);
		DlcWindow window = { .kernel = { size, size }, .pad = DLC_PAD_SAME };
		DlcConv o = { .out = number(b, l, 2), .window = window, .activation = l->n > 4 ? l->word[4] : NULL };
		return dlc_builder_conv(b, name, x, &o);
	}
	if (strcmp(kind, "pool") == 0) {
		int64_t size = number(b, l, 2);
		return dlc_builder_max_pool(b, name, x, &(DlcPool){ .window = { .kernel = { size, size } } });
	}
	if (strcmp(kind, "skip") == 0)
		return dlc_builder_op2(b, NULL, "add", x, dlc_builder_find(b, name));
	if (strcmp(kind, "dense") == 0) {
		DlcDense o = { .units = number(b, l, 2), .activation = l->n > 3 ? l->word[3] : NULL };
		return dlc_builder_dense(b, name, dlc_builder_avg_pool(b, NULL, x, &(DlcPool){ .flat = 1 }), &o);
	}
	if (strcmp(kind, "output") == 0)
		dlc_builder_output(b, name, x);
	else
		dlc_builder_refuse(b, DLC_FAULT_SYNTAX, "is no layer of a toy");
	return x;
}

static int recognise(const void *bytes, size_t size)
{
	return size > 4 && memcmp(bytes, "toy ", 4) == 0;
}

static int load(DlcBuilder *b, const DlcModelFile *file)
{
	DlcValue x = { 0 };
	const char *at = file->bytes, *end = at + file->size;
	for (int k = 1; at < end && dlc_builder_at_line(b, k); k++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		int n = (int)((stop != NULL ? stop : end) - at);
		char text[LINE];
		Line l = { .n = 0 };
		if (snprintf(text, sizeof text, "%.*s", n < LINE ? n : LINE, at) >= LINE)
			dlc_builder_refuse(b, DLC_FAULT_SYNTAX, "is too long");
		l.n = sscanf(text, "%31s%31s%31s%31s%31s%31s%31s%31s", l.word[0], l.word[1], l.word[2], l.word[3], l.word[4],
			l.word[5], l.word[6], l.word[7]);
		if (k > 1 && l.n > 0)
			x = layer(b, &l, x);
		at += n + 1;
	}
	return 0;
}

DLC_FRONTEND_ROW("toy", recognise, load);
