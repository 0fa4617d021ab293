/*
 * Work in a child process, for a library that a stranger's file may crash, send into an endless loop or make take all
 * memory. The child is a fork: it has the memory of this process as it was. Of the descriptors it keeps one, 0, a
 * stream to this process, and it can open no others; so all that it writes elsewhere is lost. That contains mistakes,
 * not code that wants out: the child still has the rights of its user.
 *
 * The process may have threads, so the library must be open before: in the child dlopen could wait for a lock that
 * another thread had. Memory may be taken; the C library's fork sees to that. Handlers of signals are left behind.
 */
#ifndef BASE_SUBPROCESS_H
#define BASE_SUBPROCESS_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

typedef struct SubprocessLimits {
	int64_t memory; /* bytes of address space, beyond those that this process has */
	int cpu_s;      /* of processor time, in all */
	int wait_s;     /* without a byte from the child, or taken by it */
} SubprocessLimits;

/* The parent's side. Zeros: none runs. It ends with the thread that started it, if not before. */
typedef struct Subprocess {
	int pid, fd;
	SubprocessLimits limits;
	bool late; /* wait_s are over */
} Subprocess;

/* Calls work(arg) in a child, which ends when that returns. ERR_DEVICE: there is no process or descriptor left. */
bool subprocess_start(Subprocess *p, const SubprocessLimits *l, void (*work)(void *arg), void *arg, Err *err);
/* Exactly n bytes; false: the child has ended or is late. What comes from it is to be checked as a stranger's. */
bool subprocess_send(Subprocess *p, const void *from, size_t n);
bool subprocess_receive(Subprocess *p, void *to, size_t n);
/* Ends the child, if it still runs; `how` becomes words behind its name: "ended with signal 11 (...)". */
enum { SUBPROCESS_HOW = 128 };
void subprocess_end(Subprocess *p, char how[SUBPROCESS_HOW]);

/* In the child: exactly n bytes, from and to the parent; the child ends if that is gone. */
void subprocess_take(void *to, size_t n);
void subprocess_give(const void *from, size_t n);
/* In the child: raises the limit of memory by so many bytes, or lowers it again. */
void subprocess_allow_memory(int64_t bytes);

#endif
