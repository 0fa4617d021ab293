/* See tune_screen.h. */
#include "cli/tune_screen.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DRIFT 1.15 /* times: less is the probe's own scatter */
enum {
	HEAD = 5 /* lines that are no tasks */,
	EVERY_MS = 10000,
	TERMINAL_MS = 250,
	ROWS = 24,
	COLUMNS = 80 /* of a terminal that does not say */,
	BESIDE = 54 /* columns of a row beside its op */,
	LEAST_OP = 12,
	MOST_OP = 38
};

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

void screen_open(Screen *s)
{
	s->terminal = !s->json && isatty(STDERR_FILENO);
	s->start_ms = s->shown_ms = now_ms();
}

int screen_trial(const char *record, void *arg)
{
	const Screen *s = arg;
	if (!s->json)
		return 0;
	printf("{\"trial\":\"%s\"}\n", record);
	return fflush(stdout) != 0; /* the reader is gone */
}

/* ---- the last line ---- */

static void add_time(Text *out, double seconds)
{
	text_add(out, "%d:%02d", (int)seconds / 60, (int)seconds % 60);
}

/*
 * Until the budget or the trials are used up, whichever is first, and what comes behind the search is done; < 0: it
 * cannot be told.
 */
static double seconds_left(const Screen *s, const DlcTuneProgress *t, double seconds)
{
	double left = s->budget_s > 0 ? fmax(s->budget_s - seconds, 0) : -1, rest = t->rest_ms / 1000;
	double known = -1;
	if (t->phase > DLC_SEARCHING)
		known = rest;
	else if (t->limit >= 0 && t->candidates_per_s > 0)
		known = (double)(t->limit - t->trials) / t->candidates_per_s + rest;
	return left < 0 || (known >= 0 && known < left) ? known : left;
}

/* A time that was not measured is none: "-". */
static const char *ms_text(char out[32], int decimals, double ms)
{
	snprintf(out, 32, ms > 0 ? "%.*f" : "-", decimals, ms);
	return out;
}

/* What goes on where it is no search; since the last line samples of other tuners were waited for. */
static void add_phase(Text *out, const Screen *s, const DlcTuneProgress *t)
{
	static const char *const name[DLC_PHASES] = { [DLC_OPENING] = "reading records, compiling the defaults",
		[DLC_RACING] = "racing the best",
		[DLC_CONFIRMING] = "timing inside the network" };
	if (name[t->phase] != NULL)
		text_add(out, " | %s", name[t->phase]);
	if (t->waited_ms >= s->waited_ms + 100)
		text_add(
			out, " | waited %.1f s for another tuner on this device", (double)(t->waited_ms - s->waited_ms) / 1000);
}

static void add_line(Text *out, const Screen *s, const DlcTuneProgress *t)
{
	double seconds = (now_ms() - s->start_ms) / 1000, left = seconds_left(s, t, seconds);
	int64_t had = t->trials + t->reused;
	char before[32], now[32];
	text_add(out, "network  %s -> %s ms (sum of tasks)   %lld",
		ms_text(before, 2, t->default_tasks_ms),
		ms_text(now, 2, t->tasks_ms), (long long)had);
	if (t->limit >= 0)
		text_add(out, "/%lld", (long long)(t->limit + t->reused));
	text_add(out, " | %.0f/s | ", t->candidates_per_s);
	add_time(out, seconds);
	if (left >= 0) {
		text_add(out, ", ETA ");
		add_time(out, left);
	}
	add_phase(out, s, t);
	text_add(out, " | failed %lld", (long long)t->failed);
	const char *sign = ": ";
	for (int i = 0; dlc_trial_status(i) != NULL; i++)
		if (strcmp(dlc_trial_status(i), "ok") != 0 && t->status[i] != 0) {
			text_add(out, "%s%s %lld", sign, dlc_trial_status(i), (long long)t->status[i]);
			sign = ", ";
		}
	text_add(out, "\n");
}

/* ---- the table ---- */

static void add_row(Text *out, const DlcTaskProgress *x, int op)
{
	char roof[24] = "", best[32], before[32];
	if (x->best_ms > 0 && x->roof_ms > 0)
		snprintf(roof, sizeof roof, "%.0f%%", 100 * x->roof_ms / x->best_ms);
	text_add(out, "%.7s  %-*.*s%3d%7lld%9s%9s%6s%s%s%s%s\n", x->task.id, op, op, x->task.label, x->task.weight,
		(long long)(x->trials + x->reused), ms_text(best, 3, x->best_ms), ms_text(before, 3, x->default_ms), roof,
		x->algorithm[0] != 0 ? " " : "", x->algorithm, x->end != DLC_OPEN ? " done" : "",
		x->now && x->end == DLC_OPEN ? " *" : "");
}

static void size_of_terminal(int *rows, int *columns)
{
	struct winsize w;
	bool told = ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_row > 0 && w.ws_col > 0;
	*rows = told ? w.ws_row : ROWS;
	*columns = told ? w.ws_col : COLUMNS;
}

static double time_of(const DlcTaskProgress *x)
{
	return x->best_ms * x->task.weight;
}

/* The n tasks that take most of the network, in their order. */
static void add_rows(Text *out, const DlcTuneProgress *t, int n, int op)
{
	int left_out = 0;
	for (int k = 0; k < t->ntask; k++) {
		int longer = 0;
		for (int i = 0; i < t->ntask; i++) {
			double a = time_of(&t->task[i]), b = time_of(&t->task[k]);
			longer += a > b || (a == b && i < k);
		}
		if (longer < n)
			add_row(out, &t->task[k], op);
		else
			left_out++;
	}
	if (left_out > 0)
		text_add(out, "and %d more\n", left_out);
}

/* A terminal's lines are cut at its edge: a line that wraps is two, and the next drawing would miss one. */
static void put_lines(Screen *s, const char *text)
{
	int rows, columns;
	size_of_terminal(&rows, &columns);
	s->lines = 0;
	while (*text != 0) {
		size_t n = strcspn(text, "\n");
		int shown = s->terminal && n >= (size_t)columns ? columns - 1 : (int)n;
		fprintf(stderr, "%.*s\n", shown, text);
		text += n + (text[n] == '\n');
		s->lines++;
	}
}

static void draw(Screen *s, const DlcTuneProgress *t, int rows)
{
	Arena *a = arena_new();
	Text out = { .arena = a };
	int height, columns;
	size_of_terminal(&height, &columns);
	/* On a narrow terminal the names are cut, not the numbers behind them. */
	int op = s->terminal ? columns - 1 - BESIDE : MOST_OP;
	op = op < LEAST_OP ? LEAST_OP : op < MOST_OP ? op : MOST_OP;
	text_add(&out, "dlc-tune %s  %s  db %s (%lld trials reused)\n", s->model, s->target,
		s->db != NULL ? s->db : "none", (long long)t->reused);
	text_add(&out, "%-9s%-*s%3s%7s%9s%9s%6s\n", "task", op, "op", "x", "trials", "best ms", "default", "roof");
	add_rows(&out, t, rows, op);
	add_line(&out, s, t);
	if (s->lines > 0)
		fprintf(stderr, "\033[%dA\033[J", s->lines);
	put_lines(s, text_str(&out));
	arena_free(a);
}

int screen_progress(const DlcTuneProgress *t, void *arg)
{
	Screen *s = arg;
	double now = now_ms();
	if (now - s->shown_ms < (s->terminal ? TERMINAL_MS : EVERY_MS))
		return 0;
	s->shown_ms = now;
	if (s->terminal) {
		int rows, columns;
		size_of_terminal(&rows, &columns);
		draw(s, t, rows > HEAD + 1 ? rows - HEAD : 1);
		return 0;
	}
	Arena *a = arena_new();
	Text out = { .arena = a };
	add_line(&out, s, t);
	fputs(text_str(&out), stderr);
	s->waited_ms = t->waited_ms;
	arena_free(a);
	return 0;
}

/* ---- the end ---- */

static Json *number(Arena *a, double v)
{
	return v > 0 ? json_new_real(a, v) : json_new(a, JV_NULL);
}

/* The tasks that the network runs. */
static int count_run(const DlcTuneProgress *t)
{
	int n = 0;
	for (int k = 0; k < t->ntask; k++)
		n += t->task[k].task.weight > 0;
	return n;
}

static void print_json(const DlcTuneResult *r)
{
	const DlcTuneProgress *t = &r->end;
	Arena *a = arena_new();
	Text out = { .arena = a };
	Json *v = json_new(a, JV_OBJECT);
	int open = 0; /* tasks of the network whose search is not over; none: the run has its certificate */
	for (int k = 0; k < t->ntask; k++)
		open += t->task[k].task.weight > 0 && t->task[k].end == DLC_OPEN;
	json_set(a, v, "model", json_new_text(a, r->model));
	json_set(a, v, "target", json_new_text(a, r->target));
	json_set(a, v, "tasks", json_new_int(a, count_run(t)));
	json_set(a, v, "open", json_new_int(a, open));
	json_set(a, v, "trials", json_new_int(a, t->trials));
	json_set(a, v, "reused", json_new_int(a, t->reused));
	json_set(a, v, "failed", json_new_int(a, t->failed));
	json_set(a, v, "pruned", json_new_int(a, t->pruned));
	json_set(a, v, "seconds", json_new_real(a, t->seconds));
	json_set(a, v, "candidates_per_s", json_new_real(a, t->candidates_per_s));
	json_set(a, v, "screen_ms", number(a, t->screen_ms));
	json_set(a, v, "network_ms", number(a, r->network_ms));
	json_set(a, v, "tasks_ms", number(a, t->tasks_ms));
	json_set(a, v, "alone_ms", number(a, r->alone_ms));
	json_set(a, v, "left", r->left < 0 ? json_new(a, JV_NULL) : json_new_real(a, r->left));
	json_set(a, v, "default_network_ms", number(a, r->default_network_ms));
	json_set(a, v, "gain_least", number(a, r->gain_least));
	json_set(a, v, "gain_most", number(a, r->gain_most));
	json_set(a, v, "fma_probe_gflops_least", number(a, r->probe_gflops_least));
	json_set(a, v, "fma_probe_gflops_most", number(a, r->probe_gflops_most));
	json_write(&out, v);
	puts(text_str(&out));
	arena_free(a);
}

/* Records that cannot be true, or whose schedules are none. */
static void report_left_out(const DlcTuneResult *r)
{
	const char *const are[] = { "s are", " is" };
	if (r->implausible > 0)
		fprintf(stderr, "dlc: %lld record%s left out: no core is as fast as they say; dlc db verify tries them\n",
			(long long)r->implausible, are[r->implausible == 1]);
	if (r->refused > 0)
		fprintf(stderr, "dlc: %lld record%s left out: their schedules are refused; dlc db verify says why\n",
			(long long)r->refused, are[r->refused == 1]);
}

/* What both networks took in turn; a difference that other rounds might not show is none. */
static void print_gain(FILE *out, const DlcTuneResult *r)
{
	if (r->gain_least == 1 && r->gain_most == 1) {
		fprintf(out, "network %.3f ms with the default schedules, which stay: %s\n", r->default_network_ms,
			r->network_why[0] != 0 ? r->network_why : "others were not faster beyond noise");
		return;
	}
	fprintf(out,
		"network %.3f ms with the best schedules, %.3f ms with the default ones", r->network_ms, r->default_network_ms);
	if (r->gain_least > 1)
		fprintf(out, ": %.2f to %.2f times as fast\n", r->gain_least, r->gain_most);
	else if (r->gain_least > 0)
		fprintf(out, ": no gain beyond noise (%.2f to %.2f times as fast)\n", r->gain_least, r->gain_most);
	else
		putc('\n', out);
}

void screen_end(Screen *s, const DlcTuneResult *r)
{
	const DlcTuneProgress *t = &r->end;
	if (s->tried && !s->json) {
		fprintf(s->results, "%s %.3f ms\n", t->task[0].task.label, t->task[0].best_ms);
		return;
	}
	if (!s->json)
		draw(s, t, t->ntask);
	report_left_out(r);
	/* Single times are compared although the machine's speed changed between them; races time all in turn. */
	if (r->probe_gflops_least * DRIFT < r->probe_gflops_most)
		fprintf(stderr,
			"dlc: this machine's speed changed meanwhile, by other work or its clock: the FMA probe reached %.0f to "
			"%.0f GFLOP/s\n",
			r->probe_gflops_least, r->probe_gflops_most);
	if (r->network_why[0] != 0 && r->network_ms == 0)
		fprintf(stderr, "dlc: the network was not measured: %s\n", r->network_why);
	if (s->json)
		print_json(r);
	else if (r->network_ms > 0)
		print_gain(s->results, r);
	if (!s->json && r->left >= 0 && t->trials > 0)
		fprintf(s->results,
			"%.1f %% of the tasks' time is left to find at most, by roofs and what the search believes\n",
			100 * r->left);
}

static void plan_json(const DlcTaskProgress *x)
{
	Arena *a = arena_new();
	Text out = { .arena = a };
	Json *v = json_new(a, JV_OBJECT);
	json_set(a, v, "key", json_new_text(a, x->task.id));
	json_set(a, v, "op", json_new_text(a, x->task.label));
	json_set(a, v, "weight", json_new_int(a, x->task.weight));
	json_set(a, v, "alternative", json_new_bool(a, x->task.alternative));
	json_set(a, v, "space", json_new_count(a, x->space));
	json_set(a, v, "reused", json_new_int(a, x->reused));
	json_set(a, v, "seeds", json_new_int(a, x->seeds));
	json_set(a, v, "best_ms", number(a, x->best_ms));
	json_set(a, v, "default_ms", number(a, x->default_ms));
	json_write(&out, v);
	puts(text_str(&out));
	arena_free(a);
}

void screen_plan(Screen *s, const DlcTuneResult *r)
{
	const DlcTuneProgress *t = &r->end;
	double space = 0;
	int fresh = 0;
	report_left_out(r);
	if (!s->json)
		printf("%-9s%-38s%3s %12s %7s %6s %9s\n", "task", "op", "x", "space", "reused", "seeds", "best ms");
	for (int k = 0; k < t->ntask; k++) {
		const DlcTaskProgress *x = &t->task[k];
		char best[32];
		space += x->space;
		fresh += x->best_ms == 0 && x->task.weight > 0;
		if (s->json)
			plan_json(x);
		else
			printf("%.7s  %-38.38s%3d %12.0f %7lld %6d %9s\n", x->task.id, x->task.label, x->task.weight,
				x->space, (long long)x->reused, x->seeds, ms_text(best, 3, x->best_ms));
	}
	if (s->json)
		print_json(r);
	else
		printf("%d tasks, %d without a time, and %d of alternatives (x 0), %.0f configs; %lld trials reused; "
		       "nothing was measured\n", count_run(t), fresh, t->ntask - count_run(t),
			space, (long long)t->reused);
}
