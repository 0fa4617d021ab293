/*
 * The ways to measure, as rows of functions: children of this machine (local.c), and recorded spaces (replay.c).
 */
#ifndef MEASURE_WAY_H
#define MEASURE_WAY_H

#include "measure/measure.h"

/* A way to measure: one function for each of measure_NAME below. */
typedef struct MeasureWay {
	const char *method;
	MeasureRef *(*reference)(Measure *m, const Task *task, uint64_t seed, Err *err);
	bool (*submit)(Measure *m, const MeasureJob *job, Err *err);
	bool (*wait)(Measure *m, int ms, MeasureResult *out);
	bool (*race)(Measure *m, const MeasureJob *job, int n, MeasureResult *out, Err *err);
	void (*turn)(Measure *m);
	int (*pending)(const Measure *m);
	int (*flight)(const Measure *m);
	void (*cancel)(Measure *m);
	bool (*networks)(Measure *m, MeasureNetwork *net, int n, int turn_ms, Err *err);
	void (*cold)(Measure *m, int64_t bytes);
	void (*close)(Measure *m);
	void (*abandon)(Measure *m);
	bool (*probe)(Measure *m, DeviceProbe *out, Err *err); /* NULL: there is no device to ask */
} MeasureWay;

struct Measure {
	const MeasureWay *way;
};

#endif
