/*
 * The table of intrinsics. A meaning is parsed when it is first asked for, into a kernel set that
 * the Ir keeps.
 */
#include "ir/text/intrin.h"
#include "ir/text/ir_text.h"

#include <assert.h>
#include <string.h>

static const IrIntrin rows[] = {
#define INTRIN(name, feature, where, text) { #name, feature, where, text },
#include "ir/text/intrin.def"
#undef INTRIN
	{ NULL, NULL, NULL, NULL },
};

const IrIntrin *ir_intrins(void)
{
	return rows;
}

const IrIntrin *ir_find_intrin(const char *name)
{
	for (const IrIntrin *row = rows; row->name != NULL; row++)
		if (strcmp(row->name, name) == 0)
			return row;
	return NULL;
}

const Fn *ir_intrin(Ir *ir, const char *name)
{
	KernelSet **known = ir_intrin_set(ir);
	if (*known == NULL)
		*known = ir_set_new(ir);
	Fn *fn = ir_find_fn(*known, name);
	const IrIntrin *row = ir_find_intrin(name);
	if (fn == NULL && row != NULL) {
		KernelSet *ks = ir_parse_set(ir, row->name, row->text, strlen(row->text), NULL);
		assert(ks != NULL && ks->n == 1 && strcmp(ks->fn[0]->name, name) == 0);
		fn = ks->fn[0];
		ir_set_add(*known, fn);
	}
	return fn;
}
