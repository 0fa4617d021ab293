/*
 * What the parts of a run ask of each other: memory and views, the order of accesses, threads.
 * Functions that return bool have failed the run when they return false.
 */
#ifndef INTERP_STEP_H
#define INTERP_STEP_H

#include "interp/thread.h"

/* Counts bytes against the limit, which fails the run beyond it. */
bool interp_count_memory(Run *r, size_t bytes);
/* Memory, counted against the limit: NULL (and the run has failed) beyond it. Zeroed if asked. */
void *interp_get(Run *r, size_t bytes, bool zero);
void interp_put(Run *r, void *p, size_t bytes);
/* Fails at instruction pc, with a printf-style sentence; false. */
#define interp_fail(r, pc, code, ...) fail((r)->err, code, interp_place((r)->arena, (r)->p->origin[pc]), __VA_ARGS__)
/* "C[3, 4]" of a LOAD, STORE, ADDR, RLOAD or RSTORE. */
const char *interp_element(const Run *r, const Thread *t, uint32_t pc);

/* interp/mem.c */
int64_t interp_at(const View *v, const uint32_t *list, const Val *slot, int64_t *logical);
bool interp_alloc(Run *r, Thread *t, const Ins *i, uint32_t pc);
bool interp_window(Run *r, Thread *t, const Ins *i, uint32_t pc);
bool interp_shape(Run *r, Thread *t, const Ins *i, uint32_t pc);
/* The arrays of a tensor whose type, map and n are set; outside: its data is the caller's. */
bool interp_fill(Run *r, Store *s, bool shadow, bool outside);
void interp_release(Run *r, Thread *t);
void interp_whole(View *v, Store *s);
Val interp_load(const Store *s, int64_t at);
void interp_save(Store *s, int64_t at, Val v);

/* interp/clocks.c */
bool interp_race_start(Run *r);
bool interp_race_child(Run *r, uint32_t parent, uint32_t *tid);
void interp_race_fork(Run *r, uint32_t tid);   /* what tid did so far is before its children */
void interp_race_joined(Run *r, uint32_t tid); /* all children of tid are done */
bool interp_race_read(Run *r, Thread *t, Store *s, int64_t at, uint32_t pc);
bool interp_race_write(Run *r, Thread *t, Store *s, int64_t at, uint32_t pc, bool atomic);
bool interp_race_release(Run *r, Thread *t, Store *s, int64_t at);
void interp_race_landed(
	Run *r, Thread *t, Store *s, int64_t at, uint32_t pc); /* an async store, waited for */
bool interp_know_merge(Run *r, Know **into, const Know *from);
void interp_know_drop(Run *r, Know *k);

/* interp/thread.c: each stops the running thread; the scheduler goes on. */
bool interp_fork(Run *r, Thread *t, int64_t lo, int64_t n); /* n > 0 */
bool interp_join(Run *r, Thread *t);
bool interp_barrier(Run *r, Thread *t, int level, bool *stop);
void interp_order(Run *r, uint64_t n, uint64_t *first, uint64_t *step);
Thread *interp_thread(Run *r, Thread *parent);
bool interp_schedule(Run *r, Thread *first);

/* interp/exec.c: until the thread ends or stops; *over: it was the END. */
bool interp_exec(Run *r, Thread *t, bool *over);

#endif
