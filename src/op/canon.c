/*
 * The canonical form of a Dag. Every value gets a hash that depends on structure alone: on what it is
 * computed from (up) and on what is computed from it (down). A few rounds refine the hashes, as in
 * Weisfeiler and Leman's colouring. They order whatever the text of a Dag leaves open.
 * Two values of equal hash are nearly always interchangeable. Then one of them is marked, and another
 * refinement tells apart what depends on it. In the rare other case one workload gets two names, which costs
 * a second tuning and never a wrong result.
 */
#include "op/names.h"
#include "op/shape.h"
#include "op/task.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 3, TIES = 256, WORK = 1 << 20 };

typedef struct Canon {
	const Dag *d;
	Arena *tmp;
	uint64_t *key; /* of each value */
	uint64_t *down;
	uint64_t *about; /* of each call: operator and attributes */
	const bool *live; /* dag_live */
	int **arg;       /* of each call: its operands, commutative ones ordered */
	int *order, n;   /* calls in canonical order */
	bool *done;
	int *map;
	Dag *to;
	int ninput, nconst;
} Canon;

/* splitmix64's finaliser over a sum: cheap, and good enough for ordering. */
static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) + 0x9e3779b97f4a7c15u;
	h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
	h = (h ^ h >> 27) * 0x94d049bb133111ebu;
	return h ^ h >> 31;
}

static uint64_t mix_text(uint64_t h, const char *s)
{
	for (; s != NULL && *s != 0; s++)
		h = mix(h, (unsigned char)*s);
	return mix(h, 256);
}

static uint64_t of_value(const Value *v)
{
	uint64_t h = mix(v->kind, (uint64_t)(v->type.kind << 8 | v->type.bits));
	for (int k = 0; k < v->shape.rank; k++)
		h = mix(h, (uint64_t)v->shape.dim[k]);
	return mix_text(h, v->layout);
}

static uint64_t of_call(const OpCall *c)
{
	uint64_t bits, h = mix_text(1, op_row(c->op)->name);
	for (int i = 0; i < c->nattr; i++) {
		const Attr *a = &c->attr[i];
		h = mix_text(h, a->name);
		switch (a->kind) {
		case ATTR_INT: h = mix(h, (uint64_t)a->i); break;
		case ATTR_INTS:
			for (int k = 0; k < a->n; k++)
				h = mix(h, (uint64_t)a->ints[k]);
			break;
		case ATTR_FLOAT: memcpy(&bits, &a->f, sizeof bits); h = mix(h, bits); break;
		case ATTR_TEXT: h = mix_text(h, a->text); break;
		}
	}
	return h;
}

static bool commutes(int op)
{
	return op_row(op)->traits & OP_COMMUTES;
}

/* The position of an operand matters unless the operator commutes. */
static void refine_up(Canon *cn)
{
	for (size_t i = 0; i < cn->d->call.n; i++) {
		const OpCall *c = &cn->d->call.at[i];
		if (!cn->live[i])
			continue;
		uint64_t sum = 0;
		for (int k = 0; k < c->nin; k++)
			sum += c->in[k] == DAG_NONE ? 7 : mix(cn->key[c->in[k]], commutes(c->op) ? 0 : (uint64_t)k + 1);
		for (int r = 0; r < c->nout; r++)
			cn->key[c->out[r]] = mix(mix(cn->about[i], sum), mix((uint64_t)r, cn->key[c->out[r]]));
	}
}

static void refine_down(Canon *cn)
{
	const Dag *d = cn->d;
	memset(cn->down, 0, sizeof(uint64_t) * d->value.n);
	for (size_t i = 0; i < d->output.n; i++)
		cn->down[d->output.at[i]] += 1;
	for (size_t i = d->call.n; i-- > 0;) {
		const OpCall *c = &d->call.at[i];
		if (!cn->live[i])
			continue;
		uint64_t use = cn->about[i];
		for (int r = 0; r < c->nout; r++)
			use = mix(use, mix(cn->key[c->out[r]], cn->down[c->out[r]]));
		for (int k = 0; k < c->nin; k++)
			if (c->in[k] != DAG_NONE)
				cn->down[c->in[k]] += mix(use, commutes(c->op) ? 0 : (uint64_t)k + 1);
	}
	for (size_t i = 0; i < d->value.n; i++)
		cn->key[i] = mix(cn->key[i], cn->down[i]);
}

/* Orders results before inputs before constants, then by structure, then as given. */
typedef struct Place {
	int rank, value, at;
	uint64_t key;
} Place;

static Place place_of(const Canon *cn, int value, int at)
{
	static const int rank[] = { [VALUE_CALL] = 0, [VALUE_INPUT] = 1, [VALUE_CONST] = 2 };
	return (Place){ rank[cn->d->value.at[value].kind], value, at, cn->key[value] };
}

static int by_place(const void *x, const void *y)
{
	const Place *a = x, *b = y;
	if (a->rank != b->rank)
		return a->rank - b->rank;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->at - b->at;
}

static void order_operands(Canon *cn)
{
	for (size_t i = 0; i < cn->d->call.n; i++) {
		const OpCall *c = &cn->d->call.at[i];
		int *arg = arena_copy(cn->tmp, c->in, sizeof(int) * (size_t)c->nin);
		if (commutes(c->op)) {
			Place two[2] = { place_of(cn, arg[0], 0), place_of(cn, arg[1], 1) };
			qsort(two, 2, sizeof(Place), by_place);
			arg[0] = two[0].value;
			arg[1] = two[1].value;
		}
		cn->arg[i] = arg;
	}
}

/* Visits the calls of one output depth-first, operands first. The stack is explicit, since texts may be deep. */
static void order_calls(Canon *cn, int value)
{
	typedef struct Frame {
		int call, next;
	} Frame;
	VEC(Frame) stack = { 0 };
	if (cn->d->value.at[value].kind == VALUE_CALL && !cn->done[cn->d->value.at[value].call]) {
		cn->done[cn->d->value.at[value].call] = true;
		vec_push(cn->tmp, &stack, ((Frame){ cn->d->value.at[value].call, 0 }));
	}
	while (stack.n > 0) {
		Frame *top = &stack.at[stack.n - 1];
		const OpCall *c = &cn->d->call.at[top->call];
		if (top->next == c->nin) {
			cn->order[cn->n++] = top->call;
			stack.n--;
			continue;
		}
		int in = cn->arg[top->call][top->next++];
		if (in == DAG_NONE || cn->d->value.at[in].kind != VALUE_CALL)
			continue;
		int call = cn->d->value.at[in].call;
		if (!cn->done[call]) {
			cn->done[call] = true;
			vec_push(cn->tmp, &stack, ((Frame){ call, 0 }));
		}
	}
}

static int *order_outputs(Canon *cn)
{
	size_t n = cn->d->output.n;
	int *out = arena_array(cn->tmp, int, n + 1);
	Place *place = arena_array(cn->tmp, Place, n + 1);
	for (size_t i = 0; i < n; i++)
		place[i] = place_of(cn, cn->d->output.at[i], (int)i);
	qsort(place, n, sizeof(Place), by_place);
	for (size_t i = 0; i < n; i++)
		out[i] = place[i].value;
	return out;
}

/* Numbers v at its first use. Constants get the letter c, all other values v. */
static void use_value(Canon *cn, int v, ValueKind kind, int *count)
{
	const Value *from = &cn->d->value.at[v];
	if (from->kind != kind || cn->map[v] != DAG_NONE)
		return;
	const char *name = arena_printf(cn->tmp, "%c%d", kind == VALUE_CONST ? 'c' : 'v', (*count)++);
	cn->map[v] = kind == VALUE_CONST ? dag_add_const(cn->to, name, from->type, from->shape, NULL)
	                                 : dag_add_input(cn->to, name, from->type, from->shape);
	cn->to->value.at[cn->map[v]].layout = from->layout;
}

static void use_all(Canon *cn, const int *out, ValueKind kind, int *count)
{
	for (int i = 0; i < cn->n; i++)
		for (int k = 0; k < cn->d->call.at[cn->order[i]].nin; k++)
			if (cn->arg[cn->order[i]][k] != DAG_NONE)
				use_value(cn, cn->arg[cn->order[i]][k], kind, count);
	for (size_t i = 0; i < cn->d->output.n; i++)
		use_value(cn, out[i], kind, count);
}

static bool copy_calls(Canon *cn, int *count, Err *err)
{
	for (int i = 0; i < cn->n; i++) {
		const OpCall *c = &cn->d->call.at[cn->order[i]];
		int *in = arena_array(cn->tmp, int, c->nin + 1);
		const char **name = arena_array(cn->tmp, const char *, c->nout + 1);
		for (int k = 0; k < c->nin; k++)
			in[k] = cn->arg[cn->order[i]][k] == DAG_NONE ? DAG_NONE : cn->map[cn->arg[cn->order[i]][k]];
		for (int r = 0; r < c->nout; r++)
			name[r] = arena_printf(cn->tmp, "v%d", (*count)++);
		int call = dag_add_call_as(cn->to, c->op, NULL, name, c->nout, in, c->nin, c->attr, c->nattr, err);
		if (call < 0)
			return false;
		for (int r = 0; r < c->nout; r++) {
			int v = cn->to->call.at[call].out[r];
			cn->map[c->out[r]] = v;
			cn->to->value.at[v].layout = cn->d->value.at[c->out[r]].layout;
		}
	}
	return true;
}

static void refine(Canon *cn)
{
	for (int round = 0; round < ROUNDS; round++) {
		refine_up(cn);
		refine_down(cn);
	}
}

static int by_key(const void *x, const void *y)
{
	const Place *a = x, *b = y;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->at - b->at;
}

/* A value that has the same hash as one with a smaller number; DAG_NONE: all differ. */
static int find_tie(Canon *cn, Place *place)
{
	size_t n = 0;
	for (size_t i = 0; i < cn->d->value.n; i++)
		if (cn->down[i] != 0) /* unused values are not ordered */
			place[n++] = place_of(cn, (int)i, (int)i);
	qsort(place, n, sizeof(Place), by_key);
	for (size_t i = 1; i < n; i++)
		if (place[i].key == place[i - 1].key)
			return place[i - 1].value;
	return DAG_NONE;
}

static void colour(Canon *cn)
{
	const Dag *d = cn->d;
	Place *place = arena_array(cn->tmp, Place, d->value.n + 1);
	for (size_t i = 0; i < d->value.n; i++)
		cn->key[i] = of_value(&d->value.at[i]);
	for (size_t i = 0; i < d->call.n; i++)
		cn->about[i] = of_call(&d->call.at[i]);
	refine(cn);
	/* A Task has few ties. A hostile text may have a million; it gets no canonical form. */
	size_t limit = WORK / (d->value.n + 1);
	for (size_t tie = 0; tie < TIES && tie < limit; tie++) {
		int v = find_tie(cn, place);
		if (v == DAG_NONE)
			break;
		cn->key[v] = mix(cn->key[v], 1);
		refine(cn);
	}
}

Dag *dag_canonical(Arena *a, const Dag *d, int *map, Err *err)
{
	Arena *tmp = arena_new();
	Canon cn = { .d = d, .tmp = tmp, .to = dag_new(a, NULL) };
	cn.key = arena_array(tmp, uint64_t, d->value.n + 1);
	cn.down = arena_array(tmp, uint64_t, d->value.n + 1);
	cn.about = arena_array(tmp, uint64_t, d->call.n + 1);
	cn.arg = arena_array(tmp, int *, d->call.n + 1);
	cn.order = arena_array(tmp, int, d->call.n + 1);
	cn.done = arena_array(tmp, bool, d->call.n + 1);
	cn.map = map != NULL ? map : arena_array(tmp, int, d->value.n + 1);
	for (size_t i = 0; i < d->value.n; i++)
		cn.map[i] = DAG_NONE;
	cn.live = dag_live(tmp, d);
	colour(&cn);
	order_operands(&cn);
	int *out = order_outputs(&cn), nv = 0, nc = 0;
	for (size_t i = 0; i < d->output.n; i++)
		order_calls(&cn, out[i]);
	use_all(&cn, out, VALUE_INPUT, &nv);
	use_all(&cn, out, VALUE_CONST, &nc);
	bool ok = copy_calls(&cn, &nv, err);
	for (size_t i = 0; ok && i < d->output.n; i++)
		dag_add_output(cn.to, cn.map[out[i]]);
	arena_free(tmp);
	return ok ? cn.to : NULL;
}
