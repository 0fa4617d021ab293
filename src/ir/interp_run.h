/*
 * A run in progress: tensors, views, logical threads, and what is known about their order.
 *
 * Order of accesses. Threads form a tree; a thread is suspended while its children live. An access
 * is an epoch (thread, time), time counting synchronisations. For each thread `sync` is the last
 * time when everything done in its subtree so far came to be before whatever its subtree does next:
 * its last fork, or the last barrier that it was the root of. So (T, t) is before the present of U
 * if T is an ancestor or a descendant of U, or if t <= sync of one of their common ancestors. Only
 * atomics order anything else: they carry along a list of (subtree, time), see interp_race.c.
 */
#ifndef IR_INTERP_RUN_H
#define IR_INTERP_RUN_H

#include "base/rng.h"
#include "ir/interp_code.h"

typedef struct Epoch {
	uint64_t time;
	uint32_t tid, pc;
} Epoch;

/* Everything done in the subtree of thread tid up to `time`, sorted by tid. */
typedef struct Know {
	uint32_t n, refs;
	struct Known {
		uint64_t time;
		uint32_t tid;
	} at[];
} Know;

/* Who touched an element last; reads since the last write, one in place, more in a list. */
typedef struct Shadow {
	Epoch write;
	union {
		Epoch one;
		struct {
			Epoch *list;
			uint32_t cap;
		} many;
	} read;
	Know *known; /* what the atomics on it carry along */
	uint32_t nread;
	bool atomic; /* the last write was one */
} Shadow;

enum { UNDEFINED, DEFINED, PENDING };

/* A tensor. data, def, shadow, tag have an entry per physical element. */
typedef struct Store {
	const char *name;
	DType type;
	bool residues; /* uint64_t elements, whatever the type */
	unsigned char *data;
	uint8_t *def;   /* NULL: all defined */
	Shadow *shadow; /* NULL: nothing to check */
	int64_t *tag;   /* which logical element lies there, plus 1, if several may (a ring) */
	int64_t n;
	int rank, nphys;
	int64_t shape[RANK], extent[RANK];
	const MapCode *map; /* NULL: identity */
	unsigned char *block; /* of `held` bytes: what of the arrays above is its own */
	size_t held;
	uint64_t born;      /* tells executions of one alloc apart */
} Store;

struct Thread;

/* A window of a tensor. Dimension k of the tensor has index base[k] plus that of dim[k] >= 0. */
typedef struct View {
	Store *store;
	int rank;
	int64_t off, extent[RANK], stride[RANK]; /* off and stride: identity maps only */
	int64_t base[RANK];
	int8_t dim[RANK];
	Store *own;                 /* an alloc made here; NULL for a window */
	const struct Thread *owner; /* the thread that made the view */
	struct View *next;          /* of the same owner */
} View;

typedef struct Pending {
	Store *store;
	uint64_t born;
	int64_t at, group;
} Pending;

typedef struct Fork Fork;

typedef struct Thread {
	struct Thread *parent;
	Fork *fork; /* of which this is an instance */
	int level;
	uint32_t tid, pc;
	Val *slot;
	View **view, *owned;
	Know *know;
	/* Async copies of its own: groups [completed, committed) are under way. */
	int64_t committed;
	VEC(Pending) pending;
	/* As the root of a barrier. */
	int64_t nleaf, narrived;
	uint32_t barrier_pc;
	struct Thread *arrived;
	/* As a member. */
	struct Thread *next;
	struct Thread *waits_at; /* the root; NULL: not at a barrier */
	size_t place;            /* in Run.live */
} Thread;

struct Fork {
	Thread *parent;
	int64_t lo, n, started, done;
	uint64_t now, step; /* the order of the instances: now, now + step, ... modulo n */
	uint32_t pc;
	Know *know; /* of those that are done */
	Fork *next;
};

typedef struct Info {
	uint64_t sync;
	uint32_t parent, depth;
} Info;

typedef struct ScanTable {
	struct ScanSlot {
		uint64_t key;
		int64_t last;
	} *slot;
	size_t n, cap;
} ScanTable;

enum { POOLS = 48 };

typedef struct Run {
	Arena *arena;
	const Program *p;
	const IrRun *how;
	Err *err;
	Rng rng;
	bool races;
	uint64_t now, births;
	int64_t steps;
	size_t used, limit;
	Info *info; /* by tid */
	uint32_t ninfo;
	size_t info_cap;
	void *pool[POOLS]; /* freed blocks of 2^k bytes */
	VEC(Thread *) ready;
	VEC(Fork *) open; /* with instances not started */
	VEC(Thread *) live;
	Thread *idle;
	Fork *idle_fork;
	View *idle_view;
	ScanTable *scan;
} Run;

/* Memory, counted against the limit: NULL (and the run has failed) beyond it. Zeroed if asked. */
void *run_get(Run *r, size_t bytes, bool zero);
void run_put(Run *r, void *p, size_t bytes);
/* Fails at instruction pc; false. */
bool run_fail(Run *r, uint32_t pc, ErrCode code, const char *what, const char *detail);
/* "C[3, 4]" of a LOAD, STORE, ADDR, RLOAD or RSTORE. */
const char *run_element(const Run *r, const Thread *t, uint32_t pc);

/* interp_mem.c */
int64_t mem_at(const View *v, const uint32_t *list, const Val *slot, int64_t *logical);
bool mem_alloc(Run *r, Thread *t, const Ins *i, uint32_t pc);
bool mem_window(Run *r, Thread *t, const Ins *i, uint32_t pc);
bool mem_shape(Run *r, Thread *t, const Ins *i, uint32_t pc);
/* The arrays of a tensor whose type, map and n are set; outside: data is somebody else's. */
bool mem_fill(Run *r, Store *s, bool shadow, bool outside);
void mem_release(Run *r, Thread *t);
bool mem_count(const int64_t *extent, int n, int64_t *count);
void mem_whole(View *v, Store *s);
Val mem_load(const Store *s, int64_t at);
void mem_save(Store *s, int64_t at, Val v);

/* interp_race.c */
bool race_start(Run *r);
bool race_child(Run *r, uint32_t parent, uint32_t *tid);
void race_fork(Run *r, uint32_t tid);   /* what tid did so far is before its children */
void race_joined(Run *r, uint32_t tid); /* all children of tid are done */
bool race_read(Run *r, Thread *t, Store *s, int64_t at, uint32_t pc);
bool race_write(Run *r, Thread *t, Store *s, int64_t at, uint32_t pc, bool atomic);
bool race_release(Run *r, Thread *t, Store *s, int64_t at);
void race_landed(Run *r, Thread *t, Store *s, int64_t at, uint32_t pc); /* an async store, waited for */
bool know_merge(Run *r, Know **into, const Know *from);
void know_drop(Run *r, Know *k);

/* interp_thread.c: each stops the running thread; the scheduler goes on. */
bool thread_fork(Run *r, Thread *t, int64_t lo, int64_t n); /* n > 0 */
bool thread_join(Run *r, Thread *t);
bool thread_barrier(Run *r, Thread *t, int level, bool *stop);
void thread_order(Run *r, uint64_t n, uint64_t *first, uint64_t *step);
Thread *thread_new(Run *r, Thread *parent);
bool thread_run_all(Run *r, Thread *first);

/* interp_exec.c: until the thread ends or stops; *over: it was the END. */
bool exec_thread(Run *r, Thread *t, bool *over);

#endif
