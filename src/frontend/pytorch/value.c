/* Values of a PyTorch program; value.h says what they are. */
#include "frontend/pytorch/aten.h"

#include <string.h>

TorchValue torch_none(void)
{
	return (TorchValue){ .kind = TORCH_NONE };
}

TorchValue torch_bool(bool b)
{
	return (TorchValue){ .kind = TORCH_BOOL, .i = b };
}

TorchValue torch_int(int64_t i)
{
	return (TorchValue){ .kind = TORCH_INT, .i = i };
}

TorchValue torch_float(double f)
{
	return (TorchValue){ .kind = TORCH_FLOAT, .f = f };
}

TorchValue torch_text(const char *s)
{
	return (TorchValue){ .kind = TORCH_TEXT, .text = s };
}

TorchValue torch_list(Arena *a, TorchKind kind)
{
	return (TorchValue){ .kind = kind, .list = arena_new_of(a, TorchList) };
}

TorchValue torch_tensor(Arena *a, Item *it)
{
	TorchTensor *t = arena_new_of(a, TorchTensor);
	t->item = it;
	return (TorchValue){ .kind = TORCH_TENSOR, .tensor = t };
}

TorchValue torch_of(Visit *v, int value)
{
	return torch_tensor(v->im->arena, node_new_item(v, value));
}

void torch_push(Arena *a, TorchList *l, TorchValue x)
{
	vec_push(a, l, x);
}

bool torch_is_number(TorchValue x)
{
	return x.kind == TORCH_BOOL || x.kind == TORCH_INT || x.kind == TORCH_FLOAT;
}

double torch_number(TorchValue x)
{
	return x.kind == TORCH_FLOAT ? x.f : (double)x.i;
}

TorchValue *torch_find(const TorchList *pairs, const char *key)
{
	for (size_t k = 0; k + 1 < pairs->n; k += 2)
		if (pairs->at[k].kind == TORCH_TEXT && strcmp(pairs->at[k].text, key) == 0)
			return &pairs->at[k + 1];
	return NULL;
}

/* Lists may hold each other: what is nested too deep is not equal, and elements that are compared are counted. */
static bool equal_at(Visit *v, TorchValue a, TorchValue b, int depth)
{
	if (torch_is_number(a) && torch_is_number(b))
		return a.kind != TORCH_FLOAT && b.kind != TORCH_FLOAT ? a.i == b.i : torch_number(a) == torch_number(b);
	bool lists = a.kind == TORCH_LIST || a.kind == TORCH_TUPLE;
	if (lists && (b.kind == TORCH_LIST || b.kind == TORCH_TUPLE)) {
		bool same = a.list->n == b.list->n && depth < 16 && torch_spend(v, (int64_t)a.list->n);
		for (size_t k = 0; same && k < a.list->n; k++)
			same = equal_at(v, a.list->at[k], b.list->at[k], depth + 1);
		return same;
	}
	if (a.kind != b.kind)
		return false;
	if (a.kind == TORCH_TEXT || a.kind == TORCH_DEVICE || (a.kind == TORCH_CODE && a.code == NULL))
		return strcmp(a.text, b.text) == 0;
	if (a.kind == TORCH_CODE)
		return a.code == b.code;
	return a.kind == TORCH_NONE || (a.kind == TORCH_TENSOR && a.tensor == b.tensor) ||
	       (a.kind == TORCH_OBJECT && a.object == b.object) || (a.kind == TORCH_DICT && a.list == b.list);
}

bool torch_equal(Visit *v, TorchValue a, TorchValue b)
{
	return equal_at(v, a, b, 0);
}

const char *torch_kind_name(TorchKind k)
{
	static const char *const names[] = { "None", "bool", "int", "float", "str", "Tensor", "List", "Tuple", "Dict",
		"object", "function", "method", "device", "global", "mark", "graph", "lost value" };
	return names[k];
}

static void print(Text *t, TorchValue x, size_t limit, int depth)
{
	char s[160];
	if (t->n > limit || depth > 8)
		return;
	switch (x.kind) {
	case TORCH_NONE: text_add(t, "None"); break;
	case TORCH_BOOL: text_add(t, "%s", x.i != 0 ? "True" : "False"); break;
	case TORCH_INT: text_add(t, "%lld", (long long)x.i); break;
	case TORCH_FLOAT:
		text_double(s, sizeof s, x.f);
		text_add(t, "%s%s", s, strpbrk(s, ".en") == NULL ? ".0" : "");
		break;
	case TORCH_TEXT:
	case TORCH_DEVICE: text_add(t, "%.*s", (int)(limit < 4096 ? limit : 4096), x.text); break;
	case TORCH_TENSOR:
		text_add(t, "Tensor[%s]", x.tensor->item != NULL ? shape_str(x.tensor->item->shape, s) : "");
		break;
	case TORCH_LIST:
	case TORCH_TUPLE:
		text_add(t, "%s", x.kind == TORCH_LIST ? "[" : "(");
		for (size_t k = 0; k < x.list->n && t->n < limit; k++) {
			text_add(t, "%s", k > 0 ? ", " : "");
			print(t, x.list->at[k], limit, depth + 1);
		}
		text_add(t, "%s", x.kind == TORCH_LIST ? "]" : ")");
		break;
	default: text_add(t, "%s", torch_kind_name(x.kind));
	}
}

const char *torch_str(Arena *a, TorchValue x, size_t limit)
{
	Text t = { .arena = a };
	print(&t, x, limit, 0);
	return text_str(&t);
}

/* Numbers of c10::ScalarType. */
static const struct {
	int64_t code;
	DType type;
} types[] = { { 0, { DT_UINT, 8, 1 } }, { 1, { DT_INT, 8, 1 } }, { 2, { DT_INT, 16, 1 } }, { 3, { DT_INT, 32, 1 } },
	{ 4, { DT_INT, 64, 1 } }, { 5, { DT_FLOAT, 16, 1 } }, { 6, { DT_FLOAT, 32, 1 } }, { 7, { DT_FLOAT, 64, 1 } },
	{ 11, { DT_BOOL, 8, 1 } }, { 15, { DT_BFLOAT, 16, 1 } }, { 27, { DT_UINT, 16, 1 } }, { 28, { DT_UINT, 32, 1 } },
	{ 29, { DT_UINT, 64, 1 } } };

bool torch_type_from(int64_t code, DType *out)
{
	for (size_t k = 0; k < sizeof types / sizeof *types; k++)
		if (types[k].code == code) {
			*out = types[k].type;
			return true;
		}
	return false;
}

int64_t torch_type_code(DType t)
{
	for (size_t k = 0; k < sizeof types / sizeof *types; k++)
		if (dtype_eq(types[k].type, t))
			return types[k].code;
	return -1;
}
