#!/bin/sh
# Prepares a folder to build with the build tag cuda where there is no CUDA toolkit: headers.sh FOLDER. It fetches cuda.h (CUDA
# 12.8, which gorgonia.org/cu compiles against) from PyPI, and makes a stub of the driver's library from the functions that
# cuda.h declares, to link against. The driver's own is used when the program runs. Afterwards it prints the settings.
set -eu
mkdir -p "$1"
out=$(cd "$1" && pwd)
if [ ! -f "$out/include/cuda.h" ]; then
	python3 -m pip download -q --no-deps --only-binary=:all: --platform manylinux2014_x86_64 -d "$out" nvidia-cuda-runtime-cu12==12.8.90 >&2
	(cd "$out" && python3 -m zipfile -e nvidia_cuda_runtime_cu12-*.whl wheel && mv wheel/nvidia/cuda_runtime/include include && rm -r wheel *.whl)
fi
if [ ! -f "$out/libcuda.so" ]; then
	echo '#include <cuda.h>' | "${CC:-cc}" -E -I"$out/include" - | grep -oE '\bcu[A-Z][A-Za-z0-9_]*[[:space:]]*\(' |
		tr -d '( ' | sort -u | sed 's/.*/int &(void) { return 100; }/' >"$out/stub.c"
	"${CC:-cc}" -shared -fPIC -Wl,-soname,libcuda.so.1 -o "$out/libcuda.so" "$out/stub.c"
fi
echo "CGO_ENABLED=1 CGO_CFLAGS=-I$out/include CGO_LDFLAGS=-L$out"
