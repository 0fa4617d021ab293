fn f(x: in f32[8], y: out f32[8]) {
	for i in 0..8 {
		block b(vi: spatial 0..8 = i) {
			y[vi] = x[vi]
		}
	}
}
--- split i 4
fn f(x: in f32[8], y: out f32[8]) {
	for i.o in 0..2 {
		for i.i in 0..4 {
			block b(vi: spatial 0..8 = i.o * 4 + i.i) {
				y[vi] = x[vi]
			}
		}
	}
}
===
fn f(x: in f32[7], y: out f32[7]) {
	for i in 0..7 {
		block b(vi: spatial 0..7 = i) {
			y[vi] = x[vi]
		}
	}
}
--- split i 4
fn f(x: in f32[7], y: out f32[7]) {
	for i.o in 0..2 {
		for i.i in 0..4 {
			block b(vi: spatial 0..7 = i.o * 4 + i.i) where i.o * 4 + i.i < 7 {
				y[vi] = x[vi]
			}
		}
	}
}
===
fn f(x: in f32[7], y: out f32[7]) {
	for i in 0..7 {
		y[i] = x[i]
	}
}
--- split i 4 guard
fn f(x: in f32[7], y: out f32[7]) {
	for i.o in 0..2 {
		for i.i in 0..4 {
			if i.o * 4 + i.i < 7 {
				y[i.o * 4 + i.i] = x[i.o * 4 + i.i]
			}
		}
	}
}
===
fn f(x: in f32[7], y: out f32[7]) {
	for i in 0..7 {
		y[i] = x[i]
	}
}
--- split i 8
! trace:1: split: factor 8 of loop i, which has 7
===
fn f(x: in f32[7], y: out f32[7]) {
	for i in 0..7 {
		y[i] = x[i]
	}
}
--- split j 2
! trace:1: there is no loop "j"
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
--- reorder j i
fn f(x: in f32[4, 6], y: out f32[4]) {
	for j in 0..6 {
		for i in 0..4 {
			block b(vi: spatial 0..4 = i, vj: reduce 0..6 = j) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vj]
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
--- vectorize j
! trace:1: vectorize j: a reduction depends on it
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
--- split i 2; reorder i.o j i.i; vectorize i.i; unroll j; parallel i.o
fn f(x: in f32[4, 6], y: out f32[4]) {
	for i.o in 0..2 parallel {
		for j in 0..6 unrolled {
			for i.i in 0..2 vector {
				block b(vi: spatial 0..4 = i.o * 2 + i.i, vj: reduce 0..6 = j) {
					init {
						y[vi] = 0.0
					}
					sum y[vi] <- x[vi, vj]
				}
			}
		}
	}
}
===
fn f(x: in f32[4], y: out f32[4]) {
	for i in 0..4 {
		y[i] = x[i]
	}
}
--- vectorize i
! trace:1: vectorize i: a statement below it stands in no block
===
fn f(x: in f32[4], y: inout f32[5]) {
	for i in 0..4 {
		block b(vi: scan 0..4 = i) {
			y[vi + 1] = y[vi] + x[vi]
		}
	}
}
--- parallel i
! trace:1: parallel i: a recurrence depends on it
===
fn f(x: in f32[4, 4], y: inout f32[5, 4]) {
	for i in 0..4 {
		for j in 0..4 {
			block b(vi: scan 0..4 = i, vj: spatial 0..4 = j) {
				y[vi + 1, vj] = y[vi, vj] + x[vi, vj]
			}
		}
	}
}
--- reorder j i; vectorize j
fn f(x: in f32[4, 4], y: inout f32[5, 4]) {
	for j in 0..4 vector {
		for i in 0..4 {
			block b(vi: scan 0..4 = i, vj: spatial 0..4 = j) {
				y[vi + 1, vj] = y[vi, vj] + x[vi, vj]
			}
		}
	}
}
===
fn f(x: in f32[8, 8], y: out f32[8, 8]) {
	for i in 0..8 {
		for j in 0..i {
			block b(vi: spatial 0..8 = i, vj: spatial 0..8 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- reorder j i
! trace:1: reorder i: its variable bounds loop j
===
fn f(x: in f32[8], y: out f32[8]) {
	for i in 0..8 {
		block b(vi: spatial 0..8 = i) {
			y[vi] = x[vi]
		}
	}
}
--- unroll i; split i 2
! trace:2: split i: it is no longer a serial loop
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
--- reorder j i j
! trace:1: reorder j: it is named twice
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
--- split j 4; reorder j.i i; reorder j.o j.i
fn f(x: in f32[4, 6], y: out f32[4]) {
	for j.o in 0..2 {
		for j.i in 0..4 {
			for i in 0..4 {
				block b(vi: spatial 0..4 = i, vj: reduce 0..6 = j.o * 4 + j.i) where j.o * 4 + j.i < 6 {
					init {
						y[vi] = 0.0
					}
					sum y[vi] <- x[vi, vj]
				}
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
--- reorder i x
! trace:1: there is no loop "x"
===
fn f(x: in f32[4], y: out f32[4], z: out f32[4]) {
	for i in 0..4 {
		block b(vi: spatial 0..4 = i) {
			y[vi] = x[vi]
		}
	}
	for j in 0..4 {
		block c(vj: spatial 0..4 = j) {
			z[vj] = x[vj]
		}
	}
}
--- reorder i j
! trace:1: reorder j: it is not nested with loop i
===
fn f(x: in f32[4, 4], y: out f32[4, 4], z: out f32[4, 4]) {
	for i in 0..4 {
		for j in 0..4 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..4 = j) {
				y[vi, vj] = x[vi, vj]
			}
			block c(vi: spatial 0..4 = i, vj: spatial 0..4 = j) {
				z[vi, vj] = y[vi, vj]
			}
		}
	}
}
--- reorder j i
! trace:1: reorder i: its body must be one block and nothing else
===
fn f(x: in f32[4, 4], y: out f32[4, 4], z: out f32[4, 4]) {
	for i in 0..4 {
		for j in 0..4 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..4 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
		for k in 0..4 {
			block c(vi: spatial 0..4 = i, vk: spatial 0..4 = k) {
				z[vi, vk] = y[vi, vk]
			}
		}
	}
}
--- reorder j i
! trace:1: reorder i: the loops are not perfectly nested
===
fn f(x: in f32[4, 4], w: in f32[4, 4], h: inout f32[5, 4]) {
	for t in 0..4 {
		for j in 0..4 {
			for k in 0..4 {
				block b(vt: scan 0..4 = t, vj: spatial 0..4 = j, vk: reduce 0..4 = k) {
					init {
						h[vt + 1, vj] = x[vt, vj]
					}
					sum h[vt + 1, vj] <- w[vj, vk] * h[vt, vk]
				}
			}
		}
	}
}
--- reorder k j; reorder j t
! trace:2: reorder t: a recurrence fixes its order relative to loop j
===
monoid last(a: f32; b: f32) {
	identity (0.0)
	combine (b)
}
fn f(x: in f32[4, 4, 4], y: out f32[4]) {
	for i in 0..4 {
		for j in 0..4 {
			for k in 0..4 {
				block b(vi: spatial 0..4 = i, vj: reduce 0..4 = j, vk: reduce 0..4 = k) {
					init {
						y[vi] = 0.0
					}
					last y[vi] <- x[vi, vj, vk]
				}
			}
		}
	}
}
--- reorder j i; reorder k j
! trace:2: reorder j: its reduction is not associative, so it must stay around loop k
===
fn f(x: in f32[8], y: work f32[8]) {
	for i in 0..8 {
		block b(vi: spatial 0..8 = i) {
			y[vi] = x[vi]
		}
	}
}
fn g(y: work f32[8], z: out f32[8]) {
	for i in 0..8 {
		block c(vi: spatial 0..8 = i) {
			z[vi] = y[vi]
		}
	}
}
--- vectorize i
! trace:1: several Fns have a loop "i"
===
fn f(x: in f32[8], y: out f32[8]) {
	for i in 0..8 {
		let i.o: f32 = x[i]
		y[i] = i.o
	}
}
--- split i 2
! trace:1: split i: the name i.o is already in use
===
fn f(x: in f32[7], y: out f32[7], n: inout i64[1]) {
	for i in 0..7 {
		let a: f32 = x[i]
		y[i] = a + a
	}
	for j in 0..7 {
		let old = atomic sum n[0] <- 1
		y[j] = f32(old)
	}
}
--- split i 4; split j 4
fn f(x: in f32[7], y: out f32[7], n: inout i64[1]) {
	for i.o in 0..2 {
		for i.i in 0..4 {
			if i.o * 4 + i.i < 7 {
				let a: f32 = x[i.o * 4 + i.i]
				y[i.o * 4 + i.i] = a + a
			}
		}
	}
	for j.o in 0..2 {
		for j.i in 0..4 {
			if j.o * 4 + j.i < 7 {
				let old = atomic sum n[0] <- 1
				y[j.o * 4 + j.i] = f32(old)
			}
		}
	}
}
===
fn f(x: in f32[2, 64, 64], y: out f32[2, 64, 64]) {
	for k in 0..2 unrolled {
	for i in 0..64 {
		for j in 0..64 {
			block b(vk: spatial 0..2 = k, vi: spatial 0..64 = i, vj: spatial 0..64 = j) {
				y[vk, vi, vj] = x[vk, vi, vj]
			}
		}
	}
	}
}
--- unroll j; unroll i
! trace:2: unroll i: the code would stand there 8192 times, at most 4096
===
fn f(x: in f32[64, 64], y: out f32[64, 64]) {
	for i in 0..64 {
		for j in 0..64 {
			block b(vi: spatial 0..64 = i, vj: spatial 0..64 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- vectorize j; vectorize i
! trace:2: vectorize i: it contains a vector or parallel loop
===
fn f(x: in f32[64, 64], y: out f32[64, 64]) {
	for i in 0..64 {
		for j in 0..64 {
			block b(vi: spatial 0..64 = i, vj: spatial 0..64 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- vectorize i; vectorize j
! trace:2: vectorize j: it stands in vector loop i
===
fn f(x: in f32[64, 64], y: out f32[64, 64]) {
	for i in 0..64 {
		for j in 0..64 {
			block b(vi: spatial 0..64 = i, vj: spatial 0..64 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- vectorize i; parallel j
! trace:2: parallel j: it stands in loop i, which is not serial
===
fn f(x: in f32[64, 64], y: out f32[64, 64]) {
	for i in 0..64 {
		for j in 0..64 {
			block b(vi: spatial 0..64 = i, vj: spatial 0..64 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- vectorize j; reorder j i
fn f(x: in f32[64, 64], y: out f32[64, 64]) {
	for j in 0..64 vector {
		for i in 0..64 {
			block b(vi: spatial 0..64 = i, vj: spatial 0..64 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
===
fn f(x: in f32[64, 64], y: out f32[64, 64]) {
	for i in 0..64 {
		for j in 0..64 {
			block b(vi: spatial 0..64 = i, vj: spatial 0..64 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- vectorize i; reorder j i; parallel j
fn f(x: in f32[64, 64], y: out f32[64, 64]) {
	for j in 0..64 parallel {
		for i in 0..64 vector {
			block b(vi: spatial 0..64 = i, vj: spatial 0..64 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
===
fn f(x: in f32[64, 64], y: out f32[64, 64]) {
	for i in 0..64 {
		for j in 0..64 {
			block b(vi: spatial 0..64 = i, vj: spatial 0..64 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- parallel i; vectorize j; reorder j i
! trace:3: reorder j: it is a vector loop and would contain a vector or parallel loop
===
fn f(x: in f32[64, 64], y: out f32[64, 64]) {
	for i in 0..64 {
		for j in 0..64 {
			block b(vi: spatial 0..64 = i, vj: spatial 0..64 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- parallel j; parallel i
! trace:2: parallel i: it contains a parallel loop
===
fn f(x: in f32[64, 64], y: out f32[64, 64]) {
	for i in 0..64 {
		for j in 0..64 {
			block b(vi: spatial 0..64 = i, vj: spatial 0..64 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- parallel i; parallel j
! trace:2: parallel j: it stands in loop i, which is not serial
===
fn f(x: in f32[4], y: out f32[4]) {
	for r in 0..3 {
		for i in 0..4 {
			block b(vi: spatial 0..4 = i) {
				y[vi] = x[vi]
			}
		}
	}
}
--- parallel r
! trace:1: parallel r: a block below it does the same in every iteration
===
fn f(x: in f32[8, 8], y: out f32[8, 8]) {
	for i in 0..8 {
		for j in 0..i {
			block b(vi: spatial 0..8 = i, vj: spatial 0..8 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- vectorize j
! trace:1: vectorize j: its extent must be a constant from 1 to 64
===
fn f(x: in f32[8, 8], y: out f32[8, 8]) {
	for i in 0..8 {
		for j in 0..i {
			block b(vi: spatial 0..8 = i, vj: spatial 0..8 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- split i 4; split j 3; parallel i.o
! trace:3: parallel i.o: bounds below depend on it
===
fn f(x: in f32[8], y: out f32[8], t: work f32[8]) {
	for i in 0..8 {
		block a(vi: spatial 0..8 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..8 {
		block b(vj: spatial 0..8 = j) {
			y[vj] = max(t[7 - vj], 0.0)
		}
	}
}
--- inline a
fn f(x: in f32[8], y: out f32[8]) {
	for j in 0..8 {
		block b(vj: spatial 0..8 = j) {
			y[vj] = max(x[7 - vj] * 2.0, 0.0)
		}
	}
}
===
fn f(x: in f32[8], y: out f32[8], t: work f32[8]) {
	for i in 0..8 {
		block a(vi: spatial 0..8 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..8 {
		block b(vj: spatial 0..8 = j) {
			y[vj] = max(t[vj], 0.0)
		}
	}
}
--- split j 3; compute_at a j.o
fn f(x: in f32[8], y: out f32[8]) {
	for j.o in 0..3 {
		alloc t: f32[3] @local
		for i in 0..3 {
			block a(vi: spatial 0..8 = j.o * 3 + i) where j.o * 3 + i < 8 {
				t[vi - j.o * 3] = x[vi] * 2.0
			}
		}
		for j.i in 0..3 {
			block b(vj: spatial 0..8 = j.o * 3 + j.i) where j.o * 3 + j.i < 8 {
				y[vj] = max(t[vj - j.o * 3], 0.0)
			}
		}
	}
}
===
fn f(x: in f32[4, 8], y: out f32[8], t: work f32[8]) {
	for i in 0..8 {
		for k in 0..4 {
			block a(vi: spatial 0..8 = i, vk: reduce 0..4 = k) {
				init {
					t[vi] = 0.0
				}
				sum t[vi] <- x[vk, vi]
			}
		}
	}
	for j in 0..8 {
		block b(vj: spatial 0..8 = j) {
			y[vj] = max(t[vj], 0.0)
		}
	}
}
--- split j 4; compute_at a j.o; reorder k i; vectorize i; vectorize j.i
fn f(x: in f32[4, 8], y: out f32[8]) {
	for j.o in 0..2 {
		alloc t: f32[4] @local
		for k in 0..4 {
			for i in 0..4 vector {
				block a(vi: spatial 0..8 = j.o * 4 + i, vk: reduce 0..4 = k) {
					init {
						t[vi - j.o * 4] = 0.0
					}
					sum t[vi - j.o * 4] <- x[vk, vi]
				}
			}
		}
		for j.i in 0..4 vector {
			block b(vj: spatial 0..8 = j.o * 4 + j.i) {
				y[vj] = max(t[vj - j.o * 4], 0.0)
			}
		}
	}
}
===
fn f(x: in f32[4, 8], y: out f32[8]) {
	for i in 0..8 {
		for k in 0..4 {
			block a(vi: spatial 0..8 = i, vk: reduce 0..4 = k) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vk, vi]
			}
		}
	}
}
--- cache_write a; split i.w 4; compute_at a i.w.o
fn f(x: in f32[4, 8], y: out f32[8]) {
	for i.w.o in 0..2 {
		alloc y.c: f32[4] @local
		for i in 0..4 {
			for k in 0..4 {
				block a(vi: spatial 0..8 = i.w.o * 4 + i, vk: reduce 0..4 = k) {
					init {
						y.c[vi - i.w.o * 4] = 0.0
					}
					sum y.c[vi - i.w.o * 4] <- x[vk, vi]
				}
			}
		}
		for i.w.i in 0..4 {
			block a.write(vi.w: spatial 0..8 = i.w.o * 4 + i.w.i) {
				y[vi.w] = y.c[vi.w - i.w.o * 4]
			}
		}
	}
}
===
fn f(x: in f32[1, 8, 2], y: out f32[1, 8, 2], t: work f32[1, 8, 2]) {
	for i in 0..8 {
		for j in 0..2 {
			block a(vi: spatial 0..8 = i, vj: spatial 0..2 = j) {
				t[0, vi, vj] = x[0, vi, vj] * 2.0
			}
		}
	}
	for i_1 in 0..8 {
		for j_1 in 0..2 {
			block b(vi_1: spatial 0..8 = i_1, vj_1: spatial 0..2 = j_1) {
				y[0, vi_1, vj_1] = t[0, vi_1, vj_1]
			}
		}
	}
}
--- layout t NCW4c
fn f(
		x: in f32[1, 8, 2],
		y: out f32[1, 8, 2],
		t: work f32[1, 8, 2] map (i0, i1, i2) -> [i0 : 1, i1 / 4 : 2, i2 : 2, i1 % 4 : 4]) {
	for i in 0..8 {
		for j in 0..2 {
			block a(vi: spatial 0..8 = i, vj: spatial 0..2 = j) {
				t[0, vi, vj] = x[0, vi, vj] * 2.0
			}
		}
	}
	for i_1 in 0..8 {
		for j_1 in 0..2 {
			block b(vi_1: spatial 0..8 = i_1, vj_1: spatial 0..2 = j_1) {
				y[0, vi_1, vj_1] = t[0, vi_1, vj_1]
			}
		}
	}
}
===
fn f(x: in f32[8], y: out f32[8]) {
	for i in 0..8 {
		block a(vi: spatial 0..8 = i) {
			y[vi] = x[vi]
		}
	}
}
--- layout y N
! trace:1: layout y: there is no such work buffer
===
