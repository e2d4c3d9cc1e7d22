#include "textflag.h"

// func fetchLines(a, b unsafe.Pointer, lines int)
TEXT ·fetchLines(SB), NOSPLIT, $0-24
	MOVQ a+0(FP), AX
	MOVQ b+8(FP), BX
	MOVQ lines+16(FP), CX
	TESTQ CX, CX
	JLE done
next:
	PREFETCHT1 (AX)
	PREFETCHT1 (BX)
	ADDQ $64, AX
	ADDQ $64, BX
	DECQ CX
	JNZ next
done:
	RET
