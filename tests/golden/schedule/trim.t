fn f(x: in f32[8, 8], y: out f32[8], t: work f32[8, 8]) {
	for i in 0..8 {
		for j in 0..8 {
			block a(vi: spatial 0..8 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = select(vj <= vi, exp(x[vi, vj]), 0.0)
			}
		}
	}
	for m in 0..8 {
		for n in 0..8 {
			block b(vm: spatial 0..8 = m, vn: reduce 0..8 = n) {
				init {
					y[vm] = 0.0
				}
				sum y[vm] <- t[vm, vn] * x[vm, vn]
			}
		}
	}
}
--- trim n
fn f(x: in f32[8, 8], y: out f32[8], t: work f32[8, 8]) {
	for i in 0..8 {
		for j in 0..8 {
			block a(vi: spatial 0..8 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = select(vj <= vi, exp(x[vi, vj]), 0.0)
			}
		}
	}
	for m in 0..8 {
		for n in 0..m + 1 {
			block b(vm: spatial 0..8 = m, vn: reduce 0..8 = n) {
				init {
					y[vm] = 0.0
				}
				sum y[vm] <- t[vm, vn] * x[vm, vn]
			}
		}
	}
}
===
fn f(x: in f32[8, 8], y: out f32[8], t: work f32[8, 8]) {
	for i in 0..8 {
		for j in 0..8 {
			block a(vi: spatial 0..8 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = select(vj <= vi, exp(x[vi, vj]), 0.0)
			}
		}
	}
	for m in 0..8 {
		for n in 0..8 {
			block b(vm: spatial 0..8 = m, vn: reduce 0..8 = n) {
				init {
					y[vm] = 0.0
				}
				sum y[vm] <- t[vm, vn] * x[vm, vn]
			}
		}
	}
}
--- trim n; trim j
! trace:2: trim j: each iteration is needed
===
fn f(x: in f32[8, 8], y: out f32[8], t: work f32[8, 8]) {
	for i in 0..8 {
		for j in 0..8 {
			block a(vi: spatial 0..8 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = select(vj <= vi, exp(x[vi, vj]), 0.0)
			}
		}
	}
	for m in 0..8 {
		for n in 0..8 {
			block b(vm: spatial 0..8 = m, vn: reduce 0..8 = n) {
				init {
					y[vm] = 0.0
				}
				sum y[vm] <- t[vm, vn] * x[vm, vn]
			}
		}
	}
}
--- trim j
! trace:1: trim j: each iteration is needed
===
fn f(x: in f32[8, 8], y: out f32[8], t: work f32[8, 8]) {
	for i in 0..8 {
		for j in 0..8 {
			block a(vi: spatial 0..8 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = select(vj <= vi, exp(x[vi, vj]), 0.0)
			}
		}
	}
	for m in 0..8 {
		for n in 0..8 {
			block b(vm: spatial 0..8 = m, vn: reduce 0..8 = n) {
				init {
					y[vm] = 0.0
				}
				sum y[vm] <- t[vm, vn] * x[vm, vn]
			}
		}
	}
}
--- trim m
! trace:1: trim m: all of y may be read
===
fn f(x: in f32[8, 8], y: out f32[8], t: work f32[8, 8]) {
	for i in 0..8 {
		for j in 0..8 {
			block a(vi: spatial 0..8 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = select(vj <= vi, exp(x[vi, vj]), 0.0)
			}
		}
	}
	for m in 0..8 {
		for n in 0..8 {
			block b(vm: spatial 0..8 = m, vn: reduce 0..8 = n) {
				init {
					y[vm] = 0.0
				}
				sum y[vm] <- t[vm, vn] * x[vm, vn]
			}
		}
	}
}
--- compute_at a m; trim n; trim j
fn f(x: in f32[8, 8], y: out f32[8]) {
	for m in 0..8 {
		alloc t: f32[1, 8] @local
		for i in 0..1 {
			for j in 0..m + 1 {
				block a(vi: spatial 0..8 = m + i, vj: spatial 0..8 = j) {
					t[vi - m, vj] = select(vj <= vi, exp(x[vi, vj]), 0.0)
				}
			}
		}
		for n in 0..m + 1 {
			block b(vm: spatial 0..8 = m, vn: reduce 0..8 = n) {
				init {
					y[vm] = 0.0
				}
				sum y[vm] <- t[vm - m, vn] * x[vm, vn]
			}
		}
	}
}
===
fn f(x: in f32[8, 8], y: out f32[8], t: work f32[8, 8]) {
	for i in 0..8 {
		for j in 0..8 {
			block a(vi: spatial 0..8 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = select(vj <= vi, exp(x[vi, vj]), 0.0)
			}
		}
	}
	for m in 0..8 {
		for n in 0..8 {
			block b(vm: spatial 0..8 = m, vn: reduce 0..8 = n) {
				init {
					y[vm] = 0.0
				}
				sum y[vm] <- t[vm, vn] * x[vm, vn]
			}
		}
	}
}
--- split m 4; split n 2; split j 4; reorder m.o n.o m.i n.i; compute_at a m.o; trim n.o; trim j
fn f(x: in f32[8, 8], y: out f32[8]) {
	for m.o in 0..2 {
		alloc t: f32[4, 8] @local
		for i in 0..4 {
			for j in 0..m.o * 4 + 4 {
				block a(vi: spatial 0..8 = m.o * 4 + i, vj: spatial 0..8 = j) {
					t[vi - m.o * 4, vj] = select(vj <= vi, exp(x[vi, vj]), 0.0)
				}
			}
		}
		for n.o in 0..m.o * 2 + 2 {
			for m.i in 0..4 {
				for n.i in 0..2 {
					block b(vm: spatial 0..8 = m.o * 4 + m.i, vn: reduce 0..8 = n.o * 2 + n.i) {
						init {
							y[vm] = 0.0
						}
						sum y[vm] <- t[vm - m.o * 4, vn] * x[vm, vn]
					}
				}
			}
		}
	}
}
===
fn f(x: in f32[8, 8], y: out f32[8], t: work f32[8, 8]) {
	for i in 0..8 {
		for j in 0..8 {
			block a(vi: spatial 0..8 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = select(vj <= vi, exp(x[vi, vj]), 0.0)
			}
		}
	}
	for m in 0..8 {
		for n in 0..8 {
			block b(vm: spatial 0..8 = m, vn: reduce 0..8 = n) {
				init {
					y[vm] = 0.0
				}
				sum y[vm] <- t[vm, vn] * x[vm, vn]
			}
		}
	}
}
--- split m 4; reorder m.o n m.i; compute_at a m.o; unroll m.i; trim n; trim j; split j 4
fn f(x: in f32[8, 8], y: out f32[8]) {
	for m.o in 0..2 {
		alloc t: f32[4, 8] @local
		for i in 0..4 {
			for j.o in 0..(m.o * 4 + 7) / 4 {
				for j.i in 0..4 {
					block a(vi: spatial 0..8 = m.o * 4 + i, vj: spatial 0..8 = j.o * 4 + j.i) {
						t[vi - m.o * 4, vj] = select(vj <= vi, exp(x[vi, vj]), 0.0)
					}
				}
			}
		}
		for n in 0..m.o * 4 + 4 {
			for m.i in 0..4 unrolled {
				block b(vm: spatial 0..8 = m.o * 4 + m.i, vn: reduce 0..8 = n) {
					init {
						y[vm] = 0.0
					}
					sum y[vm] <- t[vm - m.o * 4, vn] * x[vm, vn]
				}
			}
		}
	}
}
===
fn f(x: in f32[8, 8], y: out f32[8], t: work f32[8, 8]) {
	for i in 0..8 {
		for j in 0..8 {
			block a(vi: spatial 0..8 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = select(vj <= vi, exp(x[vi, vj]), 0.0)
			}
		}
	}
	for m in 0..8 {
		for n in 0..8 {
			block b(vm: spatial 0..8 = m, vn: reduce 0..8 = n) {
				init {
					y[vm] = 0.0
				}
				sum y[vm] <- t[vm, vn] * x[vm, vn]
			}
		}
	}
}
--- split m 4; reorder m.o n m.i; compute_at a m.o; split j 3; trim n; trim j.o; trim j.i
fn f(x: in f32[8, 8], y: out f32[8]) {
	for m.o in 0..2 {
		alloc t: f32[4, 8] @local
		for i in 0..4 {
			for j.o in 0..m.o + 2 {
				for j.i in 0..min(m.o * 4 - j.o * 3 + 4, 3) {
					block a(vi: spatial 0..8 = m.o * 4 + i, vj: spatial 0..8 = j.o * 3 + j.i) where j.o * 3 + j.i < 8 {
						t[vi - m.o * 4, vj] = select(vj <= vi, exp(x[vi, vj]), 0.0)
					}
				}
			}
		}
		for n in 0..m.o * 4 + 4 {
			for m.i in 0..4 {
				block b(vm: spatial 0..8 = m.o * 4 + m.i, vn: reduce 0..8 = n) {
					init {
						y[vm] = 0.0
					}
					sum y[vm] <- t[vm - m.o * 4, vn] * x[vm, vn]
				}
			}
		}
	}
}
===
fn f(x: in f32[8, 8], y: out f32[8], t: work f32[8, 8]) {
	for i in 0..8 {
		for j in 0..8 {
			block a(vi: spatial 0..8 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = select(vj <= vi, exp(x[vi, vj]), 0.0)
			}
		}
	}
	for m in 0..8 {
		for n in 0..8 {
			block b(vm: spatial 0..8 = m, vn: reduce 0..8 = n) {
				init {
					y[vm] = 0.0
				}
				sum y[vm] <- t[vm, vn] * x[vm, vn]
			}
		}
	}
}
--- unroll n; trim n
! trace:2: trim n: it is no longer a serial loop
===
fn f(x: in f32[8, 8], y: out f32[8], t: work f32[8, 8]) {
	for i in 0..8 {
		for j in 0..8 {
			block a(vi: spatial 0..8 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = select(vj <= vi, exp(x[vi, vj]), 0.0)
			}
		}
	}
	for m in 0..8 {
		for n in 0..8 {
			block b(vm: spatial 0..8 = m, vn: reduce 0..8 = n) {
				init {
					y[vm] = 0.0
				}
				sum y[vm] <- t[vm, vn] * x[vm, vn]
			}
		}
	}
}
--- trim n; trim n
! trace:2: trim n: each iteration is needed
===
fn f(x: in f32[8, 8], y: out f32[8], t: work f32[8, 8]) {
	for i in 0..8 {
		for j in 0..8 {
			block a(vi: spatial 0..8 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = select(vj <= vi, exp(x[vi, vj]), 0.0)
			}
		}
	}
	for m in 0..8 {
		for n in 0..8 {
			block b(vm: spatial 0..8 = m, vn: reduce 0..8 = n) {
				init {
					y[vm] = 0.0
				}
				sum y[vm] <- t[vm, vn] * x[vm, vn]
			}
		}
	}
}
--- decompose_init b n; trim n
fn f(x: in f32[8, 8], y: out f32[8], t: work f32[8, 8]) {
	for i in 0..8 {
		for j in 0..8 {
			block a(vi: spatial 0..8 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = select(vj <= vi, exp(x[vi, vj]), 0.0)
			}
		}
	}
	for m in 0..8 {
		block b.init(vm: spatial 0..8 = m) {
			y[vm] = 0.0
		}
		for n in 0..m + 1 {
			block b(vm: spatial 0..8 = m, vn: reduce 0..8 = n) {
				sum y[vm] <- t[vm, vn] * x[vm, vn]
			}
		}
	}
}
===
fn f(x: in f32[8, 8], y: out f32[8], t: work f32[8, 8]) {
	for i in 0..8 {
		for j in 0..8 {
			block a(vi: spatial 0..8 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = min(x[vi, vj], select(vj + 2 < vi & vi < 7, inf, -inf))
			}
		}
	}
	for m in 0..8 {
		for n in 0..8 {
			block b(vm: spatial 0..8 = m, vn: reduce 0..8 = n) {
				init {
					y[vm] = -inf
				}
				max y[vm] <- t[vm, vn]
			}
		}
	}
}
--- trim n
fn f(x: in f32[8, 8], y: out f32[8], t: work f32[8, 8]) {
	for i in 0..8 {
		for j in 0..8 {
			block a(vi: spatial 0..8 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = min(x[vi, vj], select(vj + 2 < vi & vi < 7, inf, -inf))
			}
		}
	}
	for m in 0..8 {
		for n in 0..max(m - 2, 1) {
			block b(vm: spatial 0..8 = m, vn: reduce 0..8 = n) {
				init {
					y[vm] = -inf
				}
				max y[vm] <- t[vm, vn]
			}
		}
	}
}
===
fn f(x: in f32[8, 8], y: out f32[8], t: work f32[8, 8]) {
	for i in 0..8 {
		for j in 0..8 {
			block a(vi: spatial 0..8 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = min(x[vi, vj], select(vj + 2 < vi & vi < 7, inf, -inf))
			}
		}
	}
	for m in 0..8 {
		for n in 0..8 {
			block b(vm: spatial 0..8 = m, vn: reduce 0..8 = n) {
				init {
					y[vm] = -inf
				}
				max y[vm] <- t[vm, vn]
			}
		}
	}
}
--- cut j 4; trim n
fn f(x: in f32[8, 8], y: out f32[8], t: work f32[8, 8]) {
	for i in 0..8 {
		for j in 0..4 {
			block a(vi: spatial 0..8 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = min(x[vi, vj], select(vj + 2 < vi & vi < 7, inf, -inf))
			}
		}
		for j.2 in 4..8 {
			block a.2(vi: spatial 0..8 = i, vj: spatial 0..8 = j.2) {
				t[vi, vj] = min(x[vi, vj], select(vj + 2 < vi & vi < 7, inf, -inf))
			}
		}
	}
	for m in 0..8 {
		for n in 0..max(m - 2, 1) {
			block b(vm: spatial 0..8 = m, vn: reduce 0..8 = n) {
				init {
					y[vm] = -inf
				}
				max y[vm] <- t[vm, vn]
			}
		}
	}
}
===
fn f(x: in f32[8, 8], y: out f32[8], t: work f32[8, 8], z: out f32[8]) {
	for i in 0..8 {
		for j in 0..8 {
			block a(vi: spatial 0..8 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = select(vj <= vi, x[vi, vj], 0.0)
			}
		}
	}
	for m in 0..8 {
		for n in 0..8 {
			block b(vm: spatial 0..8 = m, vn: reduce 0..8 = n) {
				init {
					y[vm] = 0.0
				}
				sum y[vm] <- t[vm, vn] + 1.0
			}
		}
	}
	for k in 0..8 {
		for l in 0..8 {
			block c(vk: spatial 0..8 = k, vl: reduce 0..8 = l) {
				init {
					z[vk] = 1.0
				}
				prod z[vk] <- t[vk, vl]
			}
		}
	}
}
--- trim n
! trace:1: trim n: it is not known where block b combines the identity
===
fn f(x: in f32[8, 8], y: out f32[8], t: work f32[8, 8], z: out f32[8]) {
	for i in 0..8 {
		for j in 0..8 {
			block a(vi: spatial 0..8 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = select(vj <= vi, x[vi, vj], 0.0)
			}
		}
	}
	for m in 0..8 {
		for n in 0..8 {
			block b(vm: spatial 0..8 = m, vn: reduce 0..8 = n) {
				init {
					y[vm] = 0.0
				}
				sum y[vm] <- t[vm, vn] + 1.0
			}
		}
	}
	for k in 0..8 {
		for l in 0..8 {
			block c(vk: spatial 0..8 = k, vl: reduce 0..8 = l) {
				init {
					z[vk] = 1.0
				}
				prod z[vk] <- t[vk, vl]
			}
		}
	}
}
--- trim l
! trace:1: trim l: it is not known where block c combines the identity
===
fn f(x: in f32[8, 8], y: out f32[8], t: work f32[8, 8], z: out f32[8]) {
	for i in 0..8 {
		for j in 0..8 {
			block a(vi: spatial 0..8 = i, vj: spatial 0..8 = j) {
				t[vi, vj] = select(vj <= vi, x[vi, vj], 0.0)
			}
		}
	}
	for m in 0..8 {
		for n in 0..8 {
			block b(vm: spatial 0..8 = m, vn: reduce 0..8 = n) {
				init {
					y[vm] = 0.0
				}
				sum y[vm] <- t[vm, vn] + 1.0
			}
		}
	}
	for k in 0..8 {
		for l in 0..8 {
			block c(vk: spatial 0..8 = k, vl: reduce 0..8 = l) {
				init {
					z[vk] = 1.0
				}
				prod z[vk] <- t[vk, vl]
			}
		}
	}
}
--- trim k
! trace:1: trim k: all of z may be read
===
fn f(x: in f32[8], y: out f32[5], t: work f32[8]) {
	for i in 0..8 {
		block a(vi: spatial 0..8 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..5 {
		block b(vj: spatial 0..5 = j) {
			y[vj] = t[vj + 1]
		}
	}
}
--- trim i
fn f(x: in f32[8], y: out f32[5], t: work f32[8]) {
	for i in 0..6 {
		block a(vi: spatial 0..8 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..5 {
		block b(vj: spatial 0..5 = j) {
			y[vj] = t[vj + 1]
		}
	}
}
===
fn f(x: in f32[8], y: out f32[5], t: work f32[8]) {
	for i in 0..8 {
		block a(vi: spatial 0..8 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..5 {
		block b(vj: spatial 0..5 = j) {
			y[vj] = t[vj + 1]
		}
	}
}
--- trim j
! trace:1: trim j: all of y may be read
===
fn f(x: in f32[8], y: out f32[5], t: work f32[8]) {
	for i in 0..8 {
		block a(vi: spatial 0..8 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..5 {
		block b(vj: spatial 0..5 = j) {
			y[vj] = t[vj + 1]
		}
	}
}
--- split i 2; trim i.o; trim i.i
! trace:3: trim i.i: each iteration is needed
===
fn f(x: in f32[8], y: out f32[5], t: work f32[8]) {
	for i in 0..8 {
		block a(vi: spatial 0..8 = i) {
			t[vi] = x[vi] * 2.0
		}
	}
	for j in 0..5 {
		block b(vj: spatial 0..5 = j) {
			y[vj] = t[vj + 1]
		}
	}
}
--- parallel i; trim i
! trace:2: trim i: it is no longer a serial loop
===
