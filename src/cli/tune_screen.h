/*
 * What dlc tune shows: on a terminal a table of the tasks, drawn again and again; elsewhere its last line
 * from time to time. With --json a line on stdout for every trial and the result.
 */
#ifndef CLI_TUNE_SCREEN_H
#define CLI_TUNE_SCREEN_H

#include "cli/rows.h"
#include "tuner/tuner.h"

typedef struct Screen {
	Arena *arena;
	const char *model, *db;
	const Target *target;
	bool json, terminal;
	double budget_ms; /* 0: none */
	double start_ms, shown_ms;
	int lines; /* drawn, to be drawn over */
	volatile sig_atomic_t *stop; /* set where nobody reads on */
	const TuneProgress *progress; /* what screen_tick shows: the last that was told; NULL: nothing yet */
	int64_t waited_ms;      /* for other tuners, as the last line said */
} Screen;

double screen_now_ms(void *arg); /* a Clock */
void screen_open(Screen *s);
/* TuneMeans.on_trial and on_progress; arg is the Screen. */
void screen_trial(const RunRecord *run, const Task *task, void *arg);
void screen_progress(const TuneProgress *t, void *arg);
/* MeasureOptions.tick: a long wait does not stop the screen. */
void screen_tick(void *arg);
/* The whole table and what became of the network; with --json the result. */
void screen_end(Screen *s, const TuneResult *r);
/* --dry-run: the tasks and what would be searched. */
void screen_plan(Screen *s, const TuneResult *r);

#endif
