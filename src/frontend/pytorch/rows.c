/* The lists of rows, and the table of their names; rows.h says what it is for. */
#include "frontend/pytorch/rows.h"

#include "base/map.h"

#include <string.h>

const AtenRow *const torch_rows[] = { torch_unary_rows, torch_binary_rows, torch_logic_rows, torch_reduce_rows,
	torch_move_rows, torch_join_rows, torch_fill_rows, torch_index_rows, torch_matmul_rows, torch_window_rows,
	torch_norm_rows, torch_resize_rows, torch_recurrent_rows, torch_attention_rows, torch_loss_rows, torch_scatter_rows,
	torch_vision_rows, torch_sort_rows, torch_pool_rows, torch_scalar_rows, torch_list_rows, torch_control_rows,
	torch_quant_rows, NULL };

struct AtenIndex {
	Map names; /* of operators without their forms -> the last row that was added */
};

/* The length of a name without its form: of "add.Tensor" 3, of "add_.Tensor" 4. */
static size_t base_of(const char *name)
{
	const char *dot = strrchr(name, '.');
	return dot != NULL ? (size_t)(dot - name) : strlen(name);
}

/* Behind those of that name, whose first one keeps its place and the end of the list. */
static void add(AtenIndex *x, Arena *a, const char *name, AtenNamed named)
{
	MapEntry *e = map_add_text(&x->names, name);
	AtenNamed *r = arena_copy(a, &named, sizeof named), *first = e->ptr;
	if (first == NULL)
		e->ptr = first = r;
	else
		first->last->next = r;
	first->last = r;
}

AtenIndex *aten_index(Arena *a)
{
	AtenIndex *x = arena_new_of(a, AtenIndex);
	x->names = MAP_OF(a);
	for (const AtenRow *const *l = torch_rows; *l != NULL; l++)
		for (const AtenRow *r = *l; r->name != NULL; r++) {
			int length = (int)strcspn(r->name, "!.");
			add(x, a, arena_printf(a, "%.*s", length, r->name), (AtenNamed){ .row = r, .list = *l });
			if (r->name[length] == '!')
				add(x, a, arena_printf(a, "%.*s_", length, r->name),
					(AtenNamed){ .row = r, .list = *l, .inplace = true });
		}
	return x;
}

const AtenNamed *aten_named(const AtenIndex *x, const char *name)
{
	const MapEntry *e = map_find_bytes(&x->names, name, base_of(name));
	return e != NULL ? e->read : NULL;
}

const char **aten_names(Arena *a, int *n)
{
	AtenIndex *x = aten_index(a);
	const char **all = arena_array(a, const char *, x->names.index.n + 1);
	*n = (int)x->names.index.n;
	for (int k = 0; k < *n; k++)
		all[k] = x->names.at[k].text;
	return all;
}
