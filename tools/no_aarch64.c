/*
 * What dlc calls to have LLVM's AArch64 back end, for a dlc without it: LLVM then knows no such target, and dlc refuses
 * it by name. It would be a sixth of the folder that tools/gpu-bundle makes for machines that have x86-64.
 */
void LLVMInitializeAArch64TargetInfo(void);
void LLVMInitializeAArch64Target(void);
void LLVMInitializeAArch64TargetMC(void);
void LLVMInitializeAArch64AsmPrinter(void);
void LLVMInitializeAArch64AsmParser(void);

void LLVMInitializeAArch64TargetInfo(void)
{
}

void LLVMInitializeAArch64Target(void)
{
}

void LLVMInitializeAArch64TargetMC(void)
{
}

void LLVMInitializeAArch64AsmPrinter(void)
{
}

void LLVMInitializeAArch64AsmParser(void)
{
}
