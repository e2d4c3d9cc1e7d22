//go:build cuda || emu

// Package kernels has the GPU code of motifd, and the devices that run it.
//
//	device.cuh  the functions of CUDA that are used, for clang, nvcc and the emulator
//	layouts.cuh assertions that structures and constants are as in Go, by TestLayouts
//	warp.cuh    layers, each on the one before: warps; search.cuh: binary searches in the packed memory array;
//	            admission.cuh: whether a vertex or an edge may extend a partial match; setops.cuh: candidates by
//	            intersection; extend.cuh: the search of one warp (GAMMA Algorithm 1), with steal.cuh,
//	            mail.cuh, emit.cuh, flat.cuh and count.cuh beside it; wbm.cuh: the life of a warp in a launch;
//	            flatcount.cuh: counts of 32 tasks at a time; flatmail.cuh: their exchange between warps; flatlife.cuh
//	            is to them what wbm.cuh is to the others; where.cuh: conditions on edges; space.cuh: the space of a
//	            search of a whole graph
//	sort.cuh    a radix sort; rows.cuh: sorting of rows with it
//	gpma.cuh    the packed memory array, which the device updates; gpmamove.cuh: new positions when leaves are spread
//	*.cu        one kernel each
//	ptx/        the kernels compiled by clang, committed and embedded, so that building motifd needs no CUDA compiler
//	cubin/      the PTX assembled by ptxas for some devices, so that the driver need not compile it; also embedded
//	emu/        a warp emulator, so that the same sources run in tests without a GPU
//
// Each constant says where it comes from: the paper, the arithmetic, or the measurement. "Not tuned" says that there is
// none, and that nobody has measured other values.
//
// A Device is where kernels run: an NVIDIA GPU through the driver (build tag cuda), or the emulator (build tag emu).
// Its streams work concurrently; events order their work.
package kernels
