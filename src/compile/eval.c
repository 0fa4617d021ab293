/* Runs the calls of a small Dag as machine code of this machine: constant folding at full size. */
#include "compile/compile.h"
#include "ir/verify/verify.h"

static bool eval_run(const Dag *d, const void *const *in, void *const *out, void *arg, Err *err)
{
	(void)arg;
	Arena *a = arena_new();
	Target host;
	Module m;
	Mapped *mapped = NULL;
	KernelSet *ks = op_naive(ir_new(a), d, "k", NAIVE_AS_TYPED, err);
	size_t n = d->input.n + d->output.n;
	IrArg *args = arena_array(a, IrArg, n + 1);
	for (size_t k = 0; ks != NULL && k < n; k++) /* parameters come in this order; their names may be rewritten */
		args[k] = (IrArg){ .name = ks->fn[0]->param[k].name,
			.data = k < d->input.n ? (void *)(uintptr_t)in[k] : out[k - d->input.n] };
	target_host(&host, 1);
	bool ok = ks != NULL && ir_verify_accesses(ks, err) && codegen_compile_cached(NULL, a, ks, &host, &m, err) &&
	          codegen_map(&m, &mapped, err) && codegen_call(ks, &m, mapped, args, (int)n, err);
	codegen_unmap(mapped);
	arena_free(a);
	return ok;
}

const EvalFn compile_eval = { eval_run, NULL };
