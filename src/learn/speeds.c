/*
 * See speeds.h. One session after the other is placed: the one with most runs, then whichever shares most schedules
 * with those that are placed. Its speed is the median of how many times as long it took for these, so single absurd
 * times count little.
 */
#include "learn/speeds.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* The runs of each schedule, or of each session k: run[first[k]] .. run[first[k + 1] - 1]. */
typedef struct Parts {
	int *first;
	const TimedRun **run;
} Parts;

typedef struct Speeds {
	Parts schedule, session;
	int schedules, sessions;
	double *level; /* of each schedule: the logarithm of its time; NAN: no session that ran it is placed */
	double *speed; /* of each session, a logarithm; NAN: it is not placed */
	int *links;    /* of each session: its runs of schedules that have a level */
	double *some;  /* room for all runs */
} Speeds;

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

/* The session that is placed next; -1: all are. */
static int next_session(const Speeds *s)
{
	int next = -1, most = 0;
	for (int k = 0; k < s->sessions; k++) {
		int runs = s->session.first[k + 1] - s->session.first[k];
		if (!isnan(s->speed[k]) || (next >= 0 && s->links[k] < s->links[next]))
			continue;
		if (next < 0 || s->links[k] > s->links[next] || runs > most) {
			next = k;
			most = runs;
		}
	}
	return next;
}

/* By what it took for schedules that have a level. */
static double speed_of(const Speeds *s, int session)
{
	int n = 0;
	for (int i = s->session.first[session]; i < s->session.first[session + 1]; i++) {
		const TimedRun *r = s->session.run[i];
		if (!isnan(s->level[r->schedule]))
			s->some[n++] = log(r->ns) - s->level[r->schedule];
	}
	return n > 0 ? median(s->some, n) : 0;
}

/* Times of a schedule in the sessions that are placed, each by the speed of its session, into s->some; how many. */
static int times_of(const Speeds *s, int schedule)
{
	int n = 0;
	for (int i = s->schedule.first[schedule]; i < s->schedule.first[schedule + 1]; i++) {
		const TimedRun *r = s->schedule.run[i];
		if (!isnan(s->speed[r->session]))
			s->some[n++] = r->ns * exp(-s->speed[r->session]);
	}
	return n;
}

static void place(Speeds *s, int session)
{
	s->speed[session] = speed_of(s, session);
	for (int i = s->session.first[session]; i < s->session.first[session + 1]; i++) {
		int k = s->session.run[i]->schedule, n = times_of(s, k);
		bool fresh = isnan(s->level[k]);
		s->level[k] = log(median(s->some, n));
		for (int j = s->schedule.first[k]; fresh && j < s->schedule.first[k + 1]; j++)
			s->links[s->schedule.run[j]->session]++;
	}
}

/* Speeds become 1 in the mean over the runs of each group. */
static void centre(Arena *a, Speeds *s, const int *group, int groups)
{
	double *sum = arena_array(a, double, groups + 1);
	int *runs = arena_array(a, int, groups + 1);
	for (int k = 0; k < s->sessions; k++) {
		int n = s->session.first[k + 1] - s->session.first[k];
		sum[group[k]] += n * s->speed[k];
		runs[group[k]] += n;
	}
	for (int k = 0; k < s->sessions; k++)
		s->speed[k] -= runs[group[k]] > 0 ? sum[group[k]] / runs[group[k]] : 0;
}

int speeds_join(Arena *a, const TimedRun *run, int n, int schedules, int sessions, double *ns, int *group)
{
	Speeds s = { parts_of(a, run, n, schedules, false), parts_of(a, run, n, sessions, true), schedules, sessions,
		arena_array(a, double, schedules + 1), arena_array(a, double, sessions + 1), arena_array(a, int, sessions + 1),
		arena_array(a, double, n + 1) };
	int *of = arena_array(a, int, sessions + 1), groups = 0;
	for (int k = 0; k < schedules; k++)
		s.level[k] = NAN;
	for (int k = 0; k < sessions; k++)
		s.speed[k] = NAN;
	for (int k; (k = next_session(&s)) >= 0;) {
		groups += s.links[k] == 0;
		of[k] = groups - 1;
		place(&s, k);
	}
	centre(a, &s, of, groups);
	for (int k = 0; k < schedules; k++) {
		ns[k] = median(s.some, times_of(&s, k));
		group[k] = of[s.schedule.run[s.schedule.first[k]]->session];
	}
	return groups;
}
