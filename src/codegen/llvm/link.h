/*
 * Inside of the room: an ELF object file to an image (runtime/kernel.h). Code first, then the
 * constants it reads; every relocation is resolved, any other symbol or relocation is our bug.
 */
#ifndef CODEGEN_LLVM_LINK_H
#define CODEGEN_LLVM_LINK_H

#include "base/arena.h"
#include "base/err.h"
#include "target/target.h"

#include <stdint.h>

typedef struct LinkSymbol {
	const char *name;
	uint64_t offset, size; /* in the image */
} LinkSymbol;

typedef struct Linked {
	unsigned char *bytes;
	uint64_t size;
	LinkSymbol *symbol; /* functions, local ones too */
	size_t nsymbol;
} Linked;

/* Both in the arena; the object is only read. ERR_BUG names what does not fit. */
bool link_object(Arena *a, Arch arch, const void *object, size_t n, Linked *out, Err *err);

#endif
