/*
 * What dlc tune shows: on a terminal a table of the tasks, drawn again and again; elsewhere its last line
 * from time to time. With --json a line on stdout for every trial and the result.
 */
#ifndef CLI_TUNE_SCREEN_H
#define CLI_TUNE_SCREEN_H

#include "api/failure.h"

#include <signal.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Screen {
	const char *model, *db, *target;
	bool json, terminal;
	FILE *results; /* standard output, or standard error where the events take that */
	double budget_s; /* 0: none */
	double start_ms, shown_ms;
	int lines; /* of the last drawing, which the next one replaces */
	bool tried; /* one schedule by hand: its result alone is shown */
	int64_t waited_ms; /* for other tuners, as the last line said */
} Screen;

void screen_open(Screen *s);
/* DlcTuneRequest.on_trial and on_progress; arg is the Screen. */
int screen_trial(const char *record, void *arg);
int screen_progress(const DlcTuneProgress *t, void *arg);
/* The whole table and what became of the network; with --json the result. */
void screen_end(Screen *s, const DlcTuneResult *r);
/* --dry-run: the tasks and what would be searched. */
void screen_plan(Screen *s, const DlcTuneResult *r);

#endif
