/*
 * The files of dlc tune beside its database: --events, lines that are appended while the run goes on, and --report, a
 * page that is written as it ends. Neither can end a run: an event that cannot be written is told once.
 */
#ifndef CLI_TUNE_FILES_H
#define CLI_TUNE_FILES_H

#include "base/file.h"
#include "cli/operands.h"

typedef struct TuneFiles {
	const char *events_path, *report_path; /* as the user typed them; NULL: not asked for */
	int events;                            /* a descriptor; -1: none, or it cannot be written any more */
	bool to_stdout;                        /* the report's page goes to standard output */
	bool begun;                            /* `page` is a file under way */
	FileOut page;
	Err failure; /* of the page */
} TuneFiles;

/* Opens both before the run, so that a folder that is not there is said at once. The databases must be open. */
bool tune_files_open(TuneFiles *f, const Args *args, DlcSession *s, Err *err);
void tune_files_event(TuneFiles *f, const char *line, size_t n);
void tune_files_report(TuneFiles *f, const char *page, size_t n);
/* False: the page could not be written. A page that never came leaves the old file as it was. */
bool tune_files_close(TuneFiles *f, Err *err);

#endif
