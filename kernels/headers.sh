#!/bin/sh
# Prepares a folder to build with the build tag cuda, whether or not the machine has a CUDA toolkit or a driver: headers.sh FOLDER.
# It fetches cuda.h (CUDA 12.8, which gorgonia.org/cu compiles against) from PyPI, and makes libcuda.a from the functions that
# cuda.h declares: each jumps to its namesake in the driver's library, which is looked for when the program starts
# (loader.c). Afterwards it prints the settings.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
if [ ! -f "$out/include/cuda.h" ]; then
	python3 -m pip download -q --no-deps --only-binary=:all: --platform manylinux2014_x86_64 -d "$out" nvidia-cuda-runtime-cu12==12.8.90 >&2
	(cd "$out" && python3 -m zipfile -e nvidia_cuda_runtime_cu12-*.whl wheel && mv wheel/nvidia/cuda_runtime/include include && rm -r wheel *.whl)
fi
if [ ! -f "$out/libcuda.a" ] || [ "$here/loader/loader.c" -nt "$out/libcuda.a" ]; then
	rm -f "$out/libcuda.so" "$out/libcuda.a" # a shared library would be preferred
	echo '#include <cuda.h>' | "${CC:-cc}" -E -I"$out/include" - | grep -oE '\bcu[A-Z][A-Za-z0-9_]*[[:space:]]*\(' |
		tr -d '( ' | sort -u | grep -vx cuInit | awk '{ print "FORWARD(" NR - 1 ", " $1 ")" }' >"$out/forward.h"
	"${CC:-cc}" -O2 -Wall -Werror -fPIC -I"$out" -c -o "$out/loader.o" "$here/loader/loader.c"
	ar rcs "$out/libcuda.a" "$out/loader.o"
fi
echo "CGO_ENABLED=1 CGO_CFLAGS=-I$out/include CGO_LDFLAGS=-L$out"
