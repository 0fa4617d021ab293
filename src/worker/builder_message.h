/*
 * What a tuner and a builder (`dlc builder`) say to each other: text of a kernel set -> machine code.
 */
#ifndef WORKER_BUILDER_MESSAGE_H
#define WORKER_BUILDER_MESSAGE_H

#include "worker/message.h"

typedef struct MsgBuild { /* then: text of a kernel set */
	uint64_t ntext;
	uint64_t prune; /* 1: answer PRUNED where codegen's report says that it cannot be good */
} MsgBuild;

typedef struct MsgBuilt { /* then: DlcEntry[nentry], image bytes */
	uint64_t ns, device, nentry, nimage;
} MsgBuilt;

#endif
