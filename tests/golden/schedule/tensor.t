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
! trace:1: reindex x: the block reads one element of it only
===
fn f(x: in f32[8], y: out f32[4]) {
	for i in 0..4 {
		block b(vi: spatial 0..4 = i) {
			y[vi] = x[i]
		}
	}
}
--- reindex x b
! trace:1: reindex x: its index depends on more than iterators of that block
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
! trace:1: reindex x: for some values of the iterators it would be read out of bounds
===
fn f(x: in f32[8], at: in i64[4], y: out f32[4]) {
	for i in 0..4 {
		block b(vi: spatial 0..4 = i) {
			y[vi] = x[at[vi]]
		}
	}
}
--- reindex x b
! trace:1: reindex x: its index comes from another buffer
===
fn f(x: in f32[8], y: out f32[4]) {
	for i in 0..4 {
		block b(vi: spatial 0..4 = i) {
			y[vi] = x[vi]
		}
	}
}
--- reindex y b
! trace:1: reindex y: it is no input or constant, so it may be incomplete
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
! trace:1: reindex x: the loops around that block write it, or a call uses it
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
! trace:1: reindex x: an iterator's range is not constant, or there are too many iterators
===
fn f(x: in f32[1], y: out f32[65536, 65537]) {
	for i in 0..65536 {
		for j in 0..65537 {
			block b(vi: spatial 0..65536 = i, vj: spatial 0..65537 = j) {
				y[vi, vj] = x[(vi + vj) / 131073]
			}
		}
	}
}
--- reindex x b
! trace:1: reindex x: the copy would have more than 4294967296 elements
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
! trace:1: reindex x: the name x.r is already in use
===
fn mm(x: in u8[5, 8], w: const i8[32, 8], y: out i32[5, 32]) {
	for m in 0..5 {
		for n in 0..32 {
			for k in 0..8 {
				block mm(vm: spatial 0..5 = m, vn: spatial 0..32 = n, vk: reduce 0..8 = k) {
					init {
						y[vm, vn] = i32(0)
					}
					sum y[vm, vn] <- i32(w[vn, vk]) * i32(x[vm, vk])
				}
			}
		}
	}
}
--- pack w OI16o4i; split n 16; split k 4; split m 2; reorder n.o m.o k.o m.i n.i k.i; decompose_init mm k.o; vectorize n.i; tensorize n.i dpbusd_bcast_i32x16; unroll m.i
fn mm(
		x: in u8[5, 8],
		w.p: const i8[32, 8] map (i0, i1) -> [i0 / 16 : 2, i1 / 4 : 2, i0 % 16 : 16, i1 % 4 : 4],
		y: out i32[5, 32]) {
	for n.o in 0..2 {
		for m.o in 0..3 {
			for m.i.init in 0..2 {
				for n.i.init in 0..16 {
					block mm.init(vm: spatial 0..5 = m.o * 2 + m.i.init, vn: spatial 0..32 = n.o * 16 + n.i.init) where m.o * 2 + m.i.init < 5 {
						y[vm, vn] = i32(0)
					}
				}
			}
			for k.o in 0..2 {
				for m.i in 0..2 unrolled {
					block mm(vn.o: spatial 0..2 = n.o, vm.o: spatial 0..3 = m.o, vk.o: reduce 0..2 = k.o, vm.i: spatial 0..2 = m.i) where m.o * 2 + m.i < 5 {
						intrin dpbusd_bcast_i32x16(y[vm.o * 2 + vm.i, vn.o * 16:16], x[vm.o * 2 + vm.i, vk.o * 4:4], w.p[vn.o * 16:16, vk.o * 4:4])
					}
				}
			}
		}
	}
}

prepare fn pack.w(
		w: const i8[32, 8],
		w.p: out i8[32, 8] map (i0, i1) -> [i0 / 16 : 2, i1 / 4 : 2, i0 % 16 : 16, i1 % 4 : 4]) {
	for w.o in 0..32 {
		for w.i in 0..8 {
			block pack.w(vw.o: spatial 0..32 = w.o, vw.i: spatial 0..8 = w.i) {
				w.p[vw.o, vw.i] = w[vw.o, vw.i]
			}
		}
	}
}
===
fn f(x: in u8[9, 16, 4], w: in i8[3, 16, 9, 4], y: inout i32[2, 16]) {
	for r in 2..5 {
		for i in 0..16 {
			for k in 0..4 unrolled {
				sum y[1, i] <- i32(x[r - 2, i, k]) * i32(w[0, i, r + 3, k])
			}
		}
	}
}
--- tensorize i dpbusd_i32x16
fn f(x: in u8[9, 16, 4], w: in i8[3, 16, 9, 4], y: inout i32[2, 16]) {
	for r in 2..5 {
		intrin dpbusd_i32x16(y[1, 0:16], x[r - 2, 0:16, 0:4], w[0, 0:16, r + 3, 0:4])
	}
}
===
fn f(x: in f32[64], y: out f32[40]) {
	for b in 0..2 {
		for i in 4..20 {
			block e(vi: spatial 0..40 = b * 16 + i - 4) {
				y[vi] = exp(x[40 - vi + (vi * 2 - 16)])
			}
		}
	}
	for j in 32..40 {
		block tail(vj: spatial 0..40 = j) {
			y[vj] = 0.0
		}
	}
}
--- tensorize i vexp_f32x16
fn f(x: in f32[64], y: out f32[40]) {
	for b in 0..2 {
		block e(vb: spatial 0..2 = b) {
			intrin vexp_f32x16(y[vb * 16:16], x[vb * 16 + 24:16])
		}
	}
	for j in 32..40 {
		block tail(vj: spatial 0..40 = j) {
			y[vj] = 0.0
		}
	}
}
===
fn f(x: in f32[64], y: out f32[64]) {
	for i in 0..64 {
		block e(vi: spatial 0..64 = i) {
			y[vi] = exp(x[vi])
		}
	}
}
--- split i 16; parallel i.o; tensorize i.i vexp_f32x16; tensorize i.o vexp_f32x16
! trace:4: tensorize i.o: its loops must be those of instruction vexp_f32x16, nested alike
===
fn f(x: in f32[16], y: out f32[16]) {
	for i in 0..16 {
		block e(vi: spatial 0..16 = i) {
			y[vi] = exp(x[vi])
		}
	}
}
--- tensorize i vlog_f32x16
! trace:1: tensorize i: there is no intrinsic vlog_f32x16
===
fn f(x: in f32[4], y: out f32[4]) {
	for i in 0..4 {
		block e(vi: spatial 0..4 = i) {
			y[vi] = x[vi]
		}
	}
}
--- tensorize i cp_async_f32x4
! trace:1: tensorize i: the target lacks feature sm_80, which the instruction requires
===
fn f(x: in f32[8], y: out f32[8]) {
	for i in 0..8 {
		block e(vi: spatial 0..8 = i) {
			y[vi] = exp(x[vi])
		}
	}
}
--- tensorize i vexp_f32x16
! trace:1: tensorize i: its loops must be those of instruction vexp_f32x16, nested alike
===
fn f(x: in f32[2, 16], y: out f32[2, 16]) {
	for i in 0..16 {
		for j in 0..2 {
			block e(vi: spatial 0..16 = i, vj: spatial 0..2 = j) {
				y[vj, vi] = exp(x[vj, vi])
			}
		}
	}
}
--- tensorize i vexp_f32x16
! trace:1: tensorize i: its loops must be those of instruction vexp_f32x16, nested alike
===
fn f(x: in f32[16], y: out f32[16]) {
	for i in 0..16 {
		block e(vi: spatial 0..16 = i) {
			y[vi] = tanh(x[vi])
		}
	}
}
--- tensorize i vexp_f32x16
! trace:1: tensorize i: the statement in its loops is not that of vexp_f32x16
===
fn f(x: in f32[32], y: out f32[16]) {
	for i in 0..16 {
		block e(vi: spatial 0..16 = i) {
			y[vi] = exp(x[vi * 2])
		}
	}
}
--- tensorize i vexp_f32x16
! trace:1: tensorize i: the dimensions of x must be those of the instruction's operand, each with stride 1
===
fn f(x: in f32[16, 16], y: out f32[16]) {
	for i in 0..16 {
		block e(vi: spatial 0..16 = i) {
			y[vi] = exp(x[vi, vi])
		}
	}
}
--- tensorize i vexp_f32x16
! trace:1: tensorize i: the dimensions of x must be those of the instruction's operand, each with stride 1
===
fn f(x: in f64[16], y: out f64[16]) {
	for i in 0..16 {
		block e(vi: spatial 0..16 = i) {
			y[vi] = exp(x[vi])
		}
	}
}
--- tensorize i vexp_f32x16
! trace:1: tensorize i: y does not have the type or scope of the instruction's operand
===
fn f(y: inout f32[32]) {
	for i in 0..16 {
		block e(vi: spatial 0..16 = i) {
			y[vi] = exp(y[vi + 16])
		}
	}
}
--- tensorize i vexp_f32x16
! trace:1: tensorize i: an operand of vexp_f32x16 is missing, or both read and written
===
fn f(x: in f32[20], y: out f32[20]) {
	for i in 0..20 {
		block e(vi: spatial 0..20 = i) {
			y[vi] = exp(x[vi])
		}
	}
}
--- split i 16; tensorize i.i vexp_f32x16
! trace:2: tensorize i.i: a predicate of block e leaves out some of its iterations
===
fn f(x: in f32[20], y: out f32[20]) {
	for i in 0..20 {
		block e(vi: spatial 0..20 = i) {
			y[vi] = exp(x[vi])
		}
	}
}
--- split i 16 overlap; tensorize i.i vexp_f32x16
! trace:2: tensorize i.i: tiles of loop i.o overlap
===
fn f(x: in f32[20], y: out f32[20]) {
	for i in 0..20 {
		block e(vi: spatial 0..20 = i) {
			y[vi] = exp(x[vi])
		}
	}
}
--- split i 16 peel; tensorize i.i vexp_f32x16
fn f(x: in f32[20], y: out f32[20]) {
	for i.o in 0..1 {
		block e(vi.o: spatial 0..1 = i.o) {
			intrin vexp_f32x16(y[0:16], x[0:16])
		}
	}
	for i.2 in 16..20 {
		block e.2(vi: spatial 0..20 = i.2) {
			y[vi] = exp(x[vi])
		}
	}
}
===
fn f(x: in f32[16], y: out f32[16]) {
	for i in 0..16 {
		block e(vi: spatial 0..16 = i) {
			if vi < 8 {
				y[vi] = exp(x[vi])
			} else {
				y[vi] = 0.0
			}
		}
	}
}
--- tensorize i vexp_f32x16
! trace:1: tensorize i: the statement in its loops is not that of vexp_f32x16
===
fn mm(x: in u8[4], w: const i8[16, 4], y: out i32[16]) {
	for n in 0..16 {
		for k in 0..4 {
			block mm(vn: spatial 0..16 = n, vk: reduce 0..4 = k) {
				init {
					y[vn] = i32(0)
				}
				sum y[vn] <- i32(w[vn, vk]) * i32(x[vk])
			}
		}
	}
}
--- tensorize n dpbusd_bcast_i32x16
! trace:1: tensorize n: block mm still has its init: apply decompose_init first
===
fn mm(x: in i8[4], w: const u8[16, 4], y: inout i32[16]) {
	for n in 0..16 {
		for k in 0..4 {
			sum y[n] <- i32(w[n, k]) * i32(x[k])
		}
	}
}
--- tensorize n dpbusd_bcast_i32x16
! trace:1: tensorize n: the dimensions of w must be those of the instruction's operand, each with stride 1
===
fn mm(x: in u8[4], w: const i8[4, 16], y: inout i32[16]) {
	for n in 0..16 {
		for k in 0..4 {
			sum y[n] <- i32(w[k, n]) * i32(x[k])
		}
	}
}
--- tensorize n dpbusd_bcast_i32x16
! trace:1: tensorize n: the statement in its loops is not that of dpbusd_bcast_i32x16
===
fn mm(x: in u8[4], w: const i8[16, 4], y: inout i32[16]) {
	for n in 0..16 {
		for k in 0..4 {
			max y[n] <- i32(w[n, k]) * i32(x[k])
		}
	}
}
--- tensorize n dpbusd_bcast_i32x16
! trace:1: tensorize n: the statement in its loops is not that of dpbusd_bcast_i32x16
===
fn f(x: in f32[64], y: out f32[64]) {
	for i in 0..4 vector {
		for j in 0..16 {
			y[i * 16 + j] = exp(x[i * 16 + j])
		}
	}
}
--- tensorize j vexp_f32x16
! trace:1: tensorize j: it stands in loop i, which is a vector
===
fn f(x: in f32[64], vi.o: out f32[64]) {
	for i in 0..64 {
		block e(v: spatial 0..64 = i) {
			vi.o[v] = exp(x[v])
		}
	}
}
--- split i 16; tensorize i.i vexp_f32x16
fn f(x: in f32[64], vi.o: out f32[64]) {
	for i.o in 0..4 {
		block e(vi.o.2: spatial 0..4 = i.o) {
			intrin vexp_f32x16(vi.o[vi.o.2 * 16:16], x[vi.o.2 * 16:16])
		}
	}
}
===
