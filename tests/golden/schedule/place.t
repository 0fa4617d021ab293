fn f(x: in f32[8, 32], y: out f32[32, 8]) {
	for i in 0..1 {
		alloc t: f32[8, 32] @local
		for j in 0..8 {
			for k in 0..32 {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for m in 0..32 {
			for n in 0..8 {
				block b(vm: spatial 0..32 = m, vn: spatial 0..8 = n) {
					y[vm, vn] = t[vn, vm]
				}
			}
		}
	}
}
--- bind i grid.x; scope t shared; gap t 2 1; bind k block.x; bind m block.x
fn f(x: in f32[8, 32], y: out f32[32, 8]) {
	for i in 0..1 bound(grid.x) {
		alloc t: f32[8, 32] @shared map (i0, i1) -> [i0 : 8, i1 : 33]
		for j in 0..8 {
			for k in 0..32 bound(block.x) {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for m in 0..32 bound(block.x) {
			for n in 0..8 {
				block b(vm: spatial 0..32 = m, vn: spatial 0..8 = n) {
					y[vm, vn] = t[vn, vm]
				}
			}
		}
	}
}
===
fn f(x: in f32[8, 32], y: out f32[32, 8]) {
	for i in 0..1 {
		alloc t: f32[8, 32] @local
		for j in 0..8 {
			for k in 0..32 {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for m in 0..32 {
			for n in 0..8 {
				block b(vm: spatial 0..32 = m, vn: spatial 0..8 = n) {
					y[vm, vn] = t[vn, vm]
				}
			}
		}
	}
}
--- scope t shared; gap t 1 2; gap t 2 4
fn f(x: in f32[8, 32], y: out f32[32, 8]) {
	for i in 0..1 {
		alloc t: f32[8, 32] @shared map (i0, i1) -> [i0 : 10, i1 : 36]
		for j in 0..8 {
			for k in 0..32 {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for m in 0..32 {
			for n in 0..8 {
				block b(vm: spatial 0..32 = m, vn: spatial 0..8 = n) {
					y[vm, vn] = t[vn, vm]
				}
			}
		}
	}
}
===
fn f(x: in f32[8, 32], y: out f32[32, 8]) {
	for i in 0..1 {
		alloc t: f32[8, 32] @local
		for j in 0..8 {
			for k in 0..32 {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for m in 0..32 {
			for n in 0..8 {
				block b(vm: spatial 0..32 = m, vn: spatial 0..8 = n) {
					y[vm, vn] = t[vn, vm]
				}
			}
		}
	}
}
--- scope t shared; swizzle t 32
fn f(x: in f32[8, 32], y: out f32[32, 8]) {
	for i in 0..1 {
		alloc t: f32[8, 32] @shared map (i0, i1) -> [i0 : 8, i1 ^ i0 % 32 : 32]
		for j in 0..8 {
			for k in 0..32 {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for m in 0..32 {
			for n in 0..8 {
				block b(vm: spatial 0..32 = m, vn: spatial 0..8 = n) {
					y[vm, vn] = t[vn, vm]
				}
			}
		}
	}
}
===
fn f(x: in f32[8, 32], y: out f32[32, 8]) {
	for i in 0..1 {
		alloc t: f32[8, 32] @local
		for j in 0..8 {
			for k in 0..32 {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for m in 0..32 {
			for n in 0..8 {
				block b(vm: spatial 0..32 = m, vn: spatial 0..8 = n) {
					y[vm, vn] = t[vn, vm]
				}
			}
		}
	}
}
--- scope t shared; swizzle t 8
fn f(x: in f32[8, 32], y: out f32[32, 8]) {
	for i in 0..1 {
		alloc t: f32[8, 32] @shared map (i0, i1) -> [i0 : 8, i1 / 8 : 4, i1 % 8 ^ i0 % 8 : 8]
		for j in 0..8 {
			for k in 0..32 {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for m in 0..32 {
			for n in 0..8 {
				block b(vm: spatial 0..32 = m, vn: spatial 0..8 = n) {
					y[vm, vn] = t[vn, vm]
				}
			}
		}
	}
}
===
fn f(x: in f32[8, 32], y: out f32[32, 8]) {
	for i in 0..1 {
		alloc t: f32[8, 32] @local
		for j in 0..8 {
			for k in 0..32 {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for m in 0..32 {
			for n in 0..8 {
				block b(vm: spatial 0..32 = m, vn: spatial 0..8 = n) {
					y[vm, vn] = t[vn, vm]
				}
			}
		}
	}
}
--- scope t shared; swizzle t 8 4
fn f(x: in f32[8, 32], y: out f32[32, 8]) {
	for i in 0..1 {
		alloc t: f32[8, 32] @shared map (i0, i1) -> [i0 : 8, i1 / 4 ^ i0 % 8 : 8, i1 % 4 : 4]
		for j in 0..8 {
			for k in 0..32 {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for m in 0..32 {
			for n in 0..8 {
				block b(vm: spatial 0..32 = m, vn: spatial 0..8 = n) {
					y[vm, vn] = t[vn, vm]
				}
			}
		}
	}
}
===
fn f(x: in f32[8, 32], y: out f32[32, 8]) {
	for i in 0..1 {
		alloc t: f32[8, 32] @local
		for j in 0..8 {
			for k in 0..32 {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for m in 0..32 {
			for n in 0..8 {
				block b(vm: spatial 0..32 = m, vn: spatial 0..8 = n) {
					y[vm, vn] = t[vn, vm]
				}
			}
		}
	}
}
--- scope t shared; swizzle t 2 4 2
fn f(x: in f32[8, 32], y: out f32[32, 8]) {
	for i in 0..1 {
		alloc t: f32[8, 32] @shared map (i0, i1) -> [i0 : 8, i1 / 8 : 4, i1 / 4 % 2 ^ i0 / 2 % 2 : 2, i1 % 4 : 4]
		for j in 0..8 {
			for k in 0..32 {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for m in 0..32 {
			for n in 0..8 {
				block b(vm: spatial 0..32 = m, vn: spatial 0..8 = n) {
					y[vm, vn] = t[vn, vm]
				}
			}
		}
	}
}
===
fn f(x: in f32[8, 32], y: out f32[32, 8]) {
	for i in 0..1 {
		alloc t: f32[8, 32] @local
		for j in 0..8 {
			for k in 0..32 {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for m in 0..32 {
			for n in 0..8 {
				block b(vm: spatial 0..32 = m, vn: spatial 0..8 = n) {
					y[vm, vn] = t[vn, vm]
				}
			}
		}
	}
}
--- scope t shared; gap t 2 4; swizzle t 4 4 2
fn f(x: in f32[8, 32], y: out f32[32, 8]) {
	for i in 0..1 {
		alloc t: f32[8, 32] @shared map (i0, i1) -> [i0 : 8, i1 / 16 : 3, i1 / 4 % 4 ^ i0 / 2 % 4 : 4, i1 % 4 : 4]
		for j in 0..8 {
			for k in 0..32 {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for m in 0..32 {
			for n in 0..8 {
				block b(vm: spatial 0..32 = m, vn: spatial 0..8 = n) {
					y[vm, vn] = t[vn, vm]
				}
			}
		}
	}
}
===
fn f(x: in f32[8, 32], y: out f32[32, 8]) {
	for i in 0..1 {
		alloc t: f32[8, 32] @local
		for j in 0..8 {
			for k in 0..32 {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for m in 0..32 {
			for n in 0..8 {
				block b(vm: spatial 0..32 = m, vn: spatial 0..8 = n) {
					y[vm, vn] = t[vn, vm]
				}
			}
		}
	}
}
--- swizzle t 8 4; gap t 1 1
fn f(x: in f32[8, 32], y: out f32[32, 8]) {
	for i in 0..1 {
		alloc t: f32[8, 32] @local map (i0, i1) -> [i0 : 9, i1 / 4 ^ i0 % 8 : 8, i1 % 4 : 4]
		for j in 0..8 {
			for k in 0..32 {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for m in 0..32 {
			for n in 0..8 {
				block b(vm: spatial 0..32 = m, vn: spatial 0..8 = n) {
					y[vm, vn] = t[vn, vm]
				}
			}
		}
	}
}
===
fn f(x: in f32[8, 32], y: out f32[32, 8]) {
	for i in 0..1 {
		alloc t: f32[8, 32] @local
		for j in 0..8 {
			for k in 0..32 {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for m in 0..32 {
			for n in 0..8 {
				block b(vm: spatial 0..32 = m, vn: spatial 0..8 = n) {
					y[vm, vn] = t[vn, vm]
				}
			}
		}
	}
}
--- gap t 3 1
! trace:1: gap t: it has 2 dimensions in memory, not 3
===
fn f(x: in f32[8, 32], y: out f32[32, 8]) {
	for i in 0..1 {
		alloc t: f32[8, 32] @local
		for j in 0..8 {
			for k in 0..32 {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for m in 0..32 {
			for n in 0..8 {
				block b(vm: spatial 0..32 = m, vn: spatial 0..8 = n) {
					y[vm, vn] = t[vn, vm]
				}
			}
		}
	}
}
--- gap t 2 33
! trace:1: gap t: a gap of 33 places is longer than dimension 2, which has 32
===
fn f(x: in f32[8, 32], y: out f32[32, 8]) {
	for i in 0..1 {
		alloc t: f32[8, 32] @local
		for j in 0..8 {
			for k in 0..32 {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for m in 0..32 {
			for n in 0..8 {
				block b(vm: spatial 0..32 = m, vn: spatial 0..8 = n) {
					y[vm, vn] = t[vn, vm]
				}
			}
		}
	}
}
--- gap t 1 8; gap t 2 1
! trace:2: gap t: more than half of its places would have no elements
===
fn f(x: in f32[8, 32], y: out f32[32, 8]) {
	for i in 0..1 {
		alloc t: f32[8, 32] @local
		for j in 0..8 {
			for k in 0..32 {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for m in 0..32 {
			for n in 0..8 {
				block b(vm: spatial 0..32 = m, vn: spatial 0..8 = n) {
					y[vm, vn] = t[vn, vm]
				}
			}
		}
	}
}
--- gap x 1 1
! trace:1: gap x: no run Fn declares such a buffer
===
fn f(x: in f32[8, 32], y: out f32[32, 8]) {
	for i in 0..1 {
		alloc t: f32[8, 32] @local
		for j in 0..8 {
			for k in 0..32 {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for m in 0..32 {
			for n in 0..8 {
				block b(vm: spatial 0..32 = m, vn: spatial 0..8 = n) {
					y[vm, vn] = t[vn, vm]
				}
			}
		}
	}
}
--- swizzle t 3
! trace:1: swizzle t: the number of groups must be a power of two from 2 to 64
===
fn f(x: in f32[8, 32], y: out f32[32, 8]) {
	for i in 0..1 {
		alloc t: f32[8, 32] @local
		for j in 0..8 {
			for k in 0..32 {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for m in 0..32 {
			for n in 0..8 {
				block b(vm: spatial 0..32 = m, vn: spatial 0..8 = n) {
					y[vm, vn] = t[vn, vm]
				}
			}
		}
	}
}
--- swizzle t 128
! trace:1: swizzle t: the number of groups must be a power of two from 2 to 64
===
fn f(x: in f32[8, 32], y: out f32[32, 8]) {
	for i in 0..1 {
		alloc t: f32[8, 32] @local
		for j in 0..8 {
			for k in 0..32 {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for m in 0..32 {
			for n in 0..8 {
				block b(vm: spatial 0..32 = m, vn: spatial 0..8 = n) {
					y[vm, vn] = t[vn, vm]
				}
			}
		}
	}
}
--- swizzle t 1
! trace:1: swizzle t: the number of groups must be a power of two from 2 to 64
===
fn f(x: in f32[8, 32], y: out f32[32, 8]) {
	for i in 0..1 {
		alloc t: f32[8, 32] @local
		for j in 0..8 {
			for k in 0..32 {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for m in 0..32 {
			for n in 0..8 {
				block b(vm: spatial 0..32 = m, vn: spatial 0..8 = n) {
					y[vm, vn] = t[vn, vm]
				}
			}
		}
	}
}
--- swizzle t 16 4
! trace:1: swizzle t: a row of 32 has less than 16 groups of 4
===
fn f(x: in f32[8, 32], y: out f32[32, 8]) {
	for i in 0..1 {
		alloc t: f32[8, 32] @local
		for j in 0..8 {
			for k in 0..32 {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for m in 0..32 {
			for n in 0..8 {
				block b(vm: spatial 0..32 = m, vn: spatial 0..8 = n) {
					y[vm, vn] = t[vn, vm]
				}
			}
		}
	}
}
--- swizzle y 2
! trace:1: swizzle y: no run Fn declares such a buffer
===
fn f(x: in f32[8, 32], y: out f32[8, 32]) {
	for i in 0..1 {
		alloc t: f32[8, 32] @local
		for j in 0..8 {
			for k in 0..32 {
				block a(vj: spatial 0..8 = j, vk: spatial 0..32 = k) {
					t[vj, vk] = x[vj, vk]
				}
			}
		}
		for n in 0..8 {
			for m in 0..32 {
				block b(vn: spatial 0..8 = n, vm: spatial 0..32 = m) {
					y[vn, vm] = t[vn, vm]
				}
			}
		}
	}
}
--- bind i grid.x; scope t shared; bind k block.x; bind m block.x; scope t local; gap t 1 1
! trace:6: gap t: several of its elements lie in one place
===
fn f(x: in f32[8], y: out f32[8]) {
	alloc t: f32[8] @local
	for j in 0..8 {
		block a(vj: spatial 0..8 = j) {
			t[vj] = x[vj]
		}
	}
	for m in 0..8 {
		block b(vm: spatial 0..8 = m) {
			y[vm] = t[vm]
		}
	}
}
--- swizzle t 2
! trace:1: swizzle t: it has no rows, or too many dimensions
===
