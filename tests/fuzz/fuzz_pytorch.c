/*
 * libFuzzer: PyTorch's files of a stranger. A zip archive is taken as it is; anything else is a part of one, told by
 * its first byte: a pickle, the code of a script, or the JSON of an exported program, each with sound other parts. "S"
 * and four bytes, the sizes of the input x up to the first 0, stand before an archive that does not say them. What
 * becomes a Dag must check. Seeds: tests/fuzz/seeds/pytorch; archives of bench/formats/torch_*.py.
 */
#include "frontend/frontend.h"
#include "../frontend/archive_bytes.h"
#include "fuzz.h"

/* A module without attributes: the pickle that such a script has. */
#define EMPTY \
	"\x80\x02" \
	"c__torch__\nM\n)\x81}b."
#define CODE "class M(Module):\n  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n    return torch.relu(x)\n"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes file = { data, size };
	ShapeArg shape = { "x", shape_of(2, (int64_t[]){ 2, 3 }) };
	ModelArgs args = { .shape = &shape, .nshape = 1 };
	if (size > 5 && data[0] == 'S') {
		for (shape.shape.rank = 0; shape.shape.rank < 4 && data[1 + shape.shape.rank] != 0; shape.shape.rank++)
			shape.shape.dim[shape.shape.rank] = data[1 + shape.shape.rank];
		file = (Bytes){ data + 5, size - 5 };
	} else if (size > 1 && size < 1 << 16 && data[0] != 'P') {
		const char *part = arena_printf(a, "%.*s", (int)(size - 1), (const char *)data + 1);
		char *bytes = arena_copy(a, data + 1, size - 1);
		uint32_t n = (uint32_t)(size - 1);
		Entry pickle[] = { { "m/data.pkl", bytes, 0, 0, 0, n }, { "m/code/__torch__.py", CODE, 0, 0, 0, 0 } };
		Entry code[] = { { "m/data.pkl", EMPTY, 0, 0, 0, sizeof EMPTY - 1 },
			{ "m/code/__torch__.py", part, 0, 0, 0, 0 } };
		Entry json[] = { { "m/archive_format", "pt2", 0, 0, 0, 0 }, { "m/models/model.json", bytes, 0, 0, 0, n } };
		if (data[0] == 'J')
			args.nshape = 0;
		file = make_archive(a, data[0] == 'C' ? code : data[0] == 'J' ? json : pickle, 2);
	}
	Dag *d = frontend_load_bytes(a, "fuzz/nosuch/model.pt", file, &args, &err);
	must((d == NULL) == (err.code != ERR_NONE));
	must(d == NULL || dag_check(d, &err));
	arena_free(a);
	return 0;
}
