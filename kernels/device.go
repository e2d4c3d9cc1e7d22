//go:build cuda || emu

package kernels

import (
	"errors"
	"fmt"
	"unsafe"
)

// Ptr is an address in a device's memory. 0 is none.
type Ptr uint64

// Info describes a device.
type Info struct {
	Name            string
	Multiprocessors int
	Memory          int64  // bytes, of all the device
	BlocksEach      int    // blocks of the search kernel for totals that a multiprocessor holds at once
	RowBlocksEach   int    // and of that for rows
	Code            string // source of the kernels: cubins, sm_80 or sm_90; or ptx. Empty: the emulator
	Moves           bool   // MoveNear moves memory
	Refused         error  // why it is not cubins, where there are some for the device
}

// Queue is something that does copies and launches in the order of the calls: a Device, or one of its streams.
type Queue interface {
	Info() Info
	Write(dst Ptr, src []byte) error
	Read(dst []byte, src Ptr) error
	Clear(dst Ptr, bytes int) error
	Launch(kernel string, blocks, threads int, params []byte) error
	// Sync waits for all queued work. It returns an error since the last Sync that was not returned before.
	Sync() error
}

// Device runs kernels. Calls are made from one goroutine at a time, except Read and Poke. As a Queue it has done a copy
// when the call returns. Launch does not wait; later calls wait for it. A later call may return the error of a Launch.
type Device interface {
	Queue
	// Alloc returns memory with any content; at least 256-byte aligned on a GPU. A *MemoryError is wrapped when there
	// is too little.
	Alloc(bytes int) (Ptr, error)
	// Free does not wait: the memory must not be in use.
	Free(p Ptr) error
	// AllocMapped returns memory of the host that kernels read and write over the link (zero-copy), with any content.
	// Free frees it. A *MemoryError is wrapped when the host has too little.
	AllocMapped(bytes int) (Ptr, error)
	// MoveNear moves bytes [from, to) of memory of AllocMapped to the device. Their addresses and content stay. It
	// returns false where Info.Moves is false. A *MemoryError is wrapped when it has too little memory.
	MoveNear(p Ptr, from, to int) (bool, error)
	// AllocHost returns page-locked host memory with any content, for copies by streams. The garbage collector does not
	// manage it: FreeHost frees it as a whole.
	AllocHost(bytes int) ([]byte, error)
	FreeHost(b []byte) error
	// Poke writes a word of the device's memory, perhaps while kernels run, and returns when it is there.
	Poke(dst Ptr, word uint32) error
	NewStream() (Stream, error)
	NewEvent() (Event, error)
	Close() error
}

// Stream is a Queue whose calls return at once. Its work runs concurrently with that of the Device and of other
// streams. It copies only from and to page-locked memory, which must not be changed until the copy is done.
type Stream interface {
	Queue
	// Record makes the event happen when all work that is queued now is done.
	Record(e Event) error
	// Close frees the stream, which must be idle.
	Close() error
}

// Event is a point in the work of a stream. An event that was never recorded counts as happened.
type Event interface {
	// Sync waits until the event has happened; Done reports whether it has.
	Sync() error
	Done() (bool, error)
	// Since returns the milliseconds between two events that were recorded and have happened.
	Since(earlier Event) (float64, error)
	Close() error
}

// Why a GPU cannot be opened.
var (
	ErrNoDriver  = errors.New("there is no usable NVIDIA driver")
	ErrOldDriver = errors.New("the NVIDIA driver is too old; one for CUDA 11.0 or later is needed")
	ErrNoDevice  = errors.New("there is no NVIDIA GPU")
	ErrOldDevice = errors.New("the GPU is too old; compute capability 7.5 or later is needed")
)

// Error is the failure of a copy or a kernel on an open device. The device may be unusable afterwards.
type Error struct {
	Op  string
	Err error
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("the GPU failed in %s: %v", e.Op, e.Err) }

// Unwrap returns the driver's error.
func (e *Error) Unwrap() error { return e.Err }

// OfDevice reports whether an error is or wraps an Error or a MemoryError.
func OfDevice(err error) bool {
	var failed *Error
	var memory *MemoryError
	return errors.As(err, &failed) || errors.As(err, &memory)
}

// MemoryError says that the device has too little memory, or the host for what the device uses of its memory.
type MemoryError struct {
	Wanted int // bytes; 0 if the driver needs the memory
	Err    error
	Host   bool
}

// Error implements error.
func (e *MemoryError) Error() string {
	mib := (e.Wanted + 1<<20 - 1) >> 20
	switch {
	case e.Host:
		return fmt.Sprintf("the host has no room for another %d MiB of page-locked memory: %v", mib, e.Err)
	case e.Wanted == 0:
		return fmt.Sprintf("the GPU has too little free memory: %v", e.Err)
	}
	return fmt.Sprintf("the GPU has no room for another %d MiB: %v", mib, e.Err)
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

// WordsOf returns memory of a multiple of four bytes, so aligned, as words. The result aliases it.
func WordsOf(b []byte) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}
