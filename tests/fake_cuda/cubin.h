/*
 * Machine code of the fake assembler (jit/nvjitlink.c): an ELF file as CUDA's cubins are, whose one section is the PTX
 * that it was made of. The fake driver (module.c) runs that text. What real assemblers make has no such section.
 */
#ifndef TESTS_FAKE_CUDA_CUBIN_H
#define TESTS_FAKE_CUDA_CUBIN_H

#include <elf.h>

enum { CUBIN_MACHINE = 190, CUBIN_ABI = 8 };
#define CUBIN_SECTION ".fake.ptx"

/* The architecture of e_flags: files of CUDA 13 (ABI 8) have it in other bits than older ones. */
static inline int cubin_sm(const Elf64_Ehdr *h)
{
	return (int)(h->e_ident[EI_ABIVERSION] >= CUBIN_ABI ? h->e_flags >> 8 & 0xff : h->e_flags & 0xff);
}

#endif
