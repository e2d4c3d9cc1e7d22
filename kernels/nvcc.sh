#!/bin/sh
# Compiles every kernel with NVIDIA's compiler for sm_90, from the same sources as the PTX: nvcc.sh FOLDER. It shows
# that they build there; motifd does not load the result. NVCC names the compiler.
set -eu
nvcc=${NVCC:-nvcc}
if ! command -v "$nvcc" >/dev/null; then
	for found in /usr/local/cuda/bin/nvcc; do
		test -x "$found" && nvcc=$found
	done
fi
if ! command -v "$nvcc" >/dev/null; then
	cat >&2 <<-'END'
	there is no nvcc here; it comes with the CUDA toolkit (NVCC names it, if it lies elsewhere)
	The PTX that motifd uses needs clang-19 alone: kernels/ptx/generate.sh
	END
	exit 1
fi
out=${1:-build/nvcc}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")"
for kernel in *.cu; do
	"$nvcc" -std=c++17 -O3 -arch=sm_90 -Xptxas -v -cubin -o "$out/${kernel%.cu}.cubin" "$kernel"
done
"$nvcc" --version | tail -2
