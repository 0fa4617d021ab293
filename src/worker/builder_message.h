/*
 * What a tuner and a builder (`dlc builder`) say to each other: text of a kernel set -> code.
 */
#ifndef WORKER_BUILDER_MESSAGE_H
#define WORKER_BUILDER_MESSAGE_H

#include "worker/message.h"

typedef struct MsgBuild { /* then: text of a kernel set */
	uint64_t ntext;
	uint64_t prune; /* 1: answer PRUNED where codegen's report says that it cannot be good */
} MsgBuild;

enum { MSG_IMAGES = 2 /* in one BUILT: of the prepare Fns, of the run Fns; one without kernels is left out */ };
typedef struct MsgBuilt { /* then: IMAGEs (runner_message.h) of nbytes in all, as whole frames */
	uint64_t ns, nbytes;
} MsgBuilt;

#endif
