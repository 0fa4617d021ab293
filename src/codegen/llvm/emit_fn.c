/*
 * A lowered Fn's statements. Allocs that are only stored as a whole, and read at constant places, become values
 * (allocas that mem2reg removes).
 * The others lie in the thread's workspace, where allocs of disjoint scopes share a place.
 */
#include "codegen/llvm/emit_device.h"
#include "codegen/llvm/emit_num.h"
#include "ir/build.h"
#include "ir/query.h"

#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define WORK_MAX ((int64_t)1 << 36)

bool emit_refuse(Emit *e, const Stmt *s, ErrCode code, const char *fmt, ...)
{
	char text[400];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	const char *line = s->line > 0 ? arena_printf(e->arena, ":%d", s->line) : "";
	return fail(e->err, code, arena_printf(e->arena, "%s%s", e->fn->name, line), "%s", text);
}

static bool list(Emit *e, const Stmt *s);

/* A whole alloc or, to be read on a CPU, neighbours in it: the rest of a register is a shuffle there. */
static void check_access(Emit *e, const char *buf, const Expr *idx, bool store)
{
	Place *p = emit_place(e, buf);
	int64_t n, first = 0, stride = 1, lanes = idx->type.lanes;
	if (!p->reg)
		return;
	bool known = ir_is_int(p->buf->shape[0], &n);
	if (idx->op == IR_RAMP)
		known = known && ir_is_int(idx->arg[0], &first) && ir_is_int(idx->arg[1], &stride) && stride == 1;
	else
		known = known && lanes == 1 && ir_is_int(idx, &first);
	bool whole = known && first == 0 && lanes == n;
	p->reg = whole || (known && !store && !e->device && first >= 0 && first + lanes <= n && n <= EMIT_PART_LANES);
}

static void check_load(const Expr *x, void *arg)
{
	if (x->op == IR_LOAD)
		check_access(arg, x->name, x->arg[0], false);
}

static bool check_stmt(Stmt *s, void *arg)
{
	Emit *e = arg;
	ir_each_node_of(s, check_load, e);
	if (s->kind == ST_STORE)
		check_access(e, s->store.dst.buf, s->store.dst.idx[0], true);
	for (int k = 0; s->kind == ST_REDUCE && k < s->reduce.n; k++)
		emit_place(e, s->reduce.dst[k].buf)->reg = false;
	return true;
}

static void add_place(Emit *e, const Buf *buf, bool reg)
{
	Place *p = arena_new_of(e->arena, Place);
	*p = (Place){ .buf = buf, .reg = reg };
	map_add_ptr(&e->place, buf->name)->ptr = p;
}

static void see_load(const IrUse *use, void *arg)
{
	*(bool *)arg |= use->kind != USE_STORE && use->kind != USE_PREFETCH;
}

static void add_parameter(Emit *e, const Fn *fn, const Buf *buf)
{
	bool loads = false;
	add_place(e, buf, false);
	if (!buf->streamed || e->device)
		return;
	ir_each_use_of(fn->body, buf->name, see_load, &loads);
	emit_place(e, buf->name)->streamed = !loads;
	e->streams |= !loads;
}

static bool add_alloc(Stmt *s, void *arg)
{
	const Emit *e = arg;
	if (s->kind == ST_ALLOC)
		add_place(arg, s->alloc, !e->device || strcmp(s->alloc->scope, "shared") != 0);
	return true;
}

static LLVMValueRef field(Emit *e, LLVMTypeRef t, size_t offset)
{
	LLVMValueRef at = emit_int(e->i64, (int64_t)offset);
	return LLVMBuildLoad2(e->b, t, LLVMBuildGEP2(e->b, e->i8, e->call, &at, 1, ""), "");
}

static LLVMValueRef element(Emit *e, LLVMTypeRef t, LLVMValueRef base, int k)
{
	LLVMValueRef at = emit_int(e->i64, k);
	return LLVMBuildLoad2(e->b, t, LLVMBuildGEP2(e->b, t, base, &at, 1, ""), "");
}

/*
 * What the call structure says: buffers, symbols, scalar parameters (a float as a double's bits).
 */
static void parameters(Emit *e)
{
	e->call = LLVMGetParam(e->func, 0);
	LLVMValueRef bufs = field(e, e->ptr, offsetof(DlcCall, buf));
	LLVMValueRef syms = field(e, e->ptr, offsetof(DlcCall, sym)), v;
	LLVMValueRef thread = field(e, e->i32, offsetof(DlcCall, thread));
	LLVMValueRef threads = field(e, e->i32, offsetof(DlcCall, threads));
	int nbuf = 0, nsym = 0;
	LLVMValueRef *value = arena_array(e->arena, LLVMValueRef, e->fn->nsym + e->fn->nparam + 1);
	for (int k = 0; k < e->fn->nparam; k++)
		if (e->fn->param[k].buf != NULL)
			emit_place(e, e->fn->param[k].name)->ptr = element(e, e->ptr, bufs, nbuf++);
	for (int k = 0; k < e->fn->nsym; k++)
		if (strcmp(e->fn->sym[k].name, LOWER_THREADS) != 0)
			value[k] = element(e, e->i64, syms, nsym++);
	for (int k = 0; k < e->fn->nparam; k++) {
		DType t = e->fn->param[k].type;
		if (e->fn->param[k].buf != NULL)
			continue;
		v = element(e, e->i64, syms, nsym++);
		if (dtype_is_float(t))
			v = emit_cast(e, t, F64, LLVMBuildBitCast(e->b, v, e->f64, ""));
		else
			v = emit_cast(e, t, I64, v);
		value[e->fn->nsym + k] = v;
	}
	e->work = field(e, e->ptr, offsetof(DlcCall, work));
	e->threads = LLVMBuildZExt(e->b, threads, e->i64, "threads");
	thread = LLVMBuildZExt(e->b, thread, e->i64, "thread");
	emit_level_push(e);
	for (int k = 0; k < e->fn->nsym; k++)
		emit_bind(e, e->fn->sym[k].name, I64, value[k] != NULL ? value[k] : e->threads);
	for (int k = 0; k < e->fn->nparam; k++)
		if (e->fn->param[k].buf == NULL)
			emit_bind(e, e->fn->param[k].name, e->fn->param[k].type, value[e->fn->nsym + k]);
	emit_bind(e, ir_name(e->ir, LOWER_THREAD), I64, thread);
}

/* A list under the facts `env`. It knows what is loaded, unless the caller has forgotten it: a branch's arms do. */
static bool list_under(Emit *e, const Range *env, const Stmt *s)
{
	const Range *outer = e->env;
	e->env = env;
	bool ok = list(e, s);
	e->env = outer;
	return ok;
}

static bool bound_loop(Emit *e, const Stmt *s, const Range *inside)
{
	if (!e->device)
		return list_under(e, inside, s->loop.body);
	const Range *outer = e->bound;
	LLVMValueRef v = emit_axis(e, s);
	emit_level_push(e);
	e->bound = ir_range_for(e->ir, s->loop.var, s->loop.lo, s->loop.hi, outer);
	emit_bind(e, s->loop.var, I64, v);
	emit_forget_loads(e);
	bool ok = list_under(e, inside, s->loop.body);
	e->bound = outer;
	emit_level_pop(e);
	return ok;
}

static bool is_mma(const Expr *e, void *arg)
{
	(void)arg;
	return e->op == IR_MMA;
}

static bool loop(Emit *e, const Stmt *s)
{
	const Range *inside = ir_range_for(e->ir, s->loop.var, s->loop.lo, s->loop.hi, e->env), *bound = e->bound;
	if (s->loop.kind == LOOP_BOUND) /* over blocks or threads: this is one of them */
		return bound_loop(e, s, inside);
	bool less = emit_is_short(e, s->loop.lo, s->loop.hi);
	LLVMValueRef from = emit_expr(e, s->loop.lo), to = emit_expr(e, s->loop.hi);
	if (less) {
		from = emit_short(e, from);
		to = emit_short(e, to);
	}
	LLVMBasicBlockRef before = e->at, body = emit_block(e, s->loop.var), done = emit_block(e, "done");
	if (ir_always(ir_lt(e->ir, s->loop.lo, s->loop.hi), e->env))
		LLVMBuildBr(e->b, body);
	else
		LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, from, to, ""), body, done);
	emit_move(e, body);
	LLVMValueRef i = LLVMBuildPhi(e->b, LLVMTypeOf(from), "");
	LLVMValueRef index = less ? LLVMBuildSExt(e->b, i, e->i64, "") : i;
	emit_level_push(e);
	if (e->device)
		e->bound = ir_range_for(e->ir, s->loop.var, s->loop.lo, s->loop.hi, bound);
	emit_bind(e, s->loop.var, I64, index);
	if (++e->depth > e->deepest)
		e->deepest = e->depth;
	emit_forget_loads(e); /* the body may have stored to it */
	if (!list_under(e, inside, s->loop.body))
		return false;
	e->depth--;
	emit_level_pop(e);
	e->bound = bound;
	LLVMValueRef next = LLVMBuildNSWAdd(e->b, i, emit_int(LLVMTypeOf(from), 1), "");
	LLVMValueRef again = LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, next, to, ""), body, done);
	if (e->device && ir_find_node_in(s->loop.body, is_mma, NULL) != NULL)
		emit_keep_loop(e, again);
	LLVMAddIncoming(i, &from, &before, 1);
	LLVMAddIncoming(i, &next, &e->at, 1);
	emit_move(e, done);
	return true;
}

static bool branch(Emit *e, const Stmt *s)
{
	if (e->device) {
		emit_pin(e, s->branch.then);
		emit_pin(e, s->branch.other);
	}
	LLVMValueRef c = emit_expr(e, s->branch.cond);
	LLVMBasicBlockRef then = emit_block(e, "then"), done = emit_block(e, "end"), other = done;
	if (s->branch.other != NULL)
		other = emit_block(e, "else");
	LLVMBuildCondBr(e->b, c, then, other);
	emit_move(e, then);
	if (e->device)
		emit_forget_loads(e);
	if (!list_under(e, ir_range_if(e->ir, s->branch.cond, true, e->env), s->branch.then))
		return false;
	LLVMBuildBr(e->b, done);
	if (s->branch.other != NULL) {
		emit_move(e, other);
		if (!list_under(e, ir_range_if(e->ir, s->branch.cond, false, e->env), s->branch.other))
			return false;
		LLVMBuildBr(e->b, done);
	}
	emit_move(e, done);
	return true;
}

LLVMBasicBlockRef emit_mask_begin(Emit *e, const Expr *mask)
{
	if (mask == NULL)
		return NULL;
	LLVMValueRef c = emit_expr(e, mask);
	LLVMBasicBlockRef on = emit_block(e, "on"), done = emit_block(e, "off");
	LLVMBuildCondBr(e->b, c, on, done);
	emit_move(e, on);
	return done;
}

void emit_mask_end(Emit *e, LLVMBasicBlockRef done)
{
	if (done == NULL)
		return;
	emit_forget(e, 0);
	emit_forget_loads(e);
	LLVMBuildBr(e->b, done);
	emit_move(e, done);
}

static void store(Emit *e, const Stmt *s)
{
	const Expr *idx = s->store.dst.idx[0];
	const Expr *m = s->store.mask;
	if (e->async && emit_copy(e, s))
		return;
	if (m == NULL || m->type.lanes == 1) {
		if (e->device && m != NULL)
			emit_pin_value(e, s->store.value);
		LLVMBasicBlockRef done = emit_mask_begin(e, m);
		emit_store(e, s->store.dst.buf, idx, emit_expr(e, s->store.value), NULL);
		emit_mask_end(e, done);
		return;
	}
	LLVMValueRef mask = emit_expr(e, m);
	e->some = emit_some(e, m);
	e->mask = mask;
	LLVMValueRef v = emit_expr(e, s->store.value);
	emit_store(e, s->store.dst.buf, idx, v, mask);
	e->mask = e->some = NULL;
}

static void let(Emit *e, const Stmt *s)
{
	LLVMValueRef v = emit_expr(e, s->let.value);
	emit_level_push(e);
	emit_bind(e, s->let.var, s->let.value->type, v);
	e->env = ir_range_let(e->ir, s->let.var, s->let.value, e->env);
	if (e->device)
		e->bound = ir_range_let(e->ir, s->let.var, s->let.value, e->bound);
}

static bool alloc(Emit *e, const Stmt *s)
{
	Place *p = emit_place(e, s->alloc->name);
	Interval n = ir_interval(s->alloc->shape[0], ir_range_fn(e->ir, e->fn));
	int64_t bytes = n.hi < 0 ? 0 : dtype_bytes(s->alloc->type, n.hi);
	LLVMPositionBuilderBefore(e->b, e->level.at[0].marker);
	if (p->reg) {
		p->ptr = LLVMBuildAlloca(e->b, emit_type(e, dtype_vector(s->alloc->type, (int)n.hi)), "reg");
		e->regs = true;
	} else if (e->device) {
		const char *why = emit_device_alloc(e, p);
		if (why != NULL)
			return emit_refuse(e, s, ERR_UNSUPPORTED, "alloc %s is one %s", s->alloc->name, why);
	} else if (bytes < 0 || bytes > WORK_MAX || e->work_at + bytes > WORK_MAX) {
		return emit_refuse(e, s, ERR_MEMORY, "alloc %s takes more than 64 GiB of workspace", s->alloc->name);
	} else {
		LLVMValueRef at = emit_int(e->i64, e->work_at);
		p->ptr = LLVMBuildGEP2(e->b, e->i8, e->work, &at, 1, "");
		e->work_at += (bytes + DLC_CALL_ALIGN - 1) / DLC_CALL_ALIGN * DLC_CALL_ALIGN;
		if (e->work_at > e->work_bytes)
			e->work_bytes = e->work_at;
	}
	LLVMPositionBuilderAtEnd(e->b, e->at);
	return true;
}

/* For reading, into all caches. */
static void prefetch(Emit *e, const Stmt *s)
{
	const Place *p = emit_place(e, s->prefetch.buf);
	LLVMValueRef arg[4] = { NULL, emit_int(e->i32, 0), emit_int(e->i32, 3), emit_int(e->i32, 1) };
	if (p->buf->type.bits < 8 || e->device) /* a GPU has other threads to run instead */
		return;
	arg[0] = emit_address(e, p, s->prefetch.idx[0]);
	emit_intrinsic(e, "llvm.prefetch", &e->ptr, 1, arg, 4);
}

/* On x86 this fence alone orders stores past the caches before later stores, a barrier's included. */
static void order_streamed(Emit *e)
{
	if (e->streams && e->x86)
		emit_intrinsic(e, "llvm.x86.sse.sfence", NULL, 0, NULL, 0);
}

/* NULL where the team is one thread. */
static void barrier(Emit *e)
{
	if (e->device) {
		emit_block_barrier(e);
		return;
	}
	LLVMBasicBlockRef meet = emit_block(e, "meet"), done = emit_block(e, "met");
	LLVMValueRef many = LLVMBuildICmp(e->b, LLVMIntNE, e->threads, emit_int(e->i64, 1), "");
	LLVMBuildCondBr(e->b, many, meet, done);
	emit_move(e, meet);
	order_streamed(e);
	LLVMTypeRef t = LLVMFunctionType(LLVMVoidTypeInContext(e->cx), &e->ptr, 1, 0);
	LLVMValueRef team = field(e, e->ptr, offsetof(DlcCall, team));
	LLVMBuildCall2(e->b, t, field(e, e->ptr, offsetof(DlcCall, barrier)), &team, 1, "");
	LLVMBuildBr(e->b, done);
	emit_move(e, done);
}

static bool async(Emit *e, const Stmt *s)
{
	e->async = true;
	emit_forget_loads(e);
	bool ok = list(e, s->async);
	e->async = false;
	return ok;
}

static bool statement(Emit *e, const Stmt *s)
{
	switch (s->kind) {
	case ST_FOR: return loop(e, s);
	case ST_IF: return branch(e, s);
	case ST_STORE: store(e, s); return true;
	case ST_LET: let(e, s); return true;
	case ST_ALLOC: return alloc(e, s);
	case ST_REDUCE: return emit_atomic(e, s);
	case ST_BARRIER: barrier(e); return true;
	case ST_ASYNC: return async(e, s);
	case ST_COMMIT: emit_commit(e); return true;
	case ST_WAIT: emit_wait(e, s->pending); return true;
	case ST_PREFETCH: prefetch(e, s); return true;
	case ST_CALL: emit_call(e, s); return true;
	default: assert(false); /* the passes left nothing else */
	}
	return false;
}

/* Registers that the list's own statements do not store to, and one more: a kept value's last use frees its own. */
static int registers_left(Emit *e, const Stmt *s)
{
	if (e->device)
		return INT_MAX; /* the driver's compiler assigns them */
	int width = e->target->vector_bits, used = 0;
	for (; s != NULL; s = s->next) {
		Place *p = s->kind == ST_STORE ? emit_place(e, s->store.dst.buf) : NULL;
		if (p == NULL || !p->reg || p->list == e->lists)
			continue;
		p->list = e->lists;
		used += (s->store.dst.idx[0]->type.lanes * p->buf->type.bits + width - 1) / width;
	}
	int left = e->target->vector_regs - used + 1;
	return left > 5 ? left : 5;
}

static bool list(Emit *e, const Stmt *s)
{
	size_t levels = e->level.n;
	int most = e->loaded_most;
	const Range *env = e->env, *bound = e->bound;
	int64_t work = e->work_at;
	bool ok = true;
	e->lists++;
	e->loaded_most = registers_left(e, s);
	for (; s != NULL && ok; s = s->next) {
		emit_forget(e, 0);
		int turned = emit_turned(e, s);
		turned = turned > 0 ? turned : emit_spread(e, s);
		turned = turned > 0 ? turned : emit_interleaved(e, s);
		for (int k = 1; k < turned; k++)
			s = s->next;
		ok = turned > 0 || statement(e, s);
		/* Values loaded before the statement are still right after a quiet one. */
		bool quiet = s->kind == ST_LET || s->kind == ST_ALLOC || s->kind == ST_PREFETCH ||
		             (s->kind == ST_STORE && emit_place(e, s->store.dst.buf)->reg);
		if (!quiet)
			emit_forget_loads(e);
	}
	emit_forget(e, 0);
	emit_forget_loads(e);
	while (e->level.n > levels)
		emit_level_pop(e);
	e->env = env;
	e->bound = bound;
	e->loaded_most = most;
	e->work_at = work;
	return ok;
}

static void attribute(Emit *e, const char *name, const char *value)
{
	LLVMAddAttributeAtIndex(e->func, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
		LLVMCreateStringAttribute(e->cx, name, (unsigned)strlen(name), value, (unsigned)strlen(value)));
}

static void attributes(Emit *e)
{
	unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", 8);
	LLVMAddAttributeAtIndex(
		e->func, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(e->cx, nounwind, 0));
	attribute(e, "no-builtins", "");
	attribute(e, "no-jump-tables", "true");
	if (e->x86) { /* else 512-bit vectors are cut in two */
		const char *bits = arena_printf(e->arena, "%d", e->target->vector_bits);
		attribute(e, "prefer-vector-width", bits);
		attribute(e, "min-legal-vector-width", bits);
	}
}

char *emit_symbol(const Emit *e, const Fn *fn)
{
	char symbol[DLC_SYMBOL];
	if (!e->device || fn->kind == FN_SUB)
		return arena_printf(e->arena, "kernel.%s", fn->name);
	kernel_symbol(fn->name, symbol);
	return arena_printf(e->arena, "%s", symbol);
}

bool emit_fn(Emit *e, const Fn *fn)
{
	e->fn = fn;
	e->level.n = e->temp.n = e->loaded.n = 0;
	e->loaded_regs = 0;
	e->mask = e->some = NULL;
	e->env = e->bound = ir_range_fn(e->ir, fn);
	e->shared = NULL;
	e->alone = false;
	e->shared_bytes = 0;
	e->work_at = e->work_bytes = 0;
	e->depth = e->deepest = 0;
	e->place = MAP_OF(e->arena);
	e->streams = false;
	ir_each_stmt(fn->body, add_alloc, e);
	for (int k = 0; k < fn->nparam; k++)
		if (fn->param[k].buf != NULL)
			add_parameter(e, fn, fn->param[k].buf);
	ir_each_stmt(fn->body, check_stmt, e);
	bool sub = fn->kind == FN_SUB;
	e->func = sub         ? emit_sub_function(e, fn)
	          : e->device ? emit_kernel_function(e, fn)
	                      : LLVMAddFunction(e->mod, emit_symbol(e, fn), LLVMFunctionType(e->i32, &e->ptr, 1, 0));
	attributes(e);
	emit_move(e, emit_block(e, "entry"));
	if (sub)
		emit_sub_parameters(e);
	else if (e->device)
		emit_kernel_parameters(e);
	else
		parameters(e);
	if (fn->kind == FN_PREPARE && !e->device) { /* the one thread that does it all */
		LLVMBasicBlockRef first = emit_block(e, "first"), rest = emit_block(e, "rest");
		LLVMValueRef thread = emit_expr(e, ir_idx(e->ir, LOWER_THREAD));
		LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, thread, emit_int(e->i64, 0), ""), first, rest);
		emit_move(e, rest);
		LLVMBuildRet(e->b, emit_int(e->i32, 0));
		emit_move(e, first);
	}
	emit_forget_loads(e);
	if (!list(e, fn->body))
		return false;
	emit_level_pop(e);
	if (sub) { /* what its callers need to know */
		e->sub.at[e->sub.n - 1].work_bytes = e->work_bytes;
		e->sub.at[e->sub.n - 1].deepest = e->deepest;
	}
	order_streamed(e);
	if (sub || e->device)
		LLVMBuildRetVoid(e->b);
	else
		LLVMBuildRet(e->b, emit_int(e->i32, 0));
	return true;
}
