fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- bind i grid.y; bind j block.x
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..4 bound(grid.y) {
		for j in 0..6 bound(block.x) {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
===
fn k(a: in f32[24, 32], b: in f32[32, 20], y: out f32[24, 20]) {
	alloc t: f32[24, 20] @local
	for n in 0..24 {
		for m in 0..20 {
			for k in 0..32 {
				block dense(vn: spatial 0..24 = n, vm: spatial 0..20 = m, vk: reduce 0..32 = k) {
					init {
						t[vn, vm] = 0.0
					}
					sum t[vn, vm] <- a[vn, vk] * b[vk, vm]
				}
			}
		}
	}
	for n_1 in 0..24 {
		for m_1 in 0..20 {
			block relu(vn_1: spatial 0..24 = n_1, vm_1: spatial 0..20 = m_1) {
				y[vn_1, vm_1] = max(t[vn_1, vm_1], 0.0)
			}
		}
	}
}
--- split n_1 8; split m_1 8; reorder n_1.o m_1.o n_1.i m_1.i; compute_at dense m_1.o; split n 2; split m 2; split k 4; reorder k.o n.o m.o k.i n.i m.i; cache_read a dense k.o; cache_read b dense k.o; split n_1.i 2; split m_1.i 2; reorder n_1.i.o m_1.i.o n_1.i.i m_1.i.i; fuse n_1.i.o m_1.i.o as s; fuse a.c.0 a.c.1 as al; split al 2; fuse b.c.0 b.c.1 as bl; split bl 2; vectorize al.i; fuse n.o m.o as th; bind n_1.o grid.y; bind m_1.o grid.x; scope t shared; scope a.c shared; scope b.c shared; bind th block.x; bind s block.x; bind al.o block.x; bind bl.o block.x; scope t local
fn k(a: in f32[24, 32], b: in f32[32, 20], y: out f32[24, 20]) {
	for n_1.o in 0..3 bound(grid.y) {
		for m_1.o in 0..3 bound(grid.x) {
			alloc t: f32[8, 8] @local map (i0, i1) -> [i0 % 2 : 2, i1 % 2 : 2]
			for k.o in 0..8 {
				alloc a.c: f32[8, 4] @shared
				barrier block
				for al.o in 0..16 bound(block.x) {
					for al.i in 0..2 vector {
						block a.c(va.c.0: spatial 0..24 = n_1.o * 8 + (al.o * 2 + al.i) / 4, va.c.1: spatial 0..32 = k.o * 4 + (al.o * 2 + al.i) % 4) {
							a.c[va.c.0 - n_1.o * 8, va.c.1 - k.o * 4] = a[va.c.0, va.c.1]
						}
					}
				}
				alloc b.c: f32[4, 8] @shared
				for bl.o in 0..16 bound(block.x) {
					for bl.i in 0..2 {
						block b.c(vb.c.0: spatial 0..32 = k.o * 4 + (bl.o * 2 + bl.i) / 8, vb.c.1: spatial 0..20 = m_1.o * 8 + (bl.o * 2 + bl.i) % 8) where m_1.o * 8 + (bl.o * 2 + bl.i) % 8 < min(m_1.o * 8 + 8, 20) {
							b.c[vb.c.0 - k.o * 4, vb.c.1 - m_1.o * 8] = b[vb.c.0, vb.c.1]
						}
					}
				}
				barrier block
				for th in 0..16 bound(block.x) {
					for k.i in 0..4 {
						for n.i in 0..2 {
							for m.i in 0..2 {
								block dense(vn: spatial 0..24 = n_1.o * 8 + th / 4 * 2 + n.i, vm: spatial 0..20 = m_1.o * 8 + th % 4 * 2 + m.i, vk: reduce 0..32 = k.o * 4 + k.i) where m_1.o * 8 + (th % 4 * 2 + m.i) < 20 {
									init {
										t[vn - n_1.o * 8, vm - m_1.o * 8] = 0.0
									}
									sum t[vn - n_1.o * 8, vm - m_1.o * 8] <- a.c[vn - n_1.o * 8, vk - k.o * 4] * b.c[vk - k.o * 4, vm - m_1.o * 8]
								}
							}
						}
					}
				}
			}
			for s in 0..16 bound(block.x) {
				for n_1.i.i in 0..2 {
					for m_1.i.i in 0..2 {
						block relu(vn_1: spatial 0..24 = n_1.o * 8 + s / 4 * 2 + n_1.i.i, vm_1: spatial 0..20 = m_1.o * 8 + s % 4 * 2 + m_1.i.i) where m_1.o * 8 + (s % 4 * 2 + m_1.i.i) < 20 {
							y[vn_1, vm_1] = max(t[vn_1 - n_1.o * 8, vm_1 - m_1.o * 8], 0.0)
						}
					}
				}
			}
		}
	}
}
===
fn f(x: in f32[4, 8], y: out f32[4, 8]) {
	for i in 0..4 {
		alloc t: f32[8] @local
		for j in 0..8 {
			block a(vi: spatial 0..4 = i, vj: spatial 0..8 = j) {
				t[vj] = x[vi, vj]
			}
		}
		for k in 0..8 {
			block b(vi: spatial 0..4 = i, vk: spatial 0..8 = k) {
				y[vi, vk] = t[vk] * t[(vk + 1) % 8]
			}
		}
	}
}
--- bind i grid.x; scope t shared; bind j block.x; bind k block.x
fn f(x: in f32[4, 8], y: out f32[4, 8]) {
	for i in 0..4 bound(grid.x) {
		alloc t: f32[8] @shared
		for j in 0..8 bound(block.x) {
			block a(vi: spatial 0..4 = i, vj: spatial 0..8 = j) {
				t[vj] = x[vi, vj]
			}
		}
		barrier block
		for k in 0..8 bound(block.x) {
			block b(vi: spatial 0..4 = i, vk: spatial 0..8 = k) {
				y[vi, vk] = t[vk] * t[(vk + 1) % 8]
			}
		}
	}
}
===
fn f(x: in f32[4, 8], y: out f32[4, 8]) {
	for i in 0..4 {
		alloc t: f32[8] @local
		for j in 0..8 {
			block a(vi: spatial 0..4 = i, vj: spatial 0..8 = j) {
				t[vj] = x[vi, vj]
			}
		}
		for k in 0..8 {
			block b(vi: spatial 0..4 = i, vk: spatial 0..8 = k) {
				y[vi, vk] = t[vk] * 2.0
			}
		}
	}
}
--- bind i grid.x; scope t shared; bind j block.x; bind k block.x
fn f(x: in f32[4, 8], y: out f32[4, 8]) {
	for i in 0..4 bound(grid.x) {
		alloc t: f32[8] @shared
		for j in 0..8 bound(block.x) {
			block a(vi: spatial 0..4 = i, vj: spatial 0..8 = j) {
				t[vj] = x[vi, vj]
			}
		}
		for k in 0..8 bound(block.x) {
			block b(vi: spatial 0..4 = i, vk: spatial 0..8 = k) {
				y[vi, vk] = t[vk] * 2.0
			}
		}
	}
}
===
fn f(x: in f32[4, 8], y: out f32[4, 8]) {
	for i in 0..4 {
		alloc t: f32[8] @local
		for j in 0..8 {
			block a(vi: spatial 0..4 = i, vj: spatial 0..8 = j) {
				t[vj] = x[vi, vj]
			}
		}
		for k in 0..8 {
			block b(vi: spatial 0..4 = i, vk: spatial 0..8 = k) {
				y[vi, vk] = t[vk] * 2.0
			}
		}
	}
}
--- bind i grid.x; scope t shared; bind j block.x; bind k block.x; scope t local
fn f(x: in f32[4, 8], y: out f32[4, 8]) {
	for i in 0..4 bound(grid.x) {
		alloc t: f32[8] @local map (i0) -> [0 : 1]
		for j in 0..8 bound(block.x) {
			block a(vi: spatial 0..4 = i, vj: spatial 0..8 = j) {
				t[vj] = x[vi, vj]
			}
		}
		for k in 0..8 bound(block.x) {
			block b(vi: spatial 0..4 = i, vk: spatial 0..8 = k) {
				y[vi, vk] = t[vk] * 2.0
			}
		}
	}
}
===
fn f(x: in f32[4, 8], y: out f32[4, 8]) {
	for i in 0..4 {
		alloc t: f32[8] @local
		for j in 0..8 {
			block a(vi: spatial 0..4 = i, vj: spatial 0..8 = j) {
				t[vj] = x[vi, vj]
			}
		}
		for k in 0..8 {
			block b(vi: spatial 0..4 = i, vk: spatial 0..8 = k) {
				y[vi, vk] = t[vk] * t[(vk + 1) % 8]
			}
		}
	}
}
--- bind i grid.x; scope t shared; bind j block.x; bind k block.x; scope t local
! trace:5: scope t: it is local to a thread, but another thread may use it: apply scope first, to shared
===
fn f(x: in f32[4, 8], y: out f32[4, 8]) {
	for i in 0..4 {
		alloc t: f32[8] @local
		for j in 0..8 {
			block a(vi: spatial 0..4 = i, vj: spatial 0..8 = j) {
				t[vj] = x[vi, vj]
			}
		}
		for k in 0..8 {
			block b(vi: spatial 0..4 = i, vk: spatial 0..8 = k) {
				y[vi, vk] = t[vk] * t[(vk + 1) % 8]
			}
		}
	}
}
--- bind i grid.x; bind j block.x
! trace:2: bind t: it is local to a thread, but another thread may use it: apply scope first, to shared
===
fn f(x: in f32[3, 8], y: out f32[3, 8]) {
	for g in 0..1 {
		alloc s: f32[8] @shared
		for i in 0..3 {
			for j in 0..8 {
				block a(vg: spatial 0..1 = g, vi: spatial 0..3 = i, vj: spatial 0..8 = j) {
					s[vj] = x[vi, vj]
				}
			}
			for k in 0..8 {
				block b(vg: spatial 0..1 = g, vi: spatial 0..3 = i, vk: spatial 0..8 = k) {
					y[vi, vk] = s[7 - vk]
				}
			}
		}
	}
}
--- bind g grid.x; bind j block.x; bind k block.x
fn f(x: in f32[3, 8], y: out f32[3, 8]) {
	for g in 0..1 bound(grid.x) {
		alloc s: f32[8] @shared
		for i in 0..3 {
			barrier block
			for j in 0..8 bound(block.x) {
				block a(vg: spatial 0..1 = g, vi: spatial 0..3 = i, vj: spatial 0..8 = j) {
					s[vj] = x[vi, vj]
				}
			}
			barrier block
			for k in 0..8 bound(block.x) {
				block b(vg: spatial 0..1 = g, vi: spatial 0..3 = i, vk: spatial 0..8 = k) {
					y[vi, vk] = s[7 - vk]
				}
			}
		}
	}
}
===
fn f(x: in f32[3, 8], y: out f32[3, 8]) {
	for g in 0..1 {
		alloc s: f32[8] @shared
		for i in 0..3 {
			for j in 0..8 {
				block a(vg: spatial 0..1 = g, vi: spatial 0..3 = i, vj: spatial 0..8 = j) {
					s[vj] = x[vi, vj]
				}
			}
			for k in 0..8 {
				block b(vg: spatial 0..1 = g, vi: spatial 0..3 = i, vk: spatial 0..8 = k) {
					y[vi, vk] = s[7 - vk]
				}
			}
		}
	}
}
--- bind g grid.x; bind j block.x; split k 4; bind k.o block.x
fn f(x: in f32[3, 8], y: out f32[3, 8]) {
	for g in 0..1 bound(grid.x) {
		alloc s: f32[8] @shared
		for i in 0..3 {
			barrier block
			for j in 0..8 bound(block.x) {
				block a(vg: spatial 0..1 = g, vi: spatial 0..3 = i, vj: spatial 0..8 = j) {
					s[vj] = x[vi, vj]
				}
			}
			barrier block
			for k.o in 0..2 bound(block.x) {
				for k.i in 0..4 {
					block b(vg: spatial 0..1 = g, vi: spatial 0..3 = i, vk: spatial 0..8 = k.o * 4 + k.i) {
						y[vi, vk] = s[7 - vk]
					}
				}
			}
		}
	}
}
===
fn f(x: in f32[4, 8], y: out f32[4, 8]) {
	for i in 0..4 {
		alloc t: f32[8] @local
		for j in 0..8 {
			block a(vi: spatial 0..4 = i, vj: spatial 0..8 = j) {
				t[vj] = x[vi, vj]
			}
		}
		for k in 0..8 {
			block b(vi: spatial 0..4 = i, vk: spatial 0..8 = k) {
				y[vi, vk] = t[vk] * 2.0
			}
		}
	}
}
--- bind i grid.x; scope t shared; split k 4; bind j block.x; bind k.i block.x
fn f(x: in f32[4, 8], y: out f32[4, 8]) {
	for i in 0..4 bound(grid.x) {
		alloc t: f32[8] @shared
		for j in 0..8 bound(block.x) {
			block a(vi: spatial 0..4 = i, vj: spatial 0..8 = j) {
				t[vj] = x[vi, vj]
			}
		}
		barrier block
		for k.o in 0..2 {
			for k.i in 0..4 bound(block.x) {
				block b(vi: spatial 0..4 = i, vk: spatial 0..8 = k.o * 4 + k.i) {
					y[vi, vk] = t[vk] * 2.0
				}
			}
		}
	}
}
===
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- split j 3; bind i grid.x; bind j.o block.x; unroll j.i; cut i 2
! trace:5: cut i: it is a vector, bound or pipelined loop
===
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- bind i grid.x; split j 4; bind j.o block.y; bind j.i block.x
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..4 bound(grid.x) {
		for j.o in 0..2 bound(block.y) {
			for j.i in 0..4 bound(block.x) {
				block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j.o * 4 + j.i) where j.o * 4 + j.i < 6 {
					y[vi, vj] = x[vi, vj]
				}
			}
		}
	}
}
===
fn f(x: in f32[4, 8], y: out f32[4, 8]) {
	for i in 0..4 {
		alloc t: f32[8] @local
		for j in 0..8 {
			block a(vi: spatial 0..4 = i, vj: spatial 0..8 = j) {
				t[vj] = x[vi, vj]
			}
		}
		for k in 0..8 {
			block b(vi: spatial 0..4 = i, vk: spatial 0..8 = k) {
				y[vi, vk] = t[vk] * t[(vk + 1) % 8]
			}
		}
	}
}
--- bind i grid.x; scope t shared; bind j block.x; bind k block.x; split j 2
! trace:5: split j: it is no longer a serial loop
===
fn f[M in 1..64](x: in f32[M, 8], y: out f32[M]) {
	for i in 0..M {
		for j in 0..8 {
			block b(vi: spatial 0..M = i, vj: reduce 0..8 = j) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vj]
			}
		}
	}
}
--- bind i block.x
fn f[M in 1..64](x: in f32[M, 8], y: out f32[M]) {
	for i in 0..M bound(block.x) {
		for j in 0..8 {
			block b(vi: spatial 0..M = i, vj: reduce 0..8 = j) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vj]
			}
		}
	}
}
===
fn f[M in 1..64](x: in f32[M, 8], y: out f32[M]) {
	for i in 0..M {
		for j in 0..8 {
			block b(vi: spatial 0..M = i, vj: reduce 0..8 = j) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vj]
			}
		}
	}
}
--- bind i grid.x; bind j block.x
! trace:2: bind j: a reduction depends on it
===
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- bind i grid.w
! trace:1: bind i: an axis is grid.x, grid.y, grid.z, block.x, block.y or block.z
===
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- bind i warp.x
! trace:1: bind i: an axis is grid.x, grid.y, grid.z, block.x, block.y or block.z
===
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- bind nothing grid.x
! trace:1: there is no loop "nothing"
===
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- bind j grid.x
! trace:1: bind j: a loop bound to a grid axis must not stand in loop i
===
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- bind i grid.x; bind i grid.y
! trace:2: bind i: it is no longer a serial loop
===
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- bind i block.x; bind j block.x
! trace:2: bind j: loop i around it is bound to the same axis
===
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- bind i block.x; bind j grid.x
! trace:2: bind j: a loop bound to a grid axis must not stand in loop i
===
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- parallel i; bind j block.x
! trace:2: bind j: a bound loop must not stand in vector or parallel loop i
===
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- vectorize j; bind i block.x
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..4 bound(block.x) {
		for j in 0..6 vector {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
===
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- bind i grid.x; parallel j
! trace:2: parallel j: it stands in loop i, which is not serial
===
fn f(x: in f32[4, 8], y: out f32[4, 8]) {
	for i in 0..4 {
		alloc t: f32[8] @local
		for j in 0..8 {
			block a(vi: spatial 0..4 = i, vj: spatial 0..8 = j) {
				t[vj] = x[vi, vj]
			}
		}
		for k in 0..8 {
			block b(vi: spatial 0..4 = i, vk: spatial 0..8 = k) {
				y[vi, vk] = t[vk] * t[(vk + 1) % 8]
			}
		}
	}
}
--- bind i block.x; scope t shared
! trace:2: scope t: loop i around its declaration is a vector or bound to a block axis, so that it must be local
===
fn f(x: in f32[4, 8], y: out f32[4, 8]) {
	for i in 0..4 {
		alloc t: f32[8] @local
		for j in 0..8 {
			block a(vi: spatial 0..4 = i, vj: spatial 0..8 = j) {
				t[vj] = x[vi, vj]
			}
		}
		for k in 0..8 {
			block b(vi: spatial 0..4 = i, vk: spatial 0..8 = k) {
				y[vi, vk] = t[vk] * t[(vk + 1) % 8]
			}
		}
	}
}
--- bind j grid.x
! trace:1: bind j: a loop bound to a grid axis must not stand in loop i
===
fn f(x: in f32[4, 8], y: out f32[4, 8]) {
	alloc t: f32[4, 8] @local
	for i in 0..4 {
		for j in 0..8 {
			block a(vi: spatial 0..4 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = x[vi, vj]
			}
		}
	}
	for i2 in 0..4 {
		for k in 0..8 {
			block b(vi: spatial 0..4 = i2, vk: spatial 0..8 = k) {
				y[vi, vk] = t[vi, vk]
			}
		}
	}
}
--- bind i grid.x
! trace:1: bind t: it is local, but declared outside of the loops that are bound: apply scope first, to global
===
fn f(x: in f32[4, 8], y: out f32[4, 8]) {
	alloc t: f32[4, 8] @local
	for i in 0..4 {
		for j in 0..8 {
			block a(vi: spatial 0..4 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = x[vi, vj]
			}
		}
	}
	for i2 in 0..4 {
		for k in 0..8 {
			block b(vi: spatial 0..4 = i2, vk: spatial 0..8 = k) {
				y[vi, vk] = t[vi, vk]
			}
		}
	}
}
--- scope t global; bind i grid.x; bind j block.x; bind i2 grid.x
fn f(x: in f32[4, 8], y: out f32[4, 8]) {
	alloc t: f32[4, 8]
	for i in 0..4 bound(grid.x) {
		for j in 0..8 bound(block.x) {
			block a(vi: spatial 0..4 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = x[vi, vj]
			}
		}
	}
	for i2 in 0..4 bound(grid.x) {
		for k in 0..8 {
			block b(vi: spatial 0..4 = i2, vk: spatial 0..8 = k) {
				y[vi, vk] = t[vi, vk]
			}
		}
	}
}
===
fn f(x: in f32[4, 8], y: out f32[4, 8]) {
	alloc t: f32[4, 8] @local
	for i in 0..4 {
		for j in 0..8 {
			block a(vi: spatial 0..4 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = x[vi, vj]
			}
		}
	}
	for i2 in 0..4 {
		for k in 0..8 {
			block b(vi: spatial 0..4 = i2, vk: spatial 0..8 = k) {
				y[vi, vk] = t[vi, vk]
			}
		}
	}
}
--- scope t shared; bind i grid.x
! trace:2: bind t: it is shared, but declared outside of the loops that are bound: apply scope first, to global
===
fn f(x: in f32[4, 8], y: out f32[4, 8]) {
	alloc t: f32[4, 8] @local
	for i in 0..4 {
		for j in 0..8 {
			block a(vi: spatial 0..4 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = x[vi, vj]
			}
		}
	}
	for i2 in 0..4 {
		for k in 0..8 {
			block b(vi: spatial 0..4 = i2, vk: spatial 0..8 = k) {
				y[vi, vk] = t[vi, vk]
			}
		}
	}
}
--- scope x shared
! trace:1: scope x: no run Fn declares such a buffer
===
fn f(x: in f32[4, 8], y: out f32[4, 8]) {
	alloc t: f32[4, 8] @local
	for i in 0..4 {
		for j in 0..8 {
			block a(vi: spatial 0..4 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = x[vi, vj]
			}
		}
	}
	for i2 in 0..4 {
		for k in 0..8 {
			block b(vi: spatial 0..4 = i2, vk: spatial 0..8 = k) {
				y[vi, vk] = t[vi, vk]
			}
		}
	}
}
--- scope t texture
! trace:1: scope t: a scope is global, shared, local or fragment
===
fn f(x: in f32[4, 8], y: out f32[4, 8]) {
	alloc t: f32[4, 8] @local
	for i in 0..4 {
		for j in 0..8 {
			block a(vi: spatial 0..4 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = x[vi, vj]
			}
		}
	}
	for i2 in 0..4 {
		for k in 0..8 {
			block b(vi: spatial 0..4 = i2, vk: spatial 0..8 = k) {
				y[vi, vk] = t[vi, vk]
			}
		}
	}
}
--- scope t local
! trace:1: scope t: it is already local
===
fn f(x: in f32[70000, 6], y: out f32[70000, 6]) {
	for i in 0..70000 {
		for j in 0..6 {
			block b(vi: spatial 0..70000 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- bind i grid.y
! trace:1: bind i: a grid has at most 65535 blocks along grid.y, not 70000
===
fn f(x: in f32[4, 2000], y: out f32[4, 2000]) {
	for i in 0..4 {
		for j in 0..2000 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..2000 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- bind i grid.x; bind j block.x
! trace:2: bind j: a block has at most 1024 threads along block.x, not 2000
===
fn f(x: in f32[70, 40], y: out f32[70, 40]) {
	for i in 0..70 {
		for j in 0..40 {
			block b(vi: spatial 0..70 = i, vj: spatial 0..40 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- bind i block.z
! trace:1: bind i: a block has at most 64 threads along block.z, not 70
===
fn f(x: in f32[70, 40], y: out f32[70, 40]) {
	for i in 0..70 {
		for j in 0..40 {
			block b(vi: spatial 0..70 = i, vj: spatial 0..40 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- bind i block.y; bind j block.x
! trace:2: bind: a block would have 40 x 70 x 1 threads; one has at most 1024
===
fn f[n in 70000..100000](x: in f32[n, 4], y: out f32[n, 4]) {
	for i in 0..n {
		for j in 0..4 {
			block b(vi: spatial 0..n = i, vj: spatial 0..4 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- bind i grid.y
! trace:1: bind i: a grid has at most 65535 blocks along grid.y, not 70000
===
fn f[n in 1..100000](x: in f32[n, 4], y: out f32[n, 4]) {
	for i in 0..n {
		for j in 0..4 {
			block b(vi: spatial 0..n = i, vj: spatial 0..4 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- bind i grid.y
fn f[n in 1..100000](x: in f32[n, 4], y: out f32[n, 4]) {
	for i in 0..n bound(grid.y) {
		for j in 0..4 {
			block b(vi: spatial 0..n = i, vj: spatial 0..4 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
===
fn f(x: in f32[4, 8], y: out f32[4, 8]) {
	for i in 0..4 {
		alloc t: f32[8] @local
		for j in 0..8 {
			block a(vi: spatial 0..4 = i, vj: spatial 0..8 = j) {
				t[vj] = x[vi, vj]
			}
		}
		for k in 0..8 {
			block b(vi: spatial 0..4 = i, vk: spatial 0..8 = k) {
				y[vi, vk] = t[vk] * 2.0
			}
		}
	}
}
--- bind i grid.x; scope t shared; bind j block.x; bind k block.x; inline a
! trace:5: inline a: its iterators must be the indices of t, one each
===
fn f(x: in f32[4, 8], y: out f32[4, 8]) {
	for i in 0..4 {
		alloc t: f32[8] @local
		for j in 0..8 {
			block a(vi: spatial 0..4 = i, vj: spatial 0..8 = j) {
				t[vj] = x[vi, vj]
			}
		}
		for k in 0..i + 5 {
			block b(vi: spatial 0..4 = i, vk: spatial 0..8 = k) {
				y[vi, vk] = t[vk] * t[(vk + 1) % 8]
			}
		}
	}
}
--- bind i grid.x; scope t shared; bind k block.x
! trace:1: bind i: bounds below depend on it
===
fn f(x: in f32[8, 4], y: out f32[8, 4]) {
	for g in 0..1 {
		for k in 0..8 {
			alloc s: f32[4] @shared
			for i in 0..4 {
				block a(vg: spatial 0..1 = g, vk: spatial 0..8 = k, vi: spatial 0..4 = i) {
					s[vi] = x[vk, vi]
				}
			}
			for j in 0..4 {
				block b(vg: spatial 0..1 = g, vk: spatial 0..8 = k, vj: spatial 0..4 = j) {
					y[vk, vj] = s[3 - vj]
				}
			}
		}
	}
}
--- bind g grid.x; bind i block.x; bind j block.x; pipeline k 2
fn f(x: in f32[8, 4], y: out f32[8, 4]) {
	for g in 0..1 bound(grid.x) {
		alloc s: f32[8, 4] @shared map (slot, i0) -> [slot % 2 : 2, i0 : 4]
		for k.2 in 0..1 {
			async {
				for i.2 in 0..4 bound(block.x) {
					block a.2(vg: spatial 0..1 = g, vk: spatial 0..8 = k.2, vi: spatial 0..4 = i.2) {
						s[k.2, vi] = x[vk, vi]
					}
				}
			}
			commit
		}
		for k in 0..8 pipelined(2) {
			wait 0
			barrier block
			async {
				for i in 0..4 bound(block.x) {
					block a(vg: spatial 0..1 = g, vk: spatial 0..8 = k + 1, vi: spatial 0..4 = i) where k + 1 < 8 {
						s[k + 1, vi] = x[vk, vi]
					}
				}
			}
			commit
			for j in 0..4 bound(block.x) {
				block b(vg: spatial 0..1 = g, vk: spatial 0..8 = k, vj: spatial 0..4 = j) {
					y[vk, vj] = s[k, 3 - vj]
				}
			}
		}
	}
}
===
fn f(x: in f32[8, 4], y: out f32[8, 4]) {
	for g in 0..1 {
		for k in 0..8 {
			alloc s: f32[4] @shared
			for i in 0..4 {
				block a(vg: spatial 0..1 = g, vk: spatial 0..8 = k, vi: spatial 0..4 = i) {
					s[vi] = x[vk, vi]
				}
			}
			for j in 0..4 {
				block b(vg: spatial 0..1 = g, vk: spatial 0..8 = k, vj: spatial 0..4 = j) {
					y[vk, vj] = s[3 - vj]
				}
			}
		}
	}
}
--- bind g grid.x; bind i block.x; bind j block.x; pipeline k 3
fn f(x: in f32[8, 4], y: out f32[8, 4]) {
	for g in 0..1 bound(grid.x) {
		alloc s: f32[8, 4] @shared map (slot, i0) -> [slot % 3 : 3, i0 : 4]
		for k.2 in 0..2 {
			async {
				for i.2 in 0..4 bound(block.x) {
					block a.2(vg: spatial 0..1 = g, vk: spatial 0..8 = k.2, vi: spatial 0..4 = i.2) {
						s[k.2, vi] = x[vk, vi]
					}
				}
			}
			commit
		}
		for k in 0..8 pipelined(3) {
			wait 1
			barrier block
			async {
				for i in 0..4 bound(block.x) {
					block a(vg: spatial 0..1 = g, vk: spatial 0..8 = k + 2, vi: spatial 0..4 = i) where k + 2 < 8 {
						s[k + 2, vi] = x[vk, vi]
					}
				}
			}
			commit
			for j in 0..4 bound(block.x) {
				block b(vg: spatial 0..1 = g, vk: spatial 0..8 = k, vj: spatial 0..4 = j) {
					y[vk, vj] = s[k, 3 - vj]
				}
			}
		}
	}
}
===
fn f(x: in f32[8, 4], y: out f32[8, 4]) {
	for g in 0..1 {
		for k in 0..8 {
			alloc s: f32[4] @shared
			for i in 0..4 {
				block a(vg: spatial 0..1 = g, vk: spatial 0..8 = k, vi: spatial 0..4 = i) {
					s[vi] = x[vk, vi]
				}
			}
			for j in 0..4 {
				block b(vg: spatial 0..1 = g, vk: spatial 0..8 = k, vj: spatial 0..4 = j) {
					y[vk, vj] = s[3 - vj]
				}
			}
		}
	}
}
--- bind g grid.x; pipeline k 3; bind i block.x; bind i.2 block.x; bind j block.x
fn f(x: in f32[8, 4], y: out f32[8, 4]) {
	for g in 0..1 bound(grid.x) {
		alloc s: f32[8, 4] @shared map (slot, i0) -> [slot % 3 : 3, i0 : 4]
		for k.2 in 0..2 {
			async {
				for i.2 in 0..4 bound(block.x) {
					block a.2(vg: spatial 0..1 = g, vk: spatial 0..8 = k.2, vi: spatial 0..4 = i.2) {
						s[k.2, vi] = x[vk, vi]
					}
				}
			}
			commit
		}
		for k in 0..8 pipelined(3) {
			wait 1
			barrier block
			async {
				for i in 0..4 bound(block.x) {
					block a(vg: spatial 0..1 = g, vk: spatial 0..8 = k + 2, vi: spatial 0..4 = i) where k + 2 < 8 {
						s[k + 2, vi] = x[vk, vi]
					}
				}
			}
			commit
			for j in 0..4 bound(block.x) {
				block b(vg: spatial 0..1 = g, vk: spatial 0..8 = k, vj: spatial 0..4 = j) {
					y[vk, vj] = s[k, 3 - vj]
				}
			}
		}
	}
}
===
fn f(x: in f32[8, 4], y: out f32[8, 4]) {
	for g in 0..1 {
		for k in 0..8 {
			alloc s: f32[4] @shared
			for i in 0..4 {
				block a(vg: spatial 0..1 = g, vk: spatial 0..8 = k, vi: spatial 0..4 = i) {
					s[vi] = x[vk, vi]
				}
			}
			for j in 0..4 {
				block b(vg: spatial 0..1 = g, vk: spatial 0..8 = k, vj: spatial 0..4 = j) {
					y[vk, vj] = s[3 - vj]
				}
			}
		}
	}
}
--- bind g grid.x; pipeline k 1
! trace:2: pipeline k: a pipeline has 2 to 8 stages
===
fn f(x: in f32[8, 4], y: out f32[8, 4]) {
	for g in 0..1 {
		for k in 0..8 {
			alloc s: f32[4] @shared
			for i in 0..4 {
				block a(vg: spatial 0..1 = g, vk: spatial 0..8 = k, vi: spatial 0..4 = i) {
					s[vi] = x[vk, vi]
				}
			}
			for j in 0..4 {
				block b(vg: spatial 0..1 = g, vk: spatial 0..8 = k, vj: spatial 0..4 = j) {
					y[vk, vj] = s[3 - vj]
				}
			}
		}
	}
}
--- bind g grid.x; split i 3 overlap; pipeline k 2
! trace:3: pipeline k: tiles of loop i.o of a copy overlap
===
fn f(x: in f32[8, 4], y: out f32[8, 4]) {
	for g in 0..1 {
		for k in 0..8 {
			alloc s: f32[4] @shared
			for i in 0..4 {
				block a(vg: spatial 0..1 = g, vk: spatial 0..8 = k, vi: spatial 0..4 = i) {
					s[vi] = x[vk, vi]
				}
			}
			for j in 0..4 {
				block b(vg: spatial 0..1 = g, vk: spatial 0..8 = k, vj: spatial 0..4 = j) {
					y[vk, vj] = s[3 - vj]
				}
			}
		}
	}
}
--- bind g grid.x; pipeline k 9
! trace:2: pipeline k: a pipeline has 2 to 8 stages
===
fn f(x: in f32[2, 4], y: out f32[2, 4]) {
	for g in 0..1 {
		for k in 0..2 {
			alloc s: f32[4] @shared
			for i in 0..4 {
				block a(vg: spatial 0..1 = g, vk: spatial 0..2 = k, vi: spatial 0..4 = i) {
					s[vi] = x[vk, vi]
				}
			}
			for j in 0..4 {
				block b(vg: spatial 0..1 = g, vk: spatial 0..2 = k, vj: spatial 0..4 = j) {
					y[vk, vj] = s[3 - vj]
				}
			}
		}
	}
}
--- bind g grid.x; pipeline k 3
! trace:2: pipeline k: its extent must be a constant, and no less than there are stages
===
fn f(x: in f32[8, 4], y: out f32[8, 4]) {
	for g in 0..1 {
		for k in 0..8 {
			alloc s: f32[4] @shared
			for i in 0..4 {
				block a(vg: spatial 0..1 = g, vk: spatial 0..8 = k, vi: spatial 0..4 = i) {
					s[vi] = x[vk, vi]
				}
			}
			for j in 0..4 {
				block b(vg: spatial 0..1 = g, vk: spatial 0..8 = k, vj: spatial 0..4 = j) {
					y[vk, vj] = s[3 - vj]
				}
			}
		}
	}
}
--- pipeline k 2
! trace:1: pipeline k: it must stand in a loop bound to a grid axis
===
fn f(x: in f32[8, 4], y: out f32[8, 4]) {
	for g in 0..1 {
		for k in 0..8 {
			alloc s: f32[4] @shared
			for i in 0..4 {
				block a(vg: spatial 0..1 = g, vk: spatial 0..8 = k, vi: spatial 0..4 = i) {
					s[vi] = x[vk, vi]
				}
			}
			for j in 0..4 {
				block b(vg: spatial 0..1 = g, vk: spatial 0..8 = k, vj: spatial 0..4 = j) {
					y[vk, vj] = s[3 - vj]
				}
			}
		}
	}
}
--- bind g grid.x; pipeline i 2
! trace:2: pipeline i: it must begin with copies into shared buffers that it declares, and then use them
===
fn f(x: in f32[8, 4], y: out f32[8, 4]) {
	for g in 0..1 {
		for k in 0..8 {
			alloc s: f32[4] @local
			for i in 0..4 {
				block a(vg: spatial 0..1 = g, vk: spatial 0..8 = k, vi: spatial 0..4 = i) {
					s[vi] = x[vk, vi]
				}
			}
			for j in 0..4 {
				block b(vg: spatial 0..1 = g, vk: spatial 0..8 = k, vj: spatial 0..4 = j) {
					y[vk, vj] = s[3 - vj]
				}
			}
		}
	}
}
--- pipeline k 2
! trace:1: pipeline k: it must stand in a loop bound to a grid axis
===
fn f(x: in f32[8, 4], y: out f32[8, 4]) {
	for g in 0..1 {
		for k in 0..8 {
			alloc s: f32[4] @shared
			for i in 0..4 {
				block a(vg: spatial 0..1 = g, vk: spatial 0..8 = k, vi: spatial 0..4 = i) {
					s[vi] = x[vk, vi]
				}
			}
			for j in 0..4 {
				block b(vg: spatial 0..1 = g, vk: spatial 0..8 = k, vj: spatial 0..4 = j) {
					y[vk, vj] = s[3 - vj]
				}
			}
		}
	}
}
--- bind g grid.x; bind i block.x; bind j block.x; pipeline k 2; pipeline k 2
! trace:5: pipeline k: it is no longer a serial loop
===
fn f(x: in f32[8, 4], y: out f32[8, 4]) {
	for g in 0..1 {
		for k in 0..8 {
			alloc s: f32[4] @shared
			for i in 0..4 {
				block a(vg: spatial 0..1 = g, vk: spatial 0..8 = k, vi: spatial 0..4 = i) {
					s[vi] = x[vk, vi]
				}
			}
			for j in 0..4 {
				block b(vg: spatial 0..1 = g, vk: spatial 0..8 = k, vj: spatial 0..4 = j) {
					y[vk, vj] = s[3 - vj]
				}
			}
		}
	}
}
--- bind g block.y; pipeline k 2
! trace:1: bind s: loop g around its declaration is a vector or bound to a block axis, so that it must be local
===
fn f(x: in f32[6, 8], y: out f32[6, 8]) {
	for g in 0..1 {
		for n in 0..6 {
			alloc t: f32[8] @local
			for k in 0..8 {
				block a(vn: spatial 0..6 = n, vk: spatial 0..8 = k) {
					t[vk] = x[vn, vk]
				}
			}
			for m in 0..8 {
				block b(vn: spatial 0..6 = n, vm: spatial 0..8 = m) {
					y[vn, vm] = t[vm]
				}
			}
		}
	}
}
--- bind g grid.x; scope t shared; pipeline n 2; bind k.2 block.x
fn f(x: in f32[6, 8], y: out f32[6, 8]) {
	for g in 0..1 bound(grid.x) {
		alloc t: f32[6, 8] @shared map (slot, i0) -> [slot % 2 : 2, i0 : 8]
		for n.2 in 0..1 {
			async {
				for k.2 in 0..8 bound(block.x) {
					block a.2(vn: spatial 0..6 = n.2, vk: spatial 0..8 = k.2) {
						t[n.2, vk] = x[vn, vk]
					}
				}
			}
			commit
		}
		for n in 0..6 pipelined(2) {
			wait 0
			barrier block
			async {
				for k in 0..8 {
					block a(vn: spatial 0..6 = n + 1, vk: spatial 0..8 = k) where n + 1 < 6 {
						t[n + 1, vk] = x[vn, vk]
					}
				}
			}
			commit
			for m in 0..8 {
				block b(vn: spatial 0..6 = n, vm: spatial 0..8 = m) {
					y[vn, vm] = t[n, vm]
				}
			}
		}
	}
}
===
fn f(x: in f32[4, 8, 16], y: out f32[8, 16]) {
	alloc part: f32[4, 8, 16]
	for p in 0..4 {
		for a in 0..2 {
			for i in 0..4 {
				for j in 0..16 {
					block one(vp: spatial 0..4 = p, vi: spatial 0..8 = a * 4 + i, vj: spatial 0..16 = j) {
						part[vp, vi, vj] = x[vp, vi, vj] * x[vp, vi, vj]
					}
				}
			}
		}
	}
	for b in 0..2 {
		for k in 0..4 {
			for l in 0..16 {
				for q in 0..4 {
					block all(vk: spatial 0..8 = b * 4 + k, vl: spatial 0..16 = l, vq: reduce 0..4 = q) {
						init {
							y[vk, vl] = 0.0
						}
						sum y[vk, vl] <- part[vq, vk, vl]
					}
				}
			}
		}
	}
}
--- bind p grid.y; bind a grid.x; bind j block.x; bind b grid.x; bind l block.x; last p
fn f(x: in f32[4, 8, 16], y: out f32[8, 16], p.count: zero i32[2]) {
	alloc part: f32[4, 8, 16]
	for p in 0..4 bound(grid.y) {
		for a in 0..2 bound(grid.x) {
			for i in 0..4 {
				for j in 0..16 bound(block.x) {
					block one(vp: spatial 0..4 = p, vi: spatial 0..8 = a * 4 + i, vj: spatial 0..16 = j) {
						part[vp, vi, vj] = x[vp, vi, vj] * x[vp, vi, vj]
					}
				}
			}
			alloc p.last: i32[1] @shared
			barrier block
			for p.t in 0..1 bound(block.x) {
				block p.arrive(vp.t: spatial 0..1 = p.t, va: spatial 0..2 = a, vp: spatial 0..4 = p) {
					let p.n = atomic sum p.count[va] <- i32(1)
					p.last[0] = p.n
				}
			}
			barrier block
			if p.last[0] == i32(3) {
				for k in 0..4 {
					for l in 0..16 bound(block.x) {
						for q in 0..4 {
							block all(vk: spatial 0..8 = a * 4 + k, vl: spatial 0..16 = l, vq: reduce 0..4 = q) {
								init {
									y[vk, vl] = 0.0
								}
								sum y[vk, vl] <- part[vq, vk, vl]
							}
						}
					}
				}
				for p.r in 0..1 bound(block.x) {
					block p.clear(vp.r: spatial 0..1 = p.r, va: spatial 0..2 = a) {
						p.count[va] = i32(0)
					}
				}
			}
		}
	}
}
===
fn f(x: in f32[4, 8, 16], y: out f32[8, 16]) {
	alloc part: f32[4, 8, 16]
	for p in 0..4 {
		for a in 0..2 {
			for i in 0..4 {
				for j in 0..16 {
					block one(vp: spatial 0..4 = p, vi: spatial 0..8 = a * 4 + i, vj: spatial 0..16 = j) {
						part[vp, vi, vj] = x[vp, vi, vj] * x[vp, vi, vj]
					}
				}
			}
		}
	}
	for b in 0..2 {
		for k in 0..4 {
			for l in 0..16 {
				for q in 0..4 {
					block all(vk: spatial 0..8 = b * 4 + k, vl: spatial 0..16 = l, vq: reduce 0..4 = q) {
						init {
							y[vk, vl] = 0.0
						}
						sum y[vk, vl] <- part[vq, vk, vl]
					}
				}
			}
		}
	}
}
--- bind p grid.y; bind a grid.x; bind b grid.x; last a
! trace:4: last a: the next launch has other blocks along loop b
===
fn f(x: in f32[4, 8, 16], y: out f32[8, 16]) {
	alloc part: f32[4, 8, 16]
	for p in 0..4 {
		for a in 0..2 {
			for i in 0..4 {
				for j in 0..16 {
					block one(vp: spatial 0..4 = p, vi: spatial 0..8 = a * 4 + i, vj: spatial 0..16 = j) {
						part[vp, vi, vj] = x[vp, vi, vj] * x[vp, vi, vj]
					}
				}
			}
		}
	}
	for b in 0..2 {
		for k in 0..4 {
			for l in 0..16 {
				for q in 0..4 {
					block all(vk: spatial 0..8 = b * 4 + k, vl: spatial 0..16 = l, vq: reduce 0..4 = q) {
						init {
							y[vk, vl] = 0.0
						}
						sum y[vk, vl] <- part[vq, vk, vl]
					}
				}
			}
		}
	}
}
--- bind p grid.y; bind a grid.x; bind k block.x; last p
! trace:4: last p: the next launch has other blocks along loop a
===
fn f(x: in f32[4, 8, 16], y: out f32[8, 16]) {
	alloc part: f32[4, 8, 16]
	for p in 0..4 {
		for a in 0..2 {
			for i in 0..4 {
				for j in 0..16 {
					block one(vp: spatial 0..4 = p, vi: spatial 0..8 = a * 4 + i, vj: spatial 0..16 = j) {
						part[vp, vi, vj] = x[vp, vi, vj] * x[vp, vi, vj]
					}
				}
			}
		}
	}
	for b in 0..2 {
		for k in 0..4 {
			for l in 0..16 {
				for q in 0..4 {
					block all(vk: spatial 0..8 = b * 4 + k, vl: spatial 0..16 = l, vq: reduce 0..4 = q) {
						init {
							y[vk, vl] = 0.0
						}
						sum y[vk, vl] <- part[vq, vk, vl]
					}
				}
			}
		}
	}
}
--- bind b grid.x; last b
! trace:2: last b: no launch follows its launch
===
fn f(x: in f32[4, 8, 16], y: out f32[8, 16]) {
	alloc part: f32[4, 8, 16]
	for p in 0..4 {
		for a in 0..2 {
			for i in 0..4 {
				for j in 0..16 {
					block one(vp: spatial 0..4 = p, vi: spatial 0..8 = a * 4 + i, vj: spatial 0..16 = j) {
						part[vp, vi, vj] = x[vp, vi, vj] * x[vp, vi, vj]
					}
				}
			}
		}
	}
	for b in 0..2 {
		for k in 0..4 {
			for l in 0..16 {
				for q in 0..4 {
					block all(vk: spatial 0..8 = b * 4 + k, vl: spatial 0..16 = l, vq: reduce 0..4 = q) {
						init {
							y[vk, vl] = 0.0
						}
						sum y[vk, vl] <- part[vq, vk, vl]
					}
				}
			}
		}
	}
}
--- bind p block.x; last p
! trace:2: last p: it is not bound to a grid axis
===
fn f(x: in f32[4, 8, 16], y: out f32[8, 16]) {
	alloc part: f32[4, 8, 16]
	for p in 0..4 {
		for a in 0..2 {
			for i in 0..4 {
				for j in 0..16 {
					block one(vp: spatial 0..4 = p, vi: spatial 0..8 = a * 4 + i, vj: spatial 0..16 = j) {
						part[vp, vi, vj] = x[vp, vi, vj] * x[vp, vi, vj]
					}
				}
			}
		}
	}
	for b in 0..2 {
		for k in 0..4 {
			for l in 0..16 {
				for q in 0..4 {
					block all(vk: spatial 0..8 = b * 4 + k, vl: spatial 0..16 = l, vq: reduce 0..4 = q) {
						init {
							y[vk, vl] = 0.0
						}
						sum y[vk, vl] <- part[vq, vk, vl]
					}
				}
			}
		}
	}
}
--- bind p grid.y; bind a grid.x; fuse b k as bk; split bk 5; bind bk.o grid.x; last p
! trace:6: last p: the next launch may read elements of part that blocks of other places write
===
fn f(x: in f32[4, 8, 16], y: out f32[8, 16]) {
	alloc part: f32[4, 8, 16]
	for p in 0..4 {
		for a in 0..2 {
			for i in 0..4 {
				for j in 0..16 {
					block one(vp: spatial 0..4 = p, vi: spatial 0..8 = a * 4 + i, vj: spatial 0..16 = j) {
						part[vp, vi, vj] = x[vp, vi, vj] * x[vp, vi, vj]
					}
				}
			}
		}
	}
	for b in 0..2 {
		for k in 0..4 {
			for l in 0..16 {
				for q in 0..4 {
					block all(vk: spatial 0..8 = b * 4 + k, vl: spatial 0..16 = l, vq: reduce 0..4 = q) {
						init {
							y[vk, vl] = 0.0
						}
						sum y[vk, vl] <- part[vq, 7 - vk, vl]
					}
				}
			}
		}
	}
}
--- bind p grid.y; bind a grid.x; bind b grid.x; last p
! trace:4: last p: the next launch may read elements of part that blocks of other places write
===
fn f(x: in f32[4, 8, 16], y: out f32[8, 16]) {
	alloc part: f32[4, 8, 16]
	for p in 0..4 {
		for a in 0..2 {
			for i in 0..4 {
				for j in 0..16 {
					block one(vp: spatial 0..4 = p, vi: spatial 0..8 = a * 4 + i, vj: spatial 0..16 = j) {
						part[vp, vi, vj] = x[vp, vi, vj] * x[vp, vi, vj]
					}
				}
			}
		}
	}
	for b in 0..2 {
		for k in 0..4 {
			for l in 0..16 {
				for q in 0..4 {
					block all(vk: spatial 0..8 = b * 4 + k, vl: spatial 0..16 = l, vq: reduce 0..4 = q) {
						init {
							y[vk, vl] = 0.0
						}
						sum y[vk, vl] <- part[vq, vk, vl]
					}
				}
			}
		}
	}
}
--- bind p grid.y; bind a grid.x; bind j block.x; bind b grid.x; bind l block.x; last p; scope p.last local
! trace:7: scope p.last: it is local to a thread, but a condition of all threads reads it
===
