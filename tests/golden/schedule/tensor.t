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
--- reindex x conv
fn f(x: in f32[6], w: const f32[3], y: out f32[6], x.r: work f32[6, 3]) {
	for x.r.0 in 0..6 {
		for x.r.1 in 0..3 {
			block x.r(vx.r.0: spatial 0..6 = x.r.0, vx.r.1: spatial 0..3 = x.r.1) {
				x.r[vx.r.0, vx.r.1] = select(0 <= vx.r.0 + vx.r.1 - 1 & vx.r.0 + vx.r.1 - 1 < 6, x[vx.r.0 + vx.r.1 - 1], 0.0)
			}
		}
	}
	for i in 0..6 {
		for k in 0..3 {
			block conv(vi: spatial 0..6 = i, vk: reduce 0..3 = k) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x.r[vi, vk] * w[vk]
			}
		}
	}
}
===
fn f(x: in f32[2, 13], w: const f32[5, 3], y: out f32[5, 6]) {
	for o in 0..5 {
		for i in 0..6 {
			for k in 0..3 {
				block conv(vo: spatial 0..5 = o, vi: spatial 0..6 = i, vk: reduce 0..3 = k) {
					init {
						y[vo, vi] = 0.0
					}
					sum y[vo, vi] <- x[1, vi * 2 + vk] * w[vo, vk]
				}
			}
		}
	}
}
--- reindex x conv; split i 4; compute_at x.r i.o
fn f(x: in f32[2, 13], w: const f32[5, 3], y: out f32[5, 6]) {
	for o in 0..5 {
		for i.o in 0..2 {
			alloc x.r: f32[4, 3] @local
			for x.r.0 in 0..4 {
				for x.r.1 in 0..3 {
					block x.r(vx.r.0: spatial 0..6 = i.o * 4 + x.r.0, vx.r.1: spatial 0..3 = x.r.1) where i.o * 4 + x.r.0 < 6 {
						x.r[vx.r.0 - i.o * 4, vx.r.1] = x[1, vx.r.0 * 2 + vx.r.1]
					}
				}
			}
			for i.i in 0..4 {
				for k in 0..3 {
					block conv(vo: spatial 0..5 = o, vi: spatial 0..6 = i.o * 4 + i.i, vk: reduce 0..3 = k) where i.o * 4 + i.i < 6 {
						init {
							y[vo, vi] = 0.0
						}
						sum y[vo, vi] <- x.r[vi - i.o * 4, vk] * w[vo, vk]
					}
				}
			}
		}
	}
}
===
fn f(x: in f32[8], y: out f32[5]) {
	for i in 2..7 {
		block b(vi: spatial 2..7 = i) {
			y[vi - 2] = x[vi + 1] * x[vi + 1]
		}
	}
}
--- reindex x b
fn f(x: in f32[8], y: out f32[5], x.r: work f32[5]) {
	for x.r.0 in 0..5 {
		block x.r(vx.r.0: spatial 0..5 = x.r.0) {
			x.r[vx.r.0] = x[vx.r.0 + 2 + 1]
		}
	}
	for i in 2..7 {
		block b(vi: spatial 2..7 = i) {
			y[vi - 2] = x.r[vi - 2] * x.r[vi - 2]
		}
	}
}
===
fn f(x: in f32[8], y: out f32[4]) {
	for i in 0..4 {
		block b(vi: spatial 0..4 = i) {
			y[vi] = x[vi] * x[vi + 1]
		}
	}
}
--- reindex x b
! trace:1: reindex x: that block reads it in several ways
===
fn f(x: in f32[8], y: out f32[4]) {
	for i in 0..4 {
		block b(vi: spatial 0..4 = i) {
			y[vi] = x[3]
		}
	}
}
--- reindex x b
! trace:1: reindex x: one element of it is read
===
fn f(x: in f32[8], y: out f32[4]) {
	for i in 0..4 {
		block b(vi: spatial 0..4 = i) {
			y[vi] = x[i]
		}
	}
}
--- reindex x b
! trace:1: reindex x: not only iterators of that block say where it is read
===
fn f(x: in f32[8], y: inout f32[12]) {
	for i in 0..12 {
		block b(vi: spatial 0..12 = i) {
			if vi < 8 {
				y[vi] = x[vi]
			}
		}
	}
}
--- reindex x b
! trace:1: reindex x: for some values of the iterators it would be read outside
===
fn f(x: in f32[8], at: in i64[4], y: out f32[4]) {
	for i in 0..4 {
		block b(vi: spatial 0..4 = i) {
			y[vi] = x[at[vi]]
		}
	}
}
--- reindex x b
! trace:1: reindex x: its index is read from another buffer
===
fn f(x: in f32[8], y: out f32[4]) {
	for i in 0..4 {
		block b(vi: spatial 0..4 = i) {
			y[vi] = x[vi]
		}
	}
}
--- reindex y b
! trace:1: reindex y: it is not an input or a constant: not all of it may be there
===
fn f(x: inout f32[8], y: out f32[4]) {
	for i in 0..4 {
		block b(vi: spatial 0..4 = i) {
			y[vi] = x[vi + 4]
			x[vi] = 1.0
		}
	}
}
--- reindex x b
! trace:1: reindex x: around that block it is written, or a call uses it
===
fn f(x: in f32[8], y: out f32[4]) {
	for i in 0..4 {
		block b(vi: spatial 0..4 = i) {
			y[vi] = x[vi]
		}
	}
}
--- reindex x b; reindex x b
! trace:2: reindex x: that block does not read it
===
fn f[n in 1..8](x: in f32[n], y: out f32[n]) {
	for i in 0..n {
		block b(vi: spatial 0..n = i) {
			y[vi] = x[vi]
		}
	}
}
--- reindex x b
! trace:1: reindex x: a range is not constant, or there are too many of them
===
fn f(x: in f32[1], y: out f32[4096, 4097]) {
	for i in 0..4096 {
		for j in 0..4097 {
			block b(vi: spatial 0..4096 = i, vj: spatial 0..4097 = j) {
				y[vi, vj] = x[(vi + vj) / 8193]
			}
		}
	}
}
--- reindex x b
! trace:1: reindex x: the copy would have more than 16777216 elements
===
fn f(x: in f32[8], y: out f32[4]) {
	alloc x.r: f32[8]
	for i in 0..4 {
		block b(vi: spatial 0..4 = i) {
			y[vi] = x[vi]
		}
	}
}
--- reindex x b
! trace:1: reindex x: there is already something called x.r
===
