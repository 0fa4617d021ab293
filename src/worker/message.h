/*
 * What a tuner and its children say to each other, over a pipe, ssh or a socket. A child sends HELLO; from then on
 * every request has exactly one answer, in order, which carries its serial. A child watches no clock: a parent that
 * has waited too long kills it and starts another.
 *
 * A message is the struct of its kind and then the arrays that its comment names, in that order, each padded with
 * zeros to a multiple of 8. Little-endian, 8-byte aligned in memory, so that both sides read it in place; frame.h
 * writes and checks them. A child that gets nonsense says so and exits.
 *
 * Two kinds of children answer: the runner (worker/runner_message.h) and the builder (worker/builder_message.h). Here
 * is what both have.
 */
#ifndef WORKER_MESSAGE_H
#define WORKER_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/kernel.h"

enum { MSG_VERSION = 12 };
#define MSG_MAX ((uint64_t)1 << 32) /* bytes of a frame */

typedef enum {
	MSG_NONE,
#define MSG(name, sender, type, meaning) MSG_##name,
#include "worker/message.def"
#undef MSG
	MSG_KINDS
} MsgKind;

/* A builder says its version alone. */
typedef struct MsgHello { /* then: features text, program version text */
	uint32_t version, cores; /* cores: of the host */
	uint32_t device, on_cpu; /* DLPack's code of the worker's own; on_cpu: 1, it runs on the host's processors */
	uint64_t memory_bytes, cache_bytes[3]; /* of the host; 0: not known */
	uint64_t device_bytes;                 /* of one allocation on the device at most; 0: not known */
	uint64_t nfeatures, nprogram;
} MsgHello;

typedef struct MsgRefused { /* then: text */
	uint32_t status;         /* DlcStatus */
	uint32_t ends;           /* 1: the device is lost and the worker ends: start another */
	uint32_t launched, zero; /* launched: 1 if the request had launched kernels of its program */
	uint64_t ntext;
} MsgRefused;

#endif
