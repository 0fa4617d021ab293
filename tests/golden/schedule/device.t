dag d
in x: f32[1,32,112,112]
const w: f32[32,1,3,3]
const b: f32[32]
y: f32[1,32,112,112] = conv(x, w, b) groups=32 pads=[1,1,1,1]
z: f32[1,32,112,112] = clip(y) lo=0 hi=6
out z
--- cuda:h200
# block.depthwise form=loops clip.vector=1 clip.tile=2 clip.threads=256 clip.unroll=16
split h_1 2
reorder n_1 c h_1.o w_1 h_1.i
fuse n_1 c
fuse n_1_c h_1.o
fuse n_1_c_h_1.o w_1
split n_1_c_h_1.o_w_1 256
compute_at conv n_1_c_h_1.o_w_1.i
skip conv
reorder n o w kh kw h
unroll kw
unroll kh
unroll h
bind n_1_c_h_1.o_w_1.o grid.x
bind n_1_c_h_1.o_w_1.i block.x
unroll h_1.i
===
dag d
in x: f32[1,32,56,56]:NCHW8c
const w: f32[32,1,3,3]
y: f32[1,32,28,28]:NCHW8c = conv(x, w) groups=32 strides=[2,2] pads=[1,1,1,1]
out y
--- cuda:t4
# block.loops conv.along=o.w conv.vector=1 conv.tile=1 conv.threads=256 conv.unroll=16
cache_write conv
split o.w 8
reorder n.w o.w.o h.w w.w o.w.i
fuse n.w o.w.o
fuse n.w_o.w.o h.w
fuse n.w_o.w.o_h.w w.w
fuse n.w_o.w.o_h.w_w.w o.w.i
split n.w_o.w.o_h.w_w.w_o.w.i 256
compute_at conv n.w_o.w.o_h.w_w.w_o.w.i.i
skip conv
reorder n o h w kh kw
unroll kw
unroll kh
bind n.w_o.w.o_h.w_w.w_o.w.i.o grid.x
bind n.w_o.w.o_h.w_w.w_o.w.i.i block.x
===
dag p
in x: f32[1,64,112,112]
y = max_pool(x) kernel=[3,3] strides=[2,2] pads=[1,1,1,1]
out y
--- opencl:opencl
# block.loops max_pool.vector=1 max_pool.tile=4 max_pool.threads=256 max_pool.unroll=4
cache_write max_pool
split h.w 4
reorder n.w c.w h.w.o w.w h.w.i
fuse n.w c.w
fuse n.w_c.w h.w.o
fuse n.w_c.w_h.w.o w.w
split n.w_c.w_h.w.o_w.w 256
compute_at max_pool n.w_c.w_h.w.o_w.w.i
skip max_pool
reorder n c w kh kw h
unroll kw
unroll h
bind n.w_c.w_h.w.o_w.w.o grid.x
bind n.w_c.w_h.w.o_w.w.i block.x
unroll h.w.i
===
dag s
in x: f32[1,1000]
y = softmax(x)
out y
--- cuda:h200
# block.loops form=rows rows.threads=64 rows.unroll=4
inline softmax.exp
split m_4 1
reorder m_4.o n_3 m_4.i
split n_3 64
reorder n_3.i m_4.i n_3.o
compute_at softmax.inverse m_4.o
compute_at softmax.sum m_4.o
reorder n_2 m_2
split n_2 64
split n_2.o 4
reorder n_2.i m_2 n_2.o.o n_2.o.i
rfactor softmax.sum n_2.i
unroll n_2.o.i
split n_2.i.rf 8
reorder n_2.i.rf.i m_2.rf n_2.i.rf.o
rfactor softmax.sum n_2.i.rf.i as softmax.sum.tree
reorder m_2.rf.rf n_2.i.rf.i.rf
compute_at softmax.max m_4.o
reorder n m
split n 64
split n.o 4
reorder n.i m n.o.o n.o.i
rfactor softmax.max n.i
unroll n.o.i
split n.i.rf 8
reorder n.i.rf.i m.rf n.i.rf.o
rfactor softmax.max n.i.rf.i as softmax.max.tree
reorder m.rf.rf n.i.rf.i.rf
bind m_4.o grid.x
scope v1.inverse shared
scope v1.sum shared
scope softmax.sum.rf shared
scope softmax.sum.tree shared
scope v1.max shared
scope softmax.max.rf shared
scope softmax.max.tree shared
bind n_3.i block.x
bind n_2.i block.x
bind n_2.i.rf.i block.x
bind n.i block.x
bind n.i.rf.i block.x
===
dag a
in x: f32[1,512,7,7]
y = avg_pool(x) kernel=[7,7]
out y
--- cuda:t4
# block.loops form=rows rows.threads=32 rows.together=4 rows.unroll=1
split c_1 4
reorder n_1 h_1 w_1 c_1.o c_1.i
compute_at avg_pool c_1.o
reorder n h w kh kw c
fuse kh kw
split kh_kw 32
reorder kh_kw.i c kh_kw.o
rfactor avg_pool kh_kw.i
split kh_kw.i.rf 8
reorder kh_kw.i.rf.i c.rf kh_kw.i.rf.o
rfactor avg_pool kh_kw.i.rf.i as avg_pool.tree
reorder c.rf.rf kh_kw.i.rf.i.rf
fuse n_1 h_1
fuse n_1_h_1 w_1
fuse n_1_h_1_w_1 c_1.o
bind n_1_h_1_w_1_c_1.o grid.x
scope v1.sum shared
scope avg_pool.rf shared
scope avg_pool.tree shared
bind c_1.i block.y
bind kh_kw.i block.x
bind c block.y
bind kh_kw.i.rf.i block.x
bind c.rf block.y
bind c.rf.rf block.y
===
dag v
in x: f32[1,512]
const w: f32[1000,512]
const b: f32[1000]
y = dense(x, w, b)
out y
--- cuda:h200
# block.dense form=rows rows.threads=64 rows.together=2 rows.unroll=4
split n 2
reorder m n.o k n.i
split k 64
split k.o 4
reorder k.i n.i k.o.o k.o.i
rfactor dense k.i
unroll k.o.i
split k.i.rf 8
reorder k.i.rf.i n.i.rf k.i.rf.o
rfactor dense k.i.rf.i as dense.tree
reorder n.i.rf.rf k.i.rf.i.rf
fuse m n.o
bind m_n.o grid.x
scope dense.rf shared
scope dense.tree shared
bind k.i block.x
bind n.i block.y
bind k.i.rf.i block.x
bind n.i.rf block.y
bind n.i.rf.rf block.y
===
dag e
in x: f32[8,64,56,56]
in y: f32[8,64,56,56]
v = add(x, y)
z = relu(v)
out z
--- cuda:h200
# block.loops relu.vector=4 relu.threads=256 relu.each=1
inline add
split w_1 4
reorder n_1 c_1 h_1 w_1.o w_1.i
fuse n_1 c_1
fuse n_1_c_1 h_1
fuse n_1_c_1_h_1 w_1.o
split n_1_c_1_h_1_w_1.o 256
bind n_1_c_1_h_1_w_1.o.o grid.x
bind n_1_c_1_h_1_w_1.o.i block.x
vectorize w_1.i
===
dag r
in x: f32[1000000]
y = reduce_max(x)
out y
--- cuda:t4
# block.loops 
split i 16384
reorder i.i i.o
rfactor reduce_max i.i
scope reduce_max.rf global
split i.i 256
bind i.i.o grid.x
bind i.i.i block.x
split i.i.rf 256
reorder i.i.rf.i i.i.rf.o
rfactor reduce_max i.i.rf.i as reduce_max.tree
scope reduce_max.tree global
bind i.i.rf.i block.x
===
dag c
in x: f32[1,64,28,28]:NCHW16c
const w: f32[64,64,1,1]
const b: f32[64]
y: f32[1,64,28,28] = conv(x, w, b)
z: f32[1,64,28,28]:NCHW16c = relu(y)
out z
--- opencl:pocl
# conv tile=2x14 order=weights unroll=1 ahead=none
pack c0 OIHW16i16o
split c_1 16
split c_1.o 2
split w_1 14
reorder n_1 c_1.o.o h_1 w_1.o w_1.i c_1.o.i c_1.i
compute_at conv w_1.o
split c 16
split o 16
reorder n h c.o kh kw c.i w o.o o.i
unroll w
unroll o.o
vectorize o.i
unroll w_1.i
unroll c_1.o.i
vectorize c_1.i
fuse n_1 c_1.o.o
bind n_1_c_1.o.o grid.z
bind h_1 grid.y
bind w_1.o grid.x
===
dag t
in x: f32[12,64,64]
y = transpose(x) perm=[0,2,1]
out y
--- cuda:t4
# block.loops transpose.square=32
split c 32
split w 32
reorder n c.o w.o c.i w.i
cache_read v0 transpose w.o
split c.i 8
reorder c.i.i w.i c.i.o
split v0.c.1 8
reorder v0.c.0 v0.c.1.i v0.c.2 v0.c.1.o
fuse n c.o
fuse n_c.o w.o
bind n_c.o_w.o grid.x
scope v0.c shared
gap v0.c 3 1
bind v0.c.1.i block.y
bind v0.c.2 block.x
bind c.i.i block.y
bind w.i block.x
===
