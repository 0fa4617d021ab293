/* See tune_files.h. */
#include "cli/tune_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- events ---- */

/* All of it, or false; a pipe may take a part at a time. */
static bool put_all(int fd, const char *text, size_t n)
{
	while (n > 0) {
		ssize_t k = write(fd, text, n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		text += k;
		n -= (size_t)k;
	}
	return true;
}

/* A line that a full disk has cut is ended, so that the next one begins as a line. */
static bool end_last_line(const char *path, int fd)
{
	struct stat st;
	char last = '\n';
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
		return true;
	int reader = open(path, O_RDONLY | O_CLOEXEC);
	if (reader < 0 || pread(reader, &last, 1, st.st_size - 1) != 1)
		last = '\n';
	if (reader >= 0)
		close(reader);
	return last == '\n' || put_all(fd, "\n", 1);
}

static bool open_events(TuneFiles *f, Err *err)
{
	bool standard = f->events == STDOUT_FILENO;
	if (!standard)
		f->events = open(f->events_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (f->events < 0 || (!standard && !end_last_line(f->events_path, f->events)))
		return fail(err, ERR_DEVICE, f->events_path, "events cannot be written there: %s", strerror(errno));
	return true;
}

/* One write for a line: lines of several tuners that append to one file do not mix. */
void tune_files_event(TuneFiles *f, const char *line, size_t n)
{
	if (f->events < 0)
		return;
	Arena *a = arena_new();
	bool ok = put_all(f->events, arena_printf(a, "%s\n", line), n + 1);
	arena_free(a);
	if (ok)
		return;
	fprintf(stderr, "dlc: %s: events are not written any more, and tuning goes on: %s\n",
		f->events == STDOUT_FILENO ? "standard output" : f->events_path, strerror(errno));
	if (f->events != STDOUT_FILENO)
		close(f->events);
	f->events = -1;
}

/* ---- the report ---- */

void tune_files_report(TuneFiles *f, const char *page, size_t n)
{
	if (f->to_stdout && (fwrite(page, 1, n, stdout) != n || fflush(stdout) != 0))
		fail(&f->failure, ERR_DEVICE, "standard output", "the report cannot be written: %s", strerror(errno));
	if (!f->begun)
		return;
	f->begun = false;
	if (file_put(&f->page, page, n, &f->failure))
		file_commit(&f->page, &f->failure);
	else
		file_abandon(&f->page);
}

/* ---- both ---- */

static bool may_be(const TuneFiles *f, const Args *args, DlcSession *s, Err *err)
{
	const char *const path[] = { f->events_path, f->report_path };
	if (f->report_path != NULL && args_given(args, "dry-run"))
		return fail(err, ERR_USAGE, "--report", "a dry run has nothing to report");
	if (f->to_stdout && (args_given(args, "json") || f->events == STDOUT_FILENO))
		return fail(err, ERR_USAGE, "--report", "standard output has other lines already: name a file");
	if (f->events_path != NULL && f->report_path != NULL && strcmp(f->events_path, f->report_path) == 0)
		return fail(err, ERR_USAGE, "--report", "is the file of the events: name another one");
	for (int i = 0; i < 2; i++)
		if (path[i] != NULL && strcmp(path[i], "-") != 0 && !output_is_apart(args, s, path[i], err))
			return false;
	return true;
}

bool tune_files_open(TuneFiles *f, const Args *args, DlcSession *s, Err *err)
{
	*f = (TuneFiles){
		.events_path = args_text(args, "events", NULL), .report_path = args_text(args, "report", NULL), .events = -1
	};
	f->to_stdout = f->report_path != NULL && strcmp(f->report_path, "-") == 0;
	if (f->events_path != NULL && strcmp(f->events_path, "-") == 0)
		f->events = STDOUT_FILENO;
	if (!may_be(f, args, s, err) || (f->events_path != NULL && !open_events(f, err)))
		return false;
	f->begun = f->report_path != NULL && !f->to_stdout && file_create(&f->page, f->report_path, err);
	return f->begun || f->report_path == NULL || f->to_stdout;
}

bool tune_files_close(TuneFiles *f, Err *err)
{
	if (f->events >= 0 && f->events != STDOUT_FILENO)
		close(f->events);
	if (f->begun)
		file_abandon(&f->page);
	f->events = -1;
	f->begun = false;
	if (f->failure.code == ERR_NONE)
		return true;
	if (err != NULL)
		*err = f->failure;
	return false;
}
