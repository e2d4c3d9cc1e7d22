#!/bin/sh
# Assembles the PTX of every kernel for the devices that have machine code of their own: sm_80 (compute capability 8.0
# to 8.9) and sm_90 (9.0). It needs ptxas of CUDA 12.8.93, since another version gives other bytes: that which PTXAS
# names, or else the one in PyPI's wheel, which Python's pip fetches into build/ptxas once. Drivers for CUDA 12 and
# later load the result. With a folder as argument the results go there.
set -eu
version=12.8.93
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
ptxas=${PTXAS:-}
if [ -z "$ptxas" ]; then
	mkdir -p "$here/../../build/ptxas"
	kept=$(cd "$here/../../build/ptxas" && pwd)
	ptxas=$kept/ptxas-$version
	if [ ! -x "$ptxas" ]; then
		wheel=$(mktemp -d "$kept/wheel.XXXXXX")
		trap 'rm -rf "$wheel"' EXIT
		python3 -m pip download -q --no-deps --only-binary=:all: -d "$wheel" nvidia-cuda-nvcc-cu12==$version >&2
		python3 -c 'import sys, zipfile
zipfile.ZipFile(sys.argv[1]).extract("nvidia/cuda_nvcc/bin/ptxas", sys.argv[2])' "$wheel"/*.whl "$wheel"
		chmod +x "$wheel/nvidia/cuda_nvcc/bin/ptxas"
		mv "$wheel/nvidia/cuda_nvcc/bin/ptxas" "$ptxas"
	fi
fi
if ! "$ptxas" --version | grep -qF "V$version"; then
	echo "$ptxas is not of CUDA $version" >&2
	exit 1
fi
for device in sm_80 sm_90; do
	mkdir -p "$out/$device"
	for ptx in "$here"/../ptx/*.ptx; do
		cubin=$out/$device/$(basename "$ptx" .ptx).cubin
		"$ptxas" -arch=$device -O3 --warning-as-error -o "$cubin" "$ptx"
		gzip -9nf "$cubin"
	done
done
