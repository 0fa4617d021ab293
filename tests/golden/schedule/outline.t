fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- outline j
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..4 {
		call j.fn(x[0:4, 0:6], y[0:4, 0:6], i)
	}
}

sub fn j.fn(x: in f32[4, 6], y: inout f32[4, 6], i: i64) {
	for j in 0..6 {
		block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
			y[vi, vj] = x[vi, vj]
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
--- outline i
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	call i.fn(x[0:4, 0:6], y[0:4, 0:6])
}

sub fn i.fn(x: in f32[4, 6], y: inout f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
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
--- cut j 2; cut j.2 2; outline j j.2 j.2.2
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..4 {
		call j.fn(x[0:4, 0:6], y[0:4, 0:6], i, 0)
		call j.fn(x[0:4, 0:6], y[0:4, 0:6], i, 2)
		call j.fn(x[0:4, 0:6], y[0:4, 0:6], i, 4)
	}
}

sub fn j.fn(x: in f32[4, 6], y: inout f32[4, 6], i: i64, j.1: i64) {
	for j in 0..2 {
		block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j + j.1) {
			y[vi, vj] = x[vi, vj]
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
--- cut i 2; outline j j.2; split j 4; vectorize j.i
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..2 {
		call j.fn(x[0:4, 0:6], y[0:4, 0:6], i)
	}
	for i.2 in 2..4 {
		call j.fn(x[0:4, 0:6], y[0:4, 0:6], i.2)
	}
}

sub fn j.fn(x: in f32[4, 6], y: inout f32[4, 6], j.1: i64) {
	for j.o in 0..2 {
		for j.i in 0..4 vector {
			block b(vi: spatial 0..4 = j.1, vj: spatial 0..6 = j.o * 4 + j.i) where j.o * 4 + j.i < 6 {
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
--- cut j 2; outline j j.2
! trace:2: outline j: their extents of loop j differ
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
--- outline j; outline j
! trace:2: outline j: loop j stands in a sub Fn, or in another Fn than the others
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
--- outline i j
! trace:1: outline i: loop j is named twice, or stands in another one of them
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
--- outline j j
! trace:1: outline j: loop j is named twice, or stands in another one of them
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
--- cut j 3; outline j j.2; parallel j
! trace:3: parallel j: it stands in sub Fn j.fn
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
--- cut j 3; outline j j.2; vectorize i
! trace:3: vectorize i: a statement below it stands in no block
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
--- cut j 3; outline j j.2; unroll i
! trace:3: unroll i: it contains a call of j.fn
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
--- cut j 3; outline j j.2; cut i 1; split i.2 2 peel
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..1 {
		call j.fn(x[0:4, 0:6], y[0:4, 0:6], i, 0)
		call j.fn(x[0:4, 0:6], y[0:4, 0:6], i, 3)
	}
	for i.2.o in 0..1 {
		for i.2.i in 0..2 {
			call j.fn(x[0:4, 0:6], y[0:4, 0:6], 1 + (i.2.o * 2 + i.2.i), 0)
			call j.fn(x[0:4, 0:6], y[0:4, 0:6], 1 + (i.2.o * 2 + i.2.i), 3)
		}
	}
	for i.2.2 in 3..4 {
		call j.fn(x[0:4, 0:6], y[0:4, 0:6], i.2.2, 0)
		call j.fn(x[0:4, 0:6], y[0:4, 0:6], i.2.2, 3)
	}
}

sub fn j.fn(x: in f32[4, 6], y: inout f32[4, 6], i: i64, j.1: i64) {
	for j in 0..3 {
		block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j + j.1) {
			y[vi, vj] = x[vi, vj]
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
--- vectorize j; outline j
! trace:2: outline j: loop j is a vector loop
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
--- vectorize j; outline i
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	call i.fn(x[0:4, 0:6], y[0:4, 0:6])
}

sub fn i.fn(x: in f32[4, 6], y: inout f32[4, 6]) {
	for i in 0..4 {
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
--- unroll i; outline j
! trace:2: outline j: loop i around it is neither serial nor parallel
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
--- parallel j; outline i
! trace:2: outline i: loop j is parallel, bound or pipelined
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
--- outline nosuch
! trace:1: there is no loop "nosuch"
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
--- cut j 3; outline j j.2; cache_write b
! trace:3: cache_write b: it stands in a sub Fn, which may not make all of y
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
--- cut j 3; outline j j.2; cache_read x b j; split j 2
fn f(x: in f32[4, 6], y: out f32[4, 6]) {
	for i in 0..4 {
		call j.fn(x[0:4, 0:6], y[0:4, 0:6], i, 0)
		call j.fn(x[0:4, 0:6], y[0:4, 0:6], i, 3)
	}
}

sub fn j.fn(x: in f32[4, 6], y: inout f32[4, 6], i: i64, j.1: i64) {
	for j.o in 0..2 {
		for j.i in 0..2 {
			if j.o * 2 + j.i < 3 {
				alloc x.c: f32[1, 6] @local
				for x.c.0 in 0..1 {
					for x.c.1 in 0..6 {
						block x.c(vx.c.0: spatial 0..4 = i + x.c.0, vx.c.1: spatial 0..6 = x.c.1) where 0 <= i + x.c.0 & i + x.c.0 < 4 & i + x.c.0 < i + 1 {
							x.c[vx.c.0 - i, vx.c.1] = x[vx.c.0, vx.c.1]
						}
					}
				}
				block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j.o * 2 + j.i + j.1) {
					y[vi, vj] = x.c[vi - i, vj]
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
--- cut i 2; outline i; outline i.2; parallel i.2
! trace:4: parallel i.2: it stands in sub Fn i.2.fn
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4]) {
	for i in 0..4 parallel {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: reduce 0..6 = j) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vj] * w[vj]
			}
		}
	}
}
--- outline j
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4]) {
	for i in 0..4 parallel {
		call j.fn(y[0:4], x[0:4, 0:6], w[0:6], i)
	}
}

sub fn j.fn(y: inout f32[4], x: in f32[4, 6], w: const f32[6], i: i64) {
	for j in 0..6 {
		block b(vi: spatial 0..4 = i, vj: reduce 0..6 = j) {
			init {
				y[vi] = 0.0
			}
			sum y[vi] <- x[vi, vj] * w[vj]
		}
	}
}
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4]) {
	for i in 0..4 parallel {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: reduce 0..6 = j) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vj] * w[vj]
			}
		}
	}
}
--- cut i 2; outline j j.2
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4]) {
	for i in 0..2 parallel {
		call j.fn(y[0:4], x[0:4, 0:6], w[0:6], i)
	}
	for i.2 in 2..4 parallel {
		call j.fn(y[0:4], x[0:4, 0:6], w[0:6], i.2)
	}
}

sub fn j.fn(y: inout f32[4], x: in f32[4, 6], w: const f32[6], j.1: i64) {
	for j in 0..6 {
		block b(vi: spatial 0..4 = j.1, vj: reduce 0..6 = j) {
			init {
				y[vi] = 0.0
			}
			sum y[vi] <- x[vi, vj] * w[vj]
		}
	}
}
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4]) {
	for i in 0..4 parallel {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: reduce 0..6 = j) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vj] * w[vj]
			}
		}
	}
}
--- cut j 2; outline j j.2
! trace:2: outline j: their extents of loop j differ
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4]) {
	for i in 0..4 parallel {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: reduce 0..6 = j) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vj] * w[vj]
			}
		}
	}
}
--- cut i 2; outline i i.2
! trace:2: outline i: loop i is parallel, bound or pipelined
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4]) {
	for i in 0..4 parallel {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: reduce 0..6 = j) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vj] * w[vj]
			}
		}
	}
}
--- cut i 2; outline j j.2; decompose_init b j; rfactor b j
! trace:4: rfactor b: it must have an init of one element and one associative reduction into it
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4]) {
	for i in 0..4 parallel {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: reduce 0..6 = j) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vj] * w[vj]
			}
		}
	}
}
--- cut i 2; outline j j.2; split j 2; rfactor b j.o
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4]) {
	for i in 0..2 parallel {
		call j.fn(y[0:4], x[0:4, 0:6], w[0:6], i)
	}
	for i.2 in 2..4 parallel {
		call j.fn(y[0:4], x[0:4, 0:6], w[0:6], i.2)
	}
}

sub fn j.fn(y: inout f32[4], x: in f32[4, 6], w: const f32[6], j.1: i64) {
	alloc b.rf: f32[3] @local
	for j.o in 0..3 {
		for j.i in 0..2 {
			block b.rf(vi: spatial 0..4 = j.1, vj.o.rf: spatial 0..3 = j.o, vj.i.rf: reduce 0..2 = j.i) {
				init {
					b.rf[vj.o.rf] = 0.0
				}
				sum b.rf[vj.o.rf] <- x[vi, vj.o.rf * 2 + vj.i.rf] * w[vj.o.rf * 2 + vj.i.rf]
			}
		}
	}
	for j.o.rf in 0..3 {
		block b(vi: spatial 0..4 = j.1, vj.o.rf: reduce 0..3 = j.o.rf) {
			init {
				y[vi] = 0.0
			}
			sum y[vi] <- b.rf[vj.o.rf]
		}
	}
}
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4]) {
	for i in 0..4 parallel {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: reduce 0..6 = j) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vj] * w[vj]
			}
		}
	}
}
--- cut i 2; outline j j.2; pack w O4o
fn f(
		x: in f32[4, 6],
		w.p: const f32[6] map (i0) -> [i0 / 4 : 2, i0 % 4 : 4],
		y: out f32[4]) {
	for i in 0..2 parallel {
		call j.fn(y[0:4], x[0:4, 0:6], w.p[0:6], i)
	}
	for i.2 in 2..4 parallel {
		call j.fn(y[0:4], x[0:4, 0:6], w.p[0:6], i.2)
	}
}

sub fn j.fn(y: inout f32[4], x: in f32[4, 6], w: const f32[6], j.1: i64) {
	for j in 0..6 {
		block b(vi: spatial 0..4 = j.1, vj: reduce 0..6 = j) {
			init {
				y[vi] = 0.0
			}
			sum y[vi] <- x[vi, vj] * w[vj]
		}
	}
}

prepare fn pack.w(w: const f32[6], w.p: out f32[6] map (i0) -> [i0 / 4 : 2, i0 % 4 : 4]) {
	for w.o in 0..6 {
		block pack.w(vw.o: spatial 0..6 = w.o) {
			w.p[vw.o] = w[vw.o]
		}
	}
}
===
fn f(x: in f32[12, 8] map (h, c) -> [h : 12, c / 4 : 2, c % 4 : 4], w: const f32[3, 8], y: out f32[10]) {
	for t in 0..5 {
		alloc s: f32[2] @local
		for u in 0..2 {
			block zero(vu: spatial 0..2 = u) {
				s[vu] = 0.0
			}
		}
		for k in 0..3 {
			for c in 0..8 {
				for v in 0..2 {
					block sum(vh: spatial 0..10 = t * 2 + v, vk: reduce 0..3 = k, vc: reduce 0..8 = c) where vh + vk < 11 {
						sum s[vh - t * 2] <- x[vh + vk, vc] * w[vk, vc]
					}
				}
			}
		}
		for z in 0..2 {
			block store(vh: spatial 0..10 = t * 2 + z) {
				y[vh] = s[vh - t * 2]
			}
		}
	}
}
--- cut t 1; cut t.2 3; outline t t.2.2
fn f(
		x: in f32[12, 8] map (h, c) -> [h : 12, c / 4 : 2, c % 4 : 4],
		w: const f32[3, 8],
		y: out f32[10]) {
	call t.fn(x[0:12, 0:8], w[0:3, 0:8], y[0:10], 0)
	for t.2 in 1..4 {
		alloc s.2: f32[2] @local
		for u.2 in 0..2 {
			block zero.2(vu: spatial 0..2 = u.2) {
				s.2[vu] = 0.0
			}
		}
		for k.2 in 0..3 {
			for c.2 in 0..8 {
				for v.2 in 0..2 {
					block sum.2(vh: spatial 0..10 = t.2 * 2 + v.2, vk: reduce 0..3 = k.2, vc: reduce 0..8 = c.2) where vh + vk < 11 {
						sum s.2[vh - t.2 * 2] <- x[vh + vk, vc] * w[vk, vc]
					}
				}
			}
		}
		for z.2 in 0..2 {
			block store.2(vh: spatial 0..10 = t.2 * 2 + z.2) {
				y[vh] = s.2[vh - t.2 * 2]
			}
		}
	}
	call t.fn(x[0:12, 0:8], w[0:3, 0:8], y[0:10], 4)
}

sub fn t.fn(x: in f32[12, 8], w: const f32[3, 8], y: inout f32[10], t.1: i64) {
	for t in 0..1 {
		alloc s: f32[2] @local
		for u in 0..2 {
			block zero(vu: spatial 0..2 = u) {
				s[vu] = 0.0
			}
		}
		for k in 0..3 {
			for c in 0..8 {
				for v in 0..2 {
					block sum(vh: spatial 0..10 = (t + t.1) * 2 + v, vk: reduce 0..3 = k, vc: reduce 0..8 = c) where vh + vk < 11 {
						sum s[vh - (t + t.1) * 2] <- x[vh + vk, vc] * w[vk, vc]
					}
				}
			}
		}
		for z in 0..2 {
			block store(vh: spatial 0..10 = (t + t.1) * 2 + z) {
				y[vh] = s[vh - (t + t.1) * 2]
			}
		}
	}
}
===
fn f(x: in f32[12, 8] map (h, c) -> [h : 12, c / 4 : 2, c % 4 : 4], w: const f32[3, 8], y: out f32[10]) {
	for t in 0..5 {
		alloc s: f32[2] @local
		for u in 0..2 {
			block zero(vu: spatial 0..2 = u) {
				s[vu] = 0.0
			}
		}
		for k in 0..3 {
			for c in 0..8 {
				for v in 0..2 {
					block sum(vh: spatial 0..10 = t * 2 + v, vk: reduce 0..3 = k, vc: reduce 0..8 = c) where vh + vk < 11 {
						sum s[vh - t * 2] <- x[vh + vk, vc] * w[vk, vc]
					}
				}
			}
		}
		for z in 0..2 {
			block store(vh: spatial 0..10 = t * 2 + z) {
				y[vh] = s[vh - t * 2]
			}
		}
	}
}
--- cut t 1; cut t.2 3; outline t t.2
! trace:3: outline t: their extents of loop t differ
===
fn f(x: in f32[12, 8] map (h, c) -> [h : 12, c / 4 : 2, c % 4 : 4], w: const f32[3, 8], y: out f32[10]) {
	for t in 0..5 {
		alloc s: f32[2] @local
		for u in 0..2 {
			block zero(vu: spatial 0..2 = u) {
				s[vu] = 0.0
			}
		}
		for k in 0..3 {
			for c in 0..8 {
				for v in 0..2 {
					block sum(vh: spatial 0..10 = t * 2 + v, vk: reduce 0..3 = k, vc: reduce 0..8 = c) where vh + vk < 11 {
						sum s[vh - t * 2] <- x[vh + vk, vc] * w[vk, vc]
					}
				}
			}
		}
		for z in 0..2 {
			block store(vh: spatial 0..10 = t * 2 + z) {
				y[vh] = s[vh - t * 2]
			}
		}
	}
}
--- cut t 1; outline k k.2; split c 4
! trace:2: outline k: they differ in sum
===
fn f(x: in f32[12, 8] map (h, c) -> [h : 12, c / 4 : 2, c % 4 : 4], w: const f32[3, 8], y: out f32[10]) {
	for t in 0..5 {
		alloc s: f32[2] @local
		for u in 0..2 {
			block zero(vu: spatial 0..2 = u) {
				s[vu] = 0.0
			}
		}
		for k in 0..3 {
			for c in 0..8 {
				for v in 0..2 {
					block sum(vh: spatial 0..10 = t * 2 + v, vk: reduce 0..3 = k, vc: reduce 0..8 = c) where vh + vk < 11 {
						sum s[vh - t * 2] <- x[vh + vk, vc] * w[vk, vc]
					}
				}
			}
		}
		for z in 0..2 {
			block store(vh: spatial 0..10 = t * 2 + z) {
				y[vh] = s[vh - t * 2]
			}
		}
	}
}
--- cut t 1; outline v
! trace:2: outline v: the reduction of block sum goes on outside of it
===
fn f(x: in f32[12, 8] map (h, c) -> [h : 12, c / 4 : 2, c % 4 : 4], w: const f32[3, 8], y: out f32[10]) {
	for t in 0..5 {
		alloc s: f32[2] @local
		for u in 0..2 {
			block zero(vu: spatial 0..2 = u) {
				s[vu] = 0.0
			}
		}
		for k in 0..3 {
			for c in 0..8 {
				for v in 0..2 {
					block sum(vh: spatial 0..10 = t * 2 + v, vk: reduce 0..3 = k, vc: reduce 0..8 = c) where vh + vk < 11 {
						sum s[vh - t * 2] <- x[vh + vk, vc] * w[vk, vc]
					}
				}
			}
		}
		for z in 0..2 {
			block store(vh: spatial 0..10 = t * 2 + z) {
				y[vh] = s[vh - t * 2]
			}
		}
	}
}
--- cut t 1; unroll k.2; outline k k.2
! trace:3: outline k: they differ in k
===
fn f(x: in f32[12, 8] map (h, c) -> [h : 12, c / 4 : 2, c % 4 : 4], w: const f32[3, 8], y: out f32[10]) {
	for t in 0..5 {
		alloc s: f32[2] @local
		for u in 0..2 {
			block zero(vu: spatial 0..2 = u) {
				s[vu] = 0.0
			}
		}
		for k in 0..3 {
			for c in 0..8 {
				for v in 0..2 {
					block sum(vh: spatial 0..10 = t * 2 + v, vk: reduce 0..3 = k, vc: reduce 0..8 = c) where vh + vk < 11 {
						sum s[vh - t * 2] <- x[vh + vk, vc] * w[vk, vc]
					}
				}
			}
		}
		for z in 0..2 {
			block store(vh: spatial 0..10 = t * 2 + z) {
				y[vh] = s[vh - t * 2]
			}
		}
	}
}
--- cut t 1; split c.2 4; outline k k.2
! trace:3: outline k: their extents of loop c differ
===
fn f(x: in f32[12, 8] map (h, c) -> [h : 12, c / 4 : 2, c % 4 : 4], w: const f32[3, 8], y: out f32[10]) {
	for t in 0..5 {
		alloc s: f32[2] @local
		for u in 0..2 {
			block zero(vu: spatial 0..2 = u) {
				s[vu] = 0.0
			}
		}
		for k in 0..3 {
			for c in 0..8 {
				for v in 0..2 {
					block sum(vh: spatial 0..10 = t * 2 + v, vk: reduce 0..3 = k, vc: reduce 0..8 = c) where vh + vk < 11 {
						sum s[vh - t * 2] <- x[vh + vk, vc] * w[vk, vc]
					}
				}
			}
		}
		for z in 0..2 {
			block store(vh: spatial 0..10 = t * 2 + z) {
				y[vh] = s[vh - t * 2]
			}
		}
	}
}
--- cut t 1; outline u z.2
! trace:2: outline u: they differ in zero
===
fn f(x: in f32[12, 8] map (h, c) -> [h : 12, c / 4 : 2, c % 4 : 4], w: const f32[3, 8], y: out f32[10]) {
	for t in 0..5 {
		alloc s: f32[2] @local
		for u in 0..2 {
			block zero(vu: spatial 0..2 = u) {
				s[vu] = 0.0
			}
		}
		for k in 0..3 {
			for c in 0..8 {
				for v in 0..2 {
					block sum(vh: spatial 0..10 = t * 2 + v, vk: reduce 0..3 = k, vc: reduce 0..8 = c) where vh + vk < 11 {
						sum s[vh - t * 2] <- x[vh + vk, vc] * w[vk, vc]
					}
				}
			}
		}
		for z in 0..2 {
			block store(vh: spatial 0..10 = t * 2 + z) {
				y[vh] = s[vh - t * 2]
			}
		}
	}
}
--- cut t 1; outline u z
! trace:2: outline u: they differ in zero
===
fn f(x: in f32[12, 8] map (h, c) -> [h : 12, c / 4 : 2, c % 4 : 4], w: const f32[3, 8], y: out f32[10]) {
	for t in 0..5 {
		alloc s: f32[2] @local
		for u in 0..2 {
			block zero(vu: spatial 0..2 = u) {
				s[vu] = 0.0
			}
		}
		for k in 0..3 {
			for c in 0..8 {
				for v in 0..2 {
					block sum(vh: spatial 0..10 = t * 2 + v, vk: reduce 0..3 = k, vc: reduce 0..8 = c) where vh + vk < 11 {
						sum s[vh - t * 2] <- x[vh + vk, vc] * w[vk, vc]
					}
				}
			}
		}
		for z in 0..2 {
			block store(vh: spatial 0..10 = t * 2 + z) {
				y[vh] = s[vh - t * 2]
			}
		}
	}
}
--- outline k; layout s O4o
fn f(
		x: in f32[12, 8] map (h, c) -> [h : 12, c / 4 : 2, c % 4 : 4],
		w: const f32[3, 8],
		y: out f32[10]) {
	for t in 0..5 {
		alloc s: f32[2] @local map (i0) -> [i0 / 4 : 1, i0 % 4 : 4]
		for u in 0..2 {
			block zero(vu: spatial 0..2 = u) {
				s[vu] = 0.0
			}
		}
		call k.fn(x[0:12, 0:8], w[0:3, 0:8], s[0:2], t)
		for z in 0..2 {
			block store(vh: spatial 0..10 = t * 2 + z) {
				y[vh] = s[vh - t * 2]
			}
		}
	}
}

sub fn k.fn(x: in f32[12, 8], w: const f32[3, 8], s: inout f32[2] @local, t: i64) {
	for k in 0..3 {
		for c in 0..8 {
			for v in 0..2 {
				block sum(vh: spatial 0..10 = t * 2 + v, vk: reduce 0..3 = k, vc: reduce 0..8 = c) where vh + vk < 11 {
					sum s[vh - t * 2] <- x[vh + vk, vc] * w[vk, vc]
				}
			}
		}
	}
}
===
fn f(x: in f32[8], y: out f32[8], z: out f32[8], n: out f32[]) {
	for i in 0..4 {
		block a(v: spatial 0..8 = i) {
			y[v] = x[v] * 2.0
		}
	}
	for j in 0..4 {
		block b(q: spatial 0..8 = j + 4) {
			y[q] = x[q] * 2.0
		}
	}
	for k in 0..4 {
		block c(v: spatial 0..8 = k) {
			y[v] = x[v] * 3.0
		}
	}
	for l in 0..4 {
		block d(v: spatial 0..8 = l) {
			z[v] = x[v] * 2.0
		}
	}
	for m in 0..4 {
		block e(v: spatial 0..8 = m) where v < 3 {
			y[v] = x[v] * 2.0
		}
	}
	for o in 0..4 {
		for i2 in 0..8 {
			block g(v: scan 0..8 = i2) {
				n[] = x[v]
			}
		}
	}
	for p in 0..4 {
		n[] = x[p]
	}
	for r in 0..4 {
		let t: f32 = x[r]
		if r < 2 {
			y[r] = t
		}
	}
	for s in 0..4 {
		let t2: f32 = x[s + 3]
		if s < 2 {
			y[s + 1] = t2
		}
	}
}
--- outline i j
! trace:1: outline i: they differ in a
===
fn f(x: in f32[8], y: out f32[8], z: out f32[8], n: out f32[]) {
	for i in 0..4 {
		block a(v: spatial 0..8 = i) {
			y[v] = x[v] * 2.0
		}
	}
	for j in 0..4 {
		block b(q: spatial 0..8 = j + 4) {
			y[q] = x[q] * 2.0
		}
	}
	for k in 0..4 {
		block c(v: spatial 0..8 = k) {
			y[v] = x[v] * 3.0
		}
	}
	for l in 0..4 {
		block d(v: spatial 0..8 = l) {
			z[v] = x[v] * 2.0
		}
	}
	for m in 0..4 {
		block e(v: spatial 0..8 = m) where v < 3 {
			y[v] = x[v] * 2.0
		}
	}
	for o in 0..4 {
		for i2 in 0..8 {
			block g(v: scan 0..8 = i2) {
				n[] = x[v]
			}
		}
	}
	for p in 0..4 {
		n[] = x[p]
	}
	for r in 0..4 {
		let t: f32 = x[r]
		if r < 2 {
			y[r] = t
		}
	}
	for s in 0..4 {
		let t2: f32 = x[s + 3]
		if s < 2 {
			y[s + 1] = t2
		}
	}
}
--- outline i k
! trace:1: outline i: they differ in a
===
fn f(x: in f32[8], y: out f32[8], z: out f32[8], n: out f32[]) {
	for i in 0..4 {
		block a(v: spatial 0..8 = i) {
			y[v] = x[v] * 2.0
		}
	}
	for j in 0..4 {
		block b(q: spatial 0..8 = j + 4) {
			y[q] = x[q] * 2.0
		}
	}
	for k in 0..4 {
		block c(v: spatial 0..8 = k) {
			y[v] = x[v] * 3.0
		}
	}
	for l in 0..4 {
		block d(v: spatial 0..8 = l) {
			z[v] = x[v] * 2.0
		}
	}
	for m in 0..4 {
		block e(v: spatial 0..8 = m) where v < 3 {
			y[v] = x[v] * 2.0
		}
	}
	for o in 0..4 {
		for i2 in 0..8 {
			block g(v: scan 0..8 = i2) {
				n[] = x[v]
			}
		}
	}
	for p in 0..4 {
		n[] = x[p]
	}
	for r in 0..4 {
		let t: f32 = x[r]
		if r < 2 {
			y[r] = t
		}
	}
	for s in 0..4 {
		let t2: f32 = x[s + 3]
		if s < 2 {
			y[s + 1] = t2
		}
	}
}
--- outline i l
! trace:1: outline i: they differ in a
===
fn f(x: in f32[8], y: out f32[8], z: out f32[8], n: out f32[]) {
	for i in 0..4 {
		block a(v: spatial 0..8 = i) {
			y[v] = x[v] * 2.0
		}
	}
	for j in 0..4 {
		block b(q: spatial 0..8 = j + 4) {
			y[q] = x[q] * 2.0
		}
	}
	for k in 0..4 {
		block c(v: spatial 0..8 = k) {
			y[v] = x[v] * 3.0
		}
	}
	for l in 0..4 {
		block d(v: spatial 0..8 = l) {
			z[v] = x[v] * 2.0
		}
	}
	for m in 0..4 {
		block e(v: spatial 0..8 = m) where v < 3 {
			y[v] = x[v] * 2.0
		}
	}
	for o in 0..4 {
		for i2 in 0..8 {
			block g(v: scan 0..8 = i2) {
				n[] = x[v]
			}
		}
	}
	for p in 0..4 {
		n[] = x[p]
	}
	for r in 0..4 {
		let t: f32 = x[r]
		if r < 2 {
			y[r] = t
		}
	}
	for s in 0..4 {
		let t2: f32 = x[s + 3]
		if s < 2 {
			y[s + 1] = t2
		}
	}
}
--- outline i m
! trace:1: outline i: they differ in a
===
fn f(x: in f32[8], y: out f32[8], z: out f32[8], n: out f32[]) {
	for i in 0..4 {
		block a(v: spatial 0..8 = i) {
			y[v] = x[v] * 2.0
		}
	}
	for j in 0..4 {
		block b(q: spatial 0..8 = j + 4) {
			y[q] = x[q] * 2.0
		}
	}
	for k in 0..4 {
		block c(v: spatial 0..8 = k) {
			y[v] = x[v] * 3.0
		}
	}
	for l in 0..4 {
		block d(v: spatial 0..8 = l) {
			z[v] = x[v] * 2.0
		}
	}
	for m in 0..4 {
		block e(v: spatial 0..8 = m) where v < 3 {
			y[v] = x[v] * 2.0
		}
	}
	for o in 0..4 {
		for i2 in 0..8 {
			block g(v: scan 0..8 = i2) {
				n[] = x[v]
			}
		}
	}
	for p in 0..4 {
		n[] = x[p]
	}
	for r in 0..4 {
		let t: f32 = x[r]
		if r < 2 {
			y[r] = t
		}
	}
	for s in 0..4 {
		let t2: f32 = x[s + 3]
		if s < 2 {
			y[s + 1] = t2
		}
	}
}
--- outline i2
! trace:1: outline i2: block g is a recurrence
===
fn f(x: in f32[8], y: out f32[8], z: out f32[8], n: out f32[]) {
	for i in 0..4 {
		block a(v: spatial 0..8 = i) {
			y[v] = x[v] * 2.0
		}
	}
	for j in 0..4 {
		block b(q: spatial 0..8 = j + 4) {
			y[q] = x[q] * 2.0
		}
	}
	for k in 0..4 {
		block c(v: spatial 0..8 = k) {
			y[v] = x[v] * 3.0
		}
	}
	for l in 0..4 {
		block d(v: spatial 0..8 = l) {
			z[v] = x[v] * 2.0
		}
	}
	for m in 0..4 {
		block e(v: spatial 0..8 = m) where v < 3 {
			y[v] = x[v] * 2.0
		}
	}
	for o in 0..4 {
		for i2 in 0..8 {
			block g(v: scan 0..8 = i2) {
				n[] = x[v]
			}
		}
	}
	for p in 0..4 {
		n[] = x[p]
	}
	for r in 0..4 {
		let t: f32 = x[r]
		if r < 2 {
			y[r] = t
		}
	}
	for s in 0..4 {
		let t2: f32 = x[s + 3]
		if s < 2 {
			y[s + 1] = t2
		}
	}
}
--- outline p
! trace:1: outline p: buffer n has no dimensions, or an extent that is not constant
===
fn f(x: in f32[8], y: out f32[8], z: out f32[8], n: out f32[]) {
	for i in 0..4 {
		block a(v: spatial 0..8 = i) {
			y[v] = x[v] * 2.0
		}
	}
	for j in 0..4 {
		block b(q: spatial 0..8 = j + 4) {
			y[q] = x[q] * 2.0
		}
	}
	for k in 0..4 {
		block c(v: spatial 0..8 = k) {
			y[v] = x[v] * 3.0
		}
	}
	for l in 0..4 {
		block d(v: spatial 0..8 = l) {
			z[v] = x[v] * 2.0
		}
	}
	for m in 0..4 {
		block e(v: spatial 0..8 = m) where v < 3 {
			y[v] = x[v] * 2.0
		}
	}
	for o in 0..4 {
		for i2 in 0..8 {
			block g(v: scan 0..8 = i2) {
				n[] = x[v]
			}
		}
	}
	for p in 0..4 {
		n[] = x[p]
	}
	for r in 0..4 {
		let t: f32 = x[r]
		if r < 2 {
			y[r] = t
		}
	}
	for s in 0..4 {
		let t2: f32 = x[s + 3]
		if s < 2 {
			y[s + 1] = t2
		}
	}
}
--- outline r s
! trace:1: outline r: they differ in r
===
fn f(x: in f32[8], y: out f32[8], z: out f32[8], n: out f32[]) {
	for i in 0..4 {
		block a(v: spatial 0..8 = i) {
			y[v] = x[v] * 2.0
		}
	}
	for j in 0..4 {
		block b(q: spatial 0..8 = j + 4) {
			y[q] = x[q] * 2.0
		}
	}
	for k in 0..4 {
		block c(v: spatial 0..8 = k) {
			y[v] = x[v] * 3.0
		}
	}
	for l in 0..4 {
		block d(v: spatial 0..8 = l) {
			z[v] = x[v] * 2.0
		}
	}
	for m in 0..4 {
		block e(v: spatial 0..8 = m) where v < 3 {
			y[v] = x[v] * 2.0
		}
	}
	for o in 0..4 {
		for i2 in 0..8 {
			block g(v: scan 0..8 = i2) {
				n[] = x[v]
			}
		}
	}
	for p in 0..4 {
		n[] = x[p]
	}
	for r in 0..4 {
		let t: f32 = x[r]
		if r < 2 {
			y[r] = t
		}
	}
	for s in 0..4 {
		let t2: f32 = x[s + 3]
		if s < 2 {
			y[s + 1] = t2
		}
	}
}
--- outline i r
! trace:1: outline i: they differ in a
===
fn f(x: in f32[8, 8], y: out f32[16, 8], j.fn: out f32[2]) {
	for i in 0..8 {
		for a in 0..4 {
			let b: i64 = a + 1
			y[i, a] = x[b, a]
		}
		for b in 0..4 {
			let a: i64 = b + 1
			y[i + 8, b] = x[a, b]
		}
	}
	for j in 0..2 {
		j.fn[j] = x[j, j]
	}
	for e in 0..2 {
		let b: i64 = e * 3
		for g in 0..4 {
			let h: i64 = g + 1
			y[b, g] = x[h, b]
		}
	}
}

sub fn k(x: in f32[8]) {
}
--- outline a b
fn f(x: in f32[8, 8], y: out f32[16, 8], j.fn: out f32[2]) {
	for i in 0..8 {
		call a.fn(x[0:8, 0:8], y[0:16, 0:8], i)
		call a.fn(x[0:8, 0:8], y[0:16, 0:8], i + 8)
	}
	for j in 0..2 {
		j.fn[j] = x[j, j]
	}
	for e in 0..2 {
		let b: i64 = e * 3
		for g in 0..4 {
			let h: i64 = g + 1
			y[b, g] = x[h, b]
		}
	}
}

sub fn k(x: in f32[8]) {
}

sub fn a.fn(x: in f32[8, 8], y: inout f32[16, 8], a.1: i64) {
	for a in 0..4 {
		let b: i64 = a + 1
		y[a.1, a] = x[b, a]
	}
}
===
fn f(x: in f32[8, 8], y: out f32[16, 8], j.fn: out f32[2]) {
	for i in 0..8 {
		for a in 0..4 {
			let b: i64 = a + 1
			y[i, a] = x[b, a]
		}
		for b in 0..4 {
			let a: i64 = b + 1
			y[i + 8, b] = x[a, b]
		}
	}
	for j in 0..2 {
		j.fn[j] = x[j, j]
	}
	for e in 0..2 {
		let b: i64 = e * 3
		for g in 0..4 {
			let h: i64 = g + 1
			y[b, g] = x[h, b]
		}
	}
}

sub fn k(x: in f32[8]) {
}
--- outline a g
! trace:1: outline a: one of them uses b from outside, which another one declares
===
fn f(x: in f32[8, 8], y: out f32[16, 8], j.fn: out f32[2]) {
	for i in 0..8 {
		for a in 0..4 {
			let b: i64 = a + 1
			y[i, a] = x[b, a]
		}
		for b in 0..4 {
			let a: i64 = b + 1
			y[i + 8, b] = x[a, b]
		}
	}
	for j in 0..2 {
		j.fn[j] = x[j, j]
	}
	for e in 0..2 {
		let b: i64 = e * 3
		for g in 0..4 {
			let h: i64 = g + 1
			y[b, g] = x[h, b]
		}
	}
}

sub fn k(x: in f32[8]) {
}
--- outline j
fn f(x: in f32[8, 8], y: out f32[16, 8], j.fn: out f32[2]) {
	for i in 0..8 {
		for a in 0..4 {
			let b: i64 = a + 1
			y[i, a] = x[b, a]
		}
		for b in 0..4 {
			let a: i64 = b + 1
			y[i + 8, b] = x[a, b]
		}
	}
	call j.fn(x[0:8, 0:8], j.fn[0:2])
	for e in 0..2 {
		let b: i64 = e * 3
		for g in 0..4 {
			let h: i64 = g + 1
			y[b, g] = x[h, b]
		}
	}
}

sub fn k(x: in f32[8]) {
}

sub fn j.fn(x: in f32[8, 8], j.fn: inout f32[2]) {
	for j in 0..2 {
		j.fn[j] = x[j, j]
	}
}
===
fn f(x: in f32[8, 8], y: out f32[16, 8], j.fn: out f32[2]) {
	for i in 0..8 {
		for a in 0..4 {
			let b: i64 = a + 1
			y[i, a] = x[b, a]
		}
		for b in 0..4 {
			let a: i64 = b + 1
			y[i + 8, b] = x[a, b]
		}
	}
	for j in 0..2 {
		j.fn[j] = x[j, j]
	}
	for e in 0..2 {
		let b: i64 = e * 3
		for g in 0..4 {
			let h: i64 = g + 1
			y[b, g] = x[h, b]
		}
	}
}

sub fn k(x: in f32[8]) {
}
--- outline a; cut i 4; outline i.2
! trace:3: outline i.2: it contains a call of a.fn
===
fn f(x: in f32[8, 8], y: out f32[16, 8], j.fn: out f32[2]) {
	for i in 0..8 {
		for a in 0..4 {
			let b: i64 = a + 1
			y[i, a] = x[b, a]
		}
		for b in 0..4 {
			let a: i64 = b + 1
			y[i + 8, b] = x[a, b]
		}
	}
	for j in 0..2 {
		j.fn[j] = x[j, j]
	}
	for e in 0..2 {
		let b: i64 = e * 3
		for g in 0..4 {
			let h: i64 = g + 1
			y[b, g] = x[h, b]
		}
	}
}

sub fn k(x: in f32[8]) {
}
--- outline e
fn f(x: in f32[8, 8], y: out f32[16, 8], j.fn: out f32[2]) {
	for i in 0..8 {
		for a in 0..4 {
			let b: i64 = a + 1
			y[i, a] = x[b, a]
		}
		for b in 0..4 {
			let a: i64 = b + 1
			y[i + 8, b] = x[a, b]
		}
	}
	for j in 0..2 {
		j.fn[j] = x[j, j]
	}
	call e.fn(x[0:8, 0:8], y[0:16, 0:8])
}

sub fn k(x: in f32[8]) {
}

sub fn e.fn(x: in f32[8, 8], y: inout f32[16, 8]) {
	for e in 0..2 {
		let b: i64 = e * 3
		for g in 0..4 {
			let h: i64 = g + 1
			y[b, g] = x[h, b]
		}
	}
}
===
fn f[m in 1..8](x: in f32[8], y: out f32[8], z: out f32[m]) {
	for i in 0..2 {
		barrier grid
		for j in 0..4 {
			y[j] = x[j]
		}
	}
	for k in 0..2 {
		call g(x[0:8], y[0:8])
	}
	for l in 0..2 {
		atomic sum y[l] <- x[l]
	}
	for o in 0..2 {
		alloc t: f32[m] @local
		t[0] = x[o]
	}
	for p in 0..2 {
		z[0] = x[p]
	}
	for q in 0..m {
		y[q] = x[m]
	}
}

sub fn g(x: in f32[8], y: inout f32[8]) {
	for n in 0..8 {
		y[n] = x[n]
	}
}
--- outline i
! trace:1: outline i: it contains an asynchronous statement or a barrier, in f
===
fn f[m in 1..8](x: in f32[8], y: out f32[8], z: out f32[m]) {
	for i in 0..2 {
		barrier grid
		for j in 0..4 {
			y[j] = x[j]
		}
	}
	for k in 0..2 {
		call g(x[0:8], y[0:8])
	}
	for l in 0..2 {
		atomic sum y[l] <- x[l]
	}
	for o in 0..2 {
		alloc t: f32[m] @local
		t[0] = x[o]
	}
	for p in 0..2 {
		z[0] = x[p]
	}
	for q in 0..m {
		y[q] = x[m]
	}
}

sub fn g(x: in f32[8], y: inout f32[8]) {
	for n in 0..8 {
		y[n] = x[n]
	}
}
--- outline k
! trace:1: outline k: it contains a call of g
===
fn f[m in 1..8](x: in f32[8], y: out f32[8], z: out f32[m]) {
	for i in 0..2 {
		barrier grid
		for j in 0..4 {
			y[j] = x[j]
		}
	}
	for k in 0..2 {
		call g(x[0:8], y[0:8])
	}
	for l in 0..2 {
		atomic sum y[l] <- x[l]
	}
	for o in 0..2 {
		alloc t: f32[m] @local
		t[0] = x[o]
	}
	for p in 0..2 {
		z[0] = x[p]
	}
	for q in 0..m {
		y[q] = x[m]
	}
}

sub fn g(x: in f32[8], y: inout f32[8]) {
	for n in 0..8 {
		y[n] = x[n]
	}
}
--- outline l
! trace:1: outline l: the reduction into y is atomic
===
fn f[m in 1..8](x: in f32[8], y: out f32[8], z: out f32[m]) {
	for i in 0..2 {
		barrier grid
		for j in 0..4 {
			y[j] = x[j]
		}
	}
	for k in 0..2 {
		call g(x[0:8], y[0:8])
	}
	for l in 0..2 {
		atomic sum y[l] <- x[l]
	}
	for o in 0..2 {
		alloc t: f32[m] @local
		t[0] = x[o]
	}
	for p in 0..2 {
		z[0] = x[p]
	}
	for q in 0..m {
		y[q] = x[m]
	}
}

sub fn g(x: in f32[8], y: inout f32[8]) {
	for n in 0..8 {
		y[n] = x[n]
	}
}
--- outline o
! trace:1: outline o: an extent of t is not constant
===
fn f[m in 1..8](x: in f32[8], y: out f32[8], z: out f32[m]) {
	for i in 0..2 {
		barrier grid
		for j in 0..4 {
			y[j] = x[j]
		}
	}
	for k in 0..2 {
		call g(x[0:8], y[0:8])
	}
	for l in 0..2 {
		atomic sum y[l] <- x[l]
	}
	for o in 0..2 {
		alloc t: f32[m] @local
		t[0] = x[o]
	}
	for p in 0..2 {
		z[0] = x[p]
	}
	for q in 0..m {
		y[q] = x[m]
	}
}

sub fn g(x: in f32[8], y: inout f32[8]) {
	for n in 0..8 {
		y[n] = x[n]
	}
}
--- outline n
! trace:1: outline n: loop n stands in a sub Fn, or in another Fn than the others
===
fn f[m in 1..8](x: in f32[8], y: out f32[8], z: out f32[m]) {
	for i in 0..2 {
		barrier grid
		for j in 0..4 {
			y[j] = x[j]
		}
	}
	for k in 0..2 {
		call g(x[0:8], y[0:8])
	}
	for l in 0..2 {
		atomic sum y[l] <- x[l]
	}
	for o in 0..2 {
		alloc t: f32[m] @local
		t[0] = x[o]
	}
	for p in 0..2 {
		z[0] = x[p]
	}
	for q in 0..m {
		y[q] = x[m]
	}
}

sub fn g(x: in f32[8], y: inout f32[8]) {
	for n in 0..8 {
		y[n] = x[n]
	}
}
--- outline j n
! trace:1: outline j: loop n stands in a sub Fn, or in another Fn than the others
===
fn f[m in 1..8](x: in f32[8], y: out f32[8], z: out f32[m]) {
	for i in 0..2 {
		barrier grid
		for j in 0..4 {
			y[j] = x[j]
		}
	}
	for k in 0..2 {
		call g(x[0:8], y[0:8])
	}
	for l in 0..2 {
		atomic sum y[l] <- x[l]
	}
	for o in 0..2 {
		alloc t: f32[m] @local
		t[0] = x[o]
	}
	for p in 0..2 {
		z[0] = x[p]
	}
	for q in 0..m {
		y[q] = x[m]
	}
}

sub fn g(x: in f32[8], y: inout f32[8]) {
	for n in 0..8 {
		y[n] = x[n]
	}
}
--- outline p
! trace:1: outline p: buffer z has no dimensions, or an extent that is not constant
===
fn f[m in 1..8](x: in f32[8], y: out f32[8], z: out f32[m]) {
	for i in 0..2 {
		barrier grid
		for j in 0..4 {
			y[j] = x[j]
		}
	}
	for k in 0..2 {
		call g(x[0:8], y[0:8])
	}
	for l in 0..2 {
		atomic sum y[l] <- x[l]
	}
	for o in 0..2 {
		alloc t: f32[m] @local
		t[0] = x[o]
	}
	for p in 0..2 {
		z[0] = x[p]
	}
	for q in 0..m {
		y[q] = x[m]
	}
}

sub fn g(x: in f32[8], y: inout f32[8]) {
	for n in 0..8 {
		y[n] = x[n]
	}
}
--- outline q
fn f[m in 1..8](x: in f32[8], y: out f32[8], z: out f32[m]) {
	for i in 0..2 {
		barrier grid
		for j in 0..4 {
			y[j] = x[j]
		}
	}
	for k in 0..2 {
		call g(x[0:8], y[0:8])
	}
	for l in 0..2 {
		atomic sum y[l] <- x[l]
	}
	for o in 0..2 {
		alloc t: f32[m] @local
		t[0] = x[o]
	}
	for p in 0..2 {
		z[0] = x[p]
	}
	call q.fn(x[0:8], y[0:8], m)
}

sub fn g(x: in f32[8], y: inout f32[8]) {
	for n in 0..8 {
		y[n] = x[n]
	}
}

sub fn q.fn(x: in f32[8], y: inout f32[8], m: i64) {
	for q in 0..m {
		y[q] = x[m]
	}
}
===
fn f(x: in f32[12, 8] map (h, c) -> [h : 12, c / 4 : 2, c % 4 : 4], w: const f32[3, 8], y: out f32[10]) {
	for t in 0..5 {
		alloc s: f32[2] @local
		for u in 0..2 {
			block zero(vu: spatial 0..2 = u) {
				s[vu] = 0.0
			}
		}
		for k in 0..3 {
			for c in 0..8 {
				for v in 0..2 {
					block sum(vh: spatial 0..10 = t * 2 + v, vk: reduce 0..3 = k, vc: reduce 0..8 = c) where vh + vk < 11 {
						sum s[vh - t * 2] <- x[vh + vk, vc] * w[vk, vc]
					}
				}
			}
		}
		for z in 0..2 {
			block store(vh: spatial 0..10 = t * 2 + z) {
				y[vh] = s[vh - t * 2]
			}
		}
	}
}
--- split t 1; cut t.o 1; cut t.o.2 3; outline t.i t.i.2 t.i.2.2
fn f(
		x: in f32[12, 8] map (h, c) -> [h : 12, c / 4 : 2, c % 4 : 4],
		w: const f32[3, 8],
		y: out f32[10]) {
	for t.o in 0..1 {
		call t.i.fn(x[0:12, 0:8], w[0:3, 0:8], y[0:10], t.o)
	}
	for t.o.2 in 1..4 {
		call t.i.fn(x[0:12, 0:8], w[0:3, 0:8], y[0:10], t.o.2)
	}
	for t.o.2.2 in 4..5 {
		call t.i.fn(x[0:12, 0:8], w[0:3, 0:8], y[0:10], t.o.2.2)
	}
}

sub fn t.i.fn(x: in f32[12, 8], w: const f32[3, 8], y: inout f32[10], t.i.1: i64) {
	for t.i in 0..1 {
		alloc s: f32[2] @local
		for u in 0..2 {
			block zero(vu: spatial 0..2 = u) {
				s[vu] = 0.0
			}
		}
		for k in 0..3 {
			for c in 0..8 {
				for v in 0..2 {
					block sum(vh: spatial 0..10 = (t.i.1 + t.i) * 2 + v, vk: reduce 0..3 = k, vc: reduce 0..8 = c) where vh + vk < 11 {
						sum s[vh - (t.i.1 + t.i) * 2] <- x[vh + vk, vc] * w[vk, vc]
					}
				}
			}
		}
		for z in 0..2 {
			block store(vh: spatial 0..10 = (t.i.1 + t.i) * 2 + z) {
				y[vh] = s[vh - (t.i.1 + t.i) * 2]
			}
		}
	}
}
===
fn f(x: in f32[8], t: work f32[8], y: out f32[2, 4]) {
	for i in 0..4 {
		block a(vi: spatial 0..4 = i) {
			t[vi * 2] = x[vi]
		}
	}
	for k in 0..2 {
		for j in 0..4 {
			block b(vk: spatial 0..2 = k, vj: spatial 0..4 = j) {
				y[vk, vj] = t[vj * 2]
			}
		}
	}
}
--- outline k; cache_read t b k
! trace:2: cache_read t: the sub Fn may write it, so it may be incomplete
===
