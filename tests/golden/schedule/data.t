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
			block pack.w(vo: spatial 0..20 = w.o, vi: spatial 0..24 = w.i) {
				w.p[vo, vi] = w[vo, vi]
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
			block pack.w(vo: spatial 0..8 = w.o, vi: spatial 0..8 = w.i) {
				w.p[vo, vi] = w[vo, vi]
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
! trace:2: pack w.p: a prepare Fn makes it: it is packed already
===
fn f(w: const f32[8], y: out f32[8]) {
	for i in 0..8 {
		y[i] = w[i]
	}
}
--- pack w OI4o
! trace:1: pack w: its shape does not fit the layout OI4o
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
! trace:1: pack w: most of it would be padding in layout IO1024o1024i
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
! trace:1: pack w: there is already something called w.p
===
