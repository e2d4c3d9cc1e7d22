#!/bin/sh
# Compiles every kernel to PTX for sm_75, ISA 7.0, which every driver since CUDA 11 loads and compiles for its own chip.
# It needs clang-19 alone, no NVIDIA header. Comments, a third of the text, are left out. With a folder as argument the
# results go there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
cd "$here/.."
for kernel in *.cu; do
	"${CLANG:-clang-19}" -x cuda --cuda-device-only --cuda-gpu-arch=sm_75 --cuda-feature=+ptx70 -nocudainc -nocudalib \
		-std=c++17 -O3 -fno-ident -Wall -Werror -S "$kernel" -o "$out/${kernel%.cu}.ptx"
	sed -i -e 's,[[:space:]]*//.*$,,' -e '/^[[:space:]]*$/d' "$out/${kernel%.cu}.ptx"
done
