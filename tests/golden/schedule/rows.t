fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t j
fn f(x: in f32[14], w: in f32[3], y: out f32[12]) {
	alloc t: f32[14] @local
	for j in 0..12 {
		for i in 0..3 {
			block a(vi: spatial 0..14 = j + i) {
				t[vi] = x[vi] * 2.0
			}
		}
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t j; ring a j
fn f(x: in f32[14], w: in f32[3], y: out f32[12]) {
	alloc t: f32[14] @local map (i0) -> [i0 % 4 : 4]
	for j in 0..12 {
		for i in select(0 < j, j + 2, 0)..j + 3 {
			block a(vi: spatial 0..14 = i) {
				t[vi] = x[vi] * 2.0
			}
		}
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t j; ring a j 3
fn f(x: in f32[14], w: in f32[3], y: out f32[12]) {
	alloc t: f32[14] @local map (i0) -> [i0 % 3 : 3]
	for j in 0..12 {
		for i in select(0 < j, j + 2, 0)..j + 3 {
			block a(vi: spatial 0..14 = i) {
				t[vi] = x[vi] * 2.0
			}
		}
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t j; ring a j 2
! trace:3: ring a: 2 rows, but an iteration needs 3 of t
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t j; ring a j 14
fn f(x: in f32[14], w: in f32[3], y: out f32[12]) {
	alloc t: f32[14] @local
	for j in 0..12 {
		for i in select(0 < j, j + 2, 0)..j + 3 {
			block a(vi: spatial 0..14 = i) {
				t[vi] = x[vi] * 2.0
			}
		}
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- compute_at a j; ring a j
! trace:2: ring a: t is not stored around that loop: apply store_at first
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- compute_at a k; store_at t k; ring a k
! trace:3: ring a: no iteration of loop k reads what the one before has made
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t k
! trace:2: store_at t: it is not declared in loop k
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t j; store_at t j
! trace:3: store_at t: it is not declared in loop j
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t j; ring a j; ring a j
! trace:4: ring a: the iterator that moves with that loop must be one index of t
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t j; ring b j
! trace:3: ring b: y is not stored around that loop: apply store_at first
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t j; ring a k
! trace:3: ring a: it is not inside loop k
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t j; ring a j; inline a
! trace:4: inline a: loop j bounds the part that it makes
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t j; ring a j; compute_at a k
! trace:4: compute_at a: loop j bounds the part that it makes
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t j; ring a j; cache_write a
! trace:4: cache_write a: loop j bounds the part that it makes
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t j; parallel j
! trace:3: parallel j: an iteration may read what another one has written to t
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t j; ring a j; vectorize j
! trace:4: vectorize j: bounds below depend on it
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t j; ring a j; cut j 1; parallel j.2
! trace:5: parallel j.2: bounds below depend on it
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t j; ring a j; split j 5
fn f(x: in f32[14], w: in f32[3], y: out f32[12]) {
	alloc t: f32[14] @local map (i0) -> [i0 % 4 : 4]
	for j.o in 0..3 {
		for j.i in 0..5 {
			for i in select(0 < j.o * 5 + j.i, j.o * 5 + j.i + 2, 0)..j.o * 5 + j.i + 3 {
				block a(vi: spatial 0..14 = i) where j.o * 5 + j.i < 12 {
					t[vi] = x[vi] * 2.0
				}
			}
			for k in 0..3 {
				block b(vj: spatial 0..12 = j.o * 5 + j.i, vk: reduce 0..3 = k) where j.o * 5 + j.i < 12 {
					init {
						y[vj] = 0.0
					}
					sum y[vj] <- t[vj + vk] * w[vk]
				}
			}
		}
	}
}
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t j; ring a j; split j 5 overlap
! trace:4: split j: its tiles may not overlap: the loop also reads t
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- split j 5; compute_at a j.i; store_at t j.i; ring a j.i; parallel j.o
! trace:5: parallel j.o: bounds below depend on it
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- split j 5; compute_at a j.i; store_at t j.i; parallel j.o; ring a j.i
fn f(x: in f32[14], w: in f32[3], y: out f32[12]) {
	for j.o in 0..3 parallel {
		alloc t: f32[14] @local map (i0) -> [i0 % 4 : 4]
		for j.i in 0..5 {
			for i in select(0 < j.i, min(j.o * 5 + j.i + 2, 14), j.o * 5)..min(j.o * 5 + j.i + 3, 14) {
				block a(vi: spatial 0..14 = i) {
					t[vi] = x[vi] * 2.0
				}
			}
			for k in 0..3 {
				block b(vj: spatial 0..12 = j.o * 5 + j.i, vk: reduce 0..3 = k) where j.o * 5 + j.i < 12 {
					init {
						y[vj] = 0.0
					}
					sum y[vj] <- t[vj + vk] * w[vk]
				}
			}
		}
	}
}
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- split j 4; compute_at a j.o; store_at t j.o; ring a j.o; cut j.o 1; unroll i; unroll i.2
! trace:7: unroll i.2: its extent must be a constant up to 64
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- split j 4; compute_at a j.o; store_at t j.o; ring a j.o; cut j.o 1; split i.2 4; unroll i.2.i
fn f(x: in f32[14], w: in f32[3], y: out f32[12]) {
	alloc t: f32[14] @local map (i0) -> [i0 % 8 : 8]
	for j.o in 0..1 {
		for i in 0..6 {
			block a(vi: spatial 0..14 = i) {
				t[vi] = x[vi] * 2.0
			}
		}
		for j.i in 0..4 {
			for k in 0..3 {
				block b(vj: spatial 0..12 = j.o * 4 + j.i, vk: reduce 0..3 = k) {
					init {
						y[vj] = 0.0
					}
					sum y[vj] <- t[vj + vk] * w[vk]
				}
			}
		}
	}
	for j.o.2 in 1..3 {
		for i.2.o in 0..1 {
			for i.2.i in 0..4 unrolled {
				block a.2(vi: spatial 0..14 = j.o.2 * 4 + 2 + (i.2.o * 4 + i.2.i)) {
					t[vi] = x[vi] * 2.0
				}
			}
		}
		for j.i.2 in 0..4 {
			for k.2 in 0..3 {
				block b.2(vj: spatial 0..12 = j.o.2 * 4 + j.i.2, vk: reduce 0..3 = k.2) {
					init {
						y[vj] = 0.0
					}
					sum y[vj] <- t[vj + vk] * w[vk]
				}
			}
		}
	}
}
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- compute_at a j; layout t N2n; store_at t j
! trace:3: store_at t: it has a layout already: apply layout later
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t j; layout t N2n; ring a j
! trace:4: ring a: t has a layout that splits its rows, or is a ring already
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t j; split i 2; ring a j
! trace:4: ring a: several loops count iterator vi
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t j; unroll i; ring a j
! trace:4: ring a: no serial loop counts iterator vi
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vj + vk] * w[vk]
			}
		}
	}
}
--- parallel j; compute_at a j; store_at t j
! trace:3: store_at t: loop j keeps nothing from one iteration to the next
===
fn f(x: in f32[9, 4], v: in f32[4], w: in f32[5], y: out f32[5], t: work f32[9]) {
	for i in 0..9 {
		for c in 0..4 {
			block a(vi: spatial 0..9 = i, vc: reduce 0..4 = c) {
				init {
					t[vi] = 0.0
				}
				sum t[vi] <- x[vi, vc] * v[vc]
			}
		}
	}
	for j in 0..5 {
		for k in 0..5 {
			block b(vj: spatial 0..5 = j, vk: reduce 0..5 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- select(0 <= vj * 2 + vk - 2 & vj * 2 + vk - 2 < 9, t[vj * 2 + vk - 2], 0.0) * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t j; ring a j
fn f(x: in f32[9, 4], v: in f32[4], w: in f32[5], y: out f32[5]) {
	alloc t: f32[9] @local map (i0) -> [i0 % 8 : 8]
	for j in 0..5 {
		for i in select(0 < j, j * 2 + 1, 0)..min(j * 2 + 3, 9) {
			for c in 0..4 {
				block a(vi: spatial 0..9 = i, vc: reduce 0..4 = c) {
					init {
						t[vi] = 0.0
					}
					sum t[vi] <- x[vi, vc] * v[vc]
				}
			}
		}
		for k in 0..5 {
			block b(vj: spatial 0..5 = j, vk: reduce 0..5 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- select(0 <= vj * 2 + vk - 2 & vj * 2 + vk - 2 < 9, t[vj * 2 + vk - 2], 0.0) * w[vk]
			}
		}
	}
}
===
fn f(x: in f32[9, 4], v: in f32[4], w: in f32[5], y: out f32[5], t: work f32[9]) {
	for i in 0..9 {
		for c in 0..4 {
			block a(vi: spatial 0..9 = i, vc: reduce 0..4 = c) {
				init {
					t[vi] = 0.0
				}
				sum t[vi] <- x[vi, vc] * v[vc]
			}
		}
	}
	for j in 0..5 {
		for k in 0..5 {
			block b(vj: spatial 0..5 = j, vk: reduce 0..5 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- select(0 <= vj * 2 + vk - 2 & vj * 2 + vk - 2 < 9, t[vj * 2 + vk - 2], 0.0) * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t j; ring a j; decompose_init a j
! trace:4: decompose_init a: the extent of loop j is not constant, or no iterator of the block depends on it
===
fn f(x: in f32[9, 4], v: in f32[4], w: in f32[5], y: out f32[5], t: work f32[9]) {
	for i in 0..9 {
		for c in 0..4 {
			block a(vi: spatial 0..9 = i, vc: reduce 0..4 = c) {
				init {
					t[vi] = 0.0
				}
				sum t[vi] <- x[vi, vc] * v[vc]
			}
		}
	}
	for j in 0..5 {
		for k in 0..5 {
			block b(vj: spatial 0..5 = j, vk: reduce 0..5 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- select(0 <= vj * 2 + vk - 2 & vj * 2 + vk - 2 < 9, t[vj * 2 + vk - 2], 0.0) * w[vk]
			}
		}
	}
}
--- split j 2; compute_at a j.o; store_at t j.o; reorder c i; ring a j.o
fn f(x: in f32[9, 4], v: in f32[4], w: in f32[5], y: out f32[5]) {
	alloc t: f32[9] @local map (i0) -> [i0 % 8 : 8]
	for j.o in 0..3 {
		for c in 0..4 {
			for i in select(0 < j.o, j.o * 4 + 1, 0)..min(j.o * 4 + 5, 9) {
				block a(vi: spatial 0..9 = i, vc: reduce 0..4 = c) {
					init {
						t[vi] = 0.0
					}
					sum t[vi] <- x[vi, vc] * v[vc]
				}
			}
		}
		for j.i in 0..2 {
			for k in 0..5 {
				block b(vj: spatial 0..5 = j.o * 2 + j.i, vk: reduce 0..5 = k) where j.o * 2 + j.i < 5 {
					init {
						y[vj] = 0.0
					}
					sum y[vj] <- select(0 <= vj * 2 + vk - 2 & vj * 2 + vk - 2 < 9, t[vj * 2 + vk - 2], 0.0) * w[vk]
				}
			}
		}
	}
}
===
fn f(x: in f32[16], y: out f32[10], s: work f32[14], t: work f32[12]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			s[vi] = x[vi] + x[vi + 2]
		}
	}
	for j in 0..12 {
		block b(vj: spatial 0..12 = j) {
			t[vj] = s[vj] + s[vj + 2]
		}
	}
	for k in 0..10 {
		block c(vk: spatial 0..10 = k) {
			y[vk] = t[vk] + t[vk + 2]
		}
	}
}
--- compute_at b k; store_at t k; ring b k; compute_at a k; store_at s k; ring a k
fn f(x: in f32[16], y: out f32[10]) {
	alloc t: f32[12] @local map (i0) -> [i0 % 4 : 4]
	alloc s: f32[14] @local map (i0) -> [i0 % 8 : 8]
	for k in 0..10 {
		for i in select(0 < k, k + 4, 0)..k + 5 {
			block a(vi: spatial 0..14 = i) {
				s[vi] = x[vi] + x[vi + 2]
			}
		}
		for j in select(0 < k, k + 2, 0)..k + 3 {
			block b(vj: spatial 0..12 = j) {
				t[vj] = s[vj] + s[vj + 2]
			}
		}
		block c(vk: spatial 0..10 = k) {
			y[vk] = t[vk] + t[vk + 2]
		}
	}
}
===
fn f(x: in f32[16], y: out f32[10], s: work f32[14], t: work f32[12]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			s[vi] = x[vi] + x[vi + 2]
		}
	}
	for j in 0..12 {
		block b(vj: spatial 0..12 = j) {
			t[vj] = s[vj] + s[vj + 2]
		}
	}
	for k in 0..10 {
		block c(vk: spatial 0..10 = k) {
			y[vk] = t[vk] + t[vk + 2]
		}
	}
}
--- compute_at b k; store_at t k; compute_at a k; ring b k
! trace:4: ring b: the loop writes s, which it reads
===
fn f(x: in f32[16], y: out f32[10], s: work f32[14], t: work f32[12]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			s[vi] = x[vi] + x[vi + 2]
		}
	}
	for j in 0..12 {
		block b(vj: spatial 0..12 = j) {
			t[vj] = s[vj] + s[vj + 2]
		}
	}
	for k in 0..10 {
		block c(vk: spatial 0..10 = k) {
			y[vk] = t[vk] + t[vk + 2]
		}
	}
}
--- compute_at b k; store_at t k; compute_at a k; store_at s k; ring a k; ring b k
! trace:6: ring b: the loop writes s, which it reads
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[13 - vj - vk] * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t j; ring a j
! trace:3: ring a: it cannot be shown that each iteration of loop j reads rows that begin and end no earlier than before
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[(vj + vk) % 14] * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t j; ring a j
fn f(x: in f32[14], w: in f32[3], y: out f32[12]) {
	alloc t: f32[14] @local map (i0) -> [i0 % 4 : 4]
	for j in 0..12 {
		for i in select(0 < j, j + 2, 0)..j + 3 {
			block a(vi: spatial 0..14 = i) {
				t[vi] = x[vi] * 2.0
			}
		}
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[(vj + vk) % 14] * w[vk]
			}
		}
	}
}
===
fn f(x: in f32[14], w: in f32[3], y: out f32[12], t: work f32[14]) {
	for i in 0..14 {
		block a(vi: spatial 0..14 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..12 {
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[min(vj * 3, 11) + vk] * w[vk]
			}
		}
	}
}
--- compute_at a j; store_at t j; ring a j
fn f(x: in f32[14], w: in f32[3], y: out f32[12]) {
	alloc t: f32[14] @local map (i0) -> [i0 % 4 : 4]
	for j in 0..12 {
		for i in select(0 < j, min(j * 3, 14), 0)..min(j * 3 + 3, 14) {
			block a(vi: spatial 0..14 = i) {
				t[vi] = x[vi] * 2.0
			}
		}
		for k in 0..3 {
			block b(vj: spatial 0..12 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- t[vk + min(vj * 3, 11)] * w[vk]
			}
		}
	}
}
===
fn f(x: in f32[8], y: out f32[8]) {
	for l in 0..8 {
		alloc t: f32[2]
		for i in 0..2 {
			block a(vi: spatial 0..9 = l + i) where vi < 8 {
				t[vi - l] = x[vi]
			}
		}
		block b(vl: spatial 0..8 = l) {
			y[vl] = select(vl != 3, t[0], 0.0) + select(vl < 7 & vl != 2, t[1], 0.0)
		}
	}
}
--- store_at t l; ring a l
fn f(x: in f32[8], y: out f32[8]) {
	alloc t: f32[9] map (i0) -> [i0 % 2 : 2]
	for l in 0..8 {
		for i in select(0 < l, l + 1, 0)..l + 2 {
			block a(vi: spatial 0..9 = i) where vi < 8 {
				t[vi] = x[vi]
			}
		}
		block b(vl: spatial 0..8 = l) {
			y[vl] = select(vl != 3, t[l], 0.0) + select(vl < 7 & vl != 2, t[l + 1], 0.0)
		}
	}
}
===
fn f(x: in f32[8], y: out f32[8]) {
	for l in 0..8 {
		alloc t: f32[2]
		for i in 0..2 {
			block a(vi: spatial 0..9 = l + i) where vi < 8 & vi != 3 {
				t[vi - l] = x[vi]
			}
		}
		block b(vl: spatial 0..8 = l) {
			y[vl] = select(vl != 3, t[0], 0.0) + select(vl < 7 & vl != 2, t[1], 0.0)
		}
	}
}
--- store_at t l; ring a l
fn f(x: in f32[8], y: out f32[8]) {
	alloc t: f32[9] map (i0) -> [i0 % 2 : 2]
	for l in 0..8 {
		for i in select(0 < l, l + 1, 0)..l + 2 {
			block a(vi: spatial 0..9 = i) where vi < 8 & vi != 3 {
				t[vi] = x[vi]
			}
		}
		block b(vl: spatial 0..8 = l) {
			y[vl] = select(vl != 3, t[l], 0.0) + select(vl < 7 & vl != 2, t[l + 1], 0.0)
		}
	}
}
===
fn f(x: in f32[8], y: out f32[8]) {
	for l in 0..8 {
		alloc t: f32[2]
		for i in 0..2 {
			block a(vi: spatial 0..9 = l + i) where vi < 8 & l != 3 {
				t[vi - l] = x[vi]
			}
		}
		block b(vl: spatial 0..8 = l) {
			y[vl] = select(vl != 3, t[0], 0.0) + select(vl < 7 & vl != 2, t[1], 0.0)
		}
	}
}
--- store_at t l; ring a l
! trace:2: ring a: its predicate depends on loop l
===
fn f(x: in f32[8], y: out f32[8]) {
	for l in 0..8 {
		alloc t: f32[2]
		for i in 0..2 {
			block a(vi: spatial 0..9 = l + i) where vi < 8 {
				t[vi - l] = x[vi] * f32(l)
			}
		}
		block b(vl: spatial 0..8 = l) {
			y[vl] = select(vl != 3, t[0], 0.0) + select(vl < 7 & vl != 2, t[1], 0.0)
		}
	}
}
--- store_at t l; ring a l
! trace:2: ring a: more than one iterator depends on loops
===
fn f(x: in f32[8], y: out f32[8]) {
	for l in 0..8 {
		alloc t: f32[2]
		for i in 0..2 {
			block a(vi: spatial 0..9 = l + i) where vi < 8 {
				t[vi - l] = x[min(vi, i + 3)]
			}
		}
		block b(vl: spatial 0..8 = l) {
			y[vl] = select(vl != 3, t[0], 0.0) + select(vl < 7 & vl != 2, t[1], 0.0)
		}
	}
}
--- store_at t l; ring a l
! trace:2: ring a: more than one iterator depends on loops
===
fn f(x: in f32[8], y: out f32[8]) {
	alloc t: f32[9]
	for p in 0..2 parallel {
		for l in 0..4 {
			for i in 0..2 {
				block a(vi: spatial 0..9 = p * 5 + l + i) where vi < 8 {
					t[vi] = x[vi]
				}
			}
			block b(vl: spatial 0..8 = min(p * 5 + l, 7)) {
				y[vl] = t[vl]
			}
		}
	}
}
--- ring a l
! trace:1: ring a: loop p, between buffer and block, is not serial
===
