/*
 * A recorded space: what became of each config of a Task's space, or of the part of it that some options of each knob
 * span. docs/search.md has the written form, which reads back to the same thing. Configs and traces stand in it as
 * text, so a later template may have other knobs: the record is still a space to search.
 */
#ifndef MEASURE_RECORDED_H
#define MEASURE_RECORDED_H

#include "op/task.h"
#include "record/run_record.h"
#include "target/target.h"

enum { RECORDED_TIMES = 16 };

typedef struct RecordedRun {
	const char *config; /* "tile=2x14 order=row" */
	const char *trace;  /* configs of one schedule have the same; "": the config has no schedule */
	RunStatus status;
	int64_t median_ns;           /* of all times; 0: it did not run */
	int64_t build_ns, screen_ns; /* as in MeasureResult */
	int times;                   /* measurements, each a median of samples */
	int64_t ns[RECORDED_TIMES];
} RecordedRun;

typedef struct RecordedSpace {
	const Task *task;
	Target target;
	int epoch;                   /* of the code generator */
	double size;                 /* configs of the space that these are of */
	int64_t estimate_ns;         /* to schedule a config and estimate its time */
	int64_t cold_bytes;          /* as for measure_cold */
	const char *machine, *noise; /* sentences */
	const char *network;         /* that the Task is of; "": not said */
	int first;                   /* the run of the template's default */
	int n;
	RecordedRun *run; /* in the order of the space */
} RecordedSpace;

/* In the arena. Refuses what is damaged, cut off or of another version. `name` stands in messages. */
bool recorded_parse(Arena *a, const char *name, const char *text, size_t n, RecordedSpace *out, Err *err);
void recorded_print(Text *out, const RecordedSpace *s);
/* Adds a time to a run that is RUN_OK, and finds the median. */
void recorded_add_time(RecordedRun *r, int64_t ns);

#endif
