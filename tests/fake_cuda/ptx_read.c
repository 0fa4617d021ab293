/*
 * See ptx.h: the text of one .entry, statement by statement.
 */
#include "ptx.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABELS = 4096, TABLE = 1 << 16 };

typedef struct Label {
	const char *name;
	int at;
} Label;

typedef struct Reader {
	PtxKernel *k;
	const char *p;
	Label label[LABELS];
	int nlabel, nparam;
	int table[TABLE]; /* 1 + the slot of a name with this hash; others of it follow */
} Reader;

static void wrong(Reader *r, const char *what, const char *about)
{
	if (r->k->error[0] == 0)
		snprintf(r->k->error, sizeof r->k->error, "%s: %.150s", what, about);
}

/* A copy of n bytes that lives as long as the kernel. */
static char *copy_of(Reader *r, const char *s, size_t n)
{
	PtxKernel *k = r->k;
	if ((k->nowned & (k->nowned - 1)) == 0)
		k->owned = realloc(k->owned, (size_t)(k->nowned > 0 ? 2 * k->nowned : 1) * sizeof *k->owned);
	return k->owned[k->nowned++] = strndup(s, n);
}

static char *word_end(char *p)
{
	while (isalnum((unsigned char)*p) || *p == '_' || *p == '$' || *p == '%' || *p == '.')
		p++;
	return p;
}

/* The slot of a register, a constant or an address, which is made when it is met first. */
static uint32_t slot_of(Reader *r, const char *name)
{
	static const char *const SPECIAL[] = {
#define S(name) name,
		PTX_SPECIALS(S)
#undef S
	};
	PtxKernel *k = r->k;
	uint32_t h = 0;
	for (const char *c = name; *c != 0; c++)
		h = h * 31 + (unsigned char)*c;
	for (h %= TABLE; r->table[h] != 0; h = (h + 1) % TABLE)
		if (strcmp(k->slot[r->table[h] - 1].name, name) == 0)
			return (uint32_t)(r->table[h] - 1);
	if (k->nslot == TABLE / 2) {
		wrong(r, "there are too many registers", name);
		return 0;
	}
	r->table[h] = k->nslot + 1;
	if (k->nslot == k->roomslot) {
		k->roomslot = 2 * k->roomslot + 64;
		k->slot = realloc(k->slot, (size_t)k->roomslot * sizeof *k->slot);
	}
	PtxSlot *s = &k->slot[k->nslot];
	*s = (PtxSlot){ .name = name };
	char *end;
	if (name[0] == '%') {
		for (size_t n = 0; n < sizeof SPECIAL / sizeof *SPECIAL; n++)
			if (strcmp(SPECIAL[n], name + 1) == 0)
				s->special = (int)n + 1;
	} else if (name[0] == '0' && (name[1] == 'f' || name[1] == 'd' || name[1] == 'F' || name[1] == 'D')) {
		s->value = strtoull(name + 2, &end, 16);
		s->fixed = true;
	} else if (isdigit((unsigned char)name[0]) || name[0] == '-') {
		s->value = name[0] == '-' ? (uint64_t)strtoll(name, &end, 0) : strtoull(name, &end, 0);
		s->fixed = true;
	}
	return (uint32_t)k->nslot++;
}

static void add_address(Reader *r, const char *name, PtxSpace space, uint64_t at)
{
	uint32_t s = slot_of(r, name);
	r->k->slot[s].fixed = true;
	r->k->slot[s].space = space;
	r->k->slot[s].value = at;
}

/* ".align 16 .b8 name[4]": reserves bytes at the end of a space. */
static void read_array(Reader *r, char *s, PtxSpace space, size_t *bytes)
{
	char *at = strstr(s, ".align"), *open = strchr(s, '[');
	size_t align = at != NULL ? strtoul(at + 6, NULL, 10) : 16, size = open != NULL ? strtoul(open + 1, NULL, 10) : 8;
	char *name = open != NULL ? open : s + strlen(s);
	*name = 0;
	while (name > s && !isspace((unsigned char)name[-1]))
		name--;
	*bytes = (*bytes + align - 1) / align * align;
	add_address(r, name, space, *bytes);
	*bytes += size;
}

static bool read_type(const char *w, PtxType *out)
{
	static const struct {
		const char *name;
		PtxKind kind;
	} ROW[] = { { "pred", PTX_PRED }, { "bf", PTX_BF }, { "b", PTX_B }, { "u", PTX_U }, { "s", PTX_S },
		{ "f", PTX_F } };
	for (size_t k = 0; k < sizeof ROW / sizeof *ROW; k++) {
		size_t n = strlen(ROW[k].name);
		char *end;
		if (strncmp(w, ROW[k].name, n) != 0)
			continue;
		long bits = strtol(w + n, &end, 10);
		if (ROW[k].kind == PTX_PRED && w[n] == 0) {
			*out = (PtxType){ PTX_PRED, 1 };
			return true;
		}
		if (end > w + n && (*end == 0 || strcmp(end, "x2") == 0) && bits >= 8 && bits <= 64 && *end == 0) {
			*out = (PtxType){ ROW[k].kind, (int)bits };
			return true;
		}
	}
	return false;
}

/* "ld.global.nc.v4.f32": the operation and its modifiers. */
static void read_opcode(Reader *r, PtxIns *i, char *word)
{
	static const char *const OP[] = {
#define OP(name) #name,
		PTX_OPS(OP)
#undef OP
	};
	static const char *const SPACE[] = { "generic", "global", "shared", "local", "param" };
	char *next = strchr(word, '.');
	if (next != NULL)
		*next++ = 0;
	if (strcmp(word, "barrier") == 0)
		word = (char *)(uintptr_t) "bar";
	i->op = 0;
	while (i->op < PTX_NOPS && strcmp(OP[i->op], word) != 0)
		i->op++;
	if (i->op == PTX_NOPS)
		wrong(r, "this instruction is not known", i->text);
	for (; next != NULL && i->nword < 8; i->nword++) {
		char *w = next;
		next = strchr(w, '.');
		if (next != NULL)
			*next++ = 0;
		char *colons = strstr(w, "::"); /* shared::cta */
		if (colons != NULL)
			*colons = 0;
		i->word[i->nword] = w;
		for (size_t k = 0; k < sizeof SPACE / sizeof *SPACE; k++)
			if (strcmp(SPACE[k], w) == 0 && i->space == PTX_GENERIC)
				i->space = (PtxSpace)k;
		if ((strcmp(w, "v2") == 0 || strcmp(w, "v4") == 0) && i->wide == 0)
			i->wide = w[1] - '0';
		i->ntype += i->ntype < 3 && read_type(w, &i->type[i->ntype]);
	}
	i->wide = i->wide == 0 ? 1 : i->wide;
}

static void add_operand(Reader *r, PtxIns *i, const char *name)
{
	if (i->n == PTX_OPERANDS)
		wrong(r, "there are too many operands", i->text);
	else
		i->slot[i->n++] = slot_of(r, name);
}

/* Operands up to the end of the statement, of which s is a copy that may be cut. */
static void read_operands(Reader *r, PtxIns *i, char *s)
{
	bool braces = false;
	int first = i->n;
	while (*s != 0) {
		if (isspace((unsigned char)*s) || *s == '|' || *s == ']') {
			s++;
			continue;
		}
		if (*s == '{' || *s == '}' || *s == ',') {
			if (*s == '{')
				braces = true;
			if (*s == '}')
				braces = false;
			if ((*s == ',' && !braces) && i->ngroup < 6) {
				i->group[i->ngroup++] = i->n - first;
				first = i->n;
			}
			*s++ = 0;
			continue;
		}
		if (*s == '[' || *s == '!') {
			s++;
			continue;
		}
		if (*s == '+') { /* of an address */
			i->offset[i->n > 0 ? i->n - 1 : 0] = strtoll(s + 1, &s, 0);
			continue;
		}
		char *end = *s == '-' ? word_end(s + 1) : word_end(s);
		if (end == s) {
			wrong(r, "this operand is not known", i->text);
			return;
		}
		char *name = copy_of(r, s, (size_t)(end - s));
		if (i->op == PTX_bra)
			i->word[0] = name;
		else
			add_operand(r, i, name);
		s = end;
	}
	if (i->n > first && i->ngroup < 6)
		i->group[i->ngroup++] = i->n - first;
}

static void read_instruction(Reader *r, char *s)
{
	PtxKernel *k = r->k;
	if (k->nins == k->roomins) {
		k->roomins = 2 * k->roomins + 64;
		k->ins = realloc(k->ins, (size_t)k->roomins * sizeof *k->ins);
	}
	PtxIns *i = &k->ins[k->nins++];
	*i = (PtxIns){ .guard = -1, .text = copy_of(r, s, strlen(s)) };
	if (*s == '@') {
		i->unless = s[1] == '!';
		s += 1 + i->unless;
		char *end = word_end(s);
		i->guard = (int)slot_of(r, copy_of(r, s, (size_t)(end - s)));
		s = end + strspn(end, " \t");
	}
	char *end = s + strcspn(s, " \t\n");
	bool more = *end != 0;
	*end = 0;
	read_opcode(r, i, s);
	if (more)
		read_operands(r, i, end + 1);
}

/* One statement without its end. */
static void read_statement(Reader *r, char *s)
{
	s += strspn(s, " \t\n");
	if (*s == 0 || strncmp(s, ".reg", 4) == 0 || strncmp(s, ".pragma", 7) == 0)
		return;
	if (strncmp(s, ".local", 6) == 0)
		read_array(r, s, PTX_LOCAL, &r->k->local_bytes);
	else if (strncmp(s, ".shared", 7) == 0)
		read_array(r, s, PTX_SHARED, &r->k->shared_bytes);
	else if (*s == '.')
		wrong(r, "this directive is not known", s);
	else
		read_instruction(r, s);
}

/* Statements between the braces of the entry; p is behind the first one. */
static void read_body(Reader *r, char *p)
{
	for (int depth = 1; depth > 0 && *p != 0;) {
		p += strspn(p, " \t\n");
		if (*p == '{' || *p == '}') {
			depth += *p++ == '{' ? 1 : -1;
			continue;
		}
		size_t n = strcspn(p, ";:");
		char end = p[n];
		if (end == ':' && p[n + 1] == ':') { /* shared::cta */
			n += 2 + strcspn(p + n + 2, ";");
			end = p[n];
		}
		p[n] = 0;
		if (end == ':' && r->nlabel < LABELS)
			r->label[r->nlabel++] = (Label){ p, r->k->nins };
		else
			read_statement(r, p);
		p += n + 1;
	}
	for (int k = 0; k < r->k->nins; k++) {
		PtxIns *i = &r->k->ins[k];
		if (i->op != PTX_bra)
			continue;
		int l = 0;
		while (l < r->nlabel && strcmp(r->label[l].name, i->word[0]) != 0)
			l++;
		if (l == r->nlabel)
			wrong(r, "there is no such label", i->word[0]);
		else
			i->target = r->label[l].at;
	}
}

/* Shared arrays that stand outside of functions; the dynamic one, which has no size, lies behind all others. */
static void read_outside(Reader *r, const char *text, bool dynamic)
{
	for (const char *at = text; (at = strstr(at, "\n.extern .shared")) != NULL && dynamic; at++) {
		char *s = copy_of(r, at, strcspn(at, ";"));
		char *open = strchr(s, '[');
		if (open != NULL)
			open[1] = '0';
		read_array(r, s, PTX_SHARED, &r->k->shared_bytes);
	}
	for (const char *at = text; (at = strstr(at, "\n.shared")) != NULL && !dynamic; at++)
		read_array(r, copy_of(r, at, strcspn(at, ";")), PTX_SHARED, &r->k->shared_bytes);
}

/* A copy of one entry from its name on, without comments; NULL: there is none of that name. */
static char *entry_text(const char *text, const char *name)
{
	size_t n = strlen(name);
	const char *at = text;
	while ((at = strstr(at, ".entry")) != NULL) {
		at += 6 + strspn(at + 6, " \t\n");
		if (strncmp(at, name, n) == 0 && (at[n] == '(' || isspace((unsigned char)at[n])))
			break;
	}
	const char *end = at != NULL ? strstr(at, "\n}") : NULL;
	if (at == NULL)
		return NULL;
	char *own = end != NULL ? strndup(at, (size_t)(end + 2 - at)) : strdup(at);
	for (char *c = own; (c = strstr(c, "//")) != NULL;)
		memset(c, ' ', strcspn(c, "\n"));
	return own;
}

PtxKernel *ptx_read(const char *text, const char *name)
{
	PtxKernel *k = calloc(1, sizeof *k);
	Reader *r = calloc(1, sizeof *r);
	r->k = k;
	k->text = entry_text(text, name);
	if (k->text == NULL) {
		wrong(r, "there is no entry", name);
	} else {
		read_outside(r, text, false);
		char *at = k->text, *end = strchr(at, ')');
		for (char *p = at; (p = strstr(p, ".param")) != NULL && p < end; p++) { /* the last word of each is its name */
			char *last = p + strcspn(p, ",)");
			while (isspace((unsigned char)last[-1]))
				last--;
			char *from = last;
			while (!isspace((unsigned char)from[-1]))
				from--;
			add_address(r, copy_of(r, from, (size_t)(last - from)), PTX_PARAM, 8 * (uint64_t)r->nparam++);
		}
		read_body(r, strchr(end, '{') + 1);
		read_outside(r, text, true);
	}
	ptx_prepare(k);
	free(r);
	return k;
}

bool ptx_word(const PtxIns *i, const char *word)
{
	for (int k = 0; k < i->nword; k++)
		if (strcmp(i->word[k], word) == 0)
			return true;
	return false;
}

void ptx_free(PtxKernel *k)
{
	for (int n = 0; n < k->nowned; n++)
		free(k->owned[n]);
	free(k->owned);
	free(k->text);
	free(k->ins);
	free(k->slot);
	free(k);
}
