fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- fuse i j; split i_j 8; vectorize i_j.i; parallel i_j.o
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i_j.o in 0..3 parallel {
		for i_j.i in 0..8 vector {
			block b(vi: spatial 0..4 = (i_j.o * 8 + i_j.i) / 6, vj: spatial 0..6 = (i_j.o * 8 + i_j.i) % 6) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
===
fn f(x: in f32[4, 6], y: out f32[6]) {
	for j in 1..5 {
		for i in 2..4 {
			block b(vi: reduce 0..4 = i, vj: spatial 0..6 = j) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- x[vi, vj]
			}
		}
	}
}
--- fuse j i; parallel j_i
! trace:2: parallel j_i: a reduction depends on it
===
fn f(x: in f32[24], y: out f32[24]) {
	for i in 0..24 {
		block b(vi: spatial 0..24 = i) {
			y[vi] = x[vi]
		}
	}
}
--- split i 6; fuse i.o i.i
fn f(x: in f32[24], y: out f32[24]) {
	for i.o_i.i in 0..24 {
		block b(vi: spatial 0..24 = i.o_i.i) {
			y[vi] = x[vi]
		}
	}
}
===
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- fuse j i
! trace:1: fuse j: its body is not loop i alone
===
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- parallel i; fuse i j
! trace:2: fuse i: it is no longer a serial loop
===
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..i {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- fuse i j
! trace:1: fuse i: its extent and that of loop j must be positive constants
===
fn f(x: in f32[4], y: out f32[4], i_j: out f32[4]) {
	for i in 0..2 {
		for j in 0..2 {
			block b(vi: spatial 0..4 = i * 2 + j) {
				y[vi] = x[vi]
				i_j[vi] = x[vi]
			}
		}
	}
}
--- fuse i j
! trace:1: fuse i: the new name i_j is too long or already in use
===
fn f(x: in f32[4], y: out f32[4]) {
	for i in 0..2 {
		for j in 0..4 {
			block b(vi: spatial 0..4 = j) {
				y[vi] = x[vi]
			}
		}
	}
}
--- fuse i j
! trace:1: fuse i: a block below it does the same in every iteration
===
fn f(h: inout f32[5, 7]) {
	for s in 0..4 {
		for a in 0..7 {
			block b(vs: scan 0..4 = s, va: spatial 0..7 = a) {
				h[vs + 1, va] = h[vs, va] + 1.0
			}
		}
	}
}
--- fuse s a; split s_a 7; reorder s_a.i s_a.o
! trace:3: reorder s_a.o: a recurrence fixes its order relative to loop s_a.i
===
fn f(x: in f32[8], y: out f32[8]) {
	for i in 0..8 {
		block b(vi: spatial 0..8 = i) {
			y[vi] = select(0 < vi, x[select(0 < vi, vi - 1, 0)], 0.0)
		}
	}
}
--- cut i 1; split i.2 4
fn f(x: in f32[8], y: out f32[8]) {
	for i in 0..1 {
		block b(vi: spatial 0..8 = i) {
			y[vi] = select(0 < vi, x[select(0 < vi, vi - 1, 0)], 0.0)
		}
	}
	for i.2.o in 0..2 {
		for i.2.i in 0..4 {
			block b.2(vi: spatial 0..8 = 1 + (i.2.o * 4 + i.2.i)) where i.2.o * 4 + i.2.i < 7 {
				y[vi] = select(0 < vi, x[select(0 < vi, vi - 1, 0)], 0.0)
			}
		}
	}
}
===
fn f(x: in f32[6, 3], w: in f32[3], y: out f32[6]) {
	for i in 0..6 {
		alloc t: f32[1] @local
		for k in 0..3 {
			block conv(vi: spatial 0..6 = i, vk: reduce 0..3 = k) {
				init {
					t[0] = 0.0
				}
				sum t[0] <- x[vi, vk] * w[vk]
			}
		}
		for e in 0..1 {
			block copy(ve: spatial 0..1 = e, vi: spatial 0..6 = i) {
				y[vi] = t[ve]
			}
		}
	}
}
--- unroll k; cut k 1; cut i 2; parallel i.3
fn f(x: in f32[6, 3], w: in f32[3], y: out f32[6]) {
	for i in 0..2 {
		alloc t: f32[1] @local
		for k in 0..1 unrolled {
			block conv(vi: spatial 0..6 = i, vk: reduce 0..3 = k) {
				init {
					t[0] = 0.0
				}
				sum t[0] <- x[vi, vk] * w[vk]
			}
		}
		for k.2 in 1..3 unrolled {
			block conv.2(vi: spatial 0..6 = i, vk: reduce 0..3 = k.2) {
				sum t[0] <- x[vi, vk] * w[vk]
			}
		}
		for e in 0..1 {
			block copy(ve: spatial 0..1 = e, vi: spatial 0..6 = i) {
				y[vi] = t[ve]
			}
		}
	}
	for i.3 in 2..6 parallel {
		alloc t.3: f32[1] @local
		for k.3 in 0..1 unrolled {
			block conv.3(vi: spatial 0..6 = i.3, vk: reduce 0..3 = k.3) {
				init {
					t.3[0] = 0.0
				}
				sum t.3[0] <- x[vi, vk] * w[vk]
			}
		}
		for k.2.3 in 1..3 unrolled {
			block conv.2.3(vi: spatial 0..6 = i.3, vk: reduce 0..3 = k.2.3) {
				sum t.3[0] <- x[vi, vk] * w[vk]
			}
		}
		for e.3 in 0..1 {
			block copy.3(ve: spatial 0..1 = e.3, vi: spatial 0..6 = i.3) {
				y[vi] = t.3[ve]
			}
		}
	}
}
===
fn f(x: in f32[8], y: out f32[8]) {
	for i in 0..8 {
		block b(vi: spatial 0..8 = i) {
			y[vi] = x[vi]
		}
	}
}
--- cut i 3; cut i.2 3; cut i 1
fn f(x: in f32[8], y: out f32[8]) {
	for i in 0..1 {
		block b(vi: spatial 0..8 = i) {
			y[vi] = x[vi]
		}
	}
	for i.3 in 1..3 {
		block b.3(vi: spatial 0..8 = i.3) {
			y[vi] = x[vi]
		}
	}
	for i.2 in 3..6 {
		block b.2(vi: spatial 0..8 = i.2) {
			y[vi] = x[vi]
		}
	}
	for i.2.2 in 6..8 {
		block b.2.2(vi: spatial 0..8 = i.2.2) {
			y[vi] = x[vi]
		}
	}
}
===
fn f(x: in f32[8], y: out f32[8]) {
	for i in 0..8 {
		block b(vi: spatial 0..8 = i) {
			y[vi] = x[vi]
		}
	}
}
--- cut i 8
! trace:1: cut: 8 iterations of loop i, which has 8
===
fn f(x: in f32[8], y: out f32[8]) {
	for i in 0..8 {
		block b(vi: spatial 0..8 = i) {
			y[vi] = x[vi]
		}
	}
}
--- vectorize i; cut i 4
! trace:2: cut i: it is a vector, bound or pipelined loop
===
fn f[n in 2..8](x: in f32[8], y: out f32[8]) {
	for i in 0..n {
		block b(vi: spatial 0..8 = i) {
			y[vi] = x[vi]
		}
	}
}
--- cut i 1
! trace:1: cut i: its extent is not constant
===
fn f(x: in f32[6, 3], w: in f32[3], y: out f32[6]) {
	for i in 0..6 {
		alloc t: f32[1] @local
		for k in 0..3 {
			block conv(vi: spatial 0..6 = i, vk: reduce 0..3 = k) {
				init {
					t[0] = 0.0
				}
				sum t[0] <- x[vi, vk] * w[vk]
			}
		}
		for e in 0..1 {
			block copy(ve: spatial 0..1 = e, vi: spatial 0..6 = i) {
				y[vi] = t[ve]
			}
		}
	}
}
--- cut i 2; cut k.2 1
fn f(x: in f32[6, 3], w: in f32[3], y: out f32[6]) {
	for i in 0..2 {
		alloc t: f32[1] @local
		for k in 0..3 {
			block conv(vi: spatial 0..6 = i, vk: reduce 0..3 = k) {
				init {
					t[0] = 0.0
				}
				sum t[0] <- x[vi, vk] * w[vk]
			}
		}
		for e in 0..1 {
			block copy(ve: spatial 0..1 = e, vi: spatial 0..6 = i) {
				y[vi] = t[ve]
			}
		}
	}
	for i.2 in 2..6 {
		alloc t.2: f32[1] @local
		for k.2 in 0..1 {
			block conv.2(vi: spatial 0..6 = i.2, vk: reduce 0..3 = k.2) {
				init {
					t.2[0] = 0.0
				}
				sum t.2[0] <- x[vi, vk] * w[vk]
			}
		}
		for k.2.2 in 1..3 {
			block conv.2.2(vi: spatial 0..6 = i.2, vk: reduce 0..3 = k.2.2) {
				sum t.2[0] <- x[vi, vk] * w[vk]
			}
		}
		for e.2 in 0..1 {
			block copy.2(ve: spatial 0..1 = e.2, vi: spatial 0..6 = i.2) {
				y[vi] = t.2[ve]
			}
		}
	}
}
===
fn f(x: in f32[4, 6], y: out f32[4]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: reduce 0..6 = j) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vj]
			}
		}
	}
}
--- fuse i j; split i_j 5; reorder i_j.i i_j.o
! trace:3: reorder i_j.o: where a reduction begins depends on its order relative to loop i_j.i
===
fn f(x: in f32[8], y: out f32[8]) {
	alloc t: f32[8] @local
	for i in 0..8 {
		block a(vi: spatial 0..8 = i) {
			t[vi] = x[i]
		}
	}
	for j in 0..8 {
		block b(vj: spatial 0..8 = j) {
			y[vj] = t[vj]
		}
	}
}
--- compute_at a j
! trace:1: compute_at a: it uses loop i itself, not by an iterator
===
fn f(x: in f32[8], y: out f32[8]) {
	alloc t: f32[8] @local
	for i in 0..8 {
		block a(vi: spatial 0..8 = i) {
			t[vi] = x[i]
		}
	}
	for j in 0..8 {
		block b(vj: spatial 0..8 = j) {
			y[vj] = t[vj]
		}
	}
}
--- inline a
! trace:1: inline a: it uses loop i itself, not by an iterator
===
