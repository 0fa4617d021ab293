/*
 * The row of PyTorch: archives of torch.export (.pt2, both layouts) and of TorchScript (.pt, traced and scripted). A
 * state_dict or a pickled module has no program and is refused with what to export.
 */
#include "frontend/pytorch/pytorch.h"

#include "frontend/format.h"

#include <string.h>

enum { LOOK = 1 << 16 };

static const char no_program[] =
	"holds weights without a program: in Python, give torch.export.save(torch.export.export(model.eval(), inputs), "
	"'model.pt2') and name that file";

/* ---- recognising */

static bool is_archive(Bytes b)
{
	return b.n >= 4 && memcmp(b.at, "PK\3\4", 4) == 0;
}

/* A pickle whose first number is PyTorch's, as torch.save wrote them before 1.6. */
static bool is_legacy(Bytes b)
{
	static const unsigned char magic[] = { 0x80, 2, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50,
		0x19 };
	return b.n >= sizeof magic && memcmp(b.at, magic, sizeof magic) == 0;
}

static bool holds(Bytes b, const char *word)
{
	Bytes tail = b.n > LOOK ? (Bytes){ b.at + b.n - LOOK, LOOK } : b;
	return memmem(b.at, b.n < LOOK ? b.n : LOOK, word, strlen(word)) != NULL ||
	       memmem(tail.at, tail.n, word, strlen(word)) != NULL;
}

static FormatMatch recognise(Bytes file)
{
	if (is_legacy(file))
		return FORMAT_SURE;
	bool ours = is_archive(file) && (holds(file, "archive_format") || holds(file, "serialized_exported_program.json") ||
										holds(file, "/data.pkl") || holds(file, "constants.pkl"));
	return ours ? FORMAT_SURE : FORMAT_NO;
}

/* ---- importing */

static void import_program(Visit *v)
{
	Program *p = program_of(v);
	p->result.n = 0;
	p->count.n = 0;
	p->counted.n = 0;
	p->rounds = 0;
	p->sides = NULL;
	p->born = 1;
	for (size_t k = 0; k < p->input.n; k++) {
		Item *it = import_lookup(v->im, v->frame, p->input.at[k].name);
		p->input.at[k].tensor = torch_tensor(p->arena, it).tensor;
		p->input.at[k].tensor->retype = &p->input.at[k].retype;
		p->input.at[k].tensor->dense = true;
		p->input.at[k].tensor->born = 1;
	}
	p->run(p, v);
	program_counts(p, v);
	p->graph.out = p->result.at;
	p->graph.nout = p->result.n;
	node_set_known(v, 0, F32, shape_of(0, NULL), "\0\0\0");
}

static const NodeRow rows[] = { { "program", 0, "*", import_program }, { NULL, 0, NULL, NULL } };
static const NodeRow *const lists[] = { rows, NULL };
static const NodeFormat format = { .name = "PyTorch", .weight = "weight", .lists = lists };

/* The folder that all entries are in; the name of the archive's first entry begins with it. */
static const char *root_of(Arena *a, const Archive *z)
{
	static const char *const marks[] = { "data.pkl", "archive_format", "serialized_exported_program.json" };
	for (size_t k = 0; k < archive_count(z); k++)
		for (size_t m = 0; m < sizeof marks / sizeof *marks; m++) {
			const char *name = archive_name(z, k), *slash = strchr(name, '/');
			const char *rest = slash != NULL ? slash + 1 : name;
			if (strcmp(name, marks[m]) == 0)
				return "";
			if (strcmp(rest, marks[m]) == 0)
				return arena_printf(a, "%.*s", (int)(rest - name), name);
		}
	return NULL;
}

static bool has_code(const Program *p)
{
	const char *code = arena_printf(p->arena, "%scode/", p->root);
	for (size_t k = 0; k < archive_count(p->archive); k++)
		if (strncmp(archive_name(p->archive, k), code, strlen(code)) == 0)
			return true;
	return false;
}

/* A small entry holds this word, or there is no such entry; spaces around it do not count. */
static bool marked(Program *p, const char *entry, const char *word, Bytes *is, Err *err)
{
	*is = (Bytes){ NULL, 0 };
	if (program_entry(p, entry) == NULL)
		return true;
	if (!program_read(p, entry, is, err))
		return false;
	while (is->n > 0 && (is->at[is->n - 1] == '\n' || is->at[is->n - 1] == ' '))
		is->n--;
	return is->n == strlen(word) && memcmp(is->at, word, is->n) == 0;
}

/* Entries that say how the others are to be read. */
static bool check_marks(Program *p, Err *err)
{
	Bytes is;
	if (!marked(p, "byteorder", "little", &is, err))
		return err->code != ERR_NONE ? false : fail(err, ERR_UNSUPPORTED, p->path,
			"holds numbers in the order '%.*s' (byteorder), and dlc reads 'little': save it on such a machine",
			(int)(is.n < 20 ? is.n : 20), (const char *)is.at);
	if (!marked(p, "archive_format", "pt2", &is, err))
		return err->code != ERR_NONE ? false : fail(err, ERR_INPUT, p->path,
			"is an archive of the format '%.*s' (archive_format), and dlc knows 'pt2'", (int)(is.n < 20 ? is.n : 20),
			(const char *)is.at);
	return true;
}

static bool open_archive(Program *p, Bytes file, Err *err)
{
	if (is_legacy(file))
		return fail(err, ERR_UNSUPPORTED, p->path, "%s", no_program);
	p->archive = archive_open(p->arena, p->path, file, err);
	if (p->archive == NULL)
		return false;
	p->root = root_of(p->arena, p->archive);
	if (p->root == NULL)
		return fail(err, ERR_INPUT, p->path, "is an archive without data.pkl, archive_format or an exported program");
	if (!check_marks(p, err))
		return false;
	if (program_entry(p, "data.pkl") == NULL)
		return export_open(p, err);
	if (!has_code(p))
		return fail(err, ERR_UNSUPPORTED, p->path, "%s", no_program);
	return script_open(p, err);
}

/* The graph of one node, which reads all inputs. */
static void make_graph(Program *p)
{
	size_t n = p->input.n;
	NodeValue *in = arena_array(p->arena, NodeValue, n + 1);
	const char **name = arena_array(p->arena, const char *, n + 1), **out = arena_array(p->arena, const char *, 1);
	for (size_t k = 0; k < n; k++) {
		in[k] = p->input.at[k].value;
		in[k].name = name[k] = p->input.at[k].name;
	}
	out[0] = "the program";
	p->node =
		(NodeDef){ .name = "program", .op = "program", .domain = "", .in = name, .nin = n, .out = out, .nout = 1 };
	p->graph.name = "model";
	p->graph.in = in;
	p->graph.nin = n;
	p->graph.node = &p->node;
	p->graph.nnode = 1;
	/* One until the program has run: a graph without results is refused. */
	vec_push(p->arena, &p->result, ((NodeValue){ .name = "the program" }));
	p->graph.out = p->result.at;
	p->graph.nout = 1;
}

static Dag *load(Arena *a, const char *path, Bytes file, const ModelArgs *args, Err *err)
{
	const AtenIndex *index = aten_index(a);
	Program *p = NULL;
	Dag *d = NULL;
	/* An index needs integers where a script does not say what its inputs are. A run changes tensors, lists and modules
	   of the program, so the next one begins with the file. */
	for (bool again = true; again;) {
		const Program *before = p;
		Err why = { 0 };
		p = arena_new_of(a, Program);
		*p = (Program){ .arena = a, .path = path, .rows = index, .args = args };
		if (!open_archive(p, file, err))
			return NULL;
		for (size_t k = 0; before != NULL && k < p->input.n; k++)
			if (before->input.at[k].retype) {
				p->input.at[k].retype = 1;
				p->input.at[k].value.type = I64;
			}
		make_graph(p);
		d = import_model(a, path, &(NodeModel){ .format = &format, .graph = &p->graph, .source = p }, args, &why);
		again = false;
		for (size_t k = 0; d == NULL && k < p->input.n; k++)
			again |= p->input.at[k].retype && !dtype_eq(p->input.at[k].value.type, I64);
		if (!again && d == NULL)
			*err = why;
	}
	return d;
}

const Format format_pytorch = {
	.name = "pytorch",
	.doc = "PyTorch programs (.pt2, TorchScript .pt)",
	.recognise = recognise,
	.signatures = true,
	.load = load,
	.node = { &format },
	.names = aten_names,
};
