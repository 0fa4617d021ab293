fn f(x: in f32[6], w: const f32[3], y: out f32[6]) {
	for i in 0..6 {
		for k in 0..3 {
			block conv(vi: spatial 0..6 = i, vk: reduce 0..3 = k) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- select(0 <= vi + vk - 1 & vi + vk - 1 < 6, x[vi + vk - 1], 0.0) * w[vk]
			}
		}
	}
}
--- skip conv
fn f(x: in f32[6], w: const f32[3], y: out f32[6]) {
	for i in 0..6 {
		for k in 0..3 {
			block conv(vi: spatial 0..6 = i, vk: reduce 0..3 = k) {
				init {
					y[vi] = 0.0
				}
				if 0 <= vi + vk - 1 & vi + vk - 1 < 6 {
					sum y[vi] <- x[vi + vk - 1] * w[vk]
				}
			}
		}
	}
}
===
fn f(x: in f32[6], p: in f32[6], y: out f32[4], z: out f32[4]) {
	for i in 0..4 {
		for k in 0..4 {
			block two(vi: spatial 0..4 = i, vk: reduce 0..4 = k) {
				init {
					y[vi] = -inf
					z[vi] = 0.0
				}
				max y[vi] <- select(vi + vk < 6, x[select(vi + vk < 6, vi + vk, 0)], -inf)
				sum z[vi] <- 2.0 * (select(vk == 1, 0.0, p[vk]) * select(vi == 0, x[vi], 0.0))
			}
		}
	}
}
--- skip two
fn f(x: in f32[6], p: in f32[6], y: out f32[4], z: out f32[4]) {
	for i in 0..4 {
		for k in 0..4 {
			block two(vi: spatial 0..4 = i, vk: reduce 0..4 = k) {
				init {
					y[vi] = -inf
					z[vi] = 0.0
				}
				if vi + vk < 6 {
					max y[vi] <- x[select(vi + vk < 6, vi + vk, 0)]
				}
				if !(vk == 1) & vi == 0 {
					sum z[vi] <- 2.0 * (p[vk] * x[vi])
				}
			}
		}
	}
}
===
fn f(x: in f32[6], y: out f32[1]) {
	for k in 0..6 {
		block total(vk: reduce 0..6 = k) {
			init {
				y[0] = 0.0
			}
			sum y[0] <- select(vk < 4, x[vk], 1.0)
		}
	}
}
--- skip total
! trace:1: skip total: each value that it reduces must be a select, or a product with one, whose other arm changes nothing
===
fn f(x: in f32[6], y: out f32[1]) {
	for k in 0..6 {
		block most(vk: reduce 0..6 = k) {
			init {
				y[0] = 0.0
			}
			max y[0] <- select(vk < 4, x[vk], -inf) * 2.0
		}
	}
}
--- skip most
! trace:1: skip most: each value that it reduces must be a select, or a product with one, whose other arm changes nothing
===
fn f(x: in f32[6], y: out f32[6]) {
	for k in 0..6 {
		block copy(vk: spatial 0..6 = k) {
			y[vk] = select(vk < 4, x[vk], 0.0)
		}
	}
}
--- skip copy
! trace:1: skip copy: it reduces nothing
===
fn f(x: in f32[6], y: out f32[6]) {
	for k in 0..6 {
		y[k] = x[k]
	}
}
--- skip copy
! trace:1: there is no block "copy"
===
fn f(x: in f32[13, 6], y: out f32[6]) {
	for i in 0..6 {
		for j in 0..13 {
			block b(vi: spatial 0..6 = i, vj: reduce 0..13 = j) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vj, vi]
			}
		}
	}
}
--- split i 4; split j 4; reorder i.o j.o j.i i.i; vectorize i.i; decompose_init b j.o
fn f(x: in f32[13, 6], y: out f32[6]) {
	for i.o in 0..2 {
		for i.i.init in 0..4 vector {
			block b.init(vi: spatial 0..6 = i.o * 4 + i.i.init) where i.o * 4 + i.i.init < 6 {
				y[vi] = 0.0
			}
		}
		for j.o in 0..4 {
			for j.i in 0..4 {
				for i.i in 0..4 vector {
					block b(vi: spatial 0..6 = i.o * 4 + i.i, vj: reduce 0..13 = j.o * 4 + j.i) where i.o * 4 + i.i < 6 & j.o * 4 + j.i < 13 {
						sum y[vi] <- x[vj, vi]
					}
				}
			}
		}
	}
}
===
fn f(x: in f32[13, 6], y: out f32[6]) {
	for i in 0..6 {
		for j in 0..13 {
			block b(vi: spatial 0..6 = i, vj: reduce 0..13 = j) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vj, vi]
			}
		}
	}
}
--- split i 4; split j 4; reorder i.o j.o j.i i.i; decompose_init b j.i
! trace:4: decompose_init b: iterator vj does not have its first value where those loops begin
===
fn f(x: in f32[13, 6], y: out f32[6]) {
	for i in 0..6 {
		for j in 0..13 {
			block b(vi: spatial 0..6 = i, vj: reduce 0..13 = j) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vj, vi]
			}
		}
	}
}
--- reorder j i; cut i 4; decompose_init b j
fn f(x: in f32[13, 6], y: out f32[6]) {
	for i.init in 0..4 {
		block b.init(vi: spatial 0..6 = i.init) {
			y[vi] = 0.0
		}
	}
	for j in 0..13 {
		for i in 0..4 {
			block b(vi: spatial 0..6 = i, vj: reduce 0..13 = j) {
				sum y[vi] <- x[vj, vi]
			}
		}
		for i.2 in 4..6 {
			block b.2(vi: spatial 0..6 = i.2, vj: reduce 0..13 = j) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vj, vi]
			}
		}
	}
}
===
fn f(x: in f32[13, 6], y: out f32[6]) {
	for i in 0..6 {
		for j in 0..13 {
			block b(vi: spatial 0..6 = i, vj: reduce 0..13 = j) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vj, vi]
			}
		}
	}
}
--- cut j 4; decompose_init b i
! trace:2: decompose_init b: another statement in those loops uses or declares y
===
fn f(x: in f32[13, 6], y: out f32[6]) {
	for i in 0..6 {
		for j in 0..13 {
			block b(vi: spatial 0..6 = i, vj: reduce 0..13 = j) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vj, vi]
			}
		}
	}
}
--- cut j 4; decompose_init b j; decompose_init b.2 j.2
! trace:3: decompose_init b.2: it has no init
===
fn f(x: in f32[6], y: out f32[6]) {
	for i in 0..6 {
		block b(vi: spatial 0..6 = i) {
			y[vi] = x[vi]
		}
	}
}
--- decompose_init b i
! trace:1: decompose_init b: it has no init
===
fn f(x: in f32[6, 6], y: out f32[6]) {
	for i in 0..6 {
		for j in 0..6 {
			block b(vi: spatial 0..6 = i, vj: reduce 0..6 = j) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vj, vi]
			}
		}
	}
}
--- fuse i j; decompose_init b i_j
! trace:2: decompose_init b: several kinds of iterators, or a recurrence, depend on loop i_j
===
fn f(x: in f32[6, 6], y: out f32[6]) {
	for i in 0..6 {
		if i != 3 {
			for j in 0..6 {
				block b(vi: spatial 0..6 = i, vj: reduce 0..6 = j) {
					init {
						y[vi] = 0.0
					}
					sum y[vi] <- x[vj, vi]
				}
			}
		}
	}
}
--- decompose_init b i
! trace:1: decompose_init b: a condition stands around it in loop i
===
fn f(x: in f32[6, 6], b: work f32[1], y: out f32[6]) {
	for i in 0..6 {
		b[0] = x[i, 0]
		for j in 0..6 {
			block b(vi: spatial 0..6 = i, vj: reduce 0..6 = j) {
				init {
					y[vi] = b[0]
				}
				sum y[vi] <- x[vj, vi]
			}
		}
	}
}
--- decompose_init b i
! trace:1: decompose_init b: those loops write b, which its init reads
===
fn f(x: in f32[13, 6], y: out f32[6]) {
	for i in 0..6 {
		for j in 0..13 {
			block b(vi: spatial 0..6 = i, vj: reduce 0..13 = j) {
				init {
					y[vi] = 0.5
				}
				sum y[vi] <- x[vj, vi]
			}
		}
	}
}
--- split i 4; split j 4; reorder i.o j.o j.i i.i; rfactor b j.i; vectorize i.i
fn f(x: in f32[13, 6], y: out f32[6]) {
	for i.o in 0..2 {
		alloc b.rf: f32[4, 4] @local
		for j.o in 0..4 {
			for j.i in 0..4 {
				for i.i in 0..4 vector {
					block b.rf(vi: spatial 0..6 = i.o * 4 + i.i, vj.o.rf: reduce 0..4 = j.o, vj.i.rf: spatial 0..4 = j.i) where i.o * 4 + i.i < 6 {
						init {
							b.rf[vj.i.rf, i.i] = 0.0
						}
						if vj.o.rf * 4 + vj.i.rf < 13 {
							sum b.rf[vj.i.rf, i.i] <- x[vj.o.rf * 4 + vj.i.rf, vi]
						}
					}
				}
			}
		}
		for j.i.rf in 0..4 {
			for i.i.rf in 0..4 {
				block b(vi: spatial 0..6 = i.o * 4 + i.i.rf, vj.i.rf: reduce 0..4 = j.i.rf) where i.o * 4 + i.i.rf < 6 {
					init {
						y[vi] = 0.5
					}
					sum y[vi] <- b.rf[vj.i.rf, i.i.rf]
				}
			}
		}
	}
}
===
fn f(x: in f32[32], y: out f32[1]) {
	for j in 0..32 {
		block b(vj: reduce 0..32 = j) {
			init {
				y[0] = -inf
			}
			if vj != 3 {
				max y[0] <- x[vj]
			}
		}
	}
}
--- split j 8; rfactor b j.i; vectorize j.i
fn f(x: in f32[32], y: out f32[1]) {
	alloc b.rf: f32[8] @local
	for j.o in 0..4 {
		for j.i in 0..8 vector {
			block b.rf(vj.o.rf: reduce 0..4 = j.o, vj.i.rf: spatial 0..8 = j.i) {
				init {
					b.rf[vj.i.rf] = -inf
				}
				if vj.o.rf * 8 + vj.i.rf != 3 {
					max b.rf[vj.i.rf] <- x[vj.o.rf * 8 + vj.i.rf]
				}
			}
		}
	}
	for j.i.rf in 0..8 {
		block b(vj.i.rf: reduce 0..8 = j.i.rf) {
			init {
				y[0] = -inf
			}
			max y[0] <- b.rf[vj.i.rf]
		}
	}
}
===
fn f(x: in f32[13, 6], y: out f32[6]) {
	for i in 0..6 {
		for j in 0..13 {
			block b(vi: spatial 0..6 = i, vj: reduce 0..13 = j) {
				init {
					y[vi] = 0.5
				}
				sum y[vi] <- x[vj, vi]
			}
		}
	}
}
--- rfactor b j
! trace:1: rfactor b: loop j is its only reduce loop
===
fn f(x: in f32[13, 6], y: out f32[6]) {
	for i in 0..6 {
		for j in 0..13 {
			block b(vi: spatial 0..6 = i, vj: reduce 0..13 = j) {
				init {
					y[vi] = 0.5
				}
				sum y[vi] <- x[vj, vi]
			}
		}
	}
}
--- rfactor b i
! trace:1: rfactor b: loop i is none of its reduce loops
===
fn f(x: in f32[13, 6], y: out f32[6], z: out f32[6]) {
	for i in 0..6 {
		for j in 0..13 {
			block b(vi: spatial 0..6 = i, vj: reduce 0..13 = j) {
				init {
					y[vi] = 0.5
				}
				sum y[vi] <- x[vj, vi]
				z[vi] = y[vi]
			}
		}
	}
}
--- rfactor b j
! trace:1: rfactor b: it must have an init of one element and one associative reduction into it
===
fn f(x: in f32[13, 6, 7], y: out f32[6]) {
	for i in 0..6 {
		for j in 0..13 {
			for k in 0..7 {
				block b(vi: spatial 0..6 = i, vj: reduce 0..13 = j, vk: reduce 0..7 = k) {
					init {
						y[vi] = 0.5
					}
					sum y[vi] <- x[vj, vi, vk]
				}
			}
		}
	}
}
--- cut k 3; rfactor b k
! trace:2: rfactor b: loop j contains another statement
===
fn f(x: in f32[4, 32], y: out f32[4]) {
	alloc t: f32[4]
	for i in 0..4 {
		for k in 0..32 {
			block a(vi: spatial 0..4 = i, vk: reduce 0..32 = k) {
				init {
					t[vi] = 0.0
				}
				sum t[vi] <- x[vi, vk]
			}
		}
	}
	for j in 0..4 {
		block b(vj: spatial 0..4 = j) {
			y[vj] = t[vj]
		}
	}
}
--- split k 8; reorder k.o i k.i; rfactor a k.o; compute_at a j as m p
fn f(x: in f32[4, 32], y: out f32[4]) {
	alloc a.rf: f32[4, 4] @local
	for k.o in 0..4 {
		for i in 0..4 {
			for k.i in 0..8 {
				block a.rf(vi: spatial 0..4 = i, vk.o.rf: spatial 0..4 = k.o, vk.i.rf: reduce 0..8 = k.i) {
					init {
						a.rf[vk.o.rf, vi] = 0.0
					}
					sum a.rf[vk.o.rf, vi] <- x[vi, vk.o.rf * 8 + vk.i.rf]
				}
			}
		}
	}
	for j in 0..4 {
		alloc t: f32[1] @local
		for m in 0..1 {
			for p in 0..4 {
				block a(vi: spatial 0..4 = j + m, vk.o.rf: reduce 0..4 = p) {
					init {
						t[vi - j] = 0.0
					}
					sum t[vi - j] <- a.rf[vk.o.rf, vi]
				}
			}
		}
		block b(vj: spatial 0..4 = j) {
			y[vj] = t[vj - j]
		}
	}
}
===
