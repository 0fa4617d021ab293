/*
 * See speeds.h. One session after the other is placed: the one with most schedules, then whichever shares most with
 * those that are placed. Its speed is the median of how many times as long it took for what it shares.
 */
#include "learn/speeds.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
	LINKS = 3, /* schedules that a session shares, at least, or it is not compared: one time may be absurd */
	ENOUGH = 9 /* sessions that say how long a schedule takes: more change little, and a default may have thousands */
};

/* The runs of each schedule, or of each session k: run[first[k]] .. run[first[k + 1] - 1]. */
typedef struct Parts {
	int *first;
	const TimedRun **run;
} Parts;

typedef struct Speeds {
	Parts schedule, session;
	int sessions, groups;
	int *of_schedule, *of_session; /* their groups; -1: none yet */
	int *placed;   /* of each schedule: sessions of its group that are placed */
	double *level; /* of each schedule that has a group: the logarithm of its time, by ENOUGH of them */
	double *speed; /* of each session that has a group, a logarithm */
	int *links;    /* of each session: its schedules that are of the last group */
	double *some;  /* room for all runs */
} Speeds;

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *at, int n)
{
	qsort(at, (size_t)n, sizeof *at, by_value);
	return (at[(n - 1) / 2] + at[n / 2]) / 2;
}

static int by_part(const void *a, const void *b)
{
	const TimedRun *x = a, *y = b;
	if (x->schedule != y->schedule)
		return (x->schedule > y->schedule) - (x->schedule < y->schedule);
	if (x->session != y->session)
		return (x->session > y->session) - (x->session < y->session);
	return by_value(&x->ns, &y->ns);
}

/* Sorts the runs, and leaves one of each schedule and session: the middle one. How many are left. */
static int only_middle(TimedRun *run, int n)
{
	int left = 0;
	if (n > 0)
		qsort(run, (size_t)n, sizeof *run, by_part);
	for (int from = 0, to; from < n; from = to) {
		to = from;
		while (to < n && run[to].schedule == run[from].schedule && run[to].session == run[from].session)
			to++;
		run[left++] = run[from + (to - from) / 2];
	}
	return left;
}

static int part_of(const TimedRun *run, bool of_sessions)
{
	return of_sessions ? run->session : run->schedule;
}

static Parts parts_of(Arena *a, const TimedRun *run, int n, int parts, bool of_sessions)
{
	Parts p = { arena_array(a, int, parts + 1), arena_array(a, const TimedRun *, n + 1) };
	int *at = arena_array(a, int, parts + 1);
	for (int i = 0; i < n; i++)
		p.first[part_of(&run[i], of_sessions) + 1]++;
	for (int k = 0; k < parts; k++)
		at[k + 1] = p.first[k + 1] += p.first[k];
	for (int i = 0; i < n; i++)
		p.run[at[part_of(&run[i], of_sessions)]++] = &run[i];
	return p;
}

/* The session that is placed next; -1: all are. */
static int next_session(const Speeds *s)
{
	int next = -1, most = 0, best = 0;
	for (int k = 0; k < s->sessions; k++) {
		int n = s->session.first[k + 1] - s->session.first[k], links = s->links[k] < LINKS ? 0 : s->links[k];
		if (s->of_session[k] >= 0 || links < best || (links == best && n <= most && next >= 0))
			continue;
		next = k;
		most = n;
		best = links;
	}
	return next;
}

/* By what it took for schedules of the last group. */
static double speed_of(const Speeds *s, int session)
{
	int n = 0;
	for (int i = s->session.first[session]; i < s->session.first[session + 1]; i++) {
		const TimedRun *r = s->session.run[i];
		if (s->of_schedule[r->schedule] == s->groups - 1)
			s->some[n++] = log(r->ns) - s->level[r->schedule];
	}
	return n > 0 ? median(s->some, n) : 0;
}

/* The time of a schedule that has a group: the median of what that group's sessions took, each by its speed. */
static double time_of(const Speeds *s, int schedule)
{
	int n = 0;
	for (int i = s->schedule.first[schedule]; i < s->schedule.first[schedule + 1]; i++) {
		const TimedRun *r = s->schedule.run[i];
		if (s->of_session[r->session] == s->of_schedule[schedule])
			s->some[n++] = r->ns * exp(-s->speed[r->session]);
	}
	return median(s->some, n);
}

static void place(Speeds *s, int session)
{
	bool begins = s->links[session] < LINKS;
	s->groups += begins;
	for (int k = 0; k < s->sessions && begins; k++)
		s->links[k] = 0;
	s->speed[session] = speed_of(s, session);
	s->of_session[session] = s->groups - 1;
	for (int i = s->session.first[session]; i < s->session.first[session + 1]; i++) {
		int k = s->session.run[i]->schedule;
		bool fresh = s->of_schedule[k] < 0;
		s->of_schedule[k] = fresh ? s->groups - 1 : s->of_schedule[k];
		if (s->of_schedule[k] == s->groups - 1 && s->placed[k]++ < ENOUGH)
			s->level[k] = log(time_of(s, k));
		for (int j = s->schedule.first[k]; fresh && j < s->schedule.first[k + 1]; j++)
			s->links[s->schedule.run[j]->session]++;
	}
}

/* Speeds become 1 in the mean over the runs of each group. */
static void centre(Arena *a, Speeds *s)
{
	double *sum = arena_array(a, double, s->groups + 1);
	int *runs = arena_array(a, int, s->groups + 1);
	for (int k = 0; k < s->sessions; k++) {
		int n = s->session.first[k + 1] - s->session.first[k];
		sum[s->of_session[k]] += n * s->speed[k];
		runs[s->of_session[k]] += n;
	}
	for (int k = 0; k < s->sessions; k++)
		s->speed[k] -= runs[s->of_session[k]] > 0 ? sum[s->of_session[k]] / runs[s->of_session[k]] : 0;
}

int speeds_join(Arena *a, TimedRun *run, int n, int schedules, int sessions, double *ns, int *group)
{
	n = only_middle(run, n);
	Speeds s = { .schedule = parts_of(a, run, n, schedules, false), .session = parts_of(a, run, n, sessions, true),
		.sessions = sessions, .of_schedule = group, .of_session = arena_array(a, int, sessions + 1),
		.placed = arena_array(a, int, schedules + 1), .level = arena_array(a, double, schedules + 1),
		.speed = arena_array(a, double, sessions + 1), .links = arena_array(a, int, sessions + 1),
		.some = arena_array(a, double, n + 1) };
	for (int k = 0; k < schedules; k++)
		group[k] = -1;
	for (int k = 0; k < sessions; k++)
		s.of_session[k] = -1;
	for (int k; (k = next_session(&s)) >= 0;)
		place(&s, k);
	centre(a, &s);
	for (int k = 0; k < schedules; k++)
		ns[k] = group[k] >= 0 ? time_of(&s, k) : 0;
	return s.groups;
}
