fn f(x: in f32[32], y: out f32[32] map (i) -> [i / 8 : 4, i % 8 : 8]) {
	for i in 0..32 {
		block b(vi: spatial 0..32 = i) {
			y[vi] = x[vi]
		}
	}
}
--- stream y; split i 8; vectorize i.i
fn f(x: in f32[32], y: out f32[32] map (i) -> [i / 8 : 4, i % 8 : 8] streamed) {
	for i.o in 0..4 {
		for i.i in 0..8 vector {
			block b(vi: spatial 0..32 = i.o * 8 + i.i) {
				y[vi] = x[vi]
			}
		}
	}
}
===
fn f(x: in f32[4], t: out f32[4]) {
	for i in 0..4 {
		block b(vi: spatial 0..4 = i) {
			t[vi] = x[vi]
		}
	}
}

fn g(t: out f32[4]) {
	for j in 0..2 {
		block c(vj: spatial 0..2 = j) {
			t[vj] = 0.0
		}
	}
}
--- stream t
fn f(x: in f32[4], t: out f32[4] streamed) {
	for i in 0..4 {
		block b(vi: spatial 0..4 = i) {
			t[vi] = x[vi]
		}
	}
}

fn g(t: out f32[4] streamed) {
	for j in 0..2 {
		block c(vj: spatial 0..2 = j) {
			t[vj] = 0.0
		}
	}
}
===
fn f(x: in f32[4], y: out f32[4]) {
	for i in 0..4 {
		block b(vi: spatial 0..4 = i) {
			y[vi] = x[vi]
		}
	}
}
--- stream y; outline i
fn f(x: in f32[4], y: out f32[4] streamed) {
	call i.fn(x[0:4], y[0:4])
}

sub fn i.fn(x: in f32[4], y: inout f32[4]) {
	for i in 0..4 {
		block b(vi: spatial 0..4 = i) {
			y[vi] = x[vi]
		}
	}
}
===
fn f(x: in f32[4], y: out f32[4]) {
	for i in 0..4 {
		block b(vi: spatial 0..4 = i) {
			y[vi] = x[vi]
		}
	}
}
--- stream y; stream y
! trace:2: stream y: it is streamed already
===
fn f(x: in f32[4], y: out f32[4]) {
	for i in 0..4 {
		block b(vi: spatial 0..4 = i) {
			y[vi] = x[vi]
		}
	}
}
--- stream x
! trace:1: stream x: no run Fn has such an output
===
