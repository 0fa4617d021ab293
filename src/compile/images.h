/*
 * Inside the room: the images of a bundle's code. Code of a CPU is joined as bytes. A device's code is joined by its
 * back end, since a driver builds one program sooner than many. Then Fns of two Tasks need two names.
 */
#ifndef COMPILE_IMAGES_H
#define COMPILE_IMAGES_H

#include "codegen/codegen.h"
#include "compile/bundle_write.h"

/* Adds the images of n Modules for t; first[k]: the entry that the first one of module k becomes. */
void images_put(BundleOut *out, const Module *m, int n, const Target *t, uint32_t *first);

/* The entry of an image that run Fn `fn` of the set begins with. */
uint32_t images_entry(const DlcImage *image, const KernelSet *ks, const char *fn);

#endif
