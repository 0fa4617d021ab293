/*
 * Recordings of an instance's plan, for devices that do a whole plan at one call. A plan is recorded once for each
 * set of symbol values and bound addresses, of which the last few are kept.
 */
#ifndef RUNTIME_RECORDING_H
#define RUNTIME_RECORDING_H

#include "runtime/device.h"

enum { RECORDINGS = 4 }; /* two inputs in turn, with and without a profile */

typedef struct Recording {
	int64_t *key;
	uint64_t used; /* number of the run that used it last; 0: none did */
	bool refused;  /* by the device */
	DeviceRecording *made;
} Recording;

typedef struct DlcInstance DlcInstance;

/* Takes the memory of the keys; false if there is none. */
bool recording_init(DlcInstance *i);
void recording_free(DlcInstance *i);
/* Runs the plan. 0, or what the device says; *failed is a failed step, as plan_run returns it. */
int recording_run(DlcInstance *i, uint64_t *failed);

#endif
