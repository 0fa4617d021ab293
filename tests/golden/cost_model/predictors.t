fn copy(x: in f32[64,100], y: out f32[64,100]) {
for i in 0..64 {
for j in 0..100 vector {
y[i,j] = x[i,j]
}}}
--- cpu 1
estimate 9.14
above_roof -3.2
flops 19.9
bytes 16.6
intensity 3.46
cycles -9.42
multiply_share 0
load_share 0.485
store_share 0.971
decode_share 0.37
wait_share 0
spill_share 0
instructions -8.95
lanes_used 0.893
masked 0
gathers 0
scalars 0
registers 0.0312
most_registers 0.0312
sums 0
copies 0
body 4.09
trips 6
depth 2
streams 2
element_bits 32
entered -18.9
statements 1
code 4.09
functions 1
beyond_l1 -0.379
beyond_l2 -9.97
beyond_l3 -9.97
asked -0.963
written 0.5
reuse_l1_quarter 0
reuse_l1 0
reuse_l2_quarter 0
reuse_l2 0
reuse_beyond 0
far 0
aliased 0
step 8.65
places 1.58
pages 1.58
prefetches -9.97
prefetch_burst 0
prefetch_ahead 0
constants 0
scratch 0
parallel 0
idle 0
regions 0
launches 0
blocks 0
block_threads 0
occupancy 0
waves 0
filled 0
units 0
shared 0
thread_registers 0
block_issue 0
block_multiply 0
block_near 0
block_latency 0
coalescing 0
threads 1
vector_bits 512
vector_registers 32
ghz 3
fma_rate 2
fma_latency 4
loads 2
stores 1
decode 6
l1 15
l2 20
l3 24
l2_rate 5.61
l3_rate 4.64
memory_rate 3.32
cores 1
unit_threads 0
===
fn add(x: in f32[3,4096], y: in f32[4096,3], z: out f32[3,4096]) {
for i in 0..3 parallel {
for j in 0..4096 {
z[i,j] = x[i,j] + y[j,i]
}}}
--- cpu 2
estimate 14.4
above_roof 2.58
flops 19.9
bytes 16.6
intensity 3.46
cycles -6.65
multiply_share 0.459
load_share 0.917
store_share 0.917
decode_share 0.841
wait_share 0
spill_share 0
instructions -4.44
lanes_used 0.0625
masked 0
gathers 0
scalars 1
registers 0.0312
most_registers 0.0312
sums 0
copies 0
body 2.7
trips 12
depth 2
streams 3
element_bits 32
entered -17.6
statements 1
code 2.7
functions 1
beyond_l1 4.98
beyond_l2 -9.97
beyond_l3 -9.97
asked 3.98
written 0.333
reuse_l1_quarter 0
reuse_l1 0
reuse_l2_quarter 0
reuse_l2 0
reuse_beyond 0
far 0
aliased 0
step 2.78
places 2
pages 2
prefetches -9.97
prefetch_burst 0
prefetch_ahead 0
constants 0
scratch 0
parallel 1
idle 0.25
regions 1
launches 0
blocks 0
block_threads 0
occupancy 0
waves 0
filled 0
units 0
shared 0
thread_registers 0
block_issue 0
block_multiply 0
block_near 0
block_latency 0
coalescing 0
threads 2
vector_bits 512
vector_registers 32
ghz 3
fma_rate 2
fma_latency 4
loads 2
stores 1
decode 6
l1 15
l2 20
l3 24
l2_rate 5.61
l3_rate 4.64
memory_rate 3.32
cores 1
unit_threads 0
===
fn product(a: in f32[32,512], b: const f32[512,64], c: out f32[32,64]) {
for i in 0..8 {
alloc t: f32[4,64] @local
for k in 0..512 {
for p in 0..4 unrolled {
for q in 0..4 unrolled {
for l in 0..16 vector {
block product(vp: spatial 0..4 = p, vq: spatial 0..64 = q*16+l, vk: reduce 0..512 = k) {
init { t[vp,vq] = 0.0 }
sum t[vp,vq] <- a[i*4+vp,vk] * b[vk,vq]
}}}}}
for p in 0..4 unrolled {
for q in 0..4 unrolled {
for l in 0..16 vector {
c[i*4+p,q*16+l] = t[p,q*16+l]
}}}}}
--- cpu 1
estimate 14
above_roof 1.68
flops 19.9
bytes 16.6
intensity 3.46
cycles -4.84
multiply_share 0.967
load_share 0.484
store_share 0.00378
decode_share 0.444
wait_share 0.484
spill_share 0
instructions -3.45
lanes_used 1
masked 0
gathers 0
scalars 0.498
registers 0.654
most_registers 0.656
sums 15.9
copies 4
body 4.52
trips 8.98
depth 5
streams 2
element_bits 32
entered -16.6
statements 2
code 5.43
functions 1
beyond_l1 4.39
beyond_l2 0.391
beyond_l3 0.391
asked 4.4
written 0.00389
reuse_l1_quarter 0
reuse_l1 0
reuse_l2_quarter 0.498
reuse_l2 0
reuse_beyond 0
far 0
aliased 0
step 5.18
places 2.58
pages 1.58
prefetches -9.97
prefetch_burst 0
prefetch_ahead 0
constants 17
scratch 10
parallel 0
idle 0
regions 0
launches 0
blocks 0
block_threads 0
occupancy 0
waves 0
filled 0
units 0
shared 0
thread_registers 0
block_issue 0
block_multiply 0
block_near 0
block_latency 0
coalescing 0
threads 1
vector_bits 512
vector_registers 32
ghz 3
fma_rate 2
fma_latency 4
loads 2
stores 1
decode 6
l1 15
l2 20
l3 24
l2_rate 5.61
l3_rate 4.64
memory_rate 3.32
cores 1
unit_threads 0
===
fn move(x: in f32[4096,1024], y: out f32[4096,1024]) {
for b in 0..4096 bound(grid.x) {
for t in 0..256 bound(block.x) {
for k in 0..4 {
y[b,k*256+t] = x[b,t*4+k]
}}}}
--- h100 1
estimate 13.9
above_roof 2
flops 19.9
bytes 16.6
intensity 3.46
cycles -9.97
multiply_share 0
load_share 0
store_share 0
decode_share 0
wait_share 0
spill_share 0
instructions -9.97
lanes_used 0
masked 0
gathers 0
scalars 0
registers 0
most_registers 0
sums 0
copies 0
body 0
trips 0
depth 0
streams 0
element_bits 0
entered -19.9
statements 0
code 0
functions 1
beyond_l1 9.71
beyond_l2 -9.97
beyond_l3 -9.97
asked 9.71
written 0
reuse_l1_quarter 0
reuse_l1 0
reuse_l2_quarter 0
reuse_l2 0
reuse_beyond 0
far 0
aliased 0
step 0
places 0
pages 0
prefetches -9.97
prefetch_burst 0
prefetch_ahead 0
constants 0
scratch 0
parallel 0
idle 0
regions 0
launches 1
blocks 12
block_threads 8
occupancy 0.75
waves 2.63
filled 0.862
units 1
shared 0
thread_registers 37
block_issue 0.2
block_multiply 0
block_near 1
block_latency 0.975
coalescing 0.4
threads 1
vector_bits 128
vector_registers 63
ghz 1.98
fma_rate 32
fma_latency 4
loads 8
stores 8
decode 128
l1 14.8
l2 25.6
l3 0
l2_rate 4.64
l3_rate 3.79
memory_rate 3.79
cores 7.06
unit_threads 11
===
