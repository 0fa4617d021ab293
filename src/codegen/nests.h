/*
 * A run Fn cut into its top-level nests, so that a nest that stands in many schedules is compiled once. A CPU calls
 * them one after the other, as a device starts the kernels of a Fn (DlcEntry.rest), with the team's barrier between.
 *
 * The code of a nest is that of the whole Fn, but for what the whole keeps from one nest to the next in registers,
 * and where loops lie in the image. A Fn whose loops are serial in a team because of one of its nests (docs/codegen.md,
 * "Threads") has the others parallel as nests.
 */
#ifndef CODEGEN_NESTS_H
#define CODEGEN_NESTS_H

#include "codegen/codegen.h"

/*
 * The nests of the set's one run Fn in order, as *n sets of one run Fn each. They have its name and as many parameters,
 * and those that a nest does not use are alike in all sets. NULL: the Fn is one nest, the nests share more than
 * parameters, or the code is not machine code of a CPU. The set has no prepare Fns; its Ir gets names, and a second
 * call for the same Ir gives NULL.
 */
const KernelSet **codegen_nests(Arena *a, const KernelSet *ks, const Target *t, size_t *n);

/*
 * The Module of the Fn, from those of its nests: one image, in the arena, whose first entry has the Fn's name. False:
 * together they weigh too much, as the whole Fn would.
 */
bool codegen_join_nests(Arena *a, const Target *t, const Module *const *nest, size_t n, Module *out, Err *err);

#endif
