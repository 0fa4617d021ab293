/* Searches: every config once, the default first, the whole of a small space, and an end. */
#include "suite.h"

#include "tuner/tuner.h"

#include <string.h>

static const char workload[] = "dag t\nin x: f32[4,8]\ny: f32[4,8] = relu(x)\nout y\n";

static Space *space_of(Arena *a, const char *text)
{
	Err err = { 0 };
	Target *t = arena_new_of(a, Target);
	target_host(t, 1);
	Dag *d = dag_parse(a, "t", text, strlen(text), &err);
	Task *task = d != NULL ? task_new(a, d, &err) : NULL;
	Space *s = task != NULL ? space_new(a, task, t, &err) : NULL;
	ck_assert_msg(s != NULL, "%s", err.text);
	return s;
}

START_TEST(a_search_asks_each_config_once)
{
	Arena *a = arena_new();
	const Search *search = searches[_i];
	Space *space = space_of(a, workload);
	double size = space_size(space);
	ck_assert(size > 2 && size < 100000);
	void *state = search->open(a, space, rng_seed(3));
	VEC(Config) all = { 0 };
	Config some[7];
	for (int n; (n = search->ask(state, some, 7)) > 0;)
		for (int i = 0; i < n; i++) {
			for (size_t k = 0; k < all.n; k++)
				ck_assert(memcmp(&all.at[k], &some[i], sizeof some[i]) != 0);
			vec_push(a, &all, some[i]);
			search->tell(state, some[i], 100.0 + i);
		}
	ck_assert(memcmp(&all.at[0], &space->first, sizeof(Config)) == 0);
	ck_assert((double)all.n == size);
	arena_free(a);
}
END_TEST

START_TEST(what_is_told_is_not_asked)
{
	Arena *a = arena_new();
	Space *space = space_of(a, workload);
	void *state = searches[_i]->open(a, space, rng_seed(3));
	Config c;
	searches[_i]->tell(state, space->first, 5);
	for (int n; (n = searches[_i]->ask(state, &c, 1)) > 0;)
		ck_assert(memcmp(&c, &space->first, sizeof c) != 0);
	arena_free(a);
}
END_TEST

static int count_searches(void)
{
	int n = 0;
	while (searches[n] != NULL)
		n++;
	return n;
}

int main(void)
{
	TCase *tc = tcase_create("search");
	tcase_add_loop_test(tc, a_search_asks_each_config_once, 0, count_searches());
	tcase_add_loop_test(tc, what_is_told_is_not_asked, 0, count_searches());
	return run_suite("search", tc);
}
