/*
 * Constant folding. Reshapes cost nothing, and transposes are computed here. All other calls are evaluated
 * through an EvalFn, small ones always by the interpreter, since making machine code takes longer. Work and
 * size are bounded: a constant stays a call if it is far larger than what it is computed from.
 */
#include "base/map.h"
#include "graph/edit.h"
#include "interp/interp.h"

#include <assert.h>
#include <string.h>

static bool run_interp(const Dag *d, const void *const *in, void *const *out, void *arg, Err *err)
{
	(void)arg;
	Arena *a = arena_new();
	KernelSet *ks = op_naive(ir_new(a), d, "fold", NAIVE_AS_TYPED, err);
	bool ok = false;
	if (ks != NULL) {
		size_t n = d->input.n + d->output.n;
		IrArg *args = arena_array(a, IrArg, n + 1);
		for (size_t i = 0; i < n; i++) { /* parameters come in this order */
			args[i].name = ks->fn[0]->param[i].name;
			args[i].data = i < d->input.n ? (void *)(uintptr_t)in[i] : out[i - d->input.n];
		}
		InterpRun how = { .seed = 1, .skip_races = true };
		ok = interp_run_set(ks, args, (int)n, &how, err);
	}
	arena_free(a);
	return ok;
}

const EvalFn graph_eval_interp = { run_interp, NULL };

void *fold_transpose(Arena *a, const Value *x, const int64_t *perm)
{
	int rank = x->shape.rank;
	int64_t size = x->type.bits / 8, n = shape_elements(x->shape), stride[DAG_MAX_RANK], step = size;
	if (size == 0 || n < 0)
		return NULL;
	for (int k = rank - 1; k >= 0; k--) {
		stride[k] = step;
		step *= x->shape.dim[k];
	}
	char *out = arena_alloc_aligned(a, (size_t)(n * size) + 1, 64), *to = out;
	int64_t idx[DAG_MAX_RANK] = { 0 };
	const char *from = x->data;
	for (int64_t i = 0; i < n; i++, to += size) {
		memcpy(to, from, (size_t)size);
		for (int k = rank - 1; k >= 0; k--) { /* counts through the indices of the result */
			from += stride[perm[k]];
			if (++idx[k] < x->shape.dim[perm[k]])
				break;
			from -= stride[perm[k]] * idx[k];
			idx[k] = 0;
		}
	}
	return out;
}

/* True if every input has data: it is a constant, or a result that has been computed. */
static bool all_known(const Dag *d, const OpCall *c)
{
	for (int k = 0; k < c->nin; k++)
		if (c->in[k] != DAG_NONE && d->value.at[c->in[k]].data == NULL)
			return false;
	return true;
}

/* True if the call may be evaluated at compile time. Its work is the larger of its operations and elements. */
static bool is_cheap(const Dag *d, const OpCall *c, EvalFn eval, bool *small)
{
	double in = 0, out = 0, elements = 0, work = op_flops(d, c);
	for (int k = 0; k < c->nin; k++)
		if (c->in[k] != DAG_NONE)
			in += (double)value_bytes(&d->value.at[c->in[k]]);
	for (int r = 0; r < c->nout; r++) {
		out += (double)value_bytes(&d->value.at[c->out[r]]);
		elements += (double)shape_elements(d->value.at[c->out[r]].shape);
	}
	work = work > elements ? work : elements;
	*small = work <= GRAPH_SMALL_WORK || eval.run == NULL;
	if (out > (double)GRAPH_LARGEST_BYTES || (out > GRAPH_SMALL_BYTES && out > 2 * in))
		return false;
	return work <= (eval.run == NULL || eval.run == run_interp ? GRAPH_INTERP_WORK : GRAPH_EVAL_WORK);
}

/* A Dag of one call whose inputs are all given. */
static Dag *single_call(Arena *a, const Dag *d, const OpCall *c, Err *err)
{
	Dag *one = dag_new(a, c->name);
	int *in = arena_array(a, int, c->nin + 1);
	for (int k = 0; k < c->nin; k++) {
		in[k] = DAG_NONE;
		if (c->in[k] == DAG_NONE)
			continue;
		const Value *v = &d->value.at[c->in[k]];
		in[k] = dag_add_input(one, arena_printf(a, "x%d", k), v->type, v->shape);
	}
	const char **name = arena_array(a, const char *, c->nout + 1);
	for (int r = 0; r < c->nout; r++)
		name[r] = arena_printf(a, "y%d", r);
	int call = dag_add_call_as(one, c->op, c->name, name, c->nout, in, c->nin, c->attr, c->nattr, err);
	if (call < 0)
		return NULL;
	for (int r = 0; r < c->nout; r++)
		dag_add_output(one, one->call.at[call].out[r]);
	return one;
}

/*
 * Evaluates a call whose inputs are all known; the results live in `keep`. to[0] stays NULL if it is too much
 * work. False: the evaluation failed.
 */
static bool fold_call(Arena *keep, const Dag *d, const OpCall *c, EvalFn eval, void **to, Err *err)
{
	const Value *x = &d->value.at[c->in[0]]; /* no operator's first input is optional */
	int n;
	bool small;
	for (int r = 0; r < c->nout; r++)
		if (value_bytes(&d->value.at[c->out[r]]) > GRAPH_LARGEST_BYTES)
			return true;
	if (c->op == OP_reshape || c->op == OP_identity) {
		to[0] = (void *)(uintptr_t)x->data;
		return true;
	}
	if (c->op == OP_transpose && x->type.bits >= 8) {
		to[0] = fold_transpose(keep, x, op_ints(c, "perm", &n));
		return true;
	}
	if (!is_cheap(d, c, eval, &small))
		return true;
	Arena *a = arena_new();
	Dag *one = single_call(a, d, c, err);
	const void **in = arena_array(a, const void *, c->nin + 1);
	n = 0;
	for (int k = 0; k < c->nin; k++)
		if (c->in[k] != DAG_NONE)
			in[n++] = d->value.at[c->in[k]].data;
	for (int r = 0; r < c->nout; r++)
		to[r] = arena_alloc_aligned(keep, (size_t)value_bytes(&d->value.at[c->out[r]]) + 1, 64);
	EvalFn run = small ? graph_eval_interp : eval;
	bool ok = one != NULL && run.run(one, in, to, run.arg, err);
	arena_free(a);
	return ok;
}

/* The one number that all elements are; NULL: they are not known to be. */
static const void *only_number(const Dag *d, const Value *x)
{
	int64_t n = shape_elements(x->shape), size = x->type.bits / 8;
	if (x->data == NULL && x->kind == VALUE_CALL && d->call.at[x->call].op == OP_expand) {
		x = &d->value.at[d->call.at[x->call].in[0]];
		return x->data != NULL && shape_elements(x->shape) == 1 ? x->data : NULL;
	}
	bool equal = x->data != NULL && size > 0 && n > 1;
	return equal && memcmp(x->data, (const char *)x->data + size, (size_t)((n - 1) * size)) == 0 ? x->data : NULL;
}

/* Updates of zeros, or of another number everywhere: one number is read in place of a tensor. */
static bool scatter_into_number(Edit *e, const OpCall *c)
{
	const Value *x = &e->from->value.at[c->in[0]];
	const void *number = op_ints(c, "shape", &(int){ 0 }) == NULL ? only_number(e->from, x) : NULL;
	if (number == NULL)
		return false;
	Shape one = { .rank = x->shape.rank };
	for (int k = 0; k < one.rank; k++)
		one.dim[k] = 1;
	Attr *attr = arena_array(e->to->arena, Attr, c->nattr + 1);
	memcpy(attr, c->attr, sizeof *attr * (size_t)c->nattr);
	attr[c->nattr] = attr_ints("shape", x->shape.dim, one.rank);
	int in[] = { edit_const(e, x->name, x->type, one, number), edit_value(e, c->in[1]), edit_value(e, c->in[2]) };
	return edit_call_as(e, c, c->op, in, 3, attr, c->nattr + 1);
}

/*
 * The first call that computes the same from the same bytes, c itself if there was none. A network that is written out
 * over its steps cuts and turns one weight hundreds of times.
 */
static const OpCall *first_equal(const Dag *d, const OpCall *c, Map *seen)
{
	Arena *a = seen->index.arena;
	Text t = { .arena = a };
	char type[DTYPE_TEXT], shape[160];
	for (int k = 0; k < c->nin; k++) {
		const Value *x = c->in[k] != DAG_NONE ? &d->value.at[c->in[k]] : NULL;
		if (x == NULL)
			text_add(&t, "none ");
		else
			text_add(&t, "%p %s %s ", x->data, dtype_print(x->type, type), shape_str(x->shape, shape));
	}
	edit_signature(&t, c);
	MapEntry *e = map_add_text(seen, text_str(&t));
	if (e->read == NULL)
		e->read = c;
	return e->read;
}

static bool fold(Edit *e, const OpCall *c, void *arg)
{
	const Dag *d = e->from;
	if (!all_known(d, c))
		return (c->op == OP_scatter_nd || c->op == OP_scatter_elements) && scatter_into_number(e, c);
	const OpCall *first = first_equal(d, c, arg);
	if (first != c && d->value.at[first->out[0]].data != NULL) {
		for (int r = 0; r < c->nout; r++) {
			d->value.at[c->out[r]].data = d->value.at[first->out[r]].data;
			edit_replace(e, c->out[r], e->map[first->out[r]]);
		}
		return true;
	}
	void **to = arena_array(d->arena, void *, c->nout + 1);
	if (d->value.at[c->out[0]].data == NULL && !fold_call(d->arena, d, c, e->eval, to, e->err))
		return false;
	for (int r = 0; r < c->nout; r++) {
		Value *v = &d->value.at[c->out[r]]; /* later calls find it known */
		if (v->data == NULL)
			v->data = to[r];
		if (v->data == NULL)
			return false;
	}
	for (int r = 0; r < c->nout; r++) {
		const Value *v = &d->value.at[c->out[r]];
		edit_replace(e, c->out[r], edit_const(e, v->name, v->type, v->shape, v->data));
	}
	return true;
}

bool pass_fold(Dag *d, EvalFn eval, Err *err)
{
	Map seen = MAP_OF(arena_new());
	bool ok = edit_dag(d, eval, fold, &seen, err);
	arena_free(seen.index.arena);
	return ok;
}

/*
 * Marks the calls that `value` is computed from; false if one depends on something unknown. The stack is
 * explicit, since models may be deep. The walk stops at known values.
 */
static bool mark_behind(const Dag *d, int value, bool *needed, Arena *tmp)
{
	VEC(int) stack = { 0 };
	vec_push(tmp, &stack, value);
	while (stack.n > 0) {
		const Value *v = &d->value.at[stack.at[--stack.n]];
		if (v->data != NULL)
			continue;
		if (v->kind != VALUE_CALL)
			return false;
		if (needed[v->call])
			continue;
		needed[v->call] = true;
		const OpCall *c = &d->call.at[v->call];
		for (int k = 0; k < c->nin; k++)
			if (c->in[k] != DAG_NONE)
				vec_push(tmp, &stack, c->in[k]);
	}
	return true;
}

const void *graph_const_value(Dag *d, int value, EvalFn eval, Err *err)
{
	assert(value >= 0 && (size_t)value < d->value.n);
	if (d->value.at[value].data != NULL)
		return d->value.at[value].data;
	Arena *tmp = arena_new();
	bool *needed = arena_array(tmp, bool, d->call.n + 1), ok = mark_behind(d, value, needed, tmp);
	for (size_t i = 0; ok && i < d->call.n; i++) {
		const OpCall *c = &d->call.at[i];
		if (!needed[i] || d->value.at[c->out[0]].data != NULL)
			continue;
		void **to = arena_array(tmp, void *, c->nout + 1);
		ok = all_known(d, c) && fold_call(d->arena, d, c, eval, to, err);
		for (int r = 0; ok && r < c->nout; r++)
			d->value.at[c->out[r]].data = to[r];
	}
	arena_free(tmp);
	return ok ? d->value.at[value].data : NULL;
}
