/* See kept_modules.h. */
#include "measure/kept_modules.h"

#include "ir/text/ir_text.h"

#include <string.h>

const Module *kept_module(KeptModules *k, const KernelSet *ks, Err *err)
{
	Arena *own = arena_new();
	Text printed = { .arena = own };
	ir_print_set(&printed, ks);
	Hash text = hash_of("dlc/module/v1", text_str(&printed), printed.n);
	KeptModule *found = NULL, *oldest = &k->at[0]; /* free places are the oldest */
	for (KeptModule *at = k->at; at < k->at + k->n && found == NULL; at++) {
		if (at->arena != NULL && memcmp(&at->text, &text, sizeof text) == 0)
			found = at;
		else if (at->used < oldest->used)
			oldest = at;
	}
	arena_free(own);
	if (found == NULL) {
		Arena *keep = arena_new();
		found = oldest;
		arena_free(found->arena);
		*found = (KeptModule){ .text = text };
		if (!codegen_compile(keep, ks, k->target, k->options, &found->module, err)) {
			arena_free(keep);
			return NULL;
		}
		found->arena = keep;
		k->compiled++;
	}
	found->used = ++k->asked;
	return &found->module;
}

void kept_modules_free(KeptModules *k)
{
	for (size_t i = 0; i < k->n; i++)
		arena_free(k->at[i].arena);
}
