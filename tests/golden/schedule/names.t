fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj] + w[vj]
			}
		}
	}
}
--- split j 4 as tile lane; vectorize lane; parallel i
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i in 0..4 parallel {
		for tile in 0..2 {
			for lane in 0..4 vector {
				block b(vi: spatial 0..4 = i, vj: spatial 0..6 = tile * 4 + lane) where tile * 4 + lane < 6 {
					y[vi, vj] = x[vi, vj] + w[vj]
				}
			}
		}
	}
}
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj] + w[vj]
			}
		}
	}
}
--- split j 4 peel as tile lane
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i in 0..4 {
		for tile in 0..1 {
			for lane in 0..4 {
				block b(vi: spatial 0..4 = i, vj: spatial 0..6 = tile * 4 + lane) {
					y[vi, vj] = x[vi, vj] + w[vj]
				}
			}
		}
		for j.2 in 4..6 {
			block b.2(vi: spatial 0..4 = i, vj: spatial 0..6 = j.2) {
				y[vi, vj] = x[vi, vj] + w[vj]
			}
		}
	}
}
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj] + w[vj]
			}
		}
	}
}
--- split j 4 as tile tile
! trace:1: split j: two results have the name tile
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj] + w[vj]
			}
		}
	}
}
--- split j 4 as i lane
! trace:1: split j: the name i is already in use
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj] + w[vj]
			}
		}
	}
}
--- split j 4 as vi lane
! trace:1: split j: the name vi is already in use
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj] + w[vj]
			}
		}
	}
}
--- split j 4 as b lane
! trace:1: split j: the name b is already in use
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj] + w[vj]
			}
		}
	}
}
--- split j 4 as f lane
! trace:1: split j: the name f is already in use
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj] + w[vj]
			}
		}
	}
}
--- split j 4 as w lane
! trace:1: split j: the name w is already in use
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj] + w[vj]
			}
		}
	}
}
--- fuse i j as all; split all 8
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for all.o in 0..3 {
		for all.i in 0..8 {
			block b(vi: spatial 0..4 = (all.o * 8 + all.i) / 6, vj: spatial 0..6 = (all.o * 8 + all.i) % 6) {
				y[vi, vj] = x[vi, vj] + w[vj]
			}
		}
	}
}
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj] + w[vj]
			}
		}
	}
}
--- cut j 4 as rest; unroll rest
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..4 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj] + w[vj]
			}
		}
		for rest in 4..6 unrolled {
			block b.2(vi: spatial 0..4 = i, vj: spatial 0..6 = rest) {
				y[vi, vj] = x[vi, vj] + w[vj]
			}
		}
	}
}
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj] + w[vj]
			}
		}
	}
}
--- pack w O4o as panel
fn f(
		x: in f32[4, 6],
		panel: const f32[6] map (i0) -> [i0 / 4 : 2, i0 % 4 : 4],
		y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj] + panel[vj]
			}
		}
	}
}

prepare fn pack.w(w: const f32[6], panel: out f32[6] map (i0) -> [i0 / 4 : 2, i0 % 4 : 4]) {
	for w.o in 0..6 {
		block pack.w(vw.o: spatial 0..6 = w.o) {
			panel[vw.o] = w[vw.o]
		}
	}
}
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj] + w[vj]
			}
		}
	}
}
--- cache_read x b i as row; vectorize row.1
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i in 0..4 {
		alloc row: f32[1, 6] @local
		for row.0 in 0..1 {
			for row.1 in 0..6 vector {
				block row(vrow.0: spatial 0..4 = i + row.0, vrow.1: spatial 0..6 = row.1) {
					row[vrow.0 - i, vrow.1] = x[vrow.0, vrow.1]
				}
			}
		}
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = row[vi - i, vj] + w[vj]
			}
		}
	}
}
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj] + w[vj]
			}
		}
	}
}
--- cache_read x b i as w
! trace:1: cache_read x: the name w is already in use
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj] + w[vj]
			}
		}
	}
}
--- prefetch x b i i 1 as asks; unroll asks
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i in 0..4 {
		for asks in 0..1 unrolled {
			prefetch x[i + 1, 0]
		}
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj] + w[vj]
			}
		}
	}
}
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj] + w[vj]
			}
		}
	}
}
--- reindex x b as gathered
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6], gathered: work f32[4, 6]) {
	for gathered.0 in 0..4 {
		for gathered.1 in 0..6 {
			block gathered(vgathered.0: spatial 0..4 = gathered.0, vgathered.1: spatial 0..6 = gathered.1) {
				gathered[vgathered.0, vgathered.1] = x[vgathered.0, vgathered.1]
			}
		}
	}
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = gathered[vi, vj] + w[vj]
			}
		}
	}
}
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj] + w[vj]
			}
		}
	}
}
--- cache_write b as own store; compute_at b j.w
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i.w in 0..4 {
		for j.w in 0..6 {
			alloc own: f32[1, 1] @local
			for i in 0..1 {
				for j in 0..1 {
					block b(vi: spatial 0..4 = i.w + i, vj: spatial 0..6 = j.w + j) {
						own[vi - i.w, vj - j.w] = x[vi, vj] + w[vj]
					}
				}
			}
			block store(vi.w: spatial 0..4 = i.w, vj.w: spatial 0..6 = j.w) {
				y[vi.w, vj.w] = own[vi.w - i.w, vj.w - j.w]
			}
		}
	}
}
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj] + w[vj]
			}
		}
	}
}
--- cache_write b as own store; compute_at b i.w as p q
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i.w in 0..4 {
		alloc own: f32[1, 6] @local
		for p in 0..1 {
			for q in 0..6 {
				block b(vi: spatial 0..4 = i.w + p, vj: spatial 0..6 = q) {
					own[vi - i.w, vj] = x[vi, vj] + w[vj]
				}
			}
		}
		for j.w in 0..6 {
			block store(vi.w: spatial 0..4 = i.w, vj.w: spatial 0..6 = j.w) {
				y[vi.w, vj.w] = own[vi.w - i.w, vj.w]
			}
		}
	}
}
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj] + w[vj]
			}
		}
	}
}
--- cache_write b as own store; compute_at b i.w as p
! trace:2: compute_at b: it makes 2 loops, and 1 names follow "as"
===
fn f(x: in f32[4, 6], y: out f32[4]) {
	for i in 0..4 {
		for k in 0..6 {
			block b(vi: spatial 0..4 = i, vk: reduce 0..6 = k) {
				init { y[vi] = 0.0 }
				sum y[vi] <- x[vi, vk]
			}
		}
	}
}
--- decompose_init b k as begin
fn f(x: in f32[4, 6], y: out f32[4]) {
	for i in 0..4 {
		block begin(vi: spatial 0..4 = i) {
			y[vi] = 0.0
		}
		for k in 0..6 {
			block b(vi: spatial 0..4 = i, vk: reduce 0..6 = k) {
				sum y[vi] <- x[vi, vk]
			}
		}
	}
}
===
fn f(x: in f32[4, 6], y: out f32[4]) {
	for i in 0..4 {
		for k in 0..6 {
			block b(vi: spatial 0..4 = i, vk: reduce 0..6 = k) {
				init { y[vi] = 0.0 }
				sum y[vi] <- x[vi, vk]
			}
		}
	}
}
--- split k 3 as outer inner; rfactor b inner as part
fn f(x: in f32[4, 6], y: out f32[4]) {
	for i in 0..4 {
		alloc part: f32[3] @local
		for outer in 0..2 {
			for inner in 0..3 {
				block part(vi: spatial 0..4 = i, vouter.rf: reduce 0..2 = outer, vinner.rf: spatial 0..3 = inner) {
					init {
						part[vinner.rf] = 0.0
					}
					sum part[vinner.rf] <- x[vi, vouter.rf * 3 + vinner.rf]
				}
			}
		}
		for inner.rf in 0..3 {
			block b(vi: spatial 0..4 = i, vinner.rf: reduce 0..3 = inner.rf) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- part[vinner.rf]
			}
		}
	}
}
===
fn f(x: in f32[4, 6], y: out f32[4]) {
	for i in 0..4 {
		for k in 0..6 {
			block b(vi: spatial 0..4 = i, vk: reduce 0..6 = k) {
				init { y[vi] = 0.0 }
				sum y[vi] <- x[vi, vk]
			}
		}
	}
}
--- cut i 2 as late; outline i late as body
fn f(x: in f32[4, 6], y: out f32[4]) {
	call body(y[0:4], x[0:4, 0:6], 0)
	call body(y[0:4], x[0:4, 0:6], 2)
}

sub fn body(y: inout f32[4], x: in f32[4, 6], i.1: i64) {
	for i in 0..2 {
		for k in 0..6 {
			block b(vi: spatial 0..4 = i + i.1, vk: reduce 0..6 = k) {
				init {
					y[vi] = 0.0
				}
				sum y[vi] <- x[vi, vk]
			}
		}
	}
}
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj] + w[vj]
			}
		}
	}
}
--- cache_write b as own store row column; vectorize column
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6], own: work f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				own[vi, vj] = x[vi, vj] + w[vj]
			}
		}
	}
	for row in 0..4 {
		for column in 0..6 vector {
			block store(vrow: spatial 0..4 = row, vcolumn: spatial 0..6 = column) {
				y[vrow, vcolumn] = own[vrow, vcolumn]
			}
		}
	}
}
===
fn f(x: in f32[4, 6], w: const f32[6], y: out f32[4, 6]) {
	for i in 0..4 {
		for j in 0..6 {
			block b(vi: spatial 0..4 = i, vj: spatial 0..6 = j) {
				y[vi, vj] = x[vi, vj] + w[vj]
			}
		}
	}
}
--- cache_write b as own store row
! trace:1: cache_write b: it makes 2 loops, and "as" names 1 of them
===
