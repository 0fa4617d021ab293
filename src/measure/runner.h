/*
 * Inside the room: a child that runs candidates, the requests of a job and the meaning of its answers.
 */
#ifndef MEASURE_RUNNER_H
#define MEASURE_RUNNER_H

#include "measure/local.h"

/* Hands a built job to a runner that has none. */
void runner_start(Runner *x, Job *j);
/* Begins the samples for which the runner has waited. */
void runner_sample(Runner *x);
void runner_close(Runner *x);

/* request.c: what a job says to the runner; each adds to j->answers */
void ask(Runner *x, Job *j, Msg *msg, MsgKind kind, const void *fixed, const void *array, size_t bytes);
/* Gives back the memory of a constant's number. */
void ask_nothing_of(Runner *x, Job *j, Msg *msg, uint32_t number, bool device);
bool ask_task_fits(const Runner *x, const LocalRef *r);
void ask_check(Runner *x, Job *j, Msg *msg);
void ask_reference(Runner *x, Job *j, Msg *msg);
/* The oracle's value and the candidate's of j's disputed element. */
void ask_judge(Runner *x, Job *j, Msg *msg);
void ask_times(Runner *x, Job *j, Msg *msg);
void ask_probe(Runner *x, Job *j, Msg *msg);

/* The module of `lane` with a Fn's code, and the range of the Fn's entries in it. False: there is none. */
bool find_entries(const Job *j, int lane, const char *fn, uint32_t *module, uint32_t *entry, uint32_t *end);

/* device_probe.c: the probe of a device with processors of its own, built once and then run beside jobs */
void probe_build(Local *m);
void probe_wait(Local *m); /* until the probe is built, its build fails, or all is interrupted */
void ask_device_probe(Runner *x, Job *j, Msg *msg);
void take_device_probe(Runner *x, uint64_t serial, const MsgProbed *p);
/* True: the refused request was the probe's. Gives up the kinds that need it; the candidate is not to blame. */
bool probe_refused(Runner *x, uint64_t serial);

/* network_turns.c: a turn of each of the job's networks; the next one's answer */
void ask_networks(Runner *x, Job *j, Msg *msg);
void network_take(Job *j, const MsgProfiled *p, const uint64_t *value);

/* verdict.c: what the answers of a check say */
typedef enum { VERDICT_GOOD, VERDICT_WRONG, VERDICT_DISPUTED, VERDICT_AGAIN } Verdict;
Verdict verdict_of_check(const Local *m, Job *j);
Verdict verdict_of_judge(Local *m, Job *j);
/* A candidate that has passed: its outputs are what others are compared with, or have been compared. */
void verdict_adopt(Local *m, Job *j);

#endif
