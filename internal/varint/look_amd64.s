//go:build !purego

#include "textflag.h"

// LANE takes sixteen bytes: into CONTINUED their top bits, into ZERO which of them are 0.
#define LANE(OFFSET, CONTINUED, ZERO) \
	MOVOU    OFFSET(SI), X0    \
	PMOVMSKB X0, CONTINUED     \
	PCMPEQB  X1, X0            \
	PMOVMSKB X0, ZERO

// func lookVectors(blocks *Block, data *byte, n int, follows uint64)
TEXT ·lookVectors(SB), NOSPLIT, $0-32
	MOVQ blocks+0(FP), DI
	MOVQ data+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ follows+24(FP), DX
	PXOR X1, X1

block:
	LANE(0, R8, R9)
	LANE(16, R10, R11)
	SHLQ $16, R10
	SHLQ $16, R11
	ORQ  R10, R8
	ORQ  R11, R9
	LANE(32, R10, R11)
	SHLQ $32, R10
	SHLQ $32, R11
	ORQ  R10, R8
	ORQ  R11, R9
	LANE(48, R10, R11)
	SHLQ $48, R10
	SHLQ $48, R11
	ORQ  R10, R8
	ORQ  R11, R9

	// Follows is the top bits, one place on, with that of the byte before.
	LEAQ (DX)(R8*2), R10
	MOVQ R8, DX
	SHRQ $63, DX
	ANDQ R10, R9
	MOVQ R10, 0(DI)
	MOVQ R9, 8(DI)
	ADDQ $64, SI
	ADDQ $16, DI
	DECQ CX
	JNZ  block
	RET
