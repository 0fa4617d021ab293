/* The rows of pass.def, and the pass that is one call. */
#include "codegen/lower/pass.h"

bool pass_simplify(Lower *l)
{
	ir_simplify_fn(l->ks, l->fn);
	return true;
}

#define PASS(name, scope, needs, breaks) const Pass row_##name = { #name, needs, breaks, pass_##name, PASS_##scope };
#include "codegen/lower/pass.def"
