fn f(x: in f32[4], r: in f32[8], y: out f32[8], t: work f32[8]) {
	for i in 0..4 {
		block a(vi: spatial 0..4 = i) {
			t[vi * 2] = x[vi] + 1.0
			t[vi * 2 + 1] = x[vi] - 1.0 where vi < 4
		}
	}
	for j in 0..8 {
		block b(vj: spatial 0..8 = j) {
			y[vj] = max(t[vj] * r[vj] + t[vj], 0.0)
		}
	}
}
--- absorb a b
fn f(x: in f32[4], r: in f32[8], y: out f32[8]) {
	for i in 0..4 {
		block a(vi: spatial 0..4 = i) {
			y[vi * 2] = max((x[vi] + 1.0) * r[vi * 2] + (x[vi] + 1.0), 0.0)
			y[vi * 2 + 1] = max((x[vi] - 1.0) * r[vi * 2 + 1] + (x[vi] - 1.0), 0.0) where vi < 4
		}
	}
}
===
fn f(x: in f32[2, 3], y: out f32[3, 2], t: work f32[2, 3]) {
	for i in 0..2 {
		for k in 0..3 {
			block a(vi: spatial 0..2 = i, vk: spatial 0..3 = k) {
				t[vi, vk] = x[vi, vk] * 2.0
			}
		}
	}
	for j in 0..3 {
		for l in 0..2 {
			block b(vj: spatial 0..3 = j, vl: spatial 0..2 = l) {
				y[vj, vl] = max(t[vl, vj], 0.0)
			}
		}
	}
}
--- split i 2; vectorize i.i; absorb a b
fn f(x: in f32[2, 3], y: out f32[3, 2]) {
	for i.o in 0..1 {
		for i.i in 0..2 vector {
			for k in 0..3 {
				block a(vi: spatial 0..2 = i.o * 2 + i.i, vk: spatial 0..3 = k) {
					y[vk, vi] = max(x[vi, vk] * 2.0, 0.0)
				}
			}
		}
	}
}
===
fn f(x: in f32[4], r: in f32[8], y: out f32[8], t: work f32[8]) {
	for i in 0..4 {
		block a(vi: spatial 0..4 = i) {
			t[vi * 2] = x[vi] + 1.0
			t[vi * 2 + 1] = x[vi] - 1.0 where vi < 4
		}
	}
	for j in 0..8 {
		block b(vj: spatial 0..8 = j) {
			y[vj] = max(t[7 - vj] * r[vj], 0.0)
		}
	}
}
--- absorb a b
! trace:1: absorb b: its iterators must be the indices of t, one each
===
fn f(x: in f32[4], r: in f32[8], y: out f32[8], t: work f32[8]) {
	for i in 0..4 {
		block a(vi: spatial 0..4 = i) {
			t[vi * 2] = x[vi] + 1.0
			t[vi * 2 + 1] = x[vi] - 1.0 where vi < 4
		}
	}
	for j in 0..8 {
		block b(vj: spatial 0..8 = j) {
			y[vj] = max(t[vj] * t[0], 0.0)
		}
	}
}
--- absorb a b
! trace:1: absorb b: its iterators must be the indices of t, one each
===
fn f(x: in f32[4], r: in f32[8], y: out f32[8], t: work f32[8]) {
	for i in 0..4 {
		block a(vi: spatial 0..4 = i) {
			t[vi * 2] = x[vi] + 1.0
			t[vi * 2 + 1] = x[vi] - 1.0 where vi < 4
		}
	}
	for j in 0..8 {
		block b(vj: spatial 0..8 = j) {
			y[vj] = max(t[vj] * r[vj] + t[vj], 0.0)
		}
	}
}
--- split j 3; absorb a b
! trace:2: absorb b: it has a predicate: apply this before its loops are split
===
fn f(x: in f32[4], r: in f32[8], y: out f32[8], t: work f32[8]) {
	for i in 0..4 {
		block a(vi: spatial 0..4 = i) {
			t[vi * 2] = x[vi] + 1.0
			t[vi * 2 + 1] = x[vi] - 1.0 where vi < 4
		}
	}
	for j in 0..8 {
		block b(vj: spatial 0..8 = j) {
			y[vj] = max(t[vj] * r[vj] + t[vj], 0.0)
		}
	}
}
--- absorb b a
! trace:1: absorb b: it stores to y, which is no work parameter
===
fn f(x: in f32[4], r: in f32[8], y: out f32[8], t: work f32[8]) {
	for i in 0..4 {
		block a(vi: spatial 0..4 = i) {
			t[vi * 2] = x[vi] + 1.0
			t[vi * 2 + 1] = x[vi] - 1.0 where vi < 4
		}
	}
	for j in 0..8 {
		block b(vj: spatial 0..8 = j) {
			y[vj] = max(t[vj] * r[vj] + t[vj], 0.0)
		}
	}
}
--- absorb a c
! trace:1: there is no block "c"
===
fn f(x: in f32[4], r: in f32[8], y: out f32[8], t: work f32[8]) {
	for i in 0..4 {
		block a(vi: spatial 0..4 = i) {
			y[vi * 2] = x[vi] + 1.0
			t[vi * 2 + 1] = x[vi] - 1.0 where vi < 4
		}
	}
	for j in 0..8 {
		block b(vj: spatial 0..8 = j) {
			y[vj] = max(t[vj] * r[vj] + t[vj], 0.0)
		}
	}
}
--- absorb a b
! trace:1: absorb a: it contains more than stores to one buffer
===
fn f(x: in f32[4], r: in f32[8], y: out f32[8], t: work f32[8], z: out f32[8]) {
	for i in 0..4 {
		block a(vi: spatial 0..4 = i) {
			t[vi * 2] = x[vi] + 1.0
			t[vi * 2 + 1] = x[vi] - 1.0 where vi < 4
		}
	}
	for k in 0..8 {
		block c(vk: spatial 0..8 = k) {
			z[vk] = t[vk]
		}
	}
	for j in 0..8 {
		block b(vj: spatial 0..8 = j) {
			y[vj] = max(t[vj] * r[vj] + t[vj], 0.0)
		}
	}
}
--- absorb a b
! trace:1: absorb b: other blocks read or write t
===
fn f(x: in f32[4], r: work f32[8], y: out f32[8], t: work f32[8]) {
	for i in 0..4 {
		block a(vi: spatial 0..4 = i) {
			t[vi * 2] = x[vi] + 1.0
			t[vi * 2 + 1] = x[vi] - 1.0 where vi < 4
		}
	}
	for k in 0..8 {
		block c(vk: spatial 0..8 = k) {
			r[vk] = 2.0
		}
	}
	for j in 0..8 {
		block b(vj: spatial 0..8 = j) {
			y[vj] = max(t[vj] * r[vj] + t[vj], 0.0)
		}
	}
}
--- absorb a b
! trace:1: absorb b: a statement between the two blocks writes r
===
fn f(x: in f32[4], r: in f32[8], y: out f32[8], t: work f32[8]) {
	for i in 0..4 {
		block a(vi: spatial 0..4 = i) {
			t[vi * 2] = x[vi] + 1.0
			t[vi * 2 + 1] = x[vi] - 1.0 where vi < 4
		}
	}
	for k in 0..8 {
		block c(vk: spatial 0..8 = k) {
			y[vk] = 2.0
		}
	}
	for j in 0..8 {
		block b(vj: spatial 0..8 = j) {
			y[vj] = max(t[vj] * r[vj] + t[vj], 0.0)
		}
	}
}
--- absorb a b
! trace:1: absorb b: another block writes y
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
--- absorb a b
! trace:1: absorb a: it contains more than stores to one buffer
===
fn f(x: in f32[4], r: in f32[8], y: out f32[8], t: work f32[8]) {
	for i in 0..4 {
		block a(vi: spatial 0..4 = i) {
			t[vi * 2] = x[vi] + 1.0
			t[vi * 2 + 1] = x[vi] - 1.0 where vi < 4
		}
	}
	for j in 0..8 {
		block b(vj: spatial 0..8 = j) {
			y[vj] = max(t[vj] * r[vj] + t[vj], 0.0)
		}
	}
}
--- compute conv2d.winograd m=4
! trace:1: compute conv2d.winograd: the operators behind the Fns are not known
===
