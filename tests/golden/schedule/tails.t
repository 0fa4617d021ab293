fn f(x: in f32[7], y: out f32[7]) {
	for i in 0..7 {
		block b(vi: spatial 0..7 = i) {
			y[vi] = x[vi]
		}
	}
}
--- split i 4 peel
fn f(x: in f32[7], y: out f32[7]) {
	for i.o in 0..1 {
		for i.i in 0..4 {
			block b(vi: spatial 0..7 = i.o * 4 + i.i) {
				y[vi] = x[vi]
			}
		}
	}
	for i.2 in 4..7 {
		block b.2(vi: spatial 0..7 = i.2) {
			y[vi] = x[vi]
		}
	}
}
===
fn f(x: in f32[7], y: out f32[7]) {
	for i in 0..7 {
		block b(vi: spatial 0..7 = i) {
			y[vi] = x[vi]
		}
	}
}
--- split i 4 overlap; unroll i.o; vectorize i.i
fn f(x: in f32[7], y: out f32[7]) {
	for i.o in 0..2 unrolled {
		for i.i in 0..4 vector {
			block b(vi: spatial 0..7 = min(i.o * 4, 3) + i.i) {
				y[vi] = x[vi]
			}
		}
	}
}
===
fn f(x: in f32[9], y: out f32[9]) {
	for i in 2..9 {
		block b(vi: spatial 0..9 = i) {
			y[vi] = x[vi]
		}
	}
}
--- split i 3 peel; split i.2 1
fn f(x: in f32[9], y: out f32[9]) {
	for i.o in 0..2 {
		for i.i in 0..3 {
			block b(vi: spatial 0..9 = 2 + (i.o * 3 + i.i)) {
				y[vi] = x[vi]
			}
		}
	}
	for i.2.o in 0..1 {
		for i.2.i in 0..1 {
			block b.2(vi: spatial 0..9 = 8 + (i.2.o + i.2.i)) {
				y[vi] = x[vi]
			}
		}
	}
}
===
fn f(x: in f32[9], y: out f32[9]) {
	for i in 2..9 {
		block b(vi: spatial 0..9 = i) {
			y[vi] = x[vi]
		}
	}
}
--- split i 3 overlap
fn f(x: in f32[9], y: out f32[9]) {
	for i.o in 0..3 {
		for i.i in 0..3 {
			block b(vi: spatial 0..9 = 2 + (min(i.o * 3, 4) + i.i)) {
				y[vi] = x[vi]
			}
		}
	}
}
===
fn f(x: in f32[7], y: out f32[7]) {
	for i in 0..7 {
		block b(vi: spatial 0..7 = i) {
			y[vi] = x[vi]
		}
	}
}
--- split i 4 pad
! trace:1: split i: the tail of a split is "guard", "peel" or "overlap"
===
fn f(x: in f32[7, 5], w: in f32[5], y: out f32[7]) {
	for i in 0..7 {
		for k in 0..5 {
			block b(vi: spatial 0..7 = i, vk: reduce 0..5 = k) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vk] * w[vk]
			}
		}
	}
}
--- split k 2 peel; split i 3 peel
fn f(x: in f32[7, 5], w: in f32[5], y: out f32[7]) {
	for i.o in 0..2 {
		for i.i in 0..3 {
			for k.o in 0..2 {
				for k.i in 0..2 {
					block b(vi: spatial 0..7 = i.o * 3 + i.i, vk: reduce 0..5 = k.o * 2 + k.i) {
						init {
							y[vi] = 0.0
						}
						sum y[vi] <- x[vi, vk] * w[vk]
					}
				}
			}
			for k.2 in 4..5 {
				block b.2(vi: spatial 0..7 = i.o * 3 + i.i, vk: reduce 0..5 = k.2) {
					sum y[vi] <- x[vi, vk] * w[vk]
				}
			}
		}
	}
	for i.3 in 6..7 {
		for k.o.3 in 0..2 {
			for k.i.3 in 0..2 {
				block b.3(vi: spatial 0..7 = i.3, vk: reduce 0..5 = k.o.3 * 2 + k.i.3) {
					init {
						y[vi] = 0.0
					}
					sum y[vi] <- x[vi, vk] * w[vk]
				}
			}
		}
		for k.2.3 in 4..5 {
			block b.2.3(vi: spatial 0..7 = i.3, vk: reduce 0..5 = k.2.3) {
				sum y[vi] <- x[vi, vk] * w[vk]
			}
		}
	}
}
===
fn f(x: in f32[7, 5], w: in f32[5], t: work f32[7], y: out f32[7]) {
	for i in 0..7 {
		for k in 0..5 {
			block a(vi: spatial 0..7 = i, vk: reduce 0..5 = k) {
				init {
					t[vi] = 0.0
				}
				sum t[vi] <- x[vi, vk] * w[vk]
			}
		}
	}
	for j in 0..7 {
		block b(vj: spatial 0..7 = j) {
			y[vj] = max(t[vj], 0.0)
		}
	}
}
--- split j 3 overlap; compute_at a j.o; vectorize j.i
fn f(x: in f32[7, 5], w: in f32[5], y: out f32[7]) {
	for j.o in 0..3 {
		alloc t: f32[3] @local
		for i in 0..3 {
			for k in 0..5 {
				block a(vi: spatial 0..7 = min(j.o * 3, 4) + i, vk: reduce 0..5 = k) {
					init {
						t[vi - min(j.o * 3, 4)] = 0.0
					}
					sum t[vi - min(j.o * 3, 4)] <- x[vi, vk] * w[vk]
				}
			}
		}
		for j.i in 0..3 vector {
			block b(vj: spatial 0..7 = min(j.o * 3, 4) + j.i) {
				y[vj] = max(t[vj - min(j.o * 3, 4)], 0.0)
			}
		}
	}
}
===
fn f(x: in f32[7, 5], w: in f32[5], t: work f32[7], y: out f32[7]) {
	for i in 0..7 {
		for k in 0..5 {
			block a(vi: spatial 0..7 = i, vk: reduce 0..5 = k) {
				init {
					t[vi] = 0.0
				}
				sum t[vi] <- x[vi, vk] * w[vk]
			}
		}
	}
	for j in 0..7 {
		block b(vj: spatial 0..7 = j) {
			y[vj] = max(t[vj], 0.0)
		}
	}
}
--- split j 3 peel; compute_at a j.o
! trace:2: compute_at a: t is also read outside that loop
===
fn f(x: in f32[7, 5], w: in f32[5], y: out f32[7]) {
	for i in 0..7 {
		for k in 0..5 {
			block b(vi: spatial 0..7 = i, vk: reduce 0..5 = k) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vk] * w[vk]
			}
		}
	}
}
--- split i 3 overlap; reorder k i.i; decompose_init b k; vectorize i.i
fn f(x: in f32[7, 5], w: in f32[5], y: out f32[7]) {
	for i.o in 0..3 {
		for i.i.init in 0..3 {
			block b.init(vi: spatial 0..7 = i.i.init + min(i.o * 3, 4)) {
				y[vi] = 0.0
			}
		}
		for k in 0..5 {
			for i.i in 0..3 vector {
				block b(vi: spatial 0..7 = min(i.o * 3, 4) + i.i, vk: reduce 0..5 = k) {
					sum y[vi] <- x[vi, vk] * w[vk]
				}
			}
		}
	}
}
===
fn f(x: in f32[4, 7], y: out f32[4, 7]) {
	for i in 0..4 {
		for j in 0..7 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..7 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- split j 3 overlap; reorder j.o i j.i; parallel i
fn f(x: in f32[4, 7], y: out f32[4, 7]) {
	for j.o in 0..3 {
		for i in 0..4 parallel {
			for j.i in 0..3 {
				block b(vi: spatial 0..4 = i, vj: spatial 0..7 = min(j.o * 3, 4) + j.i) {
					y[vi, vj] = x[vi, vj]
				}
			}
		}
	}
}
===
fn f(x: in f32[7], y: out f32[7]) {
	for i in 0..7 {
		block b(vi: spatial 0..7 = i) {
			y[vi] = x[vi]
		}
	}
}
--- split i 7 peel
! trace:1: split i: the factor divides the extent, so tail "peel" has nothing to do
===
fn f(x: in f32[7], y: out f32[7]) {
	for i in 0..7 {
		block b(vi: spatial 0..7 = i) {
			y[vi] = x[vi]
		}
	}
}
--- split i 1 overlap
! trace:1: split i: the factor divides the extent, so tail "overlap" has nothing to do
===
fn f[M in 5..9](x: in f32[M], y: out f32[M]) {
	for i in 0..M {
		block b(vi: spatial 0..M = i) {
			y[vi] = x[vi]
		}
	}
}
--- split i 4 peel
! trace:1: split i: its extent is not constant, as tail "peel" requires
===
fn f[M in 5..9](x: in f32[M], y: out f32[M]) {
	for i in 0..M {
		block b(vi: spatial 0..M = i) {
			y[vi] = x[vi]
		}
	}
}
--- split i 4 overlap
! trace:1: split i: its extent is not constant, as tail "overlap" requires
===
fn f(x: in f32[7], y: out f32[7]) {
	for i in 0..7 {
		block b(vi: spatial 0..7 = i) {
			y[vi] = x[vi]
		}
	}
}
--- unroll i; split i 4 peel
! trace:2: split i: it is no longer a serial loop
===
fn f(x: in f32[7], y: out f32[7]) {
	for i in 0..7 {
		block b(vi: spatial 0..7 = i) {
			y[vi] = x[vi]
		}
	}
}
--- split i 4 overlap; parallel i.o
! trace:2: parallel i.o: tiles of a block below it overlap
===
fn f(x: in f32[7], y: out f32[7]) {
	for i in 0..7 {
		block b(vi: spatial 0..7 = i) {
			y[vi] = x[vi]
		}
	}
}
--- split i 4 overlap; vectorize i.o
! trace:2: vectorize i.o: tiles of a block below it overlap
===
fn f(x: in f32[4, 7], y: out f32[4, 7]) {
	for i in 0..4 {
		for j in 0..7 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..7 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- split j 3 overlap; fuse i j.o; parallel i_j.o
! trace:3: parallel i_j.o: tiles of a block below it overlap
===
fn f(x: in f32[7], y: out f32[7]) {
	for i in 0..7 {
		block b(vi: spatial 0..7 = i) {
			y[vi] = x[vi]
		}
	}
}
--- split i 4 overlap; reorder i.i i.o
! trace:2: reorder i.o: its tiles overlap, so it must stay around loop i.i
===
fn f(x: in f32[7, 5], w: in f32[5], y: out f32[7]) {
	for i in 0..7 {
		for k in 0..5 {
			block b(vi: spatial 0..7 = i, vk: reduce 0..5 = k) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vk] * w[vk]
			}
		}
	}
}
--- split i 3 overlap; reorder i.i k; reorder k i.o
! trace:3: reorder i.o: its tiles overlap, so it must stay around loop k
===
fn f(x: in f32[7, 5], w: in f32[5], y: out f32[7]) {
	for i in 0..7 {
		for k in 0..5 {
			block b(vi: spatial 0..7 = i, vk: reduce 0..5 = k) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vk] * w[vk]
			}
		}
	}
}
--- split i 3 overlap; decompose_init b i.o
! trace:2: decompose_init b: tiles of loop i.o overlap
===
fn f(x: in f32[7, 5], w: in f32[5], y: out f32[7]) {
	for i in 0..7 {
		for k in 0..5 {
			block b(vi: spatial 0..7 = i, vk: reduce 0..5 = k) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vk] * w[vk]
			}
		}
	}
}
--- split k 2 overlap
! trace:1: split k: its tiles may not overlap: a reduction depends on it
===
fn f(x: in f32[7, 5], w: in f32[5], y: out f32[7]) {
	for k in 0..5 {
		for i in 0..7 {
			block b(vi: spatial 0..7 = i, vk: reduce 0..5 = k) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vk] * w[vk]
			}
		}
	}
}
--- split i 3 overlap
! trace:1: split i: its tiles may not overlap: an iteration does not contain the whole reduction of block b
===
fn f(x: in f32[7, 5], y: inout f32[7]) {
	for i in 0..7 {
		for k in 0..5 {
			block b(vi: spatial 0..7 = i, vk: reduce 0..5 = k) {
				sum y[vi] <- x[vi, vk]
			}
		}
	}
}
--- split i 3 overlap
! trace:1: split i: its tiles may not overlap: an iteration does not contain the whole reduction of block b
===
fn f(x: in f32[7, 5], w: in f32[5], y: out f32[7]) {
	for i in 0..7 {
		for k in 0..5 {
			block b(vi: spatial 0..7 = i, vk: reduce 0..5 = k) {
				init {
					y[6 - vi] = 0.0
				}
				sum y[vi] <- x[vi, vk] * w[vk]
			}
		}
	}
}
--- split i 3 overlap
! trace:1: split i: its tiles may not overlap: an iteration does not contain the whole reduction of block b
===
fn f(x: in f32[7, 5], w: in f32[5], y: out f32[7]) {
	for i in 0..7 {
		for k in 1..5 {
			block b(vi: spatial 0..7 = i, vk: reduce 0..5 = k) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vk] * w[vk]
			}
		}
	}
}
--- split i 3 overlap
! trace:1: split i: its tiles may not overlap: an iteration does not contain the whole reduction of block b
===
fn f(x: in f32[7, 5], w: in f32[5], y: out f32[7]) {
	for i in 0..7 {
		for k in 0..5 {
			block b(vi: spatial 0..7 = i, vk: reduce 0..5 = k) where k < 3 {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vk] * w[vk]
			}
		}
	}
}
--- split i 3 overlap
! trace:1: split i: its tiles may not overlap: an iteration does not contain the whole reduction of block b
===
fn f(y: inout f32[7]) {
	for i in 0..7 {
		block b(vi: spatial 0..7 = i) {
			y[vi] = y[vi] + 1.0
		}
	}
}
--- split i 3 overlap
! trace:1: split i: its tiles may not overlap: the loop also reads y
===
fn f(y: out f32[7]) {
	for i in 0..7 {
		y[i] = 1.0
	}
}
--- split i 3 overlap
! trace:1: split i: its tiles may not overlap: a statement below it stands in no block
===
fn f(y: out f32[7]) {
	for i in 0..7 {
		y[i] = 1.0
	}
}
--- split i 3 peel
fn f(y: out f32[7]) {
	for i.o in 0..2 {
		for i.i in 0..3 {
			y[i.o * 3 + i.i] = 1.0
		}
	}
	for i.2 in 6..7 {
		y[i.2] = 1.0
	}
}
===
fn f(y: inout f32[7]) {
	for i in 0..7 {
		block b(vi: spatial 0..7 = i) {
			atomic sum y[vi] <- 1.0
		}
	}
}
--- split i 3 overlap
! trace:1: split i: its tiles may not overlap: the loop also reads y
===
fn f(h: inout f32[8, 3]) {
	for a in 0..3 {
		for i in 0..7 {
			block b(vs: scan 0..7 = i, va: spatial 0..3 = a) {
				h[vs + 1, va] = h[vs, va] + 1.0
			}
		}
	}
}
--- split i 3 overlap
! trace:1: split i: its tiles may not overlap: a recurrence depends on it
===
fn f(h: inout f32[8, 3]) {
	for a in 0..3 {
		for i in 0..7 {
			block b(vs: scan 0..7 = i, va: spatial 0..3 = a) {
				h[vs + 1, va] = h[vs, va] + 1.0
			}
		}
	}
}
--- split a 2 overlap
! trace:1: split a: its tiles may not overlap: block b is a recurrence
===
fn f(h: inout f32[8, 3]) {
	for a in 0..3 {
		for i in 0..7 {
			block b(vs: scan 0..7 = i, va: spatial 0..3 = a) {
				h[vs + 1, va] = h[vs, va] + 1.0
			}
		}
	}
}
--- split i 3 peel
fn f(h: inout f32[8, 3]) {
	for a in 0..3 {
		for i.o in 0..2 {
			for i.i in 0..3 {
				block b(vs: scan 0..7 = i.o * 3 + i.i, va: spatial 0..3 = a) {
					h[vs + 1, va] = h[vs, va] + 1.0
				}
			}
		}
		for i.2 in 6..7 {
			block b.2(vs: scan 0..7 = i.2, va: spatial 0..3 = a) {
				h[vs + 1, va] = h[vs, va] + 1.0
			}
		}
	}
}
===
fn f(x: in f32[7], t: work f32[7], y: out f32[7]) {
	for i in 0..7 {
		block a(ai: spatial 0..7 = i) {
			t[ai] = x[ai] * 2.0
		}
		block b(bi: spatial 0..7 = i) {
			y[bi] = t[bi]
		}
	}
}
--- split i 3 overlap
! trace:1: split i: its tiles may not overlap: the loop also reads t
===
fn f(x: in f32[7], t: work f32[7], y: inout f32[7]) {
	for i in 0..7 {
		block a(vi: spatial 0..7 = i) {
			t[vi] = x[vi]
		}
	}
	for j in 0..7 {
		block b(vj: spatial 0..7 = j) {
			y[vj] = y[vj] + t[vj]
		}
	}
}
--- split i 3 overlap; absorb a b
! trace:2: absorb b: it reads y, which it writes
===
