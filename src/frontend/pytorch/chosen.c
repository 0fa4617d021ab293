/* Which operators treat chosen rows one by one; chosen.h says what these are. */
#include "frontend/pytorch/chosen.h"

#include <string.h>

static const char how_many[] = "how many rows torchvision::nms chooses depends on data";

const TorchChosen *torch_chosen(const TorchTensor *t)
{
	while (t->chosen == NULL && (t->base != NULL || t->shares != NULL))
		t = t->base != NULL ? t->base : t->shares;
	return t->chosen;
}

int torch_chosen_rows(Visit *v, const TorchChosen *c, int64_t places, int rank)
{
	return node_call2(v, OP_less, node_count(v, places, 0, rank), c->count);
}

/* The name of a row is one of `names`, with spaces around each. */
static bool is_one(const AtenRow *r, const char *names)
{
	size_t n = strcspn(r->name, "!.");
	for (const char *s = names; (s = strchr(s, ' ')) != NULL; s++)
		if (strncmp(s + 1, r->name, n) == 0 && s[1 + n] == ' ')
			return true;
	return false;
}

static TorchTensor *tensor_of(TorchValue x)
{
	return x.kind == TORCH_TENSOR ? x.tensor : NULL;
}

static const TorchChosen *chosen_of(TorchValue x)
{
	return x.kind == TORCH_TENSOR ? torch_chosen(x.tensor) : NULL;
}

/* ---- what is read */

/* The tensors of a call, those in its lists included; `of`: the first of them with chosen rows, and its shape. */
typedef struct Read {
	const TorchChosen *of;
	Shape shape;
	bool all, one; /* all have these rows; all with chosen rows have the same */
	int rank;      /* the most */
} Read;

static void read_one(Visit *v, Read *r, TorchValue x)
{
	const TorchChosen *c = chosen_of(x);
	if (x.kind != TORCH_TENSOR)
		return;
	Shape s = torch_shape(v, x.tensor);
	if (r->of == NULL && c != NULL) {
		r->of = c;
		r->shape = s;
	}
	r->all &= c != NULL;
	r->one &= c == NULL || (c->count == r->of->count && s.dim[0] == r->shape.dim[0]);
	r->rank = s.rank > r->rank ? s.rank : r->rank;
}

static Read read_all(Visit *v, const AtenIn *in)
{
	Read r = { .all = true, .one = true };
	for (size_t k = 0; k < in->n; k++) {
		TorchValue x = in->at[k];
		read_one(v, &r, x);
		for (size_t i = 0; (x.kind == TORCH_LIST || x.kind == TORCH_TUPLE) && i < x.list->n; i++)
			read_one(v, &r, x.list->at[i]);
	}
	return r;
}

/* Element by element: what has other rows has one, or none, for all. */
static bool aligned(Visit *v, const Read *r, const AtenIn *in)
{
	for (size_t k = 0; k < in->n; k++) {
		if (in->at[k].kind != TORCH_TENSOR)
			continue;
		Shape s = torch_shape(v, in->at[k].tensor);
		if (chosen_of(in->at[k]) != NULL ? s.rank != r->rank : s.rank == r->rank && s.dim[0] != 1)
			return false;
	}
	return r->one;
}

/* All its dimensions `name` are others than the rows, `more`: counted with one that the call adds. */
static bool beside(Aten *n, const char *name, int rank, int more)
{
	int64_t at[ATEN_INTS];
	int count = aten_given(n, name) ? aten_ints(n, name, -1, at) : 0;
	for (int k = 0; k < count; k++)
		if ((at[k] < 0 ? at[k] + rank + more : at[k]) < 1)
			return false;
	return count > 0;
}

/* ---- operators */

/* Rows start .. end of those that there are. */
static bool sliced(Aten *n, const Read *r, ChosenCall *call)
{
	Visit *v = n->v;
	bool narrow = is_one(n->row, " narrow ");
	int64_t places = r->shape.dim[0], start = aten_given(n, "start") ? aten_int(n, "start") : 0, end = places;
	if (!narrow && aten_given(n, "end"))
		end = aten_int(n, "end");
	if (narrow && __builtin_add_overflow(start, aten_int(n, "length"), &end))
		return false;
	if (start < 0 || end < 0 || (!narrow && aten_int(n, "step") != 1) || (narrow && aten_given(n, "length")))
		return false;
	end = end < places ? end : places;
	call->places = end > start ? end - start : 0;
	if (start == 0 && end == places)
		return true;
	TorchChosen *c = arena_new_of(v->im->arena, TorchChosen);
	c->count = node_with_number(v, OP_sub, r->of->count, (double)start);
	c->count = node_with_number(v, OP_minimum, node_with_number(v, OP_maximum, c->count, 0), (double)call->places);
	call->rows = c;
	return true;
}

/* Rows of another tensor; or of chosen ones, parts of which are read. */
static bool indexed(Aten *n, const AtenIn *in, ChosenCall *call)
{
	bool list = is_one(n->row, " index _unsafe_index ");
	TorchValue at = aten_any(n, list ? "indices" : is_one(n->row, " embedding ") ? "indices" : "index");
	TorchValue first = !list ? at : at.list->n > 0 ? at.list->at[0] : torch_none();
	for (size_t k = 1; list && k < at.list->n; k++)
		if (chosen_of(at.list->at[k]) != NULL || (first.kind != TORCH_NONE && at.list->at[k].kind != TORCH_NONE))
			return false;
	if (first.kind == TORCH_NONE)
		return true;
	call->rows = chosen_of(first);
	if (call->rows == NULL || torch_shape(n->v, first.tensor).rank != 1 || (list && tensor_of(in->at[0]) == NULL))
		return false;
	call->places = torch_shape(n->v, first.tensor).dim[0];
	return !aten_given(n, "dim") || aten_int(n, "dim") == 0;
}

static bool treats_rows(Aten *n, const AtenRow *list, const Read *r, const AtenIn *in, ChosenCall *call)
{
	const AtenRow *row = n->row;
	int rank = r->shape.rank;
	call->keeps = true;
	if (is_one(row, " glu new_zeros new_ones new_empty new_full equal isclose isin repeat expand expand_as "))
		return false;
	if (list == torch_unary_rows || list == torch_binary_rows || list == torch_logic_rows || list == torch_fill_rows)
		return aligned(n->v, r, in);
	if (is_one(row, " clone detach alias contiguous lift_fresh detach_copy alias_copy requires_grad_ view reshape "
					"flatten unflatten ravel linear one_hot "))
		return aligned(n->v, r, in) || (is_one(row, " linear ") && !r->all && chosen_of(in->at[0]) != NULL);
	if (is_one(row, " slice narrow "))
		return beside(n, "dim", rank, 0) || sliced(n, r, call);
	if (is_one(row, " select split split_with_sizes unsafe_split chunk unsafe_chunk tensor_split unbind softmax "
					"_softmax log_softmax _log_softmax sum mean prod amax amin argmax argmin max min any all std var "
					"norm linalg_vector_norm logsumexp cumsum cumprod topk sort argsort squeeze gather "))
		return r->all && r->one && beside(n, "dim", rank, 0);
	if (is_one(row, " cat concat concatenate "))
		return r->all && r->one && beside(n, "dim", rank, 0);
	if (is_one(row, " stack unsqueeze "))
		return r->all && r->one && beside(n, "dim", rank, 1);
	if (is_one(row, " transpose swapaxes swapdims "))
		return beside(n, is_one(row, " swapaxes ") ? "axis0" : "dim0", rank, 0) &&
			beside(n, is_one(row, " swapaxes ") ? "axis1" : "dim1", rank, 0);
	if (is_one(row, " permute ")) {
		int64_t order[ATEN_INTS];
		return aten_ints(n, "dims", -1, order) == rank && order[0] == 0;
	}
	if (is_one(row, " index _unsafe_index index_select take embedding "))
		return indexed(n, in, call);
	if (is_one(row, " torchvision::roi_align torchvision::roi_pool "))
		return in->n > 1 && chosen_of(in->at[0]) == NULL;
	call->keeps = false; /* the rest has no rows of these, or says itself which */
	if (is_one(row, " torchvision::nms "))
		return r->all && r->one;
	if (is_one(row, " item _local_scalar_dense Int IntImplicit Float FloatImplicit Bool ScalarImplicit "))
		return false;
	return list == torch_scalar_rows || list == torch_list_rows || strncmp(row->name, "_assert", 7) == 0;
}

bool torch_check_chosen(Aten *n, const AtenRow *list, const AtenIn *in, ChosenCall *call)
{
	Read r = read_all(n->v, in);
	*call = (ChosenCall){ .rows = r.of, .places = r.shape.dim[0] };
	if (r.of == NULL || !node_ok(n->v))
		return node_ok(n->v);
	if (!treats_rows(n, list, &r, in, call) && node_ok(n->v))
		node_fail(n->v, ERR_UNSUPPORTED,
			"it reads a tensor whose number of rows depends on data, which dlc does not have for this operator: end "
			"the model before it");
	return node_ok(n->v);
}

/* ---- results */

static void keep(Visit *v, TorchValue x, const ChosenCall *call, int depth)
{
	if (x.kind == TORCH_TENSOR && node_ok(v)) {
		Shape s = torch_shape(v, x.tensor);
		if (s.rank == 0 || s.dim[0] != call->places)
			node_fail(v, ERR_UNSUPPORTED,
				"it moves the rows of a tensor, whose number depends on data, to another dimension");
		if (torch_chosen(x.tensor) == NULL || torch_chosen(x.tensor)->count != call->rows->count)
			x.tensor->chosen = call->rows;
	}
	for (size_t k = 0; (x.kind == TORCH_LIST || x.kind == TORCH_TUPLE) && depth < 2 && k < x.list->n; k++)
		keep(v, x.list->at[k], call, depth + 1);
}

void torch_keep_chosen(Aten *n, const ChosenCall *call, TorchValue *out)
{
	const TorchValue lost = { .kind = TORCH_LOST, .text = how_many };
	if (call->keeps)
		keep(n->v, *out, call, 0);
	else if (is_one(n->row, " size sym_size ") && out->kind == TORCH_LIST && out->list->n > 0)
		out->list->at[0] = lost;
	else if (is_one(n->row, " len numel sym_numel ") ||
		(is_one(n->row, " size sym_size ") && !beside(n, "dim", torch_shape(n->v, aten_tensor(n, "self")).rank, 0)))
		*out = lost;
}

bool torch_call_lost(Visit *v, const char *name, const AtenIn *in, TorchValue *out)
{
	const char *why = NULL;
	for (size_t k = 0; k < in->n && why == NULL; k++) {
		TorchValue x = in->at[k];
		if (x.kind == TORCH_LOST && x.text != NULL)
			why = x.text;
		for (size_t i = 0; (x.kind == TORCH_LIST || x.kind == TORCH_TUPLE) && i < x.list->n && why == NULL; i++)
			if (x.list->at[i].kind == TORCH_LOST)
				why = x.list->at[i].text;
	}
	if (why == NULL)
		return false;
	*out = torch_none();
	if (strncmp(name, "_assert", 7) == 0 || strncmp(name, "sym_constrain_range", 19) == 0)
		return true; /* that the number is one that can be */
	for (const AtenRow *r = torch_scalar_rows; r->name != NULL; r++)
		if (strncmp(r->name, name, strcspn(r->name, "!.")) == 0 && strcspn(name, ".") == strcspn(r->name, "!.")) {
			*out = (TorchValue){ .kind = TORCH_LOST, .text = why };
			return true;
		}
	for (size_t k = 0; k < in->n; k++)
		if (in->at[k].kind == TORCH_LIST && strcmp(name, "__getitem__") == 0)
			return false;
	node_fail(v, ERR_UNSUPPORTED, "%s", why);
	return true;
}
