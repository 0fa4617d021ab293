/*
 * Expressions: precedence climbing over the table of nodes. The rule of a node gives its type, unchecked (a name that
 * is not declared is an i64): the verifier checks types, and can say more. Two limits bound the depth: of the
 * recursion, and of the resulting node.
 */
#include "ir/text/parser.h"
#include "ir/build.h"
#include "ir/node.h"
#include "ir/text/ir_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void parse_init(Parser *p, Ir *ir, const char *name, const char *text, size_t n, Err *err)
{
	*p = (Parser){ .ir = ir, .name = name, .lex = { text, text + n, 1 }, .err = err };
	scope_init(&p->scope, ir_arena(ir));
	parse_next(p);
}

bool parse_fail(Parser *p, const char *fmt, ...)
{
	char text[256], place[160];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	snprintf(place, sizeof place, "%.140s:%d", p->name, p->tok.line);
	if (!p->failed)
		fail(p->err, ERR_SYNTAX, place, "%s", text);
	p->failed = true;
	p->tok = (Token){ .kind = T_END, .line = p->tok.line };
	return false;
}

void parse_next(Parser *p)
{
	if (p->failed)
		return;
	p->tok = lex_next(&p->lex);
	if (p->tok.kind == T_BAD)
		parse_fail(p, "%s", p->tok.why);
}

bool parse_at(const Parser *p, const char *word)
{
	return lex_is(&p->tok, word);
}

bool parse_skip(Parser *p, int kind)
{
	if (p->tok.kind != kind || p->failed)
		return false;
	parse_next(p);
	return true;
}

bool parse_skip_word(Parser *p, const char *word)
{
	return parse_at(p, word) && parse_skip(p, T_NAME);
}

bool parse_expected(Parser *p, const char *what)
{
	if (p->tok.kind == T_END)
		return parse_fail(p, "expected %s, found the end of the text", what);
	int n = p->tok.n < 40 ? (int)p->tok.n : 40;
	return parse_fail(p, "expected %s, found '%.*s'", what, n, p->tok.at);
}

bool parse_need(Parser *p, int kind, const char *what)
{
	return parse_skip(p, kind) || parse_expected(p, what);
}

bool parse_need_word(Parser *p, const char *word)
{
	return parse_skip_word(p, word) || parse_expected(p, word);
}

/* One level deeper; false if that is too deep. Every true needs a leave. */
static bool enter(Parser *p)
{
	if (p->depth >= PARSE_DEPTH)
		return parse_fail(p, "depth: nested deeper than %d", IR_MAX_DEPTH);
	p->depth++;
	return true;
}

static void leave(Parser *p)
{
	p->depth--;
}

/* Words that begin a statement or are a value: they name nothing. */
static bool is_reserved(const Token *t)
{
	static const char *const words[] = { "alloc", "async", "atomic", "barrier", "block", "call",
		"commit", "else", "false", "fn", "for", "if", "inf", "init", "intrin", "let",
		"monoid", "nan", "prefetch", "prepare", "ref", "sub", "true", "wait", "where" };
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (lex_is(t, words[i]))
			return true;
	return false;
}

bool ir_is_name(const char *s)
{
	Lexer l = { s, s + strlen(s), 1 };
	Token t = lex_next(&l);
	return t.kind == T_NAME && t.n == strlen(s) && !is_reserved(&t);
}

const char *parse_name(Parser *p, const char *what)
{
	if (p->tok.kind != T_NAME || is_reserved(&p->tok)) {
		if (p->tok.kind == T_NAME)
			parse_fail(p, "names: %s cannot be '%.*s', a word of the language", what,
				(int)p->tok.n, p->tok.at);
		else
			parse_expected(p, what);
		return ir_name(p->ir, "_");
	}
	const char *name = ir_name_n(p->ir, p->tok.at, p->tok.n);
	parse_next(p);
	return name;
}

int64_t parse_int(Parser *p, const char *what, int64_t lo, int64_t hi)
{
	bool minus = parse_skip(p, '-');
	if (p->tok.kind != T_INT) {
		parse_expected(p, what);
		return lo;
	}
	uint64_t v = p->tok.value;
	int64_t r = (int64_t)(minus ? -v : v);
	if (v > (uint64_t)INT64_MAX + minus || r < lo || r > hi) {
		parse_fail(
			p, "%s is a number from %lld to %lld", what, (long long)lo, (long long)hi);
		return lo;
	}
	parse_next(p);
	return r;
}

DType parse_dtype(Parser *p)
{
	DType t = I64;
	if (p->tok.kind != T_NAME || !dtype_parse(p->tok.at, p->tok.n, &t))
		parse_expected(p, "an element type such as f32 or i64");
	else
		parse_next(p);
	return t;
}

static const Expr *node(Parser *p, Node op, DType t, const Expr *const *arg, int n)
{
	const Expr *e = ir_node(p->ir, op, t, arg, n);
	if (e->depth > IR_MAX_DEPTH)
		parse_fail(p, "depth: an expression deeper than %d; name a part of it with let",
			IR_MAX_DEPTH);
	return e;
}

const Expr **parse_exprs(Parser *p, int close, int *n)
{
	VEC(const Expr *) list = { 0 };
	if (!parse_skip(p, close)) {
		do {
			vec_push(ir_arena(p->ir), &list, parse_expr(p));
			if (list.n > PARSE_ITEMS)
				parse_fail(p, "a list of more than %d items", PARSE_ITEMS);
		} while (parse_skip(p, ','));
		parse_need(p, close, close == ']' ? "']' or ','" : "')' or ','");
	}
	*n = (int)list.n;
	return list.at;
}

static bool at_number(const Parser *p)
{
	int k = p->tok.kind;
	return k == T_INT || k == T_FLOAT || parse_at(p, "inf") || parse_at(p, "nan");
}

/* A literal of type t; the number is read once, with the precision of the type. */
static const Expr *typed_number(Parser *p, bool minus, DType t)
{
	Token k = p->tok;
	if (k.kind == T_INT && !dtype_is_float(t)) {
		uint64_t v = minus ? -k.value : k.value;
		const Expr *e = ir_const_int(p->ir, t, (int64_t)v);
		bool below = t.kind != DT_UINT && e->i < 0;
		if ((uint64_t)e->i != v || (v != 0 && below != minus)) {
			parse_fail(p, "the number does not fit its type");
			return e;
		}
		parse_next(p);
		return e;
	}
	bool narrow = t.kind == DT_FLOAT && t.bits == 32;
	double v = parse_at(p, "inf") ? INFINITY : NAN;
	if (k.kind != T_NAME)
		v = lex_real(&k, narrow || !dtype_is_float(t));
	parse_next(p);
	v = minus ? -v : v;
	if (dtype_is_float(t))
		return ir_const_float(p->ir, t, v);
	return ir_const_int(p->ir, t, dtype_float_to_int(t, v));
}

static const Expr *number(Parser *p, bool minus)
{
	return typed_number(p, minus, p->tok.kind == T_INT ? I64 : F32);
}

/* After `type(`: a literal of that type, or any expression to be cast. */
static const Expr *cast(Parser *p, Node op, DType t)
{
	Lexer lex = p->lex;
	Token tok = p->tok;
	bool minus = parse_skip(p, '-');
	Lexer ahead = p->lex;
	if (op == IR_CAST && t.lanes == 1 && at_number(p) && lex_next(&ahead).kind == ')') {
		const Expr *e = typed_number(p, minus, t);
		parse_need(p, ')', "')'");
		return e;
	}
	if (!p->failed) {
		p->lex = lex;
		p->tok = tok;
	}
	const Expr *e = parse_expr(p);
	parse_need(p, ')', "')'");
	return node(p, op, t, &e, 1);
}

/* ramp(base, stride, n), splat(x, n), lane(v, k), ldmatrix(x, n): the last argument is a number. */
static const Expr *vector_node(Parser *p, Node op)
{
	const Expr *arg[2];
	arg[0] = parse_expr(p);
	parse_need(p, ',', "','");
	if (op == IR_RAMP) {
		arg[1] = parse_expr(p);
		parse_need(p, ',', "','");
	}
	DType t = arg[0]->type;
	if (op == IR_LANE) {
		arg[1] = ir_int(p->ir, parse_int(p, "the lane", 0, DTYPE_LANES - 1));
		t.lanes = 1;
	} else if (op == IR_LDMATRIX || op == IR_LDMATRIX_T) {
		arg[1] = ir_int(p->ir, parse_int(p, "the number of matrices", 1, 4));
		t.lanes = (uint16_t)(t.bits > 0 && t.bits <= 32 ? arg[1]->i * 32 / t.bits : 1);
	} else {
		t.lanes = (uint16_t)parse_int(p, "the number of lanes", 2, DTYPE_LANES);
	}
	parse_need(p, ')', "')'");
	return node(p, op, t, arg, op == IR_SPLAT ? 1 : 2);
}

static const Expr *unknown_function(Parser *p, const Token *name)
{
	const char *known[IR_NODE_COUNT];
	char text[LEX_NAME + 1] = { 0 };
	size_t n = 0;
	for (int i = 0; i < IR_NODE_COUNT; i++)
		if (ir_node_row[i].form >= FORM_CALL1)
			known[n++] = ir_node_row[i].text;
	memcpy(text, name->at, name->n);
	const char *near = text_nearest(text, known, n);
	p->tok.line = name->line;
	if (near != NULL)
		parse_fail(p, "there is no function %.80s; did you mean %s?", text, near);
	else
		parse_fail(p, "there is no function %.80s", text);
	return ir_int(p->ir, 0);
}

/* name( ... with the parenthesis already read. */
static const Expr *function(Parser *p, const Token *name)
{
	DType t;
	if (dtype_parse(name->at, name->n, &t))
		return cast(p, IR_CAST, t);
	if (name->n > 5 && memcmp(name->at, "bits.", 5) == 0 &&
		dtype_parse(name->at + 5, name->n - 5, &t))
		return cast(p, IR_BITCAST, t);
	int op = 0;
	while (op < IR_NODE_COUNT &&
		(ir_node_row[op].form < FORM_CALL1 || !lex_is(name, ir_node_row[op].text)))
		op++;
	if (op == IR_NODE_COUNT)
		return unknown_function(p, name);
	if (op == IR_RAMP || op == IR_SPLAT || op == IR_LANE || op == IR_LDMATRIX || op == IR_LDMATRIX_T)
		return vector_node(p, (Node)op);
	int n, want = (int)ir_node_row[op].form - FORM_CALL1 + 1;
	const Expr **arg = parse_exprs(p, ')', &n);
	if (n != want) {
		parse_fail(p, "%s takes %d argument%s, not %d", ir_node_row[op].text, want,
			want == 1 ? "" : "s", n);
		return ir_int(p->ir, 0);
	}
	t = ir_result_type((Node)op, arg[op == IR_SELECT]->type);
	return node(p, (Node)op, t, arg, n);
}

static const Expr *named(Parser *p)
{
	if (parse_at(p, "true") || parse_at(p, "false")) {
		bool v = parse_at(p, "true");
		parse_next(p);
		return ir_bool(p->ir, v);
	}
	Token tok = p->tok;
	const char *name = parse_name(p, "an expression");
	if (parse_skip(p, '('))
		return function(p, &tok);
	int n = 0;
	bool load = parse_skip(p, '[');
	const Decl *d = scope_find(&p->scope, name);
	const Expr **idx = load ? parse_exprs(p, ']', &n) : NULL;
	if (d == NULL && p->unknown == NULL)
		p->unknown = name;
	if (!load)
		return ir_var(p->ir, name, d != NULL ? d->type : I64);
	const Expr *e = ir_load_named(p->ir, name, d != NULL ? d->type : F32, idx, n);
	if (e->depth > IR_MAX_DEPTH)
		parse_fail(p, "depth: an expression deeper than %d; name a part of it with let", IR_MAX_DEPTH);
	return e;
}

static const Expr *prefix(Parser *p)
{
	const Expr *e;
	if (!enter(p))
		return ir_int(p->ir, 0);
	bool minus = parse_skip(p, '-');
	if (at_number(p)) {
		e = number(p, minus);
	} else if (minus || parse_skip(p, '!')) {
		Node op = minus ? IR_NEG : IR_NOT;
		e = prefix(p);
		e = node(p, op, e->type, &e, 1);
	} else if (parse_skip(p, '(')) {
		e = parse_expr(p);
		parse_need(p, ')', "')'");
	} else if (p->tok.kind == T_NAME) {
		e = named(p);
	} else {
		parse_expected(p, "an expression");
		e = ir_int(p->ir, 0);
	}
	leave(p);
	return e;
}

/* The node of the infix operator at hand and whether its sides are exchanged (> and >=); or -1. */
static int infix_node(const Parser *p, bool *swap)
{
	*swap = p->tok.kind == '>' || p->tok.kind == T_GE;
	switch (p->tok.kind) {
	case '|': return IR_OR;
	case '^': return IR_XOR;
	case '&': return IR_AND;
	case T_EQ: return IR_EQ;
	case T_NE: return IR_NE;
	case '<':
	case '>':
	case T_ARROW: return IR_LT; /* a<-1 is a < -1: no arrow follows an expression */
	case T_LE:
	case T_GE: return IR_LE;
	case T_SHL: return IR_SHL;
	case T_SHR: return IR_SHR;
	case '+': return IR_ADD;
	case '-': return IR_SUB;
	case '*': return IR_MUL;
	case '/': return IR_DIV;
	case '%': return IR_MOD;
	default: return -1;
	}
}

static const Expr *infix(Parser *p, int least)
{
	const Expr *left = prefix(p);
	for (;;) {
		bool swap;
		int op = infix_node(p, &swap);
		if (op < 0 || (int)ir_node_row[op].form < least)
			return left;
		if (p->tok.kind == T_ARROW)
			p->tok.kind = '-';
		else
			parse_next(p);
		if (!enter(p))
			return left;
		const Expr *right = infix(p, (int)ir_node_row[op].form + 1);
		leave(p);
		const Expr *arg[2] = { swap ? right : left, swap ? left : right };
		left = node(p, (Node)op, ir_result_type((Node)op, left->type), arg, 2);
	}
}

const Expr *parse_expr(Parser *p)
{
	return infix(p, FORM_INFIX1);
}

const Expr *ir_parse_expr(Ir *ir, const char *text, const Param *var, int n, Err *err)
{
	Parser p;
	const char *why;
	parse_init(&p, ir, "expression", text, strlen(text), err);
	for (int i = 0; i < n; i++) {
		DeclKind kind = var[i].buf != NULL ? DECL_BUF : DECL_SCALAR;
		scope_add(&p.scope, kind, ir_name(ir, var[i].name), var[i].type)->buf = var[i].buf;
	}
	const Expr *e = parse_expr(&p);
	if (p.tok.kind != T_END)
		parse_expected(&p, "the end of the expression");
	if (p.unknown != NULL)
		parse_fail(&p, "%s is not declared", p.unknown);
	if (p.failed)
		return NULL;
	const Expr *at = ir_find_type_error(e, &why);
	if (at == NULL)
		return e;
	parse_fail(&p, "%s: %s", ir_node_row[at->op].name, why);
	return NULL;
}
