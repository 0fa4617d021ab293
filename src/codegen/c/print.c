/*
 * Statements and Fns. Allocs are variables where every access is a whole vector or a constant lane; arrays of the
 * kernel; what the threads of a block share; or parts of the workspace, where allocs of disjoint scopes share a place.
 */
#include "codegen/c/print.h"

#include "ir/build.h"
#include "ir/query.h"

#include <string.h>

enum {
	WORK_ALIGN = 64,
	PRIVATE_BYTES = 1 << 16, /* of an array that each thread of a block has; more would leave any device's registers
	                            and stack */
	STACK_BYTES = 4096,      /* of an array of a kernel of one thread: larger ones lie in its workspace */
	LONE_BYTES = 1 << 28,    /* of arrays of all threads of a launch, where no threads run together (PoCL) */
};

void c_line(Print *p)
{
	text_add(p->out, "\n%*s", 4 * p->depth, "");
}

void c_whole(Print *p, const Expr *e, const char *lane)
{
	if (e->size > C_LINE)
		c_refuse(p, "an expression of millions of nodes");
	else
		c_expr(p, e, lane);
}

void c_whole_vector(Print *p, const Expr *e)
{
	if ((int64_t)e->size * e->type.lanes > C_LINE)
		c_refuse(p, "an expression of millions of nodes");
	else
		c_vector(p, e);
}

static void statements(Print *p, const Stmt *s);

static void braces(Print *p, const Stmt *s)
{
	text_add(p->out, " {");
	p->depth++;
	statements(p, s);
	p->depth--;
	c_line(p);
	text_add(p->out, "}");
}

const char *c_index_type(Print *p, const char *name, int64_t lo, int64_t hi)
{
	bool fits = p->d->vectors && lo >= INT32_MIN && hi <= INT32_MAX;
	if (fits)
		map_add_ptr(&p->narrow, name);
	/* A CPU's compiler spends a quarter of its time on proofs that a sum of 32 bits can be widened to an address. */
	return fits && target_has_warps(p->job->target) ? p->d->ints[2] : p->d->ints[3];
}

/* One instance of the launch: the nest's extents are the launch's. */
static void bound_loop(Print *p, const Stmt *s)
{
	bool grid = strncmp(s->loop.axis, "grid", 4) == 0;
	const Interval n = ir_interval(s->loop.hi, p->env);
	const char *t = c_index_type(p, s->loop.var, 0, n.hi);
	text_add(p->out, "const %s %s = (%s)get_%s_id(%d);", t, c_name(p, s->loop.var), t, grid ? "group" : "local",
		s->loop.axis[strlen(s->loop.axis) - 1] - 'x');
	statements(p, s->loop.body);
}

/* Over the threads of a team: this is one of them. */
static void team_loop(Print *p, const Stmt *s)
{
	const char *v = c_name(p, s->loop.var);
	text_add(p->out, "const int64_t %s = call->thread;", v);
	c_line(p);
	text_add(p->out, "if (%s < ", v);
	c_whole(p, s->loop.hi, NULL);
	text_add(p->out, ")");
	braces(p, s->loop.body);
}

static void loop(Print *p, const Stmt *s)
{
	const char *v = c_name(p, s->loop.var);
	const Range *outer = p->env;
	Interval lo = ir_interval(s->loop.lo, p->env), hi = ir_interval(s->loop.hi, p->env);
	const Range *inner = ir_range_for(p->job->ks->ir, s->loop.var, s->loop.lo, s->loop.hi, p->env);
	if (s->loop.kind == LOOP_BOUND) {
		p->env = inner;
		if (p->d->devices)
			bound_loop(p, s);
		else
			team_loop(p, s);
		p->env = outer;
		return;
	}
	/* The variable comes to hi, or stays at lo. */
	const char *t = c_index_type(p, s->loop.var, lo.lo, hi.hi > lo.hi ? hi.hi : lo.hi);
	bool fits = map_find_ptr(&p->narrow, s->loop.var) != NULL, constant = s->loop.hi->op == IR_INT;
	int end = constant ? 0 : p->temps++;
	if (!constant) {
		text_add(p->out, "const %s end%d = ", fits && !c_is_narrow(p, s->loop.hi) ? p->d->ints[3] : t, end);
		c_whole(p, s->loop.hi, NULL);
		text_add(p->out, ";");
		c_line(p);
	}
	text_add(p->out, "for (%s %s = ", t, v);
	c_whole(p, s->loop.lo, NULL);
	text_add(p->out, "; %s < ", v);
	if (constant)
		c_whole(p, s->loop.hi, NULL);
	else
		text_add(p->out, "end%d", end);
	text_add(p->out, "; %s++)", v);
	p->env = inner;
	braces(p, s->loop.body);
	p->env = outer;
}

/* ---- allocs ---- */

static int64_t take_work(Print *p, int64_t bytes)
{
	int64_t at = p->work_at;
	if (bytes < 0 || bytes > INT64_C(1) << 36) {
		c_refuse(p, "an alloc of that size");
		return 0;
	}
	p->work_at += (bytes + WORK_ALIGN - 1) / WORK_ALIGN * WORK_ALIGN;
	p->work_bytes = p->work_at > p->work_bytes ? p->work_at : p->work_bytes;
	return at;
}

static int64_t bytes_of(Print *p, const Buf *b, int64_t *elements)
{
	Interval n = ir_interval(b->shape[0], ir_range_fn(p->job->ks->ir, p->fn));
	*elements = n.hi;
	map_add_ptr(&p->elements, b->name)->num = n.lo;
	return n.hi < 0 ? 0 : dtype_bytes(b->type, n.hi);
}

static void in_work(Print *p, const Buf *b, int64_t bytes)
{
	const char *t = c_memory_type(p, b->type);
	text_add(p->out, "%s%s *const %s = (%s%s *)(work + %s%lld);", p->d->global, t, c_name(p, b->name), p->d->global,
		t, p->d->devices ? "work_at + " : "", (long long)take_work(p, bytes));
}

static bool has_launch(const Print *p)
{
	if (p->kernel == NULL)
		return true;
	for (int k = DLC_GRID; k < DLC_SHARED; k++)
		if (p->kernel->launch.dim[k].mul != 0 || p->kernel->launch.dim[k].add != 1)
			return true;
	return false;
}

/* How many threads a launch of constant extents has; 0: they are not constant. */
static int64_t launched_threads(const Print *p)
{
	int64_t n = 1;
	for (int k = DLC_GRID; k < DLC_SHARED; k++) {
		const DlcDim *d = &p->kernel->launch.dim[k];
		if (d->mul != 0 || n > INT32_MAX)
			return 0;
		n *= d->add / d->div;
	}
	return n;
}

/* A piece of the workspace for each thread of the launch, where threads have memory and no registers of their own. */
static void in_work_of_thread(Print *p, const Buf *b, int64_t bytes, int64_t threads)
{
	const char *t = c_memory_type(p, b->type), *wide = p->d->uints[3];
	int64_t each = (bytes + WORK_ALIGN - 1) / WORK_ALIGN * WORK_ALIGN;
	text_add(p->out, "%s%s *const %s = (%s%s *)(work + work_at + %lld + %lld * ", p->d->global, t, c_name(p, b->name),
		p->d->global, t, (long long)take_work(p, each * threads), (long long)each);
	text_add(p->out, "(((%s)get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + "
		"get_global_id(0)));", wide);
}

static void alloc_own(Print *p, const Buf *b)
{
	int64_t n, bytes = bytes_of(p, b, &n);
	int64_t threads = p->kernel != NULL && p->job->target->blocks.warp == 1 ? launched_threads(p) : 0;
	const char *t = c_memory_type(p, b->type), *v = c_name(p, b->name);
	const MapEntry *lanes = map_find_ptr(&p->lanes, b->name);
	n = n < 1 ? 1 : n;
	if (strcmp(b->scope, "shared") == 0) {
		text_add(p->out, "%s%s %s[%lld];", p->d->shared, t, v, (long long)n);
		map_add_ptr(&p->scopes, b->name)->num = C_SHARED;
		p->shared_bytes += (bytes + WORK_ALIGN - 1) / WORK_ALIGN * WORK_ALIGN;
	} else if (lanes != NULL && lanes->num > 0) {
		text_add(p->out, "%s %s;", c_vector_type(p, dtype_vector(b->type, (int)lanes->num), false), v);
	} else if (bytes > STACK_BYTES && !has_launch(p)) {
		in_work(p, b, bytes);
	} else if (bytes >= 0 && bytes <= PRIVATE_BYTES) {
		text_add(p->out, "%s %s[%lld];", t, v, (long long)n);
		map_add_ptr(&p->scopes, b->name)->num = C_PRIVATE;
	} else if (threads > 0 && bytes > 0 && bytes <= LONE_BYTES / threads) {
		in_work_of_thread(p, b, bytes, threads);
	} else {
		c_refuse(p, "an alloc of more than 64 KiB for each thread");
	}
}

static void alloc(Print *p, const Buf *b)
{
	int64_t n;
	if (p->d->devices)
		alloc_own(p, b);
	else
		in_work(p, b, bytes_of(p, b, &n));
}

/* Allocs that every access takes whole or by a constant lane. */
static bool add_lanes(Stmt *s, void *arg)
{
	Print *p = arg;
	int64_t n;
	if (s->kind != ST_ALLOC || !ir_is_int(s->alloc->shape[0], &n) || strcmp(s->alloc->scope, "shared") == 0 ||
		s->alloc->type.kind == DT_BOOL)
		return true;
	if (n == 1 || (n <= 16 && c_has_vector(p, (int)n)))
		map_add_ptr(&p->lanes, s->alloc->name)->num = n;
	return true;
}

static void check_lanes(const IrUse *use, void *arg)
{
	Print *p = arg;
	bool fits = (use->kind == USE_LOAD || use->kind == USE_STORE) && c_is_variable(p, use->buf, use->idx[0]);
	MapEntry *e = map_find_ptr(&p->lanes, use->buf) != NULL ? map_add_ptr(&p->lanes, use->buf) : NULL;
	if (e != NULL && !fits)
		e->num = 0;
}

static void find_variables(Print *p)
{
	Map found = MAP_OF(p->job->arena);
	p->lanes = found;
	if (!p->d->vectors)
		return;
	ir_each_stmt(p->fn->body, add_lanes, p);
	ir_each_use(p->fn->body, check_lanes, p);
}

/* ---- the rest ---- */

/* A sub Fn of a team works behind what its caller uses. */
static void call(Print *p, const Stmt *s)
{
	size_t k = 0;
	while (strcmp(p->job->ks->fn[k]->name, s->call.fn) != 0)
		k++;
	if (p->d->devices)
		text_add(p->out, "%s(", c_name(p, s->call.fn));
	else
		text_add(p->out, "C_KERNEL(%s)(call, work + %lld", c_name(p, s->call.fn), (long long)p->work_at);
	for (int j = 0; j < s->call.n; j++) {
		text_add(p->out, j > 0 || !p->d->devices ? ", " : "");
		if (s->call.arg[j].buf != NULL)
			text_add(p->out, "%s", c_name(p, s->call.arg[j].buf));
		else
			c_whole(p, s->call.arg[j].value, NULL);
	}
	text_add(p->out, ");");
	int64_t need = p->work_at + p->sub_bytes[k];
	p->work_bytes = need > p->work_bytes ? need : p->work_bytes;
}

static void branch(Print *p, const Stmt *s)
{
	const Range *outer = p->env;
	text_add(p->out, "if (");
	c_whole(p, s->branch.cond, NULL);
	text_add(p->out, ")");
	p->env = ir_range_if(p->job->ks->ir, s->branch.cond, true, outer);
	braces(p, s->branch.then);
	p->env = ir_range_if(p->job->ks->ir, s->branch.cond, false, outer);
	if (s->branch.other != NULL) {
		text_add(p->out, " else");
		braces(p, s->branch.other);
	}
	p->env = outer;
}

static void statement(Print *p, const Stmt *s)
{
	switch (s->kind) {
	case ST_FOR: loop(p, s); break;
	case ST_STORE: c_store(p, s); break;
	case ST_LET: c_let(p, s); break;
	case ST_ALLOC: alloc(p, s->alloc); break;
	case ST_CALL: call(p, s); break;
	case ST_BARRIER: text_add(p->out, "%s", p->d->barrier); break;
	case ST_PREFETCH: text_add(p->out, ";"); break;
	case ST_IF: branch(p, s); break;
	default: c_atomic(p, s); break; /* the passes left nothing else */
	}
}

/* May memory change, which a variable of a list holds a part of? */
static bool changes_memory(const Print *p, const Stmt *s)
{
	return s->kind == ST_STORE ? !c_is_variable(p, s->store.dst.buf, s->store.dst.idx[0])
	                           : s->kind != ST_LET && s->kind != ST_ALLOC && s->kind != ST_PREFETCH;
}

static void statements(Print *p, const Stmt *s)
{
	int64_t work = p->work_at;
	const Range *outer = p->env;
	for (p->parts = MAP_OF(p->job->arena); s != NULL && p->ok; s = s->next) {
		c_line(p);
		statement(p, s);
		if (s->kind == ST_LET)
			p->env = ir_range_let(p->job->ks->ir, s->let.var, s->let.value, p->env);
		if (changes_memory(p, s))
			p->parts = MAP_OF(p->job->arena);
	}
	p->work_at = work;
	p->env = outer;
}

/* ---- Fns ---- */

/* Buffers, symbols and scalars of a team's kernel, from the call. */
static void from_call(Print *p)
{
	int nbuf = 0, nsym = 0;
	for (int k = 0; k < p->fn->nsym; k++) {
		const char *s = p->fn->sym[k].name;
		c_line(p);
		text_add(p->out, "const int64_t %s = ", c_name(p, s));
		if (strcmp(s, LOWER_THREADS) == 0)
			text_add(p->out, "call->threads;");
		else
			text_add(p->out, "(call->sym[%d]);", nsym++);
	}
	for (int k = 0; k < p->fn->nparam; k++) {
		const Param *x = &p->fn->param[k];
		c_line(p);
		if (x->buf != NULL)
			text_add(p->out, "%s *const %s = call->buf[%d];", c_memory_type(p, x->buf->type), c_name(p, x->name),
				nbuf++);
		else
			text_add(p->out, "const %s %s = (%s)%s(call->sym[%d]);", c_type(p, x->type), c_name(p, x->name),
				c_type(p, x->type), dtype_is_float(x->type) ? "from_bits_f64" : "", nsym++);
	}
}

static void team_head(Print *p)
{
	text_add(p->out, "int C_KERNEL(%s)(const DlcCall *call)\n{", c_name(p, p->fn->name));
	c_line(p);
	text_add(p->out, "unsigned char *const work = call->work;\n    (void)work;");
	from_call(p);
	if (p->fn->kind == FN_PREPARE) { /* one thread does it all */
		c_line(p);
		text_add(p->out, "if (call->thread > 0) return 0;");
	}
}

/* Buffers, symbols, work: the arguments of a device's kernel (runtime/kernel.h), addresses as two each. */
static void launch_head(Print *p)
{
	const DlcDim *dim = p->kernel->launch.dim;
	int64_t n;
	text_add(p->out, "__kernel ");
	if (dim[DLC_BLOCK].mul == 0 && dim[DLC_BLOCK + 1].mul == 0 && dim[DLC_BLOCK + 2].mul == 0)
		text_add(p->out, "__attribute__((reqd_work_group_size(%lld, %lld, %lld))) ",
			(long long)(dim[DLC_BLOCK].add / dim[DLC_BLOCK].div),
			(long long)(dim[DLC_BLOCK + 1].add / dim[DLC_BLOCK + 1].div),
			(long long)(dim[DLC_BLOCK + 2].add / dim[DLC_BLOCK + 2].div));
	char symbol[DLC_SYMBOL];
	kernel_symbol(p->fn->name, symbol);
	text_add(p->out, "void %s(", symbol);
	const char *byte = p->d->uints[0], *wide = p->d->uints[3];
	for (uint32_t k = 0; k < p->kernel->nbuf; k++)
		text_add(p->out, "%s%s *mem%u, %s at%u, ", p->d->global, byte, k, wide, k);
	for (int k = 0; k < p->fn->nsym; k++)
		text_add(p->out, "%s arg%d, ", p->d->ints[3], k);
	text_add(p->out, "%s%s *work, %s work_at)\n{", p->d->global, byte, wide);
	for (uint32_t k = 0; k < p->kernel->nbuf; k++) {
		const Buf *b = p->fn->param[k].buf;
		const char *t = c_memory_type(p, b->type);
		c_line(p);
		text_add(p->out, "%s%s *const %s = (%s%s *)(mem%u + at%u);", p->d->global, t, c_name(p, b->name),
			p->d->global, t, k, k);
	}
	for (int k = 0; k < p->fn->nsym; k++) {
		const Sym *s = &p->fn->sym[k];
		const char *t = c_index_type(p, s->name, s->lo, s->hi);
		c_line(p);
		text_add(p->out, "const %s %s = (%s)arg%d;", t, c_name(p, s->name), t, k);
	}
	for (int k = (int)p->kernel->nbuf; k < p->fn->nparam; k++) {
		c_line(p);
		in_work(p, p->fn->param[k].buf, bytes_of(p, p->fn->param[k].buf, &n));
	}
}

static void sub_head(Print *p)
{
	const char *v = c_name(p, p->fn->name);
	if (p->d->devices)
		text_add(p->out, "static void %s(", v);
	else
		text_add(p->out, "static void C_KERNEL(%s)(const DlcCall *call, unsigned char *work", v);
	for (int k = 0; k < p->fn->nparam; k++) {
		const Param *x = &p->fn->param[k];
		text_add(p->out, k > 0 || !p->d->devices ? ", " : "");
		if (x->buf != NULL)
			text_add(p->out, "%s%s *const %s", p->d->global, c_memory_type(p, x->buf->type), c_name(p, x->name));
		else
			text_add(p->out, "const %s %s", c_type(p, x->type), c_name(p, x->name));
	}
	text_add(p->out, ")\n{");
	if (!p->d->devices) {
		c_line(p);
		text_add(p->out, "(void)call, (void)work;");
	}
}

static void print_fn(Print *p, const Fn *fn, int64_t *work_bytes)
{
	p->fn = fn;
	p->depth = 1;
	p->work_at = p->work_bytes = p->shared_bytes = 0;
	p->env = ir_range_fn(p->job->ks->ir, fn);
	p->narrow = MAP_OF(p->job->arena);
	p->scopes = MAP_OF(p->job->arena);
	p->elements = MAP_OF(p->job->arena);
	for (int k = 0; k < fn->nparam; k++)
		if (fn->param[k].buf != NULL && fn->param[k].buf->rank == 1)
			map_add_ptr(&p->elements, fn->param[k].name)->num = ir_interval(fn->param[k].buf->shape[0], p->env).lo;
	p->kernel = NULL;
	for (size_t k = 0; k < p->job->nkernel; k++)
		if (p->job->kernel[k].fn == fn)
			p->kernel = &p->job->kernel[k];
	find_variables(p);
	if (fn->kind == FN_SUB)
		sub_head(p);
	else if (p->d->devices)
		launch_head(p);
	else
		team_head(p);
	statements(p, fn->body);
	text_add(p->out, fn->kind == FN_SUB || p->d->devices ? "\n}\n\n" : "\n    return 0;\n}\n\n");
	*work_bytes = p->work_bytes;
}

/* The lanes for each %d. */
static const char *with_lanes(Arena *a, const char *text, int lanes)
{
	Text t = { .arena = a };
	for (const char *c = text; *c != 0; c++)
		if (c[0] == '%' && c[1] == 'd')
			text_add(&t, "%d", lanes), c++;
		else
			text_put(&t, c, 1);
	return text_str(&t);
}

/* The functions that a text calls, and before each those that it calls itself: rows behind it. */
static void add_functions(Text *out, Arena *a, const CDialect *d, const char *body)
{
	Text calls = { .arena = a };
	const char *all = "";
	text_add(&calls, "%s", body);
	for (const CFunction *f = d->function; f != NULL && f->name != NULL; f++)
		for (int n = 1; n <= (strchr(f->name, '%') != NULL ? 16 : 1); n *= 2) {
			if (strstr(text_str(&calls), arena_printf(a, "%s(", with_lanes(a, f->name, n))) == NULL)
				continue;
			const char *text = with_lanes(a, f->text, n);
			text_add(&calls, "%s", text);
			all = arena_printf(a, "%s%s", text, all);
		}
	text_add(out, "%s", all);
}

/* The text behind its head and functions, which stand in the order of the rows reversed. */
static const char *body_of(Arena *a, const CDialect *d, const char *text)
{
	size_t rows = 0;
	text += strlen(d->head);
	while (d->function != NULL && d->function[rows].name != NULL)
		rows++;
	for (const CFunction *f = d->function + rows; f-- > d->function;)
		for (int n = 16; n >= 1; n /= 2) {
			const char *function = with_lanes(a, f->text, n);
			if (strncmp(text, function, strlen(function)) == 0)
				text += strlen(function);
		}
	return text;
}

void c_join(Text *out, Arena *a, const CDialect *d, const char *const *text, size_t n)
{
	Text body = { .arena = a };
	for (size_t k = 0; k < n; k++)
		text_add(&body, "%s", body_of(a, d, text[k]));
	text_add(out, "%s", d->head);
	add_functions(out, a, d, text_str(&body));
	text_add(out, "%s", text_str(&body));
}

bool c_print_set(Text *out, const CSet *set)
{
	const BackendJob *job = set->job;
	const KernelSet *ks = job->ks;
	Text body = { .arena = job->arena };
	Print p = { .out = &body,
		.job = job,
		.d = set->dialect,
		.sub_bytes = arena_array(job->arena, int64_t, ks->n + 1),
		.ok = true };
	for (size_t k = 0; k < ks->n; k++)
		if (ks->fn[k]->kind == FN_SUB)
			print_fn(&p, ks->fn[k], &p.sub_bytes[k]);
	for (uint32_t k = 0; k < job->out->image.nentry && p.ok; k++) {
		int64_t bytes;
		print_fn(&p, ir_find_fn(ks, job->entry[k].name), &bytes);
		job->entry[k].work_bytes = (uint64_t)bytes;
		if (set->shared_bytes != NULL)
			set->shared_bytes[k] = p.shared_bytes;
	}
	text_add(out, "%s", p.d->head);
	add_functions(out, job->arena, p.d, text_str(&body));
	text_add(out, "%s", text_str(&body));
	return p.ok;
}
