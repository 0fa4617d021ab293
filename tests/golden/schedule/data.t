fn f(x: in f32[24], w: const f32[20, 24], y: out f32[20]) {
	for o in 0..20 {
		for i in 0..24 {
			block dense(vo: spatial 0..20 = o, vi: reduce 0..24 = i) {
				init {
					y[vo] = 0.0
				}
				sum y[vo] <- x[vi] * w[vo, vi]
			}
		}
	}
}
--- pack w OI8i16o
fn f(
		x: in f32[24],
		w.p: const f32[20, 24] map (i0, i1) -> [i0 / 16 : 2, i1 / 8 : 3, i1 % 8 : 8, i0 % 16 : 16],
		y: out f32[20]) {
	for o in 0..20 {
		for i in 0..24 {
			block dense(vo: spatial 0..20 = o, vi: reduce 0..24 = i) {
				init {
					y[vo] = 0.0
				}
				sum y[vo] <- x[vi] * w.p[vo, vi]
			}
		}
	}
}

prepare fn pack.w(
		w: const f32[20, 24],
		w.p: out f32[20, 24] map (i0, i1) -> [i0 / 16 : 2, i1 / 8 : 3, i1 % 8 : 8, i0 % 16 : 16]) {
	for w.o in 0..20 {
		for w.i in 0..24 {
			block pack.w(vw.o: spatial 0..20 = w.o, vw.i: spatial 0..24 = w.i) {
				w.p[vw.o, vw.i] = w[vw.o, vw.i]
			}
		}
	}
}
===
fn f(w: const f32[8, 8], y: out f32[8]) {
	for i in 0..8 {
		y[i] = w[i, 0]
	}
}
fn g(w: const f32[8, 8], z: out f32[8]) {
	call second(w[0:8, 1], z[0:8])
}
sub fn second(a: in f32[8], b: out f32[8]) {
	for j in 0..8 {
		b[j] = a[j]
	}
}
--- pack w IO4o
fn f(
		w.p: const f32[8, 8] map (i0, i1) -> [i1 : 8, i0 / 4 : 2, i0 % 4 : 4],
		y: out f32[8]) {
	for i in 0..8 {
		y[i] = w.p[i, 0]
	}
}

fn g(
		w.p: const f32[8, 8] map (i0, i1) -> [i1 : 8, i0 / 4 : 2, i0 % 4 : 4],
		z: out f32[8]) {
	call second(w.p[0:8, 1], z[0:8])
}

sub fn second(a: in f32[8], b: out f32[8]) {
	for j in 0..8 {
		b[j] = a[j]
	}
}

prepare fn pack.w(
		w: const f32[8, 8],
		w.p: out f32[8, 8] map (i0, i1) -> [i1 : 8, i0 / 4 : 2, i0 % 4 : 4]) {
	for w.o in 0..8 {
		for w.i in 0..8 {
			block pack.w(vw.o: spatial 0..8 = w.o, vw.i: spatial 0..8 = w.i) {
				w.p[vw.o, vw.i] = w[vw.o, vw.i]
			}
		}
	}
}
===
fn f(w: const f32[8], y: out f32[8]) {
	for i in 0..8 {
		y[i] = w[i]
	}
}
--- pack w O4o; pack w O8o
! trace:2: pack w: no run Fn has such a constant
===
fn f(w: const f32[8], y: out f32[8]) {
	for i in 0..8 {
		y[i] = w[i]
	}
}
--- pack w O4o; pack w.p O8o
! trace:2: pack w.p: a prepare Fn makes it, so it is packed already
===
fn f(w: const f32[8], y: out f32[8]) {
	for i in 0..8 {
		y[i] = w[i]
	}
}
--- pack w OI4o
! trace:1: pack w: its shape does not fit layout OI4o
===
fn f(w: const f32[8], y: out f32[8]) {
	for i in 0..8 {
		y[i] = 0.0
	}
}
--- pack w O4o
! trace:1: pack w: nothing reads it
===
fn f(w: in f32[8], y: out f32[8]) {
	for i in 0..8 {
		y[i] = w[i]
	}
}
--- pack w O4o
! trace:1: pack w: it is not a constant
===
fn f(w: const f32[5, 3], y: out f32[1]) {
	for i in 0..1 {
		y[i] = w[i, i]
	}
}
--- pack w IO1024o1024i
! trace:1: pack w: in layout IO1024o1024i most of it would be padding
===
fn f[n in 1..8](w: const f32[n], y: out f32[1]) {
	for i in 0..1 {
		y[i] = w[i]
	}
}
--- pack w O4o
! trace:1: pack w: its shape is not constant
===
fn f(w: const f32[8], y: out f32[8], w.p: out f32[8]) {
	for i in 0..8 {
		y[i] = w[i]
		w.p[i] = w[i]
	}
}
--- pack w O4o
! trace:1: pack w: the name w.p is already in use
===
fn f(x: in f32[8, 26], y: out f32[8, 24]) {
	for i in 0..8 {
		for j in 0..24 {
			for k in 0..3 {
				block b(vi: spatial 0..8 = i, vj: spatial 0..24 = j, vk: reduce 0..3 = k) {
					init {
						y[vi, vj] = 0.0
					}
					sum y[vi, vj] <- x[vi, vj + vk]
				}
			}
		}
	}
}
--- split j 8; cache_read x b j.o
fn f(x: in f32[8, 26], y: out f32[8, 24]) {
	for i in 0..8 {
		for j.o in 0..3 {
			alloc x.c: f32[1, 10] @local
			for x.c.0 in 0..1 {
				for x.c.1 in 0..10 {
					block x.c(vx.c.0: spatial 0..8 = i + x.c.0, vx.c.1: spatial 0..26 = j.o * 8 + x.c.1) {
						x.c[vx.c.0 - i, vx.c.1 - j.o * 8] = x[vx.c.0, vx.c.1]
					}
				}
			}
			for j.i in 0..8 {
				for k in 0..3 {
					block b(vi: spatial 0..8 = i, vj: spatial 0..24 = j.o * 8 + j.i, vk: reduce 0..3 = k) {
						init {
							y[vi, vj] = 0.0
						}
						sum y[vi, vj] <- x.c[vi - i, vj + vk - j.o * 8]
					}
				}
			}
		}
	}
}
===
fn f(x: in f32[24], w: const f32[3], y: out f32[24]) {
	for j in 0..24 {
		for k in 0..3 {
			block b(vj: spatial 0..24 = j, vk: reduce 0..3 = k) {
				init {
					y[vj] = 0.0
				}
				sum y[vj] <- select(0 <= vj + vk - 1 & vj + vk - 1 < 24, x[vj + vk - 1], 0.0) * w[vk]
			}
		}
	}
}
--- skip b; split j 8; cache_read x b j.o; cache_read w b j.o; parallel j.o
fn f(x: in f32[24], w: const f32[3], y: out f32[24]) {
	for j.o in 0..3 parallel {
		alloc x.c: f32[10] @local
		for x.c.0 in 0..10 {
			block x.c(vx.c.0: spatial 0..24 = max(j.o * 8 - 1, 0) + x.c.0) where max(j.o * 8 - 1, 0) + x.c.0 < min(j.o * 8 + 9, 24) {
				x.c[vx.c.0 - max(j.o * 8 - 1, 0)] = x[vx.c.0]
			}
		}
		alloc w.c: f32[3] @local
		for w.c.0 in 0..3 {
			block w.c(vw.c.0: spatial 0..3 = w.c.0) {
				w.c[vw.c.0] = w[vw.c.0]
			}
		}
		for j.i in 0..8 {
			for k in 0..3 {
				block b(vj: spatial 0..24 = j.o * 8 + j.i, vk: reduce 0..3 = k) {
					init {
						y[vj] = 0.0
					}
					if 0 <= vj + vk - 1 & vj + vk - 1 < 24 {
						sum y[vj] <- x.c[vj + vk - 1 - max(j.o * 8 - 1, 0)] * w.c[vk]
					}
				}
			}
		}
	}
}
===
fn f(x: in f32[24], y: out f32[24]) {
	for j in 0..24 {
		block b(vj: spatial 0..24 = j) {
			y[vj] = x[vj]
		}
	}
}
--- cache_read y b j
! trace:1: cache_read y: it is no input or constant, so it may be incomplete
===
fn f(x: in f32[24], y: inout f32[24]) {
	for j in 0..24 {
		block b(vj: spatial 0..24 = j) {
			y[vj] = y[vj] + 1.0
		}
	}
}
--- cache_read y b j
! trace:1: cache_read y: that loop writes it, or a call uses it
===
fn f(x: in f32[24], y: out f32[24]) {
	for j in 0..24 {
		block b(vj: spatial 0..24 = j) {
			y[vj] = x[vj]
		}
	}
}
--- vectorize j; cache_read x b j
! trace:2: cache_read x: loop j is a vector or bound loop, which takes no further statements
===
fn f(x: in f32[24], w: in f32[3], y: out f32[24]) {
	for j in 0..24 {
		block b(vj: spatial 0..24 = j) {
			y[vj] = x[vj]
		}
	}
}
--- cache_read w b j
! trace:1: cache_read w: that block does not read it
===
fn f(x: in f32[24], y: out f32[24]) {
	for j in 0..24 {
		block b(vj: spatial 0..24 = j) {
			y[vj] = x[vj]
		}
	}
	for i in 0..1 {
	}
}
--- cache_read x b i
! trace:1: cache_read x: the block does not stand in loop i
===
fn f(x: in f32[300, 300], y: out f32[300]) {
	for i in 0..1 {
		for j in 0..300 {
			block b(vj: spatial 0..300 = j) {
				y[vj] = x[vj, 299 - vj]
			}
		}
	}
}
--- cache_read x b i
! trace:1: cache_read x: the part to be copied has more than 65536 elements
===
fn f(x: in f32[300], y: out f32[300]) {
	for i in 0..10 {
		for j in 0..30 {
			block b(vj: spatial 0..300 = i * 30 + j) {
				y[vj] = x[vj]
			}
		}
	}
}
--- cache_read x b i; cache_read x b j
! trace:2: cache_read x: that block does not read it
===
