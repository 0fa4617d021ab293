/* Inside of the room: kernels of a device. */
#ifndef CODEGEN_LLVM_EMIT_DEVICE_H
#define CODEGEN_LLVM_EMIT_DEVICE_H

#include "codegen/llvm/emit_mem.h"

/* emit_launch.c: the function of a device's kernel; its parameters; what is known when its body is there. */
LLVMTypeRef emit_global_pointer(Emit *e);
LLVMValueRef emit_kernel_function(Emit *e, const Fn *fn);
void emit_kernel_parameters(Emit *e);
void emit_kernel_end(Emit *e, DlcLaunch *launch);
LLVMValueRef emit_axis(Emit *e, const Stmt *s); /* the number of the block or thread that a bound loop is */
void emit_block_barrier(Emit *e);
const char *emit_device_alloc(Emit *e, Place *p); /* NULL, or which allocs there cannot be */

/* emit_async.c: a store within an async copy, commit, wait. False: the store is no copy that the device has. */
bool emit_copy(Emit *e, const Stmt *s);
void emit_commit(Emit *e);
void emit_wait(Emit *e, int64_t pending);

/* emit_pin.c: before a condition, of what it guards. */
void emit_pin(Emit *e, Stmt *list);
void emit_pin_value(Emit *e, const Expr *x);

/* emit_index.c: indices of a device in 32 bits. NULL: the node needs 64. */
LLVMValueRef emit_short_node(Emit *e, const Expr *x, LLVMValueRef const *a);
LLVMValueRef emit_short(Emit *e, LLVMValueRef v); /* the low 32 bits */
bool emit_is_short(const Emit *e, const Expr *lo, const Expr *hi); /* numbers between them fit 32 bits */

#endif
