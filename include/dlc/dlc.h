/*
 * libdlc: tunes a trained network on this machine and compiles it to a bundle, which libdlc_runtime runs.
 *
 *     dlc_session_open -> dlc_network_load -> dlc_database_open -> dlc_tune -> dlc_compile -> dlc_bundle_write
 *
 * A session knows where things lie; networks, databases and bundles are made in one and closed before it. One thread at
 * a time uses a session and what was made in it; several sessions work at once. dlc_session_cancel is for any thread.
 *
 * A function that can fail returns a DlcFault and, where `why` is not NULL, fills it. The library does not print and
 * does not end the process. It reads the environment in dlc_session_open_user alone. Zero structs of options first:
 * zeros are the defaults. After DLC_FAULT_MEMORY a database that took part in the call can only be closed.
 *
 * A callback that ends its call by its result makes no fault of it: what came before holds.
 * A callback may call the library, too. A network or session that the call under way still needs is then
 * DLC_FAULT_USAGE, and so is a second walk over the same rows of a database. It must not close what that call was
 * given.
 *
 * A pointer may be NULL only where a header says so, and always: `why`, the `arg` of a callback, and a DlcTarget
 * (this machine). Any other NULL, and a number out of its range, is DLC_FAULT_USAGE; a function without a fault then
 * returns NULL or 0 and does nothing. `*out` is NULL after a failure.
 */
#ifndef DLC_DLC_H
#define DLC_DLC_H

#include <dlc/dlc_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum DlcFault {
	DLC_FAULT_NONE = 0,
	DLC_FAULT_INPUT = 1,       /* the input is damaged, illegal or not supported */
	DLC_FAULT_SYNTAX = 2,      /* a text does not parse */
	DLC_FAULT_TYPE = 3,        /* shapes or element types do not fit */
	DLC_FAULT_UNSUPPORTED = 4, /* an operator, attribute or feature that dlc does not have */
	DLC_FAULT_ILLEGAL = 5,     /* a schedule step that its law refuses */
	DLC_FAULT_RACE = 6,        /* two unordered accesses to one element */
	DLC_FAULT_MEMORY = 7,      /* more memory than there is, or a size that overflows */
	DLC_FAULT_USAGE = 8,       /* the call is wrong: an option, a name, a value */
	DLC_FAULT_MISSING = 9,     /* the named task, record or device is not there */
	DLC_FAULT_BUG = 10,        /* a mistake of dlc's own */
	DLC_FAULT_DEVICE = 11,     /* device, permission or disk */
	DLC_FAULT_INTERRUPTED = 12 /* cancelled; everything measured so far is kept */
} DlcFault;

typedef struct DlcFailure {
	DlcFault code;
	char place[192];  /* a file, a node, or the argument or field that is wrong; may be empty */
	char text[640];   /* one sentence: what is wrong and what to do */
	char items[2048]; /* further lines, "all unsupported operators", each ended by '\n'; may be empty */
	int nitems;       /* all that there were, those not kept included */
} DlcFailure;

/* "model.onnx: the sentence", as snprintf writes; out may be NULL where size is 0. */
DLC_API size_t dlc_failure_text(const DlcFailure *why, char *out, size_t size);
/* "0.1.0" */
DLC_API const char *dlc_version(void);

typedef struct DlcSession DlcSession;
typedef struct DlcNetwork DlcNetwork;   /* a trained network; a compiled one is a DlcBundle */
typedef struct DlcDatabase DlcDatabase; /* what tuners have measured */
typedef struct DlcBundle DlcBundle;

/* Texts are copied. */
typedef struct DlcSessionOptions {
	const char *programs; /* folder of dlc and dlc-worker, the children of dlc_tune; NULL: found around libdlc */
	const char *const *targets; /* folders of target files, before those found from libdlc's place */
	int ntargets;
	const char *code;     /* folder that keeps compiled code between calls; NULL: none */
	const char *key;      /* file of the user's key, made when something is stored; NULL: records belong to no user */
	const char *database; /* the database where none is named; NULL: none */
	void (*note)(const char *sentence, void *arg); /* "the symbolic batch N is taken as 1"; may be NULL */
	void *note_arg;
	const char *command; /* what the program was asked to do: logs that are written say so; NULL: they do not */
} DlcSessionOptions;

/* options NULL: all defaults. */
DLC_API DlcFault dlc_session_open(const DlcSessionOptions *options, DlcSession **out, DlcFailure *why);
/*
 * As the programs do: what options leave NULL comes from the environment (DLC_CONFIGS, DLC_TUNING_DB, DLC_TUNING_LOGS,
 * DLC_CODE_CACHE, XDG_DATA_HOME, XDG_CACHE_HOME, HOME; dlc(1)).
 */
DLC_API DlcFault dlc_session_open_user(const DlcSessionOptions *options, DlcSession **out, DlcFailure *why);
DLC_API void dlc_session_close(DlcSession *s); /* NULL is allowed */
/*
 * From any thread or signal handler, without a race. A call that is given the session, or what was made in it, returns
 * DLC_FAULT_INTERRUPTED at its start, until this is called with on == 0. Of the calls under way, dlc_compile,
 * dlc_database_verify and dlc_network_show of the stage plan end with that fault; dlc_tune ends without a fault and
 * says `interrupted`; other calls run to their end.
 */
DLC_API void dlc_session_cancel(DlcSession *s, int on);

#include <dlc/dlc_network.h>
#include <dlc/dlc_builder.h>
#include <dlc/dlc_layers.h>
#include <dlc/dlc_frontend.h>
#include <dlc/dlc_database.h>
#include <dlc/dlc_records.h>
#include <dlc/dlc_compile.h>
#include <dlc/dlc_tune.h>
#include <dlc/dlc_info.h>

#ifdef __cplusplus
}
#endif
#endif
