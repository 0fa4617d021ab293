/*
 * The written form. One statement a line, tabs for depth, parentheses only where precedence asks
 * for them: what comes out reads back to the same pointers (docs/ir.md has the grammar).
 */
#include "ir/text/ir_text.h"
#include "ir/node.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void put(Text *out, const char *s)
{
	text_put(out, s, strlen(s));
}

static void print_number(Text *out, const Expr *e)
{
	char number[40], type[DTYPE_TEXT];
	bool f32 = e->type.kind == DT_FLOAT && e->type.bits == 32;
	if (fabs(e->f) < 1e9 && e->f == rint(e->f))
		snprintf(number, sizeof number, "%.1f", e->f);
	else if (f32)
		text_float(number, sizeof number, (float)e->f);
	else
		text_double(number, sizeof number, e->f);
	const char *point = strpbrk(number, ".enf") == NULL ? ".0" : "";
	if (f32)
		text_add(out, "%s%s", number, point);
	else
		text_add(out, "%s(%s%s)", dtype_print(e->type, type), number, point);
}

static void print_int(Text *out, const Expr *e)
{
	char type[DTYPE_TEXT];
	if (e->type.kind == DT_BOOL)
		text_add(out, "%s", e->i != 0 ? "true" : "false");
	else if (e->type.kind == DT_INT && e->type.bits == 64)
		text_add(out, "%lld", (long long)e->i);
	else if (e->type.kind == DT_UINT)
		text_add(out, "%s(%llu)", dtype_print(e->type, type), (unsigned long long)e->i);
	else
		text_add(out, "%s(%lld)", dtype_print(e->type, type), (long long)e->i);
}

static void print_prec(Text *out, const Expr *e, int least);

static void print_list(Text *out, const Expr *const *e, int n)
{
	for (int i = 0; i < n; i++) {
		put(out, i > 0 ? ", " : "");
		print_prec(out, e[i], FORM_INFIX1);
	}
}

/* e, in parentheses if it binds looser than `least`. */
static void print_prec(Text *out, const Expr *e, int least)
{
	const NodeRow *row = &ir_node_row[e->op];
	char type[DTYPE_TEXT];
	switch (row->form) {
	case FORM_ATOM:
		if (e->op == IR_VAR)
			text_add(out, "%s", e->name);
		else if (e->op == IR_INT)
			print_int(out, e);
		else
			print_number(out, e);
		return;
	case FORM_OTHER:
		if (e->op == IR_LOAD)
			text_add(out, "%s[", e->name);
		else
			text_add(out, "%s%s(", e->op == IR_BITCAST ? "bits." : "", dtype_print(e->type, type));
		print_list(out, e->arg, e->nargs);
		put(out, e->op == IR_LOAD ? "]" : ")");
		return;
	case FORM_CALL1:
	case FORM_CALL2:
	case FORM_CALL3:
		text_add(out, "%s(", row->text);
		print_list(out, e->arg, e->nargs);
		if (e->op == IR_RAMP || e->op == IR_SPLAT)
			text_add(out, ", %d", e->type.lanes);
		put(out, ")");
		return;
	case FORM_PREFIX: {
		const Expr *a = e->arg[0];
		bool plain = (a->op == IR_INT && dtype_eq(a->type, I64)) || (a->op == IR_FLOAT && dtype_eq(a->type, F32));
		bool wrap = e->op == IR_NEG && plain; /* a minus in front of it would be read as its sign */
		text_add(out, wrap ? "%s(" : "%s", row->text);
		print_prec(out, a, FORM_PREFIX);
		put(out, wrap ? ")" : "");
		return;
	}
	default: break;
	}
	int prec = (int)row->form;
	put(out, prec < least ? "(" : "");
	print_prec(out, e->arg[0], prec);
	text_add(out, " %s ", row->text);
	print_prec(out, e->arg[1], prec + 1);
	put(out, prec < least ? ")" : "");
}

static void print_expr(Text *out, const Expr *e)
{
	print_prec(out, e, FORM_INFIX1);
}

char *ir_expr_str(Arena *a, const Expr *e)
{
	Text t = { .arena = a };
	print_expr(&t, e);
	return t.at;
}

static void print_access(Text *out, const char *buf, const Expr *const *idx, int n)
{
	text_add(out, "%s[", buf);
	print_list(out, idx, n);
	put(out, "]");
}

/* dtype[shape] @scope map ... */
static void print_layout(Text *out, const Buf *b)
{
	char type[DTYPE_TEXT];
	print_access(out, dtype_print(b->type, type), b->shape, b->rank);
	if (strcmp(b->scope, "global") != 0)
		text_add(out, " @%s", b->scope);
	const IndexMap *m = &b->map;
	if (m->n == 0)
		return;
	put(out, " map (");
	for (int i = 0; i < m->nvar; i++)
		text_add(out, "%s%s", i > 0 ? ", " : "", m->var[i]);
	put(out, ") -> [");
	for (int i = 0; i < m->n; i++) {
		put(out, i > 0 ? ", " : "");
		print_expr(out, m->at[i]);
		put(out, " : ");
		print_expr(out, m->extent[i]);
	}
	put(out, "]");
}

static void print_where(Text *out, const Expr *cond)
{
	if (cond == NULL)
		return;
	put(out, " where ");
	print_expr(out, cond);
}

static void print_reduce(Text *out, const Stmt *s)
{
	int n = s->reduce.n;
	if (s->reduce.old != NULL)
		text_add(out, "let %s = ", s->reduce.old);
	text_add(out, "%s%s %s", s->reduce.atomic ? "atomic " : "", s->reduce.monoid,
		n > 1 ? "(" : "");
	for (int i = 0; i < n; i++) {
		put(out, i > 0 ? ", " : "");
		print_access(out, s->reduce.dst[i].buf, s->reduce.dst[i].idx, s->reduce.dst[i].n);
	}
	put(out, n > 1 ? ") <- (" : " <- ");
	print_list(out, s->reduce.value, n);
	put(out, n > 1 ? ")" : "");
	print_where(out, s->reduce.mask);
}

static void print_arg(Text *out, const CallArg *a)
{
	if (a->buf == NULL) {
		print_expr(out, a->value);
		return;
	}
	bool window = false;
	for (int i = 0; i < a->n; i++)
		window = window || a->len[i] != NULL;
	text_add(out, "%s%s[", window ? "" : "ref ", a->buf);
	for (int i = 0; i < a->n; i++) {
		put(out, i > 0 ? ", " : "");
		print_expr(out, a->idx[i]);
		if (a->len[i] != NULL) {
			put(out, ":");
			print_expr(out, a->len[i]);
		}
	}
	put(out, "]");
}

static void indent(Text *out, int depth)
{
	for (int i = 0; i < depth; i++)
		text_put(out, "\t", 1);
}

/* " { body }" with the body one deeper. */
static void print_body(Text *out, const Stmt *s, int depth)
{
	put(out, " {\n");
	ir_print_stmt(out, s, depth + 1);
	indent(out, depth);
	put(out, "}");
}

static void print_block(Text *out, const Stmt *s, int depth)
{
	static const char *const kind[] = { "spatial", "reduce", "scan" };
	text_add(out, "block %s(", s->block.name);
	for (int i = 0; i < s->block.n; i++) {
		const Iter *it = &s->block.iter[i];
		text_add(out, "%s%s: %s ", i > 0 ? ", " : "", it->name, kind[it->kind]);
		print_expr(out, it->lo);
		put(out, "..");
		print_expr(out, it->hi);
		put(out, " = ");
		print_expr(out, it->value);
	}
	put(out, ")");
	print_where(out, s->block.where);
	put(out, " {\n");
	if (s->block.init != NULL) {
		indent(out, depth + 1);
		put(out, "init");
		print_body(out, s->block.init, depth + 1);
		put(out, "\n");
	}
	ir_print_stmt(out, s->block.body, depth + 1);
	indent(out, depth);
	put(out, "}");
}

static void print_if(Text *out, const Stmt *s, int depth)
{
	for (;;) {
		put(out, "if ");
		print_expr(out, s->branch.cond);
		print_body(out, s->branch.then, depth);
		const Stmt *other = s->branch.other;
		if (other == NULL)
			return;
		put(out, " else");
		if (other->kind != ST_IF || other->next != NULL) {
			print_body(out, other, depth);
			return;
		}
		put(out, " ");
		s = other;
	}
}

static void print_one(Text *out, const Stmt *s, int depth)
{
	static const char *const loop_kind[] = { "", " parallel", " vector", " unrolled", " bound", " pipelined" };
	char type[DTYPE_TEXT];
	switch (s->kind) {
	case ST_FOR:
		text_add(out, "for %s in ", s->loop.var);
		print_expr(out, s->loop.lo);
		put(out, "..");
		print_expr(out, s->loop.hi);
		text_add(out, "%s", loop_kind[s->loop.kind]);
		if (s->loop.kind == LOOP_BOUND)
			text_add(out, "(%s)", s->loop.axis);
		if (s->loop.kind == LOOP_PIPELINED)
			text_add(out, "(%d)", s->loop.stages);
		print_body(out, s->loop.body, depth);
		break;
	case ST_BLOCK: print_block(out, s, depth); break;
	case ST_STORE:
		print_access(out, s->store.dst.buf, s->store.dst.idx, s->store.dst.n);
		put(out, " = ");
		print_expr(out, s->store.value);
		print_where(out, s->store.mask);
		break;
	case ST_REDUCE: print_reduce(out, s); break;
	case ST_LET:
		text_add(out, "let %s: %s = ", s->let.var, dtype_print(s->let.value->type, type));
		print_expr(out, s->let.value);
		break;
	case ST_ALLOC:
		text_add(out, "alloc %s: ", s->alloc->name);
		print_layout(out, s->alloc);
		break;
	case ST_IF: print_if(out, s, depth); break;
	case ST_CALL:
		text_add(out, "%s %s(", s->call.intrin ? "intrin" : "call", s->call.fn);
		for (int i = 0; i < s->call.n; i++) {
			put(out, i > 0 ? ", " : "");
			print_arg(out, &s->call.arg[i]);
		}
		put(out, ")");
		break;
	case ST_ASYNC:
		put(out, "async");
		print_body(out, s->async, depth);
		break;
	case ST_COMMIT: put(out, "commit"); break;
	case ST_WAIT: text_add(out, "wait %lld", (long long)s->pending); break;
	case ST_BARRIER: text_add(out, "barrier %s", s->barrier); break;
	case ST_PREFETCH:
		put(out, "prefetch ");
		print_access(out, s->prefetch.buf, s->prefetch.idx, s->prefetch.n);
		break;
	}
}

void ir_print_stmt(Text *out, const Stmt *s, int depth)
{
	for (; s != NULL; s = s->next) {
		indent(out, depth);
		print_one(out, s, depth);
		put(out, "\n");
	}
}

static void print_param(Text *out, const Param *p)
{
	static const char *const role[] = { "in", "out", "inout", "const", "work", "zero" };
	char type[DTYPE_TEXT];
	text_add(out, "%s: ", p->name);
	if (p->buf == NULL) {
		text_add(out, "%s", dtype_print(p->type, type));
		return;
	}
	text_add(out, "%s ", role[p->buf->role]);
	print_layout(out, p->buf);
	put(out, p->buf->streamed ? " streamed" : "");
}

/* On one line if it fits into 100 columns, else a line for each. */
static void print_params(Text *out, const Fn *fn)
{
	size_t start = out->n;
	for (int i = 0; i < fn->nparam; i++) {
		put(out, i > 0 ? ", " : "");
		print_param(out, &fn->param[i]);
	}
	if (out->n - start <= 80)
		return;
	out->n = start;
	out->at[start] = 0;
	for (int i = 0; i < fn->nparam; i++) {
		put(out, i > 0 ? ",\n\t\t" : "\n\t\t");
		print_param(out, &fn->param[i]);
	}
}

void ir_print_fn(Text *out, const Fn *fn)
{
	static const char *const kind[] = { "", "prepare ", "sub " };
	text_add(out, "%sfn %s", kind[fn->kind], fn->name);
	for (int i = 0; i < fn->nsym; i++) {
		const Sym *s = &fn->sym[i];
		text_add(out, "%s%s in %lld..%lld", i > 0 ? ", " : "[", s->name, (long long)s->lo,
			(long long)s->hi);
		if (s->div != 1)
			text_add(out, " step %lld", (long long)s->div);
	}
	put(out, fn->nsym > 0 ? "](" : "(");
	print_params(out, fn);
	put(out, ")");
	print_body(out, fn->body, 0);
	put(out, "\n");
}

static void print_operands(Text *out, const char *const *name, const DType *type, int n)
{
	char t[DTYPE_TEXT];
	for (int i = 0; i < n; i++)
		text_add(out, "%s%s: %s", i > 0 ? ", " : "", name[i], dtype_print(type[i], t));
}

void ir_print_set(Text *out, const KernelSet *ks)
{
	size_t lines = 0;
	for (size_t i = 0; i < ks->nmonoid; i++) {
		const Monoid *m = ks->monoid[i];
		put(out, lines++ > 0 ? "\n" : "");
		text_add(out, "monoid %s(", m->name);
		print_operands(out, m->left, m->type, m->n);
		put(out, "; ");
		print_operands(out, m->right, m->type, m->n);
		text_add(out, ")%s {\n\tidentity (", m->associative ? " assoc" : "");
		print_list(out, m->identity, m->n);
		put(out, ")\n\tcombine (");
		print_list(out, m->combine, m->n);
		put(out, ")\n}\n");
	}
	for (size_t i = 0; i < ks->n; i++) {
		put(out, lines++ > 0 ? "\n" : "");
		ir_print_fn(out, ks->fn[i]);
	}
}

const char *ir_set_str(Arena *a, const KernelSet *ks)
{
	Text t = { .arena = a };
	ir_print_set(&t, ks);
	return text_str(&t);
}
