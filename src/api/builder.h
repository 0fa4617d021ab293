/* The child of a tuner that compiles candidates: a whole process, which dlc builder is. Not part of libdlc. */
#ifndef API_BUILDER_H
#define API_BUILDER_H

#include "api/failure.h"

/*
 * Answers requests on standard input on standard output until it ends; limits its own memory, and dies with its parent.
 */
bool builder_serve(const DlcTarget *target, Err *err);

#endif
