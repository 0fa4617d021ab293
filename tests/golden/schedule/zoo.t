dag
in v0: f32[1,3,224,224]
const c0: f32[64,3,3,3]
const c1: f32[64]
v1: f32[1,64,111,111] = conv(v0, c0, c1) strides=[2,2]
v2: f32[1,64,111,111] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
5b1b8f853ab9
===
dag
in v0: f32[1,64,111,111]
v1: f32[1,64,55,55] = max_pool(v0) kernel=[3,3] strides=[2,2]
out v1
--- split w 8; reorder n c h w.o kh kw w.i; unroll kw; vectorize w.i; parallel c
ef2963bfb0e4
===
dag
in v0: f32[1,64,55,55]
const c0: f32[16,64,1,1]
const c1: f32[16]
v1: f32[1,16,55,55] = conv(v0, c0, c1)
v2: f32[1,16,55,55] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
029766f7c6b1
===
dag
in v0: f32[1,16,55,55]
const c0: f32[64,16,1,1]
const c1: f32[64]
v1: f32[1,64,55,55] = conv(v0, c0, c1)
v2: f32[1,64,55,55] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
1918815b621c
===
dag
in v0: f32[1,16,55,55]
const c0: f32[64,16,3,3]
const c1: f32[64]
v1: f32[1,64,55,55] = conv(v0, c0, c1) pads=[1,1,1,1]
v2: f32[1,64,55,55] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
b63708b43d34
===
dag
in v0: f32[1,64,55,55]
in v1: f32[1,64,55,55]
v2: f32[1,128,55,55] = concat(v0, v1) axis=1
out v2
--- split w 8; reorder n c h w.o w.i; vectorize w.i; parallel c; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
9d3602baeae7
===
dag
in v0: f32[1,128,55,55]
const c0: f32[16,128,1,1]
const c1: f32[16]
v1: f32[1,16,55,55] = conv(v0, c0, c1)
v2: f32[1,16,55,55] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
40b1275c8962
===
dag
in v0: f32[1,128,55,55]
v1: f32[1,128,27,27] = max_pool(v0) kernel=[3,3] strides=[2,2]
out v1
--- split w 8; reorder n c h w.o kh kw w.i; unroll kw; vectorize w.i; parallel c
cf79b1e228de
===
dag
in v0: f32[1,128,27,27]
const c0: f32[32,128,1,1]
const c1: f32[32]
v1: f32[1,32,27,27] = conv(v0, c0, c1)
v2: f32[1,32,27,27] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
db1f3499590e
===
dag
in v0: f32[1,32,27,27]
const c0: f32[128,32,1,1]
const c1: f32[128]
v1: f32[1,128,27,27] = conv(v0, c0, c1)
v2: f32[1,128,27,27] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
d9c234e0ad31
===
dag
in v0: f32[1,32,27,27]
const c0: f32[128,32,3,3]
const c1: f32[128]
v1: f32[1,128,27,27] = conv(v0, c0, c1) pads=[1,1,1,1]
v2: f32[1,128,27,27] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
45d3ffbe5f96
===
dag
in v0: f32[1,128,27,27]
in v1: f32[1,128,27,27]
v2: f32[1,256,27,27] = concat(v0, v1) axis=1
out v2
--- split w 8; reorder n c h w.o w.i; vectorize w.i; parallel c; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
b0fb2be6ad44
===
dag
in v0: f32[1,256,27,27]
const c0: f32[32,256,1,1]
const c1: f32[32]
v1: f32[1,32,27,27] = conv(v0, c0, c1)
v2: f32[1,32,27,27] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
add1915fb3d4
===
dag
in v0: f32[1,256,27,27]
v1: f32[1,256,13,13] = max_pool(v0) kernel=[3,3] strides=[2,2]
out v1
--- split w 8; reorder n c h w.o kh kw w.i; unroll kw; vectorize w.i; parallel c
c6f2745ff1e0
===
dag
in v0: f32[1,256,13,13]
const c0: f32[48,256,1,1]
const c1: f32[48]
v1: f32[1,48,13,13] = conv(v0, c0, c1)
v2: f32[1,48,13,13] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
64563ce5c236
===
dag
in v0: f32[1,48,13,13]
const c0: f32[192,48,1,1]
const c1: f32[192]
v1: f32[1,192,13,13] = conv(v0, c0, c1)
v2: f32[1,192,13,13] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
17c85db1be4c
===
dag
in v0: f32[1,48,13,13]
const c0: f32[192,48,3,3]
const c1: f32[192]
v1: f32[1,192,13,13] = conv(v0, c0, c1) pads=[1,1,1,1]
v2: f32[1,192,13,13] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
a285be9fbe9a
===
dag
in v0: f32[1,192,13,13]
in v1: f32[1,192,13,13]
v2: f32[1,384,13,13] = concat(v0, v1) axis=1
out v2
--- split w 8; reorder n c h w.o w.i; vectorize w.i; parallel c; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
573b9753edee
===
dag
in v0: f32[1,384,13,13]
const c0: f32[48,384,1,1]
const c1: f32[48]
v1: f32[1,48,13,13] = conv(v0, c0, c1)
v2: f32[1,48,13,13] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
66c896f725cd
===
dag
in v0: f32[1,384,13,13]
const c0: f32[64,384,1,1]
const c1: f32[64]
v1: f32[1,64,13,13] = conv(v0, c0, c1)
v2: f32[1,64,13,13] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
353a5f7ca452
===
dag
in v0: f32[1,64,13,13]
const c0: f32[256,64,1,1]
const c1: f32[256]
v1: f32[1,256,13,13] = conv(v0, c0, c1)
v2: f32[1,256,13,13] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
61e63164b3bc
===
dag
in v0: f32[1,64,13,13]
const c0: f32[256,64,3,3]
const c1: f32[256]
v1: f32[1,256,13,13] = conv(v0, c0, c1) pads=[1,1,1,1]
v2: f32[1,256,13,13] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
346de61dd19c
===
dag
in v0: f32[1,256,13,13]
in v1: f32[1,256,13,13]
v2: f32[1,512,13,13] = concat(v0, v1) axis=1
out v2
--- split w 8; reorder n c h w.o w.i; vectorize w.i; parallel c; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
c9b44e4cde80
===
dag
in v0: f32[1,512,13,13]
const c0: f32[64,512,1,1]
const c1: f32[64]
v1: f32[1,64,13,13] = conv(v0, c0, c1)
v2: f32[1,64,13,13] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
f6789f2bf7ae
===
dag
in v0: f32[1,512,13,13]
const c0: f32[1000,512,1,1]
const c1: f32[1000]
v1: f32[1,1000,13,13] = conv(v0, c0, c1)
v2: f32[1,1000,13,13] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
561a7d0efe34
===
dag
in v0: f32[1,1000,13,13]
v1: f32[1,1000] = reduce_mean(v0) axes=[2,3] keep=0
out v1
--- split c 8; reorder n c.o h w c.i; vectorize c.i; parallel c.o; split n_1 8; reorder m n_1.o n_1.i; vectorize n_1.i; parallel n_1.o
6226b61b56ec
===
dag
in v0: f32[1,3,224,224]
const c0: f32[64,3,7,7]
const c1: f32[64]
v1: f32[1,64,112,112] = conv(v0, c0, c1) pads=[3,3,3,3] strides=[2,2]
v2: f32[1,64,112,112] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
ddc6d666882f
===
dag
in v0: f32[1,64,112,112]
v1: f32[1,64,56,56] = max_pool(v0) kernel=[3,3] pads=[1,1,1,1] strides=[2,2]
out v1
--- split w 8; reorder n c h w.o kh kw w.i; unroll kw; vectorize w.i; parallel c
de5a07a95f0e
===
dag
in v0: f32[1,64,56,56]
const c0: f32[64,64,3,3]
const c1: f32[64]
v1: f32[1,64,56,56] = conv(v0, c0, c1) pads=[1,1,1,1]
v2: f32[1,64,56,56] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
44aa2f1e3659
===
dag
in v0: f32[1,64,56,56]
in v1: f32[1,64,56,56]
const c0: f32[64,64,3,3]
const c1: f32[64]
v2: f32[1,64,56,56] = conv(v0, c0, c1) pads=[1,1,1,1]
v3: f32[1,64,56,56] = add(v2, v1)
v4: f32[1,64,56,56] = relu(v3)
out v4
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1; split w_2 8; reorder n_2 c_2 h_2 w_2.o w_2.i; vectorize w_2.i; parallel c_2
0345c99781b5
===
dag
in v0: f32[1,64,56,56]
const c0: f32[128,64,3,3]
const c1: f32[128]
v1: f32[1,128,28,28] = conv(v0, c0, c1) pads=[1,1,1,1] strides=[2,2]
v2: f32[1,128,28,28] = relu(v1)
out v2
--- split w 4; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 4; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
4478c0f6deab
===
dag
in v0: f32[1,128,28,28]
const c0: f32[128,128,3,3]
const c1: f32[128]
v1: f32[1,128,28,28] = conv(v0, c0, c1) pads=[1,1,1,1]
out v1
--- split w 4; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o
2d784ca6950d
===
dag
in v0: f32[1,64,56,56]
in v1: f32[1,128,28,28]
const c0: f32[128,64,1,1]
const c1: f32[128]
v2: f32[1,128,28,28] = conv(v0, c0, c1) strides=[2,2]
v3: f32[1,128,28,28] = add(v2, v1)
v4: f32[1,128,28,28] = relu(v3)
out v4
--- split w 4; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 4; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1; split w_2 4; reorder n_2 c_2 h_2 w_2.o w_2.i; vectorize w_2.i; parallel c_2
1a637d59d10b
===
dag
in v0: f32[1,128,28,28]
const c0: f32[128,128,3,3]
const c1: f32[128]
v1: f32[1,128,28,28] = conv(v0, c0, c1) pads=[1,1,1,1]
v2: f32[1,128,28,28] = relu(v1)
out v2
--- split w 4; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 4; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
4e8fed03edd6
===
dag
in v0: f32[1,128,28,28]
in v1: f32[1,128,28,28]
const c0: f32[128,128,3,3]
const c1: f32[128]
v2: f32[1,128,28,28] = conv(v0, c0, c1) pads=[1,1,1,1]
v3: f32[1,128,28,28] = add(v2, v1)
v4: f32[1,128,28,28] = relu(v3)
out v4
--- split w 4; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 4; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1; split w_2 4; reorder n_2 c_2 h_2 w_2.o w_2.i; vectorize w_2.i; parallel c_2
e2beff00ab3f
===
dag
in v0: f32[1,128,28,28]
const c0: f32[256,128,3,3]
const c1: f32[256]
v1: f32[1,256,14,14] = conv(v0, c0, c1) pads=[1,1,1,1] strides=[2,2]
v2: f32[1,256,14,14] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
cc7cfb413c10
===
dag
in v0: f32[1,256,14,14]
const c0: f32[256,256,3,3]
const c1: f32[256]
v1: f32[1,256,14,14] = conv(v0, c0, c1) pads=[1,1,1,1]
out v1
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o
b917938428cc
===
dag
in v0: f32[1,128,28,28]
in v1: f32[1,256,14,14]
const c0: f32[256,128,1,1]
const c1: f32[256]
v2: f32[1,256,14,14] = conv(v0, c0, c1) strides=[2,2]
v3: f32[1,256,14,14] = add(v2, v1)
v4: f32[1,256,14,14] = relu(v3)
out v4
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1; split w_2 8; reorder n_2 c_2 h_2 w_2.o w_2.i; vectorize w_2.i; parallel c_2
d47efcab4890
===
dag
in v0: f32[1,256,14,14]
const c0: f32[256,256,3,3]
const c1: f32[256]
v1: f32[1,256,14,14] = conv(v0, c0, c1) pads=[1,1,1,1]
v2: f32[1,256,14,14] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
47d8c2030e93
===
dag
in v0: f32[1,256,14,14]
in v1: f32[1,256,14,14]
const c0: f32[256,256,3,3]
const c1: f32[256]
v2: f32[1,256,14,14] = conv(v0, c0, c1) pads=[1,1,1,1]
v3: f32[1,256,14,14] = add(v2, v1)
v4: f32[1,256,14,14] = relu(v3)
out v4
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1; split w_2 8; reorder n_2 c_2 h_2 w_2.o w_2.i; vectorize w_2.i; parallel c_2
914a4a016320
===
dag
in v0: f32[1,256,14,14]
const c0: f32[512,256,3,3]
const c1: f32[512]
v1: f32[1,512,7,7] = conv(v0, c0, c1) pads=[1,1,1,1] strides=[2,2]
v2: f32[1,512,7,7] = relu(v1)
out v2
--- reorder n o h c kh kw w; unroll kw; vectorize w; parallel o; reorder n_1 c_1 h_1 w_1; vectorize w_1; parallel c_1
f7104152fe41
===
dag
in v0: f32[1,512,7,7]
const c0: f32[512,512,3,3]
const c1: f32[512]
v1: f32[1,512,7,7] = conv(v0, c0, c1) pads=[1,1,1,1]
out v1
--- reorder n o h c kh kw w; unroll kw; vectorize w; parallel o
26482cda40a5
===
dag
in v0: f32[1,256,14,14]
in v1: f32[1,512,7,7]
const c0: f32[512,256,1,1]
const c1: f32[512]
v2: f32[1,512,7,7] = conv(v0, c0, c1) strides=[2,2]
v3: f32[1,512,7,7] = add(v2, v1)
v4: f32[1,512,7,7] = relu(v3)
out v4
--- reorder n o h c kh kw w; unroll kw; vectorize w; parallel o; reorder n_1 c_1 h_1 w_1; vectorize w_1; parallel c_1; reorder n_2 c_2 h_2 w_2; vectorize w_2; parallel c_2
072842fddee3
===
dag
in v0: f32[1,512,7,7]
const c0: f32[512,512,3,3]
const c1: f32[512]
v1: f32[1,512,7,7] = conv(v0, c0, c1) pads=[1,1,1,1]
v2: f32[1,512,7,7] = relu(v1)
out v2
--- reorder n o h c kh kw w; unroll kw; vectorize w; parallel o; reorder n_1 c_1 h_1 w_1; vectorize w_1; parallel c_1
e188a57bc16e
===
dag
in v0: f32[1,512,7,7]
in v1: f32[1,512,7,7]
const c0: f32[512,512,3,3]
const c1: f32[512]
v2: f32[1,512,7,7] = conv(v0, c0, c1) pads=[1,1,1,1]
v3: f32[1,512,7,7] = add(v2, v1)
v4: f32[1,512,7,7] = relu(v3)
out v4
--- reorder n o h c kh kw w; unroll kw; vectorize w; parallel o; reorder n_1 c_1 h_1 w_1; vectorize w_1; parallel c_1; reorder n_2 c_2 h_2 w_2; vectorize w_2; parallel c_2
6ad5d93a8ed0
===
dag
in v0: f32[1,512,7,7]
v1: f32[1,512] = reduce_mean(v0) axes=[2,3] keep=0
out v1
--- split c 8; reorder n c.o h w c.i; unroll w; vectorize c.i; parallel c.o; split n_1 8; reorder m n_1.o n_1.i; vectorize n_1.i; parallel n_1.o
4116420c271d
===
dag
in v0: f32[1,512]
const c0: f32[1000,512]
const c1: f32[1000]
v1: f32[1,1000] = dense(v0, c0, c1)
out v1
--- split n 8; reorder m n.o k n.i; vectorize n.i; parallel n.o
f0720a4a96e8
===
dag
in v0: f32[1,64,56,56]
const c0: f32[64,64,1,1]
const c1: f32[64]
v1: f32[1,64,56,56] = conv(v0, c0, c1)
v2: f32[1,64,56,56] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
a9191fe439cd
===
dag
in v0: f32[1,64,56,56]
const c0: f32[256,64,1,1]
const c1: f32[256]
v1: f32[1,256,56,56] = conv(v0, c0, c1)
out v1
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o
01a6cecdd890
===
dag
in v0: f32[1,64,56,56]
in v1: f32[1,256,56,56]
const c0: f32[256,64,1,1]
const c1: f32[256]
v2: f32[1,256,56,56] = conv(v0, c0, c1)
v3: f32[1,256,56,56] = add(v2, v1)
v4: f32[1,256,56,56] = relu(v3)
out v4
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1; split w_2 8; reorder n_2 c_2 h_2 w_2.o w_2.i; vectorize w_2.i; parallel c_2
3baac9ecd3c7
===
dag
in v0: f32[1,256,56,56]
const c0: f32[64,256,1,1]
const c1: f32[64]
v1: f32[1,64,56,56] = conv(v0, c0, c1)
v2: f32[1,64,56,56] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
abb540d47c7f
===
dag
in v0: f32[1,256,56,56]
const c0: f32[128,256,1,1]
const c1: f32[128]
v1: f32[1,128,56,56] = conv(v0, c0, c1)
v2: f32[1,128,56,56] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
bc4d01e28421
===
dag
in v0: f32[1,128,56,56]
const c0: f32[128,128,3,3]
const c1: f32[128]
v1: f32[1,128,28,28] = conv(v0, c0, c1) pads=[1,1,1,1] strides=[2,2]
v2: f32[1,128,28,28] = relu(v1)
out v2
--- split w 4; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 4; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
b94e8fa8d7ea
===
dag
in v0: f32[1,128,28,28]
const c0: f32[512,128,1,1]
const c1: f32[512]
v1: f32[1,512,28,28] = conv(v0, c0, c1)
out v1
--- split w 4; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o
b0e1ec93c91d
===
dag
in v0: f32[1,256,56,56]
in v1: f32[1,512,28,28]
const c0: f32[512,256,1,1]
const c1: f32[512]
v2: f32[1,512,28,28] = conv(v0, c0, c1) strides=[2,2]
v3: f32[1,512,28,28] = add(v2, v1)
v4: f32[1,512,28,28] = relu(v3)
out v4
--- split w 4; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 4; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1; split w_2 4; reorder n_2 c_2 h_2 w_2.o w_2.i; vectorize w_2.i; parallel c_2
182c72f80683
===
dag
in v0: f32[1,512,28,28]
const c0: f32[128,512,1,1]
const c1: f32[128]
v1: f32[1,128,28,28] = conv(v0, c0, c1)
v2: f32[1,128,28,28] = relu(v1)
out v2
--- split w 4; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 4; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
b6d9b710f2b3
===
dag
in v0: f32[1,128,28,28]
in v1: f32[1,512,28,28]
const c0: f32[512,128,1,1]
const c1: f32[512]
v2: f32[1,512,28,28] = conv(v0, c0, c1)
v3: f32[1,512,28,28] = add(v2, v1)
v4: f32[1,512,28,28] = relu(v3)
out v4
--- split w 4; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 4; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1; split w_2 4; reorder n_2 c_2 h_2 w_2.o w_2.i; vectorize w_2.i; parallel c_2
769f653eb259
===
dag
in v0: f32[1,512,28,28]
const c0: f32[256,512,1,1]
const c1: f32[256]
v1: f32[1,256,28,28] = conv(v0, c0, c1)
v2: f32[1,256,28,28] = relu(v1)
out v2
--- split w 4; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 4; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
964207f4a939
===
dag
in v0: f32[1,256,28,28]
const c0: f32[256,256,3,3]
const c1: f32[256]
v1: f32[1,256,14,14] = conv(v0, c0, c1) pads=[1,1,1,1] strides=[2,2]
v2: f32[1,256,14,14] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
967dc9f933ab
===
dag
in v0: f32[1,256,14,14]
const c0: f32[1024,256,1,1]
const c1: f32[1024]
v1: f32[1,1024,14,14] = conv(v0, c0, c1)
out v1
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o
3534e9a1fb46
===
dag
in v0: f32[1,512,28,28]
in v1: f32[1,1024,14,14]
const c0: f32[1024,512,1,1]
const c1: f32[1024]
v2: f32[1,1024,14,14] = conv(v0, c0, c1) strides=[2,2]
v3: f32[1,1024,14,14] = add(v2, v1)
v4: f32[1,1024,14,14] = relu(v3)
out v4
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1; split w_2 8; reorder n_2 c_2 h_2 w_2.o w_2.i; vectorize w_2.i; parallel c_2
f9d9c5b22ef7
===
dag
in v0: f32[1,1024,14,14]
const c0: f32[256,1024,1,1]
const c1: f32[256]
v1: f32[1,256,14,14] = conv(v0, c0, c1)
v2: f32[1,256,14,14] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
717baaf90f71
===
dag
in v0: f32[1,256,14,14]
in v1: f32[1,1024,14,14]
const c0: f32[1024,256,1,1]
const c1: f32[1024]
v2: f32[1,1024,14,14] = conv(v0, c0, c1)
v3: f32[1,1024,14,14] = add(v2, v1)
v4: f32[1,1024,14,14] = relu(v3)
out v4
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1; split w_2 8; reorder n_2 c_2 h_2 w_2.o w_2.i; vectorize w_2.i; parallel c_2
7435246f3b2b
===
dag
in v0: f32[1,1024,14,14]
const c0: f32[512,1024,1,1]
const c1: f32[512]
v1: f32[1,512,14,14] = conv(v0, c0, c1)
v2: f32[1,512,14,14] = relu(v1)
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
50768f803464
===
dag
in v0: f32[1,512,14,14]
const c0: f32[512,512,3,3]
const c1: f32[512]
v1: f32[1,512,7,7] = conv(v0, c0, c1) pads=[1,1,1,1] strides=[2,2]
v2: f32[1,512,7,7] = relu(v1)
out v2
--- reorder n o h c kh kw w; unroll kw; vectorize w; parallel o; reorder n_1 c_1 h_1 w_1; vectorize w_1; parallel c_1
f4f9579a0f4d
===
dag
in v0: f32[1,512,7,7]
const c0: f32[2048,512,1,1]
const c1: f32[2048]
v1: f32[1,2048,7,7] = conv(v0, c0, c1)
out v1
--- reorder n o h c kh kw w; unroll kw; vectorize w; parallel o
2ec6b5be1764
===
dag
in v0: f32[1,1024,14,14]
in v1: f32[1,2048,7,7]
const c0: f32[2048,1024,1,1]
const c1: f32[2048]
v2: f32[1,2048,7,7] = conv(v0, c0, c1) strides=[2,2]
v3: f32[1,2048,7,7] = add(v2, v1)
v4: f32[1,2048,7,7] = relu(v3)
out v4
--- reorder n o h c kh kw w; unroll kw; vectorize w; parallel o; reorder n_1 c_1 h_1 w_1; vectorize w_1; parallel c_1; reorder n_2 c_2 h_2 w_2; vectorize w_2; parallel c_2
9f4fb19df6af
===
dag
in v0: f32[1,2048,7,7]
const c0: f32[512,2048,1,1]
const c1: f32[512]
v1: f32[1,512,7,7] = conv(v0, c0, c1)
v2: f32[1,512,7,7] = relu(v1)
out v2
--- reorder n o h c kh kw w; unroll kw; vectorize w; parallel o; reorder n_1 c_1 h_1 w_1; vectorize w_1; parallel c_1
6f8b302b831a
===
dag
in v0: f32[1,512,7,7]
in v1: f32[1,2048,7,7]
const c0: f32[2048,512,1,1]
const c1: f32[2048]
v2: f32[1,2048,7,7] = conv(v0, c0, c1)
v3: f32[1,2048,7,7] = add(v2, v1)
v4: f32[1,2048,7,7] = relu(v3)
out v4
--- reorder n o h c kh kw w; unroll kw; vectorize w; parallel o; reorder n_1 c_1 h_1 w_1; vectorize w_1; parallel c_1; reorder n_2 c_2 h_2 w_2; vectorize w_2; parallel c_2
2b620ae17356
===
dag
in v0: f32[1,2048,7,7]
v1: f32[1,2048] = reduce_mean(v0) axes=[2,3] keep=0
out v1
--- split c 8; reorder n c.o h w c.i; unroll w; vectorize c.i; parallel c.o; split n_1 8; reorder m n_1.o n_1.i; vectorize n_1.i; parallel n_1.o
8790ef6e2567
===
dag
in v0: f32[1,2048]
const c0: f32[1000,2048]
const c1: f32[1000]
v1: f32[1,1000] = dense(v0, c0, c1)
out v1
--- split n 8; reorder m n.o k n.i; vectorize n.i; parallel n.o
af2955d76d85
===
dag
in v0: f32[1,3,224,224]
const c0: f32[32,3,3,3]
const c1: f32[32]
v1: f32[1,32,112,112] = conv(v0, c0, c1) pads=[1,1,1,1] strides=[2,2]
v2: f32[1,32,112,112] = clip(v1) hi=6 lo=0
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
d6b989857ee2
===
dag
in v0: f32[1,32,112,112]
const c0: f32[32,1,3,3]
const c1: f32[32]
v1: f32[1,32,112,112] = conv(v0, c0, c1) groups=32 pads=[1,1,1,1]
v2: f32[1,32,112,112] = clip(v1) hi=6 lo=0
out v2
--- split w 8; reorder n o h w.o kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c h_1 w_1.o w_1.i; vectorize w_1.i; parallel c
fef4486da23a
===
dag
in v0: f32[1,32,112,112]
const c0: f32[16,32,1,1]
const c1: f32[16]
v1: f32[1,16,112,112] = conv(v0, c0, c1)
out v1
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o
b53e33e44711
===
dag
in v0: f32[1,16,112,112]
const c0: f32[96,16,1,1]
const c1: f32[96]
v1: f32[1,96,112,112] = conv(v0, c0, c1)
v2: f32[1,96,112,112] = clip(v1) hi=6 lo=0
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
c03501f6e42a
===
dag
in v0: f32[1,96,112,112]
const c0: f32[96,1,3,3]
const c1: f32[96]
v1: f32[1,96,56,56] = conv(v0, c0, c1) groups=96 pads=[1,1,1,1] strides=[2,2]
v2: f32[1,96,56,56] = clip(v1) hi=6 lo=0
out v2
--- split w 8; reorder n o h w.o kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c h_1 w_1.o w_1.i; vectorize w_1.i; parallel c
4d4e92244383
===
dag
in v0: f32[1,96,56,56]
const c0: f32[24,96,1,1]
const c1: f32[24]
v1: f32[1,24,56,56] = conv(v0, c0, c1)
out v1
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o
e3a80c5b09e5
===
dag
in v0: f32[1,24,56,56]
const c0: f32[144,24,1,1]
const c1: f32[144]
v1: f32[1,144,56,56] = conv(v0, c0, c1)
v2: f32[1,144,56,56] = clip(v1) hi=6 lo=0
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
f1cf5929c14c
===
dag
in v0: f32[1,144,56,56]
const c0: f32[144,1,3,3]
const c1: f32[144]
v1: f32[1,144,56,56] = conv(v0, c0, c1) groups=144 pads=[1,1,1,1]
v2: f32[1,144,56,56] = clip(v1) hi=6 lo=0
out v2
--- split w 8; reorder n o h w.o kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c h_1 w_1.o w_1.i; vectorize w_1.i; parallel c
033963c0eb2d
===
dag
in v0: f32[1,144,56,56]
in v1: f32[1,24,56,56]
const c0: f32[24,144,1,1]
const c1: f32[24]
v2: f32[1,24,56,56] = conv(v0, c0, c1)
v3: f32[1,24,56,56] = add(v2, v1)
out v3
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
182b603de60b
===
dag
in v0: f32[1,144,56,56]
const c0: f32[144,1,3,3]
const c1: f32[144]
v1: f32[1,144,28,28] = conv(v0, c0, c1) groups=144 pads=[1,1,1,1] strides=[2,2]
v2: f32[1,144,28,28] = clip(v1) hi=6 lo=0
out v2
--- split w 4; reorder n o h w.o kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 4; reorder n_1 c h_1 w_1.o w_1.i; vectorize w_1.i; parallel c
a91a5a19d8ca
===
dag
in v0: f32[1,144,28,28]
const c0: f32[32,144,1,1]
const c1: f32[32]
v1: f32[1,32,28,28] = conv(v0, c0, c1)
out v1
--- split w 4; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o
cfd5abe64b92
===
dag
in v0: f32[1,32,28,28]
const c0: f32[192,32,1,1]
const c1: f32[192]
v1: f32[1,192,28,28] = conv(v0, c0, c1)
v2: f32[1,192,28,28] = clip(v1) hi=6 lo=0
out v2
--- split w 4; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 4; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
8de1e9239153
===
dag
in v0: f32[1,192,28,28]
const c0: f32[192,1,3,3]
const c1: f32[192]
v1: f32[1,192,28,28] = conv(v0, c0, c1) groups=192 pads=[1,1,1,1]
v2: f32[1,192,28,28] = clip(v1) hi=6 lo=0
out v2
--- split w 4; reorder n o h w.o kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 4; reorder n_1 c h_1 w_1.o w_1.i; vectorize w_1.i; parallel c
61ac4d56b90e
===
dag
in v0: f32[1,192,28,28]
in v1: f32[1,32,28,28]
const c0: f32[32,192,1,1]
const c1: f32[32]
v2: f32[1,32,28,28] = conv(v0, c0, c1)
v3: f32[1,32,28,28] = add(v2, v1)
out v3
--- split w 4; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 4; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
04bec4868f4d
===
dag
in v0: f32[1,192,28,28]
const c0: f32[192,1,3,3]
const c1: f32[192]
v1: f32[1,192,14,14] = conv(v0, c0, c1) groups=192 pads=[1,1,1,1] strides=[2,2]
v2: f32[1,192,14,14] = clip(v1) hi=6 lo=0
out v2
--- split w 8; reorder n o h w.o kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c h_1 w_1.o w_1.i; vectorize w_1.i; parallel c
110235912f2b
===
dag
in v0: f32[1,192,14,14]
const c0: f32[64,192,1,1]
const c1: f32[64]
v1: f32[1,64,14,14] = conv(v0, c0, c1)
out v1
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o
f89590dabd93
===
dag
in v0: f32[1,64,14,14]
const c0: f32[384,64,1,1]
const c1: f32[384]
v1: f32[1,384,14,14] = conv(v0, c0, c1)
v2: f32[1,384,14,14] = clip(v1) hi=6 lo=0
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
a0477e230836
===
dag
in v0: f32[1,384,14,14]
const c0: f32[384,1,3,3]
const c1: f32[384]
v1: f32[1,384,14,14] = conv(v0, c0, c1) groups=384 pads=[1,1,1,1]
v2: f32[1,384,14,14] = clip(v1) hi=6 lo=0
out v2
--- split w 8; reorder n o h w.o kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c h_1 w_1.o w_1.i; vectorize w_1.i; parallel c
ee10ae2f0eaa
===
dag
in v0: f32[1,384,14,14]
in v1: f32[1,64,14,14]
const c0: f32[64,384,1,1]
const c1: f32[64]
v2: f32[1,64,14,14] = conv(v0, c0, c1)
v3: f32[1,64,14,14] = add(v2, v1)
out v3
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
54e75234289c
===
dag
in v0: f32[1,384,14,14]
const c0: f32[96,384,1,1]
const c1: f32[96]
v1: f32[1,96,14,14] = conv(v0, c0, c1)
out v1
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o
e0fb674c382a
===
dag
in v0: f32[1,96,14,14]
const c0: f32[576,96,1,1]
const c1: f32[576]
v1: f32[1,576,14,14] = conv(v0, c0, c1)
v2: f32[1,576,14,14] = clip(v1) hi=6 lo=0
out v2
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
2dc9bd68d8b7
===
dag
in v0: f32[1,576,14,14]
const c0: f32[576,1,3,3]
const c1: f32[576]
v1: f32[1,576,14,14] = conv(v0, c0, c1) groups=576 pads=[1,1,1,1]
v2: f32[1,576,14,14] = clip(v1) hi=6 lo=0
out v2
--- split w 8; reorder n o h w.o kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c h_1 w_1.o w_1.i; vectorize w_1.i; parallel c
e54413acaffb
===
dag
in v0: f32[1,576,14,14]
in v1: f32[1,96,14,14]
const c0: f32[96,576,1,1]
const c1: f32[96]
v2: f32[1,96,14,14] = conv(v0, c0, c1)
v3: f32[1,96,14,14] = add(v2, v1)
out v3
--- split w 8; reorder n o h w.o c kh kw w.i; unroll kw; vectorize w.i; parallel o; split w_1 8; reorder n_1 c_1 h_1 w_1.o w_1.i; vectorize w_1.i; parallel c_1
55788216c328
===
dag
in v0: f32[1,576,14,14]
const c0: f32[576,1,3,3]
const c1: f32[576]
v1: f32[1,576,7,7] = conv(v0, c0, c1) groups=576 pads=[1,1,1,1] strides=[2,2]
v2: f32[1,576,7,7] = clip(v1) hi=6 lo=0
out v2
--- reorder n o h kh kw w; unroll kw; vectorize w; parallel o; reorder n_1 c h_1 w_1; vectorize w_1; parallel c
e95b82124eb5
===
dag
in v0: f32[1,576,7,7]
const c0: f32[160,576,1,1]
const c1: f32[160]
v1: f32[1,160,7,7] = conv(v0, c0, c1)
out v1
--- reorder n o h c kh kw w; unroll kw; vectorize w; parallel o
ee462dc82080
===
dag
in v0: f32[1,160,7,7]
const c0: f32[960,160,1,1]
const c1: f32[960]
v1: f32[1,960,7,7] = conv(v0, c0, c1)
v2: f32[1,960,7,7] = clip(v1) hi=6 lo=0
out v2
--- reorder n o h c kh kw w; unroll kw; vectorize w; parallel o; reorder n_1 c_1 h_1 w_1; vectorize w_1; parallel c_1
9a6cb756a18a
===
dag
in v0: f32[1,960,7,7]
const c0: f32[960,1,3,3]
const c1: f32[960]
v1: f32[1,960,7,7] = conv(v0, c0, c1) groups=960 pads=[1,1,1,1]
v2: f32[1,960,7,7] = clip(v1) hi=6 lo=0
out v2
--- reorder n o h kh kw w; unroll kw; vectorize w; parallel o; reorder n_1 c h_1 w_1; vectorize w_1; parallel c
ec02ccb77007
===
dag
in v0: f32[1,960,7,7]
in v1: f32[1,160,7,7]
const c0: f32[160,960,1,1]
const c1: f32[160]
v2: f32[1,160,7,7] = conv(v0, c0, c1)
v3: f32[1,160,7,7] = add(v2, v1)
out v3
--- reorder n o h c kh kw w; unroll kw; vectorize w; parallel o; reorder n_1 c_1 h_1 w_1; vectorize w_1; parallel c_1
6552782f56d1
===
dag
in v0: f32[1,960,7,7]
const c0: f32[320,960,1,1]
const c1: f32[320]
v1: f32[1,320,7,7] = conv(v0, c0, c1)
out v1
--- reorder n o h c kh kw w; unroll kw; vectorize w; parallel o
3819d8cb7bd8
===
dag
in v0: f32[1,320,7,7]
const c0: f32[1280,320,1,1]
const c1: f32[1280]
v1: f32[1,1280,7,7] = conv(v0, c0, c1)
v2: f32[1,1280,7,7] = clip(v1) hi=6 lo=0
out v2
--- reorder n o h c kh kw w; unroll kw; vectorize w; parallel o; reorder n_1 c_1 h_1 w_1; vectorize w_1; parallel c_1
ab208288ede4
===
dag
in v0: f32[1,1280,7,7]
v1: f32[1,1280] = reduce_mean(v0) axes=[2,3] keep=0
out v1
--- split c 8; reorder n c.o h w c.i; unroll w; vectorize c.i; parallel c.o; split n_1 8; reorder m n_1.o n_1.i; vectorize n_1.i; parallel n_1.o
57667a244edc
===
dag
in v0: f32[1,1280]
const c0: f32[1000,1280]
const c1: f32[1000]
v1: f32[1,1000] = dense(v0, c0, c1)
out v1
--- split n 8; reorder m n.o k n.i; vectorize n.i; parallel n.o
726700e19901
===
dag
in v0: f32[1,3,224,224]
const c0: f32[64,3,7,7]
const c1: f32[64]
v1: f32[1,64,112,112] = conv(v0, c0, c1) pads=[3,3,3,3] strides=[2,2]
v2: f32[1,64,112,112]:NCHW16c = relu(v1)
out v2
--- pack c0 OHWI16o; split c_1 16; split c_1.o 2; split w_1 14; reorder n_1 c_1.o.o h_1 w_1.o w_1.i c_1.o.i c_1.i; compute_at conv w_1.o; skip conv; split o 16; reorder n h kh kw c w o.o o.i; unroll kw; unroll w; unroll o.o; vectorize o.i; unroll w_1.i; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o; cut w_1.o 1; cut w_1.o.2 6
3b031077ed2d
===
dag
in v0: f32[1,64,112,112]:NCHW16c
v1: f32[1,64,56,56]:NCHW16c = max_pool(v0) kernel=[3,3] pads=[1,1,1,1] strides=[2,2]
out v1
--- cache_write max_pool; split c.w 16; split w.w 14; reorder n.w c.w.o h.w w.w.o w.w.i c.w.i; compute_at max_pool w.w.o; skip max_pool; reorder n h kh kw w c; unroll kw; unroll w; vectorize c; unroll w.w.i; vectorize c.w.i; parallel c.w.o; cut w.w.o 1; cut w.w.o.2 2
174318bfdee4
===
dag
in v0: f32[1,64,56,56]:NCHW16c
const c0: f32[64,64,3,3]
const c1: f32[64]
v1: f32[1,64,56,56] = conv(v0, c0, c1) pads=[1,1,1,1]
v2: f32[1,64,56,56]:NCHW16c = relu(v1)
out v2
--- compute conv2d.winograd m=4; absorb wino.y relu; split y.th 2; compute_at wino.m y.th.o; compute_at wino.v y.th.o; split v.c 16; reorder v.c.o v.th v.tw v.c.i; vectorize v.c.i; fuse m.th m.tw; split m.th_m.tw 6; split m.o 16; reorder m.th_m.tw.o m.c m.th_m.tw.i m.o.o m.o.i; unroll m.th_m.tw.i; unroll m.o.o; vectorize m.o.i; cut m.th_m.tw.o 4; split y.o 16; reorder y.o.o y.th.i y.tw y.o.i; vectorize y.o.i; parallel y.th.o
1dd6c90c2e9d
===
dag
in v0: f32[1,64,56,56]:NCHW16c
in v1: f32[1,64,56,56]:NCHW16c
const c0: f32[64,64,3,3]
const c1: f32[64]
v2: f32[1,64,56,56] = conv(v0, c0, c1) pads=[1,1,1,1]
v3: f32[1,64,56,56] = add(v2, v1)
v4: f32[1,64,56,56]:NCHW16c = relu(v3)
out v4
--- compute conv2d.winograd m=4; inline add; absorb wino.y relu; split y.th 2; compute_at wino.m y.th.o; compute_at wino.v y.th.o; split v.c 16; reorder v.c.o v.th v.tw v.c.i; vectorize v.c.i; fuse m.th m.tw; split m.th_m.tw 6; split m.o 16; reorder m.th_m.tw.o m.c m.th_m.tw.i m.o.o m.o.i; unroll m.th_m.tw.i; unroll m.o.o; vectorize m.o.i; cut m.th_m.tw.o 4; split y.o 16; reorder y.o.o y.th.i y.tw y.o.i; vectorize y.o.i; parallel y.th.o
8e43d81466f8
===
dag
in v0: f32[1,64,56,56]:NCHW16c
const c0: f32[128,64,3,3]
const c1: f32[128]
v1: f32[1,128,28,28] = conv(v0, c0, c1) pads=[1,1,1,1] strides=[2,2]
v2: f32[1,128,28,28]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; split w_1 14; reorder n_1 c_1.o.o h_1 w_1.o w_1.i c_1.o.i c_1.i; compute_at conv w_1.o; skip conv; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll kw; unroll w; unroll o.o; vectorize o.i; unroll w_1.i; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o; unroll w_1.o
5bc31d6eabe6
===
dag
in v0: f32[1,64,56,56]:NCHW16c
const c0: f32[128,64,1,1]
const c1: f32[128]
v1: f32[1,128,28,28]:NCHW16c = conv(v0, c0, c1) strides=[2,2]
out v1
--- cache_write conv; pack c0 OIHW16i16o; split o.w 16; split o.w.o 2; split w.w 14; reorder n.w o.w.o.o h.w w.w.o w.w.i o.w.o.i o.w.i; compute_at conv w.w.o; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w.w.i; unroll o.w.o.i; vectorize o.w.i; parallel o.w.o.o
b82ea4c378aa
===
dag
in v0: f32[1,128,28,28]:NCHW16c
in v1: f32[1,128,28,28]:NCHW16c
const c0: f32[128,128,3,3]
const c1: f32[128]
v2: f32[1,128,28,28] = conv(v0, c0, c1) pads=[1,1,1,1]
v3: f32[1,128,28,28] = add(v2, v1)
v4: f32[1,128,28,28]:NCHW16c = relu(v3)
out v4
--- compute conv2d.winograd m=4; inline add; absorb wino.y relu; split u.o 8; reorder u.o.o u.c u.o.i; vectorize u.o.i; split v.c 16; reorder v.c.o v.th v.tw v.c.i; vectorize v.c.i; fuse m.th m.tw; split m.th_m.tw 7; split m.o 48; split m.o.i 16; reorder m.o.o m.th_m.tw.o m.c m.th_m.tw.i m.o.i.o m.o.i.i; unroll m.th_m.tw.i; unroll m.o.i.o; vectorize m.o.i.i; cut m.o.o 2; split y.o 16; reorder y.o.o y.th y.tw y.o.i; vectorize y.o.i; parallel v.c.o; parallel m.i; parallel y.o.o
705169de9085
===
dag
in v0: f32[1,128,28,28]:NCHW16c
const c0: f32[128,128,3,3]
const c1: f32[128]
v1: f32[1,128,28,28] = conv(v0, c0, c1) pads=[1,1,1,1]
v2: f32[1,128,28,28]:NCHW16c = relu(v1)
out v2
--- compute conv2d.winograd m=4; absorb wino.y relu; split u.o 8; reorder u.o.o u.c u.o.i; vectorize u.o.i; split v.c 16; reorder v.c.o v.th v.tw v.c.i; vectorize v.c.i; fuse m.th m.tw; split m.th_m.tw 7; split m.o 48; split m.o.i 16; reorder m.o.o m.th_m.tw.o m.c m.th_m.tw.i m.o.i.o m.o.i.i; unroll m.th_m.tw.i; unroll m.o.i.o; vectorize m.o.i.i; cut m.o.o 2; split y.o 16; reorder y.o.o y.th y.tw y.o.i; vectorize y.o.i; parallel v.c.o; parallel m.i; parallel y.o.o
f9d8717c9ee7
===
dag
in v0: f32[1,128,28,28]:NCHW16c
const c0: f32[256,128,3,3]
const c1: f32[256]
v1: f32[1,256,14,14] = conv(v0, c0, c1) pads=[1,1,1,1] strides=[2,2]
v2: f32[1,256,14,14]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; reorder n_1 c_1.o.o h_1 w_1 c_1.o.i c_1.i; compute_at conv h_1; skip conv; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll kw; unroll w; unroll o.o; vectorize o.i; unroll w_1; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
758bd5230b1b
===
dag
in v0: f32[1,128,28,28]:NCHW16c
const c0: f32[256,128,1,1]
const c1: f32[256]
v1: f32[1,256,14,14]:NCHW16c = conv(v0, c0, c1) strides=[2,2]
out v1
--- cache_write conv; pack c0 OIHW16i16o; split o.w 16; split o.w.o 2; reorder n.w o.w.o.o h.w w.w o.w.o.i o.w.i; compute_at conv h.w; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w.w; unroll o.w.o.i; vectorize o.w.i; parallel o.w.o.o
d4a9d9fc830e
===
dag
in v0: f32[1,256,14,14]:NCHW16c
in v1: f32[1,256,14,14]:NCHW16c
const c0: f32[256,256,3,3]
const c1: f32[256]
v2: f32[1,256,14,14] = conv(v0, c0, c1) pads=[1,1,1,1]
v3: f32[1,256,14,14] = add(v2, v1)
v4: f32[1,256,14,14]:NCHW16c = relu(v3)
out v4
--- compute conv2d.winograd m=4; inline add; absorb wino.y relu; split u.o 8; reorder u.o.o u.c u.o.i; vectorize u.o.i; split v.c 16; reorder v.c.o v.th v.tw v.c.i; vectorize v.c.i; fuse m.th m.tw; split m.th_m.tw 6; split m.o 64; split m.o.i 16; reorder m.o.o m.th_m.tw.o m.c m.th_m.tw.i m.o.i.o m.o.i.i; unroll m.th_m.tw.i; unroll m.o.i.o; vectorize m.o.i.i; cut m.th_m.tw.o 2; split y.o 16; reorder y.o.o y.th y.tw y.o.i; vectorize y.o.i; parallel v.c.o; parallel m.i; parallel y.o.o
2df2ec5ded4e
===
dag
in v0: f32[1,256,14,14]:NCHW16c
const c0: f32[256,256,3,3]
const c1: f32[256]
v1: f32[1,256,14,14] = conv(v0, c0, c1) pads=[1,1,1,1]
v2: f32[1,256,14,14]:NCHW16c = relu(v1)
out v2
--- compute conv2d.winograd m=4; absorb wino.y relu; split u.o 8; reorder u.o.o u.c u.o.i; vectorize u.o.i; split v.c 16; reorder v.c.o v.th v.tw v.c.i; vectorize v.c.i; fuse m.th m.tw; split m.th_m.tw 6; split m.o 64; split m.o.i 16; reorder m.o.o m.th_m.tw.o m.c m.th_m.tw.i m.o.i.o m.o.i.i; unroll m.th_m.tw.i; unroll m.o.i.o; vectorize m.o.i.i; cut m.th_m.tw.o 2; split y.o 16; reorder y.o.o y.th y.tw y.o.i; vectorize y.o.i; parallel v.c.o; parallel m.i; parallel y.o.o
67a08bb7d62e
===
dag
in v0: f32[1,256,14,14]:NCHW16c
const c0: f32[512,256,3,3]
const c1: f32[512]
v1: f32[1,512,7,7] = conv(v0, c0, c1) pads=[1,1,1,1] strides=[2,2]
v2: f32[1,512,7,7]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; reorder n_1 c_1.o.o h_1 w_1 c_1.o.i c_1.i; compute_at conv h_1; skip conv; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll kw; unroll w; unroll o.o; vectorize o.i; unroll w_1; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
58451a072464
===
dag
in v0: f32[1,256,14,14]:NCHW16c
const c0: f32[512,256,1,1]
const c1: f32[512]
v1: f32[1,512,7,7]:NCHW16c = conv(v0, c0, c1) strides=[2,2]
out v1
--- cache_write conv; pack c0 OIHW16i16o; split o.w 16; split o.w.o 2; reorder n.w o.w.o.o h.w w.w o.w.o.i o.w.i; compute_at conv h.w; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w.w; unroll o.w.o.i; vectorize o.w.i; parallel o.w.o.o
8acd71830199
===
dag
in v0: f32[1,512,7,7]:NCHW16c
in v1: f32[1,512,7,7]:NCHW16c
const c0: f32[512,512,3,3]
const c1: f32[512]
v2: f32[1,512,7,7] = conv(v0, c0, c1) pads=[1,1,1,1]
v3: f32[1,512,7,7] = add(v2, v1)
v4: f32[1,512,7,7]:NCHW16c = relu(v3)
out v4
--- compute conv2d.winograd m=2; inline add; absorb wino.y relu; split u.o 8; reorder u.o.o u.c u.o.i; vectorize u.o.i; split v.c 16; reorder v.c.o v.th v.tw v.c.i; vectorize v.c.i; fuse m.th m.tw; split m.th_m.tw 6; split m.o 64; split m.o.i 16; reorder m.o.o m.th_m.tw.o m.c m.th_m.tw.i m.o.i.o m.o.i.i; unroll m.th_m.tw.i; unroll m.o.i.o; vectorize m.o.i.i; cut m.th_m.tw.o 2; split y.o 16; reorder y.o.o y.th y.tw y.o.i; vectorize y.o.i; parallel v.c.o; parallel m.i; parallel y.o.o
1e8545bc986d
===
dag
in v0: f32[1,512,7,7]:NCHW16c
const c0: f32[512,512,3,3]
const c1: f32[512]
v1: f32[1,512,7,7] = conv(v0, c0, c1) pads=[1,1,1,1]
v2: f32[1,512,7,7]:NCHW16c = relu(v1)
out v2
--- compute conv2d.winograd m=2; absorb wino.y relu; split u.o 8; reorder u.o.o u.c u.o.i; vectorize u.o.i; split v.c 16; reorder v.c.o v.th v.tw v.c.i; vectorize v.c.i; fuse m.th m.tw; split m.th_m.tw 6; split m.o 64; split m.o.i 16; reorder m.o.o m.th_m.tw.o m.c m.th_m.tw.i m.o.i.o m.o.i.i; unroll m.th_m.tw.i; unroll m.o.i.o; vectorize m.o.i.i; cut m.th_m.tw.o 2; split y.o 16; reorder y.o.o y.th y.tw y.o.i; vectorize y.o.i; parallel v.c.o; parallel m.i; parallel y.o.o
1c9626f1e3c4
===
dag
in v0: f32[1,512,7,7]:NCHW16c
v1: f32[1,512] = reduce_mean(v0) axes=[2,3] keep=0
out v1
--- split n_1 16; reorder m n_1.o n_1.i; compute_at reduce_mean n_1.o; reorder n h w c; unroll w; vectorize c; vectorize n_1.i; parallel n_1.o
d778bbd45ba4
===
dag
in v0: f32[1,512]
const c0: f32[1000,512]
const c1: f32[1000]
v1: f32[1,1000] = dense(v0, c0, c1)
out v1
--- cache_write dense; pack c0 OI16o; split n.w 16; split n.w.o 4; reorder n.w.o.o m.w n.w.o.i n.w.i; compute_at dense n.w.o.o; split k 4; split n 16; reorder k.o k.i m n.o n.i; unroll k.i; unroll m; unroll n.o; vectorize n.i; unroll m.w; unroll n.w.o.i; vectorize n.w.i; parallel n.w.o.o; cut n.w.o.o 15
ed3431e008ad
===
dag
in v0: f32[1,64,56,56]:NCHW16c
const c0: f32[64,64,1,1]
const c1: f32[64]
v1: f32[1,64,56,56] = conv(v0, c0, c1)
v2: f32[1,64,56,56]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; split w_1 14; reorder n_1 c_1.o.o h_1 w_1.o w_1.i c_1.o.i c_1.i; compute_at conv w_1.o; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1.i; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
8ef5771dd47b
===
dag
in v0: f32[1,64,56,56]:NCHW16c
const c0: f32[256,64,1,1]
const c1: f32[256]
v1: f32[1,256,56,56]:NCHW16c = conv(v0, c0, c1)
out v1
--- cache_write conv; pack c0 OIHW16i16o; split o.w 16; split o.w.o 2; split w.w 14; reorder n.w o.w.o.o h.w w.w.o w.w.i o.w.o.i o.w.i; compute_at conv w.w.o; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w.w.i; unroll o.w.o.i; vectorize o.w.i; parallel o.w.o.o
381197b5ac02
===
dag
in v0: f32[1,64,56,56]:NCHW16c
in v1: f32[1,256,56,56]:NCHW16c
const c0: f32[256,64,1,1]
const c1: f32[256]
v2: f32[1,256,56,56] = conv(v0, c0, c1)
v3: f32[1,256,56,56] = add(v2, v1)
v4: f32[1,256,56,56]:NCHW16c = relu(v3)
out v4
--- inline add; pack c0 OIHW16i16o; split c_2 16; split c_2.o 2; split w_2 14; reorder n_2 c_2.o.o h_2 w_2.o w_2.i c_2.o.i c_2.i; compute_at conv w_2.o; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_2.i; unroll c_2.o.i; vectorize c_2.i; parallel c_2.o.o
c403a6cdb8ca
===
dag
in v0: f32[1,256,56,56]:NCHW16c
const c0: f32[64,256,1,1]
const c1: f32[64]
v1: f32[1,64,56,56] = conv(v0, c0, c1)
v2: f32[1,64,56,56]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; split w_1 14; reorder n_1 c_1.o.o h_1 w_1.o w_1.i c_1.o.i c_1.i; compute_at conv w_1.o; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1.i; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
ac74719c6385
===
dag
in v0: f32[1,256,56,56]:NCHW16c
const c0: f32[128,256,1,1]
const c1: f32[128]
v1: f32[1,128,56,56] = conv(v0, c0, c1)
v2: f32[1,128,56,56]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; split w_1 14; reorder n_1 c_1.o.o h_1 w_1.o w_1.i c_1.o.i c_1.i; compute_at conv w_1.o; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1.i; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
04575fce991a
===
dag
in v0: f32[1,128,56,56]:NCHW16c
const c0: f32[128,128,3,3]
const c1: f32[128]
v1: f32[1,128,28,28] = conv(v0, c0, c1) pads=[1,1,1,1] strides=[2,2]
v2: f32[1,128,28,28]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; split w_1 14; reorder n_1 c_1.o.o h_1 w_1.o w_1.i c_1.o.i c_1.i; compute_at conv w_1.o; skip conv; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll kw; unroll w; unroll o.o; vectorize o.i; unroll w_1.i; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o; unroll w_1.o
fe48074fa909
===
dag
in v0: f32[1,128,28,28]:NCHW16c
const c0: f32[512,128,1,1]
const c1: f32[512]
v1: f32[1,512,28,28]:NCHW16c = conv(v0, c0, c1)
out v1
--- cache_write conv; pack c0 OIHW16i16o; split o.w 16; split o.w.o 2; split w.w 14; reorder n.w o.w.o.o h.w w.w.o w.w.i o.w.o.i o.w.i; compute_at conv w.w.o; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w.w.i; unroll o.w.o.i; vectorize o.w.i; parallel o.w.o.o
ba0981e0cef9
===
dag
in v0: f32[1,256,56,56]:NCHW16c
in v1: f32[1,512,28,28]:NCHW16c
const c0: f32[512,256,1,1]
const c1: f32[512]
v2: f32[1,512,28,28] = conv(v0, c0, c1) strides=[2,2]
v3: f32[1,512,28,28] = add(v2, v1)
v4: f32[1,512,28,28]:NCHW16c = relu(v3)
out v4
--- inline add; pack c0 OIHW16i16o; split c_2 16; split c_2.o 2; split w_2 14; reorder n_2 c_2.o.o h_2 w_2.o w_2.i c_2.o.i c_2.i; compute_at conv w_2.o; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_2.i; unroll c_2.o.i; vectorize c_2.i; parallel c_2.o.o
d6ff572a20bb
===
dag
in v0: f32[1,512,28,28]:NCHW16c
const c0: f32[128,512,1,1]
const c1: f32[128]
v1: f32[1,128,28,28] = conv(v0, c0, c1)
v2: f32[1,128,28,28]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; split w_1 14; reorder n_1 c_1.o.o h_1 w_1.o w_1.i c_1.o.i c_1.i; compute_at conv w_1.o; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1.i; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
b4bd0a9a56eb
===
dag
in v0: f32[1,128,28,28]:NCHW16c
in v1: f32[1,512,28,28]:NCHW16c
const c0: f32[512,128,1,1]
const c1: f32[512]
v2: f32[1,512,28,28] = conv(v0, c0, c1)
v3: f32[1,512,28,28] = add(v2, v1)
v4: f32[1,512,28,28]:NCHW16c = relu(v3)
out v4
--- inline add; pack c0 OIHW16i16o; split c_2 16; split c_2.o 2; split w_2 14; reorder n_2 c_2.o.o h_2 w_2.o w_2.i c_2.o.i c_2.i; compute_at conv w_2.o; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_2.i; unroll c_2.o.i; vectorize c_2.i; parallel c_2.o.o
c895adede95d
===
dag
in v0: f32[1,512,28,28]:NCHW16c
const c0: f32[256,512,1,1]
const c1: f32[256]
v1: f32[1,256,28,28] = conv(v0, c0, c1)
v2: f32[1,256,28,28]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; split w_1 14; reorder n_1 c_1.o.o h_1 w_1.o w_1.i c_1.o.i c_1.i; compute_at conv w_1.o; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1.i; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
162c0490857e
===
dag
in v0: f32[1,256,28,28]:NCHW16c
const c0: f32[256,256,3,3]
const c1: f32[256]
v1: f32[1,256,14,14] = conv(v0, c0, c1) pads=[1,1,1,1] strides=[2,2]
v2: f32[1,256,14,14]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; reorder n_1 c_1.o.o h_1 w_1 c_1.o.i c_1.i; compute_at conv h_1; skip conv; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll kw; unroll w; unroll o.o; vectorize o.i; unroll w_1; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
16da6a3103f1
===
dag
in v0: f32[1,256,14,14]:NCHW16c
const c0: f32[1024,256,1,1]
const c1: f32[1024]
v1: f32[1,1024,14,14]:NCHW16c = conv(v0, c0, c1)
out v1
--- cache_write conv; pack c0 OIHW16i16o; split o.w 16; split o.w.o 2; reorder n.w o.w.o.o h.w w.w o.w.o.i o.w.i; compute_at conv h.w; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w.w; unroll o.w.o.i; vectorize o.w.i; parallel o.w.o.o
1d442268c346
===
dag
in v0: f32[1,512,28,28]:NCHW16c
in v1: f32[1,1024,14,14]:NCHW16c
const c0: f32[1024,512,1,1]
const c1: f32[1024]
v2: f32[1,1024,14,14] = conv(v0, c0, c1) strides=[2,2]
v3: f32[1,1024,14,14] = add(v2, v1)
v4: f32[1,1024,14,14]:NCHW16c = relu(v3)
out v4
--- inline add; pack c0 OIHW16i16o; split c_2 16; split c_2.o 2; reorder n_2 c_2.o.o h_2 w_2 c_2.o.i c_2.i; compute_at conv h_2; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_2; unroll c_2.o.i; vectorize c_2.i; parallel c_2.o.o
65654b14d170
===
dag
in v0: f32[1,1024,14,14]:NCHW16c
const c0: f32[256,1024,1,1]
const c1: f32[256]
v1: f32[1,256,14,14] = conv(v0, c0, c1)
v2: f32[1,256,14,14]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; reorder n_1 c_1.o.o h_1 w_1 c_1.o.i c_1.i; compute_at conv h_1; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
6bf2279231fe
===
dag
in v0: f32[1,256,14,14]:NCHW16c
in v1: f32[1,1024,14,14]:NCHW16c
const c0: f32[1024,256,1,1]
const c1: f32[1024]
v2: f32[1,1024,14,14] = conv(v0, c0, c1)
v3: f32[1,1024,14,14] = add(v2, v1)
v4: f32[1,1024,14,14]:NCHW16c = relu(v3)
out v4
--- inline add; pack c0 OIHW16i16o; split c_2 16; split c_2.o 2; reorder n_2 c_2.o.o h_2 w_2 c_2.o.i c_2.i; compute_at conv h_2; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_2; unroll c_2.o.i; vectorize c_2.i; parallel c_2.o.o
e4bfd8ad2dce
===
dag
in v0: f32[1,1024,14,14]:NCHW16c
const c0: f32[512,1024,1,1]
const c1: f32[512]
v1: f32[1,512,14,14] = conv(v0, c0, c1)
v2: f32[1,512,14,14]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; reorder n_1 c_1.o.o h_1 w_1 c_1.o.i c_1.i; compute_at conv h_1; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
2866395974ab
===
dag
in v0: f32[1,512,14,14]:NCHW16c
const c0: f32[512,512,3,3]
const c1: f32[512]
v1: f32[1,512,7,7] = conv(v0, c0, c1) pads=[1,1,1,1] strides=[2,2]
v2: f32[1,512,7,7]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; reorder n_1 c_1.o.o h_1 w_1 c_1.o.i c_1.i; compute_at conv h_1; skip conv; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll kw; unroll w; unroll o.o; vectorize o.i; unroll w_1; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
640e57921068
===
dag
in v0: f32[1,512,7,7]:NCHW16c
const c0: f32[2048,512,1,1]
const c1: f32[2048]
v1: f32[1,2048,7,7]:NCHW16c = conv(v0, c0, c1)
out v1
--- cache_write conv; pack c0 OIHW16i16o; split o.w 16; split o.w.o 2; reorder n.w o.w.o.o h.w w.w o.w.o.i o.w.i; compute_at conv h.w; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w.w; unroll o.w.o.i; vectorize o.w.i; parallel o.w.o.o
272d80addc1d
===
dag
in v0: f32[1,1024,14,14]:NCHW16c
in v1: f32[1,2048,7,7]:NCHW16c
const c0: f32[2048,1024,1,1]
const c1: f32[2048]
v2: f32[1,2048,7,7] = conv(v0, c0, c1) strides=[2,2]
v3: f32[1,2048,7,7] = add(v2, v1)
v4: f32[1,2048,7,7]:NCHW16c = relu(v3)
out v4
--- inline add; pack c0 OIHW16i16o; split c_2 16; split c_2.o 2; reorder n_2 c_2.o.o h_2 w_2 c_2.o.i c_2.i; compute_at conv h_2; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_2; unroll c_2.o.i; vectorize c_2.i; parallel c_2.o.o
5c6a399fa37b
===
dag
in v0: f32[1,2048,7,7]:NCHW16c
const c0: f32[512,2048,1,1]
const c1: f32[512]
v1: f32[1,512,7,7] = conv(v0, c0, c1)
v2: f32[1,512,7,7]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; reorder n_1 c_1.o.o h_1 w_1 c_1.o.i c_1.i; compute_at conv h_1; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
60fff571e5a5
===
dag
in v0: f32[1,512,7,7]:NCHW16c
in v1: f32[1,2048,7,7]:NCHW16c
const c0: f32[2048,512,1,1]
const c1: f32[2048]
v2: f32[1,2048,7,7] = conv(v0, c0, c1)
v3: f32[1,2048,7,7] = add(v2, v1)
v4: f32[1,2048,7,7]:NCHW16c = relu(v3)
out v4
--- inline add; pack c0 OIHW16i16o; split c_2 16; split c_2.o 2; reorder n_2 c_2.o.o h_2 w_2 c_2.o.i c_2.i; compute_at conv h_2; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_2; unroll c_2.o.i; vectorize c_2.i; parallel c_2.o.o
f664f10fdfe8
===
dag
in v0: f32[1,2048,7,7]:NCHW16c
v1: f32[1,2048] = reduce_mean(v0) axes=[2,3] keep=0
out v1
--- split n_1 16; reorder m n_1.o n_1.i; compute_at reduce_mean n_1.o; reorder n h w c; unroll w; vectorize c; vectorize n_1.i; parallel n_1.o
d1ec63720b5d
===
dag
in v0: f32[1,2048]
const c0: f32[1000,2048]
const c1: f32[1000]
v1: f32[1,1000] = dense(v0, c0, c1)
out v1
--- cache_write dense; pack c0 OI16o; split n.w 16; split n.w.o 4; reorder n.w.o.o m.w n.w.o.i n.w.i; compute_at dense n.w.o.o; split k 4; split n 16; reorder k.o k.i m n.o n.i; unroll k.i; unroll m; unroll n.o; vectorize n.i; unroll m.w; unroll n.w.o.i; vectorize n.w.i; parallel n.w.o.o; cut n.w.o.o 15
49514da19080
===
dag
in v0: f32[1,3,224,224]
const c0: f32[32,3,3,3]
const c1: f32[32]
v1: f32[1,32,112,112] = conv(v0, c0, c1) pads=[1,1,1,1] strides=[2,2]
v2: f32[1,32,112,112]:NCHW16c = clip(v1) hi=6 lo=0
out v2
--- pack c0 OHWI16o; split c_1 16; split w_1 14; reorder n_1 h_1 w_1.o w_1.i c_1.o c_1.i; compute_at conv w_1.o; skip conv; split o 16; reorder n h kh kw c w o.o o.i; unroll kw; unroll w; unroll o.o; vectorize o.i; unroll w_1.i; unroll c_1.o; vectorize c_1.i; parallel h_1; cut w_1.o 1; cut w_1.o.2 6
d1fb389cd6bd
===
dag
in v0: f32[1,32,112,112]:NCHW16c
const c0: f32[32,1,3,3]
const c1: f32[32]
v1: f32[1,32,112,112] = conv(v0, c0, c1) groups=32 pads=[1,1,1,1]
v2: f32[1,32,112,112]:NCHW16c = clip(v1) hi=6 lo=0
out v2
--- pack c0 OHWI16o; split c 16; split w_1 28; reorder n_1 c.o h_1 w_1.o w_1.i c.i; compute_at conv w_1.o; skip conv; reorder n h kh kw w o; unroll kw; unroll w; vectorize o; unroll w_1.i; vectorize c.i; parallel c.o; cut w_1.o 1; cut w_1.o.2 2
1019a1e7eed2
===
dag
in v0: f32[1,32,112,112]:NCHW16c
const c0: f32[16,32,1,1]
const c1: f32[16]
v1: f32[1,16,112,112]:NCHW16c = conv(v0, c0, c1)
out v1
--- cache_write conv; pack c0 OIHW16i16o; split w.w 28; reorder n.w h.w w.w.o w.w.i o.w; compute_at conv w.w.o; split c 16; reorder n h c.o kh kw c.i w o; unroll w; vectorize o; unroll w.w.i; vectorize o.w; parallel h.w
afc76c9f5c71
===
dag
in v0: f32[1,16,112,112]:NCHW16c
const c0: f32[96,16,1,1]
const c1: f32[96]
v1: f32[1,96,112,112] = conv(v0, c0, c1)
v2: f32[1,96,112,112]:NCHW16c = clip(v1) hi=6 lo=0
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; split w_1 14; reorder n_1 c_1.o.o h_1 w_1.o w_1.i c_1.o.i c_1.i; compute_at conv w_1.o; split o 16; reorder n h kh kw c w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1.i; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
c3d1f879cff6
===
dag
in v0: f32[1,96,112,112]:NCHW16c
const c0: f32[96,1,3,3]
const c1: f32[96]
v1: f32[1,96,56,56] = conv(v0, c0, c1) groups=96 pads=[1,1,1,1] strides=[2,2]
v2: f32[1,96,56,56]:NCHW16c = clip(v1) hi=6 lo=0
out v2
--- pack c0 OHWI16o; split c 16; split w_1 28; reorder n_1 c.o h_1 w_1.o w_1.i c.i; compute_at conv w_1.o; skip conv; reorder n h kh kw w o; unroll kw; unroll w; vectorize o; unroll w_1.i; vectorize c.i; parallel c.o; unroll w_1.o
09275a88eeab
===
dag
in v0: f32[1,96,56,56]:NCHW16c
const c0: f32[24,96,1,1]
const c1: f32[24]
v1: f32[1,24,56,56]:NCHW16c = conv(v0, c0, c1)
out v1
--- cache_write conv; pack c0 OIHW16i16o; split o.w 16; split w.w 14; reorder n.w h.w w.w.o w.w.i o.w.o o.w.i; compute_at conv w.w.o; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w.w.i; unroll o.w.o; vectorize o.w.i; parallel h.w
6dcc4311d949
===
dag
in v0: f32[1,24,56,56]:NCHW16c
const c0: f32[144,24,1,1]
const c1: f32[144]
v1: f32[1,144,56,56] = conv(v0, c0, c1)
v2: f32[1,144,56,56]:NCHW16c = clip(v1) hi=6 lo=0
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 3; split w_1 8; reorder n_1 c_1.o.o h_1 w_1.o w_1.i c_1.o.i c_1.i; compute_at conv w_1.o; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1.i; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
1550d0a260dc
===
dag
in v0: f32[1,144,56,56]:NCHW16c
const c0: f32[144,1,3,3]
const c1: f32[144]
v1: f32[1,144,56,56] = conv(v0, c0, c1) groups=144 pads=[1,1,1,1]
v2: f32[1,144,56,56]:NCHW16c = clip(v1) hi=6 lo=0
out v2
--- pack c0 OHWI16o; split c 16; split w_1 28; reorder n_1 c.o h_1 w_1.o w_1.i c.i; compute_at conv w_1.o; skip conv; reorder n h kh kw w o; unroll kw; unroll w; vectorize o; unroll w_1.i; vectorize c.i; parallel c.o; unroll w_1.o
50a59c9a91b2
===
dag
in v0: f32[1,144,56,56]:NCHW16c
in v1: f32[1,24,56,56]:NCHW16c
const c0: f32[24,144,1,1]
const c1: f32[24]
v2: f32[1,24,56,56] = conv(v0, c0, c1)
v3: f32[1,24,56,56]:NCHW16c = add(v2, v1)
out v3
--- pack c0 OIHW16i16o; split c_1 16; split w_1 14; reorder n_1 h_1 w_1.o w_1.i c_1.o c_1.i; compute_at conv w_1.o; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1.i; unroll c_1.o; vectorize c_1.i; parallel h_1
977124730ade
===
dag
in v0: f32[1,144,56,56]:NCHW16c
const c0: f32[144,1,3,3]
const c1: f32[144]
v1: f32[1,144,28,28] = conv(v0, c0, c1) groups=144 pads=[1,1,1,1] strides=[2,2]
v2: f32[1,144,28,28]:NCHW16c = clip(v1) hi=6 lo=0
out v2
--- pack c0 OHWI16o; split c 16; reorder n_1 c.o h_1 w_1 c.i; compute_at conv h_1; skip conv; reorder n h kh kw w o; unroll kw; unroll w; vectorize o; unroll w_1; vectorize c.i; parallel c.o
66a0382a3761
===
dag
in v0: f32[1,144,28,28]:NCHW16c
const c0: f32[32,144,1,1]
const c1: f32[32]
v1: f32[1,32,28,28]:NCHW16c = conv(v0, c0, c1)
out v1
--- cache_write conv; pack c0 OIHW16i16o; split o.w 16; split w.w 14; reorder n.w h.w w.w.o w.w.i o.w.o o.w.i; compute_at conv w.w.o; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w.w.i; unroll o.w.o; vectorize o.w.i; parallel h.w
49793d5be875
===
dag
in v0: f32[1,32,28,28]:NCHW16c
const c0: f32[192,32,1,1]
const c1: f32[192]
v1: f32[1,192,28,28] = conv(v0, c0, c1)
v2: f32[1,192,28,28]:NCHW16c = clip(v1) hi=6 lo=0
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; split w_1 14; reorder n_1 c_1.o.o h_1 w_1.o w_1.i c_1.o.i c_1.i; compute_at conv w_1.o; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1.i; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
3332da0a85e6
===
dag
in v0: f32[1,192,28,28]:NCHW16c
const c0: f32[192,1,3,3]
const c1: f32[192]
v1: f32[1,192,28,28] = conv(v0, c0, c1) groups=192 pads=[1,1,1,1]
v2: f32[1,192,28,28]:NCHW16c = clip(v1) hi=6 lo=0
out v2
--- pack c0 OHWI16o; split c 16; reorder n_1 c.o h_1 w_1 c.i; compute_at conv h_1; skip conv; reorder n h kh kw w o; unroll kw; unroll w; vectorize o; unroll w_1; vectorize c.i; parallel c.o
091454178048
===
dag
in v0: f32[1,192,28,28]:NCHW16c
in v1: f32[1,32,28,28]:NCHW16c
const c0: f32[32,192,1,1]
const c1: f32[32]
v2: f32[1,32,28,28] = conv(v0, c0, c1)
v3: f32[1,32,28,28]:NCHW16c = add(v2, v1)
out v3
--- pack c0 OIHW16i16o; split c_1 16; split w_1 14; reorder n_1 h_1 w_1.o w_1.i c_1.o c_1.i; compute_at conv w_1.o; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1.i; unroll c_1.o; vectorize c_1.i; parallel h_1
e2fc7c898a4d
===
dag
in v0: f32[1,192,28,28]:NCHW16c
const c0: f32[192,1,3,3]
const c1: f32[192]
v1: f32[1,192,14,14] = conv(v0, c0, c1) groups=192 pads=[1,1,1,1] strides=[2,2]
v2: f32[1,192,14,14]:NCHW16c = clip(v1) hi=6 lo=0
out v2
--- pack c0 OHWI16o; split c 16; reorder n_1 c.o h_1 w_1 c.i; compute_at conv h_1; skip conv; reorder n h kh kw w o; unroll kw; unroll w; vectorize o; unroll w_1; vectorize c.i; parallel c.o
0801a86eb57c
===
dag
in v0: f32[1,192,14,14]:NCHW16c
const c0: f32[64,192,1,1]
const c1: f32[64]
v1: f32[1,64,14,14]:NCHW16c = conv(v0, c0, c1)
out v1
--- cache_write conv; pack c0 OIHW16i16o; split o.w 16; split o.w.o 2; reorder n.w o.w.o.o h.w w.w o.w.o.i o.w.i; compute_at conv h.w; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w.w; unroll o.w.o.i; vectorize o.w.i; parallel o.w.o.o
945645a57b0e
===
dag
in v0: f32[1,64,14,14]:NCHW16c
const c0: f32[384,64,1,1]
const c1: f32[384]
v1: f32[1,384,14,14] = conv(v0, c0, c1)
v2: f32[1,384,14,14]:NCHW16c = clip(v1) hi=6 lo=0
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; reorder n_1 c_1.o.o h_1 w_1 c_1.o.i c_1.i; compute_at conv h_1; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
cb0e269b2d28
===
dag
in v0: f32[1,384,14,14]:NCHW16c
const c0: f32[384,1,3,3]
const c1: f32[384]
v1: f32[1,384,14,14] = conv(v0, c0, c1) groups=384 pads=[1,1,1,1]
v2: f32[1,384,14,14]:NCHW16c = clip(v1) hi=6 lo=0
out v2
--- pack c0 OHWI16o; split c 16; reorder n_1 c.o h_1 w_1 c.i; compute_at conv h_1; skip conv; reorder n h kh kw w o; unroll kw; unroll w; vectorize o; unroll w_1; vectorize c.i; parallel c.o
f0002b5641ba
===
dag
in v0: f32[1,384,14,14]:NCHW16c
in v1: f32[1,64,14,14]:NCHW16c
const c0: f32[64,384,1,1]
const c1: f32[64]
v2: f32[1,64,14,14] = conv(v0, c0, c1)
v3: f32[1,64,14,14]:NCHW16c = add(v2, v1)
out v3
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; reorder n_1 c_1.o.o h_1 w_1 c_1.o.i c_1.i; compute_at conv h_1; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
336073a54e4e
===
dag
in v0: f32[1,384,14,14]:NCHW16c
const c0: f32[96,384,1,1]
const c1: f32[96]
v1: f32[1,96,14,14]:NCHW16c = conv(v0, c0, c1)
out v1
--- cache_write conv; pack c0 OIHW16i16o; split o.w 16; split o.w.o 2; reorder n.w o.w.o.o h.w w.w o.w.o.i o.w.i; compute_at conv h.w; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w.w; unroll o.w.o.i; vectorize o.w.i; parallel o.w.o.o
baf4f1ac6af0
===
dag
in v0: f32[1,96,14,14]:NCHW16c
const c0: f32[576,96,1,1]
const c1: f32[576]
v1: f32[1,576,14,14] = conv(v0, c0, c1)
v2: f32[1,576,14,14]:NCHW16c = clip(v1) hi=6 lo=0
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; reorder n_1 c_1.o.o h_1 w_1 c_1.o.i c_1.i; compute_at conv h_1; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
14ae916a9bb5
===
dag
in v0: f32[1,576,14,14]:NCHW16c
const c0: f32[576,1,3,3]
const c1: f32[576]
v1: f32[1,576,14,14] = conv(v0, c0, c1) groups=576 pads=[1,1,1,1]
v2: f32[1,576,14,14]:NCHW16c = clip(v1) hi=6 lo=0
out v2
--- pack c0 OHWI16o; split c 16; reorder n_1 c.o h_1 w_1 c.i; compute_at conv h_1; skip conv; reorder n h kh kw w o; unroll kw; unroll w; vectorize o; unroll w_1; vectorize c.i; parallel c.o
eff2db84e78c
===
dag
in v0: f32[1,576,14,14]:NCHW16c
in v1: f32[1,96,14,14]:NCHW16c
const c0: f32[96,576,1,1]
const c1: f32[96]
v2: f32[1,96,14,14] = conv(v0, c0, c1)
v3: f32[1,96,14,14]:NCHW16c = add(v2, v1)
out v3
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; reorder n_1 c_1.o.o h_1 w_1 c_1.o.i c_1.i; compute_at conv h_1; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
f56ca1c7e22a
===
dag
in v0: f32[1,576,14,14]:NCHW16c
const c0: f32[576,1,3,3]
const c1: f32[576]
v1: f32[1,576,7,7] = conv(v0, c0, c1) groups=576 pads=[1,1,1,1] strides=[2,2]
v2: f32[1,576,7,7]:NCHW16c = clip(v1) hi=6 lo=0
out v2
--- pack c0 OHWI16o; split c 16; reorder n_1 c.o h_1 w_1 c.i; compute_at conv h_1; skip conv; reorder n h kh kw w o; unroll kw; unroll w; vectorize o; unroll w_1; vectorize c.i; parallel c.o
d560ae031b9f
===
dag
in v0: f32[1,576,7,7]:NCHW16c
const c0: f32[160,576,1,1]
const c1: f32[160]
v1: f32[1,160,7,7]:NCHW16c = conv(v0, c0, c1)
out v1
--- cache_write conv; pack c0 OIHW16i16o; split o.w 16; split o.w.o 2; reorder n.w o.w.o.o h.w w.w o.w.o.i o.w.i; compute_at conv h.w; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w.w; unroll o.w.o.i; vectorize o.w.i; parallel o.w.o.o
2ee43acfef62
===
dag
in v0: f32[1,160,7,7]:NCHW16c
const c0: f32[960,160,1,1]
const c1: f32[960]
v1: f32[1,960,7,7] = conv(v0, c0, c1)
v2: f32[1,960,7,7]:NCHW16c = clip(v1) hi=6 lo=0
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; reorder n_1 c_1.o.o h_1 w_1 c_1.o.i c_1.i; compute_at conv h_1; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
2f62fb54658d
===
dag
in v0: f32[1,960,7,7]:NCHW16c
const c0: f32[960,1,3,3]
const c1: f32[960]
v1: f32[1,960,7,7] = conv(v0, c0, c1) groups=960 pads=[1,1,1,1]
v2: f32[1,960,7,7]:NCHW16c = clip(v1) hi=6 lo=0
out v2
--- pack c0 OHWI16o; split c 16; reorder n_1 c.o h_1 w_1 c.i; compute_at conv h_1; skip conv; reorder n h kh kw w o; unroll kw; unroll w; vectorize o; unroll w_1; vectorize c.i; parallel c.o
08a270609f31
===
dag
in v0: f32[1,960,7,7]:NCHW16c
in v1: f32[1,160,7,7]:NCHW16c
const c0: f32[160,960,1,1]
const c1: f32[160]
v2: f32[1,160,7,7] = conv(v0, c0, c1)
v3: f32[1,160,7,7]:NCHW16c = add(v2, v1)
out v3
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; reorder n_1 c_1.o.o h_1 w_1 c_1.o.i c_1.i; compute_at conv h_1; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
2316aab50072
===
dag
in v0: f32[1,960,7,7]:NCHW16c
const c0: f32[320,960,1,1]
const c1: f32[320]
v1: f32[1,320,7,7]:NCHW16c = conv(v0, c0, c1)
out v1
--- cache_write conv; pack c0 OIHW16i16o; split o.w 16; split o.w.o 2; reorder n.w o.w.o.o h.w w.w o.w.o.i o.w.i; compute_at conv h.w; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w.w; unroll o.w.o.i; vectorize o.w.i; parallel o.w.o.o
e54058829ae5
===
dag
in v0: f32[1,320,7,7]:NCHW16c
const c0: f32[1280,320,1,1]
const c1: f32[1280]
v1: f32[1,1280,7,7] = conv(v0, c0, c1)
v2: f32[1,1280,7,7]:NCHW16c = clip(v1) hi=6 lo=0
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; reorder n_1 c_1.o.o h_1 w_1 c_1.o.i c_1.i; compute_at conv h_1; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
c9fdbb64ba21
===
dag
in v0: f32[1,1280,7,7]:NCHW16c
v1: f32[1,1280] = reduce_mean(v0) axes=[2,3] keep=0
out v1
--- split n_1 16; reorder m n_1.o n_1.i; compute_at reduce_mean n_1.o; reorder n h w c; unroll w; vectorize c; vectorize n_1.i; parallel n_1.o
cc21d6287db9
===
dag
in v0: f32[1,1280]
const c0: f32[1000,1280]
const c1: f32[1000]
v1: f32[1,1000] = dense(v0, c0, c1)
out v1
--- cache_write dense; pack c0 OI16o; split n.w 16; split n.w.o 4; reorder n.w.o.o m.w n.w.o.i n.w.i; compute_at dense n.w.o.o; split k 4; split n 16; reorder k.o k.i m n.o n.i; unroll k.i; unroll m; unroll n.o; vectorize n.i; unroll m.w; unroll n.w.o.i; vectorize n.w.i; parallel n.w.o.o; cut n.w.o.o 15
dcbe553b9ad0
===
dag
in v0: f32[1,3,224,224]
const c0: f32[64,3,3,3]
const c1: f32[64]
v1: f32[1,64,111,111] = conv(v0, c0, c1) strides=[2,2]
v2: f32[1,64,111,111]:NCHW16c = relu(v1)
out v2
--- pack c0 OHWI16o; split c_1 16; split c_1.o 2; split w_1 14; reorder n_1 c_1.o.o h_1 w_1.o w_1.i c_1.o.i c_1.i; compute_at conv w_1.o; split o 16; reorder n h kh kw c w o.o o.i; unroll kw; unroll w; unroll o.o; vectorize o.i; unroll w_1.i; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o; cut w_1.o 7
9f679ffa2002
===
dag
in v0: f32[1,64,111,111]:NCHW16c
v1: f32[1,64,55,55]:NCHW16c = max_pool(v0) kernel=[3,3] strides=[2,2]
out v1
--- cache_write max_pool; split c.w 16; split w.w 1; reorder n.w c.w.o h.w w.w.o w.w.i c.w.i; compute_at max_pool w.w.o; reorder n h kh kw w c; unroll kw; unroll w; vectorize c; unroll w.w.i; vectorize c.w.i; parallel c.w.o
98d5c6d94acb
===
dag
in v0: f32[1,64,55,55]:NCHW16c
const c0: f32[16,64,1,1]
const c1: f32[16]
v1: f32[1,16,55,55] = conv(v0, c0, c1)
v2: f32[1,16,55,55]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split w_1 28; reorder n_1 h_1 w_1.o w_1.i c_1; compute_at conv w_1.o; split c 16; reorder n h c.o kh kw c.i w o; unroll w; vectorize o; unroll w_1.i; vectorize c_1; parallel h_1; cut w_1.o 1
2b2f9a781823
===
dag
in v0: f32[1,16,55,55]:NCHW16c
const c0: f32[64,16,1,1]
const c1: f32[64]
v1: f32[1,64,55,55] = conv(v0, c0, c1)
v2: f32[1,64,55,55]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; split w_1 11; reorder n_1 c_1.o.o h_1 w_1.o w_1.i c_1.o.i c_1.i; compute_at conv w_1.o; split o 16; reorder n h kh kw c w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1.i; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
2828dbe52115
===
dag
in v0: f32[1,16,55,55]:NCHW16c
const c0: f32[64,16,3,3]
const c1: f32[64]
v1: f32[1,64,55,55] = conv(v0, c0, c1) pads=[1,1,1,1]
v2: f32[1,64,55,55]:NCHW16c = relu(v1)
out v2
--- compute conv2d.winograd m=4; absorb wino.y relu; split y.th 2; compute_at wino.m y.th.o; compute_at wino.v y.th.o; vectorize v.c; fuse m.th m.tw; split m.th_m.tw 6; split m.o 16; reorder m.th_m.tw.o m.c m.th_m.tw.i m.o.o m.o.i; unroll m.th_m.tw.i; unroll m.o.o; vectorize m.o.i; cut m.th_m.tw.o 4; split y.o 16; reorder y.o.o y.th.i y.tw y.o.i; vectorize y.o.i; parallel y.th.o
9c7bc06a6c94
===
dag
in v0: f32[1,128,55,55]:NCHW16c
const c0: f32[16,128,1,1]
const c1: f32[16]
v1: f32[1,16,55,55] = conv(v0, c0, c1)
v2: f32[1,16,55,55]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split w_1 28; reorder n_1 h_1 w_1.o w_1.i c_1; compute_at conv w_1.o; split c 16; reorder n h c.o kh kw c.i w o; unroll w; vectorize o; unroll w_1.i; vectorize c_1; parallel h_1; cut w_1.o 1
7cebc19f55d2
===
dag
in v0: f32[1,128,55,55]:NCHW16c
v1: f32[1,128,27,27]:NCHW16c = max_pool(v0) kernel=[3,3] strides=[2,2]
out v1
--- cache_write max_pool; split c.w 16; split w.w 1; reorder n.w c.w.o h.w w.w.o w.w.i c.w.i; compute_at max_pool w.w.o; reorder n h kh kw w c; unroll kw; unroll w; vectorize c; unroll w.w.i; vectorize c.w.i; parallel c.w.o
6d3550b4330a
===
dag
in v0: f32[1,128,27,27]:NCHW16c
const c0: f32[32,128,1,1]
const c1: f32[32]
v1: f32[1,32,27,27] = conv(v0, c0, c1)
v2: f32[1,32,27,27]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split c_1 16; split w_1 9; reorder n_1 h_1 w_1.o w_1.i c_1.o c_1.i; compute_at conv w_1.o; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1.i; unroll c_1.o; vectorize c_1.i; parallel h_1
c56f61874003
===
dag
in v0: f32[1,32,27,27]:NCHW16c
const c0: f32[128,32,1,1]
const c1: f32[128]
v1: f32[1,128,27,27] = conv(v0, c0, c1)
v2: f32[1,128,27,27]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; split w_1 9; reorder n_1 c_1.o.o h_1 w_1.o w_1.i c_1.o.i c_1.i; compute_at conv w_1.o; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1.i; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
eb0e61177c4e
===
dag
in v0: f32[1,32,27,27]:NCHW16c
const c0: f32[128,32,3,3]
const c1: f32[128]
v1: f32[1,128,27,27] = conv(v0, c0, c1) pads=[1,1,1,1]
v2: f32[1,128,27,27]:NCHW16c = relu(v1)
out v2
--- compute conv2d.winograd m=4; absorb wino.y relu; split v.c 16; reorder v.c.o v.th v.tw v.c.i; vectorize v.c.i; fuse m.th m.tw; split m.th_m.tw 7; split m.o 48; split m.o.i 16; reorder m.o.o m.th_m.tw.o m.c m.th_m.tw.i m.o.i.o m.o.i.i; unroll m.th_m.tw.i; unroll m.o.i.o; vectorize m.o.i.i; cut m.o.o 2; split y.o 16; reorder y.o.o y.th y.tw y.o.i; vectorize y.o.i; parallel v.c.o; parallel m.i; parallel y.o.o
b64ced8fc139
===
dag
in v0: f32[1,256,27,27]:NCHW16c
const c0: f32[32,256,1,1]
const c1: f32[32]
v1: f32[1,32,27,27] = conv(v0, c0, c1)
v2: f32[1,32,27,27]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split c_1 16; split w_1 9; reorder n_1 h_1 w_1.o w_1.i c_1.o c_1.i; compute_at conv w_1.o; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1.i; unroll c_1.o; vectorize c_1.i; parallel h_1
01c9e5017ec8
===
dag
in v0: f32[1,256,27,27]:NCHW16c
v1: f32[1,256,13,13]:NCHW16c = max_pool(v0) kernel=[3,3] strides=[2,2]
out v1
--- cache_write max_pool; split c.w 16; split w.w 1; reorder n.w c.w.o h.w w.w.o w.w.i c.w.i; compute_at max_pool w.w.o; reorder n h kh kw w c; unroll kw; unroll w; vectorize c; unroll w.w.i; vectorize c.w.i; parallel c.w.o
7c16fab66f6f
===
dag
in v0: f32[1,256,13,13]:NCHW16c
const c0: f32[48,256,1,1]
const c1: f32[48]
v1: f32[1,48,13,13] = conv(v0, c0, c1)
v2: f32[1,48,13,13]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split c_1 16; reorder n_1 c_1.o h_1 w_1 c_1.i; compute_at conv h_1; split c 16; reorder n h c.o kh kw c.i w o; unroll w; vectorize o; unroll w_1; vectorize c_1.i; parallel c_1.o
9dac598c0a44
===
dag
in v0: f32[1,48,13,13]:NCHW16c
const c0: f32[192,48,1,1]
const c1: f32[192]
v1: f32[1,192,13,13] = conv(v0, c0, c1)
v2: f32[1,192,13,13]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; reorder n_1 c_1.o.o h_1 w_1 c_1.o.i c_1.i; compute_at conv h_1; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
4a5fec979e2b
===
dag
in v0: f32[1,48,13,13]:NCHW16c
const c0: f32[192,48,3,3]
const c1: f32[192]
v1: f32[1,192,13,13] = conv(v0, c0, c1) pads=[1,1,1,1]
v2: f32[1,192,13,13]:NCHW16c = relu(v1)
out v2
--- compute conv2d.winograd m=4; absorb wino.y relu; split v.c 16; reorder v.c.o v.th v.tw v.c.i; vectorize v.c.i; fuse m.th m.tw; split m.th_m.tw 6; split m.o 64; split m.o.i 16; reorder m.o.o m.th_m.tw.o m.c m.th_m.tw.i m.o.i.o m.o.i.i; unroll m.th_m.tw.i; unroll m.o.i.o; vectorize m.o.i.i; cut m.th_m.tw.o 2; split y.o 16; reorder y.o.o y.th y.tw y.o.i; vectorize y.o.i; parallel v.c.o; parallel m.i; parallel y.o.o
0e8a16d8494c
===
dag
in v0: f32[1,384,13,13]:NCHW16c
const c0: f32[48,384,1,1]
const c1: f32[48]
v1: f32[1,48,13,13] = conv(v0, c0, c1)
v2: f32[1,48,13,13]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split c_1 16; reorder n_1 c_1.o h_1 w_1 c_1.i; compute_at conv h_1; split c 16; reorder n h c.o kh kw c.i w o; unroll w; vectorize o; unroll w_1; vectorize c_1.i; parallel c_1.o
b9707357beb9
===
dag
in v0: f32[1,384,13,13]:NCHW16c
const c0: f32[64,384,1,1]
const c1: f32[64]
v1: f32[1,64,13,13] = conv(v0, c0, c1)
v2: f32[1,64,13,13]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; reorder n_1 c_1.o.o h_1 w_1 c_1.o.i c_1.i; compute_at conv h_1; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
f5d4070fc435
===
dag
in v0: f32[1,64,13,13]:NCHW16c
const c0: f32[256,64,1,1]
const c1: f32[256]
v1: f32[1,256,13,13] = conv(v0, c0, c1)
v2: f32[1,256,13,13]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; reorder n_1 c_1.o.o h_1 w_1 c_1.o.i c_1.i; compute_at conv h_1; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
458085c54851
===
dag
in v0: f32[1,64,13,13]:NCHW16c
const c0: f32[256,64,3,3]
const c1: f32[256]
v1: f32[1,256,13,13] = conv(v0, c0, c1) pads=[1,1,1,1]
v2: f32[1,256,13,13]:NCHW16c = relu(v1)
out v2
--- compute conv2d.winograd m=4; absorb wino.y relu; split u.o 8; reorder u.o.o u.c u.o.i; vectorize u.o.i; split v.c 16; reorder v.c.o v.th v.tw v.c.i; vectorize v.c.i; fuse m.th m.tw; split m.th_m.tw 6; split m.o 64; split m.o.i 16; reorder m.o.o m.th_m.tw.o m.c m.th_m.tw.i m.o.i.o m.o.i.i; unroll m.th_m.tw.i; unroll m.o.i.o; vectorize m.o.i.i; cut m.th_m.tw.o 2; split y.o 16; reorder y.o.o y.th y.tw y.o.i; vectorize y.o.i; parallel v.c.o; parallel m.i; parallel y.o.o
28947446a668
===
dag
in v0: f32[1,512,13,13]:NCHW16c
const c0: f32[64,512,1,1]
const c1: f32[64]
v1: f32[1,64,13,13] = conv(v0, c0, c1)
v2: f32[1,64,13,13]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; reorder n_1 c_1.o.o h_1 w_1 c_1.o.i c_1.i; compute_at conv h_1; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o
4c650cf1befb
===
dag
in v0: f32[1,512,13,13]:NCHW16c
const c0: f32[1000,512,1,1]
const c1: f32[1000]
v1: f32[1,1000,13,13] = conv(v0, c0, c1)
v2: f32[1,1000,13,13]:NCHW16c = relu(v1)
out v2
--- pack c0 OIHW16i16o; split c_1 16; split c_1.o 2; reorder n_1 c_1.o.o h_1 w_1 c_1.o.i c_1.i; compute_at conv h_1; split c 16; split o 16; reorder n h c.o kh kw c.i w o.o o.i; unroll w; unroll o.o; vectorize o.i; unroll w_1; unroll c_1.o.i; vectorize c_1.i; parallel c_1.o.o; cut c_1.o.o 31
907b2f15928e
===
dag
in v0: f32[1,1000,13,13]:NCHW16c
v1: f32[1,1000] = reduce_mean(v0) axes=[2,3] keep=0
out v1
--- split n_1 16; reorder m n_1.o n_1.i; compute_at reduce_mean n_1.o; reorder n h w c; vectorize c; vectorize n_1.i; parallel n_1.o; cut n_1.o 62
65368150d5ac
===
