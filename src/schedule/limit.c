/* See limit.h. */
#include "schedule/limit.h"

#include "ir/walk.h"
#include "schedule/nest.h"

enum { LANES = 16 /* of a vector loop that count as one register */, CALLS = 8 /* of sub Fns within each other */ };
#define MOST ((int64_t)1 << 40) /* counts stay there */

static const LimitRow rows[LIMIT_COUNT] = {
#define LIMIT(name, most, unit, reason) [LIMIT_##name] = { #name, most, unit, reason },
#include "schedule/limit.def"
#undef LIMIT
};

const LimitRow *limit_row(Limit l)
{
	return &rows[l];
}

int64_t limit_copies(const Stmt *loop, LoopKind kind)
{
	int64_t n;
	if (!nest_extent(loop, &n) || n <= 1)
		return 1;
	return kind == LOOP_UNROLLED ? n : kind == LOOP_VECTOR ? (n + LANES - 1) / LANES : 1;
}

static int64_t most(int64_t n)
{
	return n < MOST ? n : MOST;
}

static int64_t times(int64_t a, int64_t b)
{
	return b > 0 && a > MOST / b ? MOST : a * b;
}

static void add_nodes(const Expr **e, void *arg)
{
	int64_t *nodes = arg;
	*nodes = most(*nodes + (*e)->size);
}

/* Nodes of the expressions that the statement itself holds. Nearly all statements are lets and stores: at once. */
static int64_t nodes_of(const Stmt *s)
{
	int64_t nodes = 0;
	if (s->kind == ST_LET)
		return most(s->let.value->size);
	if (s->kind == ST_STORE) {
		for (int k = 0; k < s->store.dst.n; k++)
			nodes = most(nodes + s->store.dst.idx[k]->size);
		nodes = most(nodes + s->store.value->size);
		return s->store.mask != NULL ? most(nodes + s->store.mask->size) : nodes;
	}
	ir_each_place((Stmt *)s, add_nodes, &nodes); /* add_nodes writes nothing there */
	return nodes;
}

static void add_list(const KernelSet *ks, const Stmt *s, int64_t copies, int calls, LimitSize *size)
{
	for (; s != NULL; s = s->next) {
		int64_t nodes = nodes_of(s);
		size->statements = most(size->statements + 1);
		size->nodes = most(size->nodes + nodes);
		size->code = most(size->code + times(s->kind == ST_BLOCK ? 1 : nodes + 1, copies));
		switch (s->kind) {
		case ST_FOR: add_list(ks, s->loop.body, times(copies, limit_copies(s, s->loop.kind)), calls, size); break;
		case ST_BLOCK:
			add_list(ks, s->block.init, copies, calls, size);
			add_list(ks, s->block.body, copies, calls, size);
			break;
		case ST_IF:
			add_list(ks, s->branch.then, copies, calls, size);
			add_list(ks, s->branch.other, copies, calls, size);
			break;
		case ST_ASYNC: add_list(ks, s->async, copies, calls, size); break;
		case ST_CALL: {
			const Fn *fn = s->call.intrin || calls == CALLS ? NULL : ir_find_fn(ks, s->call.fn);
			LimitSize sub = { 0 };
			if (fn != NULL)
				add_list(ks, fn->body, copies, calls + 1, &sub);
			size->code = most(size->code + sub.code);
			break;
		}
		default: break;
		}
	}
}

LimitSize limit_size(const KernelSet *ks)
{
	LimitSize all = { 0 };
	for (size_t i = 0; i < ks->n; i++)
		add_list(ks, ks->fn[i]->body, 1, 0, &all);
	return all;
}

LimitSize limit_size_at(const KernelSet *ks, const Stmt *loop, Stmt *const *around, int n)
{
	LimitSize size = { 0 };
	Stmt one = *loop;
	int64_t copies = 1;
	one.next = NULL;
	for (int k = 0; k < n; k++)
		copies = times(copies, limit_copies(around[k], around[k]->loop.kind));
	add_list(ks, &one, copies, 0, &size);
	return size;
}

static bool check(Limit l, int64_t n, const char *place, const char *step, Err *err)
{
	return n <= rows[l].most ||
		fail(err, ERR_ILLEGAL, place, "%s: the schedule would have %lld %s; one has at most %lld", step, (long long)n,
			rows[l].unit, (long long)rows[l].most);
}

bool limit_check(LimitSize now, LimitSize then, const char *place, const char *step, Err *err)
{
	return (then.statements <= now.statements || check(LIMIT_statements, then.statements, place, step, err)) &&
		(then.nodes <= now.nodes || check(LIMIT_nodes, then.nodes, place, step, err)) &&
		(then.code <= now.code || check(LIMIT_code, then.code, place, step, err));
}

bool limit_check_cost(const LimitCost *cost, const char *place, const char *step, Err *err)
{
	return check(LIMIT_steps, cost->steps, place, step, err) && check(LIMIT_work, cost->work, place, step, err) &&
		check(LIMIT_memory, cost->memory, place, step, err);
}
