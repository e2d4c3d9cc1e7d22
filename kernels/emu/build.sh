#!/bin/sh
# Builds the emulator with all kernels in it: build.sh OUTPUT [FLAGS], such as -fsanitize=address,undefined.
set -eu
out=$1
shift
cd "$(dirname "$0")"
"${CXX:-c++}" -std=c++17 -O1 -g -Wall "$@" -o "$out" emu.cpp kernels.cpp where.cpp absent.cpp ranges.cpp \
	rowsranges.cpp
