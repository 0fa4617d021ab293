/*
 * Inside the room: the one child that runs candidates, the requests of a job and the meaning of its answers.
 */
#ifndef MEASURE_RUNNER_H
#define MEASURE_RUNNER_H

#include "measure/local.h"

/* Hands a built job to the runner. */
void runner_start(Local *m, Job *j);
void runner_close(Local *m);

/* request.c: what a job says to the runner; each adds to j->answers */
void ask(Local *m, Job *j, Msg *msg, MsgKind kind, const void *fixed, const void *array, size_t bytes);
bool ask_task_fits(const Local *m, const LocalRef *r);
void ask_check(Local *m, Job *j, Msg *msg);
void ask_reference(Local *m, Job *j, Msg *msg);
/* The oracle's value and the candidate's of j's disputed element. */
void ask_judge(Local *m, Job *j, Msg *msg);
void ask_times(Local *m, Job *j, Msg *msg);
void ask_probe(Local *m, Job *j, Msg *msg);
void ask_images(Local *m, Job *j, Msg *msg, const Job *set, int lane);

/* device_probe.c: the FMA probe of a device with processors of its own; built once, then asked for beside a job */
void probe_build(Local *m);
void ask_device_probe(Local *m, Job *j, Msg *msg);
/* True: the refused request was the probe's, which is given up; the candidate is not to blame. */
bool probe_refused(Local *m, uint64_t serial);

/* network_turns.c: a turn of each of the job's networks; the next one's answer */
void ask_networks(Local *m, Job *j, Msg *msg);
void network_take(Job *j, const MsgProfiled *p, const uint64_t *value);

/* verdict.c: what the answers of a check say */
typedef enum { VERDICT_GOOD, VERDICT_WRONG, VERDICT_DISPUTED, VERDICT_AGAIN } Verdict;
Verdict verdict_of_check(const Local *m, Job *j);
Verdict verdict_of_judge(Local *m, Job *j);
/* A candidate that has passed: its outputs are what others are compared with, or have been compared. */
void verdict_adopt(Local *m, Job *j);

#endif
