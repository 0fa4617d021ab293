/* The parser of TorchScript code (code.h): recursive descent, at most MOST_DEPTH deep. */
#include "frontend/pytorch/code.h"
#include "frontend/pytorch/lex.h"

#include <string.h>

enum { MOST_DEPTH = 200 };

typedef struct Parser {
	Arena *a;
	ScriptLexer lex;
	int depth;
	const char *module;
} Parser;

static bool next(Parser *p)
{
	return script_word(&p->lex);
}

static bool is_sign(const Parser *p, const char *s)
{
	return p->lex.kind == TOKEN_SIGN && strcmp(p->lex.text, s) == 0;
}

static bool is_word(const Parser *p, const char *s)
{
	return p->lex.kind == TOKEN_NAME && strcmp(p->lex.text, s) == 0;
}

static bool expect(Parser *p, const char *s)
{
	if (is_sign(p, s))
		return next(p);
	return script_fail(&p->lex, arena_printf(p->a, "lacks a '%s'", s));
}

static bool expect_line(Parser *p)
{
	if (p->lex.kind == TOKEN_LINE)
		return next(p);
	return p->lex.kind == TOKEN_END || p->lex.kind == TOKEN_DEDENT ||
	       script_fail(&p->lex, "goes on where a line should end");
}

static bool name(Parser *p, const char **out)
{
	*out = "";
	if (p->lex.kind != TOKEN_NAME)
		return script_fail(&p->lex, "lacks a name");
	*out = p->lex.text;
	return next(p);
}

/* ---- expressions */

static ScriptExpr *expr(Parser *p);

static ScriptExpr *new_expr(Parser *p, ScriptExprKind kind)
{
	ScriptExpr *e = arena_new_of(p->a, ScriptExpr);
	*e = (ScriptExpr){ .kind = kind, .line = p->lex.line, .text = "" };
	return e;
}

typedef struct Parts {
	VEC(ScriptExpr *) part;
	VEC(const char *) key;
} Parts;

static void take(ScriptExpr *e, const Parts *list)
{
	e->part = list->part.at;
	e->key = list->key.at;
	e->n = list->part.n;
}

/* Expressions up to a closing sign; `keyed`: "name=" may precede one; `pairs`: "key: value". */
static bool listed(Parser *p, Parts *list, const char *close, bool keyed, bool pairs)
{
	while (!is_sign(p, close)) {
		ScriptExpr *e = expr(p);
		const char *key = NULL;
		if (e == NULL)
			return false;
		if (keyed && is_sign(p, "=") && e->kind == SCRIPT_NAME) {
			key = e->text;
			if (!next(p) || (e = expr(p)) == NULL)
				return false;
		}
		vec_push(p->a, &list->part, e);
		vec_push(p->a, &list->key, key);
		if (pairs) {
			if (!expect(p, ":") || (e = expr(p)) == NULL)
				return false;
			vec_push(p->a, &list->part, e);
			vec_push(p->a, &list->key, NULL);
		}
		if (!is_sign(p, close) && !expect(p, ","))
			return false;
	}
	return next(p);
}

/* (a), (a, b), (a,) */
static ScriptExpr *bracketed(Parser *p)
{
	Parts list = { 0 };
	ScriptExpr *e = new_expr(p, SCRIPT_TUPLE);
	bool comma = false;
	while (!is_sign(p, ")")) {
		ScriptExpr *x = expr(p);
		if (x == NULL)
			return NULL;
		vec_push(p->a, &list.part, x);
		vec_push(p->a, &list.key, NULL);
		if (!is_sign(p, ")")) {
			comma = true;
			if (!expect(p, ","))
				return NULL;
		}
	}
	if (!next(p))
		return NULL;
	if (list.part.n == 1 && !comma)
		return list.part.at[0];
	take(e, &list);
	return e;
}

static ScriptExpr *atom(Parser *p)
{
	Parts list = { 0 };
	ScriptExpr *e = new_expr(p, SCRIPT_CONST);
	if (p->lex.kind == TOKEN_CONST) {
		e->value = p->lex.value;
		return next(p) ? e : NULL;
	}
	if (p->lex.kind == TOKEN_NAME) {
		e->kind = SCRIPT_NAME;
		e->text = p->lex.text;
		return next(p) ? e : NULL;
	}
	if (is_sign(p, "("))
		return next(p) ? bracketed(p) : NULL;
	bool dict = is_sign(p, "{");
	if (!dict && !is_sign(p, "[")) {
		script_fail(&p->lex, "has no expression where one is needed");
		return NULL;
	}
	e->kind = dict ? SCRIPT_DICT : SCRIPT_LIST;
	if (!next(p) || !listed(p, &list, dict ? "}" : "]", false, dict))
		return NULL;
	take(e, &list);
	return e;
}

/* An atom with what follows it: .name, (arguments), [index] */
static ScriptExpr *postfix(Parser *p)
{
	ScriptExpr *e = atom(p);
	for (int links = 1; e != NULL && (is_sign(p, ".") || is_sign(p, "(") || is_sign(p, "[")); links++) {
		if (links > MOST_DEPTH) {
			script_fail(&p->lex, "is nested too deep");
			return NULL;
		}
		ScriptExpr *outer = new_expr(p, is_sign(p, ".") ? SCRIPT_ATTR : is_sign(p, "(") ? SCRIPT_CALL : SCRIPT_INDEX);
		Parts list = { 0 };
		vec_push(p->a, &list.part, e);
		vec_push(p->a, &list.key, NULL);
		if (!next(p))
			return NULL;
		bool ok = outer->kind == SCRIPT_ATTR   ? name(p, &outer->text)
		          : outer->kind == SCRIPT_CALL ? listed(p, &list, ")", true, false)
		                                       : listed(p, &list, "]", false, false);
		if (!ok)
			return NULL;
		take(outer, &list);
		e = outer;
	}
	return e;
}

static ScriptExpr *unary(Parser *p)
{
	if (!is_sign(p, "-"))
		return postfix(p);
	ScriptExpr *e = new_expr(p, SCRIPT_NEG), *x = NULL;
	if (++p->depth > MOST_DEPTH)
		script_fail(&p->lex, "is nested too deep");
	else if (next(p))
		x = unary(p);
	p->depth--;
	if (x == NULL)
		return NULL;
	Parts list = { 0 };
	vec_push(p->a, &list.part, x);
	vec_push(p->a, &list.key, NULL);
	take(e, &list);
	return e;
}

static ScriptExpr *expr(Parser *p)
{
	ScriptExpr *x = NULL;
	if (++p->depth > MOST_DEPTH)
		script_fail(&p->lex, "is nested too deep");
	else
		x = unary(p);
	if (x != NULL && is_word(p, "if")) {
		ScriptExpr *e = new_expr(p, SCRIPT_CHOICE), *cond, *other;
		Parts list = { 0 };
		if (!next(p) || (cond = expr(p)) == NULL)
			return NULL;
		if (!is_word(p, "else")) {
			script_fail(&p->lex, "lacks an else");
			return NULL;
		}
		if (!next(p) || (other = expr(p)) == NULL)
			return NULL;
		vec_push(p->a, &list.part, x);
		vec_push(p->a, &list.part, cond);
		vec_push(p->a, &list.part, other);
		for (int k = 0; k < 3; k++)
			vec_push(p->a, &list.key, NULL);
		take(e, &list);
		x = e;
	}
	p->depth--;
	return x;
}

/* ---- statements */

static bool block(Parser *p, ScriptBlock *out);

/* "a, b, = x": expressions with commas between them; *comma: there was one. */
static ScriptExpr *several(Parser *p, bool *comma)
{
	Parts list = { 0 };
	ScriptExpr *e = new_expr(p, SCRIPT_TUPLE);
	*comma = false;
	for (;;) {
		ScriptExpr *x = expr(p);
		if (x == NULL)
			return NULL;
		vec_push(p->a, &list.part, x);
		vec_push(p->a, &list.key, NULL);
		if (!is_sign(p, ","))
			break;
		*comma = true;
		if (!next(p))
			return NULL;
		if (is_sign(p, "=") || p->lex.kind == TOKEN_LINE)
			break;
	}
	if (list.part.n == 1 && !*comma)
		return list.part.at[0];
	take(e, &list);
	return e;
}

/* An assignment, with a type or without, or an expression alone. */
static bool simple(Parser *p, ScriptStmt *s)
{
	bool comma;
	s->kind = SCRIPT_DO_EXPR;
	s->expr = several(p, &comma);
	if (s->expr == NULL)
		return false;
	if (is_sign(p, ":") && (!next(p) || expr(p) == NULL)) /* the type of what is assigned says nothing new */
		return false;
	if (is_sign(p, "=")) {
		s->kind = SCRIPT_DO_ASSIGN;
		s->target = s->expr;
		s->unpack = comma;
		if (!next(p))
			return false;
		s->expr = several(p, &comma);
		if (s->expr == NULL)
			return false;
	}
	return expect_line(p);
}

static bool statement(Parser *p, ScriptStmt *s)
{
	*s = (ScriptStmt){ .kind = SCRIPT_DO_PASS, .line = p->lex.line };
	if (is_word(p, "pass"))
		return next(p) && expect_line(p);
	if (is_word(p, "return")) {
		bool comma;
		s->kind = SCRIPT_DO_RETURN;
		if (!next(p))
			return false;
		if (p->lex.kind != TOKEN_LINE && p->lex.kind != TOKEN_END && (s->expr = several(p, &comma)) == NULL)
			return false;
		return expect_line(p);
	}
	if (is_word(p, "if") || is_word(p, "while")) {
		s->kind = is_word(p, "if") ? SCRIPT_DO_IF : SCRIPT_DO_WHILE;
		if (!next(p) || (s->expr = expr(p)) == NULL || !block(p, &s->body))
			return false;
		if (s->kind == SCRIPT_DO_IF && is_word(p, "else"))
			return next(p) && block(p, &s->other);
		return true;
	}
	if (is_word(p, "for")) {
		s->kind = SCRIPT_DO_FOR;
		if (!next(p))
			return false;
		s->target = atom(p); /* "in" must not be taken as part of it */
		if (s->target == NULL || !is_word(p, "in"))
			return script_fail(&p->lex, "lacks the word in");
		return next(p) && (s->expr = expr(p)) != NULL && block(p, &s->body);
	}
	static const char *const odd[] = { "with", "try", "del", "assert", "import", "raise", "break", "continue", "def",
		"class", "lambda", "yield", "global" };
	for (size_t k = 0; k < sizeof odd / sizeof *odd; k++)
		if (is_word(p, odd[k]))
			return script_fail(&p->lex, arena_printf(p->a, "has '%s', which dlc does not read", odd[k]));
	return simple(p, s);
}

/* ": NEWLINE INDENT statements DEDENT" */
static bool block(Parser *p, ScriptBlock *out)
{
	if (++p->depth > MOST_DEPTH)
		return script_fail(&p->lex, "is nested too deep");
	if (!expect(p, ":"))
		return false;
	if (p->lex.kind != TOKEN_LINE || !next(p) || p->lex.kind != TOKEN_INDENT || !next(p))
		return script_fail(&p->lex, "lacks an indented block");
	while (p->lex.kind != TOKEN_DEDENT && p->lex.kind != TOKEN_END) {
		ScriptStmt s;
		if (!statement(p, &s))
			return false;
		vec_push(p->a, out, s);
	}
	p->depth--;
	return p->lex.kind == TOKEN_END || next(p);
}

/* ---- functions and classes */

static bool function(Parser *p, ScriptItem *f)
{
	VEC(ScriptArg) args = { 0 };
	f->line = p->lex.line;
	f->module = p->module;
	if (!next(p) || !name(p, &f->name) || !expect(p, "("))
		return false;
	while (!is_sign(p, ")")) {
		ScriptArg arg = { 0 };
		if (!name(p, &arg.name))
			return false;
		if (is_sign(p, ":") && (!next(p) || (arg.type = expr(p)) == NULL))
			return false;
		if (is_sign(p, "=") && (!next(p) || (arg.otherwise = expr(p)) == NULL))
			return false;
		vec_push(p->a, &args, arg);
		if (!is_sign(p, ")") && !expect(p, ","))
			return false;
	}
	f->arg = args.at;
	f->narg = args.n;
	if (!next(p))
		return false;
	if (is_sign(p, "->") && (!next(p) || expr(p) == NULL))
		return false;
	return block(p, &f->body);
}

/* "name : type", "name : Final[type] = value"; other lines of a class (lists of names) say nothing that is needed. */
static bool attribute(Parser *p, ScriptArg *out, bool *made)
{
	bool comma;
	ScriptExpr *e = several(p, &comma);
	*out = (ScriptArg){ .name = e != NULL ? e->text : "" };
	*made = false;
	if (e == NULL)
		return false;
	if (is_sign(p, ":")) {
		*made = e->kind == SCRIPT_NAME;
		if (!next(p) || (out->type = expr(p)) == NULL)
			return false;
	}
	if (is_sign(p, "=") && (!next(p) || (out->otherwise = several(p, &comma)) == NULL))
		return false;
	return expect_line(p);
}

static bool class(Parser *p, ScriptItem *c)
{
	VEC(ScriptArg) args = { 0 };
	VEC(ScriptItem *) members = { 0 };
	Parts bases = { 0 };
	c->class = true;
	c->line = p->lex.line;
	c->module = p->module;
	if (!next(p) || !name(p, &c->name))
		return false;
	if (is_sign(p, "(") && (!next(p) || !listed(p, &bases, ")", true, false)))
		return false;
	c->tuple = bases.part.n > 0 && strcmp(bases.part.at[0]->text, "NamedTuple") == 0;
	if (!expect(p, ":") || p->lex.kind != TOKEN_LINE || !next(p) || p->lex.kind != TOKEN_INDENT || !next(p))
		return script_fail(&p->lex, "lacks an indented block");
	while (p->lex.kind != TOKEN_DEDENT && p->lex.kind != TOKEN_END) {
		if (is_word(p, "def")) {
			ScriptItem *f = arena_new_of(p->a, ScriptItem);
			if (!function(p, f))
				return false;
			vec_push(p->a, &members, f);
			continue;
		}
		ScriptArg arg;
		bool made = false, empty = is_word(p, "pass");
		if (empty ? !next(p) || !expect_line(p) : !attribute(p, &arg, &made))
			return false;
		if (made)
			vec_push(p->a, &args, arg);
	}
	c->arg = args.at;
	c->narg = args.n;
	c->member = members.at;
	c->nmember = members.n;
	return p->lex.kind == TOKEN_END || next(p);
}

ScriptFile *script_parse(Arena *a, const char *module, Bytes text, Err *err)
{
	Parser p = { .a = a, .module = module };
	VEC(ScriptItem *) items = { 0 };
	p.lex = (ScriptLexer){ .a = a, .in = text, .line = 1, .fresh = true, .err = err, .module = module };
	if (!next(&p))
		return NULL;
	while (p.lex.kind != TOKEN_END) {
		ScriptItem *it = arena_new_of(a, ScriptItem);
		bool known = is_word(&p, "def") || is_word(&p, "class");
		if (p.lex.kind == TOKEN_LINE || p.lex.kind == TOKEN_DEDENT) {
			if (!next(&p))
				return NULL;
			continue;
		}
		if (!known)
			script_fail(&p.lex, "has something else than functions and classes");
		if (!known || !(is_word(&p, "def") ? function(&p, it) : class(&p, it)))
			return NULL;
		vec_push(a, &items, it);
	}
	ScriptFile *f = arena_new_of(a, ScriptFile);
	*f = (ScriptFile){ module, items.at, items.n };
	return f;
}
