/*
 * What a tuner and a builder (`dlc builder`) say to each other: text of a kernel set -> code.
 */
#ifndef WORKER_BUILDER_MESSAGE_H
#define WORKER_BUILDER_MESSAGE_H

#include "worker/message.h"

typedef struct MsgBuild { /* then: text of a kernel set */
	uint64_t ntext;
	uint32_t prune; /* 1: answer PRUNED where codegen's report says that it cannot be good */
	uint32_t host;  /* 1: its run Fns, too, are for the builder's machine: they compute reference values */
} MsgBuild;

/* In one BUILT: of the prepare Fns, which a CPU runs, then of the run Fns; an image without kernels is left out. */
enum { MSG_IMAGES = 2 };
typedef struct MsgBuilt { /* then: IMAGEs (runner_message.h) of nbytes in all, as whole frames */
	uint64_t ns, nbytes;
} MsgBuilt;

#endif
