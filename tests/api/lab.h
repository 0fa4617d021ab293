/*
 * What the tests of libdlc share: small networks, a session that finds its programs, a folder of their own.
 */
#ifndef TESTS_API_LAB_H
#define TESTS_API_LAB_H

#include "suite.h"

#include "base/arena.h"

#include <dlc/dlc.h>

enum { NETWORKS = 5, SEVERAL_TASKS = 4 /* the network with four of them */ };
/* They differ, so that a mix-up of sessions shows. */
extern const char *const network[NETWORKS];

typedef struct Model {
	char *bytes;
	size_t n;
} Model;

/* The network as an ONNX file's content; the caller frees the bytes. */
Model onnx_of(const char *text);

/* Each program makes it (suite_folder) and deletes it. */
extern char folder[SUITE_FOLDER];
const char *file(Arena *a, const char *name);

#define ok(fault, why) ck_assert_msg((fault) == DLC_FAULT_NONE, "%d: %s: %s", (why).code, (why).place, (why).text)

DlcSession *open_session(void);
DlcNetwork *load(DlcSession *s, const Model *m);
/* Compiles the network without records and runs it on x, its one input; the ny numbers of its first output. */
float *run_network(Arena *a, DlcNetwork *n, const float *x, int64_t nx, int64_t ny);
/* A session with network number `which`, and a database of that name in the folder; NULL: none. */
typedef struct Lab {
	Arena *arena;
	DlcSession *session;
	Model model;
	DlcNetwork *network;
	DlcDatabase *database;
} Lab;
Lab open_lab(int which, const char *database);
void close_lab(Lab *lab);
/* For dlc_network_show: appends to the Text. */
int put(const char *bytes, size_t n, void *arg);

typedef struct First {
	DlcTaskRow row;
	char trace[4096];
	int n;
} First;

/* For the walks over runs and tasks. */
int count_runs(const DlcRunRow *row, void *arg);
int take_task(const DlcTaskRow *row, void *arg);

#endif
