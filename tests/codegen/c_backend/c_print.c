/*
 * Lowered sets as text of C's family. A scalar expression is one expression; a vector is a loop over its lanes, in
 * which a ramp, a splat, a variable and a load are asked for lane `l`. Halves are floats that are rounded after each
 * operation, integers wrap (the text is compiled so), functions that C has not stand in the dialect's prelude.
 */
#include "c_backend.h"

#include "ir/analysis/bounds.h"
#include "ir/build.h"
#include "ir/walk.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

enum { LINE = 2000000 /* nodes of an expression at most, where shared parts count each time */, WORK_ALIGN = 64 };

typedef struct Print {
	Text *out;
	const BackendJob *job;
	const CDialect *d;
	const Fn *fn;
	int depth, temps;
	int64_t work_at, work_bytes;
	int64_t *sub_bytes; /* of each Fn of the set */
	bool ok;
} Print;

static void refuse(Print *p, const char *what)
{
	if (p->ok)
		fail(p->job->err, ERR_UNSUPPORTED, p->fn->name, "the C back end does not print %s", what);
	p->ok = false;
}

static void line(Print *p)
{
	text_add(p->out, "\n%*s", 4 * p->depth, "");
}

/* One C name for each name: letters and digits as they are. */
static const char *name(Print *p, const char *s)
{
	Text t = { .arena = p->job->arena };
	text_add(&t, "v");
	for (; *s != 0; s++)
		text_add(&t, isalnum((unsigned char)*s) ? "%c" : *s == '.' ? "_d" : "__", *s);
	return text_str(&t);
}

/* ---- types ---- */

static bool is_half(DType t)
{
	return dtype_is_float(t) && t.bits == 16;
}

/* What values of a type are computed in. */
static const char *type(Print *p, DType t)
{
	if (t.kind == DT_BOOL)
		return "uint8_t";
	if (t.bits < 8)
		refuse(p, "elements of less than a byte");
	if (dtype_is_float(t))
		return t.bits == 64 ? "double" : "float";
	return arena_printf(p->job->arena, "%sint%d_t", t.kind == DT_UINT ? "u" : "", t.bits);
}

static const char *memory_type(Print *p, DType t)
{
	return is_half(t) ? "uint16_t" : type(p, t);
}

/* f32, f64, f16, bf16, s (any signed integer), u, b: how the prelude's functions are named. */
static const char *suffix(DType t)
{
	if (dtype_is_float(t))
		return t.bits == 64 ? "f64" : t.bits == 32 ? "f32" : t.kind == DT_BFLOAT ? "bf16" : "f16";
	return t.kind == DT_INT ? "s" : "u";
}

/* ---- expressions ---- */

static void expr(Print *p, const Expr *e, const char *lane);

static void list(Print *p, const Expr *e, const char *lane, int n)
{
	for (int k = 0; k < n; k++) {
		text_add(p->out, k > 0 ? ", " : "");
		expr(p, e->arg[k], lane);
	}
}

static void number(Print *p, const Expr *e)
{
	DType t = e->type;
	if (!dtype_is_float(t))
		text_add(p->out, t.kind == DT_UINT ? "((%s)UINT64_C(%llu))" : "((%s)(int64_t)UINT64_C(%llu))", type(p, t),
			(unsigned long long)e->i);
	else if (isnan(e->f))
		text_add(p->out, "((%s)%s)", type(p, t), p->d->nan);
	else if (isinf(e->f))
		text_add(p->out, "((%s)%s%s)", type(p, t), e->f < 0 ? "-" : "", p->d->inf);
	else
		text_add(p->out, "((%s)%a)", type(p, t), e->f);
}

/* Operators of C that mean the same on our types, up to the cast of the result. */
static const char *const infix[IR_NODE_COUNT] = { [IR_OR] = "|",
	[IR_XOR] = "^",
	[IR_AND] = "&",
	[IR_EQ] = "==",
	[IR_NE] = "!=",
	[IR_LT] = "<",
	[IR_LE] = "<=",
	[IR_SHL] = "<<",
	[IR_SHR] = ">>",
	[IR_ADD] = "+",
	[IR_SUB] = "-",
	[IR_MUL] = "*" };

/* Functions of the prelude, whose names end with the type. */
static const char *const function[IR_NODE_COUNT] = { [IR_DIV] = "div",
	[IR_MOD] = "mod",
	[IR_TDIV] = "tdiv",
	[IR_TMOD] = "tmod",
	[IR_MIN] = "min",
	[IR_MAX] = "max",
	[IR_FMA] = "fma",
	[IR_POW] = "pow",
	[IR_ABS] = "abs",
	[IR_EXP] = "exp",
	[IR_LOG] = "log",
	[IR_SQRT] = "sqrt",
	[IR_TANH] = "tanh",
	[IR_ERF] = "erf",
	[IR_SIGMOID] = "sigmoid",
	[IR_SIN] = "sin",
	[IR_COS] = "cos",
	[IR_FLOOR] = "floor",
	[IR_CEIL] = "ceil",
	[IR_ROUND] = "round",
	[IR_TRUNC] = "trunc" };

static void cast(Print *p, const Expr *e, const char *lane)
{
	DType to = e->type, from = e->arg[0]->type;
	bool rounds = is_half(to), saturates = dtype_is_float(from) && dtype_is_int(to);
	if (to.kind == DT_BOOL)
		text_add(p->out, "(0 != ");
	else if (saturates)
		text_add(p->out, "((%s)saturate_%s(%d, ", type(p, to), suffix(to), to.bits);
	else if (rounds)
		text_add(p->out, "round_%s((double)", suffix(to));
	else
		text_add(p->out, "((%s)", type(p, to));
	expr(p, e->arg[0], lane);
	text_add(p->out, saturates ? "))" : ")");
}

/* Through an unsigned integer of the width. */
static void bitcast(Print *p, const Expr *e, const char *lane)
{
	DType to = e->type, from = e->arg[0]->type;
	if (to.bits != from.bits)
		refuse(p, "bits as a type of another width");
	text_add(p->out, dtype_is_float(to) ? "from_bits_%s(" : "((%s)", dtype_is_float(to) ? suffix(to) : type(p, to));
	text_add(p->out, dtype_is_float(from) ? "bits_%s(" : "(uint%s_t)(",
		dtype_is_float(from) ? suffix(from) : arena_printf(p->job->arena, "%d", from.bits));
	expr(p, e->arg[0], lane);
	text_add(p->out, "))");
}

static void load(Print *p, const Expr *e, const char *lane)
{
	text_add(p->out, is_half(e->type) ? "from_bits_%s(%s[" : "(%s%s[", is_half(e->type) ? suffix(e->type) : "",
		name(p, e->name));
	expr(p, e->arg[0], lane);
	text_add(p->out, "])");
}

/* The sum of four products of bytes, of lane 4 l to 4 l + 3. */
static void dot4(Print *p, const Expr *e, const char *lane)
{
	text_add(p->out, "(");
	expr(p, e->arg[0], lane);
	for (int k = 0; k < 4; k++) {
		const char *byte = arena_printf(p->job->arena, "(4 * (%s) + %d)", lane != NULL ? lane : "0", k);
		text_add(p->out, " + (int32_t)");
		expr(p, e->arg[1], byte);
		text_add(p->out, " * (int32_t)");
		expr(p, e->arg[2], byte);
	}
	text_add(p->out, ")");
}

static void operation(Print *p, const Expr *e, const char *lane)
{
	DType t = e->arg[0]->type;
	bool half = is_half(e->type) && e->op != IR_SELECT;
	if (half)
		text_add(p->out, "round_%s(", suffix(e->type));
	const char *s = half ? "f32" : suffix(t);
	if (infix[e->op] != NULL) {
		text_add(p->out, "((%s)(", type(p, e->type));
		expr(p, e->arg[0], lane);
		text_add(p->out, " %s ", infix[e->op]);
		expr(p, e->arg[1], lane);
		text_add(p->out, "))");
	} else if (function[e->op] != NULL) {
		text_add(p->out, "((%s)%s_%s(", type(p, e->type), function[e->op], s);
		list(p, e, lane, e->nargs);
		text_add(p->out, "))");
	} else if (e->op == IR_NEG || e->op == IR_NOT) {
		text_add(p->out, "((%s)%s", type(p, e->type), e->op == IR_NEG ? "-" : t.kind == DT_BOOL ? "!" : "~");
		expr(p, e->arg[0], lane);
		text_add(p->out, ")");
	} else if (e->op == IR_ISNAN) {
		text_add(p->out, "is_nan(");
		expr(p, e->arg[0], lane);
		text_add(p->out, ")");
	} else {
		assert(e->op == IR_SELECT); /* lazy, as C's is */
		text_add(p->out, "(");
		expr(p, e->arg[0], lane);
		text_add(p->out, " ? ");
		expr(p, e->arg[1], lane);
		text_add(p->out, " : ");
		expr(p, e->arg[2], lane);
		text_add(p->out, ")");
	}
	if (half)
		text_add(p->out, ")");
}

static void expr(Print *p, const Expr *e, const char *lane)
{
	if (!p->ok)
		return;
	if (e->type.lanes == 1)
		lane = NULL;
	switch (e->op) {
	case IR_INT:
	case IR_FLOAT: number(p, e); break;
	case IR_VAR: text_add(p->out, lane != NULL ? "%s[%s]" : "%s", name(p, e->name), lane); break;
	case IR_LOAD: load(p, e, lane); break;
	case IR_RAMP:
		text_add(p->out, "((%s)(", type(p, e->type));
		expr(p, e->arg[0], NULL);
		text_add(p->out, " + (%s)(%s) * ", type(p, e->type), lane);
		expr(p, e->arg[1], NULL);
		text_add(p->out, "))");
		break;
	case IR_SPLAT: expr(p, e->arg[0], NULL); break;
	case IR_LANE: expr(p, e->arg[0], arena_printf(p->job->arena, "%lld", (long long)e->arg[1]->i)); break;
	case IR_CAST: cast(p, e, lane); break;
	case IR_BITCAST: bitcast(p, e, lane); break;
	case IR_DOT4: dot4(p, e, lane); break;
	default: operation(p, e, lane); break;
	}
}

static void whole(Print *p, const Expr *e, const char *lane)
{
	if (e->size > LINE)
		refuse(p, "an expression of millions of nodes");
	else
		expr(p, e, lane);
}

/* ---- statements ---- */

static void statements(Print *p, const Stmt *s);

static void braces(Print *p, const Stmt *s)
{
	text_add(p->out, " {");
	p->depth++;
	statements(p, s);
	p->depth--;
	line(p);
	text_add(p->out, "}");
}

static void loop(Print *p, const Stmt *s)
{
	const char *v = name(p, s->loop.var);
	if (s->loop.kind == LOOP_BOUND) { /* over the threads: this is one of them */
		text_add(p->out, "const int64_t %s = %s;", v, p->d->thread);
		line(p);
		text_add(p->out, "if (%s < ", v);
		whole(p, s->loop.hi, NULL);
		text_add(p->out, ")");
		braces(p, s->loop.body);
		return;
	}
	int end = p->temps++;
	text_add(p->out, "const int64_t end%d = ", end);
	whole(p, s->loop.hi, NULL);
	text_add(p->out, ";");
	line(p);
	text_add(p->out, "for (int64_t %s = ", v);
	whole(p, s->loop.lo, NULL);
	text_add(p->out, "; %s < end%d; %s++)", v, end, v);
	braces(p, s->loop.body);
}

/* A loop over lanes, and the mask of this one. */
static void lanes(Print *p, int n, const Expr *mask)
{
	if (n > 1)
		text_add(p->out, "for (int l = 0; l < %d; l++) ", n);
	if (mask == NULL)
		return;
	text_add(p->out, "if (");
	whole(p, mask, n > 1 ? "l" : NULL);
	text_add(p->out, ") ");
}

/* All lanes are computed before the first is stored. */
static void store(Print *p, const Stmt *s)
{
	const Expr *v = s->store.value, *idx = s->store.dst.idx[0];
	int n = v->type.lanes > idx->type.lanes ? v->type.lanes : idx->type.lanes, temp = p->temps++;
	const char *lane = n > 1 ? "l" : NULL, *at = n > 1 ? "[l]" : "";
	text_add(p->out, "%s temp%d", type(p, v->type), temp);
	text_add(p->out, n > 1 ? "[%d];" : ";", n);
	line(p);
	lanes(p, n, s->store.mask);
	text_add(p->out, "temp%d%s = ", temp, at);
	whole(p, v, lane);
	text_add(p->out, ";");
	line(p);
	lanes(p, n, s->store.mask);
	text_add(p->out, "%s[", name(p, s->store.dst.buf));
	whole(p, idx, lane);
	text_add(p->out, is_half(v->type) ? "] = bits_%s(temp%d%s);" : "] = %stemp%d%s;",
		is_half(v->type) ? suffix(v->type) : "", temp, at);
}

static void let(Print *p, const Stmt *s)
{
	const Expr *v = s->let.value;
	int n = v->type.lanes;
	text_add(p->out, "%s %s", type(p, v->type), name(p, s->let.var));
	text_add(p->out, n > 1 ? "[%d]; " : "; ", n);
	lanes(p, n, NULL);
	text_add(p->out, "%s%s = ", name(p, s->let.var), n > 1 ? "[l]" : "");
	whole(p, v, n > 1 ? "l" : NULL);
	text_add(p->out, ";");
}

/* In the workspace, where allocs of disjoint scopes share a place. */
static void alloc(Print *p, const Stmt *s)
{
	Interval n = ir_interval(s->alloc->shape[0], ir_range_fn(p->job->ks->ir, p->fn));
	int64_t bytes = n.hi < 0 ? 0 : dtype_bytes(s->alloc->type, n.hi);
	const char *t = memory_type(p, s->alloc->type);
	if (bytes < 0 || bytes > INT64_C(1) << 36)
		refuse(p, "an alloc of that size");
	text_add(p->out, "%s *const %s = (%s *)(work + %lld);", t, name(p, s->alloc->name), t, (long long)p->work_at);
	p->work_at += (bytes + WORK_ALIGN - 1) / WORK_ALIGN * WORK_ALIGN;
	p->work_bytes = p->work_at > p->work_bytes ? p->work_at : p->work_bytes;
}

/* A sub Fn works behind what its caller uses. */
static void call(Print *p, const Stmt *s)
{
	size_t k = 0;
	while (strcmp(p->job->ks->fn[k]->name, s->call.fn) != 0)
		k++;
	text_add(p->out, "C_KERNEL(%s)(call, work + %lld", name(p, s->call.fn), (long long)p->work_at);
	for (int j = 0; j < s->call.n; j++) {
		text_add(p->out, ", ");
		if (s->call.arg[j].buf != NULL)
			text_add(p->out, "%s", name(p, s->call.arg[j].buf));
		else
			whole(p, s->call.arg[j].value, NULL);
	}
	text_add(p->out, ");");
	int64_t need = p->work_at + p->sub_bytes[k];
	p->work_bytes = need > p->work_bytes ? need : p->work_bytes;
}

static void statement(Print *p, const Stmt *s)
{
	switch (s->kind) {
	case ST_FOR: loop(p, s); break;
	case ST_STORE: store(p, s); break;
	case ST_LET: let(p, s); break;
	case ST_ALLOC: alloc(p, s); break;
	case ST_CALL: call(p, s); break;
	case ST_BARRIER: text_add(p->out, "%s", p->d->barrier); break;
	case ST_PREFETCH: text_add(p->out, ";"); break;
	case ST_IF:
		text_add(p->out, "if (");
		whole(p, s->branch.cond, NULL);
		text_add(p->out, ")");
		braces(p, s->branch.then);
		if (s->branch.other == NULL)
			break;
		text_add(p->out, " else");
		braces(p, s->branch.other);
		break;
	default: refuse(p, "atomics"); break; /* the passes left nothing else */
	}
}

static void statements(Print *p, const Stmt *s)
{
	int64_t work = p->work_at;
	for (; s != NULL && p->ok; s = s->next) {
		line(p);
		statement(p, s);
	}
	p->work_at = work;
}

/* ---- Fns ---- */

/* Buffers, symbols and scalars of a kernel, from the call. */
static void parameters(Print *p)
{
	int nbuf = 0, nsym = 0;
	for (int k = 0; k < p->fn->nsym; k++) {
		const char *s = p->fn->sym[k].name;
		bool threads = strcmp(s, LOWER_THREADS) == 0;
		line(p);
		text_add(p->out, "const int64_t %s = ", name(p, s));
		text_add(p->out, threads ? p->d->threads : p->d->symbols, threads ? 0 : nsym++);
		text_add(p->out, ";");
	}
	for (int k = 0; k < p->fn->nparam; k++) {
		const Param *x = &p->fn->param[k];
		line(p);
		if (x->buf != NULL) {
			const char *t = memory_type(p, x->buf->type);
			text_add(p->out, "%s%s *const %s = ", p->d->global, t, name(p, x->name));
			text_add(p->out, p->d->buffers, nbuf++);
		} else {
			text_add(p->out, "const %s %s = (%s)%s", type(p, x->type), name(p, x->name), type(p, x->type),
				dtype_is_float(x->type) ? "from_bits_f64" : "");
			text_add(p->out, p->d->symbols, nsym++);
		}
		text_add(p->out, ";");
	}
}

static void print_fn(Print *p, const Fn *fn, int64_t *work_bytes)
{
	p->fn = fn;
	p->depth = 1;
	p->work_at = p->work_bytes = 0;
	if (fn->kind == FN_SUB) {
		text_add(p->out, p->d->sub, name(p, fn->name));
		for (int k = 0; k < fn->nparam; k++) {
			const Param *x = &fn->param[k];
			if (x->buf != NULL)
				text_add(p->out, ", %s%s *const %s", p->d->global, memory_type(p, x->buf->type), name(p, x->name));
			else
				text_add(p->out, ", const %s %s", type(p, x->type), name(p, x->name));
		}
		text_add(p->out, ")\n{");
		line(p);
		text_add(p->out, "(void)call, (void)work;");
	} else {
		text_add(p->out, p->d->kernel, name(p, fn->name));
		text_add(p->out, "\n{");
		line(p);
		text_add(p->out, "unsigned char *const work = %s;\n    (void)work;", p->d->work);
		parameters(p);
		if (fn->kind == FN_PREPARE) { /* one thread does it all */
			line(p);
			text_add(p->out, "if (%s > 0) return 0;", p->d->thread);
		}
	}
	statements(p, fn->body);
	text_add(p->out, fn->kind == FN_SUB ? "\n}\n\n" : "\n    return 0;\n}\n\n");
	*work_bytes = p->work_bytes;
}

bool c_print_set(Text *out, const BackendJob *job, const CDialect *d)
{
	const KernelSet *ks = job->ks;
	Print p = { .out = out, .job = job, .d = d, .sub_bytes = arena_array(job->arena, int64_t, ks->n + 1), .ok = true };
	for (size_t k = 0; k < ks->n; k++)
		if (ks->fn[k]->kind == FN_SUB)
			print_fn(&p, ks->fn[k], &p.sub_bytes[k]);
	for (uint32_t k = 0; k < job->out->image.nentry && p.ok; k++) {
		int64_t bytes;
		print_fn(&p, ir_find_fn(ks, job->entry[k].name), &bytes);
		job->entry[k].work_bytes = (uint64_t)bytes;
	}
	return p.ok;
}
