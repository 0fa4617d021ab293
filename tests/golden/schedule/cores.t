fn mm(a: in f16[32, 16], b: in f16[16, 8], c: out f32[32, 8]) {
	for g in 0..1 bound(grid.x) {
		alloc s: f32[32, 8] @shared
		for w in 0..2 bound(block.y) {
			for i in 0..16 {
				for j in 0..8 {
					block zero(vi: spatial 0..32 = w * 16 + i, vj: spatial 0..8 = j) {
						s[vi, vj] = 0.0
					}
				}
			}
		}
		for w_1 in 0..2 bound(block.y) {
			alloc af: f16[16, 16] @local
			for p in 0..16 {
				for q in 0..16 {
					block af(vp: spatial 0..16 = p, vq: spatial 0..16 = q) {
						af[vp, vq] = a[w_1 * 16 + vp, vq]
					}
				}
			}
			alloc bf: f16[16, 8] @local
			for r in 0..16 {
				for t in 0..8 {
					block bf(vr: spatial 0..16 = r, vt: spatial 0..8 = t) {
						bf[vr, vt] = b[vr, vt]
					}
				}
			}
			for i_1 in 0..16 {
				for j_1 in 0..8 {
					for k in 0..16 {
						block mm(vi: spatial 0..32 = w_1 * 16 + i_1, vj: spatial 0..8 = j_1, vk: reduce 0..16 = k) {
							sum s[vi, vj] <- f32(af[vi - w_1 * 16, vk]) * f32(bf[vk, vj])
						}
					}
				}
			}
		}
		for w_2 in 0..2 bound(block.y) {
			for i_2 in 0..16 {
				for j_2 in 0..8 {
					block store(vi: spatial 0..32 = w_2 * 16 + i_2, vj: spatial 0..8 = j_2) {
						c[vi, vj] = s[vi, vj]
					}
				}
			}
		}
	}
}
--- a100; scope s fragment; scope af fragment; scope bf fragment
fn mm(a: in f16[32, 16], b: in f16[16, 8], c: out f32[32, 8]) {
	for g in 0..1 bound(grid.x) {
		alloc s: f32[32, 8] @fragment map (i0, i1) -> [i0 % 16 : 16, i1 : 8]
		for w in 0..2 bound(block.y) {
			for i in 0..16 {
				for j in 0..8 {
					block zero(vi: spatial 0..32 = w * 16 + i, vj: spatial 0..8 = j) {
						s[vi, vj] = 0.0
					}
				}
			}
		}
		for w_1 in 0..2 bound(block.y) {
			alloc af: f16[16, 16] @fragment
			for p in 0..16 {
				for q in 0..16 {
					block af(vp: spatial 0..16 = p, vq: spatial 0..16 = q) {
						af[vp, vq] = a[w_1 * 16 + vp, vq]
					}
				}
			}
			alloc bf: f16[16, 8] @fragment
			for r in 0..16 {
				for t in 0..8 {
					block bf(vr: spatial 0..16 = r, vt: spatial 0..8 = t) {
						bf[vr, vt] = b[vr, vt]
					}
				}
			}
			for i_1 in 0..16 {
				for j_1 in 0..8 {
					for k in 0..16 {
						block mm(vi: spatial 0..32 = w_1 * 16 + i_1, vj: spatial 0..8 = j_1, vk: reduce 0..16 = k) {
							sum s[vi, vj] <- f32(af[vi - w_1 * 16, vk]) * f32(bf[vk, vj])
						}
					}
				}
			}
		}
		for w_2 in 0..2 bound(block.y) {
			for i_2 in 0..16 {
				for j_2 in 0..8 {
					block store(vi: spatial 0..32 = w_2 * 16 + i_2, vj: spatial 0..8 = j_2) {
						c[vi, vj] = s[vi, vj]
					}
				}
			}
		}
	}
}
===
fn mm(a: in f16[32, 16], b: in f16[16, 8], c: out f32[32, 8]) {
	for g in 0..1 bound(grid.x) {
		alloc s: f32[32, 8] @shared
		for w in 0..2 bound(block.y) {
			for i in 0..16 {
				for j in 0..8 {
					block zero(vi: spatial 0..32 = w * 16 + i, vj: spatial 0..8 = j) {
						s[vi, vj] = 0.0
					}
				}
			}
		}
		for w_1 in 0..2 bound(block.y) {
			alloc af: f16[16, 16] @local
			for p in 0..16 {
				for q in 0..16 {
					block af(vp: spatial 0..16 = p, vq: spatial 0..16 = q) {
						af[vp, vq] = a[w_1 * 16 + vp, vq]
					}
				}
			}
			alloc bf: f16[16, 8] @local
			for r in 0..16 {
				for t in 0..8 {
					block bf(vr: spatial 0..16 = r, vt: spatial 0..8 = t) {
						bf[vr, vt] = b[vr, vt]
					}
				}
			}
			for i_1 in 0..16 {
				for j_1 in 0..8 {
					for k in 0..16 {
						block mm(vi: spatial 0..32 = w_1 * 16 + i_1, vj: spatial 0..8 = j_1, vk: reduce 0..16 = k) {
							sum s[vi, vj] <- f32(af[vi - w_1 * 16, vk]) * f32(bf[vk, vj])
						}
					}
				}
			}
		}
		for w_2 in 0..2 bound(block.y) {
			for i_2 in 0..16 {
				for j_2 in 0..8 {
					block store(vi: spatial 0..32 = w_2 * 16 + i_2, vj: spatial 0..8 = j_2) {
						c[vi, vj] = s[vi, vj]
					}
				}
			}
		}
	}
}
--- a100; scope s fragment; scope af fragment; scope bf fragment; tensorize i_1 mma_m16n8k16_f16
fn mm(a: in f16[32, 16], b: in f16[16, 8], c: out f32[32, 8]) {
	for g in 0..1 bound(grid.x) {
		alloc s: f32[32, 8] @fragment map (i0, i1) -> [i0 % 16 : 16, i1 : 8]
		for w in 0..2 bound(block.y) {
			for i in 0..16 {
				for j in 0..8 {
					block zero(vi: spatial 0..32 = w * 16 + i, vj: spatial 0..8 = j) {
						s[vi, vj] = 0.0
					}
				}
			}
		}
		for w_1 in 0..2 bound(block.y) {
			alloc af: f16[16, 16] @fragment
			for p in 0..16 {
				for q in 0..16 {
					block af(vp: spatial 0..16 = p, vq: spatial 0..16 = q) {
						af[vp, vq] = a[w_1 * 16 + vp, vq]
					}
				}
			}
			alloc bf: f16[16, 8] @fragment
			for r in 0..16 {
				for t in 0..8 {
					block bf(vr: spatial 0..16 = r, vt: spatial 0..8 = t) {
						bf[vr, vt] = b[vr, vt]
					}
				}
			}
			block mm(vw_1: spatial 0..2 = w_1) {
				intrin mma_m16n8k16_f16(s[vw_1 * 16:16, 0:8], af[0:16, 0:16], bf[0:16, 0:8])
			}
		}
		for w_2 in 0..2 bound(block.y) {
			for i_2 in 0..16 {
				for j_2 in 0..8 {
					block store(vi: spatial 0..32 = w_2 * 16 + i_2, vj: spatial 0..8 = j_2) {
						c[vi, vj] = s[vi, vj]
					}
				}
			}
		}
	}
}
===
fn mm(a: in f16[32, 16], b: in f16[16, 8], c: out f32[32, 8]) {
	for g in 0..1 bound(grid.x) {
		alloc s: f32[32, 8] @shared
		for w in 0..2 bound(block.y) {
			for i in 0..16 {
				for j in 0..8 {
					block zero(vi: spatial 0..32 = w * 16 + i, vj: spatial 0..8 = j) {
						s[vi, vj] = 0.0
					}
				}
			}
		}
		for w_1 in 0..2 bound(block.y) {
			alloc af: f16[16, 16] @local
			for p in 0..16 {
				for q in 0..16 {
					block af(vp: spatial 0..16 = p, vq: spatial 0..16 = q) {
						af[vp, vq] = a[w_1 * 16 + vp, vq]
					}
				}
			}
			alloc bf: f16[16, 8] @local
			for r in 0..16 {
				for t in 0..8 {
					block bf(vr: spatial 0..16 = r, vt: spatial 0..8 = t) {
						bf[vr, vt] = b[vr, vt]
					}
				}
			}
			for i_1 in 0..16 {
				for j_1 in 0..8 {
					for k in 0..16 {
						block mm(vi: spatial 0..32 = w_1 * 16 + i_1, vj: spatial 0..8 = j_1, vk: reduce 0..16 = k) {
							sum s[vi, vj] <- f32(af[vi - w_1 * 16, vk]) * f32(bf[vk, vj])
						}
					}
				}
			}
		}
		for w_2 in 0..2 bound(block.y) {
			for i_2 in 0..16 {
				for j_2 in 0..8 {
					block store(vi: spatial 0..32 = w_2 * 16 + i_2, vj: spatial 0..8 = j_2) {
						c[vi, vj] = s[vi, vj]
					}
				}
			}
		}
	}
}
--- t4; scope s fragment; scope af fragment; scope bf fragment; tensorize i_1 mma_m16n8k16_f16
! trace:4: tensorize i_1: the target lacks feature sm_80, which the instruction requires
===
fn mm(a: in f16[32, 16], b: in f16[16, 8], c: out f32[32, 8]) {
	for g in 0..1 bound(grid.x) {
		alloc s: f32[32, 8] @shared
		for w in 0..2 bound(block.y) {
			for i in 0..16 {
				for j in 0..8 {
					block zero(vi: spatial 0..32 = w * 16 + i, vj: spatial 0..8 = j) {
						s[vi, vj] = 0.0
					}
				}
			}
		}
		for w_1 in 0..2 bound(block.y) {
			alloc af: f16[16, 16] @local
			for p in 0..16 {
				for q in 0..16 {
					block af(vp: spatial 0..16 = p, vq: spatial 0..16 = q) {
						af[vp, vq] = a[w_1 * 16 + vp, vq]
					}
				}
			}
			alloc bf: f16[16, 8] @local
			for r in 0..16 {
				for t in 0..8 {
					block bf(vr: spatial 0..16 = r, vt: spatial 0..8 = t) {
						bf[vr, vt] = b[vr, vt]
					}
				}
			}
			for i_1 in 0..16 {
				for j_1 in 0..8 {
					for k in 0..16 {
						block mm(vi: spatial 0..32 = w_1 * 16 + i_1, vj: spatial 0..8 = j_1, vk: reduce 0..16 = k) {
							sum s[vi, vj] <- f32(af[vi - w_1 * 16, vk]) * f32(bf[vk, vj])
						}
					}
				}
			}
		}
		for w_2 in 0..2 bound(block.y) {
			for i_2 in 0..16 {
				for j_2 in 0..8 {
					block store(vi: spatial 0..32 = w_2 * 16 + i_2, vj: spatial 0..8 = j_2) {
						c[vi, vj] = s[vi, vj]
					}
				}
			}
		}
	}
}
--- a100; scope s fragment; scope af fragment; scope bf fragment; tensorize i_1 mma_m16n8k16_bf16
! trace:4: tensorize i_1: the statement in its loops is not that of mma_m16n8k16_bf16
===
fn mm(a: in f16[32, 16], b: in f16[16, 8], c: out f32[32, 8]) {
	for g in 0..1 bound(grid.x) {
		alloc s: f32[32, 8] @shared
		for w in 0..2 bound(block.y) {
			for i in 0..16 {
				for j in 0..8 {
					block zero(vi: spatial 0..32 = w * 16 + i, vj: spatial 0..8 = j) {
						s[vi, vj] = 0.0
					}
				}
			}
		}
		for w_1 in 0..2 bound(block.y) {
			alloc af: f16[16, 16] @local
			for p in 0..16 {
				for q in 0..16 {
					block af(vp: spatial 0..16 = p, vq: spatial 0..16 = q) {
						af[vp, vq] = a[w_1 * 16 + vp, vq]
					}
				}
			}
			alloc bf: f16[16, 8] @local
			for r in 0..16 {
				for t in 0..8 {
					block bf(vr: spatial 0..16 = r, vt: spatial 0..8 = t) {
						bf[vr, vt] = b[vr, vt]
					}
				}
			}
			for i_1 in 0..16 {
				for j_1 in 0..8 {
					for k in 0..16 {
						block mm(vi: spatial 0..32 = w_1 * 16 + i_1, vj: spatial 0..8 = j_1, vk: reduce 0..16 = k) {
							sum s[vi, vj] <- f32(af[vi - w_1 * 16, vk]) * f32(bf[vk, vj])
						}
					}
				}
			}
		}
		for w_2 in 0..2 bound(block.y) {
			for i_2 in 0..16 {
				for j_2 in 0..8 {
					block store(vi: spatial 0..32 = w_2 * 16 + i_2, vj: spatial 0..8 = j_2) {
						c[vi, vj] = s[vi, vj]
					}
				}
			}
		}
	}
}
--- a100; scope s fragment; scope af fragment; scope bf fragment; tensorize i_1 mma_m16n8k8_f16
! trace:4: tensorize i_1: its loops must be those of instruction mma_m16n8k8_f16, nested alike
===
fn mm(a: in f16[32, 16], b: in f16[16, 8], c: out f32[32, 8]) {
	for g in 0..1 bound(grid.x) {
		alloc s: f32[32, 8] @shared
		for w in 0..2 bound(block.y) {
			for i in 0..16 {
				for j in 0..8 {
					block zero(vi: spatial 0..32 = w * 16 + i, vj: spatial 0..8 = j) {
						s[vi, vj] = 0.0
					}
				}
			}
		}
		for w_1 in 0..2 bound(block.y) {
			alloc af: f16[16, 16] @local
			for p in 0..16 {
				for q in 0..16 {
					block af(vp: spatial 0..16 = p, vq: spatial 0..16 = q) {
						af[vp, vq] = a[w_1 * 16 + vp, vq]
					}
				}
			}
			alloc bf: f16[16, 8] @local
			for r in 0..16 {
				for t in 0..8 {
					block bf(vr: spatial 0..16 = r, vt: spatial 0..8 = t) {
						bf[vr, vt] = b[vr, vt]
					}
				}
			}
			for i_1 in 0..16 {
				for j_1 in 0..8 {
					for k in 0..16 {
						block mm(vi: spatial 0..32 = w_1 * 16 + i_1, vj: spatial 0..8 = j_1, vk: reduce 0..16 = k) {
							sum s[vi, vj] <- f32(af[vi - w_1 * 16, vk]) * f32(bf[vk, vj])
						}
					}
				}
			}
		}
		for w_2 in 0..2 bound(block.y) {
			for i_2 in 0..16 {
				for j_2 in 0..8 {
					block store(vi: spatial 0..32 = w_2 * 16 + i_2, vj: spatial 0..8 = j_2) {
						c[vi, vj] = s[vi, vj]
					}
				}
			}
		}
	}
}
--- a100; scope s fragment; scope af fragment; scope bf fragment; tensorize i_1 mma_m16n8k16_f16_nt
! trace:4: tensorize i_1: the dimensions of bf must be those of the instruction's operand, each with stride 1
===
fn mm(a: in f16[32, 16], b: in f16[16, 8], c: out f32[32, 8]) {
	for g in 0..1 bound(grid.x) {
		alloc s: f32[32, 8] @shared
		for w in 0..2 bound(block.y) {
			for i in 0..16 {
				for j in 0..8 {
					block zero(vi: spatial 0..32 = w * 16 + i, vj: spatial 0..8 = j) {
						s[vi, vj] = 0.0
					}
				}
			}
		}
		for w_1 in 0..2 bound(block.y) {
			alloc af: f16[16, 16] @local
			for p in 0..16 {
				for q in 0..16 {
					block af(vp: spatial 0..16 = p, vq: spatial 0..16 = q) {
						af[vp, vq] = a[w_1 * 16 + vp, vq]
					}
				}
			}
			alloc bf: f16[16, 8] @local
			for r in 0..16 {
				for t in 0..8 {
					block bf(vr: spatial 0..16 = r, vt: spatial 0..8 = t) {
						bf[vr, vt] = b[vr, vt]
					}
				}
			}
			for i_1 in 0..16 {
				for j_1 in 0..8 {
					for k in 0..16 {
						block mm(vi: spatial 0..32 = w_1 * 16 + i_1, vj: spatial 0..8 = j_1, vk: reduce 0..16 = k) {
							sum s[vi, vj] <- f32(af[vi - w_1 * 16, vk]) * f32(bf[vk, vj])
						}
					}
				}
			}
		}
		for w_2 in 0..2 bound(block.y) {
			for i_2 in 0..16 {
				for j_2 in 0..8 {
					block store(vi: spatial 0..32 = w_2 * 16 + i_2, vj: spatial 0..8 = j_2) {
						c[vi, vj] = s[vi, vj]
					}
				}
			}
		}
	}
}
--- a100; scope s fragment; scope af fragment; tensorize i_1 mma_m16n8k16_f16
! trace:3: tensorize i_1: bf does not have the type or scope of the instruction's operand
===
fn mm(a: in f16[32, 16], b: in f16[16, 8], c: out f32[32, 8]) {
	for g in 0..1 bound(grid.x) {
		alloc s: f32[32, 8] @shared
		for w in 0..2 bound(block.y) {
			for i in 0..16 {
				for j in 0..8 {
					block zero(vi: spatial 0..32 = w * 16 + i, vj: spatial 0..8 = j) {
						s[vi, vj] = 0.0
					}
				}
			}
		}
		for w_1 in 0..2 bound(block.y) {
			alloc af: f16[16, 16] @local
			for p in 0..16 {
				for q in 0..16 {
					block af(vp: spatial 0..16 = p, vq: spatial 0..16 = q) {
						af[vp, vq] = a[w_1 * 16 + vp, vq]
					}
				}
			}
			alloc bf: f16[16, 8] @local
			for r in 0..16 {
				for t in 0..8 {
					block bf(vr: spatial 0..16 = r, vt: spatial 0..8 = t) {
						bf[vr, vt] = b[vr, vt]
					}
				}
			}
			for i_1 in 0..16 {
				for j_1 in 0..8 {
					for k in 0..16 {
						block mm(vi: spatial 0..32 = w_1 * 16 + i_1, vj: spatial 0..8 = j_1, vk: reduce 0..16 = k) {
							sum s[vi, vj] <- f32(af[vi - w_1 * 16, vk]) * f32(bf[vk, vj])
						}
					}
				}
			}
		}
		for w_2 in 0..2 bound(block.y) {
			for i_2 in 0..16 {
				for j_2 in 0..8 {
					block store(vi: spatial 0..32 = w_2 * 16 + i_2, vj: spatial 0..8 = j_2) {
						c[vi, vj] = s[vi, vj]
					}
				}
			}
		}
	}
}
--- a100; scope af fragment; scope bf fragment; tensorize i_1 mma_m16n8k16_f16
! trace:3: tensorize i_1: s does not have the type or scope of the instruction's operand
===
fn mm(a: in f16[32, 16], b: in f16[16, 8], c: out f32[32, 8]) {
	for g in 0..1 bound(grid.x) {
		alloc s: f32[32, 8] @shared
		for w in 0..2 bound(block.y) {
			for i in 0..16 {
				for j in 0..8 {
					block zero(vi: spatial 0..32 = w * 16 + i, vj: spatial 0..8 = j) {
						s[vi, vj] = 0.0
					}
				}
			}
		}
		for w_1 in 0..2 bound(block.y) {
			alloc af: f16[16, 16] @local
			for p in 0..16 {
				for q in 0..16 {
					block af(vp: spatial 0..16 = p, vq: spatial 0..16 = q) {
						af[vp, vq] = a[w_1 * 16 + vp, vq]
					}
				}
			}
			alloc bf: f16[16, 8] @local
			for r in 0..16 {
				for t in 0..8 {
					block bf(vr: spatial 0..16 = r, vt: spatial 0..8 = t) {
						bf[vr, vt] = b[vr, vt]
					}
				}
			}
			for i_1 in 0..16 {
				for j_1 in 0..8 {
					for k in 0..16 {
						block mm(vi: spatial 0..32 = w_1 * 16 + i_1, vj: spatial 0..8 = j_1, vk: reduce 0..16 = k) {
							sum s[vi, vj] <- f32(af[vi - w_1 * 16, vk]) * f32(bf[vk, vj])
						}
					}
				}
			}
		}
		for w_2 in 0..2 bound(block.y) {
			for i_2 in 0..16 {
				for j_2 in 0..8 {
					block store(vi: spatial 0..32 = w_2 * 16 + i_2, vj: spatial 0..8 = j_2) {
						c[vi, vj] = s[vi, vj]
					}
				}
			}
		}
	}
}
--- a100; scope s fragment; scope af fragment; scope bf fragment; bind i block.x
! trace:4: bind i: it is bound to block.x, whose threads are the lanes of a warp, but a statement in it uses fragment s
===
fn mm(a: in f16[32, 16], b: in f16[16, 8], c: out f32[32, 8]) {
	for g in 0..1 bound(grid.x) {
		alloc s: f32[32, 8] @shared
		for w in 0..2 bound(block.y) {
			for i in 0..16 {
				for j in 0..8 {
					block zero(vi: spatial 0..32 = w * 16 + i, vj: spatial 0..8 = j) {
						s[vi, vj] = 0.0
					}
				}
			}
		}
		for w_1 in 0..2 bound(block.y) {
			alloc af: f16[16, 16] @local
			for p in 0..16 {
				for q in 0..16 {
					block af(vp: spatial 0..16 = p, vq: spatial 0..16 = q) {
						af[vp, vq] = a[w_1 * 16 + vp, vq]
					}
				}
			}
			alloc bf: f16[16, 8] @local
			for r in 0..16 {
				for t in 0..8 {
					block bf(vr: spatial 0..16 = r, vt: spatial 0..8 = t) {
						bf[vr, vt] = b[vr, vt]
					}
				}
			}
			for i_1 in 0..16 {
				for j_1 in 0..8 {
					for k in 0..16 {
						block mm(vi: spatial 0..32 = w_1 * 16 + i_1, vj: spatial 0..8 = j_1, vk: reduce 0..16 = k) {
							sum s[vi, vj] <- f32(af[vi - w_1 * 16, vk]) * f32(bf[vk, vj])
						}
					}
				}
			}
		}
		for w_2 in 0..2 bound(block.y) {
			for i_2 in 0..16 {
				for j_2 in 0..8 {
					block store(vi: spatial 0..32 = w_2 * 16 + i_2, vj: spatial 0..8 = j_2) {
						c[vi, vj] = s[vi, vj]
					}
				}
			}
		}
	}
}
--- a100; bind i_2 block.x; scope s fragment
! trace:2: scope i_2: it is bound to block.x, whose threads are the lanes of a warp, but a statement in it uses fragment s
===
fn mm(a: in f16[32, 16], b: in f16[16, 8], c: out f32[32, 8]) {
	for g in 0..1 bound(grid.x) {
		alloc s: f32[32, 8] @shared
		for w in 0..2 bound(block.y) {
			for i in 0..16 {
				for j in 0..8 {
					block zero(vi: spatial 0..32 = w * 16 + i, vj: spatial 0..8 = j) {
						s[vi, vj] = 0.0
					}
				}
			}
		}
		for w_1 in 0..2 bound(block.y) {
			alloc af: f16[16, 16] @local
			for p in 0..16 {
				for q in 0..16 {
					block af(vp: spatial 0..16 = p, vq: spatial 0..16 = q) {
						af[vp, vq] = a[w_1 * 16 + vp, vq]
					}
				}
			}
			alloc bf: f16[16, 8] @local
			for r in 0..16 {
				for t in 0..8 {
					block bf(vr: spatial 0..16 = r, vt: spatial 0..8 = t) {
						bf[vr, vt] = b[vr, vt]
					}
				}
			}
			for i_1 in 0..16 {
				for j_1 in 0..8 {
					for k in 0..16 {
						block mm(vi: spatial 0..32 = w_1 * 16 + i_1, vj: spatial 0..8 = j_1, vk: reduce 0..16 = k) {
							sum s[vi, vj] <- f32(af[vi - w_1 * 16, vk]) * f32(bf[vk, vj])
						}
					}
				}
			}
		}
		for w_2 in 0..2 bound(block.y) {
			for i_2 in 0..16 {
				for j_2 in 0..8 {
					block store(vi: spatial 0..32 = w_2 * 16 + i_2, vj: spatial 0..8 = j_2) {
						c[vi, vj] = s[vi, vj]
					}
				}
			}
		}
	}
}
--- a100; scope s texture
! trace:1: scope s: a scope is global, shared, local or fragment
===
fn mm(a: in f16[32, 16], b: in f16[16, 8], c: out f32[32, 8]) {
	for g in 0..1 bound(grid.x) {
		alloc s: f32[32, 8] @shared
		for w in 0..2 bound(block.y) {
			for i in 0..16 {
				for j in 0..8 {
					block zero(vi: spatial 0..32 = w * 16 + i, vj: spatial 0..8 = j) {
						s[vi, vj] = 0.0
					}
				}
			}
		}
		for w_1 in 0..2 bound(block.y) {
			alloc af: f16[16, 16] @local
			for p in 0..16 {
				for q in 0..16 {
					block af(vp: spatial 0..16 = p, vq: spatial 0..16 = q) {
						af[vp, vq] = a[w_1 * 16 + vp, vq]
					}
				}
			}
			alloc bf: f16[16, 8] @local
			for r in 0..16 {
				for t in 0..8 {
					block bf(vr: spatial 0..16 = r, vt: spatial 0..8 = t) {
						bf[vr, vt] = b[vr, vt]
					}
				}
			}
			for i_1 in 0..16 {
				for j_1 in 0..8 {
					for k in 0..16 {
						block mm(vi: spatial 0..32 = w_1 * 16 + i_1, vj: spatial 0..8 = j_1, vk: reduce 0..16 = k) {
							sum s[vi, vj] <- f32(af[vi - w_1 * 16, vk]) * f32(bf[vk, vj])
						}
					}
				}
			}
		}
		for w_2 in 0..2 bound(block.y) {
			for i_2 in 0..16 {
				for j_2 in 0..8 {
					block store(vi: spatial 0..32 = w_2 * 16 + i_2, vj: spatial 0..8 = j_2) {
						c[vi, vj] = s[vi, vj]
					}
				}
			}
		}
	}
}
--- pocl; scope s fragment
! trace:1: scope s: only the warps of a CUDA target have fragments
===
fn mm(a: in f16[32, 16], b: in f16[16, 8], c: out f32[32, 8]) {
	for g in 0..1 bound(grid.x) {
		alloc s: f32[32, 8] @shared
		for w in 0..2 bound(block.y) {
			for i in 0..16 {
				for j in 0..8 {
					block zero(vi: spatial 0..32 = w * 16 + i, vj: spatial 0..8 = j) {
						s[vi, vj] = 0.0
					}
				}
			}
		}
		for w_1 in 0..2 bound(block.y) {
			alloc af: f32[16, 16] @local
			for p in 0..16 {
				for q in 0..16 {
					block af(vp: spatial 0..16 = p, vq: spatial 0..16 = q) {
						af[vp, vq] = f32(a[w_1 * 16 + vp, vq])
					}
				}
			}
			alloc bf: f16[16, 8] @local
			for r in 0..16 {
				for t in 0..8 {
					block bf(vr: spatial 0..16 = r, vt: spatial 0..8 = t) {
						bf[vr, vt] = b[vr, vt]
					}
				}
			}
			for i_1 in 0..16 {
				for j_1 in 0..8 {
					for k in 0..16 {
						block mm(vi: spatial 0..32 = w_1 * 16 + i_1, vj: spatial 0..8 = j_1, vk: reduce 0..16 = k) {
							sum s[vi, vj] <- f32(af[vi - w_1 * 16, vk]) * f32(bf[vk, vj])
						}
					}
				}
			}
		}
		for w_2 in 0..2 bound(block.y) {
			for i_2 in 0..16 {
				for j_2 in 0..8 {
					block store(vi: spatial 0..32 = w_2 * 16 + i_2, vj: spatial 0..8 = j_2) {
						c[vi, vj] = s[vi, vj]
					}
				}
			}
		}
	}
}
--- a100; scope s fragment; scope af fragment; scope bf fragment; tensorize i_1 mma_m16n8k16_f16
! trace:4: tensorize i_1: the statement in its loops is not that of mma_m16n8k16_f16
===
fn mm(a: in f16[32, 16], b: in f16[16, 8], c: out f32[32, 8]) {
	for g in 0..1 bound(grid.x) {
		alloc s: f32[32, 8] @shared
		for w in 0..2 bound(block.y) {
			for i in 0..16 {
				for j in 0..8 {
					block zero(vi: spatial 0..32 = w * 16 + i, vj: spatial 0..8 = j) {
						s[vi, vj] = 0.0
					}
				}
			}
		}
		for w_1 in 0..2 bound(block.y) {
			alloc af: f16[16, 16] @local
			for p in 0..16 {
				for q in 0..16 {
					block af(vp: spatial 0..16 = p, vq: spatial 0..16 = q) {
						af[vp, vq] = a[w_1 * 16 + vp, vq]
					}
				}
			}
			alloc bf: f16[16, 8] @local
			for r in 0..16 {
				for t in 0..8 {
					block bf(vr: spatial 0..16 = r, vt: spatial 0..8 = t) {
						bf[vr, vt] = b[vr, vt]
					}
				}
			}
			for i_1 in 0..16 {
				for j_1 in 0..8 {
					for k in 0..16 {
						block mm(vi: spatial 0..32 = w_1 * 16 + i_1, vj: spatial 0..8 = j_1, vk: reduce 0..16 = k) {
							sum s[vi, vj] <- f32(af[vi - w_1 * 16, vk]) * f32(bf[vk, vj])
						}
					}
				}
			}
		}
		for w_2 in 0..2 bound(block.y) {
			for i_2 in 0..16 {
				for j_2 in 0..8 {
					block store(vi: spatial 0..32 = w_2 * 16 + i_2, vj: spatial 0..8 = j_2) {
						c[vi, vj] = s[31 - vi, vj]
					}
				}
			}
		}
	}
}
--- a100; scope s fragment
! trace:1: scope s: it is one warp's fragment, but another warp may use it: apply scope first, to shared
===
