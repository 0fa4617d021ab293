/*
 * Memory of constants: of those that prepare Fns make, and, while a tuner compiles one Dag several times, of all
 * that its kernels read. Most are the same from one network to the next, and they may have hundreds of megabytes. So
 * each is made once and lies here once, in a file without a name that other processes of this machine can map: a
 * network that is to be timed is then little more than its code. Where the system has no such files, what prepare Fns
 * made is kept all the same.
 */
#ifndef COMPILE_CONSTANTS_H
#define COMPILE_CONSTANTS_H

#include "compile/net_plan.h"

typedef struct Constants Constants;

/* In the arena, with whose end it goes. mapped: other processes shall be able to map it. */
Constants *constants_new(Arena *a, bool mapped);
/* By which others can open the file, until the arena is freed; NULL: they cannot. */
const char *constants_path(const Constants *c);
/* Of the file. It grows, and what is in it stays where it is. */
uint64_t constants_bytes(const Constants *c);

/* n zeroed bytes, 64-byte aligned, that forks of this process write into; NULL: there is no memory. */
void *constants_room(Constants *c, size_t n);
/* The last room, for another one. */
void constants_give_back(Constants *c, void *room, size_t n);
/* Where n bytes lie in the file, which has a path, or a copy of them if they lie elsewhere. -1: no memory. */
int64_t constants_place(Constants *c, const void *data, size_t n);

/*
 * Points the data of each out[] of the job to what Fns of the same text made of the same inputs. Inputs are known by
 * their addresses, so the Dag's constants must outlive this. False: it is not known, and constants_add says it.
 */
bool constants_find(const Constants *c, const KernelSet *prepare, const PrepareJob *job);
void constants_add(Constants *c, const KernelSet *prepare, const PrepareJob *job);

#endif
