/*
 * How far a time is from what a machine gives. dlc tune stops by it, and it is a column of its table and of those of
 * dlc compile and dlc show.
 */
#ifndef API_HEADROOM_H
#define API_HEADROOM_H

#include "cost_model/roof.h"
#include "target/target.h"

/*
 * This machine, probed (20 ms) with vectors of the target's width, where the target's code runs on it; else what
 * the target's description promises.
 */
Roof machine_roof(const Target *target);

#endif
