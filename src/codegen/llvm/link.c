/*
 * The linker. It checks every offset of the object that LLVM wrote, because a mistake would otherwise be a wild
 * write. Formats: ELF-64 (gABI 4.1), x86-64 psABI 1.0 section 4.4, ELF for the Arm 64-bit Architecture (2023Q3)
 * section 5.7.
 */
#include "codegen/llvm/link.h"
#include "base/text.h"

#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINK_ALIGN = 64 };

typedef struct Link {
	Arena *arena;
	const unsigned char *in;
	size_t n;
	const Elf64_Shdr *section;
	size_t nsection;
	uint64_t *base; /* of each section in the image; UINT64_MAX: not in it */
	const Elf64_Sym *symbol;
	size_t nsymbol;
	const char *strings;
	size_t nstrings;
	Linked *out;
	Err *err;
} Link;

PRINTF_LIKE(2, 3) static bool bug(Link *l, const char *fmt, ...)
{
	char text[400];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return fail(l->err, ERR_BUG, "linker", "%s", text);
}

static bool inside(const Link *l, uint64_t offset, uint64_t size)
{
	return offset <= l->n && size <= l->n - offset;
}

static const char *text_at(const Link *l, uint32_t offset)
{
	return offset < l->nstrings ? l->strings + offset : "";
}

static bool read_tables(Link *l)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)l->in;
	if (l->n < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
		h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_type != ET_REL || h->e_shentsize != sizeof(Elf64_Shdr) ||
		!inside(l, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)) || h->e_shoff % 8 != 0)
		return bug(l, "this is no ELF-64 object");
	l->section = (const Elf64_Shdr *)(l->in + h->e_shoff);
	l->nsection = h->e_shnum;
	for (size_t k = 0; k < l->nsection; k++) {
		const Elf64_Shdr *s = &l->section[k];
		if (s->sh_type != SHT_NOBITS && !inside(l, s->sh_offset, s->sh_size))
			return bug(l, "section %zu lies outside the object file", k);
		if (s->sh_type == SHT_RELA && s->sh_offset % 8 != 0)
			return bug(l, "the relocations of section %zu are not aligned", k);
		if (s->sh_type != SHT_SYMTAB)
			continue;
		const Elf64_Shdr *t = s->sh_link < l->nsection ? &l->section[s->sh_link] : NULL;
		if (t == NULL || s->sh_offset % 8 != 0 || t->sh_size == 0 || !inside(l, t->sh_offset, t->sh_size) ||
			l->in[t->sh_offset + t->sh_size - 1] != 0)
			return bug(l, "the symbol table in section %zu has no texts", k);
		l->symbol = (const Elf64_Sym *)(l->in + s->sh_offset);
		l->nsymbol = s->sh_size / sizeof(Elf64_Sym);
		l->strings = (const char *)l->in + t->sh_offset;
		l->nstrings = t->sh_size;
	}
	return true;
}

/* Code first; what can be written has no place in an image. */
static bool lay_out(Link *l)
{
	uint64_t at = 0;
	l->base = arena_array(l->arena, uint64_t, l->nsection + 1);
	for (int pass = 0; pass < 2; pass++)
		for (size_t k = 0; k < l->nsection; k++) {
			const Elf64_Shdr *s = &l->section[k];
			bool code = (s->sh_flags & SHF_EXECINSTR) != 0;
			if (pass == 0)
				l->base[k] = UINT64_MAX;
			if (!(s->sh_flags & SHF_ALLOC) || s->sh_size == 0 || code != (pass == 0))
				continue;
			if ((s->sh_flags & SHF_WRITE) || s->sh_type != SHT_PROGBITS)
				return bug(l, "an image cannot hold section %zu: it is writable or of another kind", k);
			uint64_t align = s->sh_addralign < 1 ? 1 : s->sh_addralign;
			if (align > LINK_ALIGN || (align & (align - 1)) != 0)
				return bug(l, "section %zu is aligned to %llu bytes, more than 64", k, (unsigned long long)align);
			at = (at + align - 1) & ~(align - 1);
			l->base[k] = at;
			at += s->sh_size;
		}
	l->out->size = (at + LINK_ALIGN - 1) & ~(uint64_t)(LINK_ALIGN - 1);
	l->out->bytes = arena_alloc_aligned(l->arena, l->out->size + 1, LINK_ALIGN);
	for (size_t k = 0; k < l->nsection; k++)
		if (l->base[k] != UINT64_MAX)
			memcpy(l->out->bytes + l->base[k], l->in + l->section[k].sh_offset, l->section[k].sh_size);
	return true;
}

static bool find_functions(Link *l)
{
	l->out->symbol = arena_array(l->arena, LinkSymbol, l->nsymbol + 1);
	for (size_t k = 0; k < l->nsymbol; k++) {
		const Elf64_Sym *s = &l->symbol[k];
		if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_shndx >= l->nsection || l->base[s->st_shndx] == UINT64_MAX)
			continue;
		const Elf64_Shdr *in = &l->section[s->st_shndx];
		if (s->st_value > in->sh_size || s->st_size > in->sh_size - s->st_value)
			return bug(l, "function %s lies outside its section", text_at(l, s->st_name));
		l->out->symbol[l->out->nsymbol++] = (LinkSymbol){ arena_printf(l->arena, "%s", text_at(l, s->st_name)),
			l->base[s->st_shndx] + s->st_value, s->st_size };
	}
	return true;
}

static void store32(unsigned char *p, uint32_t v)
{
	memcpy(p, &v, 4);
}

/* S + A - P fits 32 signed bits, or the image would be larger than 2 GiB. */
static bool relocate_x86(Link *l, unsigned type, unsigned char *p, int64_t value, int64_t place, const char *name)
{
	int64_t d = value - place;
	switch (type) {
	case R_X86_64_PC32:
	case R_X86_64_PLT32:
		if (d < INT32_MIN || d > INT32_MAX)
			break;
		store32(p, (uint32_t)(int32_t)d);
		return true;
	default: break;
	}
	return bug(l, "an image cannot have a relocation of type %u, which %s needs", type, name);
}

static bool relocate_aarch64(Link *l, unsigned type, unsigned char *p, int64_t value, int64_t place, const char *name)
{
	uint32_t op, low = (uint32_t)value & 4095, scale = 0;
	int64_t d = value - place, pages = (value >> 12) - (place >> 12);
	memcpy(&op, p, sizeof op);
	switch (type) {
	case R_AARCH64_ADR_PREL_PG_HI21:
		if (pages < -(1 << 20) || pages >= 1 << 20)
			break;
		store32(p, (op & 0x9f00001f) | ((uint32_t)pages & 3) << 29 | ((uint32_t)(pages >> 2) & 0x7ffff) << 5);
		return true;
	case R_AARCH64_LDST128_ABS_LO12_NC: scale++; /* fall through */
	case R_AARCH64_LDST64_ABS_LO12_NC: scale++;  /* fall through */
	case R_AARCH64_LDST32_ABS_LO12_NC: scale++;  /* fall through */
	case R_AARCH64_LDST16_ABS_LO12_NC: scale++;  /* fall through */
	case R_AARCH64_LDST8_ABS_LO12_NC:
	case R_AARCH64_ADD_ABS_LO12_NC:
		if ((low & ((1u << scale) - 1)) != 0)
			break;
		store32(p, (op & 0xffc003ff) | (low >> scale) << 10);
		return true;
	case R_AARCH64_CALL26:
	case R_AARCH64_JUMP26:
		if (d % 4 != 0 || d < -(1 << 27) || d >= 1 << 27)
			break;
		store32(p, (op & 0xfc000000) | ((uint32_t)(d >> 2) & 0x3ffffff));
		return true;
	case R_AARCH64_PREL32:
		if (d < INT32_MIN || d > INT32_MAX)
			break;
		store32(p, (uint32_t)(int32_t)d);
		return true;
	default: break;
	}
	return bug(l, "an image cannot have a relocation of type %u, which %s needs", type, name);
}

static bool relocate(Link *l, Arch arch, size_t section, const Elf64_Rela *r)
{
	size_t s = ELF64_R_SYM(r->r_info);
	unsigned type = ELF64_R_TYPE(r->r_info);
	if (s >= l->nsymbol || r->r_offset > l->section[section].sh_size || l->section[section].sh_size - r->r_offset < 4)
		return bug(l, "a relocation of type %u lies outside its section", type);
	const Elf64_Sym *sym = &l->symbol[s];
	const char *name = text_at(l, sym->st_name);
	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= l->nsection || l->base[sym->st_shndx] == UINT64_MAX)
		return bug(l, "the code uses %s, which is not in the image", name);
	int64_t value = (int64_t)(l->base[sym->st_shndx] + sym->st_value) + r->r_addend;
	int64_t place = (int64_t)(l->base[section] + r->r_offset);
	unsigned char *p = l->out->bytes + place;
	if (value < -4096 || value > (int64_t)l->out->size + 4096)
		return bug(l, "a relocation to %s leads out of the image", name);
	return arch == ARCH_AARCH64 ? relocate_aarch64(l, type, p, value, place, name)
	                            : relocate_x86(l, type, p, value, place, name);
}

bool link_object(Arena *a, Arch arch, const void *object, size_t n, Linked *out, Err *err)
{
	Link l = { .arena = a, .in = object, .n = n, .out = out, .err = err };
	memset(out, 0, sizeof *out);
	if (!read_tables(&l) || !lay_out(&l) || !find_functions(&l))
		return false;
	for (size_t k = 0; k < l.nsection; k++) {
		const Elf64_Shdr *s = &l.section[k];
		if (s->sh_type != SHT_RELA || s->sh_info >= l.nsection || l.base[s->sh_info] == UINT64_MAX)
			continue;
		const Elf64_Rela *r = (const Elf64_Rela *)(l.in + s->sh_offset);
		for (size_t j = 0; j < s->sh_size / sizeof *r; j++)
			if (!relocate(&l, arch, s->sh_info, &r[j]))
				return false;
	}
	return true;
}
