#!/bin/sh
# Prepares a folder to build with the build tag cuda, whether or not the machine has a CUDA toolkit or a driver:
# headers.sh FOLDER. It takes cuda.h from a CUDA 12 toolkit, of CUDA_HOME, CUDA_PATH or /usr/local, or else fetches that
# of 12.8 from PyPI (gorgonia.org/cu does not compile against CUDA 13, which changed functions that it calls), and makes
# libcuda.a from the functions that cuda.h declares: each jumps to its namesake in the driver's library, which is looked
# for when the program starts (loader.c). Afterwards it prints the settings.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
for toolkit in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda /usr/local/cuda-12*; do
	[ ! -f "$out/include/cuda.h" ] || break
	if grep -qsE '^#define CUDA_VERSION 12[0-9]{3}' "$toolkit/include/cuda.h"; then
		ln -sfn "$(cd "$toolkit/include" && pwd)" "$out/include"
	fi
done
if [ ! -f "$out/include/cuda.h" ]; then
	python3 -m pip download -q --no-deps --only-binary=:all: --platform manylinux2014_x86_64 -d "$out" \
		nvidia-cuda-runtime-cu12==12.8.90 >&2
	(cd "$out" && python3 -m zipfile -e nvidia_cuda_runtime_cu12-*.whl wheel &&
		mv wheel/nvidia/cuda_runtime/include include && rm -r wheel *.whl)
fi
if [ ! -f "$out/libcuda.a" ] || [ "$here/loader/loader.c" -nt "$out/libcuda.a" ]; then
	rm -f "$out/libcuda.so" "$out/libcuda.a" # a shared library would be preferred
	echo '#include <cuda.h>' | "${CC:-cc}" -E -I"$out/include" - | grep -oE '\bcu[A-Z][A-Za-z0-9_]*[[:space:]]*\(' |
		tr -d '( ' | sort -u | grep -vx cuInit | awk '{ print "FORWARD(" NR - 1 ", " $1 ")" }' >"$out/forward.h"
	"${CC:-cc}" -O2 -Wall -Werror -fPIC -I"$out" -c -o "$out/loader.o" "$here/loader/loader.c"
	ar rcs "$out/libcuda.a" "$out/loader.o"
fi
echo "CGO_ENABLED=1 CGO_CFLAGS=-I$out/include CGO_LDFLAGS=-L$out"
