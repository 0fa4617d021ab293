/* A DlcFailure is an Err under its public name (session.c asserts it), so that programs of this tree need one kind. */
#ifndef API_FAILURE_H
#define API_FAILURE_H

#include "base/err.h"

#include <dlc/dlc.h>

static inline DlcFailure *failure_of(Err *err)
{
	return (DlcFailure *)err;
}

static inline Err *err_of(DlcFailure *why)
{
	return (Err *)why;
}

#endif
