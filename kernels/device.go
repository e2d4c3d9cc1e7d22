//go:build cuda || emu

package kernels

import (
	"fmt"
	"unsafe"
)

// Ptr is an address in a device's memory. 0 is none.
type Ptr uint64

// Info describes a device.
type Info struct {
	Name            string
	Multiprocessors int
	Memory          int64 // bytes, of all the device
	BlocksEach      int   // blocks of the search kernel that a multiprocessor holds at once
}

// Device runs kernels. Calls are made in order and from one goroutine at a time; Launch need not wait, everything
// else that follows it does. A failed Launch may be reported by the call after it.
type Device interface {
	Info() Info
	// Alloc returns memory with any content; at least 256-byte aligned on a GPU. ErrMemory is wrapped when there is too little.
	Alloc(bytes int) (Ptr, error)
	Free(p Ptr) error
	Write(dst Ptr, src []byte) error
	Read(dst []byte, src Ptr) error
	Clear(dst Ptr, bytes int) error
	Launch(kernel string, blocks, threads int, params []byte) error
	// Sync waits for what was launched.
	Sync() error
	Close() error
}

// MemoryError says that the device has too little memory.
type MemoryError struct {
	Wanted int // bytes
	Err    error
}

// Error implements error.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("the device has no room for another %d MiB: %v", e.Wanted>>20, e.Err)
}

// Unwrap returns the driver's error.
func (e *MemoryError) Unwrap() error { return e.Err }

// Bytes returns the memory of a slice of plain data, for copies to and from a device. The result aliases it.
func Bytes[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}

// BytesOf returns the memory of one plain value.
func BytesOf[T any](x *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(x)), unsafe.Sizeof(*x)) }
