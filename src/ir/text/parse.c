/*
 * Statements, Fns, monoids and kernel sets: recursive descent with one token of look-ahead (the arguments of a call
 * are read twice). Names are resolved only for their types; the verifier says whether the text means anything. A bound
 * on nesting keeps the recursion short.
 */
#include "ir/text/parser.h"
#include "ir/build.h"
#include "ir/text/ir_text.h"

#include <string.h>

enum { PARSE_BYTES = 64 << 20, PARSE_PARAMS = 512 };

static Stmt *statements(Parser *p);

/* The position in `word` of the token, which is stepped over; -1 if it is none of them. */
static int choose(Parser *p, const char *const *word, int n)
{
	for (int i = 0; i < n; i++)
		if (parse_skip_word(p, word[i]))
			return i;
	return -1;
}

/* One level deeper; true needs a p->nest--. */
static bool nest(Parser *p)
{
	if (p->nest >= IR_MAX_DEPTH)
		return parse_fail(p, "depth: statements nested deeper than %d", IR_MAX_DEPTH);
	p->nest++;
	return true;
}

static Stmt *braces(Parser *p)
{
	Decl *mark = scope_enter(&p->scope);
	parse_need(p, '{', "'{'");
	Stmt *s = statements(p);
	parse_need(p, '}', "a statement or '}'");
	scope_leave(&p->scope, mark);
	return s;
}

static void range(Parser *p, const Expr **lo, const Expr **hi)
{
	*lo = parse_expr(p);
	parse_need(p, T_RANGE, "'..'");
	*hi = parse_expr(p);
}

static void parse_map(Parser *p, Buf *b)
{
	Arena *a = ir_arena(p->ir);
	VEC(const char *) var = { 0 };
	VEC(const Expr *) at = { 0 }, extent = { 0 };
	Decl *mark = scope_enter(&p->scope);
	parse_need(p, '(', "'('");
	while (p->tok.kind == T_NAME && var.n < IR_MAX_RANK) {
		vec_push(a, &var, parse_name(p, "a variable"));
		scope_add(&p->scope, DECL_MAP_VAR, var.at[var.n - 1], I64);
		if (!parse_skip(p, ','))
			break;
	}
	parse_need(p, ')', "')'");
	parse_need(p, T_MAPS, "'->'");
	parse_need(p, '[', "'['");
	do {
		vec_push(a, &at, parse_expr(p));
		parse_need(p, ':', "':' and an extent");
		vec_push(a, &extent, parse_expr(p));
	} while (parse_skip(p, ',') && at.n < IR_MAX_RANK);
	parse_need(p, ']', "']'");
	scope_leave(&p->scope, mark);
	b->map = (IndexMap){ (int)var.n, (int)at.n, var.at, at.at, extent.at };
}

/* dtype[shape] @scope map ... */
static Buf *layout(Parser *p, const char *name, BufRole role)
{
	Buf *b = arena_new_of(ir_arena(p->ir), Buf);
	b->name = name;
	b->role = role;
	b->type = parse_dtype(p);
	parse_need(p, '[', "'['");
	b->shape = parse_exprs(p, ']', &b->rank);
	if (b->rank > IR_MAX_RANK) {
		parse_fail(p, "rank: %s has more than %d dimensions", name, IR_MAX_RANK);
		b->rank = 0;
	}
	b->scope = ir_name(p->ir, "global");
	if (parse_skip(p, '@'))
		b->scope = parse_name(p, "a memory scope");
	if (parse_skip_word(p, "map"))
		parse_map(p, b);
	return b;
}

static Stmt *parse_for(Parser *p, Stmt *s)
{
	static const char *const kind[] = { "serial", "parallel", "vector", "unrolled", "bound",
		"pipelined" };
	s->kind = ST_FOR;
	s->loop.var = parse_name(p, "a loop variable");
	parse_need_word(p, "in");
	range(p, &s->loop.lo, &s->loop.hi);
	int k = choose(p, kind, 6);
	s->loop.kind = k < 0 ? LOOP_SERIAL : (LoopKind)k;
	if (s->loop.kind == LOOP_BOUND || s->loop.kind == LOOP_PIPELINED) {
		parse_need(p, '(', "'('");
		if (s->loop.kind == LOOP_BOUND)
			s->loop.axis = parse_name(p, "an axis such as block.x");
		else
			s->loop.stages = (int)parse_int(p, "the number of stages", 0, 1 << 20);
		parse_need(p, ')', "')'");
	}
	Decl *mark = scope_enter(&p->scope);
	scope_add(&p->scope, DECL_LOOP, s->loop.var, I64);
	s->loop.body = braces(p);
	scope_leave(&p->scope, mark);
	return s;
}

static void parse_iters(Parser *p, Stmt *s)
{
	static const char *const kind[] = { "spatial", "reduce", "scan" };
	VEC(Iter) list = { 0 };
	while (!parse_skip(p, ')') && !p->failed) {
		Iter it = { .name = parse_name(p, "an iterator or ')'") };
		parse_need(p, ':', "':'");
		int k = choose(p, kind, 3);
		if (k < 0)
			parse_expected(p, "spatial, reduce or scan");
		it.kind = k < 0 ? ITER_SPATIAL : (IterKind)k;
		range(p, &it.lo, &it.hi);
		parse_need(p, '=', "'='");
		it.value = parse_expr(p);
		vec_push(ir_arena(p->ir), &list, it);
		if (list.n > PARSE_ITEMS)
			parse_fail(p, "a list of more than %d items", PARSE_ITEMS);
		if (p->tok.kind != ')')
			parse_need(p, ',', "',' or ')'");
	}
	s->block.iter = list.at;
	s->block.n = (int)list.n;
}

static Stmt *parse_block(Parser *p, Stmt *s)
{
	s->kind = ST_BLOCK;
	s->block.name = parse_name(p, "a block's name");
	parse_need(p, '(', "'('");
	parse_iters(p, s);
	Decl *mark = scope_enter(&p->scope);
	for (int i = 0; i < s->block.n; i++)
		scope_add(&p->scope, DECL_ITER, s->block.iter[i].name, I64);
	if (parse_skip_word(p, "where"))
		s->block.where = parse_expr(p);
	parse_need(p, '{', "'{'");
	if (parse_skip_word(p, "init"))
		s->block.init = braces(p);
	s->block.body = statements(p);
	parse_need(p, '}', "a statement or '}'");
	scope_leave(&p->scope, mark);
	return s;
}

static Access access_to(Parser *p)
{
	Access a = { .buf = parse_name(p, "a buffer") };
	parse_need(p, '[', "'['");
	a.idx = parse_exprs(p, ']', &a.n);
	return a;
}

static Stmt *parse_reduce(Parser *p, Stmt *s)
{
	Arena *a = ir_arena(p->ir);
	VEC(Access) dst = { 0 };
	int n = 1;
	s->kind = ST_REDUCE;
	s->reduce.monoid = parse_name(p, "a monoid");
	if (parse_skip(p, '(')) {
		do {
			vec_push(a, &dst, access_to(p));
		} while (parse_skip(p, ',') && dst.n < PARSE_ITEMS);
		parse_need(p, ')', "')' or ','");
		parse_need(p, T_ARROW, "'<-'");
		parse_need(p, '(', "'('");
		s->reduce.value = parse_exprs(p, ')', &n);
	} else {
		vec_push(a, &dst, access_to(p));
		parse_need(p, T_ARROW, "'<-'");
		s->reduce.value = arena_array(a, const Expr *, 1);
		s->reduce.value[0] = parse_expr(p);
	}
	s->reduce.dst = dst.at;
	s->reduce.n = (int)dst.n;
	if (n != s->reduce.n)
		parse_fail(p, "the reduction has %d targets, but %d values: give one value for each target", s->reduce.n, n);
	if (parse_skip_word(p, "where"))
		s->reduce.mask = parse_expr(p);
	return s;
}

static Stmt *parse_atomic(Parser *p, Stmt *s, const char *old)
{
	parse_reduce(p, s);
	s->reduce.atomic = true;
	s->reduce.old = old;
	if (old == NULL)
		return s;
	const Decl *d = scope_find(&p->scope, s->reduce.dst[0].buf);
	scope_add(&p->scope, DECL_LET, old, d != NULL ? d->type : F32);
	return s;
}

/* let t: f32 = e, or let old = atomic ... */
static Stmt *parse_let(Parser *p, Stmt *s)
{
	const char *name = parse_name(p, "a name");
	if (parse_skip(p, '=')) {
		parse_need_word(p, "atomic");
		return parse_atomic(p, s, name);
	}
	parse_need(p, ':', "':' and a type, or '= atomic'");
	DType type = parse_dtype(p);
	parse_need(p, '=', "'='");
	s->kind = ST_LET;
	s->let.var = name;
	s->let.value = parse_expr(p);
	if (!p->failed && !dtype_eq(type, s->let.value->type)) {
		char want[DTYPE_TEXT], got[DTYPE_TEXT];
		parse_fail(p, "let-type: %s is declared %s, its value is %s", name,
			dtype_print(type, want), dtype_print(s->let.value->type, got));
	}
	scope_add(&p->scope, DECL_LET, name, type);
	return s;
}

static Stmt *parse_if(Parser *p, Stmt *s)
{
	s->kind = ST_IF;
	s->branch.cond = parse_expr(p);
	s->branch.then = braces(p);
	if (!parse_skip_word(p, "else"))
		return s;
	if (!parse_at(p, "if")) {
		s->branch.other = braces(p);
		return s;
	}
	if (nest(p)) {
		Stmt *other = ir_stmt(p->ir, ST_IF);
		other->line = p->tok.line;
		parse_next(p);
		s->branch.other = parse_if(p, other);
		p->nest--;
	}
	return s;
}

/* name[i, j:4, k]: false, with the position untouched, if there is no length in it. */
static bool window(Parser *p, bool ref, CallArg *out)
{
	Arena *a = ir_arena(p->ir);
	Parser start = *p;
	VEC(const Expr *) idx = { 0 }, len = { 0 };
	bool any = ref;
	out->buf = parse_name(p, "a buffer");
	parse_need(p, '[', "'['");
	while (!parse_skip(p, ']') && !p->failed) {
		vec_push(a, &idx, parse_expr(p));
		vec_push(a, &len, parse_skip(p, ':') ? parse_expr(p) : NULL);
		any = any || len.at[len.n - 1] != NULL;
		if (len.n > PARSE_ITEMS)
			parse_fail(p, "a list of more than %d items", PARSE_ITEMS);
		if (p->tok.kind != ']')
			parse_need(p, ',', "',' or ']'");
	}
	out->n = (int)idx.n;
	out->idx = idx.at;
	out->len = len.at;
	if (!any && !p->failed) {
		p->lex = start.lex;
		p->tok = start.tok;
	}
	return any;
}

static CallArg call_arg(Parser *p)
{
	CallArg a = { 0 };
	bool ref = parse_skip_word(p, "ref");
	Lexer ahead = p->lex;
	bool maybe = p->tok.kind == T_NAME && !p->failed && lex_next(&ahead).kind == '[';
	if ((ref || maybe) && window(p, ref, &a))
		return a;
	return (CallArg){ .value = parse_expr(p) };
}

static Stmt *parse_call(Parser *p, Stmt *s, bool intrin)
{
	VEC(CallArg) list = { 0 };
	s->kind = ST_CALL;
	s->call.intrin = intrin;
	s->call.fn = parse_name(p, intrin ? "an intrinsic" : "a sub Fn");
	parse_need(p, '(', "'('");
	if (!parse_skip(p, ')')) {
		do {
			vec_push(ir_arena(p->ir), &list, call_arg(p));
			if (list.n > PARSE_ITEMS)
				parse_fail(p, "a list of more than %d items", PARSE_ITEMS);
		} while (parse_skip(p, ','));
		parse_need(p, ')', "')' or ','");
	}
	s->call.arg = list.at;
	s->call.n = (int)list.n;
	return s;
}

static Stmt *statement(Parser *p)
{
	static const char *const word[] = { "for", "block", "let", "alloc", "if", "call", "intrin",
		"async", "commit", "wait", "barrier", "atomic", "prefetch" };
	Stmt *s = ir_stmt(p->ir, ST_COMMIT);
	s->line = p->tok.line;
	switch (choose(p, word, 13)) {
	case 0: return parse_for(p, s);
	case 1: return parse_block(p, s);
	case 2: return parse_let(p, s);
	case 3: {
		s->kind = ST_ALLOC;
		const char *name = parse_name(p, "a buffer's name");
		parse_need(p, ':', "':'");
		s->alloc = layout(p, name, BUF_WORK);
		scope_add(&p->scope, DECL_BUF, name, s->alloc->type)->buf = s->alloc;
		return s;
	}
	case 4: return parse_if(p, s);
	case 5: return parse_call(p, s, false);
	case 6: return parse_call(p, s, true);
	case 7:
		s->kind = ST_ASYNC;
		s->async = braces(p);
		return s;
	case 8: return s;
	case 9:
		s->kind = ST_WAIT;
		s->pending = parse_int(p, "the number of groups", 0, 1 << 20);
		return s;
	case 10:
		s->kind = ST_BARRIER;
		/* `barrier block`: a reserved word in its other sense */
		if (parse_skip_word(p, "block"))
			s->barrier = ir_name(p->ir, "block");
		else
			s->barrier = parse_name(p, "a scope such as block");
		return s;
	case 11: return parse_atomic(p, s, NULL);
	case 12:
		s->kind = ST_PREFETCH;
		s->prefetch = access_to(p);
		return s;
	default: break;
	}
	/* A store if `[` follows the first word, else a reduction. */
	Lexer ahead = p->lex;
	if (lex_next(&ahead).kind != '[')
		return parse_reduce(p, s);
	s->kind = ST_STORE;
	s->store.dst = access_to(p);
	parse_need(p, '=', "'='");
	s->store.value = parse_expr(p);
	if (parse_skip_word(p, "where"))
		s->store.mask = parse_expr(p);
	return s;
}

static Stmt *statements(Parser *p)
{
	Stmt *first = NULL, **end = &first;
	if (!nest(p))
		return NULL;
	while (p->tok.kind == T_NAME && !p->failed) {
		*end = statement(p);
		end = &(*end)->next;
	}
	p->nest--;
	return first;
}

static void parse_symbols(Parser *p, Fn *fn)
{
	do {
		const char *name = parse_name(p, "a symbol");
		scope_add(&p->scope, DECL_SYMBOL, name, I64);
		parse_need_word(p, "in");
		int64_t lo = parse_int(p, "the least value", INT64_MIN, INT64_MAX);
		parse_need(p, T_RANGE, "'..'");
		int64_t hi = parse_int(p, "the greatest value", INT64_MIN, INT64_MAX), step = 1;
		if (parse_skip_word(p, "step"))
			step = parse_int(p, "the step", INT64_MIN, INT64_MAX);
		if (fn->nsym >= PARSE_PARAMS)
			parse_fail(p, "more than %d symbols", PARSE_PARAMS);
		ir_fn_add_sym(p->ir, fn, name, lo, hi, step);
	} while (parse_skip(p, ','));
	parse_need(p, ']', "']' or ','");
}

static void parse_param(Parser *p, Fn *fn)
{
	static const char *const role[] = { "in", "out", "inout", "const", "work", "zero" };
	const char *name = parse_name(p, "a parameter or ')'");
	parse_need(p, ':', "':'");
	int k = choose(p, role, 6);
	if (fn->nparam >= PARSE_PARAMS)
		parse_fail(p, "more than %d parameters", PARSE_PARAMS);
	if (k < 0) {
		DType type = parse_dtype(p);
		scope_add(&p->scope, DECL_SCALAR, name, type);
		ir_fn_add_scalar(p->ir, fn, name, type);
		return;
	}
	Buf *b = layout(p, name, (BufRole)k);
	b->streamed = parse_skip_word(p, "streamed");
	scope_add(&p->scope, DECL_BUF, name, b->type)->buf = b;
	ir_fn_add_buf(p->ir, fn, b);
}

static Fn *parse_fn(Parser *p, FnKind kind)
{
	Fn *fn = ir_fn(p->ir, "_", kind);
	Decl *mark = scope_enter(&p->scope);
	parse_need_word(p, "fn");
	fn->name = parse_name(p, "the name of the fn");
	if (parse_skip(p, '['))
		parse_symbols(p, fn);
	parse_need(p, '(', "'('");
	while (!parse_skip(p, ')') && !p->failed) {
		parse_param(p, fn);
		if (p->tok.kind != ')')
			parse_need(p, ',', "',' or ')'");
	}
	fn->body = braces(p);
	scope_leave(&p->scope, mark);
	return fn;
}

/* name: type, ... up to `close`. */
static int operands(Parser *p, int close, const char ***name, DType **type)
{
	Arena *a = ir_arena(p->ir);
	VEC(const char *) names = { 0 };
	VEC(DType) types = { 0 };
	do {
		vec_push(a, &names, parse_name(p, "an operand"));
		parse_need(p, ':', "':'");
		vec_push(a, &types, parse_dtype(p));
		scope_add(&p->scope, DECL_OPERAND, names.at[names.n - 1], types.at[types.n - 1]);
	} while (parse_skip(p, ',') && names.n < PARSE_ITEMS);
	parse_need(p, close, close == ';' ? "';' or ','" : "')' or ','");
	*name = names.at;
	*type = types.at;
	return (int)names.n;
}

static Monoid *parse_monoid(Parser *p)
{
	Monoid *m = arena_new_of(ir_arena(p->ir), Monoid);
	Decl *mark = scope_enter(&p->scope);
	DType *right;
	int identities, combines;
	m->name = parse_name(p, "the name of the monoid");
	parse_need(p, '(', "'('");
	m->n = operands(p, ';', &m->left, &m->type);
	int n = operands(p, ')', &m->right, &right);
	m->associative = parse_skip_word(p, "assoc");
	parse_need(p, '{', "'{'");
	parse_need_word(p, "identity");
	parse_need(p, '(', "'('");
	m->identity = parse_exprs(p, ')', &identities);
	parse_need_word(p, "combine");
	parse_need(p, '(', "'('");
	m->combine = parse_exprs(p, ')', &combines);
	parse_need(p, '}', "'}'");
	scope_leave(&p->scope, mark);
	if (n != m->n || identities != n || combines != n)
		parse_fail(p,
			"monoid %s has not the same number of left, right, identity and combine",
			m->name);
	for (int i = 0; i < m->n && !p->failed; i++)
		if (!dtype_eq(m->type[i], right[i]))
			parse_fail(p, "the two operands %s and %s differ in type", m->left[i],
				m->right[i]);
	return m;
}

KernelSet *ir_parse_set(Ir *ir, const char *name, const char *text, size_t n, Err *err)
{
	if (n > PARSE_BYTES) {
		fail(err, ERR_SYNTAX, name, "the text is larger than 64 MiB: write a smaller kernel set");
		return NULL;
	}
	Parser p;
	KernelSet *ks = ir_set_new(ir);
	parse_init(&p, ir, name, text, n, err);
	while (p.tok.kind != T_END && !p.failed) {
		if (parse_skip_word(&p, "monoid"))
			ir_set_add_monoid(ks, parse_monoid(&p));
		else if (parse_skip_word(&p, "prepare"))
			ir_set_add(ks, parse_fn(&p, FN_PREPARE));
		else if (parse_skip_word(&p, "sub"))
			ir_set_add(ks, parse_fn(&p, FN_SUB));
		else if (parse_at(&p, "fn"))
			ir_set_add(ks, parse_fn(&p, FN_RUN));
		else
			parse_expected(&p, "fn, prepare fn, sub fn or monoid");
	}
	return p.failed ? NULL : ks;
}
