fn f(x: in f32[4, 6], r: const f32[6, 6], h: work f32[5, 6], y: out f32[6]) {
	for i in 0..6 {
		block first(vi: spatial 0..6 = i) {
			h[0, vi] = 0.0
		}
	}
	alloc a: f32[6]
	for s in 0..4 {
		for j in 0..6 {
			for k in 0..6 {
				block sum(vs: scan 0..4 = s, vj: spatial 0..6 = j, vk: reduce 0..6 = k) {
					init {
						a[vj] = x[vs, vj]
					}
					sum a[vj] <- h[vs, vk] * r[vk, vj]
				}
			}
		}
		for j_1 in 0..6 {
			block cell(vs_1: scan 0..4 = s, vj_1: spatial 0..6 = j_1) {
				h[vs_1 + 1, vj_1] = max(a[vj_1], 0.0)
			}
		}
	}
	for i_1 in 0..6 {
		block last(vi_1: spatial 0..6 = i_1) {
			y[vi_1] = h[4, vi_1]
		}
	}
}
--- compute_at sum j_1
fn f(x: in f32[4, 6], r: const f32[6, 6], h: work f32[5, 6], y: out f32[6]) {
	for i in 0..6 {
		block first(vi: spatial 0..6 = i) {
			h[0, vi] = 0.0
		}
	}
	for s in 0..4 {
		for j_1 in 0..6 {
			alloc a: f32[1] @local
			for j in 0..1 {
				for k in 0..6 {
					block sum(vs: scan 0..4 = s, vj: spatial 0..6 = j_1 + j, vk: reduce 0..6 = k) {
						init {
							a[vj - j_1] = x[vs, vj]
						}
						sum a[vj - j_1] <- h[vs, vk] * r[vk, vj]
					}
				}
			}
			block cell(vs_1: scan 0..4 = s, vj_1: spatial 0..6 = j_1) {
				h[vs_1 + 1, vj_1] = max(a[vj_1 - j_1], 0.0)
			}
		}
	}
	for i_1 in 0..6 {
		block last(vi_1: spatial 0..6 = i_1) {
			y[vi_1] = h[4, vi_1]
		}
	}
}
===
fn f(x: in f32[4, 6], r: const f32[6, 6], h: work f32[5, 6], y: out f32[6]) {
	for i in 0..6 {
		block first(vi: spatial 0..6 = i) {
			h[0, vi] = 0.0
		}
	}
	alloc a: f32[6]
	for s in 0..4 {
		for j in 0..6 {
			for k in 0..6 {
				block sum(vs: scan 0..4 = s, vj: spatial 0..6 = j, vk: reduce 0..6 = k) {
					init {
						a[vj] = x[vs, vj]
					}
					sum a[vj] <- h[vs, vk] * r[vk, vj]
				}
			}
		}
		for j_1 in 0..6 {
			block cell(vs_1: scan 0..4 = s, vj_1: spatial 0..6 = j_1) {
				h[vs_1 + 1, vj_1] = max(a[vj_1], 0.0)
			}
		}
	}
	for i_1 in 0..6 {
		block last(vi_1: spatial 0..6 = i_1) {
			y[vi_1] = h[4, vi_1]
		}
	}
}
--- split j_1 2; compute_at sum j_1.o; zigzag j_1.o s
fn f(x: in f32[4, 6], r: const f32[6, 6], h: work f32[5, 6], y: out f32[6]) {
	for i in 0..6 {
		block first(vi: spatial 0..6 = i) {
			h[0, vi] = 0.0
		}
	}
	for s in 0..4 {
		for j_1.o in 0..3 {
			let j_1.o.z: i64 = select(s % 2 == 0, j_1.o, 2 - j_1.o)
			alloc a: f32[2] @local
			for j in 0..2 {
				for k in 0..6 {
					block sum(vs: scan 0..4 = s, vj: spatial 0..6 = j_1.o.z * 2 + j, vk: reduce 0..6 = k) {
						init {
							a[vj - j_1.o.z * 2] = x[vs, vj]
						}
						sum a[vj - j_1.o.z * 2] <- h[vs, vk] * r[vk, vj]
					}
				}
			}
			for j_1.i in 0..2 {
				block cell(vs_1: scan 0..4 = s, vj_1: spatial 0..6 = j_1.o.z * 2 + j_1.i) {
					h[vs_1 + 1, vj_1] = max(a[vj_1 - j_1.o.z * 2], 0.0)
				}
			}
		}
	}
	for i_1 in 0..6 {
		block last(vi_1: spatial 0..6 = i_1) {
			y[vi_1] = h[4, vi_1]
		}
	}
}
===
fn f(x: in f32[4, 6], r: const f32[6, 6], h: work f32[5, 6], y: out f32[6]) {
	for i in 0..6 {
		block first(vi: spatial 0..6 = i) {
			h[0, vi] = 0.0
		}
	}
	alloc a: f32[6]
	for s in 0..4 {
		for j in 0..6 {
			for k in 0..6 {
				block sum(vs: scan 0..4 = s, vj: spatial 0..6 = j, vk: reduce 0..6 = k) {
					init {
						a[vj] = x[vs, vj]
					}
					sum a[vj] <- h[vs, vk] * r[vk, vj]
				}
			}
		}
		for j_1 in 0..6 {
			block cell(vs_1: scan 0..4 = s, vj_1: spatial 0..6 = j_1) {
				h[vs_1 + 1, vj_1] = max(a[vj_1], 0.0)
			}
		}
	}
	for i_1 in 0..6 {
		block last(vi_1: spatial 0..6 = i_1) {
			y[vi_1] = h[4, vi_1]
		}
	}
}
--- split j_1 3; compute_at sum j_1.o; parallel j_1.o
fn f(x: in f32[4, 6], r: const f32[6, 6], h: work f32[5, 6], y: out f32[6]) {
	for i in 0..6 {
		block first(vi: spatial 0..6 = i) {
			h[0, vi] = 0.0
		}
	}
	for s in 0..4 {
		for j_1.o in 0..2 parallel {
			alloc a: f32[3] @local
			for j in 0..3 {
				for k in 0..6 {
					block sum(vs: scan 0..4 = s, vj: spatial 0..6 = j_1.o * 3 + j, vk: reduce 0..6 = k) {
						init {
							a[vj - j_1.o * 3] = x[vs, vj]
						}
						sum a[vj - j_1.o * 3] <- h[vs, vk] * r[vk, vj]
					}
				}
			}
			for j_1.i in 0..3 {
				block cell(vs_1: scan 0..4 = s, vj_1: spatial 0..6 = j_1.o * 3 + j_1.i) {
					h[vs_1 + 1, vj_1] = max(a[vj_1 - j_1.o * 3], 0.0)
				}
			}
		}
	}
	for i_1 in 0..6 {
		block last(vi_1: spatial 0..6 = i_1) {
			y[vi_1] = h[4, vi_1]
		}
	}
}
===
fn f(x: in f32[4, 6], r: const f32[6, 6], h: work f32[5, 6], y: out f32[6]) {
	for i in 0..6 {
		block first(vi: spatial 0..6 = i) {
			h[0, vi] = 0.0
		}
	}
	alloc a: f32[6]
	for s in 0..4 {
		for j in 0..6 {
			for k in 0..6 {
				block sum(vs: scan 0..4 = s, vj: spatial 0..6 = j, vk: reduce 0..6 = k) {
					init {
						a[vj] = x[vs, vj]
					}
					sum a[vj] <- h[vs, vk] * r[vk, vj]
				}
			}
		}
		for j_1 in 0..6 {
			block cell(vs_1: scan 0..4 = s, vj_1: spatial 0..6 = j_1) {
				h[vs_1 + 1, vj_1] = max(a[vj_1], 0.0)
			}
		}
	}
	for i_1 in 0..6 {
		block last(vi_1: spatial 0..6 = i_1) {
			y[vi_1] = h[4, vi_1]
		}
	}
}
--- inline sum
! trace:1: inline sum: it makes a buffer anew in each step of a scan
===
fn f(x: in f32[4, 6], r: const f32[6, 6], h: work f32[5, 6], y: out f32[6]) {
	for i in 0..6 {
		block first(vi: spatial 0..6 = i) {
			h[0, vi] = 0.0
		}
	}
	alloc a: f32[6]
	for s in 0..4 {
		for j in 0..6 {
			for k in 0..6 {
				block sum(vs: scan 0..4 = s, vj: spatial 0..6 = j, vk: reduce 0..6 = k) {
					init {
						a[vj] = x[vs, vj]
					}
					sum a[vj] <- h[vs, vk] * r[vk, vj]
				}
			}
		}
		for j_1 in 0..6 {
			block cell(vs_1: scan 0..4 = s, vj_1: spatial 0..6 = j_1) {
				h[vs_1 + 1, vj_1] = max(a[vj_1], 0.0)
			}
		}
	}
	for i_1 in 0..6 {
		block last(vi_1: spatial 0..6 = i_1) {
			y[vi_1] = h[4, vi_1]
		}
	}
}
--- compute_at sum i_1
! trace:1: compute_at sum: it must precede loop i_1 in the same body
===
fn f(x: in f32[4, 6], r: const f32[6, 6], h: work f32[5, 6], y: out f32[6]) {
	for i in 0..6 {
		block first(vi: spatial 0..6 = i) {
			h[0, vi] = 0.0
		}
	}
	alloc a: f32[6]
	for s in 0..4 {
		for j in 0..6 {
			for k in 0..6 {
				block sum(vs: scan 0..4 = s, vj: spatial 0..6 = j, vk: reduce 0..6 = k) {
					init {
						a[vj] = x[vs, vj]
					}
					sum a[vj] <- h[vs, vk] * r[vk, vj]
				}
			}
		}
		for j_1 in 0..6 {
			block cell(vs_1: scan 0..4 = s, vj_1: spatial 0..6 = j_1) {
				h[vs_1 + 1, vj_1] = max(a[vj_1], 0.0)
			}
		}
	}
	for i_1 in 0..6 {
		block last(vi_1: spatial 0..6 = i_1) {
			y[vi_1] = h[4, vi_1]
		}
	}
}
--- zigzag s s
! trace:1: zigzag s: s is no serial loop around it
===
fn f(x: in f32[4, 6], r: const f32[6, 6], h: work f32[5, 6], y: out f32[6]) {
	for i in 0..6 {
		block first(vi: spatial 0..6 = i) {
			h[0, vi] = 0.0
		}
	}
	alloc a: f32[6]
	for s in 0..4 {
		for j in 0..6 {
			for k in 0..6 {
				block sum(vs: scan 0..4 = s, vj: spatial 0..6 = j, vk: reduce 0..6 = k) {
					init {
						a[vj] = x[vs, vj]
					}
					sum a[vj] <- h[vs, vk] * r[vk, vj]
				}
			}
		}
		for j_1 in 0..6 {
			block cell(vs_1: scan 0..4 = s, vj_1: spatial 0..6 = j_1) {
				h[vs_1 + 1, vj_1] = max(a[vj_1], 0.0)
			}
		}
	}
	for i_1 in 0..6 {
		block last(vi_1: spatial 0..6 = i_1) {
			y[vi_1] = h[4, vi_1]
		}
	}
}
--- zigzag j i
! trace:1: zigzag j: i is no serial loop around it
===
fn f(x: in f32[4, 6], r: const f32[6, 6], h: work f32[5, 6], y: out f32[6]) {
	for i in 0..6 {
		block first(vi: spatial 0..6 = i) {
			h[0, vi] = 0.0
		}
	}
	alloc a: f32[6]
	for s in 0..4 {
		for j in 0..6 {
			for k in 0..6 {
				block sum(vs: scan 0..4 = s, vj: spatial 0..6 = j, vk: reduce 0..6 = k) {
					init {
						a[vj] = x[vs, vj]
					}
					sum a[vj] <- h[vs, vk] * r[vk, vj]
				}
			}
		}
		for j_1 in 0..6 {
			block cell(vs_1: scan 0..4 = s, vj_1: spatial 0..6 = j_1) {
				h[vs_1 + 1, vj_1] = max(a[vj_1], 0.0)
			}
		}
	}
	for i_1 in 0..6 {
		block last(vi_1: spatial 0..6 = i_1) {
			y[vi_1] = h[4, vi_1]
		}
	}
}
--- zigzag j s; zigzag j s
! trace:2: zigzag j: a statement below it stands in no block
===
fn f(x: in f32[4, 6], r: const f32[6, 6], h: work f32[5, 6], y: out f32[6]) {
	for i in 0..6 {
		block first(vi: spatial 0..6 = i) {
			h[0, vi] = 0.0
		}
	}
	alloc a: f32[6]
	for s in 0..4 {
		for j in 0..6 {
			for k in 0..6 {
				block sum(vs: scan 0..4 = s, vj: spatial 0..6 = j, vk: reduce 0..6 = k) {
					init {
						a[vj] = x[vs, vj]
					}
					sum a[vj] <- h[vs, vk] * r[vk, vj]
				}
			}
		}
		for j_1 in 0..6 {
			block cell(vs_1: scan 0..4 = s, vj_1: spatial 0..6 = j_1) {
				h[vs_1 + 0, vj_1] = max(a[vj_1], 0.0)
			}
		}
	}
	for i_1 in 0..6 {
		block last(vi_1: spatial 0..6 = i_1) {
			y[vi_1] = h[4, vi_1]
		}
	}
}
--- compute_at sum j_1
! trace:1: compute_at sum: a statement behind it writes h, which it reads
===
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for s in 0..4 {
		for i in 0..6 {
			block b(vs: spatial 0..4 = s, vi: spatial 0..6 = i) {
				y[vs, vi] = x[vs, vi]
			}
		}
	}
}
--- zigzag i s
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for s in 0..4 {
		for i in 0..6 {
			let i.z: i64 = select(s % 2 == 0, i, 5 - i)
			block b(vs: spatial 0..4 = s, vi: spatial 0..6 = i.z) {
				y[vs, vi] = x[vs, vi]
			}
		}
	}
}
===
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for s in 0..4 {
		for i in 0..6 {
			block b(vs: spatial 0..4 = s, vi: spatial 0..6 = i) {
				y[vs, vi] = x[vs, vi]
			}
		}
	}
}
--- cut i 4; zigzag i s; zigzag i.2 s as back
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for s in 0..4 {
		for i in 0..4 {
			let i.z: i64 = select(s % 2 == 0, i, 3 - i)
			block b(vs: spatial 0..4 = s, vi: spatial 0..6 = i.z) {
				y[vs, vi] = x[vs, vi]
			}
		}
		for i.2 in 4..6 {
			let back: i64 = select(s % 2 == 0, i.2, 9 - i.2)
			block b.2(vs: spatial 0..4 = s, vi: spatial 0..6 = back) {
				y[vs, vi] = x[vs, vi]
			}
		}
	}
}
===
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for s in 0..4 {
		for i in 0..6 {
			block b(vs: spatial 0..4 = s, vi: spatial 0..6 = i) {
				y[vs, vi] = x[vs, vi]
			}
		}
	}
}
--- vectorize i; zigzag i s
! trace:2: zigzag i: it is no longer a serial loop
===
fn f(x: in f32[4, 6], y: out f32[4]) {
	for s in 0..4 {
		for i in 0..6 {
			block b(vs: spatial 0..4 = s, vi: reduce 0..6 = i) {
				init {
					y[vs] = 0.0
				}
				sum y[vs] <- x[vs, vi]
			}
		}
	}
}
--- zigzag i s
! trace:1: zigzag i: a reduction depends on it
===
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for s in 0..4 {
		for i in 0..6 {
			block b(vs: spatial 0..4 = s, vi: spatial 0..6 = i) {
				y[vs, vi] = x[vs, vi]
			}
		}
	}
}
--- zigzag i s; fuse s i
! trace:2: fuse i: a block below it does the same in every iteration
===
fn f(x: in f32[4, 6], y: out f32[4, 6], t: work f32[4, 6]) {
	for a in 0..4 {
		for b in 0..6 {
			block t(va: spatial 0..4 = a, vb: spatial 0..6 = b) {
				t[va, vb] = x[va, vb] * 2.0
			}
		}
	}
	for i in 0..4 {
		for j in 0..6 {
			block y(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = t[vi, vj] + 1.0
			}
		}
	}
}
--- zigzag j i; compute_at t j
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			let j.z: i64 = select(i % 2 == 0, j, 5 - j)
			alloc t: f32[1, 1] @local
			for a in 0..1 {
				for b in 0..1 {
					block t(va: spatial 0..4 = i + a, vb: spatial 0..6 = j.z + b) where 0 <= j.z + b & j.z + b < 6 {
						t[va - i, vb - j.z] = x[va, vb] * 2.0
					}
				}
			}
			block y(vi: spatial 0..4 = i, vj: spatial 0..6 = j.z) {
				y[vi, vj] = t[vi - i, vj - j.z] + 1.0
			}
		}
	}
}
===
