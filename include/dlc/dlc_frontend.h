/*
 * Part of dlc.h: front ends of other programs. A shared object with the symbol `dlc_frontend` reads a format of its own
 * and builds the network (dlc/dlc_builder.h). It is named by DlcLoadOptions.frontend, or `--frontend=FILE.so`:
 *
 *     cc -shared -fPIC mine.c $(pkg-config --cflags dlc) -o mine.so && dlc-compile net.mine --frontend=./mine.so
 *
 * It is not linked with libdlc: the program that opens it has the functions. It runs with the user's rights, as any
 * program. What it builds is checked like any network.
 */
#ifndef DLC_FRONTEND_H
#define DLC_FRONTEND_H

#ifndef DLC_DLC_H
#error "include dlc/dlc.h"
#endif

#define DLC_FRONTEND_ABI 1

typedef struct DlcModelFile {
	const char *path;
	const void *bytes; /* these stay as long as the network, so that constants may borrow from them */
	size_t size;
	const char *weights; /* the file of DlcLoadOptions.weights; NULL: none */
	const char *signature; /* the entry point of DlcLoadOptions.signature; NULL: the usual one */
	const char *tags; /* DlcLoadOptions.tags, "serve,tpu"; NULL: none */
} DlcModelFile;

typedef struct DlcFrontend {
	int abi;          /* DLC_FRONTEND_ABI */
	const char *name; /* of the format, in messages: "toy" */
	int (*recognise)(const void *bytes, size_t size); /* 1: the file is of this format; 0: other front ends are asked */
	/*
	 * Builds the network: inputs, values, outputs. 0: it is complete. What is wrong is said by dlc_builder_refuse. The
	 * builder is dlc's, which finishes and closes it.
	 */
	int (*load)(DlcBuilder *b, const DlcModelFile *file);
} DlcFrontend;

/* The symbol of a front end: DLC_FRONTEND_ROW("toy", recognise, load); */
#ifdef __cplusplus
#define DLC_FRONTEND_ROW(name, recognise, load) \
	extern "C" const DlcFrontend dlc_frontend; \
	const DlcFrontend dlc_frontend = { DLC_FRONTEND_ABI, name, recognise, load }
#else
#define DLC_FRONTEND_ROW(name, recognise, load) \
	extern const DlcFrontend dlc_frontend; \
	const DlcFrontend dlc_frontend = { DLC_FRONTEND_ABI, name, recognise, load }
#endif

#endif
