/* The front of every Measure: hands each call to its way. */
#include "measure/way.h"

const char *measure_method(const Measure *m)
{
	return m->way->method;
}

MeasureRef *measure_reference(Measure *m, const Task *task, uint64_t seed, Err *err)
{
	return m->way->reference(m, task, seed, err);
}

bool measure_submit(Measure *m, const MeasureJob *job, Err *err)
{
	return m->way->submit(m, job, err);
}

bool measure_wait(Measure *m, int ms, MeasureResult *out)
{
	return m->way->wait(m, ms, out);
}

bool measure_race(Measure *m, const MeasureJob *job, int n, MeasureResult *out, Err *err)
{
	return m->way->race(m, job, n, out, err);
}

void measure_turn(Measure *m)
{
	m->way->turn(m);
}

int measure_pending(const Measure *m)
{
	return m->way->pending(m);
}

int measure_flight(const Measure *m)
{
	return m->way->flight(m);
}

void measure_cancel(Measure *m)
{
	m->way->cancel(m);
}

bool measure_probe(Measure *m, DeviceProbe *out, Err *err)
{
	*out = (DeviceProbe){ 0 };
	return m->way->probe != NULL ? m->way->probe(m, out, err)
	                             : fail(err, ERR_UNSUPPORTED, "probe", "a recording has no device to measure");
}

bool measure_networks(Measure *m, MeasureNetwork *net, int n, int turn_ms, Err *err)
{
	return m->way->networks(m, net, n, turn_ms, err);
}

void measure_cold(Measure *m, int64_t bytes)
{
	m->way->cold(m, bytes);
}

void measure_abandon(Measure *m)
{
	m->way->abandon(m);
}

void measure_close(Measure *m)
{
	if (m != NULL)
		m->way->close(m);
}
