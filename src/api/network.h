/* Inside the room: what loading a network and building one share (network.c). */
#ifndef API_NETWORK_H
#define API_NETWORK_H

#include "api/session.h"
#include "frontend/frontend.h"

/* A tensor of a caller as a constant: compact; copied into the arena, or borrowed. */
bool network_read_tensor(
	Arena *a, const char *name, const DlcTensor *t, bool borrow, BindArg *out, Err *err);
/* What options say of the inputs and the weights, copied. */
bool network_read_options(DlcSession *s, Arena *a, const DlcLoadOptions *o, ModelArgs *out, Err *err);
/* The network of an imported Dag in its arena, in the precision of the options and without what they leave out. */
bool network_make(
	DlcSession *s, Arena *a, const char *name, Dag *imported, const DlcLoadOptions *o, DlcNetwork **out, Err *err);

#endif
