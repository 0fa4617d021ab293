/*
 * Atomic reductions on devices, of one element of 32 bits that other threads reach: compare and exchange until no other
 * thread has changed it in between. The rest is refused by name. OpenCL C 1.2 has nothing else for floats.
 */
#include "codegen/c/print.h"

#include "ir/build.h"
#include "ir/walk.h"

/* The monoid's combination of two variables of C, named `left` and `right` by the language. */
static const Expr *combined(Print *p, const Monoid *m, const char **left, const char **right)
{
	Ir *ir = p->job->ks->ir;
	*left = ir_fresh_name(ir, "left");
	*right = ir_fresh_name(ir, "right");
	const Expr *e = ir_subst(ir, m->combine[0], m->left[0], ir_var(ir, *left, m->type[0]));
	return ir_subst(ir, e, m->right[0], ir_var(ir, *right, m->type[0]));
}

void c_atomic(Print *p, const Stmt *s)
{
	const Access *d = &s->reduce.dst[0];
	const MapEntry *scope = map_find_ptr(&p->scopes, d->buf);
	DType t = s->reduce.value[0]->type;
	const Monoid *m = ir_find_monoid(p->job->ks, s->reduce.monoid, t);
	if (!p->d->devices || t.lanes > 1 || s->reduce.n > 1 || t.bits != 32 ||
		(scope != NULL && scope->num == C_PRIVATE) || (s->reduce.mask != NULL && s->reduce.old != NULL)) {
		c_refuse(p, "atomics but of one element of 32 bits that all threads reach");
		return;
	}
	const char *left, *right, *word = p->d->uints[2], *type = c_type(p, t);
	const char *space = scope != NULL ? p->d->shared : p->d->global;
	const Expr *value = combined(p, m, &left, &right);
	int n = p->temps++;
	if (s->reduce.old != NULL) {
		text_add(p->out, "%s %s;", type, c_name(p, s->reduce.old));
		c_line(p);
	}
	if (s->reduce.mask != NULL) {
		text_add(p->out, "if (");
		c_whole(p, s->reduce.mask, NULL);
		text_add(p->out, ") ");
	}
	text_add(p->out, "{");
	p->depth++;
	c_line(p);
	text_add(p->out, "volatile %s%s *const place%d = (volatile %s%s *)&", space, word, n, space, word);
	c_access(p, d->buf, d->idx[0], NULL);
	text_add(p->out, ";");
	c_line(p);
	text_add(p->out, "const %s %s = ", type, c_name(p, right));
	c_whole(p, s->reduce.value[0], NULL);
	text_add(p->out, ";");
	c_line(p);
	text_add(p->out, "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);");
	c_line(p);
	text_add(p->out, "for (%s seen%d = *place%d, now%d;; seen%d = now%d) {", word, n, n, n, n, n);
	p->depth++;
	c_line(p);
	text_add(p->out, "const %s %s = as_%s(seen%d);", type, c_name(p, left), type, n);
	c_line(p);
	text_add(p->out, "now%d = atomic_cmpxchg(place%d, seen%d, as_%s((%s)(", n, n, n, word, type);
	c_whole(p, value, NULL);
	text_add(p->out, ")));");
	c_line(p);
	if (s->reduce.old != NULL) {
		text_add(p->out, "%s = %s;", c_name(p, s->reduce.old), c_name(p, left));
		c_line(p);
	}
	text_add(p->out, "if (now%d == seen%d) break;", n, n);
	p->depth--;
	c_line(p);
	text_add(p->out, "}");
	c_line(p);
	text_add(p->out, "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);");
	p->depth--;
	c_line(p);
	text_add(p->out, "}");
}
