dag a
in x: f32[2,8]
y: f32[2,8] = softmax(x)
out y
--- naive
workspace 256 bytes, largest live set 256
layout moves 0 of inputs, 0 of outputs
0 call task 0 k (softmax 2x8) x:input0[64] y:output0[64] v1.max:work+64[8] v1.exp:work+0[64] v1.sum:work+128[8] v1.inverse:work+192[8]
===
dag chain
in x: f32[6,24]
a: f32[24,6] = transpose(x) perm=[1,0]
b: f32[6,24] = transpose(a) perm=[1,0]
c: f32[24,6] = transpose(b) perm=[1,0]
d: f32[6,24] = transpose(c) perm=[1,0]
e: f32[24,6] = transpose(d) perm=[1,0]
out e
--- naive
workspace 1152 bytes, largest live set 1152
layout moves 1 of inputs, 1 of outputs
0 call task 0 k (transpose 24x6) x:input0[576] a:work+0[576]
1 call task 1 k (transpose 6x24) a:work+0[576] b:work+576[576]
2 call task 0 k (transpose 24x6) b:work+576[576] c:work+0[576]
3 call task 1 k (transpose 6x24) c:work+0[576] d:work+576[576]
4 call task 0 k (transpose 24x6) d:work+576[576] e:output0[576]
===
dag view
in x: f32[4,6]
y: f32[6,4] = transpose(x) perm=[1,0]
z: f32[24] = reshape(y) shape=[24]
out z
--- naive
workspace 0 bytes, largest live set 0
layout moves 1 of inputs, 1 of outputs
0 call task 0 k (transpose 6x4) x:input0[96] y:output0[96]
===
dag views
in x: f32[4,6]
y: f32[24] = reshape(x) shape=[24]
z: f32[24] = relu(y)
u: f32[2,12] = reshape(z) shape=[2,12]
v: f32[12,2] = transpose(u) perm=[1,0]
out u, v, z
--- naive
workspace 0 bytes, largest live set 0
layout moves 0 of inputs, 1 of outputs
0 call task 0 k (relu 24) y:input0[96] z:output0[96]
1 call task 1 k (transpose 12x2) u:output0[96] v:output1[96]
2 copy z:output2[96] z:output0[96]
===
dag asis
in x: f32[3]
const w: f32[2] = {1, 2}
y: f32[3] = identity(x)
out x, w, y, x
--- naive
workspace 0 bytes, largest live set 0
layout moves 0 of inputs, 0 of outputs
0 copy x:output0[12] x:input0[12]
1 copy w:output1[8] w:const[8]
2 copy y:output2[12] y:input0[12]
3 copy x:output3[12] x:input0[12]
===
dag residual
in x: f32[4,4]
a: f32[4,4] = transpose(x) perm=[1,0]
b: f32[4,4] = transpose(a) perm=[1,0]
c: f32[4,4] = matmul(b, a)
d: f32[4,4] = softmax(c)
e: f32[4,4] = matmul(d, a)
out e
--- naive
workspace 448 bytes, largest live set 448
layout moves 1 of inputs, 0 of outputs
0 call task 0 k (transpose 4x4) x:input0[64] a:work+0[64]
1 call task 0 k (transpose 4x4) a:work+0[64] b:work+64[64]
2 call task 1 k (matmul 4x4 by 4x4) b:work+64[64] a:work+0[64] c:work+128[64]
3 call task 2 k (softmax 4x4) c:work+128[64] d:work+64[64] v1.max:work+256[16] v1.exp:work+192[64] v1.sum:work+320[16] v1.inverse:work+384[16]
4 call task 1 k (matmul 4x4 by 4x4) d:work+64[64] a:work+0[64] e:output0[64]
===
dag same
in x: f32[3,5]
const w: f32[5] = {1, 2, 3, 4, 5}
a: f32[3,5] = softmax(x)
b: f32[3,5] = softmax(a) axis=0
c: f32[3,5] = mul(b, w)
out c, c
--- naive
workspace 384 bytes, largest live set 384
layout moves 0 of inputs, 0 of outputs
0 call task 0 k (softmax 3x5) x:input0[60] a:work+0[60] v1.max:work+128[12] v1.exp:work+64[60] v1.sum:work+192[12] v1.inverse:work+256[12]
1 call task 1 k (softmax 3x5 +mul) a:work+0[60] w:const[20] c:output0[60] v1:work+64[60] v1.max:work+192[20] v1.exp:work+128[60] v1.sum:work+256[20] v1.inverse:work+320[20]
2 copy c:output1[60] c:output0[60]
===
dag nodata
in x: f32[3,5]
const w: f32[5]
c: f32[3,5] = mul(x, w)
out c
--- naive
! w: the constant has no data
===
dag large
in x: f32[1048576,1048576,8]
a: f32[8,1048576,1048576] = transpose(x) perm=[2,1,0]
b: f32[8,1048576,1048576] = softmax(a)
out b
--- naive
! a: it is larger than the memory of any machine
===
dag expand
in x: f32[1,16,4,4]
s: f32[1,16,4,4]:NCHW16c = neg(x)
a: f32[1,16,4,4]:NCHW16c = exp(s)
b: f32[1,32,4,4]:NCHW16c = concat(s, a) axis=1
c: f32[1,48,4,4]:NCHW16c = concat(b, s) axis=1
y: f32[1,48,4,4] = neg(c)
out y
--- naive
workspace 3072 bytes, largest live set 3072
layout moves 0 of inputs, 0 of outputs
0 call task 0 k (neg 1x16x4x4) x:input0[1024] s:work+0[1024 NCHW16c]
1 call task 1 k (exp 1x16x4x4) s:work+0[1024 NCHW16c] a:work+1024[1024 NCHW16c]
2 copy c:work+2048[1024 NCHW16c] s:work+0[1024 NCHW16c]
3 call task 2 k (neg 1x48x4x4) c:work+0[3072 NCHW16c] y:output0[3072]
===
dag parts
in x: f32[4,16]
a: f32[4,16] = neg(x)
b: f32[4,16] = exp(x)
c: f32[8,16] = concat(a, b) axis=0
d: f32[16,16] = concat(c, x, a) axis=0
e: f32[4,16] = tanh(a)
out d, e, b
--- naive
workspace 0 bytes, largest live set 0
layout moves 0 of inputs, 0 of outputs
0 call task 0 k (neg 4x16) x:input0[256] a:output0[256]
1 call task 1 k (exp 4x16) x:input0[256] b:output0+256[256]
2 copy d:output0+512[256] x:input0[256]
3 copy d:output0+768[256] a:output0[256]
4 call task 2 k (tanh 4x16) a:output0[256] e:output1[256]
5 copy b:output2[256] b:output0+256[256]
===
dag cut
in x: f32[4,16]
a: f32[1,16], b: f32[3,16] = split(x) sizes=[1,3]
c: f32[2,16] = slice(b) sizes=[2,16] starts=[1,0]
d: f32[2,8] = slice(c) sizes=[2,8] starts=[0,4]
e: f32[1,16] = neg(a)
f: f32[5,16] = concat(e, b, e) axis=0
out f, c, d
--- naive
workspace 0 bytes, largest live set 0
layout moves 0 of inputs, 0 of outputs
0 call task 0 k (slice 2x8) c:input0+128[128] d:output2[64]
1 call task 1 k (neg 1x16) a:input0[64] e:output0[64]
2 copy f:output0+64[192] b:input0+64[192]
3 copy f:output0+256[64] e:output0[64]
4 copy c:output1[128] c:input0+128[128]
===
dag dense
in x: f32[4,16]
a: f32[4,16] = neg(x)
b: f32[4,16] = exp(a)
ab: f32[8,16] = concat(a, b) axis=0
c: f32[4,16] = slice(ab) sizes=[4,16] starts=[3,0]
d: f32[4,16] = exp(c)
abd: f32[12,16] = concat(a, b, d) axis=0
e: f32[4,16] = slice(abd) sizes=[4,16] starts=[7,0]
f: f32[4,16] = exp(e)
abdf: f32[16,16] = concat(a, b, d, f) axis=0
ba: f32[8,16] = concat(b, a) axis=0
y: f32[16,16] = neg(abdf)
z: f32[8,16] = exp(ba)
out y, z
--- naive
workspace 1536 bytes, largest live set 1536
layout moves 0 of inputs, 0 of outputs
0 call task 0 k (neg 4x16) x:input0[256] a:work+0[256]
1 call task 1 k (exp 4x16) a:work+0[256] b:work+256[256]
2 call task 1 k (exp 4x16) c:work+192[256] d:work+512[256]
3 call task 1 k (exp 4x16) e:work+448[256] f:work+768[256]
4 call task 2 k (concat 8x16) b:work+256[256] a:work+0[256] ba:work+1024[512]
5 call task 3 k (neg 16x16) abdf:work+0[1024] y:output0[1024]
6 call task 4 k (exp 8x16) ba:work+1024[512] z:output1[512]
===
