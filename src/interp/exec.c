/*
 * The loop that runs one thread's instructions until it ends or has to stop. Each access is checked
 * for definedness and, where instances exist, for races, right where it happens.
 */
#include "interp/step.h"

#include <string.h>

const char *interp_element(const Run *r, const Thread *t, uint32_t pc)
{
	const Ins *i = &r->p->ins[pc];
	if (i->op == OP_RLOAD || i->op == OP_RSTORE) { /* the ADDR before it holds the indices */
		uint32_t addr = i->b;
		while (pc > 0 && !(r->p->ins[pc].op == OP_ADDR && r->p->ins[pc].d == addr))
			pc--;
		i = &r->p->ins[pc];
	}
	if (i->op != OP_LOAD && i->op != OP_STORE && i->op != OP_ADDR)
		return "an element";
	const View *v = t->view[i->a];
	Text out = { .arena = r->arena };
	text_add(&out, "%s[", v->store->name);
	for (int k = 0; k < v->store->rank; k++) {
		int64_t at =
			v->base[k] +
			(v->dim[k] >= 0 ? t->slot[r->p->pool[i->b + (uint32_t)v->dim[k]]].i : 0);
		text_add(&out, "%s%lld", k ? ", " : "", (long long)at);
	}
	text_add(&out, "]");
	return text_str(&out);
}

static bool bad_index(Run *r, const Thread *t, uint32_t pc)
{
	const Ins *i = &r->p->ins[pc];
	const View *v = t->view[i->a];
	bool inside = true;
	Text out = { .arena = r->arena };
	for (int k = 0; k < v->rank; k++) {
		inside = inside && (uint64_t)t->slot[r->p->pool[i->b + (uint32_t)k]].i <
		                           (uint64_t)v->extent[k];
		text_add(&out, "%s%lld", k ? ", " : "", (long long)v->extent[k]);
	}
	const char *sentence = inside ? "%s is mapped to no place within its storage, whose shape is [%s]"
	                      : v->rank == v->store->rank ? "%s is outside of its shape, [%s]"
	                                                  : "%s is outside of its window, whose shape is [%s]";
	return interp_fail(r, pc, ERR_INPUT, sentence, interp_element(r, t, pc), text_str(&out));
}

static bool undefined(Run *r, const Thread *t, uint32_t pc, int state)
{
	return interp_fail(r, pc, ERR_INPUT,
		state == PENDING ? "%s is read before its async copy was waited for" : "%s is read and was never written",
		interp_element(r, t, pc));
}

static bool stale(Run *r, const Thread *t, uint32_t pc)
{
	return interp_fail(r, pc, ERR_INPUT, "%s is read, but another element now lies in its place",
		interp_element(r, t, pc));
}

/* Groups before `until` arrive. */
static void arrive(Run *r, Thread *t, int64_t until, uint32_t pc)
{
	size_t k = 0;
	for (; k < t->pending.n && t->pending.at[k].group < until; k++) {
		Pending p = t->pending.at[k];
		if (p.store->born != p.born || p.store->def[p.at] != PENDING)
			continue;
		p.store->def[p.at] = DEFINED;
		if (p.store->shadow != NULL)
			interp_race_landed(r, t, p.store, p.at, pc);
	}
	if (k > 0) {
		t->pending.n -= k;
		memmove(t->pending.at, t->pending.at + k, t->pending.n * sizeof *t->pending.at);
	}
}

/* How many instances a loop has; fails where int64 cannot say. */
static bool instances(Run *r, int64_t lo, int64_t hi, uint32_t pc, int64_t *n)
{
	*n = 0;
	if (lo >= hi)
		return true;
	return (!__builtin_sub_overflow(hi, lo, n) && *n <= (int64_t)1 << 40) ||
	       interp_fail(r, pc, ERR_MEMORY, "this loop has more instances than can be counted");
}

/* Enters a loop of n > 0 instances that do not synchronise. */
static void spin_begin(Run *r, Thread *t, Val *v, int64_t lo, int64_t n)
{
	uint64_t first, step;
	interp_order(r, (uint64_t)n, &first, &step);
	v[1].i = n;
	v[2].i = 0; /* begun */
	v[3].m = first;
	v[4].m = step;
	v[5].i = lo;
	v[6].i = t->tid;
	interp_race_fork(r, t->tid);
}

/* The next instance; *more is false if there is none left. */
static bool spin_next(Run *r, Thread *t, Val *v, bool *more)
{
	uint32_t parent = (uint32_t)v[6].i;
	*more = v[2].i < v[1].i;
	if (!*more) {
		t->tid = parent;
		interp_race_joined(r, parent);
		return true;
	}
	v[2].i++;
	v[0].i = v[5].i + (int64_t)v[3].m;
	v[3].m = (v[3].m + v[4].m) % (uint64_t)v[1].i;
	return interp_race_child(r, parent, &t->tid);
}

enum { SCAN_POINT = 128 }; /* bytes that an entry of a map costs at most: entry and slots, of which half may be free */

/*
 * The steps of a scan must come one after the other, from the first, for each spatial point. A block that reduces too
 * takes a step several times, since each value of its reduce iterators is an instance.
 */
static bool scan_step(Run *r, const Ins *i, const Val *s, uint32_t pc)
{
	const uint32_t *list = r->p->pool + i->b;
	bool repeats = *list++ != 0;
	int64_t step = 0;
	for (uint32_t k = 0; k < i->a; k++, list += 3) {
		int64_t lo = s[list[1]].i, n = s[list[2]].i - lo;
		if (__builtin_mul_overflow(step, n, &step) ||
			__builtin_add_overflow(step, s[list[0]].i - lo, &step))
			return interp_fail(r, pc, ERR_MEMORY, "the scan has more steps than can be counted");
	}
	uint64_t key = 1;
	for (uint32_t k = 0; k < i->d; k++)
		key = (key ^ s[list[k]].m ^ key >> 29) * 0x9e3779b97f4a7c15u + 1;
	uint32_t known = r->scan[i->c].index.n;
	MapEntry *taken = map_add(&r->scan[i->c], key);
	if (r->scan[i->c].index.n > known && !interp_count_memory(r, SCAN_POINT))
		return false;
	if (step != 0 && step != taken->num && !(repeats && step + 1 == taken->num))
		return interp_fail(r, pc, ERR_INPUT, "the scan takes step %lld after step %lld", (long long)step,
			(long long)taken->num - 1);
	taken->num = step + 1;
	return true;
}

static bool out_of_range(Run *r, const Ins *i, const Val *s, uint32_t pc)
{
	const Stmt *b = r->p->origin[pc].stmt;
	return interp_fail(r, pc, ERR_INPUT, "iterator %s of block %s is %lld, outside of [%lld, %lld)",
		b->block.iter[i->c].name, b->block.name, (long long)s[i->d].i, (long long)s[i->a].i, (long long)s[i->b].i);
}

/* Floats of four bytes, the usual case. */
static inline Val load(const Store *s, int64_t at)
{
	if (s->type.kind != DT_FLOAT || s->type.bits != 32 || s->residues)
		return interp_load(s, at);
	float f;
	memcpy(&f, s->data + 4 * at, sizeof f);
	return (Val){ .f = (double)f };
}

static inline void save(Store *s, int64_t at, Val v)
{
	if (s->type.kind != DT_FLOAT || s->type.bits != 32 || s->residues) {
		interp_save(s, at, v);
		return;
	}
	float f = (float)v.f;
	memcpy(s->data + 4 * at, &f, sizeof f);
}

static bool do_load(Run *r, Thread *t, const Ins *i, Val *s, uint32_t pc)
{
	const View *v = t->view[i->a];
	int64_t logical = 0, at = interp_at(v, r->p->pool + i->b, s, &logical);
	if (at < 0)
		return bad_index(r, t, pc);
	Store *st = v->store;
	if (st->def != NULL && st->def[at] != DEFINED)
		return undefined(r, t, pc, st->def[at]);
	if (st->tag != NULL && st->tag[at] != 0 && st->tag[at] != logical)
		return stale(r, t, pc);
	if (st->shadow != NULL && !interp_race_read(r, t, st, at, pc))
		return false;
	s[i->d] = load(st, at);
	return true;
}

static bool do_store(Run *r, Thread *t, const Ins *i, const Val *s, uint32_t pc)
{
	const View *v = t->view[i->a];
	int64_t logical = 0, at = interp_at(v, r->p->pool + i->b, s, &logical);
	if (at < 0)
		return bad_index(r, t, pc);
	Store *st = v->store;
	if (st->def != NULL && st->def[at] == PENDING)
		return interp_fail(r, pc, ERR_INPUT, "%s is written while an async copy to it is under way",
			interp_element(r, t, pc));
	if (st->shadow != NULL && !interp_race_write(r, t, st, at, pc, false))
		return false;
	if (st->tag != NULL)
		st->tag[at] = logical;
	if (st->def != NULL)
		st->def[at] = DEFINED;
	save(st, at, s[i->d]);
	if (i->node) { /* async: it is under way from now on */
		st->def[at] = PENDING;
		vec_push(r->arena, &t->pending, ((Pending){ st, st->born, at, t->committed }));
	}
	return true;
}

static bool do_addr(Run *r, Thread *t, const Ins *i, Val *s, uint32_t pc)
{
	const View *v = t->view[i->a];
	int64_t logical = 0;
	s[i->d].i = interp_at(v, r->p->pool + i->b, s, &logical);
	if (s[i->d].i < 0)
		return bad_index(r, t, pc);
	if (v->store->tag != NULL && v->store->tag[s[i->d].i] != 0 &&
		v->store->tag[s[i->d].i] != logical)
		return stale(r, t, pc);
	return true;
}

/* The left side of a reduction: read now, written by an RSTORE soon. */
static bool do_rload(Run *r, Thread *t, const Ins *i, Val *s, uint32_t pc)
{
	Store *st = t->view[i->a]->store;
	int64_t at = s[i->b].i;
	if (st->def != NULL && st->def[at] != DEFINED)
		return undefined(r, t, pc, st->def[at]);
	if (st->shadow != NULL && !interp_race_write(r, t, st, at, pc, i->node))
		return false;
	s[i->d] = load(st, at);
	return true;
}

static bool do_rstore(Run *r, Thread *t, const Ins *i, const Val *s)
{
	Store *st = t->view[i->a]->store;
	save(st, s[i->b].i, s[i->d]);
	return !i->node || st->shadow == NULL || interp_race_release(r, t, st, s[i->b].i);
}

static bool arithmetic(Run *r, const Ins *i, Val *s, uint32_t pc)
{
	DType t = { i->kind, i->bits, 1 }, from = { (uint8_t)(i->c >> 8), (uint8_t)i->c, 1 };
	const char *wrong = NULL;
	Val *d = &s[i->d];
	switch (i->op) {
	case OP_GEN1: wrong = num_unary(i->node, t, s[i->a], d); break;
	case OP_GEN2: wrong = num_binary(i->node, t, s[i->a], s[i->b], d); break;
	case OP_FMA: *d = num_fma(t, s[i->a], s[i->b], s[i->c]); break;
	case OP_CAST: *d = num_cast(t, from, s[i->a]); break;
	case OP_BITCAST: *d = num_bitcast(t, from, s[i->a]); break;
	case OP_MOD1: wrong = modp_unary(i->node, s[i->a], d); break;
	case OP_MOD2: wrong = modp_binary(i->node, s[i->a], s[i->b], d); break;
	case OP_MFMA: *d = modp_fma(s[i->a], s[i->b], s[i->c]); break;
	case OP_MCAST: *d = modp_cast(t, from, s[i->a]); break;
	case OP_IFLOOR: wrong = num_binary(IR_DIV, I64, s[i->a], s[i->b], d); break;
	case OP_IMOD: wrong = num_binary(IR_MOD, I64, s[i->a], s[i->b], d); break;
	default: break;
	}
	return wrong == NULL || interp_fail(r, pc, ERR_INPUT, "%s", wrong);
}

#define STEP() \
	do { \
		if (--r->steps < 0) \
			return interp_fail(r, pc, ERR_MEMORY, "the run takes more steps than allowed"); \
	} while (0)

#define TRY(x) \
	do { \
		if (!(x)) \
			return false; \
	} while (0)

bool interp_exec(Run *r, Thread *t, bool *over)
{
	Val *const s = t->slot;
	const Ins *const ins = r->p->ins;
	uint32_t pc = t->pc;
	int64_t n;
	bool flag;
	for (;; pc++) {
		const Ins *i = &ins[pc];
		switch ((Op)i->op) {
		case OP_MOVE: s[i->d] = s[i->a]; break;
		case OP_IADD: s[i->d].m = s[i->a].m + s[i->b].m; break;
		case OP_ISUB: s[i->d].m = s[i->a].m - s[i->b].m; break;
		case OP_IMUL: s[i->d].m = s[i->a].m * s[i->b].m; break;
		case OP_ILT: s[i->d].i = s[i->a].i < s[i->b].i; break;
		case OP_ILE: s[i->d].i = s[i->a].i <= s[i->b].i; break;
		case OP_IEQ: s[i->d].i = s[i->a].i == s[i->b].i; break;
		case OP_BAND: s[i->d].i = s[i->a].i & s[i->b].i; break;
		case OP_FADD: s[i->d].f = (double)(float)(s[i->a].f + s[i->b].f); break;
		case OP_FSUB: s[i->d].f = (double)(float)(s[i->a].f - s[i->b].f); break;
		case OP_FMUL: s[i->d].f = (double)(float)(s[i->a].f * s[i->b].f); break;
		case OP_DADD: s[i->d].f = s[i->a].f + s[i->b].f; break;
		case OP_DMUL: s[i->d].f = s[i->a].f * s[i->b].f; break;
		case OP_IFLOOR:
		case OP_IMOD:
		case OP_GEN1:
		case OP_GEN2:
		case OP_FMA:
		case OP_CAST:
		case OP_BITCAST:
		case OP_MOD1:
		case OP_MOD2:
		case OP_MFMA:
		case OP_MCAST: TRY(arithmetic(r, i, s, pc)); break;
		case OP_JUMP: pc = i->c - 1; break;
		case OP_JUMPZ: pc = s[i->a].i ? pc : i->c - 1; break;
		case OP_JUMPNZ: pc = s[i->a].i ? i->c - 1 : pc; break;
		case OP_FOR:
			s[i->d] = s[i->a];
			pc = s[i->d].i < s[i->b].i ? pc : i->c - 1;
			break;
		case OP_NEXT:
			STEP();
			pc = ++s[i->d].i < s[i->b].i ? i->c - 1 : pc;
			break;
		case OP_SPIN:
			TRY(instances(r, s[i->a].i, s[i->b].i, pc, &n));
			if (n == 0) {
				pc = i->c - 1;
				break;
			}
			spin_begin(r, t, &s[i->d], s[i->a].i, n);
			TRY(spin_next(r, t, &s[i->d], &flag));
			break;
		case OP_SPIN_NEXT:
			STEP();
			TRY(spin_next(r, t, &s[i->d], &flag));
			pc = flag ? i->c - 1 : pc;
			break;
		case OP_FORK:
			STEP();
			TRY(instances(r, s[i->a].i, s[i->b].i, pc, &n));
			if (n == 0) {
				pc = i->c - 1;
				break;
			}
			t->pc = pc;
			return interp_fork(r, t, s[i->a].i, n);
		case OP_JOIN: return interp_join(r, t);
		case OP_LOAD: TRY(do_load(r, t, i, s, pc)); break;
		case OP_STORE:
			STEP();
			TRY(do_store(r, t, i, s, pc));
			break;
		case OP_ADDR: TRY(do_addr(r, t, i, s, pc)); break;
		case OP_RLOAD: TRY(do_rload(r, t, i, s, pc)); break;
		case OP_RSTORE:
			STEP();
			TRY(do_rstore(r, t, i, s));
			break;
		case OP_ALLOC:
			STEP();
			TRY(interp_alloc(r, t, i, pc));
			break;
		case OP_WINDOW: TRY(interp_window(r, t, i, pc)); break;
		case OP_SHAPE: TRY(interp_shape(r, t, i, pc)); break;
		case OP_COMMIT: t->committed++; break;
		case OP_WAIT:
			arrive(r, t, t->committed - (int64_t)i->c, pc);
			/* fallthrough */
		case OP_YIELD:
			if (r->ready.n + r->open.n > 0 && (rng_next(&r->rng) & 1)) { /* another thread runs now */
				t->pc = pc + 1;
				vec_push(r->arena, &r->ready, t);
				return true;
			}
			break;
		case OP_BARRIER:
			STEP();
			t->pc = pc;
			TRY(interp_barrier(r, t, i->node, &flag));
			if (flag)
				return true;
			break;
		case OP_RANGE:
			if (s[i->d].i < s[i->a].i || s[i->d].i >= s[i->b].i)
				return out_of_range(r, i, s, pc);
			break;
		case OP_SCAN: TRY(scan_step(r, i, s, pc)); break;
		case OP_END: *over = true; return true;
		}
	}
}
