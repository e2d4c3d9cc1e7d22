//go:build cuda

package kernels

// #include <cuda.h>
//
// static CUresult launch(CUfunction f, unsigned blocks, unsigned threads, CUstream stream, void *params, size_t size) {
//   void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, params, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
//   return cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, stream, NULL, extra);
// }
import "C"

import (
	"fmt"
	"unsafe"

	"gorgonia.org/cu"
)

// launch launches a kernel. The parameters are one structure, of which the driver makes a copy.
//
// It replaces cu.Function.Launch, which stores Go pointers in memory from malloc. While the garbage collector marks,
// its write barrier reads the word that such a store overwrites, and ends the process if the word looks like an address
// in the Go heap and is none (golang.org/issue/19928). Memory that the driver has used contains such words.
func (g *GPU) launch(on cu.Stream, kernel string, blocks, threads int, params []byte) error {
	f, ok, err := g.function(kernel)
	if err != nil {
		return err
	}
	if !ok || len(params) == 0 {
		return fmt.Errorf("kernel %s with %d bytes of parameters", kernel, len(params))
	}
	err = g.call(func() error {
		return resultOf(
			C.launch(
				handleOf(f),
				C.uint(blocks),
				C.uint(threads),
				C.CUstream(unsafe.Pointer(on.C())),
				unsafe.Pointer(&params[0]),
				C.size_t(len(params)),
			),
			cu.Success,
		)
	})
	if err != nil {
		return fmt.Errorf("kernel %s: %w", kernel, err)
	}
	return nil
}

// handleOf returns the driver's handle of a function. It is the only field of a cu.Function, and private there.
func handleOf(f cu.Function) C.CUfunction { return *(*C.CUfunction)(unsafe.Pointer(&f)) }

// It does not compile if a cu.Function holds more.
var _ [unsafe.Sizeof(C.CUfunction(nil))]struct{} = [unsafe.Sizeof(cu.Function{})]struct{}{}

// resultOf is the binding's error of a status. Its type has no name outside.
func resultOf[T interface {
	~int
	error
}](status C.CUresult, success T) error {
	if r := T(status); r != success {
		return r
	}
	return nil
}
