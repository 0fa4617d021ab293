/*
 * The machine of pickles: a stack, a memo and about forty opcodes. What it builds is at most a fixed multiple of the
 * file's size.
 */
#include "frontend/pytorch/pickle.h"
#include "frontend/pytorch/quant.h"

#include <stdlib.h>
#include <string.h>

typedef struct Pickle {
	Arena *a;
	const char *name;
	Bytes in;
	size_t at;
	Archive *archive;
	const char *folder;
	TorchList stack, memo;
	Map storage; /* entries of the archive, each with the first tensor of it */
	Err *err;
} Pickle;

static bool bad(Pickle *p, const char *why)
{
	return fail(p->err, ERR_INPUT, NULL, "%.80s is no pickle of PyTorch: %s at byte %zu", p->name, why, p->at);
}

/* n bytes from here on; NULL: the file ends before. */
static const unsigned char *take(Pickle *p, uint64_t n)
{
	if (n > p->in.n - p->at) {
		bad(p, "it is cut off");
		return NULL;
	}
	const unsigned char *at = p->in.at + p->at;
	p->at += n;
	return at;
}

/* A little-endian number of n bytes. */
static bool number(Pickle *p, int n, uint64_t *out)
{
	const unsigned char *at = take(p, (uint64_t)n);
	*out = 0;
	for (int k = 0; at != NULL && k < n; k++)
		*out |= (uint64_t)at[k] << (8 * k);
	return at != NULL;
}

static bool push(Pickle *p, TorchValue x)
{
	torch_push(p->a, &p->stack, x);
	return true;
}

static bool pop(Pickle *p, TorchValue *x)
{
	*x = torch_none();
	if (p->stack.n == 0 || p->stack.at[p->stack.n - 1].kind == TORCH_MARK)
		return bad(p, "its stack is empty");
	*x = p->stack.at[--p->stack.n];
	return true;
}

static bool top(Pickle *p, TorchKind kind, TorchValue *x)
{
	*x = torch_none();
	if (p->stack.n == 0 || p->stack.at[p->stack.n - 1].kind != kind)
		return bad(p, "an object is of another kind");
	*x = p->stack.at[p->stack.n - 1];
	return true;
}

/* All that is above the last mark, which goes. */
static bool pop_mark(Pickle *p, TorchKind kind, TorchValue *out)
{
	size_t k = p->stack.n;
	*out = torch_none();
	while (k > 0 && p->stack.at[k - 1].kind != TORCH_MARK)
		k--;
	if (k == 0)
		return bad(p, "a mark is missing");
	*out = torch_list(p->a, kind);
	for (size_t i = k; i < p->stack.n; i++)
		torch_push(p->a, out->list, p->stack.at[i]);
	p->stack.n = k - 1;
	return true;
}

static bool text(Pickle *p, uint64_t n)
{
	const unsigned char *at = take(p, n);
	if (at == NULL)
		return false;
	if (memchr(at, 0, n) != NULL)
		return bad(p, "a text has a zero byte");
	return push(p, torch_text(arena_printf(p->a, "%.*s", (int)(n < INT32_MAX ? n : INT32_MAX), (const char *)at)));
}

/* A line of text, its end left out. */
static const char *line(Pickle *p)
{
	const unsigned char *from = p->in.at + p->at, *end = memchr(from, '\n', p->in.n - p->at);
	if (end == NULL) {
		bad(p, "it is cut off");
		return NULL;
	}
	p->at += (size_t)(end - from) + 1;
	return arena_printf(p->a, "%.*s", (int)(end - from < 4096 ? end - from : 4096), (const char *)from);
}

/* ---- names: of classes of the code, and of what PyTorch's own files call */

static bool is_known(const char *name)
{
	static const char *const known[] = { "collections OrderedDict", "torch._utils _rebuild_tensor_v2",
		"torch._utils _rebuild_qtensor", "torch._utils _rebuild_parameter", "torch._tensor _rebuild_from_type_v2",
		"torch Size", "torch device", "torch.jit._pickle build_intlist", "torch.jit._pickle build_doublelist",
		"torch.jit._pickle build_boollist", "torch.jit._pickle build_tensorlist", "torch.jit._pickle restore_type_tag",
		"torch.storage UntypedStorage", "torch.nn.parameter Parameter", "torch Tensor",
		"torch.serialization _get_layout" };
	for (size_t k = 0; k < sizeof known / sizeof *known; k++)
		if (strcmp(known[k], name) == 0)
			return true;
	size_t n = strlen(name);
	return strncmp(name, "__torch__", 9) == 0 ||
	       (strncmp(name, "torch ", 6) == 0 && n > 13 && strcmp(name + n - 7, "Storage") == 0) ||
	       (strncmp(name, "torch ", 6) == 0 && strpbrk(name + 6, " .") == NULL && name[6] >= 'a' && name[6] <= 'z');
}

static bool global(Pickle *p, const char *module, const char *what)
{
	const char *name = arena_printf(p->a, "%.300s %.300s", module, what);
	if (!is_known(name))
		return fail(p->err, ERR_UNSUPPORTED, NULL,
			"%.80s names %.100s.%.100s, which is code of Python; dlc executes nothing of a pickle", p->name, module,
			what);
	return push(p, (TorchValue){ .kind = TORCH_GLOBAL, .text = name });
}

/* ---- tensors */

static const struct {
	const char *name;
	DType type;
} storages[] = { { "Float", { DT_FLOAT, 32, 1 } }, { "Double", { DT_FLOAT, 64, 1 } }, { "Half", { DT_FLOAT, 16, 1 } },
	{ "BFloat16", { DT_BFLOAT, 16, 1 } }, { "Long", { DT_INT, 64, 1 } }, { "Int", { DT_INT, 32, 1 } },
	{ "Short", { DT_INT, 16, 1 } }, { "Char", { DT_INT, 8, 1 } }, { "Byte", { DT_UINT, 8, 1 } },
	{ "Bool", { DT_BOOL, 8, 1 } }, { "QInt8", { DT_INT, 8, 1 } }, { "QUInt8", { DT_UINT, 8, 1 } },
	{ "QInt32", { DT_INT, 32, 1 } } };

/* ('storage', torch FloatStorage, '0', 'cpu', 440): a tensor of all its elements, without a shape. */
static bool persistent(Pickle *p, TorchValue id)
{
	bool fits = id.kind == TORCH_TUPLE && id.list->n >= 5 && id.list->at[0].kind == TORCH_TEXT &&
	            strcmp(id.list->at[0].text, "storage") == 0 && id.list->at[1].kind == TORCH_GLOBAL &&
	            id.list->at[2].kind == TORCH_TEXT && id.list->at[4].kind == TORCH_INT;
	if (!fits)
		return bad(p, "a storage is of another form");
	if (p->archive == NULL)
		return bad(p, "it has tensors where none can be");
	TorchSaved *s = arena_new_of(p->a, TorchSaved);
	const char *type = id.list->at[1].text;
	*s = (TorchSaved){ .archive = p->archive, .entry = arena_printf(p->a, "%s%.200s", p->folder, id.list->at[2].text) };
	if (strcmp(type, "torch.storage UntypedStorage") == 0)
		return bad(p, "it has a storage without a type");
	for (size_t k = 0; k < sizeof storages / sizeof *storages && s->type.bits == 0; k++) {
		size_t n = strlen(storages[k].name);
		if (strncmp(type, "torch ", 6) == 0 && strncmp(type + 6, storages[k].name, n) == 0 &&
			strcmp(type + 6 + n, "Storage") == 0)
			s->type = storages[k].type;
	}
	if (s->type.bits == 0)
		return fail(p->err, ERR_UNSUPPORTED, NULL, "%.80s has a tensor of %.60s, a type that dlc does not have",
			p->name, type + (strncmp(type, "torch ", 6) == 0 ? 6 : 0));
	TorchTensor *t = arena_new_of(p->a, TorchTensor);
	*t = (TorchTensor){ .saved = s };
	return push(p, (TorchValue){ .kind = TORCH_TENSOR, .tensor = t });
}

static bool dims(const TorchValue *x, int *rank, int64_t *out)
{
	if ((x->kind != TORCH_TUPLE && x->kind != TORCH_LIST) || x->list->n > DAG_MAX_RANK)
		return false;
	*rank = (int)x->list->n;
	for (int k = 0; k < *rank; k++) {
		if (x->list->at[k].kind != TORCH_INT || x->list->at[k].i < 0)
			return false;
		out[k] = x->list->at[k].i;
	}
	return true;
}

/* Strides of dimensions of 1 count, too: they move no element, but PyTorch chooses the order of results by them. */
static bool is_row_major(const TorchSaved *s)
{
	int64_t row = 1;
	for (int k = s->shape.rank - 1; k >= 0; k--) {
		int64_t n = s->shape.dim[k] > 1 ? s->shape.dim[k] : 1;
		if (s->stride[k] != row || row > INT64_MAX / n)
			return false;
		row *= n;
	}
	return true;
}

TorchTensor *torch_saved(Arena *a, Map *storage, const TorchSaved *s)
{
	TorchTensor *t = arena_new_of(a, TorchTensor);
	*t = (TorchTensor){ .saved = s, .dense = is_row_major(s) };
	MapEntry *first = map_add_text(storage, s->entry);
	if (first->ptr == NULL)
		first->ptr = t;
	else
		t->shares = first->ptr;
	return t;
}

/* (storage, offset, size, stride, ..) */
static bool rebuild_tensor(Pickle *p, const TorchList *arg)
{
	TorchSaved *s = arena_new_of(p->a, TorchSaved);
	int n;
	if (arg->n < 4 || arg->at[0].kind != TORCH_TENSOR || arg->at[0].tensor->saved == NULL ||
		arg->at[1].kind != TORCH_INT || arg->at[1].i < 0)
		return bad(p, "a tensor is of another form");
	*s = *arg->at[0].tensor->saved;
	s->offset = arg->at[1].i;
	if (!dims(&arg->at[2], &s->shape.rank, s->shape.dim) || !dims(&arg->at[3], &n, s->stride) || n != s->shape.rank)
		return bad(p, "a tensor has no proper size or strides");
	return push(p, (TorchValue){ .kind = TORCH_TENSOR, .tensor = torch_saved(p->a, &p->storage, s) });
}

/* (storage, offset, size, stride, (torch per_tensor_affine, scale, zero) or (.., scales, zeros, axis), ..) */
static bool rebuild_quantised(Pickle *p, const TorchList *arg)
{
	const TorchList *how = arg->n > 4 && arg->at[4].kind == TORCH_TUPLE ? arg->at[4].list : NULL;
	TorchQuant *q = arena_new_of(p->a, TorchQuant);
	bool all = how != NULL && how->n == 3 && how->at[1].kind == TORCH_FLOAT && how->at[2].kind == TORCH_INT;
	bool each = how != NULL && how->n == 4 && how->at[1].kind == TORCH_TENSOR && how->at[2].kind == TORCH_TENSOR &&
	            how->at[3].kind == TORCH_INT && how->at[3].i >= 0 && how->at[3].i < DAG_MAX_RANK;
	if (!all && !each)
		return fail(
			p->err, ERR_UNSUPPORTED, NULL, "%.80s has a quantised tensor without scales that dlc reads", p->name);
	if (!rebuild_tensor(p, arg))
		return false;
	TorchTensor *t = p->stack.at[p->stack.n - 1].tensor;
	*q = all ? (TorchQuant){ .scale = how->at[1].f, .zero = how->at[2].i }
	         : (TorchQuant){
				   .scale = 1, .scales = how->at[1].tensor, .zeros = how->at[2].tensor, .axis = (int)how->at[3].i
			   };
	const TorchSaved *one = each ? q->scales->saved : NULL, *two = each ? q->zeros->saved : NULL;
	if (each && (one == NULL || two == NULL || q->axis >= t->saved->shape.rank || one->shape.rank != 1 ||
					two->shape.rank != 1 || one->shape.dim[0] != t->saved->shape.dim[q->axis] ||
					two->shape.dim[0] != one->shape.dim[0]))
		return bad(p, "a quantised tensor's scales do not fit it");
	t->quant = q;
	return true;
}

/* A call, read as what it makes. */
static bool reduce(Pickle *p)
{
	TorchValue arg, fn;
	if (!pop(p, &arg) || !pop(p, &fn))
		return false;
	if (fn.kind != TORCH_GLOBAL || arg.kind != TORCH_TUPLE)
		return bad(p, "a call is of another form");
	const TorchList *in = arg.list;
	const char *name = strchr(fn.text, ' ') + 1;
	if (strcmp(fn.text, "torch._utils _rebuild_tensor_v2") == 0)
		return rebuild_tensor(p, in);
	if (strcmp(fn.text, "torch._utils _rebuild_qtensor") == 0)
		return rebuild_quantised(p, in);
	if (strcmp(name, "OrderedDict") == 0)
		return push(p, torch_list(p->a, TORCH_DICT));
	if (strcmp(name, "_rebuild_from_type_v2") == 0 && in->n >= 3 && in->at[2].kind == TORCH_TUPLE)
		return rebuild_tensor(p, in->at[2].list);
	if (strcmp(name, "device") == 0)
		return push(p, (TorchValue){ .kind = TORCH_DEVICE, .text = "cpu" });
	bool first = strcmp(name, "_rebuild_parameter") == 0 || strcmp(name, "Size") == 0 ||
	             strncmp(fn.text, "torch.jit._pickle ", 18) == 0;
	if (first && in->n >= 1)
		return push(p, in->at[0]);
	return fail(p->err, ERR_UNSUPPORTED, NULL, "%.80s calls %.120s, which dlc does not read", p->name, fn.text);
}

static bool build(Pickle *p)
{
	TorchValue state, x;
	if (!pop(p, &state) || p->stack.n == 0)
		return bad(p, "an object without a state");
	x = p->stack.at[p->stack.n - 1];
	if (x.kind == TORCH_OBJECT && state.kind == TORCH_DICT)
		x.object->state = state.list;
	else if (x.kind == TORCH_OBJECT) { /* what __getstate__ of a script gave */
		x.object->state = torch_list(p->a, TORCH_DICT).list;
		x.object->given = torch_list(p->a, TORCH_LIST).list;
		if (state.kind == TORCH_TUPLE || state.kind == TORCH_LIST)
			*x.object->given = *state.list;
		else
			torch_push(p->a, x.object->given, state);
	}
	return true;
}

static bool new_object(Pickle *p)
{
	TorchValue arg, fn;
	if (!pop(p, &arg) || !pop(p, &fn))
		return false;
	if (fn.kind != TORCH_GLOBAL || strncmp(fn.text, "__torch__", 9) != 0)
		return bad(p, "an object of no class of its code");
	TorchObject *o = arena_new_of(p->a, TorchObject);
	char *class = arena_printf(p->a, "%s", fn.text);
	*strchr(class, ' ') = '.';
	*o = (TorchObject){ .class = class, .path = "", .state = torch_list(p->a, TORCH_DICT).list };
	return push(p, (TorchValue){ .kind = TORCH_OBJECT, .object = o });
}

/* ---- opcodes */

static bool memo_put(Pickle *p, uint64_t k)
{
	if (p->stack.n == 0 || k > p->in.n)
		return bad(p, "its memo is out of range");
	while (p->memo.n <= k)
		torch_push(p->a, &p->memo, (TorchValue){ .kind = TORCH_MARK });
	p->memo.at[k] = p->stack.at[p->stack.n - 1];
	return true;
}

static bool memo_get(Pickle *p, uint64_t k)
{
	if (k >= p->memo.n || p->memo.at[k].kind == TORCH_MARK)
		return bad(p, "its memo lacks an object");
	return push(p, p->memo.at[k]);
}

static bool append(Pickle *p, const TorchList *more, bool pairs)
{
	TorchValue x;
	if (!top(p, pairs ? TORCH_DICT : TORCH_LIST, &x) || (pairs && more->n % 2 != 0))
		return bad(p, "a list of another kind");
	for (size_t k = 0; k < more->n; k++)
		torch_push(p->a, x.list, more->at[k]);
	return true;
}

static bool tuple(Pickle *p, int n)
{
	TorchValue x = torch_list(p->a, TORCH_TUPLE), part[3];
	for (int k = n - 1; k >= 0; k--)
		if (!pop(p, &part[k]))
			return false;
	for (int k = 0; k < n; k++)
		torch_push(p->a, x.list, part[k]);
	return push(p, x);
}

/* A signed number of n bytes, of which dlc takes eight. */
static bool long_number(Pickle *p, uint64_t n)
{
	const unsigned char *at = take(p, n);
	int64_t x = 0;
	if (at == NULL)
		return false;
	if (n > 8)
		return bad(p, "a number has more than 64 bits");
	for (uint64_t k = 0; k < n; k++)
		x = (int64_t)((uint64_t)x | (uint64_t)at[k] << (8 * k));
	if (n > 0 && n < 8 && at[n - 1] > 127)
		x -= (int64_t)1 << (8 * n);
	return push(p, torch_int(x));
}

static bool real(Pickle *p)
{
	const unsigned char *at = take(p, 8);
	uint64_t bits = 0;
	double f;
	for (int k = 0; at != NULL && k < 8; k++)
		bits = bits << 8 | at[k];
	memcpy(&f, &bits, sizeof f);
	return at != NULL && push(p, torch_float(f));
}

static bool stack_global(Pickle *p)
{
	TorchValue module, name;
	if (!pop(p, &name) || !pop(p, &module) || name.kind != TORCH_TEXT || module.kind != TORCH_TEXT)
		return bad(p, "a name is no text");
	return global(p, module.text, name.text);
}

static bool step(Pickle *p, unsigned char op)
{
	TorchValue x, y;
	uint64_t n = 0;
	const char *s, *t;
	switch (op) {
	case 0x80: return take(p, 1) != NULL;
	case 0x95: return take(p, 8) != NULL;
	case '(': return push(p, (TorchValue){ .kind = TORCH_MARK });
	case 'N': return push(p, torch_none());
	case 0x88:
	case 0x89: return push(p, torch_bool(op == 0x88));
	case 'K': return number(p, 1, &n) && push(p, torch_int((int64_t)n));
	case 'M': return number(p, 2, &n) && push(p, torch_int((int64_t)n));
	case 'J': return number(p, 4, &n) && push(p, torch_int((int32_t)n));
	case 0x8a: return number(p, 1, &n) && long_number(p, n);
	case 0x8b: return number(p, 4, &n) && long_number(p, n);
	case 'G': return real(p);
	case 'X': return number(p, 4, &n) && text(p, n);
	case 0x8c: return number(p, 1, &n) && text(p, n);
	case 0x8d: return number(p, 8, &n) && text(p, n);
	case ')': return tuple(p, 0);
	case 0x85:
	case 0x86:
	case 0x87: return tuple(p, op - 0x84);
	case 't': return pop_mark(p, TORCH_TUPLE, &x) && push(p, x);
	case ']': return push(p, torch_list(p->a, TORCH_LIST));
	case 'l': return pop_mark(p, TORCH_LIST, &x) && push(p, x);
	case '}': return push(p, torch_list(p->a, TORCH_DICT));
	case 'a':
		y = torch_list(p->a, TORCH_LIST);
		return pop(p, &x) && (torch_push(p->a, y.list, x), append(p, y.list, false));
	case 'e': return pop_mark(p, TORCH_LIST, &x) && append(p, x.list, false);
	case 's': return tuple(p, 2) && pop(p, &x) && append(p, x.list, true);
	case 'u': return pop_mark(p, TORCH_LIST, &x) && append(p, x.list, true);
	case 'c': return (s = line(p)) != NULL && (t = line(p)) != NULL && global(p, s, t);
	case 0x93: return stack_global(p);
	case 'R': return reduce(p);
	case 0x81: return new_object(p);
	case 'b': return build(p);
	case 'Q': return pop(p, &x) && persistent(p, x);
	case 'q': return number(p, 1, &n) && memo_put(p, n);
	case 'r': return number(p, 4, &n) && memo_put(p, n);
	case 0x94: return memo_put(p, p->memo.n);
	case 'h': return number(p, 1, &n) && memo_get(p, n);
	case 'j': return number(p, 4, &n) && memo_get(p, n);
	case '0': return pop(p, &x);
	case '2': return p->stack.n > 0 ? push(p, p->stack.at[p->stack.n - 1]) : bad(p, "its stack is empty");
	default:
		return fail(p->err, ERR_INPUT, NULL, "%.80s is no pickle of PyTorch: opcode 0x%02x at byte %zu", p->name, op,
			p->at - 1);
	}
}

bool torch_unpickle(Arena *a, const char *name, Bytes file, Archive *z, const char *folder, TorchValue *out, Err *err)
{
	Pickle p = { .a = a, .name = name, .in = file, .archive = z, .folder = folder, .storage = MAP_OF(a), .err = err };
	const unsigned char *op;
	while ((op = take(&p, 1)) != NULL) {
		if (*op == '.')
			return pop(&p, out);
		if (!step(&p, *op))
			return false;
	}
	return false;
}

/* ---- reading a tensor */

/* Elements in row-major order, gathered by their strides. */
static void gather(const TorchSaved *s, const unsigned char *from, unsigned char *to, int64_t n, size_t size)
{
	int64_t at[DAG_MAX_RANK] = { 0 }, place = s->offset;
	for (int64_t i = 0; i < n; i++) {
		memcpy(to + (size_t)i * size, from + (size_t)place * size, size);
		for (int k = s->shape.rank - 1; k >= 0; k--) {
			if (++at[k] < s->shape.dim[k]) {
				place += s->stride[k];
				break;
			}
			place -= s->stride[k] * (s->shape.dim[k] - 1);
			at[k] = 0;
		}
	}
}

bool torch_saved_read(Arena *a, const TorchSaved *s, Item *out, bool *copied, Err *err)
{
	Bytes b;
	int64_t k = archive_find(s->archive, s->entry), n = shape_elements(s->shape), size = s->type.bits / 8;
	*copied = false;
	if (k < 0)
		return fail(
			err, ERR_INPUT, NULL, "its weight '%.100s' is in %.200s, which the archive lacks", out->name, s->entry);
	if (!archive_read(s->archive, (size_t)k, &b, err))
		return false;
	int64_t have = (int64_t)(b.n / (size_t)size), last = s->offset, row = 1;
	bool inside = n >= 0 && last <= have && n <= ((int64_t)1 << 40), plain = true;
	for (int i = 0; i < s->shape.rank; i++) /* of a tensor without elements, too */
		inside &= s->shape.dim[i] <= (int64_t)1 << 40;
	for (int i = s->shape.rank - 1; i >= 0 && inside && n > 0; i--) {
		int64_t steps = s->shape.dim[i] - 1;
		plain &= steps == 0 || s->stride[i] == row;
		row *= s->shape.dim[i];
		inside = steps == 0 || s->stride[i] <= (have - last) / steps;
		last += inside ? steps * s->stride[i] : 0;
	}
	if (!inside || (n > 0 && last >= have))
		return fail(err, ERR_INPUT, NULL, "its weight '%.100s' reaches beyond the %zu bytes of %.200s", out->name, b.n,
			s->entry);
	if (n > have && n > 1 << 24)
		return fail(err, ERR_UNSUPPORTED, NULL, "its weight '%.100s' repeats %lld elements %lld times", out->name,
			(long long)have, (long long)(n / (have > 0 ? have : 1)));
	out->type = s->type;
	out->shape = s->shape;
	out->data = b.at + s->offset * size;
	if (!plain) {
		unsigned char *to = arena_alloc(a, (size_t)(n * size) + 1);
		gather(s, b.at, to, n, (size_t)size);
		out->data = to;
		*copied = true;
	}
	return true;
}
