fn f(x: in f32[8], y: out f32[8]) {
	for i in 0..8 {
		block b(vi: spatial 0..8 = i) {
			y[vi] = x[vi]
		}
	}
}
--- split i 4
fn f(x: in f32[8], y: out f32[8]) {
	for i.o in 0..2 {
		for i.i in 0..4 {
			block b(vi: spatial 0..8 = i.o * 4 + i.i) {
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
--- split i 4
fn f(x: in f32[7], y: out f32[7]) {
	for i.o in 0..2 {
		for i.i in 0..4 {
			block b(vi: spatial 0..7 = i.o * 4 + i.i) where i.o * 4 + i.i < 7 {
				y[vi] = x[vi]
			}
		}
	}
}
===
fn f(x: in f32[7], y: out f32[7]) {
	for i in 0..7 {
		y[i] = x[i]
	}
}
--- split i 4 guard
fn f(x: in f32[7], y: out f32[7]) {
	for i.o in 0..2 {
		for i.i in 0..4 {
			if i.o * 4 + i.i < 7 {
				y[i.o * 4 + i.i] = x[i.o * 4 + i.i]
			}
		}
	}
}
===
fn f(x: in f32[7], y: out f32[7]) {
	for i in 0..7 {
		y[i] = x[i]
	}
}
--- split i 8
! step 1: split: factor 8 of loop i, which has 7
===
fn f(x: in f32[7], y: out f32[7]) {
	for i in 0..7 {
		y[i] = x[i]
	}
}
--- split j 2
! step 1: there is no loop "j"
===
fn f(x: in f32[4, 6], y: out f32[4]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: reduce 0..6 = j) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vj]
			}
		}
	}
}
--- reorder j i
fn f(x: in f32[4, 6], y: out f32[4]) {
	for j in 0..6 {
		for i in 0..4 {
			block b(vi: spatial 0..4 = i, vj: reduce 0..6 = j) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vj]
			}
		}
	}
}
===
fn f(x: in f32[4, 6], y: out f32[4]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: reduce 0..6 = j) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vj]
			}
		}
	}
}
--- vectorize j
! step 1: vectorize j: a reduction depends on it
===
fn f(x: in f32[4, 6], y: out f32[4]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: reduce 0..6 = j) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vj]
			}
		}
	}
}
--- split i 2; reorder i.o j i.i; vectorize i.i; unroll j; parallel i.o
fn f(x: in f32[4, 6], y: out f32[4]) {
	for i.o in 0..2 parallel {
		for j in 0..6 unrolled {
			for i.i in 0..2 vector {
				block b(vi: spatial 0..4 = i.o * 2 + i.i, vj: reduce 0..6 = j) {
					init {
						y[vi] = 0.0
					}
					sum y[vi] <- x[vi, vj]
				}
			}
		}
	}
}
===
fn f(x: in f32[4], y: out f32[4]) {
	for i in 0..4 {
		y[i] = x[i]
	}
}
--- vectorize i
! step 1: vectorize i: a statement or a bound below it stands in no block
===
fn f(x: in f32[4], y: inout f32[5]) {
	for i in 0..4 {
		block b(vi: scan 0..4 = i) {
			y[vi + 1] = y[vi] + x[vi]
		}
	}
}
--- parallel i
! step 1: parallel i: a recurrence depends on it
===
fn f(x: in f32[4, 4], y: inout f32[5, 4]) {
	for i in 0..4 {
		for j in 0..4 {
			block b(vi: scan 0..4 = i, vj: spatial 0..4 = j) {
				y[vi + 1, vj] = y[vi, vj] + x[vi, vj]
			}
		}
	}
}
--- reorder j i; vectorize j
fn f(x: in f32[4, 4], y: inout f32[5, 4]) {
	for j in 0..4 vector {
		for i in 0..4 {
			block b(vi: scan 0..4 = i, vj: spatial 0..4 = j) {
				y[vi + 1, vj] = y[vi, vj] + x[vi, vj]
			}
		}
	}
}
===
fn f(x: in f32[8, 8], y: out f32[8, 8]) {
	for i in 0..8 {
		for j in 0..i {
			block b(vi: spatial 0..8 = i, vj: spatial 0..8 = j) {
				y[vi, vj] = x[vi, vj]
			}
		}
	}
}
--- reorder j i
! step 1: reorder i: there must be one block below, and nothing else
===
fn f(x: in f32[8], y: out f32[8]) {
	for i in 0..8 {
		block b(vi: spatial 0..8 = i) {
			y[vi] = x[vi]
		}
	}
}
--- unroll i; split i 2
! step 2: split i: it is not a serial loop any more
===
