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
! trace:1: skip total: a value that it reduces is not a select, or a product with one, whose other arm changes nothing
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
! trace:1: skip most: a value that it reduces is not a select, or a product with one, whose other arm changes nothing
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
