dag a
in x: f32[2,8]
y: f32[2,8] = softmax(x)
out y
--- naive
workspace 192 bytes, largest live set 192
0 call task 0 k (softmax 2x8) x:input0[64] y:output0[64] v1.max:work+64[8] v1.exp:work+0[64] v1.sum:work+128[8]
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
0 call task 1 k (relu 24) x:input0[96] z:output0[96]
1 call task 3 k (transpose 12x2) z:output0[96] v:output1[96]
2 copy z:output2[96] z:output0[96]
===
dag asis
in x: f32[3]
const w: f32[2] = {1, 2}
y: f32[3] = identity(x)
out x, w, y, x
--- naive
workspace 0 bytes, largest live set 0
0 copy x:output0[12] x:input0[12]
1 copy w:output1[8] w:const[8]
2 copy y:output2[12] x:input0[12]
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
workspace 384 bytes, largest live set 384
0 call task 0 k (transpose 4x4) x:input0[64] a:work+0[64]
1 call task 0 k (transpose 4x4) a:work+0[64] b:work+64[64]
2 call task 1 k (matmul 4x4 by 4x4) b:work+64[64] a:work+0[64] c:work+128[64]
3 call task 2 k (softmax 4x4) c:work+128[64] d:work+64[64] v1.max:work+256[16] v1.exp:work+192[64] v1.sum:work+320[16]
4 call task 1 k (matmul 4x4 by 4x4) d:work+64[64] a:work+0[64] e:output0[64]
===
dag same
in x: f32[3,5]
const w: f32[5] = {1, 2, 3, 4, 5}
a: f32[3,5] = softmax(x)
b: f32[3,5] = softmax(a)
c: f32[3,5] = mul(b, w)
out c, c
--- naive
workspace 320 bytes, largest live set 320
0 call task 0 k (softmax 3x5) x:input0[60] a:work+0[60] v1.max:work+128[12] v1.exp:work+64[60] v1.sum:work+192[12]
1 call task 1 k (softmax 3x5 +mul) a:work+0[60] w:const[20] c:output0[60] v1:work+64[60] v1.max:work+192[12] v1.exp:work+128[60] v1.sum:work+256[12]
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
! a: its size is beyond the memory of any machine
===
