/*
 * The importer by small models written as text (model_text.h): what the Dag must be, what must be
 * refused with which sentence; external data; formats that are not ONNX; the zoo; and the writer,
 * whose files must read back to a Dag that computes the same.
 */
#include "base/rng.h"
#include "evaluate.h"
#include "frontend/frontend.h"
#include "model_text.h"
#include "suite.h"

#include <ftw.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64]; /* a temporary one, for each test of its own */

static void make_folder(void)
{
	snprintf(folder, sizeof folder, "/tmp/dlc-frontend-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st, (void)kind, (void)where;
	return remove(path);
}

static void remove_folder(void)
{
	ck_assert_int_eq(nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static const char *in_folder(Arena *a, const char *name)
{
	return arena_printf(a, "%s/%s", folder, name);
}

static Dag *load_text(Arena *a, const char *text, const ModelArgs *args, Err *err)
{
	const char *path = in_folder(a, "m.onnx");
	save_model(a, path, model_text(a, text));
	return frontend_load(a, path, args, err);
}

static char *printed(Arena *a, const Dag *d)
{
	Text t = { .arena = a };
	dag_print(&t, d);
	return arena_printf(a, "%s", text_str(&t));
}

/* ---- what models become: lines that the printed Dag must hold, and one it must not */

static const struct {
	const char *model, *want[4], *lacks;
} become[] = {
	{ "opset 13\nin x f32 1,3,8,8\ninit w f32 4,3,3,3 = 1\nnode Conv x,w -> y "
	  "auto_pad=SAME_UPPER strides=[2,2]\n"
	  "out y\n",
		{ "y: f32[1,4,4,4] = conv(x, w) pads=[0,0,1,1] strides=[2,2]" }, NULL },
	{ "opset 13\nin x f32 1,3,8,8\ninit w f32 4,3,3,3 = 1\nnode Conv x,w -> y "
	  "auto_pad=SAME_LOWER strides=[2,2]\n"
	  "out y\n",
		{ "y: f32[1,4,4,4] = conv(x, w) pads=[1,1,0,0] strides=[2,2]" }, NULL },
	{ "opset 13\nin x f32 1,3,8\ninit w f32 6,1,3 = 1\nnode Conv x,w -> y auto_pad=VALID "
	  "group=3 dilations=[2]\nout y\n",
		{ "y: f32[1,6,4] = conv(x, w) dilations=[2] groups=3" }, NULL },
	{ "opset 1\nin x f32 1,2,4,4\nnode MaxPool x -> y kernel_shape=[2,2] strides=[2,2]\nout "
	  "y\n",
		{ "y: f32[1,2,2,2] = max_pool(x) kernel=[2,2] strides=[2,2]" }, NULL },
	{ "opset 13\nin x f32 1,2,4,4\nnode GlobalAveragePool x -> y\nout y\n",
		{ "y: f32[1,2,1,1] = reduce_mean(x) axes=[2,3]" }, NULL },
	{ "opset 13\nin x f32 2,3\ninit w f32 4,3 = 1\ninit b f32 4 = 1\nnode Gemm x,w,b -> y "
	  "transB=1\nout y\n",
		{ "y: f32[2,4] = dense(x, w, b)" }, NULL },
	{ "opset 13\nin x f32 2,3\ninit w f32 3,4 = 1\ninit b f32 4 = 1\nnode Gemm x,w,b -> y "
	  "alpha=0.5\nout y\n",
		{ "matmul(x, w)", "mul(", "y: f32[2,4] = add(" }, "dense" },
	{ "opset 6\nin x f32 2,3,4\ninit b f32 3 = 1\nnode Add x,b -> y broadcast=1 axis=1\nout "
	  "y\n",
		{ "f32[3,1] = reshape(b)", "y: f32[2,3,4] = add(x, " }, NULL },
	{ "opset 6\nin x f32 2,3,4\ninit b f32 4 = 1\nnode Mul x,b -> y broadcast=1\nout y\n",
		{ "y: f32[2,3,4] = mul(x, b)" }, "reshape" },
	{ "opset 9\nin x f32 2,3,4,1\nnode Softmax x -> y\nout y\n",
		{ "f32[2,12] = reshape(x)", "softmax(", "y: f32[2,3,4,1] = reshape(" }, NULL },
	{ "opset 9\nin x f32 2,3,1,1\nnode Softmax x -> y\nout y\n",
		{ "y: f32[2,3,1,1] = softmax(x) axis=1" }, "reshape" },
	{ "opset 13\nin x f32 2,3,4\nnode Softmax x -> y\nout y\n",
		{ "y: f32[2,3,4] = softmax(x)" }, "axis" },
	{ "opset 13\nin x f32 2,3,4\nnode LogSoftmax x -> y axis=-2\nout y\n",
		{ "log_softmax(x) axis=1" }, NULL },
	{ "opset 6\nin x f32 2\nnode Clip x -> y max=6.0 min=0.0\nout y\n",
		{ "y: f32[2] = clip(x) hi=6 lo=0" }, NULL },
	{ "opset 13\nin x f32 2\ninit h f32 = 6\nnode Clip x,-,h -> y\nout y\n",
		{ "y: f32[2] = clip(x) hi=6" }, "lo" },
	{ "opset 13\nin x f32 2\nin h f32 \nnode Clip x,-,h -> y\nout y\n",
		{ "y: f32[2] = clip(x, _, h)" }, "hi" },
	{ "opset 12\nin x i32 2\ninit p f32 2 = 0.5\nnode Pow x,p -> y\nout y\n",
		{ "f32[2] = cast(x)", "f32[2] = pow(", "y: i32[2] = cast(" }, NULL },
	{ "opset 8\nin x f32 2\nin z f32 2\nin q f32 1\nnode Max x,z,q -> y\nout y\n",
		{ "maximum(x, z)", "y: f32[2] = maximum(" }, NULL },
	{ "opset 13\nin x f32 2,3,4\ninit a i64 1 = -1\nnode ReduceSum x,a -> y keepdims=0\nout "
	  "y\n",
		{ "y: f32[2,3] = reduce_sum(x) axes=[2] keep=0" }, NULL },
	{ "opset 13\nin x f32 2,3\ninit a i64 0 =\nnode ReduceSum x,a -> y "
	  "noop_with_empty_axes=1\nout y\n",
		{ "y: f32[2,3] = identity(x)" }, "reduce" },
	{ "opset 11\nin x f32 2,3,4\nnode ReduceMean x -> y axes=[0,-1]\nout y\n",
		{ "y: f32[1,3,1] = reduce_mean(x) axes=[0,2]" }, NULL },
	{ "opset 13\nin x f32 2,3,4\ninit s i64 3 = 0 -1 2\nnode Reshape x,s -> y\nout y\n",
		{ "y: f32[2,6,2] = reshape(x)" }, NULL },
	{ "opset 14\nin x f32 0,3\ninit s i64 2 = 3 0\nnode Reshape x,s -> y allowzero=1\nout y\n",
		{ "y: f32[3,0] = reshape(x)" }, NULL },
	{ "opset 1\nin x f32 2,6\nnode Reshape x -> y shape=[3,-1]\nout y\n",
		{ "y: f32[3,4] = reshape(x)" }, NULL },
	{ "opset 13\nin x f32 2,3,4\nnode Flatten x -> y axis=-1\nout y\n",
		{ "y: f32[6,4] = reshape(x)" }, NULL },
	{ "opset 13\nin x f32 2,1,4\nnode Squeeze x -> y\nout y\n", { "y: f32[2,4] = reshape(x)" },
		NULL },
	{ "opset 11\nin x f32 2,4\nnode Unsqueeze x -> y axes=[-1,0]\nout y\n",
		{ "y: f32[1,2,4,1] = reshape(x)" }, NULL },
	{ "opset 10\nin x f32 10\ninit s i64 1 = -1\ninit e i64 1 = -9223372036854775808\ninit t "
	  "i64 1 = -3\ninit a i64 1 = 0\n"
	  "node Slice x,s,e,a,t -> y\nout y\n",
		{ "y: f32[4] = slice(x) sizes=[4] starts=[9] steps=[-3]" }, NULL },
	{ "opset 1\nin x f32 10,4\nnode Slice x -> y starts=[1] ends=[1000] axes=[0]\nout y\n",
		{ "y: f32[9,4] = slice(x) sizes=[9,4] starts=[1,0]" }, NULL },
	{ "opset 18\nin x f32 7\nnode Split x -> a,b,c num_outputs=3\nout a\nout b\nout c\n",
		{ "a: f32[3], b: f32[3], c: f32[1] = split(x) sizes=[3,3,1]" }, NULL },
	{ "opset 2\nin x f32 2,6\nnode Split x -> a,b axis=1 split=[2,4]\nout a\nout b\n",
		{ "split(x) axis=1 sizes=[2,4]" }, NULL },
	{ "opset 18\nin x f32 2,3\ninit p i64 2 = 1 2\ninit v f32 = 0.5\ninit a i64 1 = -1\nnode "
	  "Pad x,p,v,a -> y\nout y\n",
		{ "y: f32[2,6] = pad(x) pads=[0,1,0,2] value=0.5" }, NULL },
	{ "opset 2\nin x f32 2,3\nnode Pad x -> y pads=[0,1,0,1] mode=reflect\nout y\n",
		{ "y: f32[2,5] = pad(x) mode=reflect pads=[0,1,0,1]" }, NULL },
	{ "opset 15\nin x f32 2,3,4\nnode Shape x -> y start=-2\nout y\n",
		{ "{3, 4}", "y: i64[2] = identity(" }, NULL },
	{ "opset 13\nin x f32 2,3,4\nnode Shape x -> s\nnode Slice s,one,three -> t\nnode Concat "
	  "m,t -> u axis=0\n"
	  "init one i64 1 = 1\ninit three i64 1 = 3\ninit m i64 1 = -1\nnode Reshape x,u -> y\nout "
	  "y\n",
		{ "y: f32[2,3,4] = identity(x)" }, "concat" },
	{ "opset 13\nin x f32 2,3,4\nnode Shape x -> s\ninit i i64 = 1\nnode Gather s,i -> d\ninit "
	  "z i64 1 = 0\n"
	  "node Unsqueeze d,z -> e\nnode Concat e,m -> u axis=0\ninit m i64 1 = -1\nnode Reshape "
	  "x,u -> y\nout y\n",
		{ "y: f32[3,8] = reshape(x)" }, "gather" },
	{ "opset 9\ninit s i64 2 = 2 3\nin x f32 2,3\nnode ConstantOfShape s -> c\nnode Add x,c -> "
	  "y\nout y\n",
		{ "c: f32[2,3] = expand(", "y: f32[2,3] = add(x, c)" }, NULL },
	{ "opset 13\nin x f32 2\nnode Constant - -> c value_ints=[1,2]\nnode Cast c -> f "
	  "to=1\nnode Add x,f -> y\nout y\n",
		{ "f: f32[2] = cast(c)" }, NULL },
	{ "opset 5\nin x i32 2\nnode Cast x -> y to=FLOAT\nout y\n", { "y: f32[2] = cast(x)" },
		NULL },
	{ "opset 13\nin x f32 2\nnode Dropout x -> y,m\nout y\nout m\n",
		{ "y: f32[2] = identity(x)", "m: bool[2] = expand(" }, NULL },
	{ "opset 13\nin x f32 2\nnode Relu x -> r\nnode Identity r -> y\nout y\n",
		{ "y: f32[2] = relu(x)" }, "identity" },
	{ "opset 13\nin x f32 2\nnode Relu x -> r\nnode Identity r -> y\nout y\nout r\n",
		{ "r: f32[2] = relu(x)", "y: f32[2] = identity(r)" }, NULL },
	{ "opset 6\nin x f32 1,2,3\ninit s f32 2 = 0.1\nnode PRelu x,s -> y\nout y\n",
		{ "f32[2,1] = reshape(s)", "y: f32[1,2,3] = prelu(x, " }, NULL },
	/* not in order; an initializer that is also an input; a result nobody reads */
	{ "opset 13\nin x f32 2\nin w f32 2\ninit w f32 2 = 1\nnode Relu a -> y\nnode Add x,w -> "
	  "a\nnode Relu x -> unread\nout y\n",
		{ "const w: f32[2]", "a: f32[2] = add(x, w)", "y: f32[2] = relu(a)" }, "in w" },
	/* functions: attributes by reference and by default, nested */
	{ "opset 13\nopset my 1\nfunc my outer a -> c\nnode my::inner a -> c slope=@s\nend\n"
	  "func my inner a -> c\nnode LeakyRelu a -> b alpha=@slope\nnode Neg b -> c\nend\n"
	  "in x f32 2\nnode my::outer x -> y s=0.5 name=top\nout y\n",
		{ "leaky_relu(x) alpha=0.5", "y: f32[2] = neg(" }, NULL },
	{ "opset 13\nopset my 1\nfunc my f a,lo,hi -> c\nnode Clip a,lo,hi -> c\nend\n"
	  "in x f32 2\ninit h f32 = 6\nnode my::f x,-,h -> y\nout y\n",
		{ "y: f32[2] = clip(x) hi=6" }, "lo" },
	{ "opset 13\nin x f32 2\nnode Softplus x -> y\nout y\n", { "y: f32[2] = add(" }, NULL },
	{ "opset 7\nin x f32 1,2,3,3\nnode AveragePool x -> y kernel_shape=[2,2] strides=[2,2] "
	  "count_include_pad=1\nout y\n",
		{ "avg_pool(x) count_pad=1 kernel=[2,2] strides=[2,2]" }, NULL },
	{ "opset 19\nin x f32 1,1,4\nnode AveragePool x -> y kernel_shape=[3] strides=[2] "
	  "ceil_mode=1 count_include_pad=1\nout y\n",
		{ "y: f32[1,1,2] = avg_pool(x) count_pad=1 kernel=[3] pads=[0,1] strides=[2]" },
		"ceil" },
};

START_TEST(models_become_dags)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_text(a, become[_i].model, NULL, &err);
	ck_assert_msg(
		d != NULL, "%s\n%s: %s\n%s", become[_i].model, err.place, err.text, err.items);
	char *text = printed(a, d);
	for (int k = 0; k < LEN(become[_i].want) && become[_i].want[k] != NULL; k++)
		ck_assert_msg(strstr(text, become[_i].want[k]) != NULL, "%s\nlacks \"%s\":\n%s",
			become[_i].model, become[_i].want[k], text);
	ck_assert_msg(become[_i].lacks == NULL || strstr(text, become[_i].lacks) == NULL,
		"%s\nhas \"%s\":\n%s", become[_i].model, become[_i].lacks, text);
	arena_free(a);
}
END_TEST

/* ---- refusals, each with its sentence */

static const struct {
	const char *model, *want;
} refused[] = {
	{ "opset 13\nin x f32 2\nnode Foo x -> a name=n1\nnode Bar a -> b\nnode Foo b -> c\nnode "
	  "com.x::Gelu c -> y\nout y\n",
		"3 operators of this model are not supported\n"
		"Foo (opset 13, node 'n1', 2 times)\nBar (opset 13, node 'b')\ncom.x::Gelu (opset "
	        "13, node 'y')\n" },
	{ "opset 13\nin x f32 2\nnode HardSwish x -> y\nout y\n",
		"HardSwish (opset 13, node 'y'), which exists from opset 14 on" },
	{ "opset 13\nin c bool \nnode If c -> y\nout y\n", "If (opset 13, node 'y')" },
	{ "opset 0\nin x f32 2\nnode Relu x -> y\nout y\n", "opset 0, which does not exist" },
	{ "opset 13\nin x f32 2\nnode Relu x -> y\n", "the model has no results" },
	{ "opset 13\nin x f32 2\nnode Relu x -> y\nout z\n",
		"nothing in the model gives its result 'z'" },
	{ "opset 13\nin x f32 2\nnode Relu x -> y\nout y\nout y\n",
		"the result 'y' is listed twice" },
	{ "opset 13\nin x f32 2\nnode Relu q -> y\nout y\n",
		"node '' (Relu) reads 'q', which nothing in the model gives" },
	{ "opset 13\nin x f32 2\nnode Add x,b -> a name=l\nnode Relu a -> b\nout b\n",
		"depends on the node itself" },
	{ "opset 13\nin x f32 2\nnode Relu x -> y\nnode Neg x -> y\nout y\n",
		"the name 'y' is given twice" },
	{ "opset 13\nin x f32 2\nin x f32 2\nnode Relu x -> y\nout y\n",
		"the name 'x' is given twice" },
	{ "opset 13\nin x f32 2\ninit w f32 1 = 1\ninit w f32 1 = 1\nnode Relu x -> y\nout y\n",
		"the name 'w' is given twice" },
	{ "opset 13\nin x f32 2\nnode Relu x -> x\nout x\n", "the name 'x' is given twice" },
	{ "opset 13\nin x f32 2\nnode Relu x -> y beta=2\nout y\n",
		"node 'y' (Relu): its attribute 'beta' is not known" },
	{ "opset 13\nin x f32 2\nnode Relu - -> y\nout y\n",
		"node 'y' (Relu): its input 1 is missing" },
	{ "opset 13\nin x f32 2\nnode LeakyRelu x -> y alpha=2\nout y\n",
		"its attribute alpha must be a number" },
	{ "opset 13\nin x f32 2,3,H,4\nnode Relu x -> y\nout y\n",
		"dimension 3 of input 'x' is not known: give it with --shape x=2,3,H,4" },
	{ "opset 13\nin x f32 1099511627776,1099511627776,4096\nnode Relu x -> y\nout y\n",
		"input 'x' of shape 1099511627776x1099511627776x4096 needs more memory than there "
	        "is" },
	{ "opset 13\nin x f32 99999999999,3,224,224\nnode Relu x -> y\nout y\n",
		"needs more memory than there is" },
	{ "opset 13\nin x f32 2,-3\nnode Relu x -> y\nout y\n", "input 'x' has the dimension -3" },
	{ "opset 13\nin x f32 1,1,1,1,1,1,1,1,1\nnode Relu x -> y\nout y\n",
		"input 'x' has 9 dimensions, dlc takes at most 8" },
	{ "opset 13\nin x f32 2,3\nin s i64 1\nnode Reshape x,s -> y\nout y\n",
		"its input 's' must be known when the model is compiled: give it with --bind "
	        "s=FILE.npy" },
	{ "opset 13\nin x f32 2,3\ninit s i64 2 = 4 2\nnode Reshape x,s -> y\nout y\n",
		"node 'y' (Reshape): its input of shape 2x3 does not fit the shape 4x2" },
	{ "opset 13\nin x f32 2,3\ninit s i64 2 = -1 -1\nnode Reshape x,s -> y\nout y\n",
		"its shape holds -1 twice" },
	{ "opset 13\nin x f32 2,3\ninit s i64 2 = -2 3\nnode Reshape x,s -> y\nout y\n",
		"its shape holds -2" },
	{ "opset 13\nin x f32 2\ninit s i64 2 = 2 0\nnode Reshape x,s -> y\nout y\n",
		"is 0, but its input has only 1" },
	{ "opset 13\nin x f32 2\ninit s f32 1 = 2\nnode Reshape x,s -> y\nout y\n",
		"its input 's' must be a list of integers" },
	{ "opset 13\nin x f32 2,3\nnode Concat x,x -> y axis=2\nout y\n",
		"axis 2 is outside of -2..1" },
	{ "opset 13\nin x f32 2,3\nnode Concat x,x -> y\nout y\n", "it has no attribute axis" },
	{ "opset 13\nin x f32 2,3\nnode Transpose x -> y perm=[0,0]\nout y\n",
		"axis 0 is listed twice" },
	{ "opset 13\nin x f32 2,3\nnode Transpose x -> y perm=[0]\nout y\n",
		"its attribute perm has 1 numbers, its input 2" },
	{ "opset 11\nin x f32 2,3\nnode Squeeze x -> y axes=[0]\nout y\n",
		"dimension 0 is 2, not 1" },
	{ "opset 11\nin x f32 2,3\nnode Unsqueeze x -> y axes=[0,0]\nout y\n",
		"axis 0 is listed twice" },
	{ "opset 13\nin x f32 7\nnode Split x -> a,b\nout a\nout b\n",
		"7 elements cannot be cut into 2 equal parts" },
	{ "opset 13\nin x f32 4\ninit s i64 2 = 1 2\nnode Split x,s -> a,b\nout a\nout b\n",
		"sizes add up to 3" },
	{ "opset 13\nin x f32 4\ninit s i64 2 = 2 2\nnode Split x,s -> a\nout a\n",
		"it has 2 sizes and 1 results" },
	{ "opset 10\nin x f32 4\ninit s i64 1 = 0\ninit z i64 1 = 0\ninit a i64 1 = 0\nnode Slice "
	  "x,s,s,a,z -> y\nout y\n",
		"its step along axis 0 is 0" },
	{ "opset 10\nin x f32 4\ninit s i64 2 = 0 0\ninit e i64 1 = 1\nnode Slice x,s,e -> y\nout "
	  "y\n",
		"do not belong together" },
	{ "opset 11\nin x f32 4\ninit p i64 1 = 0\nnode Pad x,p -> y\nout y\n",
		"it has 1 pads for 1 dimensions" },
	{ "opset 11\nin x f32 4\ninit p i64 2 = 0 1\nnode Pad x,p -> y mode=mirror\nout y\n",
		"mode \"mirror\"" },
	{ "opset 13\nin x f32 1,1,4,4\nnode MaxPool x -> y,i kernel_shape=[2,2]\nout y\nout i\n",
		"node 'y' (MaxPool): its second result (Indices) is not supported" },
	{ "opset 13\nin x f32 1,1,4,4\nnode MaxPool x -> y\nout y\n",
		"it has no attribute kernel_shape" },
	{ "opset 13\nin x f32 1,1,4,4\nnode MaxPool x -> y kernel_shape=[2]\nout y\n",
		"its attribute kernel_shape has 1 numbers where its input needs 2" },
	{ "opset 13\nin x f32 1,1,4,4\nnode MaxPool x -> y kernel_shape=[2,2] strides=[0,1]\nout "
	  "y\n",
		"its attribute strides holds 0" },
	{ "opset 13\nin x f32 1,1,4,4\nnode MaxPool x -> y kernel_shape=[2,2] auto_pad=SAME\nout "
	  "y\n",
		"auto_pad is 'SAME'" },
	{ "opset 13\nin x f32 1,1\nnode MaxPool x -> y kernel_shape=[2]\nout y\n",
		"has 2 dimensions; 3, 4 and 5" },
	{ "opset 13\nin x f32 1,2,4\ninit w f32 1,3,2 = 1\nnode Conv x,w -> y\nout y\n",
		"x has 2 channels in 1 groups" },
	{ "opset 13\nin x f32 1,2,4\ninit w f32 1,2,2 = 1\nnode Conv x,w -> y "
	  "kernel_shape=[3]\nout y\n",
		"kernel_shape is not the shape of its weights" },
	{ "opset 14\nin x f32 1,2\ninit s f32 2 = 1\nnode BatchNormalization x,s,s,s,s -> y "
	  "training_mode=1\nout y\n",
		"training mode is not supported" },
	{ "opset 7\nin x f32 1,2\ninit s f32 2 = 1\nnode BatchNormalization x,s,s,s,s -> y,m\nout "
	  "y\nout m\n",
		"training mode is not supported" },
	{ "opset 7\nin x f32 1,2\ninit s f32 2 = 1\nnode BatchNormalization x,s,s,s,s -> y "
	  "spatial=0\nout y\n",
		"spatial = 0" },
	{ "opset 12\nin x f32 2\ninit r f32 = 0.5\ninit t bool = 1\nnode Dropout x,r,t -> y\nout "
	  "y\n",
		"training mode is not supported" },
	{ "opset 13\nin x f32 2\nnode Cast x -> y to=8\nout y\n",
		"it casts to STRING, which dlc does not have" },
	{ "opset 13\nin x f32 2\nnode Cast x -> y to=17\nout y\n", "it casts to FLOAT8E4M3FN" },
	{ "opset 13\nin x f32 2\nin z i32 2\nnode Add x,z -> y\nout y\n",
		"node 'y' (Add): add: x is f32, but z is i32" },
	{ "opset 13\nin x f32 2\nin z f32 3\nnode Add x,z -> y\nout y\n",
		"the shapes 2 and 3 do not broadcast" },
	{ "opset 6\nin x f32 2,3\nin z f32 3\nnode Add x,z -> y\nout y\n",
		"its attribute broadcast is not set" },
	{ "opset 13\nin x f32 2\ninit s i64 1 = -1\nnode Expand x,s -> y\nout y\n",
		"its result has the dimension -1" },
	{ "opset 13\nin x f32 2\ninit s i64 3 = 1099511627776 1099511627776 2\nnode Expand x,s -> "
	  "y\nout y\n",
		"overflows" },
	{ "opset 13\nin x f32 2\ninit s i64 2 = 1099511627776 2\nnode Expand x,s -> y\nout y\n",
		"needs more memory than there is" },
	{ "opset 9\ninit s i64 3 = 1099511627776 1099511627776 2\nin x f32 2\nnode ConstantOfShape "
	  "s -> y\nout y\n",
		"overflows" },
	{ "opset 13\nin x f32 2,3,4\ninit i i64 2 = 0 1\nnode Gather x,i -> y\nout y\n",
		"it gathers 2 elements" },
	{ "opset 13\nin x f32 2\ninit i i64 = 2\nnode Gather x,i -> y\nout y\n",
		"its index 2 is outside of a dimension of 2" },
	{ "opset 13\nin x f32 2\nnode Constant - -> y\nout y\n",
		"node 'y' (Constant): it has no value" },
	{ "opset 13\nin x f32 2\nnode Constant - -> y value_string=abc\nout y\n",
		"constants of text" },
	{ "opset 13\nin x f32 2\nnode my::f x -> y\nfunc my f a -> b\nnode my::f a -> b\nend\nout "
	  "y\n",
		"functions are nested more than 16 deep" },
	{ "opset 13\nin x f32 2\nnode my::f x -> y,z\nfunc my f a -> b\nnode Neg a -> b\nend\nout "
	  "y\n",
		"more inputs or results" },
	{ "opset 13\nin x f32 2\nnode my::f x -> y\nfunc my f a -> b\nnode Neg a -> c\nend\nout "
	  "y\n",
		"never gives its result 'b'" },
	{ "opset 13\nin x f32 2\nnode my::f x -> y\nfunc my f a -> b\nnode Foo a -> b\nend\nout "
	  "y\n",
		"Foo (opset 13, node 'b' of function f)" },
};

START_TEST(models_are_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_text(a, refused[_i].model, NULL, &err);
	ck_assert_msg(
		d == NULL, "%s\nis taken:\n%s", refused[_i].model, d != NULL ? printed(a, d) : "");
	char all[sizeof err.text + sizeof err.items + 300];
	err_format(&err, all, sizeof all);
	ck_assert_msg(strstr(all, refused[_i].want) != NULL, "%s\nsays: %slacks: %s",
		refused[_i].model, all, refused[_i].want);
	ck_assert_str_eq(err.place, in_folder(a, "m.onnx"));
	ck_assert_int_eq(err_exit_code(err.code), 1);
	arena_free(a);
}
END_TEST

/* ---- tensors: each place data may be in, each way it may be wrong */

static const char one_init[] =
	"opset 13\nin x f32 2\ninit w f32 2 = 1 2\nnode Add x,w -> y\nout y\n";

static Dag *load_model(Arena *a, const OnnxModel *m, Err *err)
{
	const char *path = in_folder(a, "m.onnx");
	save_model(a, path, m);
	return frontend_load(a, path, NULL, err);
}

static void external(
	Arena *a, OnnxTensor *t, const char *location, const char *offset, const char *length)
{
	OnnxPair where = { .key = "location", .value = location },
		 from = { .key = "offset", .value = offset };
	OnnxPair size = { .key = "length", .value = length };
	t->raw_data = (Bytes){ NULL, 0 };
	t->data_location = 1;
	vec_push(a, &t->external_data, where);
	if (offset != NULL)
		vec_push(a, &t->external_data, from);
	if (length != NULL)
		vec_push(a, &t->external_data, size);
}

static const struct {
	const char *location, *offset, *length, *want; /* NULL: it is read */
} externals[] = {
	{ "w.bin", "4", "8", NULL },
	{ "sub/w.bin", "0", NULL, NULL },
	{ "sub/w.bin", NULL, NULL, NULL },
	{ "../outside.bin", "0", "8", "is not a path inside the model's folder" },
	{ "sub/../w.bin", "0", "8", "is not a path inside the model's folder" },
	{ "/etc/passwd", "0", "8", "is not a path inside the model's folder" },
	{ "", "0", "8", "is not a path inside the model's folder" },
	{ "sub//w.bin", "0", "8", "is not a path inside the model's folder" },
	{ "./w.bin", "0", "8", "is not a path inside the model's folder" },
	{ "link.bin", "0", "8", "it is a link, which could lead out of the model's folder" },
	{ "linked/w.bin", "0", "8", "no folder of its own" },
	{ "nosuch.bin", "0", "8", "No such file" },
	{ "sub", "0", "8", "is not a regular file" },
	{ "w.bin", "8", "8", "lie outside of 'w.bin', which has 12" },
	{ "w.bin", "9223372036854775807", "8", "lie outside of" },
	{ "w.bin", "-4", "8", "the offset '-4' of its external data is no number" },
	{ "w.bin", "0", "99999999999999999999",
		"the length '99999999999999999999' of its external data is no number" },
	{ "w.bin", "0", "12", "its external data have 12 bytes where its shape needs 8" },
};

START_TEST(external_data)
{
	Arena *a = arena_new();
	static const float numbers[] = { 5, 6, 7 };
	Err err = { 0 };
	ck_assert_int_eq(mkdir(in_folder(a, "sub"), 0700), 0);
	save_bytes(in_folder(a, "w.bin"), numbers, sizeof numbers);
	save_bytes(in_folder(a, "sub/w.bin"), numbers, 8);
	ck_assert_int_eq(symlink("w.bin", in_folder(a, "link.bin")), 0);
	ck_assert_int_eq(symlink("sub", in_folder(a, "linked")), 0);
	OnnxModel *m = model_text(a, one_init);
	external(a, &m->graph->initializer.at[0], externals[_i].location, externals[_i].offset,
		externals[_i].length);
	Dag *d = load_model(a, m, &err);
	if (externals[_i].want == NULL) {
		ck_assert_msg(d != NULL, "%s", err.text);
		const Value *w = &d->value.at[dag_find_value(d, "w")];
		ck_assert(((const float *)w->data)[0] ==
			  (strcmp(externals[_i].location, "w.bin") == 0 ? 6 : 5));
	} else {
		ck_assert(d == NULL);
		ck_assert_msg(strstr(err.text, externals[_i].want) != NULL, "%s", err.text);
		ck_assert_msg(strstr(err.text, "initializer 'w'") != NULL, "%s", err.text);
	}
	arena_free(a);
}
END_TEST

typedef struct Typed {
	int64_t type;
	int list; /* 0 int32_data, 1 int64_data, 2 uint64_data, 3 float_data, 4 double_data */
	int64_t bits[2]; /* as stored in the list */
	double want[2];
} Typed;

static const Typed typed[] = {
	{ 1, 3, { 0 }, { 1.5, -2 } },
	{ 11, 4, { 0 }, { 1.5, -2 } },
	{ 2, 0, { 1, 255 }, { 1, 255 } },
	{ 3, 0, { 1, -128 }, { 1, -128 } },
	{ 4, 0, { 1, 65535 }, { 1, 65535 } },
	{ 5, 0, { 1, -32768 }, { 1, -32768 } },
	{ 6, 0, { 1, -2147483648LL }, { 1, -2147483648.0 } },
	{ 7, 1, { 1, -5000000000LL }, { 1, -5000000000.0 } },
	{ 9, 0, { 0, 7 }, { 0, 1 } },
	{ 10, 0, { 0x3c00, 0xc000 }, { 1, -2 } },
	{ 12, 2, { 1, 4294967295LL }, { 1, 4294967295.0 } },
	{ 13, 2, { 1, 5000000000LL }, { 1, 5000000000.0 } },
	{ 16, 0, { 0x3f80, 0xc000 }, { 1, -2 } },
	{ 22, 0, { 0xf1, 0 }, { 1, -1 } },
	{ 21, 0, { 0xf1, 0 }, { 1, 15 } },
};

START_TEST(typed_data)
{
	const Typed *c = &typed[_i];
	Arena *a = arena_new();
	Err err = { 0 };
	OnnxTensor t = { .name = "t", .data_type = c->type };
	Text out = { .arena = a };
	BindArg b;
	int n = c->type == 21 || c->type == 22 ? 1 : 2; /* two nibbles in a number */
	vec_push(a, &t.dims, 2);
	for (int k = 0; k < n; k++) {
		switch (c->list) {
		case 0: vec_push(a, &t.int32_data, c->bits[k]); break;
		case 1: vec_push(a, &t.int64_data, c->bits[k]); break;
		case 2: vec_push(a, &t.uint64_data, c->bits[k]); break;
		case 3: vec_push(a, &t.float_data, (float)c->want[k]); break;
		case 4: vec_push(a, &t.double_data, c->want[k]); break;
		}
	}
	wire_write(&out, &OnnxTensor_message, &t);
	ck_assert_msg(frontend_read_tensor_pb(a, out.at, out.n, &b, &err), "%s", err.text);
	for (int k = 0; k < 2; k++)
		ck_assert_msg(element_get(b.type, b.data, k) == c->want[k], "type %d: %g",
			(int)c->type, element_get(b.type, b.data, k));
	arena_free(a);
}
END_TEST

static void break_count(Arena *a, OnnxTensor *t)
{
	t->raw_data.n = 0;
	for (int k = 0; k < 3; k++)
		vec_push(a, &t->float_data, 1);
}

static void break_twice(Arena *a, OnnxTensor *t)
{
	vec_push(a, &t->float_data, 1);
}

static void break_length(Arena *a, OnnxTensor *t)
{
	(void)a;
	t->raw_data.n = 7;
}

static void break_dims(Arena *a, OnnxTensor *t)
{
	for (int k = 0; k < 4; k++)
		vec_push(a, &t->dims, (int64_t)1 << 40);
}

static void break_negative(Arena *a, OnnxTensor *t)
{
	(void)a;
	t->dims.at[0] = -2;
}

static void break_rank(Arena *a, OnnxTensor *t)
{
	for (int k = 0; k < 9; k++)
		vec_push(a, &t->dims, 1);
}

static void break_type(Arena *a, OnnxTensor *t)
{
	(void)a;
	t->data_type = 8;
}

static void break_large(Arena *a, OnnxTensor *t)
{
	(void)a;
	t->dims.at[0] = (int64_t)1 << 40;
}

static const struct {
	void (*damage)(Arena *a, OnnxTensor *t);
	const char *want;
} broken[] = {
	{ break_count, "initializer 'w' has 3 numbers where its shape needs 2" },
	{ break_twice, "initializer 'w' has its data twice" },
	{ break_length, "initializer 'w' has 7 bytes of data where its shape needs 8" },
	{ break_dims, "initializer 'w' has a shape whose size overflows" },
	{ break_negative, "initializer 'w' has the dimension -2" },
	{ break_rank, "initializer 'w' has 10 dimensions, dlc takes at most 8" },
	{ break_type, "initializer 'w' has element type STRING, which dlc does not have" },
	{ break_large, "initializer 'w' has 8 bytes of data where its shape needs 4398046511104" },
};

START_TEST(broken_tensors)
{
	Arena *a = arena_new();
	Err err = { 0 };
	OnnxModel *m = model_text(a, one_init);
	broken[_i].damage(a, &m->graph->initializer.at[0]);
	ck_assert(load_model(a, m, &err) == NULL);
	ck_assert_msg(strstr(err.text, broken[_i].want) != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

/* ---- the command line's part: --shape, --batch, --bind */

static const char symbolic[] = "opset 13\nin x f32 N,3\nin z f32 N,L\nin w f32 L,3\nnode MatMul "
                               "z,w -> a\nnode Add x,a -> y\nout y\n";

static char noted[4][256];
static int nnoted;

static void keep_note(const char *sentence, void *arg)
{
	(void)arg;
	if (nnoted < 4)
		snprintf(noted[nnoted++], sizeof noted[0], "%s", sentence);
}

START_TEST(symbols_get_numbers)
{
	Arena *a = arena_new();
	Err err = { 0 };
	ShapeArg shapes[] = { { "w", { 2, { 7, 3 } } } };
	ModelArgs args = { .shape = shapes, .nshape = 1, .note = keep_note };
	nnoted = 0;
	Dag *d = load_text(a, symbolic, &args, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	ck_assert(strstr(printed(a, d), "in z: f32[1,7]") != NULL);
	ck_assert_int_eq(nnoted, 1);
	ck_assert_str_eq(noted[0], "the symbolic batch 'N' of input 'x' is taken as 1");
	args.batch = 5;
	d = load_text(a, "opset 13\nin x f32 N,3\nnode Relu x -> y\nout y\n",
		&(ModelArgs){ .batch = 5 }, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	ck_assert(strstr(printed(a, d), "y: f32[5,3] = relu(x)") != NULL);
	arena_free(a);
}
END_TEST

static const char bound[] = "opset 13\nin x f32 2,3\nin s i64 2\nnode Reshape x,s -> y\nout y\n";
static const int64_t three_two[] = { 3, 2 };

static bool offer_shape(const char *input, BindArg *out, void *arg)
{
	++*(int *)arg;
	*out = (BindArg){ .type = I64, .shape = { 1, { 2 } }, .data = three_two };
	return strcmp(input, "s") == 0;
}

START_TEST(inputs_are_bound)
{
	Arena *a = arena_new();
	Err err = { 0 };
	int asked = 0;
	BindArg bind = { .name = "s", .type = I64, .shape = { 1, { 2 } }, .data = three_two };
	Dag *d = load_text(a, bound, &(ModelArgs){ .bind = &bind, .nbind = 1 }, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	ck_assert(strstr(printed(a, d), "y: f32[3,2] = reshape(x)") != NULL);
	ck_assert_uint_eq(d->input.n, 1);
	d = load_text(a, bound, &(ModelArgs){ .offer = offer_shape, .offer_arg = &asked }, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	ck_assert_uint_eq(d->input.n, 1);
	ck_assert_int_eq(asked, 1);
	arena_free(a);
}
END_TEST

static const struct {
	ShapeArg shape;
	BindArg bind;
	ErrCode code;
	const char *want;
} wrong_args[] = {
	{ { "q", { 1, { 2 } } }, { 0 }, ERR_USAGE,
		"--shape: the model has no input 'q'; it has: x, s" },
	{ { "x", { 1, { 2 } } }, { 0 }, ERR_USAGE,
		"--shape x has 1 dimensions where the model has 2" },
	{ { "x", { 2, { -1, 3 } } }, { 0 }, ERR_INPUT, "input 'x' has the dimension -1" },
	{ { 0 }, { .name = "q", .data = "" }, ERR_USAGE,
		"--bind: the model has no input 'q'; it has: x, s" },
	{ { 0 }, { .name = "s", .type = { DT_FLOAT, 32, 1 }, .shape = { 1, { 2 } }, .data = "" },
		ERR_TYPE, "--bind s has elements of f32 where the model has i64" },
	{ { 0 }, { .name = "s", .type = { DT_INT, 64, 1 }, .shape = { 1, { 3 } }, .data = "" },
		ERR_TYPE, "--bind s of shape 3 is not what the model declares" },
};

START_TEST(wrong_arguments)
{
	Arena *a = arena_new();
	Err err = { 0 };
	ModelArgs args = { .shape = &wrong_args[_i].shape,
		.nshape = wrong_args[_i].shape.name != NULL,
		.bind = &wrong_args[_i].bind,
		.nbind = wrong_args[_i].bind.name != NULL };
	ck_assert(load_text(a, bound, &args, &err) == NULL);
	ck_assert_msg(strstr(err.text, wrong_args[_i].want) != NULL, "%s", err.text);
	ck_assert_int_eq(err.code, wrong_args[_i].code);
	arena_free(a);
}
END_TEST

/* ---- other formats, by content */

static const struct {
	const char *bytes;
	size_t n;
	const char *want;
} formats[] = {
	{ "", 0, "is empty" },
	{ "\x89HDF\r\n\x1a\n....", 12,
		"is a Keras or other HDF5 model; this version reads ONNX models" },
	{ "\x1c\0\0\0TFL3....", 12, "is a TensorFlow Lite model" },
	{ "PK\3\4....resnet/constants.pkl....", 33, "is a TorchScript model" },
	{ "PK\3\4....m/archive_format....", 29, "is a PyTorch program (.pt2)" },
	{ "PK\3\4....config.json..model.weights.h5", 37, "is a Keras model" },
	{ "PK\3\4....................", 24, "is a zip archive, not a model" },
	{ "\x80\x02}q\0.", 6, "is a Python pickle" },
	{ "\x93NUMPY\1\0v\0{'descr'", 19, "is a NumPy array, not a model" },
	{ "[net]\nbatch=1\n", 14, "is a Darknet configuration" },
	{ "name: \"x\"\nlayer {\n bottom: \"d\"\n}", 32, "is a Caffe prototxt" },
	{ "{\"nodes\": [{\"op\": \"null\"}], \"arg_nodes\": []}", 44, "is an MXNet symbol" },
	{ "version https://git-lfs.github.com/spec/v1\n", 43, "is a Git LFS pointer" },
	{ "hello\n", 6, "is a text, not a model" },
	{ "\x0a\x05\x0a\x03"
	  "abc\x0a\x05\x0a\x03"
	  "def",
		14, "is a TensorFlow graph or another protobuf model" },
	{ "\x08\x01\x12\x03\x0a\x01\x61", 7, "is a TensorFlow SavedModel" },
	{ "\x08\x01\x12\x00\xa2\x1f\x00", 7, "is a CoreML model" },
	{ "\x08\x08\x12\x07pyt", 7, "damaged at byte 2, in ModelProto" },
	{ "\x08\x08\x3a\x00\x42\x02\x10\x0d", 8, "the model has no results" },
	{ "\xff\xfe\xfd\xfc", 4, "is no model that this version knows" },
};

START_TEST(formats_by_content)
{
	Arena *a = arena_new();
	Err err = { 0 };
	const char *path = in_folder(a, "model.anything");
	save_bytes(path, formats[_i].bytes, formats[_i].n);
	ck_assert(frontend_load(a, path, NULL, &err) == NULL);
	ck_assert_msg(strstr(err.text, formats[_i].want) != NULL, "%d: %s", _i, err.text);
	ck_assert_str_eq(err.place, path);
	arena_free(a);
}
END_TEST

START_TEST(names_and_folders)
{
	Arena *a = arena_new();
	static const struct {
		const char *model, *want;
	} rows[] = {
		{ "resnet81", "is no file and no network of the zoo; did you mean resnet18" },
		{ "/nonexistent/x.onnx", "no such file" },
		{ "/", "is a folder, not a model file" },
		{ "/dev/null", "/dev/null" },
	};
	for (int k = 0; k < LEN(rows); k++) {
		Err err = { 0 };
		char all[3000];
		ck_assert(frontend_load(a, rows[k].model, NULL, &err) == NULL);
		err_format(&err, all, sizeof all);
		ck_assert_msg(strstr(all, rows[k].want) != NULL, "%s", all);
	}
	save_bytes(in_folder(a, "saved_model.pb"), "x", 1);
	Err err = { 0 };
	ck_assert(frontend_load(a, folder, NULL, &err) == NULL);
	ck_assert_msg(strstr(err.text, "is a TensorFlow SavedModel") != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

/* ---- the zoo: torchvision's numbers of weights, and of multiply-adds */

static const struct {
	const char *name;
	int64_t weights; /* torchvision's, with the batch norms' running statistics */
	double gflop;
} zoo[] = {
	{ "resnet18", 11699112, 3.63 },
	{ "resnet50", 25610152, 8.18 },
	{ "mobilenet_v2", 3538984, 0.6 },
	{ "squeezenet1_1", 1235496, 0.7 },
};

START_TEST(zoo_networks)
{
	Arena *a = arena_new();
	Err err = { 0 };
	int n;
	const ZooRow *rows = frontend_zoo(&n);
	ck_assert_int_eq(n, LEN(zoo));
	ck_assert_str_eq(rows[_i].name, zoo[_i].name);
	Dag *d = frontend_load(a, zoo[_i].name, NULL, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	ck_assert_msg(dag_check(d, &err), "%s", err.text);
	int64_t weights = 0;
	for (size_t k = 0; k < d->value.n; k++)
		if (d->value.at[k].kind == VALUE_CONST)
			weights += shape_elements(d->value.at[k].shape);
	ck_assert_int_eq(weights, zoo[_i].weights);
	ck_assert_double_eq_tol(dag_flops(d) / 1e9, zoo[_i].gflop, 0.1);
	const Value *in = &d->value.at[d->input.at[0]], *out = &d->value.at[d->output.at[0]];
	ck_assert_str_eq(in->name, "data");
	ck_assert_str_eq(out->name, "out");
	ck_assert(shape_eq(out->shape, (Shape){ 2, { 1, 1000 } }));
	if (weights >
		10000000) { /* drawing them takes a while, and the shapes are the architecture's */
		arena_free(a);
		return;
	}
	ShapeArg shape = { "data", { 4, { 2, 3, 160, 192 } } };
	d = frontend_load(a, zoo[_i].name, &(ModelArgs){ .shape = &shape, .nshape = 1 }, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	d = frontend_load(a, zoo[_i].name, &(ModelArgs){ .batch = 99999999999 }, &err);
	ck_assert(d == NULL && err.code == ERR_MEMORY);
	arena_free(a);
}
END_TEST

/* ---- the writer */

static void fill(Rng *r, const Value *v, void *data)
{
	for (int64_t k = 0; k < shape_elements(v->shape); k++)
		element_set(v->type, data, k,
			v->type.kind == DT_BOOL   ? (double)rng_below(r, 2)
			: dtype_is_float(v->type) ? rng_normal(r)
						  : (double)rng_range(r, 1, 9));
}

/* Values equal within rounding: batch norms and pads may come back as other calls. */
static void same_results(Arena *a, const Dag *d, const Dag *e)
{
	Err err = { 0 };
	Rng r = rng_seed(99);
	const void **in = arena_array(a, const void *, d->input.n + 1);
	ck_assert_uint_eq(d->input.n, e->input.n);
	ck_assert_uint_eq(d->output.n, e->output.n);
	for (size_t k = 0; k < d->input.n; k++) {
		const Value *v = &d->value.at[d->input.at[k]];
		void *data = arena_alloc_aligned(a, (size_t)value_bytes(v) + 1, 64);
		fill(&r, v, data);
		in[k] = data;
		ck_assert_str_eq(v->name, e->value.at[e->input.at[k]].name);
	}
	void **x = evaluate(a, d, in, &err), **y = evaluate(a, e, in, &err);
	ck_assert_msg(x != NULL && y != NULL, "%s: %s", err.place, err.text);
	for (size_t k = 0; k < d->output.n; k++) {
		const Value *v = &d->value.at[d->output.at[k]], *w = &e->value.at[e->output.at[k]];
		ck_assert_str_eq(v->name, w->name);
		ck_assert(dtype_eq(v->type, w->type) && shape_eq(v->shape, w->shape));
		for (int64_t i = 0; i < shape_elements(v->shape); i++) {
			double p = element_get(v->type, x[k], i), q = element_get(v->type, y[k], i);
			ck_assert_msg(p == q || fabs(p - q) <= 1e-6 * (1 + fabs(p)) ||
					      (isnan(p) && isnan(q)),
				"%s[%lld]: %g and %g", v->name, (long long)i, p, q);
		}
	}
}

static Dag *written_and_read(Arena *a, const Dag *d, Err *err)
{
	Text out = { .arena = a };
	const char *path = in_folder(a, "written.onnx");
	if (!frontend_write_onnx(&out, d, err))
		return NULL;
	save_bytes(path, text_str(&out), out.n);
	return frontend_load(a, path, NULL, err);
}

START_TEST(written_models_compute_the_same)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_text(a, become[_i].model, NULL, &err);
	ck_assert(d != NULL);
	Dag *back = written_and_read(a, d, &err);
	ck_assert_msg(back != NULL, "%s: %s", err.place, err.text);
	same_results(a, d, back);
	arena_free(a);
}
END_TEST

/*
 * Forms that no ONNX node has: transposed operands, dense of more dimensions, both kinds of
 * bounds.
 */
static const char *const dags[] = {
	"dag t\nin a: f32[3,2]\nin b: f32[4,3]\ny: f32[2,4] = matmul(a, b) ta=1 tb=1\nout y\n",
	"dag t\nin a: f32[2,3,2]\nin b: f32[2,3,5]\ny: f32[2,2,5] = matmul(a, b) ta=1\nout y\n",
	"dag t\nin a: f32[2,3,4]\nin w: f32[5,4]\nin b: f32[5]\ny: f32[2,3,5] = dense(a, w, "
	"b)\nout y\n",
	"dag t\nin a: f32[2,3,4]\nin w: f32[5,4]\ny: f32[2,3,5] = dense(a, w)\nout y\n",
	"dag t\nin x: f32[9]\nin l: f32[]\ny: f32[9] = clip(x, l) hi=2 lo=-0.25\nout y\n",
	"dag t\nin x: f32[1,2,7]\ny: f32[1,2,4] = avg_pool(x) ceil=1 count_pad=1 kernel=[3] "
	"pads=[1,0] strides=[2]\nout y\n",
	"dag t\nin x: f32[1,2,8]\ny: f32[1,2,5] = avg_pool(x) ceil=1 kernel=[2] pads=[1,1] "
	"strides=[2]\nout y\n",
	"dag t\nin x: f32[1,2,8]\ny: f32[1,2,4] = max_pool(x) ceil=1 dilations=[2] kernel=[2] "
	"strides=[2]\nout y\n",
	"dag t\nin x: f32[1,2,8]\ny: f32[1,2,6] = avg_pool(x) dilations=[2] kernel=[2]\nout y\n",
	"dag t\nin x: f32[5]\ny: f32[9] = pad(x) mode=wrap pads=[2,2]\nout y\n",
	"dag t\nin x: f32[5,4]\ny: f32[4,4] = pad(x) pads=[-1,2,0,-2] value=3\nout y\n",
	"dag t\nin x: f32[5,4]\ny: f32[3,2] = slice(x) sizes=[3,2] starts=[4,1] steps=[-2,1]\nout "
	"y\n",
	"dag t\nin x: bool[3,4]\ny: bool[3,1] = reduce_min(x) axes=[1]\nout y\n",
	"dag t\nin x: f32[3,4]\ny: f32[] = reduce_max(x) keep=0\nout y\n",
	"dag t\nin x: f32[3,4]\ny: f32[3,4] = relu(x)\nout y, y, x\n",
	"dag t\nin x: i8[4]\ny: f32[4] = cast(x) to=\"f32\"\nout y\n",
	"dag t\nin x: f32[2,6]\na: f32[2,0], b: f32[2,6] = split(x) axis=1 sizes=[0,6]\nout a, b\n",
};

START_TEST(written_dags_compute_the_same)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = dag_parse(a, "test", dags[_i], strlen(dags[_i]), &err);
	ck_assert_msg(d != NULL, "%s: %s", err.place, err.text);
	Dag *back = written_and_read(a, d, &err);
	ck_assert_msg(back != NULL, "%s: %s", err.place, err.text);
	if (_i != 14) /* results listed twice get names of their own */
		same_results(a, d, back);
	else
		ck_assert_uint_eq(back->output.n, 3);
	arena_free(a);
}
END_TEST

START_TEST(a_layout_is_not_written)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_text(a, one_init, NULL, &err);
	d->value.at[0].layout = "NCHW16c";
	Text out = { .arena = a };
	ck_assert(!frontend_write_onnx(&out, d, &err));
	ck_assert_msg(strstr(err.text, "NCHW16c") != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

/* A model cut anywhere or with a bit turned: a sentence or a Dag, never a crash. */
START_TEST(damaged_models)
{
	Rng r = rng_seed(5);
	for (int k = 0; k < 400; k++) {
		Arena *a = arena_new();
		Err err = { 0 };
		Text out = { .arena = a };
		wire_write(&out, &OnnxModel_message, model_text(a, become[k % LEN(become)].model));
		unsigned char *bytes = arena_copy(a, out.at, out.n);
		size_t n = k % 3 == 0 ? (size_t)rng_below(&r, out.n) : out.n;
		for (int i = 0; i < k % 5; i++)
			bytes[rng_below(&r, out.n)] ^= (unsigned char)(1u << rng_below(&r, 8));
		const char *path = in_folder(a, "damaged.onnx");
		save_bytes(path, bytes, n);
		Dag *d = frontend_load(a, path, NULL, &err);
		ck_assert((d == NULL) == (err.code != ERR_NONE));
		if (d == NULL)
			ck_assert_msg(err_exit_code(err.code) == 1, "%s: %s", err_name(err.code),
				err.text);
		arena_free(a);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("frontend");
	tcase_add_checked_fixture(tc, make_folder, remove_folder);
	tcase_add_loop_test(tc, models_become_dags, 0, LEN(become));
	tcase_add_loop_test(tc, models_are_refused, 0, LEN(refused));
	tcase_add_loop_test(tc, external_data, 0, LEN(externals));
	tcase_add_loop_test(tc, typed_data, 0, LEN(typed));
	tcase_add_loop_test(tc, broken_tensors, 0, LEN(broken));
	tcase_add_test(tc, symbols_get_numbers);
	tcase_add_test(tc, inputs_are_bound);
	tcase_add_loop_test(tc, wrong_arguments, 0, LEN(wrong_args));
	tcase_add_loop_test(tc, formats_by_content, 0, LEN(formats));
	tcase_add_test(tc, names_and_folders);
	tcase_add_loop_test(tc, zoo_networks, 0, LEN(zoo));
	tcase_add_loop_test(tc, written_models_compute_the_same, 0, LEN(become));
	tcase_add_loop_test(tc, written_dags_compute_the_same, 0, LEN(dags));
	tcase_add_test(tc, a_layout_is_not_written);
	tcase_add_test(tc, damaged_models);
	return run_suite("frontend", tc);
}
