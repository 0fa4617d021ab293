/*
 * Cubins that the row of CUDA must refuse before the driver (tests/fake_cuda) sees them. A driver gets no size: it
 * would follow a table that lies outside.
 */
#include <string.h>

#include "fake_cuda/cubin.h"
#include "runtime/device.h"
#include "suite.h"

/* Tables and sections of machine code that lie outside of it, which a driver would follow. */
typedef struct Elf {
	Elf64_Ehdr h;
	Elf64_Shdr s[2];
	Elf64_Phdr p[2];
	char end;
} Elf;

static void whole(Elf *e)
{
	e->h.e_flags = 80 << 8; /* of another architecture */
}
static void of_32_bits(Elf *e)
{
	e->h.e_ident[EI_CLASS] = ELFCLASS32;
}
static void of_x86(Elf *e)
{
	e->h.e_machine = EM_X86_64;
}
static void far_sections(Elf *e)
{
	e->h.e_shoff = sizeof *e + 1;
}
static void near_the_end(Elf *e)
{
	e->h.e_shoff = sizeof *e - sizeof e->s[0];
}
static void wrapped(Elf *e)
{
	e->h.e_shoff = UINT64_MAX - 63;
}
static void many_sections(Elf *e)
{
	e->h.e_shnum = 60000;
}
static void small_rows(Elf *e)
{
	e->h.e_shentsize = 8;
}
static void no_sections(Elf *e)
{
	e->h.e_shnum = 0;
}
static void far_program(Elf *e)
{
	e->p[1].p_offset = sizeof *e;
}
static void long_program(Elf *e)
{
	e->p[1].p_filesz = UINT64_MAX;
}
static void small_programs(Elf *e)
{
	e->h.e_phentsize = 8;
}
static void far_programs(Elf *e)
{
	e->h.e_phoff = sizeof *e;
	e->h.e_phnum = 1;
	e->h.e_phentsize = sizeof(Elf64_Phdr);
}
static void long_section(Elf *e)
{
	e->s[1].sh_size = sizeof *e;
}
static void far_section(Elf *e)
{
	e->s[1].sh_offset = UINT64_MAX;
}

static const struct {
	void (*change)(Elf *e);
	size_t bytes;
	const char *says;
} bad_elf[] = {
	{ whole, sizeof(Elf), "it is for another GPU than Fake GPU (sm_90)" },
	{ whole, sizeof(Elf64_Ehdr) - 1, "damaged" },
	{ whole, sizeof(Elf64_Ehdr) + 1, "damaged" },
	{ of_32_bits, sizeof(Elf), "damaged" },
	{ of_x86, sizeof(Elf), "damaged" },
	{ far_sections, sizeof(Elf), "damaged" },
	{ near_the_end, sizeof(Elf), "damaged" },
	{ wrapped, sizeof(Elf), "damaged" },
	{ many_sections, sizeof(Elf), "damaged" },
	{ small_rows, sizeof(Elf), "damaged" },
	{ far_programs, sizeof(Elf), "damaged" },
	{ no_sections, sizeof(Elf), "damaged" },
	{ far_program, sizeof(Elf), "damaged" },
	{ long_program, sizeof(Elf), "damaged" },
	{ small_programs, sizeof(Elf), "damaged" },
	{ long_section, sizeof(Elf), "damaged" },
	{ far_section, sizeof(Elf), "damaged" },
};

START_TEST(bad_cubins)
{
	Elf e = { .h = { .e_machine = CUBIN_MACHINE,
		.e_shoff = offsetof(Elf, s),
		.e_shentsize = sizeof e.s[0],
		.e_shnum = 2,
		.e_phoff = offsetof(Elf, p),
		.e_phentsize = sizeof e.p[0],
		.e_phnum = 2 } };
	DeviceContext *c;
	DlcError err = { 0 };
	memcpy(e.h.e_ident, ELFMAG, SELFMAG);
	e.h.e_ident[EI_CLASS] = ELFCLASS64;
	e.h.e_ident[EI_DATA] = ELFDATA2LSB;
	e.h.e_ident[EI_ABIVERSION] = CUBIN_ABI;
	e.s[1] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_offset = offsetof(Elf, end), .sh_size = 1 };
	e.p[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_offset = UINT64_MAX, .p_memsz = 8 }; /* of shared memory: no bytes */
	e.p[1] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_offset = offsetof(Elf, end), .p_filesz = 1 };
	bad_elf[_i].change(&e);
	ck_assert(device_cuda.open(0, &c, NULL) == DLC_OK);
	ck_assert_ptr_null(device_cuda.code_load(c, &e, bad_elf[_i].bytes, false, &err));
	ck_assert_msg(strstr(err.text, bad_elf[_i].says) != NULL, "%s", err.text);
	device_cuda.close(c);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("cubin");
	tcase_add_loop_test(tc, bad_cubins, 0, LEN(bad_elf));
	return run_suite("runtime cubin", tc);
}
