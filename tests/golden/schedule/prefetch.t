fn f(x: in f32[8, 64], w: const f32[64, 32], y: inout f32[8, 32]) {
	for i in 0..8 {
		for k in 0..64 {
			for j in 0..32 {
				block b(vi: spatial 0..8 = i, vj: spatial 0..32 = j, vk: reduce 0..64 = k) {
					sum y[vi, vj] <- x[vi, vk] * w[vk, vj]
				}
			}
		}
	}
}
--- prefetch w b k k 4; vectorize j
fn f(x: in f32[8, 64], w: const f32[64, 32], y: inout f32[8, 32]) {
	for i in 0..8 {
		for k in 0..64 {
			for w.f in 0..2 {
				prefetch w[k + 4, w.f * 16]
			}
			for j in 0..32 vector {
				block b(vi: spatial 0..8 = i, vj: spatial 0..32 = j, vk: reduce 0..64 = k) {
					sum y[vi, vj] <- x[vi, vk] * w[vk, vj]
				}
			}
		}
	}
}
===
fn f(x: in f32[8, 64], w: const f32[64, 32], y: inout f32[8, 32]) {
	for i in 0..8 {
		for k in 0..64 {
			for j in 0..32 {
				block b(vi: spatial 0..8 = i, vj: spatial 0..32 = j, vk: reduce 0..64 = k) {
					sum y[vi, vj] <- x[vi, vk] * w[vk, vj]
				}
			}
		}
	}
}
--- prefetch x b i k 1
fn f(x: in f32[8, 64], w: const f32[64, 32], y: inout f32[8, 32]) {
	for i in 0..8 {
		for k in 0..64 {
			for x.f in 0..1 {
				prefetch x[i + 1, k / 16 * 16]
			}
			for j in 0..32 {
				block b(vi: spatial 0..8 = i, vj: spatial 0..32 = j, vk: reduce 0..64 = k) {
					sum y[vi, vj] <- x[vi, vk] * w[vk, vj]
				}
			}
		}
	}
}
===
fn f(x: in f32[8, 64], w: const f32[64, 32], y: inout f32[8, 32]) {
	for i in 0..8 {
		for k in 0..64 {
			for j in 0..32 {
				block b(vi: spatial 0..8 = i, vj: spatial 0..32 = j, vk: reduce 0..64 = k) {
					sum y[vi, vj] <- x[vi, vk] * w[vk, vj]
				}
			}
		}
	}
}
--- prefetch w b k k 4; pack w OI16o; parallel i; cut k 60; split w.f 2
fn f(
		x: in f32[8, 64],
		w.p: const f32[64, 32] map (i0, i1) -> [i0 / 16 : 4, i1 : 32, i0 % 16 : 16],
		y: inout f32[8, 32]) {
	for i in 0..8 parallel {
		for k in 0..60 {
			for w.f.o in 0..1 {
				for w.f.i in 0..2 {
					prefetch w.p[k + 4, (w.f.o * 2 + w.f.i) * 16]
				}
			}
			for j in 0..32 {
				block b(vi: spatial 0..8 = i, vj: spatial 0..32 = j, vk: reduce 0..64 = k) {
					sum y[vi, vj] <- x[vi, vk] * w.p[vk, vj]
				}
			}
		}
		for k.2 in 60..64 {
			for w.f.2 in 0..2 {
				prefetch w.p[k.2 + 4, w.f.2 * 16]
			}
			for j.2 in 0..32 {
				block b.2(vi: spatial 0..8 = i, vj: spatial 0..32 = j.2, vk: reduce 0..64 = k.2) {
					sum y[vi, vj] <- x[vi, vk] * w.p[vk, vj]
				}
			}
		}
	}
}

prepare fn pack.w(
		w: const f32[64, 32],
		w.p: out f32[64, 32] map (i0, i1) -> [i0 / 16 : 4, i1 : 32, i0 % 16 : 16]) {
	for w.o in 0..64 {
		for w.i in 0..32 {
			block pack.w(vw.o: spatial 0..64 = w.o, vw.i: spatial 0..32 = w.i) {
				w.p[vw.o, vw.i] = w[vw.o, vw.i]
			}
		}
	}
}
===
fn f(x: in f32[8], t: work f32[8], y: out f32[8]) {
	for i in 0..8 {
		block a(vi: spatial 0..8 = i) {
			t[vi] = x[vi]
		}
	}
	for j in 0..8 {
		prefetch t[j + 4]
		block b(vj: spatial 0..8 = j) {
			y[vj] = t[vj]
		}
	}
}
--- inline a
! trace:1: inline a: a call, a prefetch or an atomic statement uses t
===
fn f(x: in f32[8, 3, 20], w: const f32[64, 16, 3] map (o, c, k) -> [o / 8 : 8, k : 3, c : 16, o % 8 : 8], y: inout f32[64, 8]) {
	for t in 0..8 {
		for h in 0..8 {
			for c in 0..16 {
				for k in 0..3 {
					for o in 0..8 {
						block b(vo: spatial 0..64 = t * 8 + o, vh: spatial 0..8 = h, vc: reduce 0..16 = c, vk: reduce 0..3 = k) {
							sum y[vo, vh] <- x[vh, vk, vc + vk] * w[vo, vc, vk]
						}
					}
				}
			}
		}
	}
}
--- prefetch w b t c 1; unroll w.f
fn f(
		x: in f32[8, 3, 20],
		w: const f32[64, 16, 3] map (o, c, k) -> [o / 8 : 8, k : 3, c : 16, o % 8 : 8],
		y: inout f32[64, 8]) {
	for t in 0..8 {
		for h in 0..8 {
			for c in 0..16 {
				for w.f in 0..1 unrolled {
					prefetch w[t * 8 + 8, (h * 3 + c * 3 / 16) % 8 * 2, (h * 48 + c * 3) / 128]
				}
				for k in 0..3 {
					for o in 0..8 {
						block b(vo: spatial 0..64 = t * 8 + o, vh: spatial 0..8 = h, vc: reduce 0..16 = c, vk: reduce 0..3 = k) {
							sum y[vo, vh] <- x[vh, vk, vc + vk] * w[vo, vc, vk]
						}
					}
				}
			}
		}
	}
}
===
fn f(x: in f32[8, 3, 20], w: const f32[64, 16, 3] map (o, c, k) -> [o / 8 : 8, k : 3, c : 16, o % 8 : 8], y: inout f32[64, 8]) {
	for t in 0..8 {
		for h in 0..8 {
			for c in 0..16 {
				for k in 0..3 {
					for o in 0..8 {
						block b(vo: spatial 0..64 = t * 8 + o, vh: spatial 0..8 = h, vc: reduce 0..16 = c, vk: reduce 0..3 = k) {
							sum y[vo, vh] <- x[vh, vk, vc + vk] * w[vo, vc, vk]
						}
					}
				}
			}
		}
	}
}
--- prefetch w b t h 1; prefetch x b h k 1; split c 4; vectorize o
fn f(
		x: in f32[8, 3, 20],
		w: const f32[64, 16, 3] map (o, c, k) -> [o / 8 : 8, k : 3, c : 16, o % 8 : 8],
		y: inout f32[64, 8]) {
	for t in 0..8 {
		for h in 0..8 {
			for w.f in 0..3 {
				prefetch w[t * 8 + 8, (h * 3 + w.f) % 8 * 2, (h * 3 + w.f) / 8]
			}
			for c.o in 0..4 {
				for c.i in 0..4 {
					for k in 0..3 {
						for x.f in 0..1 {
							prefetch x[h + 1, ((c.o * 4 + c.i) * 3 + k) / 16, ((c.o * 4 + c.i) * 3 + k) / 8 % 2 * 16]
						}
						for o in 0..8 vector {
							block b(vo: spatial 0..64 = t * 8 + o, vh: spatial 0..8 = h, vc: reduce 0..16 = c.o * 4 + c.i, vk: reduce 0..3 = k) {
								sum y[vo, vh] <- x[vh, vk, vc + vk] * w[vo, vc, vk]
							}
						}
					}
				}
			}
		}
	}
}
===
fn f(x: in i8[300], w: const i4[300], y: out i8[300]) {
	for i in 0..10 {
		for j in 3..33 {
			if j < 32 {
				block b(vj: spatial 0..300 = i * 30 + j - 3) {
					y[vj] = x[vj] + i8(w[299 - vj])
				}
			}
		}
	}
}
--- prefetch x b i j 2; prefetch w b j j 64
fn f(x: in i8[300], w: const i4[300], y: out i8[300]) {
	for i in 0..10 {
		for j in 3..33 {
			for x.f in 0..1 {
				prefetch x[i * 30 + 60]
			}
			for w.f in 0..1 {
				prefetch w[238 - i * 30 - j]
			}
			if j < 32 {
				block b(vj: spatial 0..300 = i * 30 + j - 3) {
					y[vj] = x[vj] + i8(w[299 - vj])
				}
			}
		}
	}
}
===
fn f(x: in f32[24], y: out f32[24]) {
	for i in 0..4 parallel {
		for j in 0..6 {
			block b(vj: spatial 0..24 = i * 6 + j) {
				y[vj] = x[vj]
			}
		}
	}
}
--- prefetch x b i i 1; prefetch x b j j 1
! trace:2: prefetch x: the name x.f is already in use
===
fn f(x: in f32[24], y: out f32[24]) {
	for i in 0..4 {
		for j in 0..24 {
			block b(vi: reduce 0..4 = i, vj: spatial 0..24 = j) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- x[vj]
			}
		}
	}
}
--- prefetch x b i i 1
! trace:1: prefetch x: all iterations of i read the same elements
===
fn f(x: in f32[24], y: out f32[24]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vj: spatial 0..24 = i * 6 + j) {
				y[vj] = x[vj]
			}
		}
		for k in 0..6 {
			block c(vk: spatial 0..24 = i * 6 + k) {
				y[vk] = y[vk] + 1.0
			}
		}
	}
}
--- prefetch x b j i 1
! trace:1: prefetch x: loop i must stand in the first loop and around the block
===
fn f(x: in f32[24], y: out f32[24]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vj: spatial 0..24 = i * 6 + j) {
				y[vj] = x[vj]
			}
		}
		for k in 0..6 {
			block c(vk: spatial 0..24 = i * 6 + k) {
				y[vk] = y[vk] + 1.0
			}
		}
	}
}
--- prefetch x b i k 1
! trace:1: prefetch x: the block does not stand in loop k
===
fn f(x: in f32[24], y: out f32[24]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vj: spatial 0..24 = i * 6 + j) {
				y[vj] = x[vj]
			}
		}
	}
}
--- prefetch y b i j 1
! trace:1: prefetch y: it is no input or constant, so it may be incomplete
===
fn f[M in 1..9](x: in f32[16, 24], y: out f32[16, 24]) {
	for i in 0..16 {
		for j in 0..min(24, M) {
			for k in 0..1 {
				block b(vi: spatial 0..16 = i, vj: spatial 0..24 = j) {
					y[vi, vj] = x[vi, vj]
				}
			}
		}
	}
}
--- prefetch x b i k 1
! trace:1: prefetch x: the extent of loop j is not constant, or there are too many iterations
===
fn f[M in 1..9](x: in f32[M], y: out f32[M]) {
	for i in 0..M {
		block b(vi: spatial 0..M = i) {
			y[vi] = x[vi]
		}
	}
}
--- prefetch x b i i 1
! trace:1: prefetch x: its shape is not constant
===
fn f(x: in f32[2, 80000], y: out f32[2, 80000]) {
	for i in 0..2 {
		for j in 0..80000 {
			block b(vi: spatial 0..2 = i, vj: spatial 0..80000 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- prefetch x b i i 1
! trace:1: prefetch x: an iteration of i would prefetch more than 4096 lines
===
fn f(x: in f32[2, 80000], y: out f32[2, 80000]) {
	for i in 0..2 {
		for j in 0..80000 {
			block b(vi: spatial 0..2 = i, vj: spatial 0..80000 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- prefetch x b i j 1099511627776
fn f(x: in f32[2, 80000], y: out f32[2, 80000]) {
	for i in 0..2 {
		for j in 0..80000 {
			for x.f in 0..1 {
				prefetch x[i + 1099511627776, j / 16 * 16]
			}
			block b(vi: spatial 0..2 = i, vj: spatial 0..80000 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
===
fn f(x: in f32[32], y: out f32[32]) {
	for i in 0..4 {
		for j in 0..8 vector {
			block b(vj: spatial 0..32 = i * 8 + j) {
				y[vj] = x[vj]
			}
		}
	}
}
--- prefetch x b i j 1
! trace:1: prefetch x: loop j is a vector or bound loop, which takes no further statements
===
