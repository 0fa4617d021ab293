fn f(x: in f32[2, 5], w: const f32[3, 2, 3], y: out f32[3, 5]) {
	for o in 0..3 {
		for h in 0..5 {
			for c in 0..2 {
				for k in 0..3 {
					block conv(vo: spatial 0..3 = o, vh: spatial 0..5 = h, vc: reduce 0..2 = c, vk: reduce 0..3 = k) {
						init {
							y[vo, vh] = 0.0
						}
						sum y[vo, vh] <- select(0 <= vh + vk - 1 & vh + vk - 1 < 5, x[vc, vh + vk - 1], 0.0) * w[vo, vc, vk]
					}
				}
			}
		}
	}
}
--- pad x conv
fn f(x: in f32[2, 5], w: const f32[3, 2, 3], y: out f32[3, 5], x.b: work f32[2, 7]) {
	for x.b.0 in 0..2 {
		for x.b.1 in 0..7 {
			block x.b(vx.b.0: spatial 0..2 = x.b.0, vx.b.1: spatial 0..7 = x.b.1) {
				x.b[vx.b.0, vx.b.1] = select(0 <= vx.b.1 + -1 & vx.b.1 + -1 < 5, x[vx.b.0, vx.b.1 + -1], 0.0)
			}
		}
	}
	for o in 0..3 {
		for h in 0..5 {
			for c in 0..2 {
				for k in 0..3 {
					block conv(vo: spatial 0..3 = o, vh: spatial 0..5 = h, vc: reduce 0..2 = c, vk: reduce 0..3 = k) {
						init {
							y[vo, vh] = 0.0
						}
						sum y[vo, vh] <- x.b[vc, vh + vk] * w[vo, vc, vk]
					}
				}
			}
		}
	}
}
===
fn f(x: in f32[2, 5], w: const f32[3, 2, 3], y: out f32[3, 5]) {
	for o in 0..3 {
		for h in 0..5 {
			for c in 0..2 {
				for k in 0..3 {
					block conv(vo: spatial 0..3 = o, vh: spatial 0..5 = h, vc: reduce 0..2 = c, vk: reduce 0..3 = k) {
						init {
							y[vo, vh] = 0.0
						}
						sum y[vo, vh] <- select(0 <= vh + vk - 1 & vh + vk - 1 < 5, x[vc, vh + vk - 1], 0.0) * w[vo, vc, vk]
					}
				}
			}
		}
	}
}
--- pad w conv as ws; split h 2; pad x conv as xs; compute_at xs c
fn f(x: in f32[2, 5], w: const f32[3, 2, 3], y: out f32[3, 5], ws: work f32[3, 2, 3]) {
	for ws.0 in 0..3 {
		for ws.1 in 0..2 {
			for ws.2 in 0..3 {
				block ws(vws.0: spatial 0..3 = ws.0, vws.1: spatial 0..2 = ws.1, vws.2: spatial 0..3 = ws.2) {
					ws[vws.0, vws.1, vws.2] = w[vws.0, vws.1, vws.2]
				}
			}
		}
	}
	for o in 0..3 {
		for h.o in 0..3 {
			for h.i in 0..2 {
				for c in 0..2 {
					alloc xs: f32[1, 3] @local
					for xs.0 in 0..1 {
						for xs.1 in 0..3 {
							block xs(vxs.0: spatial 0..2 = c + xs.0, vxs.1: spatial 0..7 = h.o * 2 + h.i + xs.1) where h.o * 2 + h.i + xs.1 < 7 {
								xs[vxs.0 - c, vxs.1 - (h.o * 2 + h.i)] = select(0 <= vxs.1 + -1 & vxs.1 + -1 < 5, x[vxs.0, vxs.1 + -1], 0.0)
							}
						}
					}
					for k in 0..3 {
						block conv(vo: spatial 0..3 = o, vh: spatial 0..5 = h.o * 2 + h.i, vc: reduce 0..2 = c, vk: reduce 0..3 = k) where h.o * 2 + h.i < 5 {
							init {
								y[vo, vh] = 0.0
							}
							sum y[vo, vh] <- xs[vc - c, vh + vk - (h.o * 2 + h.i)] * ws[vo, vc, vk]
						}
					}
				}
			}
		}
	}
}
===
fn f(x: in f32[5], y: out f32[5]) {
	for h in 0..5 {
		block b(vh: spatial 0..5 = h) {
			y[vh] = select(1 <= vh, x[vh], 0.0)
		}
	}
}
--- pad x b
! trace:1: pad x: a condition around what is read says more than that it is inside
===
fn f(x: in f32[5], y: out f32[7]) {
	for h in 0..7 {
		block b(vh: spatial 0..7 = h) {
			y[vh] = select(1 <= vh & vh < 6, x[vh - 1], 0.0) + select(1 <= vh & vh < 6, x[vh - 1], 1.0)
		}
	}
}
--- pad x b
! trace:1: pad x: several values stand for what is outside
===
fn f(x: in f32[5], i: in i64[5], y: out f32[5]) {
	for h in 0..5 {
		block b(vh: spatial 0..5 = h) {
			y[vh] = select(0 <= i[vh] & i[vh] < 5, x[i[vh]], 0.0)
		}
	}
}
--- pad x b
! trace:1: pad x: its index has no bounds
===
fn f(x: in f32[5], y: out f32[5]) {
	for h in 0..5 {
		block b(vh: spatial 0..5 = h) {
			y[vh] = 0.0
		}
	}
}
--- pad x b
! trace:1: pad x: that block does not read it
===
fn f(x: in f32[5], y: out f32[5]) {
	for h in 0..5 {
		block b(vh: spatial 0..5 = h) {
			y[vh] = x[vh]
		}
	}
}
--- pad y b
! trace:1: pad y: it is an output, or has one element
===
fn f(x: in f32[5], y: out f32[3]) {
	for h in 0..3 {
		block b(vh: spatial 0..3 = h) {
			y[vh] = x[vh + 1]
		}
	}
}
--- pad x b
fn f(x: in f32[5], y: out f32[3], x.b: work f32[3]) {
	for x.b.0 in 0..3 {
		block x.b(vx.b.0: spatial 0..3 = x.b.0) {
			x.b[vx.b.0] = x[vx.b.0 + 1]
		}
	}
	for h in 0..3 {
		block b(vh: spatial 0..3 = h) {
			y[vh] = x.b[vh]
		}
	}
}
===
fn f(x: in f32[2, 3], t: work f32[2, 3], y: out f32[3, 2]) {
	for i in 0..2 {
		for j in 0..3 {
			block a(vi: spatial 0..2 = i, vj: spatial 0..3 = j) {
				t[vi, vj] = x[vi, vj] + 1.0
			}
		}
	}
	for p in 0..3 {
		for q in 0..2 {
			block b(vp: spatial 0..3 = p, vq: spatial 0..2 = q) {
				y[vp, vq] = t[vq, vp] * t[vq, 0]
			}
		}
	}
}
--- merge a i j
fn f(x: in f32[2, 3], t: work f32[6], y: out f32[3, 2]) {
	for i_j in 0..6 {
		block a(vi_j: spatial 0..6 = i_j) {
			t[vi_j] = x[vi_j / 3, vi_j % 3] + 1.0
		}
	}
	for p in 0..3 {
		for q in 0..2 {
			block b(vp: spatial 0..3 = p, vq: spatial 0..2 = q) {
				y[vp, vq] = t[vq * 3 + vp] * t[vq * 3]
			}
		}
	}
}
===
fn f(x: in f32[2, 3], y: out f32[1]) {
	for o in 0..1 {
		for i in 0..2 {
			for j in 0..3 {
				block s(vo: spatial 0..1 = o, vi: reduce 0..2 = i, vj: reduce 0..3 = j) {
					init {
						y[vo] = 0.0
					}
					sum y[vo] <- x[vi, vj]
				}
			}
		}
	}
}
--- merge s i j as r
fn f(x: in f32[2, 3], y: out f32[1]) {
	for o in 0..1 {
		for r in 0..6 {
			block s(vo: spatial 0..1 = o, vr: reduce 0..6 = r) {
				init {
					y[vo] = 0.0
				}
				sum y[vo] <- x[vr / 3, vr % 3]
			}
		}
	}
}
===
fn f(x: in f32[2, 3], y: out f32[2, 3]) {
	for i in 0..2 {
		for j in 0..3 {
			block a(vi: spatial 0..2 = i, vj: spatial 0..3 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- merge a i j
fn f(x: in f32[2, 3], y: out f32[2, 3]) {
	for i_j in 0..6 {
		block a(vi_j: spatial 0..6 = i_j) {
			y[vi_j / 3, vi_j % 3] = x[vi_j / 3, vi_j % 3]
		}
	}
}
===
fn f(x: in f32[2, 3], y: out f32[2]) {
	for i in 0..2 {
		for j in 0..3 {
			block s(vi: spatial 0..2 = i, vj: reduce 0..3 = j) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vj]
			}
		}
	}
}
--- merge s i j
! trace:1: merge s: the iterators must both be spatial or both be reduce iterators
===
fn f(x: in f32[2, 3], y: out f32[2]) {
	for i in 0..2 {
		for j in 0..3 {
			block s(vi: spatial 0..2 = i, vj: reduce 0..3 = j) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vj]
			}
		}
	}
}
--- merge s j i
! trace:1: merge s: loop i is not alone in the other loop
===
fn f(x: in f32[6, 3], t: work f32[6, 3], y: out f32[6, 3]) {
	for i in 0..6 {
		for j in 0..3 {
			block a(vi: spatial 0..6 = i, vj: spatial 0..3 = j) {
				t[vi, vj] = x[vi, vj]
			}
		}
	}
	for k in 0..6 {
		for l in 0..3 {
			block b(vk: spatial 0..6 = k, vl: spatial 0..3 = l) {
				y[vk, vl] = t[vk, vl]
			}
		}
	}
}
--- split i 2; merge a i.o i.i
! trace:2: merge a: the loops are not two iterators of the block over their whole ranges
===
fn f(x: in f32[2, 5], w: const f32[3, 5], b: const f32[3], t: work f32[2, 3], y: out f32[2, 3]) {
	for m in 0..2 {
		for n in 0..3 {
			for k in 0..5 {
				block dense(vm: spatial 0..2 = m, vn: spatial 0..3 = n, vk: reduce 0..5 = k) {
					init {
						t[vm, vn] = b[vn]
					}
					sum t[vm, vn] <- x[vm, vk] * w[vn, vk]
				}
			}
		}
	}
	for i in 0..2 {
		for j in 0..3 {
			block relu(vi: spatial 0..2 = i, vj: spatial 0..3 = j) {
				y[vi, vj] = max(t[vi, vj], 0.0)
			}
		}
	}
}
--- widen dense n 4; widen dense k 4
fn f(
		x: in f32[2, 5],
		w: const f32[3, 5],
		b: const f32[3],
		t: work f32[2, 4],
		y: out f32[2, 3]) {
	for m in 0..2 {
		for n in 0..4 {
			for k in 0..8 {
				block dense(vm: spatial 0..2 = m, vn: spatial 0..4 = n, vk: reduce 0..8 = k) {
					init {
						t[vm, vn] = select(vn < 3, b[vn], 0.0)
					}
					sum t[vm, vn] <- select(vk < 5, x[vm, vk], 0.0) * select(vn < 3, select(vk < 5, w[vn, vk], 0.0), 0.0)
				}
			}
		}
	}
	for i in 0..2 {
		for j in 0..3 {
			block relu(vi: spatial 0..2 = i, vj: spatial 0..3 = j) {
				y[vi, vj] = max(t[vi, vj], 0.0)
			}
		}
	}
}
===
fn f(x: in f32[2, 5], w: const f32[3, 5], b: const f32[3], t: work f32[2, 3], y: out f32[2, 3]) {
	for m in 0..2 {
		for n in 0..3 {
			for k in 0..5 {
				block dense(vm: spatial 0..2 = m, vn: spatial 0..3 = n, vk: reduce 0..5 = k) {
					init {
						t[vm, vn] = b[vn]
					}
					sum t[vm, vn] <- x[vm, vk] * w[vn, vk]
				}
			}
		}
	}
	for i in 0..2 {
		for j in 0..3 {
			block relu(vi: spatial 0..2 = i, vj: spatial 0..3 = j) {
				y[vi, vj] = max(t[vi, vj], 0.0)
			}
		}
	}
}
--- widen dense n 2; widen dense k 8; pad w dense as ws; pad x dense as xs; split j 2; reorder i j.o j.i; compute_at dense j.o; split k 4; reorder k.o m n k.i; compute_at ws k.o; compute_at xs k.o
fn f(x: in f32[2, 5], w: const f32[3, 5], b: const f32[3], y: out f32[2, 3]) {
	for i in 0..2 {
		for j.o in 0..2 {
			alloc t: f32[1, 2] @local
			for k.o in 0..2 {
				alloc xs: f32[1, 4] @local
				for xs.0 in 0..1 {
					for xs.1 in 0..4 {
						block xs(vxs.0: spatial 0..2 = i + xs.0, vxs.1: spatial 0..8 = k.o * 4 + xs.1) {
							xs[vxs.0 - i, vxs.1 - k.o * 4] = select(vxs.1 < 5, x[vxs.0, vxs.1], 0.0)
						}
					}
				}
				alloc ws: f32[2, 4] @local
				for ws.0 in 0..2 {
					for ws.1 in 0..4 {
						block ws(vws.0: spatial 0..4 = j.o * 2 + ws.0, vws.1: spatial 0..8 = k.o * 4 + ws.1) {
							ws[vws.0 - j.o * 2, vws.1 - k.o * 4] = select(vws.0 < 3 & vws.1 < 5, w[vws.0, vws.1], 0.0)
						}
					}
				}
				for m in 0..1 {
					for n in 0..2 {
						for k.i in 0..4 {
							block dense(vm: spatial 0..2 = i + m, vn: spatial 0..4 = j.o * 2 + n, vk: reduce 0..8 = k.o * 4 + k.i) {
								init {
									t[vm - i, vn - j.o * 2] = select(vn < 3, b[vn], 0.0)
								}
								sum t[vm - i, vn - j.o * 2] <- xs[vm - i, vk - k.o * 4] * ws[vn - j.o * 2, vk - k.o * 4]
							}
						}
					}
				}
			}
			for j.i in 0..2 {
				block relu(vi: spatial 0..2 = i, vj: spatial 0..3 = j.o * 2 + j.i) where j.o * 2 + j.i < 3 {
					y[vi, vj] = max(t[vi - i, vj - j.o * 2], 0.0)
				}
			}
		}
	}
}
===
fn f(x: in f32[5], t: work f32[1], y: out f32[1]) {
	for o in 0..1 {
		for i in 0..5 {
			block s(vo: spatial 0..1 = o, vi: reduce 0..5 = i) {
				init {
					t[vo] = 0.0
				}
				sum t[vo] <- x[vi] + 1.0
			}
		}
	}
	for p in 0..1 {
		block c(vp: spatial 0..1 = p) {
			y[vp] = t[vp]
		}
	}
}
--- widen s i 4
! trace:1: widen s: it is no sum of products, so that an iteration more may show
===
fn f(x: in f32[7], w: const f32[3], t: work f32[5], y: out f32[5]) {
	for o in 0..5 {
		for i in 0..3 {
			block s(vo: spatial 0..5 = o, vi: reduce 0..3 = i) {
				init {
					t[vo] = 0.0
				}
				sum t[vo] <- x[vo + vi] * w[vi]
			}
		}
	}
	for p in 0..5 {
		block c(vp: spatial 0..5 = p) {
			y[vp] = t[vp]
		}
	}
}
--- widen s i 2
! trace:1: widen s: an added iteration would read what is there
===
fn f(x: in f32[7], w: const f32[3], t: work f32[5], y: out f32[5]) {
	for o in 0..5 {
		for i in 0..3 {
			block s(vo: spatial 0..5 = o, vi: reduce 0..3 = i) {
				init {
					t[vo] = 0.0
				}
				sum t[vo] <- x[vo + vi] * w[vi]
			}
		}
	}
	for p in 0..5 {
		block c(vp: spatial 0..5 = p) {
			y[vp] = t[vp]
		}
	}
}
--- widen s o 4
fn f(x: in f32[7], w: const f32[3], t: work f32[8], y: out f32[5]) {
	for o in 0..8 {
		for i in 0..3 {
			block s(vo: spatial 0..8 = o, vi: reduce 0..3 = i) {
				init {
					t[vo] = 0.0
				}
				sum t[vo] <- select(vo + vi < 7, x[vo + vi], 0.0) * w[vi]
			}
		}
	}
	for p in 0..5 {
		block c(vp: spatial 0..5 = p) {
			y[vp] = t[vp]
		}
	}
}
===
fn f(x: in i32[5], z: in i32[5], t: work i32[5], y: out i32[5]) {
	for i in 0..5 {
		block a(vi: spatial 0..5 = i) {
			t[vi] = x[vi] / (z[vi] | i32(1))
		}
	}
	for p in 0..5 {
		block c(vp: spatial 0..5 = p) {
			y[vp] = t[vp]
		}
	}
}
--- widen a i 4
! trace:1: widen a: it divides integers by what may be 0 then
===
fn f(x: in f32[8], t: work f32[8], y: out f32[8]) {
	for i in 0..8 {
		block a(vi: spatial 0..8 = i) {
			t[vi] = x[vi]
		}
	}
	for p in 0..8 {
		block c(vp: spatial 0..8 = p) {
			y[vp] = t[vp]
		}
	}
}
--- widen a i 4
! trace:1: widen a: the extent is a multiple already
===
fn f(x: in f32[8], t: work f32[8], y: out f32[8]) {
	for i in 0..8 {
		block a(vi: spatial 0..8 = i) {
			t[vi] = x[vi]
		}
	}
	for p in 0..8 {
		block c(vp: spatial 0..8 = p) {
			y[vp] = t[vp]
		}
	}
}
--- widen a p 5
! trace:1: widen a: loop p is no iterator of it over its whole range
===
fn f(x: in f32[8], y: out f32[8]) {
	for i in 0..8 {
		block a(vi: spatial 0..8 = i) {
			y[vi] = x[vi]
		}
	}
}
--- widen a i 5
! trace:1: widen a: its buffer y is visible outside of the Fn
===
fn f(x: in f32[5], y: out f32[5]) {
	for i in 0..5 {
		alloc t: f32[1] @local
		block a(vi: spatial 0..5 = i) {
			t[0] = x[vi]
		}
		block b(vj: spatial 0..5 = i) {
			y[vj] = t[0]
		}
	}
}
--- widen a i 4
! trace:1: widen a: its iterators must be the indices of t, one each
===
fn f(x: in f32[2, 3], z: in f32[2, 3], t: work f32[2, 3], y: out f32[2, 3]) {
	for i in 0..2 {
		for j in 0..3 {
			block a(vi: spatial 0..2 = i, vj: spatial 0..3 = j) {
				t[vi, vj] = x[vi, vj]
			}
			block b(vk: spatial 0..2 = i, vl: spatial 0..3 = j) {
				y[vk, vl] = t[vk, vl]
			}
		}
	}
}
--- merge a i j
! trace:1: merge a: loop j contains more than the block in plain loops
===
fn f(x: in f16[2, 5], w: const f32[3, 2, 3], y: out f32[3, 5]) {
	for o in 0..3 {
		for h in 0..5 {
			for c in 0..2 {
				for k in 0..3 {
					block conv(vo: spatial 0..3 = o, vh: spatial 0..5 = h, vc: reduce 0..2 = c, vk: reduce 0..3 = k) {
						init {
							y[vo, vh] = 0.0
						}
						sum y[vo, vh] <- select(0 <= vh + vk - 1 & vh + vk - 1 < 5, f32(x[vc, vh + vk - 1]), 0.0) * w[vo, vc, vk]
					}
				}
			}
		}
	}
}
--- pad x conv
fn f(x: in f16[2, 5], w: const f32[3, 2, 3], y: out f32[3, 5], x.b: work f16[2, 7]) {
	for x.b.0 in 0..2 {
		for x.b.1 in 0..7 {
			block x.b(vx.b.0: spatial 0..2 = x.b.0, vx.b.1: spatial 0..7 = x.b.1) {
				x.b[vx.b.0, vx.b.1] = select(0 <= vx.b.1 + -1 & vx.b.1 + -1 < 5, x[vx.b.0, vx.b.1 + -1], f16(0.0))
			}
		}
	}
	for o in 0..3 {
		for h in 0..5 {
			for c in 0..2 {
				for k in 0..3 {
					block conv(vo: spatial 0..3 = o, vh: spatial 0..5 = h, vc: reduce 0..2 = c, vk: reduce 0..3 = k) {
						init {
							y[vo, vh] = 0.0
						}
						sum y[vo, vh] <- f32(x.b[vc, vh + vk]) * w[vo, vc, vk]
					}
				}
			}
		}
	}
}
===
fn f(x: in f16[2, 5], w: const f32[3, 2, 3], y: out f32[3, 5]) {
	for o in 0..3 {
		for h in 0..5 {
			for c in 0..2 {
				for k in 0..3 {
					block conv(vo: spatial 0..3 = o, vh: spatial 0..5 = h, vc: reduce 0..2 = c, vk: reduce 0..3 = k) {
						init {
							y[vo, vh] = 0.0
						}
						sum y[vo, vh] <- select(0 <= vh + vk - 1 & vh + vk - 1 < 5, f32(x[vc, vh + vk - 1]), 0.0) * w[vo, vc, vk]
					}
				}
			}
		}
	}
}
--- reindex x conv
fn f(x: in f16[2, 5], w: const f32[3, 2, 3], y: out f32[3, 5], x.r: work f16[5, 2, 3]) {
	for x.r.0 in 0..5 {
		for x.r.1 in 0..2 {
			for x.r.2 in 0..3 {
				block x.r(vx.r.0: spatial 0..5 = x.r.0, vx.r.1: spatial 0..2 = x.r.1, vx.r.2: spatial 0..3 = x.r.2) {
					x.r[vx.r.0, vx.r.1, vx.r.2] = select(0 <= vx.r.0 + vx.r.2 - 1 & vx.r.0 + vx.r.2 - 1 < 5, x[vx.r.1, vx.r.0 + vx.r.2 - 1], f16(0.0))
				}
			}
		}
	}
	for o in 0..3 {
		for h in 0..5 {
			for c in 0..2 {
				for k in 0..3 {
					block conv(vo: spatial 0..3 = o, vh: spatial 0..5 = h, vc: reduce 0..2 = c, vk: reduce 0..3 = k) {
						init {
							y[vo, vh] = 0.0
						}
						sum y[vo, vh] <- f32(x.r[vh, vc, vk]) * w[vo, vc, vk]
					}
				}
			}
		}
	}
}
===
