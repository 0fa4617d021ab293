/*
 * Calls to interpreter code: sub-Fns and the meanings of intrinsics are expanded in place, their
 * buffers being windows of the caller's.
 */
#include "interp/cx.h"
#include "ir/text/intrin.h"

const Fn *cx_callee(const Cx *c, const Stmt *s)
{
	return s->call.intrin ? ir_intrin(c->ks->ir, s->call.fn) : ir_find_fn(c->ks, s->call.fn);
}

bool cx_is_input(const Buf *b)
{
	return b->role == BUF_IN || b->role == BUF_CONST;
}

/* The view an argument is; a whole buffer is passed as it is. */
static bool window(Cx *c, const CallArg *arg, const Param *p, Bound *out)
{
	const Bound *b = cx_find_buf(c, arg->buf);
	if (b == NULL)
		return cx_fail(c, ERR_INPUT, "there is no buffer %s", arg->buf);
	*out = (Bound){ p->name, b->view, b->type, b->rank, b->readonly || cx_is_input(p->buf) };
	if (!dtype_eq(b->type, dtype_scalar(p->buf->type)))
		return cx_fail(c, ERR_TYPE, "parameter %s and its argument %s have different element types", p->name, arg->buf);
	if (p->buf->map.n > 0)
		return cx_fail(c, ERR_UNSUPPORTED,
			"parameter %s of the sub-Fn has an index map, which only buffers of whole kernels have", p->name);
	if (arg->n > 0) {
		if (arg->n != b->rank)
			return cx_fail(c, ERR_INPUT, "the window of %s has %d indices, but the buffer has %d dimensions", arg->buf,
				arg->n, b->rank);
		uint32_t slot[2 * RANK];
		out->rank = 0;
		for (int k = 0; k < arg->n; k++) {
			slot[2 * k + 1] = NOSLOT;
			if (!cx_expr(c, arg->idx[k], 0, &slot[2 * k]) ||
				(arg->len[k] != NULL &&
					!cx_expr(c, arg->len[k], 0, &slot[2 * k + 1])))
				return false;
			out->rank += arg->len[k] != NULL;
		}
		uint32_t list = (uint32_t)c->pool.n;
		for (int k = 0; k < 2 * arg->n; k++)
			vec_push(c->arena, &c->pool, slot[k]);
		out->view = c->prog->nview++;
		if (!cx_emit(c, (Ins){ .op = OP_WINDOW,
					.d = out->view,
					.a = b->view,
					.b = list,
					.c = (uint32_t)arg->n }))
			return false;
	}
	if (out->rank != p->buf->rank)
		return cx_fail(c, ERR_INPUT, "the argument for %s has %d dimensions, but the parameter has %d", p->name,
			out->rank, p->buf->rank);
	return true;
}

static bool arguments(Cx *c, const Stmt *s, const Fn *f, Bound *view, uint32_t *scalar)
{
	if (s->call.n != f->nparam)
		return cx_fail(c, ERR_INPUT, "%s is called with %d arguments, but has %d parameters", f->name, s->call.n,
			f->nparam);
	for (int k = 0; k < f->nparam; k++) {
		const CallArg *arg = &s->call.arg[k];
		const Param *p = &f->param[k];
		uint32_t v;
		if ((p->buf == NULL) != (arg->buf == NULL))
			return cx_fail(c, ERR_INPUT,
				p->buf != NULL ? "the argument for %s is a value, but the parameter is a buffer"
					       : "the argument for %s is a buffer, but the parameter is a value",
				p->name);
		if (p->buf != NULL) {
			if (!window(c, arg, p, &view[k]))
				return false;
			continue;
		}
		scalar[k] = cx_slots(c, 1);
		if (!cx_expr(c, arg->value, 0, &v) || !cx_move(c, scalar[k], v))
			return false;
	}
	return true;
}

bool cx_call(Cx *c, const Stmt *s)
{
	const Fn *f = cx_callee(c, s);
	if (f == NULL)
		return cx_fail(c, ERR_INPUT, "there is no %s %s", s->call.intrin ? "intrinsic" : "sub-Fn", s->call.fn);
	if (++c->depth > CALL_DEPTH)
		return cx_fail(c, ERR_INPUT, "the call of %s is nested more than %d deep", f->name, CALL_DEPTH);
	Bound *view = arena_array(c->arena, Bound, f->nparam + 1);
	uint32_t *scalar = arena_array(c->arena, uint32_t, f->nparam + 1);
	if (!arguments(c, s, f, view, scalar))
		return false;
	size_t names = c->name.n, bufs = c->buf.n, name_base = c->name_base, buf_base = c->buf_base;
	Origin at = c->at;
	c->name_base = names;
	c->buf_base = bufs;
	map_truncate(&c->cached, 0);
	for (int k = 0; k < f->nparam; k++) {
		const Param *p = &f->param[k];
		if (p->buf == NULL)
			cx_name(c, p->name, scalar[k], p->type);
		else
			vec_push(c->arena, &c->buf, view[k]);
	}
	bool ok = true;
	for (int k = 0; k < f->nparam && ok; k++) {
		const Buf *b = f->param[k].buf;
		uint32_t list;
		ok = b == NULL || (cx_list(c, b->shape, b->rank, 0, &list) &&
					  cx_emit(c, (Ins){ .op = OP_SHAPE,
							     .d = view[k].view,
							     .b = list,
							     .c = (uint32_t)b->rank }));
	}
	c->at.fn = f;
	ok = ok && cx_sequence(c, f->body);
	c->at = at;
	c->name.n = names;
	c->buf.n = bufs;
	c->name_base = name_base;
	c->buf_base = buf_base;
	c->depth--;
	return ok;
}
