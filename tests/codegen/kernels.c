#include "kernels.h"
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONV_FLOPS(c, o, h, k) (2.0 * (c) * (o) * (h) * (h) * (k) * (k))

/* C, O channels; I, H size of input and output; K kernel, S stride, Q padding; P pixels of a tile; the
 * last tile begins at M and ends at N; T vectors, U terms of a dense tile. */
const HandKernel hand_kernels[] = {
	{ "conv_small", "conv", "conv_naive", "C=32 O=32 I=3 H=3 K=3 S=1 Q=1 P=1 M=2 N=3", 0, 1 },
	{ "conv_stride_small", "conv", "conv_naive", "C=16 O=32 I=3 H=2 K=3 S=2 Q=1 P=1 M=1 N=2", 0, 1 },
	{ "depthwise_small", "depthwise", "depthwise_naive", "C=32 I=6 H=6 K=3 S=1 Q=1 P=2 M=2 N=3", 0, 1 },
	{ "conv_masked_small", "conv", "conv_naive", "C=24 O=24 I=2 H=2 K=3 S=1 Q=1 P=2 M=1 N=1", 0, 1 },
	/* A tile of two blocks of which the second is none. */
	{ "conv_blocks_small", "conv", "conv_naive", "C=10 O=41 I=2 H=2 K=1 S=1 Q=0 P=2 M=1 N=1", 0, 1 },
	{ "stem_small", "stem", "stem_naive", "C=3 O=24 I=6 H=3 K=5 S=2 Q=2 P=1 M=2 N=3", 0, 1 },
	{ "dense_small", "dense", "dense_naive", "C=24 O=40 T=2 U=4", 0, 1 },
	{ "pool_small", "pool", "pool_naive", "C=24 I=6 H=3 K=3 S=2 Q=1 P=1 M=2 N=3", 0, 1 },
	{ "conv3x3_56", "conv", "conv_naive", "C=64 O=64 I=56 H=56 K=3 S=1 Q=1 P=14 M=3 N=4", CONV_FLOPS(64, 64, 56, 3),
		0 },
	{ "conv3x3_28", "conv", "conv_naive", "C=128 O=128 I=28 H=28 K=3 S=1 Q=1 P=14 M=1 N=2", CONV_FLOPS(128, 128, 28, 3),
		0 },
	{ "conv3x3_14", "conv", "conv_naive", "C=256 O=256 I=14 H=14 K=3 S=1 Q=1 P=14 M=1 N=1", CONV_FLOPS(256, 256, 14, 3),
		0 },
	{ "conv3x3_7", "conv", "conv_naive", "C=512 O=512 I=7 H=7 K=3 S=1 Q=1 P=7 M=1 N=1", CONV_FLOPS(512, 512, 7, 3), 0 },
	{ "conv3x3_s2", "conv", "conv_naive", "C=64 O=128 I=56 H=28 K=3 S=2 Q=1 P=14 M=1 N=2", CONV_FLOPS(64, 128, 28, 3),
		0 },
	{ "conv1x1_56", "conv", "conv_naive", "C=64 O=256 I=56 H=56 K=1 S=1 Q=0 P=14 M=3 N=4", CONV_FLOPS(64, 256, 56, 1),
		0 },
	{ "conv1x1_14", "conv", "conv_naive", "C=256 O=256 I=14 H=14 K=1 S=1 Q=0 P=14 M=1 N=1", CONV_FLOPS(256, 256, 14, 1),
		0 },
	{ "depthwise_56", "depthwise", "depthwise_naive", "C=128 I=56 H=56 K=3 S=1 Q=1 P=14 M=3 N=4",
		CONV_FLOPS(128, 1, 56, 3), 0 },
	{ "depthwise_14", "depthwise", "depthwise_naive", "C=512 I=14 H=14 K=3 S=1 Q=1 P=14 M=1 N=1",
		CONV_FLOPS(512, 1, 14, 3), 0 },
	{ "depthwise_s2", "depthwise", "depthwise_naive", "C=64 I=112 H=56 K=3 S=2 Q=1 P=14 M=3 N=4",
		CONV_FLOPS(64, 1, 56, 3), 0 },
	{ "conv1x1_24", "conv", "conv_naive", "C=144 O=24 I=56 H=56 K=1 S=1 Q=0 P=14 M=3 N=4", CONV_FLOPS(144, 24, 56, 1),
		0 },
	{ "stem7x7", "stem", "stem_naive", "C=3 O=64 I=224 H=112 K=7 S=2 Q=3 P=14 M=7 N=8", CONV_FLOPS(3, 64, 112, 7), 0 },
	{ "dense", "dense", "dense_naive", "C=512 O=1000 T=4 U=4", 2.0 * 512 * 1000, 0 },
	{ "pool3x3", "pool", "pool_naive", "C=64 I=112 H=56 K=3 S=2 Q=1 P=14 M=3 N=4", CONV_FLOPS(64, 1, 56, 3) / 2, 0 },
	{ "conv3x3_spills", "conv", "conv_naive", "C=64 O=64 I=56 H=56 K=3 S=1 Q=1 P=28 M=1 N=2", CONV_FLOPS(64, 64, 56, 3),
		0 }, /* 56 accumulators */
	{ NULL, NULL, NULL, NULL, 0, 0 },
};

enum { ARGS = 9, DEEP = 8 };

typedef struct Form {
	Text out;
	const char *text, *params;
} Form;

static void put_param(Form *f, char letter)
{
	for (const char *p = f->params; *p != 0; p++)
		if (*p == letter && p[1] == '=') {
			text_put(&f->out, p + 2, strspn(p + 2, "0123456789"));
			return;
		}
	text_put(&f->out, "?", 1); /* no number: the parser will say where */
}

static const char *line_end(const char *s)
{
	return s + strcspn(s, "\n");
}

/* Where the section begins; its end is the next "== " or the text's. */
static const char *section(const Form *f, const char *name, size_t n)
{
	for (const char *s = f->text; (s = strstr(s, "== ")) != NULL; s++)
		if (strncmp(s + 3, name, n) == 0 && s[3 + n] == '\n')
			return line_end(s) + 1;
	return NULL;
}

static void expand(Form *f, const char *s, const char *const *arg, int deep);

/* "@tile a 0 $M": parameters in arguments are resolved where the section uses them. */
static void use_section(Form *f, const char *line, int deep)
{
	const char *arg[ARGS] = { NULL };
	char copy[256];
	snprintf(copy, sizeof copy, "%.*s", (int)(line_end(line) - line), line);
	char *save, *name = strtok_r(copy, " ", &save);
	for (int k = 0; k < ARGS; k++)
		arg[k] = strtok_r(NULL, " ", &save);
	const char *body = name != NULL ? section(f, name, strlen(name)) : NULL;
	if (body != NULL && deep < DEEP)
		expand(f, body, arg, deep + 1);
}

static void expand(Form *f, const char *s, const char *const *arg, int deep)
{
	for (; *s != 0 && strncmp(s, "== ", 3) != 0; s++) {
		if (*s == '@') {
			/* A scope begins with a letter, too, but behind a space and a bracket. */
			const char *back = s;
			while (back > f->text && (back[-1] == '\t' || back[-1] == ' '))
				back--;
			if (back == f->text || back[-1] == '\n') {
				use_section(f, s + 1, deep);
				s = line_end(s) - 1;
				continue;
			}
		}
		if (*s == '$' && isupper((unsigned char)s[1]))
			put_param(f, *++s);
		else if (*s == '%' && arg != NULL && s[1] >= '1' && s[1] <= '9' && arg[s[1] - '1'])
			expand(f, arg[*++s - '1'], NULL, deep);
		else
			text_put(&f->out, s, 1);
	}
}

char *hand_kernel_text(Arena *a, const char *folder, const char *form, const char *params)
{
	char *text = arena_alloc(a, 1 << 20);
	const char *end = strstr(form, ".ir") != NULL ? "" : ".ir";
	FILE *file = fopen(*form == '/' ? form : arena_printf(a, "%s/%s%s", folder, form, end), "r");
	if (file == NULL)
		return NULL;
	text[fread(text, 1, (1 << 20) - 1, file)] = 0;
	fclose(file);
	Form f = { .out = { .arena = a }, .text = text, .params = params };
	expand(&f, text, NULL, 0);
	return f.out.at;
}
