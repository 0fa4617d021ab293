/*
 * Memory of constants: of those that prepare Fns make, and, while a tuner compiles one Dag several times, of all that
 * its kernels read. Networks of one Dag have most constants in common, and these may have hundreds of megabytes. So
 * each is made and stored once, in a file without a name that other processes of this machine can map: a network that
 * is to be timed is then little more than its code. Where the system has no such files, what prepare Fns made is kept
 * all the same.
 */
#ifndef COMPILE_CONSTANTS_H
#define COMPILE_CONSTANTS_H

#include "base/hash.h"
#include "compile/net_plan.h"

typedef struct Constants Constants;

/* Lives until the arena is freed. mapped: with a file, if other processes can map one. May fork for a moment. */
Constants *constants_new(Arena *a, bool mapped);
/* The path by which other processes open the file, until the arena is freed; NULL: there is no file. */
const char *constants_path(const Constants *c);
/* Bytes of the file. The file grows; its contents keep their offsets. */
uint64_t constants_bytes(const Constants *c);

/* Pages with n zeroed bytes, which forks of this process share; NULL: there is no memory. */
void *constants_room(Constants *c, size_t n);
/* In a fork: of all rooms, only this one can be written. */
void constants_guard(const Constants *c, const void *room);
/* Takes back the last room. */
void constants_give_back(Constants *c, void *room);
/* The offset of these n bytes in the file, into which they are copied if they lie elsewhere. -1: no memory is left. */
int64_t constants_offset(Constants *c, const void *data, size_t n);

/*
 * Points the data of each out[] of the job to what Fns of the same text made of the same inputs. Inputs are known by
 * their addresses, so the Dag's constants must outlive this. False: the job is new; constants_add follows its Fns.
 */
bool constants_find(const Constants *c, Hash fns, const PrepareJob *job);
void constants_add(Constants *c, Hash fns, const PrepareJob *job);
/* By their text. */
Hash constants_fns(const KernelSet *prepare);

#endif
